"""Blocks of frames: rows encoded into words, and decoded from them (docs/file-format.md)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.frame_decoding import ALWAYS, EVERYBODY, decode_rows
from rushhour.kernels.codec.frame_decoding import BEYOND as ZEROS_BEHIND
from rushhour.kernels.codec.frame_encoding import (
    AT_ONCE,
    GROUP_ROWS,
    RESIDUALS,
    SPARE,
    WORDS,
    encode_rows,
)
from rushhour.kernels.codec.frame_rows import COLUMNS, EXACT, ID, place_rows
from rushhour.traffic.recording.frame_fields import EXACT_COLUMNS, IN_STEPS, bits_for, factors
from rushhour.traffic.recording.frame_taking import Rows, with_room

GROUP_COLUMNS: Final = 5  # first and last vehicle, first word, words, rows
# Rows: what is written at once, and two frames behind it, so that no block grows, and is copied, at its
# end. Memory that is not touched costs nothing.
ROOM: Final = 5 << 18


@dataclass(frozen=True)
class Coding:
    """What the coding of blocks depends on. dt: s of a frame; vehicles: how many there can be."""

    ways: NDArray[np.int32]  # (n_lanes, WAY), of `lanes_passed`
    vehicles: int
    dt: float
    exact: bool

    @property
    def bits(self) -> tuple[int, int]:
        """Bits of the number of a lane, and of a vehicle."""
        return bits_for(len(self.ways)), bits_for(self.vehicles)


class Gathered:
    """Frames of a block, one behind the other; each vehicle has the same place in all of them."""

    def __init__(self, coding: Coding, room: int = ROOM) -> None:
        self.coding = coding
        self.frames: list[int] = []  # their numbers
        self.count = 0  # rows of all of them
        self.start = [0]  # where each frame begins, and where the last one ends
        self.rows = np.empty((room, COLUMNS), np.int32)
        self.exact = np.empty((room if coding.exact else 0, EXACT), np.int32)
        self.ids = np.empty(0, np.int32)
        self.n_ids = 0
        self._place_of = np.full(coding.vehicles, -1, np.int32)

    def __len__(self) -> int:
        return self.start[-1]

    def add(self, frame: int, rows: Rows) -> None:
        """Put a frame behind the others; rows: hold it alone."""
        count, exact = len(rows), self.coding.exact
        if not self.frames:  # encoding goes by vehicle, and reads what lies side by side then
            rows.sort()
        self.ids = with_room(self.ids, self.n_ids + count)
        end = len(self) + self.n_ids + count
        self.rows = with_room(self.rows, end)
        if exact:  # what they tell need not be told in steps
            self.exact = with_room(self.exact, end)
            for column, _ in (IN_STEPS[name] for name in EXACT_COLUMNS):
                rows.rows[:count, column] = 0
        self.n_ids = place_rows(
            rows.rows, rows.words, count, self._place_of, self.ids, self.n_ids,
            self.rows, self.exact, len(self),
        )  # fmt: skip
        self.frames.append(frame)
        self.start.append(len(self) + self.n_ids)
        self.count += count

    def clear(self) -> None:
        """Begin another block."""
        self._place_of[self.ids[: self.n_ids]] = -1
        self.frames.clear()
        self.count, self.start, self.n_ids = 0, [0], 0


class Encoder:
    """Encodes blocks, one at a time; keeps its scratch arrays from one to the next."""

    def __init__(self, coding: Coding) -> None:
        self.coding = coding
        self._out = np.empty(0, np.uint32)
        self._places = np.zeros(GROUP_ROWS + AT_ONCE, np.int64)
        self._make_scratch(GROUP_ROWS)

    def _make_scratch(self, rows: int) -> None:
        """For a group of so many rows."""
        self._rows = np.zeros((rows, COLUMNS), np.int32)
        self._exact = np.zeros((rows if self.coding.exact else 0, EXACT), np.int32)
        self._step = np.zeros(rows, np.int32)
        self._residuals = np.zeros((rows, RESIDUALS), np.int32)
        self._side = np.zeros(rows * WORDS + SPARE, np.uint32)

    def encode(self, block: Gathered) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Words and groups of a block. The words are a view, until the next block."""
        if not block.count:
            return self._out[:0], np.zeros((0, GROUP_COLUMNS), np.int64)
        most = block.count * WORDS + SPARE
        if self._out.size < most:  # touched as far as it is needed
            self._out = np.empty(max(most, ROOM * WORDS), np.uint32)
        if len(self._step) < GROUP_ROWS + len(block.frames):
            self._make_scratch(GROUP_ROWS + 2 * len(block.frames))
        groups = np.zeros((block.count // GROUP_ROWS + 1, GROUP_COLUMNS), np.int64)
        frames = np.array(block.frames, np.int64)
        count = encode_rows(
            block.rows, block.exact, np.array(block.start, np.int64),
            np.argsort(block.ids[: block.n_ids]),
            factors(frames, self.coding.dt), self.coding.ways, *self.coding.bits,
            self._rows, self._exact, self._step, self._places, self._residuals, self._side, self._out, groups,
        )  # fmt: skip
        return self._out[: int(groups[count - 1, 2:4].sum())], groups[:count]


@dataclass(frozen=True)
class Decoder:
    """Decodes blocks."""

    coding: Coding

    def rows(
        self,
        words: NDArray[np.uint32],
        groups: NDArray[np.int64],
        frames: NDArray[np.int64],
        place: NDArray[np.int64],
        limit: NDArray[np.int64],
        only: tuple[int, int] = (ALWAYS, EVERYBODY),
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and exact words of a block, or of two frames or one vehicle of it (`only`).

        words: those of the groups; groups: first word, words, rows of each. place, limit: the rows
        from which on and up to which those of each frame are put. Raises ValueError for damage.
        """
        coding = self.coding
        size = int(limit.max(initial=0))
        rows = np.full((size, COLUMNS), -1, np.int32)
        exact = np.zeros((size if coding.exact else 0, EXACT), np.int32)
        padded = np.concatenate((words, np.zeros(ZEROS_BEHIND, np.uint32)))
        lane_bits, id_bits = coding.bits
        place = place.copy()
        seen = decode_rows(
            padded, groups, frames.size, coding.exact, factors(frames, coding.dt),
            coding.ways, lane_bits, id_bits,
            *only, place, limit, rows, exact,
        )  # fmt: skip
        if seen < 0:
            raise ValueError("a block of frames is not as it was written")
        if size and rows[rows[:, ID] >= 0, ID].max(initial=0) >= coding.vehicles:
            raise ValueError("a vehicle that there is not")
        return rows, exact
