"""Cars that race on a track: lines, pedals by node speeds, overtaking, giving room, touching, laps.

Each car follows the racing line or, while it passes or is passed, one of two *side lines*: the ways
of least curvature through the right and the left half of the track. Its *blend* is where between
them it is (-1 right, 0 racing line, 1 left); place, bend and speed of its way are mixed alike. The
model PREVIEW steers by the bend ahead and its errors beside it; the others are those of
`track_steering`, which take their racing line themselves. A *ray* along the track that hits a slower car ahead locks it as *target*: the
car goes to the side of the next bend's inside if there is room, else to the other one, else it
follows. Who has somebody beside it keeps to its own half. All arrays have one entry per car.
Source: AV-Racer, seed-systems.md S2-13 - S2-16; validation.md C2.11 - C2.13. Side lines, giving
room, preview, length of the ray, release and how one follows who cannot be passed are ours.
"""

import math
from typing import Final

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.random import uniform
from rushhour.kernels.racing.race_state import RaceCars, RaceLines, ahead_by, mixed
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, G, move_bodies
from rushhour.kernels.steering.paths import wrapped
from rushhour.kernels.steering.pure_pursuit import steer_to
from rushhour.kernels.steering.track_steering import TrackCars, line_error, steer_cars
from rushhour.kernels.steering.tracks import Track, locate_cars, rest_of_segment

PREVIEW: Final = 4  # a steering model beside those of track_steering
CARS: Final = 64  # handled together
PUSHY: Final = 3.0  # s without a metre gained, after which a car creeps on whoever is there
CREEP: Final = 3.0  # m/s
PUSH: Final = 0.06  # more pace in a pass, up to that of the nodes
EASE: Final = 0.8  # 1/s, of the blend at most
DRIFT: Final = 0.09  # of the speed, at which a car goes across the track at most
EXCESS: Final = 0.5  # m/s faster than its speeds, up to which a car moves on to a side line
CALM: Final = 0.7  # of that, less where a bend takes all of the grip
LEAST_APART: Final = 1.0  # m between two lines, for that
SETTLE: Final = 0.65  # s, length of the way in which errors of PREVIEW settle, and
SETTLE_LEAST: Final = 4.0  # m at least
DAMPING: Final = 1.0
LEAD: Final = 0.12  # s ahead, of the bend and the speed that PREVIEW takes
BACK_TIME: Final = 1.0  # s to the point of the line that a car aims at on its way back to it
HOLD: Final = 0.98  # share of the grip that a turned wheel may ask for, and
SURE: Final = 0.55  # that a car asks for beside the line
PEDALS: Final = 0.97  # share of the grip for bend and pedals together; in a bend these get
LEFT: Final = 0.2  # of it at least, and
TOO_FAST: Final = 0.3  # s/m, more for each m/s too fast, up to
MOST_LEFT: Final = 0.4
SLIPPING: Final = 1.5  # m/s of the rear axle sideways, from which a car slows down
SLOW: Final = 8.0  # m/s, at most, beside the track
RETURN: Final = 12.0  # m to the point of the line that a car beside the track aims at, at least
PEDAL: Final = (
    1.0  # s/m, of the difference to the node's speed, beside what the way's own gain asks
)
DIRT: Final = 0.6  # grip beside the track
STUCK: Final = 8.0  # s without a metre gained, after which a car is put back on the line
MOODS: Final = 45  # stream of random numbers
MOOD_TIME: Final = 8.0  # s, in which a driver's concentration changes
BAND: Final = 150.0  # m ahead of the last car, at which a rubber band holds half


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
def find_cars(track: Track, cars: RaceCars, bodies: Bodies, lo: int, hi: int) -> None:
    """Find cars lo .. hi-1 on the track. Writes place, on, lap, progress, aside, half, part."""
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
        rest, length = rest_of_segment(ax, ay, bx, by, bodies.x[i], bodies.y[i])
        cars.part[i] = 1.0 - rest / length if length > 0.0 else 0.0


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
def line_point(track: Track, begin: int, look: float) -> tuple[float, float]:
    """Point of the line `look` m or more beyond its point `begin`."""
    at = index_beyond(track.line_station, begin, look)
    return track.line[at, 0], track.line[at, 1]


@kernel
def way_point(track: Track, lines: RaceLines, i: int, blend: float) -> tuple[float, float]:
    """Point of a way on the section of node i, m."""
    share = mixed(lines.share, i, blend)
    return (
        track.right[i, 0] + share * (track.left[i, 0] - track.right[i, 0]),
        track.right[i, 1] + share * (track.left[i, 1] - track.right[i, 1]),
    )


@kernel
def way_direction(track: Track, lines: RaceLines, i: int, blend: float) -> float:
    """Direction of a way at node i, rad."""
    n = track.left.shape[0]
    ax, ay = way_point(track, lines, i - 1 if i > 0 else n - 1, blend)
    bx, by = way_point(track, lines, i + 1 if i < n - 1 else 0, blend)
    return math.atan2(by - ay, bx - ax)


@kernel
def eased_blend(
    track: Track, lines: RaceLines, cars: RaceCars, i: int, speed: float, tyres: float, dt: float
) -> float:
    """Blend of car i after dt on its way to the one that it wants: no faster across than DRIFT.

    Who is too fast for the side line there stays where it is for now.
    """
    side = 2 if cars.wish[i] > 0.0 or (cars.wish[i] == 0.0 and cars.blend[i] > 0.0) else 0
    at = cars.place[i]
    apart = abs(lines.share[side, at] - lines.share[1, at]) * 2.0 * cars.half[i]
    used = min(1.0, abs(mixed(lines.bend, at, cars.blend[i])) * speed * speed / tyres)
    drift = DRIFT * (1.0 - CALM * used) * speed
    most = min(EASE, drift / max(LEAST_APART, apart)) * dt
    blend = cars.blend[i] + min(most, max(-most, cars.wish[i] - cars.blend[i]))
    if abs(blend) > abs(cars.blend[i]) and speed > mixed(lines.speed, at, blend) + EXCESS:
        return cars.blend[i]
    return blend


@kernel
def preview_steer(
    track: Track, lines: RaceLines, cars: RaceCars, types: BodyTypes, bodies: Bodies, i: int
) -> float:
    """Wheel, rad, of the model PREVIEW: the bend of the way ahead, and its errors beside it.

    The errors settle as a damped spring over the way driven in SETTLE, whatever the speed.
    """
    n = track.left.shape[0]
    at, speed, blend = cars.place[i], max(0.0, bodies.speed[i]), cars.blend[i]
    then = at + 1 if at < n - 1 else 0
    ax, ay = way_point(track, lines, at, blend)
    bx, by = way_point(track, lines, then, blend)
    left_of = line_error(bodies.x[i], bodies.y[i], ax, ay, bx, by)  # m, of the way
    first = way_direction(track, lines, at, blend)
    turn = wrapped(way_direction(track, lines, then, blend) - first)
    off = wrapped(first + cars.part[i] * turn - bodies.heading[i])
    ahead = index_beyond(track.station, at, LEAD * speed + 0.5 * types.wheelbase[i])
    reach = max(SETTLE_LEAST, SETTLE * speed)
    bend = mixed(lines.bend, ahead, blend)
    bend += 2.0 * DAMPING * math.sin(off) / reach
    bend += min(0.6, max(-0.6, left_of / reach)) / reach
    return math.atan(types.wheelbase[i] * bend)


@kernel
def way_gain(track: Track, lines: RaceLines, at: int, blend: float) -> float:
    """Gain of the speed of a way at node `at`, m/s^2."""
    then = at + 1 if at < track.left.shape[0] - 1 else 0
    now, after = mixed(lines.speed, at, blend), mixed(lines.speed, then, blend)
    return (after * after - now * now) / (2.0 * (track.station[at + 1] - track.station[at]))


@kernel
def pressed_pedal(
    types: BodyTypes, i: int, speed: float, wanted: float, pull: float, asked: float
) -> float:
    """Pedal of car i, -1 to 1: what its way asks, and more by the difference to the wanted speed.

    pull: m/s^2 that the way's own speeds gain, nan where another keeps the car from them; asked:
    1/m, the bend that its wheel asks for, which leaves the pedals the rest of the grip.
    """
    gas = min(types.accel[i], types.power[i] / max(1.0, speed))
    pedal = PEDAL * (wanted - speed)
    if not math.isnan(pull):
        force = pull + types.drag[i] * speed
        pedal += force / (gas if force > 0.0 else types.brake[i])
    tyres, across = types.grip[i] * G, asked * speed * speed
    least = tyres * min(MOST_LEFT, LEFT + TOO_FAST * max(0.0, speed - wanted))
    most_used = PEDALS * tyres
    spare = math.sqrt(max(least * least, most_used * most_used - across * across))
    return min(1.0, spare / gas, max(-1.0, -spare / types.brake[i], pedal))


@kernel
def held_pace(track: Track, cars: RaceCars, i: int, last: float, seed: int, time: float) -> float:
    """Pace of car i now: less where its concentration is low, or a rubber band holds it.

    last: m, progress of the last car that still drives.
    """
    pace = cars.pace[i]
    if cars.mood[i] > 0.0:
        slot = int(time / MOOD_TIME)
        w = time / MOOD_TIME - slot
        now, then = uniform(seed, i, slot, MOODS), uniform(seed, i, slot + 1, MOODS)
        pace *= 1.0 - cars.mood[i] * ((1.0 - w) * now + w * then)
    if cars.target[i] >= 0:
        pace = min(1.0, pace + PUSH)
    if cars.band[i] > 0.0:
        lead = max(0.0, cars.progress[i] - last)
        pace *= 1.0 - cars.band[i] * lead / (lead + BAND)
    return pace


@kernel
def steer_car(
    track: Track, lines: RaceLines, cars: RaceCars, types: BodyTypes, bodies: Bodies, i: int,
    on_line: bool, dt: float,
) -> float:  # fmt: skip
    """Turn the wheels of car i where it does not steer by its model: along the line, or back to the track; and
    no farther than its tyres hold. Returns the curvature (1/m) that is asked of it."""
    x, y, speed = bodies.x[i], bodies.y[i], bodies.speed[i]
    if not cars.on[i]:
        cars.off[i] += dt
        begin = (track.target[cars.place[i]] - 1) % track.line.shape[0]
        px, py = line_point(track, begin, BACK_TIME * speed + RETURN)
        bodies.wheel[i] = steer_to(
            x, y, bodies.heading[i], px, py, types.wheelbase[i], types.max_steer[i]
        )
    elif on_line:
        bodies.wheel[i] = preview_steer(track, lines, cars, types, bodies, i)
    asked = abs(math.tan(bodies.wheel[i])) / types.wheelbase[i]
    most = math.atan(types.wheelbase[i] * HOLD * types.grip[i] * G / max(1.0, speed * speed))
    bodies.wheel[i] = min(most, max(-most, bodies.wheel[i]))
    return asked


@kernel
def way_speed(
    track: Track, lines: RaceLines, cars: RaceCars, bodies: Bodies, i: int, on_line: bool
) -> float:
    """Speed, m/s, of car i's way at its place and ahead of it, at its full pace."""
    speed = bodies.speed[i]
    ahead = cars.place[i]
    if on_line or cars.wish[i] != 0.0:
        ahead = index_beyond(track.station, ahead, LEAD * speed)
    if cars.blend[i] != 0.0:
        wanted = mixed(lines.speed, cars.place[i], cars.blend[i])
        wanted = min(wanted, mixed(lines.speed, ahead, cars.blend[i]))
    else:
        wanted = node_speed(track, cars.place[i], bodies.x[i], bodies.y[i])
        if on_line:
            wanted = min(wanted, mixed(lines.speed, ahead, 0.0))
    if cars.wish[i] != 0.0:
        there = mixed(lines.speed, ahead, cars.wish[i])
        wanted = min(wanted, max(there, speed - EXCESS))
    return wanted


@kernel
def drive_cars(
    track: Track, lines: RaceLines, cars: RaceCars, steering: TrackCars, types: BodyTypes,
    bodies: Bodies, last: float, seed: int, time: float, dt: float, lo: int, hi: int,
) -> None:  # fmt: skip
    """Steer cars lo .. hi-1, press their pedals, move them by dt (s).

    The pedal is gas where the car is slower than its way's speed times its pace, brake where it is
    faster. Reads wish, limit, pace, place; writes the bodies, the grip and drag of their types,
    blend, and off.
    """
    steer_cars(track, steering, bodies, dt, lo, hi)
    for i in range(lo, hi):
        if cars.done[i]:
            bodies.throttle[i], bodies.wheel[i], bodies.speed[i] = 0.0, 0.0, 0.0
            continue
        speed = bodies.speed[i]
        surface = track.grip[cars.place[i]] if cars.on[i] else DIRT
        types.grip[i] = surface * (cars.grip[i] + cars.lift[i] * speed * speed / G)
        types.drag[i] = cars.drag[i] * abs(speed)
        cars.blend[i] = eased_blend(track, lines, cars, i, speed, types.grip[i] * G, dt)
        on_line = steering.model[i] == PREVIEW or cars.blend[i] != 0.0
        asked = steer_car(track, lines, cars, types, bodies, i, on_line, dt)
        pace = held_pace(track, cars, i, last, seed, time)
        free = pace * way_speed(track, lines, cars, bodies, i, on_line)
        wanted = min(free, cars.limit[i])
        if abs(bodies.slip[i]) > SLIPPING:
            wanted = min(wanted, 0.9 * speed)
        tyres = types.grip[i] * G
        if not cars.on[i]:
            wanted = min(wanted, math.sqrt(SURE * tyres / max(asked, 1e-6)), SLOW)
        elif on_line:
            wanted = min(wanted, math.sqrt(tyres / max(asked, 1e-6)))
        if cars.still[i] > PUSHY:
            wanted = max(wanted, CREEP)
        pull = math.nan
        if wanted == free:
            pull = pace * pace * way_gain(track, lines, cars.place[i], cars.blend[i])
        pedal = pressed_pedal(types, i, speed, wanted, pull, asked if on_line else 0.0)
        if speed <= 0.0 and pedal < 0.0:  # a brake, not the reverse gear
            pedal = 0.0
        bodies.throttle[i] = pedal
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
            cars.wish[i], cars.blend[i] = 0.0, 0.0
            cars.lost[i] += 1
    return driving


@kernel(parallel=True)
def find_all_cars(track: Track, cars: RaceCars, bodies: Bodies) -> None:
    """Find every car, CARS of them at a time."""
    n = bodies.x.shape[0]
    for c in prange((n + CARS - 1) // CARS):
        find_cars(track, cars, bodies, c * CARS, min(n, (c + 1) * CARS))


@kernel(parallel=True)
def drive_all_cars(
    track: Track,
    lines: RaceLines,
    cars: RaceCars,
    steering: TrackCars,
    types: BodyTypes,
    bodies: Bodies,
    last: float,
    seed: int,
    time: float,
    dt: float,
) -> None:
    """Drive every car, CARS of them at a time."""
    n = bodies.x.shape[0]
    for c in prange((n + CARS - 1) // CARS):
        drive_cars(
            track, lines, cars, steering, types, bodies, last, seed, time, dt, c * CARS,
            min(n, (c + 1) * CARS),
        )  # fmt: skip
