"""On which lane a vehicle is next, in few bits: mostly on one that its lane leads to.

From its lane, or, on a connector, from the road lane that this leads to (the *base*), a vehicle may
have entered a connector, or one more road lane and a connector beyond; or it has changed lane.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.bits import put, take
from rushhour.kernels.jit import kernel

ON: Final = 0  # on the base, or on a connector out of it
BEYOND: Final = 1  # on the road lane that a connector out of the base leads to, or a connector out
BESIDE: Final = 2  # on a lane with a number near its own
ANYWHERE: Final = 3
CHOICES: Final = 8  # connectors out of a lane that can be told by their place
NEAR: Final = 4  # lanes to either side


class Ways(NamedTuple):
    """What the coding of lanes needs of a network."""

    out_start: NDArray[np.int32]  # (n_road_lanes+1,) connectors out of a road lane
    to_lane: NDArray[np.int32]  # (n_connectors,) road lane
    length: NDArray[np.int64]  # (n_lanes,) mm


@kernel
def lane_code(
    out_start: NDArray[np.int32], to_lane: NDArray[np.int32], length: NDArray[np.int64],
    lane: int, new: int,
) -> tuple[int, int, int]:  # fmt: skip
    """How the way from a lane to another one is told: code, its bits, mm passed.

    The code of ANYWHERE is the number of the lane, to be written apart; its mm passed are -1.
    """
    n_road = out_start.shape[0] - 1
    base, passed = int(lane), 0
    if lane >= n_road:
        base, passed = int(to_lane[lane - n_road]), length[lane]
        if new == base:
            return ON, 3, passed
    first, last = out_start[base], out_start[base + 1]
    passed += length[base]
    if new >= n_road and first <= new - n_road < min(last, first + CHOICES):
        return ON | 4 | (new - n_road - first) << 3, 6, passed
    for k in range(first, min(last, first + CHOICES)):
        to = to_lane[k]
        if to == new:
            return BEYOND | (k - first) << 2, 6, passed + length[n_road + k]
        inner = new - n_road - out_start[to]
        if 0 <= inner < min(out_start[to + 1] - out_start[to], CHOICES):
            code = BEYOND | (k - first) << 2 | 1 << 5 | inner << 6
            return code, 9, passed + length[n_road + k] + length[to]
    if 0 < abs(new - lane) <= NEAR:
        return BESIDE | (new - lane + NEAR - (1 if new > lane else 0)) << 2, 5, 0
    return int(new), 0, -1


@kernel
def put_lane(
    out: NDArray[np.uint32], at: int, acc: int, n: int, code: int, width: int, lane_bits: int
) -> tuple[int, int, int]:
    """Write what `lane_code` gave."""
    if width > 0:
        return put(out, at, acc, n, code, width)
    at, acc, n = put(out, at, acc, n, ANYWHERE, 2)
    return put(out, at, acc, n, code, lane_bits)


@kernel
def take_lane(
    words: NDArray[np.uint32], bit: int, out_start: NDArray[np.int32],
    to_lane: NDArray[np.int32], length: NDArray[np.int64], lane: int, lane_bits: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Read the way from a lane on: the place behind it, the lane, mm passed.

    The lane is -1 if there is no such way.
    """
    n_road = out_start.shape[0] - 1
    bit, kind = take(words, bit, 2)
    if kind == ANYWHERE:
        bit, new = take(words, bit, lane_bits)
        return bit, new if new < length.shape[0] else -1, -1
    if kind == BESIDE:
        bit, place = take(words, bit, 3)
        new = lane + place - NEAR + (1 if place >= NEAR else 0)
        return bit, new if 0 <= new < length.shape[0] else -1, 0
    base, passed = int(lane), 0
    if lane >= n_road:
        base, passed = int(to_lane[lane - n_road]), length[lane]
    if kind == BEYOND:
        bit, place = take(words, bit, 3)
        k = out_start[base] + place
        if k >= out_start[base + 1]:
            return bit, -1, 0
        passed += length[base] + length[n_road + k]
        base = int(to_lane[k])
    bit, enters = take(words, bit, 1)
    if enters == 0:
        return bit, base, passed
    bit, place = take(words, bit, 3)
    k = out_start[base] + place
    if k >= out_start[base + 1]:
        return bit, -1, 0
    return bit, n_road + k, passed + length[base]
