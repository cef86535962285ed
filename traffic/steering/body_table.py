"""The bodies of those who steer as a table of read-only arrays, and where their fronts are."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.lane_bodies import LANE, Steered
from rushhour.roadnets.facts import rows_line

if TYPE_CHECKING:
    from rushhour.traffic.steering.tier import Steering


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

    def __repr__(self) -> str:
        names = dict.fromkeys(("id", *Bodies._fields, *Steered._fields))
        return rows_line("BodyTable", len(self), names)

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


FRONT: Final = np.dtype(
    [
        ("vehicle", "<i4"),
        ("x", "<f8"),  # m, of the front bumper's middle
        ("y", "<f8"),  # m
        ("heading", "<f8"),  # rad from east, counter-clockwise, -pi .. pi
        ("steer", "<f8"),  # rad, angle of the front wheels, left positive
    ]
)


def fronts_of(veh: Vehicles, steering: "Steering") -> NDArray[Any]:
    """Rows of FRONT of those who have a body, sorted by vehicle."""
    slots = slots_with_bodies(veh, steering.state) if steering.on else np.zeros(0, np.int64)
    rows = np.zeros(slots.size, FRONT)
    if not slots.size:
        return rows
    slots = slots[np.argsort(veh.id[slots], kind="stable")]
    bodies = steering.bodies
    heading = bodies.heading[slots]
    nose = steering.kinds.nose[veh.type[slots]]
    rows["vehicle"] = veh.id[slots]
    rows["x"] = bodies.x[slots] + nose * np.cos(heading)
    rows["y"] = bodies.y[slots] + nose * np.sin(heading)
    rows["heading"] = wrapped(heading)
    rows["steer"] = bodies.steer[slots]
    return rows


def wrapped(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles within -pi .. pi, rad."""
    return np.asarray(angle - 2.0 * np.pi * np.floor(angle / (2.0 * np.pi) + 0.5))


def pose_at_bodies(pose: NDArray[np.float64], ids: NDArray[np.int32], fronts: NDArray[Any]) -> None:
    """Put those of some poses, (n, 3), x, y and heading of fronts, where their bodies are."""
    _, at, row = np.intersect1d(ids, fronts["vehicle"], assume_unique=True, return_indices=True)
    for column, name in enumerate(("x", "y", "heading")):
        pose[at, column] = fronts[name][row]
