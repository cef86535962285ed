"""Cells of a course, and racers on them: which cells are held or free, and the ways from cell to cell.

A cell is *held* by the racer that is in it, to the end of the slot also by the one that leaves it or
passes its corner. A *way* is the shortest distance of a cell to the finish line.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

LEAP: Final = 3.0  # cells along the course, beyond which two neighbours are not on the same part
IN_LINE: Final = 0.8  # cosine, from which a racer looks along a row or a column of cells


class Ground(NamedTuple):
    """A course of cells, row by row from below, shape (cells,)."""

    cost: NDArray[np.uint8]  # C_m, 1 .. 10; 0: nobody walks there
    along: NDArray[np.float64]  # cells since the start line, along the innermost track
    out: NDArray[np.float64]  # cells from the centre
    way: NDArray[np.float64]  # cells of the shortest way to the finish line; inf: there is none
    columns: int
    lap: float  # cells, of the innermost track


class Weights(NamedTuple):
    """Of the order of turns (Eq 1) and of the choice of a cell (Eq 2)."""

    speed: float
    lead: float
    centre: float
    held: float
    turn: float
    cost: float
    end: float


class Field(NamedTuple):
    """Who starts, shape (racers,), with speeds in cells a slot."""

    start: NDArray[np.int32]  # cell of each start
    east: NDArray[np.float64]  # direction that one looks in there
    north: NDArray[np.float64]
    drawn: bool  # whether lots are drawn for the starts; else racer k has start k
    reaction: NDArray[np.float64]  # most slots that a racer stands at its start, drawn for a race
    average: NDArray[np.float64]
    spread: NDArray[np.float64]  # most difference of a speed from the average
    accel: NDArray[np.float64]  # most change in a slot
    form: NDArray[np.float64]  # share of the spread that is drawn once for a race, 0 .. 1
    courage: NDArray[np.float64]  # 0 .. 1, of passing close to others
    limit: NDArray[np.float64]  # (racers, stretches) that its grip allows in each cell of a lap
    weight: NDArray[np.float64]  # of each start: share of its speed that who is drawn there loses


class Races(NamedTuple):
    """Races in the making, shape (races, racers), and what they leave behind."""

    lot: NDArray[np.int32]  # start of each racer
    cell: NDArray[np.int32]  # -1: has left the course
    progress: NDArray[np.float64]  # cells since the start line
    speed: NDArray[np.float64]  # cells a slot
    owed: NDArray[np.float64]  # cells that it may still go
    east: NDArray[np.float64]  # mean direction of the last steps
    north: NDArray[np.float64]
    key: NDArray[np.float64]
    order: NDArray[np.int32]  # who moves when in this slot
    finish: NDArray[np.float64]  # slot, with its fraction; nan: not there
    waits: NDArray[np.int32]  # slots without a free cell
    left: NDArray[np.int32]  # cell that it left in this slot; -1: none
    corner: NDArray[np.int32]  # (races, racers, 2) cells whose corners it passed in it; -1: none
    least: NDArray[np.float64]  # cells, its shortest way to the line in this lap so far
    still: NDArray[np.int32]  # turns taken since then
    until: NDArray[np.float64]  # cells of way, down to which it searches by ways; inf: it does not
    again: NDArray[np.int32]  # times that it gave up and searched again
    slots: NDArray[np.int32]  # (races,) that the race took
    path: NDArray[np.int32]  # (races, slots+1, racers) cells
    speeds: NDArray[np.float32]  # (races, slots+1, racers) cells a slot


@kernel
def gained(along: float, before: float, lap: float) -> float:
    """Cells along the course from one place to a neighbour, over the start line, too."""
    return (along - before + 0.5 * lap) % lap - 0.5 * lap


@kernel
def is_held(races: Races, race: int, racer: int, cell: int) -> bool:
    """Whether another racer is in a cell, or has left it or passed its corner in this slot."""
    for k in range(races.cell.shape[1]):
        if k != racer and (
            races.cell[race, k] == cell
            or races.left[race, k] == cell
            or races.corner[race, k, 0] == cell
            or races.corner[race, k, 1] == cell
        ):
            return True
    return False


@kernel
def touches_end(ground: Ground, races: Races, race: int, racer: int, cell: int, ahead: int) -> bool:
    """Whether a body in a cell would touch the nose or tail of another, or its own nose another.

    Bodies are as long as a cell. ahead: the cell in front of the nose; -1: none, as it is askew.
    """
    columns = ground.columns
    for k in range(races.cell.shape[1]):
        other = races.cell[race, k]
        if k == racer or other < 0:
            continue
        if other == ahead:
            return True
        dx, dy = other % columns - cell % columns, other // columns - cell // columns
        if abs(dx) + abs(dy) == 1:
            east, north = races.east[race, k], races.north[race, k]
            if abs(east * dx + north * dy) > IN_LINE * math.sqrt(east * east + north * north):
                return True
    return False


@kernel
def is_free(
    ground: Ground, races: Races, race: int, racer: int, dx: int, dy: int, keeps_off: bool
) -> bool:
    """Whether no other racer holds what a racer needs for a step.

    A step across a corner wants both cells beside it. keeps_off: it also keeps off the noses and
    tails of others.
    """
    columns = ground.columns
    here = races.cell[race, racer]
    cell = here + dy * columns + dx
    if is_held(races, race, racer, cell):
        return False
    askew = dx != 0 and dy != 0
    if askew and (
        is_held(races, race, racer, here + dx) or is_held(races, race, racer, here + dy * columns)
    ):
        return False
    ahead = -1 if askew else cell + dy * columns + dx
    return not (keeps_off and touches_end(ground, races, race, racer, cell, ahead))


@kernel
def is_beside(ground: Ground, races: Races, race: int, racer: int, cell: int) -> bool:
    """Whether another racer is in a neighbour of a cell."""
    columns = ground.columns
    for k in range(races.cell.shape[1]):
        other = races.cell[race, k]
        if k != racer and other >= 0:
            if (
                abs(other // columns - cell // columns) <= 1
                and abs(other % columns - cell % columns) <= 1
            ):
                return True
    return False


@kernel
def gain_of_step(ground: Ground, row: int, column: int, dx: int, dy: int) -> float:
    """Cells along the course of a step to a neighbour, negative back; nan: one cannot walk there.

    Nobody walks across a corner of a closed cell, or to another part of the course beside this one.
    """
    columns = ground.columns
    rows = ground.cost.shape[0] // columns
    r, c = row + dy, column + dx
    if r < 0 or r >= rows or c < 0 or c >= columns or ground.cost[r * columns + c] == 0:
        return math.nan
    if ground.cost[row * columns + c] == 0 or ground.cost[r * columns + column] == 0:
        return math.nan
    here = ground.along[row * columns + column]
    gain = gained(ground.along[r * columns + c], here, ground.lap)
    return gain if abs(gain) <= LEAP else math.nan


@kernel
def is_step(ground: Ground, row: int, column: int, dx: int, dy: int) -> bool:
    """Whether a racer can step to a neighbour: not back, and not where no way leads on."""
    gain = gain_of_step(ground, row, column, dx, dy)
    return gain >= 0.0 and ground.way[(row + dy) * ground.columns + column + dx] < math.inf


@kernel
def find_ways(
    ground: Ground, finish: float, way: NDArray[np.float64], queue: NDArray[np.int32],
    queued: NDArray[np.bool_], closed: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Find the shortest way, in cells, of every cell to the finish line, which is crossed forwards.

    finish: cells along, in [0, lap). Writes way, inf where there is none. queue: (cells+1,), queued
    and closed: (cells,) False, room to work in. Twice, as the line must not be crossed to where no way
    leads to its next crossing.
    """
    columns, cells = ground.columns, ground.cost.shape[0]
    for turn in range(2):
        if turn == 1:
            for cell in range(cells):
                closed[cell] = way[cell] == math.inf
        way[:] = math.inf
        head, size = 0, 0
        for cell in range(cells):  # those at the line first
            if ground.cost[cell] > 0 and (ground.along[cell] - finish) % ground.lap <= LEAP:
                queue[(head + size) % (cells + 1)] = cell
                queued[cell] = True
                size += 1
        while size > 0:
            cell = queue[head]
            head = (head + 1) % (cells + 1)
            size -= 1
            queued[cell] = False
            row, column = cell // columns, cell % columns
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if dx == 0 and dy == 0:
                        continue
                    back = gain_of_step(ground, row, column, -dx, -dy)
                    if math.isnan(back):
                        continue
                    before = (row - dy) * columns + column - dx
                    at = (ground.along[before] - finish) % ground.lap - back
                    if at < 0.0:
                        continue
                    length = math.sqrt(float(dx * dx + dy * dy))
                    if at < ground.lap:
                        length += way[cell]
                    elif closed[cell]:
                        continue
                    if length < way[before]:
                        way[before] = length
                        if not queued[before]:
                            queued[before] = True
                            queue[(head + size) % (cells + 1)] = before
                            size += 1
