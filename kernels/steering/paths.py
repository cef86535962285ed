"""Paths to follow: waypoints in space, the nearest place on them, and what lies ahead.

A *station* is the distance along a path from its first waypoint. An *offset* is the distance from
the path, left of it positive. Search has a window along the path, so that a vehicle in one arm of
a hairpin is never taken for one in the other.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.geometry.curves import segment_at


class Paths(NamedTuple):
    """Paths end to end, each of at least two waypoints."""

    points: NDArray[np.float64]  # (m, 3) m
    station: NDArray[np.float64]  # (m,) m, measured in space, 0 at the first of each path
    start: NDArray[np.int32]  # (n+1,) into points
    half_width: NDArray[np.float64]  # (n,) m, of the corridor to stay in
    wall: NDArray[np.float64]  # (n,) m, from the path to the hard wall; inf: none


@kernel
def nearest_on_path(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    lo: int,
    hi: int,
    first: float,
    last: float,
    x: float,
    y: float,
) -> tuple[float, float]:
    """Station and offset, m, of the place nearest to (x, y) seen from above.

    Searched are the segments of the path's points lo .. hi-1 that touch stations first .. last.
    Of equally near places the first is taken.
    """
    best, found, side = math.inf, first, 1.0
    begin = segment_at(station, lo, hi, first)
    for p in range(begin, hi - 1):
        if p > begin and station[p] > last:
            break
        dx, dy = points[p + 1, 0] - points[p, 0], points[p + 1, 1] - points[p, 1]
        gx, gy = x - points[p, 0], y - points[p, 1]
        square = dx * dx + dy * dy
        w = 0.0
        if square > 0.0:
            w = min(1.0, max(0.0, (gx * dx + gy * dy) / square))
        ex, ey = gx - w * dx, gy - w * dy
        apart = ex * ex + ey * ey
        if apart < best:
            best = apart
            found = station[p] + w * (station[p + 1] - station[p])
            side = 1.0 if dx * gy - dy * gx >= 0.0 else -1.0
    return found, side * math.sqrt(best)


@kernel
def segment_from(station: NDArray[np.float64], p: int, hi: int, s: float) -> int:
    """Segment of station s, found by walking on from segment p, which is not beyond it."""
    while p < hi - 2 and station[p + 1] <= s:
        p += 1
    return p


@kernel
def place_in_space(
    points: NDArray[np.float64], station: NDArray[np.float64], lo: int, hi: int, s: float
) -> tuple[float, float, float]:
    """Point at station s of the path of points lo .. hi-1, clamped to its ends."""
    return place_on_segment(points, station, segment_at(station, lo, hi, s), s)


@kernel
def place_on_segment(
    points: NDArray[np.float64], station: NDArray[np.float64], p: int, s: float
) -> tuple[float, float, float]:
    """Point at station s of the segment that begins at point p, clamped to its ends."""
    span = station[p + 1] - station[p]
    w = 0.0 if span <= 0.0 else min(1.0, max(0.0, (s - station[p]) / span))
    return (
        points[p, 0] + w * (points[p + 1, 0] - points[p, 0]),
        points[p, 1] + w * (points[p + 1, 1] - points[p, 1]),
        points[p, 2] + w * (points[p + 1, 2] - points[p, 2]),
    )


@kernel
def course_and_slope(
    points: NDArray[np.float64], station: NDArray[np.float64], lo: int, hi: int, s: float
) -> tuple[float, float]:
    """Course, rad from east, and sine of the rise of the path at station s."""
    p = segment_at(station, lo, hi, s)
    span = station[p + 1] - station[p]
    dx, dy = points[p + 1, 0] - points[p, 0], points[p + 1, 1] - points[p, 1]
    rise = 0.0 if span <= 0.0 else (points[p + 1, 2] - points[p, 2]) / span
    return math.atan2(dy, dx), rise


@kernel
def wrapped(angle: float) -> float:
    """An angle, rad, brought into [-pi, pi)."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)
