"""Detours: other ways for drivers who are on the road, because of closures or of the traffic.

A driver keeps to the roads that it can no longer avoid: those it has a grant for, and those so near
that it could not change lane for another. From there the cheapest way to its next stop, or its end,
is sought; what comes after a stop stays as it was.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.vehicles import PATH, Order, Routes, Types, Vehicles
from rushhour.kernels.driving.moving import leave_line
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.rerouting.other_exits import (
    Exits,
    leads_on,
    next_goal,
    node_at_exit,
    roads_behind,
    write_way,
)
from rushhour.kernels.routing.astar import RoadGraph, Scratch, search
from rushhour.kernels.routing.way_ahead import TOO_SHORT, plan

REACTION = 0.5  # s before a driver brakes for a line
CHANGE_ROOM = 30.0  # m beyond its stopping distance that it wants to turn to another way
STREAM_REROUTER = 7101  # who looks at the traffic on the way


@kernel
def kept_entries(net: NetworkArrays, veh: Vehicles, types: Types, i: int) -> int:
    """Entries of path that i keeps, whatever it would rather take.

    Onto a closed lane only those for which it has a grant, or cannot stop any more.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[i]
    d = net.lanes.length[lane] - veh.s[i]
    if lane >= n_road_lanes:
        lane = net.connectors.to_lane[lane - n_road_lanes]
        d += net.lanes.length[lane]
    v = veh.speed[i]
    stop = stopping_distance(v, types.decel[veh.type[i]]) + v * REACTION
    permission = types.permission[veh.type[i]]
    q = 0
    while q + 1 < PATH and veh.path[i, q] >= 0:
        k = veh.path[i, q]
        if q >= veh.granted[i]:
            # Without its grant it stops at the line anyway; who needs none may be too near.
            if net.lanes.permissions[n_road_lanes + k] & permission == 0:
                if d >= stop or not net.connectors.free[k]:
                    break
            short = net.roads.length[net.lanes.road[lane]] < TOO_SHORT
            if d >= stop + CHANGE_ROOM and not short:
                break
        lane = net.connectors.to_lane[k]
        d += net.lanes.length[n_road_lanes + k] + net.lanes.length[lane]
        q += 1
    return q


@kernel
def note_kept_roads(
    net: NetworkArrays, veh: Vehicles, routes: Routes, exits: Exits, i: int, kept: int
) -> None:
    """Write the roads after that of its leg that driver i keeps into row 0 of the table of exits."""
    on_connector = 1 if net.lanes.road[veh.lane[i]] < 0 else 0
    exits.steps[0] = on_connector + kept
    for q in range(on_connector + kept):
        exits.roads[0, q] = routes.road[veh.leg[i] + 1 + q]


@kernel
def way_cost(
    routes: Routes, graph: RoadGraph, multiplier: NDArray[np.float64], node: int, first: int,
    last: int,
) -> float:  # fmt: skip
    """Cost (s) of driving on from a node over routes.road[first .. last]; inf where there is no way."""
    total = 0.0
    for place in range(first, last + 1):
        road = routes.road[place]
        found = -1
        for e in range(graph.out_start[node], graph.out_start[node + 1]):
            if graph.road_of[graph.out[e]] == road:
                found = e
                break
        if found < 0:
            return inf
        total += graph.turn_cost[found] + graph.cost[road] * multiplier[road]
        node = graph.out[found]
    return total


@kernel
def way_costs(
    routes: Routes, graph: RoadGraph, multiplier: NDArray[np.float64], even: NDArray[np.float64],
    first: NDArray[np.int64], last: NDArray[np.int64], now: NDArray[np.float64],
    free: NDArray[np.float64],
) -> None:  # fmt: skip
    """Costs of ways from the end of their first roads: now, and on empty roads.

    Way i: routes.road[first[i] : last[i]]. multiplier: (n_roads,) now; even: ones.
    """
    for i in range(first.shape[0]):
        node = routes.road[first[i]]
        now[i] = way_cost(routes, graph, multiplier, node, first[i] + 1, last[i] - 1)
        free[i] = way_cost(routes, graph, even, node, first[i] + 1, last[i] - 1)


@kernel
def seek_detours(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, graph: RoadGraph,
    scratch: Scratch, exits: Exits, multiplier: NDArray[np.float64], gain: float,
    slots: NDArray[np.int32], permission: int, memory: int, stamp: int, ways: NDArray[np.int32],
    length: NDArray[np.int32], behind: NDArray[np.int32], lost: NDArray[np.bool_],
) -> int:  # fmt: skip
    """The cheapest way on of each driver among `slots` whose class has that permission.

    Writes ways[row, :length[row]], the road of its leg first; length 0: none that is cheaper than
    its own by a share of `gain`; minus the length: `ways` is too narrow. behind[row]: how many
    roads before that one matter. lost[row]: there is no way, its own included. multiplier: (n_roads,) >= 1. stamp: larger than any in the scratch;
    returns the next one that is.
    """
    pace = 1.0 / graph.top_speed * (1.0 - 1e-12)
    for row in range(slots.shape[0]):
        i = slots[row]
        if veh.leg[i] < 0 or types.permission[veh.type[i]] != permission:
            continue
        length[row] = 0
        lost[row] = False
        goal = next_goal(net, veh, routes, i)
        kept = kept_entries(net, veh, types, i)
        note_kept_roads(net, veh, routes, exits, i, kept)
        here = veh.leg[i] + exits.steps[0]
        if here >= goal:
            continue
        behind[row] = roads_behind(veh, routes, graph, i, memory)
        start = node_at_exit(veh, routes, graph, exits, 0, i, behind[row])
        if start < 0:
            continue
        own = way_cost(routes, graph, multiplier, start, here + 1, goal)
        end = search(graph, scratch, 0, stamp, start, routes.road[goal], multiplier, pace, 0, 0.0)
        stamp += 1
        if end < 0 or not leads_on(veh, routes, graph, i, goal, end, memory):
            lost[row] = own == inf
            continue
        if scratch.cost[0, end] < (1.0 - gain) * own:
            length[row] = write_way(veh, routes, graph, scratch, exits, 0, i, goal, end, ways[row])
    return stamp


@kernel
def look_again(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, i: int,
    seed: int, efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Plan the way of i anew from where it can still turn to another one."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    kept = kept_entries(net, veh, types, i)
    if kept > 0 or veh.lane[i] >= n_road_lanes:
        for q in range(kept, PATH):
            veh.path[i, q] = -1
        return
    arrived = veh.arrived[i]
    leave_line(veh, i)
    plan(veh, net, routes, order, i, veh.lane[i], types.permission[veh.type[i]], seed, efforts)
    veh.arrived[i] = arrived  # at the same line


@kernel
def take_detours(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order,
    slots: NDArray[np.int32], ways: NDArray[np.int32], length: NDArray[np.int32],
    behind: NDArray[np.int32], used: int, seed: int, efforts: NDArray[np.float64],
) -> int:  # fmt: skip
    """Give drivers their new ways: in the place of the old ones where they fit, else behind `used`.

    The pool of routes has room for all of them, each behind the behind[row] roads driven before.
    Returns the entries of the pool in use then.
    """
    for row in range(slots.shape[0]):
        size = length[row]
        if size <= 0:
            continue
        i = slots[row]
        if size > veh.route_end[i] - veh.leg[i]:
            driven = behind[row]
            first = veh.leg[i] - driven
            for q in range(driven):
                routes.road[used + q] = routes.road[first + q]
            veh.route_start[i] = used
            veh.leg[i] = used + driven
            used += driven + size
        for q in range(size):
            routes.road[veh.leg[i] + q] = ways[row, q]
        veh.route_end[i] = veh.leg[i] + size
        look_again(net, veh, types, routes, order, i, seed, efforts)
    return used


@kernel
def look_again_all(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order,
    slots: NDArray[np.int32], seed: int, efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Plan the ways of some vehicles anew, after lanes were closed or opened."""
    for row in range(slots.shape[0]):
        look_again(net, veh, types, routes, order, slots[row], seed, efforts)


@kernel
def turn_is_open(net: NetworkArrays, shut: NDArray[np.bool_], a: int, b: int, mask: int) -> bool:
    """Whether a class may drive from road a to road b over a lane that is not shut for itself."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    first = net.roads.first_lane[a]
    for lane in range(first, first + net.roads.lane_count[a]):
        if shut[lane]:
            continue
        for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
            to = net.connectors.to_lane[k]
            if net.lanes.road[to] == b:
                if net.lanes.permissions[n_road_lanes + k] & net.lanes.permissions[to] & mask:
                    return True
    return False


@kernel
def find_blocked(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, shut: NDArray[np.bool_],
    suspect: NDArray[np.bool_], since: int, out: NDArray[np.int32],
) -> int:  # fmt: skip
    """Slots of drivers who departed in frame `since` or later and whose route is closed ahead.

    shut: (n_road_lanes,) lanes closed where others of their road are open. suspect: (n_roads,)
    roads from which a turn may be closed. Returns their number.
    """
    found = 0
    for i in range(veh.lane.shape[0]):
        if veh.lane[i] < 0 or veh.leg[i] < 0 or veh.depart_frame[i] < since:
            continue
        mask = types.permission[veh.type[i]]
        first = veh.leg[i]
        if net.lanes.road[veh.lane[i]] < 0:
            first += 1  # it is past the turn from the road of its leg
        if veh.path[i, 0] >= 0:
            first += 1  # and this one it can take from its lane
        for place in range(first, veh.route_end[i] - 1):
            a = routes.road[place]
            if suspect[a] and not turn_is_open(net, shut, a, routes.road[place + 1], mask):
                out[found] = i
                found += 1
                break
    return found


@kernel
def find_rerouters(
    veh: Vehicles, frame: int, period: int, share: float, seed: int, out: NDArray[np.int32]
) -> int:
    """Slots of drivers who look at the traffic in this frame: one in `period`, and newcomers.

    share: of all drivers, drawn by vehicle. Returns their number.
    """
    found = 0
    for i in range(veh.lane.shape[0]):
        if veh.lane[i] < 0 or veh.leg[i] < 0:
            continue
        if (frame + veh.id[i]) % period == 0 or veh.depart_frame[i] == frame:
            if share >= 1.0 or uniform(seed, veh.id[i], 0, STREAM_REROUTER) < share:
                out[found] = i
                found += 1
    return found
