"""A* over roads: nodes are roads (turn restrictions live between them), costs are seconds.

A road on which it matters where one came from has further nodes, its *states*: where a sequence of
roads is banned, each for those who have driven a certain beginning of such a sequence up to it; where
only those may drive whose trip starts or ends there, for those who came from outside.

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

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.random import uniform

STREAM_TASTE = 7001  # drivers' differing views of what a road costs


class RoadGraph(NamedTuple):
    """Roads that one class of vehicles can use, and the turns between them.

    n roads, m turns, k nodes: first the roads, each for those whose way up to it does not matter,
    then the states.
    """

    out_start: NDArray[np.int32]  # (k+1,) into out, turn_cost
    out: NDArray[np.int32]  # (m,) nodes that can follow, ascending by road
    turn_cost: NDArray[np.float64]  # (m,) s
    cost: NDArray[np.float64]  # (n,) s to drive the road; inf: closed to the class
    start_x: NDArray[np.float64]  # (n,) m
    start_y: NDArray[np.float64]
    end_x: NDArray[np.float64]
    end_y: NDArray[np.float64]
    road_of: NDArray[np.int32]  # (k,) road of each node
    anew: NDArray[np.int32]  # (k,) node of those who came the same way, but whose trip begins there
    told_apart: NDArray[np.bool_]  # (n,) it matters where on the trip the road is driven
    top_speed: float  # m/s, no part of the graph is faster


class Scratch(NamedTuple):
    """Working arrays of one search per chunk: (chunks, k), heaps (chunks, m+2)."""

    cost: NDArray[np.float64]
    before: NDArray[np.int32]  # node from which it was reached
    seen: NDArray[np.int64]  # search in which `cost` was written
    closed: NDArray[np.int64]  # search in which it was closed
    heap_key: NDArray[np.float64]
    heap_node: NDArray[np.int32]
    looked_at: NDArray[np.int32]  # (chunks,) nodes that the last search closed


@kernel(inline="always")
def comes_first(key_a: float, node_a: int, key_b: float, node_b: int) -> bool:
    """Order of the heap: by key, among equals by node, so that ways never depend on chance."""
    return key_a < key_b or (key_a == key_b and node_a < node_b)


@kernel
def push(
    keys: NDArray[np.float64], nodes: NDArray[np.int32], size: int, key: float, node: int
) -> None:
    """Put (key, node) on a heap that holds size entries."""
    here = size
    while here > 0:
        parent = (here - 1) >> 1
        if not comes_first(key, node, keys[parent], nodes[parent]):
            break
        keys[here] = keys[parent]
        nodes[here] = nodes[parent]
        here = parent
    keys[here] = key
    nodes[here] = node


@kernel
def drop_first(keys: NDArray[np.float64], nodes: NDArray[np.int32], size: int) -> None:
    """Remove the first of a heap that holds size entries."""
    last = size - 1
    key = keys[last]
    node = nodes[last]
    here = 0
    while True:
        child = 2 * here + 1
        if child >= last:
            break
        right = child + 1
        if right < last and comes_first(keys[right], nodes[right], keys[child], nodes[child]):
            child = right
        if not comes_first(keys[child], nodes[child], key, node):
            break
        keys[here] = keys[child]
        nodes[here] = nodes[child]
        here = child
    keys[here] = key
    nodes[here] = node


@kernel
def node_after(graph: RoadGraph, node: int, road: int) -> int:
    """Node of those who drive on from a node into a road; -1 where that ends a banned sequence.

    Into a road that cannot follow: its first node, as of those who start there.
    """
    for e in range(graph.out_start[node], graph.out_start[node + 1]):
        if graph.road_of[graph.out[e]] == road:
            return graph.out[e]
    base = graph.road_of[node]
    for e in range(graph.out_start[base], graph.out_start[base + 1]):
        if graph.road_of[graph.out[e]] == road:
            return -1
    return road


@kernel
def begin_at(scratch: Scratch, row: int, stamp: int, start: int, cost: float) -> int:
    """Put the first node on the heap of a search, at its cost so far; returns the heap's size, 1."""
    scratch.seen[row, start] = stamp
    scratch.before[row, start] = -1
    scratch.cost[row, start] = cost
    push(scratch.heap_key[row], scratch.heap_node[row], 0, 0.0, start)
    return 1


@kernel
def close_next(scratch: Scratch, row: int, stamp: int, size: int) -> tuple[int, int]:
    """The next node of a search, which is closed, and the size of the heap after; -1: none is left."""
    while size > 0:
        node = scratch.heap_node[row, 0]
        drop_first(scratch.heap_key[row], scratch.heap_node[row], size)
        size -= 1
        if scratch.closed[row, node] != stamp:
            scratch.closed[row, node] = stamp
            scratch.looked_at[row] += 1
            return node, size
    return -1, size


@kernel(inline="always")
def is_reached(scratch: Scratch, row: int, stamp: int, node: int, cost: float) -> bool:
    """Whether a node was reached for as little before."""
    return scratch.seen[row, node] == stamp and cost >= scratch.cost[row, node]


@kernel
def reach(
    scratch: Scratch, row: int, stamp: int, size: int, node: int, before: int, cost: float, key: float
) -> int:  # fmt: skip
    """Note a node as reached from another, at a cost; returns the size of the heap after."""
    scratch.seen[row, node] = stamp
    scratch.cost[row, node] = cost
    scratch.before[row, node] = before
    push(scratch.heap_key[row], scratch.heap_node[row], size, key, node)
    return size + 1


@kernel
def search(
    graph: RoadGraph, scratch: Scratch, row: int, stamp: int, start: int, goal: int,
    multiplier: NDArray[np.float64], pace: float, taste_seed: int, taste: float,
) -> int:  # fmt: skip
    """Fill `scratch.before` from node start to road goal; returns the goal's node, -1 without a way.

    The cost is in scratch.cost[row, node returned]. Writes scratch.looked_at: nodes closed. multiplier:
    of the roads' costs. pace: s/m of the estimate, 0 for Dijkstra's search. goal: -1 closes every
    node that can be reached; with pace 0.
    """
    scratch.looked_at[row] = 0
    size = begin_at(scratch, row, stamp, start, 0.0)
    if graph.cost[graph.road_of[start]] == inf or (goal >= 0 and graph.cost[goal] == inf):
        return -1
    aim = max(goal, 0)
    x, y = graph.start_x[aim], graph.start_y[aim]
    node, size = close_next(scratch, row, stamp, size)
    while node >= 0 and graph.road_of[node] != goal:
        here = scratch.cost[row, node]
        for e in range(graph.out_start[node], graph.out_start[node + 1]):
            ahead = graph.out[e]
            if scratch.closed[row, ahead] == stamp:
                continue
            road = graph.road_of[ahead]
            drive = graph.cost[road] * multiplier[road]
            if taste > 0.0:
                drive *= 1.0 + taste * uniform(taste_seed, road, 0, STREAM_TASTE)
            cost = here + graph.turn_cost[e] + drive
            if cost == inf or is_reached(scratch, row, stamp, ahead, cost):
                continue
            key = cost
            if pace > 0.0 and road != goal:
                # To the goal's start: the goal's own cost is on top and the same for all.
                key += pace * sqrt((graph.end_x[road] - x) ** 2 + (graph.end_y[road] - y) ** 2)
            size = reach(scratch, row, stamp, size, ahead, node, cost, key)
        node, size = close_next(scratch, row, stamp, size)
    return node


@kernel
def write_found(
    graph: RoadGraph, scratch: Scratch, row: int, end: int, i: int, ways: NDArray[np.int32],
    length: NDArray[np.int32], cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Write the way of pair i of a batch, whose search ended in this node; see `search_all`."""
    closed[i] = scratch.looked_at[row]
    length[i] = 0
    cost[i] = inf
    if end < 0:
        return
    cost[i] = scratch.cost[row, end]
    n = 0
    node = end
    while node >= 0:
        n += 1
        node = scratch.before[row, node]
    if n > ways.shape[1]:
        length[i] = -n
        return
    length[i] = n
    node = end
    for place in range(n - 1, -1, -1):
        ways[i, place] = graph.road_of[node]
        node = scratch.before[row, node]


@kernel
def search_chunk(
    graph: RoadGraph, scratch: Scratch, chunk: int, stamp: int, starts: NDArray[np.int32],
    goals: NDArray[np.int32], multiplier: NDArray[np.float64], pace: float,
    taste_seeds: NDArray[np.int64], taste: float, ways: NDArray[np.int32],
    length: NDArray[np.int32], cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Search every chunks-th pair of a batch; see `search_all`."""
    chunks = scratch.seen.shape[0]
    for i in range(chunk, starts.shape[0], chunks):
        goal = search(
            graph, scratch, chunk, stamp + i, starts[i], goals[i], multiplier, pace, taste_seeds[i],
            taste,
        )  # fmt: skip
        write_found(graph, scratch, chunk, goal, i, ways, length, cost, closed)


@kernel(parallel=True)
def search_all(
    graph: RoadGraph, scratch: Scratch, stamp: int, starts: NDArray[np.int32],
    goals: NDArray[np.int32], multiplier: NDArray[np.float64], pace: float,
    taste_seeds: NDArray[np.int64], taste: float, ways: NDArray[np.int32],
    length: NDArray[np.int32], cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Ways of a batch of q pairs of roads, dealt to as many chunks as the scratch has rows.

    Writes for each: ways[i, :length[i]] with both ends; length 0 unreachable, or minus the length
    where `ways` is too narrow for it; cost, s, without the start's own (inf unreachable); closed,
    nodes closed by the search. stamp: larger by q than at the call before.
    """
    for chunk in prange(scratch.seen.shape[0]):
        search_chunk(
            graph, scratch, chunk, stamp, starts, goals, multiplier, pace, taste_seeds, taste,
            ways, length, cost, closed,
        )  # fmt: skip
