"""Paths of racers over a course, generated ahead: many races in one call (docs/racing.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, cos, sin
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.kernels.racing.race_paths import RUN_OUT, Field, Races, Weights, run_all_races
from rushhour.kernels.shown import fields_shown
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.racing.course import Course
from rushhour.traffic.racing.smoothing import kept_apart, smoothed_path

MOST_RACERS: Final = 64
MOST_NUMBERS: Final = 400_000_000  # of cells in the paths of one call
SIGMA: Final = 3.0  # slots, of the Gaussian filter
NEAREST: Final = 0.6  # cells between two racers on smoothed paths; bodies are a third of one wide
SLACK: Final = 2.0  # times the slots of the slowest without waiting, before a race is given up

# Of Eq 1 the source gives no weights: they put who is inside first, then who leads (our choice).
# Those of Eq 2 are the published ones.
WEIGHTS: Final = Weights(speed=0.5, lead=0.2, centre=1.0, held=0.25, turn=0.4, cost=0.1, end=0.25)


@dataclass(frozen=True)
class Pace:
    """Speeds of a racer: drawn in every slot, m/s."""

    average: float = 16.0  # m/s
    spread: float = 2.0  # m/s, most difference from the average
    accel: float = 1.5  # m/s^2

    def refusal(self) -> str:
        """Why it cannot be, in words; "" if it can."""
        for name in ("average", "spread", "accel"):
            value = getattr(self, name)
            if not (np.isfinite(value) and 0.0 <= value <= 200.0):
                return f"{name} of {value}; wanted 0 to 200"
        if self.average <= 0.0 or self.spread >= self.average:
            return (
                f"average {self.average}, spread {self.spread}; wanted an average above the spread"
            )
        return ""


@dataclass(frozen=True)
class RacePaths:
    """Generated races: where everybody was in every slot.

    cells: (races, slots+1, racers) flat numbers, -1 once the racer has left the course. speeds: the
    same shape, m/s. finish: (races, racers) s, nan for who did not arrive. waits: (races, racers)
    slots without a free cell. slots: (races,) that each took. slot: s.
    """

    course: Course
    cells: NDArray[np.int32]
    speeds: NDArray[np.float64]
    finish: NDArray[np.float64]
    waits: NDArray[np.int32]
    slots: NDArray[np.int32]
    slot: float

    def __repr__(self) -> str:
        return fields_shown(self)

    def ranking(self, race: int = 0) -> list[int]:
        """Racers in the order of their finish, those who arrive together by number."""
        return [int(k) for k in np.argsort(self.finish[race], kind="stable")]

    def times(self, race: int = 0) -> NDArray[np.float64]:
        """(slots+1,) s of the positions of a race."""
        return np.asarray(np.arange(int(self.slots[race]) + 1) * self.slot, np.float64)

    def positions(self, race: int = 0, sigma: float = SIGMA) -> NDArray[np.float64]:
        """(slots+1, racers, 2) m at `times`, smoothed over sigma slots; nan behind the end.

        A path that would leave the course is smoothed less, at last not at all, and so are paths
        around slots in which two racers would come nearer than NEAREST cells. sigma 0: the middles
        of the cells.
        """
        cells = self.cells[race, : int(self.slots[race]) + 1]
        places = np.where((cells >= 0)[..., None], self.course.centre_of(cells), np.nan)
        smooth = places.copy()
        for k in range(cells.shape[1]):
            there = cells[:, k] >= 0
            smooth[there, k] = smoothed_path(places[there, k], sigma, self.course)
        return kept_apart(smooth, places, NEAREST * self.course.cell, sigma)


def generate_races(
    course: Course,
    racers: int = 6,
    races: int = 1,
    seed: int = 1,
    laps: int = 1,
    starts: ArrayLike | None = None,
    finish: ArrayLike | None = None,
    pace: Pace | Sequence[Pace] = Pace(),
    weights: Weights = WEIGHTS,
) -> RacePaths:
    """Generate paths of racers from their starts to the finish, `races` times.

    starts: (racers, 2) m, by default rows behind the start line, with a free track between two.
    The finish is the start line, or across the course at the point `finish` (x, y) m, in the lap
    number `laps`. pace: of all, or one of each. Races differ by
    their drawn speeds only. The same seed gives the same paths on any number of threads. Raises
    ParameterError for what cannot be run.

    >>> made = generate_races(oval_course(120.0, 30.0, 20.0), racers=6, races=10, seed=1)
    >>> made.ranking(race=0)[0]
    """
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
    cell = course.cell
    slot = cell / max(one.average + one.spread for one in paces)
    start = start_cells(course, racers) if starts is None else _given(course, racers, starts)
    along = course.along.ravel()[start] * cell
    heading = np.array([course.shape.heading(float(at)) for at in along])
    columns = (
        np.array([(one.average, one.spread, one.accel * slot) for one in paces]).T * slot / cell
    )
    field = Field(
        start,
        np.array([cos(angle) for angle in heading]),
        np.array([sin(angle) for angle in heading]),
        *(np.ascontiguousarray(column) for column in columns),
    )
    end = laps * course.lap
    if finish is not None:
        line = course.cell_at(np.asarray(finish, np.float64).reshape(1, 2))[0]
        if line < 0:
            raise ParameterError(f"finish at {finish}: is not on the course; move it")
        end -= course.lap - float(course.along.ravel()[line])
    longest = (end + 0.5 * course.lap + RUN_OUT) / (columns[0] - columns[1]).min()
    slots = ceil(SLACK * longest) + 20
    if races * slots * racers > MOST_NUMBERS:
        raise ParameterError(
            f"{races:,} races of {slots:,} slots; wanted fewer at once, "
            f"{max(1, MOST_NUMBERS // (slots * racers)):,} at most"
        )
    made = _new_races(races, racers, slots)
    run_all_races(course.ground, weights, field, made, end, seed)
    last = int(made.slots.max()) + 1
    return RacePaths(
        course, made.path[:, :last], made.speeds[:, :last].astype(np.float64) * (cell / slot), made.finish * slot,
        made.waits, made.slots, slot,
    )  # fmt: skip


def start_cells(course: Course, racers: int) -> NDArray[np.int32]:
    """Free cells behind the start line, rows of every second track from the inside on.

    Raises ParameterError where the course has no room for so many.
    """
    along = np.where(course.along > 0.5 * course.lap, course.along - course.lap, course.along)
    ready = (course.cost > 0) & (along <= 0.0) & (along > -0.25 * course.lap)
    flat = np.flatnonzero(ready.ravel())
    row = np.floor(-along.ravel()[flat]).astype(np.int64)
    order = np.lexsort((flat, course.out.ravel()[flat], row))
    chosen: list[int] = []
    width = course.cost.shape[1]
    for place in order.tolist():
        if len(chosen) == racers:
            break
        r, c = divmod(int(flat[place]), width)
        if row[place] % 2 == 0 and all(
            max(abs(r - other // width), abs(c - other % width)) >= 2 for other in chosen
        ):
            chosen.append(int(flat[place]))
    if len(chosen) < racers:
        raise ParameterError(f"{racers} racers; there is room for {len(chosen)} behind the start")
    return np.array(chosen, np.int32)


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
        name: np.zeros((races, racers)) for name in ("progress", "speed", "owed", "east", "north", "key", "finish")
    }  # fmt: skip
    return Races(
        **numbers,
        cell=np.zeros((races, racers), np.int32),
        order=np.zeros((races, racers), np.int32),
        waits=np.zeros((races, racers), np.int32),
        slots=np.zeros(races, np.int32),
        path=np.full((races, slots + 1, racers), -1, np.int32),
        speeds=np.zeros((races, slots + 1, racers), np.float32),
    )
