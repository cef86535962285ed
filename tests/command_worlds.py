"""Small worlds for commands: roads in a row, and two ways from one end to the other."""

from collections.abc import Sequence

import rushhour as rh
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import LANE_ALLOWED, Demand, VehicleType
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

SAME = VehicleType(speed_dev=0.0)


def straight(lanes: int = 1, length: float = 1500.0) -> Network:
    """Two roads in a row, "first" and a short "last"."""
    builder = rh.NetworkBuilder("straight")
    builder.add_road([(0.0, 0.0), (length, 0.0)], lanes=lanes, speed=13.9, id="first")
    builder.add_road([(length, 0.0), (length + 200.0, 0.0)], lanes=lanes, speed=13.9, id="last")
    return builder.build()


def two_ways(lanes: int = 1) -> Network:
    """From "in" to "out" by "short" (400 m) or by "long" (700 m), and "stub", a way to nowhere."""
    builder = rh.NetworkBuilder("two ways")
    builder.add_road([(-400.0, 0.0), (0.0, 0.0)], lanes=2, speed=13.9, id="in")
    builder.add_road([(0.0, 0.0), (400.0, 0.0)], lanes=lanes, speed=13.9, id="short", priority=1)
    long = [(0.0, 0.0), (40.0, 120.0), (200.0, 240.0), (360.0, 120.0), (400.0, 0.0)]
    builder.add_road(long, lanes=lanes, speed=13.9, id="long")
    builder.add_road([(400.0, 0.0), (800.0, 0.0)], lanes=2, speed=13.9, id="out")
    builder.add_intersection(0.0, 0.0, control="none", id="fork")
    builder.add_intersection(400.0, 0.0, control="yield", id="join")
    return builder.build()


def demand_of(
    network: Network, every: float, count: int, route: Sequence[str], kind: VehicleType = SAME,
    whole: bool = False,
) -> Demand:  # fmt: skip
    """Vehicles car0, car1, ... one every so many seconds; route: roads, or its ends unless whole."""
    builder = DemandBuilder()
    roads = [network.road_index[road] for road in route]
    for k in range(count):
        builder.add(Trip(f"car{k}", k * every, kind, roads, routed=whole, depart_lane=LANE_ALLOWED))
    return builder.build()


def world_of(
    network: Network,
    demand: Demand,
    parameters: dict[str, object] | None = None,
    seed: int = 1,
    dt: float = 0.25,
) -> World:
    """A world with frames of a quarter of a second."""
    return World(network, demand, parameters=Parameters(parameters), dt=dt, seed=seed)
