"""Slip lanes: which links are some, and that they stay roads which give way at their end."""

from pathlib import Path

import pytest
from osm_texts import control, street, turns, write_osm

from rushhour.kernels.core.network import SIGNAL, YIELD
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.osm.network import read_osm_draft

pytest.importorskip("osmium")

# Two one-way streets, north and east, and a slip lane from the first to the second.
NODES = {1: (0.0, 0.0), 2: (300.0, 0.0), 3: (0.0, 300.0), 4: (-300.0, 0.0), 5: (0.0, -300.0),
         6: (0.0, -18.0), 7: (18.0, 0.0), 8: (4.0, -6.0)}  # fmt: skip
MAIN = street("secondary", oneway="yes", lanes="2")
WAYS = [(10, [5, 6, 1, 3], MAIN), (11, [4, 1, 7, 2], MAIN)]
SLIP = (12, [6, 8, 7], street("secondary_link", oneway="yes"))


def yielding_ways(tmp_path: Path, nodes, ways) -> set[str]:
    """Ways that give way to a street they join, by their roads' ids."""
    network = load_network(write_osm(tmp_path, nodes, ways))
    links, conflicts, lanes = (getattr(network.arrays, n) for n in
                               ("connectors", "conflicts", "lanes"))  # fmt: skip
    found = set()
    for k in range(links.from_lane.size):
        zone = slice(links.conflict_start[k], links.conflict_start[k + 1])
        if conflicts.yields[zone].any():
            found.add(network.road_ids[lanes.road[links.from_lane[k]]].lstrip("-").split("#")[0])
    return found


def test_a_slip_lane_stays_apart_from_its_crossing_and_gives_way(tmp_path: Path):
    tags = {1: {"highway": "traffic_signals"}}
    network = load_network(write_osm(tmp_path, NODES, [*WAYS, SLIP], tags))
    assert [control(network, name) for name in ("1", "7")] == [SIGNAL, YIELD]
    assert ("10#0", "12#0") in turns(network)
    assert ("12#0", "11#2") in turns(network)
    assert ("10#1", "11#1") in turns(network)  # the right turn over the crossing
    links, conflicts = network.arrays.connectors, network.arrays.conflicts
    lane = network.lane_index["12#0_0"]
    (k,) = (k for k in range(links.from_lane.size) if links.from_lane[k] == lane)
    assert links.signal[k] == -1
    assert conflicts.yields[links.conflict_start[k] : links.conflict_start[k + 1]].all()


def test_without_the_slip_lane_its_ends_would_be_one_crossing(tmp_path: Path):
    """A street that leads elsewhere from the same node is merged as before."""
    ways = [*WAYS, (12, [6, 9], street("secondary_link", oneway="yes"))]
    draft = read_osm_draft(write_osm(tmp_path, {**NODES, 9: (300.0, -300.0)}, ways))
    assert "6" not in {inter.id for inter in draft.intersections}


@pytest.mark.parametrize(
    ("name", "slips"),
    [("as drawn", {"12"}), ("two-way", set()), ("long", set()), ("the other way", set()),
     ("no way over the crossing", set())],
)  # fmt: skip
def test_what_is_a_slip_lane(tmp_path: Path, name: str, slips: set[str]):
    nodes, slip, ways = dict(NODES), SLIP, list(WAYS)
    if name == "two-way":
        slip = (12, [6, 8, 7], street("secondary_link"))
    elif name == "long":
        nodes |= {6: (0.0, -80.0), 7: (80.0, 0.0), 8: (10.0, -20.0)}
    elif name == "the other way":
        slip = (12, [7, 8, 6], SLIP[2])
    elif name == "no way over the crossing":
        ways[0] = (10, [5, 6, 1, 3], street("secondary", oneway="yes", lanes="2"))
        ways[1] = (11, [4, 9, 7, 2], MAIN)
        nodes[9] = (0.0, -1.0)
    draft = read_osm_draft(write_osm(tmp_path, nodes, [*ways, slip]))
    given = {c.from_road.split("#")[0] for c in draft.connectors if c.priority == -1}
    assert given == slips


def test_a_slip_lane_of_equal_rank_does_not_go_before_the_street_from_its_left(tmp_path: Path):
    """Right before left would let it."""
    slip = (12, SLIP[1], street("secondary", oneway="yes", lanes="1"))
    assert "12" in yielding_ways(tmp_path, NODES, [*WAYS, slip])
