"""Opening HDF5 files that may be damaged.

HDF5 keeps texts in *global heaps*. It walks their objects from one to the next, and for ever where
free space says that it is empty; so whoever reads such a file never comes back. Here heaps are
walked before anything is read.
"""

from collections.abc import Sequence
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.reading.remarks import flagged, flags

if TYPE_CHECKING:
    import h5py

DIFFERS: Final = "differs"  # attribute of remarks: 1 for each that tells of a difference
HEAP: Final = b"GCOL\x01\0\0\0"
SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
HEAD: Final = 48  # bytes of the first block of a file with 8-byte addresses
UNFINISHED: Final = (
    "its writer was killed, as a recording in its first second, before what it holds was on the disk, "
    "or has just begun; nothing can be read from it: write it again"
)
HEADER: Final = 16  # bytes of a heap's header, and of each object's
WITHIN: Final = 1 << 23  # bytes of the file that are looked through, where as a rule all texts are
OBJECT: Final = Struct("<H6xQ")  # the header of an object: its number, 0 of free space; its size
MOST_SQUEEZED: Final = 1100  # deflate makes at most 1 byte of so many; more was never written
SMALL: Final = 1 << 20  # bytes that need no such proof: a writer may be about to write them
PIECE: Final = 1 << 20  # bytes at once
LARGEST: Final = 1 << 17  # bytes of a heap that are walked


def open_hdf5(path: str | Path) -> "h5py.File":
    """An HDF5 file, open for reading. Raises OSError if it is none, or would be read for ever."""
    import h5py

    want_heaps_that_end(path)
    return h5py.File(path, "r")


def never_laid_out(path: str | Path) -> bool:
    """Whether an HDF5 file was left by a writer before its contents were on the disk.

    Its first block says so, or it is all there is: as of a recording killed in its first second.
    """
    try:
        with Path(path).open("rb") as file:
            start = file.read(HEAD + 1)
    except OSError:
        return False
    if not start.startswith(SIGNATURE):
        return False
    return len(start) <= HEAD or (start[8] >= 3 and start[11] != 0)


def want_stored(data: "h5py.Dataset") -> None:
    """Raises ValueError for a dataset that claims more than what is stored of it can hold."""
    most = MOST_SQUEEZED if data.compression else 1
    if data.nbytes > SMALL + most * data.id.get_storage_size():
        name = str(data.name).rpartition("/")[2][:60]
        raise ValueError(f"{name} claims {data.size} values, more than are stored")


def whole(data: "h5py.Dataset") -> NDArray[Any]:
    """All of a dataset. Raises ValueError for one that claims more than is stored."""
    want_stored(data)
    return np.asarray(data[:])


def texts(data: "h5py.Dataset") -> list[str]:
    """All of a dataset of texts. Raises ValueError for one that claims more than is stored."""
    want_stored(data)
    return list(data.asstr()[:])


def keep_differences(data: "h5py.Dataset", remarks: Sequence[str]) -> None:
    """Keep beside stored remarks which of them tell of a difference in the result."""
    which = flags(remarks)
    if any(which):
        data.attrs[DIFFERS] = np.array(which, np.uint8)


def with_differences(data: "h5py.Dataset", lines: Sequence[str]) -> tuple[str, ...]:
    """Remarks that were stored with `keep_differences`."""
    which = np.asarray(data.attrs.get(DIFFERS, ()))
    return flagged(lines, [bool(flag) for flag in which] if which.ndim == 1 else [])


def want_heaps_that_end(path: str | Path) -> None:
    """Raises OSError for a file with a heap that has no end."""
    with Path(path).open("rb") as file:
        for begin in range(0, WITHIN, PIECE):
            file.seek(begin)
            data = file.read(PIECE + LARGEST)
            at = data.find(HEAP, 0, PIECE + len(HEAP))
            while at >= 0:
                if _is_endless(data, at):
                    raise OSError(f"texts at byte {begin + at:,} have no end")
                at = data.find(HEAP, at + 1, PIECE + len(HEAP))
            if len(data) <= PIECE:
                return


def _is_endless(data: bytes, at: int) -> bool:
    """Whether objects of a heap are walked for ever."""
    end = min(at + int.from_bytes(data[at + 8 : at + 16], "little"), len(data))
    place = at + HEADER
    while place + HEADER <= end:
        index, size = OBJECT.unpack_from(data, place)
        if index == 0 and size == 0:
            return True
        place += size if index == 0 else HEADER + (size + 7) // 8 * 8
    return False
