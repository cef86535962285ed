"""The live vehicles as a table of read-only arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.vehicles import Types, Vehicles


class VehicleTable:
    """Columns over the vehicles on the road, shape (n,); valid until the next step.

    Every field of `kernels.vehicles.Vehicles` is a column (id, lane, s, speed, accel, lateral,
    length, reason, blocker, ...), and so is `width`, m. `distance` is all that was driven, m.
    """

    def __init__(self, veh: Vehicles, types: Types) -> None:
        self._veh = veh
        self._types = types
        self._slots = np.flatnonzero(veh.lane >= 0)

    def __len__(self) -> int:
        return int(self._slots.size)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name == "width":
            column = self._types.width[self._veh.type[self._slots]]
        elif name == "distance":  # kept up to the start of the lane only
            column = self._veh.distance[self._slots] + self._veh.s[self._slots]
        elif name in Vehicles._fields:
            column = getattr(self._veh, name)[self._slots]
        else:
            raise AttributeError(name)
        column.flags.writeable = False
        return column
