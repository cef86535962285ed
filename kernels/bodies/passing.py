"""Passing bodies from outside on a road with one lane for each direction.

As vehicles that stand or crawl are passed (`overtaking`): within the lane where that is wide enough,
on either side, else over the oncoming lane, if that is seen free for the whole manoeuvre and no
body is on it or about to cross. A vehicle that passes bodies has its own id in `around`.
"""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.obstacles import (
    BESIDE,
    CLEARANCE,
    ENTRIES,
    PARALLEL,
    Obstacles,
    in_way,
)
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.trips import is_on_last_road
from rushhour.kernels.core.vehicles import Grants, Order, Routes, Types, Vehicles
from rushhour.kernels.following.desired_speed import desired_speed
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.lanes.overtaking import (
    FASTER,
    MOST,
    SIDE,
    SIGHT_ROOM,
    SIGHT_TIME,
    TOP,
    WITHIN,
    bends_ahead,
    passing_way,
    sees_free,
)


@kernel
def is_slow(o: Obstacles, e: int, v_most: float) -> bool:
    """Whether the body of an entry stands in a lane, or goes along it slower than v_most."""
    if o.comes[e] or o.waits[e] or abs(o.across[e]) > PARALLEL:
        return False
    return -0.5 < o.speed[e] < v_most


@kernel
def slow_stretch(
    o: Obstacles, lane: int, s: float, half: float, v_most: float, room: float
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """The bodies that one at s, half a body wide, can pass at once: from where to where they reach
    (m along the lane), how far to the right and to the left, and the speed of the fastest.

    room: m that it needs between two of them to come back; inf, ... if there is nothing to pass.
    """
    rear, front, right, left, speed = inf, -inf, inf, -inf, 0.0
    for turn in range(MOST + 1):
        best, nearest = -1, inf
        e = o.first[lane]
        while e >= 0:
            ahead = o.rear[e] > s if turn == 0 else o.front[e] > front and o.rear[e] < front + room
            if ahead and o.rear[e] < nearest and in_way(o, e, -half, half):
                best, nearest = e, o.rear[e]
            e = o.then[e]
        if best < 0:
            break
        if turn == MOST or not is_slow(o, best, v_most):
            return inf, -inf, inf, -inf, 0.0
        rear, front = min(rear, o.rear[best]), max(front, o.front[best])
        right, left = min(right, o.right[best]), max(left, o.left[best])
        speed = max(speed, o.speed[best])
    return rear, front, right, left, speed


@kernel
def strip_is_free(
    o: Obstacles, lane: int, s: float, end: float, low: float, high: float, seconds: float
) -> bool:  # fmt: skip
    """Whether no body will be in a strip of a lane from s to end in so many seconds, or may cross."""
    e = o.first[lane]
    while e >= 0:
        comes = max(0.0, -o.speed[e]) * seconds
        if o.front[e] > s and o.rear[e] - comes < end:
            if in_way(o, e, low, high) or o.comes[e] or abs(o.across[e]) > PARALLEL:
                return False
        e = o.then[e]
    return True


@kernel
def nobody_comes(o: Obstacles, lane: int, start: float, end: float, seconds: float) -> bool:
    """Whether no body is on the oncoming lane from start to end, nor gets there in so many seconds."""
    e = o.first[lane]
    while e >= 0:
        reach = max(0.0, o.speed[e]) * (seconds + SIGHT_TIME) + SIGHT_ROOM
        if o.rear[e] < end and o.front[e] + reach > start:
            if o.comes[e] or in_way(o, e, -BESIDE, BESIDE):
                return False
        e = o.then[e]
    return True


@kernel
def swerve_for_bodies(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, p: int, lane: int,
) -> float:  # fmt: skip
    """How far (m to the left) the one at place p swerves now, to pass the bodies ahead; 0 not at all."""
    o = grants.obstacles
    i = order.slot[p]
    t = veh.type[i]
    v, s, length = veh.speed[i], veh.s[i], net.lanes.length[lane]
    if veh.granted[i] > 0 or veh.lateral[i] != 0.0 or s - veh.length[i] < 0.5:
        return 0.0
    if stands_for_long(veh, i) or is_on_last_road(veh, i):
        return 0.0
    stop = veh.stop[i]
    if stop < veh.stop_end[i] and net.lanes.road[routes.stop_lane[stop]] == net.lanes.road[lane]:
        return 0.0
    v0 = desired_speed(net, veh, types, i, lane)
    half = 0.5 * types.width[t]
    back_in = types.min_gap[t]
    room = veh.length[i] + 2.0 * back_in
    rear, front, right, left, slow = slow_stretch(
        o, lane, s, half + CLEARANCE, v0 - rules.passing_gain, room
    )
    ahead = inf
    if p > order.start[lane]:
        j = order.slot[p - 1]
        ahead = veh.s[j] - veh.length[j]
    if rear - s > WITHIN or ahead < rear:
        return 0.0
    # On the side where one is passed; on the other only within the lane.
    shift = left + half + SIDE
    other = right - half - SIDE
    if rules.left_hand:
        shift, other = other, shift
    edge = 0.5 * net.lanes.width[lane] - half
    if abs(other) <= edge and (abs(shift) > edge or abs(other) < abs(shift)):
        shift = other
    within = abs(shift) <= edge
    top = TOP * v0
    if top - slow < FASTER:
        return 0.0
    sideways = 3.5 / rules.lane_change_time
    metres = front - s + veh.length[i] + back_in + 0.8 * slow
    seconds, way = passing_way(types, t, v, slow, top, metres, abs(shift), sideways)
    end = length - (v0 * v0 / (2.0 * types.decel[t]) + 2.0 * v0 + SIGHT_ROOM)
    if s + way > end or s + way + types.min_gap[t] + top * 0.5 > ahead:
        return 0.0
    low, high = shift - half - CLEARANCE, shift + half + CLEARANCE
    if not strip_is_free(o, lane, s, s + way, low, high, seconds):
        return 0.0
    if within:
        return shift
    if bends_ahead(net, lane, v0):
        return 0.0
    other_lane = grants.opposite[lane]
    if other_lane < 0 or not sees_free(net, veh, types, order, grants, i, lane, way, seconds):
        return 0.0
    scale = net.lanes.length[other_lane] / length
    start, stop_at = (length - s - way) * scale, (length - s) * scale
    return shift if nobody_comes(o, other_lane, start, stop_at, seconds) else 0.0


@kernel
def pass_bodies(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, frame: int, dt: float,
) -> int:  # fmt: skip
    """Let vehicles begin to pass bodies; returns how many do. Writes around, swerve, passers.

    Lanes are looked at in the order in which bodies were found on them, so it runs on one thread.
    """
    o = grants.obstacles
    begun = 0
    for e in range(o.counts[ENTRIES]):
        lane = o.lane[e]
        if lane >= grants.opposite.shape[0] or o.first[lane] != e:
            continue
        if net.roads.lane_count[net.lanes.road[lane]] != 1 or grants.passers[lane] > 0:
            continue
        other = grants.opposite[lane]
        if other >= 0 and grants.passers[other] > 0:
            continue
        # Drivers look about twice a second.
        if (frame + lane) % max(1, int(0.5 / dt)) != 0:
            continue
        for p in range(order.start[lane], order.start[lane + 1]):
            shift = swerve_for_bodies(net, veh, types, routes, order, grants, rules, p, lane)
            if shift != 0.0:
                i = order.slot[p]
                veh.around[i] = veh.id[i] + 1
                veh.swerve[i] = shift
                veh.pass_frame[i] = frame
                grants.passers[lane] = 1
                begun += 1
                break
    return begun
