"""Measuring queues: how far they reach back from the ends of lanes.

The queue of a lane reaches from its end to the rear of the last vehicle slower than SLOW whom no
gap of more than GAP parts from the end. So those who already drive off in front still belong to it,
and somebody who stands alone in the middle of the lane does not.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import Lanes
from rushhour.kernels.core.vehicles import Vehicles

SLOW: Final = 5.0 / 3.6  # m/s
GAP: Final = 20.0  # m, bumper to bumper, or from the first one to the end of the lane

METRES: Final = 0  # columns of sums and most
VEHICLES: Final = 1


class Queues(NamedTuple):
    """Lanes whose queues are measured, shape (q,) unless said."""

    row: NDArray[np.int32]  # (n_lanes,) place of a lane here; -1
    lane: NDArray[np.int32]
    place: NDArray[np.int32]  # scratch
    start: NDArray[np.int32]  # (q+1,) scratch, into slot
    slot: NDArray[np.int32]  # (capacity,) scratch, vehicles by queue, head first
    sums: NDArray[np.float64]  # (q, 2) over the looks of this interval
    most: NDArray[np.float64]  # (q, 2) in this interval


@kernel
def line_up(veh: Vehicles, queues: Queues) -> None:
    """Sort the vehicles on the lanes by lane and falling s, ties by id."""
    n, q = veh.lane.shape[0], queues.lane.shape[0]
    queues.start[:] = 0
    for i in range(n):
        if veh.lane[i] >= 0 and queues.row[veh.lane[i]] >= 0:
            queues.start[queues.row[veh.lane[i]] + 1] += 1
    for r in range(q):
        queues.place[r] = queues.start[r]
        queues.start[r + 1] += queues.start[r]
    for i in range(n):
        if veh.lane[i] < 0 or queues.row[veh.lane[i]] < 0:
            continue
        r = queues.row[veh.lane[i]]
        p = queues.place[r]
        queues.place[r] = p + 1
        while p > queues.start[r]:
            j = queues.slot[p - 1]
            if veh.s[j] > veh.s[i] or (veh.s[j] == veh.s[i] and veh.id[j] < veh.id[i]):
                break
            queues.slot[p] = j
            p -= 1
        queues.slot[p] = i


@kernel
def look_at_queues(lanes: Lanes, veh: Vehicles, queues: Queues) -> None:
    """Add the queues as they are now to sums and most."""
    line_up(veh, queues)
    for r in range(queues.lane.shape[0]):
        length = lanes.length[queues.lane[r]]
        rear = length
        metres = 0.0
        vehicles = 0
        for p in range(queues.start[r], queues.start[r + 1]):
            i = queues.slot[p]
            if rear - veh.s[i] > GAP:
                break
            rear = veh.s[i] - veh.length[i]
            if veh.speed[i] < SLOW:
                metres = length - max(rear, 0.0)
                vehicles += 1
        queues.sums[r, METRES] += metres
        queues.sums[r, VEHICLES] += vehicles
        queues.most[r, METRES] = max(queues.most[r, METRES], metres)
        queues.most[r, VEHICLES] = max(queues.most[r, VEHICLES], vehicles)
