"""Messages of one rank in a file: written as they come, and given again to the same rank alone.

After a line that tells a share file, and one that tells of what it is, there is a header for each call
of the communicator, in order: which call, the other rank (-1: all) or the frame, bytes, and two sums
(CRC-32), of the bytes and of the header. Behind it stand the bytes that came; of those that are sent
only the sum is kept. A gathered message has the parts of all ranks, the own one among them.
"""

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from time import process_time
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from ranks_world import Timed

MAGIC: Final = b"rushhour share 1\n"
HEADER: Final = Struct("<4sqqI")  # call, with whom or in which frame, bytes, their sum
SUM: Final = Struct("<I")
LONGEST_HEAD: Final = 1 << 16
CALLS: Final = {
    b"recv": "Recv", b"send": "Isend", b"allg": "Allgather", b"allv": "Allgatherv",
    b"pick": "allgather", b"hash": "the hash of a frame",
}  # fmt: skip


class ShareError(Exception):
    """A file of messages that is damaged, or of which another rank's calls came."""


def raw(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of an array, which lie one after the other."""
    return array.reshape(-1).view(np.uint8)


class Recording:
    """A communicator that writes what this rank receives to a file."""

    def __init__(self, comm: Any, path: Path, head: dict[str, Any]) -> None:
        self.timed, self.file = Timed(comm), path.open("wb")
        self.rank, self.size = comm.rank, comm.size
        self.received = 0  # bytes, of other ranks
        self._writing = 0.0
        self.file.write(MAGIC + json.dumps(head).encode() + b"\n")

    @property
    def seconds(self) -> float:
        """Processor time in messages and in the file."""
        return self.timed.seconds + self._writing

    def Dup(self) -> "Recording":
        return self

    def write(self, call: bytes, other: int, data: NDArray[np.uint8], kept: bool = True) -> None:
        """Note a call; kept: with its bytes."""
        begun = process_time()
        header = HEADER.pack(call, other, data.size, crc32(data))
        self.file.write(header + SUM.pack(crc32(header)))
        if kept:
            self.file.write(data)
        self._writing += process_time() - begun

    def mark(self, frame: int, data: bytes) -> None:
        """Note what a frame has come to."""
        self.write(b"hash", frame, np.frombuffer(data, np.uint8))

    def Isend(self, data: NDArray[Any], to: int) -> Any:
        self.write(b"send", to, raw(data), kept=False)
        return self.timed.Isend(data, to)

    def Recv(self, out: NDArray[Any], source: int) -> None:
        self.timed.Recv(out, source)
        self.received += out.nbytes
        self.write(b"recv", source, raw(out))

    def Allgather(self, mine: NDArray[Any], out: NDArray[Any]) -> None:
        self.timed.Allgather(mine, out)
        self.received += out.nbytes - mine.nbytes
        self.write(b"allg", -1, raw(out))

    def Allgatherv(self, mine: NDArray[Any], out: list[Any]) -> None:
        self.timed.Allgatherv(mine, out)
        self.received += out[0].nbytes - mine.nbytes
        self.write(b"allv", -1, raw(out[0]))

    def allgather(self, mine: Any) -> list[Any]:
        found: list[Any] = self.timed.allgather(mine)
        data = np.frombuffer(pickle.dumps(found), np.uint8)
        self.received += data.size * (self.size - 1) // self.size
        self.write(b"pick", -1, data)
        return found


class Replay:
    """A communicator that gives again what a rank received, to the same calls in the same order.

    Raises ShareError where a call is another than in the file, or gives other bytes to others.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.rank, self.size = path, 0, 2
        self.seconds, self.received, self.frame = 0.0, 0, 0
        self.file = path.open("rb")
        if self.file.readline(LONGEST_HEAD) != MAGIC:
            raise ShareError(f"{path}: no file of messages of this version; record it anew")
        try:
            self.head: dict[str, Any] = json.loads(self.file.readline(LONGEST_HEAD))
        except ValueError as error:
            raise ShareError(f"{path}: damaged in its first lines; record it anew") from error

    def Dup(self) -> "Replay":
        return self

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the processor time within."""
        begun = process_time()
        try:
            yield
        finally:
            self.seconds += process_time() - begun

    def _wrong(self, what: str) -> ShareError:
        return ShareError(f"{self.path}: frame {self.frame}: {what}")

    def _next(self, call: bytes, other: int, size: int | None = None) -> tuple[int, int]:
        """Bytes of the call that comes next, and their sum; it must be this one."""
        header, told = self.file.read(HEADER.size), self.file.read(SUM.size)
        if not told:
            raise self._wrong(f"the file ends before {CALLS[call]}; record it anew")
        if len(told) < SUM.size or SUM.unpack(told)[0] != crc32(header):
            raise self._wrong("damaged; record it anew")
        found, whom, bytes_there, total = HEADER.unpack(header)
        if (found, whom) != (call, other) or size not in (None, bytes_there):
            wanted = "" if size is None else f" of {size:,} bytes"
            raise self._wrong(
                f"{CALLS[call]}{wanted} ({other}) is called, and the file has {CALLS[found]} of "
                f"{bytes_there:,} bytes ({whom}): it was recorded of another program or world"
            )
        return bytes_there, total

    def _read(self, out: NDArray[np.uint8], total: int) -> None:
        if self.file.readinto(out) < out.size or crc32(out) != total:
            raise self._wrong("damaged; record it anew")

    def _gave(self, mine: NDArray[np.uint8], then: NDArray[np.uint8]) -> None:
        if not np.array_equal(mine, then):
            raise self._wrong("this rank tells all others something else than when it was recorded")

    def mark(self, frame: int, data: bytes) -> None:
        """Compare what a frame has come to."""
        with self.counting():
            out = np.empty(len(data), np.uint8)
            self._read(out, self._next(b"hash", frame, out.size)[1])
        if out.tobytes() != data:
            raise self._wrong("the vehicles of this rank are others than when it was recorded")
        self.frame = frame + 1

    def Isend(self, data: NDArray[Any], to: int) -> "Left":
        with self.counting():
            if self._next(b"send", to, data.nbytes)[1] != crc32(raw(data)):
                raise self._wrong(
                    f"this rank sends rank {to} other bytes than when it was recorded"
                )
        return Left()

    def Recv(self, out: NDArray[Any], source: int) -> None:
        with self.counting():
            self._read(raw(out), self._next(b"recv", source, out.nbytes)[1])
        self.received += out.nbytes

    def Allgather(self, mine: NDArray[Any], out: NDArray[Any]) -> None:
        with self.counting():
            self._read(raw(out), self._next(b"allg", -1, out.nbytes)[1])
            self._gave(raw(mine), raw(out)[: mine.nbytes])
        self.received += out.nbytes - mine.nbytes

    def Allgatherv(self, mine: NDArray[Any], out: list[Any]) -> None:
        with self.counting():
            self._read(raw(out[0]), self._next(b"allv", -1, out[0].nbytes)[1])
            self._gave(mine, raw(out[0])[: mine.nbytes])
        self.received += out[0].nbytes - mine.nbytes

    def allgather(self, mine: Any) -> list[Any]:
        with self.counting():
            size, total = self._next(b"pick", -1)
            data = np.empty(size, np.uint8)
            self._read(data, total)
            found: list[Any] = pickle.loads(data.tobytes())
        if found[0] != mine:
            raise self._wrong("this rank tells all others something else than when it was recorded")
        self.received += size * (self.size - 1) // self.size
        return found


class Left:
    """A message that has left."""

    def Wait(self) -> None:
        """It has."""
