"""Frames on their way to the disk: compressed by threads of their own while the world is stepped on.

A block of frames fills whole chunks, the last of each column with zeros behind its rows: no chunk is
written twice, so a run that is killed tears none. Chunks are made as HDF5's own filters shuffle and
gzip would make them, and any reader undoes that.
"""

import zlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.recording.run_layout import COLUMNS, INDEX

ROWS_PER_CHUNK: Final = 16_384
FRAMES_PER_CHUNK: Final = 1024
LEVEL: Final = 1  # of gzip
THREADS: Final = 2  # zlib lets go of the interpreter's lock
WAITING: Final = 2  # blocks under way, at most: what they hold stays in memory
Index = tuple[int, float, int, int, int]  # a row of INDEX


@dataclass(frozen=True)
class _Block:
    """Frames whose chunks are being made. first: row of the columns at which they begin."""

    first: int
    chunks: dict[str, list[Future[bytes]]]
    index: list[Index]


class FrameWriter:
    """Writes frames to the columns and the index of group /frames of a run file.

    flush: brings to the disk what was written. The datasets are added to `data`, by name.
    """

    def __init__(self, group: Any, data: dict[str, Any], flush: Callable[[], None]) -> None:
        self.gathered = 0  # rows that no thread has got yet
        self._flush = flush
        self._rows: list[dict[str, NDArray[Any]]] = []
        self._index: list[Index] = []
        self._next = 0  # row at which the next block begins
        self._blocks: deque[_Block] = deque()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="frames")
        for names, chunk in ((COLUMNS, ROWS_PER_CHUNK), (INDEX, FRAMES_PER_CHUNK)):
            for name, (kind, unit, what) in names.items():
                data[name] = group.create_dataset(
                    name, (0,), kind, maxshape=(None,), chunks=(chunk,), shuffle=True,
                    compression="gzip", compression_opts=LEVEL,
                )  # fmt: skip
                data[name].attrs["unit"] = unit
                data[name].attrs["description"] = what
        self._data = data

    def add(self, frame: int, time: float, rows: dict[str, NDArray[Any]], digest: int) -> None:
        """Take a frame; its columns are not copied."""
        size = len(rows["id"])
        self._index.append((frame, time, self._next + self.gathered, size, digest))
        self._rows.append(rows)
        self.gathered += size

    def hand_over(self) -> None:
        """Let the threads compress what was added, and write what they have done."""
        while self._blocks and (len(self._blocks) >= WAITING or _is_done(self._blocks[0])):
            self._write(self._blocks.popleft())
        if not self._index:
            return
        chunks: dict[str, list[Future[bytes]]] = {}
        for name in COLUMNS:
            column = np.concatenate([rows[name] for rows in self._rows])
            chunks[name] = [
                self._threads.submit(_packed, column[at : at + ROWS_PER_CHUNK])
                for at in range(0, column.size, ROWS_PER_CHUNK)
            ]
        self._blocks.append(_Block(self._next, chunks, self._index))
        self._next += -(-self.gathered // ROWS_PER_CHUNK) * ROWS_PER_CHUNK
        self.gathered, self._rows, self._index = 0, [], []

    def finish(self) -> None:
        """Write everything that was added."""
        self.hand_over()
        while self._blocks:
            self._write(self._blocks.popleft())

    def stop(self) -> None:
        """End the threads; nothing can be written any more."""
        self._threads.shutdown(cancel_futures=True)

    def _write(self, block: _Block) -> None:
        """First the rows, then the index that points at them."""
        for name, chunks in block.chunks.items():
            data = self._data[name]
            data.resize((block.first + len(chunks) * ROWS_PER_CHUNK,))
            for number, chunk in enumerate(chunks):
                place = (block.first + number * ROWS_PER_CHUNK,)
                data.id.write_direct_chunk(place, chunk.result())
        self._flush()
        for column, (name, (kind, _, _)) in zip(
            zip(*block.index, strict=True), INDEX.items(), strict=True
        ):
            append(self._data[name], np.array(column, kind))
        self._flush()


def append(data: Any, values: NDArray[Any]) -> None:
    """Put values behind the end of a dataset."""
    size = data.shape[0]
    data.resize((size + values.size,))
    data[size:] = values


def _is_done(block: _Block) -> bool:
    return all(chunk.done() for chunks in block.chunks.values() for chunk in chunks)


def _packed(values: NDArray[Any]) -> bytes:
    """A chunk as the filters shuffle and gzip make it, with zeros behind the values."""
    whole = np.zeros(ROWS_PER_CHUNK, values.dtype)
    whole[: values.size] = values
    by_place = whole.view(np.uint8).reshape(ROWS_PER_CHUNK, values.dtype.itemsize).T
    return zlib.compress(by_place.tobytes(), LEVEL)
