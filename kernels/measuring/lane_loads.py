"""Loads of lanes: how many are on each, who stands there and for how long, and what time is lost.

Whole numbers only, so that the sums are the same in whatever order vehicles are kept.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import Lanes
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.following.desired_speed import STANDING

MILLION: Final = 1_000_000.0


class LaneLoads(NamedTuple):
    """The load of each lane, connectors included, shape (n_lanes,)."""

    vehicles: NDArray[np.int64]
    queue: NDArray[np.int64]  # of them those that stand
    waiting: NDArray[np.int64]  # frames for which these have stood, summed
    lost: NDArray[np.int64]  # millionths of a second that all lose in a second, by the limit


@kernel
def read_loads(lanes: Lanes, veh: Vehicles, loads: LaneLoads, frame: int) -> None:
    """Read all lanes at the start of a frame. Writes loads.

    A vehicle at a stop does not stand. Time is lost by 1 - speed / limit.
    """
    loads.vehicles[:] = 0
    loads.queue[:] = 0
    loads.waiting[:] = 0
    loads.lost[:] = 0
    for i in range(veh.lane.shape[0]):
        lane = veh.lane[i]
        if lane < 0:
            continue
        loads.vehicles[lane] += 1
        limit = max(lanes.speed[lane], STANDING)
        loads.lost[lane] += int(MILLION * max(0.0, 1.0 - veh.speed[i] / limit))
        if veh.speed[i] < STANDING and veh.dwell_until[i] < 0:
            loads.queue[lane] += 1
            if veh.stands_since[i] >= 0:
                loads.waiting[lane] += frame - veh.stands_since[i]
