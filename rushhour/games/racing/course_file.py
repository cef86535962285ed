"""Courses in files: drawn ones (.json), race tracks (.csv, .h5), courses with their costs (.h5)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.games.racing.course import (
    HORSE,
    MOST_CELLS,
    Course,
    drawn_course,
    oval_course,
    track_course,
)
from rushhour.games.racing.ground_shapes import Oval, Ribbon
from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.hdf5_file import open_hdf5
from rushhour.roadnets.reading.json_files import Item, read_json
from rushhour.roadnets.writing import replaced

FORMAT: Final = "rushhour course 1"
OVAL: Final = "oval"  # the course that needs no file
MOST_POINTS: Final = 100_000
FARTHEST: Final = 1e6  # m


@dataclass(frozen=True)
class Drawing:
    """A course, and what its file says of the racers; points (n, 2) m."""

    course: Course
    starts: NDArray[np.float64] | None = None
    finish: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return fields_shown(self)


def read_course(path: str | Path, cell: float | None = None, scale: float = 1.0) -> Drawing:
    """A course from `oval`, a drawing (.json), a track (.csv), or a saved course or track (.h5).

    cell: m, by default what the file says, else HORSE; scale: factor on all lengths but the cell.
    Raises NetworkError for a file that is none of them, and for a cell or scale of a saved course.
    """
    if not (np.isfinite(scale) and 0.0 < scale <= 1000.0):
        raise NetworkError(f"scale {scale}; wanted more than 0, up to 1000")
    side = HORSE if cell is None else cell
    if str(path) == OVAL:
        return Drawing(oval_course(400.0 * scale, 60.0 * scale, 30.0 * scale, side))
    path = Path(path)
    kind = path.suffix.lower()
    if kind == ".json":
        return _read_drawing(path, cell, scale)
    if kind not in (".csv", ".h5", ".hdf5"):
        raise NetworkError(f"{path}: wanted `oval`, a drawing (.json), a track (.csv) or a .h5")
    if kind != ".csv" and is_course_file(path):
        if cell is not None or scale != 1.0:
            raise NetworkError(
                f"{path}: a saved course has its cells; leave out --cell and --scale"
            )
        return Drawing(load_course(path))
    from rushhour.roadnets.racetracks import load_track, read_track

    track = read_track(path) if kind == ".csv" else load_track(path)
    return Drawing(track_course(track.left, track.right, side, scale))


def _read_drawing(path: Path, cell: float | None, scale: float) -> Drawing:
    item = Item(read_json(path), path)
    known = {"outer", "inner", "start", "starts", "finish", "cell", "clockwise"}
    for name in item:
        if name not in known:
            raise NetworkError(
                f"{path}: {name!r:.60} is not known; wanted {', '.join(sorted(known))}"
            )
    if cell is None:
        cell = item.number("cell", 0.01, 1000.0) if "cell" in item else HORSE
    points: Callable[..., Any] = lambda name, least, most: _points(item, name, least, most) * scale
    course = drawn_course(
        _points(item, "outer", 3, MOST_POINTS), _points(item, "inner", 3, MOST_POINTS),
        _points(item, "start", 1, 1)[0] if "start" in item else None, cell, scale,
        item.flag("clockwise") if "clockwise" in item else False,
    )  # fmt: skip
    return Drawing(
        course,
        points("starts", 1, 64) if "starts" in item else None,
        points("finish", 1, 1)[0] if "finish" in item else None,
    )


def _points(item: Item, name: str, least: int, most: int) -> NDArray[np.float64]:
    """[[x, y], ...]; of a single point also [x, y]."""
    where, given = item.where, item.entries(name)
    if most == 1 and len(given) == 2 and not isinstance(given[0], list):
        given = [given]
    table = []
    for value in given:
        good = isinstance(value, list) and len(value) == 2
        if not good or not all(
            isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= FARTHEST
            for x in value  # type: ignore[attr-defined]
        ):
            raise NetworkError(f"{where}: {name}: {value!r:.60}; wanted [x, y] in metres")
        table.append(value)
    if not least <= len(table) <= most:
        raise NetworkError(f"{where}: {name}: {len(table)} points; wanted {least} to {most:,}")
    return np.array(table, np.float64)


def is_course_file(path: Path) -> bool:
    """Whether a file is one of save_course."""

    try:
        with open_hdf5(path) as file:
            return bool(file.attrs.get("format") == FORMAT)
    except OSError as error:
        raise NetworkError(f"{path}: cannot be read ({error}); check the name") from error


def feature_steps(course: Course) -> NDArray[np.int8]:
    """(f, 2) rows and columns from each feature cell to the next one: two bytes each."""
    return (np.roll(course.features, -1, axis=0) - course.features).astype(np.int8)


def save_course(course: Course, path: str | Path) -> None:
    """Write a course: a byte for each cell, two for each feature cell, its shape as attributes.

    Raises NetworkError if it cannot be written.
    """
    import h5py

    with replaced(path, NetworkError) as part, h5py.File(part, "w") as file:
        file.attrs["format"] = FORMAT
        file.attrs["cell"], file.attrs["corner"] = course.cell, (course.x0, course.y0)
        file["cost"], file["feature_steps"] = course.cost, feature_steps(course)
        file.attrs["first_feature"] = course.features[0]
        if isinstance(course.shape, Oval):
            oval = course.shape
            file.attrs["centres"], file.attrs["radius"] = oval.centres, oval.radius
            file.attrs["clockwise"], file.attrs["begin"] = oval.clockwise, oval.begin
        elif isinstance(course.shape, Ribbon):
            file["left"], file["right"] = course.shape.left, course.shape.right


def load_course(path: str | Path) -> Course:
    """Read what save_course wrote, the costs perhaps changed. Raises NetworkError for other files."""

    try:
        with open_hdf5(path) as file:
            if file.attrs.get("format") != FORMAT:
                raise NetworkError(f"{path}: no course of rushhour; wanted a file of save_course")
            cost = _array(file, path, "cost", "u", MOST_CELLS)
            shape: Oval | Ribbon
            if "left" in file:
                sides = [_array(file, path, name, "f", MOST_POINTS) for name in ("left", "right")]
                if sides[0].shape != sides[1].shape or sides[0].shape[1] != 2 or len(sides[0]) < 3:
                    raise NetworkError(f"{path}: left, right: wanted two edges of 3 or more points")
                shape = Ribbon(*sides)
            else:
                centres = np.asarray(file.attrs["centres"], np.float64).reshape(2, 2)
                shape = Oval(
                    centres, float(file.attrs["radius"]), bool(file.attrs["clockwise"]),
                    float(file.attrs["begin"]),
                )  # fmt: skip
            cell = float(file.attrs["cell"])
            x0, y0 = np.asarray(file.attrs["corner"], np.float64).reshape(2).tolist()
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, NetworkError):
            raise
        raise NetworkError(f"{path}: cannot be read as a course ({error})") from error
    numbers = [cell, x0, y0, shape.lap]
    if not np.isfinite(numbers).all() or cell <= 0.0 or not 0.0 < shape.lap < FARTHEST:
        raise NetworkError(f"{path}: a cell, corner, centre or radius is no possible number")
    bare = Course(
        np.zeros_like(cost), cell, x0, y0, shape, np.zeros((0, 2), np.int32),
        np.zeros(cost.shape), np.zeros(cost.shape),
    )  # fmt: skip
    return bare.with_costs(cost)


def _array(file: Any, path: str | Path, name: str, kind: str, most: int) -> NDArray[Any]:
    """A table of a file. Raises NetworkError for none, or one that is too large."""
    import h5py

    data = file.get(name)
    if not isinstance(data, h5py.Dataset) or data.ndim != 2 or data.dtype.kind != kind:
        raise NetworkError(f"{path}: {name}: wanted a table of numbers")
    if data.size > most * 2 or data.dtype.itemsize > 8:
        raise NetworkError(f"{path}: {name} has more than {most:,} entries")
    table: NDArray[Any] = data[()]
    if kind == "u" and table.dtype.itemsize > 1:
        raise NetworkError(f"{path}: {name}: wanted one byte for each cell")
    return table
