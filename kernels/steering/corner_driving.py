"""Opponents on roads: full gas, two points to steer at, limits in corners, power-slides.

On the path lie a near and a far point, at fixed distances from where the car is. The angle between
the directions to them tells a corner: there it steers at the far one, and brakes above the limit
of the angle's range; where the angle is too big it slides with the hand brake.
Source: Hit & Run, seed-systems.md S3-23 - S3-29; validation.md C3.7 - C3.10.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.controllers import p_pedal
from rushhour.kernels.steering.following import BEHIND, FORWARD
from rushhour.kernels.steering.paths import (
    Paths,
    course_and_slope,
    nearest_on_path,
    place_in_space,
    wrapped,
)

DRIVING: Final = 0  # full gas at the near point
CORNERING: Final = 1  # at the far point, gas below the limit and brake above it
SLIDING: Final = 2  # full lock, hand brake and gas
PEDAL: Final = 0.5  # s/m, in corners; full gas there would leave the tyres nothing to turn with


class CornerDrivers(NamedTuple):
    """Ways to drive, shape (n_drivers,); a driver is made for a car on a surface."""

    near: NDArray[np.float64]  # m along the path
    far: NDArray[np.float64]  # m
    corner: NDArray[np.float64]  # rad between the points from which it is a corner
    slide: NDArray[np.float64]  # rad from which it slides ...
    recover: NDArray[np.float64]  # rad ... until below this
    slowest: NDArray[np.float64]  # m/s, below which nobody slides
    top: NDArray[np.float64]  # m/s of the car: how good an opponent it is
    edge: NDArray[np.float64]  # (n_drivers, k) rad, upper ends of ranges of the angle, rising
    limit: NDArray[np.float64]  # (n_drivers, k+1) m/s in each range, the last beyond all


class CornerCars(NamedTuple):
    """One entry per car, shape (n,); car i is body i."""

    driver: NDArray[np.int32]
    path: NDArray[np.int32]
    s: NDArray[np.float64]  # m, where on the path
    offset: NDArray[np.float64]  # m left of it
    mode: NDArray[np.uint8]  # DRIVING, CORNERING, SLIDING
    angle: NDArray[np.float64]  # rad between the two points
    slides: NDArray[np.int32]  # begun so far
    aside: NDArray[np.float64]  # m left of the path, by which both points are shifted


@kernel
def points_ahead(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    lo: int,
    hi: int,
    s: float,
    near: float,
    far: float,
) -> tuple[float, float, float, float]:
    """The near and the far point, x, y each: at s + near and s + far, at most the end."""
    nx, ny, _ = place_in_space(points, station, lo, hi, s + near)
    fx, fy, _ = place_in_space(points, station, lo, hi, s + far)
    return nx, ny, fx, fy


@kernel
def shifted(
    paths: Paths, lo: int, hi: int, s: float, x: float, y: float, aside: float
) -> tuple[float, float]:
    """A point at station s of a path, moved aside m to its left."""
    s = min(s, paths.station[hi - 1] - 1e-3)  # behind its end a path has no course
    course, _ = course_and_slope(paths.points, paths.station, lo, hi, s)
    return x - aside * math.sin(course), y + aside * math.cos(course)


@kernel
def steer_by_direction(direction: float, heading: float, lock: float) -> float:
    """Wheel, rad, by the angle from the heading to a direction, within the lock."""
    return min(lock, max(-lock, wrapped(direction - heading)))


@kernel
def corner_mode(
    mode: int,
    angle: float,
    speed: float,
    corner: float,
    slide: float,
    recover: float,
    slowest: float,
) -> int:
    """Mode for an angle between the points, rad; a slide ends below `recover` only, or slowly."""
    size = abs(angle)
    if mode == SLIDING and size >= recover and speed >= slowest:
        return SLIDING
    if size >= slide and mode != SLIDING and speed >= slowest:
        return SLIDING
    return CORNERING if size >= corner else DRIVING


@kernel
def corner_limit(
    edge: NDArray[np.float64], limit: NDArray[np.float64], row: int, angle: float
) -> float:
    """Speed limit, m/s, of the range of an angle, rad, in a row of the table."""
    for k in range(edge.shape[1]):
        if abs(angle) < edge[row, k]:
            return limit[row, k]
    return limit[row, edge.shape[1]]


@kernel
def drive_corners(
    paths: Paths,
    drivers: CornerDrivers,
    types: BodyTypes,
    cars: CornerCars,
    bodies: Bodies,
    lo: int,
    hi: int,
) -> None:
    """Press pedals, hand brake and wheel of cars lo .. hi-1.

    Reads path, aside and the bodies' pose and speed; writes s, offset, mode, angle, slides of the cars,
    throttle, wheel and hand_brake of the bodies.
    """
    for i in range(lo, hi):
        k, lock = cars.driver[i], types.max_steer[bodies.type[i]]
        a, b = paths.start[cars.path[i]], paths.start[cars.path[i] + 1]
        x, y, heading, speed = bodies.x[i], bodies.y[i], bodies.heading[i], bodies.speed[i]
        cars.s[i], cars.offset[i] = nearest_on_path(
            paths.points, paths.station, a, b, cars.s[i] - BEHIND, cars.s[i] + FORWARD, x, y
        )
        nx, ny, fx, fy = points_ahead(
            paths.points, paths.station, a, b, cars.s[i], drivers.near[k], drivers.far[k]
        )
        if cars.aside[i] != 0.0:
            nx, ny = shifted(paths, a, b, cars.s[i] + drivers.near[k], nx, ny, cars.aside[i])
            fx, fy = shifted(paths, a, b, cars.s[i] + drivers.far[k], fx, fy, cars.aside[i])
        to_near, to_far = math.atan2(ny - y, nx - x), math.atan2(fy - y, fx - x)
        angle = wrapped(to_far - to_near)
        before = cars.mode[i]
        mode = corner_mode(
            before, angle, speed, drivers.corner[k], drivers.slide[k], drivers.recover[k],
            drivers.slowest[k],
        )  # fmt: skip
        if mode == SLIDING and before != SLIDING:
            cars.slides[i] += 1
        throttle, wheel, hand = 1.0, steer_by_direction(to_near, heading, lock), 0.0
        if mode == SLIDING:
            wheel, hand = math.copysign(lock, angle), 1.0
        elif mode == CORNERING:
            wheel = steer_by_direction(to_far, heading, lock)
            limit = corner_limit(drivers.edge, drivers.limit, k, angle)
            throttle = p_pedal(limit - speed, PEDAL)
        if throttle > 0.0 and speed >= drivers.top[k]:
            throttle = 0.0
        cars.mode[i], cars.angle[i] = mode, angle
        bodies.throttle[i], bodies.wheel[i], bodies.hand_brake[i] = throttle, wheel, hand
