"""What happens between bodies and others: collisions, near misses, and who is honked at.

A collision begins when two touch that did not for half a second. A near miss is a meeting without a
touch: somebody came within half a metre at 5 m/s or more against it, and is farther again.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.drawing.poses import Poses
from rushhour.kernels.opponents.boxes import Boxes, reach_along

HORN: Final = 0
NEAR_MISS: Final = 1
COLLISION: Final = 2

NOBODY: Final = -(2**31)  # as other; vehicles are their ids, body k is -1 - k
MEETS: Final = 1.0  # m of gap within which two meet
MISS: Final = 0.5  # m, the gap of a near miss at most
FAST: Final = 5.0  # m/s of one against the other, at least
APART: Final = 15  # steps without a touch, after which another is a new collision
ROWS: Final = 4  # events of a body in a step at most


class Notes(NamedTuple):
    """Of each body, shape (n,) unless said."""

    other: NDArray[np.int64]  # whom it meets
    least: NDArray[np.float64]  # m of gap so far
    fast: NDArray[np.float64]  # m/s, the fastest against it so far
    touched: NDArray[np.bool_]  # in that meeting
    since: NDArray[np.int32]  # steps for which a touch yet counts
    velocity: NDArray[np.float64]  # (n, 2) m/s, as the step moved it
    event: NDArray[np.float64]  # (m, 4) kind, body, other, m/s
    written: NDArray[np.int32]  # (1,) events of the frame


@kernel
def gap_between(boxes: Boxes, i: int, k: int) -> float:
    """Gap between two boxes, m, along the axis that parts them best; 0 or less: they touch."""
    dx, dy = boxes.x[i] - boxes.x[k], boxes.y[i] - boxes.y[k]
    best = -math.inf
    for side in range(4):
        angle = boxes.heading[i if side < 2 else k] + (0.5 * math.pi if side % 2 else 0.0)
        ax, ay = math.cos(angle), math.sin(angle)
        apart = abs(dx * ax + dy * ay)
        best = max(best, apart - reach_along(boxes, i, ax, ay) - reach_along(boxes, k, ax, ay))
    return best


@kernel
def add_event(notes: Notes, kind: int, i: int, other: int, speed: float) -> None:
    """Write one more event of the frame; there is room for all that can happen in one."""
    k = notes.written[0]
    notes.event[k, 0], notes.event[k, 1] = kind, i
    notes.event[k, 2], notes.event[k, 3] = other, speed
    notes.written[0] = k + 1


@kernel
def keep_velocities(notes: Notes, boxes: Boxes) -> None:
    """Keep the velocities of the bodies before touches change them."""
    for i in range(notes.other.shape[0]):
        notes.velocity[i, 0], notes.velocity[i, 1] = boxes.vx[i], boxes.vy[i]


@kernel
def who(boxes: Boxes, now: Poses, n: int, k: int) -> int:
    """The number of box k as `other`."""
    return int(now.id[boxes.row[k]]) if k >= n else -1 - k


@kernel
def against(notes: Notes, boxes: Boxes, n: int, i: int, k: int) -> float:
    """Speed of body i against box k before they touched, m/s."""
    vx, vy = boxes.vx[k], boxes.vy[k]
    if k < n:
        vx, vy = notes.velocity[k, 0], notes.velocity[k, 1]
    return math.hypot(notes.velocity[i, 0] - vx, notes.velocity[i, 1] - vy)


@kernel
def note_meetings(
    notes: Notes, boxes: Boxes, now: Poses, count: int, hit: NDArray[np.int32]
) -> None:
    """Note collisions that begin and near misses that end in this step; hit: as `part_bodies` says."""
    n = notes.other.shape[0]
    for i in range(n):
        k = hit[i]
        if k >= 0:
            # of two bodies that touch each other the first one tells it
            if notes.since[i] == 0 and (k >= n or i < k or hit[k] != i):
                add_event(
                    notes, COLLISION, i, who(boxes, now, n, k), against(notes, boxes, n, i, k)
                )
            notes.since[i] = APART
        elif notes.since[i] > 0:
            notes.since[i] -= 1
        found, least = -1, MEETS
        for k in range(count):
            if k == i or (k < n and k < i):
                continue
            far = boxes.half_length[i] + boxes.half_length[k] + 2.0
            if abs(boxes.x[i] - boxes.x[k]) > far or abs(boxes.y[i] - boxes.y[k]) > far:
                continue
            gap = gap_between(boxes, i, k)
            if gap < least:
                found, least = k, gap
        met = NOBODY if found < 0 else who(boxes, now, n, found)
        if met != notes.other[i]:
            missed = notes.other[i] != NOBODY and not notes.touched[i]
            if missed and notes.least[i] < MISS and notes.fast[i] >= FAST:
                add_event(notes, NEAR_MISS, i, notes.other[i], notes.fast[i])
            notes.other[i], notes.least[i], notes.fast[i] = met, math.inf, 0.0
            notes.touched[i] = False
        if found >= 0:
            notes.least[i] = min(notes.least[i], least)
            notes.fast[i] = max(notes.fast[i], against(notes, boxes, n, i, found))
            if hit[i] >= 0 or least <= 0.0 or (found < n and hit[found] >= 0):
                notes.touched[i] = True
