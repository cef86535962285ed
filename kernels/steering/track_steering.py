"""Steering models of a racing AI: at nodes, by a projected point, with a PID.

Angles are from the car's forward axis, left positive. The *error* of a model that measures a
distance is positive where the line is to the left, so that the wheel goes that way.
Source: AV-Racer, seed-systems.md S2-7 - S2-12; validation.md C2.4 - C2.9.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.controllers import pid_output
from rushhour.kernels.steering.paths import wrapped
from rushhour.kernels.steering.tracks import Track, index_at, rest_of_segment

LOCK: Final = math.radians(45.0)  # cap of an angle to nodes

SPIDEY_1: Final = 0  # at the next node
SPIDEY_2: Final = 1  # between the next two
PROJECTION: Final = 2  # a point ahead, against the segment of the line that the car is beside
AWARE: Final = 3  # the same, against the segment that the point is beside
MODELS: Final = ("spidey 1", "spidey 2", "projection", "segment-aware")


class TrackCars(NamedTuple):
    """Cars on a track, shape (n,); car i is body i."""

    model: NDArray[np.uint8]  # SPIDEY_1 ...
    place: NDArray[np.int32]  # index on the track
    on: NDArray[np.bool_]
    look_time: NDArray[np.float64]  # s, projected point
    kp: NDArray[np.float64]  # rad/m, of projection models
    ki: NDArray[np.float64]  # 0 with kd 0: proportional only
    kd: NDArray[np.float64]
    error: NDArray[np.float64]  # m, the last
    integral: NDArray[np.float64]
    falls_back: NDArray[np.bool_]  # steers at the node instead, car or point being off the track
    switches: NDArray[np.int32]  # times that changed


@kernel
def angle_to(x: float, y: float, heading: float, nx: float, ny: float) -> float:
    """Angle to a point, rad in [-pi, pi)."""
    return wrapped(math.atan2(ny - y, nx - x) - heading)


@kernel
def spidey_steer(angle: float) -> float:
    """Spidey 1: the angle to the next node, capped at 45 degrees."""
    return min(LOCK, max(-LOCK, angle))


@kernel
def spidey_2_steer(first: float, second: float) -> float:
    """Spidey 2: the mean of the angles to the next two nodes, each wrapped before, capped."""
    return min(LOCK, max(-LOCK, 0.5 * (first + second)))


@kernel
def projected_point(
    x: float, y: float, heading: float, speed: float, time: float
) -> tuple[float, float]:
    """Where the car would be in `time` s straight ahead."""
    return x + speed * time * math.cos(heading), y + speed * time * math.sin(heading)


@kernel
def line_error(px: float, py: float, ax: float, ay: float, bx: float, by: float) -> float:
    """Distance, m, of the line through A and B from a point, positive where it lies to the left."""
    dx, dy = bx - ax, by - ay
    length = math.sqrt(dx * dx + dy * dy)
    if length == 0.0:
        return 0.0
    return (dy * (px - ax) - dx * (py - ay)) / length


@kernel
def segment_beside(
    line: NDArray[np.float64], target: int, x: float, y: float, distance: float
) -> int:
    """Point of the line that ends the segment `distance` m ahead of the car.

    target: the point that ends the segment the car is beside. The rest of that one is taken off,
    then the next ones, until nothing is left.
    """
    m = line.shape[0]
    before = target - 1
    if before < 0:
        before += m
    rest, _ = rest_of_segment(
        line[before, 0], line[before, 1], line[target, 0], line[target, 1], x, y
    )
    distance -= rest
    for _ in range(m):
        if distance <= 0.0:
            break
        before = target
        target += 1
        if target == m:
            target = 0
        dx, dy = line[target, 0] - line[before, 0], line[target, 1] - line[before, 1]
        distance -= math.sqrt(dx * dx + dy * dy)
    return target


@kernel
def steer_cars(track: Track, cars: TrackCars, bodies: Bodies, dt: float, lo: int, hi: int) -> None:
    """Turn the wheels of cars lo .. hi-1 by their models for the next dt (s).

    Reads the bodies' pose and speed; writes place, on, error, integral, falls_back, switches of the
    cars and wheel of the bodies. The node steered at is taken from the index, never the nearest.
    """
    m = track.line.shape[0]
    for i in range(lo, hi):
        x, y, heading = bodies.x[i], bodies.y[i], bodies.heading[i]
        cars.place[i], cars.on[i] = index_at(track.left, track.right, cars.place[i], x, y)
        target = track.target[cars.place[i]]
        first = angle_to(x, y, heading, track.line[target, 0], track.line[target, 1])
        wheel = spidey_steer(first)
        if cars.model[i] == SPIDEY_2:
            after = target + 1
            if after == m:
                after = 0
            second = angle_to(x, y, heading, track.line[after, 0], track.line[after, 1])
            wheel = spidey_2_steer(first, second)
        elif cars.model[i] != SPIDEY_1:
            look = cars.look_time[i] * bodies.speed[i]
            px, py = projected_point(x, y, heading, bodies.speed[i], cars.look_time[i])
            _, is_point_on = index_at(track.left, track.right, cars.place[i], px, py)
            falls_back = not (cars.on[i] and is_point_on)
            if falls_back != cars.falls_back[i]:
                cars.switches[i] += 1
            cars.falls_back[i] = falls_back
            end = target
            if cars.model[i] == AWARE:
                end = segment_beside(track.line, target, x, y, look)
            begin = end - 1
            if begin < 0:
                begin += m
            error = line_error(
                px, py, track.line[begin, 0], track.line[begin, 1],
                track.line[end, 0], track.line[end, 1],
            )  # fmt: skip
            if not falls_back:
                wheel, cars.integral[i] = pid_output(
                    error, cars.error[i], cars.integral[i], cars.kp[i], cars.ki[i], cars.kd[i], dt
                )
            cars.error[i] = error
        bodies.wheel[i] = wheel
