"""Print which kernels a busy world prepares after its first frame; run in a new process."""

import json

from rushhour.kernels.compiling import address_tables
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.world import World


def prepared() -> set[str]:
    """Kernels that Python has called, compiled or loaded."""
    return {kernel.__name__ for kernel in address_tables._known if kernel._entries}


if __name__ == "__main__":
    network = generate("town", size="small", seed=2)
    world = World(network, random_trips(network, 2500, 60.0, seed=1), dt=0.5)
    world.step()
    first = prepared()
    world.step(600)
    print(json.dumps({"late": sorted(prepared() - first), **world.counts()}))
