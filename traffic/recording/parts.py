"""A recording that several ranks wrote: a file for each of them, beside each other, or put into one.

The first rank's is the run file. Those of the others hold their share of the frames, keyframes, events and
signals; read together they are one run.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.frame_reader import FrameReader
from rushhour.traffic.recording.run_layout import PART_FORMAT, RANKS, RECORDING, part_path
from rushhour.traffic.recording.unclosed_file import DAMAGE, open_for_reading

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

PARTS: Final = "parts"  # group with the other ranks' groups by number, where they are in one file


def opened_parts(path: Path, file: Any) -> list[Any]:
    """The other ranks' groups of a run file that is open; none where one process wrote it.

    Raises RunError for a file that is missing, or of another recording.
    """
    ranks = int(file.attrs.get(RANKS, 1))
    if PARTS in file:
        return [file[f"{PARTS}/{rank}"] for rank in range(1, ranks)]
    found: list[Any] = []
    try:
        for rank in range(1, ranks):
            found.append(_opened(path, part_path(path, rank), ranks))
            if found[-1].attrs.get(RECORDING) != file.attrs.get(RECORDING):
                raise RunError(f"{part_path(path, rank)} is of another recording than {path}; "
                               "bring the file that was written with it")  # fmt: skip
    except RunError:
        close_parts(found)
        raise
    return found


def _opened(path: Path, place: Path, ranks: int) -> Any:
    """The file of another rank."""
    try:
        part = open_for_reading(place)
        if part.attrs.get("format", "") == PART_FORMAT:
            return part
        part.close()
        why = "is none of its files"
    except FileNotFoundError:
        why = "is missing"
    except DAMAGE:
        why = "cannot be read: it is damaged, or its writer was killed at its start"
    raise RunError(
        f"{path} was written by {ranks} ranks, and {place.name} beside it {why}; bring the files of "
        "all ranks into one folder"
    )


def close_parts(parts: Sequence[Any]) -> None:
    """Close those that are files of their own."""
    for part in parts:
        if isinstance(part, h5py.File):
            part.close()


class PartedFrames:
    """The frames of all parts of a run, as far as all of them have them; see `FrameReader`."""

    def __init__(self, run: "RunFile", groups: Sequence[Any]) -> None:
        self._parts = [FrameReader(run, group["frames"]) for group in groups]
        first = self._parts[0]
        self.fields, self.precision = first.fields, first.precision
        indices = [part.index for part in self._parts]
        size = min(index["frame"].size for index in indices)
        same = np.ones(size, np.bool_)
        for index in indices:
            same &= index["frame"][:size] == indices[0]["frame"][:size]
        size = size if same.all() else int(np.argmin(same))
        self.index = {name: values[:size] for name, values in indices[0].items()}
        for name in ("count", "digest"):
            self.index[name] = np.sum([index[name][:size] for index in indices], axis=0,
                                      dtype=self.index[name].dtype)  # fmt: skip

    def columns(self, i: int) -> dict[str, NDArray[Any]]:
        """The fields of the i-th frame, sorted by vehicle."""
        return _put_together([part.columns(i) for part in self._parts], "id")

    def trajectory(self, vehicle: int) -> dict[str, NDArray[Any]]:
        """The fields of a vehicle in all frames with it, and `row`: the frame's place in the file."""
        found = _put_together([part.trajectory(vehicle) for part in self._parts], "row")
        there = found["row"] < self.index["frame"].size
        return {name: values[there] for name, values in found.items()}


def _put_together(parts: list[dict[str, NDArray[Any]]], by: str) -> dict[str, NDArray[Any]]:
    order = np.argsort(np.concatenate([part[by] for part in parts]), kind="stable")
    return {
        name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]
    }  # fmt: skip
