"""Streets without room for a car: part of an intersection, with what was said on them kept."""

from math import cos, pi, radians, sin
from pathlib import Path

import pytest
from osm_texts import CROSS, CROSS_WAYS, Nodes, street, write_osm

from rushhour.roadnets.lint.junctions import junction_findings
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.short_streets import A_CAR

pytest.importorskip("osmium")


def turns(network: Network) -> set[tuple[str, str]]:
    """Pairs of roads joined by a connector."""
    lanes, links = network.arrays.lanes, network.arrays.connectors
    pairs = zip(lanes.road[links.from_lane], lanes.road[links.to_lane], strict=True)
    return {(network.road_ids[a], network.road_ids[b]) for a, b in pairs}


def last_metres(tags: dict[str, str] | None = None, last: float = 6.0) -> tuple[Nodes, list]:
    """A crossing whose western street is another way, wider, on the last metres."""
    nodes = {**CROSS, 9: (-last, 0.0), 8: (-last / 2, 0.0)}
    wide = street("residential", lanes="4", **(tags or {}))
    return nodes, [(10, [4, 9], street()), (12, [9, 8, 1], wide), (13, [1, 2], street()),
                   CROSS_WAYS[1]]  # fmt: skip


def test_the_last_metres_before_a_crossing_are_part_of_it(tmp_path: Path):
    network = load_network(write_osm(tmp_path, *last_metres()))
    assert not any("12" in name for name in network.road_ids)
    assert {b for a, b in turns(network) if a == "10#0"} == {"13#0", "11#1", "-11#0"}
    assert float(network.arrays.lanes.length[: network.n_road_lanes].min()) >= A_CAR
    # The stop line still clears the street across: half its width and the kerb, 5.9 m from node 1.
    lane = network.lane_points(network.lane_index["10#0_0"])
    assert lane[-1, 0] <= -(1.45 * 2 + 3.0) + 0.01
    # Long enough for a car, they stay a road of their own.
    longer = load_network(write_osm(tmp_path, *last_metres(last=25.0)))
    assert ("10#0", "12#0") in turns(longer)


def test_a_stop_sign_on_the_last_metres_stops_the_street_before_them(tmp_path: Path):
    nodes, ways = last_metres()
    network = load_network(write_osm(tmp_path, nodes, ways, {8: {"highway": "stop"}}))
    links, lanes = network.arrays.connectors, network.arrays.lanes
    stopped = {network.road_ids[r] for r in lanes.road[links.from_lane[links.must_stop]]}
    assert stopped == {"10#0"}


def test_turn_lanes_on_the_last_metres_hold_for_the_street_before_them(tmp_path: Path):
    nodes, ways = last_metres({"turn__lanes__forward": "left|through;right"})
    wide = {**ways[0][2], "lanes": "4"}
    ways[0] = (10, [4, 9], {**wide, "maxspeed": "50"})
    network = load_network(write_osm(tmp_path, nodes, ways))
    links, lanes = network.arrays.connectors, network.arrays.lanes
    leads = {
        (network.lane_ids[a], network.road_ids[lanes.road[b]])
        for a, b in zip(links.from_lane, links.to_lane, strict=True)
    }
    assert {road for lane, road in leads if lane == "10#0_1"} == {"-11#0"}  # to the left alone
    assert {road for lane, road in leads if lane == "10#0_0"} == {"13#0", "11#1"}


def roundabout(radius: float, arms: int, apart: float) -> tuple[Nodes, list]:
    """A ring whose arms have an exit and an entry `apart` metres from each other."""
    nodes: Nodes = {}
    ring, ways = [], []
    for k in range(arms):
        middle = 360.0 * k / arms
        half = apart / radius * 180.0 / 3.14159 / 2.0
        for j, degrees in enumerate((middle - half, middle, middle + half)):
            at = radians(degrees)
            nodes[10 * k + j + 1] = (radius * cos(at), radius * sin(at))
        at = radians(middle)
        nodes[10 * k + 4] = ((radius + 30.0) * cos(at), (radius + 30.0) * sin(at))
        nodes[10 * k + 5] = ((radius + 400.0) * cos(at), (radius + 400.0) * sin(at))
        ring += [10 * k + 1, 10 * k + 2, 10 * k + 3]
        exit, entry, split, end = (10 * k + j for j in (1, 3, 4, 5))
        ways += [
            (100 + k, [exit, split], street(oneway="yes")),
            (200 + k, [split, entry], street(oneway="yes")),
            (300 + k, [split, end], street()),
        ]
    ways.append((1, [*ring, ring[0]], street("tertiary", junction="roundabout")))
    return nodes, ways


def test_exit_and_entry_of_one_arm_of_a_roundabout_are_one_intersection(tmp_path: Path):
    network = load_network(write_osm(tmp_path, *roundabout(20.0, 4, 5.0)))
    ring = [name for name in network.road_ids if name.startswith("1#")]
    assert len(ring) == 4
    found = turns(network)
    for k in range(4):
        into = {b for a, b in found if a == f"20{k}#0"}
        assert len(into) == 1  # from an arm only on around the ring: its own exit lies behind it
        assert into.pop() in ring
        assert len({a for a, b in found if b == f"10{k}#0"} & set(ring)) == 1
    # Far enough apart for a car between them, all eight stay.
    apart = load_network(write_osm(tmp_path, *roundabout(50.0, 4, 30.0)))
    assert sum(name.startswith("1#") for name in apart.road_ids) == 8


@pytest.mark.parametrize(("radius", "segments"), [(6.0, 0), (8.0, 4), (14.0, 4)])
def test_each_arm_of_a_roundabout_of_14_m_or_more_is_an_intersection(
    tmp_path: Path, radius, segments
):
    network = load_network(write_osm(tmp_path, *roundabout(radius, 4, 5.0)))
    ring = sum(name.startswith("1#") for name in network.road_ids)
    assert ring == segments
    assert junction_findings(network) == []
    found = turns(network)
    for k in range(4):  # from each arm to the three others, one after the other around the ring
        if segments == 0:
            assert {b for a, b in found if a == f"20{k}#0"} >= {
                f"10{m}#0" for m in range(4) if m != k
            }


def test_a_signal_for_people_on_foot_is_not_swallowed(tmp_path: Path):
    nodes = {**CROSS, 9: (-70.0, 0.0), 8: (-64.0, 0.0)}
    ways = [
        (10, [4, 9], street(lanes="4")), (12, [9, 8], street()), (14, [8, 1, 2], street(lanes="4")),
        CROSS_WAYS[1],
    ]  # fmt: skip
    tags = {9: {"highway": "traffic_signals"}}
    network = load_network(write_osm(tmp_path, nodes, ways, tags))
    assert network.signal_ids == ("9",)
    assert any("12#" in name for name in network.road_ids)
    assert any("left so (a signal)" in text for text in network.remarks)


def two_armed_ring(across: float, last_piece: dict[str, str]) -> tuple[Nodes, list]:
    """A ring with two arms: a street, and an entry and an exit 6 m from each other.

    The 6 m are a way of their own, with the tags of last_piece.
    """
    r = across / 2.0
    nodes: Nodes = {1: (r, 0.0), 5: (r + 400.0, 0.0), 7: (-r - 60.0, 0.0), 8: (-r - 400.0, 0.0)}
    for k, angle in enumerate((pi - 3.0 / r, pi + 3.0 / r)):
        nodes[3 + k] = (r * cos(angle), r * sin(angle))
        for j in range(1, 9):  # counterclockwise: 1 to 3, and 1 back to 4
            along = angle * j / 9.0 if k == 0 else 2.0 * pi - (2.0 * pi - angle) * j / 9.0
            nodes[20 + 10 * k + j] = (r * cos(along), r * sin(along))
    ways = [
        (100, [4, *range(38, 30, -1), 1, *range(21, 29), 3], street("tertiary", junction="roundabout")),
        (101, [3, 4], {**street("tertiary"), **last_piece}), (102, [1, 5], street("tertiary")),
        (104, [3, 7], street("tertiary", oneway="yes")), (105, [7, 4], street("tertiary", oneway="yes")),
        (106, [7, 8], street("tertiary")),
    ]  # fmt: skip
    return nodes, ways


def test_a_wide_roundabout_of_three_junctions_keeps_no_piece_without_room(tmp_path: Path):
    network = load_network(write_osm(tmp_path, *two_armed_ring(45.0, {"junction": "roundabout"})))
    ring = {name for name in network.road_ids if name.startswith("100#")}
    assert len(ring) == 2
    assert not any(name.startswith("101#") for name in network.road_ids)
    found = turns(network)
    (over,) = (b for a, b in found if a == "105#0")
    assert over in ring  # from the arm round the ring, not to the arm's own exit
    assert not any("no room for a car" in text for text in network.remarks)


def test_a_street_that_closes_the_circle_of_a_roundabout_is_part_of_it(tmp_path: Path):
    network = load_network(write_osm(tmp_path, *two_armed_ring(45.0, {"oneway": "yes"})))
    assert any("closes the circle of roundabout way 100" in text for text in network.remarks)
    tagged = load_network(write_osm(tmp_path, *two_armed_ring(45.0, {"junction": "roundabout"})))
    assert turns(network) == turns(tagged)
    # One that may be driven both ways is none.
    both = load_network(write_osm(tmp_path, *two_armed_ring(45.0, {})))
    assert not any("closes the circle" in text for text in both.remarks)
