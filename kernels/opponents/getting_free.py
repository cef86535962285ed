"""Getting free: who gets nowhere, or has no room to turn round, reverses, farther each time; where that
does not help it is set on a road, which is counted.

Source: Hit & Run, seed-systems.md S3-36, S3-37; validation.md C3.12.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.random import uniform
from rushhour.kernels.navmesh.cells import NOWHERE, Cells, nearest_cell
from rushhour.kernels.opponents.boxes import Boxes, overlap
from rushhour.kernels.opponents.gamepad import PEDAL, Pad, braked
from rushhour.kernels.opponents.minds import Minds
from rushhour.kernels.opponents.road_keeping import SHUFFLES, behind_holds, turn_holds
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.controllers import p_pedal
from rushhour.kernels.steering.off_road import FIRST, TURNS, back_distance, back_lock

BACK_PACE: Final = 5.0  # m/s in reverse
TURN_PACE: Final = 4.0  # m/s, above which who has to turn round brakes first
AHEAD: Final = 0.5  # rad within which the road lies ahead of who turns round beside it
SWINGS: Final = 0.6  # rad to where it is to go, from which it turns round as far as the road allows
PROGRESS: Final = 2.5  # m ...
PATIENCE: Final = 2.5  # s without that many metres, after which it reverses
FREE: Final = 15.0  # m from where it was stuck, after which that is forgotten
WAITS: Final = (
    8.0  # s that who is held up beside the road waits before it goes back and tries again
)
GIVES_UP: Final = 4  # reverses, after which it is set on a road
PLACES: Final = 24  # drawn for that
STREAM_PLACE: Final = 7201


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
def set_on_roads(
    minds: Minds, types: BodyTypes, bodies: Bodies, cells: Cells, boxes: Boxes, count: int, seed: int,
    frame: int,
) -> None:  # fmt: skip
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
def reset_stuck(
    minds: Minds, types: BodyTypes, bodies: Bodies, cells: Cells, boxes: Boxes, count: int,
    moved: NDArray[np.float64], seed: int, frame: int,
) -> None:  # fmt: skip
    """Set those on a road who are stuck for good, and write who they are; moved: see `act_frame`."""
    n = bodies.x.shape[0]
    moved[:] = 0.0
    for i in range(n):
        moved[i, 1] = minds.resets[i]
    set_on_roads(minds, types, bodies, cells, boxes, count, seed, frame)
    for i in range(n):
        moved[i, 0] = minds.resets[i] - moved[i, 1]
        moved[i, 1], moved[i, 2], moved[i, 3] = bodies.x[i], bodies.y[i], bodies.heading[i]


@kernel
def set_as_moved(bodies: Bodies, moved: NDArray[np.float64]) -> None:
    """Set those where they were set on a road; moved: see `act_frame`."""
    for i in range(bodies.x.shape[0]):
        if moved[i, 0] > 0.0:
            bodies.x[i], bodies.y[i], bodies.heading[i] = moved[i, 1], moved[i, 2], moved[i, 3]
            bodies.speed[i] = bodies.slip[i] = bodies.turning[i] = bodies.steer[i] = 0.0
