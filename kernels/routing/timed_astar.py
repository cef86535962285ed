"""Ways through travel times that change over time: what a road costs depends on when it is driven into.

Of every interval it is known how long each road took. Between the middles of two intervals the time is taken to
change evenly, so that nobody gains much by waiting. The search is A* guided by a hierarchy of the
empty roads (kernels.routing.guided_astar): no time is below that of the empty road.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.routing.astar import (
    RoadGraph,
    Scratch,
    begin_at,
    close_next,
    is_reached,
    reach,
    write_found,
)
from rushhour.kernels.routing.contraction import Hierarchy, Meeting
from rushhour.kernels.routing.guided_astar import climb_from, free_rest

TRIPS = 256  # per parallel task


class TimedCosts(NamedTuple):
    """How long each road takes by the interval in which it is driven into, r intervals, n roads.

    Of a road the intervals lie side by side: two of them are read at once, the next road is anywhere.
    """

    cost: NDArray[np.float64]  # (n, r) s, never below that of the graph
    begin: float  # s, of the first interval
    span: float  # s, of each


@kernel
def cost_at(timed: TimedCosts, road: int, time: float) -> float:
    """Time to drive a road that is driven into at a time, s."""
    last = timed.cost.shape[1] - 1
    place = (time - timed.begin) / timed.span - 0.5
    if place <= 0.0:
        return timed.cost[road, 0]
    if place >= last:
        return timed.cost[road, last]
    before = int(place)
    share = place - before
    return (1.0 - share) * timed.cost[road, before] + share * timed.cost[road, before + 1]


@kernel
def search_timed(
    graph: RoadGraph, timed: TimedCosts, scratch: Scratch, ladder: Hierarchy, room: Meeting, row: int,
    stamp: int, start: int, goal: int, depart: float,
) -> int:  # fmt: skip
    """As `routing.search`, for who departs at a time, s; the cost is that of the first road, too."""
    scratch.looked_at[row] = 0
    if graph.cost[graph.road_of[start]] == inf or graph.cost[goal] == inf:
        return -1
    climb_from(ladder, room, row, stamp, goal)
    size = begin_at(scratch, row, stamp, start, cost_at(timed, graph.road_of[start], depart))
    node, size = close_next(scratch, row, stamp, size)
    while node >= 0 and graph.road_of[node] != goal:
        here = scratch.cost[row, node]
        for e in range(graph.out_start[node], graph.out_start[node + 1]):
            ahead = graph.out[e]
            road = graph.road_of[ahead]
            if scratch.closed[row, ahead] == stamp or graph.cost[road] == inf:
                continue
            cost = here + graph.turn_cost[e]
            cost += cost_at(timed, road, depart + cost)
            if is_reached(scratch, row, stamp, ahead, cost):
                continue
            rest = free_rest(ladder, room, row, stamp, ahead)
            if rest < inf:
                size = reach(scratch, row, stamp, size, ahead, node, cost, cost + rest)
        node, size = close_next(scratch, row, stamp, size)
    return node


@kernel
def search_timed_chunk(
    graph: RoadGraph, timed: TimedCosts, scratch: Scratch, ladder: Hierarchy, room: Meeting,
    chunk: int, stamp: int, starts: NDArray[np.int32], goals: NDArray[np.int32],
    depart: NDArray[np.float64], ways: NDArray[np.int32], length: NDArray[np.int32],
    cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Search every chunks-th trip of a batch; see `search_all_timed`."""
    chunks = scratch.seen.shape[0]
    for i in range(chunk, starts.shape[0], chunks):
        end = search_timed(
            graph, timed, scratch, ladder, room, chunk, stamp + i, starts[i], goals[i], depart[i]
        )
        write_found(graph, scratch, chunk, end, i, ways, length, cost, closed)


@kernel(parallel=True)
def search_all_timed(
    graph: RoadGraph, timed: TimedCosts, scratch: Scratch, ladder: Hierarchy, room: Meeting,
    stamp: int, starts: NDArray[np.int32], goals: NDArray[np.int32], depart: NDArray[np.float64],
    ways: NDArray[np.int32], length: NDArray[np.int32], cost: NDArray[np.float64],
    closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Fastest ways of a batch of q trips by the times at which they come to each road.

    cost: s, with the first road's own. All else as `routing.search_all`.
    """
    for chunk in prange(scratch.seen.shape[0]):
        search_timed_chunk(
            graph, timed, scratch, ladder, room, chunk, stamp, starts, goals, depart, ways, length, cost,
            closed,
        )  # fmt: skip


@kernel
def walk_ways(
    graph: RoadGraph, timed: TimedCosts, start: NDArray[np.int64], roads: NDArray[np.int32],
    depart: NDArray[np.float64], cost: NDArray[np.float64], entered: NDArray[np.float64], lo: int, hi: int,
) -> None:  # fmt: skip
    """Write how long the ways of trips lo .. hi take, s, and when each road of theirs is driven into.

    Way i is roads[start[i]:start[i+1]]. A turn that the graph has not got costs nothing besides.
    """
    for i in range(lo, hi):
        spent = 0.0
        for p in range(start[i], start[i + 1]):
            road = roads[p]
            if p > start[i]:
                before = roads[p - 1]
                for e in range(graph.out_start[before], graph.out_start[before + 1]):
                    if graph.road_of[graph.out[e]] == road:
                        spent += graph.turn_cost[e]
                        break
            entered[p] = depart[i] + spent
            spent += cost_at(timed, road, depart[i] + spent)
        cost[i] = spent


@kernel(parallel=True)
def walk_all_ways(
    graph: RoadGraph, timed: TimedCosts, start: NDArray[np.int64], roads: NDArray[np.int32],
    depart: NDArray[np.float64], cost: NDArray[np.float64], entered: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write how long the ways of all trips take, and when they come to their roads, TRIPS trips at a time."""
    n = depart.shape[0]
    for task in prange((n + TRIPS - 1) // TRIPS):
        walk_ways(
            graph, timed, start, roads, depart, cost, entered, task * TRIPS,
            min(n, (task + 1) * TRIPS),
        )  # fmt: skip
