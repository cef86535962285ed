"""Is the way clear, and is the gap enough: questions before a grant.

Source: right-of-way.md section 2. Distances along a connector are negative before its start.
"""

import numpy as np

from rushhour.kernels.car_following import stopping_distance, travel_time
from rushhour.kernels.going_between import approach_limit, arrives_within, stamp_to_cut
from rushhour.kernels.halting import stands_for_long
from rushhour.kernels.jit import kernel
from rushhour.kernels.leaving import time_to_leave
from rushhour.kernels.moving import aimed_speed
from rushhour.kernels.network import GREEN, OFF, NetworkArrays
from rushhour.kernels.rules import Rules
from rushhour.kernels.vehicles import (
    BODY,
    EXIT_FULL,
    RED_LIGHT,
    YIELDS,
    Grants,
    Order,
    Types,
    Vehicles,
)


@kernel
def is_clear(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, to_line: float, reaction: float, margin: float, share: float, between: bool,
    dt: float,
) -> tuple[int, int, np.int64]:  # fmt: skip
    """-1 if every conflicting holder has left its zone before i reaches it, else its slot.

    And the connector before some of whose holders i goes, with the first of their stamps, if it
    goes between two (`between` allows that, where it yields); else -1, 0. to_line: m from i's front
    to the first of its n connectors. share: of the critical gap. Source: right-of-way.md clear(i).
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    t = veh.type[i]
    accel = types.accel[t]
    ahead = to_line
    v_max = aimed_speed(net, veh, types, i, veh.lane[i])
    cut, cut_stamp = -1, np.int64(0)
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
                return j, -1, cut_stamp
            leaves = time_to_leave(net, veh, types, rules, j, o, tail, net.conflicts.there_out[c])
            here = ahead + net.conflicts.here_in[c]
            enters = reaction + travel_time(here, veh.speed[i], accel, v_max)
            if leaves + margin <= enters:
                continue
            if not between or cut >= 0 or q != veh.line[i] or not net.conflicts.yields[c]:
                return j, -1, cut_stamp
            # Whoever merges is out of the way once it is ahead, who crosses when it has crossed.
            merges = net.connectors.to_lane[o] == net.connectors.to_lane[k]
            gone = net.conflicts.here_in[c] if merges else net.conflicts.here_out[c]
            inside = min(v_max, net.lanes.entry_speed[n_road_lanes + k])
            through = travel_time(ahead + gone + veh.length[i], veh.speed[i], accel, inside)
            need = max(share * grants.critical_gap[k], reaction + through + margin)
            cut_stamp = stamp_to_cut(net, veh, types, order, rules, c, enters - margin, need, dt)
            if cut_stamp < 0:
                return j, -1, cut_stamp
            cut = o
        ahead += net.lanes.length[n_road_lanes + k]
        ahead += net.lanes.length[net.connectors.to_lane[k]]
    return -1, cut, cut_stamp


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
    limit = 1.1 * net.lanes.speed[lane]
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        d = length - veh.s[j] + zone
        if not arrives_within(veh, types, j, d, approach_limit(net, veh, j, o), gap):
            return -1
        if veh.granted[j] > 0:
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
            if not arrives_within(
                veh, types, j, back - veh.s[j], approach_limit(net, veh, j, o), gap
            ):
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
            if not arrives_within(veh, types, j, d, approach_limit(net, veh, j, o), gap):
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
        gap = share * grants.critical_gap[k]
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
