"""Reading the frames of run files of format versions 1 and 2: columns with a row each.

`/frames` has an index with one entry per frame, and a dataset per column; frame i is the rows start[i]
to start[i] + count[i]. Version 1 has no digests.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.frame_fields import FIELDS, FULL

FIELDS_2: Final = ("id", "lane", "s", "lateral", "speed", "reason")
INDEX: Final = {
    "frame": "<i8", "time": "<f8", "start": "<i8", "count": "<i8", "digest": "<u8",
}  # fmt: skip
SINCE_2: Final = ("digest",)
PIECE: Final = 1 << 20  # rows looked through at once


class ColumnFrames:
    """The frames of a file. index: columns of INDEX, as far as they are sound.

    Raises RunError if columns are of another type; its methods raise what h5py raises.
    """

    fields = FIELDS_2
    precision = FULL  # of float32

    def __init__(self, path: Any, group: Any, version: int) -> None:
        self._group = group
        known = [name for name in INDEX if version > 1 or name not in SINCE_2]
        kinds = {name: FIELDS[name][0] for name in FIELDS_2}
        for name, kind in (kinds | {name: INDEX[name] for name in known}).items():
            data = group[name]
            if data.dtype != np.dtype(kind) or data.ndim != 1:
                raise RunError(
                    f"{path}: /frames/{name} is {data.dtype} with {data.ndim} axes; wanted "
                    f"{kind} with one; record it again"
                )
        count = min(group[name].shape[0] for name in known)
        index = {name: group[name][:count] for name in known}
        rows = min(group[name].shape[0] for name in FIELDS_2)
        start, size = index["start"], index["count"]
        before = np.concatenate(([0], (start + size)[:-1]))  # rows behind a frame may be empty
        sound = (size >= 0) & (size <= rows) & (start >= before) & (start <= rows - size)
        whole = count if sound.all() else int(np.argmin(sound))
        self.index = {name: values[:whole] for name, values in index.items()}

    def columns(self, i: int) -> dict[str, NDArray[Any]]:
        """The fields of the i-th frame, sorted by vehicle."""
        start, count = int(self.index["start"][i]), int(self.index["count"][i])
        return {name: self._group[name][start : start + count] for name in FIELDS_2}

    def trajectory(self, vehicle: int) -> dict[str, NDArray[Any]]:
        """The fields of a vehicle in all frames with it, and `row`: the frame's place in the file."""
        start, count = self.index["start"], self.index["count"]
        end = int((start + count)[-1]) if len(start) else 0
        places: list[NDArray[np.int64]] = []
        for first in range(0, end, PIECE):
            ids = self._group["id"][first : min(end, first + PIECE)]
            places.append(first + np.flatnonzero(ids == vehicle))
        place = np.concatenate([np.zeros(0, np.int64), *places])
        row = np.searchsorted(start, place, side="right") - 1
        inside = place < (start + count)[row] if len(place) else np.zeros(0, np.bool_)
        place, row = place[inside], row[inside]
        found = {name: self._group[name] for name in FIELDS_2}
        return {
            "row": row,
            **{
                name: np.array([data[at] for at in place.tolist()], FIELDS[name][0])
                for name, data in found.items()
            },
        }
