"""Speeds that the bends of a lane allow, with comfortable braking before them."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import PROFILE_STEP, Lanes
from rushhour.kernels.geometry.curvature import max_curvature
from rushhour.kernels.geometry.curves import place_at, segment_at

REACH: Final = 6.0  # m from the middle of a triple of points to its ends
COARSE_REACH: Final = 20.0  # m, the same where the source drew a bend with long segments
CORNER_CUT: Final = 0.3  # m a driver may cut a kink that the source drew between straight parts
CORNER_WINDOW: Final = 24.0  # m either side within which that kink must be the only bend
SLOWEST: Final = 2.0  # m/s, floor of a curve speed
BRAKING: Final = 2.0  # m/s^2
BINDS_BELOW: Final = 1.3  # times the limit; a bend that allows more is none


@kernel
def bend_at(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    lo: int,
    hi: int,
    s: float,
    reach: float,
) -> float:
    """Curvature, 1/m, of a polyline over `reach` metres either side of s.

    Three points as control polygon halve the curvature of a circle (validation.md A0, fact 1), so
    the middle one is moved out: with theta the turn between the two chords, at (1 + cos theta)
    times its distance from the chord's middle the closed form is exactly 1/R on a circle.
    """
    x1, y1 = place_at(points, station, lo, hi, s - reach)
    x2, y2 = place_at(points, station, lo, hi, s)
    x3, y3 = place_at(points, station, lo, hi, s + reach)
    ux, uy, wx, wy = x2 - x1, y2 - y1, x3 - x2, y3 - y2
    product = math.sqrt((ux * ux + uy * uy) * (wx * wx + wy * wy))
    if product == 0.0:
        return 0.0
    out = 1.0 + max(0.0, (ux * wx + uy * wy) / product)
    mx, my = 0.5 * (x1 + x3), 0.5 * (y1 + y3)
    return max_curvature(x1, y1, mx + out * (x2 - mx), my + out * (y2 - my), x3, y3)


@kernel
def local_reach(station: NDArray[np.float64], lo: int, hi: int, s: float, least: float) -> float:
    """How far a triple around s reaches, m: `least`, more where only long segments are near.

    A road drawn with 50 m segments bends between its points, not in them.
    """
    shortest = COARSE_REACH
    last = segment_at(station, lo, hi, s + least)
    for p in range(segment_at(station, lo, hi, s - least), last + 1):
        shortest = min(shortest, station[p + 1] - station[p])
    return max(least, shortest)


@kernel
def headings_along(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    lo: int,
    hi: int,
    n: int,
    heading: NDArray[np.float64],
) -> None:
    """Unwrapped heading of each of the n-1 steps of PROFILE_STEP along a lane; writes heading."""
    x, y = place_at(points, station, lo, hi, 0.0)
    before = 0.0
    for j in range(n - 1):
        xn, yn = place_at(points, station, lo, hi, (j + 1) * PROFILE_STEP)
        h = before
        if xn != x or yn != y:
            h = math.atan2(yn - y, xn - x)
        if j > 0:
            h -= 2.0 * math.pi * math.floor((h - before) / (2.0 * math.pi) + 0.5)
        heading[j] = h
        before = h
        x, y = xn, yn


@kernel
def cut_corner(heading: NDArray[np.float64], n: int, j: int, curvature: float) -> float:
    """Curvature that remains when a driver cuts a lone kink by CORNER_CUT.

    A turn by d between straight parts is rounded with radius 8 * CORNER_CUT / d^2; on a real bend
    the heading within the window changes so much that this never matters.
    """
    wide = int(CORNER_WINDOW / PROFILE_STEP)
    least, most = math.inf, -math.inf
    for i in range(max(0, j - wide), min(n - 1, j + wide)):
        least, most = min(least, heading[i]), max(most, heading[i])
    turn = max(0.0, most - least)
    return min(curvature, turn * turn / (8.0 * CORNER_CUT))


@kernel
def lay_profiles(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    point_start: NDArray[np.int32],
    length: NDArray[np.float64],
    speed: NDArray[np.float64],
    lateral: float,
    start: NDArray[np.int32],
    profile: NDArray[np.float64],
    entry: NDArray[np.float64],
    scratch: NDArray[np.float64],
) -> int:
    """Lay the allowed-speed profile of every lane with a bend that binds; count the samples.

    lateral: m/s^2. Writes start (n+1,), profile (at least one place per PROFILE_STEP and two more
    per lane), entry (n,) m/s; scratch: (2, longest). Between two samples speed is linear.
    """
    total = 0
    for lane in range(length.shape[0]):
        start[lane] = total
        entry[lane] = math.inf
        lo, hi = point_start[lane], point_start[lane + 1]
        if hi - lo < 3:
            continue
        n = math.ceil(length[lane] / PROFILE_STEP) + 1
        reach = min(REACH, max(0.25 * length[lane], 0.5), 0.5 * length[lane])
        headings_along(points, station, lo, hi, n, scratch[0])
        binds = False
        for j in range(n):
            s = min(max(j * PROFILE_STEP, reach), length[lane] - reach)
            wide = min(local_reach(station, lo, hi, s, reach), s, length[lane] - s)
            bend = bend_at(points, station, lo, hi, s, wide)
            bend = cut_corner(scratch[0], n, j, bend)
            allowed = math.inf
            if bend > 0.0:
                allowed = max(SLOWEST, math.sqrt(lateral / bend))
            allowed = min(allowed, 100.0)
            scratch[1, j] = allowed
            binds = binds or allowed < BINDS_BELOW * speed[lane]
        if not binds:
            continue
        for j in range(n - 2, -1, -1):
            step = min(PROFILE_STEP, length[lane] - j * PROFILE_STEP)
            reached = math.sqrt(scratch[1, j + 1] * scratch[1, j + 1] + 2.0 * BRAKING * step)
            scratch[1, j] = min(scratch[1, j], reached)
        for j in range(n):
            profile[total + j] = scratch[1, j]
        entry[lane] = profile[total]
        total += n
    start[length.shape[0]] = total
    return total


@kernel
def bend_speed(lanes: Lanes, lane: int, s: float) -> float:
    """Speed that bends allow at s on a lane, braking for those ahead on it included."""
    lo, hi = lanes.profile_start[lane], lanes.profile_start[lane + 1]
    if lo == hi:
        return math.inf
    p = lo + int(s / PROFILE_STEP)
    if p >= hi - 1:
        return lanes.profile[hi - 1]
    w = (s - (p - lo) * PROFILE_STEP) / PROFILE_STEP
    return lanes.profile[p] + w * (lanes.profile[p + 1] - lanes.profile[p])
