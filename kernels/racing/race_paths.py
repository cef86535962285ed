"""Race paths: racers move over the cells of a course in time slots, each by a search of its own.

In each slot the racers move one after another, in the order of `turn_cost`. A search goes along the
eight directions up to REACH cells far, as long as somebody can walk there, and takes the one whose
last cell has the least `cell_cost`; the racer goes one cell that way. A cell is *held* by the racer
that is in it, to the end of the slot also by the one that leaves it or passes its corner: that is
the table of reservations, which makes the others moving obstacles, and keeps bodies apart on their
way from cell to cell, too. Who finds no free cell waits. Nobody goes back along the course.

That search looks no farther than its rays, so that it can end where no way is left. Who has not
come nearer to the finish for PATIENCE turns searches again, by the *ways*, the shortest distances
of all cells to the finish: it takes the free neighbour that is nearest, back along the course, too,
until it is well past the place where it gave up. The racer with the least way always finds its next
cell free sooner or later, as whoever held it would have a smaller one; so all arrive.

Who starts where is drawn for each race, and how long each takes to react, so that nobody wins by
its number.
Source: "An AI tool: generating paths for racing game", seed-systems.md S4; the search has no cost
of the way so far, as there. The second search, the reservation of a slot, grip, courage, form,
reactions and the draw of starts are ours.
"""

import math
from typing import Final

from numba import prange

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.random import uniform
from rushhour.kernels.racing.race_cells import (
    Field,
    Ground,
    Races,
    Weights,
    gain_of_step,
    gained,
    is_beside,
    is_free,
    is_step,
)

HELD: Final = 100.0  # C_t of a cell that is not free
EIGHTH: Final = math.pi / 4.0  # rad, one step of C_r
MEMORY: Final = 0.6  # of the mean direction that turning is counted from, after a step
REACH: Final = 8  # cells that a search looks ahead
REACH_ACROSS: Final = 6  # diagonally, which is about as far
RUN_OUT: Final = 10.0  # cells behind the finish where racers leave the course
PATIENCE: Final = 8  # turns without coming nearer to the finish, before a racer searches again
PAST: Final = 10.0  # cells of way beyond the place where it gave up, until it races on
SHY: Final = 10.0  # C_t of a cell beside another racer, for who has no courage at all
SPEEDS: Final = 41  # streams of random numbers
FORMS: Final = 43
REACTIONS: Final = 45
LOTS: Final = 46


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
def chosen_cell(
    ground: Ground,
    weights: Weights,
    races: Races,
    race: int,
    racer: int,
    d_end: float,
    courage: float,
) -> int:
    """The neighbouring cell that Eq 2 chooses; -1: none is free.

    d_end: cells to the finish; courage: 0 .. 1, less of it shuns cells beside others.
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
            free = is_free(ground, races, race, racer, dx, dy, True)
            held = 0.0 if free else HELD
            if free and courage < 1.0 and is_beside(ground, races, race, racer, cell):
                held = SHY * (1.0 - courage)
            r, c = row + dy, column + dx
            for _ in range(REACH - 1 if dx == 0 or dy == 0 else REACH_ACROSS - 1):
                if not is_step(ground, r, c, dx, dy):
                    break
                r, c = r + dy, c + dx
            last = r * columns + c
            gain = gained(ground.along[last], ground.along[here], ground.lap)
            turn = turned(races.east[race, racer], races.north[race, racer], float(dx), float(dy))
            value = cell_cost(
                held, turn, float(ground.cost[last]), d_end - gain, weights.held,
                weights.turn, weights.cost, weights.end,
            )  # fmt: skip
            if value < least:
                best, least = cell if free else -1, value
    return best


@kernel
def nearest_cell(ground: Ground, races: Races, race: int, racer: int) -> int:
    """The free neighbour with the least way to the finish line; -1: none is nearer than here."""
    here = races.cell[race, racer]
    columns = ground.columns
    row, column = here // columns, here % columns
    best, least = -1, math.inf
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            if dx == 0 and dy == 0:
                continue
            gain = gain_of_step(ground, row, column, dx, dy)
            if math.isnan(gain) or not is_free(ground, races, race, racer, dx, dy, False):
                continue
            cell = (row + dy) * columns + column + dx
            rest = ground.way[cell]
            if rest > ground.way[here] + 0.5 * ground.lap:  # over the line, nearest of all
                rest -= 2.0 * ground.lap
            if rest < ground.way[here] and rest < least:
                best, least = cell, rest
    return best


@kernel
def move_racer(
    ground: Ground,
    weights: Weights,
    races: Races,
    race: int,
    racer: int,
    slot: int,
    finish: float,
    courage: float,
) -> None:
    """Let a racer take its turn in a slot.

    finish: cells along the innermost track. Writes cell, progress, owed, east, north, finish,
    waits, left, corner, least, still, until, again.
    """
    races.owed[race, racer] += races.speed[race, racer]
    if races.owed[race, racer] <= 0.0:
        return
    before = races.progress[race, racer]
    here = races.cell[race, racer]
    way = ground.way[here]
    if races.still[race, racer] > PATIENCE and races.until[race, racer] == math.inf:
        races.until[race, racer] = races.least[race, racer] - PAST
        races.again[race, racer] += 1
    if way <= races.until[race, racer]:
        races.until[race, racer] = math.inf
    if races.until[race, racer] < math.inf:
        cell = nearest_cell(ground, races, race, racer)
    else:
        cell = chosen_cell(ground, weights, races, race, racer, finish - before, courage)
    if cell < 0:
        races.owed[race, racer] = 0.0
        races.waits[race, racer] += 1
        races.still[race, racer] += 1
        return
    columns = ground.columns
    east, north = cell % columns - here % columns, cell // columns - here // columns
    dx, dy = float(east), float(north)
    length = math.sqrt(dx * dx + dy * dy)
    races.owed[race, racer] -= length
    races.east[race, racer] = MEMORY * races.east[race, racer] + (1.0 - MEMORY) * dx / length
    races.north[race, racer] = MEMORY * races.north[race, racer] + (1.0 - MEMORY) * dy / length
    gain = gained(ground.along[cell], ground.along[here], ground.lap)
    races.left[race, racer] = here
    if east != 0 and north != 0:
        races.corner[race, racer, 0] = here + east
        races.corner[race, racer, 1] = here + north * columns
    races.cell[race, racer] = cell
    races.progress[race, racer] = before + gain
    if ground.way[cell] > way + 0.5 * ground.lap:  # over the line: another lap
        races.least[race, racer], races.until[race, racer] = math.inf, math.inf
    races.still[race, racer] += 1
    if ground.way[cell] < races.least[race, racer]:
        races.least[race, racer], races.still[race, racer] = ground.way[cell], 0
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
def draw_lots(field: Field, races: Races, race: int, seed: int) -> None:
    """Draw who of a race starts where; without a draw everybody at its own number. Writes lot."""
    n = races.lot.shape[1]
    for k in range(n):
        other = k
        if field.drawn:
            other = int(uniform(seed, race * n + k, 0, LOTS) * (k + 1))
        races.lot[race, k] = races.lot[race, other]
        races.lot[race, other] = k


@kernel
def start_racer(ground: Ground, field: Field, races: Races, race: int, k: int) -> None:
    """Put racer k of a race on its start. Reads lot; writes everything else of it in races."""
    lot = races.lot[race, k]
    cell = field.start[lot]
    races.cell[race, k] = cell
    along = ground.along[cell]
    races.progress[race, k] = along - ground.lap if along > 0.5 * ground.lap else along
    races.speed[race, k] = field.average[k]
    races.east[race, k], races.north[race, k] = field.east[lot], field.north[lot]
    races.owed[race, k], races.waits[race, k] = 0.0, 0
    races.finish[race, k] = math.nan
    races.least[race, k], races.until[race, k] = ground.way[cell], math.inf
    races.still[race, k], races.again[race, k] = 0, 0
    races.path[race, 0, k], races.speeds[race, 0, k] = cell, field.average[k]


@kernel
def speed_in_slot(
    ground: Ground, field: Field, races: Races, race: int, k: int, slot: int, seed: int
) -> float:
    """Speed of racer k in a slot, cells: drawn around its average of the day, within its grip.

    A bad day takes its share of the speed in bends, too, and so does the weight of its start.
    """
    racer = race * field.start.shape[0] + k
    share, spread = field.form[k], field.spread[k]
    day = uniform(seed, racer, 0, FORMS)
    carried = 1.0 - field.weight[races.lot[race, k]]
    average = carried * (field.average[k] + spread * share * (2.0 * day - 1.0))
    speed = next_speed(
        races.speed[race, k], average, spread * (1.0 - share), field.accel[k],
        uniform(seed, racer, slot, SPEEDS),
    )  # fmt: skip
    stretch = int(ground.along[races.cell[race, k]])
    limit = field.limit[k, min(stretch, field.limit.shape[1] - 1)]
    return min(speed, carried * limit * (1.0 - share * spread / field.average[k] * (1.0 - day)))


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
        draw_lots(field, races, race, seed)
        for k in range(n):
            start_racer(ground, field, races, race, k)
        for slot in range(1, races.path.shape[1]):
            for k in range(n):
                races.left[race, k] = -1
                races.corner[race, k, 0], races.corner[race, k, 1] = -1, -1
                if races.cell[race, k] >= 0:
                    races.speed[race, k] = speed_in_slot(ground, field, races, race, k, slot, seed)
            order_turns(ground, weights, races, race, finish)
            for place in range(n):
                k = races.order[race, place]
                reacted = slot > field.reaction[k] * uniform(seed, race * n + k, 0, REACTIONS)
                if races.cell[race, k] >= 0 and reacted:
                    move_racer(ground, weights, races, race, k, slot, finish, field.courage[k])
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
