"""Races of cars on a track: grid, frames, results, and node speeds learned from a driven lap."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.games.racing.node_speeds import NodeSpeeds
from rushhour.games.racing.race_file import RaceRecord
from rushhour.games.racing.racing_line import CARS, Car, held_speeds, race_lines, refined
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.racing.car_races import (
    PREVIEW,
    drive_all_cars,
    find_all_cars,
    judge_cars,
    part_cars,
)
from rushhour.kernels.racing.race_state import RaceCars
from rushhour.kernels.racing.watching_cars import watch_all_cars
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.track_steering import (
    AWARE,
    PROJECTION,
    SPIDEY_1,
    SPIDEY_2,
    TrackCars,
)
from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import fact_line
from rushhour.traffic.settings.numbers import whole_seed

DT: Final = 1.0 / 60.0  # s
KP: Final = 0.06  # rad/m
LOOK: Final = 0.8  # s, of the projected point
MODELS: Final = {
    # name: steering model, gains in relation to KP, share of the speeds that it can keep the line at
    "preview": (PREVIEW, (0.0, 0.0, 0.0), 1.0),
    "aware": (AWARE, (1.0, 0.0, 0.0), 0.55),
    "projection": (PROJECTION, (1.0, 0.0, 0.0), 0.55),
    "pid": (AWARE, (1.0, 0.5, 0.1), 0.55),
    "spidey1": (SPIDEY_1, (0.0, 0.0, 0.0), 0.45),
    "spidey2": (SPIDEY_2, (0.0, 0.0, 0.0), 0.45),
}


class Personality(NamedTuple):
    """How a driver races."""

    headway: float  # s in which the rest of the gap to a car ahead may be used up
    nerve: float  # m/s faster than the car ahead, from which it passes
    mood: float  # share of the speed that its concentration varies by


PERSONALITIES: Final = {
    "even": Personality(0.7, 0.5, 0.0),
    "bold": Personality(0.5, 0.0, 0.02),
    "calm": Personality(1.2, 3.0, 0.01),
    "moody": Personality(0.8, 1.0, 0.06),
}
MOST_CARS: Final = 2000
SPREAD: Final = 0.08  # by which the slowest car may be slower than the fastest
PACES: Final = 42  # stream of random numbers
SLOT: Final = 8.0  # m between two cars of the grid
WHEELBASE: Final = 2.5  # m
LENGTH: Final = 4.2  # m
HALF_WIDTH: Final = 0.9  # m
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RaceResult:
    """How a race ended, arrays (n,) by car; times in s."""

    order: list[int]  # cars in the order of their finish, then of their place
    finish: Floats  # nan: did not arrive
    best_lap: Floats  # inf: no whole lap
    passes: NDArray[np.int32]
    contacts: NDArray[np.int32]
    lost: NDArray[np.int32]  # times put back on the line
    off: Floats  # s beside the track
    progress: Floats  # m
    frames: int
    state_hash: str  # SHA-256 of all arrays at the end

    def __repr__(self) -> str:
        return fields_shown(self)


class CarRace:
    """Cars on a track, from a standing start on a grid behind the line.

    track: with speeds at every point of its line (`taught_track`). models, personalities: one name
    of MODELS, PERSONALITIES for all, or one for each car. difficulty: in (0, 1], factor on node
    speeds and gains; spread: by how much the paces of cars differ, drawn by seed, or paces: (n,)
    given. overtaking: whether they pass each other. car: what they can. rubber: 0 to 0.5, share of
    the speed that whoever leads the last car by far gives up. Raises ParameterError.

    >>> race = CarRace(track, cars=10, seed=1)
    >>> race.run(laps=3).order
    """

    def __init__(
        self, track: Track, cars: int = 10, models: str | Sequence[str] = "preview",
        difficulty: float = 1.0, seed: int = 1, spread: float = SPREAD,
        paces: Sequence[float] | None = None, overtaking: bool = True, car: Car = CARS["gt"],
        personalities: str | Sequence[str] = "even", rubber: float = 0.0,
    ) -> None:  # fmt: skip
        seed = whole_seed(seed)
        if not 1 <= cars <= MOST_CARS:
            raise ParameterError(f"{cars} cars; wanted 1 to {MOST_CARS:,}")
        if not 0.1 <= difficulty <= 1.0:
            raise ParameterError(f"difficulty {difficulty}; wanted 0.1 to 1")
        if not 0.0 <= spread < 1.0:
            raise ParameterError(f"spread {spread}; wanted 0 to less than 1")
        if not 0.0 <= rubber <= 0.5:
            raise ParameterError(f"rubber {rubber}; wanted 0 to 0.5")
        if car.refusal():
            raise ParameterError(f"car: {car.refusal()}")
        names = _named("model", models, cars, MODELS)
        drivers = _named("personality", personalities, cars, PERSONALITIES)
        if not np.isfinite(track.line_speed).all() or (track.line_speed <= 0.0).any():
            raise ParameterError(
                "the track has no speeds at its line; teach it first (taught_track, or `rushhour race`)"
            )
        rows = -(-cars // 2)
        if rows * SLOT > 0.5 * track.station[-1]:
            raise ParameterError(
                f"{cars} cars on {track.station[-1]:.0f} m; wanted {int(track.station[-1] / SLOT)} at most"
            )
        track = refined(track)
        self.track, self.models, self.personalities, self.n = track, names, drivers, cars
        self.seed, self.time, self.frame = seed, 0.0, 0
        self.lines = race_lines(track, car, HALF_WIDTH)
        drawn = np.array([uniform(seed, k, 0, PACES) for k in range(cars)])
        own = 1.0 - spread * (drawn - drawn.min())
        if paces is not None:
            own = np.array(paces, np.float64)
            if own.shape != (cars,) or not (own > 0.0).all():
                raise ParameterError(
                    f"{own.size} paces for {cars} cars; wanted one above 0 of each"
                )
        self.types = _types(cars, car)
        self.bodies = _grid(track, cars)
        gains = difficulty * KP * np.array([MODELS[name][1] for name in names]).T
        self.steering = TrackCars(
            model=np.array([MODELS[name][0] for name in names], np.uint8),
            place=np.zeros(cars, np.int32), on=np.ones(cars, np.bool_),
            look_time=np.full(cars, LOOK), kp=gains[0].copy(), ki=gains[1].copy(), kd=gains[2].copy(),
            error=np.zeros(cars), integral=np.zeros(cars), falls_back=np.zeros(cars, np.bool_),
            switches=np.zeros(cars, np.int32),
        )  # fmt: skip
        holds = np.array([MODELS[name][2] for name in names])
        self.cars = _cars(cars, car, difficulty * own * holds, overtaking, rubber, drivers)
        self._put_on_the_grid()

    def __repr__(self) -> str:
        facts = {"lap": f"{self.track.station[-1]:,.0f} m", "time": f"{self.time:.1f} s"}
        return fact_line(f"Race of {self.n:,} cars", facts | {"arrived": int(self.cars.done.sum())})

    def _put_on_the_grid(self) -> None:
        """Let the first search find every car where it stands, on the lap before the first."""
        stations = self.track.station[-1] - SLOT * (1.0 + np.arange(self.n) // 2)
        index = np.searchsorted(self.track.station, stations, side="right") - 1
        self.cars.place[:] = index
        self.steering.place[:] = index
        self.cars.lap[:] = -1
        find_all_cars(self.track, self.cars, self.bodies)
        self.cars.farthest[:] = self.cars.progress
        for k in range(self.n):  # each begins where it stands, between the lines
            at = int(self.cars.place[k])
            share = 0.5 + 0.5 * self.cars.aside[k] / max(self.cars.half[k], 1e-9)
            line, side = self.lines.share[1, at], 2 if share > self.lines.share[1, at] else 0
            reach = self.lines.share[side, at] - line
            if abs(reach) > 1e-6:
                blend = min(1.0, max(0.0, (share - line) / reach))
                self.cars.blend[k] = blend if side == 2 else -blend

    def step(self, laps: int) -> int:
        """Drive a frame; cars that have driven `laps` are out. Returns how many still drive."""
        watch_all_cars(self.track, self.lines, self.cars, self.types, self.bodies, DT)
        driving = ~self.cars.done
        last = float(self.cars.progress[driving].min()) if driving.any() else 0.0
        drive_all_cars(
            self.track, self.lines, self.cars, self.steering, self.types, self.bodies, last,
            self.seed, self.time, DT,
        )  # fmt: skip
        part_cars(self.track, self.cars, self.types, self.bodies)
        find_all_cars(self.track, self.cars, self.bodies)
        self.frame += 1
        self.time = self.frame * DT
        return int(judge_cars(self.track, self.cars, self.bodies, self.time, DT, laps))

    def run(
        self,
        laps: int = 3,
        longest: float | None = None,
        call: Callable[["CarRace"], None] | None = None,
    ) -> RaceResult:
        """Drive until everybody has finished, or for `longest` s (default: five times a fair race).

        call: is given the race after every frame.
        """
        if not 1 <= laps <= 1000:
            raise ParameterError(f"{laps} laps; wanted 1 to 1,000")
        if longest is None:
            longest = 60.0 + 5.0 * laps * lap_time(self.track) / float(self.cars.pace.min())
        while self.time < longest:
            driving = self.step(laps)
            if call is not None:
                call(self)
            if not driving:
                break
        return self.result()

    def ranking(self) -> list[int]:
        """Cars in their order now: who has finished, by time, then by the way driven."""
        finish = np.where(np.isnan(self.cars.finish), np.inf, self.cars.finish)
        return [int(k) for k in np.lexsort((np.arange(self.n), -self.cars.progress, finish))]

    def state_hash(self) -> str:
        """SHA-256 of everything that changes."""
        said = hashlib.sha256()
        for state in (self.cars, self.steering, self.types, self.bodies):
            for values in state:
                said.update(values.tobytes())
        return said.hexdigest()

    def result(self) -> RaceResult:
        """How it stands."""
        c = self.cars
        return RaceResult(
            self.ranking(), c.finish.copy(), c.best_lap.copy(), c.passes.copy(), c.contacts.copy(),
            c.lost.copy(), c.off.copy(), c.progress.copy(), self.frame, self.state_hash(),
        )  # fmt: skip


class RaceTape:
    """Notes where everybody is, every so many frames: give it to `run` as `call`."""

    def __init__(self, race: CarRace, every: int = 6) -> None:
        self.every = every
        self.times: list[float] = []
        self.rows: list[Floats] = []
        self(race)

    def __repr__(self) -> str:
        return fact_line("Tape of a race", {"frames": len(self.rows), "every": self.every})

    def __call__(self, race: CarRace) -> None:
        """Note the frame, if its turn has come."""
        if race.frame % self.every and not race.cars.done.all():
            return
        b, middle = race.bodies, 0.5 * WHEELBASE
        row = np.stack(
            (b.x + middle * np.cos(b.heading), b.y + middle * np.sin(b.heading), b.heading)
        )
        row[:, race.cars.done & (race.cars.finish < race.time - 1.0)] = np.nan
        self.times.append(race.time)
        self.rows.append(row)

    def record(self, race: CarRace, name: str) -> RaceRecord:
        """The race as a record to be saved and drawn; racers of several models are called by them."""
        table = np.array(self.rows)
        mixed = len(set(race.models)) > 1
        names = [f"{k}. {model}" for k, model in enumerate(race.models, 1)] if mixed else []
        return RaceRecord(
            name, np.array(self.times), table[:, 0], table[:, 1], table[:, 2],
            np.full(race.n, LENGTH), np.full(race.n, 2.0 * HALF_WIDTH), race.cars.finish.copy(),
            {"left": race.track.left, "right": race.track.right}, tuple(names),
        )  # fmt: skip


def lap_time(track: Track) -> float:
    """Time of a lap at the speeds of the line, s."""
    pace = 0.5 * (track.line_speed + np.roll(track.line_speed, -1))
    return float((np.diff(track.line_station) / pace).sum())


def taught_track(
    track: Track, speeds: Floats | None = None, car: Car = CARS["gt"]
) -> tuple[Track, float]:
    """The track with the speeds of a driven lap at its nodes, and the time of that lap, s.

    The AI steers while somebody else presses the pedals: speeds (m,) m/s say what that driver wants
    at each point of the line, by default the most that the car can hold. The second lap counts.
    Raises ParameterError if the lap is not finished.
    """
    wanted = held_speeds(track.line, _line_grip(track), car) if speeds is None else speeds
    race = CarRace(
        track._replace(line_speed=np.ascontiguousarray(wanted, np.float64)), 1, spread=0.0, car=car
    )
    notes = NodeSpeeds(track, float(race.cars.progress[0]))

    def note(race: CarRace) -> None:
        notes.note(float(race.cars.progress[0]), float(race.bodies.speed[0]))

    result = race.run(laps=2, call=note)
    if not np.isfinite(result.finish[0]) or result.lost[0]:
        raise ParameterError("the taught lap was not finished; wanted slower speeds")
    learned = notes.speed
    holes = np.isnan(learned)
    learned[holes] = np.asarray(wanted)[holes]
    return track._replace(line_speed=learned), float(result.best_lap[0])


def _line_grip(track: Track) -> Floats:
    """Grip of the surface at each point of the line."""
    return np.asarray(track.grip[track.line_index])


def _named(
    what: str, given: str | Sequence[str], cars: int, known: Mapping[str, object]
) -> list[str]:
    """A name of each car. Raises ParameterError for an unknown one, or too few."""
    names = [given] * cars if isinstance(given, str) else list(given)
    for name in names:
        if name not in known:
            raise ParameterError(f"{what} {name!r:.40}; wanted one of {', '.join(known)}")
    if len(names) != cars:
        raise ParameterError(f"{len(names)} {what}s for {cars} cars; wanted one, or one of each")
    return names


def _types(n: int, car: Car) -> BodyTypes:
    """A type for each car, as its grip and drag change with the ground and its speed."""
    values: dict[str, Any] = {
        "wheelbase": WHEELBASE, "nose": 0.5 * (LENGTH + WHEELBASE), "half_width": HALF_WIDTH,
        "max_steer": np.radians(35.0), "steer_rate": 3.0, "accel": car.accel, "brake": car.brake,
        "power": car.power, "grip": car.grip, "drag": 0.0, "traction": car.accel,
    }  # fmt: skip
    return BodyTypes(**{name: np.full(n, float(values[name])) for name in BodyTypes._fields})


def _grid(track: Track, n: int) -> Bodies:
    """Bodies in two columns behind the line, standing, looking along the track."""
    column: dict[str, Any] = {name: np.zeros(n) for name in Bodies._fields}
    column["type"] = np.arange(n, dtype=np.int32)
    middle, lap = 0.5 * (track.left + track.right), float(track.station[-1])
    for k in range(n):
        station = lap - SLOT * (1.0 + k // 2) - 0.5 * SLOT * (k % 2)
        a = int(np.searchsorted(track.station, station, side="right")) - 1
        b = (a + 1) % len(middle)
        share = (station - track.station[a]) / (track.station[a + 1] - track.station[a])
        across = track.left[a] - track.right[a]
        width = float(np.hypot(*across))
        offset = min(1.8, 0.5 * width - HALF_WIDTH - 0.5) * (1.0 if k % 2 == 0 else -1.0)
        place = middle[a] + share * (middle[b] - middle[a]) + offset * across / width
        column["x"][k], column["y"][k] = place
        column["heading"][k] = np.arctan2(*(middle[b] - middle[a])[::-1])
    return Bodies(**column)


def _cars(
    n: int, car: Car, pace: Floats, overtaking: bool, rubber: float, drivers: list[str]
) -> RaceCars:
    whole: Any = {
        name: np.zeros(n, np.int32) for name in ("place", "lap", "passes", "contacts", "lost")
    }
    number: Any = {
        name: np.zeros(n)
        for name in (
            "progress", "aside", "half", "part", "since", "side", "wish", "blend", "farthest",
            "still", "off",
        )
    }  # fmt: skip
    for name in Personality._fields:
        number[name] = np.array([getattr(PERSONALITIES[one], name) for one in drivers])
    return RaceCars(
        **whole, **number, on=np.ones(n, np.bool_), pace=pace, grip=np.full(n, car.grip),
        lift=np.full(n, car.lift), drag=np.full(n, car.drag), band=np.full(n, rubber),
        overtakes=np.full(n, overtaking), target=np.full(n, -1, np.int32), limit=np.full(n, np.inf),
        touches=np.zeros(n, np.bool_), done=np.zeros(n, np.bool_), finish=np.full(n, np.nan),
        line_time=np.full(n, np.nan), best_lap=np.full(n, np.inf),
    )  # fmt: skip
