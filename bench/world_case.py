"""A case of against_sumo.py in a world: its trips, flows by road, violations and what stood.

Run by against_sumo.py in a fresh process.
"""

import json
from time import perf_counter
from typing import Any

from fresh import task_of_this_process
from world_trips import trip_means
from worlds import opened_world

from rushhour.traffic.checker import Checker
from rushhour.traffic.measures.measuring import Measures


def world_case(task: dict[str, Any]) -> dict[str, Any]:
    """Step until the last arrival, or `longest` s; `still`: how many are on the road then."""
    world, _ = opened_world(task)
    checker = Checker(world)
    measures = Measures(world, task["longest"])
    world.observers += [measures, checker]
    frames = round(60.0 / world.dt)
    start = perf_counter()
    while not world.done and world.time - world.begin < task["longest"]:
        world.step(frames)
    wall = perf_counter() - start
    measures.finish()
    roads = measures.roads.columns
    distance: dict[str, float] = {}  # over the intervals, which end on the clock
    for road, driven in zip(roads["road"].tolist(), roads["distance"].tolist(), strict=True):
        distance[road] = distance.get(road, 0.0) + driven
    table = world.vehicles
    return {
        "step_s": world.dt,
        "seed": task["seed"],
        "meant": len(world.demand),
        "departed": world.departed,
        "empties": world.done,
        **trip_means(world),
        "violations": checker.violations,
        "found": checker.lines()[:10],
        "gridlock": world.gridlock(),
        "still": len(table),
        "last_s": float(world.trips.arrived.max()) - world.begin if len(world.trips) else 0.0,
        "reasons": world.counts(),
        "flows": distance,
        "wall_s": wall,
    }


if __name__ == "__main__":
    print(json.dumps(world_case(task_of_this_process()), default=float))
