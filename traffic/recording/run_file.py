"""Reading the run file (docs/file-format.md)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError, RunError
from rushhour.roadnets.facts import Played, fact_table
from rushhour.roadnets.hdf5_file import texts, whole
from rushhour.roadnets.id_hints import id_hint
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import read_network
from rushhour.traffic.commands.log import Command
from rushhour.traffic.measures.tables import MeasureTable
from rushhour.traffic.outside.body_log import BodyLog
from rushhour.traffic.recording.body_file import read_bodies
from rushhour.traffic.recording.command_file import read_commands
from rushhour.traffic.recording.frame_columns import ColumnFrames
from rushhour.traffic.recording.frame_fields import want_numbers, ways_of
from rushhour.traffic.recording.frame_reader import FrameReader
from rushhour.traffic.recording.frame_taking import frame_rows
from rushhour.traffic.recording.frames_ahead import FramesAhead
from rushhour.traffic.recording.happenings import TABLES as HAPPENINGS
from rushhour.traffic.recording.happenings import read_happenings
from rushhour.traffic.recording.joined_vehicles import Joined, read_joined
from rushhour.traffic.recording.keyframe_file import Keyframes
from rushhour.traffic.recording.measure_file import read_table
from rushhour.traffic.recording.opening import opened
from rushhour.traffic.recording.parts import PartedFrames, close_parts, opened_parts
from rushhour.traffic.recording.pose_file import PoseReader, body_columns, columns_at
from rushhour.traffic.recording.positions import Positions, positions_at
from rushhour.traffic.recording.recorded_frame import RecordedFrame
from rushhour.traffic.recording.run_facts import run_facts, whole_facts
from rushhour.traffic.recording.run_layout import FRAMES, KEYFRAMES, part_path
from rushhour.traffic.recording.trajectory import Trajectory, trajectory_of
from rushhour.traffic.recording.unclosed_file import DAMAGE

if TYPE_CHECKING:
    from rushhour.traffic.demand.model import Demand
    from rushhour.traffic.settings.own_models import Given, OwnModels
    from rushhour.traffic.world import World


class RunFile(Played):
    """A run file, open for reading, also after the run was killed or while it goes on.

    A file of keyframes alone holds no frames: `at` makes them, exactly. car_following, lane_change:
    the functions that `World` was given, for what simulates again (`at`, resuming, verifying).
    Raises RunError if it is no run file, is damaged, or is newer than this version.

    >>> with RunFile("run.h5") as run:
    ...     run.at(60.0).speed.mean()
    """

    def __init__(
        self,
        path: str | Path,
        *,
        car_following: "Given" = None,
        lane_change: Callable[..., Any] | None = None,
    ) -> None:
        self.path = Path(path)
        self._given = (car_following, lane_change)
        self._world: World | None = None  # in which frames are made again
        self._network: Network | None = None
        self._of_vehicles: dict[str, NDArray[Any]] = {}
        self._joined_now: Joined | None = None
        self._joined_at = 0  # bytes of commands by then
        self._open()

    def _open(self) -> None:
        self._file = opened(self.path)
        self._ahead = FramesAhead(self._frame)
        self.parts: list[Any] = []  # of a run that several ranks wrote: those of the others
        try:
            self.parts = opened_parts(self.path, self._file)
            self._frames = self._frames_of()
            self._index = self._frames.index
            self._poses = PoseReader(self)
        except DAMAGE as error:
            self.close()
            raise RunError(f"{self.path}: damaged run file ({error}); record it again") from error
        except RunError:
            self.close()
            raise

    @contextmanager
    def _reading(self, group: str) -> Iterator[None]:
        """Turn what h5py raises on damage, or when the file was closed, into a RunError."""
        if not self._file:
            raise RunError(f"{self.path}: was closed; open it again with rushhour.open_run")
        try:
            yield
        except NetworkError as error:
            raise RunError(f"{self.path}: /{group}: {error}") from error
        except DAMAGE as error:
            why = " ".join(str(error).split())[:200]
            raise RunError(f"{self.path}: /{group} is damaged ({why}); record it again") from error

    def _frames_of(self) -> FrameReader | ColumnFrames | PartedFrames:
        """The frames as the version of the file keeps them."""
        self.version = int(self._file.attrs["format_version"])
        if self.version < 3:
            return ColumnFrames(self.path, self._file["frames"], self.version)
        if self.parts:
            return PartedFrames(self, [self._file, *self.parts])
        return FrameReader(self, self._file["frames"])

    @property
    def frames(self) -> NDArray[np.int64]:
        """Numbers of the recorded frames, ascending."""
        return self._index["frame"]

    @property
    def times(self) -> NDArray[np.float64]:
        """Simulated times of the recorded frames, s."""
        return self._index["time"]

    def want_frames(self) -> None:
        """Raises RunError, and says what to do, if the run holds no frames."""
        if not self.frames.size:
            raise RunError(
                f"{self.path}: holds no frames (mode {self.mode}); record it with --record-mode both"
            )

    @property
    def counts(self) -> NDArray[np.int64]:
        """Vehicles on the road in each recorded frame."""
        return self._index["count"]

    @property
    def digests(self) -> NDArray[np.uint64] | None:
        """Digests of the recorded frames; None in files of version 1."""
        return self._index.get("digest")

    @property
    def mode(self) -> str:
        """What was recorded: "frames", "keyframes" or "both"."""
        return str(self.meta.get("mode", FRAMES))

    @cached_property
    def keyframes(self) -> Keyframes:
        """The complete states in the file. Raises RunError if they are damaged."""
        return Keyframes(self)

    @cached_property
    def models(self) -> "OwnModels":
        """The functions of the user's that the run is simulated again by."""
        from rushhour.traffic.settings.own_models import own_models

        return own_models(*self._given)

    @property
    def files(self) -> list[Path]:
        """The file, and where several ranks wrote the run those of the others."""
        own = [part for part in self.parts if isinstance(part, h5py.File)]
        return [part_path(self.path, rank) for rank in range(1 + len(own))]

    @property
    def complete(self) -> bool:
        """Whether the run was closed, not killed."""
        with self._reading("meta"):
            closed = [self._file["meta/complete"], *(part["complete"] for part in self.parts)]
            return all(bool(one[()]) for one in closed)

    @property
    def meta(self) -> dict[str, Any]:
        """Versions, machine, seed, dt (s), begin (s)."""
        with self._reading("meta"):
            return {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in self._file["meta"].attrs.items()
            }

    @property
    def parameters(self) -> dict[str, str]:
        """Every parameter of the run, as text."""
        with self._reading("meta/parameters"):
            table = self._file["meta/parameters"]
            return dict(zip(texts(table["name"]), texts(table["value"]), strict=True))

    def network(self) -> Network:
        """The network of the run, read once. Raises RunError if it is damaged."""
        if self._network is None:
            with self._reading("network"):
                self._network = read_network(self._file["network"])
        return self._network

    @cached_property
    def ways(self) -> NDArray[np.int32]:
        """Which lane leads where, (n_lanes, 8); see `kernels.codec.next_lanes`."""
        arrays = self.network().arrays
        return ways_of(arrays.lanes.out_start, arrays.connectors.to_lane, arrays.lanes.length)

    def vehicles(self, name: str) -> NDArray[Any]:
        """A column of /vehicles, row by vehicle id: length, width, depart, type; read once."""
        if name not in self._of_vehicles:
            with self._reading("vehicles"):
                values = whole(self._file["vehicles"][name])
            values.flags.writeable = False
            self._of_vehicles[name] = values
        joined = self._joined
        return self._of_vehicles[name] if joined is None else joined.column(name)

    def vehicle_names(self) -> tuple[str, ...]:
        """Source ids by vehicle number."""
        joined = self._joined
        return self.names_at_first if joined is None else joined.demand.ids

    @property
    def _joined(self) -> Joined | None:
        """The vehicles with those who joined in the run; None where nobody did."""
        group = self.group("commands")
        with self._reading("commands"):
            size = 0 if group is None else int(group["text"].shape[0])
        if size != self._joined_at:  # the file may be growing
            with self._reading("commands"):
                self._joined_now, self._joined_at = read_joined(self), size
        return self._joined_now

    @cached_property
    def names_at_first(self) -> tuple[str, ...]:
        """Source ids of the vehicles that the run began with, read once."""
        with self._reading("vehicles"):
            return tuple(texts(self._file["vehicles"]["name"]))

    @cached_property
    def demand(self) -> "Demand | None":
        """The trips of the run, read once; None where the file does not hold them whole."""
        from rushhour.traffic.recording.demand_file import read_demand

        try:
            joined = self._joined
            return read_demand(self, self.network()) if joined is None else joined.demand
        except RunError:
            return None

    def ids(self) -> dict[str, tuple[str, ...]]:
        """Ids by number of "road", "lane" (of roads), "intersection", "vehicle", "type"; what roads are
        called by "road_name", () where none has a name."""
        network = self.network()
        if self._joined is not None:
            kinds = tuple(kind.name for kind in self._joined.demand.types)
        else:
            with self._reading("vehicles"):
                kinds = tuple(texts(self._file["vehicles/type_name"]))
        return {
            "road": network.road_ids,
            "road_name": network.road_names,
            "lane": network.lane_ids,
            "intersection": network.intersection_ids,
            "vehicle": self.vehicle_names(),
            "type": kinds,
        }

    def group(self, place: str) -> Any:
        """A group of the file, as h5py gives it; None if there is none."""
        with self._reading(place):
            found = self._file.get(place)
        return found if isinstance(found, h5py.Group) else None

    def dataset(self, place: str) -> Any:
        """A dataset of the file, as h5py gives it; None if there is none."""
        with self._reading(place):
            found = self._file.get(place)
        return found if isinstance(found, h5py.Dataset) else None

    def table(self, name: str) -> MeasureTable:
        """Finished trips ("trips"), measures ("roads", "loops", "sections", "passages", "queues"),
        or what happened ("events", "signals", "costs", "quotas").

        Raises RunError if they were not measured.

        >>> RunFile("run.h5").table("roads").to_pandas()
        """
        return read_happenings(self, name) if name in HAPPENINGS else read_table(self, name)

    @property
    def events(self) -> MeasureTable:
        """Departures, lane changes, who is stuck or off its lane, ends of trips, ...: when, who, where."""
        return self.table("events")

    @property
    def signals(self) -> MeasureTable:
        """When the signal of a connector showed something else."""
        return self.table("signals")

    @property
    def costs(self) -> MeasureTable:
        """What each phase of the frames between two records cost, ns."""
        return self.table("costs")

    def commands(self) -> list[Command]:
        """The commands that were applied in the run, in their order; `World.repeat` plans them again.

        >>> for command in RunFile("run.h5").commands(): print(command)
        """
        return read_commands(self)

    def bodies(self) -> BodyLog:
        """The bodies from outside of the run, set by set; `world.bodies.repeat` gives them again."""
        return read_bodies(self)

    def frame(self, i: int) -> RecordedFrame:
        """The i-th recorded frame; negative i counts from the end."""
        size = self.frames.size
        if not -size <= i < size:
            raise RunError(f"{self.path}: no recorded frame {i}; it holds {size}")
        return self._ahead.frame(i % size)

    def read_ahead(self, *numbers: int) -> None:
        """Decode some recorded frames in a thread, for who asks for them next; those asked for before are forgotten."""
        self._ahead.ask(*(i for i in numbers if 0 <= i < self.frames.size))

    def _frame(self, i: int) -> RecordedFrame:
        with self._reading("frames"):
            columns = self._frames.columns(i)
            want_numbers(columns)
        if self._poses.there:
            with self._reading("poses"):
                fronts = self._poses.of_frame(int(self.frames[i]))
                columns |= body_columns(fronts, columns["id"])
        return RecordedFrame(int(self.frames[i]), float(self.times[i]), columns)

    def at(self, time: float) -> RecordedFrame:
        """The last frame recorded at or before a time in s, the first one if there is none.

        Where only keyframes were recorded, that of this very time, made again from the one before
        it, at most that of the last keyframe; making it takes as long as simulating it.
        """
        if self.mode == KEYFRAMES:
            return self._made(time)
        place = int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1
        return self.frame(max(place, 0))

    def positions(self, time: float) -> Positions:
        """Where everybody was at a time in s: x, y, heading, between recorded frames along the lanes.

        Before the first frame it is that of the first, behind the last one that of the last.

        >>> run.positions(61.3).x
        """
        with self._reading("frames"):
            return positions_at(self, time)

    def trajectory(self, vehicle: int | str) -> Trajectory:
        """A vehicle in all recorded frames with it; vehicle: its number, or its id in the demand.

        Raises RunError if there is no such vehicle.

        >>> run.trajectory("car7").to_pandas()
        """
        number, name = self.known_vehicle(vehicle)
        with self._reading("frames"):
            columns = self._frames.trajectory(number)
            want_numbers(columns)
        if self._poses.there:
            with self._reading("poses"):
                frames = self.frames[columns["row"]]
                fronts, places = self._poses.of_vehicle(number, frames)
                columns |= columns_at(fronts, places, frames.size)
        return trajectory_of(number, name, columns, self._index)

    def known_vehicle(self, vehicle: int | str) -> tuple[int, str]:
        """Number and id of a vehicle, given either. Raises RunError if there is no such vehicle."""
        joined = self._joined
        with self._reading("vehicles"):
            names = self._file["vehicles/name"]  # of many only the one that is asked for is decoded
            count = names.shape[0] if joined is None else len(joined.demand.ids)
            if not isinstance(vehicle, str):
                number = int(vehicle)
            elif joined is not None:
                ids = joined.demand.ids
                number = ids.index(vehicle) if vehicle in ids else -1
            else:
                found = np.flatnonzero(whole(names) == vehicle.encode())
                number = int(found[0]) if found.size else -1
            if not 0 <= number < count:
                hint = id_hint(str(vehicle), self.vehicle_names())
                raise RunError(f"{self.path}: no vehicle {vehicle!r:.60}; {hint}")
            return number, names[number].decode() if joined is None else joined.demand.ids[number]

    def refresh(self) -> None:
        """Read what was written since: of a run that still goes on, its new frames."""
        self.close()
        self.__dict__.pop("keyframes", None)
        self._open()

    def _made(self, time: float) -> RecordedFrame:
        """The frame of a time, simulated from the keyframe before it, or from the frame before."""
        from rushhour.traffic.recording.resuming import frame_at, resumed

        index = self.keyframes.index
        if not len(index):
            raise RunError(f"{self.path}: holds no keyframe yet; the run was cut off at its start")
        first, last = int(index["frame"][0]), int(index["frame"][-1])
        frame = min(max(frame_at(self, time), first), last)
        world = self._world
        nearest = int(index["frame"][self.keyframes.before(frame)])
        if world is None or not nearest <= world.frame <= frame:
            self._world = world = resumed(self, frame)
        world.step(frame - world.frame)
        rows, _ = frame_rows(world)
        return RecordedFrame(world.frame, world.time, rows)

    def _shown(self) -> tuple[str, dict[str, object]]:
        facts: dict[str, object] = {"file": "closed"}
        try:
            facts = run_facts(self) if self._file else facts
        except RunError:  # said when it is read; a debugger must be able to show it
            facts = {"file": "damaged"}
        return f"Run {self.path.name}", facts

    def _repr_html_(self) -> str:
        title, facts = self._shown()
        return fact_table(title, whole_facts(self) if self._file else facts)

    def close(self) -> None:
        """Close the file."""
        self._ahead.close()
        close_parts(self.parts)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


def open_run(path: str | Path, **models: Any) -> RunFile:
    """Open a run file for reading, also after the run was killed or while it goes on.

    models: car_following and lane_change, where the run had functions of your own; see `RunFile`.

    Raises RunError if it is no run file, is damaged, or is newer than this version.

    >>> with rh.open_run("run.h5") as run:
    ...     run.positions(61.3).x, run.trajectory("car7").speed
    """
    return RunFile(path, **models)
