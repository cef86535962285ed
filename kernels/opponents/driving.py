"""Opponents at the wheel: what minds press on their gamepads.

On the way an opponent drives as on roads (`corner_driving`), passes who is in its way (`passing`), goes
straight for a quarry close ahead (`straight_ways`), and reverses from what it hit (`getting_free`).
Source: Hit & Run, seed-systems.md S3-17, S3-22 - S3-37; validation.md C3.11 - C3.13.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.navmesh.cells import Cells
from rushhour.kernels.opponents.boxes import Boxes
from rushhour.kernels.opponents.gamepad import PEDAL, Pad, braked
from rushhour.kernels.opponents.getting_free import go_back, turn_round, watch_progress
from rushhour.kernels.opponents.minds import Minds
from rushhour.kernels.opponents.passing import SHIFTS, STAYS, choose_pass, first_ahead
from rushhour.kernels.opponents.road_keeping import bend_limit, far_in_sight
from rushhour.kernels.opponents.states import AVOID, BOX, CHASE, WAIT
from rushhour.kernels.opponents.straight_ways import way_to_box, way_to_quarry, way_to_road
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.controllers import p_pedal
from rushhour.kernels.steering.corner_driving import (
    CORNERING,
    CornerCars,
    CornerDrivers,
    drive_corners,
    shifted,
    steer_by_direction,
)
from rushhour.kernels.steering.paths import Paths, course_and_slope, place_in_space, wrapped

AGGRESSIVE: Final = 1.15  # times its top speed that who is hunted drives
STANDS_BESIDE: Final = (
    1.0  # s without getting anywhere, after which who passes beside the road gives up
)
ROLLS: Final = 0.3  # rad, below which it need not slow down for that
VERGE_PACE: Final = 9.0  # m/s straight at the road; slower where it turns
ASIDE_TIME: Final = 0.4  # s to the point that who passes steers at, and
ASIDE_LEAST: Final = 4.0  # m more
HELD_UP: Final = 0.5  # of its top speed, below which somebody ahead blocks the way
HONKS_AFTER: Final = 1.0  # s of that
QUIET: Final = 3.0  # s between two times
HEARD: Final = 25.0  # m ahead of the horn


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
def path_angle(paths: Paths, cars: CornerCars, i: int, x: float, y: float, heading: float) -> float:
    """Angle, rad, from the heading to a point of its path 8 m on."""
    a, b = paths.start[i], paths.start[i + 1]
    px, py, _ = place_in_space(paths.points, paths.station, a, b, cars.s[i] + 8.0)
    tx, ty = px - x, py - y
    if tx * tx + ty * ty < 9.0:
        return 0.0
    return wrapped(math.atan2(ty, tx) - heading)


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
    minds: Minds, pad: Pad, paths: Paths, drivers: CornerDrivers, types: BodyTypes, cars: CornerCars,
    bodies: Bodies, cells: Cells, boxes: Boxes, count: int, seed: int, frame: int, dt: float,
) -> None:  # fmt: skip
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
