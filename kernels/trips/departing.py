"""Departing: trips wait outside, road by road, until there is room for them.

Due trips join the queue of their first road. In every frame each waiting road tries the first few
trips of its queue; a trip whose lane is full does not hold up one for another lane. Serial, in the
order of roads; newcomers see each other.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.random import normal, uniform
from rushhour.kernels.core.trips import Trips, Waiting
from rushhour.kernels.core.vehicles import (
    NOTHING,
    STREAM_DEPART,
    STREAM_FACTOR,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.driving.moving import log_way
from rushhour.kernels.routing.way_ahead import DEPTH, plan, route_efforts
from rushhour.kernels.trips.start_places import start_place

TRIES = 16  # trips of one road's queue that may fail to find room in a frame
DEPARTED = np.uint64(1 << 63)  # no road has so many lanes


@kernel
def lanes_for_trip(
    net: NetworkArrays, types: Types, routes: Routes, trips: Trips, trip: int, seed: int,
    efforts: NDArray[np.float64],
) -> np.uint64:  # fmt: skip
    """Bit per lane number of its first road on which a trip may depart."""
    permission = types.permission[trips.type[trip]]
    start = trips.route_start[trip]
    road = routes.road[start]
    first, count = net.roads.first_lane[road], net.roads.lane_count[road]
    wish = trips.lane[trip]
    one = np.uint64(1)
    allowed = np.uint64(0)
    usable = 0
    for j in range(count):
        if net.lanes.permissions[first + j] & permission:
            allowed |= one << np.uint64(j)
            usable += 1
    if wish >= 0:
        return one << np.uint64(min(wish, count - 1))
    if wish == -1 or wish == -4:
        pick = 0 if wish == -1 else int(uniform(seed, trip, 1, STREAM_DEPART) * usable)
        for j in range(count):
            if net.lanes.permissions[first + j] & permission:
                if pick == 0:
                    return one << np.uint64(j)
                pick -= 1
        return np.uint64(0)
    if wish != -2 or trips.walker[trip]:
        return allowed
    stop_lane = -1
    if trips.stop_start[trip] < trips.stop_start[trip + 1]:
        stop_lane = routes.stop_lane[trips.stop_start[trip]]
    length = types.length[trips.type[trip]]
    route_efforts(net, routes, start, trips.route_end[trip], permission, length, stop_lane, efforts)
    least = inf
    for j in range(count):
        least = min(least, efforts[DEPTH + 1, j])
    best = np.uint64(0)
    for j in range(count):
        if efforts[DEPTH + 1, j] <= least + 1e-9:
            best |= one << np.uint64(j)
    return best & allowed


@kernel
def join_queue(wait: Waiting, road: int, trip: int) -> None:
    """Put a trip behind those who wait outside its first road."""
    wait.following[trip] = -1
    if wait.head[road] < 0:
        wait.head[road] = trip
        wait.busy[wait.numbers[1]] = road
        wait.numbers[1] += 1
    else:
        wait.following[wait.tail[road]] = trip
    wait.tail[road] = trip


@kernel
def queue_due(
    net: NetworkArrays, types: Types, routes: Routes, trips: Trips, wait: Waiting, t: float,
    seed: int, efforts: NDArray[np.float64],
) -> int:  # fmt: skip
    """Move the trips that are due at time t (s) into the queues; returns their number."""
    due = 0
    while wait.numbers[0] < trips.depart.shape[0]:
        trip = int(wait.numbers[0])
        if trips.depart[trip] > t:
            break
        road = routes.road[trips.route_start[trip]]
        wait.lanes[trip] = lanes_for_trip(net, types, routes, trips, trip, seed, efforts)
        join_queue(wait, int(road), trip)
        wait.numbers[0] += 1
        due += 1
    return due


@kernel
def look_for_lanes(
    net: NetworkArrays, types: Types, routes: Routes, trips: Trips, wait: Waiting, seed: int,
    efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Choose anew on which lanes those who wait may depart, after lanes were closed or opened."""
    for x in range(wait.numbers[1]):
        trip = wait.head[wait.busy[x]]
        while trip >= 0:
            wait.lanes[trip] = lanes_for_trip(net, types, routes, trips, trip, seed, efforts)
            trip = wait.following[trip]


@kernel
def waiting_in_front(
    wait: Waiting, choices: NDArray[np.bool_], due: NDArray[np.int64], frame: int, period: int,
    slack: int, out: NDArray[np.int32],
) -> int:  # fmt: skip
    """Trips at the front of the queues who choose again: one period after another since they came due.

    choices: (n_trips,) who chooses at all. due: (n_trips,) frames. slack: frames between two calls.
    Writes out, by the order of the queues; returns their number.
    """
    found = 0
    for x in range(wait.numbers[1]):
        trip = wait.head[wait.busy[x]]
        place = 0
        while trip >= 0 and place < TRIES:
            waited = frame - due[trip]
            if choices[trip] and waited >= period and waited % period < slack:
                out[found] = trip
                found += 1
            trip = wait.following[trip]
            place += 1
    return found


@kernel
def born(
    net: NetworkArrays, veh: Vehicles, types: Types, trips: Trips, i: int, trip: int, lane: int,
    s: float, v: float, factor: float, frame: int,
) -> None:  # fmt: skip
    """Fill slot i with the vehicle of a trip."""
    t = trips.type[trip]
    veh.id[i] = trip
    veh.lane[i] = lane
    veh.s[i] = s
    veh.speed[i] = v
    veh.accel[i] = veh.lateral[i] = veh.swerve[i] = 0.0
    veh.around[i] = veh.pass_frame[i] = 0
    veh.type[i] = t
    veh.length[i] = types.length[t]
    veh.factor[i] = factor
    veh.top[i] = inf
    veh.path[i, :] = -1
    veh.behind[i, :] = -1
    veh.granted[i] = veh.go[i] = veh.stamp[i] = 0
    veh.cut[i] = -1
    veh.cut_stamp[i] = 0
    veh.arrived[i] = veh.full_since[i] = -1
    veh.overtaken[i] = veh.refused[i] = 0
    veh.trip[i] = trip
    veh.leg[i] = -1 if trips.walker[trip] else trips.route_start[trip]
    veh.route_start[i] = trips.route_start[trip]
    veh.route_end[i] = trips.route_end[trip]
    veh.draws[i] = 0
    veh.wanted[i] = lane
    veh.suits[i] = np.uint32(0)
    veh.ring_exit[i] = -1
    veh.change_frame[i] = frame - 1000000
    veh.change_to[i] = veh.yields_to[i] = -1
    veh.goes_next[i] = veh.queued[i] = False
    veh.stop[i] = trips.stop_start[trip]
    veh.stop_end[i] = trips.stop_start[trip + 1]
    veh.dwell_until[i] = -1
    veh.reason[i] = 0
    veh.blocker[i] = -1
    veh.closes_up[i] = 0
    veh.stands_since[i] = -1
    veh.longest[i] = veh.waited[i] = veh.stopped[i] = 0
    veh.depart_frame[i] = frame
    veh.distance[i] = veh.ideal[i] = 0.0
    log_way(net, veh, types, i, lane, -s)
    veh.minds[i] = 0
    veh.left[i] = False
    veh.told[i] = NOTHING
    veh.told_until[i] = 0


@kernel
def emptiest(net: NetworkArrays, order: Order, road: int, lanes: np.uint64) -> int:
    """Number of the emptiest of the lanes of a road (bits); -1 for none."""
    first = net.roads.first_lane[road]
    best, fewest = -1, 0
    for j in range(net.roads.lane_count[road]):
        if (lanes >> np.uint64(j)) & np.uint64(1):
            load = int(order.load[first + j])
            if best < 0 or load < fewest:
                best, fewest = j, load
    return best


@kernel
def try_depart(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    wait: Waiting, trips: Trips, trip: int, i: int, lanes: np.uint64, aside: bool, frame: int,
    dt: float, seed: int, efforts: NDArray[np.float64],
) -> np.uint64:  # fmt: skip
    """Put the vehicle of a trip on the road in slot i, on one of `lanes` with room for it now.

    Returns the lanes without room, or DEPARTED when it has departed.
    """
    t = trips.type[trip]
    road = routes.road[trips.route_start[trip]]
    factor = types.factor_mean[t]
    if types.factor_dev[t] > 0.0:
        factor += types.factor_dev[t] * normal(seed, trip, 0, STREAM_FACTOR)
        factor = min(max(factor, types.factor_min[t]), types.factor_max[t])
    left = lanes
    while True:
        j = emptiest(net, order, road, left)
        if j < 0:
            return lanes
        left &= ~(np.uint64(1) << np.uint64(j))
        lane = net.roads.first_lane[road] + j
        s, v = start_place(
            net,
            veh,
            types,
            order,
            grants,
            wait,
            trips,
            trip,
            lane,
            factor,
            aside,
            frame,
            dt,
            seed,
        )
        if v >= 0.0:
            born(net, veh, types, trips, i, trip, lane, s, v, factor, frame)
            plan(veh, net, routes, order, i, lane, types.permission[t], seed, efforts)
            wait.older[i] = wait.newest[lane]
            wait.newest[lane] = i
            return DEPARTED


@kernel
def depart(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    wait: Waiting, trips: Trips, room: int, newcomers: int, at: int, aside: bool, frame: int,
    dt: float, seed: int, efforts: NDArray[np.float64],
) -> tuple[int, int]:  # fmt: skip
    """Let waiting trips depart, at most `room`; returns how many did, their slots in order.spare.

    aside: bodies between two lanes take up room on both.
    Also returns -1, or the place in busy to go on `at` once there is room in the arrays, with these
    newcomers: who was tried before, and found no room on the road, finds none then.
    """
    full = -1
    kept = at
    for x in range(at, wait.numbers[1]):
        road = wait.busy[x]
        before = -1
        trip = wait.head[road]
        tries = TRIES
        closed = wait.shut[road]  # and lanes without room at their start in this frame
        whole = (np.uint64(1) << np.uint64(net.roads.lane_count[road])) - np.uint64(1)
        while trip >= 0 and tries > 0 and closed != whole and full < 0 and newcomers < room:
            after = wait.following[trip]
            lanes = wait.lanes[trip] & ~closed
            if lanes == 0:
                before = trip
                trip = after
                continue
            while wait.numbers[2] < veh.lane.shape[0] and veh.lane[wait.numbers[2]] >= 0:
                wait.numbers[2] += 1
            if wait.numbers[2] >= veh.lane.shape[0]:
                full = kept
                break
            i = int(wait.numbers[2])
            without_room = try_depart(
                net, veh, types, routes, order, grants, wait, trips, trip, i, lanes, aside, frame,
                dt, seed, efforts,
            )  # fmt: skip
            if without_room == DEPARTED:
                order.spare[newcomers] = i
                newcomers += 1
                if before < 0:
                    wait.head[road] = after
                else:
                    wait.following[before] = after
                if after < 0:
                    wait.tail[road] = before
            else:
                before = trip
                tries -= 1
                if trips.pos_kind[trip] <= 1:
                    closed |= without_room
            trip = after
        if wait.head[road] >= 0:
            wait.busy[kept] = road
            kept += 1
    wait.numbers[1] = kept
    if full < 0:
        for x in range(newcomers):
            wait.newest[veh.lane[order.spare[x]]] = -1
    return newcomers, full


@kernel
def release_left(veh: Vehicles, order: Order, wait: Waiting, n: int, out: NDArray[np.int32]) -> int:
    """Collect the slots of those who reached their end, in the order; returns their number.

    The slots are free after this: lane -1.
    """
    found = 0
    for p in range(n):
        i = order.slot[p]
        if veh.left[i]:
            out[found] = i
            found += 1
            veh.lane[i] = -1
            veh.left[i] = False
            wait.numbers[2] = min(wait.numbers[2], i)
    return found
