"""Lanes near junctions: left-turn lanes out of centre lanes, ramps beside the road they join."""

from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, street, write_osm

from rushhour.roadnets.build import finish
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft
from rushhour.roadnets.osm.ramps import acceleration_length
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import LANE_BEST, VehicleType
from rushhour.traffic.world import World

pytest.importorskip("osmium")

WIDTH = 3.25  # m, a lane of a primary road


def read(tmp_path: Path, nodes, ways, country: str = "US") -> Network:
    return finish(read_osm_draft(write_osm(tmp_path, nodes, ways), OsmOptions(country=country)))


def lanes_along(network: Network, way: str) -> dict[str, int]:
    """Lanes of each road of a way, by id."""
    counts = network.arrays.roads.lane_count
    return {
        name: int(counts[r]) for r, name in enumerate(network.road_ids)
        if name.lstrip("-").split("#")[0] == way
    }  # fmt: skip


def leads(network: Network) -> dict[tuple[str, int], set[tuple[str, int]]]:
    lanes, links = network.arrays.lanes, network.arrays.connectors
    found: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for a, b in zip(links.from_lane, links.to_lane, strict=True):
        ends = [(network.road_ids[lanes.road[x]], int(lanes.number[x])) for x in (a, b)]
        found.setdefault(ends[0], set()).add(ends[1])
    return found


def points_along(network: Network, name: str) -> np.ndarray:
    """Places 2 m apart along a lane, as complex numbers."""
    lane = network.lane_index[name]
    points = network.lane_points(lane) @ (1.0, 1j)
    station = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(points)))))
    return np.interp(np.arange(0.0, station[-1], 2.0), station, points)


def arriving(network: Network, node: str, way: str) -> str:
    """The road of a way that ends at an intersection, along the way."""
    roads = network.arrays.roads
    (name,) = (
        name for r, name in enumerate(network.road_ids)
        if network.intersection_ids[roads.to_intersection[r]] == node
        and name.split("#")[0] == way
    )  # fmt: skip
    return name


def test_a_centre_lane_is_a_left_turn_lane_before_a_crossing(tmp_path: Path):
    town = street("primary", lanes="5", maxspeed="35 mph")
    ways = [(10, [4, 1, 2], town), (11, [3, 1, 5], street("primary"))]
    network = read(tmp_path, CROSS, ways)
    near = arriving(network, "1", "10")
    assert lanes_along(network, "10")[near] == 3
    to = {lane: {road.lstrip("-").split("#")[0] for road, _ in leads(network)[near, lane]}
          for lane in range(3)}  # fmt: skip
    assert to == {0: {"10", "11"}, 1: {"10"}, 2: {"11"}}
    inner = network.lane_points(network.lane_index[f"{near}_2"])
    assert inner[:, 1] == pytest.approx(0.0, abs=1e-3)  # the middle of the street
    length = network.arrays.lanes.length[network.lane_index[f"{near}_2"]]
    assert 25.0 < length < 40.0
    assert sorted(lanes_along(network, "10").values()) == [2] * 6 + [3] * 2


def test_a_centre_lane_stays_closed_where_nothing_leads_off_to_the_left(tmp_path: Path):
    ways = [(10, [4, 1, 2], street("primary", lanes="5")), (11, [1, 5], street("primary"))]
    network = read(tmp_path, CROSS, ways)  # the street leads off to the south
    assert lanes_along(network, "10")[arriving(network, "1", "10")] == 2
    assert lanes_along(network, "10")["-10#2"] == 3  # coming from the east it is on the left


def test_short_streets_keep_their_centre_lane_closed(tmp_path: Path):
    nodes = {**CROSS, 4: (-120.0, 0.0), 6: (-120.0, 300.0), 7: (-120.0, -300.0)}
    ways = [(10, [4, 1, 2], street("primary", lanes="5")), (11, [3, 1, 5], street("primary")),
            (12, [6, 4, 7], street("primary"))]  # fmt: skip
    network = read(tmp_path, nodes, ways)
    assert lanes_along(network, "10")["10#0"] == 2


def ramp(tmp_path: Path, side: float, behind: str, kind: str = "motorway", **more: str) -> Network:
    """A one-way along the x axis that a ramp joins at 0, from the right where side is -1."""
    nodes = {1: (-500.0, 0.0), 2: (0.0, 0.0), 3: (500.0, 0.0), 4: (-300.0, side * 80.0),
             5: (-30.0, side * 5.0)}  # fmt: skip
    ways = [(10, [1, 2], street(kind, lanes="2", oneway="yes")),
            (11, [2, 3], street(kind, lanes=behind, oneway="yes", **more)),
            (12, [4, 5, 2], street(f"{kind}_link", lanes="1", oneway="yes"))]  # fmt: skip
    return read(tmp_path, nodes, ways, "DE")


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_ramp_has_an_acceleration_lane_that_ends_after_its_length(tmp_path: Path, side: float):
    network = ramp(tmp_path, side, "2", maxspeed="100")
    assert lanes_along(network, "11") == {"11#0": 3, "11#1": 2}
    found, own = leads(network), 0 if side < 0.0 else 2
    first = 1 if side < 0.0 else 0
    assert found["12#0", 0] == {("11#0", own)}
    assert [found["10#0", k] for k in (0, 1)] == [{("11#0", first + k)} for k in (0, 1)]
    assert ("11#0", own) not in found  # one has to leave it
    assert [found["11#0", first + k] for k in (0, 1)] == [{("11#1", k)} for k in (0, 1)]
    length = network.arrays.lanes.length[network.lane_index[f"11#0_{own}"]]
    wanted = acceleration_length(100.0 / 3.6)
    assert wanted - 61.0 < length < wanted  # some of it is drawn as the tapers
    straight = network.lane_points(network.lane_index["11#0_1"])[:, 1]
    assert np.ptp(straight) < 0.01  # the others go straight on


def test_acceleration_lanes_are_as_long_as_the_table_says():
    assert acceleration_length(60 * 0.44704) == pytest.approx(550 * 0.3048 + 30.0)
    assert acceleration_length(62.5 * 0.44704) == pytest.approx(660 * 0.3048 + 30.0)
    assert acceleration_length(20.0) == pytest.approx(130.0)  # and 100 m at least


def test_no_lane_is_made_where_there_is_no_room(tmp_path: Path):
    nodes = {1: (-500.0, 0.0), 2: (0.0, 0.0), 3: (80.0, 0.0), 4: (-300.0, -80.0), 5: (-30.0, -5.0),
             6: (600.0, 0.0), 7: (400.0, -80.0)}  # fmt: skip
    ways = [(10, [1, 2, 3, 6], street("motorway", lanes="2")), (13, [3, 7], street("motorway_link")),
            (12, [4, 5, 2], street("motorway_link", lanes="1"))]  # fmt: skip
    assert set(lanes_along(read(tmp_path, nodes, ways, "DE"), "10").values()) == {2}


def weaving(
    tmp_path: Path,
    gap: float,
    entry: float = -1.0,
    exit: float = -1.0,
    behind: str = "2",
    link: str = "1",
    drawn: float = 0.0,
    **more: str,
) -> Network:
    """A motorway of two lanes with a ramp at 0 and an exit of `link` lanes `gap` m on, behind which it
    has `behind`; entry, exit: -1 from and to the right. drawn: m of three lanes before the exit."""
    nodes = {1: (-500.0, 0.0), 2: (0.0, 0.0), 3: (gap, 0.0), 4: (gap + 800.0, 0.0),
             5: (-300.0, entry * 80.0), 6: (-30.0, entry * 5.0), 7: (gap + 30.0, exit * 5.0),
             8: (gap + 300.0, exit * 80.0), 9: (gap - drawn, 0.0)}  # fmt: skip
    tags = {"oneway": "yes", "maxspeed": "100"}
    middle = [2, 9] if drawn else [2, 3]
    ways = [(10, [1, 2], street("motorway", lanes="2", **tags)),
            (11, middle, street("motorway", lanes="2", **tags, **more)),
            (12, [3, 4], street("motorway", lanes=behind, **tags)),
            (13, [5, 6, 2], street("motorway_link", lanes="1", oneway="yes")),
            (14, [3, 7, 8], street("motorway_link", lanes=link, oneway="yes"))]  # fmt: skip
    if drawn:
        ways.append((15, [9, 3], street("motorway", lanes="3", **tags)))
    return read(tmp_path, nodes, ways, "DE")


@pytest.mark.parametrize("turns", ["", "through|through", "through|through;right"])
@pytest.mark.parametrize("gap", [110.0, 150.0, 300.0, 400.0, 600.0])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_lane_of_a_ramp_goes_on_into_an_exit_that_comes_soon(
    tmp_path: Path, side: float, gap: float, turns: str
):
    """Columbus 230245506: an acceleration lane ended 101 m before an exit to the same side."""
    if turns and side > 0.0:
        turns = "|".join(turns.replace("right", "left").split("|")[::-1])
    network = weaving(tmp_path, gap, side, side, **({"turn__lanes": turns} if turns else {}))
    own, first = (0, 1) if side < 0.0 else (2, 0)
    assert lanes_along(network, "11") == {"11#0": 3}
    found = leads(network)
    assert found["13#0", 0] == {("11#0", own)}
    assert found["11#0", own] == {("14#0", 0)}
    assert network.arrays.conflicts.other.size == 0  # who leaves is in nobody's way
    for k in (0, 1):
        assert found["10#0", k] == {("11#0", first + k)}
        assert ("12#0", k) in found["11#0", first + k]
        assert ("14#0", 0) not in found["11#0", first + k]


def test_the_lane_of_a_ramp_goes_on_into_the_lane_that_the_map_draws_before_an_exit(tmp_path: Path):
    network = weaving(tmp_path, 500.0, drawn=150.0)
    assert [lanes_along(network, way) for way in ("11", "15")] == [{"11#0": 3}, {"15#0": 3}]
    found = leads(network)
    assert [found["11#0", k] for k in range(3)] == [{("15#0", k)} for k in range(3)]
    assert found["15#0", 0] == {("14#0", 0)}


@pytest.mark.parametrize(
    "case",
    [
        {"gap": 640.0},  # far away
        {"gap": 300.0, "exit": 1.0},  # on the other side
        {"gap": 300.0, "behind": "1"},  # the exit takes a lane of the motorway as it is
        {"gap": 700.0, "drawn": 150.0},
    ],
)
def test_the_lane_of_a_ramp_ends_before_other_exits(tmp_path: Path, case: dict[str, float]):
    network = weaving(tmp_path, **case)
    assert list(lanes_along(network, "11").values()) == [3, 2]
    assert ("11#0", 0) not in leads(network)  # one has to leave it


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("gap", [110.0, 150.0, 400.0])
def test_who_comes_and_who_leaves_change_places_between_a_ramp_and_an_exit(
    tmp_path: Path, side: float, gap: float
):
    """2,400 veh/h, 600 of them by the ramp and 600 to the exit: all come through, and lose little time
    (17 s where who left was in the others' way)."""
    network = weaving(tmp_path, gap, side, side)
    kind, builder = VehicleType(), DemandBuilder()
    roads = {name: network.road_index[f"{name}#0"] for name in (10, 11, 12, 13, 14)}
    for i in range(400):
        first, last = 13 if i % 4 == 1 else 10, 14 if i % 4 == 2 else 12
        way = [roads[first], roads[11], roads[last]]
        builder.add(Trip(f"v{i}", 1.5 * i, kind, way, depart_lane=LANE_BEST, depart_speed=20.0))
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = Checker(world)
    world.observers.append(checker)
    world.step(4 * 800)
    assert world.done
    assert checker.violations == {}
    assert np.max(world.trips.longest_standstill) < 60.0
    assert np.mean(world.trips.time_loss) < 13.0


@pytest.mark.parametrize("leaves", [True, False])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("slope", [0.05, 0.1, 0.16])
@pytest.mark.parametrize(("main", "link"), [(1, 1), (2, 1), (3, 1), (2, 2)])
def test_a_ramp_with_lanes_of_its_own_lies_beside_the_road_that_it_leaves_or_joins(
    tmp_path: Path, leaves: bool, side: float, slope: float, main: int, link: int
):
    """Columbus 29488752: who left stood in the way of who drove on beside it, in a lane of its own."""
    far = -500.0 if leaves else 500.0
    nodes = {1: (far, 0.0), 2: (0.0, 0.0), 3: (-far, 0.0), 4: (-far, side * slope * 500.0)}
    lines = [[1, 2], [2, 3], [2, 4]]
    kinds = [("motorway", main + link), ("motorway", main), ("motorway_link", link)]
    ways = [
        (10 + k, line if leaves else line[::-1], street(kind, lanes=str(n), oneway="yes"))
        for k, (line, (kind, n)) in enumerate(zip(lines, kinds, strict=True))
    ]
    network = read(tmp_path, nodes, ways, "DE")
    assert network.arrays.connectors.from_lane.size == main + link
    assert network.arrays.conflicts.other.size == 0
    own, ramp = (
        np.concatenate([points_along(network, f"{way}#0_{k}") for k in range(n)])
        for way, n in ((11, main), (12, link))
    )
    assert np.min(np.abs(own[:, None] - ramp)) > 3.2  # a lane is 3.75 m wide


def test_a_ramp_of_a_lesser_road_gives_way_where_it_is_no_wider_behind_it(tmp_path: Path):
    network = ramp(tmp_path, -1.0, "2", kind="primary")
    links, conflicts = network.arrays.connectors, network.arrays.conflicts
    first = network.lane_index["12#0_0"]
    (k,) = (k for k in range(links.from_lane.size) if links.from_lane[k] == first)
    zone = slice(links.conflict_start[k], links.conflict_start[k + 1])
    assert conflicts.yields[zone].size > 0
    assert conflicts.yields[zone].all()


def test_a_road_as_wide_as_both_that_join_takes_each_in_its_own_lane(tmp_path: Path):
    for side, first in ((-1.0, 1), (1.0, 0)):
        line = "right_of:1" if side < 0.0 else "right_of:2"  # the two lanes go straight on
        network = ramp(tmp_path, side, "3", placement=line)
        found = leads(network)
        assert found["12#0", 0] == {("11#0", 2 - 2 * first)}
        assert [found["10#0", k] for k in (0, 1)] == [{("11#0", first + k)} for k in (0, 1)]
        assert network.arrays.conflicts.other.size == 0  # nobody is in another's way


def test_a_street_is_cut_at_a_node_nearby_or_a_new_one():
    from rushhour.roadnets.osm.centre_lanes import split_link
    from rushhour.roadnets.osm.links import Link, Streets
    from rushhour.roadnets.osm.ways.rules import rules_of

    rules, _ = rules_of(street(), "", {}, [])
    xy = {1: (0.0, 0.0), 2: (60.0, 0.0), 3: (60.0, 100.0)}
    rng = np.random.default_rng(3)
    for at in rng.uniform(1.0, 159.0, 50):
        streets = Streets([Link([1, 2, 3], rules, 7, 7)], dict(xy), {})
        second = streets.links[split_link(streets, 0, float(at))]
        first = streets.links[0]
        assert first.b == second.a
        x, y = streets.xy[first.b]
        assert abs(x + y - at) <= (3.0 if abs(at - 60.0) <= 3.0 else 1e-9)
        assert (first.b == 2) == (abs(at - 60.0) < 3.0)
        assert (first.a, second.b) == (1, 3)
