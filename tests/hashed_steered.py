"""Step a large grid, half of it steered, and print its state hash; in a process of its own.

Argument: frames.
"""

import sys

from hashed_run import large_grid

from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

if __name__ == "__main__":
    grid = large_grid()
    given = Parameters({"steered.share": 0.5})
    world = World(grid, vehicles_on_road(grid, 5000, seed=2), parameters=given, dt=1 / 30, seed=4)
    world.step(int(sys.argv[1]))
    print(world.state_hash(), world.active, world.steered())
