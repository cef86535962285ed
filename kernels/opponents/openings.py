"""Openings: where who is beside a road comes onto it when somebody stands where its way leads on.

Looked for are straight lines onto the road on which nobody is, ahead and to both sides, so that it
drives along a queue to the next gap instead of back and forth before the same place.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.navmesh.cells import Cells
from rushhour.kernels.opponents.boxes import Boxes
from rushhour.kernels.opponents.passing import first_ahead
from rushhour.kernels.opponents.road_keeping import is_road

NEAREST: Final = 4.0  # m to an opening, at least, and
FARTHEST: Final = 22.0  # m at most
EVERY: Final = 3.0  # m
FANS: Final = 8  # directions to each side
FAN: Final = 0.22  # rad between two
INSIDE: Final = 1.5  # m that must be road beyond an opening
BODY: Final = 3.0  # m beyond it where nobody may be, either
ROOM: Final = 0.3  # m to each side
ROUND: Final = 6.0  # m of a detour that a radian of turning is worth


@kernel
def opening_beside(
    cells: Cells,
    boxes: Boxes,
    count: int,
    i: int,
    x: float,
    y: float,
    toward: float,
    heading: float,
) -> tuple[bool, float, float]:
    """An opening for body i at (x, y), x, y; whether there is one.

    toward: rad, where its way comes upon road; openings near that and near the heading come first.
    """
    found, best, bx, by = False, math.inf, x, y
    for k in range(2 * FANS + 1):
        fan = ((k + 1) // 2) * FAN * (1.0 if k % 2 == 0 else -1.0)
        dx, dy = math.cos(toward + fan), math.sin(toward + fan)
        off = toward + fan - heading
        turn = abs(math.atan2(math.sin(off), math.cos(off)))
        far = NEAREST
        while far <= FARTHEST:
            costs = far + ROUND * (turn + 0.5 * abs(fan))
            if costs >= best:
                break
            if is_road(cells, x + far * dx, y + far * dy) and is_road(
                cells, x + (far + INSIDE) * dx, y + (far + INSIDE) * dy
            ):
                other, _ = first_ahead(
                    boxes, count, i, -1, dx, dy, 0.0, 0.0, far + INSIDE + BODY, ROOM
                )
                if other < 0:
                    found, best = True, costs
                    bx, by = x + (far + INSIDE) * dx, y + (far + INSIDE) * dy
                break  # beyond the first road of a direction is the other side of it
            far += EVERY
    return found, bx, by
