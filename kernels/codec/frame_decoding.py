"""Recorded frames read back from their streams of bits; the reverse of `frame_encoding`.

Nothing in a stream is believed: what is not as it can have been written is told by a number below
zero, and no array is ever read or written beyond its ends.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.bits import (
    LARGEST_K,
    bit_length,
    take,
    take_number,
    take_rice,
    unfolded,
)
from rushhour.kernels.codec.frame_encoding import (
    CHANGED_BLOCKER,
    CHANGED_LANE,
    CHANGED_LATERAL,
    CHANGED_REASON,
    CHANGED_SIGNALS,
    CHANGES,
    HEADER,
    SIGNALS,
    advance,
    steepness,
)
from rushhour.kernels.codec.frame_rows import (
    ACCEL,
    BLOCKER,
    CODES,
    EXACT,
    ID,
    LANE,
    LATERAL,
    POSITION_STEP,
    SPEED,
    S,
)
from rushhour.kernels.codec.next_lanes import take_lane
from rushhour.kernels.compiling.jit import kernel

EVERYBODY: Final = -1
ALWAYS: Final = -1
DAMAGED: Final = -1
BEYOND: Final = 32  # words that may be read behind the streams of a block; zeros
MOST_S: Final = 1 << 31  # mm


@kernel
def take_exact(words: NDArray[np.uint32], bit: int, values: NDArray[np.int64]) -> int:
    """Read what `put_exact` wrote, into the words of the row before; the place behind it."""
    for word in range(EXACT):
        bit, width = take(words, bit, 6)
        bit, low = take(words, bit, min(width, 16))
        bit, high = take(words, bit, min(max(0, width - 16), 16))
        values[word] ^= low | high << 16
    return bit


@kernel
def decode_group(
    words: NDArray[np.uint32], first: int, count: int, n_rows: int, frames: int, is_exact: bool,
    factors: NDArray[np.int64], ways: NDArray[np.int32], lane_bits: int, id_bits: int, only_frame: int, only_vehicle: int,
    place: NDArray[np.int64], limit: NDArray[np.int64],
    rows: NDArray[np.int32], exact: NDArray[np.int32],
) -> int:  # fmt: skip
    """Read a group of words; see `decode_rows`. Gives the rows that were read, or DAMAGED."""
    k0 = int(words[first]) & 0xFF
    k1 = (int(words[first]) >> 8) & 0xFF
    k2 = (int(words[first]) >> 16) & 0xFF
    middle = first + HEADER + int(words[first + 1])
    if max(k0, k1, k2) > LARGEST_K or middle > first + count:
        return DAMAGED
    bit, end = (first + HEADER) * 32, middle * 32
    side, side_end = middle * 32, (first + count) * 32
    width = bit_length(frames)
    values = np.zeros(EXACT, np.int64)
    vehicle = -1
    seen = 0
    while seen < n_rows:
        if side >= side_end:
            return DAMAGED
        side, more = take_number(words, side)
        vehicle += more + 1
        if 0 <= only_vehicle < vehicle:
            return seen
        side, whole = take(words, side, 1)
        t, left, goes_on = 0, int(frames), 0
        if whole == 0:
            side, t = take(words, side, width)
            side, left = take(words, side, width)
            side, goes_on = take(words, side, 1)
        later = side  # where the next run of frames will be told, if there is one
        if left < 1 or t + left > frames:
            return DAMAGED
        runs_end = side
        if goes_on:  # the other runs stand before the first row
            while True:
                runs_end += 2 * width
                if runs_end >= side_end:
                    return DAMAGED
                runs_end, goes_further = take(words, runs_end, 1)
                if goes_further == 0:
                    break
            side = runs_end
        side, lane = take(words, side, lane_bits)
        side, u = take_number(words, side)
        s = unfolded(u) * POSITION_STEP
        side, u = take_number(words, side)
        speed, trend = unfolded(u), 0
        side, u = take_number(words, side)
        accel = unfolded(u)
        side, u = take_number(words, side)
        lateral = unfolded(u)
        side, u = take(words, side, id_bits)
        blocker = u - 1
        side, codes = take(words, side, 24)
        if is_exact:
            values[:] = 0
            side = take_exact(words, side, values)
        blocker_before, reason_before = -1, 0
        if lane >= ways.shape[0] or vehicle > 0x7FFFFFFF:
            return DAMAGED
        first_row = True
        while True:
            if not first_row:
                if bit >= end or side > side_end:
                    return DAMAGED
                bit, other = take(words, bit, 1)
                change, rv, rs, ra = 0, 0, 0, 0
                if other:
                    bit, change = take(words, bit, 1)
                    bit, u = take_rice(words, bit, k0)
                    rv = unfolded(u)
                    bit, u = take_rice(words, bit, k1)
                    rs = unfolded(u)
                    bit, u = take_rice(words, bit, k2)
                    ra = unfolded(u)
                speed2 = speed + (trend >> 1) + rv
                s += advance(speed + speed2, factors[t, 0])
                accel = steepness(speed2 - speed, factors[t, 1]) + ra
                trend, speed = speed2 - speed, speed2
                if change:
                    side, what = take(words, side, CHANGES)
                    if what & CHANGED_LANE:
                        side, lane, passed = take_lane(words, side, ways, lane, lane_bits)
                        if lane < 0:
                            return DAMAGED
                        s = s - passed if passed >= 0 else 0
                    if what & CHANGED_BLOCKER:
                        side, back = take(words, side, 1)
                        new = blocker_before
                        if back == 0:
                            side, u = take(words, side, id_bits)
                            new = u - 1
                        blocker, blocker_before = new, blocker
                    if what & CHANGED_REASON:
                        side, back = take(words, side, 1)
                        new = reason_before
                        if back == 0:
                            side, new = take(words, side, 8)
                        reason_before = codes & 0xFF
                        codes = (codes & ~0xFF) | new
                    if what & CHANGED_SIGNALS:
                        side, lights = take(words, side, SIGNALS)
                        side, tier = take(words, side, 1)
                        codes = (codes & ~0xFF00) | lights << 8
                        if tier:
                            side, u = take(words, side, 8)
                            codes = (codes & 0xFFFF) | u << 16
                    if what & CHANGED_LATERAL:
                        side, u = take_number(words, side)
                        lateral += unfolded(u)
                if is_exact:
                    side = take_exact(words, side, values)
                s += rs * POSITION_STEP
            first_row = False
            seen += 1
            if seen > n_rows or abs(s) >= MOST_S or abs(speed) >= MOST_S or abs(accel) >= MOST_S:
                return DAMAGED
            if abs(lateral) >= MOST_S:
                return DAMAGED
            if (only_frame < 0 or only_frame <= t <= only_frame + 1) and (
                only_vehicle < 0 or vehicle == only_vehicle
            ):
                at = place[t]
                if at >= limit[t]:
                    return DAMAGED
                place[t] = at + 1
                rows[at, ID] = vehicle
                rows[at, LANE] = lane
                rows[at, S] = s
                rows[at, SPEED] = speed
                rows[at, ACCEL] = accel
                rows[at, LATERAL] = lateral
                rows[at, BLOCKER] = blocker
                rows[at, CODES] = codes
                if is_exact:
                    for word in range(EXACT):
                        value = values[word]
                        exact[at, word] = value - (value >> 31 << 32)
            t, left = t + 1, left - 1
            if left == 0:
                if goes_on == 0:
                    break
                later, gap = take(words, later, width)
                later, left = take(words, later, width)
                later, goes_on = take(words, later, 1)
                t += gap
                if left < 1 or t + left > frames:
                    return DAMAGED
    return seen


@kernel(nogil=True)
def decode_rows(
    words: NDArray[np.uint32], groups: NDArray[np.int64], frames: int, is_exact: bool,
    factors: NDArray[np.int64], ways: NDArray[np.int32], lane_bits: int, id_bits: int, only_frame: int, only_vehicle: int,
    place: NDArray[np.int64], limit: NDArray[np.int64],
    rows: NDArray[np.int32], exact: NDArray[np.int32],
) -> int:  # fmt: skip
    """Decode groups of a block into rows as `frame_rows` describes them; DAMAGED if they are not so.

    words: with BEYOND zeros behind them. groups: first word, words, rows of each. only_frame: of the
    block, it and the one behind it, or ALWAYS. only_vehicle: or EVERYBODY. place: (frames,) row at which each frame's next
    vehicle goes, advanced; limit: the row behind its last.
    """
    total = 0
    for g in range(groups.shape[0]):
        seen = decode_group(
            words, groups[g, 0], groups[g, 1], groups[g, 2], frames, is_exact, factors, ways, lane_bits, id_bits, only_frame, only_vehicle, place, limit, rows, exact,
        )  # fmt: skip
        if seen < 0:
            return DAMAGED
        total += seen
    return total
