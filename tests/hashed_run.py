"""Step large grids and print their state hashes; run in a process of its own, for its threads.

Arguments: frames, and who controls the signals of each.
"""

import sys

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

VEHICLES = 5000  # several chunks of the order, and enough for slots to be re-packed


def large_grid() -> Network:
    """A hundred crossings with signals."""
    return generate("grid", rows=10, columns=10, border="loops")


def busy_world(network: Network, vehicles: int = VEHICLES, control: str = "program") -> World:
    """Walkers from the first frame, and trips that depart, are routed and arrive."""
    walkers = vehicles_on_road(network, vehicles, seed=2)
    trips = random_trips(network, vehicles // 10, over=60.0, seed=3)
    parameters = Parameters({"signals.control": control})
    return World(network, merge([walkers, trips]), parameters=parameters, dt=0.25, seed=4)


if __name__ == "__main__":
    for control in sys.argv[2:]:
        world = busy_world(large_grid(), control=control)
        world.step(int(sys.argv[1]))
        print(world.state_hash(), world.active, world.counts()["lane_changes"])
