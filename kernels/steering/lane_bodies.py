"""Steered vehicles of the world: bodies with wheels that follow the lanes of their own path.

`drive` has chosen the acceleration of everybody from leaders, lines, grants and bends. Here those
with a body press their pedals for it and turn the wheel towards their lane, the body moves, and the
acceleration becomes that with which the place on the lane follows the body. Reads and writes its
own vehicle only, so the bits do not depend on threads.

*Plan*: `lateral` of the vehicle, where its body should be beside the middle of its lane. *Towed*:
where a lane bends more than the body can turn, and while somebody is passed on its lane, the front
keeps to the plan as in the LANE tier and draws the rear axle behind it.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.curvature import max_curvature
from rushhour.kernels.jit import kernel
from rushhour.kernels.moving import CREEP
from rushhour.kernels.network import NetworkArrays
from rushhour.kernels.order import share
from rushhour.kernels.random import uniform
from rushhour.kernels.rules import Rules
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, move_bodies
from rushhour.kernels.steering.lane_paths import (
    Lines,
    nearest_ahead,
    place_on_line,
    walk_on,
)
from rushhour.kernels.steering.paths import wrapped
from rushhour.kernels.steering.pure_pursuit import look_distance_at, steer_to
from rushhour.kernels.steering.stuck_manager import DRIVES, REVERSES, STUCK, stuck_action
from rushhour.kernels.steering.target_speed import critical_speed
from rushhour.kernels.vehicles import TASKS, Order, Types, Vehicles

# Tier of a vehicle.
LANE: Final = 0  # slides along its lane
STEERED: Final = 1
STREAM_TIER: Final = 6  # of the random numbers, beside those of kernels.vehicles

LONGEST_STEP: Final = 1.0 / 30.0  # s, of a body; longer frames take several
LATERAL: Final = 0.2  # g of Algorithm 1: 0.4 g are felt on a smooth bend
SPACING: Final = 6.0  # m between its points
PLACES: Final = 4  # points ahead
SLOWEST: Final = 2.0  # m/s that it asks for at least
LOOK_TIME: Final = 0.7  # s ahead of the rear axle that the driver aims
LOOK_BEYOND: Final = 1.5  # m that it aims beyond the front bumper, at least
LOOK_MOST: Final = 20.0  # m
KP: Final = 0.4  # s/m, pedal for a speed error
KI: Final = 0.2  # 1/m
INTEGRAL: Final = 2.0  # m
FOLLOWS: Final = 1.5  # 1/s with which the place on the lane follows the body
SIDEWAYS: Final = 0.3  # m aside that a driver plans for each metre ahead, at most
LAG: Final = 0.6  # m that a body may be behind its plan before the plan waits
MARGIN: Final = 1.15  # times its turning radius that a bend must have
ALIGNED: Final = 0.2  # rad from the lane within which a towed body is let go
SETTLES: Final = 1.0  # 1/s with which a towed front comes to its plan
OFF: Final = 0.5  # widths of its lane beside its plan from which a body is off its lane
REVERSE: Final = 1.0  # m/s
CLEAR_BEHIND: Final = 4.0  # m to the follower that reversing needs

# Columns of the tally, one row per task.
TIGHT: Final = 0  # times a body was towed round a bend too tight for it
OFF_LANE: Final = 1  # times a body came off its lane
BACK: Final = 2  # times it was on its lane again
REVERSED: Final = 3  # times it reversed, for want of progress
RESET: Final = 4  # times it was set on its lane, because that did not help
COLUMNS: Final = 5


class Steered(NamedTuple):
    """One entry per slot, shape (capacity,), beside `bicycle.Bodies`; valid where tier is not LANE."""

    tier: NDArray[np.uint8]  # LANE, STEERED
    owner: NDArray[np.int32]  # id of the vehicle that the entry is about; -1 none
    towed: NDArray[np.uint8]  # 0 steers; else why it is towed: 1 a tight bend, 2 passing
    astray: NDArray[np.float64]  # m, middle of the front bumper left of its plan
    expected: NDArray[np.float64]  # m/s that the pedals were to bring the body to
    integral: NDArray[np.float64]  # m, of the PI controller
    away: NDArray[np.bool_]  # off its lane
    mark: NDArray[np.float64]  # m; this and the next four: stuck_manager.stuck_action
    waited: NDArray[np.float64]  # s
    left: NDArray[np.float64]  # s
    tries: NDArray[np.int32]
    tried_at: NDArray[np.float64]  # m
    off_frame: NDArray[np.int32]  # in which it last came off its lane; -1
    reset_frame: NDArray[np.int32]  # in which it was last set on its lane; -1


@kernel
def front_of(bodies: Bodies, nose: float, i: int) -> tuple[float, float]:
    """Middle of the front bumper, m."""
    h = bodies.heading[i]
    return bodies.x[i] + nose * math.cos(h), bodies.y[i] + nose * math.sin(h)


@kernel
def set_on_lane(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    i: int,
) -> None:  # fmt: skip
    """Put the body of i where its vehicle is: front at its place, rear axle on the lane behind it."""
    lane, s = int(veh.lane[i]), veh.s[i]
    nose = kinds.nose[veh.type[i]]
    x, y, ux, uy = place_on_line(lines, lane, s)
    if s > nose:
        rx, ry, _, _ = place_on_line(lines, lane, s - nose)
        d = max(1e-9, math.sqrt((x - rx) * (x - rx) + (y - ry) * (y - ry)))
        ux, uy = (x - rx) / d, (y - ry) / d
    heading = math.atan2(uy, ux)
    x, y = x - uy * veh.lateral[i], y + ux * veh.lateral[i]
    bodies.type[i] = veh.type[i]
    bodies.heading[i] = heading
    bodies.x[i], bodies.y[i] = x - nose * math.cos(heading), y - nose * math.sin(heading)
    bodies.speed[i] = veh.speed[i]
    bodies.slip[i] = bodies.turning[i] = bodies.steer[i] = bodies.wheel[i] = 0.0
    bodies.throttle[i] = bodies.hand_brake[i] = bodies.slope[i] = 0.0
    st.astray[i] = 0.0
    st.expected[i] = veh.speed[i]
    st.integral[i] = 0.0
    st.away[i] = False


@kernel
def begin_steering(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    i: int, tier: int,
) -> None:  # fmt: skip
    """Give vehicle i, who has just come to slot i, a body, or none in the LANE tier."""
    st.tier[i], st.owner[i] = tier, veh.id[i]
    st.towed[i] = 0
    st.mark[i] = st.waited[i] = st.left[i] = st.tried_at[i] = 0.0
    st.tries[i] = 0
    st.off_frame[i] = st.reset_frame[i] = -1
    if tier != LANE:
        set_on_lane(net, lines, veh, kinds, bodies, st, i)


@kernel
def newcomers(veh: Vehicles, st: Steered, out: NDArray[np.int32]) -> int:
    """Slots whose vehicle has changed since the frame before; returns their number.

    Slots left free are forgotten.
    """
    n = 0
    for i in range(st.owner.shape[0]):
        if veh.lane[i] < 0:
            st.owner[i], st.tier[i] = -1, LANE
        elif st.owner[i] != veh.id[i]:
            out[n] = i
            n += 1
    return n


@kernel
def admit(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    slots: NDArray[np.int32], share_steered: float, room: int, seed: int,
) -> int:  # fmt: skip
    """Choose the tier of those who are new in some slots, in that order; returns how many steer.

    share_steered: of all vehicles, drawn by id. room: how many more may be steered.
    """
    n = 0
    for x in range(slots.shape[0]):
        i = slots[x]
        tier = LANE
        if n < room and uniform(seed, veh.id[i], 0, STREAM_TIER) < share_steered:
            tier = STEERED
            n += 1
        begin_steering(net, lines, veh, kinds, bodies, st, i, tier)
    return n


@kernel
def why_towed(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    i: int, course: float,
) -> int:  # fmt: skip
    """Why vehicle i is towed in this frame: 0 not, 1 a bend too tight for it, 2 it passes somebody."""
    if veh.around[i] > 0:
        return 2
    t = veh.type[i]
    lane = int(veh.lane[i])
    least = MARGIN * kinds.wheelbase[t] / math.sin(kinds.max_steer[t])
    if lines.radius[lane] < least and lines.bend_from[lane] <= veh.s[i] <= lines.bend_to[lane]:
        return 1
    if st.towed[i] > 0:
        turned = abs(wrapped(bodies.heading[i] - course))
        if turned > ALIGNED or abs(st.astray[i]) > 0.3:
            return int(st.towed[i])
    return 0


@kernel
def planned(veh: Vehicles, rules: Rules, i: int, seconds: float) -> float:
    """Where the plan of i is beside the middle of its lane, m, in some seconds."""
    off = veh.swerve[i] - veh.lateral[i]
    step = 3.5 * seconds / rules.lane_change_time
    return veh.lateral[i] + min(step, max(-step, off))


@kernel
def hold_plan(veh: Vehicles, rules: Rules, i: int, most: float, dt: float) -> None:
    """Take back beforehand what `move` will shift the plan of i in this frame beyond `most` m.

    A body with wheels moves aside only as it moves ahead.
    """
    step = 3.5 * dt / rules.lane_change_time
    off = veh.lateral[i] - veh.swerve[i]
    if abs(off) > step > most:
        veh.lateral[i] += math.copysign(step - most, off)


@kernel
def tow(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    rules: Rules, i: int, dt: float,
) -> None:  # fmt: skip
    """Draw the body of i by its front bumper to where `move` will put the vehicle."""
    v, a, t = veh.speed[i], veh.accel[i], veh.type[i]
    nxt = v + a * dt
    ds = 0.5 * (v + nxt) * dt
    if nxt < 0.0:
        ds, nxt = -0.5 * v * v / a, 0.0
    step = 3.5 * dt / rules.lane_change_time
    if veh.around[i] > 0 and v < 2.0:
        step = CREEP * dt
    off = veh.swerve[i] - veh.lateral[i]
    beside = veh.lateral[i] + min(step, max(-step, off))
    st.astray[i] *= max(0.0, 1.0 - SETTLES * dt)
    beside += st.astray[i]
    lane, _, s = walk_on(net, veh, i, int(veh.lane[i]), 0, veh.s[i] + ds)
    x, y, ux, uy = place_on_line(lines, lane, s)
    x, y = x - uy * beside, y + ux * beside
    before = bodies.heading[i]
    heading = before + wrapped(math.atan2(y - bodies.y[i], x - bodies.x[i]) - before)
    nose, base, most = kinds.nose[t], kinds.wheelbase[t], kinds.max_steer[t]
    rx, ry = x - nose * math.cos(heading), y - nose * math.sin(heading)
    ahead = (rx - bodies.x[i]) * math.cos(heading) + (ry - bodies.y[i]) * math.sin(heading)
    turning = (heading - before) / dt
    bodies.x[i], bodies.y[i], bodies.heading[i] = rx, ry, heading
    bodies.speed[i], bodies.slip[i] = max(0.0, ahead / dt), 0.0
    wanted = math.atan(base * turning / max(bodies.speed[i], 0.5))
    rate = kinds.steer_rate[t] * dt
    steer = bodies.steer[i]
    bodies.steer[i] = min(most, max(-most, steer + min(rate, max(-rate, wanted - steer))))
    bodies.turning[i] = bodies.speed[i] * math.tan(bodies.steer[i]) / base
    bodies.throttle[i], bodies.wheel[i] = 0.0, bodies.steer[i]
    st.expected[i], st.integral[i] = nxt, 0.0


@kernel
def bend_ahead(
    net: NetworkArrays, lines: Lines, veh: Vehicles, i: int, x: float, y: float
) -> float:
    """Speed of Algorithm 1, m/s, from the front (x, y) along the lanes of i's own path."""
    lane, q, s = walk_on(net, veh, i, int(veh.lane[i]), 0, veh.s[i] + SPACING)
    bx, by, _, _ = place_on_line(lines, lane, s)
    sharpest = 0.0
    for _ in range(1, PLACES):
        lane, q, s = walk_on(net, veh, i, lane, q, s + SPACING)
        cx, cy, _, _ = place_on_line(lines, lane, s)
        sharpest = max(sharpest, max_curvature(x, y, bx, by, cx, cy))
        x, y, bx, by = bx, by, cx, cy
    return critical_speed(sharpest, LATERAL, SLOWEST, 100.0)


@kernel
def press(
    kinds: BodyTypes, bodies: Bodies, st: Steered, i: int, accel: float, wanted: float, dt: float
) -> None:
    """Press the pedals of i: what the acceleration (m/s^2) asks of the tyres, and PI for the rest.

    wanted: m/s at the end of dt. The error is that of the frame before: the speed that the pedals
    were to bring minus the one there is. It is summed only while the pedal is not at its end.
    """
    t, speed = bodies.type[i], bodies.speed[i]
    error = st.expected[i] - speed
    if wanted <= 0.0 and speed <= 1e-9:
        st.expected[i], st.integral[i], bodies.throttle[i] = 0.0, 0.0, 0.0
        return
    force = accel + kinds.drag[t] * speed + 9.81 * bodies.slope[i]
    most = min(kinds.accel[t], kinds.power[t] / max(speed, 1.0))
    pressed = force / kinds.brake[t] if force < 0.0 else force / most
    out = pressed + KP * error + KI * st.integral[i]
    if -1.0 < out < 1.0 or out * error < 0.0:
        st.integral[i] = min(INTEGRAL, max(-INTEGRAL, st.integral[i] + error * dt))
    if wanted <= 0.0:  # comes to rest within dt
        out = min(out, -speed / (dt * kinds.brake[t]))
    elif speed <= 1e-9:
        out = max(out, 0.0)
    bodies.throttle[i] = min(1.0, max(-1.0, out))
    st.expected[i] = max(0.0, wanted)


@kernel
def aim(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, rules: Rules,
    i: int, gone: float,
) -> float:  # fmt: skip
    """Angle of the front wheels, rad, by pure pursuit of the lane; gone: m driven in this frame.

    The target is the middle of a chord of two wheelbases with its ends on the lane: on a bend the
    front wheels keep to the lane then, and the rear ones cut as much as those of any vehicle.
    """
    t = veh.type[i]
    nose, base = kinds.nose[t], kinds.wheelbase[t]
    v = bodies.speed[i]
    look = look_distance_at(v, LOOK_TIME, nose + LOOK_BEYOND, max(LOOK_MOST, nose + LOOK_BEYOND))
    s = veh.s[i] + gone - nose + look
    lane, q, at = walk_on(net, veh, i, int(veh.lane[i]), 0, s - base)
    ax, ay, _, _ = place_on_line(lines, lane, at)
    lane, q, at = walk_on(net, veh, i, lane, q, at + 2.0 * base)
    bx, by, _, _ = place_on_line(lines, lane, at)
    dx, dy = bx - ax, by - ay
    d = max(1e-9, math.sqrt(dx * dx + dy * dy))
    beside = planned(veh, rules, i, (look - nose) / max(v, 1.0))
    x = 0.5 * (ax + bx) - beside * dy / d
    y = 0.5 * (ay + by) + beside * dx / d
    return steer_to(
        bodies.x[i], bodies.y[i], bodies.heading[i], x, y, base, kinds.max_steer[t]
    )


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
def steer_vehicle(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, order: Order, rules: Rules,
    kinds: BodyTypes, bodies: Bodies, st: Steered, p: int, frame: int, dt: float,
    tally: NDArray[np.int64],
) -> None:  # fmt: skip
    """Steer the vehicle at place p of the order; see module."""
    i = order.slot[p]
    v, a, t = veh.speed[i], veh.accel[i], veh.type[i]
    if v == 0.0 and a <= 0.0 and bodies.speed[i] == 0.0 and veh.around[i] == 0:
        st.expected[i] = st.integral[i] = bodies.throttle[i] = 0.0
        if st.left[i] <= 0.0:
            st.waited[i], st.mark[i] = 0.0, veh.distance[i] + veh.s[i]
        if veh.lateral[i] != veh.swerve[i]:
            hold_plan(veh, rules, i, 0.0, dt)
        return
    _, _, ux, uy = place_on_line(lines, int(veh.lane[i]), veh.s[i])
    course = math.atan2(uy, ux)
    why = why_towed(net, lines, veh, kinds, bodies, st, i, course)
    if why == 1 and st.towed[i] != 1:
        tally[TIGHT] += 1
    st.towed[i] = why
    if why > 0:
        tow(net, lines, veh, kinds, bodies, st, rules, i, dt)
        return
    nose = kinds.nose[t]
    fx, fy = front_of(bodies, nose, i)
    bend = bend_ahead(net, lines, veh, i, fx, fy)
    if v + a * dt > bend:
        a = min(a, max((bend - v) / dt, -types.decel[t]))
    wants = a > 0.1 or v + a * dt > 1.0
    reverses = manage_progress(
        net, lines, veh, kinds, bodies, st, order, p, wants, frame, dt, tally
    )
    # A front that swings out, or a plan aside, is faster along the lane than the rear axle.
    turned = bodies.heading[i] - course
    cos, sin = math.cos(turned), math.sin(turned)
    speed = bodies.speed[i]
    ratio = 1.0
    if speed > 1.0:
        ratio = (speed * cos - (bodies.slip[i] + nose * bodies.turning[i]) * sin) / speed
        ratio = min(1.3, max(0.8, ratio))
    steps = max(1, int(math.ceil(dt / LONGEST_STEP - 1e-6)))
    h = dt / steps
    gone = 0.0
    for _ in range(steps):
        wheel = aim(net, lines, veh, kinds, bodies, rules, i, gone)
        press(kinds, bodies, st, i, a / ratio, bodies.speed[i] + a / ratio * h, h)
        if reverses:
            st.expected[i], st.integral[i] = min(0.0, bodies.speed[i]), 0.0
            bodies.throttle[i] = -0.5 if bodies.speed[i] > -REVERSE else 0.0
            wheel = -math.copysign(kinds.max_steer[t], wheel)
        elif bodies.speed[i] < 0.0:
            bodies.throttle[i], st.expected[i] = 1.0, 0.0  # brakes: it rolls back
        bodies.wheel[i] = wheel
        move_bodies(kinds, bodies, h, i, i + 1)
        gone += max(0.0, bodies.speed[i]) * h
    # Its place on the lane, and the acceleration that brings the vehicle there.
    fx, fy = front_of(bodies, nose, i)
    station, offset = nearest_ahead(net, lines, veh, i, 2.0 * v * dt + 2.0, fx, fy)
    turned = bodies.heading[i] - course
    along = bodies.speed[i] * math.cos(turned)
    along -= (bodies.slip[i] + nose * bodies.turning[i]) * math.sin(turned)
    nxt = 0.0
    if bodies.speed[i] > 1e-9:
        astray = station - (veh.s[i] + 0.5 * (v + along) * dt)
        nxt = max(0.0, along + FOLLOWS * min(1.0, max(-1.0, astray)))
    veh.accel[i] = min(types.accel[t], max(-types.emergency[t], (nxt - v) / dt))
    lag = offset - veh.lateral[i]
    st.astray[i] = lag
    if veh.lateral[i] != veh.swerve[i]:
        hold_plan(veh, rules, i, SIDEWAYS * v * dt if abs(lag) < LAG else 0.0, dt)
    off = abs(lag) > OFF * net.lanes.width[veh.lane[i]]
    if off and not st.away[i]:
        st.away[i] = True
        st.off_frame[i] = frame
        tally[OFF_LANE] += 1
    elif st.away[i] and abs(lag) < 0.5 * OFF * net.lanes.width[veh.lane[i]]:
        st.away[i] = False
        tally[BACK] += 1


@kernel
def steer(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, order: Order, rules: Rules,
    kinds: BodyTypes, bodies: Bodies, st: Steered, n: int, task: int, frame: int, dt: float,
    tally: NDArray[np.int64],
) -> None:  # fmt: skip
    """Steer those of one task's share of the order who have a body."""
    roads = order.start[net.lanes.out_start.shape[0] - 1]
    for first, last in share(0, roads, task, TASKS), share(roads, n - roads, task, TASKS):
        for p in range(first, last):
            if st.tier[order.slot[p]] != LANE:
                steer_vehicle(
                    net, lines, veh, types, order, rules, kinds, bodies, st, p, frame, dt, tally
                )


@kernel(parallel=True)
def steer_all(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, order: Order, rules: Rules,
    kinds: BodyTypes, bodies: Bodies, st: Steered, n: int, frame: int, dt: float,
    tallies: NDArray[np.int64],
) -> None:  # fmt: skip
    """Steer everybody who has a body; tallies has one row per task."""
    for task in prange(TASKS):
        steer(
            net, lines, veh, types, order, rules, kinds, bodies, st, n, task, frame, dt,
            tallies[task],
        )  # fmt: skip
