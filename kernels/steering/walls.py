"""Hard walls on both sides of a path: bodies are pushed back, and lose speed as they scrape."""

import math

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.geometry import place_at
from rushhour.kernels.jit import kernel
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
    """Push bodies lo .. hi-1 back within half their half-width of the walls of their paths.

    Reads path and s (m, about where they are); writes x, y, speed, slip of who touches a wall, and
    out, whether it does. Before the first waypoint and beyond the last there is no wall.
    """
    for i in range(lo, hi):
        p, t = path[i], bodies.type[i]
        a, b = paths.start[p], paths.start[p + 1]
        out[i] = False
        most = paths.wall[p] - 0.5 * types.half_width[t]
        at, offset = nearest_on_path(
            paths.points,
            paths.station,
            a,
            b,
            s[i] - WINDOW,
            s[i] + WINDOW,
            bodies.x[i],
            bodies.y[i],
        )
        if abs(offset) <= most or at <= 0.0 or at >= paths.station[b - 1]:
            continue
        out[i] = True
        x, y = place_at(paths.points, paths.station, a, b, at)
        # outwards is the direction from the path, which at a corner is not square to a segment
        nx, ny = (bodies.x[i] - x) / abs(offset), (bodies.y[i] - y) / abs(offset)
        bodies.x[i], bodies.y[i] = x + most * nx, y + most * ny
        cos, sin = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
        vx = bodies.speed[i] * cos - bodies.slip[i] * sin
        vy = bodies.speed[i] * sin + bodies.slip[i] * cos
        outward = vx * nx + vy * ny
        if outward <= 0.0:
            continue
        along = scraped(vy * nx - vx * ny, outward)
        vx, vy = -along * ny, along * nx
        bodies.speed[i], bodies.slip[i] = vx * cos + vy * sin, vy * cos - vx * sin
