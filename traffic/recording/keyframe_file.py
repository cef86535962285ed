"""Keyframes in the run file: group /keyframes, the complete state now and then (docs/file-format.md).

Each table of a snapshot is one dataset of compound type, to which the rows of every keyframe are
appended; `index` has a row per keyframe and says where its rows are. All of it is laid out before
the first frame, because nothing may be created while others read. Every keyframe begins with a new
chunk, so that none is written twice: a process that is killed may leave a chunk half written.
"""

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import Grants, Order, Vehicles
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.hdf5_file import want_stored
from rushhour.roadnets.json_text import of_python
from rushhour.traffic.keyframes.snapshot import Snapshot, plain_command, take_snapshot
from rushhour.traffic.measures.going_on import KINDS as MEASURED
from rushhour.traffic.measures.trip_log import COLUMNS as TRIP_COLUMNS
from rushhour.traffic.ranks.recorded import RecordedPart
from rushhour.traffic.recording.command_file import read_commands
from rushhour.traffic.recording.keyframe_checks import check_snapshot
from rushhour.traffic.recording.unclosed_file import DAMAGE
from rushhour.traffic.sim.fields import units
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

CHUNK: Final = 1 << 16  # bytes
SMALL_CHUNK: Final = 1 << 14  # bytes, of tables that have few rows as a rule
IN_PARTS: Final = "vehicles"  # the table of which each rank writes a share
NOT_PACKED: Final = "vehicles"  # the large table; to pack it takes longer than it is worth
# Tables with a row for each thing of the network.
OF_NETWORK: Final = (
    "lanes", "road_lanes", "connectors", "programs", "detectors", "roads", "travel_times", "passes",
)  # fmt: skip
ADDED: Final = (
    "bodies",
    "told",
    "told_links",
    "chosen",
)  # tables that older files lack: they had none of them
NUMBERS: Final = "numbers"  # bytes of JSON
HASH: Final = "S64"
# Units of columns, wherever they are; others are indices, codes, counts, or numbers of frames.
UNITS: Final = {
    **units(Vehicles, Order, Grants),
    "lasts": "s", "until": "s", "yellow": "s", "red": "s", "began": "s", "clears": "s",
}  # fmt: skip


def index_type(tables: list[str]) -> np.dtype[Any]:
    """The type of a row of `index`."""
    ends = [(f"{name}_{end}", "<i8") for name in tables for end in ("start", "end")]
    return np.dtype([("frame", "<i8"), ("time", "<f8"), ("hash", HASH), *ends])


class KeyframeWriter:
    """Lays out /keyframes and appends to it. data: where its datasets are kept."""

    def __init__(
        self,
        file: Any,
        world: "World",
        every: int,
        data: dict[str, Any],
        measures: "Measures | None" = None,
    ) -> None:
        self.world = world
        self.measures = measures
        self._part = RecordedPart(world.sim)
        self.last = -1  # frame of the last keyframe
        group = file.create_group("keyframes")
        group.attrs["frames_between_keyframes"] = every
        self._data: dict[str, Any] = {}
        for name, table in self._tables().items():
            self._data[name] = _lay_out(
                group, name, table.dtype, 0 if name == NUMBERS else len(table)
            )
        self._index = _lay_out(group, "index", index_type(list(self._data)), 16)
        self._index.attrs["unit"] = "time s"
        for name, dataset in {**self._data, "index": self._index}.items():
            data[f"keyframes/{name}"] = dataset

    def _measured(self) -> dict[str, NDArray[Any]]:
        return {} if self.measures is None else self.measures.state()

    def _tables(self) -> dict[str, NDArray[Any]]:
        """The state. Of vehicles each rank has its share; the first has all the rest."""
        snapshot = take_snapshot(self.world, logs=False)
        vehicles = snapshot.tables[IN_PARTS]
        vehicles = vehicles[self._part.share(len(vehicles))]
        if self._part.rank:
            return {IN_PARTS: vehicles}
        # Kernels that are not compiled leave whole numbers of numpy in the state.
        text = json.dumps(snapshot.numbers, separators=(",", ":"), default=of_python).encode()
        return {
            **snapshot.tables, IN_PARTS: vehicles, **self._measured(),
            NUMBERS: np.frombuffer(text, np.uint8),
        }  # fmt: skip

    def write(self, flush: Any) -> None:
        """Append the world as it stands; a frame is written once.

        flush: brings what was written so far to the disk: the rows before the index that points at
        them.
        """
        world = self.world
        if world.frame == self.last:
            return
        self.last = world.frame
        row = np.zeros(1, self._index.dtype)
        row["frame"], row["time"] = world.frame, world.time
        if self._part.rank == 0:
            row["hash"] = world.state_hash()
        for name, table in self._tables().items():
            row[f"{name}_start"], row[f"{name}_end"] = append(self._data[name], table)
        flush()
        append(self._index, row)
        flush()


def _lay_out(group: Any, name: str, dtype: np.dtype[Any], rows: int) -> Any:
    """An empty dataset that grows. rows: how many a keyframe has, for tables of the network."""
    most = max(1, (SMALL_CHUNK if rows == 0 else CHUNK) // dtype.itemsize)
    if name in OF_NETWORK and rows:
        most = max(1, min(most, rows))
    options: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    if name == "index":
        most, options = 1, {}
    elif name == NOT_PACKED:
        most, options = max(1, CHUNK // dtype.itemsize), {}
    options["chunks"] = (most,)
    data = group.create_dataset(name, (0,), dtype, maxshape=(None,), fletcher32=True, **options)
    units = [f"{column} {UNITS[column]}" for column in dtype.names or () if column in UNITS]
    data.attrs["unit"] = ", ".join(units)
    return data


def append(data: Any, values: NDArray[Any]) -> tuple[int, int]:
    """Put values into new chunks behind the end of a dataset; returns where they are."""
    chunk = int(data.chunks[0])
    start = -(-int(data.shape[0]) // chunk) * chunk
    end = start + len(values)
    if values.size:
        data.resize((end,))
        data[start:] = values
    return start, end


class Keyframes:
    """The keyframes of a run file, as far as they were written.

    Raises RunError if they are damaged.
    """

    def __init__(self, run: "RunFile") -> None:
        self.run = run
        self._group = run.group("keyframes")
        self.index = np.zeros(0, index_type([]))
        if self._group is None:
            return
        try:
            self.index = _index_of(self._group)
            # Of vehicles each rank wrote a share: its group, and the rows of its index.
            self._shares = [(self._group, self.index)]
            for part in run.parts:
                self._shares.append((part["keyframes"], _index_of(part["keyframes"])))
        except DAMAGE as error:
            raise self._damaged(error) from error
        for _, index in self._shares:
            size = min(len(index), len(self.index))
            same = index["frame"][:size] == self.index["frame"][:size]
            self.index = self.index[: size if same.all() else int(np.argmin(same))]

    def __repr__(self) -> str:
        last = {"the last at": clock(float(self.index["time"][-1]))} if len(self) else {}
        return fact_line(f"{len(self):,} keyframes of {self.run.path.name}", last)

    def __len__(self) -> int:
        return len(self.index)

    def before(self, frame: int) -> int:
        """Place of the last keyframe at or before a frame; -1 if there is none."""
        return int(np.searchsorted(self.index["frame"], frame, side="right")) - 1

    def state_hash(self, i: int) -> str:
        """State hash of the world in the i-th keyframe."""
        return bytes(self.index["hash"][i]).decode("ascii", "replace")

    def vehicles(self, i: int) -> NDArray[Any]:
        """The vehicles on the road in the i-th keyframe, a row each, as they were stored.

        Raises RunError if they are damaged.
        """
        try:
            return self._rows(IN_PARTS, i)
        except DAMAGE as error:
            raise self._damaged(error) from error

    def snapshot(self, i: int, world: "World") -> Snapshot:
        """The i-th keyframe, for a world made from the same network, demand and parameters.

        Raises RunError if it is damaged or of another network, demand or version.
        """
        try:
            # How many detectors there are depends on the programs that were given by then.
            world.signals.prepare(self._numbers(i).get("programs", []))
            tables, numbers = self._read(i, take_snapshot(world, logs=False).tables)
            tables["trips"] = _trip_log(self.run, int(numbers["finished"]))
            applied = read_commands(self.run)[: int(numbers["commands"])]
            numbers["applied"] = [plain_command(command) for command in applied]
            snapshot = Snapshot(tables, numbers)
            check_snapshot(snapshot, world)
        except RunError as error:
            raise RunError(f"{self.run.path}: keyframe {i}: {error}") from error
        except DAMAGE as error:
            raise self._damaged(error) from error
        return snapshot

    def measured(self, i: int) -> dict[str, NDArray[Any]] | None:
        """What measures remembered at the i-th keyframe; None where nothing was measured.

        Raises RunError if it is damaged.
        """
        if not set(MEASURED) <= {name.removesuffix("_end") for name in self.index.dtype.names}:
            return None
        row, found = self.index[i], {}
        try:
            for name, kind in MEASURED.items():
                data = self._group[name]
                if data.dtype != kind or data.ndim != 1:
                    raise ValueError(f"{name} is {str(data.dtype)[:60]}")
                want_stored(data)
                start, end = int(row[f"{name}_start"]), int(row[f"{name}_end"])
                found[name] = data[start:end] if end > start else np.zeros(0, kind)
        except DAMAGE as error:
            raise self._damaged(error) from error
        return found

    def _read(
        self, i: int, wanted: dict[str, NDArray[Any]] | Any
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        found: dict[str, NDArray[Any]] = {}
        for name, table in wanted.items():
            dtype = table.dtype
            if name in ADDED and name not in self._group:
                found[name] = np.zeros(0, dtype)
                continue
            if name not in self._group or self._group[name].dtype != dtype:
                raise RunError(
                    f"its {name} are of another version of rushhour; resume with the one that "
                    "wrote the file"
                )
            found[name] = self._rows(name, i)
            if name in OF_NETWORK and len(found[name]) != len(table):
                raise RunError(
                    f"has {len(found[name])} {name}, the network has {len(table)}; the file "
                    "is put together from two runs, record it again"
                )
        return found, self._numbers(i)

    def _rows(self, name: str, i: int) -> NDArray[Any]:
        """The rows of a table in the i-th keyframe."""
        found = []
        for group, index in self._shares if name == IN_PARTS else self._shares[:1]:
            data = group[name]
            want_stored(data)
            start, end = int(index[i][f"{name}_start"]), int(index[i][f"{name}_end"])
            found.append(data[start:end] if end > start else np.zeros(0, data.dtype))
        if len(found) == 1:
            return np.asarray(found[0])
        if any(part.dtype != found[0].dtype for part in found):
            raise ValueError(f"{name} of two ranks are of different types")
        return np.concatenate(found)

    def _numbers(self, i: int) -> dict[str, Any]:
        row, data = self.index[i], self._group[NUMBERS]
        if data.dtype != np.uint8:
            raise ValueError(f"numbers are {str(data.dtype)[:60]}")
        want_stored(data)
        start, end = int(row[f"{NUMBERS}_start"]), int(row[f"{NUMBERS}_end"])
        numbers = json.loads(data[start:end].tobytes())
        if not isinstance(numbers, dict) or numbers["frame"] != row["frame"]:
            raise ValueError("its numbers are of another frame")
        return numbers

    def _damaged(self, error: Exception) -> RunError:
        why = " ".join(str(error).split())[:200]
        return RunError(f"{self.run.path}: /keyframes is damaged ({why}); record the run again")


def _index_of(group: Any) -> NDArray[Any]:
    """The index of some keyframes up to the first row that points at what is not there."""
    index = group["index"]
    tables = [name.removesuffix("_end") for name in index.dtype.names[4::2]]
    if index.dtype != index_type(tables) or index.ndim != 1:
        raise ValueError(f"index is {index.dtype}")
    want_stored(index)
    index = index[:]
    sound = np.diff(index["frame"], prepend=-1) > 0
    for name in tables:
        starts, ends = index[f"{name}_start"], index[f"{name}_end"]
        stored = (ends == starts) | (ends <= group[name].shape[0])
        sound &= (starts >= 0) & (ends >= starts) & stored
    return np.asarray(index[: len(index) if sound.all() else int(np.argmin(sound))])


def _trip_log(run: "RunFile", rows: int) -> NDArray[np.float64]:
    """The first rows of the log of finished trips, from /trips."""
    group = run.group("trips")
    columns = {
        "trip": "trip", "departed": "departed_s", "arrived": "arrived_s", "distance": "distance_m",
        "waiting_time": "waiting_time_s", "time_loss": "time_loss_s", "stop_time": "stop_time_s",
        "longest_standstill": "longest_standstill_s", "minds_changed": "minds_changed",
        "reroutes": "reroutes", "ended": "ended",
    }  # fmt: skip
    table = np.zeros((min(rows, group["trip"].shape[0]), len(TRIP_COLUMNS)))
    if len(table) < rows:
        raise ValueError(f"{rows} trips had finished, /trips has {len(table)}")
    for place, name in enumerate(TRIP_COLUMNS):
        table[:, place] = group[columns[name]][:rows]
    return table
