"""Which part of a recorded run is wanted: a span of time, roads, vehicles; and its frames in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.id_hints import id_hint
from rushhour.traffic.readings.vehicle_table import bodies_raised
from rushhour.traffic.recording.positions import placed
from rushhour.traffic.recording.recorded_frame import RecordedFrame
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.places_named import lanes_of_run

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

SLACK: Final = 1e-6  # s by which times may differ and be the same


@dataclass(frozen=True)
class Chosen:
    """What of a run is wanted. begin, end: s, both included; None: all.

    roads: ids, or names of streets; vehicles: ids; (): all.
    """

    begin: float | None = None
    end: float | None = None
    roads: tuple[str, ...] = ()
    vehicles: tuple[str, ...] = ()


EVERYTHING: Final = Chosen()


@dataclass(frozen=True)
class Rows:
    """The chosen vehicles of one frame, sorted by number: arrays (n,)."""

    index: int  # of the frame in the file
    frame: RecordedFrame
    keep: NDArray[np.bool_]  # rows of the frame that were chosen
    x: NDArray[np.float64]  # m, of the front bumper's middle
    y: NDArray[np.float64]  # m
    heading: NDArray[np.float64]  # rad from east, counter-clockwise

    def __len__(self) -> int:
        return len(self.x)

    def field(self, name: str) -> NDArray[Any]:
        """A recorded field of the chosen vehicles."""
        return np.asarray(getattr(self.frame, name)[self.keep])


class ChosenFrames:
    """The chosen part of a run, frame by frame: no more than a block of frames is in memory.

    Raises RunError where the run has no frames, no such road or vehicle, or nothing in that time.
    """

    def __init__(self, run: "RunFile", chosen: Chosen = EVERYTHING) -> None:
        self.run = run
        want_frames(run)
        self.places = _places_in(run, chosen)
        network = run.network()
        self._lanes: NDArray[np.bool_] | None = None
        if chosen.roads:
            self._lanes = np.zeros(network.n_lanes, np.bool_)
            for name in chosen.roads:
                self._lanes[lanes_of_run(network, run.path, name)] = True
        self._count = run.vehicles("depart").size
        self._vehicles: NDArray[np.bool_] | None = None
        if chosen.vehicles:
            names = run.vehicle_names()
            index = {name: i for i, name in enumerate(names)}
            self._vehicles = np.zeros(len(names), np.bool_)
            for name in chosen.vehicles:
                self._vehicles[_known(run, "vehicle", name, index, names)] = True

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Rows]:
        for i in self.places:
            frame = self.run.frame(i)
            where = placed(self.run, frame, frame.time)  # checks lanes and vehicles, too
            self._want_known(frame)
            keep = np.ones(len(frame), np.bool_)
            if self._lanes is not None:
                keep &= self._lanes[frame.lane]
            if self._vehicles is not None:
                keep &= self._vehicles[frame.id]
            yield Rows(i, frame, keep, where.x[keep], where.y[keep], where.heading[keep])

    def _want_known(self, frame: RecordedFrame) -> None:
        """Refuse a frame of a damaged file in which somebody waits for nobody that there is."""
        blocker = frame.columns.get("blocker")
        if blocker is not None and blocker.size:
            if not -1 <= int(blocker.min()) <= int(blocker.max()) < self._count:
                raise RunError(
                    f"{self.run.path}: a frame has a blocker that there is not; record it again"
                )


def height_and_slope(
    frames: ChosenFrames, rows: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Height of the road under the fronts, m, and its rise along their lanes, rad."""
    lane, s = rows.field("lane").astype(np.int32), rows.field("s").astype(np.float64)
    raised = bodies_raised(frames.run.network(), lane, s, np.zeros(s.size))
    return raised[:, 0], raised[:, 1]


def want_frames(run: "RunFile") -> None:
    """Refuse a run without recorded frames."""
    if not run.frames.size:
        raise RunError(
            f"{run.path}: holds no recorded frames; make them from its keyframes by `rushhour run "
            f"--resume {run.path.name} --at T --record FILE`, or record it again without "
            "--record-mode keyframes"
        )


def _places_in(run: "RunFile", chosen: Chosen) -> range:
    times = run.times
    begin = -np.inf if chosen.begin is None else chosen.begin
    end = np.inf if chosen.end is None else chosen.end
    if end < begin:
        raise RunError(f"--from {clock(begin)} --to {clock(end)}: wanted a time and a later one")
    first = int(np.searchsorted(times, begin - SLACK, side="left"))
    last = int(np.searchsorted(times, end + SLACK, side="right"))
    if begin == end and first == last:  # one instant: the frame that shows it
        first = last - 1
    if first >= last or begin > times[-1] + SLACK or first < 0:
        words = (("from", chosen.begin), ("to", chosen.end))
        given = " ".join(f"{word} {clock(t)}" for word, t in words if t is not None)
        raise RunError(
            f"{run.path}: no recorded frame {given}; it holds {clock(times[0])} to "
            f"{clock(times[-1])}"
        )
    return range(first, last)


def _known(
    run: "RunFile", what: str, name: str, index: dict[str, int], names: Sequence[str]
) -> int:
    """The number of an id. Raises RunError that names ids like it."""
    if name in index:
        return index[name]
    raise RunError(f"{run.path}: no {what} {name[:60]!r}; {id_hint(name, names)}")
