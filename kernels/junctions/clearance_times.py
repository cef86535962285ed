"""How long somebody who has its grant takes to leave a conflict zone.

Distances along a connector are negative before its start.
"""

from math import inf, sqrt

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import PATH, Types, Vehicles
from rushhour.kernels.following.car_following import travel_time
from rushhour.kernels.following.curve_speed import bend_speed
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.following.halting import time_until_gone
from rushhour.kernels.following.stop_signs import ROLLS, stops_at


@kernel
def time_to_next_line(
    net: NetworkArrays, veh: Vehicles, types: Types, rules: Rules, j: int, x: float
) -> float:
    """Seconds until j has gone x m further, if it brakes for the first line where it stops or rolls; else 0."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    n = veh.granted[j]
    v = veh.speed[j]
    if v < 1.0:
        return 0.0
    lane = veh.lane[j]
    d = net.lanes.length[lane] - veh.s[j]
    if lane >= n_road_lanes:
        d += net.lanes.length[net.connectors.to_lane[lane - n_road_lanes]]
    q = 0
    while q < n and not stops_at(net, veh, j, q):
        k = veh.path[j, q]
        d += net.lanes.length[n_road_lanes + k] + net.lanes.length[net.connectors.to_lane[k]]
        q += 1
    if q >= PATH or veh.path[j, q] < 0 or net.connectors.free[veh.path[j, q]]:
        return 0.0
    rolls = q < n
    if rolls:
        b, end = rules.curve_braking, min(ROLLS, v)
    else:
        b, end = types.decel[veh.type[j]], 0.0
        if net.connectors.must_stop[veh.path[j, q]] and not veh.queued[j]:
            b = min(b, rules.stop_braking)
        d -= rules.stop_offset
    cruise = max(0.0, d - (v * v - end * end) / (2.0 * b))
    if x <= cruise:
        return 0.0
    before = min(x, d) if rolls else x
    brakes = (v - sqrt(max(end * end, v * v - 2.0 * b * (before - cruise)))) / b
    beyond = travel_time(x - before, ROLLS, 0.8 * types.accel[veh.type[j]], inf)
    return cruise / v + brakes + beyond


@kernel
def time_through_bends(
    net: NetworkArrays, veh: Vehicles, types: Types, rules: Rules, j: int, o: int, tail: float,
    out: float,
) -> float:  # fmt: skip
    """Seconds until the rear of j, `tail` m along connector o, has come to `out` there.

    It brakes in time for the bends of the connector, and keeps their speed inside.
    """
    t = veh.type[j]
    v = veh.speed[j]
    lane = net.lanes.out_start.shape[0] - 1 + o
    inside = aimed_speed(net, veh, types, j, lane)
    inside = min(inside, net.lanes.entry_speed[lane])
    if inside < inf:
        inside = min(inside, bend_speed(net.lanes, lane, 0.5 * out))
        inside = min(inside, bend_speed(net.lanes, lane, out))
    if v <= inside:
        return travel_time(out - tail, v, 0.8 * types.accel[t], inside)
    to_start = -tail - veh.length[j]
    if to_start <= 0.0:
        return (out - tail) / inside
    b = rules.curve_braking
    brake = (v * v - inside * inside) / (2.0 * b)
    if to_start >= brake:
        return (to_start - brake) / v + (v - inside) / b + (out + veh.length[j]) / inside
    reached = sqrt(v * v - 2.0 * b * to_start)
    return 2.0 * to_start / (v + reached) + (out + veh.length[j]) / inside


@kernel
def time_to_leave(
    net: NetworkArrays, veh: Vehicles, types: Types, rules: Rules, j: int, o: int, tail: float,
    out: float,
) -> float:  # fmt: skip
    """Seconds until the rear of j, `tail` m along connector o, has come to `out` there.

    It keeps to the speed of the connector's bends, and brakes for the next line where that is close.
    Who halts does not leave.
    """
    seconds = max(
        time_through_bends(net, veh, types, rules, j, o, tail, out),
        time_to_next_line(net, veh, types, rules, j, out - tail),
    )
    return time_until_gone(veh, j, seconds)
