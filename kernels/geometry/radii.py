"""The least radius of lines, measured along a window: how tight the turns of a network are.

A line is walked in equal steps; the *chords* between them have headings, and the turn of all chords
within the window gives the radius there. A corner between two long pieces counts as one turn, as a
vehicle would have to make it.
"""

from math import atan2, floor, hypot, inf, pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

STRAIGHT: Final = 1e-9  # rad


@kernel
def tightest_radius(
    points: NDArray[np.float64], lo: int, hi: int, step: float, recent: NDArray[np.float64]
) -> float:
    """Least radius of the line points[lo:hi], m; inf if it is straight or not longer than the window.

    step: m, about, between the places at which the line is measured. recent: room for the turns of
    the last steps; the window is one step shorter than it.
    """
    span = recent.shape[0] - 1
    length = 0.0
    for p in range(lo + 1, hi):
        length += hypot(points[p, 0] - points[p - 1, 0], points[p, 1] - points[p - 1, 1])
    n = int(length / step)
    if n <= span:
        return inf
    step = length / n
    x, y = points[lo, 0], points[lo, 1]
    p, at = lo, 0.0  # the piece from p to p + 1, and where it starts
    piece = hypot(points[p + 1, 0] - x, points[p + 1, 1] - y)
    turned, most, before = 0.0, 0.0, 0.0
    for k in range(1, n + 1):
        s = k * step
        while p < hi - 2 and s > at + piece:
            at += piece
            p += 1
            piece = hypot(points[p + 1, 0] - points[p, 0], points[p + 1, 1] - points[p, 1])
        share = min(1.0, (s - at) / piece) if piece > 0.0 else 1.0
        x1 = points[p, 0] + share * (points[p + 1, 0] - points[p, 0])
        y1 = points[p, 1] + share * (points[p + 1, 1] - points[p, 1])
        heading = atan2(y1 - y, x1 - x)
        if k > 1:
            bend = heading - before
            turned += bend - 2.0 * pi * floor((bend + pi) / (2.0 * pi))
        if k > span:
            most = max(most, abs(turned - recent[(k - span) % (span + 1)]))
        recent[k % (span + 1)] = turned
        x, y, before = x1, y1, heading
    return span * step / most if most > STRAIGHT else inf


@kernel
def measure_radii(
    points: NDArray[np.float64],
    start: NDArray[np.int32],
    step: float,
    recent: NDArray[np.float64],
    radius: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Measure the least radius of lines lo to hi; line i is points[start[i]:start[i + 1]].

    Reads points, start; writes radius (m), recent. step, recent: as for `tightest_radius`.
    """
    for i in range(lo, hi):
        radius[i] = tightest_radius(points, start[i], start[i + 1], step, recent)
