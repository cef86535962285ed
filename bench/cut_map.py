"""A window of a map, imported and driven through under the eyes of the checker.

Run by cut_maps.py in a fresh process.
"""

import json
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
from fresh import task_of_this_process

from rushhour.roadnets.classes import CAR
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.lint.junctions import junction_findings
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.roadnets.storage import save
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.world import World

ROOM: Final = 7.5  # m of lane that a standing car takes


def held_by(network: Network) -> int:
    """How many cars stand on the roads of a network when all lanes open to cars are full."""
    lanes, n = network.arrays.lanes, network.n_road_lanes
    room = np.floor(lanes.length[:n] / ROOM)
    return int(room[(lanes.permissions[:n] & CAR) > 0].sum())


def driven(task: dict[str, Any]) -> dict[str, Any]:
    """Import, and `minutes` of random trips, `load` of what the roads hold, departing meanwhile."""
    cpu = process_time()
    options = OsmOptions(box=tuple(task["box"]))
    network = import_network(Path(task["map"]), options)
    cpu = process_time() - cpu
    if task["keep"]:
        save(network, Path(task["keep"]))
    held = held_by(network)
    over = task["minutes"] * 60.0
    demand = random_trips(network, round(task["load"] * held), over=over, seed=task["seed"])
    world = World(network, demand, dt=task["dt"], seed=task["seed"])
    checker = Checker(world)
    world.observers.append(checker)
    world.step(round(over / world.dt))
    trips = world.trips
    return {
        "lane_km": float(network.arrays.lanes.length[: network.n_road_lanes].sum()) / 1000.0,
        "import_cpu_s": cpu,
        "held": held,
        "trips": len(demand),
        "departed": world.departed,
        "arrived": len(trips),
        "on_road": len(world.vehicles),
        "still": int(np.count_nonzero(world.vehicles.speed < 0.1)),
        "longest_s": float(np.max(trips.longest_standstill, initial=0.0)),
        "gridlock": world.gridlock(),
        "violations": checker.violations,
        "found": checker.lines(),
        "lint": dict(Counter(one.check for one in junction_findings(network))),
    }


if __name__ == "__main__":
    print(json.dumps(driven(task_of_this_process()), default=float))
