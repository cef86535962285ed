"""Who goes first at intersections of hand-made maps: small roundabouts, right turns on red, phases."""

from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, control, street, write_osm

from rushhour.kernels.core.network import YIELD
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft

pytest.importorskip("osmium")

WEST, SOUTH, EAST, NORTH = "10#0", "-11#1", "-10#1", "11#0"  # roads towards the crossing
FROM = {WEST: 0, SOUTH: 1, EAST: 2, NORTH: 3}  # counter-clockwise
TO = {"-10#0": 0, "11#1": 1, "10#1": 2, "-11#0": 3}


def ways_of(network: Network) -> list[tuple[int, int]]:
    """Side from which and to which each connector of the crossing leads; (-1, -1) elsewhere."""
    links, lanes = network.arrays.connectors, network.arrays.lanes
    names = [
        (network.road_ids[lanes.road[a]], network.road_ids[lanes.road[b]])
        for a, b in zip(links.from_lane, links.to_lane, strict=True)
    ]
    return [(FROM.get(a, -1), TO.get(b, -1)) for a, b in names]


def yielding(network: Network) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of movements of which the first gives way to the second."""
    ways, start = ways_of(network), network.arrays.connectors.conflict_start
    conflicts = network.arrays.conflicts
    return {
        (ways[k], ways[conflicts.other[c]])
        for k in range(len(ways))
        for c in range(start[k], start[k + 1])
        if conflicts.yields[c]
    }


def small_ring() -> tuple[dict, list]:
    """The crossing with a ring of 10 m around its middle."""
    ring = {10 + i: (5.0 * float(np.cos(a)), 5.0 * float(np.sin(a)))
            for i, a in enumerate(np.arange(8) * np.pi / 4)}  # fmt: skip
    circle = (20, [*range(10, 18), 10], street(junction="roundabout"))
    arms = [(10, [4, 14], street()), (12, [10, 2], street()), (11, [3, 12], street()),
            (13, [16, 5], street())]  # fmt: skip
    return {**CROSS, **ring}, [circle, *arms]


def test_on_a_mini_roundabout_those_from_the_left_go_first(tmp_path: Path):
    tags = {1: {"highway": "mini_roundabout"}}
    network = load_network(write_osm(tmp_path, CROSS, CROSS_WAYS, tags))
    assert control(network, "1") == YIELD
    pairs = yielding(network)
    for side in range(4):
        across, left = (side, (side + 2) % 4), ((side + 3) % 4, (side + 1) % 4)
        assert (across, left) in pairs
        assert (left, across) not in pairs
    plain = yielding(load_network(write_osm(tmp_path, CROSS, CROSS_WAYS)))
    assert ((1, 3), (0, 2)) in pairs
    assert ((0, 2), (1, 3)) in plain  # right before left


def test_who_enters_a_ring_drawn_as_one_intersection_gives_way_to_who_drives_past(tmp_path: Path):
    nodes, ways = small_ring()
    network = load_network(write_osm(tmp_path, nodes, ways))
    assert control(network, "10") == YIELD
    conflicts, links = network.arrays.conflicts, network.arrays.connectors
    lanes, ids = network.arrays.lanes, network.road_ids
    entries = ["10#0", "-13#0", "-12#0", "11#0"]  # counter-clockwise from the west
    exits = ["-10#0", "13#0", "12#0", "-11#0"]
    seen = 0
    for k in range(links.from_lane.size):
        for c in range(links.conflict_start[k], links.conflict_start[k + 1]):
            o = conflicts.other[c]
            a, b, to = (ids[lanes.road[lane]] for lane in
                        (links.from_lane[k], links.from_lane[o], links.to_lane[o]))  # fmt: skip
            if not {a, b} <= set(entries) or a == b:
                continue
            here, there, end = entries.index(a), entries.index(b), exits.index(to)
            passed = 0 < (here - there) % 4 < ((end - there) % 4 or 4)
            back = exits.index(ids[lanes.road[links.to_lane[k]]])
            passes = 0 < (there - here) % 4 < ((back - here) % 4 or 4)
            assert bool(conflicts.yields[c]) == (passed and not passes)
            seen += 1
    assert seen >= 16


LIT = {1: {"highway": "traffic_signals"}}
BIG = [(10, [4, 1, 2], street("primary", lanes="4")), (11, [3, 1, 5], street("primary", lanes="4"))]


def letters(draft) -> dict[tuple[str, str], set[str]]:
    """Letters that the movements between two roads ever show."""
    (signal,) = draft.signals
    found: dict[tuple[str, str], set[str]] = {}
    for c in draft.connectors:
        if c.signal:
            shown = {states[c.link] for _, states in signal.phases}
            found.setdefault((c.from_road, c.to_road), set()).update(shown)
    return found


RIGHT = {(WEST, "11#1"), (SOUTH, "10#1"), (EAST, "-11#0"), (NORTH, "-10#0")}


@pytest.mark.parametrize("country", ["US", "PT"])
def test_right_turns_go_on_red_in_america_after_those_from_the_left(tmp_path: Path, country: str):
    path = write_osm(tmp_path, CROSS, BIG, LIT)
    shown = letters(read_osm_draft(path, OsmOptions(country=country)))
    assert {way for way, found in shown.items() if "s" in found} == (
        RIGHT if country == "US" else set()
    )
    assert all("r" in found for way, found in shown.items() if way not in RIGHT)


def test_right_turns_on_red_give_way_and_can_be_forbidden(tmp_path: Path):
    members = [("way", "from", 12), ("node", "via", 1), ("way", "to", 11)]
    rule = (1, members, {"type": "restriction", "restriction": "no_right_turn_on_red"})
    ways = [(10, [1, 2], BIG[0][2]), (12, [4, 1], BIG[0][2]), BIG[1]]
    draft = read_osm_draft(write_osm(tmp_path, CROSS, ways, LIT, [rule]), OsmOptions(country="US"))
    shown = letters(draft)
    assert "s" not in shown["12#0", "11#1"]
    assert "s" in shown[SOUTH, "10#0"]
    from rushhour.roadnets.build import finish

    network = finish(draft)
    links, lanes, conflicts = (getattr(network.arrays, n) for n in
                               ("connectors", "lanes", "conflicts"))  # fmt: skip
    names = [network.road_ids[r] for r in lanes.road[: network.n_road_lanes]]
    gives = {
        (names[links.from_lane[k]], names[links.from_lane[conflicts.other[c]]])
        for k in range(links.from_lane.size)
        for c in range(links.conflict_start[k], links.conflict_start[k + 1])
        if conflicts.yields[c] and names[links.to_lane[k]] == "10#0"
        and names[links.from_lane[k]] == SOUTH
    }  # fmt: skip
    assert (SOUTH, "12#0") in gives  # the stream from its left


@pytest.mark.parametrize(
    ("turns", "phases"), [("left|through|through;right", 3), ("left;through|through|right", 2)]
)
def test_a_left_turn_lane_against_a_wide_stream_gets_its_own_phase(
    tmp_path: Path, turns: str, phases: int
):
    main = street("primary", lanes="6", turn__lanes__forward=turns, turn__lanes__backward=turns)
    ways = [(10, [4, 1, 2], main), (11, [3, 1, 5], street("secondary"))]
    (signal,) = read_osm_draft(write_osm(tmp_path, CROSS, ways, LIT)).signals
    greens = [states for time, states in signal.phases if time >= 8.0]
    assert len(greens) == phases


@pytest.mark.parametrize(("country", "stem_yields"), [("US", True), ("GB", True), ("PT", False)])
def test_at_a_t_of_equal_streets_the_stem_yields_or_the_right_goes_first(
    tmp_path: Path, country: str, stem_yields: bool
):
    ways = [CROSS_WAYS[0], (11, [1, 5], street())]  # the stem comes from the south
    path = write_osm(tmp_path, CROSS, ways)
    from rushhour.roadnets.build import finish

    network = finish(read_osm_draft(path, OsmOptions(country=country)))
    links, conflicts, lanes = (getattr(network.arrays, n) for n in
                               ("connectors", "conflicts", "lanes"))  # fmt: skip
    names = [network.road_ids[r] for r in lanes.road[: network.n_road_lanes]]
    pairs = {
        (names[links.from_lane[k]], names[links.from_lane[conflicts.other[c]]])
        for k in range(links.from_lane.size)
        for c in range(links.conflict_start[k], links.conflict_start[k + 1])
        if conflicts.yields[c]
    }
    stem, west, east = "-11#0", "10#0", "-10#1"
    assert (stem, east) in pairs  # it comes from the right of the stem
    assert ((stem, west) in pairs) == stem_yields
    assert ((west, stem) in pairs) == (not stem_yields)


def test_lights_on_two_parts_of_a_crossing_make_one_intersection_of_it(tmp_path: Path):
    """15 m apart: the pair in between has lights on none of its two nodes, but each part has."""
    nodes = {1: (0.0, 0.0), 2: (8.0, 0.0), 3: (23.0, 0.0), 4: (31.0, 0.0)}
    for node, (x, _) in list(nodes.items()):
        nodes[node + 10], nodes[node + 20] = (x, 250.0 - 5 * node), (x, -250.0 + 5 * node)
    nodes[30], nodes[31] = (-300.0, 0.0), (300.0, 0.0)
    ways = [(1, [30, 1, 2, 3, 4, 31], street("secondary"))]
    ways += [(10 + k, [k + 10, k, k + 20], street("tertiary")) for k in (1, 2, 3, 4)]
    lights = {node: {"highway": "traffic_signals"} for node in (1, 4)}
    network = load_network(write_osm(tmp_path, nodes, ways, lights))
    assert len(network.signal_ids) == 1
    dark = load_network(write_osm(tmp_path, nodes, ways))
    assert dark.signal_ids == ()
    assert sum(name.startswith("1#") for name in dark.road_ids) == 3  # two parts, 15 m between them
