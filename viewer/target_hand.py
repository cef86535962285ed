"""The arrow keys, or a gamepad, drive the target of a chase: nobody's vehicle, and never let go.

All goes through the chase's pad, so that its tape has it.
"""

from rushhour.games.opponents.chase import Chase
from rushhour.viewer.gamepad import pressed_gamepad
from rushhour.viewer.hand import Hand, turned


class TargetHand(Hand):
    """Drives the target of a chase that was made with by_hand=True."""

    says = "the arrow keys drive the target, Control is its hand brake"

    def __init__(self, chase: Chase) -> None:
        super().__init__(chase.world)
        self._chase = chase

    @property
    def place(self) -> tuple[float, float]:
        """Where the target is, m."""
        bodies = self._chase.cast.bodies
        return float(bodies.x[0]), float(bodies.y[0])

    @property
    def time(self) -> float:
        """How far the world has come, s."""
        return self._chase.world.time

    @property
    def told(self) -> str:
        """How often the target was caught, in words; nothing while it was not."""
        captures = int(self._chase.cast.captures[0])
        return f"caught {captures} time{'' if captures == 1 else 's'}" if captures else ""

    def press(self) -> None:
        """Give the inputs of the next frame."""
        held, speed = self.held, float(self._chase.cast.bodies.speed[0])
        self._wheel = turned(self._wheel, held, speed, self._chase.world.dt)
        throttle = float("up" in held) - float("down" in held)
        hand_brake, pad = "control" in held, pressed_gamepad()
        if pad is not None and not held:
            throttle, self._wheel, hand_brake = pad
        self._chase.drive(throttle, self._wheel, float(hand_brake))
