"""Opponents at the wheel: all they do goes through a gamepad, and so does a player.

A body has throttle, wheel and hand brake, each in [-1, 1]; minds press them, or a tape, or a hand.
On the way it drives as on roads (`corner_driving`), passes who is in its way (`passing`), goes
straight for a quarry close ahead, reverses from what it hit, farther each time, and is set on a
road where that does not help, which is counted.
Source: Hit & Run, seed-systems.md S3-17, S3-22 - S3-37; validation.md C3.11 - C3.13.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.random import uniform
from rushhour.kernels.navmesh.cells import NOWHERE, VERGE, Cells, nearest_cell
from rushhour.kernels.opponents.boxes import Boxes, overlap
from rushhour.kernels.opponents.boxing import boxing_point
from rushhour.kernels.opponents.minds import Minds
from rushhour.kernels.opponents.openings import opening_beside
from rushhour.kernels.opponents.passing import SHIFTS, STAYS, choose_pass, first_ahead
from rushhour.kernels.opponents.road_keeping import (
    SHUFFLES,
    behind_holds,
    bend_limit,
    far_in_sight,
    road_to_reach,
    sees_road,
    turn_holds,
)
from rushhour.kernels.opponents.states import AVOID, BOX, CHASE, WAIT
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, G
from rushhour.kernels.steering.controllers import p_pedal
from rushhour.kernels.steering.corner_driving import (
    CORNERING,
    CornerCars,
    CornerDrivers,
    drive_corners,
    shifted,
    steer_by_direction,
)
from rushhour.kernels.steering.off_road import FIRST, TURNS, back_distance, back_lock
from rushhour.kernels.steering.paths import Paths, course_and_slope, place_in_space, wrapped

PEDAL: Final = 0.5  # s/m
BACK_PACE: Final = 5.0  # m/s in reverse
TURN_PACE: Final = 4.0  # m/s, above which who has to turn round brakes first
AGGRESSIVE: Final = 1.15  # times its top speed that who is hunted drives
LEAD: Final = 0.3  # s of its quarry's motion that a chaser aims ahead
AHEAD: Final = 0.5  # rad within which the road lies ahead of who turns round beside it
STANDS_BESIDE: Final = (
    1.0  # s without getting anywhere, after which who passes beside the road gives up
)
SWINGS: Final = (
    0.6  # rad to where it wants to go, from which it turns round as far as the road allows
)
ROLLS: Final = 0.3  # rad, below which it need not slow down for that
VERGE_PACE: Final = 9.0  # m/s straight at the road; slower where it turns
PROGRESS: Final = 2.5  # m ...
PATIENCE: Final = 2.5  # s without that many metres, after which it reverses
FREE: Final = 15.0  # m from where it was stuck, after which that is forgotten
ASIDE_TIME: Final = 0.4  # s to the point that who passes steers at, and
ASIDE_LEAST: Final = 4.0  # m more
HELD: Final = 0.8  # of the grip at most for braking; wheels that lock neither steer nor hold a side
HELD_UP: Final = 0.5  # of its top speed, below which somebody ahead blocks the way
HONKS_AFTER: Final = 1.0  # s of that
QUIET: Final = 3.0  # s between two times
WAITS: Final = (
    8.0  # s that who is held up beside the road waits before it goes back and tries again
)
HEARD: Final = 25.0  # m ahead of the horn
GIVES_UP: Final = 4  # reverses, after which it is set on a road
PLACES: Final = 24  # drawn for that
STREAM_PLACE: Final = 7201


class Pad(NamedTuple):
    """What is pressed, shape (n,), each in [-1, 1]."""

    throttle: NDArray[np.float64]  # against the motion it brakes; negative: reverse
    steer: NDArray[np.float64]  # of the largest angle of the wheels, left positive
    hand_brake: NDArray[np.float64]  # 0 to 1


@kernel
def press(pad: Pad, types: BodyTypes, bodies: Bodies, i: int) -> None:
    """Give body i what its pad says: the only way that anybody drives a body."""
    bodies.throttle[i] = min(1.0, max(-1.0, pad.throttle[i]))
    bodies.wheel[i] = min(1.0, max(-1.0, pad.steer[i])) * types.max_steer[bodies.type[i]]
    bodies.hand_brake[i] = min(1.0, max(0.0, pad.hand_brake[i]))


@kernel
def braked(types: BodyTypes, bodies: Bodies, i: int, throttle: float) -> float:
    """A throttle that is no brake harder than the tyres of body i can hold and still steer."""
    if throttle * bodies.speed[i] >= 0.0:
        return throttle
    t = bodies.type[i]
    most = min(1.0, HELD * types.grip[t] * G / types.brake[t])
    return min(most, max(-most, throttle))


@kernel
def watch_progress(minds: Minds, bodies: Bodies, i: int, dt: float) -> bool:
    """Count how long body i gets nowhere; whether it is time to reverse.

    Writes still, still_at, hits, hit_at.
    """
    x, y = bodies.x[i], bodies.y[i]
    if math.hypot(x - minds.hit_at[i, 0], y - minds.hit_at[i, 1]) > FREE:
        minds.hits[i] = 0
    if minds.hits[i] == 0:
        minds.hit_at[i, 0], minds.hit_at[i, 1] = x, y
    if math.hypot(x - minds.still_at[i, 0], y - minds.still_at[i, 1]) > PROGRESS:
        minds.still_at[i, 0], minds.still_at[i, 1] = x, y
        minds.still[i] = 0.0
        return False
    minds.still[i] += dt
    return minds.still[i] > PATIENCE


@kernel
def steer_aside(
    paths: Paths, cars: CornerCars, i: int, x: float, y: float, heading: float, speed: float,
    lock: float,
) -> float:  # fmt: skip
    """Wheel, rad, of who passes: at the point beside its path, nearer than on free road."""
    a, b = paths.start[i], paths.start[i + 1]
    s = cars.s[i] + ASIDE_LEAST + ASIDE_TIME * abs(speed)
    px, py, _ = place_in_space(paths.points, paths.station, a, b, s)
    px, py = shifted(paths, a, b, s, px, py, cars.aside[i])
    return steer_by_direction(math.atan2(py - y, px - x), heading, lock)


@kernel
def path_angle(
    paths: Paths,
    cars: CornerCars,
    i: int,
    x: float,
    y: float,
    heading: float,
) -> float:
    """Angle, rad, from the heading to a point of its path 8 m on."""
    a, b = paths.start[i], paths.start[i + 1]
    s = cars.s[i] + 8.0
    p = a
    while p < b - 2 and paths.station[p + 1] < s:
        p += 1
    span = paths.station[p + 1] - paths.station[p]
    w = 0.0 if span <= 0.0 else min(1.0, (s - paths.station[p]) / span)
    tx = paths.points[p, 0] + w * (paths.points[p + 1, 0] - paths.points[p, 0]) - x
    ty = paths.points[p, 1] + w * (paths.points[p + 1, 1] - paths.points[p, 1]) - y
    if tx * tx + ty * ty < 9.0:
        return 0.0
    return wrapped(math.atan2(ty, tx) - heading)


@kernel
def is_nearest(minds: Minds, i: int) -> bool:
    """Whether no other hunter of i's quarry is nearer to it; of equals the first."""
    for k in range(minds.flees.shape[0]):
        if k != i and minds.quarry[k] == minds.quarry[i] and not minds.flees[k]:
            if minds.distance[k] < minds.distance[i]:
                return False
            if minds.distance[k] == minds.distance[i] and k < i:
                return False
    return True


@kernel
def drive_path(
    minds: Minds, paths: Paths, drivers: CornerDrivers, types: BodyTypes, cars: CornerCars,
    bodies: Bodies, cells: Cells, i: int, dt: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Throttle, wheel (rad) and hand brake of body i as it drives along its path, with nobody else there.

    Writes cars, top of the drivers, and what bodies press.
    """
    x, y, heading, speed = bodies.x[i], bodies.y[i], bodies.heading[i], bodies.speed[i]
    eager = AGGRESSIVE if minds.state[i] == AVOID else 1.0
    cars.driver[i] = bodies.type[i]
    drivers.top[2 * i] = eager * minds.top[i]
    drivers.top[2 * i + 1] = 0.5 * eager * minds.top[i]
    cars.aside[i] += min(8.0 * dt, max(-8.0 * dt, minds.aside[i] - cars.aside[i]))
    drive_corners(paths, drivers, types, cars, bodies, i, i + 1)
    throttle, hand = bodies.throttle[i], bodies.hand_brake[i]
    wheel = bodies.wheel[i]
    if cars.mode[i] == CORNERING and not minds.off[i]:
        tx, ty = far_in_sight(paths, cells, cars, i, x, y, drivers.near[2 * i], drivers.far[2 * i])
        wheel = steer_by_direction(
            math.atan2(ty - y, tx - x), heading, types.max_steer[bodies.type[i]]
        )
    if hand == 0.0:
        grip = types.grip[bodies.type[i]]
        throttle = min(
            throttle, p_pedal(bend_limit(paths, i, cars.s[i], grip) - speed, 2.0 * PEDAL)
        )
    return throttle, wheel, hand


@kernel
def way_to_road(
    paths: Paths, cars: CornerCars, bodies: Bodies, cells: Cells, boxes: Boxes, count: int, i: int
) -> tuple[bool, float]:
    """Whether body i, beside the road, knows where to reach it, and the direction (rad) of that."""
    x, y, heading = bodies.x[i], bodies.y[i], bodies.heading[i]
    found, tx, ty = road_to_reach(paths, cells, i, cars.s[i], x, y, bodies.speed[i])
    toward = math.atan2(ty - y, tx - x)
    far = math.hypot(tx - x, ty - y)
    dx, dy = math.cos(toward), math.sin(toward)
    barring, gap = first_ahead(boxes, count, i, -1, dx, dy, 0.0, 0.0, far, 0.3)
    if barring >= 0 and gap < far:  # it goes where nobody stands
        free, px, py = opening_beside(cells, boxes, count, i, x, y, toward, heading)
        if free:
            found, toward = True, math.atan2(py - y, px - x)
    return found, toward


@kernel
def go_back(
    minds: Minds, pad: Pad, types: BodyTypes, bodies: Bodies, cells: Cells, i: int, round_by: float,
    found: bool, stuck: bool, dt: float,
) -> None:  # fmt: skip
    """Reverse, and stop that where it helps no more. round_by: rad from its heading to where body i is to go,
    found: to the road. Writes pad, and back, still and hits of the minds."""
    speed = bodies.speed[i]
    minds.back[i] += speed * dt if speed < 0.0 else 0.0
    minds.back[i] -= 0.02 * dt
    bent = math.tan(bodies.steer[i]) / types.wheelbase[bodies.type[i]]
    if minds.hit[i] >= 0 and speed <= 0.0 and minds.still[i] > 1.0:
        minds.back[i] = 0.0  # no room behind
    elif (
        speed < 0.0
        and not minds.off[i]
        and not behind_holds(cells, bodies.x[i], bodies.y[i], bodies.heading[i], bent, speed)
    ):
        minds.back[i] = 0.0  # no road there
    elif found and minds.hits[i] == 0 and abs(round_by) < AHEAD:
        minds.back[i] = 0.0  # far enough round
    elif stuck:
        minds.back[i] = 0.0
        minds.hits[i] += 1
    if minds.back[i] <= 0.0:
        minds.still[i] = 0.0
    pad.throttle[i] = braked(types, bodies, i, p_pedal(-BACK_PACE - speed, PEDAL))
    # wheels turned at a standstill would hold what is left of its slip
    pad.steer[i] = minds.turn[i] if speed < -0.2 else 0.0
    pad.hand_brake[i] = 0.0


@kernel
def way_to_box(
    minds: Minds, bodies: Bodies, cells: Cells, boxes: Boxes, count: int, i: int
) -> tuple[bool, float, float, float, float]:
    """Whether body i can go straight to its place beside its quarry; the direction of that, as a vector and
    in rad, and throttle."""
    tx, ty, pressed = boxing_point(minds, bodies, i)
    far = max(0.1, math.hypot(tx - boxes.x[i], ty - boxes.y[i]))
    tx, ty = (tx - boxes.x[i]) / far, (ty - boxes.y[i]) / far
    between, _ = first_ahead(boxes, count, i, minds.quarry[i], tx, ty, 0.0, 0.0, far, 0.2)
    x, y = bodies.x[i], bodies.y[i]
    free = between < 0 and sees_road(cells, x, y, x + far * tx, y + far * ty)
    return free, tx, ty, math.atan2(ty, tx), pressed


@kernel
def way_to_quarry(
    minds: Minds, bodies: Bodies, cells: Cells, boxes: Boxes, count: int, i: int
) -> tuple[bool, float, float, float, float]:
    """Whether body i can go straight for its quarry; the direction of that, as a vector and in rad, and
    throttle."""
    q = minds.quarry[i]
    tx = boxes.x[q] + LEAD * boxes.vx[q] - boxes.x[i]
    ty = boxes.y[q] + LEAD * boxes.vy[q] - boxes.y[i]
    far = max(0.1, math.hypot(tx, ty))
    between, _ = first_ahead(boxes, count, i, q, tx / far, ty / far, 0.0, 0.0, far, 0.2)
    held = sees_road(cells, bodies.x[i], bodies.y[i], boxes.x[q], boxes.y[q])
    free = between < 0 and (held or (minds.off[q] and is_nearest(minds, i)))
    # who rams does not push its quarry away from the others
    rams = bodies.speed[i] > minds.top[i] or minds.hit[i] == q
    return free, tx / far, ty / far, math.atan2(ty, tx), 0.0 if rams else 1.0


@kernel
def heed_others(
    minds: Minds, cells: Cells, boxes: Boxes, cars: CornerCars, count: int, i: int, spare: int,
    dx: float, dy: float, speed: float, throttle: float, hand: float, dt: float,
) -> tuple[float, bool]:  # fmt: skip
    """The throttle of body i, that steers along dx, dy, with others there; whether it is held up by them.

    spare: who does not count. Passes them, or honks. Writes quiet, blocked, heard, and what
    `choose_pass` does.
    """
    limit = choose_pass(minds, cells, boxes, count, i, spare, dx, dy, speed, cars.offset[i])
    minds.quiet[i] = max(0.0, minds.quiet[i] - dt)
    held_up = limit < HELD_UP * minds.top[i]
    minds.blocked[i] = minds.blocked[i] + dt if held_up else 0.0
    if minds.blocked[i] > HONKS_AFTER and minds.quiet[i] <= 0.0:
        ahead, _ = first_ahead(boxes, count, i, spare, dx, dy, 0.0, 0.0, HEARD, 0.3)
        if ahead >= minds.flees.shape[0]:
            minds.heard[i], minds.quiet[i] = boxes.row[ahead], QUIET
    if limit < math.inf:
        throttle = min(throttle, p_pedal(limit - speed, 2.0 * PEDAL))
        if throttle < 0.0 and speed <= 0.1:
            throttle = 0.0
    elif minds.passing[i] == SHIFTS and hand == 0.0 and speed < 0.7 * minds.top[i]:
        throttle = 1.0
    return throttle, held_up


@kernel
def turn_round(
    minds: Minds, types: BodyTypes, bodies: Bodies, cells: Cells, i: int, angle: float,
    throttle: float, wheel: float, hand: float, stuck: bool, held_up: bool, seed: int, frame: int,
) -> tuple[float, float]:  # fmt: skip
    """Throttle and wheel (rad) of body i, that is to go `angle` rad from its heading: as given, or those of
    who turns round. Where that needs room, or it is stuck, it begins to reverse.

    Writes back, turn, still, hits.
    """
    speed, lock = bodies.speed[i], types.max_steer[bodies.type[i]]
    bent = math.tan(wheel) / types.wheelbase[bodies.type[i]]
    held_beside = minds.off[i] and held_up and minds.hit[i] < 0 and minds.blocked[i] < WAITS
    if abs(angle) > TURNS and speed > TURN_PACE and hand == 0.0:
        throttle, wheel = -1.0, math.copysign(lock, angle)
    elif abs(angle) > TURNS and minds.off[i] and hand == 0.0:
        minds.back[i], minds.turn[i] = FIRST, -math.copysign(1.0, angle)
    elif (
        abs(angle) > SWINGS
        and hand == 0.0
        and not minds.off[i]
        and not turn_holds(cells, bodies.x[i], bodies.y[i], bodies.heading[i], bent, speed)
    ):
        if speed > SHUFFLES:
            throttle = -1.0
        else:
            minds.back[i], minds.turn[i] = FIRST, -math.copysign(1.0, angle)
    elif stuck and held_beside:
        minds.still[i] = PATIENCE - 0.5  # going back would bring it farther from the road only
    elif stuck:
        minds.hits[i] += 1
        minds.back[i] = back_distance(minds.hits[i])
        side = angle if abs(angle) > 0.1 else uniform(seed, i, frame, STREAM_PLACE) - 0.5
        minds.turn[i] = -math.copysign(back_lock(minds.hits[i], lock) / lock, side)
        minds.still[i] = 0.0
    return throttle, wheel


@kernel
def drive_mind(
    minds: Minds, pad: Pad, paths: Paths, drivers: CornerDrivers, types: BodyTypes, cars: CornerCars,
    bodies: Bodies, cells: Cells, boxes: Boxes, count: int, i: int, seed: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Press the pad of body i; see `drive_minds`."""
    x, y, heading, speed = bodies.x[i], bodies.y[i], bodies.heading[i], bodies.speed[i]
    lock, off = types.max_steer[bodies.type[i]], minds.off[i]
    if minds.state[i] == WAIT and not off:
        pad.throttle[i], pad.steer[i] = p_pedal(-speed, PEDAL), 0.0
        pad.hand_brake[i] = 1.0
        minds.still[i] = 0.0
        return
    throttle, wheel, hand = drive_path(minds, paths, drivers, types, cars, bodies, cells, i, dt)
    stuck = watch_progress(minds, bodies, i, dt)
    angle = path_angle(paths, cars, i, x, y, heading)
    found, toward, round_by = False, heading, angle
    if off:
        found, toward = way_to_road(paths, cars, bodies, cells, boxes, count, i)
        round_by = wrapped(toward - heading)
    if minds.back[i] > 0.0:
        go_back(minds, pad, types, bodies, cells, i, round_by, found, stuck, dt)
        return
    # ahead is along its path: while it steers aside, its own direction would mislead
    end = paths.start[i + 1]
    s = min(cars.s[i] + ASIDE_LEAST, paths.station[end - 1] - 1e-3)
    course, _ = course_and_slope(paths.points, paths.station, paths.start[i], end, s)
    spare, dx, dy = -1, math.cos(course), math.sin(course)
    if off and found and minds.passing[i] == STAYS:
        # who steers along its way stays beside the road
        dx, dy, angle, hand = math.cos(toward), math.sin(toward), round_by, 0.0
        wheel = min(lock, max(-lock, angle))
        throttle = p_pedal(VERGE_PACE / (1.0 + abs(angle)) - speed, PEDAL)
        if abs(angle) < ROLLS:
            throttle = max(0.0, throttle)  # it rolls onto the road beside it
    hunts = not off and (minds.state[i] == BOX or minds.state[i] == CHASE)
    if hunts:
        q = minds.quarry[i]
        if minds.state[i] == BOX:
            free, tx, ty, straight, pressed = way_to_box(minds, bodies, cells, boxes, count, i)
        else:
            free, tx, ty, straight, pressed = way_to_quarry(minds, bodies, cells, boxes, count, i)
        if free or minds.state[i] == CHASE:
            spare = q
        if free:
            dx, dy, angle, hand, throttle = tx, ty, wrapped(straight - heading), 0.0, pressed
            wheel = min(lock, max(-lock, angle))
    if minds.passing[i] != STAYS and hand == 0.0 and spare < 0:
        wheel = steer_aside(paths, cars, i, x, y, heading, speed, lock)
    if off and minds.still[i] > STANDS_BESIDE:
        minds.passing[i], minds.aside[i] = STAYS, 0.0  # over the verge it gets nowhere, either
    throttle, held_up = heed_others(
        minds, cells, boxes, cars, count, i, spare, dx, dy, speed, throttle, hand, dt
    )
    throttle, wheel = turn_round(
        minds, types, bodies, cells, i, angle, throttle, wheel, hand, stuck, held_up, seed, frame
    )
    pad.throttle[i] = braked(types, bodies, i, throttle)
    pad.steer[i], pad.hand_brake[i] = wheel / lock, hand


@kernel
def drive_minds(
    minds: Minds,
    pad: Pad,
    paths: Paths,
    drivers: CornerDrivers,
    types: BodyTypes,
    cars: CornerCars,
    bodies: Bodies,
    cells: Cells,
    boxes: Boxes,
    count: int,
    seed: int,
    frame: int,
    dt: float,
) -> None:
    """Press the pads of all that have a mind, for the next dt (s).

    Drivers and types 2i and 2i + 1 are those of body i on roads and beside them. Writes pad, minds,
    cars, and top of the drivers.
    """
    for i in range(minds.flees.shape[0]):
        if not minds.by_hand[i]:
            drive_mind(
                minds, pad, paths, drivers, types, cars, bodies, cells, boxes, count, i, seed,
                frame, dt,
            )  # fmt: skip


@kernel
def set_on_roads(
    minds: Minds,
    types: BodyTypes,
    bodies: Bodies,
    cells: Cells,
    boxes: Boxes,
    count: int,
    seed: int,
    frame: int,
) -> None:
    """Set those on a road nearby who are stuck for good: where nobody is, along its lanes. Counted."""
    for i in range(minds.flees.shape[0]):
        if minds.by_hand[i] or minds.hits[i] < GIVES_UP:
            continue
        x, y = boxes.x[i], boxes.y[i]
        heading = boxes.heading[i]
        for draw in range(PLACES):
            reach = 6.0 + 1.5 * draw
            angle = 2.0 * math.pi * uniform(seed, i, frame, STREAM_PLACE + 1 + draw)
            c, px, py = nearest_cell(
                cells, x + reach * math.cos(angle), y + reach * math.sin(angle), True
            )
            if c == NOWHERE:
                continue
            px = (cells.x[c, 0] + cells.x[c, 1] + cells.x[c, 2]) / 3.0
            py = (cells.y[c, 0] + cells.y[c, 1] + cells.y[c, 2]) / 3.0
            if cells.course[c, 0] != 0.0 or cells.course[c, 1] != 0.0:
                boxes.heading[i] = math.atan2(cells.course[c, 1], cells.course[c, 0])
            boxes.x[i], boxes.y[i] = px, py
            free = True
            for k in range(count):
                if k != i and overlap(boxes, i, k)[0] > 0.0:
                    free = False
                    break
            if not free:
                boxes.x[i], boxes.y[i], boxes.heading[i] = x, y, heading
                continue
            half = 0.5 * types.wheelbase[bodies.type[i]]
            bodies.heading[i] = boxes.heading[i]
            bodies.x[i] = px - half * math.cos(bodies.heading[i])
            bodies.y[i] = py - half * math.sin(bodies.heading[i])
            bodies.speed[i] = bodies.slip[i] = bodies.turning[i] = bodies.steer[i] = 0.0
            boxes.vx[i] = boxes.vy[i] = 0.0
            minds.resets[i] += 1
            minds.wait[i] = 0.0
            minds.still_at[i, 0], minds.still_at[i, 1] = bodies.x[i], bodies.y[i]
            break
        minds.hits[i], minds.still[i], minds.back[i] = 0, 0.0, 0.0


@kernel
def feel_ground(cells: Cells, minds: Minds, bodies: Bodies) -> None:
    """Let bodies have the tyres of the ground that they are on, as found at the frame's begin."""
    for i in range(minds.flees.shape[0]):
        c = minds.cell[i]
        rough = c == NOWHERE or cells.kind[c] == VERGE
        bodies.type[i] = 2 * i + int(rough)


@kernel
def count_hits(minds: Minds, rammed: NDArray[np.bool_], was: NDArray[np.int8]) -> None:
    """Count who began to touch its quarry, or a vehicle. was: (n, 2) who did before."""
    n = minds.flees.shape[0]
    for i in range(n):
        q = minds.quarry[i]
        ram = q >= 0 and rammed[i, q]
        bump = minds.hit[i] >= n
        if ram and was[i, 0] == 0:
            minds.rams[i] += 1
        if bump and was[i, 1] == 0:
            minds.bumps[i] += 1
        # a touch ends when there was none for a while, as bodies bounce
        was[i, 0] = 15 if ram else max(0, was[i, 0] - 1)
        was[i, 1] = 15 if bump else max(0, was[i, 1] - 1)
