"""Keeping to the road: how far ahead a corner may be cut, how fast a bend of the way may be taken.

In corners who drives steers at the farthest point of its way that it sees over road, so that a
corner is cut only where the road is wide enough; before bends it brakes in time. Who is beside the road steers at where its way comes upon road.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.geometry.curvature import max_curvature
from rushhour.kernels.navmesh.cells import NOWHERE, VERGE, Cells, cell_at
from rushhour.kernels.steering.bicycle import G
from rushhour.kernels.steering.corner_driving import CornerCars
from rushhour.kernels.steering.paths import Paths, place_in_space

STRIDE: Final = 2.0  # m between places of a line that are looked at
TRIES: Final = 5  # points of the way that are tried, from the far one to the near one
CHORD: Final = 8.0  # m of the way before and behind a place whose bend is looked at
LOOKS: Final = 45.0  # m ahead
EVERY: Final = 3.0  # m
ASIDE_SHARE: Final = 0.75  # of the grip that bends may take
BRAKE_SHARE: Final = 0.5  # of the grip that is counted on for slowing down before them
SLOWEST: Final = 4.0  # m/s at which any bend is tried
REAR: Final = 2.5  # m behind the rear axle that must be ground
BACK_BRAKES: Final = 4.0  # m/s2 of who reverses
FRONT: Final = 0.8  # m before the rear axle that must be road of who turns round, and
TURN_BRAKES: Final = 5.0  # m/s2 of it
SHUFFLES: Final = 1.0  # m/s, below which it goes back instead
SEEKS: Final = 60.0  # m of a way in which road is looked for, every
SEEKS_EVERY: Final = 1.0  # m
WITHIN: Final = 2.0  # m of the way beyond the edge of the road to where it is steered at, and
SLANT: Final = (
    1.0  # m more for each to the edge, as nobody gets onto a narrow road at a right angle
)
SETTLES: Final = 0.5  # s of driving more
SHORTEST: Final = 2.5  # m to that place at least; a nearer one tells no direction


@kernel
def is_road(cells: Cells, x: float, y: float) -> bool:
    """Whether a place is on a road or an intersection."""
    c = cell_at(cells, x, y)
    return c != NOWHERE and cells.kind[c] != VERGE


@kernel
def sees_road(cells: Cells, x: float, y: float, tx: float, ty: float) -> bool:
    """Whether all of the straight line from (x, y) to (tx, ty) is road."""
    far = math.hypot(tx - x, ty - y)
    steps = int(far / STRIDE) + 1
    for k in range(1, steps + 1):
        w = k / steps
        if not is_road(cells, x + w * (tx - x), y + w * (ty - y)):
            return False
    return True


@kernel
def far_in_sight(
    paths: Paths,
    cells: Cells,
    cars: CornerCars,
    i: int,
    x: float,
    y: float,
    near: float,
    far: float,
) -> tuple[float, float]:
    """The farthest point of path i, from near to far (m ahead), that is seen over road, x, y.

    The near one where none is.
    """
    a, b = paths.start[i], paths.start[i + 1]
    px, py = x, y
    for k in range(TRIES):
        s = cars.s[i] + far + (near - far) * k / (TRIES - 1)
        px, py, _ = place_in_space(paths.points, paths.station, a, b, s)
        if k == TRIES - 1 or sees_road(cells, x, y, px, py):
            break
    return px, py


@kernel
def bend_limit(paths: Paths, i: int, s: float, grip: float) -> float:
    """Speed, m/s, at station s of path i from which every bend ahead can be taken; grip: g."""
    a, b = paths.start[i], paths.start[i + 1]
    end = paths.station[b - 1]
    best, ahead = math.inf, 0.0
    while ahead <= LOOKS and s + ahead + CHORD < end:
        px, py, _ = place_in_space(paths.points, paths.station, a, b, s + ahead - CHORD)
        qx, qy, _ = place_in_space(paths.points, paths.station, a, b, s + ahead)
        rx, ry, _ = place_in_space(paths.points, paths.station, a, b, s + ahead + CHORD)
        bend = max_curvature(px, py, qx, qy, rx, ry)
        if bend > 1e-4:
            there = ASIDE_SHARE * grip * G / bend
            best = min(best, there + 2.0 * BRAKE_SHARE * grip * G * ahead)
        ahead += EVERY
    return max(SLOWEST, math.sqrt(best))


@kernel
def arc_holds(cells: Cells, x: float, y: float, heading: float, bend: float, reach: float) -> bool:
    """Whether the arc of a bend, 1/m, from (x, y) is road for `reach` m; behind it if negative."""
    steps = int(abs(reach) / STRIDE) + 1
    for k in range(1, steps + 1):
        chord = along = reach * k / steps
        half = 0.5 * bend * along
        if abs(half) > 1e-6:
            chord *= math.sin(half) / half
        course = heading + half
        if not is_road(cells, x + chord * math.cos(course), y + chord * math.sin(course)):
            return False
    return True


@kernel
def behind_holds(
    cells: Cells, x: float, y: float, heading: float, bend: float, speed: float
) -> bool:
    """Whether there is road behind the rear axle at (x, y), as far as a reverse (m/s) needs."""
    return arc_holds(cells, x, y, heading, bend, -REAR - speed * speed / (2.0 * BACK_BRAKES))


@kernel
def turn_holds(cells: Cells, x: float, y: float, heading: float, bend: float, speed: float) -> bool:
    """Whether who turns round on an arc can stop on the road yet; so can who has no road behind."""
    square = max(0.0, speed) ** 2
    reach = FRONT + square / (2.0 * TURN_BRAKES)
    widest = TURN_BRAKES / max(1.0, square)
    bend = min(widest, max(-widest, bend))
    if arc_holds(cells, x, y, heading, bend, reach):
        return True
    return speed < SHUFFLES and not behind_holds(cells, x, y, heading, -bend, 0.0)


@kernel
def road_to_reach(
    paths: Paths, cells: Cells, i: int, s: float, x: float, y: float, speed: float
) -> tuple[bool, float, float]:
    """Where path i comes upon road after station s, and some way on, x, y; whether it does."""
    a, b = paths.start[i], paths.start[i + 1]
    end = paths.station[b - 1]
    ahead = 0.0
    while ahead <= SEEKS and s + ahead < end:
        px, py, _ = place_in_space(paths.points, paths.station, a, b, s + ahead)
        if is_road(cells, px, py):
            on = WITHIN + SLANT * math.hypot(px - x, py - y) + SETTLES * abs(speed)
            tx, ty, _ = place_in_space(paths.points, paths.station, a, b, s + ahead + on)
            if math.hypot(tx - x, ty - y) >= SHORTEST:
                return True, tx, ty
        ahead += SEEKS_EVERY
    return False, x, y
