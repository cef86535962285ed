"""Lanes of hand-made maps as drawn: where they lie, which go on, how fast each is."""

from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, street, write_osm

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
