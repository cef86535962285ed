"""`busway=opposite_lane`: a one-way that buses drive against its direction, on a lane of their own."""

from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, street, turns, write_osm

from rushhour.kernels.core.network import GREEN
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.osm.network import read_osm_draft
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.routing.routes import route_trips

pytest.importorskip("osmium")

CAR, BUS = CLASS_BIT["passenger"], CLASS_BIT["bus"]
KEYS = ("busway", "busway:left", "busway:right", "busway:both")


def cross(folder: Path, tags: dict[str, str], node_tags=None, **more: str):
    """A one-way of two lanes to the east over a street of both directions."""
    ways = [
        (10, [4, 1, 2], street("primary", oneway="yes", lanes="2", **more) | tags),
        CROSS_WAYS[1],
    ]
    return load_network(write_osm(folder, CROSS, ways, node_tags))


def for_cars(network) -> set[tuple[str, str]]:
    """Lanes that cars may drive one after the other."""
    links, lanes = network.arrays.connectors, network.arrays.lanes
    mask = lanes.permissions[network.n_road_lanes :]
    pairs = zip(links.from_lane, links.to_lane, mask & CAR != 0, strict=True)
    return {(network.lane_ids[a], network.lane_ids[b]) for a, b, car in pairs if car}


@pytest.mark.parametrize("key", KEYS)
def test_buses_have_a_lane_at_the_other_kerb_and_cars_what_they_had(tmp_path: Path, key: str):
    network = cross(tmp_path, {key: "opposite_lane"})
    plain = cross(tmp_path, {})
    lane = network.lane_index["-10#0_0"]
    assert network.arrays.lanes.permissions[lane] & (CAR | BUS) == BUS
    assert "-10#0_1" not in network.lane_index
    across = {name: network.lane_points(network.lane_index[name])[0, 1]
              for name in ("10#0_0", "10#0_1", "-10#0_0")}  # fmt: skip
    assert list(across.values()) == pytest.approx([-3.25, 0.0, 3.25], abs=1e-3)
    assert for_cars(network) == for_cars(plain)
    assert turns(network) - turns(plain) == {
        ("-10#1", "-10#0"), ("-10#1", "11#1"), ("-10#1", "-11#0"), ("11#0", "-10#0"),
        ("-11#1", "-10#0"),
    }  # fmt: skip


def test_routes_of_buses_lead_over_it_and_no_others(tmp_path: Path):
    network = cross(tmp_path, {"busway": "opposite_lane"})
    index = network.road_index
    pair = [index["11#0"]], [index["-10#0"]]
    assert route_trips(network, *pair).roads.size == 0
    assert route_trips(network, *pair, "bus").roads.tolist() == [pair[0][0], pair[1][0]]
    trips = random_trips(network, 200, 60.0)
    assert index["-10#0"] not in trips.roads


def test_lights_at_its_end_let_buses_go(tmp_path: Path):
    lights = {1: {"highway": "traffic_signals"}}
    network = cross(tmp_path, {"busway": "opposite_lane"}, lights)
    assert for_cars(network) == for_cars(cross(tmp_path, {}, lights))
    links, signals = network.arrays.connectors, network.arrays.signals
    first = network.lane_index["-10#1_0"]
    own = np.flatnonzero(links.from_lane == first)
    assert (links.signal[own] == 0).all()
    letters = signals.state.reshape(-1, signals.links[0])
    assert (letters[:, links.link[own]] >= GREEN).any(axis=0).all()


@pytest.mark.parametrize(
    "tags", [{"oneway": "no"}, {"junction": "roundabout"}, {"busway": "opposite"}]
)
def test_elsewhere_it_means_nothing(tmp_path: Path, tags: dict[str, str]):
    ways = [
        (10, [4, 1, 2], street("primary", lanes="2", oneway="yes", busway="opposite_lane") | tags)
    ]
    ways += [CROSS_WAYS[1]]
    draft = read_osm_draft(write_osm(tmp_path, CROSS, ways))
    lanes = [lane for road in draft.roads for lane in road.lanes]
    assert all(lane.permissions & CAR for lane in lanes)


def test_where_nothing_leads_on_buses_turn_back_into_the_one_way(tmp_path: Path):
    """At its start inside the map, where cars come from nowhere."""
    nodes = CROSS | {6: (-600.0, 0.0), 7: (600.0, 0.0), 8: (0.0, 600.0), 9: (0.0, -600.0)}
    ways = [(10, [4, 1, 2], street("primary", oneway="yes", busway="opposite_lane")),
            (11, [8, 1, 9], street()), (12, [2, 7], street()), (13, [6, 8], street())]  # fmt: skip
    network = load_network(write_osm(tmp_path, nodes, ways))
    assert ("-10#0", "10#0") in turns(network)


def test_cars_do_not_turn_against_it_within_an_intersection_either(tmp_path: Path):
    """The streets that cross the one-way at 1 and, 8 m on, at 6 are one intersection."""
    nodes = CROSS | {6: (8.0, 0.0), 7: (8.0, 300.0)}
    found = []
    for busway in ({}, {"busway": "opposite_lane"}):
        ways = [(10, [4, 1, 6, 2], street("primary", oneway="yes") | busway),
                (11, [1, 5], street()), (12, [6, 7], street())]  # fmt: skip
        network = load_network(write_osm(tmp_path, nodes, ways))
        found.append(for_cars(network))
    assert found[0] == found[1]
    assert ("-12#0_0", "11#0_0") not in found[1]
    assert ("-12#0", "-10#0") in turns(network)
