"""Curves of connectors and places along polylines.

A connector's curve is at most four quadratic Bezier *pieces*; a straight stretch is a piece whose
control point is its middle. Its first control leg points along the lane it leaves, its last along
the lane it joins, so tangents are continuous.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

LONGEST_CURVE: Final = 4  # pieces
STEP_ANGLE: Final = math.radians(4.0)  # turn between two samples of a curve
BEND: Final = math.radians(5.0)  # below this, entry and exit count as parallel
U_TURN_ANGLE: Final = math.radians(150.0)
LONG_ARM: Final = 3.0  # an arm longer than this times the chord is no corner
UNEQUAL: Final = 2.5  # ratio of arms above which a straight stretch comes first


@kernel
def set_piece(
    pieces: NDArray[np.float64],
    i: int,
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    x3: float,
    y3: float,
) -> None:
    """Write the three control points of a piece."""
    pieces[i, 0, 0], pieces[i, 0, 1] = x1, y1
    pieces[i, 1, 0], pieces[i, 1, 1] = x2, y2
    pieces[i, 2, 0], pieces[i, 2, 1] = x3, y3


@kernel
def set_straight(
    pieces: NDArray[np.float64], i: int, x1: float, y1: float, x3: float, y3: float
) -> None:
    """Write a straight piece."""
    set_piece(pieces, i, x1, y1, 0.5 * (x1 + x3), 0.5 * (y1 + y3), x3, y3)


@kernel
def plan_u_turn(
    x0: float, y0: float, ux: float, uy: float, x2: float, y2: float, vx: float, vy: float,
    pieces: NDArray[np.float64],
) -> int:  # fmt: skip
    """A half round between two lanes, behind a straight stretch along the one that ends first; count its pieces."""
    dx, dy = x2 - x0, y2 - y0
    across = abs(dx * uy - dy * ux)  # distance of the two lanes
    ahead = dx * ux + dy * uy
    reach = max(0.5 * across, 1.0)
    a, b = reach + max(0.0, ahead), reach + max(0.0, -ahead)
    ax, ay = x0 + a * ux, y0 + a * uy
    bx, by = x2 - b * vx, y2 - b * vy
    n = 0
    if a > reach:
        set_straight(pieces, n, x0, y0, x0 + (a - reach) * ux, y0 + (a - reach) * uy)
        n += 1
    mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
    sx, sy = x0 + (a - reach) * ux, y0 + (a - reach) * uy
    ex, ey = x2 - (b - reach) * vx, y2 - (b - reach) * vy
    set_piece(pieces, n, sx, sy, ax, ay, mx, my)
    set_piece(pieces, n + 1, mx, my, bx, by, ex, ey)
    n += 2
    if b > reach:
        set_straight(pieces, n, ex, ey, x2, y2)
        n += 1
    return n


@kernel
def plan_corner(
    x0: float, y0: float, ux: float, uy: float, x2: float, y2: float, vx: float, vy: float,
    pieces: NDArray[np.float64],
) -> int:  # fmt: skip
    """One corner where the two rays meet ahead, behind a straight stretch along a much longer arm; count its pieces.

    0 where they do not meet, or too far away.
    """
    dx, dy = x2 - x0, y2 - y0
    cross = ux * vy - uy * vx
    a = (dx * vy - dy * vx) / cross
    b = (dy * ux - dx * uy) / cross
    if not (a > 0.0 and b > 0.0 and max(a, b) < LONG_ARM * math.sqrt(dx * dx + dy * dy)):
        return 0
    px, py = x0 + a * ux, y0 + a * uy
    if a > UNEQUAL * b:
        set_straight(pieces, 0, x0, y0, x0 + (a - b) * ux, y0 + (a - b) * uy)
        set_piece(pieces, 1, x0 + (a - b) * ux, y0 + (a - b) * uy, px, py, x2, y2)
        return 2
    if b > UNEQUAL * a:
        ex, ey = x2 - (b - a) * vx, y2 - (b - a) * vy
        set_piece(pieces, 0, x0, y0, px, py, ex, ey)
        set_straight(pieces, 1, ex, ey, x2, y2)
        return 2
    set_piece(pieces, 0, x0, y0, px, py, x2, y2)
    return 1


@kernel
def plan_curve(
    x0: float, y0: float, ux: float, uy: float, x2: float, y2: float, vx: float, vy: float,
    pieces: NDArray[np.float64],
) -> int:  # fmt: skip
    """Lay a smooth curve from (x0, y0) along unit u to (x2, y2) along unit v; count its pieces.

    pieces: (LONGEST_CURVE, 3, 2) control points, m. A half round for a U-turn; one corner where the two rays
    meet; otherwise two quadratics that meet in the middle. Source: networks.md 3.5.
    """
    dx, dy = x2 - x0, y2 - y0
    chord = math.sqrt(dx * dx + dy * dy)
    dot = ux * vx + uy * vy
    turn = math.atan2(ux * vy - uy * vx, dot)
    if abs(turn) > U_TURN_ANGLE and dx * ux + dy * uy < chord:
        return plan_u_turn(x0, y0, ux, uy, x2, y2, vx, vy, pieces)
    if abs(turn) > BEND:
        n = plan_corner(x0, y0, ux, uy, x2, y2, vx, vy, pieces)
        if n > 0:
            return n
    if chord == 0.0 or (dx * ux + dy * uy >= chord * (1.0 - 1e-15) and dot >= 1.0 - 1e-15):
        set_straight(pieces, 0, x0, y0, x2, y2)
        return 1
    arm = 0.4 * chord
    ax, ay = x0 + arm * ux, y0 + arm * uy
    bx, by = x2 - arm * vx, y2 - arm * vy
    mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
    set_piece(pieces, 0, x0, y0, ax, ay, mx, my)
    set_piece(pieces, 1, mx, my, bx, by, x2, y2)
    return 2


@kernel
def samples_of_piece(piece: NDArray[np.float64]) -> int:
    """Segments that follow one piece within STEP_ANGLE each."""
    ux, uy = piece[1, 0] - piece[0, 0], piece[1, 1] - piece[0, 1]
    wx, wy = piece[2, 0] - piece[1, 0], piece[2, 1] - piece[1, 1]
    turn = abs(math.atan2(ux * wy - uy * wx, ux * wx + uy * wy))
    return max(1, math.ceil(turn / STEP_ANGLE - 1e-9))


@kernel
def sample_curves(
    ends: NDArray[np.float64], out: NDArray[np.float64], start: NDArray[np.int32], lo: int, hi: int
) -> int:
    """Sample the curves of connectors lo .. hi; the number of points, even if `out` is too small.

    ends: (n, 8) x0 y0 ux uy x2 y2 vx vy. Writes out (m, 2) and start (n+1,).
    """
    pieces = np.empty((LONGEST_CURVE, 3, 2))
    n = 0
    start[lo] = 0
    for k in range(lo, hi):
        count = plan_curve(
            ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3],
            ends[k, 4], ends[k, 5], ends[k, 6], ends[k, 7], pieces,
        )  # fmt: skip
        if n < out.shape[0]:
            out[n, 0], out[n, 1] = ends[k, 0], ends[k, 1]
        n += 1
        for i in range(count):
            piece = pieces[i]
            steps = samples_of_piece(piece)
            for j in range(1, steps + 1):
                if n < out.shape[0]:
                    t = j / steps
                    for c in range(2):
                        out[n, c] = (
                            (1.0 - t) * (1.0 - t) * piece[0, c]
                            + 2.0 * (1.0 - t) * t * piece[1, c]
                            + t * t * piece[2, c]
                        )
                n += 1
        if n <= out.shape[0]:
            out[n - 1, 0], out[n - 1, 1] = ends[k, 4], ends[k, 5]
        start[k + 1] = n
    return n


@kernel
def segment_at(station: NDArray[np.float64], lo: int, hi: int, s: float) -> int:
    """Point p of lo .. hi-2 with station[p] <= s < station[p+1]; the first or last beyond."""
    a, b = lo, hi - 1
    while b - a > 1:
        m = (a + b) // 2
        if station[m] <= s:
            a = m
        else:
            b = m
    return a


@kernel
def find_segments(
    station: NDArray[np.float64],
    start: NDArray[np.int32],
    s: NDArray[np.float64],
    segment: NDArray[np.int64],
    lo: int,
    hi: int,
) -> None:
    """Find where distance s[lane], m, lies on each lane lo .. hi-1, see segment_at.

    Reads station (m) and start of the lanes' points; writes segment, a point.
    """
    for lane in range(lo, hi):
        segment[lane] = segment_at(station, start[lane], start[lane + 1], s[lane])


@kernel
def add_up_steps(
    step: NDArray[np.float64],
    start: NDArray[np.int32],
    station: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Add up the steps from point to point along each lane lo .. hi-1.

    Reads step, m from the point before, and start of the lanes' points; writes station, m, which
    is 0 at the first point of a lane.
    """
    for lane in range(lo, hi):
        along = 0.0
        station[start[lane]] = along
        for p in range(start[lane] + 1, start[lane + 1]):
            along += step[p]
            station[p] = along


@kernel
def add_up_turns(
    heading: NDArray[np.float64],
    start: NDArray[np.int32],
    turning: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Add up by how much each line lo .. hi-1 turns, there and back, from its first step to its last.

    Reads heading, rad from a point to the next, and start of the lines' points; writes turning, rad.
    """
    for line in range(lo, hi):
        total = 0.0
        for p in range(start[line] + 1, start[line + 1] - 1):
            turn = heading[p] - heading[p - 1]
            total += abs((turn + math.pi) % (2.0 * math.pi) - math.pi)
        turning[line] = total


@kernel
def place_at(
    points: NDArray[np.float64], station: NDArray[np.float64], lo: int, hi: int, s: float
) -> tuple[float, float]:
    """Point at distance s along the polyline of points lo .. hi-1, clamped to its ends."""
    p = segment_at(station, lo, hi, s)
    span = station[p + 1] - station[p]
    w = 0.0 if span <= 0.0 else min(1.0, max(0.0, (s - station[p]) / span))
    return (
        points[p, 0] + w * (points[p + 1, 0] - points[p, 0]),
        points[p, 1] + w * (points[p + 1, 1] - points[p, 1]),
    )
