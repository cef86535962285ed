"""What a recorded frame holds of each vehicle, how exactly, and what reading it back needs.

Quantities are kept in whole steps (kernels/codec/frame_rows.py). How far a vehicle goes between two frames,
and what acceleration changes its speed so, is predicted with whole factors made here.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.bits import bit_length
from rushhour.kernels.codec.frame_encoding import FRACTION
from rushhour.kernels.codec.frame_rows import (
    ACCEL,
    ACCEL_STEP,
    BLOCKER,
    CODES,
    EXACT,
    ID,
    KEEP_ACCEL,
    KEEP_BLOCKER,
    KEEP_LATERAL,
    KEEP_REASON,
    KEEP_SIGNALS,
    LANE,
    LATERAL,
    LATERAL_STEP,
    MOST,
    MOST_S,
    POSITION_STEP,
    S_STEP,
    SPEED,
    SPEED_STEP,
    S,
)
from rushhour.kernels.codec.next_lanes import BASE, FIRST, LAST, LENGTH, PASSED, WAY
from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.pose_file import BODY

# Field of a frame: type when read, unit, what it is.
FIELDS: Final[dict[str, tuple[str, str, str]]] = {
    "id": ("<i4", "", "vehicle, a row of /vehicles"),
    "lane": ("<i4", "", "lane of /network, connectors included"),
    "s": ("<f4", "m", "front bumper from the lane's start"),
    "lateral": ("<f4", "m", "left of the lane's centre line"),
    "speed": ("<f4", "m/s", "speed"),
    "accel": ("<f4", "m/s^2", "acceleration in the frame before"),
    "reason": ("|u1", "", "why it is slower than desired, a row of /meta/reasons"),
    "blocker": ("<i4", "", "vehicle that it waits for, -1 none"),
    "signals": ("|u1", "", "lights: 1 brake, 2 left, 4 right; both: hazard"),
    "tier": ("|u1", "", "how it is simulated: 0 on a lane, 1 steered, 2 driven"),
}
TIER_BIT: Final = 16  # of CODES, at which the tier begins
ALWAYS: Final = ("id", "lane", "s", "speed")
CHOSEN: Final = {
    "accel": KEEP_ACCEL, "lateral": KEEP_LATERAL, "reason": KEEP_REASON, "blocker": KEEP_BLOCKER,
    "signals": KEEP_SIGNALS, "tier": 0,
}  # fmt: skip
EVERYTHING: Final = (*FIELDS, BODY)
STANDARD, FULL = "standard", "full"
PRECISIONS: Final = (STANDARD, FULL)
PLAIN, HUFFMAN = "plain", "huffman"
PACKINGS: Final = (PLAIN, HUFFMAN)  # of what was encoded
EXACT_COLUMNS: Final = {"s": 0, "speed": 1, "accel": 2, "lateral": 3}
IN_STEPS: Final = {
    "s": (S, S_STEP), "speed": (SPEED, SPEED_STEP), "accel": (ACCEL, ACCEL_STEP),
    "lateral": (LATERAL, LATERAL_STEP),
}  # fmt: skip
# How far a recorded value may be from the simulated one, by field.
TOLERANCE: Final = {
    "s": 0.5 * S_STEP * (POSITION_STEP + 1), "speed": 0.5 * SPEED_STEP, "accel": 0.5 * ACCEL_STEP,
    "lateral": 0.5 * LATERAL_STEP,
}  # fmt: skip
MM: Final = 1000.0  # in a metre
LONGEST_LANE: Final = 1 << 30  # mm that are counted of one
LONGEST_SPAN: Final = 3600.0  # s between frames that predictions are made for


def chosen_fields(given: Iterable[str] | None) -> tuple[str, ...]:
    """The fields to record, in their order; None: all. Raises RunError for an unknown one."""
    if given is None:
        return EVERYTHING
    wanted = set(given)
    unknown = sorted(wanted - set(EVERYTHING))
    if unknown:
        raise RunError(
            f"record fields: {unknown[0][:40]!r} is none; wanted some of {', '.join(EVERYTHING)}"
        )
    return tuple(name for name in EVERYTHING if name in wanted or name in ALWAYS)


def ways_of(
    out_start: NDArray[np.int32], to_lane: NDArray[np.int32], length: NDArray[np.float64]
) -> NDArray[np.int32]:
    """A network's lanes as the coding of frames needs them, (n_lanes, WAY); length: m."""
    n_road = out_start.size - 1
    base = np.concatenate((np.arange(n_road, dtype=np.int32), to_lane))
    mm = np.minimum(np.floor(MM * length + 0.5), LONGEST_LANE).astype(np.int32)
    ways = np.zeros((length.size, WAY), np.int32)
    ways[:, BASE] = base
    ways[n_road:, PASSED] = mm[n_road:]
    ways[:, LENGTH] = mm[base]
    ways[:, FIRST] = n_road + out_start[base]
    ways[:, LAST] = n_road + out_start[base + 1]
    return ways


def factors(frames: NDArray[np.int64], dt: float) -> NDArray[np.int64]:
    """Factors of predictions for each frame of a block from the one before, shape (n, 2).

    frames: their numbers. dt: s of a frame.
    """
    found = np.zeros((frames.size, 2), np.int64)
    spans = np.clip(np.diff(frames) * dt, 0.0, LONGEST_SPAN)
    one = 1 << FRACTION
    found[1:, 0] = np.floor(spans * (0.5 * MM * SPEED_STEP) * one + 0.5)
    found[1:, 1] = np.floor(SPEED_STEP / ACCEL_STEP / np.maximum(spans, 1e-3) * one + 0.5)
    return found


def bits_for(count: int) -> int:
    """Bits that hold the numbers from 0 to count."""
    return int(bit_length(count))


def columns_of(
    rows: NDArray[np.int32], exact: NDArray[np.int32], fields: Iterable[str]
) -> dict[str, NDArray[Any]]:
    """Fields of rows in their units. exact: (0, EXACT), or the exact numbers of the rows as words."""
    whole = exact.reshape(-1, EXACT).view(np.float64)
    found: dict[str, NDArray[Any]] = {}
    for name in fields:
        if name in EXACT_COLUMNS and len(exact):
            found[name] = whole[:, EXACT_COLUMNS[name]].copy()
        elif name in EXACT_COLUMNS and len(rows) == 0:
            found[name] = np.zeros(0, FIELDS[name][0])
        elif name in IN_STEPS:
            column, step = IN_STEPS[name]
            found[name] = (rows[:, column] * step).astype(np.float32)
        else:
            column, shift = {
                "id": (ID, 0), "lane": (LANE, 0), "blocker": (BLOCKER, 0), "reason": (CODES, 0),
                "signals": (CODES, 8), "tier": (CODES, TIER_BIT),
            }[name]  # fmt: skip
            kind = FIELDS[name][0]
            found[name] = (
                rows[:, column].copy() if kind == "<i4"
                else ((rows[:, column] >> shift) & 0xFF).astype(np.uint8)
            )  # fmt: skip
    return found


def want_numbers(columns: Mapping[str, NDArray[Any]]) -> None:
    """Raises ValueError for quantities that no frame can hold, as in a damaged file."""
    for name in IN_STEPS:
        values = columns.get(name)
        if values is not None and values.size:
            most = MOST_S if name == "s" else MOST
            if not float(np.abs(values).max()) <= most * (1.0 + 1e-6):  # also not for NaN
                raise ValueError(f"{name} of a vehicle is no number up to {most:g}")


def described_steps() -> dict[str, float]:
    """Steps that values were rounded to, for attributes of /frames."""
    return {
        "step_of_s": S_STEP * POSITION_STEP, "step_of_speed": SPEED_STEP,
        "step_of_accel": ACCEL_STEP, "step_of_lateral": LATERAL_STEP,
    }  # fmt: skip


def is_finite_region(region: tuple[float, float, float, float]) -> bool:
    """Whether x0, y0, x1, y1 are an area."""
    x0, y0, x1, y1 = region
    return all(map(math.isfinite, region)) and x0 < x1 and y0 < y1
