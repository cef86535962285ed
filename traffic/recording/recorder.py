"""Writing the run file: one HDF5 file that holds a run (docs/file-format.md).

Frames are gathered in memory and written in blocks. The file is in HDF5's single-writer mode, and
a block's rows are on disk before the frames that point at them, so that a run killed at any moment
leaves a file that opens with every flushed frame.
"""

from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Self

import h5py
import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.storage import write_network
from rushhour.traffic.liveness.standstill import StandstillError
from rushhour.traffic.ranks.recorded import RecordedPart
from rushhour.traffic.recording.demand_file import write_demand
from rushhour.traffic.recording.failing_file import never_close, unwritable
from rushhour.traffic.recording.frame_blocks import Coding
from rushhour.traffic.recording.frame_fields import (
    FULL,
    PACKINGS,
    PLAIN,
    PRECISIONS,
    STANDARD,
    chosen_fields,
    ways_of,
)
from rushhour.traffic.recording.frame_taking import FrameTaker, Region
from rushhour.traffic.recording.frame_writer import FrameWriter, append
from rushhour.traffic.recording.happenings import Happenings
from rushhour.traffic.recording.kept import kept_until_begun, refuse_foreign
from rushhour.traffic.recording.keyframe_file import KeyframeWriter
from rushhour.traffic.recording.measure_file import TableWriter
from rushhour.traffic.recording.pose_file import PoseWriter
from rushhour.traffic.recording.run_layout import (
    BOTH,
    FORMAT,
    FORMAT_VERSION,
    FRAMES,
    KEYFRAMES,
    MODES,
    PART_FORMAT,
    PARTED_VERSION,
    RANKS,
    RECORDING,
    write_meta,
    write_vehicles,
)
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.world import World

GO_ON, END = "go_on", "end"
ON_FULL: Final = (GO_ON, END)
KEYFRAME_EVERY: Final = 300.0  # s of simulated time
FLUSH_ROWS: Final = 1 << 20  # rows gathered, at most
FLUSH_SECONDS: Final = 2.0  # wall time between two blocks, at most
# Bytes that a row is reckoned with where the file must not become larger than so much.
LARGE_ROW: Final = {STANDARD: 12, FULL: 60}
LARGE_POSE: Final = {STANDARD: 14, FULL: 36}  # of a body that steers
LARGE_KEYFRAME: Final = 600  # bytes a vehicle
LARGE_TRIP: Final = 100  # bytes in /trips
LARGE_COMMAND: Final = 300  # bytes
LARGE_MEASURE: Final = 120  # bytes of a row
AFTER_LAST: Final = 3600.0  # s from the last departure to the end, where nobody says when that is
ROOM_TO_JOIN: Final = 1 << 16  # vehicles that may join while it is written
TAIL: Final = 1 << 16  # bytes for what closing the file writes


class Recorder:
    """Writes a world to a run file, a frame now and then, and its complete state now and then.

    every: s of simulated time between two recorded frames, rounded to whole frames. An existing
    run file is replaced; any other file is refused with RunError, as is a path that cannot be
    written. Use as an observer of the world, or call `record` where you want a frame. measures:
    their tables are written, too; closing the file ends their running intervals.
    mode: "frames", "keyframes" (the complete state, from which a run can be resumed) or "both".
    keyframe_every: s between two keyframes; the first is written at once, the last on closing.
    until: s, when the run is meant to end, and give_up_after: s without anybody moving after which
    it is, for who resumes it.
    precision: "standard" (s to 2 cm, speed to 0.05 m/s) or "full" (as simulated). packing: "plain", or
    "huffman" for a smaller file that takes more time. fields: names of those to record, default all. region: x0, y0, x1, y1 in m of the network: only vehicles in it.
    most: bytes that the file may have; before it has more no frames and keyframes are recorded any
    more, and `remarks` says so. on_full: what a disk that is full (or fails otherwise) ends while frames are
    written: "end", the run, by a RunError, or "go_on", the recording only, of which `remarks` and tell(what)
    say so. What was on the disk by then stays readable.

    >>> with Recorder("run.h5", world, every=1.0) as recorder:
    ...     world.observers.append(recorder)
    ...     world.step(1000)
    """

    def __init__(
        self, path: str | Path, world: "World", every: float = 1.0,
        measures: "Measures | None" = None, *, mode: str = BOTH,
        keyframe_every: float = KEYFRAME_EVERY, until: float | None = None,
        precision: str = STANDARD, packing: str = PLAIN, fields: Iterable[str] | None = None,
        region: Region | None = None, most: int | None = None, give_up_after: float | None = None,
        on_full: str = END, tell: Callable[[str], None] = lambda what: None,
    ) -> None:  # fmt: skip
        for what, given, known in (
            ("on full", on_full, ON_FULL),
            ("mode", mode, MODES),
            ("precision", precision, PRECISIONS),
            ("packing", packing, PACKINGS),
        ):
            if given not in known:
                raise RunError(f"record {what} {given[:40]!r}: wanted one of {', '.join(known)}")
        for what, span in (("every", every), ("keyframe_every", keyframe_every)):
            if not 0.0 < span < inf:
                raise RunError(f"record {what} {span:g}: wanted more than 0 s; choose another")
        self.precision = precision
        self.packing = packing
        self.fields = chosen_fields(fields)
        self.most = most
        self.on_full = on_full
        self._tell = tell
        self.remarks: list[str] = []
        self._taker = FrameTaker(world, self.fields, precision == FULL, region)
        self._part = RecordedPart(world.sim)
        self.in_parts = self._part.ranks > 1  # so each frame is looked at before all come together
        self.path = self._part.path(Path(path))
        self.mode = mode
        self.until = until
        self.give_up_after = give_up_after
        self.world = world
        self.measures = measures
        self.every = max(1, round(every / world.dt))
        self.keyframe_every = max(1, round(keyframe_every / world.dt))
        self._keyframes: KeyframeWriter | None = None
        self._handed_over_at = monotonic()
        self._last = self._looked_at = -1
        self._size = 0  # bytes of the file when it was written to last
        self._keyframe_size = 0  # bytes of the largest
        self._full = False  # nothing more fits into it
        self._agreed = False  # so all ranks know
        self._data: dict[str, Any] = {}
        self._tables: TableWriter | None = None  # of the first rank
        self._failed = False
        refuse_foreign(self.path)
        with kept_until_begun(self.path):
            self._begin()
        if self.in_parts and self.mode != FRAMES:
            self._part.domain.keep(self.keyframe_every)
        self.observe()
        if self.in_parts:
            self.observe()

    def _begin(self) -> None:
        """Make the file, with all but frames in it."""
        most = self.most
        try:
            self._file = h5py.File(self.path, "w", libver="latest")
        except OSError as error:
            raise RunError(unwritable(self.path, error)) from error
        try:
            self._lay_out()
            self._file.swmr_mode = True
            self._file.flush()
        except (OSError, RuntimeError) as error:  # the latter: h5py's, as swmr mode begins
            raise self._failure(error) from error
        self._size = self.path.stat().st_size
        least = 0 if most is None else self._reckoned()
        if most is not None and least > most:
            self._frames.stop()
            self._file.close()
            self.path.unlink()
            raise RunError(
                f"record max {most:,} bytes: network, trips, measures and one frame may take {least:,}; "
                "allow more"
            )

    def observe(self) -> None:
        """Record the frame if it is due, and the complete state if that is.

        On ranks it is called twice: before all come together, who look at the frame, and afterwards.
        """
        frame = self.world.frame
        if frame != self._looked_at:
            self._looked_at = frame
            self._look()
            if self.in_parts:
                return
        if self._keyframes is not None:
            if frame % self.keyframe_every == 0 or self._keyframes.last < 0:
                self.write_keyframe()

    def _look(self) -> None:
        """Record the frame if it is due, and note what happened in it."""
        frame = self.world.frame
        if not self._full:
            self._happenings.look_at_signals()
            self._happenings.look_at_choices()
            self._happenings.look_at_bodies()
            if frame % self.every == 0:
                self._happenings.gather()
        if self.mode != KEYFRAMES and frame % self.every == 0:
            self.record()
        elif monotonic() - self._handed_over_at >= FLUSH_SECONDS:
            self._hand_over()

    def record(self) -> None:
        """Record the world as it stands; a frame is recorded once."""
        world = self.world
        if world.frame == self._last or not self._fits():
            return
        self._last = world.frame
        digest = self._taker.take(self._frames.rows)
        self._frames.add(world.frame, world.time, digest)
        waited = monotonic() - self._handed_over_at
        if self._frames.gathered >= FLUSH_ROWS or waited >= FLUSH_SECONDS:
            self._hand_over()

    def write_keyframe(self) -> None:
        """Write the complete state of the world as it stands, unless the mode is "frames"."""
        if self._keyframes is None or not self._fits():
            return
        if self.measures is not None and self.measures in self.world.observers:  # maybe later on
            self.measures.observe()
        self.flush()
        if self._failed:
            return
        before = self._size
        try:
            self._keyframes.write(self._file.flush)
        except (OSError, RuntimeError) as error:
            self._give_up(error)
            return
        self._size = self.path.stat().st_size
        self._keyframe_size = max(self._keyframe_size, self._size - before)

    def flush(self) -> None:
        """Bring everything recorded so far to the disk."""
        self._hand_over(finish=True)

    def _hand_over(self, finish: bool = False) -> None:
        """Write the trips that finished, the intervals that ended and the frames that are ready.

        finish: wait until all frames are.
        """
        self._handed_over_at = monotonic()
        if self._failed:
            return
        try:
            for source in (self._tables, self._happenings):
                for data, values in source.new_rows() if source is not None else ():
                    append(data, values)
            if finish:
                self._frames.finish()
            else:
                self._frames.hand_over()
        except (OSError, RuntimeError) as error:
            self._give_up(error)
            return
        self._size = self.path.stat().st_size

    def _fits(self) -> bool:
        """Whether the file may still grow by a frame and a keyframe; remarks once if not.

        All ranks come to the same.
        """
        if self._agreed:
            return False
        if len(self.world.demand) > self._room and not self._full:
            self._end(f"the file has room for {self._room:,} vehicles; begin another one")
        if self.most is not None and self._reckoned() > self.most:
            self.flush()  # what waited is smaller than it was reckoned, as a rule
            if self._reckoned() > self.most and not self._full:
                self._end(f"the file would have more than {self.most:,} bytes")
        self._agreed = bool(self._part.summed(int(self._full))[0])
        self._full = self._full or self._agreed
        return not self._full

    def _reckoned(self) -> int:
        """Bytes that the files of all ranks have at most with one more frame and keyframe."""
        return self._part.summed(0 if self._full else self._largest())[0]

    def _end(self, why: str) -> None:
        """Record no more frames, keyframes and bodies from outside, and say why."""
        self._full = True
        if self._tables is not None:
            self._tables.bodies.stop()
        self.remarks.append(f"nothing is recorded from {clock(self.world.time)} on: {why}")

    def _give_up(self, error: Exception) -> None:
        """Go on without the recording, or raise RunError, by `on_full`."""
        failure = self._failure(error)
        self._full = True
        if self.on_full == END:
            raise failure from error
        self._end(f"{failure}; what was written before can be read")
        self._tell(self.remarks[-1])

    def _largest(self) -> int:
        """Bytes that the file has at most with one more frame and one more keyframe."""
        vehicles = min(self.world.sim.veh.lane.size, len(self.world.demand)) // self._part.ranks + 1
        rows = self._frames.waiting + vehicles
        state = 0 if self._keyframes is None else self._keyframe_size + LARGE_KEYFRAME * vehicles
        frames = LARGE_ROW[self.precision] * rows
        if self._taker.tells_bodies:
            frames += LARGE_POSE[self.precision] * rows
        return (
            self._size
            + frames
            + state
            + (0 if self._tables is None else self._tables.bodies.waiting + self._tables_to_come())
            + TAIL
        )

    def _tables_to_come(self) -> int:
        """Bytes that are written to the end whatever fits: of trips, commands and measures."""
        world, measures = self.world, self.measures
        trips = len(world.demand) - len(world.trips)
        size = LARGE_TRIP * trips + LARGE_COMMAND * len(world.commands.coming)
        if measures is None:
            return size
        last = float(world.demand.depart.max(initial=world.time))
        end = max(world.time, last) + AFTER_LAST if self.until is None else self.until
        left = max(0.0, end - world.time) / world.dt
        return size + LARGE_MEASURE * (measures.rows_within(left) + trips * measures.n_sections)

    def close(self, whole: bool = True, complete: bool = True) -> None:
        """Write what is left and close the file; may be called twice.

        whole: the world stands between two frames, so its state is worth a keyframe. complete: it
        came to its end; else the file is as that of a killed run, and resuming goes on to that end.
        """
        if not self._file or (self._failed and not self.in_parts):
            return
        if not self._full:
            self._happenings.gather()
        if whole:
            self.write_keyframe()  # with the running intervals, which may go on
        if self.measures is not None and self.measures.parts.complete:  # else another rank is lost
            self.measures.finish()
        self.flush()
        if self._failed:
            return
        self._happenings.stop()
        try:
            self._data["complete"][()] = int(complete)
            self._frames.stop()
            if self._tables is not None:
                self._tables.bodies.stop()
            self._data.clear()
            self._file.close()
        except (OSError, RuntimeError) as error:
            self._give_up(error)

    def told(self) -> tuple[int, list[str]]:
        """Bytes that were written, and remarks; of all ranks, which call it together."""
        return self._part.summed(self.path.stat().st_size)[0], self._part.listed(self.remarks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *reason: object) -> None:
        whole = kind is None or kind is StandstillError
        # Another rank was lost: the run ends as that one, which was killed. mpi4py is an extra.
        lost = str(getattr(kind, "__module__", "")).startswith("mpi4py")
        self.close(whole, complete=not lost)

    def _failure(self, error: Exception) -> RunError:
        """Give the file up: what was flushed before stays readable."""
        self._failed = True
        never_close(self._file, *self._data.values())
        return RunError(unwritable(self.path, error))

    def __repr__(self) -> str:
        dt, facts = self.world.dt, {"mode": self.mode}
        facts["frames every"] = f"{self.every * dt:g} s"
        facts["keyframes every"] = f"{self.keyframe_every * dt:g} s"
        return fact_line(f"Recorder of {self.path.name}", facts)

    def _lay_out(self) -> None:
        world, file = self.world, self._file
        file.attrs["format"] = PART_FORMAT if self._part.rank else FORMAT
        file.attrs["format_version"] = PARTED_VERSION if self.in_parts else FORMAT_VERSION
        if self.in_parts:
            file.attrs[RANKS], file.attrs[RECORDING] = self._part.ranks, self._part.name()
        if self._part.rank == 0:
            self._lay_out_run()
        else:
            self._data["complete"] = file.create_dataset("complete", data=np.uint8(0))
        self._happenings = Happenings(file, world, self._data)
        if self.mode != FRAMES:
            self._keyframes = KeyframeWriter(
                file, world, self.keyframe_every, self._data, self.measures
            )
        network = world.sim.whole.arrays
        ways = ways_of(network.lanes.out_start, network.connectors.to_lane, network.lanes.length)
        self._room = len(world.demand) + ROOM_TO_JOIN
        exact = self.precision == FULL
        coding = Coding(ways, self._room, world.dt, exact)
        frames = file.create_group("frames")
        frames.attrs["vehicles"] = self._room
        poses = PoseWriter(file, self._data, exact) if self._taker.tells_bodies else None
        self._frames = FrameWriter(
            frames, self._data, file.flush, coding, self.fields, poses, self.packing
        )

    def _lay_out_run(self) -> None:
        """What only the first rank's file has."""
        world, file = self.world, self._file
        self._data["complete"] = write_meta(
            file.create_group("meta"), world, self.mode, self.every, self.until
        )
        if self.give_up_after is not None:
            file["meta"].attrs["give_up_after"] = self.give_up_after
        write_network(file.create_group("network"), world.sim.whole)
        write_vehicles(file.create_group("vehicles"), world)
        write_demand(file.create_group("demand"), world.sim.first_demand)
        self._tables = TableWriter(file, world, self.measures, self._data)
