"""The cast of a chase as arrays for the kernels: bodies, minds, pads, and where they begin."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.drawing.poses import Poses
from rushhour.kernels.navmesh.cells import ROAD, Cells
from rushhour.kernels.opponents.boxes import Boxes
from rushhour.kernels.opponents.gamepad import Pad
from rushhour.kernels.opponents.minds import Minds
from rushhour.kernels.opponents.noticing import NOBODY, ROWS, Notes
from rushhour.kernels.opponents.states import DESTINATION, STATES
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.corner_driving import CornerCars, CornerDrivers
from rushhour.kernels.steering.paths import Paths
from rushhour.roadnets.errors import NetworkError
from rushhour.traffic.steering.classes import body_types
from rushhour.traffic.steering.corners import SURFACES, CornerDriver, corner_table

POINTS = 96  # of a path
SEEN = 4096  # vehicles near bodies
NEAR, FAR = 5.0, 22.0  # m along the path to the points that are steered at
ROUGH = "gravel"  # the surface beside roads
DRAG = 0.08  # 1/s there
RING = (60.0, 250.0)  # m from the target, where opponents begin
CLEAR = 7.0  # m from anybody
TRIES = 4000
STREAM_START = 7301


class Cast(NamedTuple):
    """Everybody in a chase; body 0 is the target. Types 2i, 2i + 1: body i on and beside roads."""

    minds: Minds
    pad: Pad
    paths: Paths
    drivers: CornerDrivers
    types: BodyTypes
    cars: CornerCars
    bodies: Bodies
    boxes: Boxes
    way: NDArray[np.float64]
    stood: NDArray[np.float64]  # (n, 3) x, y, heading before the last step
    rammed: NDArray[np.bool_]
    was: NDArray[np.int8]
    caught: NDArray[np.float64]
    captures: NDArray[np.int32]
    notes: Notes

    def __repr__(self) -> str:
        return fields_shown(self)


def made_cast(opponents: int, car: str, speed: float, lead: float, steps: int) -> Cast:
    """A target and its opponents, all at the origin; steps: of a frame.

    Raises ParameterError for an unknown car.
    """
    n = opponents + 1
    types = body_types([car] * (2 * n))
    types.grip[1::2] *= SURFACES[ROUGH]
    types.drag[1::2] = DRAG
    driver = CornerDriver(body=car, near=NEAR, far=FAR, top=speed)
    drivers = corner_table([driver, replace(driver, surface=ROUGH, top=0.5 * speed)] * n)
    minds = Minds(**_blank(Minds, n, flees=np.bool_, by_hand=np.bool_, quarry=np.int32,
        state=np.uint8, cell=np.int32, off=np.bool_, passing=np.uint8, hits=np.int32,
        hit=np.int32, place=np.uint8, heard=np.int32, rams=np.int32, bumps=np.int32, passes=np.int32, resets=np.int32),
    )  # fmt: skip
    minds = minds._replace(
        goal=np.zeros((n, 2)), left_at=np.zeros((n, 2)), still_at=np.zeros((n, 2)), hit_at=np.zeros((n, 2)),
        in_state=np.zeros((n, STATES)),
    )  # fmt: skip
    minds.flees[0], minds.state[:] = True, DESTINATION
    minds.quarry[:] = minds.hit[:] = -1
    minds.top[:] = speed
    minds.top[0] = lead * speed
    room = n + SEEN
    return Cast(
        minds,
        Pad(np.zeros(n), np.zeros(n), np.zeros(n)),
        Paths(
            np.zeros((n * POINTS, 3)), np.zeros(n * POINTS),
            np.arange(0, (n + 1) * POINTS, POINTS, dtype=np.int32), np.full(n, 2.0),
            np.full(n, np.inf),
        ),
        drivers, types,
        CornerCars(**_blank(CornerCars, n, driver=np.int32, path=np.int32, mode=np.uint8,
            slides=np.int32))._replace(path=np.arange(n, dtype=np.int32)),
        Bodies(**_blank(Bodies, n, type=np.int32))._replace(
            type=np.arange(0, 2 * n, 2, dtype=np.int32)
        ),
        Boxes(**_blank(Boxes, room, row=np.int32)),
        np.zeros((POINTS, 2)), np.zeros((n, 3)), np.zeros((n, n), np.bool_), np.zeros((n, 2), np.int8),
        np.zeros(n), np.zeros(n, np.int32),
        Notes(
            np.full(n, NOBODY, np.int64), np.full(n, np.inf), np.zeros(n), np.zeros(n, np.bool_),
            np.zeros(n, np.int32), np.zeros((n, 2)), np.zeros((n * ROWS * steps, 4)), np.zeros(1, np.int32),
        ),
    )  # fmt: skip


def _blank(kind: Any, n: int, **kinds: Any) -> dict[str, NDArray[Any]]:
    """Zeros for each field of a NamedTuple, float64 but for those named."""
    return {name: np.zeros(n, kinds.get(name, np.float64)) for name in kind._fields}


def place_cast(cast: Cast, cells: Cells, poses: Poses, seed: int) -> None:
    """Put the target on a road, and its opponents on others around it, where nobody is.

    Raises NetworkError where there is no such place.
    """
    there = poses.id >= 0
    taken = [*zip(poses.x[there].tolist(), poses.y[there].tolist(), strict=True)]
    roads = np.flatnonzero(cells.kind == ROAD)
    parts = np.bincount(cells.component[roads])
    roads = roads[cells.component[roads] == int(np.argmax(parts))]
    centre = np.column_stack((cells.x[roads].mean(axis=1), cells.y[roads].mean(axis=1)))
    low, high = RING
    for i in range(cast.minds.flees.size):
        for draw in range(TRIES):
            k = int(uniform(seed, i, draw, STREAM_START) * roads.size)
            x, y = centre[k].tolist()
            far = np.hypot(*(centre[k] - (cast.bodies.x[0], cast.bodies.y[0])))
            grown = high * (1.0 + 8.0 * draw / TRIES)
            if i and not (low * (1.0 - draw / TRIES) <= far <= grown):
                continue
            if taken and min(np.hypot(*(np.array(taken) - (x, y)).T)) < CLEAR:
                continue
            break
        else:
            raise NetworkError(
                f"no free place for opponent {i}: the roads are too full or too short; take fewer "
                "vehicles or fewer opponents"
            )
        taken.append((x, y))
        course = cells.course[roads[k]]
        heading = float(np.arctan2(course[1], course[0]))
        half = 0.5 * float(cast.types.wheelbase[2 * i])
        cast.bodies.x[i], cast.bodies.y[i] = x - half * np.cos(heading), y - half * np.sin(heading)
        cast.bodies.heading[i] = heading
        cast.minds.still_at[i] = cast.minds.left_at[i] = cast.minds.goal[i] = (x, y)
