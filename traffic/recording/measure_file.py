"""Finished trips and measures in the run file: groups /trips and /measures (docs/file-format.md).

Each table is a group with a dataset per column; rows are only appended.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.hdf5_file import texts, want_stored, whole
from rushhour.traffic.measures.going_on import LONGEST
from rushhour.traffic.measures.tables import DETECTORS, TABLES, Column, MeasureTable, with_ids
from rushhour.traffic.measures.trip_log import ENDS
from rushhour.traffic.measures.trip_table import TRIPS, trip_rows
from rushhour.traffic.recording.body_file import BodyWriter
from rushhour.traffic.recording.command_file import CommandWriter
from rushhour.traffic.recording.run_layout import growing
from rushhour.traffic.recording.unclosed_file import DAMAGE

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

ROWS_PER_CHUNK: Final = 4096
EXPORTED: Final = ("trips", *TABLES)


class TableWriter:
    """Lays out the groups of finished trips and of measures, and tells what to append to them.

    data: where their datasets are kept, by table and column.
    """

    def __init__(
        self, file: Any, world: "World", measures: "Measures | None", data: dict[str, Any]
    ) -> None:
        self.world = world
        self.measures = measures
        self.data = data
        self._rows = dict.fromkeys(EXPORTED, 0)
        self._commands = CommandWriter(file, world, data)
        self.bodies = BodyWriter(file, world, data)
        self._lay_out(file.create_group("trips"), "trips", TRIPS)
        if measures is None:
            return
        group = file.create_group("measures")
        group.attrs["interval"] = measures.interval * world.dt
        group.attrs["unit_of_interval"] = "s"
        for name in measures.kept:
            table = group.create_group(name)
            self._lay_out(table, name, TABLES[name])
            if name in DETECTORS:
                _write_detectors(table.create_group("detectors"), name, measures.detectors[name])

    def _lay_out(self, group: Any, table: str, columns: Mapping[str, Column]) -> None:
        for name, (kind, unit, what) in columns.items():
            self.data[f"{table}/{name}"] = growing(
                group, name, kind, unit, what, rows=ROWS_PER_CHUNK
            )

    def new_rows(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Datasets with the rows that are to be appended to them since the call before."""
        yield from self._commands.new_rows()
        yield from self.bodies.new_rows()
        first = self._rows["trips"]
        if len(self.world.trips) > first:
            self._rows["trips"] = len(self.world.trips)
            for name, values in trip_rows(self.world.sim, first).items():
                yield self.data[f"trips/{name}"], values
        if self.measures is None:
            return
        for table in self.measures.kept:
            rows, first = self.measures.rows[table], self._rows[table]
            if rows.size > first:
                self._rows[table] = rows.size
                for name, values in rows.columns(first).items():
                    yield self.data[f"{table}/{name}"], values


def _write_detectors(group: Any, table: str, detectors: Mapping[str, NDArray[Any]]) -> None:
    import h5py

    group.create_dataset("name", data=detectors["name"], dtype=h5py.string_dtype())
    for name, (kind, unit, what) in DETECTORS[table].items():
        group[name] = detectors[name].astype(kind)
        group[name].attrs["unit"] = unit
        group[name].attrs["description"] = what


def measures_of(run: "RunFile", i: int, world: "World") -> "Measures | None":
    """The measures of a run that go on where its i-th keyframe stands, as the world does.

    They hold the rows of before. None where nothing was measured, or the file is of a version that
    did not keep it. Raises RunError if they are damaged.
    """
    from rushhour.traffic.measures.detectors import Loop, Queue, Section
    from rushhour.traffic.measures.going_on import numbers_of
    from rushhour.traffic.measures.measuring import Measures

    state = run.keyframes.measured(i)
    if state is None or run.group("measures") is None:
        return None
    try:
        numbers = numbers_of(state)
        of = {name: _detectors_of(run, name) for name in DETECTORS if _kept(run, name)}
        loops, sections, queues = (
            [list(values.tolist()) for values in of.get(name, {}).values()]
            for name in ("loops", "sections", "queues")
        )
        if not 0 < numbers["interval"] < LONGEST:
            raise ValueError(f"its interval is {numbers['interval']} frames")
        measures = Measures(
            world, numbers["interval"] * world.dt, roads=bool(numbers["roads"]),
            loops=[Loop(*of_one) for of_one in zip(*loops, strict=True)],
            sections=[Section(*of_one) for of_one in zip(*sections, strict=True)],
            queues=[Queue(*of_one) for of_one in zip(*queues[:2], strict=True)],
        )  # fmt: skip
        for name in measures.kept:
            rows = _rows_of(run.group(f"measures/{name}"), TABLES[name])
            size = numbers[f"rows {name}"]
            if not 0 <= size <= len(next(iter(rows.values()))):
                raise ValueError(f"{name} had {size} rows")
            measures.rows[name].add(**{column: values[:size] for column, values in rows.items()})
        measures.restore(state)
    except RunError as error:
        raise RunError(f"{run.path}: /measures: {error}") from error
    except DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{run.path}: /measures is damaged ({why}); record it again") from error
    return measures


def _kept(run: "RunFile", name: str) -> bool:
    return run.group(f"measures/{name}") is not None


# How a table comes into a run file that has none; others by --measure alone.
HOW: Final = {
    "trips": "record the run again",
    "loops": "run it with --measure 5min --loop LANE POS",
    "sections": "run it with --measure 5min --section FROM TO",
    "passages": "run it with --measure 5min --section FROM TO",
    "queues": "run it with --measure 5min --queue all, or look at `rushhour queues`",
}


def read_table(run: "RunFile", name: str) -> MeasureTable:
    """A table of EXPORTED from a run file, as far as it was written.

    Raises RunError if it was not measured, or is damaged.
    """
    if name not in EXPORTED:
        raise RunError(f"{run.path}: no table {name[:40]!r}; wanted one of {', '.join(EXPORTED)}")
    place = "trips" if name == "trips" else f"measures/{name}"
    group = run.group(place)
    if group is None:
        how = HOW.get(name, "run it with --measure 5min")
        raise RunError(f"{run.path}: holds no {name}; {how}")
    try:
        rows = _rows_of(group, TRIPS if name == "trips" else TABLES[name])
        ids = run.ids()
        if name == "trips":
            for column, names in (
                ("trip", ids["vehicle"]), ("vehicle_type", ids["type"]), ("ended", ENDS),
            ):  # fmt: skip
                rows[column] = np.array(names, object)[rows[column]]
            return MeasureTable(rows)
        return with_ids(name, rows, _detectors_of(run, name), ids)
    except DAMAGE as error:
        raise RunError(f"{run.path}: /{place} is damaged ({error}); record it again") from error


def _rows_of(group: Any, columns: Mapping[str, Column]) -> dict[str, NDArray[Any]]:
    """The rows that every column has; the last ones may be half written."""
    for name, (kind, _, _) in columns.items():
        data = group[name]
        if data.dtype != np.dtype(kind) or data.ndim != 1:
            raise ValueError(f"{name} is {data.dtype}, wanted {kind}")
        want_stored(data)
    size = min(group[name].shape[0] for name in columns)
    return {name: group[name][:size] for name in columns}


def _detectors_of(run: "RunFile", name: str) -> dict[str, NDArray[Any]]:
    table = "sections" if name == "passages" else name
    if table not in DETECTORS:
        return {}
    group = run.group(f"measures/{table}/detectors")
    found = {"name": np.array(texts(group["name"]), object)}
    return found | {column: whole(group[column]) for column in DETECTORS[table]}
