"""Paths, drivers, followers and bodies as arrays for the kernels, checked where they enter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.following import ANGLE, CURVATURE, Drivers, Followers
from rushhour.kernels.steering.paths import Paths
from rushhour.kernels.steering.target_speed import COUNT, LATERAL, LEAST, MOST, SPACING
from rushhour.roadnets.errors import ParameterError


@dataclass(frozen=True)
class Driver:
    """A way to drive a body along a path. The defaults are those of the published follower."""

    lateral: float = LATERAL  # g in bends, as Algorithm 1 reckons it
    angle_gain: float = 0.0  # m/s rad; above 0: the baseline, its speed is this over the angle
    spacing: float = SPACING  # m
    count: int = COUNT
    least: float = LEAST  # m/s
    most: float = MOST  # m/s
    look: tuple[float, float, float] = (0.8, 6.0, 15.0)  # target point: s, at least m, at most m
    kp: float = 0.4  # s/m
    ki: float = 0.2  # 1/m; 0: proportional only


def driver_table(drivers: Sequence[Driver]) -> Drivers:
    """Drivers as kernels take them.

    Raises ParameterError for one that cannot drive: fewer than 3 points, a spacing, a lateral or
    a greatest speed not above 0, bounds the wrong way round, a negative gain.
    """
    for k, d in enumerate(drivers):
        time, near, far = d.look
        for what, holds in (
            ("count at least 3", d.count >= 3),
            ("spacing above 0 m", 0.0 < d.spacing < np.inf),
            ("lateral above 0 g", 0.0 < d.lateral < np.inf),
            ("0 <= least <= most, most above 0", 0.0 <= d.least <= d.most > 0.0),
            ("look (s, m, m) of at least 0, the first distance at most the second",
             time >= 0.0 and 0.0 <= near <= far),
            ("angle_gain, kp and ki of at least 0", min(d.angle_gain, d.kp, d.ki) >= 0.0),
        ):  # fmt: skip
            if not holds:
                raise ParameterError(f"driver {k}: wanted {what}")

    def column(name: str) -> NDArray[np.float64]:
        return np.array([getattr(d, name) for d in drivers], np.float64)

    looks = np.array([d.look for d in drivers], np.float64).T.copy()
    return Drivers(
        rule=np.array([ANGLE if d.angle_gain > 0.0 else CURVATURE for d in drivers], np.uint8),
        lateral=column("lateral"),
        gain=column("angle_gain"),
        spacing=column("spacing"),
        places=np.array([d.count for d in drivers], np.int32),
        least=column("least"),
        most=column("most"),
        look_time=looks[0],
        look_least=looks[1],
        look_most=looks[2],
        kp=column("kp"),
        ki=column("ki"),
    )


def path_table(
    waypoints: Sequence[ArrayLike], half_width: ArrayLike = 4.0, wall: ArrayLike = np.inf
) -> Paths:
    """Paths as kernels take them.

    waypoints: for each path (k, 3) or (k, 2) m. half_width, wall: m, of all or of each path.
    Waypoints equal to the one before are dropped. Raises ParameterError for a path with fewer than
    two different waypoints, or one that is not finite.
    """
    pieces, stations, start = [], [], [0]
    for k, given in enumerate(waypoints):
        points = np.asarray(given, np.float64)
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            raise ParameterError(f"path {k}: shape {points.shape}; wanted (k, 2) or (k, 3) metres")
        if not np.isfinite(points).all():
            raise ParameterError(f"path {k}: a waypoint is not finite; wanted metres")
        if points.shape[1] == 2:
            points = np.column_stack((points, np.zeros(len(points))))
        step = np.sqrt(np.square(np.diff(points, axis=0)).sum(axis=1))
        kept = np.concatenate(([True], step > 0.0))
        points, step = points[kept[: len(points)]], step[step > 0.0]
        if len(points) < 2:
            raise ParameterError(f"path {k}: {len(points)} different waypoints; wanted at least 2")
        pieces.append(points)
        stations.append(np.concatenate(([0.0], np.cumsum(step))))
        start.append(start[-1] + len(points))
    n = len(pieces)
    return Paths(
        points=np.concatenate(pieces),
        station=np.concatenate(stations),
        start=np.array(start, np.int32),
        half_width=np.broadcast_to(np.asarray(half_width, np.float64), (n,)).copy(),
        wall=np.broadcast_to(np.asarray(wall, np.float64), (n,)).copy(),
    )


def at_start(
    paths: Paths, path: ArrayLike, driver: ArrayLike, body_type: ArrayLike
) -> tuple[Followers, Bodies]:
    """Followers that stand at the first waypoint of their paths, in its direction, and their bodies.

    path, driver, body_type: (n,) indices into paths, drivers and body types. Raises
    ParameterError for arrays of different length and for a path that there is not.
    """
    path, driver, body_type = (np.array(given, np.int32) for given in (path, driver, body_type))
    n = path.size
    if not path.shape == driver.shape == body_type.shape == (n,):
        raise ParameterError(
            f"followers: {path.size} paths, {driver.size} drivers, {body_type.size} body types; "
            "wanted one of each for every follower"
        )
    if n and not 0 <= path.min() <= path.max() < paths.start.size - 1:
        raise ParameterError(f"followers: wanted paths from 0 to {paths.start.size - 2}")
    if n and min(driver.min(), body_type.min()) < 0:
        raise ParameterError("followers: wanted drivers and body types of at least 0")
    first = paths.start[path]
    here, there = paths.points[first], paths.points[first + 1]

    def zeros() -> NDArray[np.float64]:
        return np.zeros(n)

    followers = Followers(
        active=np.ones(n, np.bool_),
        driver=driver,
        path=path,
        followed=path.copy(),
        s=zeros(), offset=zeros(), z=here[:, 2].copy(), target=zeros(), integral=zeros(),
        mark=zeros(), waited=zeros(), left=zeros(),
        tries=np.zeros(n, np.int32), tried_at=zeros(), action=np.zeros(n, np.uint8),
        stuck=np.zeros(n, np.int32), teleports=np.zeros(n, np.int32),
    )  # fmt: skip
    bodies = Bodies(
        x=here[:, 0].copy(), y=here[:, 1].copy(),
        heading=np.arctan2(there[:, 1] - here[:, 1], there[:, 0] - here[:, 0]),
        speed=zeros(), slip=zeros(), turning=zeros(), steer=zeros(),
        type=body_type,
        throttle=zeros(), wheel=zeros(), hand_brake=zeros(), slope=zeros(),
    )  # fmt: skip
    return followers, bodies
