"""Steered vehicles: pedals and a wheel that take a body along the lanes of its own path.

`drive` has chosen the acceleration of everybody from leaders, lines, grants and bends. Here those
with a body press their pedals for it and turn the wheel towards their lane, the body moves, and the
acceleration becomes that with which the place on the lane follows the body. Reads and writes its
own vehicle only (and where the one behind it is), so the bits do not depend on threads.
"""

import math
from typing import Final

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.order import share, tasks_of
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import Order, Types, Vehicles
from rushhour.kernels.geometry.curvature import max_curvature
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, climbing_accel, move_body
from rushhour.kernels.steering.by_hand import drive_by_hand
from rushhour.kernels.steering.lane_bodies import (
    BACK,
    DRIVEN,
    LANE,
    RESET,
    REVERSED,
    SLOW_CHANGE,
    TIGHT,
    Steered,
    set_on_lane,
)
from rushhour.kernels.steering.lane_paths import Lines, place_on_line, slope_at, walk_on
from rushhour.kernels.steering.placing import FOLLOWS, LONGEST_STEP, note_off_lane, place_vehicle
from rushhour.kernels.steering.pulling_out import let_out_limit, pull_out_limit
from rushhour.kernels.steering.pure_pursuit import look_distance_at
from rushhour.kernels.steering.stuck_manager import DRIVES, REVERSES, STUCK, stuck_action
from rushhour.kernels.steering.target_speed import critical_speed
from rushhour.kernels.steering.towing import BEND, LAG, hold_plan, planned, tow, why_towed

LATERAL: Final = 0.4  # g of Algorithm 1, which then binds at corners; bends have their own limit
SPACING: Final = 6.0  # m between its points
PLACES: Final = 4  # points ahead
SLOWEST: Final = 2.0  # m/s that it asks for at least
FASTEST: Final = 100.0  # m/s, on a straight
STRAY: Final = 0.5  # m beside its plan up to which a straight lane bends nothing
LOOK_TIME: Final = 0.35  # s ahead of the front bumper that the driver aims
LOOK_LEAST: Final = 2.0  # m
LOOK_MOST: Final = 20.0  # m
NARROW: Final = 0.17  # of what a target is aside; less ahead, and the wheel is turned to its end
KP: Final = 0.4  # s/m, pedal for a speed error
KI: Final = 0.2  # 1/m
INTEGRAL: Final = 2.0  # m
CATCHES_UP: Final = 1.3  # times the acceleration of its type, of a body behind its place
SIDEWAYS: Final = 0.3  # m aside that a driver plans for each metre ahead, at most
ASKEW: Final = 0.76  # cosine of the angle to its lane (0.7 rad) beyond which a body turns slowly
TURNING: Final = 4.0  # m/s, then
REVERSE: Final = 1.0  # m/s
CLEAR_BEHIND: Final = 4.0  # m to the follower that reversing needs


@kernel(forceinline=True)
def bend_ahead(
    net: NetworkArrays, lines: Lines, veh: Vehicles, st: Steered, i: int, x: float, y: float
) -> float:
    """Speed of Algorithm 1, m/s, from the front (x, y) along the lanes of i's own path."""
    lane, q, s = int(veh.lane[i]), 0, veh.s[i]
    if lines.radius[lane] == math.inf and s + SPACING * PLACES <= net.lanes.length[lane]:
        if abs(st.astray[i]) < STRAY:
            return FASTEST
    lane, q, s = walk_on(net, veh, i, lane, q, s + SPACING)
    bx, by, _, _ = place_on_line(lines, lane, s)
    sharpest = 0.0
    for _ in range(1, PLACES):
        lane, q, s = walk_on(net, veh, i, lane, q, s + SPACING)
        cx, cy, _, _ = place_on_line(lines, lane, s)
        sharpest = max(sharpest, max_curvature(x, y, bx, by, cx, cy))
        x, y, bx, by = bx, by, cx, cy
    return critical_speed(sharpest, LATERAL, SLOWEST, FASTEST)


@kernel(forceinline=True)
def press(
    kinds: BodyTypes, bodies: Bodies, st: Steered, i: int, wanted: float, accel: float, dt: float
) -> None:
    """Press the pedals of i: what an acceleration (m/s^2) asks of the tyres, and PI for the rest.

    wanted: m/s at the end of dt, if accel reaches that far. The error is that of the frame before:
    the speed that the pedals were to bring minus the one there is. It is summed only while the
    pedal is not at its end.
    """
    t, speed = bodies.type[i], bodies.speed[i]
    error = st.expected[i] - speed
    if wanted <= 0.0 and speed <= 1e-9:
        st.expected[i], st.integral[i], bodies.throttle[i] = 0.0, 0.0, 0.0
        return
    force = accel + kinds.drag[t] * speed + 9.81 * bodies.slope[i]
    most = climbing_accel(kinds.accel[t], kinds.traction[t], bodies.slope[i])
    most = min(most, kinds.power[t] / max(speed, 1.0))
    pressed = force / kinds.brake[t] if force < 0.0 else force / most
    out = pressed + KP * error + KI * st.integral[i]
    if -1.0 < out < 1.0 or out * error < 0.0:
        st.integral[i] = min(INTEGRAL, max(-INTEGRAL, st.integral[i] + error * dt))
    if wanted <= 0.0:  # comes to rest within dt
        out = min(out, -speed / (dt * kinds.brake[t]))
    elif speed <= 1e-9:
        out = max(out, 0.0)
    bodies.throttle[i] = min(1.0, max(-1.0, out))
    st.expected[i] = max(0.0, speed + accel * dt)


@kernel(forceinline=True)
def aim(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, rules: Rules,
    i: int, station: float, cos: float, sin: float,
) -> float:  # fmt: skip
    """Angle of the front wheels, rad, by pursuit of the lane.

    station: of the front bumper, m; cos, sin: of the body's heading. The front bumper, whose
    place on the lane is the vehicle's, heads for the point ahead, and the wheels stand so that it
    does. Pursuit from the rear axle, as `pure_pursuit` has it, leaves the front of a car 0.8 m beside
    its line behind a bend of 6 m, of a bus 2 m; this 0.3 and 0.2 m.
    """
    t = veh.type[i]
    nose, base, most = kinds.nose[t], kinds.wheelbase[t], kinds.max_steer[t]
    v = bodies.speed[i]
    look = look_distance_at(v, LOOK_TIME, LOOK_LEAST, LOOK_MOST)
    lane, _, at = walk_on(net, veh, i, int(veh.lane[i]), 0, station + look)
    x, y, ux, uy = place_on_line(lines, lane, at)
    beside = planned(veh, rules, i, look / max(v, 1.0))
    dx = x - beside * uy - bodies.x[i] - nose * cos
    dy = y + beside * ux - bodies.y[i] - nose * sin
    ahead, aside = dx * cos + dy * sin, dy * cos - dx * sin
    if ahead < NARROW * abs(aside):
        return math.copysign(most, aside)
    return min(most, max(-most, math.atan(base / nose * aside / ahead)))


@kernel
def manage_progress(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    order: Order, p: int, wants: bool, frame: int, dt: float, tally: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Watch the progress of who wants to drive; whether it reverses in this frame.

    Who makes none, reverses with the other lock, if there is room; then it is set on its lane.
    """
    i = order.slot[p]
    here = veh.distance[i] + veh.s[i]
    if not wants and st.left[i] <= 0.0:
        st.mark[i], st.waited[i] = here, 0.0
        return False
    action, st.mark[i], st.waited[i], st.left[i], st.tries[i], st.tried_at[i] = stuck_action(
        here, st.mark[i], st.waited[i], st.left[i], st.tries[i], st.tried_at[i], dt
    )
    if action == DRIVES:
        return False
    behind = math.inf
    if p + 1 < order.start[veh.lane[i] + 1]:
        j = order.slot[p + 1]
        behind = veh.s[i] - veh.length[i] - veh.s[j]
    if action == REVERSES:
        return True
    if action == STUCK and behind >= CLEAR_BEHIND and veh.s[i] > veh.length[i] + CLEAR_BEHIND:
        tally[REVERSED] += 1
        return True
    st.left[i] = st.waited[i] = 0.0
    st.tries[i] = 0
    st.mark[i] = here
    if st.away[i]:
        tally[BACK] += 1
    set_on_lane(net, lines, veh, kinds, bodies, st, i)
    st.reset_frame[i] = frame
    tally[RESET] += 1
    return False


@kernel
def rests(veh: Vehicles, rules: Rules, bodies: Bodies, st: Steered, i: int, dt: float) -> bool:
    """Whether vehicle i and its body stand, and stay so in this frame; writes what they do then."""
    aside = abs(veh.lateral[i] - veh.swerve[i])
    if veh.speed[i] != 0.0 or veh.accel[i] > 0.0 or bodies.speed[i] != 0.0:
        return False
    if veh.around[i] != 0 or aside > LAG:
        return False
    st.expected[i] = st.integral[i] = bodies.throttle[i] = 0.0
    if st.left[i] <= 0.0:
        st.waited[i], st.mark[i] = 0.0, veh.distance[i] + veh.s[i]
    if aside > 0.0:
        hold_plan(veh, rules, i, 0.0, dt)
    return True


@kernel
def body_pull(
    types: Types, kinds: BodyTypes, bodies: Bodies, st: Steered, i: int, t: int, ahead: float,
    cos: float, sin: float, dt: float,
) -> float:  # fmt: skip
    """Acceleration, m/s^2, by which the body of vehicle i comes to where that is after the frame.

    ahead: m/s of the vehicle then. cos, sin: of the angle of the body from its lane.
    """
    # A front that swings out, or a plan aside, is faster along the lane than the rear axle.
    speed = bodies.speed[i]
    ratio = 1.0
    if speed > 1.0:
        ratio = (speed * cos - (bodies.slip[i] + kinds.nose[t] * bodies.turning[i]) * sin) / speed
        ratio = min(1.3, max(0.8, ratio))
    # Vehicle and body come together: it follows the body, and the body waits for it.
    wanted = max(0.0, ahead / ratio - FOLLOWS * min(1.0, max(-1.0, st.ahead[i])))
    if cos < ASKEW:
        wanted = min(wanted, TURNING)
    pull = (wanted - speed) / dt
    return min(CATCHES_UP * types.accel[t], max(-types.emergency[t], pull))


@kernel
def roll_body(
    net: NetworkArrays, lines: Lines, veh: Vehicles, rules: Rules, kinds: BodyTypes, bodies: Bodies,
    st: Steered, i: int, station: float, cos_h: float, sin_h: float, cos: float, pull: float,
    reverses: bool, dt: float,
) -> tuple[float, float]:  # fmt: skip
    """Steer and move the body of vehicle i for a frame, in short steps; returns cos_h and sin_h then, of its
    heading. station: m along its lane. cos: of its angle from that. pull: m/s^2."""
    steps = max(1, math.ceil(dt / LONGEST_STEP - 1e-6))
    h = dt / steps
    for _ in range(steps):
        wheel = aim(net, lines, veh, kinds, bodies, rules, i, station, cos_h, sin_h)
        press(kinds, bodies, st, i, bodies.speed[i] + pull * h, pull, h)
        if reverses:
            st.expected[i], st.integral[i] = min(0.0, bodies.speed[i]), 0.0
            bodies.throttle[i] = -0.5 if bodies.speed[i] > -REVERSE else 0.0
            wheel = -math.copysign(kinds.max_steer[veh.type[i]], wheel)
        elif bodies.speed[i] < 0.0:
            bodies.throttle[i], st.expected[i] = 1.0, 0.0  # brakes: it rolls back
        bodies.wheel[i] = wheel
        cos_h, sin_h = move_body(kinds, bodies, i, h)
        station += max(0.0, bodies.speed[i]) * cos * h
    return cos_h, sin_h


@kernel
def steer_vehicle(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, order: Order, rules: Rules,
    kinds: BodyTypes, bodies: Bodies, st: Steered, entered: NDArray[np.bool_], p: int, frame: int,
    dt: float, tally: NDArray[np.int64],
) -> None:  # fmt: skip
    """Steer the vehicle at place p of the order; see module."""
    i = order.slot[p]
    v, a, t = veh.speed[i], veh.accel[i], veh.type[i]
    aside = abs(veh.lateral[i] - veh.swerve[i])
    if aside > LAG and veh.around[i] == 0:
        a = min(a, pull_out_limit(net, veh, types, order, st, i))
        veh.accel[i] = a
    if v > 0.0 or a > 0.0:
        a = min(a, let_out_limit(net, veh, types, order, rules, entered, i, frame, dt))
        veh.accel[i] = a
    if rests(veh, rules, bodies, st, i, dt):
        return
    station = veh.s[i] + st.ahead[i]
    _, _, ux, uy = place_on_line(lines, int(veh.lane[i]), station)
    # The body, turned by the angle from its lane.
    cos_h, sin_h = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
    cos, sin = cos_h * ux + sin_h * uy, sin_h * ux - cos_h * uy
    bodies.slope[i] = slope_at(lines, int(veh.lane[i]), station) * cos
    why = why_towed(net, lines, veh, kinds, bodies, st, i, cos)
    if why > 0 and st.towed[i] != why:
        tally[TIGHT if why == BEND else SLOW_CHANGE] += 1
    st.towed[i] = why
    if why > 0:
        tow(net, lines, veh, kinds, bodies, st, rules, i, dt)
        return
    nose = kinds.nose[t]
    fx, fy = bodies.x[i] + nose * cos_h, bodies.y[i] + nose * sin_h
    bend = bend_ahead(net, lines, veh, st, i, fx, fy)
    if v + a * dt > bend:
        a = min(a, max((bend - v) / dt, -types.decel[t]))
    wants = a > 0.1 or v + a * dt > 1.0
    reverses = manage_progress(
        net, lines, veh, kinds, bodies, st, order, p, wants, frame, dt, tally
    )
    pull = body_pull(types, kinds, bodies, st, i, t, v + a * dt, cos, sin, dt)
    cos_h, sin_h = roll_body(
        net, lines, veh, rules, kinds, bodies, st, i, station, cos_h, sin_h, cos, pull, reverses,
        dt,
    )  # fmt: skip
    place_vehicle(net, lines, veh, types, kinds, bodies, st, i, cos_h, sin_h, ux, uy, a, dt)
    if aside > 0.0:
        # The plan waits for a body that is behind it, never for one ahead: that would wait, too.
        behind = math.copysign(st.astray[i], st.astray[i] * (veh.lateral[i] - veh.swerve[i]))
        hold_plan(veh, rules, i, SIDEWAYS * v * dt if behind < LAG else 0.0, dt)
    note_off_lane(net, veh, st, i, frame, tally)


@kernel
def steer(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, order: Order, rules: Rules,
    kinds: BodyTypes, bodies: Bodies, st: Steered, entered: NDArray[np.bool_], n: int, task: int,
    tasks: int, frame: int, dt: float, tally: NDArray[np.int64],
) -> None:  # fmt: skip
    """Steer those of one task's share of the order who have a body."""
    roads = order.start[net.lanes.out_start.shape[0] - 1]
    for first, last in share(0, roads, task, tasks), share(roads, n - roads, task, tasks):
        for p in range(first, last):
            i = order.slot[p]
            if st.tier[i] == DRIVEN:
                drive_by_hand(net, lines, veh, types, kinds, bodies, st, i, frame, dt, tally)
            elif st.tier[i] != LANE:
                steer_vehicle(
                    net, lines, veh, types, order, rules, kinds, bodies, st, entered, p, frame, dt,
                    tally,
                )  # fmt: skip


@kernel(parallel=True)
def steer_all(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, order: Order, rules: Rules,
    kinds: BodyTypes, bodies: Bodies, st: Steered, entered: NDArray[np.bool_], n: int, frame: int,
    dt: float, tallies: NDArray[np.int64],
) -> None:  # fmt: skip
    """Steer everybody who has a body; tallies has one row per task; entered: `lanes_entered`."""
    tasks = tasks_of(n)
    for task in prange(tasks):
        steer(
            net, lines, veh, types, order, rules, kinds, bodies, st, entered, n, task, tasks, frame, dt,
            tallies[task],
        )  # fmt: skip
