"""Rerouting: the best way on for drivers who wait before a full exit, or where their lane ends.

A driver considers the other exits of its lane, each as far as the first road that is long enough to
change lane on. An exit with room goes before all that are full; from one full exit to another a
driver changes only after long. Source: right-of-way.md section 6.

Drivers know the roads before the one they are on that matter to whether a road ends a banned sequence,
or leaves roads where only those may drive whose trip starts or ends there: no new way does, together
with what was driven before it.
"""

from math import inf
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.trips import has_stops
from rushhour.kernels.core.vehicles import PATH, Grants, Order, Routes, Types, Vehicles
from rushhour.kernels.driving.moving import leave_line
from rushhour.kernels.rerouting.random_walkers import draw_exit_with_room
from rushhour.kernels.routing.astar import RoadGraph, Scratch, node_after, search
from rushhour.kernels.routing.way_ahead import QUEUE_SPACE, TOO_SHORT, plan

EXITS: Final = 64  # ways out of a lane that are considered, at most
BESIDE_AFTER: Final = 180.0  # s at a standstill after which the exits of other lanes count


class Exits(NamedTuple):
    """Ways out of a lane, scratch: EXITS rows and one to work on."""

    lane: NDArray[np.int32]  # (EXITS+1,) lane reached
    roads: NDArray[np.int32]  # (EXITS+1, PATH) up to the first that is not too short
    steps: NDArray[np.int32]  # (EXITS+1,) of these roads
    full: NDArray[np.bool_]  # (EXITS+1,) one of the lanes it leads to holds no further vehicle
    seen: NDArray[np.int32]  # (EXITS,) lanes reached so far


@kernel
def is_full(net: NetworkArrays, order: Order, lane: int) -> bool:
    """Whether a lane holds no further vehicle in a queue."""
    on_it = order.start[lane + 1] - order.start[lane]
    return on_it > 0 and (on_it + 1) * QUEUE_SPACE > net.lanes.length[lane]


@kernel
def copy_exit(exits: Exits, source: int, target: int) -> None:
    """Copy one row of the table to another."""
    exits.lane[target] = exits.lane[source]
    exits.steps[target] = exits.steps[source]
    exits.full[target] = exits.full[source]
    for q in range(exits.steps[source]):
        exits.roads[target, q] = exits.roads[source, q]


@kernel
def add_exits(
    net: NetworkArrays, order: Order, lane: int, permission: int, avoid: int, exits: Exits,
    found: int,
) -> int:  # fmt: skip
    """Append the exits of a lane to a table that holds `found`; returns how many it then holds.

    avoid: a connector not to take, -1 none. Exits for which the table has no room are left out.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    current = exits.seen.shape[0]  # the row to work on
    top = current - 1  # ways still to follow lie at the table's end, the latest first
    if found >= top:
        return found
    exits.lane[top] = lane
    exits.steps[top] = 0
    exits.full[top] = False
    seen = 0
    while top < current:
        copy_exit(exits, top, current)
        top += 1
        here = exits.lane[current]
        for k in range(net.lanes.out_start[here], net.lanes.out_start[here + 1]):
            to = net.connectors.to_lane[k]
            allowed = net.lanes.permissions[n_road_lanes + k] & net.lanes.permissions[to]
            if k == avoid or not allowed & permission:
                continue
            known = False
            for q in range(seen):
                known = known or exits.seen[q] == to
            if known:
                continue
            if found >= top or seen >= exits.seen.shape[0]:
                return found
            exits.seen[seen] = to
            seen += 1
            road = net.lanes.road[to]
            n = exits.steps[current] + 1
            if net.roads.length[road] >= TOO_SHORT or n >= PATH:
                row = found
                found += 1
            else:
                top -= 1
                row = top
            copy_exit(exits, current, row)
            exits.lane[row] = to
            exits.roads[row, n - 1] = road
            exits.steps[row] = n
            if is_full(net, order, to):
                exits.full[row] = True
    return found


@kernel
def exits_near(
    net: NetworkArrays, order: Order, lane: int, permission: int, avoid: int, long: bool,
    exits: Exits,
) -> int:  # fmt: skip
    """Fill the table with a lane's exits; where it has none, after long, with its neighbours'."""
    found = add_exits(net, order, lane, permission, avoid, exits, 0)
    road = net.lanes.road[lane]
    if found > 0 or not long or net.roads.length[road] < TOO_SHORT:
        return found
    first = net.roads.first_lane[road]
    for beside in range(first, first + net.roads.lane_count[road]):
        if beside != lane and net.lanes.permissions[beside] & permission:
            found = add_exits(net, order, beside, permission, avoid, exits, found)
    return found


@kernel
def next_goal(net: NetworkArrays, veh: Vehicles, routes: Routes, i: int) -> int:
    """Place in the pool of routes up to which driver i may drive another way: next stop or end."""
    last = veh.route_end[i] - 1
    if has_stops(veh, routes, i):
        road = net.lanes.road[routes.stop_lane[veh.stop[i]]]
        for place in range(veh.leg[i], last):
            if routes.road[place] == road:
                return place
    return last


@kernel
def roads_behind(veh: Vehicles, routes: Routes, graph: RoadGraph, i: int, memory: int) -> int:
    """How many roads that driver i drove before the one it is on matter to where it may go on.

    The last `memory`; and back to a road from which on it does not matter where the trip began. A
    stop in between is taken for driving past, which allows no more than the truth.
    """
    first = max(veh.route_start[i], veh.leg[i] - memory)
    while first > veh.route_start[i] and graph.told_apart[routes.road[first]]:
        first -= 1
    return veh.leg[i] - first


@kernel
def node_at_exit(
    veh: Vehicles, routes: Routes, graph: RoadGraph, exits: Exits, row: int, i: int, behind: int
) -> int:
    """Node of driver i on the last road of an exit; -1 where it may not come to it that way."""
    leg = veh.leg[i]
    first = leg - behind
    node = routes.road[first]
    for place in range(first + 1, leg + 1):
        node = node_after(graph, node, routes.road[place])
        if node < 0:  # the route was given so
            node = node_after(graph, routes.road[place - 1], routes.road[place])
    for q in range(exits.steps[row]):
        if node >= 0:
            node = node_after(graph, node, exits.roads[row, q])
    return node


@kernel
def leads_on(
    veh: Vehicles, routes: Routes, graph: RoadGraph, i: int, goal: int, node: int, memory: int
) -> bool:
    """Whether who comes to the goal in this node may drive on from there as before."""
    node = graph.anew[node]
    for place in range(goal + 1, min(goal + 1 + memory, veh.route_end[i])):
        node = node_after(graph, node, routes.road[place])
        if node < 0:
            return False
    return True


@kernel
def write_way(
    veh: Vehicles, routes: Routes, graph: RoadGraph, scratch: Scratch, exits: Exits, row: int, i: int,
    goal: int, found: int, way: NDArray[np.int32],
) -> int:  # fmt: skip
    """Write the route of driver i by an exit to the goal, found in that node, and on as before.

    Returns its length, or minus its length where `way` is too short for it.
    """
    onward = 0
    node = found
    while node >= 0:
        onward += 1
        node = scratch.before[0, node]
    before = exits.steps[row]  # the road that it is on and the short ones
    rest = veh.route_end[i] - goal - 1
    size = before + onward + rest
    if size > way.shape[0]:
        return -size
    way[0] = routes.road[veh.leg[i]]
    for q in range(before - 1):
        way[1 + q] = exits.roads[row, q]
    node = found
    for place in range(before + onward - 1, before - 1, -1):
        way[place] = graph.road_of[node]
        node = scratch.before[0, node]
    for q in range(rest):
        way[before + onward + q] = routes.road[goal + 1 + q]
    return size


@kernel
def reroute(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order,
    graph: RoadGraph, scratch: Scratch, exits: Exits, even: NDArray[np.float64],
    slots: NDArray[np.int32], permission: int, long_stands: int, memory: int, stamp: int,
    ways: NDArray[np.int32], length: NDArray[np.int32], behind: NDArray[np.int32],
) -> int:  # fmt: skip
    """The best new route of each driver among `slots` whose class has that permission.

    Writes ways[row, :length[row]], the road it is on first; length 0: there is none better, minus
    the length: `ways` is too narrow; and behind[row], how many roads before that one matter. even:
    ones, the multipliers of the roads' costs. long_stands: frame; who has stood since before has
    stood for long. memory: roads of banned sequences before. stamp: larger than any in the scratch;
    returns the next one that is.
    """
    pace = 1.0 / graph.top_speed * (1.0 - 1e-12)
    for row in range(slots.shape[0]):
        i = slots[row]
        if veh.leg[i] < 0 or types.permission[veh.type[i]] != permission:
            continue
        length[row] = 0
        behind[row] = roads_behind(veh, routes, graph, i, memory)
        goal = next_goal(net, veh, routes, i)
        # Before a full exit any other one will do; without a way on, any that there is.
        avoid = veh.path[i, 0]
        long = veh.stands_since[i] < long_stands
        found = exits_near(net, order, veh.lane[i], permission, avoid, long, exits)
        best_full = True
        best = inf
        for e in range(found):
            full = exits.full[e]
            if (full and avoid >= 0 and not long) or (full and not best_full):
                continue
            start = node_at_exit(veh, routes, graph, exits, e, i, behind[row])
            if start < 0:
                continue
            end = search(graph, scratch, 0, stamp, start, routes.road[goal], even, pace, 0, 0.0)
            stamp += 1
            if end < 0 or not leads_on(veh, routes, graph, i, goal, end, memory):
                continue
            cost = scratch.cost[0, end]
            if cost < best or (best_full and not full):
                best_full, best = full, cost
                length[row] = write_way(
                    veh, routes, graph, scratch, exits, e, i, goal, end, ways[row]
                )
    return stamp


@kernel
def choose_again(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order,
    grants: Grants, rules: Rules, slots: NDArray[np.int32], ways: NDArray[np.int32],
    length: NDArray[np.int32], behind: NDArray[np.int32], used: int, frame: int, seed: int,
    counted: NDArray[np.bool_], efforts: NDArray[np.float64], taken: NDArray[np.int64],
) -> None:  # fmt: skip
    """Let walkers draw again and drivers take their new ways, where they have one.

    used: entries of the pool of routes that are in use; it has room for the new ones, each behind
    the behind[row] roads driven before. Writes taken: how many changed their mind on lanes that are
    `counted`, (n_lanes,), and the entries in use then.
    """
    changed = 0
    for row in range(slots.shape[0]):
        i = slots[row]
        veh.full_since[i] = frame  # where there is nothing else, ask again in a while
        if veh.leg[i] >= 0:
            if length[row] <= 0:
                continue
            driven = behind[row]
            first = veh.leg[i] - driven
            for q in range(driven):
                routes.road[used + q] = routes.road[first + q]
            veh.route_start[i] = used
            used += driven
            for q in range(length[row]):
                routes.road[used + q] = ways[row, q]
            veh.leg[i] = used
            used += length[row]
            veh.route_end[i] = used
        veh.minds[i] += 1
        changed += counted[veh.lane[i]]
        stands_since, overtaken, k = veh.arrived[i], veh.overtaken[i], veh.path[i, 0]
        leave_line(veh, i)
        permission = types.permission[veh.type[i]]
        plan(veh, net, routes, order, i, veh.lane[i], permission, seed, efforts)
        if veh.leg[i] < 0:
            draw_exit_with_room(net, veh, order, grants, rules, i, -1, permission, seed)
        # It may have to change lane for it: give it time. At the line it has lost its green by now,
        # and so the next place is its own, wherever it goes (review.has_lost_green).
        veh.full_since[i] = frame
        # It stands at the same line. Where its new way leads over the lane beside, it may come back to
        # the old one before it could change, and has its claim by how long it stands.
        veh.arrived[i] = stands_since
        if k >= 0 and veh.path[i, 0] == k:
            veh.overtaken[i] = overtaken
    taken[0] = changed
    taken[1] = used
