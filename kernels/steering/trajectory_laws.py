"""Laws of motion for bots: to a point, around a point, along a directed line.

Each gives the yaw (degrees) and speed to command. To the left of a line, and to the left turn,
is positive. The gain k_y of the line is at most 1/dt without lag and a quarter of the engine's
lag with it; on GoldSrc a quarter of its friction is safe and half still fine.
Source: trajectory control of bots (2006); seed-systems.md S1, validation.md B0 - B4.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.engines import DEGREES, wrap180


class LineLaw(NamedTuple):
    """How bots reach and hold a line."""

    k_y: float  # 1/s
    most: float  # degrees, greatest intercept angle
    radius: float  # of the tightest turn, for a last arc tangent to the line; 0: not minded
    horizon: float  # s by which the offset is predicted, dt over the yaw gain of a step; 0: not


@kernel
def bearing(x: float, y: float, qx: float, qy: float) -> float:
    """Direction from (x, y) to (qx, qy), degrees in (-180, 180]."""
    return DEGREES * math.atan2(qy - y, qx - x)


@kernel
def point_speed(distance: float, k_d: float, most: float) -> float:
    """Speed towards a point: in proportion to the distance (k_d, 1/s, at most 1/dt), bounded."""
    return min(k_d * distance, most)


@kernel
def around_yaw(bear: float, distance: float, clearance: float, side: float) -> float:
    """Yaw along the tangent of a circle of radius `clearance` around a point, then round it.

    bear, distance: of the point. side 1 keeps it on the left, -1 on the right.
    """
    ratio = 1.0
    if distance > clearance:
        ratio = clearance / distance
    return bear - side * DEGREES * math.asin(ratio)


@kernel
def line_offset(x: float, y: float, px: float, py: float, qx: float, qy: float) -> float:
    """Cross-track distance from the line through P towards Q, left positive; 0 without a line."""
    dx, dy = qx - px, qy - py
    length = math.sqrt(dx * dx + dy * dy)
    if length == 0.0:
        return 0.0
    return (dx * (y - qy) - dy * (x - qx)) / length


@kernel
def offset_rate(speed: float, yaw: float, course: float) -> float:
    """Cross-track speed: how fast the offset from a line of that course grows."""
    return speed * math.sin((yaw - course) / DEGREES)


@kernel
def direct_intercept(offset: float, k_y: float, most: float) -> tuple[float, float]:
    """Form (a): intercept angle and speed straight towards the line, the speed bounded."""
    return math.copysign(90.0, -offset), min(most, k_y * abs(offset))


@kernel
def sine_intercept(offset: float, speed: float, k_y: float) -> float:
    """Form (b): intercept angle whose cross-track speed is -k_y offset, as far as speed allows."""
    wanted = -k_y * offset
    if wanted == 0.0:
        return 0.0
    if abs(wanted) >= speed:
        return math.copysign(90.0, wanted)
    return DEGREES * math.asin(wanted / speed)


@kernel
def line_intercept(offset: float, speed: float, k_y: float, most: float) -> float:
    """Form (c): intercept angle in proportion to the offset over the speed, at most `most`."""
    wanted = -DEGREES * k_y * offset
    if wanted == 0.0:
        return 0.0
    if abs(wanted) >= most * speed:
        return math.copysign(most, wanted)
    return wanted / speed


@kernel
def least_radius(speed: float, yaw_rate: float, transverse: float) -> float:
    """Radius of the tightest turn, from bounds of the yaw rate (degrees/s) and v x yaw rate."""
    return max(DEGREES * speed / yaw_rate, speed * speed / transverse)


@kernel
def intercept_bound(offset: float, radius: float) -> float:
    """Intercept angle from which the tightest turn ends on the line: no overshoot."""
    left = 1.0 - abs(offset) / radius
    return DEGREES * math.acos(min(1.0, max(-1.0, left)))


@kernel
def first_turn(offset: float, course: float, yaw: float, limit: float) -> float:
    """Side of the first turn towards a line: 1 left, -1 right, 0 none.

    limit: intercept angle, degrees, that decides; it need not be the greatest one used.
    """
    left = wrap180(course - yaw)
    if offset != 0.0:
        left = wrap180(course - math.copysign(limit, offset) - yaw)
    return 0.0 if left == 0.0 else math.copysign(1.0, left)


@kernel
def line_yaw(
    offset: float,
    rate: float,
    course: float,
    speed: float,
    k_y: float,
    most: float,
    radius: float,
    horizon: float,
) -> float:
    """Yaw that reaches and holds a line: form (c), its bound from the tightest turn (LineLaw)."""
    if radius > 0.0:
        most = min(most, intercept_bound(offset + horizon * rate, radius))
    return course + line_intercept(offset, speed, k_y, most)


@kernel
def aim_at_points(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    yaw: NDArray[np.float64],
    point: NDArray[np.float64],
    k_d: float,
    most: float,
    radius: float,
    arrived: NDArray[np.bool_],
    wanted_yaw: NDArray[np.float64],
    wanted_speed: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Command bots lo .. hi-1 to their points, and to stand once within `radius` of them.

    Reads x, y, yaw, point (n, 2); writes wanted_yaw, wanted_speed and arrived, which stays until
    somebody clears it. Without a radius of at least a step's way a bot dances on its point.
    """
    for i in range(lo, hi):
        dx, dy = point[i, 0] - x[i], point[i, 1] - y[i]
        distance = math.sqrt(dx * dx + dy * dy)
        if distance <= radius:
            arrived[i] = True
        if arrived[i]:
            wanted_yaw[i], wanted_speed[i] = yaw[i], 0.0
        else:
            wanted_yaw[i] = bearing(x[i], y[i], point[i, 0], point[i, 1])
            wanted_speed[i] = point_speed(distance, k_d, most)


@kernel
def aim_around_points(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    point: NDArray[np.float64],
    clearance: NDArray[np.float64],
    side: NDArray[np.float64],
    wanted_yaw: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Command bots lo .. hi-1 around their points. Reads all but wanted_yaw; point is (n, 2)."""
    for i in range(lo, hi):
        dx, dy = point[i, 0] - x[i], point[i, 1] - y[i]
        bear = bearing(x[i], y[i], point[i, 0], point[i, 1])
        wanted_yaw[i] = around_yaw(bear, math.sqrt(dx * dx + dy * dy), clearance[i], side[i])


@kernel
def aim_along_lines(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    yaw: NDArray[np.float64],
    speed: NDArray[np.float64],
    line: NDArray[np.float64],
    law: LineLaw,
    wanted_yaw: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Command bots lo .. hi-1 along lines (n, 4): px, py, qx, qy. Writes wanted_yaw."""
    for i in range(lo, hi):
        px, py, qx, qy = line[i, 0], line[i, 1], line[i, 2], line[i, 3]
        course = bearing(px, py, qx, qy)
        offset = line_offset(x[i], y[i], px, py, qx, qy)
        rate = offset_rate(speed[i], yaw[i], course)
        wanted_yaw[i] = line_yaw(
            offset, rate, course, speed[i], law.k_y, law.most, law.radius, law.horizon
        )
