"""Recorded frames as streams of bits: what changed against a prediction, and little else.

A *group* is the rows of some neighbouring vehicles in all frames of a block (docs/file-format.md).
Its *main stream* holds of each row but a vehicle's first whether anything is otherwise than
predicted, and by how many steps speed, place and acceleration are. Its *side stream* holds first
rows, and what changes seldom. Predictions are made from what a reader knows by then, in whole
numbers, so that no error grows.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.bits import (
    MOST,
    bit_length,
    folded,
    put,
    put_number,
    put_rice,
    rice_code,
    rice_parameter,
)
from rushhour.kernels.codec.frame_rows import (
    ABSENT,
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
    copy_row,
)
from rushhour.kernels.codec.next_lanes import ANYWHERE, lane_code
from rushhour.kernels.compiling.jit import kernel

GROUP_ROWS: Final = 2048  # of a group, at least, but for the last of a block
AT_ONCE: Final = 64  # vehicles that are counted at once
HEADER: Final = 2  # words before the main stream: parameters of its codes, its length
WORDS: Final = 22  # that a row takes at most, both streams together, and then some
SPARE: Final = 16  # words behind a stream that may be touched
FRACTION: Final = 16  # bits of the fraction in factors of predictions
FARTHEST: Final = 1 << 30  # mm that a vehicle is predicted to go at most
STEEPEST: Final = 1 << 24  # steps of acceleration
LARGE: Final = 4096  # residual that counts no more than that in the choice of a code

# What of a row is otherwise than in the one before.
CHANGED_LANE: Final = 1
CHANGED_BLOCKER: Final = 2
CHANGED_REASON: Final = 4
CHANGED_SIGNALS: Final = 8
CHANGED_LATERAL: Final = 16
CHANGES: Final = 5  # bits
SIGNALS: Final = 3  # bits

FIRST: Final = -1  # row of a vehicle
OFFSET: Final = 1 << 32  # steps, more than a place is ever off
PREDICTED: Final = 0  # but for residuals
CHANGED: Final = 1
RESIDUALS: Final = 4  # columns: speed, s, accel, and one of the above


@kernel
def advance(speeds: int, factor: int) -> int:
    """Mm that a vehicle goes at the mean of two speeds, given their sum."""
    return min(max((speeds * factor) >> FRACTION, -FARTHEST), FARTHEST)


@kernel
def steepness(change: int, factor: int) -> int:
    """Acceleration in steps that changes the speed by so many steps between two frames."""
    return min(max((change * factor) >> FRACTION, -STEEPEST), STEEPEST)


@kernel
def nearest_step(off: int) -> int:
    """Mm in whole steps of the position, the nearest; without numbers of fractions, which take longer."""
    positive = np.uint64(off + POSITION_STEP * OFFSET + POSITION_STEP // 2)
    return int(positive // np.uint64(POSITION_STEP)) - OFFSET


@kernel
def put_presence(
    step: NDArray[np.int32], lo: int, hi: int, frames: int,
    out: NDArray[np.uint32], at: int, acc: int, n: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Write in which frames of the block a vehicle is: in all, or runs of them."""
    if hi - lo == frames:
        return put(out, at, acc, n, 1, 1)
    at, acc, n = put(out, at, acc, n, 0, 1)
    width = bit_length(frames)
    end, row = 0, lo
    while row < hi:
        last = row
        while last + 1 < hi and step[last + 1] == step[last] + 1:
            last += 1
        at, acc, n = put(out, at, acc, n, int(step[row]) - end, width)
        at, acc, n = put(out, at, acc, n, last + 1 - row, width)
        at, acc, n = put(out, at, acc, n, 1 if last + 1 < hi else 0, 1)
        end, row = int(step[last]) + 1, last + 1
    return at, acc, n


@kernel
def put_exact(
    exact: NDArray[np.int32], row: int, before: int,
    out: NDArray[np.uint32], at: int, acc: int, n: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Write the exact numbers of a row: each word's difference to that before, in few bits.

    before: another row, -1 none.
    """
    for word in range(EXACT):
        value = int(exact[row, word]) & 0xFFFFFFFF
        if before >= 0:
            value ^= int(exact[before, word]) & 0xFFFFFFFF
        width = bit_length(value)
        at, acc, n = put(out, at, acc, n, width, 6)
        at, acc, n = put(out, at, acc, n, value & 0xFFFF, min(width, 16))
        at, acc, n = put(out, at, acc, n, value >> 16, max(0, width - 16))
    return at, acc, n


@kernel
def put_first(
    rows: NDArray[np.int32], row: int, s: int, lane_bits: int, id_bits: int,
    out: NDArray[np.uint32], at: int, acc: int, n: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Write the first row of a vehicle; s: in steps of the position."""
    at, acc, n = put(out, at, acc, n, rows[row, LANE], lane_bits)
    at, acc, n = put_number(out, at, acc, n, folded(s))
    at, acc, n = put_number(out, at, acc, n, folded(int(rows[row, SPEED])))
    at, acc, n = put_number(out, at, acc, n, folded(int(rows[row, ACCEL])))
    at, acc, n = put_number(out, at, acc, n, folded(int(rows[row, LATERAL])))
    at, acc, n = put(out, at, acc, n, int(rows[row, BLOCKER]) + 1, id_bits)
    return put(out, at, acc, n, rows[row, CODES], 24)


@kernel(forceinline=True)
def put_vehicle(
    rows: NDArray[np.int32], exact: NDArray[np.int32], step: NDArray[np.int32], row: int, count: int,
    before: int, frames: int, lane_bits: int, id_bits: int,
    out: NDArray[np.uint32], at: int, acc: int, n: int,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Write which vehicle the rows from one on are of, the frames that it is in, and its first row.

    before: the vehicle before it, -1 none. Gives its place (mm), too.
    """
    vehicle = int(rows[row, ID])
    at, acc, n = put_number(out, at, acc, n, vehicle - before - 1)
    end = row
    while end < count and rows[end, ID] == vehicle:
        end += 1
    at, acc, n = put_presence(step, row, end, frames, out, at, acc, n)
    place = nearest_step(int(rows[row, S]))
    at, acc, n = put_first(rows, row, place, lane_bits, id_bits, out, at, acc, n)
    if exact.shape[0] > 0:
        at, acc, n = put_exact(exact, row, -1, out, at, acc, n)
    return at, acc, n, place * POSITION_STEP


@kernel(forceinline=True)
def put_changes(
    lane: int, lane2: int, blocker: int, blocker2: int, blocker_before: int, codes: int, codes2: int,
    reason_before: int, aside: int, sooner: int, ways: NDArray[np.int32], lane_bits: int, id_bits: int,
    out: NDArray[np.uint32], at: int, acc: int, n: int,
) -> tuple[int, int, int, int, int, int]:  # fmt: skip
    """Write what is not as in the row before: lane, blocker and codes of both, and how far it moved aside.

    Gives the foretold place on the new lane as well, of that on the old one (sooner), and who blocked
    it and why before this.
    """
    other = codes2 ^ codes
    what = (
        (CHANGED_LANE if lane2 != lane else 0)
        | (CHANGED_BLOCKER if blocker2 != blocker else 0)
        | (CHANGED_REASON if other & 0xFF else 0)
        | (CHANGED_SIGNALS if other >> 8 else 0)
        | (CHANGED_LATERAL if aside != 0 else 0)
    )
    word, bits = what, CHANGES
    if what & CHANGED_LANE:
        code, width, passed = lane_code(ways, lane, lane2)
        if width > 0:
            word, bits = word | code << bits, bits + width
        else:
            word, bits = word | ANYWHERE << bits, bits + 2
            at, acc, n = put(out, at, acc, n, word, bits)
            at, acc, n = put(out, at, acc, n, lane2, lane_bits)
            word, bits = 0, 0
        sooner = sooner - passed if passed >= 0 else 0
    # Values and widths, not branches, for what nobody can foretell; 59 bits at most.
    told = blocker2 != blocker_before
    width = 1 + (id_bits if told else 0) if what & CHANGED_BLOCKER else 0
    code = (blocker2 + 1) << 1 if told else 1
    word, bits = word | (code if width else 0) << bits, bits + width
    blocker_before = blocker if width else blocker_before
    told = codes2 & 0xFF != reason_before
    width = (9 if told else 1) if what & CHANGED_REASON else 0
    code = (codes2 & 0xFF) << 1 if told else 1
    word, bits = word | (code if width else 0) << bits, bits + width
    reason_before = codes & 0xFF if width else reason_before
    width = SIGNALS + 1 if what & CHANGED_SIGNALS else 0
    code = (codes2 >> 8) & ((1 << SIGNALS) - 1) | (1 << SIGNALS if other >> 16 else 0)
    word, bits = word | (code if width else 0) << bits, bits + width
    at, acc, n = put(out, at, acc, n, word & ((1 << MOST) - 1), min(bits, MOST))
    at, acc, n = put(out, at, acc, n, word >> MOST, max(0, bits - MOST))
    if other >> 16:
        at, acc, n = put(out, at, acc, n, codes2 >> 16, 8)
    if what & CHANGED_LATERAL:
        at, acc, n = put_number(out, at, acc, n, folded(aside))
    return at, acc, n, sooner, blocker_before, reason_before


@kernel
def put_side(
    rows: NDArray[np.int32], exact: NDArray[np.int32], step: NDArray[np.int32], count: int,
    frames: int, factors: NDArray[np.int64], ways: NDArray[np.int32], lane_bits: int, id_bits: int,
    out: NDArray[np.uint32], residuals: NDArray[np.int32],
) -> tuple[int, int, int, int]:  # fmt: skip
    """Write the side stream of a group of rows, and note the residuals.

    factors: (frames, 2) of `advance` and `steepness` up to each frame. Gives the words of the stream,
    and the best parameters for Rice codes of the residuals.
    """
    at, acc, n = 0, 0, 0
    lane = s = speed = trend = lateral = codes = 0
    blocker = blocker_before = -1
    reason_before = 0
    vehicle = -1
    total0 = total1 = total2 = others = 0
    for row in range(count):
        lane2, speed2 = int(rows[row, LANE]), int(rows[row, SPEED])
        s2, accel2 = int(rows[row, S]), int(rows[row, ACCEL])
        lateral2, blocker2 = int(rows[row, LATERAL]), int(rows[row, BLOCKER])
        codes2 = int(rows[row, CODES])
        if rows[row, ID] != vehicle:
            at, acc, n, s = put_vehicle(
                rows, exact, step, row, count, vehicle, frames, lane_bits, id_bits, out, at, acc, n
            )
            vehicle, trend = int(rows[row, ID]), 0
            blocker_before, reason_before = -1, 0
            residuals[row, 3] = FIRST
        else:
            t = step[row]
            sooner = s + advance(speed + speed2, factors[t, 0])
            change = PREDICTED
            if lane2 != lane or blocker2 != blocker or codes2 != codes or lateral2 != lateral:
                change = CHANGED
                at, acc, n, sooner, blocker_before, reason_before = put_changes(
                    lane, lane2, blocker, blocker2, blocker_before, codes, codes2, reason_before,
                    lateral2 - lateral, sooner, ways, lane_bits, id_bits, out, at, acc, n,
                )  # fmt: skip
            if exact.shape[0] > 0:
                at, acc, n = put_exact(exact, row, row - 1, out, at, acc, n)
            place = nearest_step(s2 - sooner)
            s = sooner + place * POSITION_STEP
            steeper = steepness(speed2 - speed, factors[t, 1])
            u, v = folded(speed2 - speed - (trend >> 1)), folded(place)
            w = folded(accel2 - steeper)
            residuals[row, 0], residuals[row, 1], residuals[row, 2] = u, v, w
            residuals[row, 3] = change
            total0 += min(u, LARGE)
            total1 += min(v, LARGE)
            total2 += min(w, LARGE)
            others += 1 if (u | v | w | change) != 0 else 0
            trend = speed2 - speed
        lane, speed, lateral, blocker, codes = lane2, speed2, lateral2, blocker2, codes2
    out[at] = acc
    k0, k1 = rice_parameter(total0, others), rice_parameter(total1, others)
    return at + 1, k0, k1, rice_parameter(total2, others)


@kernel
def put_main(
    residuals: NDArray[np.int32], count: int, k0: int, k1: int, k2: int,
    out: NDArray[np.uint32], start: int,
) -> int:  # fmt: skip
    """Write the header and the main stream of a group from a word on; the word behind it.

    k0, k1, k2: parameters of the codes.
    """
    at, acc, n = start + HEADER, 0, 0
    for i in range(count):
        change = int(residuals[i, 3])
        if change == FIRST:
            continue
        u, v, w = int(residuals[i, 0]), int(residuals[i, 1]), int(residuals[i, 2])
        flags = 1 | change << 1
        code0, width0 = rice_code(u, k0)
        code1, width1 = rice_code(v, k1)
        code2, width2 = rice_code(w, k2)
        known = (width0 > 0) & (width1 > 0) & (width2 > 0)
        width = 2 + width0 + width1 + width2
        if known & (width <= MOST):  # chosen from, not branched to: see `put_side`
            code = flags | (code0 | (code1 | code2 << width1) << width0) << 2
            other = u | v | w | change
            at, acc, n = put(out, at, acc, n, code if other else 0, width if other else 1)
        elif known & (width1 + width2 <= MOST):
            at, acc, n = put(out, at, acc, n, flags | code0 << 2, 2 + width0)
            at, acc, n = put(out, at, acc, n, code1 | code2 << width1, width1 + width2)
        else:
            at, acc, n = put(out, at, acc, n, flags, 2)
            at, acc, n = put_rice(out, at, acc, n, u, k0)
            at, acc, n = put_rice(out, at, acc, n, v, k1)
            at, acc, n = put_rice(out, at, acc, n, w, k2)
    out[at] = acc
    out[start] = k0 | k1 << 8 | k2 << 16
    out[start + 1] = at + 1 - start - HEADER
    return at + 1


@kernel
def sort_group(
    block: NDArray[np.int32], exact_block: NDArray[np.int32], start: NDArray[np.int64],
    order: NDArray[np.int64], begin: int,
    rows: NDArray[np.int32], exact: NDArray[np.int32], step: NDArray[np.int32],
    places: NDArray[np.int64],
) -> tuple[int, int]:  # fmt: skip
    """Bring a group of rows into order, those of the vehicle `begin` and some behind it in `order`.

    Gives the vehicle behind the last one, and the rows. Frames are gone through one after the
    other, as they lie in memory: it takes longer to get than to encode.
    """
    frames, behind, total = start.shape[0] - 1, begin, 0
    while behind < order.shape[0] and total < GROUP_ROWS:
        last = min(order.shape[0], behind + AT_ONCE)
        for k in range(behind, last):
            places[k - begin] = 0
        for t in range(frames):
            for k in range(behind, last):
                row = start[t] + order[k]
                if row < start[t + 1] and block[row, ID] != ABSENT:
                    places[k - begin] += 1
        while behind < last and total < GROUP_ROWS:
            count = places[behind - begin]
            places[behind - begin] = total
            total += count
            behind += 1
    for t in range(frames):
        for k in range(begin, behind):
            row = start[t] + order[k]
            if row < start[t + 1] and block[row, ID] != ABSENT:
                place = places[k - begin]
                places[k - begin] = place + 1
                step[place] = t
                copy_row(block, row, rows, place)
                if exact_block.shape[0] > 0:
                    for word in range(EXACT):
                        exact[place, word] = exact_block[row, word]
    return behind, total


@kernel(nogil=True)
def encode_rows(
    block: NDArray[np.int32], exact_block: NDArray[np.int32], start: NDArray[np.int64],
    order: NDArray[np.int64],
    factors: NDArray[np.int64], ways: NDArray[np.int32], lane_bits: int, id_bits: int,
    rows: NDArray[np.int32], exact: NDArray[np.int32], step: NDArray[np.int32],
    places: NDArray[np.int64], residuals: NDArray[np.int32], side: NDArray[np.uint32],
    out: NDArray[np.uint32], groups: NDArray[np.int64],
) -> int:  # fmt: skip
    """Encode the rows of a block as `place_rows` left them, group after group; their number.

    start: where the rows of each frame begin, and where those of the last one end. order: places of
    vehicles in a frame, by vehicle. rows, exact, step, residuals, side: scratch for the rows of a
    group, at most GROUP_ROWS and one for each frame; places: GROUP_ROWS + AT_ONCE. groups: first and
    last vehicle, first word, words, rows of each.
    """
    frames = start.shape[0] - 1
    number, at, k = 0, 0, 0
    while k < order.shape[0]:
        k, count = sort_group(
            block, exact_block, start, order, k, rows, exact, step, places
        )  # fmt: skip
        words, k0, k1, k2 = put_side(
            rows, exact, step, count, frames, factors, ways, lane_bits, id_bits, side, residuals,
        )  # fmt: skip
        groups[number, 0] = rows[0, ID]
        groups[number, 1] = rows[count - 1, ID]
        groups[number, 2] = at
        at = put_main(residuals, count, k0, k1, k2, out, at)
        for i in range(words):
            out[at + i] = side[i]
        at += words
        groups[number, 3] = at - groups[number, 2]
        groups[number, 4] = count
        number += 1
    return number
