"""A world until everybody has arrived: its roads by interval, its departures.

Run by roads.py in a fresh process.
"""

import json
from itertools import pairwise
from typing import Any

from fresh import task_of_this_process
from world_trips import LONGEST, trip_means
from worlds import opened_world

from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.world import World

TO_NEXT = 2  # roads named of those by which most trips go on


def world_roads(task: dict[str, Any]) -> dict[str, Any]:
    """Step until the last arrival and to the end of that interval, measuring from the begin."""
    world, _ = opened_world(task)
    interval = task["interval"]
    measures = Measures(world, interval)
    world.observers.append(measures)
    frames = round(interval / world.dt)
    while not world.done and world.time - world.begin < LONGEST:
        world.step(frames)
    table = measures.roads
    columns = ("road", "begin", "vehicle_seconds", "distance", "density")
    return {
        "seed": task["seed"],
        "step_s": world.dt,
        "departed": world.departed,
        "roads": {name: table.columns[name].tolist() for name in columns},
        "trips": _trips(world),
        "network": _network(world),
        **trip_means(world),
        "counts": world.counts(),
    }


def _trips(world: World) -> dict[str, list[Any]]:
    """When each trip was due (s), and the road where it begins."""
    demand, ids = world.demand, world.network.road_ids
    first = demand.roads[demand.route_start[:-1]].tolist()
    return {
        trip: [due, ids[road]]
        for trip, due, road in zip(demand.ids, demand.depart.tolist(), first, strict=True)
    }


def _network(world: World) -> dict[str, list[Any]]:
    """By road: the intersection at its end, its length (m), and where most trips go on to."""
    network, demand = world.network, world.demand
    roads, ids = network.arrays.roads, network.road_ids
    going: dict[int, dict[int, int]] = {}
    for start, end in zip(demand.route_start[:-1], demand.route_start[1:], strict=True):
        route = demand.roads[start:end].tolist()
        for road, following in pairwise(route):
            counts = going.setdefault(road, {})
            counts[following] = counts.get(following, 0) + 1
    found = {}
    for road, name in enumerate(ids):
        at = int(roads.to_intersection[road])
        counts = sorted(going.get(road, {}).items(), key=lambda item: -item[1])[:TO_NEXT]
        found[name] = [
            network.intersection_ids[at] if at >= 0 else "",
            float(roads.length[road]),
            [[ids[following], count] for following, count in counts],
        ]
    return found


if __name__ == "__main__":
    print(json.dumps(world_roads(task_of_this_process())))
