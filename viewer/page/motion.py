"""Who was where: frames of a run as blocks, each of which can be read alone.

A block has some frames and, so that no step between two is missing, the first of the next block. Its
rows are those of one vehicle after the other: a *run* is a vehicle in frames that follow each other. A
row is told by what differs from what the row before lets expect; the sums are of whole numbers, so
that they come out the same wherever they are done. `decode.js` is the other half.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NetworkArrays
from rushhour.viewer.page.blocks import block, signs

PLACE: Final = 0.1  # m
SPEED: Final = 0.1  # m/s
TURN: Final = 1024  # directions
SCALE: Final = 1 << 14  # of cosines
LOST: Final = 1.0  # s
STEER: Final = 0.02  # rad
NOBODY: Final = -1
BESIDE: Final = 20  # lane codes: lane - BESIDE + code ... of a lane beside it
FOLLOWS: Final = 30
ELSEWHERE: Final = 100
COSINE: Final = np.rint(SCALE * np.cos(2.0 * np.pi * np.arange(TURN) / TURN)).astype(np.int64)


@dataclass(frozen=True)
class Rows:
    """A frame: arrays (n,), sorted by vehicle, no vehicle twice."""

    vehicle: NDArray[np.int64]  # number in the page
    x: NDArray[np.float64]  # m, of the front bumper's middle
    y: NDArray[np.float64]
    heading: NDArray[np.float64]  # rad
    speed: NDArray[np.float64]  # m/s
    lane: NDArray[np.int64]  # -1 none
    reason: NDArray[np.int64]
    blocker: NDArray[np.int64]  # vehicle, -1 none
    lights: NDArray[np.int64]  # 1 brake, 2 left, 4 right
    lost: NDArray[np.float64]  # s on its trip so far
    steer: NDArray[np.float64]  # rad, of the front wheels

    def __len__(self) -> int:
        return self.vehicle.size


def joined(frames: list[Rows]) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """The rows of frames, those of each vehicle together, and the frame of each."""
    frame = np.repeat(np.arange(len(frames)), [len(one) for one in frames])
    names = [name for name in Rows.__dataclass_fields__]
    columns = {name: np.concatenate([getattr(one, name) for one in frames]) for name in names}
    order = np.lexsort((frame, columns["vehicle"]))
    return {name: values[order] for name, values in columns.items()}, frame[order]


def frame_block(
    frames: list[Rows],
    times: NDArray[np.float64],
    origin: NDArray[np.float64],
    ways: "Ways",
    more: Mapping[str, NDArray[Any]] | None = None,
) -> bytes:
    """Frames at times (k,), s, as a block; places are from an origin (2,), m. more: other arrays."""
    rows, frame = joined(frames)
    vehicle = rows["vehicle"]
    n = vehicle.size
    first = np.ones(n, bool)
    first[1:] = (np.diff(vehicle) != 0) | (np.diff(frame) != 1)
    start = np.flatnonzero(first)
    on = np.flatnonzero(~first)  # rows that have one before
    before = on - 1
    third = on[~first[before]]  # that have two
    x = np.rint((rows["x"] - origin[0]) / PLACE).astype(np.int64)
    y = np.rint((rows["y"] - origin[1]) / PLACE).astype(np.int64)
    speed = np.rint(rows["speed"] / SPEED).astype(np.int64)
    turn = np.rint(rows["heading"] * (TURN / (2.0 * np.pi))).astype(np.int64) % TURN
    tenths = np.rint(10.0 * times).astype(np.int64)
    span = tenths[frame[on]] - tenths[frame[before]]

    told: dict[str, NDArray[Any]] = {}
    change = np.zeros(n, np.int64)
    change[on] = speed[on] - speed[before]
    expected = np.zeros(n, np.int64)
    expected[third] = change[third - 1] >> 1
    values = np.where(first, speed, change - expected)
    told |= signs(values, "speed")
    values = np.where(first, turn, 0)
    values[on] = (turn[on] - turn[before] + TURN // 2) % TURN - TURN // 2
    told |= signs(values, "turn")
    # In tenths of a metre: the mean speed, in tenths of m/s, for so many tenths of s, along the mean way.
    way = (turn[before] + ((turn[on] - turn[before] + TURN // 2) % TURN - TURN // 2 >> 1)) % TURN
    far = (speed[on] + speed[before]) * span
    for name, place, cosine in (("x", x, COSINE[way]), ("y", y, COSINE[(way - TURN // 4) % TURN])):
        values = place.copy()
        values[on] = place[on] - place[before] - (far * cosine // (20 * SCALE))
        told |= signs(values, name)
    told |= _other_signs(rows, ways, on, before)
    runs = {
        **signs(np.diff(vehicle[start], prepend=0), "vehicle"),
        **signs(frame[start], "from"),
        **signs(np.diff(start, append=n), "count"),
        **signs(np.rint(rows["lost"][start] / LOST), "lost"),
    }
    return block(
        {**runs, **told, **(more or {})}, {"frames": len(frames), "tenths": tenths.tolist()}
    )


def _other_signs(
    rows: dict[str, NDArray[Any]], ways: "Ways", on: NDArray[np.int64], before: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Lanes, reasons, blockers, lights and wheels by what changed. on: rows that have one `before`."""
    told: dict[str, NDArray[Any]] = {}
    lane = rows["lane"]
    values = lane.copy()
    values[on] = ways.codes(lane[before], lane[on])
    told |= signs(values, "lane")
    values = rows["reason"].copy()
    values[on] = np.where(values[on] == values[before], 0, rows["reason"][on] + 1)
    told |= signs(values, "reason")
    blocker = rows["blocker"]
    values = blocker.copy()
    values[on] = np.where(
        blocker[on] == blocker[before], 0, np.where(blocker[on] < 0, 1, blocker[on] + 2)
    )
    told |= signs(values, "blocker")
    values = rows["lights"].copy()
    values[on] ^= rows["lights"][before]
    told |= signs(values, "lights")
    steer = np.rint(rows["steer"] / STEER).astype(np.int64)
    if steer.any():
        values = steer.copy()
        values[on] -= steer[before]
        told |= signs(values, "steer")
    return told


class Ways:
    """Short codes for the lane after a lane. arrays: of the network; None: there are no lanes."""

    def __init__(self, arrays: NetworkArrays | None) -> None:
        self._arrays = arrays
        self._roads = 0 if arrays is None else arrays.lanes.out_start.size - 1

    def codes(self, before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.int64]:
        """0: the same; 1 + k: the k-th connector out of it, of a connector the lane that it leads
        to; BESIDE + d: d lanes to the left; FOLLOWS + k: where the k-th connector out of it leads; else
        ELSEWHERE and the lane.
        """
        code = np.where(before == after, 0, ELSEWHERE + after)
        if self._arrays is None:
            return code
        lanes, ends = self._arrays.lanes, self._arrays.connectors.to_lane
        moved = np.flatnonzero((before != after) & (before >= 0) & (after >= 0))
        a, b = before[moved], after[moved]
        inside = a >= self._roads
        out = lanes.out_start[np.where(inside, 0, a)].astype(np.int64)
        many = lanes.out_start[np.where(inside, 0, a) + 1] - out
        found = ELSEWHERE + b
        beside = b - a
        near = ~inside & (b < self._roads) & (np.abs(beside) < 5)
        found = np.where(near, BESIDE + beside, found)
        k = b - self._roads - out
        found = np.where(~inside & (k >= 0) & (k < np.minimum(many, 15)), 1 + k, found)
        for way in range(int(min(15, many.max(initial=0)))):
            there = ~inside & (way < many)
            leads = np.where(there, ends[np.minimum(out + way, max(0, ends.size - 1))], -1)
            found = np.where(there & (leads == b) & ~near, FOLLOWS + way, found)
        leads = np.where(inside, ends[np.where(inside, a - self._roads, 0)] if ends.size else 0, -1)
        code[moved] = np.where(inside & (leads == b), 1, found)
        return code
