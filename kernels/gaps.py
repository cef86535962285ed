"""Is the way clear, and is the gap enough: questions before a grant.

Source: right-of-way.md section 2. Distances along a connector are negative before its start.
"""

from math import inf, sqrt

from rushhour.kernels.car_following import stopping_distance, travel_time
from rushhour.kernels.curve_speed import bend_speed
from rushhour.kernels.jit import kernel
from rushhour.kernels.network import GREEN, OFF, RIGHT, SIGNAL, STRAIGHT, NetworkArrays
from rushhour.kernels.rules import Rules
from rushhour.kernels.vehicles import (
    EXIT_FULL,
    PATH,
    RED_LIGHT,
    YIELDS,
    Grants,
    Order,
    Types,
    Vehicles,
)


@kernel
def time_to_next_line(
    net: NetworkArrays, veh: Vehicles, types: Types, rules: Rules, j: int, x: float
) -> float:
    """Seconds until j has gone x m further, if it brakes for the first line it may not pass; else 0."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    n = veh.granted[j]
    v = veh.speed[j]
    if v < 1.0 or n >= PATH or veh.path[j, n] < 0 or net.connectors.free[veh.path[j, n]]:
        return 0.0
    lane = veh.lane[j]
    d = net.lanes.length[lane] - veh.s[j] - rules.stop_offset
    if lane >= n_road_lanes:
        d += net.lanes.length[net.connectors.to_lane[lane - n_road_lanes]]
    for q in range(n):
        k = veh.path[j, q]
        d += net.lanes.length[n_road_lanes + k] + net.lanes.length[net.connectors.to_lane[k]]
    b = types.decel[veh.type[j]]
    cruise = max(0.0, d - v * v / (2.0 * b))
    if x <= cruise:
        return 0.0
    return cruise / v + (v - sqrt(max(0.0, v * v - 2.0 * b * (x - cruise)))) / b


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
    inside = min(types.max_speed[t], net.lanes.speed[lane] * veh.factor[j])
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
    """
    return max(
        time_through_bends(net, veh, types, rules, j, o, tail, out),
        time_to_next_line(net, veh, types, rules, j, out - tail),
    )


@kernel
def is_clear(
    net: NetworkArrays, veh: Vehicles, types: Types, grants: Grants, rules: Rules, i: int, n: int,
    to_line: float, reaction: float, margin: float,
) -> int:  # fmt: skip
    """-1 if every conflicting holder has left its zone before i reaches it, else its slot.

    to_line: m from i's front to the first of its n connectors. Source: right-of-way.md clear(i).
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    t = veh.type[i]
    accel = types.accel[t]
    ahead = to_line
    v_max = min(types.max_speed[t], net.lanes.speed[veh.lane[i]] * veh.factor[i])
    for q in range(n):
        k = veh.path[i, q]
        for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
            o = net.conflicts.other[c]
            tail = grants.tail[o]
            if tail >= net.conflicts.there_out[c]:
                continue
            j = grants.tail_slot[o]
            if j == i:
                continue
            if veh.speed[j] < 0.5 and veh.accel[j] <= 0.1 and veh.lane[j] >= n_road_lanes:
                return j
            leaves = time_to_leave(net, veh, types, rules, j, o, tail, net.conflicts.there_out[c])
            enters = travel_time(ahead + net.conflicts.here_in[c], veh.speed[i], accel, v_max)
            if leaves + margin > reaction + enters:
                return j
        ahead += net.lanes.length[n_road_lanes + k]
        ahead += net.lanes.length[net.connectors.to_lane[k]]
    return -1


@kernel
def arrives_within(veh: Vehicles, types: Types, j: int, d: float, v_max: float, gap: float) -> bool:
    """Whether vehicle j can cover d metres within gap seconds."""
    return travel_time(d, veh.speed[j], types.accel[veh.type[j]], v_max) <= gap


@kernel
def prior_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, o: int,
    zone: float, gap: float,
) -> int:  # fmt: skip
    """The first vehicle without a grant that will use connector o and be at `zone` within gap s.

    Looks along o's approach lane and one connector and lane further back; -1 if there is none.
    A head before a full exit, or one that was refused while standing, is not counted here.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = net.connectors.from_lane[o]
    length = net.lanes.length[lane]
    limit = net.lanes.speed[lane] * 1.1
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        d = length - veh.s[j] + zone
        if not arrives_within(veh, types, j, d, limit, gap):
            return -1
        if veh.granted[j] > 0:
            continue
        blocked = veh.refused[j] in (EXIT_FULL, RED_LIGHT) or veh.dwell_until[j] >= 0
        if veh.path[j, 0] == o and not blocked:
            return j
        if veh.speed[j] < 0.1:
            return -1  # it waits for something else, and so does everybody behind it
    if length + zone > limit * gap:
        return -1
    for c in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        u = net.lanes.in_connector[c]
        back = length + zone + net.lanes.length[n_road_lanes + u]
        for p in range(order.start[n_road_lanes + u], order.start[n_road_lanes + u + 1]):
            j = order.slot[p]
            if not arrives_within(veh, types, j, back - veh.s[j], limit, gap):
                break
            if veh.path[j, 0] == o and veh.granted[j] == 0:
                return j
        if back > limit * gap:
            continue
        up = net.connectors.from_lane[u]
        free = net.connectors.free[u]
        for p in range(order.start[up], order.start[up + 1]):
            j = order.slot[p]
            d = back + net.lanes.length[up] - veh.s[j]
            if not arrives_within(veh, types, j, d, limit, gap):
                break
            if veh.path[j, 0] != u or veh.path[j, 1] != o:
                continue
            # Its grant belongs to another group; one that can no longer stop must have it.
            to_line = net.lanes.length[up] - veh.s[j]
            b = types.decel[veh.type[j]]
            if free or to_line < stopping_distance(veh.speed[j], b):
                return j
    return -1


@kernel
def critical_gap(rules: Rules, control: int, turn: int, must_stop: bool) -> float:
    """Seconds a movement wants before the next vehicle with priority.

    Source: validation.md D13, D14 less 0.6 s (right-of-way.md section 5).
    """
    if control == SIGNAL:
        return rules.gap_permissive
    if not must_stop:
        return rules.gap_yield
    if turn == RIGHT:
        return rules.gap_right
    if turn == STRAIGHT:
        return rules.gap_straight
    return rules.gap_left


@kernel
def gap_blocker(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, patient: bool, share: float,
) -> int:  # fmt: skip
    """Slot of a vehicle with priority that i must let go first; -1 if the gap is enough.

    At a signal only movements with green count. patient False: standing heads that yield
    themselves no longer count (see `grant_intersection`). share: of the critical gap.
    """
    for q in range(n):
        k = veh.path[i, q]
        control = net.intersections.control[net.connectors.intersection[k]]
        gap = critical_gap(rules, control, net.connectors.turn[k], net.connectors.must_stop[k])
        gap *= share
        for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
            if not net.conflicts.yields[c]:
                continue
            o = net.conflicts.other[c]
            if net.connectors.signal[o] >= 0 and grants.light[o] not in (GREEN, OFF):
                continue
            j = prior_vehicle(net, veh, types, order, grants, o, net.conflicts.there_in[c], gap)
            if j < 0:
                continue
            if not patient and veh.speed[j] < 0.1 and veh.refused[j] == YIELDS:
                continue
            return j
    return -1
