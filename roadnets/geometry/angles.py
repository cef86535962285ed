"""Angles as turns: the shorter way round."""

from math import pi
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Angle = TypeVar("Angle", float, NDArray[np.float64])


def wrapped(angle: Angle) -> Angle:
    """An angle, or several, in rad within -pi .. pi (pi itself comes out as -pi)."""
    return (angle + pi) % (2.0 * pi) - pi
