"""Runs under the eyes of the checker that several tests begin with."""

from collections.abc import Iterable

from rushhour.roadnets.model import Network
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.world import World


def checked(world: World) -> Checker:
    """The checker of a world that watches it from now on."""
    checker = Checker(world)
    world.observers.append(checker)
    return checker


def driven(
    network: Network, trips: Iterable[Trip], dt: float, longest: float = 300.0
) -> tuple[World, Checker]:
    """The world after everybody has arrived, or after `longest` s, and what watched it."""
    builder = DemandBuilder()
    for trip in trips:
        builder.add(trip)
    world = World(network, builder.build(), dt=dt, seed=1)
    checker = checked(world)
    while not world.done and world.time < longest:
        world.step()
    return world, checker
