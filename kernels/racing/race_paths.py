"""Race paths: racers move over the cells of a course in time slots, each by a search of its own.

In each slot the racers move one after another, in the order of `turn_cost`. A search goes along the
eight directions up to REACH cells far, as long as somebody can walk there, and takes the one whose
last cell has the least `cell_cost`; the racer goes one cell that way. A cell is *held* by the racer
that is in it: that is the table of reservations, which makes the others moving obstacles. Who finds
no free cell waits. Nobody goes back along the course. Source: "An AI tool: generating paths for
racing game", seed-systems.md S4; the search has no cost of the way so far, as there.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.jit import kernel
from rushhour.kernels.random import uniform

HELD: Final = 100.0  # C_t of a cell that is not free
EIGHTH: Final = math.pi / 4.0  # rad, one step of C_r
MEMORY: Final = 0.6  # of the mean direction that turning is counted from, after a step
REACH: Final = 8  # cells that a search looks ahead
REACH_ACROSS: Final = 6  # diagonally, which is about as far
LEAP: Final = 3.0  # cells along the course, beyond which two neighbours are not on the same part
RUN_OUT: Final = 10.0  # cells behind the finish where racers leave the course
SPEEDS: Final = 41  # stream of random numbers


class Ground(NamedTuple):
    """A course of cells, row by row from below, shape (cells,)."""

    cost: NDArray[np.uint8]  # C_m, 1 .. 10; 0: nobody walks there
    along: NDArray[np.float64]  # cells since the start line, along the innermost track
    out: NDArray[np.float64]  # cells from the centre
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

    start: NDArray[np.int32]  # cell
    east: NDArray[np.float64]  # direction that it looks in
    north: NDArray[np.float64]
    average: NDArray[np.float64]
    spread: NDArray[np.float64]  # most difference of a speed from the average
    accel: NDArray[np.float64]  # most change in a slot


class Races(NamedTuple):
    """Races in the making, shape (races, racers), and what they leave behind."""

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
    slots: NDArray[np.int32]  # (races,) that the race took
    path: NDArray[np.int32]  # (races, slots+1, racers) cells
    speeds: NDArray[np.float32]  # (races, slots+1, racers) cells a slot


@kernel
def turn_cost(
    speed: float, d_end: float, d_centre: float, w_speed: float, w_lead: float, w_centre: float
) -> float:
    """Eq 1, the smallest first: the fast, the leading, those inside. Who stands is last.

    speed: cells a slot; d_end, d_centre: cells to the finish and from the centre.
    """
    if speed <= 0.0:
        return math.inf
    return w_speed / speed + w_lead * d_end + w_centre * d_centre


@kernel
def cell_cost(
    held: float,
    turn: float,
    cost: float,
    d_end: float,
    w_held: float,
    w_turn: float,
    w_cost: float,
    w_end: float,
) -> float:
    """Eq 2, the smallest is taken.

    held: C_t, 0 or HELD; turn: C_r, change of direction in steps of 45 degrees; cost: C_m; d_end:
    cells from there to the finish.
    """
    return w_held * held + w_turn * turn + w_cost * cost + w_end * d_end


@kernel
def next_speed(speed: float, average: float, spread: float, accel: float, draw: float) -> float:
    """Speed in the next slot: drawn evenly around the average, reached as far as accel allows.

    draw: in [0, 1). All speeds in one unit, accel in it per slot.
    """
    wanted = average + spread * (2.0 * draw - 1.0)
    return speed + min(accel, max(-accel, wanted - speed))


@kernel
def turned(east: float, north: float, dx: float, dy: float) -> float:
    """C_r: angle from a mean direction to a step, in steps of 45 degrees, 0 .. 4."""
    size = math.sqrt((east * east + north * north) * (dx * dx + dy * dy))
    if size == 0.0:
        return 0.0
    return math.acos(min(1.0, max(-1.0, (east * dx + north * dy) / size))) / EIGHTH


@kernel
def gained(along: float, before: float, lap: float) -> float:
    """Cells along the course from one place to a neighbour, over the start line, too."""
    return (along - before + 0.5 * lap) % lap - 0.5 * lap


@kernel
def is_held(races: Races, race: int, racer: int, cell: int) -> bool:
    """Whether another racer is in a cell."""
    for k in range(races.cell.shape[1]):
        if k != racer and races.cell[race, k] == cell:
            return True
    return False


@kernel
def is_step(ground: Ground, row: int, column: int, dx: int, dy: int) -> bool:
    """Whether one can walk from a cell to a neighbour: forwards, and not across a corner."""
    columns = ground.columns
    rows = ground.cost.shape[0] // columns
    r, c = row + dy, column + dx
    if r < 0 or r >= rows or c < 0 or c >= columns or ground.cost[r * columns + c] == 0:
        return False
    if ground.cost[row * columns + c] == 0 or ground.cost[r * columns + column] == 0:
        return False
    here = ground.along[row * columns + column]
    gain = gained(ground.along[r * columns + c], here, ground.lap)
    return 0.0 <= gain <= LEAP


@kernel
def chosen_cell(
    ground: Ground, weights: Weights, races: Races, race: int, racer: int, d_end: float
) -> int:
    """The neighbouring cell that Eq 2 chooses; -1: none is free.

    d_end: cells to the finish. A step across a corner wants both cells beside it free, too, as the
    two would pass there at less than a cell.
    """
    here = races.cell[race, racer]
    columns = ground.columns
    row, column = here // columns, here % columns
    best, least = -1, math.inf
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            if (dx == 0 and dy == 0) or not is_step(ground, row, column, dx, dy):
                continue
            cell = (row + dy) * columns + column + dx
            held = is_held(races, race, racer, cell)
            if dx != 0 and dy != 0:
                held = (
                    held
                    or is_held(races, race, racer, row * columns + column + dx)
                    or is_held(races, race, racer, (row + dy) * columns + column)
                )
            r, c = row + dy, column + dx
            for _ in range(REACH - 1 if dx == 0 or dy == 0 else REACH_ACROSS - 1):
                if not is_step(ground, r, c, dx, dy):
                    break
                r, c = r + dy, c + dx
            last = r * columns + c
            gain = gained(ground.along[last], ground.along[here], ground.lap)
            turn = turned(races.east[race, racer], races.north[race, racer], float(dx), float(dy))
            value = cell_cost(
                HELD if held else 0.0, turn, float(ground.cost[last]), d_end - gain, weights.held,
                weights.turn, weights.cost, weights.end,
            )  # fmt: skip
            if value < least:
                best, least = -1 if held else cell, value
    return best


@kernel
def move_racer(
    ground: Ground, weights: Weights, races: Races, race: int, racer: int, slot: int, finish: float
) -> None:
    """Let a racer take its turn in a slot.

    finish: cells along the innermost track. Writes cell, progress, owed, east, north, finish,
    waits.
    """
    races.owed[race, racer] += races.speed[race, racer]
    if races.owed[race, racer] <= 0.0:
        return
    before = races.progress[race, racer]
    here = races.cell[race, racer]
    cell = chosen_cell(ground, weights, races, race, racer, finish - before)
    if cell < 0:
        races.owed[race, racer] = 0.0
        races.waits[race, racer] += 1
        return
    columns = ground.columns
    dx, dy = float(cell % columns - here % columns), float(cell // columns - here // columns)
    length = math.sqrt(dx * dx + dy * dy)
    races.owed[race, racer] -= length
    races.east[race, racer] = MEMORY * races.east[race, racer] + (1.0 - MEMORY) * dx / length
    races.north[race, racer] = MEMORY * races.north[race, racer] + (1.0 - MEMORY) * dy / length
    gain = gained(ground.along[cell], ground.along[here], ground.lap)
    races.cell[race, racer] = cell
    races.progress[race, racer] = before + gain
    if before < finish and before + gain >= finish:
        races.finish[race, racer] = slot - 1 + (finish - before) / gain
    if before + gain >= finish + RUN_OUT:
        races.cell[race, racer] = -1


@kernel
def order_turns(ground: Ground, weights: Weights, races: Races, race: int, finish: float) -> None:
    """Sort the racers of a race by Eq 1, those of equal cost by number. Writes key, order."""
    n = races.cell.shape[1]
    for k in range(n):
        cell = races.cell[race, k]
        races.key[race, k] = math.inf
        if cell >= 0:
            races.key[race, k] = turn_cost(
                races.speed[race, k], finish - races.progress[race, k], ground.out[cell],
                weights.speed, weights.lead, weights.centre,
            )  # fmt: skip
        place = k
        while place > 0 and races.key[race, races.order[race, place - 1]] > races.key[race, k]:
            races.order[race, place] = races.order[race, place - 1]
            place -= 1
        races.order[race, place] = k


@kernel
def run_races(
    ground: Ground,
    weights: Weights,
    field: Field,
    races: Races,
    finish: float,
    seed: int,
    lo: int,
    hi: int,
) -> None:
    """Run races lo .. hi-1 from the start cells to the last finish, or to the last slot.

    finish: cells along the innermost track from the start line. Race r draws its speeds by the
    number r, its racers and slots. Writes everything in races.
    """
    n = races.cell.shape[1]
    for race in range(lo, hi):
        for k in range(n):
            cell = field.start[k]
            races.cell[race, k] = cell
            along = ground.along[cell]
            races.progress[race, k] = along - ground.lap if along > 0.5 * ground.lap else along
            races.speed[race, k] = field.average[k]
            races.east[race, k], races.north[race, k] = field.east[k], field.north[k]
            races.owed[race, k], races.waits[race, k] = 0.0, 0
            races.finish[race, k] = math.nan
            races.path[race, 0, k], races.speeds[race, 0, k] = cell, field.average[k]
        for slot in range(1, races.path.shape[1]):
            for k in range(n):
                draw = uniform(seed, race * n + k, slot, SPEEDS)
                races.speed[race, k] = next_speed(
                    races.speed[race, k], field.average[k], field.spread[k], field.accel[k], draw
                )
            order_turns(ground, weights, races, race, finish)
            for place in range(n):
                k = races.order[race, place]
                if races.cell[race, k] >= 0:
                    move_racer(ground, weights, races, race, k, slot, finish)
            gone = 0
            for k in range(n):
                races.path[race, slot, k] = races.cell[race, k]
                races.speeds[race, slot, k] = races.speed[race, k]
                gone += races.cell[race, k] < 0
            races.slots[race] = slot
            if gone == n:
                break


@kernel(parallel=True)
def run_all_races(
    ground: Ground, weights: Weights, field: Field, races: Races, finish: float, seed: int
) -> None:
    """Run every race, each by itself."""
    for race in prange(races.slots.shape[0]):
        run_races(ground, weights, field, races, finish, seed, race, race + 1)
