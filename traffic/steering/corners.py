"""Opponents as users describe them, and their speed limits in corners by car and surface."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.steering.bicycle import G
from rushhour.kernels.steering.corner_driving import CornerDrivers
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.steering.classes import CLASSES

SURFACES: Final = {"asphalt": 1.0, "wet": 0.7, "gravel": 0.6, "dirt": 0.5, "ice": 0.15}
EDGES: Final = tuple(np.radians((6.0, 10.0, 15.0, 20.0, 30.0, 40.0, 55.0)))  # rad


@dataclass(frozen=True)
class CornerDriver:
    """An opponent: its car, the surface it is made for, and how it looks ahead."""

    body: str = "car"  # one of classes.CLASSES
    surface: str = "asphalt"  # one of SURFACES
    near: float = 6.0  # m
    far: float = 20.0  # m
    corner: float = float(np.radians(6.0))  # rad
    slide: float = float(np.radians(70.0))  # rad
    recover: float = float(np.radians(30.0))  # rad
    slowest: float = 5.0  # m/s, below which it does not slide
    top: float = 40.0  # m/s: how good an opponent it is
    share: float = 0.6  # of the grip that corners may ask for


def corner_limits(driver: CornerDriver) -> NDArray[np.float64]:
    """Speed limit, m/s, of each range of the angle between the points, never rising.

    On a circle of radius r the two directions differ by (far - near) / 2r; the limit is that of
    the upper end of a range, beyond the last one that of twice its angle.
    """
    widest = np.array([*EDGES, 2.0 * EDGES[-1]])
    radius = (driver.far - driver.near) / (2.0 * widest)
    grip = CLASSES[driver.body].grip * SURFACES[driver.surface]
    return np.sqrt(driver.share * grip * G * radius)


def corner_table(drivers: Sequence[CornerDriver]) -> CornerDrivers:
    """Drivers as kernels take them.

    Raises ParameterError for a body or a surface that does not exist, and for a near point that is
    not before the far one.
    """
    for driver in drivers:
        for given, known in ((driver.body, CLASSES), (driver.surface, SURFACES)):
            if given not in known:
                raise ParameterError(f"{given!r:.60}: wanted one of {', '.join(known)}")
        if not 0.0 <= driver.near < driver.far:
            raise ParameterError(
                f"points at {driver.near:g} and {driver.far:g} m: wanted the near one before the far"
            )

    def column(name: str) -> NDArray[np.float64]:
        return np.array([getattr(driver, name) for driver in drivers], np.float64)

    return CornerDrivers(
        near=column("near"), far=column("far"), corner=column("corner"), slide=column("slide"),
        recover=column("recover"), slowest=column("slowest"), top=column("top"),
        edge=np.tile(np.array(EDGES), (len(drivers), 1)),
        limit=np.array([corner_limits(driver) for driver in drivers]),
    )  # fmt: skip
