"""Two simple engines that move bots: one that answers late, and GoldSrc's walk on flat ground.

A bot commands a yaw (degrees) and a speed; the engine answers in steps of dt. Angles here are in
degrees, as in the source, counter-clockwise from east; lengths are units of any kind.
Sources: trajectory control of bots (2006) and standard GoldSrc movement; seed-systems.md S1,
validation.md B0 (L0) and B7.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

DEGREES: Final = 180.0 / math.pi
STILL: Final = 1.0  # units/s, below which GoldSrc stops a player
CRAWL: Final = 0.1  # units/s, below which GoldSrc applies no friction


class BaseEngine(NamedTuple):
    """The engine that answers late: gains of one step, and bounds (inf: none)."""

    yaw_gain: float  # share of the yaw error that a step takes away, see step_gain
    speed_gain: float  # the same of the speed error
    yaw_rate: float  # degrees/s
    transverse: float  # units/s^2, of speed x yaw rate
    decel: float  # units/s^2, positive
    accel: float  # units/s^2


class GoldSrc(NamedTuple):
    """Flat ground: friction first, then acceleration towards the wish."""

    friction: float  # 1/s, 4 as delivered
    stop_speed: float  # units/s, 100
    accelerate: float  # 1/s, 10
    max_speed: float  # units/s, 320


@kernel
def wrap180(angle: float) -> float:
    """An angle in degrees brought into [-180, 180)."""
    wrapped = angle - 360.0 * math.floor((angle + 180.0) / 360.0)
    return -180.0 if wrapped >= 180.0 else wrapped


@kernel
def wrap360(angle: float) -> float:
    """An angle in degrees brought into [0, 360)."""
    wrapped = angle - 360.0 * math.floor(angle / 360.0)
    return 0.0 if wrapped >= 360.0 else wrapped


@kernel
def step_gain(k: float, dt: float) -> float:
    """Share of an error that a lag of rate k (1/s) takes away in dt; inf: all of it, no lag."""
    return 1.0 - math.exp(-k * dt)


@kernel
def base_step(
    x: float,
    y: float,
    yaw: float,
    speed: float,
    wanted_yaw: float,
    wanted_speed: float,
    yaw_gain: float,
    speed_gain: float,
    yaw_rate: float,
    transverse: float,
    decel: float,
    accel: float,
    dt: float,
) -> tuple[float, float, float, float]:
    """Place, yaw and speed after a step: yaw and speed answer apart, then the place follows."""
    rate = yaw_gain * wrap180(wanted_yaw - yaw) / dt
    most = yaw_rate
    if speed != 0.0:
        most = min(yaw_rate, DEGREES * transverse / abs(speed))
    yaw = wrap360(yaw + dt * min(most, max(-most, rate)))
    speed += dt * min(accel, max(-decel, speed_gain * (wanted_speed - speed) / dt))
    course = yaw / DEGREES
    return x + dt * speed * math.cos(course), y + dt * speed * math.sin(course), yaw, speed


@kernel
def goldsrc_step(
    x: float,
    y: float,
    vx: float,
    vy: float,
    wanted_yaw: float,
    wanted_speed: float,
    friction: float,
    stop_speed: float,
    accelerate: float,
    max_speed: float,
    dt: float,
) -> tuple[float, float, float, float]:
    """Place and velocity after a step on flat ground; the velocity's direction is the yaw."""
    speed = math.sqrt(vx * vx + vy * vy)
    if speed >= CRAWL:
        kept = max(0.0, speed - dt * friction * max(speed, stop_speed)) / speed
        vx, vy = vx * kept, vy * kept
    wish = min(wanted_speed, max_speed)
    course = wanted_yaw / DEGREES
    wx, wy = math.cos(course), math.sin(course)
    add = wish - (vx * wx + vy * wy)
    if add > 0.0:
        add = min(accelerate * dt * wish, add)
        vx, vy = vx + add * wx, vy + add * wy
    if vx * vx + vy * vy < STILL * STILL:
        vx, vy = 0.0, 0.0
    return x + dt * vx, y + dt * vy, vx, vy


@kernel
def base_stopping_distance(speed: float, k: float, decel: float, dt: float) -> float:
    """Way of the late engine from `speed` to rest once 0 is commanded.

    k: lag of the speed, 1/s. Without a bound of the deceleration exact for steps of dt; with one
    that of continuous time.
    """
    bound = decel / k
    if speed <= bound:
        kept = math.exp(-k * dt)
        return speed * dt * kept / (1.0 - kept)
    return (speed * speed - bound * bound) / (2.0 * decel) + bound / k


@kernel
def goldsrc_stopping_distance(speed: float, friction: float, stop_speed: float) -> float:
    """Way under GoldSrc's friction from `speed` to rest, in continuous time."""
    if speed <= stop_speed:
        return speed * speed / (2.0 * friction * stop_speed)
    return (speed - stop_speed) / friction + stop_speed / (2.0 * friction)


@kernel
def move_bots(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    yaw: NDArray[np.float64],
    speed: NDArray[np.float64],
    wanted_yaw: NDArray[np.float64],
    wanted_speed: NDArray[np.float64],
    engine: BaseEngine,
    dt: float,
    lo: int,
    hi: int,
) -> None:
    """Move bots lo .. hi-1 by a step of the late engine. Writes x, y, yaw, speed, all (n,)."""
    for i in range(lo, hi):
        x[i], y[i], yaw[i], speed[i] = base_step(
            x[i], y[i], yaw[i], speed[i], wanted_yaw[i], wanted_speed[i],
            engine.yaw_gain, engine.speed_gain, engine.yaw_rate, engine.transverse,
            engine.decel, engine.accel, dt,
        )  # fmt: skip


@kernel
def walk_bots(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    yaw: NDArray[np.float64],
    speed: NDArray[np.float64],
    wanted_yaw: NDArray[np.float64],
    wanted_speed: NDArray[np.float64],
    engine: GoldSrc,
    dt: float,
    lo: int,
    hi: int,
) -> None:
    """Move bots lo .. hi-1 by a step of GoldSrc. Writes x, y, yaw (of the motion), speed."""
    for i in range(lo, hi):
        course = yaw[i] / DEGREES
        x[i], y[i], vx, vy = goldsrc_step(
            x[i], y[i], speed[i] * math.cos(course), speed[i] * math.sin(course),
            wanted_yaw[i], wanted_speed[i],
            engine.friction, engine.stop_speed, engine.accelerate, engine.max_speed, dt,
        )  # fmt: skip
        speed[i] = math.sqrt(vx * vx + vy * vy)
        if speed[i] > 0.0:
            yaw[i] = wrap360(DEGREES * math.atan2(vy, vx))
