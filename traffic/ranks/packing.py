"""Vehicles, and what intersections remember, as bytes: packed column after column, without pickle."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.rows import put_columns, put_tables, take_columns, take_tables
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.traffic.ranks.division import Kept

if TYPE_CHECKING:
    from rushhour.traffic.ranks.division import Division
    from rushhour.traffic.sim.sim import Sim

OF_EXITS: Final = (
    "noted", "reserved", "kept", "crossed", "onward", "wished", "wished_since", "wished_first",
    "eldest_since", "eldest",
)  # fmt: skip
OF_LANES: Final = ("claimed", "claimed_since", "passers")
OF_CONNECTORS: Final = ("light", "closes", "waived")
OF_PROGRAMS: Final = ("phase", "since", "target", "held")
OF_DETECTORS: Final = ("hit", "served")
# Of vehicles what passing and grants decide in a frame.
DECIDED: Final = (
    "around", "swerve", "pass_frame", "granted", "line", "go", "stamp", "cut", "cut_stamp",
    "arrived", "overtaken", "refused", "full_since", "blocker",
)  # fmt: skip
WIDTHS: Final[dict[int, Any]] = {8: np.int64, 4: np.int32, 1: np.uint8}
Bytes = NDArray[np.uint8]


Size = TypeVar("Size", int, NDArray[np.int64])


def aligned(size: Size) -> Size:
    """The next multiple of 8."""
    return -(-size // 8) * 8


class Rows:
    """Packs the vehicles of one set of arrays: all that is known of them, or the fields with some names."""

    def __init__(self, veh: Vehicles, names: Sequence[str] = Vehicles._fields) -> None:
        self.veh = veh
        arrays: list[NDArray[Any]] = [getattr(veh, name) for name in names]
        flat = [a.view(WIDTHS[a.itemsize]) for a in arrays if a.ndim == 1]
        self._columns = [tuple(a for a in flat if a.itemsize == width) for width in WIDTHS]
        self._tables = tuple(a for a in arrays if a.ndim == 2)
        self._cells = sum(table.shape[1] for table in self._tables)
        names = [name for name in names if getattr(veh, name).ndim == 1]
        self._names = [
            [name for name in names if getattr(veh, name).itemsize == width] for width in WIDTHS
        ]
        self.size = sum(a.itemsize for a in flat) + 4 * self._cells

    def _parts(self, data: Bytes, n: int) -> tuple[list[NDArray[Any]], NDArray[np.int32]]:
        """The columns of n packed vehicles by width, and their tables; views."""
        at, found = 0, []
        for columns, (width, kind) in zip(self._columns, WIDTHS.items(), strict=True):
            size = len(columns) * width * n
            found.append(data[at : at + size].view(kind).reshape(len(columns), n))
            at += size
            if width == 4:
                tables = data[at : at + 4 * self._cells * n].view(np.int32)
                at += tables.nbytes
        return found, tables

    def take(self, slots: NDArray[np.int32], out: Bytes) -> None:
        """Pack the vehicles in some slots."""
        parts, tables = self._parts(out, slots.size)
        for columns, part in zip(self._columns, parts, strict=True):
            if columns:
                take_columns(columns, slots, part)
        if self._tables:
            take_tables(self._tables, slots, tables)

    def put(self, data: Bytes, slots: NDArray[np.int32]) -> None:
        """Write packed vehicles into some slots."""
        parts, tables = self._parts(data, slots.size)
        for columns, part in zip(self._columns, parts, strict=True):
            if columns:
                put_columns(columns, slots, part)
        if self._tables:
            put_tables(self._tables, slots, tables)

    def column(self, data: Bytes, n: int, name: str) -> NDArray[Any]:
        """One column of n packed vehicles; a view."""
        for names, part in zip(self._names, self._parts(data, n)[0], strict=True):
            if name in names:
                found: NDArray[Any] = part[names.index(name)]
                return found.view(getattr(self.veh, name).dtype)
        raise KeyError(name)


class Memory:
    """Packs what some of the intersections, lanes and signals of a rank remember.

    decided: only what the grants of a frame decide of exits, and who passes whom.
    """

    def __init__(
        self, sim: "Sim", division: "Division", kept: Kept, decided: bool = False
    ) -> None:  # fmt: skip
        self._sim, self._kept, self._decided = sim, kept, decided
        self._who = division.who
        self._of: tuple[Any, ...] = ()  # structures of which _arrays are
        self._arrays: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
        self._size = 0

    def _places(self) -> list[tuple[NDArray[Any], NDArray[np.int64]]]:
        """Arrays, and the numbers in each, the widest first."""
        sim = self._sim
        now = (sim.grants, sim.awake, sim.lights, sim.actuation)
        if len(self._of) != len(now) or any(a is not b for a, b in zip(self._of, now, strict=True)):
            self._of, self._arrays = now, self._found()
            self._size = aligned(sum(a.itemsize * places.size for a, places in self._arrays))
        return self._arrays

    def _found(self) -> list[tuple[NDArray[Any], NDArray[np.int64]]]:
        sim, kept, who = self._sim, self._kept, self._who
        grants, awake, lights = sim.grants, sim.awake, sim.lights
        if self._decided:
            found = [(getattr(grants, name), kept.exits) for name in OF_EXITS]
            return _by_width([*found, (grants.passers, kept.lanes)])
        signal, n = sim.network.arrays.connectors.signal, sim.network.n_road_lanes
        there = np.zeros(who.program.size, np.bool_)
        there[signal[kept.near[n:] & (signal >= 0)]] = True
        programs = np.flatnonzero((who.program == kept.rank) & there)
        lane = sim.actuation.lane
        detectors = np.flatnonzero((who.lane[lane] == kept.rank) & kept.near[lane])
        found = [
            *((getattr(grants, name), kept.exits) for name in OF_EXITS),
            *((getattr(grants, name), kept.lanes) for name in OF_LANES),
            *((getattr(grants, name), kept.connectors) for name in OF_CONNECTORS),
            *((getattr(lights, name), programs) for name in OF_PROGRAMS),
            *((getattr(lights, name), detectors) for name in OF_DETECTORS),
            (awake.roused, kept.groups),
            (awake.roads_roused, kept.roads),
        ]
        return _by_width(found)

    def size(self) -> int:
        """Bytes, a multiple of 8."""
        self._places()
        return self._size

    def take(self, out: Bytes) -> None:
        """Pack it."""
        at = 0
        for array, places in self._places():
            size = array.itemsize * places.size
            out[at : at + size].view(array.dtype)[:] = array[places]
            at += size

    def put(self, data: Bytes) -> None:
        """Remember what was packed."""
        at = 0
        for array, places in self._places():
            size = array.itemsize * places.size
            array[places] = data[at : at + size].view(array.dtype)
            at += size


def _by_width(
    found: list[tuple[NDArray[Any], NDArray[np.int64]]],
) -> list[tuple[NDArray[Any], NDArray[np.int64]]]:
    """Those of which there is anything, the widest first."""
    return sorted(
        [each for each in found if each[1].size], key=lambda each: -each[0].itemsize
    )  # fmt: skip
