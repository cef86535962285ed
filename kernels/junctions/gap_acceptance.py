"""Is the way clear, and is the gap enough: questions before a grant.

Source: right-of-way.md section 2. Distances along a connector are negative before its start.
"""

from math import inf, sqrt

import numpy as np

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import GREEN, OFF, NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import (
    BODY,
    EXIT_FULL,
    FREE,
    LEADER,
    RED_LIGHT,
    YIELDS,
    Grants,
    Order,
    Types,
    Vehicles,
)
from rushhour.kernels.following.car_following import stopping_distance, travel_time
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.junctions.arrival_order import kept_by_stream
from rushhour.kernels.junctions.clearance_times import time_to_leave
from rushhour.kernels.junctions.grant_holders import has_grant
from rushhour.kernels.junctions.holder_gaps import (
    LET_IN_TIME,
    approach_limit,
    arrives_within,
    closed_up,
    stamp_to_cut,
)
from rushhour.kernels.junctions.permissive_places import waiter_bars
from rushhour.kernels.junctions.zone_yielding import LET_IN_BRAKING

ZIP_MARGIN = 0.1  # s between two that merge where drivers let each other in
STEADY = (
    0.8  # share of its own speed at which the one ahead must drive for somebody to merge behind
)


@kernel
def zips_in(net: NetworkArrays, grants: Grants, c: int, k: int) -> bool:
    """Whether the movements of conflict c, k and another, merge where drivers let each other in, and
    follow each other closely: at the entry of a roundabout, on a ramp."""
    o = net.conflicts.other[c]
    return (grants.zips[k] or grants.zips[o]) and (
        net.connectors.to_lane[o] == net.connectors.to_lane[k]
    )


@kernel
def can_follow(veh: Vehicles, types: Types, i: int, j: int, gap: float) -> bool:
    """Whether i need not brake hard to stay behind j that merges before it, gap m ahead."""
    w = max(0.0, veh.speed[i] - veh.speed[j])
    b = LET_IN_BRAKING + max(0.0, min(veh.accel[j], 0.8 * types.accel[veh.type[j]]))
    return gap - w * w / (2.0 * b) >= types.min_gap[veh.type[i]]


@kernel
def time_to_let_in(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, c: int, back: float, top: float
) -> float:  # fmt: skip
    """Seconds before the zone of conflict c in which one at the limit can still let i in gently.

    back: m from i's rear to the end of its connector, on which it drives at most at top.
    """
    o = net.conflicts.other[c]
    lane = net.lanes.out_start.shape[0] - 1 + o
    v = min(net.lanes.speed[net.connectors.from_lane[o]], net.lanes.entry_speed[lane])
    closing, u = closed_up(v, veh.speed[i], types.accel[veh.type[i]], top, 0.0)
    kept = types.min_gap[veh.type[i]] + LET_IN_TIME * u
    beyond = net.lanes.length[lane] - net.conflicts.there_in[c]
    return (back + closing + kept - beyond) / max(v, 1.0)


@kernel(forceinline=True)
def zips_in_behind(
    net: NetworkArrays, veh: Vehicles, types: Types, rules: Rules, i: int, k: int, j: int, o: int,
    tail: float, here: float, lead: float, enters: float, v_max: float,
) -> bool:  # fmt: skip
    """Whether i, on connector k, can follow holder j of connector o into where the two merge: now, or once
    it is there, if j is no slower and far enough ahead by then.

    tail: j's rear on o. here: m from i to the place, where it is in `enters` s. lead: m from i to j's rear.
    """
    if can_follow(veh, types, i, j, lead):
        return True
    if veh.speed[j] <= 0.5:
        return False
    t = veh.type[i]
    inside = min(v_max, net.lanes.entry_speed[net.lanes.out_start.shape[0] - 1 + k])
    u = min(
        max(inside, veh.speed[i]),
        sqrt(veh.speed[i] ** 2 + 2.0 * types.accel[t] * max(here, 0.0)),
    )
    kept = types.min_gap[t] + LET_IN_TIME * u
    place = tail - lead + here + kept
    return (
        veh.speed[j] >= STEADY * u
        and time_to_leave(net, veh, types, rules, j, o, tail, place) <= enters
    )


@kernel(forceinline=True)
def gap_to_cut(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, c: int, k: int, ahead: float,
    critical: float, inside: float, reaction: float, margin: float,
) -> float:  # fmt: skip
    """Seconds that i needs to go over connector k, at `inside` m/s, between two holders of conflict c with
    whom it does not zip in: the critical gap, or what it takes till it is out of the second's way."""
    # Whoever merges is out of the way once it is ahead, who crosses when it has crossed.
    merges = net.connectors.to_lane[net.conflicts.other[c]] == net.connectors.to_lane[k]
    gone = net.conflicts.here_in[c] if merges else net.conflicts.here_out[c]
    accel = types.accel[veh.type[i]]
    through = travel_time(ahead + gone + veh.length[i], veh.speed[i], accel, inside)
    return max(critical, reaction + through + margin)


@kernel
def is_clear_on(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, k: int, ahead: float, upto: float, reaction: float, v_max: float, margin: float,
    share: float, pressed: float, between: bool, waits: bool, dt: float,
) -> tuple[int, int, np.int64]:  # fmt: skip
    """The same on connector k alone, `ahead` m before i's front (negative: i is on it), for zones that
    begin less than `upto` m along it. between: it may go between two holders. waits: it waits inside.
    v_max: its speed, m/s."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    accel = types.accel[veh.type[i]]
    cut, cut_stamp = -1, np.int64(0)
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.here_in[c] >= upto:
            continue
        o = net.conflicts.other[c]
        w = grants.waiter[o]
        if w >= 0 and w != i and waiter_bars(net, veh, grants, c, w, waits):
            return w, -1, cut_stamp
        tail = grants.tail[o]
        if tail >= net.conflicts.there_out[c]:
            continue
        j = grants.tail_slot[o]
        if j == i:
            continue
        if veh.speed[j] < 0.5 and veh.accel[j] <= 0.1 and veh.lane[j] >= n_road_lanes:
            return j, -1, cut_stamp
        leaves = time_to_leave(net, veh, types, rules, j, o, tail, net.conflicts.there_out[c])
        here = ahead + net.conflicts.here_in[c]
        enters = reaction + travel_time(max(here, 0.0), veh.speed[i], accel, v_max)
        zips = zips_in(net, grants, c, k)
        kept_apart = ZIP_MARGIN if zips else margin
        if leaves + kept_apart <= enters:
            continue
        to_end = ahead + net.lanes.length[n_road_lanes + k]
        lead = to_end - net.lanes.length[n_road_lanes + o] + tail
        if zips and zips_in_behind(
            net, veh, types, rules, i, k, j, o, tail, here, lead, enters, v_max
        ):
            continue
        if not between or cut >= 0 or not net.conflicts.yields[c]:
            return j, -1, cut_stamp
        inside = min(v_max, net.lanes.entry_speed[n_road_lanes + k])
        need = (pressed if zips else share) * grants.critical_gap[k]
        if not zips:
            need = gap_to_cut(net, veh, types, i, c, k, ahead, need, inside, reaction, margin)
        rear = to_end + veh.length[i] if zips else inf
        cut_stamp = stamp_to_cut(
            net, veh, types, order, rules, c, enters - kept_apart, need, i, rear, inside, reaction,
            dt,
        )  # fmt: skip
        if cut_stamp < 0:
            return j, -1, cut_stamp
        cut = o
    return -1, cut, cut_stamp


@kernel
def is_clear(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, to_line: float, reaction: float, margin: float, share: float, pressed: float,
    between: bool, dt: float,
) -> tuple[int, int, np.int64]:  # fmt: skip
    """-1 if every conflicting holder has left its zone before i reaches it, else its slot.

    And the connector before some of whose holders i goes, with the first of their stamps, if it
    goes between two (`between` allows that, where it yields); else -1, 0. to_line: m from i's front
    to the first of its n connectors. share, pressed: of the critical gap, and where it zips in. Source: right-of-way.md clear(i).
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    ahead = to_line
    v_max = aimed_speed(net, veh, types, i, veh.lane[i])
    cut, cut_stamp = -1, np.int64(0)
    for q in range(n):
        k = veh.path[i, q]
        may_cut = between and q == veh.line[i]
        j, before, stamp = is_clear_on(
            net, veh, types, order, grants, rules, i, k, ahead, inf, reaction, v_max, margin, share,
            pressed, may_cut, False, dt,
        )  # fmt: skip
        if j >= 0:
            return j, -1, stamp
        if before >= 0:
            cut, cut_stamp = before, stamp
        ahead += net.lanes.length[n_road_lanes + k]
        ahead += net.lanes.length[net.connectors.to_lane[k]]
    return -1, cut, cut_stamp


@kernel
def comes_within(veh: Vehicles, types: Types, j: int, d: float, v_max: float, gap: float) -> bool:
    """Whether j is d m further on within gap seconds, as far as who yields to it can see.

    Who follows somebody and does not speed up comes no faster than now: not at all where it stands,
    and as slowly as the queue that it closes up to, which may lead elsewhere.
    """
    if veh.reason[j] == LEADER and veh.accel[j] <= 0.0:
        return d <= gap * veh.speed[j]
    return arrives_within(veh, types, j, d, v_max, gap)


@kernel
def prior_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, o: int,
    zone: float, gap: float,
) -> int:  # fmt: skip
    """The first vehicle without a grant that will use connector o and be at `zone` within gap s.

    Looks along o's approach lane and one connector and lane further back; -1 if there is none.
    A head before a full exit, one that was refused while standing, and who stands behind somebody
    farther back, or inside the intersection before, are not counted here.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = net.connectors.from_lane[o]
    length = net.lanes.length[lane]
    limit = 1.1 * net.lanes.speed[lane]
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        d = length - veh.s[j] + zone
        if not comes_within(veh, types, j, d, approach_limit(net, veh, j, o), gap):
            return -1
        if has_grant(veh, j, o):
            continue
        blocked = veh.refused[j] in (EXIT_FULL, RED_LIGHT, BODY) or stands_for_long(veh, j)
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
            if not comes_within(
                veh, types, j, back - veh.s[j], approach_limit(net, veh, j, o), gap
            ):
                break
            if veh.speed[j] < 0.1 and veh.accel[j] <= 0.0 and veh.reason[j] != FREE:
                break  # it waits inside for somebody else, and nobody passes it there
            if veh.path[j, 0] == o and veh.granted[j] == 0:
                return j
        if back > limit * gap:
            continue
        up = net.connectors.from_lane[u]
        free = net.connectors.free[u]
        for p in range(order.start[up], order.start[up + 1]):
            j = order.slot[p]
            d = back + net.lanes.length[up] - veh.s[j]
            if not comes_within(veh, types, j, d, approach_limit(net, veh, j, o), gap):
                break
            if veh.path[j, 0] != u or veh.path[j, 1] != o:
                if veh.speed[j] < 0.1 and veh.accel[j] <= 0.0:
                    break  # nobody passes it there
                continue
            # Its grant belongs to another group; one that can no longer stop must have it.
            to_line = net.lanes.length[up] - veh.s[j]
            b = types.decel[veh.type[j]]
            if free or to_line < stopping_distance(veh.speed[j], b):
                return j
    return -1


@kernel
def gap_blocker_on(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, i: int, k: int,
    ahead: float, patient: bool, share: float, pressed: float,
) -> int:  # fmt: skip
    """The same on connector k alone, `ahead` m before i's front (negative: i is on it)."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    critical = grants.critical_gap[k]
    to_end = ahead + net.lanes.length[n_road_lanes + k]
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if not net.conflicts.yields[c]:
            continue
        o = net.conflicts.other[c]
        if net.connectors.signal[o] >= 0 and grants.light[o] not in (GREEN, OFF):
            continue
        gap = share * critical
        if zips_in(net, grants, c, k):
            gap = pressed * critical
            top = net.lanes.entry_speed[n_road_lanes + k]
            top = min(top, aimed_speed(net, veh, types, i, n_road_lanes + k))
            rear = to_end + veh.length[i]
            gap = max(gap, time_to_let_in(net, veh, types, i, c, rear, top))
        j = prior_vehicle(net, veh, types, order, grants, o, net.conflicts.there_in[c], gap)
        if j < 0:
            continue
        if not patient and veh.refused[j] == YIELDS:
            continue
        if not patient and veh.speed[j] < 0.1 and kept_by_stream(net, veh, grants, j, k):
            continue
        return j
    return -1


@kernel
def gap_blocker(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, ahead: float, patient: bool, share: float,
    pressed: float,
) -> int:  # fmt: skip
    """Slot of a vehicle with priority that i must let go first; -1 if the gap is enough.

    At a signal only movements with green count. patient False: heads that must yield themselves,
    standing or rolling up, no longer count (see `grant_intersection`), nor who lets a
    stream pass (`kept_by_stream`). share, pressed: of the critical gap,
    and where it zips in. ahead: m from i's front to the first of its n connectors.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for q in range(n):
        k = veh.path[i, q]
        j = gap_blocker_on(
            net, veh, types, order, grants, i, k, ahead, patient, share, pressed
        )  # fmt: skip
        if j >= 0:
            return j
        ahead += net.lanes.length[n_road_lanes + k] + net.lanes.length[net.connectors.to_lane[k]]
    return -1
