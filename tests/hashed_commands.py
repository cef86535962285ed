"""Step a busy grid under commands and rerouting, print its state hash; a process for its threads."""

import sys

from controlled_world import controlled_world

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

FRAMES = 200


def commanded_world(fraction: float = 0.5) -> World:
    """A grid on which vehicles stop, are pushed aside, removed, roads closed, and signals told."""
    network = generate("grid", rows=5, columns=5, lanes=2, border="loops")
    walkers = vehicles_on_road(network, 500, seed=2)
    trips = random_trips(network, 400, over=30.0, seed=3)
    given = Parameters({"rerouting.fraction": fraction, "rerouting.period": 10.0})
    world = World(network, merge([walkers, trips]), parameters=given, dt=0.25, seed=4)
    roads = network.road_ids
    world.schedule(5.0, "stop", vehicle=list(range(0, 40, 2)), duration=20.0)
    world.schedule(8.0, "push_aside", vehicle=list(range(1, 40, 2)))
    world.schedule(10.0, "close_roads", roads=list(roads[4:12]))
    world.schedule(12.0, "remove", vehicle=list(range(40, 60)))
    world.schedule(15.0, "put_back", vehicle=list(range(1, 30, 2)))
    world.schedule(20.0, "close_lanes", lanes=[f"{roads[20]}_0", f"{roads[22]}_1"])
    world.schedule(30.0, "open_roads", roads=list(roads[4:10]))
    world.schedule(4.0, "set_phase", signals=list(range(0, 25, 3)), phase=4, duration=9.0)
    world.schedule(6.0, "hold_phase", signals=list(range(1, 25, 3)), duration=8.0)
    world.schedule(14.0, "set_program", signals=list(range(2, 25, 6)), program="max_pressure")
    world.schedule(16.0, "set_program", signals=[5, 11], program="actuated")
    world.schedule(21.0, "set_phase", signals=list(range(4, 20)), phase=1)
    world.schedule(28.0, "release_signals", signals=None)
    return world


if __name__ == "__main__":
    world = commanded_world()
    world.step(int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES)
    print(world.state_hash(), world.counts())
    print(world.commands)
    world = controlled_world()
    world.step(160)
    print(world.state_hash(), world.counts())
