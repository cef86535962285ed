"""The line of least time: a racing line is bent a little, here and there, wherever a lap gets shorter.

A *bump* is a raised cosine over some sections, by which the share of each moves. Only the part of
the lap around it is driven again: at its ends the speeds stay what they were. Sections and shares
are those of `racing_lines`. Source: coordinate search; the model of speeds is that of
Heilmeier et al. 2019, as in `hold_speeds`.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.racing.racing_lines import (
    braked_from,
    distance,
    gripped_speed,
    point_of,
    reached_from,
)

GAIN: Final = 1e-6  # s that a bump must save


@kernel
def bend_at(
    left: NDArray[np.float64], right: NDArray[np.float64], share: NDArray[np.float64], i: int
) -> float:
    """Bend, 1/m, left positive, of the circle through the points of a line at and around i."""
    n = share.shape[0]
    ax, ay = point_of(left, right, share, (i - 1 + n) % n)
    bx, by = point_of(left, right, share, i)
    cx, cy = point_of(left, right, share, (i + 1) % n)
    twice = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    size = distance(ax, ay, bx, by) * distance(bx, by, cx, cy) * distance(ax, ay, cx, cy)
    return 2.0 * twice / size if size > 1e-12 else 0.0


@kernel
def drive_part(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    share: NDArray[np.float64],
    grip: NDArray[np.float64],
    car: NDArray[np.float64],
    speed: NDArray[np.float64],
    begin: int,
    count: int,
    bend: NDArray[np.float64],
    step: NDArray[np.float64],
    part: NDArray[np.float64],
) -> float:
    """Time, s, over `count` sections from `begin` on, with the speeds at both ends as they were.

    grip: (n,) m/s^2; car: lift, accel, brake, power, drag, fastest; speed: (n,) m/s of the lap.
    bend, step, part: (count + 1,) to work in; part gets the speeds, m/s.
    """
    n = share.shape[0]
    lift, accel, brake, power, drag, fastest = car[0], car[1], car[2], car[3], car[4], car[5]
    before = bend_at(left, right, share, (begin - 1 + n) % n)
    here = bend_at(left, right, share, begin)
    for k in range(count + 1):
        i = (begin + k) % n
        then = bend_at(left, right, share, (i + 1) % n)
        bend[k] = 0.25 * before + 0.5 * here + 0.25 * then
        before, here = here, then
        ax, ay = point_of(left, right, share, i)
        bx, by = point_of(left, right, share, (i + 1) % n)
        step[k] = distance(ax, ay, bx, by)
        part[k] = gripped_speed(bend[k], grip[i], lift, fastest)
    part[0] = min(part[0], speed[begin])
    part[count] = min(part[count], speed[(begin + count) % n])
    for k in range(count - 1, -1, -1):
        g = grip[(begin + k) % n]
        part[k] = min(part[k], braked_from(part[k + 1], step[k], bend[k], g, lift, brake, drag))
    took = 0.0
    for k in range(count):
        g = grip[(begin + k) % n]
        reached = reached_from(part[k], step[k], bend[k], g, lift, accel, power, drag)
        part[k + 1] = min(part[k + 1], reached)
        took += 2.0 * step[k] / max(1e-9, part[k] + part[k + 1])
    if part[0] < speed[begin] - 1e-9 or part[count] < speed[(begin + count) % n] - 1e-9:
        return math.inf  # it would cost time beyond the part
    return took


@kernel
def shorten_lap(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    grip: NDArray[np.float64],
    car: NDArray[np.float64],
    reach: int,
    around: int,
    by: float,
    speed: NDArray[np.float64],
    share: NDArray[np.float64],
    kept: NDArray[np.float64],
    work: NDArray[np.float64],
) -> int:
    """Go round once and keep every bump that makes the lap shorter; how many.

    low, high: (n,) bounds of the share; reach: sections to each side of a bump; around: more that
    are driven again; by: m; car, grip: of drive_part; kept: (n,) and work: (3, n + 1) to work in.
    Writes share, and speed where bumps are kept.
    """
    n = share.shape[0]
    count = min(n - 1, 2 * (reach + around))
    found = 0
    for centre in range(0, n, max(1, reach // 2)):
        begin = (centre - count // 2 + n) % n
        was = drive_part(
            left, right, share, grip, car, speed, begin, count, work[0], work[1], work[2]
        )
        for way in range(2):
            for k in range(-reach, reach + 1):
                i = (centre + k + n) % n
                kept[i] = share[i]
                wide = distance(left[i, 0], left[i, 1], right[i, 0], right[i, 1])
                bump = 0.5 * (1.0 + math.cos(math.pi * k / (reach + 1))) * by / max(wide, 1e-9)
                share[i] = min(high[i], max(low[i], share[i] + (bump if way == 0 else -bump)))
            took = drive_part(
                left, right, share, grip, car, speed, begin, count, work[0], work[1], work[2]
            )
            if took < was - GAIN:
                for k in range(count + 1):
                    speed[(begin + k) % n] = work[2, k]
                found += 1
                break
            for k in range(-reach, reach + 1):
                i = (centre + k + n) % n
                share[i] = kept[i]
    return found
