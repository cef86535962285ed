"""Finished trips, one row each, in the order of arrival."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.facts import rows_line

COLUMNS = (
    "trip", "departed", "arrived", "distance", "waiting_time", "time_loss", "stop_time",
    "longest_standstill", "minds_changed", "reroutes", "ended",
)  # fmt: skip
ARRIVED, REMOVED, CUT_SHORT = 0, 1, 2  # how a trip ended
ENDS = ("arrived", "removed", "cut_short")


class TripLog:
    """Arrays over finished trips; times in s, distances in m.

    trip: place in the demand. departed, arrived: when it entered and left the road. waiting_time:
    below 0.1 m/s, stops not counted. time_loss: travel time less stops less what the way takes at
    the desired speed. longest_standstill: without stops. reroutes: times a closure or the traffic
    gave it another way. ended: ARRIVED, REMOVED (by a command) or CUT_SHORT (as near to a closed
    destination, or one that closed roads bar, as it could come).
    """

    def __init__(self) -> None:
        self.rows = 0
        self._table: NDArray[np.float64] = np.zeros((1024, len(COLUMNS)))

    def __repr__(self) -> str:
        return rows_line("TripLog", self.rows, COLUMNS)

    def add(
        self, veh: Vehicles, slots: NDArray[np.int32], begin: float, now: float, dt: float,
        reroutes: NDArray[np.int32], ended: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Append the vehicles in `slots`, which have just arrived at time `now`, or were removed."""
        n = slots.size
        while self.rows + n > self._table.shape[0]:
            self._table = np.concatenate((self._table, np.zeros_like(self._table)))
        departed = begin + veh.depart_frame[slots] * dt
        stop_time = veh.stopped[slots] * dt
        columns: tuple[Any, ...] = (
            veh.trip[slots],
            departed,
            now,
            veh.distance[slots],
            veh.waited[slots] * dt,
            now - departed - stop_time - veh.ideal[slots],
            stop_time,
            veh.longest[slots] * dt,
            veh.minds[slots],
            reroutes,
            ended,
        )
        part = self._table[self.rows : self.rows + n]
        for c, values in enumerate(columns):
            part[:, c] = values
        self.rows += n

    def table(self) -> NDArray[np.float64]:
        """A copy of all rows, (finished, columns)."""
        return self._table[: self.rows].copy()

    def replace(self, table: NDArray[np.float64]) -> None:
        """Hold these rows and no others."""
        self.rows = len(table)
        self._table = np.zeros((max(1024, self.rows), len(COLUMNS)))
        self._table[: self.rows] = table

    def column(self, name: str) -> NDArray[np.float64]:
        """One column, shape (finished,)."""
        return self._table[: self.rows, COLUMNS.index(name)]

    def __len__(self) -> int:
        return self.rows

    @property
    def trip(self) -> NDArray[np.int64]:
        """Places in the demand."""
        return self.column("trip").astype(np.int64)

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        if name in COLUMNS:
            return self.column(name)
        raise AttributeError(name)
