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
from rushhour.kernels.routing.astar import RoadGraph, Scratch, drop_first, push, write_found
from rushhour.kernels.routing.contraction import Hierarchy, Meeting

FREE, CLIMBED = 0, 1  # sides of a Meeting: costs of the rest, and of the climb from the goal


@kernel
def climb_from(ladder: Hierarchy, room: Meeting, row: int, stamp: int, goal: int) -> None:
    """Costs from places above a road to it, over arcs that lead down alone.

    A place is left where it is dearer than over a more important one (stall on demand): `free_rest`
    finds that way over its arcs.
    """
    keys, nodes = room.heap_key[row, CLIMBED], room.heap_node[row, CLIMBED]
    size = 0
    for g in range(ladder.goal_start[goal], ladder.goal_start[goal + 1]):
        place = ladder.goal_place[g]
        room.cost[row, CLIMBED, place] = 0.0
        room.seen[row, CLIMBED, place] = stamp
        push(keys, nodes, size, 0.0, place)
        size += 1
    while size > 0:
        place = nodes[0]
        here = keys[0]
        drop_first(keys, nodes, size)
        size -= 1
        if here > room.cost[row, CLIMBED, place]:
            continue
        late = False
        for a in range(ladder.arc_start[0, place], ladder.arc_start[0, place + 1]):
            above = ladder.arc_end[a]
            if (
                room.seen[row, CLIMBED, above] == stamp
                and room.cost[row, CLIMBED, above] + ladder.arc_cost[a] < here
            ):
                late = True
                break
        if late:
            continue
        for a in range(ladder.arc_start[1, place], ladder.arc_start[1, place + 1]):
            above = ladder.arc_end[a]
            cost = here + ladder.arc_cost[a]
            if room.seen[row, CLIMBED, above] == stamp and cost >= room.cost[row, CLIMBED, above]:
                continue
            room.seen[row, CLIMBED, above] = stamp
            room.cost[row, CLIMBED, above] = cost
            push(keys, nodes, size, cost, above)
            size += 1


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
    scratch.seen[row, start] = stamp
    scratch.before[row, start] = -1
    scratch.cost[row, start] = 0.0
    heap_key, heap_node = scratch.heap_key[row], scratch.heap_node[row]
    push(heap_key, heap_node, 0, 0.0, start)
    size = 1
    closed = 0
    reached = -1
    while size > 0:
        node = heap_node[0]
        drop_first(heap_key, heap_node, size)
        size -= 1
        if scratch.closed[row, node] == stamp:
            continue
        scratch.closed[row, node] = stamp
        closed += 1
        if graph.road_of[node] == goal:
            reached = node
            break
        here = scratch.cost[row, node]
        for e in range(graph.out_start[node], graph.out_start[node + 1]):
            ahead = graph.out[e]
            if scratch.closed[row, ahead] == stamp:
                continue
            road = graph.road_of[ahead]
            cost = here + graph.turn_cost[e] + graph.cost[road] * multiplier[road]
            if cost >= most or (
                scratch.seen[row, ahead] == stamp and cost >= scratch.cost[row, ahead]
            ):
                continue
            rest = free_rest(ladder, room, row, stamp, ahead)
            if cost + share * rest >= most:
                continue
            scratch.seen[row, ahead] = stamp
            scratch.cost[row, ahead] = cost
            scratch.before[row, ahead] = node
            push(heap_key, heap_node, size, cost + share * rest, ahead)
            size += 1
    scratch.looked_at[row] = closed
    return reached


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
