"""Our side of a measurement: files in, a world out, with what each step of the way took."""

import os
import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from rushhour.roadnets.build import finish
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.sumo.network import read_network_draft
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sumo.demand import read_demand
from rushhour.traffic.world import World


def opened_world(task: dict[str, Any]) -> tuple[World, dict[str, float]]:
    """The world of a task, and the seconds it took to read, route and build.

    It begins with the first departure; with `interval` in the task, at the multiple of it before.
    With `trips`, so many random ones within an hour are driven in place of those of files; with
    `scale`, each of these so often.
    """
    times: dict[str, float] = {}
    start = perf_counter()
    network = _network(Path(task["network"]), [Path(name) for name in task.get("programs", ())])
    times["network_s"] = perf_counter() - start
    start = perf_counter()
    if "trips" in task:
        demand = random_trips(network, task["trips"], over=3600.0, seed=task["seed"])
    else:
        files = [Path(name) for name in task["demand"]]
        demand = read_demand(files, network, scale=task.get("scale", 1.0))
    times["demand_s"] = perf_counter() - start
    start = perf_counter()
    begin = None
    if "interval" in task and len(demand):
        begin = float(demand.depart[0] // task["interval"] * task["interval"])
    given = Parameters(task.get("parameters", {}))
    world = World(network, demand, parameters=given, dt=task["dt"], seed=task["seed"], begin=begin)
    times["world_s"] = perf_counter() - start
    return world, times


def _network(path: Path, programs: list[Path]) -> Network:
    if programs:
        return finish(read_network_draft(path, programs=programs))
    return load_network(path)


def process_figures() -> dict[str, Any]:
    """Threads of this process and the most memory it held."""
    import numba

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "threads": numba.get_num_threads(),
        "max_rss_mb": largest / (1 << 20 if sys.platform == "darwin" else 1 << 10),
        "load_average": os.getloadavg()[0],
    }
