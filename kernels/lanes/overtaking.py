"""Passing on a road with one lane for each direction: beside somebody slow, back in before it.

A driver swerves within its lane where that is wide enough; else it uses the oncoming lane, and only
if it sees that free for the whole manoeuvre: for each oncoming vehicle, and for one that may turn
up at the far end of the road, what is between them must hold the way of both until the
driver is back, and more. Nobody accelerates while being passed, so what was seen free stays
free. While it lasts both are on the same lane; `apart` tells who is in whose way.

One driver of a lane passes at a time, and none against another. Reads everybody on the two lanes;
each pair of lanes is decided by one task, so the bits do not depend on threads.
"""

from math import inf
from typing import Final

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import LONGEST_VEHICLE, NetworkArrays
from rushhour.kernels.core.obstacles import keeps_off
from rushhour.kernels.core.order import lanes_of
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.trips import has_stops, is_on_last_road
from rushhour.kernels.core.vehicles import (
    AT_STOP,
    CURVE,
    FREE,
    NOTHING,
    SPEED_LIMIT_AHEAD,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.following.car_following import approach_speed
from rushhour.kernels.following.desired_speed import CREEP, aimed_speed
from rushhour.kernels.following.halting import stands_for_long

SIDE: Final = 0.4  # m between two bodies side by side, at least
MOST = 3  # vehicles passed at once, at most
WITHIN = 40.0  # m to the one ahead within which a driver thinks of passing
PICK_UP = 0.6  # share of the acceleration that a driver counts on
TOP = 0.97  # share of the desired speed, likewise
FASTER = 1.5  # m/s by which a driver must be faster at the end
SIGHT_TIME = 1.0  # s left between two who meet, at both speeds
SIGHT_ROOM = 10.0  # m, likewise
ONCOMING = 1.2  # times the limit: the speed of somebody not seen yet
REAR_ROOM = 20.0  # m from the lane's start to the rears of those passed: the last one counts there
ONCOMING_BRAKING = 6.0  # m/s^2, with which two who meet on one lane stop, each for its half


@kernel(forceinline=True)
def apart(veh: Vehicles, types: Types, i: int, j: int) -> bool:
    """Whether two on the same lane can be side by side."""
    widths = types.width[veh.type[i]] + types.width[veh.type[j]]
    return bool(abs(veh.lateral[i] - veh.lateral[j]) >= 0.5 * (widths + SIDE))


@kernel
def leader_beside(
    veh: Vehicles, types: Types, order: Order, lane: int, p: int
) -> tuple[float, float, int]:
    """Gap, speed and slot of the nearest ahead on its lane that is in the way of the one at place p
    of the order, where somebody passes; (inf, 0, -1) if there is none."""
    i = order.slot[p]
    gap, v_lead, leader = inf, 0.0, -1
    for q in range(p - 1, order.start[lane] - 1, -1):
        j = order.slot[q]
        if veh.s[j] - veh.s[i] > gap + LONGEST_VEHICLE:
            break
        room = veh.s[j] - veh.length[j] - veh.s[i]
        if room < gap and not apart(veh, types, i, j):
            gap, v_lead, leader = room, veh.speed[j], j
    if leader < 0 and order.over[lane] >= 0:
        leader = order.over[lane]
        gap = order.over_rear[lane] - veh.s[i]
        v_lead = veh.speed[leader]
    return gap, v_lead, leader


@kernel
def last_beside(veh: Vehicles, order: Order, lane: int) -> int:
    """The vehicle whose rear is the last on a lane on which somebody passes, and is not empty."""
    lo, hi = order.start[lane], order.start[lane + 1]
    last = order.slot[hi - 1]
    rear = veh.s[last] - veh.length[last]
    for q in range(hi - 2, lo - 1, -1):
        j = order.slot[q]
        if veh.s[j] - LONGEST_VEHICLE > rear:
            break
        if veh.s[j] - veh.length[j] < rear:
            last, rear = j, veh.s[j] - veh.length[j]
    return last


@kernel
def is_passed(veh: Vehicles, order: Order, lane: int, i: int) -> bool:
    """Whether somebody on its lane is passing i, or about to."""
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if veh.around[j] > 0 and j != i:
            return bool(
                veh.around[i] == 0
                and veh.s[j] > veh.s[i] - WITHIN
                and veh.s[j] - veh.length[j] < veh.s[i] + 2.0
            )
    return False


@kernel
def crosses_middle(net: NetworkArrays, veh: Vehicles, types: Types, j: int) -> bool:
    """Whether the body of j reaches out of its lane."""
    half = 0.5 * types.width[veh.type[j]]
    return bool(abs(veh.lateral[j]) + half > 0.5 * net.lanes.width[veh.lane[j]])


@kernel
def oncoming_speed(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, i: int, lane: int,
    dt: float,
) -> float:  # fmt: skip
    """Next speed at which i can stop, in its half of the way, before somebody who comes towards it
    on one lane; inf if nobody does. Both do the same sum; it should never bind."""
    other = grants.opposite[lane]
    if other < 0 or (grants.passers[other] == 0 and veh.around[i] == 0):
        return inf
    out = veh.around[i] > 0 and crosses_middle(net, veh, types, i)
    scale = net.lanes.length[lane] / net.lanes.length[other]
    nearest = inf
    for p in range(order.start[other], order.start[other + 1]):
        j = order.slot[p]
        x = net.lanes.length[lane] - veh.s[j] * scale
        if x <= veh.s[i]:
            continue
        if out or (veh.around[j] > 0 and crosses_middle(net, veh, types, j)):
            nearest = min(nearest, x - veh.s[i])
    if nearest == inf:
        return inf
    return approach_speed(veh.speed[i], 0.5 * nearest - 2.0, 0.0, ONCOMING_BRAKING, dt)


@kernel
def time_to_gain(
    v: float, v_slow: float, v_top: float, accel: float, metres: float
) -> float:  # fmt: skip
    """Seconds until somebody at v, who accelerates to v_top, has won so many metres on v_slow."""
    t = max(0.0, (v_top - v) / accel)
    won = (v - v_slow) * t + 0.5 * accel * t * t
    if won >= metres and t > 0.0:
        d = v - v_slow
        return (np.sqrt(d * d + 2.0 * accel * metres) - d) / accel
    return t + (metres - won) / (v_top - v_slow)


@kernel
def passing_way(
    types: Types, t: int, v: float, slow: float, top: float, metres: float, shift: float, sideways: float
) -> tuple[float, float]:  # fmt: skip
    """Seconds and metres that one of type t at v takes to swerve by `shift` m, to win so many metres on `slow`, and to come back."""
    out = shift / (sideways if v >= 2.0 else CREEP)
    gains = time_to_gain(v, slow, top, PICK_UP * types.accel[t], metres)
    back = shift / sideways
    return out + gains + back, max(v, slow) * out + slow * gains + metres + top * shift / sideways


@kernel
def bends_ahead(net: NetworkArrays, lane: int, v0: float) -> bool:
    """Whether a lane has a bend before which nobody at v0 passes."""
    for m in range(net.lanes.profile_start[lane], net.lanes.profile_start[lane + 1]):
        if net.lanes.profile[m] < 0.8 * v0:
            return True
    return False


@kernel
def stays_slow(
    net: NetworkArrays, veh: Vehicles, types: Types, j: int, lane: int, v0: float, gain: float,
    frame: int, dt: float,
) -> float:  # fmt: skip
    """Speed of j, whom somebody who wants v0 might pass, or -1 if waiting behind it costs little.

    Slow is who drives slower than that by more than `gain`, for no other reason than its
    own, or who stands for another while at a stop, or where it was told to. Queues are not passed.
    """
    if veh.granted[j] > 0 or veh.around[j] > 0 or veh.lateral[j] != 0.0:
        return -1.0
    if veh.dwell_until[j] >= 0:
        return 0.0 if veh.dwell_until[j] - frame > 5.0 / dt else -1.0
    if veh.told[j] != NOTHING:
        return 0.0 if veh.speed[j] == 0.0 and veh.told_until[j] - frame > 5.0 / dt else -1.0
    why = veh.reason[j]
    if why != FREE and why != CURVE and why != SPEED_LIMIT_AHEAD and why != AT_STOP:
        return -1.0
    slow = max(veh.speed[j], aimed_speed(net, veh, types, j, lane) if why == FREE else 0.0)
    return slow if slow < v0 - gain and veh.speed[j] < v0 - gain else -1.0


@kernel
def sees_free(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, i: int, lane: int,
    way: float, seconds: float,
) -> bool:  # fmt: skip
    """Whether the oncoming lane is free for i to use over `way` m and so many seconds."""
    other = grants.opposite[lane]
    if other < 0 or grants.passers[other] > 0:
        return False
    length = net.lanes.length[lane]
    s, v = veh.s[i], way / seconds
    unseen = ONCOMING * net.lanes.speed[other]
    if length - s < way + unseen * (seconds + SIGHT_TIME) + v * SIGHT_TIME + SIGHT_ROOM:
        return False
    scale = length / net.lanes.length[other]
    for p in range(order.start[other], order.start[other + 1]):
        j = order.slot[p]
        x = length - veh.s[j] * scale
        if x + veh.length[j] + 1.0 <= s - veh.length[i]:
            continue  # it has gone by
        comes = max(veh.speed[j], aimed_speed(net, veh, types, j, other))
        return bool(x - s >= way + comes * (seconds + SIGHT_TIME) + v * SIGHT_TIME + SIGHT_ROOM)
    return True


@kernel
def may_pass(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, p: int, lane: int, frame: int, dt: float,
) -> tuple[int, float]:  # fmt: skip
    """The last of those that the one at place p can pass now, and how far it swerves (m to the
    side on which it passes); -1, 0 if it stays behind."""
    i = order.slot[p]
    t = veh.type[i]
    v, s, length = veh.speed[i], veh.s[i], net.lanes.length[lane]
    v0 = aimed_speed(net, veh, types, i, lane)
    lead = order.slot[p - 1]
    if veh.s[lead] - veh.length[lead] - s > WITHIN or veh.granted[i] > 0 or veh.lateral[i] != 0.0:
        return -1, 0.0
    slow = stays_slow(net, veh, types, lead, lane, v0, rules.passing_gain, frame, dt)
    if slow < 0.0 or s - veh.length[i] < 0.5 or stands_for_long(veh, i):
        return -1, 0.0
    if (
        has_stops(veh, routes, i)
        and net.lanes.road[routes.stop_lane[veh.stop[i]]] == (net.lanes.road[lane])
    ):
        return -1, 0.0
    if is_on_last_road(veh, i) or bends_ahead(net, lane, v0):
        return -1, 0.0
    top = TOP * v0
    if top - slow < FASTER:
        return -1, 0.0
    sideways = 3.5 / rules.lane_change_time
    # The end: before the lines, where grants are asked for, and the queues at them.
    end = length - (v0 * v0 / (2.0 * types.decel[t]) + 2.0 * v0 + SIGHT_ROOM)
    shift, last = 0.0, -1
    for count in range(min(MOST, p - order.start[lane])):
        j = order.slot[p - 1 - count]
        if veh.granted[j] > 0 or veh.around[j] > 0 or veh.s[j] - veh.length[j] < REAR_ROOM:
            return -1, 0.0
        if veh.speed[j] > slow + 0.5:
            return -1, 0.0
        shift = max(shift, 0.5 * (types.width[t] + types.width[veh.type[j]]) + SIDE)
        back_in = types.min_gap[veh.type[j]] + slow * 0.8
        metres = veh.s[j] - s + veh.length[i] + back_in
        seconds, way = passing_way(types, t, v, slow, top, metres, shift, sideways)
        if s + way > end:
            return -1, 0.0
        ahead = inf
        if p - 2 - count >= order.start[lane]:
            n = order.slot[p - 2 - count]
            ahead = veh.s[n] - veh.length[n]
        if s + way + types.min_gap[t] + top * 0.5 <= ahead:
            last = j
            break
    if last < 0:
        return -1, 0.0
    within = shift + 0.5 * types.width[t] <= 0.5 * net.lanes.width[lane]
    if not within and not sees_free(net, veh, types, order, grants, i, lane, way, seconds):
        return -1, 0.0
    return last, shift


@kernel
def go_on_passing(
    veh: Vehicles, types: Types, order: Order, grants: Grants, lane: int, p: int
) -> None:  # fmt: skip
    """Let the one at place p, who passes, come back when it has room before those it passed."""
    i = order.slot[p]
    if veh.swerve[i] == 0.0:
        if veh.lateral[i] == 0.0:
            veh.around[i] = 0
        return
    rear = veh.s[i] - veh.length[i]
    half = 0.5 * types.width[veh.type[i]]
    if not keeps_off(grants.obstacles, lane, rear, veh.s[i], half, 0.5, WITHIN + 5.0, veh.speed[i]):
        return
    for q in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[q]
        if j == i:
            continue
        ahead = veh.s[j] > veh.s[i]
        if not ahead and rear - veh.s[j] < types.min_gap[veh.type[j]] + 0.5 * veh.speed[j]:
            return
        if ahead and (veh.id[j] + 1 == veh.around[i] or veh.s[j] - veh.length[j] < veh.s[i] + 2.0):
            return
    veh.swerve[i] = 0.0


@kernel
def pass_on_lane(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, lane: int, frame: int, dt: float,
) -> int:  # fmt: skip
    """Decide who passes on a lane and who comes back; returns how many begin.

    Writes around, swerve, passers.
    """
    passers = 0
    lo, hi = order.start[lane], order.start[lane + 1]
    for p in range(lo, hi):
        if veh.around[order.slot[p]] > 0:
            go_on_passing(veh, types, order, grants, lane, p)
            passers += 1 if veh.around[order.slot[p]] > 0 else 0
    grants.passers[lane] = passers
    # Drivers look about twice a second.
    if passers > 0 or (frame + lane) % max(1, int(0.5 / dt)) != 0:
        return 0
    for p in range(lo + 1, hi):
        last, shift = may_pass(net, veh, types, routes, order, grants, rules, p, lane, frame, dt)
        if last >= 0:
            i = order.slot[p]
            veh.around[i] = veh.id[last] + 1
            veh.swerve[i] = -shift if rules.left_hand else shift
            veh.pass_frame[i] = frame
            grants.passers[lane] = 1
            return 1
    return 0


@kernel
def pass_on_lanes(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, passes: NDArray[np.int64], block: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Decide for the lanes of one block, and for those opposite to them."""
    begun = 0
    first, last = lanes_of(block, grants.opposite.shape[0])
    for lane in range(first, last):
        other = grants.opposite[lane]
        if other >= 0 and other < lane:
            continue  # decided with that one
        if (
            order.start[lane] + 1 < order.start[lane + 1] or grants.passers[lane] > 0
        ) and net.roads.lane_count[net.lanes.road[lane]] == 1:
            begun += pass_on_lane(net, veh, types, routes, order, grants, rules, lane, frame, dt)
        if other >= 0 and (
            order.start[other] + 1 < order.start[other + 1] or grants.passers[other] > 0
        ):
            begun += pass_on_lane(net, veh, types, routes, order, grants, rules, other, frame, dt)
    passes[block] += begun


@kernel(parallel=True)
def pass_all(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, passes: NDArray[np.int64], blocks: NDArray[np.int32], frame: int, dt: float,
) -> None:  # fmt: skip
    """Decide on the lanes of some blocks, of which a lane's opposite is in one, too."""
    for x in prange(blocks.shape[0]):
        pass_on_lanes(net, veh, types, routes, order, grants, rules, passes, blocks[x], frame, dt)
