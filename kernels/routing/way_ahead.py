"""Planning: which connectors a vehicle takes next, and which lane of its road it should be on.

A routed vehicle looks DEPTH roads ahead, or LONG_ROADS that are not too short to change lane on. The
*effort* of a lane is the least number of lane changes, weighted by how short the roads are, with which
the route can be followed from it. A random walker draws one of the best connectors at each lane's end;
the draw depends on the seed, the vehicle and how many exits it has drawn before, so it stays the same
until the vehicle changes its mind.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.trips import has_stops
from rushhour.kernels.core.vehicles import MAX_LANES, PATH, STREAM_EXIT, Order, Routes, Vehicles

DEPTH = 12  # roads looked ahead, at most: as many as there are connectors in a path
LONG_ROADS = 8  # of them on which one may change lane
SIGHT = 500.0  # m looked ahead beyond the road a vehicle is on
TOO_SHORT = 10.0  # m; on a shorter road nobody changes lane
SHORT_PIECE = 5.0  # m; the same of a roundabout, where all roll slowly and turn the wheel anyhow
FAR_ROUND = 20.0  # m still to go round one, from which the inner lanes suit as well
BACK_OUT = 15.0  # effort that it may be to leave them again
WAITING_ROOM = 0.5  # m beyond its body that a lane must have for a vehicle to wait or change there
REAR_SLACK = 0.5  # m by which a body may be longer than a lane from which its vehicle changes
QUEUE_SPACE = 7.5  # m a vehicle takes in a queue
LOAD_WEIGHT = 2.0  # effort that a full lane is worth more than an empty one
LATER = 0.05  # of it more for each road before, where no road is long enough to change on
IMPOSSIBLE = 1000.0  # effort of having to do so
# Exits to a random walker: into roads for those who start or end there it goes from outside only
# where nothing else leads on.
GUEST = 1
GOOD = 2
Efforts = NDArray[np.float64]  # (2 * (DEPTH + 1), MAX_LANES): efforts, then efforts if not changing


@kernel
def shortest_to_change(routes: Routes, road: int, length: float) -> float:
    """Metres that a road must have for a vehicle of a length to change lane on it."""
    return max(SHORT_PIECE if routes.round[road] else TOO_SHORT, length - REAR_SLACK)


@kernel
def change_effort(length: float, shortest: float) -> float:
    """Effort of one lane change on a road of a length, where changes need a shortest one."""
    return 1.0 + 100.0 / (length + 1.0) if length >= shortest else IMPOSSIBLE


@kernel
def way_round(net: NetworkArrays, routes: Routes, leg: int, depth: int) -> float:
    """Metres of a roundabout that a route takes after the road at leg; depth: roads looked at."""
    total = 0.0
    for d in range(1, depth):
        if not routes.round[routes.road[leg + d]]:
            break
        total += net.roads.length[routes.road[leg + d]]
    return total


@kernel
def spread_efforts(
    net: NetworkArrays, routes: Routes, road: int, length: float, row: int, efforts: Efforts
) -> None:
    """Turn the efforts of staying on each lane (second half) into those with changes allowed."""
    stay = DEPTH + 1 + row
    count = net.roads.lane_count[road]
    step = change_effort(net.roads.length[road], shortest_to_change(routes, road, length))
    if step >= IMPOSSIBLE:
        # Who stands on such a road can change after all: as early as that may be, as it would bar
        # the last of them for others.
        step *= 1.0 + LATER * row
    for j in range(count):
        efforts[row, j] = efforts[stay, j]
    for j in range(1, count):
        efforts[row, j] = min(efforts[row, j], efforts[row, j - 1] + step)
    for j in range(count - 2, -1, -1):
        efforts[row, j] = min(efforts[row, j], efforts[row, j + 1] + step)


@kernel
def prefer_stop(
    net: NetworkArrays,
    routes: Routes,
    road: int,
    length: float,
    row: int,
    at: int,
    efforts: Efforts,
) -> None:
    """Make lane `at` of a road, where the next stop is, worth a change, be it a bay that ends there.

    Works on the efforts of staying (second half); after the stop the vehicle may change again.
    """
    stay = DEPTH + 1 + row
    step = change_effort(net.roads.length[road], shortest_to_change(routes, road, length))
    for j in range(net.roads.lane_count[road]):
        if j != at:
            efforts[stay, at] = min(efforts[stay, at], efforts[stay, j] + step * abs(j - at))
    for j in range(net.roads.lane_count[road]):
        # More than the change itself, or staying would be as good.
        efforts[stay, j] += 3.0 * step * abs(j - at)


@kernel
def route_efforts(
    net: NetworkArrays,
    routes: Routes,
    leg: int,
    route_end: int,
    permission: int,
    length: float,
    stop_lane: int,
    efforts: Efforts,
) -> int:
    """Fill efforts for a vehicle of a length for the roads at leg, leg+1, ...; returns how many roads were looked at.

    Row d: least effort from lane j of road leg+d; row DEPTH+1+d: the same without changing lane
    there. stop_lane: lane of the next stop, -1 none.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    most = min(DEPTH + 1, route_end - leg)
    depth = min(2, most)
    seen = 0.0
    long_roads = 1
    while depth < most and seen < SIGHT and long_roads < LONG_ROADS:
        here = net.roads.length[routes.road[leg + depth - 1]]
        seen += here
        long_roads += 1 if here >= TOO_SHORT else 0
        depth += 1
    for d in range(depth - 1, -1, -1):
        road = routes.road[leg + d]
        first = net.roads.first_lane[road]
        for j in range(net.roads.lane_count[road]):
            best = inf
            lane = first + j
            if net.lanes.permissions[lane] & permission:
                if d == depth - 1:
                    best = 0.0
                else:
                    ahead = routes.road[leg + d + 1]
                    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
                        to = net.connectors.to_lane[k]
                        if net.lanes.road[to] != ahead:
                            continue
                        if not net.lanes.permissions[n_road_lanes + k] & permission:
                            continue
                        best = min(best, efforts[d + 1, net.lanes.number[to]])
            efforts[DEPTH + 1 + d, j] = best
        if stop_lane >= 0 and net.lanes.road[stop_lane] == road:
            prefer_stop(net, routes, road, length, d, stop_lane - first, efforts)
        spread_efforts(net, routes, road, length, d, efforts)
    return depth


@kernel
def best_connector(
    net: NetworkArrays, order: Order, lane: int, ahead: int, row: int, permission: int,
    most: float, efforts: Efforts,
) -> int:  # fmt: skip
    """Connector from lane to road `ahead` with the least effort there (row), below most; -1 none.

    An empty lane is worth one easy change of lane later.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    best = -1
    least = inf
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        to = net.connectors.to_lane[k]
        if net.lanes.road[to] != ahead:
            continue
        if not net.lanes.permissions[n_road_lanes + k] & permission:
            continue
        e = efforts[row, net.lanes.number[to]]
        if e >= most or not net.lanes.permissions[to] & permission:
            continue
        room = max(1.0, net.lanes.length[to] / QUEUE_SPACE)
        e += LOAD_WEIGHT * min(1.0, order.load[to] / room)
        if e < least - 1e-9:
            best, least = k, e
    return best


@kernel
def connector_across(
    net: NetworkArrays, order: Order, lane: int, ahead: int, row: int, permission: int, most: float,
    efforts: Efforts,
) -> int:  # fmt: skip
    """The same from the nearest other lane of the road that leads there; -1 none. For who cannot
    change lane there, and turns from the one it is on (see turning_across.py)."""
    road = net.lanes.road[lane]
    first = net.roads.first_lane[road]
    count = net.roads.lane_count[road]
    for far in range(1, count):
        for side in range(-1, 2, 2):
            other = lane + side * far
            if first <= other < first + count:
                k = best_connector(net, order, other, ahead, row, permission, most, efforts)
                if k >= 0:
                    return k
    return -1


@kernel
def exit_of_ring(routes: Routes, leg: int, route_end: int) -> int:
    """The road by which a route leaves the first roundabout from the road at leg on; -1 none."""
    for at in range(leg, min(route_end - 1, leg + PATH)):
        if routes.round[routes.road[at]] and not routes.round[routes.road[at + 1]]:
            return int(routes.road[at + 1])
    return -1


@kernel
def plan_route(
    veh: Vehicles, net: NetworkArrays, routes: Routes, order: Order, i: int, lane: int,
    permission: int, efforts: Efforts,
) -> None:  # fmt: skip
    """Plan a routed vehicle from road lane `lane` at its leg; see `plan`."""
    leg = veh.leg[i]
    stop_lane = -1
    if has_stops(veh, routes, i):
        stop_lane = routes.stop_lane[veh.stop[i]]
    length = veh.length[i]
    depth = route_efforts(
        net, routes, leg, veh.route_end[i], permission, length, stop_lane, efforts
    )
    road = routes.road[leg]
    first = net.roads.first_lane[road]
    count = net.roads.lane_count[road]
    number = net.lanes.number[lane]
    step = change_effort(net.roads.length[road], shortest_to_change(routes, road, length))
    # The wanted lane: nearest of those reached with the least effort in all.
    wanted = number
    least = efforts[DEPTH + 1, number]
    for j in range(count):
        e = efforts[DEPTH + 1, j] + step * abs(j - number)
        if e < least - 1e-9:
            least, wanted = e, j
    veh.wanted[i] = first + wanted if least < inf else lane
    suits = np.uint32(0)
    floor = efforts[DEPTH + 1, wanted]
    if way_round(net, routes, leg, depth) >= FAR_ROUND:
        floor += BACK_OUT
    for j in range(min(count, 32)):
        if efforts[DEPTH + 1, j] <= floor + 1e-9 and floor < inf:
            suits |= np.uint32(1) << np.uint32(j)
    veh.suits[i] = suits
    veh.ring_exit[i] = exit_of_ring(routes, leg, veh.route_end[i])
    # A way on that needs a change where none is possible is taken only if there is no other.
    most = IMPOSSIBLE if least < IMPOSSIBLE else inf
    here = lane
    for q in range(PATH):
        k = -1
        if here >= 0 and q + 1 < depth:
            ahead = routes.road[leg + q + 1]
            k = best_connector(net, order, here, ahead, q + 1, permission, most, efforts)
            if k < 0 and net.lanes.length[here] < veh.length[i] + WAITING_ROOM:
                # It gets no grant to stand there: it goes on at once, or never comes there.
                k = connector_across(net, order, here, ahead, q + 1, permission, inf, efforts)
                holds = net.lanes.length[here] >= veh.length[i] - REAR_SLACK
                if k >= 0 and net.connectors.free[k] and holds:
                    k = -1  # no grant keeps it from others there: it stands, and changes lane
        veh.path[i, q] = k
        here = net.connectors.to_lane[k] if k >= 0 else -1


@kernel
def goodness(net: NetworkArrays, lane: int, k: int, permission: int) -> int:
    """What connector k is to a random walker on the lane: 0 closed, else GUEST or GOOD."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    if not net.lanes.permissions[n_road_lanes + k] & permission:
        return 0
    if not net.roads.ends_only[net.lanes.road[net.connectors.to_lane[k]]]:
        return GOOD
    return GOOD if net.roads.ends_only[net.lanes.road[lane]] else GUEST


@kernel
def best_exit(net: NetworkArrays, lane: int, permission: int) -> int:
    """Goodness of the best connector out of a lane; 0 if it has none."""
    best = 0
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        best = max(best, goodness(net, lane, k, permission))
    return best


@kernel
def draw_exit(net: NetworkArrays, lane: int, permission: int, u: float) -> int:
    """The u-th (0 <= u < 1) of the best connectors out of a lane; -1 if it has none."""
    best = best_exit(net, lane, permission)
    if best == 0:
        return -1
    usable = 0
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if goodness(net, lane, k, permission) == best:
            usable += 1
    pick = int(u * usable)
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if goodness(net, lane, k, permission) == best:
            if pick == 0:
                return k
            pick -= 1
    return -1


@kernel
def plan_walk(
    veh: Vehicles, net: NetworkArrays, i: int, lane: int, permission: int, seed: int
) -> None:
    """Plan a random walker from road lane `lane`; see `plan`."""
    road = net.lanes.road[lane]
    first = net.roads.first_lane[road]
    count = net.roads.lane_count[road]
    wanted = lane
    suits = np.uint32(0)
    nearest = MAX_LANES
    best = 1
    for j in range(count):
        if net.lanes.permissions[first + j] & permission:
            best = max(best, best_exit(net, first + j, permission))
    for j in range(count):
        other = first + j
        if net.lanes.permissions[other] & permission and best_exit(net, other, permission) == best:
            if j < 32:
                suits |= np.uint32(1) << np.uint32(j)
            if abs(other - lane) < nearest:
                nearest = abs(other - lane)
                wanted = other
    veh.wanted[i] = wanted
    veh.suits[i] = suits
    veh.ring_exit[i] = -1
    here = lane
    stream = STREAM_EXIT + 64 * veh.minds[i]
    for q in range(PATH):
        k = -1
        if here >= 0:
            u = uniform(seed, veh.id[i], veh.draws[i] + q, stream)
            k = draw_exit(net, here, permission, u)
        veh.path[i, q] = k
        here = net.connectors.to_lane[k] if k >= 0 else -1


@kernel
def plan(
    veh: Vehicles, net: NetworkArrays, routes: Routes, order: Order, i: int, lane: int,
    permission: int, seed: int, efforts: Efforts,
) -> None:  # fmt: skip
    """Plan vehicle i from road lane `lane`: its path, wanted lane and lanes that suit as well.

    Writes path, wanted, suits, ring_exit. path[0] is -1 where the lane does not lead on: the vehicle must
    change lane, or is on its last road.
    """
    if veh.leg[i] < 0:
        plan_walk(veh, net, i, lane, permission, seed)
    else:
        plan_route(veh, net, routes, order, i, lane, permission, efforts)
