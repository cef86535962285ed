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
from rushhour.kernels.core.network import (
    SIGNAL,
    NetworkArrays,
)
from rushhour.kernels.core.order import share, tasks_of
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.rules import CLOSEST, Rules
from rushhour.kernels.core.trips import has_stops
from rushhour.kernels.core.vehicles import (
    AT_STOP,
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
    RED_LIGHT,
    SPEED_LIMIT_AHEAD,
    STARTING,
    STOP_SIGN,
    STREAM_DAWDLE,
    YIELDS,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.following.car_following import (
    approach_speed,
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
    place_behind,
    place_beside,
    rear_beside,
)
from rushhour.kernels.following.own_models import followed_acceleration
from rushhour.kernels.following.stop_signs import ROLLS, gentle_stop, stops_at
from rushhour.kernels.junctions.diverging import Partings, parted_speed
from rushhour.kernels.junctions.grant_holders import swap_room
from rushhour.kernels.junctions.permissive_places import waits_on
from rushhour.kernels.junctions.zone_yielding import zone_speed
from rushhour.kernels.lanes.overtaking import is_passed, last_beside, leader_beside, oncoming_speed

# s for which a driver's imperfection lasts, and after which it looks at its leader again: a step
# of SUMO.
MOOD = 1.0
STOP_ROOM = 10.0  # m before the place of its stop where a vehicle on another lane waits
OPENS = 0.5  # m/s by which somebody who merges ahead must be faster for the gap to open by itself
CLOSED_UP = 1.0  # m between those who stand in a ring
UNBOUND = 1000.0  # m/s, desired speed of somebody whom something else holds
SIGHT = 4.5  # m before a yield line where a driver sees all who go first
SIGHT_SPEED = 6.4  # m/s, at which it comes there
MIN_GAP_SHARE = 0.6  # of the standstill gap that the collision guard never gives up


@kernel
def sight_speed(
    net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, k: int, d: float, decel: float,
    dt: float,
) -> float:  # fmt: skip
    """Speed (m/s) at which i, d m before connector k, comes to where it sees who goes first: it could
    still stop at the line, if hard. inf from there on, and where it yields to nobody, zips in, or has a
    light."""
    if d <= SIGHT or grants.critical_gap[k] <= 0.0 or grants.zips[k]:
        return inf
    if net.connectors.signal[k] >= 0:
        return inf
    return approach_speed(veh.speed[i], d - SIGHT, SIGHT_SPEED, decel, dt)


@kernel
def look_distance(
    v: float, min_gap: float, time_gap: float, mean_accel: float, dt: float
) -> float:  # fmt: skip
    """How far ahead a vehicle must look: twice the gap that IDM wants behind a standing one.

    mean_accel: sqrt(accel * decel), m/s^2.
    """
    return 10.0 + 1.5 * (min_gap + v * (time_gap + dt) + v * v / (2.0 * mean_accel))


@kernel(forceinline=True)
def free_before_stop(
    veh: Vehicles, routes: Routes, order: Order, lane: int, place: int, min_gap: float
) -> float:
    """How far (m along a lane) somebody who must come to it may go beside it; inf.

    Whoever is at a stop there, or on its way to one or out again, must be able to leave the lane:
    one who waits for the stop on the neighbouring lane stays behind it. place: of the order, behind
    the leader on that lane.
    """
    if place > order.start[lane]:
        j = order.slot[place - 1]
        stops = has_stops(veh, routes, j) and routes.stop_lane[veh.stop[j]] == lane
        if stops or veh.wanted[j] != lane:
            return veh.s[j] - veh.length[j] - min_gap
    return inf


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
def drive_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    partings: Partings, rules: Rules, p: int, frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Choose the acceleration of the vehicle at place p of the order; see module."""
    i = order.slot[p]
    lane = veh.lane[i]
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    t = veh.type[i]
    s, v = veh.s[i], veh.speed[i]
    min_gap = types.min_gap[t]
    if frame < veh.closes_up[i]:
        min_gap = min(min_gap, CLOSED_UP)
    accel, decel = types.accel[t], types.decel[t]
    lets_in = veh.yields_to[i]
    if lets_in >= 0:
        veh.yields_to[i] = -1
    # In a queue that has closed up nothing else matters: half of a full city stands in one.
    beside = lane < n_road_lanes and grants.passers[lane] > 0
    stops = has_stops(veh, routes, i)
    if v == 0.0 and p > order.start[lane] and not stops and not beside:
        leader = order.slot[p - 1]
        gap = veh.s[leader] - veh.length[leader] - s
        if gap <= min_gap:
            veh.accel[i] = 0.0
            told = veh.told[i] != NOTHING
            veh.reason[i] = HAZARD if told else LEADER
            veh.blocker[i] = -1 if told else veh.id[leader]
            return
    time_gap = types.time_gap[t]
    factor = veh.factor[i]
    v0 = want = aimed_speed(net, veh, types, i, lane)
    reason, blocker = FREE, -1
    nxt = inf  # next speed allowed by hard constraints
    if net.lanes.profile_start[lane] < net.lanes.profile_start[lane + 1]:
        bend = bend_speed(net.lanes, lane, s + 0.5 * v * dt)
        if bend < v0:
            # Held by the bend, not by its wish, it keeps the gap of one who would like to be faster:
            # near the wish IDM's gaps grow beyond the time gap.
            want = max(bend, 1.0)
            v0 = UNBOUND
            nxt = max(want, v - decel * dt)
            reason = CURVE

    # The leader in the lane; failing that, the rear that hangs over the lane's end.
    gap, v_lead, leader = inf, 0.0, -1
    if beside:
        gap, v_lead, leader = leader_beside(veh, types, order, lane, p)
    elif p > order.start[lane]:
        leader = order.slot[p - 1]
        gap = veh.s[leader] - veh.length[leader] - s
        v_lead = veh.speed[leader]
    elif order.over[lane] >= 0:
        leader = order.over[lane]
        gap = order.over_rear[lane] - s
        v_lead = veh.speed[leader]

    # Ahead along the path: lines, limits, bends, leaders.
    stop_lane = routes.stop_lane[veh.stop[i]] if stops else -1
    look = look_distance(v, min_gap, time_gap, types.mean_accel[t], dt)
    d = net.lanes.length[lane] - s
    braking = rules.curve_braking
    q = 0
    on_connector = lane >= n_road_lanes
    # The leg counts the road before a connector, the way on is that of the road behind it.
    ahead = 2 if on_connector else 1
    merges, opening = -1, inf  # behind whom, and the gap to it
    asked = inf  # m to the rear of somebody on a lane ahead who asks to be let in
    open_way = True  # nobody has to stop on the way
    if on_connector:
        k = lane - n_road_lanes
        open_way = net.connectors.free[k]
        limit, merges, opening = zone_speed(net, veh, types, order, grants, i, k, -s, dt)
        if limit < nxt:
            nxt, reason, blocker = limit, CONFLICT, -1
        if waits_on(veh, grants, i, k):
            limit = approach_speed(v, grants.pocket[k] - s, 0.0, decel, dt)
            if limit < nxt:
                nxt, blocker = limit, veh.blocker[i]
                reason = veh.refused[i] if veh.refused[i] != FREE else YIELDS
        limit, other = parted_speed(net, veh, types, order, partings, i, k, -s, dt)
        if limit < nxt:
            nxt, reason, blocker = limit, LEADER, veh.id[other]
    while d < look:
        if on_connector:
            road_lane = net.connectors.to_lane[lane - n_road_lanes]
            on_connector = False
        else:
            k = veh.path[i, q] if q < PATH else -1
            if k < 0:
                routed = veh.leg[i] >= 0
                last_leg = routed and veh.leg[i] + ahead + q >= veh.route_end[i]
                if q == 0 and not last_leg:
                    # The lane does not lead on: stop before its end and change lane.
                    if routed or (ahead == 1 and veh.wanted[i] != lane):
                        halt = d - rules.stop_offset
                        if ahead == 1 and veh.wanted[i] > lane:
                            # Those who want to the left leave room at the line for those who
                            # want to the right: two heads that must swap lanes can.
                            halt -= swap_room(net, lane, veh.length[i], rules.stop_offset)
                        limit = approach_speed(v, halt, 0.0, decel, dt)
                        if limit < nxt:
                            nxt, reason, blocker = limit, LANE_CHANGE, -1
                        look = d
                elif routed and not last_leg:
                    # Nor does the lane ahead: it must be able to stop there, and change.
                    limit = approach_speed(v, d - rules.stop_offset, 0.0, decel, dt)
                    if limit < nxt:
                        nxt, reason, blocker = limit, LANE_CHANGE, -1
                break
            if not net.connectors.free[k] and (q >= veh.granted[i] or frame < veh.go[i]):
                spare = net.lanes.length[net.connectors.from_lane[k]] - veh.length[i]
                halt = d - max(
                    CLOSEST, min(rules.stop_offset, spare)
                )  # closer where its rear needs it
                limit = approach_speed(v, halt, 0.0, decel, dt)
                if net.connectors.must_stop[k] and not veh.queued[i]:
                    limit = min(limit, gentle_stop(v, halt, rules.stop_braking, dt))
                if limit < nxt:
                    nxt = limit
                    reason = veh.refused[i] if q >= veh.granted[i] else STARTING
                    if reason == FREE:
                        reason = (
                            RED_LIGHT
                            if net.intersections.control[net.connectors.intersection[k]] == SIGNAL
                            else YIELDS
                        )
                    blocker = veh.blocker[i] if reason in (CONFLICT, YIELDS) else -1
                if q == 0 and p == order.start[lane]:
                    # Who is to stop at the line keeps only clear of those who are past it.
                    time_gap = 0.0
                break
            step = n_road_lanes + k
            end = min(net.lanes.speed[step] * factor, net.lanes.entry_speed[step])
            rolls = stops_at(net, veh, i, q)
            if rolls:
                end = min(end, ROLLS)
            if end < v:
                limit = approach_speed(v, d, end, braking, dt)
                if limit < nxt:
                    nxt, blocker = limit, -1
                    reason = CURVE if net.lanes.entry_speed[step] == end else SPEED_LIMIT_AHEAD
                    if rolls:
                        reason = STOP_SIGN
            if not net.connectors.free[k]:
                limit = sight_speed(net, veh, grants, i, k, d, decel, dt)
                if limit < nxt:
                    nxt, reason, blocker = limit, YIELDS, -1
                limit, j, room = zone_speed(net, veh, types, order, grants, i, k, d, dt)
                if limit < nxt:
                    nxt, reason, blocker = limit, CONFLICT, -1
                if room < opening:
                    merges, opening = j, room
                if waits_on(veh, grants, i, k):
                    limit = approach_speed(v, d + grants.pocket[k], 0.0, decel, dt)
                    if limit < nxt:
                        nxt, blocker = limit, veh.blocker[i]
                        reason = veh.refused[i] if veh.refused[i] != FREE else YIELDS
            limit, other = parted_speed(net, veh, types, order, partings, i, k, d, dt)
            if limit < nxt:
                nxt, reason, blocker = limit, LEADER, veh.id[other]
            if leader < 0:
                if order.start[step] < order.start[step + 1]:
                    leader = order.slot[order.start[step + 1] - 1]
                    gap = d + veh.s[leader] - veh.length[leader]
                    v_lead = veh.speed[leader]
                elif order.over[step] >= 0:
                    leader = order.over[step]
                    gap = d + order.over_rear[step]
                    v_lead = veh.speed[leader]
            open_way = open_way and net.connectors.free[k]
            d += net.lanes.length[step]
            road_lane = net.connectors.to_lane[k]
            q += 1
        end = min(net.lanes.speed[road_lane] * factor, net.lanes.entry_speed[road_lane])
        if end < v:
            limit = approach_speed(v, d, end, braking, dt)
            if limit < nxt:
                nxt, blocker = limit, -1
                reason = CURVE if net.lanes.entry_speed[road_lane] == end else SPEED_LIMIT_AHEAD
        if stop_lane >= 0 and net.lanes.road[stop_lane] == net.lanes.road[road_lane]:
            place = d + routes.stop_pos[veh.stop[i]]
            if stop_lane != road_lane:
                free = free_before_stop(
                    veh, routes, order, stop_lane, order.start[stop_lane + 1], min_gap
                )
                place = min(place - STOP_ROOM, d + max(0.0, free))
            limit = approach_speed(v, place, 0.0, decel, dt)
            if limit < nxt:
                nxt, reason, blocker = limit, AT_STOP, -1
        if lets_in < 0 and leader < 0 and open_way and grants.asked_in[road_lane] == frame:
            j = grants.asking[road_lane]
            room = rear_beside(net, veh, j, road_lane, d)
            b = decel if veh.speed[j] < 0.1 else COOPERATION
            if room > braking_gap(v, veh.speed[j], b, dt, min_gap):
                lets_in, asked = j, room
        if leader < 0:
            if order.start[road_lane] < order.start[road_lane + 1]:
                leader = order.slot[order.start[road_lane + 1] - 1]
                if grants.passers[road_lane] > 0:
                    leader = last_beside(veh, order, road_lane)
                gap = d + veh.s[leader] - veh.length[leader]
                v_lead = veh.speed[leader]
            elif order.over[road_lane] >= 0:
                leader = order.over[road_lane]
                gap = d + order.over_rear[road_lane]
                v_lead = veh.speed[leader]
        d += net.lanes.length[road_lane]

    # The stop of its trip; beside it, on another lane, it waits for room to change.
    if stop_lane >= 0 and lane < n_road_lanes:
        limit = inf
        why = AT_STOP
        if stop_lane == lane:
            limit = approach_speed(v, routes.stop_pos[veh.stop[i]] - s, 0.0, decel, dt)
            if veh.dwell_until[i] >= 0:
                limit = 0.0
        elif net.lanes.road[stop_lane] == net.lanes.road[lane] and veh.wanted[i] != lane:
            room = place_beside(net, stop_lane, lane, routes.stop_pos[veh.stop[i]]) - s
            if room > 0.0 and veh.granted[i] == 0:
                beside = place_beside(net, lane, stop_lane, s)
                place = place_behind(veh, order, stop_lane, beside)
                free = free_before_stop(veh, routes, order, stop_lane, place, min_gap) - beside
                if free > 0.0:
                    room = min(room, free + STOP_ROOM)
                limit = approach_speed(v, room - STOP_ROOM, 0.0, decel, dt)
                why = LANE_CHANGE
        if limit < nxt:
            nxt, reason, blocker = limit, why, -1

    model = types.model[t]
    if model != KRAUSS:
        a = followed_acceleration(model, v, v0, gap, v_lead, accel, decel, min_gap, time_gap)
        if v < v0:
            a = min(a, (v0 - v) / dt)
    else:
        tau = types.time_gap[t]
        seen = seen_speed(v, v_lead, (MOOD - dt) * min(0.5, types.sigma[t]))
        most = krauss_speed(want, want, gap, seen, accel, decel, min_gap, tau, dt)
        w = krauss_speed(v, want, gap, seen, accel, decel, min_gap, tau, dt)
        share = imperfection(veh, types, i, frame, dt, seed)
        w = dawdled_speed(v, w, most, accel, share, MOOD, dt)
        a = (w - v) / dt
    if leader >= 0:
        guard = guard_speed(v, gap - MIN_GAP_SHARE * min_gap, v_lead, types.emergency[t], dt)
        a = min(a, (guard - v) / dt)
        if (nxt - v) / dt > a and (reason != CURVE or gap < look) and a < 0.5 * accel:
            reason, blocker = LEADER, veh.id[leader]
    if lane < n_road_lanes and grants.opposite[lane] >= 0:
        limit = oncoming_speed(net, veh, types, order, grants, i, lane, dt)
        if limit < nxt:
            nxt = limit
            if limit < want:
                reason, blocker = ONCOMING, -1
    if nxt < inf:
        a = min(a, (nxt - v) / dt)
    if beside and a > 0.0 and is_passed(veh, order, lane, i):
        a, reason = 0.0, PASSED
    if lets_in >= 0:
        merges = lets_in
        opening = asked if asked < inf else rear_beside(net, veh, merges, lane, 0.0) - s
    if merges >= 0 and (lets_in >= 0 or veh.speed[merges] < v + OPENS):
        # One comes in before it: to the gap that it wants then it falls back gently, before one
        # that stands as before any leader.
        v_in = veh.speed[merges]
        b = followed_acceleration(model, v, v0, opening, v_in, accel, decel, min_gap, time_gap)
        if lets_in >= 0 and v_in < 0.1:
            keep = min_gap if asked < inf else LETS_IN * types.min_gap[t]
            b = min(max(b, -decel), halting_for(v, opening, keep, decel, dt))
        else:
            b = max(b, -COOPERATION)
        if b < a:
            a, reason, blocker = b, LANE_CHANGE if lets_in >= 0 else CONFLICT, veh.id[merges]
    a = max(a, -types.emergency[t])
    veh.accel[i] = min(a, accel)
    if v > 0.95 * want and a > -0.1:
        reason, blocker = FREE, -1
    if veh.told[i] != NOTHING and veh.around[i] == 0:  # who passes comes back into its lane first
        veh.accel[i] = min(a, -halting_brake(veh, types, i) if v > 0.0 else 0.0)
        reason, blocker = HAZARD, -1
    veh.reason[i] = reason
    veh.blocker[i] = blocker


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
