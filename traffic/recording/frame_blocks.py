"""Blocks of frames: rows encoded into words, and decoded from them (docs/file-format.md)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.frame_decoding import ALWAYS, EVERYBODY, decode_rows
from rushhour.kernels.frame_decoding import BEYOND as ZEROS_BEHIND
from rushhour.kernels.frame_encoding import (
    GROUP_ROWS,
    RESIDUALS,
    SPARE,
    WORDS,
    encode_rows,
)
from rushhour.kernels.frame_rows import COLUMNS, EXACT, ID, arrange_rows
from rushhour.traffic.recording.frame_fields import EXACT_COLUMNS, IN_STEPS, bits_for, factors
from rushhour.traffic.recording.frame_taking import ROOM, Rows

GROUP_COLUMNS: Final = 5  # first and last vehicle, first word, words, rows


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


class Encoder:
    """Encodes blocks, one at a time; keeps its scratch arrays from one to the next."""

    def __init__(self, coding: Coding) -> None:
        self.coding = coding
        self._make_room(ROOM)
        self._group(GROUP_ROWS)

    def _make_room(self, rows: int) -> None:
        """Scratch for so many rows, touched as far as it is needed."""
        self._rows = np.empty((rows, COLUMNS), np.int32)
        self._exact = np.empty((rows if self.coding.exact else 0, EXACT), np.int32)
        self._step = np.empty(rows, np.int32)
        self._out = np.empty(rows * WORDS + SPARE, np.uint32)

    def _group(self, rows: int) -> None:
        self._residuals = np.zeros((2 * rows, RESIDUALS), np.int32)
        self._side = np.zeros(2 * rows * WORDS + SPARE, np.uint32)

    def encode(
        self, block: Rows, frames: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Words and groups of a block. frames: the numbers of its frames. The words are a view."""
        n, coding = len(block), self.coding
        if not n:
            return self._out[:0], np.zeros((0, GROUP_COLUMNS), np.int64)
        if n > len(self._rows):
            self._make_room(n)
        if coding.exact:  # what the exact numbers tell need not be told in steps
            for column, _ in (IN_STEPS[name] for name in EXACT_COLUMNS):
                block.rows[:n, column] = 0
        ids = block.rows[:n, ID]
        lowest = int(ids.min())
        places = np.zeros(int(ids.max()) - lowest + 2, np.int32)
        start = np.array([0, *block.ends], np.int64)
        arrange_rows(
            block.rows, block.words, start, lowest, places, self._rows, self._exact, self._step
        )
        groups = np.zeros((n // GROUP_ROWS + 1, GROUP_COLUMNS), np.int64)
        lane_bits, id_bits = coding.bits
        while True:
            count = encode_rows(
                self._rows, self._exact, self._step, n, frames.size, factors(frames, coding.dt),
                coding.ways, lane_bits, id_bits, self._residuals,
                self._side, self._out, groups,
            )  # fmt: skip
            if count >= 0:
                break
            self._group(-1 - count)
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
        """Rows and exact words of a block, or of one frame or one vehicle of it (`only`).

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
