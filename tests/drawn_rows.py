"""Rows of frames as no traffic makes them, to test their coding: jumps, gaps, reverse, any lane."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.frame_rows import ACCEL, BLOCKER, CODES, ID, LANE, LATERAL, SPEED, S
from rushhour.kernels.codec.frame_rows import COLUMNS as ROW
from rushhour.traffic.recording.frame_blocks import Coding, Decoder, Encoder, Gathered
from rushhour.traffic.recording.frame_taking import Rows

LARGEST = {S: 2_000_000_000, SPEED: 12_500_000, ACCEL: 10_000_000, LATERAL: 25_000_000}


def drawn_rows(
    draw: np.random.Generator, frames: int, vehicles: int, lanes: int, exact: bool = False
) -> Rows:
    """Frames in which anybody may be anywhere, for one frame or for some, and now and then stand."""
    rows = Rows(exact)
    calm = draw.random(vehicles) < 0.5
    state = np.zeros((vehicles, ROW), np.int32)
    for t in range(frames):
        for column, most in LARGEST.items():
            wild = draw.integers(-most, most, vehicles, endpoint=True)
            wild[draw.random(vehicles) < 0.3] = draw.choice((-most, 0, most))
            state[:, column] = np.where(
                calm & (t > 0), state[:, column] + draw.integers(-2, 3), wild
            )
            state[:, column] = np.clip(state[:, column], -most, most)
        moves = draw.random(vehicles) < 0.4
        state[:, LANE] = np.where(
            moves | (t == 0), draw.integers(0, lanes, vehicles), state[:, LANE]
        )
        state[:, BLOCKER] = draw.integers(-1, vehicles, vehicles)
        state[:, CODES] = draw.integers(0, 1 << 24, vehicles) & 0xFF07FF
        state[:, ID] = np.arange(vehicles)
        there = np.flatnonzero(draw.random(vehicles) < (0.0 if t % 7 == 6 else 0.8))
        there = draw.permutation(there)
        rows.make_room(there.size)
        at = len(rows)
        rows.rows[at : at + there.size] = state[there]
        if rows.exact is not None:
            values = draw.standard_normal((there.size, 4)) * 10.0 ** draw.integers(
                -300, 300, (1, 4)
            )
            rows.exact[at : at + there.size] = np.where(
                draw.random(values.shape) < 0.2, 0.0, values
            )
        rows.ends.append(at + there.size)
    return rows


def gathered(rows: Rows, coding: Coding, frames: NDArray[np.int64]) -> Gathered:
    """A block of frames that were drawn together, gathered one after the other."""
    block, one = Gathered(coding, room=16), Rows(coding.exact)
    for t, frame in enumerate(frames.tolist()):
        part = slice(rows.ends[t - 1] if t else 0, rows.ends[t])
        one.clear()
        one.make_room(part.stop - part.start)
        one.ends.append(part.stop - part.start)
        one.rows[: len(one)] = rows.rows[part]
        if one.exact is not None and rows.exact is not None:
            one.exact[: len(one)] = rows.exact[part]
        block.add(frame, one)
    return block


def coded(
    rows: Rows, coding: Coding, frames: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint32]]:
    """The rows and exact words of a block after encoding and decoding, and its words."""
    words, groups = Encoder(coding).encode(gathered(rows, coding, frames))
    starts = np.array([0, *rows.ends], np.int64)
    found, exact = Decoder(coding).rows(
        words, groups[:, 2:5].copy(), frames, starts[:-1], starts[1:]
    )
    return found, exact, words
