"""Where the queue on a lane ends, and how much of the room before that others count on."""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import BEHIND, Grants, Order, Vehicles
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.junctions.grant_holders import must_change, swap_room

# m of the last of a queue that may stay behind, where nobody crosses: as drivers do who close up
QUEUE_OVERHANG = 8.0
CLOSES_UP = 100.0  # m of a lane on which a queue closes up while somebody crosses before it
JOINTS_BACK = 4  # joints in a row over which others are let on for the room beyond


@kernel
def taken(veh: Vehicles, order: Order, lane: int, queue_gap: float) -> float:
    """Metres that the vehicles on a lane or connector take once they stand."""
    total = 0.0
    for p in range(order.start[lane], order.start[lane + 1]):
        total += veh.length[order.slot[p]] + queue_gap
    return total


@kernel
def queue_end(
    net: NetworkArrays, veh: Vehicles, order: Order, lane: int, queue_gap: float
) -> tuple[float, float, bool, bool]:
    """Free metres at a lane's start now, and once its vehicles have closed up; empty; held.

    Whoever is at a stop, halts, or stands because it must change lane, will not close up: the lane
    counts only as far as its rear, and is `held`. So, without holding it, does whoever is farther on
    than CLOSES_UP: a long queue that creeps has room in sum, but not at its end. The second value may
    be negative: an overfull lane.
    """
    length = net.lanes.length[lane]
    lo, hi = order.start[lane], order.start[lane + 1]
    now = length
    if order.over[lane] >= 0:
        now = min(now, max(order.over_rear[lane], 0.0) - queue_gap)
    if lo == hi:
        return now, length, True, False
    last = order.slot[hi - 1]
    now = veh.s[last] - veh.length[last] - queue_gap
    used = 0.0
    kept = 0.0
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for p in range(hi - 1, lo - 1, -1):
        j = order.slot[p]
        changing = lane < n_road_lanes and must_change(veh, j, 0, 0)
        if stands_for_long(veh, j) or (changing and veh.speed[j] < 0.1):
            return now, veh.s[j] - veh.length[j] - queue_gap - used, False, True
        if veh.s[j] - veh.length[j] > CLOSES_UP:
            return (
                now,
                min(veh.s[j] - veh.length[j] - queue_gap - used, length - kept),
                False,
                False,
            )
        used += veh.length[j] + queue_gap
        if changing:
            kept = max(kept, swap_room(net, lane, veh.length[j], queue_gap) + used)
    return now, length - max(used, kept), False, False


@kernel
def clear_end(net: NetworkArrays, k: int) -> float:
    """Metres at the end of connector k that nobody crosses: a rear may stay there. Who merges there
    waits for the lane beyond anyhow."""
    to = net.connectors.to_lane[k]
    length = net.lanes.length[net.lanes.out_start.shape[0] - 1 + k]
    last = 0.0
    for z in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.connectors.to_lane[net.conflicts.other[z]] != to:
            last = max(last, net.conflicts.here_out[z])
    return length - last


@kernel
def spare_behind(net: NetworkArrays, lane: int) -> float:
    """Metres behind a lane on which the rear of its last may stand, whichever way it has come."""
    found = QUEUE_OVERHANG
    for x in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        found = min(found, clear_end(net, net.lanes.in_connector[x]))
    return found


@kernel
def rear_inside(net: NetworkArrays, veh: Vehicles, j: int) -> bool:
    """Whether the rear of vehicle j, on a road lane, is still in an intersection, where others cross."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    rear = veh.s[j] - veh.length[j]
    for b in range(BEHIND):
        lane = veh.behind[j, b]
        if rear >= 0.0 or lane < 0:
            return False
        if lane >= n_road_lanes and not net.connectors.free[lane - n_road_lanes]:
            return bool(rear < -clear_end(net, lane - n_road_lanes))
        rear += net.lanes.length[lane]
    return False


@kernel
def before_joint(net: NetworkArrays, lane: int) -> int:
    """The first joint (connector without right of way) into a lane; -1 if there is none."""
    for x in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        if net.connectors.free[net.lanes.in_connector[x]]:
            return net.lanes.in_connector[x]
    return -1


@kernel
def owed(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, lane: int, queue_gap: float
) -> float:
    """Metres of a lane on which others count: those who were granted it, and those who were let onto
    the lanes before because there was room beyond, with who is on the joint between.

    inf where somebody comes by a grant that leads beyond it, and has no room to stand there. Looks
    back over a row of joints; where several lead into one lane, at each into this one.
    """
    if grants.crossed[lane]:
        return inf
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    total = grants.reserved[lane]
    for x in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        if not net.connectors.free[net.lanes.in_connector[x]]:
            continue
        need = 0.0
        for depth in range(JOINTS_BACK - 1, -1, -1):
            k = net.lanes.in_connector[x]
            for _ in range(depth):
                if k >= 0:
                    k = before_joint(net, net.connectors.from_lane[k])
            if k < 0:
                continue
            up = net.connectors.from_lane[k]
            last = order.start[up + 1] - 1
            entering = order.start[up] <= last and rear_inside(net, veh, order.slot[last])
            if need <= 0.0 and grants.reserved[up] <= 0.0 and not entering:
                continue  # nobody was let onto it who could not stay there
            _, closed, _, _ = queue_end(net, veh, order, up, queue_gap)
            need = max(0.0, need + grants.reserved[up] - closed)
            need += taken(veh, order, n_road_lanes + k, queue_gap)
        total += need
    return total
