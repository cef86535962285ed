"""Bodies that follow paths, step by step, and what became of them: the path follower in one call.

Source: path following in game AI (2023), seed-systems.md S0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.steering.bicycle import move_all_bodies
from rushhour.kernels.steering.following import follow_all_paths
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.steering.classes import body_types
from rushhour.traffic.steering.followers import Driver, at_start, driver_table, path_table

Floats = NDArray[np.float64]
DT = 1.0 / 60.0  # s
LONGEST = 3600.0  # s


@dataclass(frozen=True)
class PathDrive:
    """T times of n bodies; x, y are those of the rear axle."""

    time: Floats  # (T,) s
    x: Floats  # (T, n) m
    y: Floats
    heading: Floats  # (T, n) rad
    speed: Floats  # (T, n) m/s
    s: Floats  # (T, n) m along the path
    offset: Floats  # (T, n) m left of it
    stuck: NDArray[np.int64]  # (n,) stuck events

    def __repr__(self) -> str:
        return fields_shown(self)


def drive_paths(
    waypoints: Sequence[ArrayLike],
    cars: str | Sequence[str] = "car",
    drivers: Driver | Sequence[Driver] | None = None,
    *,
    seconds: float = 60.0,
    every: int = 6,
    half_width: ArrayLike = 4.0,
) -> PathDrive:
    """Let a body follow each path from its first waypoint for a time (s), in steps of 1/60 s.

    waypoints: of each path (k, 2) or (k, 3) m. cars: classes of traffic.steering.classes; drivers:
    see Driver; one for all, or one of each path. Every so many-th step is kept. Raises
    ParameterError for what cannot be.

    >>> drive_paths([[(0, 0), (60, 0), (60, 60)]], "storm", seconds=20.0).s[-1]
    """
    n = len(waypoints)
    names = [cars] * n if isinstance(cars, str) else list(cars)
    those = (
        [drivers or Driver()] * n if drivers is None or isinstance(drivers, Driver) else [*drivers]
    )
    if not 0.0 < seconds <= LONGEST or every < 1:
        raise ParameterError(
            f"seconds {seconds!r:.40}, every {every}: wanted up to {LONGEST:g} s, 1 or more"
        )
    for what, given in (("cars", names), ("drivers", those)):
        if len(given) != n:
            raise ParameterError(f"{len(given)} {what} for {n} paths; wanted one, or one of each")
    paths = path_table(waypoints, half_width)
    types, table = body_types(names), driver_table(those)
    each = np.arange(n)
    followers, bodies = at_start(paths, path=each, driver=each, body_type=each)
    rows, stuck = [], followers.stuck
    for step in range(round(seconds / DT) + 1):
        follow_all_paths(paths, table, types, followers, bodies, DT)  # finds them where they are
        if step % every == 0:
            rows.append(
                [
                    a.copy()
                    for a in (
                        bodies.x,
                        bodies.y,
                        bodies.heading,
                        bodies.speed,
                        followers.s,
                        followers.offset,
                    )
                ]
            )
        move_all_bodies(types, bodies, DT)
    x, y, heading, speed, at, offset = np.array(rows, np.float64).transpose(1, 0, 2)
    time = DT * every * np.arange(len(rows), dtype=np.float64)
    events = np.asarray(stuck, np.int64).copy()
    return PathDrive(time, x, y, heading, speed, at, offset, events)
