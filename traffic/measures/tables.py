"""Tables of what was measured: their columns, and how rows gather in them (docs/measures.md).

Rows refer to roads, lanes, detectors and vehicles by number; with their ids they make a
`MeasureTable`, the same from a world that was measured and from its run file.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import rows_line
from rushhour.roadnets.tables import as_frame
from rushhour.roadnets.writing import replaced, want_ending, written

Column = tuple[str, str, str]  # type in the file, unit, what it is
Ids = Mapping[str, Sequence[str]]  # ids of what a column refers to by number

_INTERVAL: Final[dict[str, Column]] = {
    "begin": ("<f8", "s", "the interval begins"),
    "end": ("<f8", "s", "it ends"),
}
# Rows of each table.
TABLES: Final[dict[str, dict[str, Column]]] = {
    "roads": {
        **_INTERVAL,
        "road": ("<i4", "", "road of /network"),
        "entered": ("<i4", "", "vehicles that came onto it, those included that departed there"),
        "departed": ("<i4", "", "vehicles that departed there"),
        "left": ("<i4", "", "vehicles that left it, those included that arrived there"),
        "arrived": ("<i4", "", "vehicles that arrived there"),
        "vehicles": ("<i4", "", "vehicles on it as the interval ends"),
        "vehicle_seconds": ("<f8", "s", "time that vehicles spent on it"),
        "distance": ("<f8", "m", "distance that vehicles drove on it"),
        "speed": ("<f8", "m/s", "distance / vehicle_seconds"),
        "density": ("<f8", "veh/km", "vehicle_seconds / interval / length, of all its lanes"),
        "flow": ("<f8", "veh/h", "distance / interval / length, of all its lanes"),
        "time_lost": ("<f8", "s", "vehicle_seconds less stops less time at the desired speed"),
        "waiting": ("<f8", "s", "time below 0.1 m/s, without stops"),
        "stopped": ("<f8", "s", "time at stops of the trips"),
    },
    "loops": {
        **_INTERVAL,
        "loop": ("<i4", "", "row of detectors"),
        "count": ("<i4", "", "vehicles whose front passed it"),
        "flow": ("<f8", "veh/h", "count / interval"),
        "speed": ("<f8", "m/s", "mean of their speeds"),
        "space_mean_speed": ("<f8", "m/s", "harmonic mean of their speeds"),
        "occupancy": ("<f8", "1", "share of the interval in which a vehicle was above it"),
    },
    "sections": {
        **_INTERVAL,
        "section": ("<i4", "", "row of detectors"),
        "count": ("<i4", "", "vehicles that left it in the interval"),
        "mean_time": ("<f8", "s", "mean of their times from its start to its end"),
        "least_time": ("<f8", "s", "the shortest of them"),
        "most_time": ("<f8", "s", "the longest of them"),
    },
    "passages": {
        "section": ("<i4", "", "row of the detectors of sections"),
        "vehicle": ("<i4", "", "row of /vehicles"),
        "entered": ("<f8", "s", "when it came onto the section"),
        "left": ("<f8", "s", "when it left the section"),
    },
    "queues": {
        **_INTERVAL,
        "queue": ("<i4", "", "row of detectors"),
        "mean_length": ("<f8", "m", "mean of the queue's length, looked at once a second"),
        "most_length": ("<f8", "m", "the longest"),
        "mean_vehicles": ("<f8", "veh", "mean number of vehicles slower than 5 km/h in it"),
        "most_vehicles": ("<i4", "", "the largest number"),
    },
}
# What stands in `detectors` beside the rows, by table: name, then these.
DETECTORS: Final[dict[str, dict[str, Column]]] = {
    "loops": {
        "lane": ("<i4", "", "lane of /network"),
        "pos": ("<f8", "m", "from the lane's start"),
    },
    "sections": {
        "from_road": ("<i4", "", "road of /network, measured from its start"),
        "to_road": ("<i4", "", "road of /network, measured to its end"),
    },
    "queues": {
        "lane": ("<i4", "", "lane of /network"),
        "intersection": ("<i4", "", "intersection of /network at its end, -1 none"),
    },
}
REFERS: Final = {  # column: ids that it refers to
    "road": "road", "from_road": "road", "to_road": "road", "lane": "lane", "vehicle": "vehicle",
    "intersection": "intersection",
}  # fmt: skip


class MeasureTable:
    """Columns of equal length by name; also as attributes. Units: docs/measures.md."""

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self.columns = dict(columns)

    def __repr__(self) -> str:
        return rows_line("MeasureTable", len(self), self.columns)

    def __len__(self) -> int:
        return int(next(iter(self.columns.values())).size)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name != "columns" and name in self.columns:
            return self.columns[name]
        raise AttributeError(name)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises NetworkError if pandas is not installed."""
        return as_frame(self.columns)

    def write(self, path: str | Path) -> None:
        """Write the table to a .csv, .csv.gz or .parquet file. Raises RunError if it cannot be."""
        write_columns(self.columns, Path(path))


class Rows:
    """Rows of one table, as they are gathered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._parts: dict[str, list[NDArray[Any]]] = {column: [] for column in TABLES[name]}
        self.size = 0

    def add(self, **columns: Any) -> None:
        """Append rows; a number stands for all of them."""
        size = next((np.size(values) for values in columns.values() if np.ndim(values)), 1)
        for column, (kind, _, _) in TABLES[self.name].items():
            values = np.asarray(columns[column], kind)
            self._parts[column].append(np.broadcast_to(values, (size,)))
        self.size += size

    def columns(self, first: int = 0) -> dict[str, NDArray[Any]]:
        """All columns, from row `first` on."""
        found: dict[str, NDArray[Any]] = {}
        for column, (kind, _, _) in TABLES[self.name].items():
            parts = self._parts[column]
            if len(parts) != 1:
                self._parts[column] = parts = [np.concatenate([np.zeros(0, kind), *parts])]
            found[column] = parts[0][first:]
        return found


def _named(ids: Sequence[str], index: NDArray[Any]) -> NDArray[Any]:
    """Ids of numbers; "" for -1."""
    names = np.empty(len(ids) + 1, object)
    names[:-1] = ids
    names[-1] = ""
    found: NDArray[Any] = names[index]
    return found


def with_ids(
    name: str, rows: Mapping[str, NDArray[Any]], detectors: Mapping[str, NDArray[Any]], ids: Ids
) -> MeasureTable:
    """A table with ids in place of numbers, and with what is known of its detectors and roads.

    detectors: columns `name` and those of DETECTORS; ids: by "road", "lane", "vehicle", ..., and what
    roads are called by "road_name", () where they have no names.
    """
    columns: dict[str, NDArray[Any]] = {}
    for column, values in rows.items():
        if column not in ("loop", "section", "queue"):
            refers = REFERS.get(column)
            columns[column] = _named(ids[refers], values) if refers else values
            if column == "road" and ids["road_name"]:
                columns["name"] = _named(ids["road_name"], values)
            continue
        columns[column] = _named(list(detectors["name"]), values)
        for fact in DETECTORS.get(name, {}):
            refers, about = REFERS.get(fact), detectors[fact]
            columns[fact] = (_named(ids[refers], about) if refers else about)[values]
    return MeasureTable(columns)


ENDINGS: Final = (".csv", ".csv.gz", ".parquet")


def write_columns(columns: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write columns to a .csv, .csv.gz or .parquet file.

    Raises RunError for another ending, and if the file cannot be written.
    """
    want_ending(path, ENDINGS)
    if path.name.lower().endswith(".parquet"):
        with replaced(path) as part:
            _write_parquet(columns, path, part)
    else:
        _write_csv(columns, path)


def _write_csv(columns: Mapping[str, NDArray[Any]], path: Path) -> None:
    import csv
    import io

    texts = [_texts(values) for values in columns.values()]
    with written(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*texts, strict=True))


def _texts(values: NDArray[Any]) -> list[Any]:
    """Values as csv writes them: numbers with a billionth of precision, nothing for NaN."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return ["" if isnan(value) else f"{value:.9g}" for value in values.tolist()]


def _write_parquet(columns: Mapping[str, NDArray[Any]], path: Path, part: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise RunError(
            f"{path}: parquet wants the package pyarrow; pip install 'rushhour[data]'"
        ) from None
    arrays = {
        name: pyarrow.array(
            values.tolist() if values.dtype == object else values,
            type=pyarrow.string() if values.dtype == object else None,
            from_pandas=values.dtype.kind == "f",  # NaN is nothing
        )
        for name, values in columns.items()
    }
    parquet.write_table(pyarrow.table(arrays), part)
