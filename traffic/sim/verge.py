"""Vehicles at the side of the road: off the lanes, but still in the world.

They stand in arrays of their own, so that no phase of a frame sees them. Those that are to go on
wait there until their lane has room beside them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import HAZARD, Vehicles
from rushhour.roadnets.facts import Part
from rushhour.traffic.sim.fields import VEHICLE, columns, first_rows, with_room
from rushhour.traffic.sim.state import new_vehicles


class Verge(Part):
    """Rows of vehicles at the side, in the order in which they came there."""

    def __init__(self) -> None:
        self._rows = new_vehicles(0)
        self.since: list[int] = []  # frame in which each came
        self.returning: list[int] = []  # ids of those that wait for room, longest first

    def __len__(self) -> int:
        return len(self.since)

    @property
    def rows(self) -> Vehicles:
        """The vehicles, one row each."""
        return first_rows(self._rows, len(self))

    def row(self, vehicle: int) -> int:
        """Row of a vehicle by its id; -1 if it is not here."""
        found = np.flatnonzero(self.rows.id == vehicle)
        return int(found[0]) if found.size else -1

    def take(self, veh: Vehicles, slot: int, frame: int) -> None:
        """Copy a vehicle here; its slot is free then."""
        n = len(self)
        if n == self._rows.lane.size:
            self._rows = with_room(self._rows, VEHICLE, max(16, 2 * n))
        for name, array in columns(veh):
            getattr(self._rows, name)[n] = array[slot]
        self._rows.reason[n] = HAZARD
        self._rows.blocker[n] = -1
        self.since.append(frame)
        veh.lane[slot] = -1

    def give(self, row: int, veh: Vehicles, slot: int, frame: int) -> None:
        """Copy a vehicle to a free slot; it leaves the side. Its time here counts as a stop."""
        rows = self.settled(row, frame)
        for name, array in columns(veh):
            array[slot] = getattr(rows, name)[row]
        self.drop(row)

    def settled(self, row: int, frame: int) -> Vehicles:
        """All rows, the time at the side of one of them counted up to now."""
        rows = self.rows
        rows.stopped[row] += frame - self.since[row]
        self.since[row] = frame
        return rows

    def drop(self, row: int) -> None:
        """Forget a row; the later ones move up."""
        rows, n = self.rows, len(self)
        vehicle = int(rows.id[row])
        for array in rows:
            array[row : n - 1] = array[row + 1 :].copy()
        del self.since[row]
        self.returning = [other for other in self.returning if other != vehicle]

    def replace(self, rows: Vehicles, since: list[int], returning: list[int]) -> None:
        """Have these vehicles here and no others. since: frames in which they came."""
        self._rows, self.since, self.returning = rows, since, returning

    def joined(self, name: str, column: NDArray[Any]) -> NDArray[Any]:
        """A column of live vehicles with those at the side behind it."""
        return np.concatenate((column, getattr(self.rows, name)))
