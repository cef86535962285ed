"""Where on a lane a trip can start, and how fast, so that nobody has to brake hard for it."""

from math import inf, sqrt

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import LONGEST_VEHICLE, NetworkArrays
from rushhour.kernels.core.obstacles import keeps_off
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.trips import Trips, Waiting
from rushhour.kernels.core.vehicles import STREAM_DEPART, Grants, Order, Types, Vehicles
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.following.lane_gaps import (
    EASE,
    braking_gap,
    front_gap,
    place_behind,
    place_beside,
    upstream_allows,
)
from rushhour.kernels.junctions.queue_ends import owed, queue_end
from rushhour.kernels.routing.way_ahead import QUEUE_SPACE

RANDOM_PLACES = 10  # random places tried by POS_RANDOM_FREE
FOLLOWER_BRAKING = 2.0  # m/s^2 a departing vehicle may force on the one behind
JAMMED = 0.6  # share of a lane's queue room up to which trips begin on it
AT_LINE = 2.0  # m to the line within which a trip that begins there begins at the line
BEFORE_LINE = 0.3  # m kept to it
BESIDE = 0.5  # m between the sides of bodies, of which one is between two lanes


@kernel
def fits_newcomers(veh: Vehicles, wait: Waiting, lane: int, s: float, length: float) -> bool:
    """Whether a body at s keeps 2.5 m + 1 s from those who departed on this lane just now."""
    j = wait.newest[lane]
    while j >= 0:
        if veh.s[j] >= s:
            if veh.s[j] - veh.length[j] - s < 2.5:
                return False
        elif s - length - veh.s[j] < 2.5 + veh.speed[j]:
            return False
        j = wait.older[j]
    return True


@kernel
def is_jammed(net: NetworkArrays, order: Order, lane: int) -> bool:
    """Whether a lane that traffic comes into is so full that nobody should begin a trip on it.

    Else trips that begin in a jam fill every gap in it, and it never moves again (E8).
    """
    on_it = order.start[lane + 1] - order.start[lane]
    if on_it == 0:
        return False
    if net.lanes.in_start[lane] == net.lanes.in_start[lane + 1]:
        return False
    return (on_it + 1) * QUEUE_SPACE > JAMMED * net.lanes.length[lane]


@kernel
def is_clear_beside(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, lane: int, s: float, t: int
) -> bool:
    """Whether nobody from a lane beside is where a body of type t with its front at s would be.

    Who changes lane is on the new one at once, and its body in part on the old one for a while.
    """
    road = net.lanes.road[lane]
    first = net.roads.first_lane[road]
    length, keep = types.length[t], types.min_gap[t]
    for side in (-1, 1):
        other = lane + side
        if not first <= other < first + net.roads.lane_count[road]:
            continue
        at = place_beside(net, lane, other, s)
        middles = 0.5 * (net.lanes.width[lane] + net.lanes.width[other])
        p = place_behind(veh, order, other, at + keep + LONGEST_VEHICLE)
        while p < order.start[other + 1]:
            j = order.slot[p]
            p += 1
            if veh.s[j] < at - length - keep:
                break
            here = -side * veh.lateral[j]
            if here <= 0.0 or veh.s[j] - veh.length[j] > at + keep:
                continue
            if middles - here < 0.5 * (types.width[t] + types.width[veh.type[j]]) + BESIDE:
                return False
    return True


@kernel
def safe_start(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, wait: Waiting,
    lane: int, s: float, t: int, factor: float, wish: float, exact: bool, aside: bool, dt: float,
) -> float:  # fmt: skip
    """Speed (m/s) at which a vehicle of type t can start at s; -1 if it cannot, or not exactly.

    wish: speed wanted. exact: that speed or none. aside: bodies between two lanes count.
    """
    length = types.length[t]
    place = place_behind(veh, order, lane, s)
    gap, v_lead, _ = front_gap(net, veh, order, lane, place, s)
    keep = types.min_gap[t]
    b = 0.5 * types.decel[t]
    if gap < keep or not fits_newcomers(veh, wait, lane, s, length):
        return -1.0
    if aside and not is_clear_beside(net, veh, types, order, lane, s, t):
        return -1.0
    if not keeps_off(grants.obstacles, lane, s - length, s, 0.5 * types.width[t], keep, keep, wish):
        return -1.0
    need = owed(net, veh, order, grants, lane, keep)
    if need > 0.0:
        _, closed, _, _ = queue_end(net, veh, order, lane, keep)
        if closed < need + length + keep:
            return -1.0
    v = wish
    if gap < inf:
        free = gap - keep + stopping_distance(v_lead, types.decel[t])
        # v r + v^2 / 2b <= free
        r = dt + EASE
        if exact:
            # With the gap and the braking of one who follows: not as if it came upon somebody.
            r, b = max(r, types.time_gap[t]), types.decel[t]
        v = min(v, b * (sqrt(r * r + 2.0 * free / b) - r))
    v = min(v, sqrt(max(0.0, 2.0 * b * (net.lanes.length[lane] - s - 0.5))))
    j = wait.newest[lane]
    while j >= 0:
        if veh.s[j] > s:
            v = min(v, sqrt(2.0 * b * max(0.0, veh.s[j] - veh.length[j] - s - keep)))
        j = wait.older[j]
    if exact and v < wish - 1e-9:
        return -1.0
    rear = s - length
    if place < order.start[lane + 1]:
        j = order.slot[place]
        room = braking_gap(veh.speed[j], v, FOLLOWER_BRAKING, dt + EASE, types.min_gap[veh.type[j]])
        if rear - veh.s[j] < room:
            return -1.0
    elif net.lanes.in_start[lane] < net.lanes.in_start[lane + 1]:
        # Those with a grant for this lane must still find room if the newcomer stops.
        stops = rear + stopping_distance(v, types.decel[t])
        if grants.reserved[lane] > 0.0 and stops - keep < grants.reserved[lane]:
            return -1.0
        if not upstream_allows(net, veh, types, order, lane, rear, v, FOLLOWER_BRAKING, dt):
            return -1.0
    return v


@kernel
def wished_speed(
    net: NetworkArrays, veh: Vehicles, order: Order, trips: Trips, trip: int, lane: int, v0: float,
    seed: int,
) -> tuple[float, bool]:  # fmt: skip
    """Speed (m/s) at which a trip wishes to start on a lane, and whether at that or not at all.

    v0: the highest there.
    """
    kind = trips.speed_kind[trip]
    wish, exact = trips.speed[trip], True
    if kind == 1:  # as fast as is safe
        wish, exact = v0, False
    elif kind == 2:
        wish = v0
    elif kind == 3:
        wish = net.lanes.speed[lane]
    elif kind == 4:
        wish, exact = v0 * uniform(seed, trip, 0, STREAM_DEPART), False
    elif kind == 5 or kind == 6:
        lo, hi = order.start[lane], order.start[lane + 1]
        wish, exact = v0, False
        if lo < hi and kind == 5:
            wish = min(v0, veh.speed[order.slot[hi - 1]])
        elif lo < hi:
            total = 0.0
            for p in range(lo, hi):
                total += veh.speed[order.slot[p]]
            wish = min(v0, total / (hi - lo))
    if wish > v0 * 1.5 + 1.0:
        wish = v0
    return wish, exact


@kernel
def place_in_turn(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, trips: Trips, trip: int, lane: int,
    base: float, wish: float, turn: int, draws: int, frame: int, seed: int,
) -> float:  # fmt: skip
    """Place (m) on a lane that a trip tries in its turn: `draws` random ones, then those that its kind of
    place names; -1: none. base: the first that its body fits on. wish: m/s."""
    t, where = trips.type[trip], trips.pos_kind[trip]
    length = net.lanes.length[lane]
    lo, hi = order.start[lane], order.start[lane + 1]
    if turn < draws:
        u = uniform(seed, trip, turn + (64 * frame if where == 4 else 1), STREAM_DEPART)
        return base + u * max(0.0, length - 1.0 - base)
    if where == 0:
        s = trips.pos[trip]
        if s < 0.0:
            s += length
        return min(max(s, 0.0), length - 0.1)
    if where == 5:
        s = length - 0.5
        if lo < hi:
            j = order.slot[hi - 1]
            s = veh.s[j] - veh.length[j] - types.min_gap[t] - wish
        return max(base, s)
    if turn == draws:
        return base
    # Just ahead of each vehicle, from the tail on.
    j = order.slot[hi - (turn - draws)]
    s = veh.s[j] + types.min_gap[veh.type[j]] + 1.5 * veh.speed[j] + types.length[t] + 0.1
    return -1.0 if s >= length - 0.5 else float(s)


@kernel
def start_place(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, wait: Waiting,
    trips: Trips, trip: int, lane: int, factor: float, aside: bool, frame: int, dt: float, seed: int,
) -> tuple[float, float]:  # fmt: skip
    """Place (m) and speed (m/s) at which a trip can start on a lane; speed -1: not now.

    aside: bodies between two lanes count.
    """
    other = grants.opposite[lane]
    if grants.passers[lane] > 0 or (other >= 0 and grants.passers[other] > 0):
        return 0.0, -1.0  # nobody turns up where somebody has seen the road free
    if not trips.walker[trip] and is_jammed(net, order, lane):
        return 0.0, -1.0
    t = trips.type[trip]
    length = net.lanes.length[lane]
    v0 = min(types.max_speed[t], net.lanes.speed[lane] * factor, net.lanes.entry_speed[lane])
    wish, exact = wished_speed(net, veh, order, trips, trip, lane, v0, seed)
    # On a road hardly longer than itself it stands at the line, on a shorter one its rear off it.
    base = types.length[t]
    if length - base < AT_LINE:
        base = max(length - BEFORE_LINE, 0.5 * length)
    where = trips.pos_kind[trip]
    lo, hi = order.start[lane], order.start[lane + 1]
    draws = 1 if where == 2 else RANDOM_PLACES if where == 4 else 0
    fixed = 0 if where == 2 else 1 + hi - lo if where == 3 or where == 4 else 1
    for turn in range(draws + fixed):
        s = place_in_turn(
            net, veh, types, order, trips, trip, lane, base, wish, turn, draws, frame, seed
        )
        if s < 0.0:
            continue
        if where == 0 and wish > 0.0 and exact:
            # A given speed that could not stop before the line is lowered, not refused.
            wish = min(wish, sqrt(max(0.0, types.decel[t] * (length - s - 0.5))))
        v = safe_start(
            net, veh, types, order, grants, wait, lane, s, t, factor, wish, exact, aside, dt
        )
        if v >= 0.0:
            return s, v
    return 0.0, -1.0
