"""Departing: trips wait outside, road by road, until there is room for them.

Due trips join the queue of their first road. In every frame each waiting road tries the first few
trips of its queue; a trip whose lane is full does not hold up one for another lane. Serial, in the
order of roads; newcomers see each other.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.car_following import stopping_distance
from rushhour.kernels.entering import braking_gap, front_gap, place_behind, upstream_allows
from rushhour.kernels.jit import kernel
from rushhour.kernels.network import NetworkArrays
from rushhour.kernels.planning import DEPTH, plan, route_efforts
from rushhour.kernels.random import normal, uniform
from rushhour.kernels.vehicles import (
    BEHIND,
    PATH,
    STREAM_DEPART,
    STREAM_FACTOR,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)

TRIES = 16  # trips of one road's queue that may fail to find room in a frame
DEPARTED = np.uint64(1 << 63)  # no road has so many lanes
RANDOM_PLACES = 10  # random places tried by POS_RANDOM_FREE
FOLLOWER_BRAKING = 2.0  # m/s^2 a departing vehicle may force on the one behind
EASE = 0.2  # s of reaction left to whoever follows


class Trips(NamedTuple):
    """Demand as kernels see it, shape (n_trips,) unless said; codes of traffic.demand."""

    depart: NDArray[np.float64]  # s, ascending
    type: NDArray[np.int32]
    walker: NDArray[np.bool_]
    route_start: NDArray[np.int64]  # (n+1,)
    lane: NDArray[np.int32]
    pos: NDArray[np.float64]
    pos_kind: NDArray[np.uint8]
    speed: NDArray[np.float64]
    speed_kind: NDArray[np.uint8]
    stop_start: NDArray[np.int64]  # (n+1,)


class Waiting(NamedTuple):
    """Trips that are due and wait outside."""

    head: NDArray[np.int32]  # (n_roads,) first trip of the queue; -1
    tail: NDArray[np.int32]  # (n_roads,)
    following: NDArray[np.int32]  # (n_trips,) next in the queue; -1
    lanes: NDArray[np.uint64]  # (n_trips,) bit per lane number on which it may depart
    busy: NDArray[np.int32]  # (n_roads,) roads with a queue, in front
    numbers: NDArray[np.int64]  # [0] next trip to become due, [1] roads in busy, [2] lowest slot
    newest: NDArray[np.int32]  # (n_lanes,) newcomer of this frame on the lane; -1
    older: NDArray[np.int32]  # (capacity,) newcomer before this one on its lane; -1


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
    route_efforts(net, routes, start, trips.route_start[trip + 1], permission, stop_lane, efforts)
    least = inf
    for j in range(count):
        least = min(least, efforts[DEPTH + 1, j])
    best = np.uint64(0)
    for j in range(count):
        if efforts[DEPTH + 1, j] <= least + 1e-9:
            best |= one << np.uint64(j)
    return best & allowed


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
        wait.following[trip] = -1
        if wait.head[road] < 0:
            wait.head[road] = trip
            wait.busy[wait.numbers[1]] = road
            wait.numbers[1] += 1
        else:
            wait.following[wait.tail[road]] = trip
        wait.tail[road] = trip
        wait.numbers[0] += 1
        due += 1
    return due


@kernel
def fits_newcomers(veh: Vehicles, wait: Waiting, lane: int, s: float, length: float) -> bool:
    """Whether a body at s keeps 2.5 m + 1 s from those who departed on this lane just now."""
    j = wait.newest[lane]
    while j >= 0:
        if veh.s[j] >= s:
            if veh.s[j] - veh.length[j] - s < 2.5:
                return False
        elif s - length - veh.s[j] < 2.5 + veh.speed[j]:
            return False
        j = wait.older[j]
    return True


@kernel
def safe_start(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, wait: Waiting,
    lane: int, s: float, t: int, factor: float, wish: float, exact: bool, dt: float,
) -> float:  # fmt: skip
    """Speed (m/s) at which a vehicle of type t can start at s; -1 if it cannot, or not exactly.

    wish: speed wanted. exact: that speed or none.
    """
    length = types.length[t]
    place = place_behind(veh, order, lane, s)
    gap, v_lead, _ = front_gap(net, veh, order, lane, place, s)
    keep = types.min_gap[t]
    b = 0.5 * types.decel[t]
    if gap < keep or not fits_newcomers(veh, wait, lane, s, length):
        return -1.0
    v = wish
    if gap < inf:
        free = gap - keep + stopping_distance(v_lead, types.decel[t])
        # v (dt + EASE) + v^2 / 2b <= free
        r = dt + EASE
        v = min(v, b * (sqrt(r * r + 2.0 * free / b) - r))
    v = min(v, sqrt(max(0.0, 2.0 * b * (net.lanes.length[lane] - s - 0.5))))
    j = wait.newest[lane]
    while j >= 0:
        if veh.s[j] > s:
            v = min(v, sqrt(2.0 * b * max(0.0, veh.s[j] - veh.length[j] - s - keep)))
        j = wait.older[j]
    if exact and v < wish - 1e-9:
        return -1.0
    rear = s - length
    if place < order.start[lane + 1]:
        j = order.slot[place]
        room = braking_gap(veh.speed[j], v, FOLLOWER_BRAKING, dt + EASE, types.min_gap[veh.type[j]])
        if rear - veh.s[j] < room:
            return -1.0
    elif net.lanes.in_start[lane] < net.lanes.in_start[lane + 1]:
        # Those with a grant for this lane must still find room if the newcomer stops.
        stops = rear + stopping_distance(v, types.decel[t])
        if grants.reserved[lane] > 0.0 and stops - keep < grants.reserved[lane]:
            return -1.0
        if not upstream_allows(net, veh, types, order, lane, rear, v, FOLLOWER_BRAKING, dt):
            return -1.0
    return v


@kernel
def start_place(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, wait: Waiting,
    trips: Trips, trip: int, lane: int, factor: float, frame: int, dt: float, seed: int,
) -> tuple[float, float]:  # fmt: skip
    """Place (m) and speed (m/s) at which a trip can start on a lane; speed -1: not now."""
    t = trips.type[trip]
    length = net.lanes.length[lane]
    v0 = min(types.max_speed[t], net.lanes.speed[lane] * factor, net.lanes.entry_speed[lane])
    kind = trips.speed_kind[trip]
    wish, exact = trips.speed[trip], True
    if kind == 1:  # as fast as is safe
        wish, exact = v0, False
    elif kind == 2:
        wish = v0
    elif kind == 3:
        wish = net.lanes.speed[lane]
    elif kind == 4:
        wish, exact = v0 * uniform(seed, trip, 0, STREAM_DEPART), False
    elif kind == 5 or kind == 6:
        lo, hi = order.start[lane], order.start[lane + 1]
        wish, exact = v0, False
        if lo < hi and kind == 5:
            wish = min(v0, veh.speed[order.slot[hi - 1]])
        elif lo < hi:
            total = 0.0
            for p in range(lo, hi):
                total += veh.speed[order.slot[p]]
            wish = min(v0, total / (hi - lo))
    if wish > v0 * 1.5 + 1.0:
        wish = v0
    base = min(types.length[t], length)
    where = trips.pos_kind[trip]
    lo, hi = order.start[lane], order.start[lane + 1]
    # Places in turn: `draws` random ones, then `fixed` ones that depend on the kind.
    draws = 1 if where == 2 else RANDOM_PLACES if where == 4 else 0
    fixed = 0 if where == 2 else 1 + hi - lo if where == 3 or where == 4 else 1
    s = base
    for turn in range(draws + fixed):
        if turn < draws:
            u = uniform(seed, trip, turn + (64 * frame if where == 4 else 1), STREAM_DEPART)
            s = base + u * max(0.0, length - 1.0 - base)
        elif where == 0:
            s = trips.pos[trip]
            if s < 0.0:
                s += length
            s = min(max(s, 0.0), length - 0.1)
            if wish > 0.0 and exact:
                # A given speed that could not stop before the line is lowered, not refused.
                wish = min(wish, sqrt(max(0.0, types.decel[t] * (length - s - 0.5))))
        elif where == 5:
            s = length - 0.5
            if lo < hi:
                j = order.slot[hi - 1]
                s = veh.s[j] - veh.length[j] - types.min_gap[t] - wish
            s = max(base, s)
        elif turn == draws:
            s = base
        else:
            # Just ahead of each vehicle, from the tail on.
            j = order.slot[hi - (turn - draws)]
            s = veh.s[j] + types.min_gap[veh.type[j]] + 1.5 * veh.speed[j] + types.length[t] + 0.1
            if s >= length - 0.5:
                continue
        v = safe_start(net, veh, types, order, grants, wait, lane, s, t, factor, wish, exact, dt)
        if v >= 0.0:
            return s, v
    return 0.0, -1.0


@kernel
def born(
    veh: Vehicles, types: Types, trips: Trips, i: int, trip: int, lane: int, s: float, v: float,
    factor: float, frame: int,
) -> None:  # fmt: skip
    """Fill slot i with the vehicle of a trip."""
    t = trips.type[trip]
    veh.id[i] = trip
    veh.lane[i] = lane
    veh.s[i] = s
    veh.speed[i] = v
    veh.accel[i] = 0.0
    veh.lateral[i] = 0.0
    veh.type[i] = t
    veh.length[i] = types.length[t]
    veh.factor[i] = factor
    for q in range(PATH):
        veh.path[i, q] = -1
    for b in range(BEHIND):
        veh.behind[i, b] = -1
    veh.granted[i] = 0
    veh.go[i] = 0
    veh.stamp[i] = 0
    veh.arrived[i] = -1
    veh.overtaken[i] = 0
    veh.refused[i] = 0
    veh.full_since[i] = -1
    veh.trip[i] = trip
    veh.leg[i] = -1 if trips.walker[trip] else trips.route_start[trip]
    veh.route_end[i] = trips.route_start[trip + 1]
    veh.draws[i] = 0
    veh.wanted[i] = lane
    veh.suits[i] = np.uint32(0)
    veh.change_frame[i] = frame - 1000000
    veh.change_to[i] = -1
    veh.yields_to[i] = -1
    veh.stop[i] = trips.stop_start[trip]
    veh.stop_end[i] = trips.stop_start[trip + 1]
    veh.dwell_until[i] = -1
    veh.reason[i] = 0
    veh.blocker[i] = -1
    veh.standing[i] = 0
    veh.longest[i] = 0
    veh.waited[i] = 0
    veh.stopped[i] = 0
    veh.depart_frame[i] = frame
    veh.distance[i] = 0.0
    veh.ideal[i] = 0.0
    veh.minds[i] = 0
    veh.left[i] = False


@kernel
def emptiest(net: NetworkArrays, order: Order, road: int, lanes: np.uint64) -> int:
    """Number of the emptiest of the lanes of a road (bits); -1 for none."""
    first = net.roads.first_lane[road]
    best, fewest = -1, 0
    for j in range(net.roads.lane_count[road]):
        if (lanes >> np.uint64(j)) & np.uint64(1):
            load = order.start[first + j + 1] - order.start[first + j]
            if best < 0 or load < fewest:
                best, fewest = j, load
    return best


@kernel
def try_depart(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    wait: Waiting, trips: Trips, trip: int, i: int, lanes: np.uint64, frame: int, dt: float,
    seed: int, efforts: NDArray[np.float64],
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
            net, veh, types, order, grants, wait, trips, trip, lane, factor, frame, dt, seed
        )
        if v >= 0.0:
            born(veh, types, trips, i, trip, lane, s, v, factor, frame)
            plan(veh, net, routes, order, i, lane, types.permission[t], seed, efforts)
            wait.older[i] = wait.newest[lane]
            wait.newest[lane] = i
            return DEPARTED


@kernel
def depart(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    wait: Waiting, trips: Trips, frame: int, dt: float, seed: int, efforts: NDArray[np.float64],
) -> int:  # fmt: skip
    """Let waiting trips depart; returns how many did, their slots in order.spare.

    Returns -1 - that number when the arrays were full before everybody had been tried.
    """
    newcomers = 0
    full = False
    kept = 0
    for x in range(wait.numbers[1]):
        road = wait.busy[x]
        before = -1
        trip = wait.head[road]
        tries = TRIES
        closed = np.uint64(0)  # lanes without room at their start in this frame
        whole = (np.uint64(1) << np.uint64(net.roads.lane_count[road])) - np.uint64(1)
        while trip >= 0 and tries > 0 and closed != whole and not full:
            after = wait.following[trip]
            lanes = wait.lanes[trip] & ~closed
            if lanes == 0:
                before = trip
                trip = after
                continue
            while wait.numbers[2] < veh.lane.shape[0] and veh.lane[wait.numbers[2]] >= 0:
                wait.numbers[2] += 1
            if wait.numbers[2] >= veh.lane.shape[0]:
                full = True
                break
            i = int(wait.numbers[2])
            without_room = try_depart(
                net, veh, types, routes, order, grants, wait, trips, trip, i, lanes, frame, dt,
                seed, efforts,
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
    for x in range(newcomers):
        wait.newest[veh.lane[order.spare[x]]] = -1
    return -1 - newcomers if full else newcomers


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
