"""Ways at current travel times on large graphs: A* guided by a hierarchy of the empty roads.

The estimate of the rest is what the way costs on empty roads. Nobody is faster than that, so it is
consistent, and where there is little traffic hardly more nodes are looked at than the way has. It is
found node by node as the search asks for it: the hierarchy is climbed once from the goal, and a node
costs the least of its own place on that climb and of its arcs to more important nodes.
Source: Strasser, Zeitz 2021, CH-Potentials.
"""

from math import inf

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.routing.astar import (
    RoadGraph,
    Scratch,
    begin_at,
    close_next,
    drop_first,
    is_reached,
    reach,
    write_found,
)
from rushhour.kernels.routing.contraction import Hierarchy, Meeting, rise, stand_at_goal

FREE, CLIMBED = 0, 1  # sides of a Meeting: costs of the rest, and of the climb from the goal


@kernel
def climb_from(ladder: Hierarchy, room: Meeting, row: int, stamp: int, goal: int) -> None:
    """Costs from places above a road to it, over arcs that lead down alone.

    Those that are dearer than over a more important place are left: `free_rest` finds that way.
    """
    keys, nodes = room.heap_key[row, CLIMBED], room.heap_node[row, CLIMBED]
    size = stand_at_goal(ladder, room, row, stamp, goal)
    while size > 0:
        place = nodes[0]
        here = keys[0]
        drop_first(keys, nodes, size)
        size -= 1
        if here <= room.cost[row, CLIMBED, place]:
            size = rise(ladder, room, row, CLIMBED, stamp, size, place, here, inf)


@kernel
def free_rest(ladder: Hierarchy, room: Meeting, row: int, stamp: int, node: int) -> float:
    """Cost of the rest of the way from a node on empty roads, s; inf: there is none.

    After `climb_from` with the same stamp; what is found is kept for it.
    """
    stack = room.heap_node[row, FREE]
    start = ladder.place[node]
    stack[0] = start
    size = 1
    while size > 0:
        place = stack[size - 1]
        if room.seen[row, FREE, place] == stamp:
            size -= 1
            continue
        best = inf
        if room.seen[row, CLIMBED, place] == stamp:
            best = room.cost[row, CLIMBED, place]
        whole = True
        for a in range(ladder.arc_start[0, place], ladder.arc_start[0, place + 1]):
            above = ladder.arc_end[a]
            if room.seen[row, FREE, above] == stamp:
                best = min(best, ladder.arc_cost[a] + room.cost[row, FREE, above])
            else:
                stack[size] = above
                size += 1
                whole = False
        if whole:
            room.seen[row, FREE, place] = stamp
            room.cost[row, FREE, place] = best
            size -= 1
    return room.cost[row, FREE, start]


@kernel
def search_guided(
    graph: RoadGraph, scratch: Scratch, ladder: Hierarchy, room: Meeting, row: int, stamp: int,
    start: int, goal: int, multiplier: NDArray[np.float64], share: float, most: float,
) -> int:  # fmt: skip
    """As `routing.search`, guided by a hierarchy; -1 also where no way costs less than `most`, s.

    share: of the hierarchy's costs that no part of the graph is below.
    """
    scratch.looked_at[row] = 0
    if graph.cost[graph.road_of[start]] == inf or graph.cost[goal] == inf:
        return -1
    climb_from(ladder, room, row, stamp, goal)
    size = begin_at(scratch, row, stamp, start, 0.0)
    node, size = close_next(scratch, row, stamp, size)
    while node >= 0 and graph.road_of[node] != goal:
        here = scratch.cost[row, node]
        for e in range(graph.out_start[node], graph.out_start[node + 1]):
            ahead = graph.out[e]
            if scratch.closed[row, ahead] == stamp:
                continue
            road = graph.road_of[ahead]
            cost = here + graph.turn_cost[e] + graph.cost[road] * multiplier[road]
            if cost >= most or is_reached(scratch, row, stamp, ahead, cost):
                continue
            key = cost + share * free_rest(ladder, room, row, stamp, ahead)
            if key < most:
                size = reach(scratch, row, stamp, size, ahead, node, cost, key)
        node, size = close_next(scratch, row, stamp, size)
    return node


@kernel
def guide_chunk(
    graph: RoadGraph, scratch: Scratch, ladder: Hierarchy, room: Meeting, chunk: int, stamp: int,
    starts: NDArray[np.int32], goals: NDArray[np.int32], multiplier: NDArray[np.float64],
    share: float, most: NDArray[np.float64], ways: NDArray[np.int32], length: NDArray[np.int32],
    cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Search every chunks-th pair of a batch; see `guide_all`."""
    chunks = scratch.seen.shape[0]
    for i in range(chunk, starts.shape[0], chunks):
        end = search_guided(
            graph, scratch, ladder, room, chunk, stamp + i, starts[i], goals[i], multiplier, share,
            most[i],
        )  # fmt: skip
        write_found(graph, scratch, chunk, end, i, ways, length, cost, closed)


@kernel(parallel=True)
def guide_all(
    graph: RoadGraph, scratch: Scratch, ladder: Hierarchy, room: Meeting, stamp: int,
    starts: NDArray[np.int32], goals: NDArray[np.int32], multiplier: NDArray[np.float64],
    share: float, most: NDArray[np.float64], ways: NDArray[np.int32], length: NDArray[np.int32],
    cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Ways of a batch of q pairs, guided by a hierarchy, that cost less than most[i] s, inf: any.

    All else as `routing.search_all`.
    """
    for chunk in prange(scratch.seen.shape[0]):
        guide_chunk(
            graph, scratch, ladder, room, chunk, stamp, starts, goals, multiplier, share, most, ways,
            length, cost, closed,
        )  # fmt: skip
