"""Opening HDF5 files whose writer was killed, or still writes.

HDF5 marks a file that is being written in its first block (the *superblock*) and refuses to open
it; its own way around that waits for minutes where a file is damaged. Here the file is opened
through a reader that shows the superblock as it would stand after closing: mark removed, end of
file a little behind where it is, as its writer goes on, checksum to match.
"""

import io
import os
from pathlib import Path
from typing import Any, Final

import h5py

from rushhour.roadnets.hdf5_file import open_hdf5, want_heaps_that_end

# What h5py and numpy raise on a file that is cut or altered.
DAMAGE: Final = (
    KeyError, OSError, TypeError, ValueError, IndexError, AttributeError, RuntimeError,
)  # fmt: skip

SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
SIZE: Final = 48  # bytes of a superblock of version 3 with 8-byte addresses
_MASK: Final = 0xFFFFFFFF
# Bytes that may be written between opening a file and reading it. What a damaged file can claim, and have
# allocated, grows by as much.
_TO_COME: Final = 1 << 26


def open_for_reading(path: Path) -> h5py.File:
    """Open an HDF5 file for reading, closed or not. Raises OSError if it is none."""
    with path.open("rb") as file:
        start = file.read(SIZE)
    cut = int.from_bytes(start[28:36], "little") > path.stat().st_size  # as on a full disk
    known = len(start) == SIZE and start.startswith(SIGNATURE + b"\x03\x08\x08")
    if known and (start[11] or cut):
        want_heaps_that_end(path)
        return h5py.File(_Unclosed(path), "r")
    return open_hdf5(path)


class _Unclosed(io.FileIO):
    """A file whose superblock reads as if it had been closed."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._end = os.fstat(self.fileno()).st_size + _TO_COME
        start = bytearray(self.read(SIZE))
        start[11] = 0
        start[28:36] = self._end.to_bytes(8, "little")
        start[44:48] = checksum(bytes(start[:44])).to_bytes(4, "little")
        self._start = bytes(start)
        self.seek(0)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, counted from the end that is shown."""
        if whence == os.SEEK_END:
            offset, whence = self._end + offset, os.SEEK_SET
        return super().seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        """Read like any file, but for the first bytes. Raises OSError for what is not written yet."""
        at = self.tell()
        count = super().readinto(buffer) or 0
        if count < len(buffer):
            raise OSError(f"ends at byte {at + count:,}")
        if at < SIZE and count:
            shown = self._start[at : at + count]
            memoryview(buffer).cast("B")[: len(shown)] = shown
        return count


def checksum(data: bytes) -> int:
    """Jenkins' lookup3 hash with initial value 0, as HDF5 uses it for metadata.

    >>> hex(checksum(b"Four score and seven years ago"))
    '0x17770551'
    """
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    place = 0
    while len(data) - place > 12:
        a, b, c = (
            (value + int.from_bytes(data[place + k : place + k + 4], "little")) & _MASK
            for value, k in ((a, 0), (b, 4), (c, 8))
        )
        a, b, c = _mix(a, b, c)
        place += 12
    rest = data[place:].ljust(12, b"\0")
    if place == len(data):
        return c
    a, b, c = (
        (value + int.from_bytes(rest[k : k + 4], "little")) & _MASK
        for value, k in ((a, 0), (b, 4), (c, 8))
    )
    return _final(a, b, c)


def _turn(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _MASK


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for bits in (4, 6, 8, 16, 19, 4):
        a = ((a - c) & _MASK) ^ _turn(c, bits)
        c = (c + b) & _MASK
        a, b, c = b, c, a
    return a, b, c


def _final(a: int, b: int, c: int) -> int:
    for bits in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _turn(b, bits)) & _MASK
        a, b, c = b, c, a
    return b
