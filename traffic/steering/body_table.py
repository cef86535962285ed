"""The bodies of those who steer as a table of read-only arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.lane_bodies import LANE, Steered
from rushhour.kernels.vehicles import Vehicles


class BodyTable:
    """Columns over the steered vehicles on the road, shape (n,); valid until the next step.

    id: vehicle. Of `kernels.steering.bicycle.Bodies`: x, y (m, middle of the rear axle), heading
    (rad), speed, slip (m/s), turning (rad/s), steer (rad, angle of the front wheels), throttle,
    hand_brake, slope. Of `kernels.steering.lane_bodies.Steered`: tier, towed, astray, ahead (m), ...
    """

    def __init__(self, veh: Vehicles, bodies: Bodies, state: Steered) -> None:
        self._bodies = bodies
        self._state = state
        there = veh.lane[: state.tier.size] >= 0
        self._slots = np.flatnonzero(there & (state.tier != LANE))

    def __len__(self) -> int:
        return int(self._slots.size)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name == "id":
            array = self._state.owner
        elif name in Steered._fields:
            array = getattr(self._state, name)
        elif name in Bodies._fields:
            array = getattr(self._bodies, name)
        else:
            raise AttributeError(name)
        column: NDArray[Any] = array[self._slots]
        column.flags.writeable = False
        return column
