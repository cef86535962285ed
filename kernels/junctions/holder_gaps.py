"""Going before those who are still far: a grant for the time until the next holder comes.

Holders of one connector come one after another, and some were granted their way from afar, through
a short lane before it. Whoever yields to them need not wait for the last of them: it may go between
two, if the first is gone in time and the second comes no sooner than the critical gap. From then on
that one, and all who follow it on its connector, go after it. Where both merge into one lane, the
next need not be that far: it only must not have to brake harder than drivers do to let another in
(limited priority). Source: Troutbeck, Kako 1999.
"""

from math import inf

import numpy as np

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import Order, Types, Vehicles
from rushhour.kernels.following.car_following import stopping_distance, travel_time
from rushhour.kernels.junctions.clearance_times import time_to_leave
from rushhour.kernels.junctions.grant_holders import has_grant
from rushhour.kernels.junctions.zone_yielding import LET_IN_BRAKING

LAST = np.int64(1) << np.int64(62)  # a stamp that nobody has
GONE = 0  # it has left the zone in time
COMES = 1  # it comes late enough
MEETS = 2
LET_IN_TIME = 0.5  # s of its speed that who lets another in keeps to it, besides the standstill gap


@kernel
def closed_up(v: float, v_in: float, accel: float, top: float, delay: float) -> tuple[float, float]:
    """Metres by which one who drives at v closes up to another that merges before it, until both are
    equally fast, and that speed.

    It brakes by LET_IN_BRAKING from now on; the other, at v_in now, speeds up to top after delay s.
    """
    if v <= v_in:
        return 0.0, v
    b = LET_IN_BRAKING
    t = (v - v_in) / b
    if t > delay:
        t = (v - v_in + accel * delay) / (accel + b)
        u = v_in + accel * (t - delay)
        way = v_in * t + 0.5 * accel * (t - delay) * (t - delay)
        most = max(top, v_in)
        if u > most:
            ramp = (most - v_in) / accel
            t = (v - most) / b
            way = v_in * delay + 0.5 * (v_in + most) * ramp + most * (t - delay - ramp)
            u = most
    else:
        u = v_in
        way = v_in * t
    return v * t - 0.5 * b * t * t - way, u


@kernel
def lets_in(
    net: NetworkArrays, veh: Vehicles, types: Types, j: int, d: float, i: int, back: float,
    top: float, delay: float,
) -> bool:  # fmt: skip
    """Whether j, d m before the end of a connector, need not brake hard for i that merges before it.

    back: m from i's rear to the end of its own connector, on which it drives at most at top.
    """
    accel = types.accel[veh.type[i]]
    closing, u = closed_up(veh.speed[j], veh.speed[i], accel, top, delay)
    return d - back - closing >= types.min_gap[veh.type[j]] + LET_IN_TIME * u


@kernel
def arrives_within(veh: Vehicles, types: Types, j: int, d: float, v_max: float, gap: float) -> bool:
    """Whether vehicle j can cover d metres within gap seconds."""
    return travel_time(d, veh.speed[j], types.accel[veh.type[j]], v_max) <= gap


@kernel
def approach_limit(net: NetworkArrays, veh: Vehicles, j: int, o: int) -> float:
    """Speed (m/s) at which j may come to connector o: the limit, or what the bends on its way allow.

    Whoever is in a bend, as on a roundabout, gets no faster than it is there.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[j]
    bends = net.lanes.entry_speed[n_road_lanes + o]
    if lane >= n_road_lanes:
        bends = min(bends, net.lanes.entry_speed[lane])
    return max(veh.speed[j], min(1.1 * net.lanes.speed[net.connectors.from_lane[o]], bends))


@kernel
def meeting(
    net: NetworkArrays, veh: Vehicles, types: Types, rules: Rules, j: int, o: int, c: int, d: float,
    in_time: float, need: float, i: int, back: float, top: float, delay: float, dt: float,
) -> int:  # fmt: skip
    """GONE, COMES or MEETS for a holder of connector o, d m before its start.

    c: the conflict. in_time: s in which it must have left the zone, else it may not come to it
    within `need` seconds, nor be too close to stop before it comfortably; or to let i in, where i,
    who asks, merges (see `lets_in`; back inf: it crosses).
    """
    out = net.conflicts.there_out[c]
    if time_to_leave(net, veh, types, rules, j, o, -d - veh.length[j], out) <= in_time:
        return GONE
    way = d + net.conflicts.there_in[c]
    v = veh.speed[j]
    if back < inf:
        end = d + net.lanes.length[net.lanes.out_start.shape[0] - 1 + o]
        if not lets_in(net, veh, types, j, end, i, back, top, delay):
            return MEETS
    elif way < stopping_distance(v, types.decel[veh.type[j]]) + 2.0 * v * dt + 2.0:
        return MEETS
    v_max = approach_limit(net, veh, j, o)
    return MEETS if arrives_within(veh, types, j, way, v_max, need) else COMES


@kernel
def first_to_come(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, rules: Rules, lane: int, q: int,
    c: int, u: int, beyond: float, in_time: float, need: float, i: int, back: float, top: float,
    delay: float, dt: float,
) -> tuple[int, np.int64]:  # fmt: skip
    """Of the holders on a lane who have the other connector of conflict c as path[q], the first that
    comes: COMES and its stamp; GONE and the latest stamp if all are gone in time; or MEETS.

    u: path[0] of those meant, -1 if all are. beyond: m from the lane's end to that connector.
    """
    o = net.conflicts.other[c]
    latest = np.int64(-1)
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if not has_grant(veh, j, u if u >= 0 else o):
            break
        if veh.granted[j] <= q or veh.path[j, q] != o or (u >= 0 and veh.path[j, 0] != u):
            continue
        d = beyond + net.lanes.length[lane] - veh.s[j]
        what = meeting(net, veh, types, rules, j, o, c, d, in_time, need, i, back, top, delay, dt)
        if what == MEETS or (what == COMES and veh.stamp[j] <= latest):
            return MEETS, latest
        if what == COMES:
            return COMES, veh.stamp[j]
        latest = max(latest, veh.stamp[j])
    return GONE, latest


@kernel
def stamp_to_cut(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, rules: Rules, c: int,
    in_time: float, need: float, i: int, rear: float, top: float, delay: float, dt: float,
) -> np.int64:  # fmt: skip
    """Stamp of the first holder of the other connector of conflict c before which there is time for
    i to go; -1 if there is not. in_time, need; rear, top, delay: as of `meeting`, `lets_in`."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    o = net.conflicts.other[c]
    out = net.conflicts.there_out[c]
    inside = n_road_lanes + o
    latest = np.int64(-1)
    for p in range(order.start[inside], order.start[inside + 1]):
        j = order.slot[p]
        tail = veh.s[j] - veh.length[j]
        if tail < out and time_to_leave(net, veh, types, rules, j, o, tail, out) > in_time:
            return np.int64(-1)
        latest = max(latest, veh.stamp[j])
    j = order.over[inside]
    if j >= 0 and order.over_rear[inside] < out:
        if time_to_leave(net, veh, types, rules, j, o, order.over_rear[inside], out) > in_time:
            return np.int64(-1)
        latest = max(latest, veh.had_stamp[j])
    back = net.connectors.from_lane[o]
    what, stamp = first_to_come(
        net, veh, types, order, rules, back, 0, c, -1, 0.0, in_time, need, i, rear, top, delay, dt
    )
    if what == MEETS:
        return np.int64(-1)
    if what == COMES:
        return stamp if stamp > latest else np.int64(-1)
    latest = max(latest, stamp)
    first = LAST
    for x in range(net.lanes.in_start[back], net.lanes.in_start[back + 1]):
        u = net.lanes.in_connector[x]
        beyond = net.lanes.length[back]
        what, stamp = first_to_come(
            net, veh, types, order, rules, n_road_lanes + u, 0, c, -1, beyond, in_time, need, i,
            rear, top, delay, dt,
        )  # fmt: skip
        if what == GONE:
            latest = max(latest, stamp)
            beyond += net.lanes.length[n_road_lanes + u]
            up = net.connectors.from_lane[u]
            what, stamp = first_to_come(
                net, veh, types, order, rules, up, 1, c, u, beyond, in_time, need, i, rear, top,
                delay, dt,
            )  # fmt: skip
        if what == MEETS:
            return np.int64(-1)
        if what == COMES:
            first = min(first, stamp)
        else:
            latest = max(latest, stamp)
    return first if latest < first < LAST else np.int64(-1)
