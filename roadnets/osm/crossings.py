"""Where ways of an OpenStreetMap cross or nearly touch without a common node.

Topology comes from shared nodes alone, so such places have no connection; many are gaps of the map.
"""

from collections.abc import Callable
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.fixes import GAP, fix_line
from rushhour.roadnets.osm.links import Streets
from rushhour.roadnets.osm.ways.reading import OsmMap
from rushhour.roadnets.osm.ways.tags import Tags, is_open, level_of

NEAR: Final = 2.0  # m from a dead end to another way
CELL: Final = 40.0  # m
EVEN: Final = 1e-9  # of a segment's length, from its ends

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Segments(NamedTuple):
    """Pieces of ways between two nodes; points stand for dead ends, with a and b in one place."""

    way: Ints  # (n,) number in the list of ways
    start: Ints  # (n,) node
    end: Ints
    a: Floats  # (n, 2) m
    b: Floats
    level: Ints  # (n,)


def find_crossings(osm: OsmMap, streets: Streets) -> None:
    """Add crossings without a node (L04) and dead ends just short of a way (L05) to the findings."""
    ways = [way for way in osm.ways if is_open(way.tags)]
    if not ways:
        return
    segments, loose = _segments(osm, [way.nodes for way in ways], [way.tags for way in ways])

    def apart(i: Ints, j: Ints) -> NDArray[np.bool_]:
        """Whether pieces on one level have no node in common."""
        start, end = segments.start, segments.end
        found = (start[i] != start[j]) & (start[i] != end[j]) & (end[i] != start[j])
        found &= (end[i] != end[j]) & (segments.level[i] == segments.level[j])
        return np.asarray(found)

    i, j = close_pairs(segments.a, segments.b, NEAR, apart)
    lines = i[~(loose[i] | loose[j])], j[~(loose[i] | loose[j])]
    _crossings(streets, [way.id for way in ways], segments, *lines)
    first = np.where(loose[i], i, j)
    other = np.where(loose[i], j, i)
    ends = (loose[i] != loose[j]) & (segments.way[i] != segments.way[j])
    _near_misses(streets, [way.id for way in ways], segments, first[ends], other[ends])


def _segments(
    osm: OsmMap, lines: list[list[int]], tags: list[Tags]
) -> tuple[Segments, NDArray[np.bool_]]:
    """All pieces of ways, then their dead ends; and which are dead ends."""
    nodes = np.fromiter(chain.from_iterable(lines), np.int64)
    sizes = np.array([len(line) for line in lines])
    owner = np.repeat(np.arange(len(lines)), sizes)
    levels = np.array([level_of(found) for found in tags])
    places = map(osm.xy.__getitem__, chain.from_iterable(lines))
    xy = np.fromiter(chain.from_iterable(places), float, 2 * nodes.size).reshape(-1, 2)
    first = np.flatnonzero(owner[:-1] == owner[1:])
    last = np.cumsum(sizes) - 1
    ends = np.concatenate((last - sizes + 1, last))
    order = np.sort(nodes)
    count = np.searchsorted(order, nodes[ends], "right") - np.searchsorted(order, nodes[ends])
    ends = np.unique(ends[count == 1])
    a = np.concatenate((first, ends))
    b = np.concatenate((first + 1, ends))
    found = Segments(owner[a], nodes[a], nodes[b], xy[a], xy[b], levels[owner[a]])
    return found, np.arange(a.size) >= first.size


def close_pairs(
    a: Floats, b: Floats, within: float, wanted: Callable[[Ints, Ints], NDArray[np.bool_]]
) -> tuple[Ints, Ints]:
    """Pairs i < j of segments a to b, (n, 2) m each, that may come within some metres.

    Their boxes do, and they touch a common cell. wanted: which of some pairs are asked for.
    """
    step = b - a
    cuts = np.maximum(np.ceil(np.hypot(step[:, 0], step[:, 1]) / CELL).astype(np.int64), 1)
    of = np.repeat(np.arange(len(a)), cuts)
    number = np.arange(of.size) - np.repeat(np.cumsum(cuts) - cuts, cuts)
    start = a[of] + step[of] * (number / cuts[of])[:, None]
    end = start + step[of] / cuts[of][:, None]
    low = np.floor((np.minimum(start, end) - 0.5 * within) / CELL).astype(np.int64)
    high = np.floor((np.maximum(start, end) + 0.5 * within) / CELL).astype(np.int64)
    rows = int(np.ptp(np.concatenate((low[:, 1], high[:, 1])))) + 3
    keys, pieces = [], []
    for dx, dy in ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2)):
        x, y = low[:, 0] + dx, low[:, 1] + dy
        inside = np.flatnonzero((x <= high[:, 0]) & (y <= high[:, 1]))
        keys.append(x[inside] * rows + y[inside])
        pieces.append(of[inside])
    key, piece = np.concatenate(keys), np.concatenate(pieces)
    order = np.lexsort((piece, key))
    key, piece = key[order], piece[order]
    box_low, box_high = np.minimum(a, b) - 0.5 * within, np.maximum(a, b) + 0.5 * within
    found: list[Ints] = []
    left = np.arange(key.size - 1)
    apart = 1
    while left.size:  # pairs of neighbours in the same cell, then of those two apart, ...
        left = left[left + apart < key.size]
        left = left[key[left] == key[left + apart]]
        i, j = piece[left], piece[left + apart]
        meet = (box_low[i] <= box_high[j]) & (box_low[j] <= box_high[i])
        kept = np.flatnonzero(meet[:, 0] & meet[:, 1] & (i != j))
        i, j = i[kept], j[kept]
        kept = np.flatnonzero(wanted(i, j))
        found.append(i[kept] * len(a) + j[kept])
        apart += 1
    pairs = np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
    return pairs // len(a), pairs % len(a)


def _cross(u: Floats, v: Floats) -> Floats:
    product: Floats = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    return product


def _crossings(streets: Streets, ids: list[int], s: Segments, i: Ints, j: Ints) -> None:
    p, q = s.b[i] - s.a[i], s.b[j] - s.a[j]
    away = s.a[j] - s.a[i]
    turn = _cross(p, q)
    turn = np.where(np.abs(turn) < 1e-9, np.nan, turn)
    on_p, on_q = _cross(away, q) / turn, _cross(away, p) / turn
    inside = (on_p > EVEN) & (on_p < 1.0 - EVEN) & (on_q > EVEN) & (on_q < 1.0 - EVEN)
    told: set[tuple[int, int]] = set()
    for k in np.flatnonzero(inside).tolist():
        first, second = sorted((ids[s.way[i[k]]], ids[s.way[j[k]]]))
        if first == second or (first, second) in told:
            continue
        told.add((first, second))
        streets.remarks.find(
            "L04", f"way {first} crosses way {second} without a common node; no connection",
            [f"way {first}", f"way {second}"], s.a[i[k]] + on_p[k] * p[k],
        )  # fmt: skip


def _near_misses(streets: Streets, ids: list[int], s: Segments, end: Ints, other: Ints) -> None:
    span = s.b[other] - s.a[other]
    square = np.maximum(np.sum(span * span, axis=1), 1e-12)
    share = np.clip(np.sum((s.a[end] - s.a[other]) * span, axis=1) / square, 0.0, 1.0)
    off = s.a[other] + share[:, None] * span - s.a[end]
    away = np.hypot(off[:, 0], off[:, 1])
    told: set[int] = set()
    for k in np.lexsort((away, s.start[end])).tolist():
        node = int(s.start[end[k]])
        if away[k] >= NEAR or node in told:
            continue
        told.add(node)
        way = ids[s.way[other[k]]]
        far, line_end = min(
            (float(np.hypot(*(xy[other[k]] - s.a[end[k]]))), int(nodes[other[k]]))
            for xy, nodes in ((s.a, s.start), (s.b, s.end))
        )
        if np.any(
            (s.start == node) & (s.end == line_end) | (s.end == node) & (s.start == line_end)
        ):
            continue  # a street joins them
        streets.remarks.find(
            "L05", f"node {node} ends {away[k]:.1f} m from way {way}: a gap in the map?",
            [f"node {node}", f"way {way}"], s.a[end[k]],
            fix_line("merge", [node, line_end], True) if far <= GAP else "",
        )  # fmt: skip
