"""What is on each road lane now, for whoever asks between two frames."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import Lanes
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.following.desired_speed import STANDING
from rushhour.kernels.measuring.queues import GAP, SLOW, Queues, line_up


class OnLanes(NamedTuple):
    """One entry per road lane, shape (n_road_lanes,)."""

    vehicles: NDArray[np.int32]  # whose front is on it
    standing: NDArray[np.int32]  # of these slower than 0.1 m/s
    queue: NDArray[np.int32]  # vehicles slower than 5 km/h in the queue at its end
    queue_length: NDArray[np.float64]  # m from its end to the rear of the last of these
    speed: NDArray[np.float64]  # m/s, mean; nan where nobody is
    waiting: NDArray[np.float64]  # s, standstills that last, of all on it, without stops


@kernel
def read_lanes(
    lanes: Lanes, veh: Vehicles, queues: Queues, found: OnLanes, frame: int, dt: float
) -> None:
    """Read all road lanes. Queues: one for each, in their order; writes found, and the scratch."""
    line_up(veh, queues)
    for lane in range(found.vehicles.shape[0]):
        first, last = queues.start[lane], queues.start[lane + 1]
        length = lanes.length[lane]
        rear = length
        queued = True
        standing, in_queue = 0, 0
        metres, speeds, waited = 0.0, 0.0, 0.0
        for p in range(first, last):
            i = queues.slot[p]
            v = veh.speed[i]
            speeds += v
            if v < STANDING:
                standing += 1
            if veh.stands_since[i] >= 0:
                waited += (frame - veh.stands_since[i]) * dt
            queued = queued and rear - veh.s[i] <= GAP
            if queued:
                rear = veh.s[i] - veh.length[i]
                if v < SLOW:
                    metres = length - max(rear, 0.0)
                    in_queue += 1
        found.vehicles[lane] = last - first
        found.standing[lane] = standing
        found.queue[lane] = in_queue
        found.queue_length[lane] = metres
        found.speed[lane] = speeds / (last - first) if last > first else np.nan
        found.waiting[lane] = waited
