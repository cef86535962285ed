"""Small worlds to measure."""

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip, merge
from rushhour.traffic.demand.model import SPEED_MAX, Demand, VehicleType
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.measures.detectors import Loop
from rushhour.traffic.world import World

EVENLY = VehicleType(model="krauss", sigma=0.0, speed_dev=0.0, length=5.0)
HEADWAY = 4.0  # s


def one_lane() -> Network:
    """Nine crossings with gates; before each a second lane to turn."""
    return generate("grid", rows=3, columns=3, lanes=1)


def two_lanes() -> Network:
    """Nine crossings from which nobody leaves."""
    return generate("grid", rows=3, columns=3, lanes=2, border="loops")


def busy(network: Network, trips: int = 200, walkers: int = 0) -> World:
    """Random trips within two minutes, and walkers from the first frame."""
    parts: list[Demand] = [random_trips(network, trips, over=120.0, seed=3)]
    if walkers:
        parts.append(vehicles_on_road(network, walkers, seed=2))
    return World(network, merge(parts), dt=0.25, seed=4)


def stream(dt: float) -> World:
    """Cars on a straight road, one each HEADWAY, all at the limit all the time."""
    network = generate("straight", length=2000.0, speed=15.0)
    builder = DemandBuilder()
    for i in range(150):
        builder.add(
            Trip(f"c{i}", HEADWAY * i, EVENLY, [0], depart_speed_kind=SPEED_MAX)
        )  # fmt: skip
    return World(network, builder.build(), dt=dt)


def all_loops(network: Network, share: float) -> list[Loop]:
    """A loop on every lane, at this share of its length."""
    length = network.arrays.lanes.length
    return [Loop(name, i, share * length[i]) for i, name in enumerate(network.lane_ids)]
