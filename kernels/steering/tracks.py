"""Closed tracks: a ring of nodes with a left and a right edge point, and where cars are on it.

*Segment* i lies between nodes i and i + 1, the last between the last node and the first; it is the
two triangles (left i, right i, left i+1) and (right i, left i+1, right i+1). A car in segment i is
at *index* i. The *line* is the polyline that an AI follows, a ring of points of its own.
Source: AV-Racer, seed-systems.md S2; validation.md C2.1 - C2.3.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.reprs import fields_shown

WINDOW: Final = 8  # segments before and behind the last index in which a car is sought first


class Track(NamedTuple):
    """A closed track of n segments with a line of m points."""

    left: NDArray[np.float64]  # (n, 2) m
    right: NDArray[np.float64]  # (n, 2) m
    station: NDArray[np.float64]  # (n+1,) m along the middle
    grip: NDArray[np.float64]  # (n,) of its surface, in relation to asphalt
    line: NDArray[np.float64]  # (m, 2) m
    line_station: NDArray[np.float64]  # (m+1,) m along the line
    line_speed: NDArray[np.float64]  # (m,) m/s at each point of the line; nan: not known
    line_index: NDArray[np.int32]  # (m,) index of each point of the line; never falls
    target: NDArray[np.int32]  # (n,) point of the line to steer at from each index

    def __repr__(self) -> str:
        return fields_shown(self)


@kernel
def is_left_of(px: float, py: float, ax: float, ay: float, bx: float, by: float) -> float:
    """Twice the signed area of P, A, B: positive left of the way from A to B.

    Computed relative to P, so that it loses no digits far from the origin.
    """
    return (ax - px) * (by - py) - (ay - py) * (bx - px)


@kernel
def in_triangle(
    px: float, py: float, ax: float, ay: float, bx: float, by: float, cx: float, cy: float
) -> bool:
    """Whether a point is in a triangle or on its border, however the triangle turns.

    The source compares areas with a fixed tolerance, which fails far from the origin.
    """
    a = is_left_of(px, py, ax, ay, bx, by)
    b = is_left_of(px, py, bx, by, cx, cy)
    c = is_left_of(px, py, cx, cy, ax, ay)
    return (a >= 0.0 and b >= 0.0 and c >= 0.0) or (a <= 0.0 and b <= 0.0 and c <= 0.0)


@kernel
def is_on_segment(
    left: NDArray[np.float64], right: NDArray[np.float64], i: int, x: float, y: float
) -> bool:
    """Whether a point is on segment i."""
    j = i + 1
    if j == left.shape[0]:
        j = 0
    return in_triangle(
        x, y, left[i, 0], left[i, 1], right[i, 0], right[i, 1], left[j, 0], left[j, 1]
    ) or in_triangle(
        x, y, right[i, 0], right[i, 1], left[j, 0], left[j, 1], right[j, 0], right[j, 1]
    )


@kernel
def index_at(
    left: NDArray[np.float64], right: NDArray[np.float64], last: int, x: float, y: float
) -> tuple[int, bool]:
    """Index of a point, and whether it is on the track at all; off it, the last index is kept.

    Sought is from the last index outwards, forwards first: where the track crosses or overlaps
    itself, a car stays on the part that it is on.
    """
    n = left.shape[0]
    for step in range(n // 2 + 1):
        ahead = last + step
        if ahead >= n:
            ahead -= n
        if is_on_segment(left, right, ahead, x, y):
            return ahead, True
        behind = last - step
        if behind < 0:
            behind += n
        if step > 0 and is_on_segment(left, right, behind, x, y):
            return behind, True
        if step == WINDOW:
            break
    # farther away only who was put elsewhere: the nearest of those segments in the same order
    for step in range(WINDOW + 1, n // 2 + 1):
        ahead, behind = (last + step) % n, (last - step + n) % n
        if is_on_segment(left, right, ahead, x, y):
            return ahead, True
        if is_on_segment(left, right, behind, x, y):
            return behind, True
    return last, False


@kernel
def progress_at(track: Track, index: int, x: float, y: float) -> float:
    """Distance along the middle of the track, m, of a point at an index."""
    n = track.left.shape[0]
    j = index + 1
    if j == n:
        j = 0
    ax, ay = (
        0.5 * (track.left[index, 0] + track.right[index, 0]),
        0.5 * (track.left[index, 1] + track.right[index, 1]),
    )
    dx = 0.5 * (track.left[j, 0] + track.right[j, 0]) - ax
    dy = 0.5 * (track.left[j, 1] + track.right[j, 1]) - ay
    square = dx * dx + dy * dy
    w = 0.0
    if square > 0.0:
        w = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / square))
    return track.station[index] + w * (track.station[index + 1] - track.station[index])


@kernel
def locate_cars(
    track: Track,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    index: NDArray[np.int32],
    on: NDArray[np.bool_],
    lap: NDArray[np.int32],
    progress: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Find cars lo .. hi-1 on the track.

    Reads x, y (m); writes index, on, lap (one more when the first node is passed forwards, one
    less backwards) and progress, m since the first node of lap 0. All (n,).
    """
    n = track.left.shape[0]
    for i in range(lo, hi):
        before = index[i]
        index[i], on[i] = index_at(track.left, track.right, before, x[i], y[i])
        if index[i] - before > n // 2:
            lap[i] -= 1
        elif before - index[i] > n // 2:
            lap[i] += 1
        progress[i] = lap[i] * track.station[n] + progress_at(track, index[i], x[i], y[i])


@kernel
def grip_under(
    track: Track,
    index: NDArray[np.int32],
    on: NDArray[np.bool_],
    beside: float,
    out: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Grip under cars lo .. hi-1: of their segment's surface, off the track `beside`."""
    for i in range(lo, hi):
        out[i] = track.grip[index[i]] if on[i] else beside


@kernel
def rest_of_segment(
    ax: float, ay: float, bx: float, by: float, x: float, y: float
) -> tuple[float, float]:
    """What is left of a segment A to B from beside (x, y) on, m, and its length."""
    dx, dy = bx - ax, by - ay
    length = math.sqrt(dx * dx + dy * dy)
    if length == 0.0:
        return 0.0, 0.0
    along = ((x - ax) * dx + (y - ay) * dy) / length
    return min(length, max(0.0, length - along)), length
