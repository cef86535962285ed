"""Outlines around places."""

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

DIRECTIONS: Final = 32  # in which the farthest places are looked up first
MANY: Final = 1000  # places from which on that pays

Points = NDArray[np.float64]  # (n, 2), m


def convex_hull(points: Points) -> Points:
    """Corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    if len(points) > MANY:
        points = _outermost(points)
    order = sorted(set(map(tuple, points.tolist())))
    if len(order) < 3:
        return np.array(order)

    def chain(sequence: list[tuple[float, float]]) -> list[tuple[float, float]]:
        hull: list[tuple[float, float]] = []
        for x, y in sequence:
            while len(hull) >= 2 and (
                (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1])
                - (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0])
                <= 0.0
            ):
                hull.pop()
            hull.append((x, y))
        return hull[:-1]

    return np.array(chain(order) + chain(order[::-1]))


def near_pairs(around: dict[int, Points], within: float) -> list[tuple[float, int, int]]:
    """Pairs of groups of places (k, 2) of which two are less than `within` metres apart: m, names."""
    names = sorted(around)
    if len(names) < 2:
        return []
    boxes = np.array([(*around[n].min(axis=0), *around[n].max(axis=0)) for n in names])
    found = []
    for i, a in enumerate(names[:-1]):
        rest = boxes[i + 1 :]
        gap = np.maximum(rest[:, :2] - boxes[i, 2:], boxes[i, :2] - rest[:, 2:])
        for j in np.flatnonzero((gap < within).all(axis=1)).tolist():
            b = names[i + 1 + j]
            away = float(distances(around[a], around[b]).min())
            if away < within:
                found.append((away, a, b))
    return found


def distances(a: Points, b: Points) -> NDArray[np.float64]:
    """Distance of every place of a from every place of b, m."""
    found: NDArray[np.float64] = np.hypot(*(a[:, None] - b[None]).transpose(2, 0, 1))
    return found


def _outermost(points: Points) -> Points:
    """Points without those inside the polygon of the farthest ones in some directions."""
    angle = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    normal = np.column_stack((np.cos(angle), np.sin(angle)))
    corners = points[(points @ normal.T).argmax(axis=0)]
    inside = np.ones(len(points), bool)
    for a, b in pairwise(np.vstack((corners, corners[:1]))):
        span = b - a
        if span.any():
            off = points - a
            inside &= span[0] * off[:, 1] - span[1] * off[:, 0] > 1e-6 * float(np.abs(span).sum())
    return points[~inside]
