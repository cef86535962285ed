"""A* over roads: nodes are roads (turn restrictions live between them), costs are seconds.

The estimate of the rest is the straight line from a road's end to the goal's start, driven at the
highest speed there is. Every cost of the graph is at least that long a drive, so the estimate is
consistent: each road is closed once and the way found is one of the cheapest (C3.5). Multipliers
below one would break this; the estimate is divided by the least of them (C3.6).
Source: Hart, Nilsson, Raphael 1968.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.jit import kernel
from rushhour.kernels.random import uniform

STREAM_TASTE = 7001  # drivers' differing views of what a road costs


class RoadGraph(NamedTuple):
    """Roads that one class of vehicles can use, and the turns between them. n roads, m turns."""

    out_start: NDArray[np.int32]  # (n+1,) into out, turn_cost
    out: NDArray[np.int32]  # (m,) roads that can follow, ascending
    turn_cost: NDArray[np.float64]  # (m,) s
    cost: NDArray[np.float64]  # (n,) s to drive the road; inf: closed to the class
    start_x: NDArray[np.float64]  # (n,) m
    start_y: NDArray[np.float64]
    end_x: NDArray[np.float64]
    end_y: NDArray[np.float64]
    top_speed: float  # m/s, no part of the graph is faster


class Scratch(NamedTuple):
    """Working arrays of one search per chunk: (chunks, n), heaps (chunks, m+2)."""

    cost: NDArray[np.float64]
    before: NDArray[np.int32]  # road from which it was reached
    seen: NDArray[np.int64]  # search in which `cost` was written
    closed: NDArray[np.int64]  # search in which it was closed
    heap_key: NDArray[np.float64]
    heap_road: NDArray[np.int32]


@kernel(inline="always")
def comes_first(key_a: float, road_a: int, key_b: float, road_b: int) -> bool:
    """Order of the heap: by key, among equals by road, so that ways never depend on chance."""
    return key_a < key_b or (key_a == key_b and road_a < road_b)


@kernel
def push(
    keys: NDArray[np.float64], roads: NDArray[np.int32], size: int, key: float, road: int
) -> None:
    """Put (key, road) on a heap that holds size entries."""
    here = size
    while here > 0:
        parent = (here - 1) >> 1
        if not comes_first(key, road, keys[parent], roads[parent]):
            break
        keys[here] = keys[parent]
        roads[here] = roads[parent]
        here = parent
    keys[here] = key
    roads[here] = road


@kernel
def drop_first(keys: NDArray[np.float64], roads: NDArray[np.int32], size: int) -> None:
    """Remove the first of a heap that holds size entries."""
    last = size - 1
    key = keys[last]
    road = roads[last]
    here = 0
    while True:
        child = 2 * here + 1
        if child >= last:
            break
        right = child + 1
        if right < last and comes_first(keys[right], roads[right], keys[child], roads[child]):
            child = right
        if not comes_first(keys[child], roads[child], key, road):
            break
        keys[here] = keys[child]
        roads[here] = roads[child]
        here = child
    keys[here] = key
    roads[here] = road


@kernel
def search(
    graph: RoadGraph,
    scratch: Scratch,
    row: int,
    stamp: int,
    start: int,
    goal: int,
    multiplier: NDArray[np.float64],
    pace: float,
    taste_seed: int,
    taste: float,
) -> int:
    """Fill `scratch.before` from start to goal; returns how many roads were closed.

    The cost is in scratch.cost[row, goal], valid where scratch.closed[row, goal] == stamp.
    pace: s/m of the estimate, 0 for Dijkstra's search. goal: -1 closes every road that can be
    reached; with pace 0.
    """
    scratch.seen[row, start] = stamp
    scratch.before[row, start] = -1
    scratch.cost[row, start] = 0.0
    if graph.cost[start] == inf or (goal >= 0 and graph.cost[goal] == inf):
        return 0
    aim = max(goal, 0)
    x, y = graph.start_x[aim], graph.start_y[aim]
    closed = 0
    size = 0
    heap_key = scratch.heap_key[row]
    heap_road = scratch.heap_road[row]
    push(heap_key, heap_road, size, 0.0, start)
    size = 1
    while size > 0:
        road = heap_road[0]
        drop_first(heap_key, heap_road, size)
        size -= 1
        if scratch.closed[row, road] == stamp:
            continue
        scratch.closed[row, road] = stamp
        closed += 1
        if road == goal:
            break
        here = scratch.cost[row, road]
        for e in range(graph.out_start[road], graph.out_start[road + 1]):
            ahead = graph.out[e]
            if scratch.closed[row, ahead] == stamp:
                continue
            drive = graph.cost[ahead] * multiplier[ahead]
            if taste > 0.0:
                drive *= 1.0 + taste * uniform(taste_seed, ahead, 0, STREAM_TASTE)
            cost = here + graph.turn_cost[e] + drive
            if cost == inf or (
                scratch.seen[row, ahead] == stamp and cost >= scratch.cost[row, ahead]
            ):
                continue
            scratch.seen[row, ahead] = stamp
            scratch.cost[row, ahead] = cost
            scratch.before[row, ahead] = road
            key = cost
            if pace > 0.0 and ahead != goal:
                # To the goal's start: the goal's own cost is on top and the same for all.
                key += pace * sqrt((graph.end_x[ahead] - x) ** 2 + (graph.end_y[ahead] - y) ** 2)
            push(heap_key, heap_road, size, key, ahead)
            size += 1
    return closed


@kernel
def search_chunk(
    graph: RoadGraph,
    scratch: Scratch,
    chunk: int,
    stamp: int,
    starts: NDArray[np.int32],
    goals: NDArray[np.int32],
    multiplier: NDArray[np.float64],
    pace: float,
    taste_seeds: NDArray[np.int64],
    taste: float,
    ways: NDArray[np.int32],
    length: NDArray[np.int32],
    cost: NDArray[np.float64],
    closed: NDArray[np.int32],
) -> None:
    """Search every chunks-th pair of a batch; see `search_all`."""
    chunks = scratch.seen.shape[0]
    for i in range(chunk, starts.shape[0], chunks):
        goal = goals[i]
        closed[i] = search(
            graph, scratch, chunk, stamp + i, starts[i], goal, multiplier, pace, taste_seeds[i],
            taste,
        )  # fmt: skip
        length[i] = 0
        cost[i] = inf
        if closed[i] == 0 or scratch.closed[chunk, goal] != stamp + i:
            continue
        cost[i] = scratch.cost[chunk, goal]
        n = 0
        road = goal
        while road >= 0:
            n += 1
            road = scratch.before[chunk, road]
        if n > ways.shape[1]:
            length[i] = -n
            continue
        length[i] = n
        road = goal
        for place in range(n - 1, -1, -1):
            ways[i, place] = road
            road = scratch.before[chunk, road]


@kernel(parallel=True)
def search_all(
    graph: RoadGraph,
    scratch: Scratch,
    stamp: int,
    starts: NDArray[np.int32],
    goals: NDArray[np.int32],
    multiplier: NDArray[np.float64],
    pace: float,
    taste_seeds: NDArray[np.int64],
    taste: float,
    ways: NDArray[np.int32],
    length: NDArray[np.int32],
    cost: NDArray[np.float64],
    closed: NDArray[np.int32],
) -> None:
    """Ways of a batch of q pairs of roads, dealt to as many chunks as the scratch has rows.

    Writes for each: ways[i, :length[i]] with both ends; length 0 unreachable, or minus the length
    where `ways` is too narrow for it; cost, s, without the start's own (inf unreachable); closed,
    roads closed by the search. stamp: larger by q than at the call before.
    """
    for chunk in prange(scratch.seen.shape[0]):
        search_chunk(
            graph, scratch, chunk, stamp, starts, goals, multiplier, pace, taste_seeds, taste,
            ways, length, cost, closed,
        )  # fmt: skip
