"""Lanes of hand-made maps as drawn: where they lie, which go on, how fast each is."""

from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, street, write_osm

from rushhour.roadnets.geometry.outlines import distances
from rushhour.roadnets.lint.shapes import shape_findings
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network

pytest.importorskip("osmium")


def leads(network: Network, road: str) -> dict[int, set[tuple[str, int]]]:
    """For each lane of a road the lanes that it leads to."""
    lanes, links = network.arrays.lanes, network.arrays.connectors
    found: dict[int, set[tuple[str, int]]] = {}
    for a, b in zip(links.from_lane, links.to_lane, strict=True):
        if network.road_ids[lanes.road[a]] == road:
            to = network.road_ids[lanes.road[b]], int(lanes.number[b])
            found.setdefault(int(lanes.number[a]), set()).add(to)
    return found


def motorway(turns: str, lanes: tuple[int, int]) -> tuple[dict, list]:
    """A one-way whose lanes become others in its middle."""
    nodes = {1: (0.0, 0.0), 2: (500.0, 0.0), 3: (1000.0, 0.0)}
    first = street("motorway", lanes=str(lanes[0]), **({"turn__lanes": turns} if turns else {}))
    return nodes, [(10, [1, 2], first), (11, [2, 3], street("motorway", lanes=str(lanes[1])))]


ENDS = {
    "the kerb lane ends": ("through|through|merge_to_left", {0: 0, 1: 0, 2: 1}),
    "the inner lane ends": ("merge_to_right|through|through", {0: 0, 1: 1, 2: 1}),
    "nothing said": ("", {0: 0, 1: 1, 2: 1}),
    "all end, which cannot be": ("merge_to_left|merge_to_left|merge_to_left", {0: 0, 1: 1, 2: 1}),
}


@pytest.mark.parametrize("name", list(ENDS))
def test_lanes_that_end_go_on_with_their_neighbour_and_the_others_side_by_side(
    tmp_path: Path, name: str
):
    turns, expected = ENDS[name]
    network = load_network(write_osm(tmp_path, *motorway(turns, (3, 2))))
    assert leads(network, "10#0") == {a: {("11#0", b)} for a, b in expected.items()}


def test_lanes_of_one_road_have_limits_of_their_own(tmp_path: Path):
    nodes, ways = motorway("", (3, 3))
    ways[0][2]["maxspeed:lanes"] = "120|100|80"
    network = load_network(write_osm(tmp_path, nodes, ways))
    first = network.lane_index["10#0_0"]
    assert network.arrays.lanes.speed[first : first + 3] * 3.6 == pytest.approx([80, 100, 120])


def edges(network: Network, road: str) -> np.ndarray:
    """y of the lanes of a road along the x axis, from the kerb."""
    road_lanes = [name for name in network.lane_ids if name.rpartition("_")[0] == road]
    return np.array([network.lane_points(network.lane_index[name])[0, 1] for name in road_lanes])


def test_placement_moves_the_lanes_of_both_directions_off_the_line(tmp_path: Path):
    tags = street("primary", lanes="3", placement__forward="left_of:1")
    ways = [(10, [4, 1, 2], tags), CROSS_WAYS[1]]
    network = load_network(write_osm(tmp_path, CROSS, ways))
    assert edges(network, "10#0") == pytest.approx([-1.5 * 3.25, -0.5 * 3.25], abs=1e-3)
    assert edges(network, "-10#0") == pytest.approx([0.5 * 3.25], abs=1e-3)


def test_placement_counts_from_the_left_where_traffic_keeps_left_too(tmp_path: Path):
    """The second lane from the left is the middle one: a map and its mirror image agree."""
    for said in ("right_of:1", "left_of:2", "middle_of:3"):
        shifts = []
        for side in ("right", "left"):
            tags = street("primary", oneway="yes", lanes="3", placement=said, driving_side=side)
            ways = [(10, [4, 1, 2], tags), CROSS_WAYS[1]]
            network = load_network(write_osm(tmp_path, CROSS, ways))
            assert network.left_hand == (side == "left")
            shifts.append(sorted(edges(network, "10#0")))
        assert shifts[0] == pytest.approx(shifts[1], abs=1e-3)


# Lanes that slide aside

WIDTH = 3.25  # m
LINE = {n: (200.0 * n, 0.0) for n in range(1, 6)}


def sliding(folder: Path, before: dict, behind: dict, lanes: int = 2, **more: str) -> Network:
    """A one-way from 1 to 5 whose lanes slide aside from 2 to 4, over a change of limits at 3."""
    one_way = street("primary", oneway="yes", **more)
    slide = one_way | {"lanes": str(lanes), "placement": "transition"}
    ways = [(10, [1, 2], one_way | before), (11, [2, 3], slide | {"maxspeed": "50"}),
            (12, [3, 4], slide | {"maxspeed": "60"}), (13, [4, 5], one_way | behind)]  # fmt: skip
    return load_network(write_osm(folder, LINE, ways))


def heights(network: Network, road: str, end: int) -> list[float]:
    """y of the lanes of a road at its start (0) or its end (-1), from the kerb."""
    lanes = [i for i, name in enumerate(network.lane_ids) if name.rpartition("_")[0] == road]
    return [float(network.lane_points(i)[end, 1]) for i in lanes]


def test_lanes_in_transition_slide_from_where_they_were_to_where_they_go_on(tmp_path: Path):
    left = {"lanes": "2", "placement": "left_of:1"}
    right = {"lanes": "2", "placement": "right_of:2"}
    network = sliding(tmp_path, left, right)
    assert heights(network, "10#0", -1) == pytest.approx([-1.5 * WIDTH, -0.5 * WIDTH], abs=1e-3)
    assert heights(network, "13#0", 0) == pytest.approx([0.5 * WIDTH, 1.5 * WIDTH], abs=1e-3)
    # At a joint a metre is left out on either side.
    for before, behind in (("10#0", "11#0"), ("11#0", "12#0"), ("12#0", "13#0")):
        assert heights(network, before, -1) == pytest.approx(heights(network, behind, 0), abs=0.05)
    assert heights(network, "11#0", -1) == pytest.approx([-0.5 * WIDTH, 0.5 * WIDTH], abs=0.05)


def test_lanes_in_transition_go_on_with_the_same_lanes_left_of_the_line(tmp_path: Path):
    """A third lane begins at the kerb, which a way's line between the other two does not show."""
    network = sliding(tmp_path, {"lanes": "2"}, {"lanes": "3", "placement": "right_of:2"})
    assert heights(network, "11#0", 0) == pytest.approx([-0.5 * WIDTH, 0.5 * WIDTH], abs=0.05)
    inner = heights(network, "13#0", 0)[1:]
    assert inner == pytest.approx([0.5 * WIDTH, 1.5 * WIDTH], abs=1e-3)
    assert heights(network, "12#0", -1) == pytest.approx(inner, abs=0.15)


def test_a_transition_against_the_way_and_one_to_a_dead_end(tmp_path: Path):
    nodes = {1: (0.0, 0.0), 2: (300.0, 0.0), 3: (600.0, 0.0)}
    tags = street("primary", lanes="2")
    ways = [(10, [1, 2], tags | {"oneway": "yes", "placement": "left_of:1"}),
            (11, [3, 2], tags | {"oneway": "-1", "placement": "transition"})]  # fmt: skip
    network = load_network(write_osm(tmp_path, nodes, ways))
    for end in (0, -1):  # nothing says where it slides to
        assert heights(network, "11#0", end) == pytest.approx(
            heights(network, "10#0", -1), abs=1e-3
        )
    assert not [f for f in network.findings if "placement" in f.message]


def test_a_transition_in_a_mirror_is_the_mirror_image(tmp_path: Path):
    before, behind = {"lanes": "2", "placement": "left_of:1"}, {"lanes": "2"}
    here = sliding(tmp_path, before, behind)
    there = sliding(
        tmp_path, {"lanes": "2", "placement": "right_of:2"}, behind, driving_side="left"
    )
    assert there.left_hand
    for road in ("11#0", "12#0"):
        for end in (0, -1):
            assert heights(here, road, end) == pytest.approx(
                [-y for y in heights(there, road, end)], abs=1e-3
            )


# Streets that part into two carriageways


def parting(
    folder: Path, angle: float, long: float, lanes: tuple[int, int], side: str = "right"
) -> Network:
    """A street of lanes[0] and lanes[1] from 4 to 1 that goes on as two one-ways, `angle` apart,
    which come to a crossroads `long` m on, or where their lines have the room of their lanes."""
    half = np.radians(0.5 * angle)
    long = max(long, 0.55 * sum(lanes) * WIDTH / np.sin(half))
    far = {
        2: (long * np.cos(half), -long * np.sin(half)),
        3: (long * np.cos(half), long * np.sin(half)),
    }
    if side == "left":
        far = {2: far[3], 3: far[2]}
    x, y = far[3][0], abs(far[3][1])
    nodes = {1: (0.0, 0.0), 4: (-300.0, 0.0), **far, 5: (x, 300.0), 6: (x, -300.0), 7: (x + 300.0, y),
             8: (x + 300.0, -y)}  # fmt: skip
    one_way = street("secondary", oneway="yes", driving_side=side)
    both = street(
        "secondary", lanes=str(sum(lanes)), lanes__forward=str(lanes[0]), driving_side=side
    )
    cross = [5, 3, 2, 6] if side == "right" else [5, 2, 3, 6]
    ways = [(10, [4, 1], both), (11, [1, 2], one_way | {"lanes": str(lanes[0])}),
            (12, [3, 1], one_way | {"lanes": str(lanes[1])}), (13, cross, street("secondary", driving_side=side)),
            (14, [2, 8 if side == "right" else 7], one_way | {"lanes": str(lanes[0])}),
            (15, [7 if side == "right" else 8, 3], one_way | {"lanes": str(lanes[1])})]  # fmt: skip
    return load_network(write_osm(folder, nodes, ways))


def lines_of(network: Network, road: str) -> list[np.ndarray]:
    """The lines of the lanes of a road, from the kerb, a point each 0.5 m or less."""
    found = []
    for i, name in enumerate(network.lane_ids):
        if name.rpartition("_")[0] == road:
            line = network.lane_points(i)
            at = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))
            dense = np.linspace(0.0, at[-1], int(2.0 * at[-1]) + 2)
            found.append(np.column_stack([np.interp(dense, at, line[:, k]) for k in (0, 1)]))
    return found


@pytest.mark.parametrize("lanes", [(1, 1), (2, 2), (1, 2)])
@pytest.mark.parametrize("long", [25.0, 60.0, 150.0, 400.0])
@pytest.mark.parametrize("angle", [6.0, 15.0, 30.0, 50.0])
def test_carriageways_into_which_a_street_parts_lie_beside_each_other(
    tmp_path: Path, angle: float, long: float, lanes: tuple[int, int]
):
    """Krems 146409250 (18 degrees, 15 m), Columbus 229625363 (10 degrees, 345 m): their lines meet
    in one node, and oncoming lanes lay on each other for up to 40 m."""
    network = parting(tmp_path, angle, long, lanes)
    there, back = lines_of(network, "11#0"), lines_of(network, "12#0")
    assert (len(there), len(back)) == lanes
    assert distances(there[-1], back[-1]).min() > WIDTH - 0.05
    assert not [one for one in shape_findings(network) if one.check == "L17"]


def test_lanes_lead_straight_into_the_carriageways_of_their_street(tmp_path: Path):
    network = parting(tmp_path, 10.0, 300.0, (1, 2))
    for before, behind in (("10#0", "11#0"), ("12#0", "-10#0")):
        for a, b in zip(lines_of(network, before), lines_of(network, behind), strict=True):
            step = b[0] - a[-1]
            assert np.hypot(*step) < 5.0
            assert abs(step[1]) < 0.3
    # Beyond, both lie on both sides of their lines, as far from the axis as each other.
    one, two = lines_of(network, "11#0"), lines_of(network, "12#0")
    middles = [np.mean([line[at] for line in lines], axis=0) for lines, at in ((one, -1), (two, 0))]
    assert middles[0][1] == pytest.approx(-middles[1][1], abs=0.05)
    assert abs(one[0][0][1] + np.mean([line[-1][1] for line in two])) > 1.0


def test_carriageways_in_a_mirror_are_the_mirror_image(tmp_path: Path):
    here = parting(tmp_path, 20.0, 80.0, (1, 2))
    there = parting(tmp_path, 20.0, 80.0, (1, 2), "left")
    assert there.left_hand
    for road in ("11#0", "12#0"):
        for a, b in zip(lines_of(here, road), lines_of(there, road), strict=True):
            assert a == pytest.approx(b * (1.0, -1.0), abs=1e-2)


# Carriageways that the map draws too near to each other


def dual(
    folder: Path, apart: float, lanes: int, side: str = "right", joint: bool = False
) -> Network:
    """Two one-ways of `lanes`, `apart` m between their lines, from a crossroads to the next.

    joint: the eastbound one is of two ways, of which the second ends at the crossroads.
    """
    out, home = (0.0, apart) if side == "right" else (apart, 0.0)
    nodes = {1: (-200.0, out), 2: (0.0, out), 3: (400.0, out), 4: (600.0, out), 5: (-200.0, home),
             6: (0.0, home), 7: (400.0, home), 8: (600.0, home), 9: (0.0, 200.0), 10: (0.0, -200.0),
             11: (400.0, 200.0), 12: (400.0, -200.0), 13: (250.0, out)}  # fmt: skip
    tags = street("secondary", oneway="yes", lanes=str(lanes), driving_side=side)
    cross = street("secondary", driving_side=side)
    up, down = (
        ([9, 6, 2, 10], [11, 7, 3, 12]) if side == "right" else ([9, 2, 6, 10], [11, 3, 7, 12])
    )
    ways = [(20, [1, 2], tags), (22, [3, 4], tags), (23, [8, 7], tags), (24, [7, 6], tags), (25, [6, 5], tags),
            (30, up, cross), (31, down, cross)]  # fmt: skip
    ways += (
        [(21, [2, 13], tags), (26, [13, 3], {**tags, "maxspeed": "30"})]
        if joint
        else [(21, [2, 3], tags)]
    )
    return load_network(write_osm(folder, nodes, ways))


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("lanes", [1, 2, 3])
@pytest.mark.parametrize("share", [0.4, 0.6, 0.9])
def test_carriageways_drawn_too_near_to_each_other_have_the_room_of_their_lanes(
    tmp_path: Path, share: float, lanes: int, side: str
):
    """Porto 328027299: lines 3 m apart between the same two intersections, lanes of 6.5 m each."""
    network = dual(tmp_path, max(share * lanes, lanes - 1.9) * WIDTH, lanes, side)
    there, back = lines_of(network, "21#0"), lines_of(network, "24#0")
    assert (len(there), len(back)) == (lanes, lanes)
    assert distances(there[-1], back[-1]).min() == pytest.approx(WIDTH, abs=0.02)
    overlaps = [one.source for one in shape_findings(network) if one.check == "L17"]
    assert not [source for source in overlaps if "road 21#0" in source and "road 24#0" in source]


@pytest.mark.parametrize("apart", [2.1 * WIDTH, -1.2 * WIDTH])
def test_carriageways_with_room_and_those_on_each_others_side_stay(tmp_path: Path, apart: float):
    network = dual(tmp_path, apart, 2)
    for road, y in (("21#0", 0.0), ("24#0", apart)):
        middle = np.mean([line[:, 1] for line in lines_of(network, road)])
        assert middle == pytest.approx(y, abs=0.05)  # the map's metres


def test_a_carriageway_of_two_ways_is_moved_as_one(tmp_path: Path):
    network = dual(tmp_path, 1.2 * WIDTH, 2, joint=True)
    inner = [lines_of(network, road)[-1] for road in ("21#0", "26#0", "24#0")]
    assert abs(inner[0][-1][1] - inner[1][0][1]) < 0.02
    for line in inner[:2]:
        assert distances(line, inner[2]).min() == pytest.approx(WIDTH, abs=0.02)
