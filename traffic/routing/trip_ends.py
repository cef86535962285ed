"""Roads for those alone whose trip starts or ends there, as states of the graph of roads.

A trip has three *phases*: it may begin on such roads (START), goes on over roads open to all (OPEN),
and may end on such roads (END). Nobody goes back to an earlier phase: through traffic has no way
over them. Since each phase allows all that the later ones do, whoever may keep the present one does,
and a node of the graph needs a copy only for each phase that its road can be driven in.

What lies behind such roads is theirs: a car park whose only way in is for customers is open to all by
its own tags. The *core* is the largest set of roads that reach each other over roads open to all, be it
by the world outside, into which roads without an exit lead and from which those without an entry come.
Where the core reaches a road, but not over open roads alone, the road may be driven in the END phase
too; and in the START phase where it reaches the core, but not over open ones alone. So pairs of roads
do not lose their way where the core's roads reach each other within the network. Source: networks.md 1.2.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.astar import RoadGraph
from rushhour.roadnets.components import strong_components

START, OPEN, END = 0, 1, 2  # phases of a trip
SEEDS: Final = 20  # roads tried as one of the core before all strong components are found

Flags = NDArray[np.bool_]
Ints = NDArray[np.int32]


def phases_of(turns: RoadGraph, ends_only: Flags) -> Flags:
    """In which phases of a trip each road may be driven, (3, n).

    turns: the graph whose nodes are the roads. ends_only: (n,) roads that are not open to all.
    """
    n = ends_only.size
    origin = np.repeat(np.arange(n, dtype=np.int32), np.diff(turns.out_start))
    ahead, back = _by_row(origin, turns.out, n), _by_row(turns.out, origin, n)
    open_to_all, every = ~ends_only, np.ones(n, np.bool_)
    core = _core(origin, turns.out, open_to_all)
    left, entered = (
        _reached(core, side, every) & ~_reached(core, side, open_to_all) for side in (back, ahead)
    )
    return np.stack((ends_only | left, open_to_all, ends_only | entered))


def with_phases(graph: RoadGraph, phases: Flags) -> RoadGraph:
    """The graph with a copy of each node for every phase that its road may be driven in.

    The first copies keep their places: nodes of those whose trip begins there.
    """
    road, n = graph.road_of, graph.road_of.size
    may = phases[:, road]
    first = np.where(may[START], START, OPEN)
    number = np.full((3, n), -1, np.int32)
    number[first, np.arange(n)] = np.arange(n)
    origin, phase = [np.arange(n)], [first]
    size = n
    for later in (OPEN, END):
        more = np.flatnonzero(may[later] & (first != later))
        number[later, more] = size + np.arange(more.size)
        origin.append(more)
        phase.append(np.full(more.size, later))
        size += more.size
    node, when = np.concatenate(origin), np.concatenate(phase)
    after = number.copy()  # node of who goes on from a phase to a node of `graph`
    for earlier in (OPEN, START):
        after[earlier] = np.where(after[earlier] >= 0, after[earlier], after[earlier + 1])
    edge, count = _ranges(graph.out_start, node)
    out = after[np.repeat(when, count), graph.out[edge]]
    kept = out >= 0
    of = np.repeat(np.arange(size), count)[kept]
    return graph._replace(
        out_start=np.searchsorted(of, np.arange(size + 1)).astype(np.int32),
        out=out[kept],
        turn_cost=graph.turn_cost[edge[kept]],
        road_of=road[node],
        anew=node.astype(np.int32),
        told_apart=phases.sum(axis=0) > 1,
    )


def _ranges(start: Ints, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pooled places of some rows, row after row, and how many each has."""
    count = (start[rows + 1] - start[rows]).astype(np.int64)
    before = np.cumsum(count) - count
    return np.repeat(start[rows] - before, count) + np.arange(int(count.sum())), count


def _by_row(row: Ints, value: Ints, n: int) -> tuple[Ints, Ints]:
    """Values pooled by row, and where those of each of n rows begin."""
    order = np.argsort(row, kind="stable")
    return np.searchsorted(row[order], np.arange(n + 1)).astype(np.int32), value[order]


def _reached(seeds: NDArray[np.int64], side: tuple[Ints, Ints], may: Flags) -> Flags:
    """What is reached from some roads over roads that one may drive, these included."""
    start, out = side
    seen = np.zeros(may.size, np.bool_)
    seen[seeds] = True
    front = seeds
    while front.size:
        edge, _ = _ranges(start, front)
        there = out[edge]
        front = np.unique(there[may[there] & ~seen[there]]).astype(np.int64)
        seen[front] = True
    return seen


def _core(origin: Ints, target: Ints, open_to_all: Flags) -> NDArray[np.int64]:
    """The largest set of roads that reach each other over open ones and the world outside."""
    n = outside = open_to_all.size
    has_exit, has_entry = (np.bincount(side, minlength=n) > 0 for side in (origin, target))
    leave, enter = np.flatnonzero(has_entry & ~has_exit), np.flatnonzero(has_exit & ~has_entry)
    rows = np.concatenate((origin, leave, np.full(enter.size, outside))).astype(np.int32)
    values = np.concatenate((target, np.full(leave.size, outside), enter)).astype(np.int32)
    ahead, back = _by_row(rows, values, n + 1), _by_row(values, rows, n + 1)
    may = np.append(open_to_all, np.True_)
    core = _largest_part(ahead, back, may)
    return core[core < n]


def _largest_part(
    ahead: tuple[Ints, Ints], back: tuple[Ints, Ints], may: Flags
) -> NDArray[np.int64]:
    """The largest set of nodes that all reach each other over those that one may take."""
    left, best = may.copy(), np.zeros(0, np.int64)
    for _ in range(SEEDS):
        rest = np.flatnonzero(left)
        if rest.size <= best.size:
            return best
        seed = rest[rest.size // 2 :][:1]
        part = np.flatnonzero(_reached(seed, ahead, may) & _reached(seed, back, may))
        left[part] = False
        if part.size > best.size:
            best = part
    start, out = ahead
    follow = {
        int(a): [b for b in out[start[a] : start[a + 1]].tolist() if may[b]]
        for a in np.flatnonzero(may)
    }
    # Of equals the one with the first road, whatever the order in which they are found.
    parts = sorted((sorted(part) for part in strong_components(follow)), key=lambda p: (-len(p), p))
    return np.array(parts[0], np.int64)
