"""Driving: each vehicle takes the least acceleration that anything ahead allows.

Constraints: the leader (in the lane, or further along the vehicle's own path), rears that have not
yet parted from its way, the stop line of a connector it may not enter yet, conflict zones still in
use by somebody granted before, bends and limits here and ahead, a stop of its trip, a vehicle it lets
change into its lane. Reads the state of others, writes only accel, reason and blocker of its own.
"""

from math import inf

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.order import share, tasks_of
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.trips import has_stops
from rushhour.kernels.core.vehicles import (
    CONFLICT,
    CURVE,
    FREE,
    HAZARD,
    KRAUSS,
    LANE_CHANGE,
    LEADER,
    NOTHING,
    ONCOMING,
    PASSED,
    PATH,
    STREAM_DAWDLE,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.driving.speeds_ahead import (
    speed_onto,
    speed_over,
    speed_to_end,
    speed_to_lane,
    speed_to_line,
    speed_to_stop,
)
from rushhour.kernels.following.car_following import (
    dawdled_speed,
    guard_speed,
    krauss_speed,
    seen_speed,
)
from rushhour.kernels.following.curve_speed import bend_speed
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.following.halting import halting_brake
from rushhour.kernels.following.lane_gaps import (
    COOPERATION,
    LETS_IN,
    braking_gap,
    halting_for,
    rear_beside,
)
from rushhour.kernels.following.own_models import followed_acceleration
from rushhour.kernels.junctions.diverging import Partings
from rushhour.kernels.lanes.overtaking import is_passed, last_beside, leader_beside, oncoming_speed

# s for which a driver's imperfection lasts, and after which it looks at its leader again: a step
# of SUMO.
MOOD = 1.0
OPENS = 0.5  # m/s by which somebody who merges ahead must be faster for the gap to open by itself
CLOSED_UP = 1.0  # m between those who stand in a ring
UNBOUND = 1000.0  # m/s, desired speed of somebody whom something else holds
MIN_GAP_SHARE = 0.6  # of the standstill gap that the collision guard never gives up


@kernel
def look_distance(
    v: float, min_gap: float, time_gap: float, mean_accel: float, dt: float
) -> float:  # fmt: skip
    """How far ahead a vehicle must look: twice the gap that IDM wants behind a standing one.

    mean_accel: sqrt(accel * decel), m/s^2.
    """
    return 10.0 + 1.5 * (min_gap + v * (time_gap + dt) + v * v / (2.0 * mean_accel))


@kernel
def imperfection(veh: Vehicles, types: Types, i: int, frame: int, dt: float, seed: int) -> float:
    """Share of what a Krauss driver could do that it leaves undone now, 0 .. sigma.

    Drawn anew every MOOD seconds, for each driver at another instant.
    """
    sigma = types.sigma[veh.type[i]]
    if sigma <= 0.0:
        return 0.0
    turn = int(frame * dt / MOOD + (veh.id[i] % 16) / 16.0)
    return float(min(1.0, sigma * uniform(seed, veh.id[i], turn, STREAM_DAWDLE)))


@kernel(forceinline=True)
def last_on(veh: Vehicles, order: Order, lane: int, d: float) -> tuple[int, float]:
    """Who is the last on a lane d m ahead, or hangs over its end, and metres to its rear; -1, inf."""
    if order.start[lane] < order.start[lane + 1]:
        j = order.slot[order.start[lane + 1] - 1]
        return int(j), float(d + veh.s[j] - veh.length[j])
    j = order.over[lane]
    return int(j), float(d + order.over_rear[lane]) if j >= 0 else inf


@kernel(forceinline=True)
def follow(
    veh: Vehicles, types: Types, i: int, want: float, v0: float, gap: float, v_lead: float,
    min_gap: float, time_gap: float, frame: int, dt: float, seed: int,
) -> float:  # fmt: skip
    """Acceleration (m/s^2) by the model of i's type behind a leader. v0: desired speed, `UNBOUND` where a
    bend holds i and not its wish, which is `want`."""
    t, v = veh.type[i], veh.speed[i]
    accel, decel, model = types.accel[t], types.decel[t], types.model[t]
    if model != KRAUSS:
        a = followed_acceleration(model, v, v0, gap, v_lead, accel, decel, min_gap, time_gap)
        return min(a, (v0 - v) / dt) if v < v0 else a
    tau = types.time_gap[t]
    seen = seen_speed(v, v_lead, (MOOD - dt) * min(0.5, types.sigma[t]))
    most = krauss_speed(want, want, gap, seen, accel, decel, min_gap, tau, dt)
    w = krauss_speed(v, want, gap, seen, accel, decel, min_gap, tau, dt)
    share = imperfection(veh, types, i, frame, dt, seed)
    return (dawdled_speed(v, w, most, accel, share, MOOD, dt) - v) / dt


@kernel(forceinline=True)
def fall_back(
    veh: Vehicles, types: Types, i: int, j: int, lets_in: bool, keep: float, v0: float, opening: float,
    min_gap: float, time_gap: float, dt: float,
) -> float:  # fmt: skip
    """Acceleration (m/s^2) of i behind j that comes in before it, `opening` m ahead: to the gap that it
    wants then it falls back gently, before one that stands, `keep` m away, as before any leader."""
    t, v, v_in = veh.type[i], veh.speed[i], veh.speed[j]
    decel = types.decel[t]
    a = followed_acceleration(
        types.model[t], v, v0, opening, v_in, types.accel[t], decel, min_gap, time_gap
    )
    if lets_in and v_in < 0.1:
        return min(max(a, -decel), halting_for(v, opening, keep, decel, dt))
    return max(a, -COOPERATION)


@kernel(forceinline=True)
def acceleration_to_let_in(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, lets_in: int, asked: float, merges: int,
    opening: float, v0: float, min_gap: float, time_gap: float, dt: float,
) -> tuple[float, int]:  # fmt: skip
    """Acceleration (m/s^2) of i behind whom it lets in, or else who merges before it, and who that is;
    inf, -1. asked: m to the rear of who asks on a lane ahead, opening: of who merges; inf."""
    v = veh.speed[i]
    if lets_in >= 0:
        merges = lets_in
        opening = asked
        if asked == inf:
            opening = rear_beside(net, veh, merges, veh.lane[i], 0.0) - veh.s[i]
    elif merges < 0 or veh.speed[merges] >= v + OPENS:
        return inf, -1
    keep = min_gap if asked < inf else LETS_IN * types.min_gap[veh.type[i]]
    a = fall_back(veh, types, i, merges, lets_in >= 0, keep, v0, opening, min_gap, time_gap, dt)
    return a, merges


@kernel(forceinline=True)
def rests_in_queue(
    veh: Vehicles, order: Order, i: int, lane: int, p: int, min_gap: float
) -> bool:  # fmt: skip
    """Whether i, at place p of the order, stands in a queue that has closed up before it.

    Nothing else matters to it then: half of a full city stands so. Writes what it does there.
    """
    if veh.speed[i] != 0.0 or p <= order.start[lane]:
        return False
    leader = order.slot[p - 1]
    if veh.s[leader] - veh.length[leader] - veh.s[i] > min_gap:
        return False
    veh.accel[i] = 0.0
    told = veh.told[i] != NOTHING
    veh.reason[i] = HAZARD if told else LEADER
    veh.blocker[i] = -1 if told else veh.id[leader]
    return True


@kernel(forceinline=True)
def wanted_speeds(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, lane: int, dt: float
) -> tuple[float, float, float]:
    """Speed (m/s) that i wants where it is, the same for its model, and what a bend there allows it
    after the frame; inf."""
    want = aimed_speed(net, veh, types, i, lane)
    if net.lanes.profile_start[lane] < net.lanes.profile_start[lane + 1]:
        v = veh.speed[i]
        bend = bend_speed(net.lanes, lane, veh.s[i] + 0.5 * v * dt)
        if bend < want:
            # Held by the bend, not by its wish, it keeps the gap of one who would like to be faster:
            # near the wish IDM's gaps grow beyond the time gap.
            want = max(bend, 1.0)
            return want, UNBOUND, max(want, v - types.decel[veh.type[i]] * dt)
    return want, want, inf


@kernel(forceinline=True)
def leader_in_lane(
    veh: Vehicles, types: Types, order: Order, lane: int, p: int, beside: bool
) -> tuple[int, float, float]:
    """Who is the leader in the lane of the one at place p of the order, else the rear that hangs over its
    end, with the gap (m) and its speed (m/s); -1, inf, 0. beside: somebody passes there."""
    s = veh.s[order.slot[p]]
    if beside:
        gap, v_lead, j = leader_beside(veh, types, order, lane, p)
        return int(j), float(gap), float(v_lead)
    if p > order.start[lane]:
        j = order.slot[p - 1]
        return int(j), float(veh.s[j] - veh.length[j] - s), float(veh.speed[j])
    j = order.over[lane]
    if j >= 0:
        return int(j), float(order.over_rear[lane] - s), float(veh.speed[j])
    return -1, inf, 0.0


@kernel(forceinline=True)
def leader_ahead(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, i: int,
    lets_in: int, ways: int, look: float, min_gap: float, frame: int, dt: float,
) -> tuple[int, float, int, float]:  # fmt: skip
    """Who is the first on the next `ways` connectors of i's path and the lanes between, within look m,
    and the gap (m); -1, inf. And whom i lets in: lets_in, or who asks to come in before that, on a
    way without lines, with the metres to its rear."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane, v = veh.lane[i], veh.speed[i]
    d = net.lanes.length[lane] - veh.s[i]
    on_connector = lane >= n_road_lanes
    k = lane - n_road_lanes
    open_way = not on_connector or net.connectors.free[k]  # nobody has to stop on the way
    leader, gap, asked, q = -1, inf, inf, 0
    while d < look and leader < 0:
        if not on_connector:
            if q >= ways:
                break
            k = veh.path[i, q]
            leader, gap = last_on(veh, order, n_road_lanes + k, d)
            if leader >= 0:
                break
            open_way = open_way and net.connectors.free[k]
            d += net.lanes.length[n_road_lanes + k]
            q += 1
        on_connector = False
        road_lane = net.connectors.to_lane[k]
        if lets_in < 0 and open_way and grants.asked_in[road_lane] == frame:
            j = grants.asking[road_lane]
            room = rear_beside(net, veh, j, road_lane, d)
            b = types.decel[veh.type[i]] if veh.speed[j] < 0.1 else COOPERATION
            if room > braking_gap(v, veh.speed[j], b, dt, min_gap):
                lets_in, asked = j, room
        leader, gap = last_on(veh, order, road_lane, d)
        if grants.passers[road_lane] > 0 and order.start[road_lane] < order.start[road_lane + 1]:
            leader = last_beside(veh, order, road_lane)
            gap = d + veh.s[leader] - veh.length[leader]
        d += net.lanes.length[road_lane]
    return leader, gap, lets_in, asked


@kernel(forceinline=True)
def speed_along_path(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    partings: Partings, rules: Rules, i: int, stops: bool, look: float, min_gap: float, frame: int,
    dt: float,
) -> tuple[float, int, int, int, float, int, bool]:  # fmt: skip
    """Speed (m/s) that lines, limits, bends, others on connectors, and the stop of its trip allow i within
    look m of its path, why and for whom. Then who merges before it and the gap (m) to its rear; how
    many connectors of its path it may take there; and whether it may not cross the first line."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane, decel = veh.lane[i], types.decel[veh.type[i]]
    most, reason, blocker, merges, opening = inf, FREE, -1, -1, inf
    d = net.lanes.length[lane] - veh.s[i]
    on_connector = lane >= n_road_lanes
    k = lane - n_road_lanes
    if on_connector:
        most, reason, blocker, merges, opening = speed_over(
            net, veh, types, order, grants, partings, i, k, -veh.s[i], decel, dt
        )
    q, shut = 0, False
    while d < look:
        if not on_connector:
            k = veh.path[i, q] if q < PATH else -1
            if k < 0:
                limit = speed_to_end(net, veh, rules, i, q, d, decel, dt)
                if limit < most:
                    most, reason, blocker = limit, LANE_CHANGE, -1
                break
            shut = not net.connectors.free[k] and (q >= veh.granted[i] or frame < veh.go[i])
            if shut:
                granted = q < veh.granted[i]
                limit, why, whom = speed_to_line(net, veh, rules, i, k, granted, d, decel, dt)
                if limit < most:
                    most, reason, blocker = limit, why, whom
                break
            limit, why, whom, j, room = speed_onto(
                net, veh, types, order, grants, partings, rules, i, k, q, d, decel, dt
            )
            if limit < most:
                most, reason, blocker = limit, why, whom
            if room < opening:
                merges, opening = j, room
            d += net.lanes.length[n_road_lanes + k]
            q += 1
        on_connector = False
        ahead = net.connectors.to_lane[k]
        limit, why = speed_to_lane(
            net, veh, routes, order, rules, i, ahead, stops, d, min_gap, decel, dt
        )
        if limit < most:
            most, reason, blocker = limit, why, -1
        d += net.lanes.length[ahead]
    if stops and lane < n_road_lanes:
        limit, why = speed_to_stop(net, veh, routes, order, i, min_gap, decel, dt)
        if limit < most:
            most, reason, blocker = limit, why, -1
    return most, reason, blocker, merges, opening, q, shut and q == 0


@kernel(forceinline=True)
def settle_acceleration(
    veh: Vehicles, types: Types, i: int, a: float, want: float, reason: int, blocker: int
) -> None:
    """Let i accelerate by a (m/s^2) as far as it can, or halt where it is told to, and note why."""
    t, v = veh.type[i], veh.speed[i]
    a = max(a, -types.emergency[t])
    veh.accel[i] = min(a, types.accel[t])
    if v > 0.95 * want and a > -0.1:
        reason, blocker = FREE, -1
    if veh.told[i] != NOTHING and veh.around[i] == 0:  # who passes comes back into its lane first
        veh.accel[i] = min(a, -halting_brake(veh, types, i) if v > 0.0 else 0.0)
        reason, blocker = HAZARD, -1
    veh.reason[i] = reason
    veh.blocker[i] = blocker


@kernel(forceinline=True)
def drive_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    partings: Partings, rules: Rules, p: int, frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Choose the acceleration of the vehicle at place p of the order; see module."""
    i = order.slot[p]
    lane, t, v = veh.lane[i], veh.type[i], veh.speed[i]
    on_road = lane < net.lanes.out_start.shape[0] - 1
    min_gap = types.min_gap[t]
    if frame < veh.closes_up[i]:
        min_gap = min(min_gap, CLOSED_UP)
    lets_in = veh.yields_to[i]
    if lets_in >= 0:
        veh.yields_to[i] = -1
    beside = on_road and grants.passers[lane] > 0
    stops = has_stops(veh, routes, i)
    if not stops and not beside and rests_in_queue(veh, order, i, lane, p, min_gap):
        return
    want, v0, nxt = wanted_speeds(net, veh, types, i, lane, dt)
    reason, blocker = CURVE if nxt < inf else FREE, -1
    leader, gap, v_lead = leader_in_lane(veh, types, order, lane, p, beside)
    time_gap = types.time_gap[t]
    look = look_distance(v, min_gap, time_gap, types.mean_accel[t], dt)
    limit, why, whom, merges, opening, ways, shut = speed_along_path(
        net, veh, types, routes, order, grants, partings, rules, i, stops, look, min_gap, frame, dt
    )
    if limit < nxt:
        nxt, reason, blocker = limit, why, whom
    if shut and p == order.start[lane]:
        time_gap = 0.0  # who is to stop at the line keeps only clear of those who are past it
    asked = inf
    if leader < 0:
        leader, gap, lets_in, asked = leader_ahead(
            net, veh, types, order, grants, i, lets_in, ways, look, min_gap, frame, dt
        )
        v_lead = veh.speed[leader] if leader >= 0 else 0.0
    a = follow(veh, types, i, want, v0, gap, v_lead, min_gap, time_gap, frame, dt, seed)
    if leader >= 0:
        # Who closes up to its leader comes no nearer on the way than it stands then.
        keep = min(MIN_GAP_SHARE * types.min_gap[t], min_gap)
        guard = guard_speed(v, gap - keep, v_lead, types.emergency[t], dt)
        a = min(a, (guard - v) / dt)
        if (nxt - v) / dt > a and (reason != CURVE or gap < look) and a < 0.5 * types.accel[t]:
            reason, blocker = LEADER, veh.id[leader]
    if on_road and grants.opposite[lane] >= 0:
        limit = oncoming_speed(net, veh, types, order, grants, i, lane, dt)
        if limit < nxt:
            nxt = limit
            if limit < want:
                reason, blocker = ONCOMING, -1
    if nxt < inf:
        a = min(a, (nxt - v) / dt)
    if beside and a > 0.0 and is_passed(veh, order, lane, i):
        a, reason = 0.0, PASSED
    b, whom = acceleration_to_let_in(
        net, veh, types, i, lets_in, asked, merges, opening, v0, min_gap, time_gap, dt
    )
    if b < a:
        a, reason, blocker = b, LANE_CHANGE if lets_in >= 0 else CONFLICT, veh.id[whom]
    settle_acceleration(veh, types, i, a, want, reason, blocker)


@kernel
def drive(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    partings: Partings, rules: Rules, n: int, stepped: NDArray[np.bool_], task: int, tasks: int,
    frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Choose the accelerations of one task's share of the order. stepped: see `drive_all`."""
    roads = order.start[net.lanes.out_start.shape[0] - 1]
    for first, last in share(0, roads, task, tasks), share(roads, n - roads, task, tasks):
        for p in range(first, last):
            if stepped[veh.lane[order.slot[p]]]:
                drive_vehicle(
                    net, veh, types, routes, order, grants, partings, rules, p, frame, dt, seed
                )


@kernel(parallel=True)
def drive_all(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    partings: Partings, rules: Rules, n: int, stepped: NDArray[np.bool_], frame: int, dt: float,
    seed: int,
) -> None:  # fmt: skip
    """Choose the accelerations of all on lanes that are `stepped`, (n_lanes,)."""
    tasks = tasks_of(n)
    for task in prange(tasks):
        drive(
            net, veh, types, routes, order, grants, partings, rules, n, stepped, task, tasks, frame,
            dt, seed,
        )  # fmt: skip
