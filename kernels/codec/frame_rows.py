"""Rows of frames on their way to a recording: taken from the slots, and put where their vehicles are.

A row is COLUMNS whole numbers: what is measured is counted in steps (`STEPS`), so that coding it
later is exact. Codes are the reason, the lights above it (`BRAKE` ...), the tier above those.
"""

from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import LEFT, RIGHT, STRAIGHT, U_TURN
from rushhour.kernels.core.vehicles import HAZARD, LANE_CHANGE

COLUMNS: Final = 8
ID, LANE, S, SPEED, ACCEL, LATERAL, BLOCKER, CODES = range(COLUMNS)
ABSENT: Final = -1  # vehicle of a row that nobody has
EXACT: Final = 8  # words of 32 bits: s, speed, accel, lateral as float64
# What a step of each is, and how many there are in one m, m/s or m/s^2.
S_STEP: Final = 0.001  # m; what is written keeps within POSITION_STEP / 2 of it
POSITION_STEP: Final = 38  # mm
SPEED_STEP: Final = 0.08  # m/s
ACCEL_STEP: Final = 0.1  # m/s^2
LATERAL_STEP: Final = 0.04  # m
S_STEPS: Final = 1000.0
SPEED_STEPS: Final = 12.5
ACCEL_STEPS: Final = 10.0
LATERAL_STEPS: Final = 25.0
MOST_S: Final = 2.0e6  # m
MOST: Final = 1.0e6  # m, m/s, m/s^2 of the others

# Fields that may be left out; a row has 0 for them, or nobody.
KEEP_ACCEL: Final = 1
KEEP_LATERAL: Final = 2
KEEP_REASON: Final = 4
KEEP_BLOCKER: Final = 8
KEEP_SIGNALS: Final = 16

# Lights that are on.
BRAKE: Final = 1
INDICATOR_LEFT: Final = 2
INDICATOR_RIGHT: Final = 4
BRAKES_FROM: Final = -0.5  # m/s^2; an engine brakes as much without
STANDS_BELOW: Final = 0.1  # m/s; drivers keep the brake pressed
INDICATES: Final = 30.0  # m before the line, or
INDICATES_FOR: Final = 3.0  # s before it
SIDEWAYS: Final = 0.4  # m to go

MIX: Final = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
SHIFT: Final = np.uint64(29)


@kernel
def mixed(h: np.uint64, value: np.uint64) -> np.uint64:
    """A hash with one more value in it."""
    h = (h ^ value) * MIX
    return h ^ (h >> SHIFT)


@kernel
def turn_lights(turn: int, left_hand: bool) -> int:
    """Indicator of a movement."""
    if turn == STRAIGHT:
        return 0
    if turn == LEFT or (turn == U_TURN and not left_hand):
        return INDICATOR_LEFT
    return INDICATOR_RIGHT if turn in (RIGHT, U_TURN) else 0


@kernel
def lights_of_ways(turn: NDArray[np.int8], left_hand: bool, out: NDArray[np.uint8]) -> None:
    """Fill in the indicator of each way through an intersection, and behind them none, of no way."""
    for k in range(turn.shape[0]):
        out[k] = turn_lights(turn[k], left_hand)
    out[turn.shape[0]] = 0


@kernel
def lights_of(
    lane: int, s: float, lateral: float, speed: float, accel: float, reason: int,
    ahead: int, wanted: int, swerve: float, length: float,
    indicators: NDArray[np.uint8], n_road: int, left_hand: bool,
) -> int:  # fmt: skip
    """Lights of a vehicle: brake, and the indicator of where it goes. Both indicators: a hazard.

    ahead: the next way that it takes, -1 none; indicators: of `lights_of_ways`. Everything is looked
    at and then chosen from: a branch that nobody can foretell takes longer than all the rest.
    """
    brakes = (accel < BRAKES_FROM) | (speed < STANDS_BELOW)
    near = length - s < max(INDICATES, INDICATES_FOR * speed)
    inside = lane >= n_road
    none = indicators.shape[0] - 1
    way = lane - n_road if inside else ahead
    known = (inside | near) & (way >= 0)
    light = int(indicators[way if known else none])
    changes = (near | (reason == LANE_CHANGE)) & (wanted >= 0) & (wanted != lane)
    left = (wanted > lane) != left_hand  # lanes are counted from the kerb
    side = INDICATOR_LEFT if left else INDICATOR_RIGHT
    light = side if changes & (not inside) else light
    side = INDICATOR_LEFT if swerve > lateral else INDICATOR_RIGHT
    light = side if abs(swerve - lateral) > SIDEWAYS else light
    light = INDICATOR_LEFT | INDICATOR_RIGHT if reason == HAZARD else light
    return light | (BRAKE if brakes else 0)


@kernel
def is_recordable(s: float, lateral: float, speed: float, accel: float) -> bool:
    """Whether a row can hold these numbers; none that is not finite."""
    return (
        abs(s) <= MOST_S and abs(lateral) <= MOST and abs(speed) <= MOST and abs(accel) <= MOST
    )  # fmt: skip


@kernel(nogil=True)
def gather_rows(
    id: NDArray[np.int32], lane: NDArray[np.int32], s: NDArray[np.float64],
    lateral: NDArray[np.float64], speed: NDArray[np.float64], accel: NDArray[np.float64],
    reason: NDArray[np.uint8], blocker: NDArray[np.int32], path: NDArray[np.int32],
    wanted: NDArray[np.int32], swerve: NDArray[np.float64],
    s_bits: NDArray[np.uint64], lateral_bits: NDArray[np.uint64], speed_bits: NDArray[np.uint64],
    lane_length: NDArray[np.float64], indicators: NDArray[np.uint8], n_road: int, left_hand: bool,
    keep: int, frame: int, slots: int, rows: NDArray[np.int32], at: int,
) -> tuple[int, np.uint64]:  # fmt: skip
    """Copy the vehicles of slots below `slots` into rows from `at` on, in order of slots.

    s_bits, lateral_bits, speed_bits: the same numbers as bits. indicators: see `lights_of`. Gives the row behind the last one,
    or -1 - slot of a vehicle with numbers that cannot be recorded; and the sum of the vehicles'
    digests, of exact numbers (docs/file-format.md).
    """
    start = np.uint64(frame)
    total = np.uint64(0)
    for i in range(slots):
        on = lane[i]
        if on < 0:
            continue
        if not is_recordable(s[i], lateral[i], speed[i], accel[i]):
            return -1 - i, total
        h = mixed(mixed(start, np.uint64(id[i])), np.uint64(on))
        h = mixed(mixed(mixed(h, s_bits[i]), lateral_bits[i]), speed_bits[i])
        total += mixed(h, np.uint64(reason[i]))
        rows[at, ID] = id[i]
        rows[at, LANE] = on
        rows[at, S] = floor(S_STEPS * s[i] + 0.5)
        rows[at, SPEED] = floor(SPEED_STEPS * speed[i] + 0.5)
        rows[at, ACCEL] = floor(ACCEL_STEPS * accel[i] + 0.5) if keep & KEEP_ACCEL else 0
        rows[at, LATERAL] = floor(LATERAL_STEPS * lateral[i] + 0.5) if keep & KEEP_LATERAL else 0
        rows[at, BLOCKER] = blocker[i] if keep & KEEP_BLOCKER else -1
        codes = int(reason[i]) if keep & KEEP_REASON else 0
        if keep & KEEP_SIGNALS:
            codes |= lights_of(
                on, s[i], lateral[i], speed[i], accel[i], reason[i], path[i, 0], wanted[i],
                swerve[i], lane_length[on], indicators, n_road, left_hand,
            ) << 8  # fmt: skip
        rows[at, CODES] = codes
        at += 1
    return at, total


@kernel(nogil=True)
def gather_exact(
    lane: NDArray[np.int32], s: NDArray[np.float64], speed: NDArray[np.float64],
    accel: NDArray[np.float64], lateral: NDArray[np.float64], slots: int,
    exact: NDArray[np.float64], at: int,
) -> int:  # fmt: skip
    """Copy s, speed, accel and lateral of the same vehicles in full, in the same order."""
    for i in range(slots):
        if lane[i] >= 0:
            exact[at, 0] = s[i]
            exact[at, 1] = speed[i]
            exact[at, 2] = accel[i]
            exact[at, 3] = lateral[i]
            at += 1
    return at


@kernel
def copy_row(rows: NDArray[np.int32], row: int, into: NDArray[np.int32], place: int) -> None:
    """Copy a row; all of it is read before any is written, so that it goes at once."""
    a, b, c, d = rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3]
    e, f, g, h = rows[row, 4], rows[row, 5], rows[row, 6], rows[row, 7]
    into[place, 0] = a
    into[place, 1] = b
    into[place, 2] = c
    into[place, 3] = d
    into[place, 4] = e
    into[place, 5] = f
    into[place, 6] = g
    into[place, 7] = h


@kernel(nogil=True)
def place_rows(
    rows: NDArray[np.int32], exact: NDArray[np.int32], count: int,
    place_of: NDArray[np.int32], ids: NDArray[np.int32], n_ids: int,
    block: NDArray[np.int32], exact_block: NDArray[np.int32], at: int,
) -> int:  # fmt: skip
    """Put a frame of a block behind the others, each vehicle where it is in all of its frames.

    rows: the first `count` are the frame; exact: (0, EXACT) without them. place_of: by vehicle, its
    place in `ids`, -1 none. block: from `at` on a row for each of `ids`, ABSENT where it
    is not in the frame; all have room for `count` more. Gives how many of `ids` there are by then.
    """
    for i in range(at, at + n_ids):  # whoever is new gets a place behind them at once
        block[i, ID] = ABSENT
    for row in range(count):
        vehicle = rows[row, ID]
        i = int(place_of[vehicle])
        if i < 0:
            i = n_ids
            n_ids += 1
            place_of[vehicle] = i
            ids[i] = vehicle
        copy_row(rows, row, block, at + i)
        if exact.shape[0] > 0:
            for word in range(EXACT):
                exact_block[at + i, word] = exact[row, word]
    return n_ids
