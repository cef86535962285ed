"""What is true of every network and demand that a reader lets through."""

from contextlib import suppress

import numpy as np

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.gate import parts_of
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage_checks import check_network
from rushhour.roadnets.storage_fields import NAMES
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.world import World

JOINT = 0.01  # m, between a lane's end and the connector that begins there


def assert_sound(network: Network) -> None:
    """The arrays fit together as kernels need them, and so does the drawing."""
    check_network(parts_of(network), {name: getattr(network, name) for name in NAMES})
    arrays, n = network.arrays, network.n_road_lanes
    links, road = arrays.connectors, arrays.lanes.road
    first, last = network.point_start[:-1], network.point_start[1:] - 1
    k = np.arange(network.n_connectors) + n
    gap_in = network.points[first[k]] - network.points[last[links.from_lane]]
    gap_out = network.points[last[k]] - network.points[first[links.to_lane]]
    assert np.abs(np.concatenate((gap_in, gap_out))).max(initial=0.0) < JOINT
    meets = arrays.roads.to_intersection[road[links.from_lane]]
    assert (meets == arrays.roads.from_intersection[road[links.to_lane]]).all()
    assert all("\n" not in line for line in network.remarks)


FRAMES = 200  # that are driven on what was read


def driven(world: World) -> str:
    """The state hash after so many frames."""
    world.step(FRAMES)
    return world.state_hash()


def assert_drivable(network: Network) -> str:
    """Vehicles with routes and without can be put on the network and driven; the state hash."""
    parts = [vehicles_on_road(network, 20)]
    with suppress(DemandError):  # nobody has a way from one road to another
        parts.append(random_trips(network, 30, over=40.0, seed=1))
    return driven(World(network, merge(parts), dt=0.5))


def assert_meant_for(network: Network, demand: Demand) -> None:
    """Trips depart at some time, on roads that the network has and that follow each other."""
    assert np.isfinite(demand.depart).all() and (np.diff(demand.depart) >= 0.0).all()
    assert ((demand.roads >= 0) & (demand.roads < network.n_roads)).all()
    assert (np.diff(demand.route_start) >= 1).all() and demand.route_start[-1] == demand.roads.size
    assert ((demand.stop_lane >= 0) & (demand.stop_lane < network.n_road_lanes)).all()
    follows = np.repeat(demand.routed, np.diff(demand.route_start))
    follows[demand.route_start[1:] - 1] = False  # after a trip's last road comes another trip
    here, n = np.flatnonzero(follows), network.n_roads
    pairs = np.unique(demand.roads[here].astype(np.int64) * n + demand.roads[here + 1])
    roads = network.arrays.roads
    linked = np.repeat(np.arange(n), np.diff(roads.out_start)) * n + roads.out
    assert np.isin(pairs, linked).all()
    assert all("\n" not in line for line in demand.remarks)
