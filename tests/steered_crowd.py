"""Print the SHA-256 of a crowd of followers after some seconds; run with several threads."""

import hashlib
import sys

import numpy as np

from rushhour.kernels.steering.bicycle import move_all_bodies
from rushhour.kernels.steering.following import follow_all_paths
from rushhour.traffic.steering.classes import GAME, body_types
from rushhour.traffic.steering.followers import Driver, at_start, driver_table, path_table


def crowd_hash(n: int = 9000, frames: int = 20) -> str:
    """State of n followers on winding paths."""
    draw = np.random.default_rng(1)
    ways = path_table([np.cumsum(draw.uniform(-2, 8, (30, 3)), axis=0) for _ in range(50)])
    drivers = driver_table([Driver(), Driver(angle_gain=2.0, ki=0.0)])
    types = body_types(GAME)
    followers, bodies = at_start(
        ways, np.arange(n) % 50, np.arange(n) % 2, np.arange(n) % len(GAME)
    )
    for _ in range(frames):
        follow_all_paths(ways, drivers, types, followers, bodies, 1.0 / 30.0)
        move_all_bodies(types, bodies, 1.0 / 30.0)
    h = hashlib.sha256()
    for array in (*followers, *bodies):
        h.update(array.tobytes())
    return h.hexdigest()


if __name__ == "__main__":
    print(crowd_hash(*map(int, sys.argv[1:])))
