"""What a page is made from: a recorded run, or a recorded race, in frames of rows."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NetworkArrays
from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.positions import placed
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.words.durations import clock
from rushhour.viewer.camera import Box
from rushhour.viewer.outside import OUTSIDE, TARGET, TARGET_ID
from rushhour.viewer.page.ground import (
    Arrays,
    layer_arrays,
    light_arrays,
    network_arrays,
    race_arrays,
)
from rushhour.viewer.page.motion import NOBODY, Rows
from rushhour.viewer.race_shot import race_box, race_colours
from rushhour.viewer.race_source import RaceSource
from rushhour.viewer.raster import network_box, usual_speed
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.road_sums import RoadSums, interval_edges
from rushhour.viewer.silhouettes import CLASSES, racer_shapes, silhouette

LIGHT_LOOKS: Final = 14_400  # at signals, at most
MARGIN: Final = 30.0  # m beside a box, within which vehicles are kept


def times_between(
    times: NDArray[np.float64], begin: float | None, end: float | None, every: float, path: object
) -> NDArray[np.int64]:
    """Places of the recorded times from begin to end, at least `every` s apart. Raises RunError."""
    first = 0 if begin is None else int(np.searchsorted(times, begin - 1e-6))
    last = times.size if end is None else int(np.searchsorted(times, end + 1e-6))
    if not times.size:
        raise RunError(f"{path}: holds no frames; record it with --record-mode both")
    if first >= last:
        raise RunError(
            f"{path}: no frame was recorded between --from and --until; its frames are from "
            f"{clock(times[0])} to {clock(times[-1])}"
        )
    slots = np.floor((times[first:last] - times[first]) / max(every, 1e-3) + 1e-6)
    return first + np.unique(slots, return_index=True)[1].astype(np.int64)


Other = tuple[RunFile, str] | None


class RunTold:
    """A run file. box: only those in it, m. places: of the frames that are told. other: a run of the same
    network that its roads are compared with, and what it is called."""

    def __init__(
        self, source: RunSource, places: NDArray[np.int64], box: Box | None, other: Other = None
    ) -> None:
        self.source, self.run, self._places = source, source.run, places
        self._box, self._other = box, other
        self.times = np.asarray(self.run.times)[places]
        self.network = source.network
        lanes = self.network.arrays.lanes
        self._limit = np.maximum(lanes.speed, 0.1)
        self._vehicles = self.run.vehicles("depart").size
        kinds = self.run.ids()["type"]
        extra = ("target", "opponent") if source.chased else ("body",)
        self.kind_names = (*kinds, *extra)
        self._extra = len(kinds)
        self.body_sizes: dict[int, tuple[float, float]] = {}
        self.bodies_there = self.run.group("bodies") is not None
        self._lost = np.zeros(self._vehicles)
        self._driven = np.zeros(lanes.speed.size, np.int64)  # rows on each lane
        self._sums = self._no_sums(self.run)

    def _no_sums(self, run: RunFile) -> RoadSums:
        edges = interval_edges(float(self.times[0]), float(self.times[-1]))
        return RoadSums(self.network, edges, run.vehicles("depart").size)

    @property
    def extent(self) -> Box:
        """All that there is, m."""
        return network_box(self.network)

    @property
    def arrays(self) -> NetworkArrays | None:
        """The lanes that rows name."""
        return self.network.arrays

    def ground(self, origin: NDArray[np.float64]) -> tuple[Arrays, dict[str, Any]]:
        """What stays, and what signals show: arrays and facts."""
        arrays, facts = network_arrays(self.network, origin, self._box)
        span = float(self.times[-1] - self.times[0])
        every = max(min(1.0, span), span / LIGHT_LOOKS, 0.1)
        looks = self.times[0] + every * np.arange(int(span / every) + 1)
        arrays |= light_arrays(self.source, looks)
        other, name = None, ""
        if self._other is not None:
            run, name = self._other
            other = self._no_sums(run)
            other.add_run(run, float(np.diff(self.times).min()) if self.times.size > 1 else 0.0)
        layers, facts["layers"] = layer_arrays(self.network, self._sums, other, name)
        return arrays | layers, facts

    def facts(self, order: list[int]) -> dict[str, Any]:
        """What else is told of the vehicles of a page."""
        extra = self.kind_names[self._extra :]
        colours = {name: TARGET if name == "target" else OUTSIDE for name in extra}
        return {"race": False, "fastest": self._free(), "bodies": colours}

    def _free(self) -> float:
        """The limit that those have who drive on all but the fastest fifth of roads, m/s."""
        if not self._driven.any():
            return float(usual_speed(self.network))
        order = np.argsort(self._limit, kind="stable")
        share = np.cumsum(self._driven[order]) / self._driven.sum()
        return float(self._limit[order[np.searchsorted(share, 0.8)]])

    def counts(self) -> NDArray[np.int64] | None:
        """Vehicles in each frame; None where a box makes that unknown."""
        return None if self._box is not None else np.asarray(self.run.counts)[self._places]

    def rows(self) -> Iterator[Rows]:
        """Frame by frame; what each vehicle lost is summed over these frames."""
        self._lost[:] = 0.0
        self._sums = self._no_sums(self.run)
        return self.some(0, self.times.size)

    def some(self, first: int, last: int) -> Iterator[Rows]:
        """The frames from one to before another."""
        before = float(self.times[first])
        for k in range(first, last):
            place, time = int(self._places[k]), float(self.times[k])
            frame = self.run.frame(place)
            at = placed(self.run, frame, time)
            span, before = time - before, time
            ids = frame.id
            self._driven += np.bincount(frame.lane, minlength=self._driven.size)
            self._lost[ids] += span * np.maximum(0.0, 1.0 - at.speed / self._limit[frame.lane])
            self._sums.add(time, span, ids, frame.lane, at.speed)
            columns = frame.columns
            n = len(frame)
            nothing = np.zeros(n, np.int64)
            steer = columns.get("body_steer")
            rows = Rows(
                ids.astype(np.int64), at.x, at.y, at.heading, at.speed, frame.lane.astype(np.int64),
                columns.get("reason", nothing).astype(np.int64),
                columns.get("blocker", nothing + NOBODY).astype(np.int64),
                (columns.get("signals", nothing) & 7).astype(np.int64),
                self._lost[ids],
                np.zeros(n) if steer is None else np.nan_to_num(steer.astype(np.float64)),
            )  # fmt: skip
            if self.bodies_there:
                rows = self._with_bodies(rows, time)
            yield rows if self._box is None else within(rows, self._box)

    def _with_bodies(self, rows: Rows, time: float) -> Rows:
        """With the bodies from outside, numbered behind the vehicles."""
        there = self.source.outside(time)
        order = np.argsort(there["id"], kind="stable")
        there = there[order]
        m = len(there)
        for row in there:
            self.body_sizes[int(row["id"])] = (float(row["length"]), float(row["width"]))
        half = 0.5 * there["length"]
        none = np.zeros(m, np.int64)
        more = Rows(
            there["id"].astype(np.int64) + self._vehicles,
            there["x"] + half * np.cos(there["heading"]),
            there["y"] + half * np.sin(there["heading"]),
            there["heading"].astype(float), np.hypot(there["vx"], there["vy"]), none - 1, none,
            none - 1, none, np.zeros(m), np.zeros(m),
        )  # fmt: skip
        names = Rows.__dataclass_fields__
        return Rows(*(np.concatenate((getattr(rows, k), getattr(more, k))) for k in names))

    def name(self, vehicle: int) -> str:
        """Of a vehicle, or of a body from outside."""
        if vehicle < self._vehicles:
            return self.run.vehicle_names()[vehicle]
        body = vehicle - self._vehicles
        if not self.source.chased:
            return f"body {body}"
        return "target" if body == TARGET_ID else f"opponent {body}"

    def size(self, vehicle: int) -> tuple[float, float]:
        """Length and width, m."""
        if vehicle >= self._vehicles:
            return self.body_sizes[vehicle - self._vehicles]
        run = self.run
        return float(run.vehicles("length")[vehicle]), float(run.vehicles("width")[vehicle])

    def kind(self, vehicle: int) -> int:
        """Row of kind_names."""
        if vehicle < self._vehicles:
            return int(self.run.vehicles("type")[vehicle])
        chased = self.source.chased and vehicle - self._vehicles != TARGET_ID
        return self._extra + int(chased)

    def shape(self, vehicle: int) -> int:
        """What it looks like, of CLASSES."""
        if vehicle >= self._vehicles:
            kind = self.kind_names[self.kind(vehicle)]
            return CLASSES.index(kind)
        length, width = self.size(vehicle)
        return silhouette(self.kind_names[self.kind(vehicle)], length, width)


def within(rows: Rows, box: Box) -> Rows:
    """Those in a box, and MARGIN m beside it."""
    x0, y0, x1, y1 = box
    kept = (rows.x > x0 - MARGIN) & (rows.x < x1 + MARGIN)
    kept &= (rows.y > y0 - MARGIN) & (rows.y < y1 + MARGIN)
    return Rows(*(getattr(rows, name)[kept] for name in Rows.__dataclass_fields__))


class RaceTold:
    """A recorded race. places: of the times that are told."""

    def __init__(self, source: RaceSource, places: NDArray[np.int64], box: Box | None) -> None:
        self.source, self.record = source, source.record
        self.times = np.asarray(self.record.time)[places]
        self._box = box
        self.kind_names = ("racer",)

    @property
    def extent(self) -> Box:
        """All that there is, m."""
        return race_box(self.record)

    @property
    def arrays(self) -> NetworkArrays | None:
        """A race has no lanes."""
        return None

    def ground(self, origin: NDArray[np.float64]) -> tuple[Arrays, dict[str, Any]]:
        """What stays: arrays and facts."""
        return race_arrays(self.source, origin)

    def facts(self, order: list[int]) -> dict[str, Any]:
        """What else is told of the racers of a page."""
        finish = self.record.finish[order].tolist()
        return {
            "race": True,
            "fastest": self.source.fastest,
            "racers": race_colours(len(order)).tolist(),
            "finish": [round(time, 2) if np.isfinite(time) else None for time in finish],
        }

    def counts(self) -> NDArray[np.int64] | None:
        """Racers in each frame; None where a box makes that unknown."""
        if self._box is not None:
            return None
        return np.asarray(np.isfinite(self.record.at(self.times)[..., 0]).sum(axis=1))

    def rows(self) -> Iterator[Rows]:
        """Frame by frame."""
        return self.some(0, self.times.size)

    def some(self, first: int, last: int) -> Iterator[Rows]:
        """The frames from one to before another."""
        for time in self.times[first:last].tolist():
            at = self.source.at(time)
            n = len(at)
            none = np.zeros(n, np.int64)
            rows = Rows(
                at.id.astype(np.int64), at.x, at.y, at.heading, at.speed, none - 1, none, none - 1,
                none, np.zeros(n), at.columns.get("body_steer", np.zeros(n)),
            )  # fmt: skip
            yield rows if self._box is None else within(rows, self._box)

    def name(self, vehicle: int) -> str:
        """Of a racer."""
        return self.source.vehicle_name(vehicle)

    def size(self, vehicle: int) -> tuple[float, float]:
        """Length and width, m."""
        return float(self.record.length[vehicle]), float(self.record.width[vehicle])

    def kind(self, vehicle: int) -> int:
        """There is one kind."""
        return 0

    def shape(self, vehicle: int) -> int:
        """By its width."""
        return int(racer_shapes(self.record.width)[vehicle])
