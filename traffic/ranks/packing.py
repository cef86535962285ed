"""Vehicles, and what intersections remember, as bytes: packed column after column, without pickle."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.rows import put_rows, take_rows
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.traffic.ranks.division import Kept
from rushhour.traffic.sim.state import WORDS, by_width

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
Bytes = NDArray[np.uint8]


Size = TypeVar("Size", int, NDArray[np.int64])


def aligned(size: Size) -> Size:
    """The next multiple of 8."""
    return -(-size // 8) * 8


Group = tuple[tuple[NDArray[Any], ...], NDArray[np.int32], NDArray[np.int64]]
ALL: Final = np.zeros(0, np.int64)  # each column in all slots; see kernels.core.rows


class Rows:
    """Packs the vehicles of one set of arrays: all that is known of them, or the fields with some names."""

    def __init__(self, veh: Vehicles, names: Sequence[str] = Vehicles._fields) -> None:
        self.veh = veh
        arrays = {name: getattr(veh, name) for name in names}
        self._groups = by_width(arrays.values())
        # Bytes of a vehicle before each column.
        self._before: dict[str, int] = {}
        self.size = 0
        for width in WORDS:
            for name, array in arrays.items():
                if array.itemsize == width:
                    self._before[name] = self.size
                    self.size += width * math.prod(array.shape[1:])

    def take(self, slots: NDArray[np.int32], out: Bytes) -> None:
        """Pack the vehicles in some slots."""
        at = 0
        for group in self._groups if slots.size else ():
            at = take_rows(group, slots, ALL, out, at)

    def put(self, data: Bytes, slots: NDArray[np.int32]) -> None:
        """Write packed vehicles into some slots."""
        at = 0
        for group in self._groups if slots.size else ():
            at = put_rows(group, slots, ALL, data, at)

    def column(self, data: Bytes, n: int, name: str) -> NDArray[Any]:
        """One column of n packed vehicles; a view."""
        array, at = getattr(self.veh, name), self._before[name] * n
        found: NDArray[Any] = data[at : at + array.itemsize * n].view(array.dtype)
        return found


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
        self._packed: list[Group] = []
        self._size = 0

    def _groups(self) -> list[Group]:
        """Arrays in groups of one width, the places of all, and where those of each array end."""
        sim = self._sim
        now = (sim.grants, sim.awake, sim.lights, sim.actuation)
        if len(self._of) != len(now) or any(a is not b for a, b in zip(self._of, now, strict=True)):
            self._of, found = now, self._found()
            self._size = aligned(sum(array.itemsize * places.size for array, places in found))
            self._packed = []
            for group in by_width(array for array, _ in found):
                of_width = [p for array, p in found if array.itemsize == group[0].itemsize]
                ends = np.cumsum([0, *(places.size for places in of_width)], dtype=np.int64)
                self._packed.append((group, np.concatenate(of_width).astype(np.int32), ends))
        return self._packed

    def _found(self) -> list[tuple[NDArray[Any], NDArray[np.int64]]]:
        sim, kept, who = self._sim, self._kept, self._who
        grants, awake, lights = sim.grants, sim.awake, sim.lights
        if self._decided:
            found = [(getattr(grants, name), kept.exits) for name in OF_EXITS]
            return [*found, (grants.passers, kept.lanes)]
        signal, n = sim.network.arrays.connectors.signal, sim.network.n_road_lanes
        there = np.zeros(who.program.size, np.bool_)
        there[signal[kept.near[n:] & (signal >= 0)]] = True
        programs = np.flatnonzero((who.program == kept.rank) & there)
        lane = sim.actuation.lane
        detectors = np.flatnonzero((who.lane[lane] == kept.rank) & kept.near[lane])
        return [
            *((getattr(grants, name), kept.exits) for name in OF_EXITS),
            *((getattr(grants, name), kept.lanes) for name in OF_LANES),
            *((getattr(grants, name), kept.connectors) for name in OF_CONNECTORS),
            *((getattr(lights, name), programs) for name in OF_PROGRAMS),
            *((getattr(lights, name), detectors) for name in OF_DETECTORS),
            (awake.roused, kept.groups),
            (awake.roads_roused, kept.roads),
        ]

    def size(self) -> int:
        """Bytes, a multiple of 8."""
        self._groups()
        return self._size

    def take(self, out: Bytes) -> None:
        """Pack it."""
        at = 0
        for group, places, ends in self._groups():
            at = take_rows(group, places, ends, out, at)
        out[at:] = 0  # the same message whenever the same is packed

    def put(self, data: Bytes) -> None:
        """Remember what was packed."""
        at = 0
        for group, places, ends in self._groups():
            at = put_rows(group, places, ends, data, at)
