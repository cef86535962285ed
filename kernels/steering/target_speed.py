"""The speed at which a vehicle can follow what lies ahead of it on its path.

Two rules: Algorithm 1, from the largest curvature of quadratic Bezier curves laid through points
of the path, and the baseline that it is compared with, from the largest angle to any segment.
Source: "Efficient Ground Vehicle Path Following in Game AI" (2023); seed-systems.md S0.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.geometry.curvature import max_curvature_3d
from rushhour.kernels.geometry.curves import segment_at
from rushhour.kernels.steering.paths import Paths, place_on_segment, segment_from, wrapped

G: Final = 9.81  # m/s^2
LATERAL: Final = 0.4  # g; on a smooth bend up to twice as much is felt, see critical_speed
SPACING: Final = 6.0  # m from point to point
COUNT: Final = 5  # points, the vehicle among them: a look ahead of SPACING * (COUNT - 1)
LEAST: Final = 1.0  # m/s
MOST: Final = 10.0  # m/s


@kernel
def critical_speed(curvature: float, lateral: float, least: float, most: float) -> float:
    """Speed, m/s, at which a bend of that curvature (1/m) asks for `lateral` g, within bounds.

    Straight is `most`, a cusp `least`. The Bezier curve through three points of a smooth bend has
    half its curvature (validation.md A0, fact 1): half the `lateral` keeps the g that it says.
    """
    if curvature <= 0.0:
        return most
    return min(most, max(least, math.sqrt(lateral * G / curvature)))


@kernel
def sharpest_ahead(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    lo: int,
    hi: int,
    s: float,
    x: float,
    y: float,
    z: float,
    spacing: float,
    count: int,
) -> float:
    """Largest curvature, 1/m, of the curves through the vehicle and the points ahead of it.

    The vehicle is at (x, y, z), its place on the path at s; the points follow at s + spacing,
    s + 2 spacing, ..., `count` with the vehicle. Far from the path the first curve bends, so that
    it slows down. Points beyond the end of the path fall on its end and bend nothing.
    """
    sharpest = 0.0
    p = segment_at(station, lo, hi, s + spacing)
    bx, by, bz = place_on_segment(points, station, p, s + spacing)
    for i in range(2, count):
        p = segment_from(station, p, hi, s + i * spacing)
        cx, cy, cz = place_on_segment(points, station, p, s + i * spacing)
        sharpest = max(sharpest, max_curvature_3d(x, y, z, bx, by, bz, cx, cy, cz))
        x, y, z, bx, by, bz = bx, by, bz, cx, cy, cz
    return sharpest


@kernel
def widest_angle(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    lo: int,
    hi: int,
    s: float,
    heading: float,
    ahead: float,
) -> float:
    """Largest angle, rad, between heading and the path's segments from s to s + ahead, m."""
    widest = 0.0
    begin = segment_at(station, lo, hi, s)
    for p in range(begin, hi - 1):
        if p > begin and station[p] > s + ahead:
            break
        dx, dy = points[p + 1, 0] - points[p, 0], points[p + 1, 1] - points[p, 1]
        if dx != 0.0 or dy != 0.0:
            widest = max(widest, abs(wrapped(math.atan2(dy, dx) - heading)))
    return widest


@kernel
def angle_speed(angle: float, gain: float, least: float, most: float) -> float:
    """The baseline's speed, m/s: gain, m/s rad, over the angle, within bounds."""
    if angle * most <= gain:
        return most
    return max(least, gain / angle)


@kernel
def aim_speeds(
    paths: Paths,
    path: NDArray[np.int32],
    s: NDArray[np.float64],
    place: NDArray[np.float64],
    lateral: float,
    spacing: float,
    count: int,
    least: float,
    most: float,
    out: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Set the target speed of vehicles lo .. hi-1 by Algorithm 1.

    Reads path, s (m), place (n, 3) m; writes out, m/s. spacing m, count points, bounds m/s.
    """
    for i in range(lo, hi):
        a, b = paths.start[path[i]], paths.start[path[i] + 1]
        sharpest = sharpest_ahead(
            paths.points, paths.station, a, b, s[i],
            place[i, 0], place[i, 1], place[i, 2], spacing, count,
        )  # fmt: skip
        out[i] = critical_speed(sharpest, lateral, least, most)
