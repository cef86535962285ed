"""The bodies of those who steer as a table of read-only arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.lane_bodies import LANE, Steered
from rushhour.kernels.vehicles import Vehicles


def slots_with_bodies(veh: Vehicles, state: Steered) -> NDArray[np.int64]:
    """Slots of the vehicles on the road that have a body."""
    return np.flatnonzero((veh.lane[: state.tier.size] >= 0) & (state.tier != LANE))


class BodyTable:
    """Columns over the steered vehicles on the road, shape (n,); valid until the next step.

    id: vehicle. Of `kernels.steering.bicycle.Bodies`: x, y (m, middle of the rear axle), heading
    (rad), speed, slip (m/s), turning (rad/s), steer (rad, angle of the front wheels), throttle,
    hand_brake, slope. Of `kernels.steering.lane_bodies.Steered`: tier, towed, astray, ahead (m), ...
    """

    def __init__(self, veh: Vehicles, bodies: Bodies, state: Steered) -> None:
        self._bodies = bodies
        self._state = state
        self._slots = slots_with_bodies(veh, state)

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
