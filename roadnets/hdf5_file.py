"""Opening HDF5 files that may be damaged.

HDF5 keeps texts in *global heaps*. It walks their objects from one to the next, and for ever where
free space says that it is empty; so whoever reads such a file never comes back. Here heaps are
walked before anything is read.
"""

import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import h5py

HEAP: Final = b"GCOL\x01\0\0\0"
HEADER: Final = 16  # bytes of a heap's header, and of each object's
WITHIN: Final = 1 << 25  # bytes of the file; texts are written before anything that grows


def open_hdf5(path: str | Path) -> "h5py.File":
    """An HDF5 file, open for reading. Raises OSError if it is none, or would be read for ever."""
    import h5py

    want_heaps_that_end(path)
    return h5py.File(path, "r")


def want_heaps_that_end(path: str | Path) -> None:
    """Raises OSError for a file with a heap that has no end."""
    with Path(path).open("rb") as file:
        if not file.read(1):
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(HEAP, 0, WITHIN)
            while at >= 0:
                if _is_endless(data, at):
                    raise OSError(f"texts at byte {at:,} have no end")
                at = data.find(HEAP, at + 1, WITHIN)


def _is_endless(data: mmap.mmap, at: int) -> bool:
    """Whether objects of a heap are walked for ever."""
    end = at + int.from_bytes(data[at + 8 : at + 16], "little")
    place = at + HEADER
    while place + HEADER <= min(end, len(data)):
        index = int.from_bytes(data[place : place + 2], "little")
        size = int.from_bytes(data[place + 8 : place + 16], "little")
        if index == 0 and size == 0:
            return True
        place += size if index == 0 else HEADER + (size + 7) // 8 * 8
    return False
