"""The arrow keys, or a gamepad's triggers, are the pedals of a car on a race track; the AI steers."""

from typing import TYPE_CHECKING, Final

import numpy as np

from rushhour.games.racing.car_race import DT
from rushhour.games.racing.driven_lap import DrivenLap
from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.by_hand.builder import NetworkBuilder
from rushhour.roadnets.model import Network
from rushhour.viewer.gamepad import pressed_gamepad
from rushhour.viewer.hand import Hand
from rushhour.viewer.target_hand import TargetHand

if TYPE_CHECKING:
    from rushhour.traffic.world import World

LANE: Final = 3.2  # m, of the road that stands for the track
STEPS: Final = 3  # of the car in a frame of the world


class LapHand(TargetHand):
    """Presses the pedals of a driven lap, frame by frame of the world that shows it."""

    says = "the arrow keys up and down, or a gamepad's triggers, are gas and brake; the car steers itself"

    def __init__(self, lap: DrivenLap, world: "World") -> None:
        Hand.__init__(self, world)
        self.lap = lap
        self._tell()

    @property
    def place(self) -> tuple[float, float]:
        """Where the car is, m."""
        x, y, _ = self.lap.place
        return x, y

    @property
    def time(self) -> float:
        """How far the world has come, s."""
        return self._world.time

    @property
    def told(self) -> str:
        """How fast it is, and how far."""
        lap = self.lap.laps
        if self.lap.done:
            return "both laps are driven; Q ends"
        return f"{3.6 * self.lap.speed:.0f} km/h, lap {min(2, 1 + int(lap))} of 2, {lap % 1:.0%}"

    def press(self) -> None:
        """Drive on for a frame of the world."""
        pedal = float("up" in self.held) - float("down" in self.held)
        pad = pressed_gamepad()
        if pad is not None and abs(pad.throttle) > abs(pedal):
            pedal = pad.throttle
        for _ in range(STEPS):
            self.lap.step(pedal)
        self._tell()

    def _tell(self) -> None:
        x, y, heading = self.lap.place
        length, width = self.lap.size
        self._world.bodies.set([0], x, y, heading, speed=self.lap.speed, length=length, width=width)


def track_network(track: Track, name: str) -> Network:
    """A network of one ring of road as wide as the track, for what shows traffic."""
    middle = 0.5 * (track.left + track.right)
    wide = float(np.hypot(*(track.left - track.right).T).mean())
    lanes, half = max(1, round(wide / LANE)), len(middle) // 2
    ring = [tuple(point) for point in middle.tolist()]
    builder = NetworkBuilder(name)
    builder.add_road(ring[: half + 1], lanes=lanes)
    builder.add_road([*ring[half:], ring[0]], lanes=lanes)
    return builder.build()


def drive_lap(lap: DrivenLap, name: str, window: str | None, size: tuple[int, int]) -> None:
    """Let somebody drive both laps in a window, until it is closed."""
    from rushhour.traffic.world import World
    from rushhour.viewer.actions import Look
    from rushhour.viewer.live import LiveSource
    from rushhour.viewer.session import Session
    from rushhour.viewer.window import watch

    world = World(track_network(lap.track, name), dt=STEPS * DT, seed=1)
    hand = LapHand(lap, world)
    session = Session(LiveSource(world, 0.025, hand, chased=True), *size, window=True)
    session.do(Look(*hand.place, 0.25))
    session.say(f"{hand.says}; Q ends")
    watch(session, kind=window)
