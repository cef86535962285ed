"""Followers: who drives a body along a path, with two pedals and a wheel.

Five modules in one step: target speed, target point, speed control, steering control, and a stuck
manager that overrides the controls. A follower reads where its body is and presses throttle and
wheel; whatever moves the body (`bicycle`, or another body behind the same inputs) comes after.
Source: seed-systems.md S0-1 - S0-15.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.geometry.pose import CHUNK
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.controllers import p_pedal, pi_pedal
from rushhour.kernels.steering.paths import (
    Paths,
    course_and_slope,
    nearest_on_path,
    place_in_space,
)
from rushhour.kernels.steering.pure_pursuit import look_distance_at, steer_to
from rushhour.kernels.steering.stuck_manager import (
    AHEAD,
    DRIVES,
    REVERSES,
    STUCK,
    TELEPORTS,
    stuck_action,
)
from rushhour.kernels.steering.target_speed import (
    angle_speed,
    critical_speed,
    sharpest_ahead,
    widest_angle,
)

CURVATURE: Final = 0  # rule of the target speed: Algorithm 1
ANGLE: Final = 1  # the baseline
INTEGRAL: Final = 20.0  # m, bound of the PI controller's integral
BEHIND: Final = 6.0  # m behind the last place on the path that the search begins
FORWARD: Final = 12.0  # m ahead of it that the search ends


class Drivers(NamedTuple):
    """Ways to drive, shape (n_drivers,)."""

    rule: NDArray[np.uint8]  # CURVATURE, ANGLE
    lateral: NDArray[np.float64]  # g, of Algorithm 1
    gain: NDArray[np.float64]  # m/s rad, of the baseline
    spacing: NDArray[np.float64]  # m between the points looked at
    places: NDArray[np.int32]  # points looked at, with the vehicle
    least: NDArray[np.float64]  # m/s
    most: NDArray[np.float64]  # m/s
    look_time: NDArray[np.float64]  # s, of the target point
    look_least: NDArray[np.float64]  # m
    look_most: NDArray[np.float64]  # m
    kp: NDArray[np.float64]  # s/m
    ki: NDArray[np.float64]  # 1/m; 0: proportional only


class Followers(NamedTuple):
    """One entry per follower, shape (n,); follower i drives body i."""

    active: NDArray[np.bool_]  # others are left as they are
    driver: NDArray[np.int32]
    path: NDArray[np.int32]  # may be replaced before any frame
    followed: NDArray[np.int32]  # the path of the frame before; -1 none
    s: NDArray[np.float64]  # m along the path
    offset: NDArray[np.float64]  # m left of it: the cross-track error
    z: NDArray[np.float64]  # m, height of the path there
    target: NDArray[np.float64]  # m/s
    integral: NDArray[np.float64]  # m
    mark: NDArray[np.float64]  # m; this and the next four: stuck_manager.stuck_action
    waited: NDArray[np.float64]  # s
    left: NDArray[np.float64]  # s
    tries: NDArray[np.int32]
    tried_at: NDArray[np.float64]  # m
    action: NDArray[np.uint8]  # DRIVES, STUCK, REVERSES, TELEPORTS
    stuck: NDArray[np.int32]  # events so far
    teleports: NDArray[np.int32]  # events that reversing did not end


@kernel
def wanted_speed(
    paths: Paths,
    d: Drivers,
    k: int,
    a: int,
    b: int,
    s: float,
    x: float,
    y: float,
    z: float,
    heading: float,
) -> float:
    """Target speed, m/s, of driver k at station s of the path of points a .. b-1."""
    if d.rule[k] == ANGLE:
        ahead = d.spacing[k] * (d.places[k] - 1)
        angle = widest_angle(paths.points, paths.station, a, b, s, heading, ahead)
        return angle_speed(angle, d.gain[k], d.least[k], d.most[k])
    sharpest = sharpest_ahead(
        paths.points, paths.station, a, b, s, x, y, z, d.spacing[k], d.places[k]
    )
    return critical_speed(sharpest, d.lateral[k], d.least[k], d.most[k])


@kernel
def find_on_path(paths: Paths, f: Followers, i: int, x: float, y: float) -> None:
    """Find follower i on its path: near where it was, anywhere on a new one, which it begins anew.

    Reads path; writes s, offset, z, and for a new path followed, integral, mark, waited, left,
    tries.
    """
    a, b = paths.start[f.path[i]], paths.start[f.path[i] + 1]
    first, last = f.s[i] - BEHIND, f.s[i] + FORWARD
    is_new = f.path[i] != f.followed[i]
    if is_new:
        first, last = 0.0, paths.station[b - 1]
    f.s[i], f.offset[i] = nearest_on_path(paths.points, paths.station, a, b, first, last, x, y)
    _, _, f.z[i] = place_in_space(paths.points, paths.station, a, b, f.s[i])
    if is_new:
        f.followed[i] = f.path[i]
        f.integral[i], f.mark[i], f.waited[i], f.left[i], f.tries[i] = 0.0, f.s[i], 0.0, 0.0, 0


@kernel
def set_ahead(paths: Paths, f: Followers, bodies: Bodies, i: int) -> None:
    """Teleport follower i onto its path, AHEAD of where it got stuck, standing in its direction.

    Writes s, offset, mark and z of the follower, pose and motion of the body.
    """
    a, b = paths.start[f.path[i]], paths.start[f.path[i] + 1]
    s = min(max(f.s[i], f.tried_at[i]) + AHEAD, paths.station[b - 1])
    f.s[i], f.mark[i], f.offset[i] = s, s, 0.0
    bodies.x[i], bodies.y[i], f.z[i] = place_in_space(paths.points, paths.station, a, b, s)
    bodies.heading[i], _ = course_and_slope(paths.points, paths.station, a, b, s)
    bodies.speed[i], bodies.slip[i], bodies.turning[i] = 0.0, 0.0, 0.0
    bodies.steer[i] = 0.0


@kernel
def stand_at_end(f: Followers, bodies: Bodies, i: int) -> None:
    """Let follower i brake and stand, as it has come to the last waypoint; it is not stuck."""
    f.action[i], f.target[i], f.integral[i] = DRIVES, 0.0, 0.0
    f.mark[i], f.waited[i], f.left[i], f.tries[i] = f.s[i], 0.0, 0.0, 0
    bodies.throttle[i] = -1.0 if bodies.speed[i] > 0.0 else 0.0
    bodies.wheel[i], bodies.hand_brake[i] = bodies.steer[i], 0.0


@kernel
def follow_paths(
    paths: Paths,
    drivers: Drivers,
    types: BodyTypes,
    f: Followers,
    bodies: Bodies,
    dt: float,
    lo: int,
    hi: int,
) -> None:
    """Let followers lo .. hi-1 press throttle and wheel for the next dt (s); at the end they stand.

    Reads path and the bodies' pose and speed; writes the followers' own fields, throttle, wheel,
    hand_brake and slope of the bodies, and all of a body's state when it teleports.
    """
    for i in range(lo, hi):
        if not f.active[i]:
            continue
        k, t = f.driver[i], bodies.type[i]
        a, b = paths.start[f.path[i]], paths.start[f.path[i] + 1]
        find_on_path(paths, f, i, bodies.x[i], bodies.y[i])
        if f.s[i] >= paths.station[b - 1]:
            stand_at_end(f, bodies, i)
            continue
        action, f.mark[i], f.waited[i], f.left[i], f.tries[i], f.tried_at[i] = stuck_action(
            f.s[i], f.mark[i], f.waited[i], f.left[i], f.tries[i], f.tried_at[i], dt
        )
        f.action[i] = action
        if action == STUCK:
            f.stuck[i] += 1
            f.integral[i] = 0.0
        elif action == TELEPORTS:
            f.teleports[i] += 1
            f.integral[i] = 0.0
            set_ahead(paths, f, bodies, i)
        x, y, heading, speed = bodies.x[i], bodies.y[i], bodies.heading[i], bodies.speed[i]
        course, rise = course_and_slope(paths.points, paths.station, a, b, f.s[i])
        bodies.slope[i] = rise * math.cos(heading - course)
        f.target[i] = wanted_speed(paths, drivers, k, a, b, f.s[i], x, y, f.z[i], heading)
        look = look_distance_at(
            speed, drivers.look_time[k], drivers.look_least[k], drivers.look_most[k]
        )
        tx, ty, _ = place_in_space(paths.points, paths.station, a, b, f.s[i] + look)
        wheel = steer_to(x, y, heading, tx, ty, types.wheelbase[t], types.max_steer[t])
        throttle = 0.0
        if action == STUCK or action == REVERSES:
            throttle = -1.0
            wheel = -math.copysign(types.max_steer[t], wheel)
        elif drivers.ki[k] == 0.0:
            throttle = p_pedal(f.target[i] - speed, drivers.kp[k])
        else:
            throttle, f.integral[i] = pi_pedal(
                f.target[i] - speed, f.integral[i], drivers.kp[k], drivers.ki[k], INTEGRAL, dt
            )
        bodies.throttle[i], bodies.wheel[i], bodies.hand_brake[i] = throttle, wheel, 0.0


@kernel(parallel=True)
def follow_all_paths(
    paths: Paths, drivers: Drivers, types: BodyTypes, f: Followers, bodies: Bodies, dt: float
) -> None:
    """Let every follower press throttle and wheel, CHUNK of them at a time."""
    n = f.path.shape[0]
    for c in prange((n + CHUNK - 1) // CHUNK):
        follow_paths(paths, drivers, types, f, bodies, dt, c * CHUNK, min(n, (c + 1) * CHUNK))
