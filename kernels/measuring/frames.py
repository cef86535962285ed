"""Measuring a frame: over which lanes everybody drove in it, and what roads and loops get of that.

Serial, in the order of the frame that was just stepped, which knows on which lane everybody was when it
began.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import BEHIND, Order, Routes, Types, Vehicles
from rushhour.kernels.following.desired_speed import desired_speed
from rushhour.kernels.following.lane_gaps import place_beside
from rushhour.kernels.measuring.loops import Loops, pass_loops
from rushhour.kernels.measuring.roads import (
    ARRIVED,
    DEPARTED,
    Meters,
    come,
    enter_lane,
    leave_road,
    log_passage,
    waited_until,
)


@kernel
def mean_speed(veh: Vehicles, i: int, dt: float) -> float:
    """Mean speed (m/s) of i in the last frame; a little too low if it came to a stand in it."""
    return max(veh.speed[i] - 0.5 * veh.accel[i] * dt, 0.5 * veh.speed[i], 1e-6)


@kernel
def last_lane(net: NetworkArrays, veh: Vehicles, routes: Routes, i: int, lane: int) -> int:
    """A lane of the road on which i has arrived; `lane` is where it was before."""
    if veh.leg[i] < 0:
        end = int(veh.wanted[i])
        return end if end >= 0 else lane
    road = routes.road[veh.leg[i]]
    if net.lanes.road[lane] == road:
        return lane
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    k = veh.behind[i, 0] - n_road_lanes
    return int(net.connectors.to_lane[k]) if k >= 0 else lane


@kernel
def steps_back(net: NetworkArrays, veh: Vehicles, i: int, lane: int) -> int:
    """How many lanes i has entered since it was on `lane` or beside it; 0: it was put elsewhere."""
    road = net.lanes.road[lane]
    for b in range(BEHIND):
        back = veh.behind[i, b]
        if back == lane or (back >= 0 and road >= 0 and net.lanes.road[back] == road):
            return b + 1
    return 0


@kernel
def pass_loops_left(
    net: NetworkArrays, veh: Vehicles, m: Meters, loops: Loops, i: int, lane: int, now: int,
    steps: int, same: bool, s: float, far: float, end: float, dt: float,
) -> None:  # fmt: skip
    """Pass the loops ahead on the lane on which i began a frame, or on that beside to which it changed.

    now: where it is, s m along that; same: on the same road, or else `steps` lanes on; far: m beyond.
    """
    name = veh.id[i]
    old = lane
    if same:
        old = now
    elif steps > 0:
        old = int(veh.behind[i, steps - 1])
    before = m.s[name] if old == lane else place_beside(net, lane, old, m.s[name])
    if same:
        if s > before:
            pass_loops(veh, loops, i, lane, old, before, s, 0.0, end, (s - before) / dt, dt)
    elif steps > 0:
        length, speed = net.lanes.length[old], mean_speed(veh, i, dt)
        pass_loops(veh, loops, i, lane, old, before, length, far, end, speed, dt)


@kernel
def follow_way(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, m: Meters, loops: Loops, i: int,
    lane: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Settle what i left on the lanes that it drove over in a frame; it began on `lane`."""
    end = (frame + 1) * dt
    name = veh.id[i]
    gone = veh.lane[i] < 0
    now = last_lane(net, veh, routes, i, lane) if gone else int(veh.lane[i])
    speed = mean_speed(veh, i, dt)
    same = net.lanes.road[now] == net.lanes.road[lane] and net.lanes.road[now] >= 0
    steps = 0 if same else steps_back(net, veh, i, lane)
    between = 0.0  # m of the lanes driven over as a whole
    ideal = veh.ideal[i]
    for b in range(steps - 1):
        back = veh.behind[i, b]
        between += net.lanes.length[back]
        ideal -= net.lanes.length[back] / desired_speed(net, veh, types, i, back)
    s = veh.s[i]
    if gone:  # its s is still that of the frame before
        s = s + speed * dt
        if steps > 0:
            s -= net.lanes.length[lane] + between
        s = min(max(s, 0.0), net.lanes.length[now])
        ideal -= s / desired_speed(net, veh, types, i, now) if steps > 0 else 0.0
    distance = veh.distance[i] - between - (s if gone and steps > 0 else 0.0)
    waited, stopped = waited_until(veh, i, frame) * dt, veh.stopped[i] * dt
    far = between + s  # m driven since the line that comes next
    if m.watched[lane]:
        pass_loops_left(net, veh, m, loops, i, lane, now, steps, same, s, far, end, dt)
    if steps == 0 and not same and not gone:  # put elsewhere, not driven
        leave_road(m, name, lane, end, distance + s, ideal, waited, stopped)
        ideal += s / desired_speed(net, veh, types, i, now)
        enter_lane(net, m, name, lane, now, end, distance + s, ideal, waited, stopped)
    for step in range(steps - 1, -1, -1):
        on = now if step == 0 else int(veh.behind[i, step - 1])
        t = end - min(dt, far / speed)
        leave_road(m, name, lane, t, distance, ideal, waited, stopped)
        enter_lane(net, m, name, lane, on, t, distance, ideal, waited, stopped)
        length = s if step == 0 else net.lanes.length[on]
        far -= length
        if m.watched[on]:
            pass_loops(veh, loops, i, lane, on, -1.0, length, far, end, speed, dt)
        distance += net.lanes.length[on]
        ideal += net.lanes.length[on] / desired_speed(net, veh, types, i, on)
    m.s[name] = s
    if gone and m.road[name] >= 0:
        m.counts[m.road[name], ARRIVED] += 1
        waited = veh.waited[i] * dt
        leave_road(m, name, lane, end, veh.distance[i], veh.ideal[i], waited, stopped)
        m.road[name] = -1


@kernel
def measure(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, m: Meters,
    loops: Loops, here: NDArray[np.bool_], frame: int, dt: float, newcomers: bool,
) -> None:  # fmt: skip
    """Measure the frame that was just stepped; newcomers: whether anybody departed in it.

    here: (n_lanes,) those measured are who began the frame there. What loops and sections get of it is
    logged; see `clear_loops`, `take_passed`.
    """
    m.logged[0] = 0
    loops.logged[0] = 0
    for lane in range(order.start.shape[0] - 1):
        if not here[lane]:
            continue
        watched = m.watched[lane]
        for p in range(order.start[lane], order.start[lane + 1]):
            i = order.slot[p]
            if newcomers and veh.depart_frame[i] == frame:
                name = veh.id[i]
                come(m, name, net.lanes.road[lane], frame * dt, 0.0, 0.0, 0.0, 0.0)
                m.counts[m.road[name], DEPARTED] += 1
                log_passage(m, name, lane, m.road[name], False, frame * dt)
                m.s[name] = -veh.distance[i] if veh.lane[i] == lane else veh.s[i]
            if veh.lane[i] != lane:
                follow_way(net, veh, types, routes, m, loops, i, lane, frame, dt)
            elif watched:
                s, before = veh.s[i], m.s[veh.id[i]]
                if s > before:
                    mean = (s - before) / dt
                    end = (frame + 1) * dt
                    pass_loops(veh, loops, i, lane, lane, before, s, 0.0, end, mean, dt)
                m.s[veh.id[i]] = s
