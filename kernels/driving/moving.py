"""Moving: positions and speeds of the next frame, lane after lane, and standing clocks."""

from math import copysign

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    NetworkArrays,
)
from rushhour.kernels.core.order import share, tasks_of
from rushhour.kernels.core.rules import LAST_PLACE, Rules
from rushhour.kernels.core.trips import has_stops, is_on_last_road
from rushhour.kernels.core.vehicles import (
    BEHIND,
    NOTHING,
    PATH,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.following.desired_speed import CREEP, STANDING, desired_speed
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.following.lane_gaps import place_beside
from rushhour.kernels.routing.way_ahead import plan

REPLAN = 40.0  # m before a lane's end at which its driver looks again
STOP_REACH = 1.5  # m from its place within which a standing vehicle is at its stop

# Columns of the tally, a row per task.
TALLY_LEFT = 0  # vehicles that reached their end
TALLY_OVERRUN = 1  # vehicles held at a line that they would have overrun (must stay 0)
TALLY_STOPS_MISSED = 2
TALLY_STOPS_MADE = 3
TALLY_COLUMNS = 4


@kernel
def push_behind(veh: Vehicles, i: int, lane: int) -> None:
    """Remember that the rear of i may still be on `lane`."""
    for b in range(BEHIND - 1, 0, -1):
        veh.behind[i, b] = veh.behind[i, b - 1]
    veh.behind[i, 0] = lane


@kernel
def leave_line(veh: Vehicles, i: int) -> None:
    """Forget what belonged to the line that i has just passed or turned away from."""
    veh.arrived[i] = -1
    veh.overtaken[i] = 0
    veh.full_since[i] = -1
    veh.refused[i] = 0
    veh.yields_to[i] = -1
    veh.goes_next[i] = False
    veh.queued[i] = False


@kernel
def keeps_free_way(net: NetworkArrays, veh: Vehicles, types: Types, i: int, d: float) -> bool:
    """Whether i, d m before the end of its lane, stays on a way on that needs no grant.

    What it chose instead might need one, and it could not stop for that any more.
    """
    k = veh.path[i, 0]
    if k < 0 or not net.connectors.free[k]:
        return False
    return veh.speed[i] * veh.speed[i] > types.decel[veh.type[i]] * d


@kernel(forceinline=True)
def enter_road(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, i: int, lane: int,
    seed: int, tally: NDArray[np.int64], efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Vehicle i reaches the start of a road lane: next leg, stops that it has missed, plan."""
    if veh.leg[i] >= 0:
        old = routes.road[veh.leg[i]]
        veh.leg[i] += 1
        stop = veh.stop[i]
        if stop < veh.stop_end[i] and net.lanes.road[routes.stop_lane[stop]] == old:
            if routes.road[veh.leg[i]] != old:
                veh.stop[i] += 1
                tally[TALLY_STOPS_MISSED] += 1
    if veh.granted[i] == 0:
        stays = keeps_free_way(net, veh, types, i, net.lanes.length[lane])
        before = veh.path[i, 0]
        plan(veh, net, routes, order, i, lane, types.permission[veh.type[i]], seed, efforts)
        k = veh.path[i, 0]
        if stays and k >= 0 and not net.connectors.free[k]:
            veh.path[i, 0] = before
            for q in range(1, PATH):
                veh.path[i, q] = -1
            veh.wanted[i] = lane
    else:
        veh.wanted[i] = lane
        veh.suits[i] = np.uint32(0)
        veh.ring_exit[i] = -1


@kernel
def begin_standstill(veh: Vehicles, i: int, frame: int) -> None:
    """Note that i stands from this frame on, if it did not before."""
    if veh.stands_since[i] < 0:
        veh.stands_since[i] = frame
        veh.queued[i] = True


@kernel
def end_standstill(veh: Vehicles, i: int, frame: int) -> None:
    """Add the standstill of i, if it stands, to its clocks; frame is the first that it lacks."""
    if veh.stands_since[i] >= 0:
        stood = frame - veh.stands_since[i]
        veh.waited[i] += stood
        veh.longest[i] = max(veh.longest[i], stood)
        veh.stands_since[i] = -1


@kernel
def log_way(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, lane: int, metres: float
) -> None:
    """Add metres of a lane to the distance of i, and what they take at its desired speed."""
    veh.distance[i] += metres
    veh.ideal[i] += metres / desired_speed(net, veh, types, i, lane)


@kernel
def came_beside(net: NetworkArrays, back: int, lane: int) -> int:
    """Where a rear behind the start of `lane` is now, that was on `back`, which led to a lane beside it: on
    the connector from the same lane, if there is one."""
    k = back - (net.lanes.out_start.shape[0] - 1)
    if k < 0:
        return back
    here = net.connectors.from_lane[k]
    for o in range(net.lanes.out_start[here], net.lanes.out_start[here + 1]):
        if net.connectors.to_lane[o] == lane:
            return int(back - k + o)
    return back


@kernel
def change_lane(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, i: int,
    frame: int, seed: int, efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Put i on the lane that it changes to; its body follows sideways in the next seconds."""
    old, lane = veh.lane[i], veh.change_to[i]
    side = 1.0 if lane > old else -1.0
    veh.lateral[i] -= side * 0.5 * (net.lanes.width[old] + net.lanes.width[lane])
    s = place_beside(net, old, lane, veh.s[i])
    log_way(net, veh, types, i, old, veh.s[i])
    log_way(net, veh, types, i, lane, -s)
    veh.s[i] = s
    veh.lane[i] = lane
    veh.change_to[i] = -1
    veh.change_frame[i] = frame
    if veh.s[i] >= veh.length[i]:
        for b in range(BEHIND):
            veh.behind[i, b] = -1
    else:
        veh.behind[i, 0] = came_beside(net, int(veh.behind[i, 0]), lane)
    arrived = veh.arrived[i]
    leave_line(veh, i)
    plan(veh, net, routes, order, i, lane, types.permission[veh.type[i]], seed, efforts)
    k = veh.path[i, 0]
    if k >= 0 and routes.round[net.lanes.road[net.connectors.to_lane[k]]]:
        veh.arrived[i] = arrived  # before a roundabout its turn is of no lane


@kernel
def serve_stop(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, i: int,
    frame: int, seed: int, tally: NDArray[np.int64], efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Begin, hold or end the stop that i has on its lane; skip one that it has driven past."""
    stop = veh.stop[i]
    lane = veh.lane[i]
    if routes.stop_lane[stop] != lane:
        return
    if veh.dwell_until[i] >= 0:
        if frame < veh.dwell_until[i]:
            return
        veh.dwell_until[i] = -1
        tally[TALLY_STOPS_MADE] += 1
    elif veh.s[i] > routes.stop_pos[stop] + STOP_REACH:
        tally[TALLY_STOPS_MISSED] += 1
    elif veh.speed[i] < STANDING and routes.stop_pos[stop] - veh.s[i] < STOP_REACH:
        end_standstill(veh, i, frame + 1)
        veh.dwell_until[i] = max(frame + routes.stop_frames[stop], routes.stop_until[stop])
        return
    else:
        return
    veh.stop[i] = stop + 1
    if veh.granted[i] == 0:
        plan(veh, net, routes, order, i, lane, types.permission[veh.type[i]], seed, efforts)


@kernel(forceinline=True)
def slide_sideways(veh: Vehicles, rules: Rules, i: int, v: float, dt: float) -> None:
    """Bring i, at v m/s, a frame nearer to where it is to be across its lane."""
    if veh.lateral[i] == veh.swerve[i]:
        return
    step = 3.5 * dt / rules.lane_change_time
    if veh.around[i] > 0 and v < 2.0:
        step = CREEP * dt
    off = veh.lateral[i] - veh.swerve[i]
    veh.lateral[i] = veh.swerve[i] if abs(off) <= step else veh.lateral[i] - copysign(step, off)


@kernel(forceinline=True)
def time_standstill(veh: Vehicles, i: int, frame: int) -> None:
    """Let the clocks of i run or stop, by the speed that it has now."""
    if veh.speed[i] >= STANDING:
        end_standstill(veh, i, frame)
    elif stands_for_long(veh, i):
        veh.stopped[i] += 1
    else:
        begin_standstill(veh, i, frame)


@kernel(forceinline=True)
def has_arrived(veh: Vehicles, routes: Routes, i: int, s: float, length: float) -> bool:
    """Whether the trip of i ends s m along a road lane of this length."""
    if not is_on_last_road(veh, i) or s < min(routes.arrival[veh.trip[i]], length):
        return False
    return not has_stops(veh, routes, i) or s >= length


@kernel(forceinline=True)
def hold_at_line(
    veh: Vehicles, types: Types, i: int, lane: int, length: float, v: float,
    tally: NDArray[np.int64],
) -> float:  # fmt: skip
    """Stop i, that drove v m/s, before the line at the end of a lane; returns its place there (m)."""
    room = length - LAST_PLACE - veh.s[i]
    if lane == veh.lane[i] and v * v <= 2.0 * types.emergency[veh.type[i]] * room:
        veh.accel[i] = -0.5 * v * v / room  # it stands before the frame ends
    else:
        tally[TALLY_OVERRUN] += 1
    veh.speed[i] = 0.0
    return float(length - LAST_PLACE)


@kernel(forceinline=True)
def cross_line(net: NetworkArrays, veh: Vehicles, i: int, lane: int) -> int:
    """Vehicle i leaves a road lane by the first connector of its path; returns the lane of that."""
    k = veh.path[i, 0]
    across = net.connectors.from_lane[k] - lane
    if across != 0:  # it turns from a lane that does not lead there
        veh.lateral[i] -= across * net.lanes.width[lane]
    for q in range(PATH - 1):
        veh.path[i, q] = veh.path[i, q + 1]
    veh.path[i, PATH - 1] = -1
    veh.granted[i] = max(0, veh.granted[i] - 1)
    veh.draws[i] += 1
    leave_line(veh, i)
    return int(net.lanes.out_start.shape[0] - 1 + k)


@kernel(forceinline=True)
def go_along_path(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, i: int, s: float,
    v: float, seed: int, tally: NDArray[np.int64], efforts: NDArray[np.float64],
) -> float:  # fmt: skip
    """Bring i, that comes s m along its lane, to the lane on which it ends the frame, or to where it leaves;
    returns its place there (m). v: m/s before the frame."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = int(veh.lane[i])
    while True:
        length = net.lanes.length[lane]
        on_road = lane < n_road_lanes
        if on_road and has_arrived(veh, routes, i, s, length):
            veh.left[i] = True
            break
        if s < length:
            break
        k = veh.path[i, 0]
        if on_road and k < 0 and veh.leg[i] < 0 and veh.wanted[i] == lane:
            veh.left[i] = True  # a walker at a dead end
            break
        if on_road and (k < 0 or (veh.granted[i] == 0 and not net.connectors.free[k])):
            s = hold_at_line(veh, types, i, lane, length, v, tally)
            break
        s -= length
        log_way(net, veh, types, i, lane, length)
        push_behind(veh, i, lane)
        if on_road:
            lane = cross_line(net, veh, i, lane)
        else:
            lane = int(net.connectors.to_lane[lane - n_road_lanes])
            enter_road(net, veh, types, routes, order, i, lane, seed, tally, efforts)
    veh.lane[i] = lane
    return s


@kernel(forceinline=True)
def move_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, rules: Rules,
    i: int, frame: int, dt: float, seed: int, tally: NDArray[np.int64],
    efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Move vehicle i by its acceleration. Reads nobody else; writes its own fields only."""
    if veh.change_to[i] >= 0:
        change_lane(net, veh, types, routes, order, i, frame, seed, efforts)
    v, a = veh.speed[i], veh.accel[i]
    still = v == 0.0 and a <= 0.0 and veh.lateral[i] == veh.swerve[i]
    if still and not has_stops(veh, routes, i) and veh.told[i] == NOTHING:
        begin_standstill(veh, i, frame)
        return
    nxt = v + a * dt
    if nxt >= 0.0:
        ds = 0.5 * (v + nxt) * dt
    else:
        ds = -0.5 * v * v / a
        nxt = 0.0
    veh.speed[i] = nxt
    slide_sideways(veh, rules, i, v, dt)
    time_standstill(veh, i, frame)
    s = go_along_path(net, veh, types, routes, order, i, veh.s[i] + ds, v, seed, tally, efforts)
    lane = veh.lane[i]
    if veh.left[i]:
        tally[TALLY_LEFT] += 1
        log_way(net, veh, types, i, lane, s)
        end_standstill(veh, i, frame + 1)
        return
    length = net.lanes.length[lane]
    if (
        lane < net.lanes.out_start.shape[0] - 1 and veh.granted[i] == 0
        and veh.s[i] < length - REPLAN <= s and veh.leg[i] >= 0
        and not keeps_free_way(net, veh, types, i, length - s)
    ):  # fmt: skip
        # Once more with what is known near the line: which of the lanes ahead are full.
        plan(veh, net, routes, order, i, lane, types.permission[veh.type[i]], seed, efforts)
    veh.s[i] = s
    if has_stops(veh, routes, i):
        serve_stop(net, veh, types, routes, order, i, frame, seed, tally, efforts)


@kernel
def move(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, rules: Rules,
    n: int, task: int, tasks: int, frame: int, dt: float, seed: int, stepped: NDArray[np.bool_],
    tally: NDArray[np.int64], efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Move the vehicles of one task's share of the order.

    stepped: see `move_all`.
    """
    roads = order.start[net.lanes.out_start.shape[0] - 1]
    for first, last in share(0, roads, task, tasks), share(roads, n - roads, task, tasks):
        for p in range(first, last):
            i = order.slot[p]
            if stepped[veh.lane[i]]:
                move_vehicle(
                    net, veh, types, routes, order, rules, i, frame, dt, seed, tally, efforts
                )


@kernel(parallel=True)
def move_all(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, rules: Rules,
    n: int, frame: int, dt: float, seed: int, stepped: NDArray[np.bool_],
    tally: NDArray[np.int64], efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Move everybody on the lanes that are `stepped`, (n_lanes,); tally and efforts have one row per
    task."""
    tasks = tasks_of(n)
    for task in prange(tasks):
        move(
            net, veh, types, routes, order, rules, n, task, tasks, frame, dt, seed, stepped,
            tally[task], efforts[task],
        )  # fmt: skip


@kernel
def collect_tallies(tallies: NDArray[np.int64], tally: NDArray[np.int64]) -> int:
    """Add the tallies of all tasks to the totals, and clear them; returns how many left."""
    left = 0
    for task in range(tallies.shape[0]):
        left += tallies[task, TALLY_LEFT]
        for column in range(tallies.shape[1]):
            tally[column] += tallies[task, column]
            tallies[task, column] = 0
    return left
