"""A frame of opponents: minds are made up, then pads pressed, bodies moved and parted, in steps."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.drawing.poses import Poses
from rushhour.kernels.navmesh.cells import NOWHERE, VERGE, Cells
from rushhour.kernels.navmesh.ways import Search
from rushhour.kernels.opponents.boxes import Boxes, box_bodies, find_near, move_boxes, part_bodies
from rushhour.kernels.opponents.boxing import take_places
from rushhour.kernels.opponents.driving import drive_minds
from rushhour.kernels.opponents.gamepad import Pad, press_all
from rushhour.kernels.opponents.getting_free import reset_stuck, set_as_moved
from rushhour.kernels.opponents.minds import Minds, look_around, make_up_minds, plan_ways
from rushhour.kernels.opponents.noticing import Notes, keep_velocities, note_meetings
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, move_bodies
from rushhour.kernels.steering.corner_driving import CornerCars, CornerDrivers
from rushhour.kernels.steering.paths import Paths

CAUGHT_WITHIN: Final = 8.0  # m between middles, below which
CAUGHT_BELOW: Final = 1.5  # m/s of its own
CAUGHT_AFTER: Final = 2.0  # s of both who flees is caught, and
HEAD_START: Final = 6.0  # s that its hunters give it then


@kernel
def judge(
    minds: Minds,
    bodies: Bodies,
    caught: NDArray[np.float64],
    captures: NDArray[np.int32],
    dt: float,
) -> None:
    """Count captures: who flees stood for a while with a hunter at its side. Writes hold, too."""
    n = minds.flees.shape[0]
    for i in range(n):
        if not minds.flees[i] or minds.quarry[i] < 0:
            continue
        held = minds.hold[minds.quarry[i]] > 0.0
        near = minds.distance[i] < CAUGHT_WITHIN and abs(bodies.speed[i]) < CAUGHT_BELOW
        caught[i] = caught[i] + dt if near and not held else 0.0
        if caught[i] > CAUGHT_AFTER:
            captures[i] += 1
            caught[i] = 0.0
            for k in range(n):
                if not minds.flees[k]:
                    minds.hold[k] = HEAD_START


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


@kernel
def act_frame(
    minds: Minds, pad: Pad, paths: Paths, drivers: CornerDrivers, types: BodyTypes, cars: CornerCars,
    bodies: Bodies, cells: Cells, search: Search, boxes: Boxes, now: Poses, before: Poses,
    way: NDArray[np.float64], tape: NDArray[np.float64], moved: NDArray[np.float64],
    stood: NDArray[np.float64], rammed: NDArray[np.bool_], was: NDArray[np.int8],
    caught: NDArray[np.float64], captures: NDArray[np.int32], notes: Notes, again: bool,
    recovery: int, seed: int, frame: int, dt: float,
) -> int:  # fmt: skip
    """Let all act for a frame of dt (s), in as many steps as the tape has rows.

    now, before: poses of the vehicles at the frame's end and begin. tape: (steps, n, 3) what the
    pads said, and moved: (n, 4) 1, x, y, heading of who was set on a road as the frame ended; both
    are written, or, with again, obeyed instead of the minds. Returns the boxes seen.
    """
    n, steps = bodies.x.shape[0], tape.shape[0]
    step = dt / steps
    notes.written[0] = 0
    minds.heard[:] = -1
    look_around(minds, bodies, cells, dt)
    feel_ground(cells, minds, bodies)
    if not again:
        make_up_minds(minds, bodies, cells, seed, frame, dt)
        take_places(minds, bodies)
        for i in range(n):
            minds.in_state[i, minds.state[i]] += 0.0 if minds.by_hand[i] else dt
        plan_ways(minds, bodies, cars, paths, cells, search, way, recovery, seed, frame)
    count = find_near(now, before, bodies, boxes, dt)
    for k in range(steps):
        for i in range(n):
            stood[i, 0], stood[i, 1], stood[i, 2] = bodies.x[i], bodies.y[i], bodies.heading[i]
        box_bodies(types, bodies, boxes)
        move_boxes(now, before, boxes, n, count, k / steps)
        if not again:
            drive_minds(
                minds, pad, paths, drivers, types, cars, bodies, cells, boxes, count, seed,
                frame * steps + k, step,
            )  # fmt: skip
        press_all(pad, types, bodies, tape[k], again)
        move_bodies(types, bodies, step, 0, n)
        box_bodies(types, bodies, boxes)
        move_boxes(now, before, boxes, n, count, (k + 1) / steps)
        keep_velocities(notes, boxes)
        part_bodies(bodies, boxes, count, stood, minds.hit, rammed)
        note_meetings(notes, boxes, now, count, minds.hit)
        count_hits(minds, rammed, was)
    if again:
        set_as_moved(bodies, moved)
    else:
        judge(minds, bodies, caught, captures, dt)
        reset_stuck(minds, types, bodies, cells, boxes, count, moved, seed, frame)
    return count
