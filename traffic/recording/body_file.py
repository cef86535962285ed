"""Bodies from outside in the run file: group /bodies (docs/file-format.md), rows only appended.

A set of bodies is written when it is first in force, not in every frame: `set` says since which frame
and where its rows end, `row` has them, end to end.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.hdf5_file import want_stored
from rushhour.traffic.outside.bodies import what_is_wrong
from rushhour.traffic.outside.body_log import ROW, BodyLog, no_bodies
from rushhour.traffic.recording.run_layout import growing
from rushhour.traffic.recording.unclosed_file import DAMAGE

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

SET: Final = np.dtype([("frame", "<i8"), ("end", "<i8")])


class BodyWriter:
    """Lays out /bodies and tells what to append to it. data: where its datasets are kept."""

    def __init__(self, file: Any, world: "World", data: dict[str, Any]) -> None:
        self._data = data
        self._bodies = world.bodies
        self._new: list[tuple[int, NDArray[Any]]] = []
        self._rows = 0
        group = file.create_group("bodies")
        units = "x, y, length, width m, heading rad, vx, vy m/s"
        data["bodies/row"] = growing(group, "row", ROW, units, checked=True)
        data["bodies/set"] = growing(group, "set", SET, checked=True)
        world.bodies.listeners.append(self._note)

    def _note(self, frame: int, rows: NDArray[Any]) -> None:
        self._new.append((frame, rows))

    @property
    def waiting(self) -> int:
        """Bytes that are not yet told, as they lie in memory."""
        return sum(SET.itemsize + rows.nbytes for _, rows in self._new)

    def stop(self) -> None:
        """Listen no more; what was noted is still told."""
        if self._note in self._bodies.listeners:
            self._bodies.listeners.remove(self._note)

    def new_rows(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Datasets with what is to be appended to them since the call before; the rows first."""
        if not self._new:
            return
        new, self._new = self._new, []
        sets = np.zeros(len(new), SET)
        sets["frame"] = [frame for frame, _ in new]
        sets["end"] = self._rows + np.cumsum([len(rows) for _, rows in new])
        self._rows = int(sets["end"][-1])
        yield self._data["bodies/row"], np.concatenate([rows for _, rows in new])
        yield self._data["bodies/set"], sets


def read_bodies(run: "RunFile") -> BodyLog:
    """The bodies of a run, as far as they were written. Raises RunError for a damaged file."""
    group = run.group("bodies")
    if group is None:
        return no_bodies()
    try:
        for name, kind in (("row", ROW), ("set", SET)):
            data = group[name]
            if data.dtype != kind or data.ndim != 1:
                raise ValueError(f"{name} is {data.dtype}, wanted {kind}")
            want_stored(data)
        rows = group["row"][:]
        sets = group["set"][:]
        sets = sets[: int(np.searchsorted(sets["end"], len(rows), side="right"))]
        frames, ends = sets["frame"].astype(np.int64), sets["end"].astype(np.int64)
        if (np.diff(frames, prepend=-1) <= 0).any() or (np.diff(ends, prepend=0) < 0).any():
            raise ValueError("its sets are not in order")
        log = BodyLog(frames, ends, rows)
        for k, frame in enumerate(frames.tolist()):
            wrong = what_is_wrong(log.set(k))
            if wrong:
                raise ValueError(f"frame {frame}: {wrong}")
    except DAMAGE as error:
        raise RunError(f"{run.path}: /bodies is damaged ({error}); record it again") from error
    return log
