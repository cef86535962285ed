"""On which lane a vehicle is next, in few bits: mostly on one that its lane leads to.

From its lane, or, on a connector, from the road lane that this leads to (the *base*), a vehicle may
have entered a connector, or one more road lane and a connector beyond; or it has changed lane.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.bits import take
from rushhour.kernels.compiling.jit import kernel

ON: Final = 0  # on the base, or on a connector out of it
BEYOND: Final = 1  # on the road lane that a connector out of the base leads to, or a connector out
BESIDE: Final = 2  # on a lane with a number near its own
ANYWHERE: Final = 3
CHOICES: Final = 8  # connectors out of a lane that can be told by their place
NEAR: Final = 4  # lanes to either side

# Columns of `ways`, a row for each lane.
BASE: Final = 0  # the road lane that a connector leads to; a road lane itself
PASSED: Final = 1  # mm of a connector; 0
LENGTH: Final = 2  # mm of the base
FIRST: Final = 3  # lane of the first connector out of the base
LAST: Final = 4  # behind the last one
WAY: Final = 8  # columns, so that a row lies in one line of the cache


@kernel
def lane_code(ways: NDArray[np.int32], lane: int, new: int) -> tuple[int, int, int]:
    """How the way from a lane to another one is told: code, its bits, mm passed.

    The code of ANYWHERE is the number of the lane, to be written apart; its mm passed are -1.
    """
    base, passed = int(ways[lane, BASE]), int(ways[lane, PASSED])
    if new == base:
        return ON, 3, passed
    passed += int(ways[lane, LENGTH])
    first, last = int(ways[lane, FIRST]), int(ways[lane, LAST])
    last = min(last, first + CHOICES)
    if first <= new < last:
        return ON | 4 | (new - first) << 3, 6, passed
    for k in range(first, last):
        if ways[k, BASE] == new:
            return BEYOND | (k - first) << 2, 6, passed + int(ways[k, PASSED])
        inner = new - int(ways[k, FIRST])
        if 0 <= inner < min(ways[k, LAST] - ways[k, FIRST], CHOICES):
            code = BEYOND | (k - first) << 2 | 1 << 5 | inner << 6
            return code, 9, passed + int(ways[k, PASSED]) + int(ways[k, LENGTH])
    if abs(new - lane) <= NEAR:
        return BESIDE | (new - lane + NEAR - (1 if new > lane else 0)) << 2, 5, 0
    return new, 0, -1


@kernel
def take_lane(
    words: NDArray[np.uint32], bit: int, ways: NDArray[np.int32], lane: int, lane_bits: int
) -> tuple[int, int, int]:
    """Read the way from a lane on: the place behind it, the lane, mm passed.

    The lane is -1 if there is no such way.
    """
    bit, kind = take(words, bit, 2)
    if kind == ANYWHERE:
        bit, new = take(words, bit, lane_bits)
        return bit, new if new < ways.shape[0] else -1, -1
    if kind == BESIDE:
        bit, place = take(words, bit, 3)
        new = lane + place - NEAR + (1 if place >= NEAR else 0)
        return bit, new if 0 <= new < ways.shape[0] else -1, 0
    passed = int(ways[lane, PASSED])
    if kind == BEYOND:
        bit, place = take(words, bit, 3)
        passed += int(ways[lane, LENGTH])
        if place >= ways[lane, LAST] - ways[lane, FIRST]:
            return bit, -1, 0
        lane = int(ways[lane, FIRST]) + place
        passed += int(ways[lane, PASSED])
    bit, enters = take(words, bit, 1)
    if enters == 0:
        return bit, int(ways[lane, BASE]), passed
    bit, place = take(words, bit, 3)
    passed += int(ways[lane, LENGTH])
    if place >= ways[lane, LAST] - ways[lane, FIRST]:
        return bit, -1, 0
    return bit, int(ways[lane, FIRST]) + place, passed


@kernel
def place_between(
    ways: NDArray[np.int32], lane: int, s: float, new: int, new_s: float, share: float
) -> tuple[int, float]:
    """Lane and m along it of a vehicle on its way from one place to another.

    share: of the way that lies behind it, 0 .. 1. Where it changes lane it stays on the first one,
    as it does if no way is known (its s, too).
    """
    if lane == new:
        return lane, s + share * (new_s - s)
    code, _, passed = lane_code(ways, lane, new)
    if passed < 0:
        return lane, s
    kind = code & 3
    if kind == BESIDE:
        return lane, s + share * (new_s - s)
    left = s + share * (0.001 * passed + new_s - s)
    base = int(ways[lane, BASE])
    if lane != base:
        if left < 0.001 * ways[lane, PASSED]:
            return lane, left
        left -= 0.001 * ways[lane, PASSED]
    if base == new or left < 0.001 * ways[lane, LENGTH]:
        return base, left
    left -= 0.001 * ways[lane, LENGTH]
    if kind == ON:
        return new, left
    k = int(ways[lane, FIRST]) + ((code >> 2) & (CHOICES - 1))
    if left < 0.001 * ways[k, PASSED]:
        return k, left
    left -= 0.001 * ways[k, PASSED]
    to = int(ways[k, BASE])
    if to == new or left < 0.001 * ways[k, LENGTH]:
        return to, left
    return new, left - 0.001 * ways[k, LENGTH]


@kernel(nogil=True)
def go_between(
    ways: NDArray[np.int32], lane: NDArray[np.int32], s: NDArray[np.float64],
    new: NDArray[np.int32], new_s: NDArray[np.float64], share: float,
) -> None:  # fmt: skip
    """Move each vehicle from its place a share of the way to a later one; see `place_between`."""
    for i in range(lane.shape[0]):
        lane[i], s[i] = place_between(ways, int(lane[i]), s[i], int(new[i]), new_s[i], share)


@kernel(nogil=True)
def note_lane_changes(
    ways: NDArray[np.int32], lane: NDArray[np.int32], new: NDArray[np.int32],
    changes: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Note who goes to a lane beside its own, or beside one that this leads to."""
    for i in range(lane.shape[0]):
        changes[i] = False
        if lane[i] != new[i]:
            code, _, passed = lane_code(ways, int(lane[i]), int(new[i]))
            if passed < 0:  # entered a lane since, and changed from that
                changes[i] = ends_beside(ways, int(lane[i]), int(new[i]))
            else:
                changes[i] = passed == 0 and code & 3 == BESIDE


@kernel
def ends_beside(ways: NDArray[np.int32], lane: int, new: int) -> bool:
    """Whether a lane is beside the base, or beside a road lane that this leads to."""
    if abs(new - ways[lane, BASE]) <= NEAR:
        return True
    for k in range(ways[lane, FIRST], min(ways[lane, LAST], ways[lane, FIRST] + CHOICES)):
        if abs(new - ways[k, BASE]) <= NEAR:
            return True
    return False
