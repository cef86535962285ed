"""Where opponents that leave their way steer: straight for the road, for a quarry or for a place beside it.

Source: Hit & Run, seed-systems.md S3-22, S3-35.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.navmesh.cells import Cells
from rushhour.kernels.opponents.boxes import Boxes
from rushhour.kernels.opponents.boxing import boxing_point
from rushhour.kernels.opponents.minds import Minds
from rushhour.kernels.opponents.openings import opening_beside
from rushhour.kernels.opponents.passing import first_ahead
from rushhour.kernels.opponents.road_keeping import road_to_reach, sees_road
from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.corner_driving import CornerCars
from rushhour.kernels.steering.paths import Paths

LEAD: Final = 0.3  # s of its quarry's motion that a chaser aims ahead


@kernel
def way_to_road(
    paths: Paths, cars: CornerCars, bodies: Bodies, cells: Cells, boxes: Boxes, count: int, i: int
) -> tuple[bool, float]:
    """Whether body i, beside the road, knows where to reach it, and the direction (rad) of that."""
    x, y, heading = bodies.x[i], bodies.y[i], bodies.heading[i]
    found, tx, ty = road_to_reach(paths, cells, i, cars.s[i], x, y, bodies.speed[i])
    toward = math.atan2(ty - y, tx - x)
    far = math.hypot(tx - x, ty - y)
    dx, dy = math.cos(toward), math.sin(toward)
    barring, gap = first_ahead(boxes, count, i, -1, dx, dy, 0.0, 0.0, far, 0.3)
    if barring >= 0 and gap < far:  # it goes where nobody stands
        free, px, py = opening_beside(cells, boxes, count, i, x, y, toward, heading)
        if free:
            found, toward = True, math.atan2(py - y, px - x)
    return found, toward


@kernel
def way_to_box(
    minds: Minds, bodies: Bodies, cells: Cells, boxes: Boxes, count: int, i: int
) -> tuple[bool, float, float, float, float]:
    """Whether body i can go straight to its place beside its quarry; the direction of that, as a vector and
    in rad, and throttle."""
    tx, ty, pressed = boxing_point(minds, bodies, i)
    far = max(0.1, math.hypot(tx - boxes.x[i], ty - boxes.y[i]))
    tx, ty = (tx - boxes.x[i]) / far, (ty - boxes.y[i]) / far
    between, _ = first_ahead(boxes, count, i, minds.quarry[i], tx, ty, 0.0, 0.0, far, 0.2)
    x, y = bodies.x[i], bodies.y[i]
    free = between < 0 and sees_road(cells, x, y, x + far * tx, y + far * ty)
    return free, tx, ty, math.atan2(ty, tx), pressed


@kernel
def is_nearest(minds: Minds, i: int) -> bool:
    """Whether no other hunter of i's quarry is nearer to it; of equals the first."""
    for k in range(minds.flees.shape[0]):
        if k != i and minds.quarry[k] == minds.quarry[i] and not minds.flees[k]:
            if minds.distance[k] < minds.distance[i]:
                return False
            if minds.distance[k] == minds.distance[i] and k < i:
                return False
    return True


@kernel
def way_to_quarry(
    minds: Minds, bodies: Bodies, cells: Cells, boxes: Boxes, count: int, i: int
) -> tuple[bool, float, float, float, float]:
    """Whether body i can go straight for its quarry; the direction of that, as a vector and in rad, and
    throttle."""
    q = minds.quarry[i]
    tx = boxes.x[q] + LEAD * boxes.vx[q] - boxes.x[i]
    ty = boxes.y[q] + LEAD * boxes.vy[q] - boxes.y[i]
    far = max(0.1, math.hypot(tx, ty))
    between, _ = first_ahead(boxes, count, i, q, tx / far, ty / far, 0.0, 0.0, far, 0.2)
    held = sees_road(cells, bodies.x[i], bodies.y[i], boxes.x[q], boxes.y[q])
    free = between < 0 and (held or (minds.off[q] and is_nearest(minds, i)))
    # who rams does not push its quarry away from the others
    rams = bodies.speed[i] > minds.top[i] or minds.hit[i] == q
    return free, tx / far, ty / far, math.atan2(ty, tx), 0.0 if rams else 1.0
