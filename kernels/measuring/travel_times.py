"""Current travel times: how much longer than on an empty road it takes to drive each road.

Of each road the number of vehicles on it and the sum of their speeds are averaged over time, with
weights that fall exponentially; an empty road is taken to carry one vehicle in free flow. The time to
drive it is its length times the one over the other (Little's law).
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Order, Vehicles

ROADS = 256  # per parallel task
FREE_TRACE = 0.05  # vehicles in free flow that every road is taken to carry besides


@kernel
def note_speeds(
    net: NetworkArrays, veh: Vehicles, order: Order, keep: float, count: NDArray[np.float64],
    pace: NDArray[np.float64], lo: int, hi: int,
) -> None:  # fmt: skip
    """Mix the present vehicles of roads lo .. hi into the averages; keep: weight of the past.

    count: vehicles; pace: sum of speed over the road's limit.
    """
    for road in range(lo, hi):
        lane = net.roads.first_lane[road]
        first = order.start[lane]
        last = order.start[lane + net.roads.lane_count[road]]
        total = 0.0
        for p in range(first, last):
            total += veh.speed[order.slot[p]]
        now, fast = 1.0, 1.0
        if last > first:
            now, fast = last - first, total / net.roads.speed[road]
        count[road] = keep * count[road] + (1.0 - keep) * now
        pace[road] = keep * pace[road] + (1.0 - keep) * fast


@kernel(parallel=True)
def note_all_speeds(
    net: NetworkArrays, veh: Vehicles, order: Order, keep: float, count: NDArray[np.float64],
    pace: NDArray[np.float64],
) -> None:  # fmt: skip
    """Mix the present vehicles of all roads into the averages, ROADS roads at a time."""
    n = count.shape[0]
    for task in prange((n + ROADS - 1) // ROADS):
        note_speeds(net, veh, order, keep, count, pace, task * ROADS, min(n, (task + 1) * ROADS))


@kernel
def slowness(
    count: NDArray[np.float64], pace: NDArray[np.float64], multiplier: NDArray[np.float64]
) -> None:
    """Write how many times as long as in free flow each road takes, at least 1."""
    for road in range(count.shape[0]):
        multiplier[road] = max(1.0, (count[road] + FREE_TRACE) / (pace[road] + FREE_TRACE))
