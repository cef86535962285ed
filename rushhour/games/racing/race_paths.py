"""Paths of racers over a course, generated ahead: many races in one call (docs/racing.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, cos, hypot, pi, sin
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.games.racing.course import Course
from rushhour.games.racing.smoothing import kept_apart, smoothed_path, times_passed
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.racing.race_cells import IN_LINE, Field, Ground, Races, Weights, find_ways
from rushhour.kernels.racing.race_paths import RUN_OUT, run_all_races
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.settings.numbers import whole_seed

MOST_RACERS: Final = 64
MOST_NUMBERS: Final = 400_000_000  # of cells in the paths of one call
SIGMA: Final = 3.0  # slots, of the Gaussian filter
SLENDER: Final = 3.0  # times as long as wide are racers
BEND_OVER: Final = 2.5  # cells before and behind a place, over which its bend is measured
ABILITIES: Final = 44  # stream of random numbers
FIRST_ROOM: Final = 8.0  # cells behind the start line, in which starts are sought first
ONE_ROW: Final = 1.0  # cells, by which ways of starts in one row may differ
BENT: Final = 0.5  # rad that the course turns there, up to which starts may be side by side
MOST_WEIGHT: Final = 0.2  # share of the speed that the weight of a start takes
WEIGHT_OF_WINS: Final = 0.06  # more weight for all wins than for none, at first
ROUNDS: Final = 4  # by times, and as many by wins
TRIALS: Final = 60  # races in a round
TRIAL_SEEDS: Final = 1_000_003  # beyond the seed of the races
SLACK: Final = 2.0  # times the slots of the slowest without waiting, and
SPARE: Final = 200  # slots more, before a race is given up

# Of Eq 1 the source gives no weights: they put who is inside first, then who leads (our choice).
# Those of Eq 2 are the published ones.
WEIGHTS: Final = Weights(speed=0.5, lead=0.2, centre=1.0, held=0.25, turn=0.4, cost=0.1, end=0.25)


_PACES: Final = {  # least and most of each ability
    "average": (0.0, 200.0),
    "spread": (0.0, 200.0),
    "accel": (0.0, 200.0),
    "grip": (0.1, 200.0),
    "form": (0.0, 1.0),
    "courage": (0.0, 1.0),
    "reaction": (0.0, 60.0),
}


@dataclass(frozen=True)
class Pace:
    """What a racer can: speeds drawn in every slot, m/s, and how it takes curves and others.

    form is the share of the spread that is drawn once for a race, so that a racer has good and bad
    days, also in curves; grip bounds the speed there, with accel before them. Less courage shuns
    the cells beside others. reaction is the longest that it stands at its start, drawn for a race.
    """

    average: float = 16.0  # m/s
    spread: float = 2.0  # m/s, most difference from the average
    accel: float = 1.5  # m/s^2
    grip: float = 10.0  # m/s^2 to the side
    form: float = 0.75
    courage: float = 1.0
    reaction: float = 1.0  # s

    def refusal(self) -> str:
        """Why it cannot be, in words; "" if it can."""
        for name, (least, most) in _PACES.items():
            value = getattr(self, name)
            if not (np.isfinite(value) and least <= value <= most):
                return f"{name} of {value}; wanted {least:g} to {most:g}"
        if self.average <= 0.0 or self.spread >= self.average:
            return (
                f"average {self.average}, spread {self.spread}; wanted an average above the spread"
            )
        return ""


def drawn_paces(pace: Pace, racers: int, differ: float, seed: int = 1) -> list[Pace]:
    """Racers of different abilities, drawn by seed, (racers,).

    differ: 0 .. 1, by how much the average, the acceleration and the grip of the weakest may be
    less than those of pace, and the courage less than all. Raises ParameterError.
    """
    seed = whole_seed(seed)
    if not 0.0 <= differ <= 1.0:
        raise ParameterError(f"differ {differ}; wanted 0 to 1")

    def less(k: int, ability: int) -> float:
        return 1.0 - differ * uniform(seed, k, ability, ABILITIES)

    return [
        replace(
            pace, average=max(pace.average * less(k, 0), pace.spread + 0.1),
            accel=pace.accel * less(k, 1), grip=max(0.1, pace.grip * less(k, 2)),
            courage=pace.courage * less(k, 3),
        )
        for k in range(racers)
    ]  # fmt: skip


@dataclass(frozen=True)
class RacePaths:
    """Generated races: where everybody was in every slot.

    cells: (races, slots+1, racers) flat numbers, -1 once the racer has left the course. speeds: the
    same shape, m/s. starts: (races, racers) number of the start that each was drawn. finish: (races, racers) s, nan for who did not arrive. waits: (races, racers)
    slots without a free cell; again: (races, racers) times that a racer found no way on and
    searched again. slots: (races,) that each took. slot: s. weight: (racers,) of each start, the
    share of its speed that who is drawn there loses.
    """

    course: Course
    cells: NDArray[np.int32]
    speeds: NDArray[np.float64]
    starts: NDArray[np.int32]
    finish: NDArray[np.float64]
    waits: NDArray[np.int32]
    again: NDArray[np.int32]
    slots: NDArray[np.int32]
    slot: float
    weight: NDArray[np.float64]

    def __repr__(self) -> str:
        return fields_shown(self)

    def ranking(self, race: int = 0) -> list[int]:
        """Racers in the order of their finish, those who arrive together by number."""
        return [int(k) for k in np.argsort(self.finish[race], kind="stable")]

    def wins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Races won by each racer and from each start, (racers,) each."""
        first = np.array([self.ranking(race)[0] for race in range(len(self.finish))])
        n = self.finish.shape[1]
        at = self.starts[np.arange(len(first)), first]
        return np.bincount(first, minlength=n), np.bincount(at, minlength=n)

    def absent(self) -> list[tuple[int, int]]:
        """(race, racer) of all who did not arrive."""
        return [(int(r), int(k)) for r, k in np.argwhere(np.isnan(self.finish))]

    def passes(self, race: int = 0) -> NDArray[np.int32]:
        """(racers,) times that each got past another one, by a cell along the course or more."""
        cells = self.cells[race, : int(self.slots[race]) + 1]
        along = self.course.along.ravel()[cells]
        lap = self.course.lap
        step = (np.diff(along, axis=0) + 0.5 * lap) % lap - 0.5 * lap
        gone = np.nan_to_num(np.where(cells[1:] < 0, np.nan, np.cumsum(step, axis=0)), nan=np.inf)
        start = np.where(along[0] > 0.5 * lap, along[0] - lap, along[0])
        return times_passed(start + gone)

    def times(self, race: int = 0) -> NDArray[np.float64]:
        """(slots+1,) s of the positions of a race."""
        return np.asarray(np.arange(int(self.slots[race]) + 1) * self.slot, np.float64)

    def positions(self, race: int = 0, sigma: float = SIGMA) -> NDArray[np.float64]:
        """(slots+1, racers, 2) m at `times`, smoothed over sigma slots; nan behind the end.

        A path that would leave the course is smoothed less, at last not at all, and so are paths
        around slots in which the bodies of two racers would overlap. sigma 0: the middles of the
        cells.
        """
        cells = self.cells[race, : int(self.slots[race]) + 1]
        places = np.where((cells >= 0)[..., None], self.course.centre_of(cells), np.nan)
        smooth = places.copy()
        for k in range(cells.shape[1]):
            there = cells[:, k] >= 0
            smooth[there, k] = smoothed_path(places[there, k], sigma, self.course)
        return kept_apart(smooth, places, *self.body, sigma)

    @property
    def body(self) -> tuple[float, float]:
        """Length and width of a racer, m: it fits its cell however it is turned.

        Racers are a cell apart or more at any time, so their bodies do not overlap on unsmoothed
        paths: the longest axis, from corner to corner, is a cell.
        """
        length = self.course.cell / hypot(1.0, 1.0 / SLENDER)
        return length, length / SLENDER


def generate_races(
    course: Course, racers: int = 6, races: int = 1, seed: int = 1, laps: int = 1,
    starts: ArrayLike | None = None, finish: ArrayLike | None = None,
    pace: Pace | Sequence[Pace] = Pace(), weights: Weights = WEIGHTS, handicap: bool = False,
) -> RacePaths:  # fmt: skip
    """Generate paths of racers from their starts to the finish, `races` times.

    starts: (racers, 2) m, one of each racer; by default behind the start line with ways to the
    finish as alike as can be (`start_cells`), and for each race it is drawn who starts where.
    The finish is the start line, or across the course at the point `finish` (x, y) m, in the lap
    number `laps`. pace: of all, or one of each (`drawn_paces`). Races differ by their lots, drawn
    form, reactions and speeds only. handicap: who is drawn a better start carries more weight, as
    in handicap races, found by trial races so that all starts win alike. The same seed gives the same paths on any number of threads. Raises
    ParameterError for what cannot be run.

    >>> made = generate_races(oval_course(120.0, 30.0, 20.0), racers=6, races=10, seed=1)
    >>> made.ranking(race=0)[0]
    """
    seed = whole_seed(seed)
    paces = _checked(pace, weights, racers, races, laps)
    cell = course.cell
    slot = cell / max(one.average + one.spread for one in paces)
    end = _cells_to(course, finish, laps)
    if handicap and starts is not None:
        raise ParameterError(
            "handicap: weights are for starts that are drawn, and these are given; leave one of both out"
        )
    start = start_cells(course, racers, end) if starts is None else _given(course, racers, starts)
    ground = _ground_to(course, end % course.lap)
    for k, from_there in enumerate(ground.way[start].tolist()):
        if not np.isfinite(from_there):
            raise ParameterError(
                f"start {k}: no way leads from there to the finish; wanted a course of two cells "
                "in width or more (--cell), or another start"
            )
    field = _field(course, paces, start, starts is None, slot)
    slots = _slots(course, field, end, handicap)
    if races * slots * racers > MOST_NUMBERS:
        raise ParameterError(
            f"{races:,} races of {slots:,} slots; wanted fewer at once, "
            f"{max(1, MOST_NUMBERS // (slots * racers)):,} at most"
        )
    if handicap:
        _weigh(ground, weights, field, slots, end, seed)
    made = _new_races(races, racers, slots)
    run_all_races(ground, weights, field, made, end, seed)
    last = int(made.slots.max()) + 1
    return RacePaths(
        course, made.path[:, :last], made.speeds[:, :last].astype(np.float64) * (cell / slot), made.lot, made.finish * slot,
        made.waits, made.again, made.slots, slot, field.weight,
    )  # fmt: skip


def _checked(
    pace: Pace | Sequence[Pace], weights: Weights, racers: int, races: int, laps: int
) -> list[Pace]:
    """What each racer can; refuses numbers that cannot be."""
    for name, value, most in (
        ("racers", racers, MOST_RACERS), ("races", races, 1_000_000), ("laps", laps, 100)
    ):  # fmt: skip
        if not 1 <= value <= most:
            raise ParameterError(f"{value} {name}; wanted 1 to {most:,}")
    paces = [pace] * racers if isinstance(pace, Pace) else list(pace)
    if len(paces) != racers:
        raise ParameterError(f"{len(paces)} paces for {racers} racers; wanted one, or one of each")
    for k, one in enumerate(paces):
        if one.refusal():
            raise ParameterError(f"racer {k}: {one.refusal()} m/s")
    if not all(np.isfinite(value) and value >= 0.0 for value in weights):
        raise ParameterError(f"weights {tuple(weights)}; wanted numbers of at least 0")
    return paces


def _cells_to(course: Course, finish: ArrayLike | None, laps: int) -> float:
    """Cells along from the start line to the finish."""
    end = laps * course.lap
    if finish is None:
        return end
    line = course.cell_at(np.asarray(finish, np.float64).reshape(1, 2))[0]
    if line < 0:
        raise ParameterError(f"finish at {finish}: is not on the course; move it")
    return end - (course.lap - float(course.along.ravel()[line]))


def _field(
    course: Course, paces: list[Pace], start: NDArray[np.int32], drawn: bool, slot: float
) -> Field:
    """The racers as kernels take them, in cells and slots; drawn: who starts where is."""
    along = course.along.ravel()[start] * course.cell
    heading = np.array([course.shape.heading(float(at)) for at in along])
    rates = np.array([(one.average, one.spread, one.accel * slot) for one in paces]).T
    columns = rates * slot / course.cell
    return Field(
        start=start,
        east=np.array([cos(angle) for angle in heading]),
        north=np.array([sin(angle) for angle in heading]),
        drawn=drawn,
        reaction=np.array([one.reaction for one in paces]) / slot,
        average=columns[0].copy(),
        spread=columns[1].copy(),
        accel=columns[2].copy(),
        form=np.array([one.form for one in paces]),
        courage=np.array([one.courage for one in paces]),
        limit=np.array([_stretch_limits(course, one, slot) for one in paces]),
        weight=np.zeros(len(paces)),
    )


def _slots(course: Course, field: Field, end: float, handicap: bool) -> int:
    """After how many slots a race is given up: by far more than the slowest takes on a bad day."""
    bad_day = 1.0 - field.form * field.spread / field.average
    slowest = np.minimum((field.average - field.spread)[:, None], field.limit * bad_day[:, None])
    slowest *= 1.0 - (MOST_WEIGHT if handicap else 0.0)
    laps_begun = (end + 0.5 * course.lap + RUN_OUT) / course.lap
    driving = laps_begun * (1.0 / slowest).sum(axis=1).max()
    slots: int = ceil(SLACK * driving + field.reaction.max()) + SPARE
    return slots


def _weigh(
    ground: Ground, weights: Weights, field: Field, slots: int, end: float, seed: int
) -> None:
    """Find weights of the starts by trial races, until who starts where wins alike. Writes them.

    First so that mean times are alike, what is wrong in a round put right by half, as the others
    come to meet it; then by the shares of wins, in ever smaller steps.
    """
    racers = len(field.start)
    for round_ in range(2 * ROUNDS):
        trial = _new_races(TRIALS, racers, slots)
        run_all_races(ground, weights, field, trial, end, (seed + TRIAL_SEEDS + round_) % 2**32)
        time = np.take_along_axis(trial.finish, np.argsort(trial.lot, axis=1), axis=1)
        time = np.nan_to_num(time, nan=float(slots))
        if round_ < ROUNDS:
            mean = time.mean(axis=0)
            field.weight[:] += 0.5 * (1.0 - mean / mean.max())
        else:
            wins = np.bincount(time.argmin(axis=1), minlength=racers) / TRIALS
            step = WEIGHT_OF_WINS * (2 * ROUNDS - round_) / ROUNDS
            field.weight[:] += step * (wins - 1.0 / racers)
        field.weight[:] = np.minimum(field.weight - field.weight.min(), MOST_WEIGHT)


def _ground_to(course: Course, finish: float) -> Ground:
    """The course as kernels take it, with the ways to a finish line, cells along in [0, lap)."""
    ground = course.ground
    cells = len(ground.cost)
    queued, closed = np.zeros((2, cells), np.bool_)
    find_ways(ground, finish, ground.way, np.zeros(cells + 1, np.int32), queued, closed)
    return ground


def _stretch_limits(course: Course, pace: Pace, slot: float) -> NDArray[np.float64]:
    """Most speed, cells a slot, that a racer's grip allows in each cell of a lap along the course.

    Before a bend it falls by no more than the acceleration.
    """
    n = ceil(course.lap)
    cell = course.cell
    at = np.arange(n) * cell
    angle = np.array([
        [course.shape.heading(float(s + side * BEND_OVER * cell)) for s in at] for side in (-1, 1)
    ])  # fmt: skip
    turn = np.abs((angle[1] - angle[0] + np.pi) % (2.0 * np.pi) - np.pi)
    most = np.sqrt(pace.grip * 2.0 * BEND_OVER * cell / np.maximum(turn, 1e-6))
    for k in [*range(n - 1, -1, -1)] * 2:  # twice round: the first bend brakes the last
        ahead = float(most[(k + 1) % n])
        most[k] = min(most[k], np.sqrt(ahead * ahead + 2.0 * pace.accel * cell))
    return np.asarray(most * slot / cell)


def start_cells(course: Course, racers: int, end: float = 0.0) -> NDArray[np.int32]:
    """Cells behind the start line whose ways to the finish are as alike as can be, the least first.

    So outer tracks start ahead of inner ones, as in a stadium. Two starts have a free cell between
    them; where that takes more than one row they stand side by side, if the course is
    straight there (in a bend noses turn into those beside). end: cells along from the
    start line to the finish, 0: a whole lap. Raises ParameterError where the course has no room.
    """
    along = np.where(course.along > 0.5 * course.lap, course.along - course.lap, course.along)
    back, most = FIRST_ROOM, 0.25 * course.lap
    while True:
        back = min(back, most)
        until = end if 0.0 < end < course.lap - back else course.lap - back
        way = _ground_to(course, until % course.lap).way
        ready = (course.cost > 0) & (along <= 0.0) & (along > -back)
        flat = np.flatnonzero(ready.ravel() & np.isfinite(way))
        turn = course.shape.heading(0.0) - course.shape.heading(-back * course.cell)
        beside = abs((turn + pi) % (2.0 * pi) - pi) <= BENT
        found = [
            _starts_apart(course, racers, flat, way[flat], free) for free in (True, not beside)
        ]
        spreads = [np.ptp(way[some]) if len(some) == racers else np.inf for some in found]
        one = found[0] if spreads[0] <= ONE_ROW else found[int(np.argmin(spreads))]
        if len(one) == racers:
            return one[np.argsort(way[one], kind="stable")].astype(np.int32)
        if back == most:
            room = max(len(some) for some in found)
            raise ParameterError(f"{racers} racers; there is room for {room} behind the start")
        back *= 2.0


def _starts_apart(
    course: Course, racers: int, flat: NDArray[np.int64], way: NDArray[np.float64], free: bool
) -> NDArray[np.int64]:
    """Of cells those for the starts, near the line, with ways that differ least; fewer: no room.

    free: a free cell lies between any two; else two may be side by side, but not nose to tail.
    """
    width = course.cost.shape[1]
    row, column = flat // width, flat % width
    angle = np.array([
        course.shape.heading(float(at)) for at in course.along.ravel()[flat] * course.cell
    ])  # fmt: skip
    best, least = flat[:0], np.inf
    for middle in np.unique(np.floor(2.0 * way)) / 2.0:
        apart = np.abs(way - middle)
        taken: list[int] = []
        while len(taken) < racers and np.isfinite(apart).any():
            k = int(np.argmin(apart))
            taken.append(k)
            dx, dy = column - column[k], row - row[k]
            near = np.maximum(np.abs(dx), np.abs(dy)) <= 1
            if not free:
                ahead = np.abs(dx * np.cos(angle[k]) + dy * np.sin(angle[k]))
                near &= ahead >= IN_LINE * np.hypot(dx, dy)
            apart[near] = np.inf
        spread = np.ptp(way[taken]) if len(taken) == racers else np.inf
        if spread < least - 0.05 or len(taken) > len(best):
            best, least = flat[taken], spread
    return best


def _given(course: Course, racers: int, starts: ArrayLike) -> NDArray[np.int32]:
    points = np.asarray(starts, np.float64)
    if points.shape != (racers, 2):
        raise ParameterError(f"starts of shape {points.shape}; wanted ({racers}, 2), m")
    cells = course.cell_at(points)
    for k, found in enumerate(cells.tolist()):
        if found < 0 or found in cells[:k].tolist():
            what = "is not on the course" if found < 0 else "shares its cell with another"
            raise ParameterError(f"start {k} at {tuple(points[k].tolist())} {what}; move it")
    return cells


def _new_races(races: int, racers: int, slots: int) -> Races:
    numbers = {
        name: np.zeros((races, racers)) for name in ("progress", "speed", "owed", "east", "north", "key", "finish", "least", "until")
    }  # fmt: skip
    return Races(
        **numbers,
        lot=np.zeros((races, racers), np.int32),
        cell=np.zeros((races, racers), np.int32),
        order=np.zeros((races, racers), np.int32),
        waits=np.zeros((races, racers), np.int32),
        left=np.zeros((races, racers), np.int32),
        corner=np.zeros((races, racers, 2), np.int32),
        still=np.zeros((races, racers), np.int32),
        again=np.zeros((races, racers), np.int32),
        slots=np.zeros(races, np.int32),
        path=np.full((races, slots + 1, racers), -1, np.int32),
        speeds=np.zeros((races, slots + 1, racers), np.float32),
    )
