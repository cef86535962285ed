"""Keeping clear: who has a grant still stays out of conflict zones that others use before it.

The grant predicted that they would be gone; this holds when they are slower than predicted. Who merges
behind somebody need not wait until that one has left the zone: it may follow it in, as it would in
the lane.
"""

from math import inf

import numpy as np

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import STAMPS, Grants, Order, Types, Vehicles
from rushhour.kernels.following.car_following import approach_speed, guard_speed, stopping_distance

ZONE_BRAKING = 4.5  # m/s^2 before a conflict zone that is still in use
ZONE_OFFSET = 0.5  # m kept before it
LET_IN_BRAKING = 2.0  # m/s^2, with which one makes room for another that merges before it
LET_IN_GAP = 1.0  # m kept to its rear
LEAST_GAP = 0.5  # m never given up
SLOW = 0.5  # m/s, below which a vehicle before its line lets those inside go first


@kernel
def goes_first(veh: Vehicles, i: int, k: int, j: int, o: int) -> bool:
    """Whether j on connector o goes before i on k, where both have a grant and the two conflict.

    The earlier grant does, unless the later one was given for the time before the other comes.
    """
    if veh.cut[i] == o and veh.stamp[j] >= veh.cut_stamp[i]:
        return False
    if veh.cut[j] == k and veh.stamp[i] >= veh.cut_stamp[j]:
        return True
    return veh.stamp[j] < veh.stamp[i] or (veh.stamp[j] == veh.stamp[i] and veh.id[j] < veh.id[i])


@kernel
def let_inside_go_first(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, line: int, d: float, frame: int,
    dt: float,
) -> None:  # fmt: skip
    """Put a holder that stands d m before its line behind those who are inside by later grants.

    For good: if it went first again as soon as it moves, both would stop, or neither. Who can no
    longer stop before the zone keeps its place.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    if veh.speed[i] >= SLOW or veh.lane[i] >= n_road_lanes:
        return
    room = d - ZONE_OFFSET - stopping_distance(veh.speed[i], ZONE_BRAKING) - veh.speed[i] * dt
    for q in range(line, veh.granted[i]):
        k = veh.path[i, q]
        for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
            if q == line and room + net.conflicts.here_in[c] < 0.0:
                continue
            o = net.conflicts.other[c]
            lane = n_road_lanes + o
            for p in range(order.start[lane], order.start[lane + 1]):
                j = order.slot[p]
                if (
                    goes_first(veh, j, o, i, k)
                    and veh.s[j] - veh.length[j] < net.conflicts.there_out[c]
                ):
                    veh.stamp[i] = np.int64(frame) * STAMPS - 1
                    return


@kernel
def is_waited_for(net: NetworkArrays, veh: Vehicles, grants: Grants, i: int) -> bool:
    """Whether i is in an intersection and somebody waits for it to leave.

    A new grant, which is later, would change their order.
    """
    k = veh.lane[i] - (net.lanes.out_start.shape[0] - 1)
    if k < 0 or net.connectors.free[k]:
        return False
    if veh.cut[i] >= 0:
        return True
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        o = net.conflicts.other[c]
        if veh.s[i] - veh.length[i] >= net.conflicts.here_out[c]:
            continue
        if grants.tail[o] < net.conflicts.there_out[c]:
            if goes_first(veh, grants.tail_slot[o], o, i, k):
                return True
    return False


@kernel
def comes_before(
    veh: Vehicles, order: Order, i: int, own: int, lane: int, q: int, o: int, k: int
) -> int:
    """1 if the first on a lane who has a grant for connector o as its path[q] goes before i, 0 if it
    goes after i, and with it all behind; -1 if nobody has.

    own: connector of i. k: path[0] of those meant, -1 if all are.
    """
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if veh.granted[j] == 0:
            break
        if j == i or veh.granted[j] <= q or veh.path[j, q] != o:
            continue
        if k < 0 or veh.path[j, 0] == k:
            return 1 if goes_first(veh, i, own, j, o) else 0
    return -1


@kernel
def comes_later_on(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, own: int, o: int
) -> bool:
    """Whether somebody who goes before i, on connector `own`, is on its way to the lane before
    connector o, by one grant for both."""
    back = net.connectors.from_lane[o]
    for x in range(net.lanes.in_start[back], net.lanes.in_start[back + 1]):
        k = net.lanes.in_connector[x]
        inside = net.lanes.out_start.shape[0] - 1 + k
        what = comes_before(veh, order, i, own, inside, 0, o, -1)
        if what < 0:
            what = comes_before(veh, order, i, own, net.connectors.from_lane[k], 1, o, k)
        if what == 1:
            return True
    return False


@kernel
def held_before(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, own: int, o: int, zone_out: float
) -> bool:
    """Whether somebody who goes before i, on connector `own`, is still to leave the zone of
    connector o that ends at zone_out: on o, just beyond it with its rear inside, or on its way there
    by one grant.

    Who is just beyond does so whatever its stamp, which is by now that of the next line. Of the others
    the first decides: whoever is behind one that waits for i comes after i, too, whenever it was
    granted its way.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = n_road_lanes + o
    j = order.over[lane]
    if j >= 0 and j != i and order.over_rear[lane] < zone_out:
        return True
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if j != i and veh.s[j] - veh.length[j] < zone_out:
            return goes_first(veh, i, own, j, o)
    back = net.connectors.from_lane[o]
    what = comes_before(veh, order, i, own, back, 0, o, -1)
    if what >= 0:
        return what == 1
    return comes_later_on(net, veh, order, i, own, o)


@kernel
def last_before(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, own: int, o: int
) -> tuple[int, float]:
    """The hindmost of those on connector o, just beyond it or at its line, with a grant, who go
    before i on connector `own`; and where its rear is on o, m (negative before its start).

    -1: none of these, or somebody farther back does, too.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = n_road_lanes + o
    last, rear = -1, inf
    j = order.over[lane]
    if j >= 0 and j != i:
        last, rear = j, order.over_rear[lane]
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if j == i:
            continue
        if not goes_first(veh, i, own, j, o):
            return last, rear
        last, rear = j, veh.s[j] - veh.length[j]
    back = net.connectors.from_lane[o]
    for p in range(order.start[back], order.start[back + 1]):
        j = order.slot[p]
        if veh.granted[j] == 0:
            break
        if j == i or veh.path[j, 0] != o:
            continue
        if not goes_first(veh, i, own, j, o):
            return last, rear
        last, rear = j, veh.s[j] - veh.length[j] - net.lanes.length[back]
    if comes_later_on(net, veh, order, i, own, o):
        return -1, inf
    return last, rear


@kernel(forceinline=True)
def zone_speed(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, i: int, k: int,
    to_start: float, dt: float,
) -> tuple[float, int, float]:  # fmt: skip
    """Next speed that keeps i out of zones of connector k used by those granted before it.

    And behind whom it merges, with the gap (m) between the two as if they were in one lane
    already; -1, inf. to_start: m from i's front to the start of k, negative inside.
    """
    v = veh.speed[i]
    allowed = inf
    ahead, room = -1, inf
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    reach = stopping_distance(v, 0.7 * ZONE_BRAKING) + v * dt + 2.0
    far = stopping_distance(v, LET_IN_BRAKING) + v + 2.0  # about what it wants to the one ahead
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        d = to_start + net.conflicts.here_in[c]
        if d > far:
            continue
        o = net.conflicts.other[c]
        zone_out = net.conflicts.there_out[c]
        # Where the way comes back to here, the last holder may be i, behind others.
        if grants.tail[o] >= zone_out:
            continue
        merges = net.connectors.to_lane[o] == net.connectors.to_lane[k]
        if not merges and (d <= 0.0 or d > reach):
            continue
        limit = inf
        if d > 0.0:
            if not held_before(net, veh, order, i, k, o, zone_out):
                continue
            limit = approach_speed(v, d - ZONE_OFFSET, 0.0, ZONE_BRAKING, dt)
        if merges:
            j, rear = last_before(net, veh, order, i, k, o)
            if j >= 0:
                gap = to_start + net.lanes.length[n_road_lanes + k]
                gap += rear - net.lanes.length[n_road_lanes + o]
                if gap > 0.0:
                    behind = min(
                        approach_speed(v, gap - LET_IN_GAP, veh.speed[j], LET_IN_BRAKING, dt),
                        guard_speed(
                            v, gap - LEAST_GAP, veh.speed[j], types.emergency[veh.type[i]], dt
                        ),
                    )
                    limit = max(limit, behind) if d > 0.0 else behind
                    if gap < room:
                        ahead, room = j, gap
        allowed = min(allowed, limit)
    return allowed, ahead, room
