"""Crossings of pedestrians as they are marked on the road: drawn, and walked on by nobody."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown

Zebra = tuple[float, float, float, float, float]  # m: x, y of both ends, width along the road


class Zebras(NamedTuple):
    """Marked crossings, z straight pieces, each from (x0, y0) to (x1, y1), m."""

    x0: NDArray[np.float64]
    y0: NDArray[np.float64]
    x1: NDArray[np.float64]
    y1: NDArray[np.float64]
    width: NDArray[np.float64]  # m along the road

    def __repr__(self) -> str:
        return fields_shown(self)


def packed_zebras(zebras: Iterable[Zebra], shift: tuple[float, float] = (0.0, 0.0)) -> Zebras:
    """Zebras as arrays, their places less a shift, m; those without extent are left out."""
    rows = np.array([row for row in zebras if row[:2] != row[2:4]], np.float64).reshape(-1, 5)
    rows -= np.array((*shift, *shift, 0.0))
    return Zebras(*(np.ascontiguousarray(column) for column in rows.T))
