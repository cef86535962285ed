"""Is there a place on a lane: for a vehicle that changes to it or departs on it."""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Order, Types, Vehicles
from rushhour.kernels.following.car_following import approach_speed, stopping_distance

EASE = 0.2  # s of reaction left to whoever follows
DEEPEST = 7  # lanes looked back over
WAYS = 7  # bits: 127 ways into a lane, at most
LAST_WAY = (1 << WAYS) - 1
FAR = 0
NEAR = 1
NOBODY = 2
COOPERATION = 2.0  # m/s^2, the hardest braking to let somebody in who moves
LETS_IN = 0.6  # of the standstill gap behind one that stands, from which one still stops for it


@kernel
def place_beside(net: NetworkArrays, lane: int, target: int, s: float) -> float:
    """Place on a neighbouring lane beside s: lanes of one road differ in length round a bend."""
    return s * net.lanes.length[target] / net.lanes.length[lane]


@kernel
def rear_beside(net: NetworkArrays, veh: Vehicles, j: int, lane: int, start: float) -> float:
    """Place of the rear of j, on a neighbouring lane, beside `lane`, whose start is at `start`, m."""
    return start + place_beside(net, veh.lane[j], lane, veh.s[j]) - veh.length[j]


@kernel
def halting_for(v: float, opening: float, keep: float, b: float, dt: float) -> float:
    """Acceleration, at most, of who lets in somebody that stands, its rear `opening` m ahead: to halt
    keep m behind that by braking at b.

    Who brakes more gently at first must brake harder than b in the end, and then is not asked any more,
    nor is the next one, who did the same: on a fast road a whole stream would come past.
    """
    return (approach_speed(v, opening - keep - v * dt - 0.1, 0.0, b, dt) - v) / dt


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
def way_in_allows(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, k: int, way: float, free: bool,
    v: float, b: float, dt: float,
) -> int:  # fmt: skip
    """Whether the first on connector k, or on the lane before it, keeps clear of a rear `way` m beyond
    k's start: FAR, NEAR, or NOBODY there. free: nobody needs a grant between k's end and that rear.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    on = n_road_lanes + k
    j = -1
    if order.start[on] < order.start[on + 1]:
        j = order.slot[order.start[on]]
        way -= veh.s[j]
    else:
        back = net.connectors.from_lane[k]
        if order.start[back] == order.start[back + 1]:
            return NOBODY
        j = order.slot[order.start[back]]
        if veh.path[j, 0] != k:
            return FAR
        free = free and net.connectors.free[k]
        way += net.lanes.length[back] - veh.s[j]
    if not free and veh.granted[j] == 0:
        return FAR
    keep = types.min_gap[veh.type[j]]
    return NEAR if way < braking_gap(veh.speed[j], v, b, dt + EASE, keep) else FAR


@kernel
def upstream_allows(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, lane: int, rear: float, v: float,
    b: float, dt: float,
) -> bool:  # fmt: skip
    """Whether nobody on the way into the lane's start comes too close to a rear bumper there.

    rear: m from the lane's start (may be negative); v: speed of the newcomer, m/s; b: the braking
    that may be forced on others. Looks back over all lanes that are too short to stop on.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    ways = 0  # which of the ways into each lane looked back over is next, WAYS bits each
    depth = 0
    while depth >= 0:
        at, way, free = lane, rear, True
        for q in range(depth):
            k = net.lanes.in_connector[net.lanes.in_start[at] + ((ways >> (WAYS * q)) & LAST_WAY)]
            free = free and net.connectors.free[k]
            at = net.connectors.from_lane[k]
            way += net.lanes.length[n_road_lanes + k] + net.lanes.length[at]
        number = (ways >> (WAYS * depth)) & LAST_WAY
        c = net.lanes.in_start[at] + number
        if c >= net.lanes.in_start[at + 1] or number == LAST_WAY:
            ways &= (1 << (WAYS * depth)) - 1
            depth -= 1
            if depth >= 0:
                ways += 1 << (WAYS * depth)
            continue
        k = net.lanes.in_connector[c]
        way += net.lanes.length[n_road_lanes + k]
        what = way_in_allows(net, veh, types, order, k, way, free, v, b, dt)
        if what == NEAR:
            return False
        back = net.connectors.from_lane[k]
        way += net.lanes.length[back]
        fastest = 1.2 * net.lanes.speed[back]
        if what == NOBODY and depth < DEEPEST and way < braking_gap(fastest, v, b, dt + EASE, 2.5):
            depth += 1
        else:
            ways += 1 << (WAYS * depth)
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
