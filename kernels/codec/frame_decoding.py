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


@kernel(forceinline=True)
def take_run(words: NDArray[np.uint32], bit: int, width: int) -> tuple[int, int, int, int]:
    """Read a run of frames: the place behind it, frames left out before it, frames in it, whether there are
    more runs."""
    bit, gap = take(words, bit, width)
    bit, length = take(words, bit, width)
    bit, goes_on = take(words, bit, 1)
    return bit, gap, length, goes_on


@kernel(forceinline=True)
def take_presence(
    words: NDArray[np.uint32], bit: int, end: int, frames: int
) -> tuple[int, int, int, int, int]:
    """Read what `put_presence` wrote: the place behind it, or DAMAGED; the place of the second run of frames;
    the first frame, frames in its run, whether there are more runs."""
    width = bit_length(frames)
    bit, whole = take(words, bit, 1)
    t, left, goes_on = 0, int(frames), 0
    if whole == 0:
        bit, t, left, goes_on = take_run(words, bit, width)
    later, goes_further = bit, goes_on
    if left < 1 or t + left > frames:
        return DAMAGED, later, t, left, goes_on
    while goes_further != 0:  # the other runs stand before the first row
        bit += 2 * width
        if bit >= end:
            return DAMAGED, later, t, left, goes_on
        bit, goes_further = take(words, bit, 1)
    return bit, later, t, left, goes_on


@kernel(forceinline=True)
def take_first(
    words: NDArray[np.uint32], bit: int, lane_bits: int, id_bits: int
) -> tuple[int, int, int, int, int, int, int, int]:
    """Read what `put_first` wrote: the place behind it, lane, place (mm), speed, acceleration, lateral,
    blocker, codes."""
    bit, lane = take(words, bit, lane_bits)
    bit, s = take_number(words, bit)
    bit, speed = take_number(words, bit)
    bit, accel = take_number(words, bit)
    bit, lateral = take_number(words, bit)
    bit, blocker = take(words, bit, id_bits)
    bit, codes = take(words, bit, 24)
    return (
        bit, lane, unfolded(s) * POSITION_STEP, unfolded(speed), unfolded(accel), unfolded(lateral),
        blocker - 1, codes,
    )  # fmt: skip


@kernel(forceinline=True)
def take_residuals(
    words: NDArray[np.uint32], bit: int, k0: int, k1: int, k2: int
) -> tuple[int, int, int, int, int]:
    """Read a row of the main stream: the place behind it, whether the side stream tells of changes, and what
    is to be added to the foretold speed, place and acceleration."""
    bit, other = take(words, bit, 1)
    if other == 0:
        return bit, 0, 0, 0, 0
    bit, change = take(words, bit, 1)
    bit, u = take_rice(words, bit, k0)
    bit, v = take_rice(words, bit, k1)
    bit, w = take_rice(words, bit, k2)
    return bit, change, unfolded(u), unfolded(v), unfolded(w)


@kernel(forceinline=True)
def take_changes(
    words: NDArray[np.uint32], side: int, ways: NDArray[np.int32], lane_bits: int, id_bits: int,
    lane: int, s: int, lateral: int, blocker: int, blocker_before: int, codes: int,
    reason_before: int,
) -> tuple[int, int, int, int, int, int, int, int]:  # fmt: skip
    """Read what `put_changes` wrote: the place behind it, and all that a row may change, after it; a lane
    below 0 is damage."""
    side, what = take(words, side, CHANGES)
    if what & CHANGED_LANE:
        side, lane, passed = take_lane(words, side, ways, lane, lane_bits)
        if lane < 0:
            return side, lane, s, lateral, blocker, blocker_before, codes, reason_before
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
    return side, lane, s, lateral, blocker, blocker_before, codes, reason_before


@kernel(forceinline=True)
def write_row(
    rows: NDArray[np.int32], exact: NDArray[np.int32], is_exact: bool, values: NDArray[np.int64],
    at: int, vehicle: int, lane: int, s: int, speed: int, accel: int, lateral: int, blocker: int,
    codes: int,
) -> None:  # fmt: skip
    """Write a row that was read; values: its exact words, if it has any."""
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


@kernel(forceinline=True)
def decode_vehicle(
    words: NDArray[np.uint32], bit: int, end: int, side: int, side_end: int, k0: int, k1: int, k2: int,
    vehicle: int, most: int, frames: int, is_exact: bool, factors: NDArray[np.int64],
    ways: NDArray[np.int32], lane_bits: int, id_bits: int, only_frame: int, wanted: bool,
    values: NDArray[np.int64], place: NDArray[np.int64], limit: NDArray[np.int64],
    rows: NDArray[np.int32], exact: NDArray[np.int32],
) -> tuple[int, int, int]:  # fmt: skip
    """Read the rows of a vehicle, `most` at most: the places behind them in both streams, and how many;
    or DAMAGED for that. wanted: they are to be written. values: scratch, (EXACT,)."""
    side, later, t, left, goes_on = take_presence(words, side, side_end, frames)
    if side < 0:
        return bit, side, DAMAGED
    side, lane, s, speed, accel, lateral, blocker, codes = take_first(
        words, side, lane_bits, id_bits
    )
    if is_exact:
        values[:] = 0
        side = take_exact(words, side, values)
    if lane >= ways.shape[0] or vehicle > 0x7FFFFFFF:
        return bit, side, DAMAGED
    trend, blocker_before, reason_before, seen = 0, -1, 0, 0
    while True:
        if seen > 0:
            if bit >= end or side > side_end:
                return bit, side, DAMAGED
            bit, change, faster, further, rest = take_residuals(words, bit, k0, k1, k2)
            speed2 = speed + (trend >> 1) + faster
            s += advance(speed + speed2, factors[t, 0])
            trend, speed = speed2 - speed, speed2
            accel = steepness(trend, factors[t, 1]) + rest
            if change:
                side, lane, s, lateral, blocker, blocker_before, codes, reason_before = take_changes(
                    words, side, ways, lane_bits, id_bits, lane, s, lateral, blocker,
                    blocker_before, codes, reason_before,
                )  # fmt: skip
                if lane < 0:
                    return bit, side, DAMAGED
            if is_exact:
                side = take_exact(words, side, values)
            s += further * POSITION_STEP
        seen += 1
        if seen > most or max(abs(s), abs(speed), abs(accel), abs(lateral)) >= MOST_S:
            return bit, side, DAMAGED
        if wanted and (only_frame < 0 or only_frame <= t <= only_frame + 1):
            if place[t] >= limit[t]:
                return bit, side, DAMAGED
            write_row(
                rows, exact, is_exact, values, place[t], vehicle, lane, s, speed, accel, lateral,
                blocker, codes,
            )  # fmt: skip
            place[t] += 1
        t, left = t + 1, left - 1
        if left == 0:
            if goes_on == 0:
                return bit, side, seen
            later, gap, left, goes_on = take_run(words, later, bit_length(frames))
            t += gap
            if left < 1 or t + left > frames:
                return bit, side, DAMAGED


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
        wanted = only_vehicle < 0 or vehicle == only_vehicle
        bit, side, read = decode_vehicle(
            words, bit, end, side, side_end, k0, k1, k2, vehicle, n_rows - seen, frames, is_exact,
            factors, ways, lane_bits, id_bits, only_frame, wanted, values, place, limit, rows,
            exact,
        )  # fmt: skip
        if read < 0:
            return DAMAGED
        seen += read
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
