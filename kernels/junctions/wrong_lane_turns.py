"""Turning from the wrong lane: who cannot change lane before its line goes on across the next ones.

The last resort of a driver at the head of a lane that does not lead where it goes: it takes the way
of another lane of its road, asks for a grant as everybody does, and gets it only while nobody on the
lanes that it crosses is going.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.trips import has_stops, is_on_last_road
from rushhour.kernels.core.vehicles import (
    LANE_CHANGE,
    NOTHING,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.following.lane_gaps import place_beside, upstream_allows
from rushhour.kernels.junctions.grant_holders import behind_line, has_grant
from rushhour.kernels.routing.way_ahead import Efforts, plan

START = 3.0  # s that it takes to get going
EASY = 2.0  # m/s^2, the braking of those who come on a way that needs no grant
CLEAR = 1.0  # m beyond the line that the last one on its way must be
LONG = 60.0  # s of standing after which it goes over a joint, too
LINE_REACH = 15.0  # m before the line within which others count who take the same way


@kernel
def nobody_takes_way(net: NetworkArrays, veh: Vehicles, order: Order, i: int, k: int) -> bool:
    """Whether nobody else near the end of i's road goes on by connector k. Who stands behind one that
    must change lane itself cannot."""
    road = net.lanes.road[veh.lane[i]]
    first = net.roads.first_lane[road]
    for lane in range(first, first + net.roads.lane_count[road]):
        for p in range(order.start[lane], order.start[lane + 1]):
            j = order.slot[p]
            if net.lanes.length[lane] - veh.s[j] > LINE_REACH:
                break
            if j != i and veh.path[j, 0] < 0 and veh.speed[j] < 0.1:
                break
            if j != i and veh.path[j, 0] == k:
                return False
    return True


@kernel
def last_is_beyond(net: NetworkArrays, veh: Vehicles, order: Order, k: int) -> bool:
    """Whether the rear of the last on connector k is CLEAR of the line before it, or nobody is there."""
    inside = net.lanes.out_start.shape[0] - 1 + k
    if order.start[inside] == order.start[inside + 1]:
        return True
    j = order.slot[order.start[inside + 1] - 1]
    return bool(veh.s[j] - veh.length[j] >= CLEAR)


@kernel
def shields(veh: Vehicles, order: Order, lane: int) -> bool:
    """Whether somebody stands at the head of a lane, so that nobody comes past on it."""
    if order.start[lane] == order.start[lane + 1]:
        return False
    return veh.speed[order.slot[order.start[lane]]] < 0.1


@kernel
def swaps(net: NetworkArrays, veh: Vehicles, order: Order, lane: int, other: int) -> bool:
    """Whether the head of the next lane stands as well because it must change to the lane of this one."""
    if abs(other - lane) != 1 or not shields(veh, order, other):
        return False
    j = order.slot[order.start[other]]
    return bool(veh.reason[j] == LANE_CHANGE and (veh.wanted[j] - other) * (lane - other) > 0)


@kernel
def turn_across(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, frame: int,
    patience: int, dt: float, seed: int, first: int, last: int, counted: NDArray[np.bool_],
    efforts: Efforts,
) -> int:  # fmt: skip
    """Let heads of the road lanes first .. last - 1 that have stood for `patience` frames because they
    must change lane take the way of the lane that they cannot get to; returns how many do, on lanes
    that are `counted`, (n_lanes,)."""
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
        if veh.leg[i] < 0 or is_on_last_road(veh, i) or veh.change_to[i] >= 0:
            continue
        stops = has_stops(veh, routes, i)
        if stops and net.lanes.road[routes.stop_lane[veh.stop[i]]] == net.lanes.road[lane]:
            continue
        bit = types.permission[veh.type[i]]
        other = veh.wanted[i]
        if other == lane or net.lanes.road[other] != net.lanes.road[lane]:
            continue
        plan(veh, net, routes, order, i, other, bit, seed, efforts)
        k = veh.path[i, 0]
        goes = k >= 0 and nobody_takes_way(net, veh, order, i, k)
        if goes and net.connectors.free[k]:
            # No grant keeps it from those who come: only where nobody could change lane, or two have
            # long stood who must swap lanes and are too long for that.
            if net.lanes.length[other] < veh.length[i]:
                goes = shields(veh, order, other) or upstream_allows(
                    net, veh, types, order, other,
                    place_beside(net, lane, other, veh.s[i]) - veh.length[i], 0.0, EASY, START + dt,
                )  # fmt: skip
            else:
                goes = (frame - since) * dt >= LONG and swaps(net, veh, order, lane, other)
            goes = goes and last_is_beyond(net, veh, order, k)
        if goes:
            turned += counted[lane]
        else:
            plan(veh, net, routes, order, i, lane, bit, seed, efforts)
    return turned


@kernel
def turns_across(net: NetworkArrays, veh: Vehicles, j: int, k: int) -> bool:
    """Whether j has a grant to go on by connector k from another lane than that before it, or is on k
    and came from such a lane."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[j]
    if lane == n_road_lanes + k:
        return bool(veh.behind[j, 0] >= 0 and veh.behind[j, 0] != net.connectors.from_lane[k])
    if lane >= n_road_lanes:
        lane = net.connectors.to_lane[lane - n_road_lanes]
    for q in range(veh.granted[j]):
        if veh.path[j, q] == k:
            return bool(net.connectors.from_lane[k] != lane)
        lane = net.connectors.to_lane[veh.path[j, q]]
    return False


@kernel
def crossed_beside(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, n: int
) -> int:
    """Slot of somebody with a grant whose way crosses, beside its line, that of i; -1 nobody. n: the
    entries of its path that i asks for.

    Ways from one road cross only where somebody turns from a lane that does not lead there.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for q in range(veh.line[i], n):
        k = veh.path[i, q]
        j = grants.tail_slot[k]
        if grants.tail[k] < 0.0 and j != i and turns_across(net, veh, j, k):
            return int(j)
        lane = veh.lane[i]
        if q > 0:
            lane = net.connectors.to_lane[veh.path[i, q - 1]]
        elif lane >= n_road_lanes:
            lane = net.connectors.to_lane[lane - n_road_lanes]
        road = net.lanes.road[lane]
        if net.roads.lane_count[road] == 1:
            continue
        to = net.connectors.from_lane[k]
        if to != lane and grants.tail[k] < CLEAR and j != i:
            return int(j)
        first = net.roads.first_lane[road]
        for other in range(first, first + net.roads.lane_count[road]):
            if other == lane or order.start[other] == order.start[other + 1]:
                continue
            j = order.slot[order.start[other]]
            if veh.path[j, 0] < 0 or j == i or not has_grant(veh, j, behind_line(net, veh, j)):
                continue
            there = net.connectors.from_lane[veh.path[j, 0]]
            if min(lane, to) <= max(other, there) and min(other, there) <= max(lane, to):
                return int(j)
    return -1
