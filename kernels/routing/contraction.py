"""Contraction hierarchies: nodes of a road graph in an order of importance, with shortcuts past the
less important ones, so that a search only ever drives on to more important nodes.

Nodes are *contracted* one after another: what the cheapest ways over a node cost stays known by
*shortcuts* between its neighbours, unless a *witness*, a way round the node, is as cheap. First come
those that need the fewest shortcuts for the links that they take away, and have the fewest
contracted neighbours; among equals by number. A way is searched from both ends at once, over links
to more important nodes alone, and is cheapest where both searches meet.
Source: Geisberger, Sanders, Schultes, Delling 2008.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.routing.astar import RoadGraph, drop_first, push

LOOKED_AT = 64  # nodes that a search for witnesses closes at most


class Links(NamedTuple):
    """Links between k nodes, turns and shortcuts, with room for r; lists of those of each node.

    A contracted node keeps its links; the lists of its neighbours lose them.
    """

    source: NDArray[np.int32]  # (r,)
    target: NDArray[np.int32]  # (r,)
    cost: NDArray[np.float64]  # (r,) s
    first: NDArray[np.int32]  # (r,) link that a shortcut begins with; -1: a turn of the graph
    second: NDArray[np.int32]  # (r,) link that it ends with; the number of the turn
    next_out: NDArray[np.int32]  # (r,) next in the list of the source's; -1: the last
    next_in: NDArray[np.int32]  # (r,) in that of the target's
    out: NDArray[np.int32]  # (k,) first of those that leave a node
    into: NDArray[np.int32]  # (k,) first of those that lead there
    used: NDArray[np.int32]  # (1,) links there are


class Ordering(NamedTuple):
    """Work of contracting k nodes."""

    place: NDArray[np.int32]  # (k,) place in the order, 0 contracted last; -1: not yet
    gone: NDArray[np.int32]  # (k,) contracted neighbours
    heap_key: NDArray[np.float64]  # (k+1,) nodes left, by what they were worth when last looked at
    heap_node: NDArray[np.int32]
    left: NDArray[np.int32]  # (1,) nodes left
    cost: NDArray[np.float64]  # (k,) of a search for witnesses
    seen: NDArray[np.int64]  # (k,) search in which `cost` was written
    stamp: NDArray[np.int64]  # (1,) last search
    near_key: NDArray[np.float64]  # (w,) heap of a search
    near_node: NDArray[np.int32]


class Hierarchy(NamedTuple):
    """Nodes by their places, 0 the most important; arcs between them.

    Side 0: links that leave a node, side 1: links that lead there; of both those alone whose other
    end is more important.
    """

    place: NDArray[np.int32]  # (k,) of each node of the graph
    goal_start: NDArray[np.int32]  # (n+1,) by road, into goal_place
    goal_place: NDArray[np.int32]  # (k,) places of the road's nodes
    arc_start: NDArray[np.int32]  # (2, k+1) into the arcs of a side
    arc_end: NDArray[np.int32]  # (r,) place of the more important end
    arc_cost: NDArray[np.float64]  # (r,) s
    arc_link: NDArray[np.int32]  # (r,) into first, second
    first: NDArray[np.int32]  # (r,) as of Links
    second: NDArray[np.int32]


class Meeting(NamedTuple):
    """Working arrays of one search from both sides per chunk."""

    cost: NDArray[np.float64]  # (chunks, 2, k) s
    seen: NDArray[np.int64]  # (chunks, 2, k) search in which `cost` was written
    arc: NDArray[np.int32]  # (chunks, 2, k) by which it was reached; -1: an end
    came: NDArray[np.int32]  # (chunks, 2, k) place from which it was reached
    heap_key: NDArray[np.float64]  # (chunks, 2, r+k)
    heap_node: NDArray[np.int32]
    stack: NDArray[np.int32]  # (chunks, 2k+2) links to take apart
    looked_at: NDArray[np.int32]  # (chunks,) nodes that the last search closed


@kernel
def add_link(links: Links, source: int, target: int, cost: float, first: int, second: int) -> None:
    """Add a link, or make the one there is cheaper; needs room for one."""
    e = links.out[source]
    while e >= 0:
        if links.target[e] == target:
            if cost < links.cost[e]:
                links.cost[e] = cost
                links.first[e] = first
                links.second[e] = second
            return
        e = links.next_out[e]
    e = links.used[0]
    links.used[0] = e + 1
    links.source[e] = source
    links.target[e] = target
    links.cost[e] = cost
    links.first[e] = first
    links.second[e] = second
    links.next_out[e] = links.out[source]
    links.out[source] = e
    links.next_in[e] = links.into[target]
    links.into[target] = e


@kernel
def link_turns(graph: RoadGraph, links: Links) -> None:
    """Make links of the graph's turns: the turn and the road that it leads to, unless it is closed."""
    for node in range(graph.road_of.shape[0]):
        if graph.cost[graph.road_of[node]] == inf:
            continue
        for e in range(graph.out_start[node], graph.out_start[node + 1]):
            cost = graph.turn_cost[e] + graph.cost[graph.road_of[graph.out[e]]]
            if graph.out[e] != node and cost < inf:
                add_link(links, node, graph.out[e], cost, -1, e)


@kernel
def look_round(links: Links, work: Ordering, start: int, without: int, dearest: float) -> None:
    """Costs of ways from a node that leave another one out, up to the dearest of interest.

    Writes work.cost where work.seen is the new work.stamp: never less than the cheapest, but more
    where the search gave up early.
    """
    stamp = work.stamp[0] + 1
    work.stamp[0] = stamp
    work.seen[start] = stamp
    work.cost[start] = 0.0
    push(work.near_key, work.near_node, 0, 0.0, start)
    size = 1
    closed = 0
    while size > 0 and closed < LOOKED_AT:
        node = work.near_node[0]
        here = work.near_key[0]
        drop_first(work.near_key, work.near_node, size)
        size -= 1
        if here > work.cost[node]:
            continue
        closed += 1
        e = links.out[node]
        while e >= 0:
            ahead = links.target[e]
            cost = here + links.cost[e]
            if (
                ahead != without
                and cost <= dearest
                and (work.seen[ahead] != stamp or cost < work.cost[ahead])
                and size < work.near_key.shape[0]
            ):
                work.seen[ahead] = stamp
                work.cost[ahead] = cost
                push(work.near_key, work.near_node, size, cost, ahead)
                size += 1
            e = links.next_out[e]


@kernel
def shortcuts_past(links: Links, work: Ordering, node: int, write: bool) -> int:
    """Number of shortcuts that contracting a node takes; write: add them."""
    longest = -1.0
    f = links.out[node]
    while f >= 0:
        longest = max(longest, links.cost[f])
        f = links.next_out[f]
    if longest < 0.0:
        return 0
    count = 0
    e = links.into[node]
    while e >= 0:
        before = links.source[e]
        look_round(links, work, before, node, links.cost[e] + longest)
        f = links.out[node]
        while f >= 0:
            after = links.target[f]
            cost = links.cost[e] + links.cost[f]
            known = work.seen[after] == work.stamp[0] and work.cost[after] <= cost
            if after != before and not known:
                count += 1
                if write:
                    add_link(links, before, after, cost, e, f)
            f = links.next_out[f]
        e = links.next_in[e]
    return count


@kernel
def worth(links: Links, work: Ordering, node: int) -> float:
    """The less, the sooner a node is contracted."""
    degree = 0
    e = links.out[node]
    while e >= 0:
        degree += 1
        e = links.next_out[e]
    e = links.into[node]
    while e >= 0:
        degree += 1
        e = links.next_in[e]
    return float(2 * (shortcuts_past(links, work, node, False) - degree) + work.gone[node])


@kernel
def leave_lists(links: Links, work: Ordering, node: int) -> None:
    """Take the links of a contracted node from its neighbours' lists."""
    e = links.into[node]
    while e >= 0:
        other = links.source[e]
        work.gone[other] += 1
        if links.out[other] == e:
            links.out[other] = links.next_out[e]
        else:
            f = links.out[other]
            while links.next_out[f] != e:
                f = links.next_out[f]
            links.next_out[f] = links.next_out[e]
        e = links.next_in[e]
    e = links.out[node]
    while e >= 0:
        other = links.target[e]
        work.gone[other] += 1
        if links.into[other] == e:
            links.into[other] = links.next_in[e]
        else:
            f = links.into[other]
            while links.next_in[f] != e:
                f = links.next_in[f]
            links.next_in[f] = links.next_in[e]
        e = links.next_out[e]


@kernel
def weigh_nodes(links: Links, work: Ordering) -> None:
    """Fill the heap with all nodes."""
    for node in range(work.place.shape[0]):
        push(work.heap_key, work.heap_node, node, worth(links, work, node), node)
    work.left[0] = work.place.shape[0]


@kernel
def contract(links: Links, work: Ordering, most: int) -> bool:
    """Contract so many nodes, or all that are left; False where `links` has too little room for the next."""
    for _ in range(most):
        while work.left[0] > 0:
            node = work.heap_node[0]
            drop_first(work.heap_key, work.heap_node, work.left[0])
            work.left[0] -= 1
            key = worth(links, work, node)
            if work.left[0] == 0 or key <= work.heap_key[0]:
                break
            push(work.heap_key, work.heap_node, work.left[0], key, node)
            work.left[0] += 1
        else:
            return True
        if links.used[0] + shortcuts_past(links, work, node, False) > links.source.shape[0]:
            push(work.heap_key, work.heap_node, work.left[0], -inf, node)
            work.left[0] += 1
            return False
        shortcuts_past(links, work, node, True)
        leave_lists(links, work, node)
        work.place[node] = work.left[0]
    return True


@kernel
def stand_at_goal(ladder: Hierarchy, room: Meeting, row: int, stamp: int, goal: int) -> int:
    """Put the places of a road on the heap of a search back from it, side 1; returns their number."""
    size = 0
    for g in range(ladder.goal_start[goal], ladder.goal_start[goal + 1]):
        place = ladder.goal_place[g]
        room.cost[row, 1, place] = 0.0
        room.seen[row, 1, place] = stamp
        room.arc[row, 1, place] = -1
        push(room.heap_key[row, 1], room.heap_node[row, 1], size, 0.0, place)
        size += 1
    return size


@kernel
def rise(
    ladder: Hierarchy, room: Meeting, row: int, side: int, stamp: int, size: int, place: int,
    here: float, best: float,
) -> int:  # fmt: skip
    """Go on from a place to more important ones, for less than `best`; returns the heap's size after.

    A place is left where it was reached too dearly: over a more important one it is reached for
    less (stall on demand).
    """
    other = 1 - side
    for a in range(ladder.arc_start[other, place], ladder.arc_start[other, place + 1]):
        above = ladder.arc_end[a]
        if (
            room.seen[row, side, above] == stamp
            and room.cost[row, side, above] + ladder.arc_cost[a] < here
        ):
            return size
    for a in range(ladder.arc_start[side, place], ladder.arc_start[side, place + 1]):
        above = ladder.arc_end[a]
        cost = here + ladder.arc_cost[a]
        if cost >= best or (
            room.seen[row, side, above] == stamp and cost >= room.cost[row, side, above]
        ):
            continue
        room.seen[row, side, above] = stamp
        room.cost[row, side, above] = cost
        room.arc[row, side, above] = a
        room.came[row, side, above] = place
        push(room.heap_key[row, side], room.heap_node[row, side], size, cost, above)
        size += 1
    return size


@kernel
def meet(ladder: Hierarchy, room: Meeting, row: int, stamp: int, start: int, goal: int) -> int:
    """Place at which the cheapest way from a node to a road is most important; -1 without a way.

    Writes room.looked_at: nodes closed.
    """
    size_0 = 1
    place = ladder.place[start]
    room.cost[row, 0, place] = 0.0
    room.seen[row, 0, place] = stamp
    room.arc[row, 0, place] = -1
    push(room.heap_key[row, 0], room.heap_node[row, 0], 0, 0.0, place)
    size_1 = stand_at_goal(ladder, room, row, stamp, goal)
    best = inf
    met = -1
    closed = 0
    while size_0 > 0 or size_1 > 0:
        side = 1
        if size_1 == 0 or (size_0 > 0 and room.heap_key[row, 0, 0] <= room.heap_key[row, 1, 0]):
            side = 0
        here = room.heap_key[row, side, 0]
        if here >= best:
            break
        place = room.heap_node[row, side, 0]
        size = size_1 if side else size_0
        drop_first(room.heap_key[row, side], room.heap_node[row, side], size)
        size -= 1
        if here <= room.cost[row, side, place]:
            closed += 1
            if room.seen[row, 1 - side, place] == stamp:
                total = here + room.cost[row, 1 - side, place]
                if total < best:
                    best = total
                    met = place
            size = rise(ladder, room, row, side, stamp, size, place, here, best)
        if side:
            size_1 = size
        else:
            size_0 = size
    room.looked_at[row] = closed
    return met


@kernel
def unpack(
    graph: RoadGraph, ladder: Hierarchy, room: Meeting, row: int, size: int, way: NDArray[np.int32],
    n: int, cost: float,
) -> tuple[int, float]:  # fmt: skip
    """Drive the links on the stack, the last first: roads driven, and the cost up to there.

    Shortcuts are taken apart into turns. n, cost: before. Writes roads into `way` as far as it reaches.
    """
    stack = room.stack[row]
    while size > 0:
        size -= 1
        link = stack[size]
        if ladder.first[link] >= 0:
            stack[size] = ladder.second[link]
            stack[size + 1] = ladder.first[link]
            size += 2
            continue
        turn = ladder.second[link]
        road = graph.road_of[graph.out[turn]]
        cost = cost + graph.turn_cost[turn] + graph.cost[road]
        if n < way.shape[0]:
            way[n] = road
        n += 1
    return n, cost


@kernel
def climb_chunk(
    graph: RoadGraph, ladder: Hierarchy, room: Meeting, chunk: int, stamp: int,
    starts: NDArray[np.int32], goals: NDArray[np.int32], ways: NDArray[np.int32],
    length: NDArray[np.int32], cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Search every chunks-th pair of a batch; see `climb_all`."""
    chunks = room.looked_at.shape[0]
    for i in range(chunk, starts.shape[0], chunks):
        length[i] = 0
        cost[i] = inf
        closed[i] = 0
        start = starts[i]
        if graph.cost[graph.road_of[start]] == inf or graph.cost[goals[i]] == inf:
            continue
        met = meet(ladder, room, chunk, stamp + i, start, goals[i])
        closed[i] = room.looked_at[chunk]
        if met < 0:
            continue
        if ways.shape[1] > 0:
            ways[i, 0] = graph.road_of[start]
        size = 0
        place = met
        while room.arc[chunk, 0, place] >= 0:
            room.stack[chunk, size] = ladder.arc_link[room.arc[chunk, 0, place]]
            size += 1
            place = room.came[chunk, 0, place]
        n, driven = unpack(graph, ladder, room, chunk, size, ways[i], 1, 0.0)
        place = met
        while room.arc[chunk, 1, place] >= 0:
            room.stack[chunk, 0] = ladder.arc_link[room.arc[chunk, 1, place]]
            n, driven = unpack(graph, ladder, room, chunk, 1, ways[i], n, driven)
            place = room.came[chunk, 1, place]
        cost[i] = driven
        length[i] = n if n <= ways.shape[1] else -n


@kernel(parallel=True)
def climb_all(
    graph: RoadGraph, ladder: Hierarchy, room: Meeting, stamp: int, starts: NDArray[np.int32],
    goals: NDArray[np.int32], ways: NDArray[np.int32], length: NDArray[np.int32],
    cost: NDArray[np.float64], closed: NDArray[np.int32],
) -> None:  # fmt: skip
    """Ways of a batch of q pairs over a hierarchy of the graph; all else as `routing.search_all`."""
    for chunk in prange(room.looked_at.shape[0]):
        climb_chunk(
            graph, ladder, room, chunk, stamp, starts, goals, ways, length, cost, closed
        )  # fmt: skip
