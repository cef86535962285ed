"""Who is in the way of a change of lane, beside the one that wants it, or halting ahead there; who of a turn, on another one."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NetworkArrays

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


def who_stands_beside(
    net: NetworkArrays, k: int, last_on: Callable[[int], int], rear: Callable[[int], float],
    stands: Callable[[int], bool],
) -> int:  # fmt: skip
    """Who has left the lane before connector k by another one, and stands with its rear still on that; -1: nobody.

    The connectors out of one lane lie on each other at first: what `diverge_queue` asks before a grant, by what a run file
    knows. Of several the one that is nearest. last_on: who is last on a lane, -1 nobody; rear: m on its lane, negative
    where it hangs over onto what is behind.
    """
    n_road_lanes, lane = net.lanes.out_start.size - 1, net.connectors.from_lane[k]
    found = []
    for other in range(*net.lanes.out_start[lane : lane + 2].tolist()):
        on = n_road_lanes + other
        length = float(net.lanes.length[on])
        for place, begin in ((on, 0.0), (int(net.connectors.to_lane[other]), length)):
            who = last_on(place)
            if other != k and who >= 0 and stands(who) and begin + rear(who) < length:
                found.append((begin + rear(who), who))
    return min(found, default=(0.0, -1))[1]
