"""Standing beside: the connectors out of one lane lie on each other at first, so who stands with its
rear on one of them keeps those in who have just left the line for another.

Asked before a grant: where the exit of such a connector does not take all who are on it or come to
it, its queue ends there. See parting.py for how far two of them are in each other's way.
"""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Grants, Order, Vehicles
from rushhour.kernels.junctions.permissive_places import waits_on
from rushhour.kernels.junctions.queue_ends import queue_end, taken


@kernel
def who_stands_beside(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, k: int, queue_gap: float
) -> int:  # fmt: skip
    """Slot of who has left the lane before connector k by another one, and stands, or will, with its
    rear where nobody who takes k could get past it; -1. Not who waits inside for its gap."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = net.connectors.from_lane[k]
    for o in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if o == k:
            continue
        on = n_road_lanes + o
        apart = grants.pocket[o] - grants.let_past[o]  # m along o, see let_past
        last, rear = -1, 0.0
        if order.start[on] < order.start[on + 1]:
            last = order.slot[order.start[on + 1] - 1]
            rear = veh.s[last] - veh.length[last]
            if waits_on(veh, grants, last, o):
                continue
        elif order.over[on] >= 0:
            last, rear = order.over[on], order.over_rear[on]
        if last < 0 or rear >= apart or veh.granted[last] > 0:
            continue
        _, closed, _, _ = queue_end(net, veh, order, net.connectors.to_lane[o], queue_gap)
        closed -= taken(veh, order, on, queue_gap)
        if closed < 0.0 and net.lanes.length[on] + closed + queue_gap < apart:
            return int(last)
    return -1
