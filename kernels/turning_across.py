"""Turning from the wrong lane: who cannot change lane before its line goes on across the next ones.

The last resort of a driver at the head of a lane that does not lead where it goes: it takes the way
of another lane of its road, asks for a grant as everybody does, and gets it only while nobody on the
lanes that it crosses is going.
"""

from rushhour.kernels.entering import place_beside, upstream_allows
from rushhour.kernels.jit import kernel
from rushhour.kernels.network import NetworkArrays
from rushhour.kernels.planning import Efforts, plan
from rushhour.kernels.vehicles import LANE_CHANGE, NOTHING, Order, Routes, Types, Vehicles

EASY = 2.0  # m/s^2, the braking of those who come on a way that needs no grant
LINE_REACH = 15.0  # m before the line within which others count who take the same way


@kernel
def lane_leading_on(net: NetworkArrays, routes: Routes, veh: Vehicles, i: int, bit: int) -> int:
    """The nearest lane of i's road from which its route goes on; -1. bit: its permission."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[i]
    road = net.lanes.road[lane]
    ahead = routes.road[veh.leg[i] + 1]
    first = net.roads.first_lane[road]
    best = -1
    for other in range(first, first + net.roads.lane_count[road]):
        if best >= 0 and abs(other - lane) >= abs(best - lane):
            continue
        for k in range(net.lanes.out_start[other], net.lanes.out_start[other + 1]):
            to = net.connectors.to_lane[k]
            if net.lanes.road[to] != ahead:
                continue
            if net.lanes.permissions[to] & net.lanes.permissions[n_road_lanes + k] & bit:
                best = other
                break
    return best


@kernel
def takes_way(net: NetworkArrays, veh: Vehicles, order: Order, lane: int, k: int) -> bool:
    """Whether somebody near the end of a lane goes on by connector k."""
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if net.lanes.length[lane] - veh.s[j] > LINE_REACH:
            break
        if veh.path[j, 0] == k:
            return True
    return False


@kernel
def turn_across(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, frame: int,
    patience: int, dt: float, seed: int, first: int, last: int, efforts: Efforts,
) -> int:  # fmt: skip
    """Let heads of the road lanes first .. last - 1 that have stood for `patience` frames because they
    must change lane take the way of the lane that they cannot get to; returns how many do."""
    turned = 0
    for lane in range(first, last):
        if order.start[lane] == order.start[lane + 1]:
            continue
        i = order.slot[order.start[lane]]
        since = veh.stands_since[i]
        if veh.path[i, 0] >= 0 or since < 0 or frame - since < patience:
            continue
        if veh.reason[i] != LANE_CHANGE or veh.told[i] != NOTHING or veh.lane[i] != lane:
            continue
        if veh.leg[i] < 0 or veh.leg[i] + 1 >= veh.route_end[i]:
            continue
        stops = veh.stop[i] < veh.stop_end[i]
        if stops and net.lanes.road[routes.stop_lane[veh.stop[i]]] == net.lanes.road[lane]:
            continue
        bit = types.permission[veh.type[i]]
        other = lane_leading_on(net, routes, veh, i, bit)
        if other < 0 or other == lane:
            continue
        plan(veh, net, routes, order, i, other, bit, seed, efforts)
        k = veh.path[i, 0]
        goes = k >= 0 and not takes_way(net, veh, order, other, k)
        if goes and net.connectors.free[k]:
            # No grant keeps it from those who come.
            rear = place_beside(net, lane, other, veh.s[i]) - veh.length[i]
            goes = order.start[other] == order.start[other + 1] and upstream_allows(
                net, veh, types, order, other, rear, 0.0, EASY, dt
            )
        if goes:
            turned += 1
        else:
            plan(veh, net, routes, order, i, lane, bit, seed, efforts)
    return turned


@kernel
def crossed_beside(net: NetworkArrays, veh: Vehicles, order: Order, i: int) -> int:
    """Slot of a head beside i, with a grant, whose way crosses that of head i; -1 nobody.

    Ways from one road cross only where somebody turns from a lane that does not lead there.
    """
    lane = veh.lane[i]
    road = net.lanes.road[lane]
    if road < 0 or net.roads.lane_count[road] == 1 or veh.path[i, 0] < 0:
        return -1
    to = net.connectors.from_lane[veh.path[i, 0]]
    if net.lanes.road[to] != road:
        return -1
    first = net.roads.first_lane[road]
    for other in range(first, first + net.roads.lane_count[road]):
        if other == lane or order.start[other] == order.start[other + 1]:
            continue
        j = order.slot[order.start[other]]
        if veh.granted[j] == 0 or veh.path[j, 0] < 0:
            continue
        there = net.connectors.from_lane[veh.path[j, 0]]
        if min(lane, to) <= max(other, there) and min(other, there) <= max(lane, to):
            return int(j)
    return -1
