"""Bodies with wheels: the kinematic bicycle, and one whose tyres can slide.

Both are referenced at the middle of the rear axle, x to the front, y to the left, angles rad,
counter-clockwise. Speed is along the body, negative in reverse. *Slip* is the speed of the rear
axle to the left, which a kinematic bicycle does not have.

The tyres of the sliding bicycle hold their axle in the direction of its wheels, as far as their
grip reaches: each axle is a point mass that an impulse of at most its grip turns in a step. That
is exact for a body whose moment of inertia is mass x front arm x rear arm, as that of most cars
nearly is; with the centre of mass in the middle it is a quarter of mass x wheelbase squared. What
the tyres spend on drive and brakes is lost to holding (the grip circle). With grip to spare it is
the kinematic bicycle, at any time step and at no speed singular.
Sources: validation.md A2 (body), A1.8 (kinematic reference).
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.geometry.pose import CHUNK

G: Final = 9.81  # m/s^2
SLIDING: Final = 0.5  # share of the rear's grip that locked wheels keep sideways
SLOWEST: Final = 1.0  # m/s, below which power gives no more force


class BodyTypes(NamedTuple):
    """Kinds of bodies, shape (n_types,)."""

    wheelbase: NDArray[np.float64]  # m
    nose: NDArray[np.float64]  # m, from the rear axle to the front bumper
    half_width: NDArray[np.float64]  # m
    max_steer: NDArray[np.float64]  # rad
    steer_rate: NDArray[np.float64]  # rad/s
    accel: NDArray[np.float64]  # m/s^2, forwards and in reverse
    brake: NDArray[np.float64]  # m/s^2
    power: NDArray[np.float64]  # W/kg; inf: accel at any speed
    grip: NDArray[np.float64]  # friction of the tyres, times g
    drag: NDArray[np.float64]  # 1/s, of the speed
    traction: NDArray[
        np.float64
    ]  # m/s^2, what the engine pulls at walking pace; see climbing_accel


class Bodies(NamedTuple):
    """One entry per body, shape (n,). The first seven are its state, the others its inputs."""

    x: NDArray[np.float64]  # m, middle of the rear axle
    y: NDArray[np.float64]  # m
    heading: NDArray[np.float64]  # rad from east
    speed: NDArray[np.float64]  # m/s along the body
    slip: NDArray[np.float64]  # m/s to the left, of the rear axle
    turning: NDArray[np.float64]  # rad/s
    steer: NDArray[np.float64]  # rad, angle of the front wheels, left positive
    type: NDArray[np.int32]
    throttle: NDArray[np.float64]  # [-1, 1]; against the motion it brakes
    wheel: NDArray[np.float64]  # rad, wanted angle of the front wheels
    hand_brake: NDArray[np.float64]  # [0, 1], on the rear wheels
    slope: NDArray[np.float64]  # sine of the rise along the body


@kernel
def turned_wheel(steer: float, wanted: float, most: float, rate: float, dt: float) -> float:
    """Angle of the front wheels after dt: towards wanted, at most `rate` rad/s, within `most`."""
    wanted = min(most, max(-most, wanted))
    return steer + min(rate * dt, max(-rate * dt, wanted - steer))


@kernel(forceinline=True)
def climbing_accel(accel: float, traction: float, rise: float) -> float:
    """What a full pedal asks of the tyres, m/s^2, before power limits it: accel on the level.

    Uphill (rise: sine, in the direction of the pedal) as much more as the hill takes, as far as the
    engine's traction reaches: who is in no hurry on the level gives more gas there.
    """
    return max(accel, min(traction, accel + G * rise))


@kernel
def pedal_force(speed: float, throttle: float, accel: float, brake: float, power: float) -> float:
    """What the pedals want of the tyres, m/s^2 along the body; against the motion they brake."""
    if throttle * speed < 0.0:
        return throttle * brake
    return throttle * min(accel, power / max(abs(speed), SLOWEST))


@kernel
def driven_speed(
    speed: float, force: float, throttle: float, slope: float, drag: float, dt: float
) -> float:
    """Speed after dt of a force (m/s^2) of the tyres, drag (1/s) and the slope (sine).

    A brake ends in standing, not in rolling back. Whoever gives gas, or nothing, is held by its
    brakes where the slope would win, and so is who reverses uphill.
    """
    pulled = speed + (force - drag * speed - G * slope) * dt
    if throttle * speed < 0.0 and pulled * speed < 0.0:
        return 0.0
    if throttle >= 0.0 and speed >= 0.0:
        return max(0.0, pulled)
    if throttle < 0.0 and speed <= 0.0:
        return min(0.0, pulled)
    return pulled


@kernel
def rolling_turn(speed: float, steer: float, wheelbase: float, grip: float) -> float:
    """Turning, rad/s, of the kinematic bicycle: at most what grip (m/s^2) holds at that speed."""
    turning = speed * math.tan(steer) / wheelbase
    if abs(speed * turning) > grip:
        return math.copysign(grip / abs(speed), turning)
    return turning


@kernel
def rolled(
    x: float, y: float, heading: float, speed: float, turning: float, dt: float
) -> tuple[float, float, float]:
    """Pose of the kinematic bicycle after dt (an explicit step)."""
    return (
        x + speed * math.cos(heading) * dt,
        y + speed * math.sin(heading) * dt,
        heading + turning * dt,
    )


@kernel
def held_by_tyres(
    speed: float,
    slip: float,
    turning: float,
    before: float,
    steer: float,
    wheelbase: float,
    front: float,
    rear: float,
    dt: float,
) -> tuple[float, float, float]:
    """Speed, slip and turning of a body after its axles were held for dt.

    before, steer: angle of the front wheels until now and from now on. front, rear: m/s^2 that the
    tyres of an axle can hold. The body turns first, while its motion keeps its direction; then the
    front wheels take away their speed across them, and the rear wheels theirs, as far as their
    grip reaches. Where it reaches, the wheels roll, which costs no energy.
    """
    arm = 0.5 * wheelbase
    across = slip + arm * turning  # of the centre of mass
    cos, sin = math.cos(turning * dt), math.sin(turning * dt)
    ahead, across = speed * cos + across * sin, across * cos - speed * sin
    at_front, at_rear = across + arm * turning, across - arm * turning
    cos, sin = math.cos(steer), math.sin(steer)
    push = -(at_front * cos - ahead * sin) / (sin * sin + 2.0 * cos * cos)
    most = 0.5 * front * dt
    if abs(push) <= most and abs(at_rear) <= rear * dt:
        tan, tan_before = sin / cos, math.tan(before)
        speed *= math.sqrt((1.0 + 0.5 * tan_before * tan_before) / (1.0 + 0.5 * tan * tan))
        return speed, 0.0, speed * tan / wheelbase
    push = min(most, max(-most, push))
    ahead -= push * sin
    at_front += 2.0 * push * cos
    at_rear -= min(rear * dt, max(-rear * dt, at_rear))
    return ahead, at_rear, (at_front - at_rear) / wheelbase


@kernel(forceinline=True)
def move_body(types: BodyTypes, bodies: Bodies, i: int, dt: float) -> tuple[float, float]:
    """Move body i by dt (s), with tyres that can slide; cosine and sine of its new heading.

    Reads throttle, wheel, hand_brake, slope; writes x, y, heading, speed, slip, turning, steer.
    """
    t = bodies.type[i]
    before = bodies.steer[i]
    steer = turned_wheel(before, bodies.wheel[i], types.max_steer[t], types.steer_rate[t], dt)
    speed, throttle, slope = bodies.speed[i], bodies.throttle[i], bodies.slope[i]
    grip = types.grip[t] * G * math.sqrt(max(0.0, 1.0 - slope * slope))
    rise = slope if throttle >= 0.0 else -slope
    accel = climbing_accel(types.accel[t], types.traction[t], rise)
    force = pedal_force(speed, throttle, accel, types.brake[t], types.power[t])
    force = min(grip, max(-grip, force))
    hand = bodies.hand_brake[i]
    if hand > 0.0:  # the rear wheels, with half the mass, slide along
        speed -= math.copysign(min(abs(speed), 0.5 * hand * grip * dt), speed)
    moved = abs(speed)
    speed = driven_speed(speed, force, throttle, slope, types.drag[t], dt)
    if speed == 0.0:  # of the grip no more is spent than it takes to stand; the rest holds
        force = min(abs(force), moved / dt)
    front = math.sqrt(grip * grip - force * force)
    rear = front
    if hand > 0.0:
        rear = min(rear, grip * (1.0 - (1.0 - SLIDING) * hand))
    turning = bodies.turning[i]
    heading = bodies.heading[i] + turning * dt
    speed, slip, turning = held_by_tyres(
        speed, bodies.slip[i], turning, before, steer, types.wheelbase[t], front, rear, dt
    )
    cos, sin = math.cos(heading), math.sin(heading)
    bodies.x[i] += (speed * cos - slip * sin) * dt
    bodies.y[i] += (speed * sin + slip * cos) * dt
    bodies.heading[i], bodies.steer[i] = heading, steer
    bodies.speed[i], bodies.slip[i], bodies.turning[i] = speed, slip, turning
    return cos, sin


@kernel
def move_bodies(types: BodyTypes, bodies: Bodies, dt: float, lo: int, hi: int) -> None:
    """Move bodies lo .. hi-1 by dt (s), with tyres that can slide; see `move_body`."""
    for i in range(lo, hi):
        move_body(types, bodies, i, dt)


@kernel(parallel=True)
def move_all_bodies(types: BodyTypes, bodies: Bodies, dt: float) -> None:
    """Move every body by dt, CHUNK of them at a time."""
    n = bodies.x.shape[0]
    for c in prange((n + CHUNK - 1) // CHUNK):
        move_bodies(types, bodies, dt, c * CHUNK, min(n, (c + 1) * CHUNK))


@kernel
def roll_bodies(types: BodyTypes, bodies: Bodies, dt: float, lo: int, hi: int) -> None:
    """Move bodies lo .. hi-1 by dt (s) as kinematic bicycles, which turn wider but never slide.

    Reads throttle, wheel, slope; writes x, y, heading, speed, turning, steer. Slip becomes 0.
    """
    for i in range(lo, hi):
        t = bodies.type[i]
        speed, throttle, slope = bodies.speed[i], bodies.throttle[i], bodies.slope[i]
        rise = slope if throttle >= 0.0 else -slope
        accel = climbing_accel(types.accel[t], types.traction[t], rise)
        force = pedal_force(speed, throttle, accel, types.brake[t], types.power[t])
        speed = driven_speed(speed, force, throttle, slope, types.drag[t], dt)
        steer = turned_wheel(
            bodies.steer[i], bodies.wheel[i], types.max_steer[t], types.steer_rate[t], dt
        )
        turning = rolling_turn(speed, steer, types.wheelbase[t], types.grip[t] * G)
        bodies.x[i], bodies.y[i], bodies.heading[i] = rolled(
            bodies.x[i], bodies.y[i], bodies.heading[i], speed, turning, dt
        )
        bodies.turning[i], bodies.steer[i] = turning, steer
        bodies.speed[i], bodies.slip[i] = speed, 0.0
