"""Ways to reach a point in a given direction: families of curves that end along it.

The destination is the origin and the wanted direction is +x; (x, y) is the mobile. B is the
bearing of the destination, in (-180, 180]; straight behind it, at B = 180, every family is
singular and a start is nudged aside. Angles in degrees. F1 - F5 hold LINE, CIRCLE and PARABOLA.
Source: trajectory control of bots (2006); seed-systems.md S1, validation.md B0 (L4 - L7).
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.engines import DEGREES

F1: Final = 1
F2: Final = 2
F3: Final = 3
F4: Final = 4
F5: Final = 5


@kernel
def home_bearing(x: float, y: float) -> float:
    """B: direction from the mobile to the destination, degrees in (-180, 180]."""
    return DEGREES * math.atan2(0.0 - y, 0.0 - x)


@kernel
def conic_yaw(x: float, y: float, b: float, c: float) -> float:
    """F1: along x^2 + 2bxy + c^2y^2 + 2fy = 0, hyperbola b > c, parabola b = c, ellipse b < c."""
    return DEGREES * math.atan2(2.0 * y * (x + b * y), x * x - c * c * y * y)


@kernel
def spiral_yaw(x: float, y: float, k: float) -> float:
    """F2: k times the bearing; k 1 is the straight line, 2 the circle, up to B = 180 / (k - 1)."""
    return k * home_bearing(x, y)


@kernel
def slope_yaw(x: float, y: float, k: float) -> float:
    """F3: slope kxy / (x^2 - y^2); k 2 is the circle."""
    return DEGREES * math.atan2(k * x * y, x * x - y * y)


@kernel
def sine_yaw(x: float, y: float, k: float) -> float:
    """F4: sine of the course kxy / d^2; k 2 is the circle; forwards where x^2 >= y^2, else back."""
    square = x * x + y * y
    if square == 0.0:
        return 0.0
    sine = min(1.0, max(-1.0, k * x * y / square))
    cosine = math.sqrt(1.0 - sine * sine)
    return DEGREES * math.atan2(sine, cosine if x * x >= y * y else -cosine)


@kernel
def power_yaw(x: float, y: float, k: float) -> float:
    """F5: along y = a |x|^k; k 1 is the straight line, 2 the parabola."""
    return DEGREES * math.atan2(0.0 - k * y, 0.0 - x)


@kernel
def circle_radius(x: float, y: float) -> float:
    """Radius of the circle through the mobile that ends in the destination; y = 0: inf.

    Negative for y > 0, where the destination is reached by a left turn.
    """
    if y == 0.0:
        return math.inf
    return -(x * x + y * y) / (2.0 * y)


@kernel
def family_yaw(family: int, x: float, y: float, first: float, second: float) -> float:
    """Yaw of a family F1 - F5 at (x, y). first: k, or b of F1; second: c of F1."""
    if family == F1:
        return conic_yaw(x, y, first, second)
    if family == F2:
        return spiral_yaw(x, y, first)
    if family == F3:
        return slope_yaw(x, y, first)
    if family == F4:
        return sine_yaw(x, y, first)
    return power_yaw(x, y, first)


@kernel
def aim_home(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    home: NDArray[np.float64],
    family: NDArray[np.int32],
    shape: NDArray[np.float64],
    wanted_yaw: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Command bots lo .. hi-1 to their destinations, in their directions.

    home (n, 3): x, y, direction (degrees). family (n,), shape (n, 2): k, or b and c of F1. Writes
    wanted_yaw.
    """
    for i in range(lo, hi):
        turn = home[i, 2] / DEGREES
        cos, sin = math.cos(turn), math.sin(turn)
        dx, dy = x[i] - home[i, 0], y[i] - home[i, 1]
        along, aside = dx * cos + dy * sin, dy * cos - dx * sin
        wanted_yaw[i] = home[i, 2] + family_yaw(family[i], along, aside, shape[i, 0], shape[i, 1])
