"""Hard walls on both sides of a path: bodies are pushed back, and lose speed as they scrape."""

import math

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.geometry.curves import place_at
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.paths import Paths, nearest_on_path

WINDOW = 30.0  # m along the path, either way, in which the wall beside a body is sought


@kernel
def scraped(along: float, outward: float) -> float:
    """Speed along a wall, m/s, of who came against it with `outward` m/s.

    Friction takes from the speed along it what the wall takes from the speed into it.
    Source: validation.md A2 (harness).
    """
    if outward <= 0.0 or along == 0.0:
        return along
    return along * max(0.0, 1.0 - outward / abs(along))


@kernel
def push_from_wall(
    paths: Paths, bodies: Bodies, i: int, p: int, s: float, arm: float, most: float
) -> bool:
    """Push body i back until its point `arm` m ahead of the rear axle is within `most` of path p.

    s: m, about where it is. Writes x, y, speed, slip; says whether it touched a wall.
    """
    a, b = paths.start[p], paths.start[p + 1]
    cos, sin = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
    px, py = bodies.x[i] + arm * cos, bodies.y[i] + arm * sin
    at, offset = nearest_on_path(paths.points, paths.station, a, b, s - WINDOW, s + WINDOW, px, py)
    if abs(offset) <= most or at <= 0.0 or at >= paths.station[b - 1]:
        return False
    x, y = place_at(paths.points, paths.station, a, b, at)
    # outwards is the direction from the path, which at a corner is not square to a segment
    nx, ny = (px - x) / abs(offset), (py - y) / abs(offset)
    bodies.x[i] -= (abs(offset) - most) * nx
    bodies.y[i] -= (abs(offset) - most) * ny
    vx = bodies.speed[i] * cos - bodies.slip[i] * sin
    vy = bodies.speed[i] * sin + bodies.slip[i] * cos
    outward = vx * nx + vy * ny
    if outward > 0.0:
        along = scraped(vy * nx - vx * ny, outward)
        vx, vy = -along * ny, along * nx
        bodies.speed[i], bodies.slip[i] = vx * cos + vy * sin, vy * cos - vx * sin
    return True


@kernel
def keep_within_walls(
    paths: Paths,
    types: BodyTypes,
    bodies: Bodies,
    path: NDArray[np.int32],
    s: NDArray[np.float64],
    out: NDArray[np.bool_],
    lo: int,
    hi: int,
) -> None:
    """Keep nose and rear axle of bodies lo .. hi-1 half their half-width from the walls.

    Reads path and s (m, about where they are); writes x, y, speed, slip of who touches a wall, and
    out, whether it does. Before the first waypoint and beyond the last there is no wall.
    """
    for i in range(lo, hi):
        p, t = path[i], bodies.type[i]
        most = paths.wall[p] - 0.5 * types.half_width[t]
        out[i] = push_from_wall(paths, bodies, i, p, s[i], types.nose[t], most)
        if push_from_wall(paths, bodies, i, p, s[i], 0.0, most):
            out[i] = True
