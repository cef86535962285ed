"""Cars that race on a track: pedals by node speeds, overtaking at the side nodes, touching, laps.

Each car steers by its model along the line (`track_steering`). A *ray* along the track that hits a
car ahead locks it as *target*: while it is, the car aims at the nodes on the side that is open
instead of those of the line. Cars are in order of number; all arrays have one entry per car.
Source: AV-Racer, seed-systems.md S2-13 - S2-16; validation.md C2.11 - C2.13. Length of the ray,
release and how one follows who cannot be passed are ours.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.jit import kernel
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, G, move_bodies
from rushhour.kernels.steering.controllers import p_pedal
from rushhour.kernels.steering.pure_pursuit import steer_to
from rushhour.kernels.steering.track_steering import TrackCars, line_error, steer_cars
from rushhour.kernels.steering.tracks import Track, locate_cars, rest_of_segment

CARS: Final = 64  # handled together
RAY_TIME: Final = 1.2  # s of driving that the ray reaches ahead, and
RAY_LEAST: Final = 10.0  # m more
BESIDE: Final = 0.3  # m between two cars from which they are beside each other, in a pass, and
KEEP: Final = 1.0  # m otherwise
STAND: Final = 2.0  # m kept behind who cannot be passed
FOLLOW: Final = 0.7  # s in which the rest of the gap may be used up
BACK: Final = 3.0  # m/s slower than it, at most, who is too near or beside it falls back
PUSHY: Final = 3.0  # s without a metre gained, after which a car creeps on whoever is there
CREEP: Final = 3.0  # m/s
CLEAR: Final = 2.0  # m behind one's tail where the target must be before the car goes back
PATIENCE: Final = 30.0  # s, after which a target is let go
EDGE: Final = 0.7  # m between the car and the edge at the side nodes
LOOK_TIME: Final = 0.6  # s to the side node that is aimed at, and
LOOK_LEAST: Final = 6.0  # m more
BACK_TIME: Final = 1.0  # s to the point of the line that a car aims at on its way back to it
NEAR: Final = 0.8  # m from the line, from which it steers by its model again
BRAKE: Final = 0.6  # of the pedal at most, so that the tyres can still turn
HOLD: Final = 0.6  # share of the grip that a turned wheel may ask for, and
SURE: Final = 0.55  # that a car asks for beside the line
SLIPPING: Final = 1.5  # m/s of the rear axle sideways, from which a car slows down
SLOW: Final = 8.0  # m/s, at most, beside the track
RETURN: Final = 12.0  # m to the point of the line that a car beside the track aims at, at least
ROLLS: Final = 10.0  # m/s, from which a car begins to pass
PEDAL: Final = 1.0  # s/m, of the difference to the node's speed
DIRT: Final = 0.6  # grip beside the track
STUCK: Final = 8.0  # s without a metre gained, after which a car is put back on the line


class RaceCars(NamedTuple):
    """Cars in a race, shape (n,); car i is body i, of its own type i."""

    place: NDArray[np.int32]  # index on the track
    on: NDArray[np.bool_]
    lap: NDArray[np.int32]
    progress: NDArray[np.float64]  # m since the start line
    aside: NDArray[np.float64]  # m to the left of the middle
    half: NDArray[np.float64]  # m, half the width of the track there
    pace: NDArray[np.float64]  # factor on the speeds of the nodes
    grip: NDArray[np.float64]  # of the tyres on asphalt
    overtakes: NDArray[np.bool_]
    target: NDArray[np.int32]  # car that is being passed; -1: none
    side: NDArray[np.float64]  # 1: to the left of it, -1: to the right
    since: NDArray[np.float64]  # s since it was locked
    limit: NDArray[np.float64]  # m/s that the car ahead leaves; inf: none is in the way
    passes: NDArray[np.int32]  # targets left behind
    contacts: NDArray[np.int32]  # times that it began to touch another
    touches: NDArray[np.bool_]
    done: NDArray[np.bool_]
    finish: NDArray[np.float64]  # s; nan: not yet
    line_time: NDArray[np.float64]  # s, when it passed the start line last; nan: not yet
    best_lap: NDArray[np.float64]  # s; inf: none yet
    farthest: NDArray[np.float64]  # m
    still: NDArray[np.float64]  # s without a metre gained
    lost: NDArray[np.int32]  # times that it was put back on the line


@kernel
def node_speed(track: Track, index: int, x: float, y: float) -> float:
    """Speed, m/s, of the line beside a place: between those of the points before and behind it."""
    end = track.target[index]
    begin = end - 1
    if begin < 0:
        begin += track.line.shape[0]
    rest, length = rest_of_segment(
        track.line[begin, 0], track.line[begin, 1], track.line[end, 0], track.line[end, 1], x, y
    )
    share = rest / length if length > 0.0 else 0.0
    return share * track.line_speed[begin] + (1.0 - share) * track.line_speed[end]


@kernel
def open_side(aside: float, half: float) -> float:
    """Side on which to pass a car, 1 left, -1 right: the wider one, left in the very middle.

    aside: m of the car to the left of the middle; half: m, half the width of the track.
    """
    return -1.0 if half - aside < half + aside else 1.0


@kernel
def following_speed(gap: float, speed: float) -> float:
    """Speed, m/s, at most, `gap` m behind a car that drives `speed` m/s."""
    return max(0.0, speed + max(-BACK, (gap - STAND) / FOLLOW))


@kernel
def ahead_by(track: Track, progress: float, other: float) -> float:
    """m along the track from one place to another, half a lap at most, negative behind."""
    lap = track.station[track.station.shape[0] - 1]
    return (other - progress + 0.5 * lap) % lap - 0.5 * lap


@kernel
def find_cars(track: Track, cars: RaceCars, bodies: Bodies, lo: int, hi: int) -> None:
    """Find cars lo .. hi-1 on the track. Writes place, on, lap, progress, aside, half."""
    locate_cars(track, bodies.x, bodies.y, cars.place, cars.on, cars.lap, cars.progress, lo, hi)
    n = track.left.shape[0]
    for i in range(lo, hi):
        a = cars.place[i]
        b = a + 1
        if b == n:
            b = 0
        ax, ay = (
            0.5 * (track.left[a, 0] + track.right[a, 0]),
            0.5 * (track.left[a, 1] + track.right[a, 1]),
        )
        bx, by = (
            0.5 * (track.left[b, 0] + track.right[b, 0]),
            0.5 * (track.left[b, 1] + track.right[b, 1]),
        )
        cars.aside[i] = -line_error(bodies.x[i], bodies.y[i], ax, ay, bx, by)
        wx, wy = track.left[a, 0] - track.right[a, 0], track.left[a, 1] - track.right[a, 1]
        cars.half[i] = 0.5 * math.sqrt(wx * wx + wy * wy)


@kernel
def watch_cars(
    track: Track, cars: RaceCars, types: BodyTypes, bodies: Bodies, dt: float, lo: int, hi: int
) -> None:
    """See who is ahead of cars lo .. hi-1, lock and release targets.

    Reads places and speeds of all; writes target, side, since, limit, passes.
    """
    n = cars.place.shape[0]
    for i in range(lo, hi):
        cars.limit[i] = math.inf
        if cars.done[i]:
            continue
        ray = RAY_TIME * bodies.speed[i] + RAY_LEAST
        near, hit = math.inf, -1
        for k in range(n):
            if k == i or cars.done[k]:
                continue
            away = ahead_by(track, cars.progress[i], cars.progress[k])
            apart = types.half_width[i] + types.half_width[k]
            apart += BESIDE if cars.target[i] >= 0 else KEEP
            if 0.0 < away < near and abs(cars.aside[k] - cars.aside[i]) < apart:
                near, hit = away, k
        if hit >= 0 and near < ray:
            gap = near - (2.0 * types.nose[hit] - types.wheelbase[hit])
            cars.limit[i] = following_speed(gap, bodies.speed[hit])
            faster = bodies.speed[i] > bodies.speed[hit] or cars.limit[i] < bodies.speed[i] + 1.0
            if cars.target[i] < 0 and cars.overtakes[i] and faster and bodies.speed[i] > ROLLS:
                cars.target[i], cars.since[i] = hit, 0.0
                cars.side[i] = open_side(cars.aside[hit], cars.half[hit])
        target = cars.target[i]
        if target >= 0:
            cars.since[i] += dt
            away = ahead_by(track, cars.progress[i], cars.progress[target])
            behind = away < -(2.0 * types.nose[i] + CLEAR)
            cars.passes[i] += behind
            if behind or cars.done[target] or away > 1.5 * ray or cars.since[i] > PATIENCE:
                cars.target[i] = -1


@kernel
def index_beyond(station: NDArray[np.float64], begin: int, look: float) -> int:
    """Index `look` m or more beyond another one, on a closed line with its length as last station."""
    n = station.shape[0] - 1
    at = begin
    for _ in range(n):
        at += 1
        if at == n:
            at = 0
        if (station[at] - station[begin] + station[n]) % station[n] >= look:
            break
    return at


@kernel
def side_node(track: Track, i: int, look: float, side: float, edge: float) -> tuple[float, float]:
    """Point to aim at, `look` m or more beyond node i, `edge` m from the edge of a side."""
    at = index_beyond(track.station, i, look)
    wx, wy = track.left[at, 0] - track.right[at, 0], track.left[at, 1] - track.right[at, 1]
    width = math.sqrt(wx * wx + wy * wy)
    share = 0.5 + side * max(0.0, 0.5 - edge / width)
    return track.right[at, 0] + share * wx, track.right[at, 1] + share * wy


@kernel
def line_point(track: Track, begin: int, look: float) -> tuple[float, float]:
    """Point of the line `look` m or more beyond its point `begin`."""
    at = index_beyond(track.line_station, begin, look)
    return track.line[at, 0], track.line[at, 1]


@kernel
def line_offset(track: Track, index: int, x: float, y: float) -> float:
    """Distance, m, of the line from a place at an index, positive where it lies to the left."""
    end = track.target[index]
    begin = (end - 1) % track.line.shape[0]
    return line_error(
        x, y, track.line[begin, 0], track.line[begin, 1], track.line[end, 0], track.line[end, 1]
    )


@kernel
def drive_cars(
    track: Track,
    cars: RaceCars,
    steering: TrackCars,
    types: BodyTypes,
    bodies: Bodies,
    dt: float,
    lo: int,
    hi: int,
) -> None:
    """Steer cars lo .. hi-1, press their pedals, move them by dt (s).

    The pedal is gas where the car is slower than the node's speed times its pace, brake where it is
    faster. Reads target, limit, pace, place; writes the bodies, the grip of their types, and
    side, 0 once a car is back on its line.
    """
    steer_cars(track, steering, bodies, dt, lo, hi)
    for i in range(lo, hi):
        if cars.done[i]:
            bodies.throttle[i], bodies.wheel[i], bodies.speed[i] = 0.0, 0.0, 0.0
            continue
        x, y, speed = bodies.x[i], bodies.y[i], bodies.speed[i]
        types.grip[i] = cars.grip[i] * (track.grip[cars.place[i]] if cars.on[i] else DIRT)
        if cars.target[i] >= 0 and cars.on[i]:
            edge = types.half_width[i] + EDGE
            look = LOOK_TIME * speed + LOOK_LEAST
            px, py = side_node(track, cars.place[i], look, cars.side[i], edge)
            bodies.wheel[i] = steer_to(
                x, y, bodies.heading[i], px, py, types.wheelbase[i], types.max_steer[i]
            )
        elif cars.side[i] != 0.0 or not cars.on[i]:
            begin = (track.target[cars.place[i]] - 1) % track.line.shape[0]
            least = LOOK_LEAST if cars.on[i] else RETURN
            px, py = line_point(track, begin, BACK_TIME * speed + least)
            bodies.wheel[i] = steer_to(
                x, y, bodies.heading[i], px, py, types.wheelbase[i], types.max_steer[i]
            )
            if abs(line_offset(track, cars.place[i], x, y)) < NEAR:
                cars.side[i] = 0.0
        most = math.atan(types.wheelbase[i] * HOLD * types.grip[i] * G / max(1.0, speed * speed))
        bodies.wheel[i] = min(most, max(-most, bodies.wheel[i]))
        wanted = min(cars.pace[i] * node_speed(track, cars.place[i], x, y), cars.limit[i])
        if cars.side[i] != 0.0:
            bend = abs(math.tan(bodies.wheel[i])) / types.wheelbase[i]
            wanted = min(wanted, math.sqrt(SURE * types.grip[i] * G / max(bend, 1e-6)))
        if abs(bodies.slip[i]) > SLIPPING:
            wanted = min(wanted, 0.9 * speed)
        if not cars.on[i]:
            wanted = min(wanted, SLOW)
        if cars.still[i] > PUSHY:
            wanted = max(wanted, CREEP)
        bodies.throttle[i] = p_pedal(wanted - speed, PEDAL)
        bodies.throttle[i] = max(-BRAKE, bodies.throttle[i])
        if speed <= 0.0 and bodies.throttle[i] < 0.0:  # a brake, not the reverse gear
            bodies.throttle[i] = 0.0
    move_bodies(types, bodies, dt, lo, hi)


@kernel
def part_cars(track: Track, cars: RaceCars, types: BodyTypes, bodies: Bodies) -> None:
    """Let those give way who touch a car before them: aside, and no faster against it.

    A car is a disc at its tail and one at its nose, as wide as itself. Who is farther along the
    track is not moved, so that nobody is wedged for good. Pairs in order of numbers. Writes x, y,
    speed of the bodies, contacts, touches.
    """
    n = cars.place.shape[0]
    for i in range(n):
        touched = False
        for k in range(n):
            if k == i or cars.done[i] or cars.done[k]:
                continue
            reach = types.half_width[i] + types.half_width[k]
            far = types.nose[i] + types.nose[k] + reach
            if abs(bodies.x[k] - bodies.x[i]) > far or abs(bodies.y[k] - bodies.y[i]) > far:
                continue
            away = ahead_by(track, cars.progress[i], cars.progress[k])
            if away < 0.0 or (away == 0.0 and k > i):
                continue
            cos_i, sin_i = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
            cos_k, sin_k = math.cos(bodies.heading[k]), math.sin(bodies.heading[k])
            for a in range(2):
                for b in range(2):
                    arm_i = a * (types.nose[i] - types.half_width[i])
                    arm_k = b * (types.nose[k] - types.half_width[k])
                    dx = bodies.x[k] + arm_k * cos_k - bodies.x[i] - arm_i * cos_i
                    dy = bodies.y[k] + arm_k * sin_k - bodies.y[i] - arm_i * sin_i
                    apart = math.sqrt(dx * dx + dy * dy)
                    if apart >= reach or apart == 0.0:
                        continue
                    touched = True
                    dx, dy = dx / apart, dy / apart
                    bodies.x[i] -= (reach - apart) * dx
                    bodies.y[i] -= (reach - apart) * dy
                    along = cos_i * dx + sin_i * dy
                    into = bodies.speed[i] * along - bodies.speed[k] * (cos_k * dx + sin_k * dy)
                    if into > 0.0 and along > 0.0:
                        bodies.speed[i] = max(0.0, bodies.speed[i] - into * along)
        cars.contacts[i] += touched and not cars.touches[i]
        cars.touches[i] = touched


@kernel
def judge_cars(
    track: Track, cars: RaceCars, bodies: Bodies, time: float, dt: float, laps: int
) -> int:
    """Count laps, finishes and who is stuck; returns how many still drive.

    time: s, the end of the frame whose places are in cars. Writes done, finish, line_time,
    best_lap, farthest, still, lost, and the body of who is put back on the line.
    """
    lap = track.station[track.station.shape[0] - 1]
    driving = 0
    for i in range(cars.place.shape[0]):
        if cars.done[i]:
            continue
        before = cars.farthest[i]
        if cars.progress[i] > before:
            passed = math.floor(cars.progress[i] / lap)
            if passed >= 0 and passed > math.floor(before / lap):
                beyond = cars.progress[i] - passed * lap
                at = time - beyond / max(bodies.speed[i], 1.0)
                if passed > 0 and not math.isnan(cars.line_time[i]):
                    cars.best_lap[i] = min(cars.best_lap[i], at - cars.line_time[i])
                cars.line_time[i] = at
                if passed >= laps:
                    cars.finish[i], cars.done[i] = at, True
                    continue
            cars.farthest[i] = cars.progress[i]
        driving += 1
        cars.still[i] = (
            0.0 if bodies.speed[i] > 1.0 and cars.progress[i] >= before else (cars.still[i] + dt)
        )
        if cars.still[i] > STUCK:
            end = track.target[cars.place[i]]
            begin = (end - 1 + track.line.shape[0]) % track.line.shape[0]
            dx, dy = (
                track.line[end, 0] - track.line[begin, 0],
                track.line[end, 1] - track.line[begin, 1],
            )
            bodies.x[i], bodies.y[i] = track.line[begin, 0], track.line[begin, 1]
            bodies.heading[i] = math.atan2(dy, dx)
            bodies.speed[i], bodies.slip[i], bodies.turning[i] = 0.0, 0.0, 0.0
            cars.still[i], cars.target[i] = 0.0, -1
            cars.lost[i] += 1
    return driving


@kernel(parallel=True)
def find_all_cars(track: Track, cars: RaceCars, bodies: Bodies) -> None:
    """Find every car, CARS of them at a time."""
    n = bodies.x.shape[0]
    for c in prange((n + CARS - 1) // CARS):
        find_cars(track, cars, bodies, c * CARS, min(n, (c + 1) * CARS))


@kernel(parallel=True)
def watch_all_cars(
    track: Track, cars: RaceCars, types: BodyTypes, bodies: Bodies, dt: float
) -> None:
    """See who is ahead of every car, CARS of them at a time."""
    n = bodies.x.shape[0]
    for c in prange((n + CARS - 1) // CARS):
        watch_cars(track, cars, types, bodies, dt, c * CARS, min(n, (c + 1) * CARS))


@kernel(parallel=True)
def drive_all_cars(
    track: Track,
    cars: RaceCars,
    steering: TrackCars,
    types: BodyTypes,
    bodies: Bodies,
    dt: float,
) -> None:
    """Drive every car, CARS of them at a time."""
    n = bodies.x.shape[0]
    for c in prange((n + CARS - 1) // CARS):
        drive_cars(track, cars, steering, types, bodies, dt, c * CARS, min(n, (c + 1) * CARS))
