"""A world until everybody has arrived: the statistics of its trips.

Run by peers.py in a fresh process.
"""

import json
from time import perf_counter
from typing import Any

import numpy as np
from fresh import task_of_this_process
from worlds import opened_world, process_figures

from rushhour.kernels.compiling.compile_locks import announcing_compiles
from rushhour.traffic.world import World

LONGEST = 6 * 3600.0  # s of simulated time, after which a run is given up


def trip_means(world: World) -> dict[str, Any]:
    """Means over the finished trips, as SUMO's tripinfo defines them."""
    trips, demand = world.trips, world.demand
    count = max(1, len(trips))
    duration = trips.arrived - trips.departed
    delay = trips.departed - demand.depart[trips.trip]
    driven = float(duration.sum())
    return {
        "arrived": len(trips),
        "mean_travel_time_s": driven / count,
        "mean_departure_delay_s": float(delay.sum()) / count,
        "mean_sum_s": float((duration + delay).sum()) / count,
        "mean_waiting_time_s": float(trips.waiting_time.sum()) / count,
        "mean_distance_m": float(trips.distance.sum()) / count,
        "mean_speed_mps": float(trips.distance.sum()) / driven if driven else 0.0,
        "last_arrival_s": float(np.max(trips.arrived, initial=world.begin)),
        "longest_standstill_s": float(np.max(trips.longest_standstill, initial=0.0)),
        "teleports": 0,  # there is no such thing
        "unfinished": len(demand) - len(trips),
    }


def world_trips(task: dict[str, Any]) -> dict[str, Any]:
    """Step until the last arrival, one simulated minute at a time."""
    compiled: list[str] = []
    with announcing_compiles(compiled.append):
        world, times = opened_world(task)
        frames = round(60.0 / world.dt)
        start = perf_counter()
        while not world.done and world.time - world.begin < LONGEST:
            world.step(frames)
        wall = perf_counter() - start
    means = trip_means(world)
    return {
        "simulator": "rushhour",
        "step_s": world.dt,
        **means,
        "simulated_s": world.time - world.begin,
        "wall_s": wall,
        "real_time_factor": (world.time - world.begin) / wall,
        "vehicle_updates_per_s": world.vehicle_updates / wall,
        "counts": world.counts(),
        "compiled": len(compiled),
        **times,
        **process_figures(),
    }


if __name__ == "__main__":
    print(json.dumps(world_trips(task_of_this_process())))
