"""Driving among bodies from outside: each vehicle brakes for those on its way, after all else.

A body in its lane is a leader that drives as fast as the body moves along the lane. One that comes
from the side has the right of way: whoever would be in its place at the time it is there stops
before it, if it still can. Only what a vehicle itself would touch counts: its own width, where it is
on its lane, and all that it sweeps while it moves over.
"""

from math import inf

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.obstacles import CLEARANCE, ENTRIES, in_way
from rushhour.kernels.core.order import share, tasks_of
from rushhour.kernels.core.vehicles import BODY, HAZARD, PATH, Grants, Order, Types, Vehicles
from rushhour.kernels.driving.acceleration import MIN_GAP_SHARE, look_distance
from rushhour.kernels.following.car_following import (
    approach_speed,
    guard_speed,
    stopping_distance,
    travel_time,
)
from rushhour.kernels.following.desired_speed import desired_speed
from rushhour.kernels.following.own_models import followed_acceleration

MARGIN = 0.7  # s between a vehicle and a body that crosses its way
KEEP = 1.0  # m before its way that a vehicle stops for who comes
SURE = 0.7  # share of its acceleration that somebody who goes first counts on


@kernel
def behind_body(
    veh: Vehicles, types: Types, i: int, v0: float, gap: float, speed: float, dt: float
) -> float:  # fmt: skip
    """Acceleration of i, which wants v0, with a body in its way gap m ahead, at speed along its way.

    Two who come towards each other stop in half the way each.
    """
    t, v = veh.type[i], veh.speed[i]
    v_lead = max(0.0, speed)
    gap = max(0.0, 0.5 * gap if speed < 0.0 else gap)
    a = followed_acceleration(
        types.model[t], v, v0, gap, v_lead, types.accel[t], types.decel[t], types.min_gap[t],
        types.time_gap[t],
    )  # fmt: skip
    guard = guard_speed(v, gap - MIN_GAP_SHARE * types.min_gap[t], v_lead, types.emergency[t], dt)
    return min(a, (guard - v) / dt)


@kernel
def before_crossing(
    veh: Vehicles, types: Types, i: int, v0: float, gap: float, over: float, enters: float,
    leaves: float, dt: float,
) -> float:  # fmt: skip
    """Acceleration of i with a body that will be in its way gap m ahead, from enters to leaves (s
    from now); inf if it comes later, or goes first. over: m until its rear is past the place."""
    t, v = veh.type[i], veh.speed[i]
    if gap <= 0.0 or travel_time(gap, v, types.accel[t], v0) > leaves + MARGIN:
        return inf
    clear = travel_time(over, v, SURE * types.accel[t], v0)
    if clear + MARGIN < enters:
        return inf
    if stopping_distance(v, types.emergency[t]) + v * dt > gap:  # too late to stop
        return inf if clear < enters else -types.emergency[t]
    return (approach_speed(v, gap - KEEP, 0.0, types.decel[t], dt) - v) / dt


@kernel
def on_lane(
    veh: Vehicles, types: Types, grants: Grants, i: int, lane: int, at: float, low: float,
    high: float, v0: float, dt: float,
) -> tuple[float, int]:  # fmt: skip
    """Acceleration that the bodies on a lane allow i, and the row of the one that allows the least.

    at: m of its front along that lane, negative before it. low, high: the strip that it sweeps.
    """
    o = grants.obstacles
    least, who = inf, -1
    e = o.first[lane]
    while e >= 0:
        if o.front[e] > at and in_way(o, e, low, high):
            gap = o.rear[e] - at
            if o.comes[e]:
                over = o.front[e] - at + veh.length[i]
                a = before_crossing(veh, types, i, v0, gap, over, o.enters[e], o.leaves[e], dt)
            else:
                a = behind_body(veh, types, i, v0, gap, o.speed[e], dt)
            if a < least:
                least, who = a, o.body[e]
        e = o.then[e]
    return least, who


@kernel(forceinline=True)
def heed_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants,
    by: NDArray[np.int32], p: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Brake the vehicle at place p of the order for bodies on its way. Writes accel, reason, by."""
    i = order.slot[p]
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[i]
    t, v = veh.type[i], veh.speed[i]
    by[i] = -1
    half = 0.5 * types.width[t] + CLEARANCE
    low = high = veh.lateral[i]
    if veh.around[i] == 0 or veh.swerve[i] == 0.0:  # else it waits until it is beside who it passes
        low, high = min(low, veh.swerve[i]), max(high, veh.swerve[i])
    v0 = desired_speed(net, veh, types, i, lane)
    least, who = on_lane(veh, types, grants, i, lane, veh.s[i], low - half, high + half, v0, dt)
    look = look_distance(v, types.min_gap[t], types.time_gap[t], types.mean_accel[t], dt)
    d = net.lanes.length[lane] - veh.s[i]
    q = 0
    while d < look:
        if lane >= n_road_lanes:
            lane = net.connectors.to_lane[lane - n_road_lanes]
        else:
            k = veh.path[i, q] if q < PATH else -1
            if k < 0:
                break
            if not net.connectors.free[k] and (q >= veh.granted[i] or frame < veh.go[i]):
                break  # it stops at the line, whatever is beyond
            lane = n_road_lanes + k
            q += 1
        a, b = on_lane(veh, types, grants, i, lane, -d, -half, half, v0, dt)
        if a < least:
            least, who = a, b
        d += net.lanes.length[lane]
    if who < 0 or least >= veh.accel[i]:
        return
    veh.accel[i] = max(least, -types.emergency[t])
    if least < 0.5 * types.accel[t] and veh.reason[i] != HAZARD:
        veh.reason[i] = BODY
        veh.blocker[i] = -1
        by[i] = who


@kernel
def heed(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants,
    by: NDArray[np.int32], n: int, task: int, tasks: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Let one task's share of the order brake for bodies."""
    first, last = share(0, n, task, tasks)
    for p in range(first, last):
        heed_vehicle(net, veh, types, order, grants, by, p, frame, dt)


@kernel(parallel=True)
def heed_all(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants,
    by: NDArray[np.int32], n: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Let everybody brake for bodies. by: (capacity,) row of the body that each waits for; -1."""
    tasks = tasks_of(n)
    for task in prange(tasks):
        heed(net, veh, types, order, grants, by, n, task, tasks, frame, dt)


@kernel
def find_touched(
    veh: Vehicles, types: Types, order: Order, grants: Grants, hit: NDArray[np.int32]
) -> None:  # fmt: skip
    """Find for each body the vehicle with the lowest id that it touches; -1. Writes hit."""
    o = grants.obstacles
    hit[:] = -1
    for e in range(o.counts[ENTRIES]):
        if o.comes[e]:
            continue
        lane, b = o.lane[e], o.body[e]
        last = order.start[lane + 1]
        for p in range(order.start[lane], last + 1):
            # After those on the lane the one whose rear hangs over its end.
            i = order.slot[p] if p < last else order.over[lane]
            if i < 0:
                continue
            front, rear = veh.s[i], veh.s[i] - veh.length[i]
            if p == last:
                front, rear = inf, order.over_rear[lane]
            half = 0.5 * types.width[veh.type[i]]
            if o.front[e] <= rear or o.rear[e] >= front:
                continue
            if in_way(o, e, veh.lateral[i] - half, veh.lateral[i] + half):
                if hit[b] < 0 or veh.id[i] < hit[b]:
                    hit[b] = veh.id[i]
