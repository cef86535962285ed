"""Poses for an engine that draws between our frames: rows that vehicles keep, and where they are.

A vehicle has one row from its departure to its end, whatever slot it is in; the row of one that is
gone has id -1, and is the first to be given away again if none lower is free. Bodies are placed by
their middle. Between the pose of the frame before and that of this one lies a straight line, and
the shortest arc of the heading: it crosses the ends of lanes without noticing them.
"""

from math import floor, pi
from typing import Final, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.core.vehicles import Types, Vehicles
from rushhour.kernels.geometry.pose import CHUNK, place_bodies, raise_bodies

NOBODY: Final = -1


class Poses(NamedTuple):
    """Poses of vehicles, shape (rows,); a vehicle keeps its row, id -1 marks a free one."""

    id: NDArray[np.int32]
    x: NDArray[np.float64]  # m, of the body's middle
    y: NDArray[np.float64]  # m
    heading: NDArray[np.float64]  # rad from east, counter-clockwise, -pi .. pi
    speed: NDArray[np.float64]  # m/s
    length: NDArray[np.float64]  # m
    width: NDArray[np.float64]  # m
    type: NDArray[np.int32]
    z: NDArray[np.float64]  # m, height of the road under the body's middle; 0 where all is level
    pitch: NDArray[np.float64]  # rad, rise from rear to front, up positive

    def __repr__(self) -> str:
        return fields_shown(self)


class Rows(NamedTuple):
    """Who has which row, and where it was a frame ago, shape (rows,) unless said."""

    of: NDArray[np.int32]  # (vehicles of the demand,) row of a vehicle; -1
    seen: NDArray[np.int64]  # mark of the frame in which its vehicle was last on the road
    fresh: NDArray[np.bool_]  # nothing is known of the frame before
    x: NDArray[np.float64]  # m, a frame ago
    y: NDArray[np.float64]  # m
    heading: NDArray[np.float64]  # rad
    z: NDArray[np.float64]  # m
    pitch: NDArray[np.float64]  # rad


@kernel
def keep_rows(veh: Vehicles, rows: Rows, mark: int) -> None:
    """Note who of those with a row is still there. Writes seen."""
    for i in range(veh.lane.shape[0]):
        if veh.lane[i] >= 0 and rows.of[veh.id[i]] >= 0:
            rows.seen[rows.of[veh.id[i]]] = mark


@kernel
def free_rows(poses: Poses, rows: Rows, mark: int) -> None:
    """Take the rows of those who are gone. Writes id, of."""
    for r in range(poses.id.shape[0]):
        if poses.id[r] >= 0 and rows.seen[r] != mark:
            rows.of[poses.id[r]] = NOBODY
            poses.id[r] = NOBODY
            poses.length[r] = 0.0
            poses.width[r] = 0.0


@kernel
def seat_newcomers(veh: Vehicles, poses: Poses, rows: Rows, mark: int) -> None:
    """Give the lowest free rows to those who have none. There must be enough of them."""
    r = 0
    for i in range(veh.lane.shape[0]):
        if veh.lane[i] < 0 or rows.of[veh.id[i]] >= 0:
            continue
        while poses.id[r] >= 0:
            r += 1
        poses.id[r] = veh.id[i]
        rows.of[veh.id[i]] = r
        rows.seen[r] = mark
        rows.fresh[r] = True


@kernel
def pose_some(
    points: NDArray[np.float64], station: NDArray[np.float64], point_start: NDArray[np.int32],
    height: NDArray[np.float64], veh: Vehicles, types: Types, poses: Poses, rows: Rows,
    pose: NDArray[np.float64], raised: NDArray[np.float64], dt: float, lo: int, hi: int,
) -> None:  # fmt: skip
    """Place the vehicles in slots lo .. hi-1; what was there becomes what was a frame ago.

    pose: (capacity, 3) and raised: (capacity, 2) scratch. Of one without a frame before it is where
    it came from if it drove straight.
    """
    level = height.shape[0] == 0
    if not level:
        raise_bodies(height, station, point_start, veh.lane, veh.s, veh.length, raised, lo, hi)
    place_bodies(
        points, station, point_start, veh.lane, veh.s, veh.lateral, veh.length, pose, lo, hi
    )
    for i in range(lo, hi):
        if veh.lane[i] < 0:
            continue
        r = rows.of[veh.id[i]]
        heading = pose[i, 2]
        back = 0.5 * veh.length[i]
        x = pose[i, 0] - back * np.cos(heading)
        y = pose[i, 1] - back * np.sin(heading)
        fresh, way = rows.fresh[r], 0.0
        if fresh:
            rows.fresh[r] = False
            way = 0.5 * (veh.speed[i] + max(0.0, veh.speed[i] - veh.accel[i] * dt)) * dt
            rows.x[r] = x - way * np.cos(heading)
            rows.y[r] = y - way * np.sin(heading)
            rows.heading[r] = heading
        else:
            rows.x[r] = poses.x[r]
            rows.y[r] = poses.y[r]
            rows.heading[r] = poses.heading[r]
        if not level:
            pitch = raised[i, 1]
            z = raised[i, 0] - back * np.tan(pitch)
            rows.z[r], rows.pitch[r] = poses.z[r], poses.pitch[r]
            if fresh:
                rows.z[r], rows.pitch[r] = z - way * np.tan(pitch), pitch
            poses.z[r], poses.pitch[r] = z, pitch
        poses.x[r] = x
        poses.y[r] = y
        poses.heading[r] = heading
        poses.speed[r] = veh.speed[i]
        poses.length[r] = veh.length[i]
        poses.width[r] = types.width[veh.type[i]]
        poses.type[r] = veh.type[i]


@kernel(parallel=True)
def pose_all(
    points: NDArray[np.float64], station: NDArray[np.float64], point_start: NDArray[np.int32],
    height: NDArray[np.float64], veh: Vehicles, types: Types, poses: Poses, rows: Rows,
    pose: NDArray[np.float64], raised: NDArray[np.float64], dt: float,
) -> None:  # fmt: skip
    """Place everybody, CHUNK slots at a time."""
    n = veh.lane.shape[0]
    for c in prange((n + CHUNK - 1) // CHUNK):
        pose_some(
            points, station, point_start, height, veh, types, poses, rows, pose, raised, dt,
            c * CHUNK, min(n, (c + 1) * CHUNK),
        )  # fmt: skip


@kernel
def between(heading: float, later: float, alpha: float) -> float:
    """The heading a share alpha of the shortest way from one to the other, -pi .. pi."""
    turn = later - heading
    turn -= 2.0 * pi * floor(turn / (2.0 * pi) + 0.5)
    found = heading + alpha * turn
    return found - 2.0 * pi * floor(found / (2.0 * pi) + 0.5)


@kernel
def blend_some(
    now: Poses, rows: Rows, out: Poses, alpha: float, lo: int, hi: int
) -> None:  # fmt: skip
    """Write rows lo .. hi-1 as they are a share alpha of the last frame after its begin."""
    for r in range(lo, hi):
        out.id[r] = now.id[r]
        if now.id[r] < 0:
            continue
        out.x[r] = rows.x[r] + alpha * (now.x[r] - rows.x[r])
        out.y[r] = rows.y[r] + alpha * (now.y[r] - rows.y[r])
        out.heading[r] = between(rows.heading[r], now.heading[r], alpha)
        out.speed[r] = now.speed[r]
        out.length[r] = now.length[r]
        out.width[r] = now.width[r]
        out.type[r] = now.type[r]
        out.z[r] = rows.z[r] + alpha * (now.z[r] - rows.z[r])
        out.pitch[r] = rows.pitch[r] + alpha * (now.pitch[r] - rows.pitch[r])


@kernel(parallel=True)
def blend_all(now: Poses, rows: Rows, out: Poses, alpha: float) -> None:
    """Write all rows, CHUNK at a time. out has at least as many; those beyond are marked free."""
    n = now.id.shape[0]
    for c in prange((n + CHUNK - 1) // CHUNK):
        blend_some(now, rows, out, alpha, c * CHUNK, min(n, (c + 1) * CHUNK))
