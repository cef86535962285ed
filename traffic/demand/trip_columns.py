"""Columns of a table of trips as texts: from csv, from parquet, or from a frame in memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.traffic.sumo.flows import MOST_VEHICLES

KNOWN: Final = (
    "id", "depart", "type", "route", "origin", "origin_x", "origin_y", "origin_lon", "origin_lat",
    "depart_lane", "depart_pos",
    "depart_speed", "destination", "destination_x", "destination_y", "destination_lon", "destination_lat",
)  # fmt: skip
LARGEST: Final = 1 << 31  # bytes of a parquet file's columns


@dataclass(frozen=True)
class TripColumns:
    """A table of n trips. columns: the known ones by name, n texts each, "" where nothing is."""

    source: str  # for messages
    name: str  # for the ids of trips that have none
    columns: dict[str, list[str]]
    unknown: tuple[str, ...]  # names of the others
    lines: list[int] | None = None  # of each row in a text file

    def where(self, row: int) -> str:
        """Place of a row for messages."""
        return (
            f"{self.source}: row {row}"
            if self.lines is None
            else f"{self.source}:{self.lines[row]}"
        )

    def text(self, name: str, row: int) -> str:
        """What a row says in a column; "" without the column."""
        return self.columns[name][row] if name in self.columns else ""

    def needed(self, name: str) -> list[str]:
        """A column that must exist. Raises DemandError without it."""
        if name not in self.columns:
            has = ", ".join((*self.columns, *self.unknown))[:120]
            matrix = "; a matrix of trips between zones has o_zone_id, d_zone_id, volume"
            raise DemandError(
                f"{self.source}: has no column {name}; it has {has or 'none'}{matrix if name == 'depart' else ''}"
            )
        return self.columns[name]


def columns_of_file(path: Path) -> TripColumns:
    """Read a .csv, .csv.gz or .parquet file.

    Raises DemandError, one line with file and line, for what cannot be read.
    """
    if path.name.lower().endswith(".parquet"):
        return _parquet(path)
    from rushhour.roadnets.reading.csv_tables import read_table

    try:
        table = read_table(path)
    except NetworkError as error:
        raise DemandError(str(error)) from None
    if len(table) > MOST_VEHICLES:
        raise _too_many(str(path), len(table))
    columns, unknown = _sorted_out(table.columns)
    return TripColumns(str(path), path.name.split(".")[0], columns, unknown, table.lines)


def columns_of_frame(frame: Any) -> TripColumns:
    """Take the columns of a pandas frame, or of a mapping from names to sequences.

    Raises DemandError for anything else, and for columns of different lengths.
    """
    try:
        names = list(frame.keys())
        values = {str(name): frame[name] for name in names}
        sizes = {str(name): len(frame[name]) for name in names}
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        raise DemandError(
            f"trips: a {type(frame).__name__}; wanted a path, a frame or a mapping of columns"
        ) from None
    lowered = [name.strip().lower() for name in values]
    if len(values) < len(names) or len(set(lowered)) < len(lowered):
        raise DemandError("trips: a column is given twice; drop one")
    if len(set(sizes.values())) > 1:
        short = min(sizes, key=lambda name: sizes[name])
        raise DemandError(f"trips: column {short[:40]!r} has {sizes[short]} rows; complete it")
    if max(sizes.values(), default=0) > MOST_VEHICLES:
        raise _too_many("trips", max(sizes.values()))
    columns, unknown = _sorted_out(dict(zip(lowered, values.values(), strict=True)))
    return TripColumns("trips", "trip", columns, unknown)


def _too_many(source: str, rows: int) -> DemandError:
    return DemandError(f"{source}: {rows} trips; wanted at most {MOST_VEHICLES}, cut it into parts")


def _sorted_out(values: dict[str, Any]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    columns = {name: _texts(column) for name, column in values.items() if name in KNOWN}
    return columns, tuple(name for name in values if name not in KNOWN)


def _texts(column: Iterable[Any]) -> list[str]:
    return [value if type(value) is str else _text(value) for value in column]


def _text(value: Any) -> str:
    """One value as text; nothing for what is missing."""
    if isinstance(value, str):
        return str(value).strip()
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(_texts(value))
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    if value is None or str(value) in ("nan", "<NA>", "NaT", "None"):
        return ""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def _parquet(path: Path) -> TripColumns:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DemandError(
            f"{path}: parquet wants the package pyarrow; pip install 'rushhour[data]'"
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            rows, names = file.metadata.num_rows, file.schema_arrow.names
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            if rows > MOST_VEHICLES:
                raise _too_many(str(path), rows)
            if sum(group.total_byte_size for group in groups) > LARGEST:
                raise DemandError(f"{path}: larger than {LARGEST >> 30} GB; cut it into parts")
            lowered = _lowered(path, names)
            wanted = [name for name, low in zip(names, lowered, strict=True) if low in KNOWN]
            table = file.read(columns=wanted)
            values = {name.strip().lower(): table[name].to_pylist() for name in wanted}
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, DemandError):
            raise
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())[:120]
        raise DemandError(f"{path}: cannot be read ({reason}); give a parquet file") from None
    columns, _ = _sorted_out(values)
    unknown = tuple(name for name in lowered if name not in KNOWN)
    return TripColumns(str(path), path.name.split(".")[0], columns, unknown)


def _lowered(path: Path, names: Sequence[str]) -> list[str]:
    lowered = [name.strip().lower() for name in names]
    for name in lowered:
        if lowered.count(name) > 1:
            raise DemandError(f"{path}: column {name[:40]!r} is given twice; drop one")
    return lowered
