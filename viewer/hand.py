"""A hand on the wheel: the arrow keys as pedals and steering of one vehicle of a live world.

All goes through the world's commands, `set_tier` and the inputs that are logged when they change, so
that a recorded run repeats it.
"""

from typing import Final

import numpy as np

from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.world import World

Held = frozenset[str]  # names of the keys that are down
KEYS: Final = ("up", "down", "left", "right", "control")
TURNS: Final = 2.0  # of the largest angle a second that the wheel is turned
CALM: Final = 9.0  # m/s at which the wheel is turned half as far: a key knows no "a little"
STANDS: Final = 0.3  # m/s below which "down" means backwards


class Hand:
    """Drives at most one vehicle of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.vehicle: int | None = None
        self.held: Held = frozenset()
        self._wheel = 0.0

    def take(self, vehicle: int) -> None:
        """Take over a vehicle. Raises CommandError if it cannot be driven."""
        self.release()
        self._world.set_tier(vehicle, "driven")
        self.vehicle, self.held, self._wheel = vehicle, frozenset(), 0.0

    def release(self) -> None:
        """Let the vehicle's own driver steer on, from where it is."""
        if self.vehicle is None:
            return
        vehicle, self.vehicle = self.vehicle, None
        try:
            self._world.set_tier(vehicle, "steered")
        except CommandError:  # it has arrived
            pass

    def press(self) -> None:
        """Give the inputs of the next frame, if somebody is driven."""
        if self.vehicle is None:
            return
        held, controls, me, speed = self.held, self._world.controls, self.vehicle, self._speed()
        self._wheel = turned(self._wheel, held, speed, self._world.dt)
        backwards = "down" in held and "up" not in held and speed < STANDS
        controls.throttle[me] = float("up" in held) - float(backwards)
        controls.brake[me] = float("down" in held and not backwards)
        controls.steer[me] = self._wheel
        controls.hand_brake[me] = float("control" in held)

    def _speed(self) -> float:
        """m/s of the body, negative backwards; 0 of one that is not there."""
        bodies = self._world.steered_bodies
        row = np.flatnonzero(bodies.id == self.vehicle)
        return float(bodies.speed[row[0]]) if row.size else 0.0


def turned(wheel: float, held: Held, speed: float, dt: float) -> float:
    """The wheel, -1 to 1, after dt s of keys; speed: m/s."""
    wanted = (("left" in held) - ("right" in held)) / (1.0 + (speed / CALM) ** 2)
    most = TURNS * dt
    return float(wheel + min(max(wanted - wheel, -most), most))
