"""Passing: whom an opponent has ahead of it, and on which side there is room.

Looked for is the one box that is nearest in a volume ahead. Is the lane beside free, it changes to
that; else it shifts its steer-to points aside by what it needs, and gives full gas. Over a verge
it does so only past who stands alone, beside the ground only when it has stood for a while.
Source: Hit & Run, seed-systems.md S3-30 - S3-33; validation.md C3.11.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.navmesh.cells import NOWHERE, VERGE, Cells, cell_at
from rushhour.kernels.opponents.boxes import Boxes, reach_along
from rushhour.kernels.opponents.minds import Minds

STAYS: Final = 0
CHANGES: Final = 1  # to the lane beside
SHIFTS: Final = 2  # aside by what it needs, full gas

LANE: Final = 3.2  # m
SIDE: Final = 0.5  # m kept from who is passed
LOOK_TIME: Final = 1.3  # s of driving that the volume reaches ahead, and
LOOK_LEAST: Final = 10.0  # m more
BEHIND: Final = 1.5  # m kept behind who cannot be passed
FOLLOW: Final = 0.8  # s in which the rest of the gap may be used up
SURE: Final = 3.0  # m to who is passed, below which it goes slowly until it is clear of it
STANDS: Final = 1.0  # m/s, below which who is ahead may be passed over a verge
QUEUE: Final = 15.0  # m beyond what is seen, within which somebody else makes it a queue
BOLD: Final = 1.5  # s of standing after which any ground will do
ONCOMING: Final = 2.0  # s ahead in which nobody may come


@kernel
def first_ahead(
    boxes: Boxes,
    count: int,
    i: int,
    spare: int,
    dx: float,
    dy: float,
    aside: float,
    from_: float,
    to: float,
    margin: float,
) -> tuple[int, float]:
    """The nearest box in a volume, and the gap to it, m; -1, inf: none.

    The volume goes in direction (dx, dy), `aside` m to the left of box i, as wide as that and
    `margin` m on each side, from `from_` to `to` m ahead of its middle. Those that come towards it
    count from where they are ONCOMING s later. spare: a box that does not count; -1.
    """
    found, nearest = -1, math.inf
    for k in range(count):
        if k == i or k == spare:
            continue
        rx, ry = boxes.x[k] - boxes.x[i], boxes.y[k] - boxes.y[i]
        if abs(rx) + abs(ry) > 2.0 * (to + 60.0):
            continue
        along, across = rx * dx + ry * dy, ry * dx - rx * dy - aside
        wide = boxes.half_width[i] + reach_along(boxes, k, -dy, dx) + margin
        if abs(across) >= wide:
            continue
        reach = reach_along(boxes, k, dx, dy)
        closing = min(0.0, boxes.vx[k] * dx + boxes.vy[k] * dy) * ONCOMING
        if along + reach < from_ or along - reach + (closing if along > 0.0 else 0.0) > to:
            continue
        gap = along - reach - boxes.half_length[i]
        if gap < nearest:
            found, nearest = k, gap
    return found, nearest


@kernel
def ground_holds(
    cells: Cells, x: float, y: float, dx: float, dy: float, aside: float, far: float, verge: bool
) -> bool:
    """Whether there is ground `aside` m to the left of a course, up to `far` m ahead."""
    px, py = x - aside * dy, y + aside * dx
    for step in range(1, 4):
        share = far * step / 3.0
        c = cell_at(cells, px + share * dx, py + share * dy)
        if c == NOWHERE or (cells.kind[c] == VERGE and not verge):
            return False
    return True


@kernel
def room_beside(
    cells: Cells,
    boxes: Boxes,
    count: int,
    i: int,
    spare: int,
    dx: float,
    dy: float,
    aside: float,
    far: float,
    verge: bool,
    anywhere: bool,
) -> bool:
    """Whether body i can go on `aside` m to the left for `far` m: ground, and nobody there."""
    held = anywhere or ground_holds(cells, boxes.x[i], boxes.y[i], dx, dy, aside, far, verge)
    if not held:
        return False
    back = -boxes.half_length[i]
    other, _ = first_ahead(boxes, count, i, spare, dx, dy, aside, back, far, 0.5 * SIDE)
    return other < 0


@kernel
def speed_past(clear: bool, gap: float, ahead: float) -> float:
    """Speed, m/s, of who passes somebody gap m ahead at ahead m/s: until it is clear of that one's way, it must
    not run into it; inf: any."""
    return math.inf if clear or gap > SURE else max(2.0, ahead + 1.0)


@kernel
def stay_aside(
    minds: Minds, cells: Cells, boxes: Boxes, count: int, i: int, spare: int, dx: float, dy: float,
    look: float, offset: float,
) -> float:  # fmt: skip
    """Let body i, if it passes, go back to its way where nobody is there any more, or the ground beside ends.

    Returns m to the left of where it is that it is to drive.
    """
    here = minds.aside[i] - offset
    if minds.passing[i] == STAYS:
        return here
    other, _ = first_ahead(
        boxes, count, i, spare, dx, dy, -offset, -boxes.half_length[i] - 3.0, look, SIDE
    )
    verge = minds.passing[i] == SHIFTS
    if other < 0 or not ground_holds(cells, boxes.x[i], boxes.y[i], dx, dy, here, look, verge):
        minds.passing[i], minds.aside[i] = STAYS, 0.0
        return -offset
    return here


@kernel
def choose_pass(
    minds: Minds, cells: Cells, boxes: Boxes, count: int, i: int, spare: int, dx: float, dy: float,
    speed: float, offset: float,
) -> float:  # fmt: skip
    """Speed, m/s, that who is ahead of body i leaves it, after choosing a side; inf: any.

    dx, dy: where it steers. offset: m left of its path. Writes aside, passing, passes.
    """
    look = LOOK_LEAST + LOOK_TIME * abs(speed)
    here = stay_aside(minds, cells, boxes, count, i, spare, dx, dy, look, offset)
    near = min(max(here, -1.0), 1.0)
    other, gap = first_ahead(boxes, count, i, spare, dx, dy, near, 0.0, look, 0.3)
    if other < 0:
        return math.inf
    ahead = boxes.vx[other] * dx + boxes.vy[other] * dy
    if ahead > speed + 1.0 and gap > BEHIND:
        return math.inf
    rx, ry = boxes.x[other] - boxes.x[i], boxes.y[other] - boxes.y[i]
    across = ry * dx - rx * dy
    wide = boxes.half_width[i] + reach_along(boxes, other, -dy, dx) + SIDE
    far = max(gap, 0.0) + 2.0 * reach_along(boxes, other, dx, dy) + 4.0 + 0.5 * abs(speed)
    bold = minds.still[i] > BOLD
    verge = bold
    if ahead < STANDS and not verge:  # over a verge past who broke down, not past a queue
        second, _ = first_ahead(boxes, count, i, other, dx, dy, near, 0.0, look + QUEUE, 0.3)
        verge = second < 0
    if minds.passing[i] != STAYS and abs(here - across) >= wide - 0.2:  # as it is about to
        if room_beside(cells, boxes, count, i, spare, dx, dy, here, far, verge, bold):
            return speed_past(abs(across) >= wide - SIDE, gap, ahead)
    first = 1.0 if across <= 0.0 else -1.0
    for draw in range(4):
        side = first if draw % 2 == 0 else -first
        if draw < 2:
            aside, how = side * LANE, CHANGES
            if side * (aside - across) < wide - 0.2:
                continue  # a lane further it would still be in the way
        else:
            aside, how = across + side * wide, SHIFTS
        over, pushes = verge and how == SHIFTS, bold and draw > 1
        if room_beside(cells, boxes, count, i, spare, dx, dy, aside, far, over, pushes):
            if minds.passing[i] == STAYS:
                minds.passes[i] += 1
            minds.passing[i], minds.aside[i] = how, offset + aside
            return speed_past(side * (0.0 - across) >= wide - SIDE, gap, ahead)
    return max(0.0, ahead + (gap - BEHIND) / FOLLOW)
