"""Stretches of roads that do not lie on the ground: which road is drawn over which where both cross."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown

if TYPE_CHECKING:
    from rushhour.roadnets.drafts.draft import DraftRoad

MOST_LEVEL: Final = 20

Stretch = tuple[
    float, float, int
]  # shares of a road's length where it begins and ends, and its level


class Levels(NamedTuple):
    """Stretches by road, then by place; all else is at level 0."""

    road: NDArray[np.int32]
    begin: NDArray[np.float64]  # share of the road's length
    end: NDArray[np.float64]
    level: NDArray[np.int8]  # 1 above the ground, 2 above that; -1 below

    def __repr__(self) -> str:
        return fields_shown(self)


def packed_levels(roads: Sequence["DraftRoad"] = ()) -> Levels:
    """The stretches of roads, numbered in their order."""
    rows = [(k, *one) for k, road in enumerate(roads) for one in sorted(road.levels)]
    road, begin, end, level = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Levels(
        np.array(road, np.int32), np.array(begin, np.float64), np.array(end, np.float64),
        np.array(level, np.int8),
    )  # fmt: skip
