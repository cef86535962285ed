"""What followers are scored by, frame by frame: error, corridor, speed, and when they arrive."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.following import Followers
from rushhour.kernels.steering.paths import Paths


class Scores(NamedTuple):
    """Sums over the frames of each follower, shape (n,)."""

    frames: NDArray[np.int64]
    error: NDArray[np.float64]  # m, of the distance to the path
    near: NDArray[np.float64]  # m, of the distance to the nearest waypoint
    inside: NDArray[np.int64]  # frames within the corridor
    speed: NDArray[np.float64]  # m/s, of the amount


@kernel
def distance_to_waypoint(paths: Paths, path: int, x: float, y: float) -> float:
    """m in plan from a place to the nearest waypoint of a path."""
    least = math.inf
    for k in range(paths.start[path], paths.start[path + 1]):
        dx, dy = paths.points[k, 0] - x, paths.points[k, 1] - y
        least = min(least, dx * dx + dy * dy)
    return math.sqrt(least)


@kernel
def score_frame(
    paths: Paths, f: Followers, bodies: Bodies, scores: Scores, margin: float, lo: int, hi: int
) -> int:
    """Add a frame to the scores of followers lo .. hi-1; how many of them are still on their way.

    Reads path, s, offset and the bodies' place and speed of the active; writes their scores, and active of
    who came within `margin` m of the end of its path.
    """
    left = 0
    for i in range(lo, hi):
        if not f.active[i]:
            continue
        scores.frames[i] += 1
        scores.error[i] += abs(f.offset[i])
        scores.near[i] += distance_to_waypoint(paths, f.path[i], bodies.x[i], bodies.y[i])
        scores.speed[i] += abs(bodies.speed[i])
        if abs(f.offset[i]) <= paths.half_width[f.path[i]]:
            scores.inside[i] += 1
        if f.s[i] >= paths.station[paths.start[f.path[i] + 1] - 1] - margin:
            f.active[i] = False
        else:
            left += 1
    return left
