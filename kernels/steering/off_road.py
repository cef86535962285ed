"""Back to the road: who left it heads for where it left, and reverses from what it hits.

The road is the corridor of a path. Simple cars go straight for the nearest place of the road and
fail behind obstacles. The others head for the point where they left it; whatever they hit, they
reverse, each time farther and with a harder lock, and try again from there.
Source: Hit & Run, seed-systems.md S3-34 - S3-36; validation.md C3.12.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.controllers import p_pedal
from rushhour.kernels.steering.following import BEHIND, FORWARD
from rushhour.kernels.steering.paths import Paths, nearest_on_path, place_in_space, wrapped

ON_ROAD: Final = 0  # somebody else drives
HEADS: Final = 1  # for the point where it left, or the nearest
BACKS: Final = 2  # off what it hit, or to turn round

PACE: Final = 6.0  # m/s towards the road
BACK_PACE: Final = 4.0  # m/s in reverse
PEDAL: Final = 0.5  # s/m
FIRST: Final = 4.0  # m that it reverses after the first hit
FARTHER: Final = 3.0  # m more after each other one
SOFTEST: Final = 0.5  # share of the lock after the first hit ...
HARDER: Final = 0.25  # ... and more after each other one, up to all of it
TURNS: Final = 1.9  # rad; a point further round is reversed for, as no turn leads there


class OffRoad(NamedTuple):
    """One entry per car, shape (n,); car i is body i."""

    path: NDArray[np.int32]
    simple: NDArray[np.bool_]  # straight for the nearest place of the road
    s: NDArray[np.float64]  # m along the path
    offset: NDArray[np.float64]  # m left of it
    state: NDArray[np.uint8]  # ON_ROAD, HEADS, BACKS
    left_at: NDArray[np.float64]  # (n, 2) m, where it left the road
    hits: NDArray[np.int32]  # since it left
    back: NDArray[np.float64]  # m that it still reverses; negative: drives before it may turn round
    turn: NDArray[np.float64]  # rad, its wheel in reverse


@kernel
def back_distance(hits: int) -> float:
    """How far it reverses, m, after that many hits; strictly rising."""
    return FIRST + FARTHER * (hits - 1)


@kernel
def back_lock(hits: int, lock: float) -> float:
    """How far it turns the wheel in reverse, rad, after that many hits."""
    return lock * min(1.0, SOFTEST + HARDER * (hits - 1))


@kernel
def recover(
    paths: Paths,
    types: BodyTypes,
    off: OffRoad,
    bodies: Bodies,
    hit: NDArray[np.bool_],
    dt: float,
    lo: int,
    hi: int,
) -> None:
    """Lead those of cars lo .. hi-1 that are off the road back to it, for the next dt (s).

    Reads the bodies' pose and speed, and hit: who ran into something in the last step. Writes the
    cars' fields and, for who is off the road, throttle, wheel and hand_brake of the bodies.
    """
    for i in range(lo, hi):
        p = off.path[i]
        a, b = paths.start[p], paths.start[p + 1]
        x, y, heading, speed = bodies.x[i], bodies.y[i], bodies.heading[i], bodies.speed[i]
        off.s[i], off.offset[i] = nearest_on_path(
            paths.points, paths.station, a, b, off.s[i] - BEHIND, off.s[i] + FORWARD, x, y
        )
        if abs(off.offset[i]) <= paths.half_width[p]:
            off.state[i], off.hits[i], off.back[i] = ON_ROAD, 0, 0.0
            off.left_at[i, 0], off.left_at[i, 1] = x, y
            continue
        if off.state[i] == ON_ROAD:
            off.state[i] = HEADS
        tx, ty = off.left_at[i, 0], off.left_at[i, 1]
        if off.simple[i]:
            tx, ty, _ = place_in_space(paths.points, paths.station, a, b, off.s[i])
        angle = wrapped(math.atan2(ty - y, tx - x) - heading)
        lock = types.max_steer[bodies.type[i]]
        if off.state[i] == BACKS:
            off.back[i] += speed * dt
            if off.back[i] <= 0.0:
                off.state[i], off.back[i] = HEADS, 0.0
            elif hit[i] and speed <= 0.0:  # no room behind: on, and round later
                off.state[i], off.back[i] = HEADS, -FIRST
        elif not off.simple[i] and hit[i]:
            off.hits[i] += 1
            off.state[i], off.back[i] = BACKS, back_distance(off.hits[i])
            off.turn[i] = -math.copysign(back_lock(off.hits[i], lock), angle)
        elif off.back[i] < 0.0:
            off.back[i] = min(0.0, off.back[i] + speed * dt)
        elif not off.simple[i] and abs(angle) > TURNS:
            off.state[i], off.back[i] = BACKS, FIRST
            off.turn[i] = -math.copysign(lock, angle)
        wheel, pace = min(lock, max(-lock, angle)), PACE
        if off.state[i] == BACKS:
            wheel, pace = off.turn[i], -BACK_PACE
        bodies.throttle[i] = p_pedal(pace - speed, PEDAL)
        bodies.wheel[i], bodies.hand_brake[i] = wheel, 0.0
