"""Keeping clear: who has a grant still stays out of conflict zones that others use before it.

The grant predicted that they would be gone; this holds when they are slower than predicted.
"""

from math import inf

import numpy as np

from rushhour.kernels.car_following import approach_speed, stopping_distance
from rushhour.kernels.jit import kernel
from rushhour.kernels.network import NetworkArrays
from rushhour.kernels.vehicles import STAMPS, Grants, Order, Vehicles

ZONE_BRAKING = 4.5  # m/s^2 before a conflict zone that is still in use
ZONE_OFFSET = 0.5  # m kept before it
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
    for x in range(net.lanes.in_start[back], net.lanes.in_start[back + 1]):
        k = net.lanes.in_connector[x]
        what = comes_before(veh, order, i, own, n_road_lanes + k, 0, o, -1)
        if what < 0:
            what = comes_before(veh, order, i, own, net.connectors.from_lane[k], 1, o, k)
        if what == 1:
            return True
    return False


@kernel(forceinline=True)
def zone_speed(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, k: int, to_start: float,
    dt: float,
) -> float:  # fmt: skip
    """Next speed that keeps i out of zones of connector k used by those granted before it.

    to_start: m from i's front to the start of k, negative inside. The grant predicted that they
    would be gone; this holds when they are slower than predicted.
    """
    v = veh.speed[i]
    allowed = inf
    reach = stopping_distance(v, 0.7 * ZONE_BRAKING) + v * dt + 2.0
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        d = to_start + net.conflicts.here_in[c]
        if d <= 0.0 or d > reach:
            continue
        o = net.conflicts.other[c]
        zone_out = net.conflicts.there_out[c]
        # Where the way comes back to here, the last holder may be i, behind others.
        if grants.tail[o] >= zone_out:
            continue
        if held_before(net, veh, order, i, k, o, zone_out):
            allowed = min(allowed, approach_speed(v, d - ZONE_OFFSET, 0.0, ZONE_BRAKING, dt))
    return allowed
