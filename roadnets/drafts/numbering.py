"""Numbers of a large map's roads along a Hilbert curve: what is near on the ground is near in memory.

A driver reads the lanes around it. In a city their arrays do not fit into the caches, and a source
lists its roads in the order in which somebody drew them.
"""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.drafts.draft import Draft

LARGE: Final = 5_000  # roads; the arrays of fewer fit into caches, in whatever order they stand
LEVELS: Final = 16  # of the curve: 65,536 cells along each side of the map


def hilbert_distance(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far along the curve cells are: x, y (n,) in 0 .. 2^LEVELS - 1 -> (n,).

    Source: Hilbert 1891; each quarter of a square is passed by the same curve, turned.
    """
    along, x, y = np.zeros_like(x), x.copy(), y.copy()
    last = (1 << LEVELS) - 1
    for level in reversed(range(LEVELS)):
        right, up = (x >> level) & 1, (y >> level) & 1
        along += ((3 * right) ^ up) << (2 * level)
        turned, mirrored = up == 0, (up == 0) & (right == 1)
        x[mirrored], y[mirrored] = last - x[mirrored], last - y[mirrored]
        x[turned], y[turned] = y[turned], x[turned]
    return along


def numbered_by_place(draft: Draft) -> Draft:
    """The draft with intersections along the curve and roads by where they end, if it is large."""
    if len(draft.roads) < LARGE:
        return draft
    at = np.array([(i.x, i.y) for i in draft.intersections], np.float64)
    cell = np.ptp(at, axis=0).max() / ((1 << LEVELS) - 1) or 1.0
    x, y = ((at - at.min(axis=0)) / cell).astype(np.int64).T
    order = np.argsort(hilbert_distance(x, y), kind="stable")
    intersections = [draft.intersections[i] for i in order.tolist()]
    place = {i.id: number for number, i in enumerate(intersections)}
    last = len(place)  # of an end that is no intersection: told when names are looked up
    to = [place.get(r.to_intersection, last) for r in draft.roads]
    by = np.lexsort(([place.get(r.from_intersection, last) for r in draft.roads], to))
    roads = [draft.roads[r] for r in by.tolist()]
    return replace(draft, intersections=intersections, roads=roads)
