"""Classes of steered bodies: six of a game's, from nimble to sluggish, and a town's.

The game's are analogues, made up for the comparison of path followers (no published parameters):
power is given as an acceleration at any speed. A town's have the engine power of ordinary vehicles.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf, radians
from typing import Final

import numpy as np

from rushhour.kernels.steering.bicycle import BodyTypes
from rushhour.roadnets.errors import ParameterError


@dataclass(frozen=True)
class BodyClass:
    """How a body with wheels is built; SI units, angles in degrees."""

    mass: float  # kg
    length: float  # m
    wheelbase: float  # m
    half_width: float  # m
    max_steer: float  # degrees
    steer_rate: float  # degrees/s
    accel: float  # m/s^2
    brake: float  # m/s^2
    grip: float  # friction of the tyres, times g
    drag: float  # 1/s
    power: float = inf  # W
    traction: float = 0.0  # m/s^2, of the engine at walking pace; felt where it is above accel

    @property
    def turning_radius(self) -> float:
        """Least radius, m, that the middle of the rear axle drives."""
        return self.wheelbase / float(np.tan(radians(self.max_steer)))


# Source of the first six: validation.md A2, but for the length. Of the others: typical dimensions
# and engines; turning circles 10.5 - 23 m between kerbs; accelerations are the least of engine and
# what drivers ask of it, traction is what climbs: 50 % a car, 30 % a truck, 25 % a bus.
CLASSES: Final = {
    #                         mass   length base half-w steer rate accel brake grip  drag  power, traction
    "storm": BodyClass(1_200, 3.6, 2.4, 0.9, 35.0, 120.0, 6.0, 8.0, 0.90, 0.02),
    "bolte": BodyClass(9_000, 5.6, 3.2, 1.2, 32.0, 80.0, 4.5, 7.0, 0.85, 0.02),
    "panhard_crab": BodyClass(8_000, 4.8, 2.8, 1.2, 34.0, 90.0, 5.0, 8.0, 0.90, 0.02),
    "zaha": BodyClass(30_000, 8.0, 4.5, 1.6, 26.0, 40.0, 3.4, 5.0, 0.70, 0.04),
    "armata": BodyClass(48_000, 8.7, 5.0, 1.8, 24.0, 35.0, 3.2, 5.0, 0.75, 0.04),
    "hovercraft": BodyClass(8_700, 9.0, 4.5, 1.6, 30.0, 40.0, 3.6, 3.0, 0.45, 0.05),
    "car": BodyClass(1_500, 5.0, 2.8, 0.9, 35.0, 60.0, 4.0, 8.5, 0.90, 0.005, 90_000.0, 5.0),
    "van": BodyClass(2_500, 6.5, 3.7, 1.08, 37.0, 55.0, 3.0, 8.0, 0.85, 0.006, 100_000.0, 4.0),
    "truck": BodyClass(16_000, 12.0, 6.0, 1.25, 40.0, 40.0, 1.8, 6.0, 0.70, 0.004, 260_000.0, 3.0),
    "bus": BodyClass(14_000, 12.0, 6.1, 1.25, 42.0, 40.0, 1.8, 6.0, 0.70, 0.004, 210_000.0, 2.5),
}  # fmt: skip
GAME: Final = ("storm", "bolte", "panhard_crab", "zaha", "armata", "hovercraft")


def body_types(names: Sequence[str]) -> BodyTypes:
    """The classes of those names, in that order, as kernels take them.

    Raises ParameterError for a name that is no class.

    >>> body_types(["storm", "bus"]).wheelbase
    array([2.4, 6.1])
    """
    for name in names:
        if name not in CLASSES:
            raise ParameterError(f"body class {name!r:.60}: wanted one of {', '.join(CLASSES)}")
    return body_types_of([CLASSES[name] for name in names])


def body_types_of(chosen: Sequence[BodyClass]) -> BodyTypes:
    """Bodies, in that order, as kernels take them."""
    columns = {
        field.name: np.array([getattr(c, field.name) for c in chosen], np.float64)
        for field in fields(BodyClass)
    }
    return BodyTypes(
        wheelbase=columns["wheelbase"],
        nose=0.5 * (columns["length"] + columns["wheelbase"]),
        half_width=columns["half_width"],
        max_steer=np.radians(columns["max_steer"]),
        steer_rate=np.radians(columns["steer_rate"]),
        accel=columns["accel"],
        brake=columns["brake"],
        power=columns["power"] / columns["mass"],
        grip=columns["grip"],
        drag=columns["drag"],
        traction=columns["traction"],
    )
