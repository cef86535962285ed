"""Race files: where everybody was over time, and the ground, in one HDF5 file (docs/racing.md)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.games.racing.course import Course
from rushhour.games.racing.race_paths import SIGMA, RacePaths
from rushhour.games.racing.smoothing import headings_of
from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.hdf5_file import open_hdf5
from rushhour.roadnets.writing import replaced

FORMAT: Final = "rushhour race 1"
MOST: Final = 200_000_000  # numbers in a table
AXLES: Final = 0.57  # of a racer's length, between its axles
STANDS: Final = 0.05  # m in three recorded steps
MOST_TURNED: Final = 0.6  # rad
_GROUND: Final = {"track": ("left", "right"), "course": ("cost", "corner", "cell")}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RaceRecord:
    """A recorded race of n racers at T times."""

    name: str
    time: Floats  # (T,) s, growing
    x: Floats  # (T, n) m, middle of the body; nan: not on the course
    y: Floats
    heading: Floats  # (T, n) rad
    length: Floats  # (n,) m
    width: Floats  # (n,) m
    finish: Floats  # (n,) s; nan: not there
    ground: dict[
        str, NDArray[Any]
    ]  # left, right (k, 2) m of a track; cost, corner, cell of a course, and `line`, where it begins
    names: tuple[str, ...] = ()  # of each racer; (): they are called "racer 1" and so on

    def __repr__(self) -> str:
        return fields_shown(self)

    def name_of(self, racer: int) -> str:
        """What a racer is called, counted from 0."""
        return self.names[racer] if self.names else f"racer {racer + 1}"

    def at(self, time: ArrayLike) -> Floats:
        """x, y, heading (..., n, 3) at times, s: between those recorded on straight lines.

        Before the first and behind the last time as then.
        """
        when = np.clip(np.asarray(time, np.float64), self.time[0], self.time[-1])
        after = np.clip(np.searchsorted(self.time, when, side="right"), 1, len(self.time) - 1)
        before = after - 1
        share = ((when - self.time[before]) / (self.time[after] - self.time[before]))[..., None]
        turn = self.heading[after] - self.heading[before]
        turn = (turn + np.pi) % (2.0 * np.pi) - np.pi
        return np.stack(
            (
                _between(self.x[before], self.x[after], share),
                _between(self.y[before], self.y[after], share),
                _between(self.heading[before], self.heading[before] + turn, share),
            ),
            axis=-1,
        )

    def steer(self, time: float) -> Floats:
        """How far front wheels are turned at a time, s, to the left: rad, (n,), 0 for who stands.

        By the bend of what the body went, between the recorded times around it: not recorded itself.
        """
        k = int(np.searchsorted(self.time, time))
        before, after = self.at(self.time[[max(0, k - 2), min(k + 1, len(self.time) - 1)]])
        run = np.hypot(*(after - before)[:, :2].T)
        turn = (after[:, 2] - before[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
        moved = np.nan_to_num(run) > STANDS
        bend = np.where(moved, turn / np.where(moved, run, 1.0), 0.0)
        return np.clip(np.arctan(AXLES * self.length * bend), -MOST_TURNED, MOST_TURNED)

    @property
    def ranking(self) -> list[int]:
        """Racers in the order of their finish; who did not arrive is last, by number."""
        return [int(k) for k in np.argsort(self.finish, kind="stable")]


def _between(one: Floats, two: Floats, share: Floats) -> Floats:
    """On the line between two values; exact at both, and whole where only one is there."""
    return np.where(share <= 0.0, one, np.where(share >= 1.0, two, one + share * (two - one)))


def record_of_paths(
    made: RacePaths, race: int = 0, name: str = "race", sigma: float = SIGMA
) -> RaceRecord:
    """A generated race as pairs of position and time."""
    places = made.positions(race, sigma)
    heading = headings_of(places)
    length, width = (np.full(places.shape[1], side) for side in made.body)
    return RaceRecord(
        name, made.times(race), places[..., 0], places[..., 1], heading, length, width,
        made.finish[race], ground_of(made.course),
    )  # fmt: skip


def ground_of(course: Course) -> dict[str, NDArray[Any]]:
    """What a race file holds of a course."""
    return {
        "cost": course.cost,
        "corner": np.array((course.x0, course.y0)),
        "cell": np.array(course.cell),
        "line": start_line(course),
    }


def start_line(course: Course) -> Floats:
    """Both ends of the line at which a course begins, (2, 2) m."""
    row, column = np.nonzero(np.nan_to_num(course.along, nan=np.inf) < 1.0)
    place = course.cell * np.column_stack((column, row)) + 0.5 * course.cell
    off = place - place.mean(axis=0)
    across = np.linalg.svd(off, full_matrices=False)[2][0]
    reach = np.abs(off @ across).max() + 0.5 * course.cell
    middle = place.mean(axis=0) + (course.x0, course.y0)
    return np.asarray(middle + np.outer((reach, -reach), across), np.float64)


def is_race_file(path: Path) -> bool:
    """Whether a file is a recorded race."""

    try:
        with open_hdf5(path) as file:
            return bool(file.attrs.get("format") == FORMAT)
    except OSError:
        return False


def save_race(record: RaceRecord, path: str | Path) -> None:
    """Write a race. Raises RunError if it cannot be."""
    import h5py

    with replaced(path) as part, h5py.File(part, "w") as file:
        file.attrs["format"], file.attrs["name"] = FORMAT, record.name
        if record.names:
            file.attrs["names"] = json.dumps(record.names)
        for name in ("time", "length", "width", "finish"):
            file[name] = getattr(record, name)
        for name in ("x", "y", "heading"):
            table = getattr(record, name)
            file.create_dataset(name, data=table, compression="gzip", shuffle=True)
        for name, values in record.ground.items():
            file[f"ground/{name}"] = values
        for name, unit in {"time": "s", "x": "m", "y": "m", "heading": "rad", "length": "m",
                           "width": "m", "finish": "s"}.items():  # fmt: skip
            file[name].attrs["unit"] = unit


def load_race(path: str | Path) -> RaceRecord:
    """Read what save_race wrote. Raises RunError for a file that is none, or damaged."""

    try:
        with open_hdf5(path) as file:
            if file.attrs.get("format") != FORMAT:
                raise RunError(f"{path}: no race of rushhour; wanted a file of `--record` or `-o`")
            tables = {}
            for name in ("time", "x", "y", "heading", "length", "width", "finish"):
                tables[name] = _read(file, name, path).astype(np.float64)
            kind = "track" if "ground/left" in file else "course"
            wanted = _GROUND[kind]
            if "ground/line" in file:  # files written before have none
                wanted = (*wanted, "line")
            ground = {name: _read(file, f"ground/{name}", path) for name in wanted}
            title = str(file.attrs.get("name", "race"))
            called = json.loads(str(file.attrs.get("names", "[]")))
    except RunError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise RunError(f"{path}: cannot be read as a race ({error})") from error
    if not isinstance(called, list) or not all(isinstance(one, str) for one in called):
        raise RunError(f"{path}: names: wanted words")
    record = RaceRecord(title, **tables, ground=ground, names=tuple(called))
    shape = (len(record.time), len(record.length))
    good = record.time.ndim == 1 and shape[0] >= 2 and bool((np.diff(record.time) > 0.0).all())
    good &= all(getattr(record, name).shape == shape for name in ("x", "y", "heading"))
    good &= all(getattr(record, name).shape == shape[1:] for name in ("width", "finish"))
    good &= len(called) in (0, len(record.length))
    sizes = [ground[name].shape for name in _GROUND[kind]]
    if kind == "track":
        good &= len(sizes[0]) == 2 and sizes[0] == sizes[1] and sizes[0][1] == 2
    else:
        good &= len(sizes[0]) == 2 and sizes[1] == (2,) and sizes[2] == ()
        line = ground.get("line", np.zeros((2, 2)))
        good &= line.shape == (2, 2) and bool(np.isfinite(line).all())
    if not good:
        raise RunError(f"{path}: tables that do not fit each other; record the race again")
    return record


def _read(file: Any, name: str, path: str | Path) -> NDArray[Any]:
    import h5py

    data = file.get(name)
    if not isinstance(data, h5py.Dataset) or data.dtype.kind not in "fu" or data.size > MOST:
        raise RunError(f"{path}: {name}: wanted a table of numbers")
    return np.asarray(data[()])
