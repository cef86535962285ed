"""Racing lines: the way of least curvature between two edges, and the speeds that a car can hold.

A *section* is the straight line across a track from its right to its left edge; a line is given by
the *share* of each section that lies to its right, 0 .. 1, shape (n,). Tracks are closed: behind
the last section comes the first. Sources: Heilmeier et al. 2019, "Minimum curvature trajectory
planning and control for an autonomous racecar" (what is minimised, and the profile of speeds);
minimised here by relaxation within bounds instead of a quadratic program.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

OVER: Final = 1.5  # of a full step to the least, taken in each relaxation
NEAREST: Final = 0.25  # of the middle's step, to which that of the line may shrink in the sums


@kernel
def relax_line(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    shortness: float,
    sweeps: int,
    share: NDArray[np.float64],
) -> None:
    """Move a line towards the least of its squared curvature, integrated over its length.

    left, right: (n, 2) m, ends of the sections; low, high: bounds of the share; shortness: 1/m^2,
    weight of the length beside it; sweeps: over all sections. Writes share.
    """
    n = share.shape[0]
    for _ in range(sweeps):
        for i in range(n):
            dx, dy = left[i, 0] - right[i, 0], left[i, 1] - right[i, 1]
            first, second = 0.0, 0.0  # derivatives by the share, halved
            for k in range(-1, 2):  # bends at the point before, at it, and behind it
                a, b, c = (i + k - 1 + n) % n, (i + k + n) % n, (i + k + 1) % n
                ax, ay = point_of(left, right, share, a)
                bx, by = point_of(left, right, share, b)
                cx, cy = point_of(left, right, share, c)
                before = max(distance(ax, ay, bx, by), NEAREST * step_of(left, right, a))
                behind = max(distance(bx, by, cx, cy), NEAREST * step_of(left, right, b))
                weight = 2.0 / (before + behind)
                ux, uy = (
                    (cx - bx) / behind - (bx - ax) / before,
                    (cy - by) / behind - (by - ay) / before,
                )
                by_i = -1.0 / behind - 1.0 / before
                if k == -1:
                    by_i = 1.0 / behind
                elif k == 1:
                    by_i = 1.0 / before
                first += weight * by_i * (ux * dx + uy * dy)
                second += weight * by_i * by_i
                if k == 0:
                    first -= shortness * (ux * dx + uy * dy)
                    second += shortness * (1.0 / before + 1.0 / behind)
            second *= dx * dx + dy * dy
            if second > 0.0:
                share[i] = min(high[i], max(low[i], share[i] - OVER * first / second))


@kernel(forceinline=True)
def point_of(
    left: NDArray[np.float64], right: NDArray[np.float64], share: NDArray[np.float64], i: int
) -> tuple[float, float]:
    """Point of a line on section i, m."""
    return (
        right[i, 0] + share[i] * (left[i, 0] - right[i, 0]),
        right[i, 1] + share[i] * (left[i, 1] - right[i, 1]),
    )


@kernel(forceinline=True)
def step_of(left: NDArray[np.float64], right: NDArray[np.float64], i: int) -> float:
    """Distance of the middles of section i and the next one, m."""
    j = i + 1
    if j == left.shape[0]:
        j = 0
    return 0.5 * distance(
        left[i, 0] + right[i, 0],
        left[i, 1] + right[i, 1],
        left[j, 0] + right[j, 0],
        left[j, 1] + right[j, 1],
    )


@kernel(forceinline=True)
def distance(ax: float, ay: float, bx: float, by: float) -> float:
    """Of two points; math.hypot is not the same bits compiled and as plain Python."""
    return math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))


@kernel
def grip_at(speed: float, grip: float, lift: float) -> float:
    """What the tyres hold, m/s^2: grip on the road, more by the downforce of speed (lift, 1/m)."""
    return grip + lift * speed * speed


@kernel
def spare_grip(speed: float, curvature: float, grip: float, lift: float) -> float:
    """What a bend leaves of the grip for drive and brakes, m/s^2, by the friction circle."""
    most, across = grip_at(speed, grip, lift), speed * speed * abs(curvature)
    return math.sqrt(max(0.0, most * most - across * across))


@kernel
def gripped_speed(curvature: float, grip: float, lift: float, fastest: float) -> float:
    """Most speed, m/s, in a bend (1/m) by grip (m/s^2) and downforce (lift, 1/m)."""
    spare = abs(curvature) - lift
    if spare * fastest * fastest <= grip:
        return fastest
    return math.sqrt(grip / spare)


@kernel
def braked_from(
    after: float, step: float, curvature: float, grip: float, lift: float, brake: float, drag: float
) -> float:
    """Most speed, m/s, from which a car brakes to that after a step (m); see hold_speeds."""
    held = min(brake, spare_grip(after, curvature, grip, lift))
    return math.sqrt(after * after + 2.0 * step * (held + drag * after * after))


@kernel
def reached_from(
    before: float, step: float, curvature: float, grip: float, lift: float, accel: float,
    power: float, drag: float,
) -> float:  # fmt: skip
    """Speed, m/s, that a car reaches over a step (m) from that before it; see hold_speeds."""
    pulled = min(accel, power / max(1.0, before))
    pulled = min(pulled, spare_grip(before, curvature, grip, lift))
    pulled -= drag * before * before
    return math.sqrt(max(1.0, before * before + 2.0 * step * pulled))


@kernel
def hold_speeds(
    curvature: NDArray[np.float64],
    step: NDArray[np.float64],
    grip: NDArray[np.float64],
    lift: float,
    accel: float,
    brake: float,
    power: float,
    drag: float,
    fastest: float,
    speed: NDArray[np.float64],
) -> None:
    """Find the highest speeds around a closed line that a car can hold.

    curvature: (n,) 1/m; step: (n,) m to the next point; grip: (n,) m/s^2; lift, drag: 1/m, of the
    square of speed; accel, brake: m/s^2 at most; power: W/kg; fastest: m/s. Writes speed, m/s. A
    lap is gone round twice in either direction, as the first bend brakes the last straight.
    """
    n = speed.shape[0]
    for i in range(n):
        speed[i] = gripped_speed(curvature[i], grip[i], lift, fastest)
    for k in range(2 * n):  # brakes
        i = (2 * n - 1 - k) % n
        j = (i + 1) % n
        braked = braked_from(speed[j], step[i], curvature[i], grip[i], lift, brake, drag)
        speed[i] = min(speed[i], braked)
    for k in range(2 * n):  # gas
        i = k % n
        j = (i + 1) % n
        reached = reached_from(speed[i], step[i], curvature[i], grip[i], lift, accel, power, drag)
        speed[j] = min(speed[j], reached)
