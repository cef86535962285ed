"""HDF5 files that would be read for ever are refused before HDF5 sees them."""

from pathlib import Path

import h5py
import pytest

from rushhour.roadnets.errors import NetworkError, RunError
from rushhour.roadnets.hdf5_file import HEADER, HEAP
from rushhour.roadnets.storage import load
from rushhour.traffic.recording.run_file import RunFile


def with_endless_heap(path: Path) -> Path:
    """A file whose first heap ends with free space of no size; reading its text never ends."""
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "rushhour run"
    data = bytearray(path.read_bytes())
    at = data.index(HEAP)
    size = int.from_bytes(data[at + HEADER + 8 : at + HEADER + 16], "little")
    free = at + 2 * HEADER + (size + 7) // 8 * 8
    assert data[free : free + 2] == b"\0\0" and any(data[free + 8 : free + 16])
    data[free + 8 : free + 16] = bytes(8)
    path.write_bytes(data)
    return path


def test_a_heap_without_end_is_refused_in_one_line(tmp_path: Path) -> None:
    path = with_endless_heap(tmp_path / "run.h5")
    with pytest.raises(RunError, match="is not a run file"):
        RunFile(path)
    with pytest.raises(NetworkError, match=r"texts at byte [\d,]+ have no end"):
        load(path)
