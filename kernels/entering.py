"""Is there a place on a lane: for a vehicle that changes to it or departs on it."""

from math import inf

from rushhour.kernels.car_following import stopping_distance
from rushhour.kernels.jit import kernel
from rushhour.kernels.network import NetworkArrays
from rushhour.kernels.vehicles import Order, Types, Vehicles


@kernel
def place_beside(net: NetworkArrays, lane: int, target: int, s: float) -> float:
    """Place on a neighbouring lane beside s: lanes of one road differ in length round a bend."""
    return s * net.lanes.length[target] / net.lanes.length[lane]


@kernel
def place_behind(veh: Vehicles, order: Order, lane: int, s: float) -> int:
    """First place of the order on `lane` whose vehicle is not ahead of s; the lane's end if none.

    The vehicle before that place is the leader of somebody at s, the one at it the follower.
    """
    lo, hi = order.start[lane], order.start[lane + 1]
    while lo < hi:
        mid = (lo + hi) // 2
        if veh.s[order.slot[mid]] > s:
            lo = mid + 1
        else:
            hi = mid
    return lo


@kernel
def braking_gap(v: float, v_ahead: float, b: float, reaction: float, keep: float) -> float:
    """Gap behind somebody at v_ahead with which v needs to brake at b at most."""
    close = stopping_distance(v, b) - stopping_distance(v_ahead, b)
    return keep + v * reaction + (max(0.0, close))


@kernel
def upstream_allows(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, lane: int, rear: float, v: float,
    b: float, dt: float,
) -> bool:  # fmt: skip
    """Whether nobody on the way into the lane's start comes too close to a rear bumper there.

    rear: m from the lane's start (may be negative); v: speed of the newcomer, m/s; b: the braking
    that may be forced on others.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for c in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        k = net.lanes.in_connector[c]
        on = n_road_lanes + k
        way = rear + net.lanes.length[on]
        if order.start[on] < order.start[on + 1]:
            j = order.slot[order.start[on]]
            keep = types.min_gap[veh.type[j]]
            if way - veh.s[j] < braking_gap(veh.speed[j], v, b, dt + 0.2, keep):
                return False
            continue
        back = net.connectors.from_lane[k]
        if order.start[back] < order.start[back + 1]:
            j = order.slot[order.start[back]]
            if veh.path[j, 0] != k or not (net.connectors.free[k] or veh.granted[j] > 0):
                continue
            keep = types.min_gap[veh.type[j]]
            way += net.lanes.length[back] - veh.s[j]
            if way < braking_gap(veh.speed[j], v, b, dt + 0.2, keep):
                return False
    return True


@kernel
def front_gap(
    net: NetworkArrays, veh: Vehicles, order: Order, lane: int, place: int, s: float
) -> tuple[float, float, int]:
    """Gap, speed and slot of the leader of somebody at s on `lane`; (inf, 0, -1) without one."""
    if place > order.start[lane]:
        j = order.slot[place - 1]
        return veh.s[j] - veh.length[j] - s, veh.speed[j], j
    if order.over[lane] >= 0:
        j = order.over[lane]
        return order.over_rear[lane] - s, veh.speed[j], j
    return inf, 0.0, -1
