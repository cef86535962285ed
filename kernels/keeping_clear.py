"""Keeping clear: who has a grant still stays out of conflict zones that others use before it.

The grant predicted that they would be gone; this holds when they are slower than predicted.
"""

from math import inf

from rushhour.kernels.car_following import approach_speed, stopping_distance
from rushhour.kernels.jit import kernel
from rushhour.kernels.network import NetworkArrays
from rushhour.kernels.vehicles import Grants, Order, Vehicles

ZONE_BRAKING = 4.5  # m/s^2 before a conflict zone that is still in use
ZONE_OFFSET = 0.5  # m kept before it
SLOW = 0.5  # m/s, below which a vehicle before its line lets those inside go first


@kernel
def goes_first(veh: Vehicles, i: int, j: int, inside: bool, n_road_lanes: int) -> bool:
    """Whether j goes before i through a zone that both have a grant for: the earlier grant does.

    Of two of whom one is inside and the other stands at its line, the one inside does (inside: i is).
    """
    if inside and veh.speed[j] < SLOW and veh.lane[j] < n_road_lanes:
        return False
    if not inside and veh.speed[i] < SLOW and veh.lane[j] >= n_road_lanes:
        return True
    return veh.stamp[j] < veh.stamp[i]


@kernel
def held_before(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, o: int, zone_out: float, inside: bool
) -> bool:  # fmt: skip
    """Whether somebody who goes before i is still to leave the zone of connector o that ends at
    zone_out: on o, just beyond it with its rear inside, or on its approach."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = n_road_lanes + o
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if j != i and veh.s[j] - veh.length[j] < zone_out:
            if goes_first(veh, i, j, inside, n_road_lanes):
                return True
    j = order.over[lane]
    if j >= 0 and j != i and veh.stamp[j] < veh.stamp[i] and order.over_rear[lane] < zone_out:
        return True
    back = net.connectors.from_lane[o]
    for p in range(order.start[back], order.start[back + 1]):
        j = order.slot[p]
        if veh.granted[j] == 0:
            break
        if j != i and veh.path[j, 0] == o and goes_first(veh, i, j, inside, n_road_lanes):
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
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    allowed = inf
    reach = stopping_distance(v, 0.7 * ZONE_BRAKING) + v * dt + 2.0
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        d = to_start + net.conflicts.here_in[c]
        if d <= 0.0 or d > reach:
            continue
        o = net.conflicts.other[c]
        if grants.tail[o] >= net.conflicts.there_out[c]:
            continue
        j = grants.tail_slot[o]
        if j == i:
            continue
        # If the last holder comes later, somebody ahead of it may still be there or come.
        inside = to_start < 0.0
        if goes_first(veh, i, j, inside, n_road_lanes) or held_before(
            net, veh, order, i, o, net.conflicts.there_out[c], inside
        ):
            allowed = min(allowed, approach_speed(v, d - ZONE_OFFSET, 0.0, ZONE_BRAKING, dt))
    return allowed
