"""Frames on their way to the disk: encoded by threads of their own while the world is stepped on.

The words of a block fill whole chunks, the last with zeros behind them: no chunk is written twice,
so a run that is killed tears none. Chunks are as HDF5's own filter gzip could have made them (what
is packed already is stored as it is), with its checksum, and any reader undoes that.
"""

import zlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.recording.frame_blocks import Coding, Encoder, Gathered
from rushhour.traffic.recording.frame_fields import HUFFMAN, PLAIN, described_steps
from rushhour.traffic.recording.frame_taking import Rows
from rushhour.traffic.recording.pose_file import BODY, PoseWriter
from rushhour.traffic.recording.run_layout import growing

WORDS_PER_CHUNK: Final = 16_384
THREADS: Final = 2  # the kernels let go of the interpreter's lock
WAITING: Final = 2  # blocks under way, at most: what they hold stays in memory
LARGEST_STORED: Final = 0xFFFF  # bytes of a stored block of deflate

# A row of /frames/index, and of /frames/groups.
INDEX: Final = np.dtype(
    [
        ("frame", "<i8"),  # number of the frame
        ("time", "<f8"),  # s, simulated
        ("count", "<i8"),  # vehicles in it
        ("digest", "<u8"),  # hash of all vehicles before they were rounded
        ("block", "<i8"),  # that it is in
        ("more", "<i8"),  # frames of this block after it
    ]
)
GROUPS: Final = np.dtype(
    [
        ("block", "<i8"),  # that the group is in
        ("first", "<i4"),  # its first vehicle
        ("last", "<i4"),  # its last vehicle
        ("start", "<i8"),  # its first word in data
        ("words", "<i4"),  # its words
        ("rows", "<i4"),  # its vehicles, each as often as there are frames with it
    ]
)


@dataclass(frozen=True)
class _Block:
    """Frames that are being encoded. gathered: to be used again. fronts: of each frame."""

    number: int
    gathered: Gathered
    fronts: list[NDArray[Any]]
    made: Future[tuple[list[bytes], NDArray[np.int64]]]
    index: list[tuple[int, float, int, int, int]]  # rows of INDEX but for `more`


class FrameWriter:
    """Writes frames to group /frames of a run file.

    flush: brings to the disk what was written. The datasets are added to `data`, by name. poses:
    writes where the bodies of those are who steer; None: they are not recorded. packing: "plain" or
    "huffman", of the words.
    """

    def __init__(
        self,
        group: Any,
        data: dict[str, Any],
        flush: Callable[[], None],
        coding: Coding,
        fields: tuple[str, ...],
        poses: PoseWriter | None = None,
        packing: str = PLAIN,
    ) -> None:
        self.rows = Rows(coding.exact)  # where to put the next frame, before `add`
        self._gathered, self._fronts = Gathered(coding), list[NDArray[Any]]()
        self._coding = coding
        self._blocks_of = _packed if packing == HUFFMAN else _stored
        self._poses = poses
        self._flush = flush
        self._index: list[tuple[int, float, int, int, int]] = []
        self._blocks: deque[_Block] = deque()
        self._number = 0  # of the next block
        self._next = 0  # word at which it begins
        self._encoders = [Encoder(coding) for _ in range(THREADS)]
        self._spare: list[Gathered] = []
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="frames")
        self.written = 0  # bytes of frames
        for name, kind in (("index", INDEX), ("groups", GROUPS)):
            table = growing(group, name, kind, "time s" if name == "index" else "")
            data[table.name] = table
        words = group.create_dataset(
            "data", (0,), "<u4", maxshape=(None,), chunks=(WORDS_PER_CHUNK,), compression="gzip"
        )
        words.attrs["description"] = "streams of bits, see docs/file-format.md"
        data[words.name] = words
        group.attrs["fields"] = [name for name in fields if name != BODY]
        group.attrs["packing"] = packing
        group.attrs["precision"] = "full" if coding.exact else "standard"
        for name, step in described_steps().items():
            group.attrs[name] = step
        self._data = data

    @property
    def gathered(self) -> int:
        """Rows that no thread has got yet, and gaps between them."""
        return len(self._gathered)

    @property
    def waiting(self) -> int:
        """Rows that are not written yet."""
        return self._gathered.count + sum(block.gathered.count for block in self._blocks)

    def add(self, frame: int, time: float, digest: int) -> None:
        """Take the frame that was put into `rows`."""
        self._gathered.add(frame, self.rows)
        self._index.append((frame, time, len(self.rows), digest, self._number))
        self._fronts += self.rows.fronts
        self.rows.clear()

    def hand_over(self) -> None:
        """Let the threads encode what was added, and write what they have done."""
        while self._blocks and (len(self._blocks) >= WAITING or self._blocks[0].made.done()):
            self._write(self._blocks.popleft())
        if not self._index:
            return
        gathered = self._gathered
        made = self._threads.submit(self._encoded, gathered)
        self._blocks.append(_Block(self._number, gathered, self._fronts, made, self._index))
        self._number += 1
        self._gathered = self._spare.pop() if self._spare else Gathered(self._coding)
        self._fronts, self._index = [], []

    def finish(self) -> None:
        """Write everything that was added."""
        self.hand_over()
        while self._blocks:
            self._write(self._blocks.popleft())

    def stop(self) -> None:
        """End the threads; nothing can be written any more."""
        self._threads.shutdown(cancel_futures=True)

    def _encoded(self, gathered: Gathered) -> tuple[list[bytes], NDArray[np.int64]]:
        """Chunks and groups of a block."""
        encoder = self._encoders.pop()
        try:
            words, groups = encoder.encode(gathered)
            pieces = range(0, words.size, WORDS_PER_CHUNK)
            return [
                _chunk(words[at : at + WORDS_PER_CHUNK], self._blocks_of) for at in pieces
            ], groups
        finally:
            self._encoders.append(encoder)

    def _write(self, block: _Block) -> None:
        """First the words, groups and poses, then the index that points at them."""
        chunks, groups = block.made.result()
        data = self._data["/frames/data"]
        if chunks:
            data.resize((self._next + len(chunks) * WORDS_PER_CHUNK,))
        for place, chunk in enumerate(chunks):
            data.id.write_direct_chunk((self._next + place * WORDS_PER_CHUNK,), chunk)
        table = np.zeros(len(groups), GROUPS)
        table["block"] = block.number
        for column, name in enumerate(("first", "last", "start", "words", "rows")):
            table[name] = groups[:, column]
        table["start"] += self._next
        append(self._data["/frames/groups"], table)
        if self._poses is not None:
            numbers = [row[0] for row in block.index]
            for dataset, rows in self._poses.new_rows(numbers, block.fronts):
                append(dataset, rows)
        self._flush()
        index = np.zeros(len(block.index), INDEX)
        for name, values in zip(INDEX.names or (), zip(*block.index, strict=True), strict=False):
            index[name] = values
        index["more"] = np.arange(len(index))[::-1]
        append(self._data["/frames/index"], index)
        self._flush()
        self._next += len(chunks) * WORDS_PER_CHUNK
        self.written += sum(map(len, chunks))
        block.gathered.clear()
        self._spare.append(block.gathered)


def append(data: Any, values: NDArray[Any]) -> None:
    """Put values behind the end of a dataset."""
    size = data.shape[0]
    data.resize((size + values.size,))
    data[size:] = values


def _stored(payload: bytes) -> bytes:
    """Blocks of deflate with the bytes as they are."""
    parts = []
    for at in range(0, len(payload), LARGEST_STORED):
        piece = payload[at : at + LARGEST_STORED]
        parts.append(b"\0" + len(piece).to_bytes(2, "little"))
        parts.append((len(piece) ^ 0xFFFF).to_bytes(2, "little") + piece)
    return b"".join(parts)


def _packed(payload: bytes) -> bytes:
    """Blocks of deflate with a Huffman code of the bytes; looking for repeats would find none."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15, 8, zlib.Z_HUFFMAN_ONLY)
    return packer.compress(payload) + packer.flush(zlib.Z_FULL_FLUSH)


def _chunk(words: NDArray[np.uint32], blocks: Callable[[bytes], bytes]) -> bytes:
    """A chunk as the filter gzip could make it: blocks of the words, packed zeros behind them."""
    payload = words.astype("<u4").tobytes()
    zeros = bytes(4 * WORDS_PER_CHUNK - len(payload))
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    end = packer.compress(zeros) + packer.flush()
    check = zlib.adler32(zeros, zlib.adler32(payload)).to_bytes(4, "big")
    return b"\x78\x01" + blocks(payload) + end + check
