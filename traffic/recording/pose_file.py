"""Poses of bodies with wheels in the run file: group /poses (docs/file-format.md), rows only appended.

Who is on a lane is where lane, s and lateral say; a body that steers is somewhere beside. Each
recorded frame with such bodies is a row of `set`, which says where its rows end in `row`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.hdf5_file import want_stored
from rushhour.traffic.recording.run_layout import growing
from rushhour.traffic.steering.body_table import FRONT

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

BODY: Final = "body"  # among the fields that may be chosen for recording
GROUP: Final = "poses"
PLACE_STEP: Final = 0.01  # m
HEADING_STEP: Final = 2.0 * np.pi / 65536.0  # rad
STEER_STEP: Final = 1e-4  # rad
STEPS: Final = {"x": PLACE_STEP, "y": PLACE_STEP, "heading": HEADING_STEP, "steer": STEER_STEP}
# A row of /poses/row in steps; in full precision it is a row of FRONT.
ROUNDED: Final = np.dtype(
    [("vehicle", "<i4"), ("x", "<i4"), ("y", "<i4"), ("heading", "<i2"), ("steer", "<i2")]
)
SET: Final = np.dtype([("frame", "<i8"), ("end", "<i8")])
ROWS_PER_CHUNK: Final = 8192
PIECE: Final = 1 << 20  # rows looked through at once
MOST: Final = 2.0e7  # m from the origin that a body may be; 2^31 steps reach further
# Fields of a recorded frame: NaN for who has no body.
COLUMNS: Final = {f"body_{name}": name for name in STEPS}


class PoseWriter:
    """Lays out /poses and tells what to append to it. exact: in full precision."""

    def __init__(self, file: Any, data: dict[str, Any], exact: bool) -> None:
        self._exact = exact
        self._data = data
        self._rows = 0
        group = file.create_group(GROUP)
        kind, units = FRONT if exact else ROUNDED, "x, y m; heading, steer rad"
        row = growing(group, "row", kind, units, rows=ROWS_PER_CHUNK, checked=True)
        for name, step in STEPS.items():
            row.attrs[f"step_of_{name}"] = 1.0 if exact else step
        data[f"{GROUP}/row"] = row
        data[f"{GROUP}/set"] = growing(group, "set", SET, checked=True)

    def new_rows(
        self, frames: Sequence[int], fronts: Sequence[NDArray[Any]]
    ) -> list[tuple[Any, NDArray[Any]]]:
        """Datasets with what is to be appended for some frames; the rows first."""
        there = [k for k, rows in enumerate(fronts) if len(rows)]
        if not there:
            return []
        rows = np.concatenate([fronts[k] for k in there])
        sets = np.zeros(len(there), SET)
        sets["frame"] = [frames[k] for k in there]
        sets["end"] = self._rows + np.cumsum([len(fronts[k]) for k in there])
        self._rows = int(sets["end"][-1])
        kept = rows if self._exact else rounded(rows)
        return [(self._data[f"{GROUP}/row"], kept), (self._data[f"{GROUP}/set"], sets)]


def rounded(fronts: NDArray[Any]) -> NDArray[Any]:
    """Rows of FRONT as rows of ROUNDED; half a turn is written as minus half a turn."""
    rows = np.zeros(len(fronts), ROUNDED)
    rows["vehicle"] = fronts["vehicle"]
    for name, step in STEPS.items():
        steps = np.rint(fronts[name] / step).astype(np.int64)
        rows[name] = (steps + 32768) % 65536 - 32768 if name == "heading" else steps
    return rows


class PoseReader:
    """The poses of a file. Its methods raise what h5py raises, and ValueError, for damage."""

    def __init__(self, run: "RunFile") -> None:
        group = run.group(GROUP)
        self.there = group is not None
        if group is None:
            return
        self._row, sets = group["row"], group["set"]
        for data, kinds in ((self._row, (ROUNDED, FRONT)), (sets, (SET,))):
            if data.dtype not in kinds or data.ndim != 1:
                raise ValueError(f"{data.name} is {str(data.dtype)[:80]}")
            want_stored(data)
        table = sets[:]
        self._frame, self._end = table["frame"].astype(np.int64), table["end"].astype(np.int64)
        if (np.diff(self._frame, prepend=-1) <= 0).any() or (
            np.diff(self._end, prepend=0) < 0
        ).any():
            raise ValueError("the sets of poses are not in order")
        if len(table) and self._end[-1] > self._row.shape[0]:
            raise ValueError("a set of poses ends where there are none")

    def of_frame(self, frame: int) -> NDArray[Any]:
        """Rows of FRONT of a recorded frame, by its number."""
        at = int(np.searchsorted(self._frame, frame))
        if at == self._frame.size or self._frame[at] != frame:
            return np.zeros(0, FRONT)
        return _read(self._row[self._start(at) : int(self._end[at])])

    def _start(self, at: int) -> int:
        return int(self._end[at - 1]) if at else 0

    def of_vehicle(
        self, vehicle: int, frames: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows of FRONT of a vehicle in some frames, and which of these frames they are in."""
        rows, of = [np.zeros(0, FRONT)], [np.zeros(0, np.int64)]
        if frames.size:
            first = int(np.searchsorted(self._frame, frames[0]))
            behind = int(np.searchsorted(self._frame, frames[-1], side="right"))
            start, end = self._start(first), self._start(behind)
            for at in range(start, end, PIECE):
                piece = self._row[at : min(end, at + PIECE)]
                found = np.flatnonzero(piece["vehicle"] == vehicle)
                sets = np.searchsorted(self._end, at + found, side="right")
                rows.append(_read(piece[found]))
                of.append(np.searchsorted(frames, self._frame[sets]))
        return np.concatenate(rows), np.concatenate(of)


def _read(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of FRONT from those of a file. Raises ValueError for numbers that no body has."""
    if rows.dtype == ROUNDED:
        found = np.zeros(len(rows), FRONT)
        found["vehicle"] = rows["vehicle"]
        for name, step in STEPS.items():
            found[name] = rows[name] * step
    else:
        found = rows
    for name in STEPS:
        if not (np.abs(found[name]) <= MOST).all():
            raise ValueError(f"{name} of a body is no number up to {MOST:g}")
    return found


def columns_at(fronts: NDArray[Any], place: NDArray[Any], size: int) -> dict[str, NDArray[Any]]:
    """The fields of bodies as columns of `size` rows; place: the row of each."""
    columns = {field: np.full(size, np.nan) for field in COLUMNS}
    for field, name in COLUMNS.items():
        columns[field][place] = fronts[name]
    return columns


def body_columns(fronts: NDArray[Any], ids: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """The fields of bodies for the vehicles of a frame, sorted by number."""
    _, at, row = np.intersect1d(ids, fronts["vehicle"], assume_unique=True, return_indices=True)
    return columns_at(fronts[row], at, ids.size)
