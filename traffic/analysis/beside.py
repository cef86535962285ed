"""Who is in the way of a change of lane: beside the one that wants it, or halting ahead there."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

GAP: Final = 2.0  # m to both sides of a change within which others are in its way
HALTS_WITHIN: Final = 50.0  # m ahead within which nobody changes behind somebody who halts


def in_the_way(
    fronts: NDArray[np.float64], lengths: NDArray[np.float64], halts: NDArray[np.bool_],
    s: float, length: float,
) -> int:  # fmt: skip
    """Which of those on a lane keeps a vehicle from it; -1: none of them.

    fronts: (n,) m along that lane, halts: (n,) who was told to stand or is at a stop. s, length: of
    whom wants to change, m along that lane. Of several beside it the first in driving direction.
    """
    ahead = fronts - lengths - s
    beside = (ahead < GAP) & (fronts > s - length - GAP)
    if beside.any():
        return int(np.argmax(np.where(beside, fronts, -np.inf)))
    halting = halts & (ahead >= GAP) & (ahead < HALTS_WITHIN)
    return int(np.argmin(np.where(halting, fronts, np.inf))) if halting.any() else -1
