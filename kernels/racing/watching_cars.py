"""What drivers in a race see: who is ahead, who is beside, whom to pass on which side.

A *ray* along the track that hits a slower car ahead locks it as *target*: the car goes to the side of
the next bend's inside if there is room, else to the other one, else it
follows. Who has somebody beside it keeps to its own half.
Source: AV-Racer, seed-systems.md S2-15; validation.md C2.13. Giving room, length of the ray, release
and how one follows who cannot be passed are ours.
"""

import math
from typing import Final

from numba import prange

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.racing.race_state import RaceCars, RaceLines, ahead_by, mixed
from rushhour.kernels.racing.racing_lines import distance
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.tracks import Track

CARS: Final = 64  # handled together
RAY_TIME: Final = 1.2  # s of driving that the ray reaches ahead, and
RAY_LEAST: Final = 10.0  # m more
ROOM: Final = 0.6  # m between two cars that are beside each other
KEEP: Final = 0.9  # m aside, from which one ahead is not in the way
WIDER: Final = 0.06  # s more, of the difference of their speeds
STAND: Final = 2.5  # m kept behind who cannot be passed, and
STAND_TIME: Final = 0.15  # s of driving more
FIRM: Final = 8.0  # m/s^2 at most, of the braking for who is ahead
BACK: Final = 3.0  # m/s slower than it, at most, who is too near or between two falls back
BESIDE: Final = 1.5  # m between tail and nose, up to which two cars are beside each other, and
BESIDE_TIME: Final = 0.25  # s more, of the difference of their speeds
CLEAR: Final = 2.0  # m behind one's tail where the target must be before the car goes back
PATIENCE: Final = 20.0  # s, after which a target is let go
PAUSE: Final = 2.0  # s until the next try then
BEND_TIME: Final = 3.0  # s ahead in which the bend is sought whose inside a pass takes
STRAIGHT: Final = 0.004  # 1/m, less than which is no bend
ROLLS: Final = 10.0  # m/s, from which a car begins to pass


@kernel
def open_side(aside: float, half: float, inside: float, room: float) -> float:
    """Side on which to pass a car, 1 left, -1 right, 0: neither has room.

    aside: m of the car to the left of the middle; half: m, half the width of the track; inside: the
    side of the inside of the bend ahead, 0: there is none, then the wider one is first; room: m
    wanted between the middle of the car and the edge.
    """
    first = inside
    if first == 0.0:
        first = -1.0 if aside > 0.0 else 1.0
    if half - first * aside >= room:
        return first
    if half + first * aside >= room:
        return -first
    return 0.0


@kernel
def following_speed(gap: float, speed: float, headway: float) -> float:
    """Speed, m/s, at most, `gap` m behind a car that drives `speed` m/s; headway: s."""
    room = gap - STAND - STAND_TIME * speed
    most = speed + max(-BACK, room / headway)
    return max(0.0, min(most, math.sqrt(speed * speed + 2.0 * FIRM * max(0.0, room))))


@kernel
def beside_way(
    lines: RaceLines, cars: RaceCars, i: int, k: int, away: float, length: float
) -> float:
    """How far to the left of the way of car i car k is, m, `away` m ahead, `length` m long.

    Nearer than three lengths more and more, within one only, as they drive now.
    """
    way = (2.0 * mixed(lines.share, cars.place[k], cars.blend[i]) - 1.0) * cars.half[k]
    far = min(1.0, max(0.0, 0.5 * (away / length - 1.0)))
    return cars.aside[k] - far * way - (1.0 - far) * cars.aside[i]


@kernel
def inside_ahead(track: Track, lines: RaceLines, begin: int, look: float) -> float:
    """Side of the inside of the sharpest bend in the next `look` m: 1 left, -1 right, 0 none."""
    n = track.left.shape[0]
    sharpest, at, gone = 0.0, begin, 0.0
    while gone < look:
        if abs(lines.bend[1, at]) > abs(sharpest):
            sharpest = lines.bend[1, at]
        gone += track.station[at + 1] - track.station[at]
        at += 1
        if at == n:
            at = 0
    if abs(sharpest) < STRAIGHT:
        return 0.0
    return 1.0 if sharpest > 0.0 else -1.0


@kernel
def look_around(
    track: Track, lines: RaceLines, cars: RaceCars, types: BodyTypes, bodies: Bodies, i: int, ray: float
) -> tuple[int, bool, bool]:  # fmt: skip
    """The next car in the way of car i within `ray` m, -1 for none, and whether one is beside it, left and right.

    Writes limit.
    """
    speed, near, hit = bodies.speed[i], math.inf, -1
    is_left, is_right = False, False
    for k in range(cars.place.shape[0]):
        if k == i or cars.done[k]:
            continue
        away = ahead_by(track, cars.progress[i], cars.progress[k])
        length = 2.0 * types.nose[k] - types.wheelbase[k]
        if away > ray + length or away < -ray - length:
            continue
        aside = cars.aside[k] - cars.aside[i]
        apart = types.half_width[i] + types.half_width[k]
        if abs(away) < length + BESIDE + BESIDE_TIME * abs(speed - bodies.speed[k]):
            # in each other's wake nobody is beside anybody
            if abs(aside) > 0.6 * apart or abs(away) < 0.8 * length:
                is_left |= aside > 0.0 or (aside == 0.0 and k > i)
                is_right |= aside < 0.0 or (aside == 0.0 and k < i)
        apart += ROOM if cars.target[i] == k else KEEP
        apart += WIDER * max(0.0, speed - bodies.speed[k])
        if 0.0 < away < ray and abs(beside_way(lines, cars, i, k, away, length)) < apart:
            straight = distance(bodies.x[i], bodies.y[i], bodies.x[k], bodies.y[k])
            gap = min(away, straight) - length
            most = following_speed(gap, bodies.speed[k], cars.headway[i])
            cars.limit[i] = min(cars.limit[i], most)
            if away < near:
                near, hit = away, k
    return hit, is_left, is_right


@kernel
def lock_target(
    track: Track, lines: RaceLines, cars: RaceCars, types: BodyTypes, bodies: Bodies, i: int, hit: int
) -> None:  # fmt: skip
    """Begin to pass the car in the way, where it is slower and a side has room. Writes target, since, side."""
    speed = bodies.speed[i]
    free = cars.pace[i] * mixed(lines.speed, cars.place[i], 0.0)
    faster = free > bodies.speed[hit] + cars.nerve[i] and cars.pace[i] > cars.pace[hit]
    if (
        cars.target[i] < 0
        and cars.since[i] >= 0.0
        and cars.overtakes[i]
        and faster
        and speed > ROLLS
        and lines.wide[cars.place[i]]
    ):
        inside = inside_ahead(track, lines, cars.place[i], BEND_TIME * speed)
        room = types.half_width[hit] + 2.0 * types.half_width[i] + 2.0 * ROOM
        side = open_side(cars.aside[hit], cars.half[hit], inside, room)
        if side != 0.0 and cars.wish[hit] != side:
            cars.target[i], cars.since[i], cars.side[i] = hit, 0.0, side


@kernel
def release_target(
    track: Track, lines: RaceLines, cars: RaceCars, types: BodyTypes, i: int, ray: float, dt: float
) -> None:  # fmt: skip
    """Let go who is passed, too far, or not passed in time. Writes target, since, passes."""
    target = cars.target[i]
    if target >= 0 or cars.since[i] < 0.0:
        cars.since[i] += dt
    if target < 0:
        return
    away = ahead_by(track, cars.progress[i], cars.progress[target])
    behind = away < -(2.0 * types.nose[i] - types.wheelbase[i] + CLEAR)
    late = cars.since[i] > PATIENCE or (
        away > 2.0 * types.nose[i] + BESIDE
        and (not lines.wide[cars.place[i]] or cars.wish[target] == cars.side[i])
    )
    cars.passes[i] += behind
    if behind or late or cars.done[target] or away > 1.5 * ray:
        cars.target[i] = -1
        cars.since[i] = -PAUSE if late else 0.0


@kernel
def watch_cars(
    track: Track, lines: RaceLines, cars: RaceCars, types: BodyTypes, bodies: Bodies, dt: float, lo: int,
    hi: int,
) -> None:  # fmt: skip
    """See who is ahead of and beside cars lo .. hi-1, lock and release targets.

    Reads places and speeds of all; writes target, side, since, limit, passes, wish.
    """
    for i in range(lo, hi):
        cars.limit[i] = math.inf
        if cars.done[i]:
            continue
        speed = bodies.speed[i]
        ray = RAY_TIME * speed + RAY_LEAST
        hit, is_left, is_right = look_around(track, lines, cars, types, bodies, i, ray)
        if hit >= 0 and not (is_left and is_right):
            lock_target(track, lines, cars, types, bodies, i, hit)
        release_target(track, lines, cars, types, i, ray, dt)
        cars.wish[i] = cars.side[i] if cars.target[i] >= 0 else 0.0
        if is_left and is_right:  # three abreast: the one between falls back
            cars.wish[i] = 0.0
            cars.limit[i] = min(cars.limit[i], max(0.0, speed - BACK))
        elif is_left:
            cars.wish[i] = -1.0
        elif is_right:
            cars.wish[i] = 1.0


@kernel(parallel=True)
def watch_all_cars(
    track: Track, lines: RaceLines, cars: RaceCars, types: BodyTypes, bodies: Bodies, dt: float
) -> None:
    """See who is ahead of every car, CARS of them at a time."""
    n = bodies.x.shape[0]
    for c in prange((n + CARS - 1) // CARS):
        watch_cars(track, lines, cars, types, bodies, dt, c * CARS, min(n, (c + 1) * CARS))
