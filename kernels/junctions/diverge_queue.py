"""Standing beside: the connectors out of one lane lie on each other at first, so who stands with its
rear on one of them keeps those in who have just left the line for another.

Asked before a grant: where the exit of such a connector does not take all who are on it or come to
it, its queue ends there. See diverging.py for how far two of them are in each other's way.
"""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import BEHIND, PATH, Grants, Order, Vehicles
from rushhour.kernels.junctions.permissive_places import waits_on
from rushhour.kernels.junctions.queue_ends import queue_end, taken

AMPLE = 60.0  # m of room, beyond which nobody looks


@kernel
def room_once_closed(
    net: NetworkArrays, veh: Vehicles, order: Order, j: int, o: int, queue_gap: float
) -> float:  # fmt: skip
    """Metres that are free beyond connector o once all there have closed up, over the joints on the
    way of j, which will take o, is on it or has its rear there; negative: a queue ends on o."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane, q, b = net.connectors.to_lane[o], 0, -2
    if veh.lane[j] == net.connectors.from_lane[o]:
        while q < PATH and veh.path[j, q] != o:
            q += 1
        q += 1
    elif veh.lane[j] != n_road_lanes + o:
        b = BEHIND - 1  # behind[b] .. behind[0] and its own lane come before its path
        while b >= 0 and veh.behind[j, b] != n_road_lanes + o:
            b -= 1
        b -= 1
    total = 0.0
    for _ in range(2 * PATH):
        _, closed, _, held = queue_end(net, veh, order, lane, queue_gap)
        total += closed
        k = -1
        while b >= 0 and k < 0:
            k = veh.behind[j, b] - n_road_lanes
            b -= 1
        if k < 0 and b == -1:
            k, b = veh.lane[j] - n_road_lanes, -2
        if k < 0 and q < PATH:
            k = veh.path[j, q]
            q += 1
        if held or total >= AMPLE or k < 0 or not net.connectors.free[k]:
            break
        total += queue_end(net, veh, order, n_road_lanes + k, queue_gap)[1]
        lane = net.connectors.to_lane[k]
    return total


@kernel
def last_on_way(net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, o: int) -> int:
    """Slot of the last who has a grant to take connector o, is on it or has its rear there; -1."""
    on = net.lanes.out_start.shape[0] - 1 + o
    j = grants.tail_slot[o]
    if j >= 0 and veh.lane[j] == net.connectors.from_lane[o]:
        return int(j)
    if order.start[on] < order.start[on + 1]:
        return int(order.slot[order.start[on + 1] - 1])
    return int(order.over[on])


@kernel
def leads_beyond(net: NetworkArrays, veh: Vehicles, j: int, o: int) -> bool:
    """Whether the grant of j leads over the line after connector o: it will not stand before that."""
    past = veh.lane[j] != net.connectors.from_lane[o]
    if past and veh.lane[j] < net.lanes.out_start.shape[0] - 1:
        return bool(veh.had_grant[j])
    for q in range(veh.granted[j]):
        k = veh.path[j, q]
        if past and not net.connectors.free[k]:
            return True
        past = past or k == o
    return False


@kernel
def changed_beyond(net: NetworkArrays, veh: Vehicles, j: int, o: int) -> bool:
    """Whether j, on the road beyond connector o, has left the lane that o leads to for another."""
    to = net.connectors.to_lane[o]
    return bool(veh.lane[j] != to and net.lanes.road[veh.lane[j]] == net.lanes.road[to])


@kernel
def who_stands_beside(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, k: int, queue_gap: float,
    stop_offset: float,
) -> int:  # fmt: skip
    """Slot of who leaves the lane before connector k by another one, and stands, or will, with its
    rear where nobody who takes k could get past it; -1. Not who waits inside for its gap."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = net.connectors.from_lane[k]
    for o in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if o == k:
            continue
        on = n_road_lanes + o
        apart = grants.pocket[o] - grants.let_past[o]  # m along o, see let_past
        j = last_on_way(net, veh, order, grants, o)
        if j < 0 or waits_on(veh, grants, j, o) or leads_beyond(net, veh, j, o):
            continue
        rear = -1.0
        if veh.lane[j] == on:
            rear = veh.s[j] - veh.length[j]
        elif veh.lane[j] != lane:
            rear = order.over_rear[on]
        if rear >= apart:
            continue
        stands = veh.lane[j] < n_road_lanes and not veh.had_grant[j] and veh.speed[j] < 0.5
        if stands and rear >= 0.0 and changed_beyond(net, veh, j, o):
            return j
        room = room_once_closed(net, veh, order, j, o, queue_gap)
        promised = grants.reserved[net.connectors.to_lane[o]]
        room -= max(taken(veh, order, on, queue_gap), promised)
        if room < 0.0 and net.lanes.length[on] + room + queue_gap - stop_offset < apart:
            return j
    return -1


@kernel
def who_stands_on_way(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, first: int, n: int,
    queue_gap: float, stop_offset: float,
) -> int:  # fmt: skip
    """Slot of who stands, or will, beside the way of i over its connectors first .. n - 1; -1.

    Also beyond the one at its line: between them it does not stop.
    """
    for q in range(first, n):
        k = veh.path[i, q]
        j = who_stands_beside(net, veh, order, grants, k, queue_gap, stop_offset)
        if j >= 0 and j != i:
            return j
    return -1
