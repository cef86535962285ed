"""Where the vehicles of a recorded run were at any time: between two frames, along their lanes.

A body that steers is beside its lane, by so much in one frame and by so much in the next; between
them it drives along the lane, and what it is beside goes evenly from the one to the other.
"""

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.next_lanes import go_between, note_lane_changes
from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.geometry.pose import place_all_bodies
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.roadnets.tables import as_frame
from rushhour.traffic.recording.recorded_frame import RecordedFrame
from rushhour.traffic.steering.body_table import wrapped

Box = tuple[float, float, float, float]  # x0, y0, x1, y1, m
LONGEST_TURN: Final = 2.0  # s between frames within which a body turns evenly, not as its lane does

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile


@dataclass(frozen=True)
class Positions:
    """Vehicles at one time, sorted by id: arrays (n,)."""

    time: float  # s
    id: NDArray[np.int32]
    x: NDArray[np.float64]  # m, of the front bumper's middle
    y: NDArray[np.float64]  # m
    heading: NDArray[np.float64]  # rad from east, counter-clockwise
    speed: NDArray[np.float64]  # m/s

    def __repr__(self) -> str:
        return fields_shown(self)

    def __len__(self) -> int:
        return len(self.id)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Raises NetworkError if pandas is not installed."""
        names = ("id", "x", "y", "heading", "speed")
        return as_frame({name: getattr(self, name) for name in names})


def positions_at(run: "RunFile", time: float) -> Positions:
    """Positions at a time in s; before the first recorded frame those in it, likewise after the last.

    A vehicle drives evenly from where a frame has it to where the next one has it, along the lanes
    between; where it changes lane, straight across. One that the next frame lacks stays. A body
    that steers is in both frames exactly where it was.
    """
    if not run.frames.size:
        return placed(run, run.at(time), time)
    return Between(run, frame_before(run, time)).at(time)


def frame_before(run: "RunFile", time: float) -> int:
    """Place of the last frame recorded at or before a time in s, of the first if there is none."""
    return max(0, int(np.searchsorted(run.times, time + 1e-9, side="right")) - 1)


class Between:
    """The time from a recorded frame to the next one, made ready for asking often.

    frame: the first of them, the i-th. Raises RunError for lanes or vehicles that there are not.
    """

    def __init__(self, run: "RunFile", i: int) -> None:
        self.frame = frame = run.frame(i)
        n = len(frame)
        self._start = _Places(run, frame, np.arange(n))
        pose = self._start.pose()
        self._x, self._y, self._heading = pose.T.copy()
        self._speed = frame.speed.astype(np.float64)
        self._end_time = float(run.times[i + 1]) if i + 1 < run.frames.size else frame.time
        self._run, self._next, self._ready = run, i + 1, False
        self._pose = pose

    def _make_ready(self) -> None:
        """Read the next frame: not before somebody asks for a time between the two."""
        if self._ready:
            return
        self._ready = True
        run, frame, n = self._run, self.frame, len(self.frame)
        # How far each is at the next frame, straight across; who is not in it stays.
        self._far_x, self._far_y, self._faster = np.zeros(n), np.zeros(n), np.zeros(n)
        self._turn, self._steers = np.zeros(n), self._start.steers.copy()
        later = run.frame(self._next)
        a, b = _in_both(frame.id, later.id)
        end = _Places(run, later, b)
        there = end.pose()
        self._far_x[a], self._far_y[a] = there[:, 0] - self._x[a], there[:, 1] - self._y[a]
        self._faster[a] = later.speed[b] - frame.speed[a]
        self._ways = run.ways
        changes = np.zeros(len(a), np.bool_)
        note_lane_changes(self._ways, self._start.lane[a], end.lane, changes)
        on = np.flatnonzero(~changes)
        self._rows = a[on]  # of those who go along lanes
        self._end = end.chosen(on)
        self._steers[a] |= end.steers
        if later.time - frame.time > LONGEST_TURN:
            self._steers[:] = False
        some = self._steers[a]
        self._turn[a[some]] = wrapped(there[some, 2] - self._heading[a[some]])
        # How far bodies that steer are beside their lanes here and there, m; None: nobody steers.
        self._beside: NDArray[np.float64] | None = None
        if self._start.steers.any() or end.steers.any():
            self._beside = (self._pose - self._start.along())[self._rows, :2]
            self._beside_then = (there - end.along())[on, :2]

    def at(self, time: float, near: Box | None = None) -> Positions:
        """Where the vehicles of the frame are at a time in s; behind the next frame as in that.

        near: x0, y0, x1, y1, m: only who is there in one of the two frames is placed along the lanes,
        all others straight between their places, which is quicker; None: everybody along the lanes.
        """
        frame = self.frame
        span = self._end_time - frame.time
        if span <= 0.0 or time <= frame.time + 1e-9:
            return Positions(
                frame.time, frame.id, self._x.copy(), self._y.copy(), self._heading.copy(),
                self._speed.copy(),
            )  # fmt: skip
        self._make_ready()
        share = min(1.0, (time - frame.time) / span)
        x, y = self._x + share * self._far_x, self._y + share * self._far_y
        heading = self._heading + share * self._turn
        speed = self._speed + share * self._faster
        chosen = self._near(near)
        if not len(chosen):
            return Positions(time, frame.id, x, y, heading, speed)
        rows, start, end = self._rows[chosen], self._start, self._end
        lane, s = start.lane[rows], start.s[rows]
        go_between(self._ways, lane, s, end.lane[chosen], end.s[chosen], share)
        lateral = start.lateral[rows] + share * (end.lateral[chosen] - start.lateral[rows])
        pose = start.chosen(rows).at(lane, s, lateral).along()
        if self._beside is not None:
            pose[:, :2] += self._beside[chosen]
            pose[:, :2] += share * (self._beside_then[chosen] - self._beside[chosen])
        x[rows], y[rows] = pose[:, 0], pose[:, 1]
        heading[rows] = np.where(self._steers[rows], heading[rows], pose[:, 2])
        return Positions(time, frame.id, x, y, heading, speed)

    def _near(self, box: Box | None) -> NDArray[np.intp]:
        """Which of those who go along lanes are in a box in one of the frames."""
        if box is None:
            return np.arange(len(self._rows))
        x0, y0, x1, y1 = box
        found = np.zeros(len(self._x), np.bool_)
        if x0 < x1 and y0 < y1:
            for share in (0.0, 1.0):
                x, y = self._x + share * self._far_x, self._y + share * self._far_y
                found |= (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
        return np.flatnonzero(found[self._rows])


def _in_both(
    before: NDArray[np.int32], later: NDArray[np.int32]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows, in one frame and in the other, of the vehicles that are in both; ids are ascending."""
    if np.array_equal(before, later):
        rows = np.arange(before.size)
        return rows, rows
    if not later.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    at = np.minimum(np.searchsorted(later, before), later.size - 1)
    there = np.flatnonzero(later[at] == before)
    return there, at[there]


class _Places:
    """Places of vehicles of a frame, as kernels take them."""

    def __init__(self, run: "RunFile", frame: RecordedFrame, rows: NDArray[np.int64]) -> None:
        self._network: Network = run.network()
        self.lane = frame.lane[rows]
        self.s = frame.s[rows].astype(np.float64)
        if "lateral" in frame.columns:
            self.lateral = frame.lateral[rows].astype(np.float64)
        else:
            self.lateral = np.zeros(len(rows))
        lengths = run.vehicles("length")
        ids = frame.id[rows]
        if ids.size and not (0 <= int(ids.min()) and int(ids.max()) < lengths.size):
            raise RunError(f"{run.path}: a frame has a vehicle that there is not; record it again")
        if self.lane.size and not 0 <= self.lane.min() <= self.lane.max() < self._network.n_lanes:
            raise RunError(f"{run.path}: a frame has a lane that there is not; record it again")
        self.length = lengths[ids].astype(np.float64)
        self._bodies: NDArray[np.float64] | None = None  # x, y, heading; NaN: it has none
        if "body_x" in frame.columns:
            names = ("body_x", "body_y", "body_heading")
            self._bodies = np.column_stack([frame.columns[name][rows] for name in names])

    @property
    def steers(self) -> NDArray[np.bool_]:
        """Who has a body that steers."""
        if self._bodies is None:
            return np.zeros(self.lane.size, np.bool_)
        return np.isfinite(self._bodies[:, 0])

    def chosen(self, rows: NDArray[np.intp]) -> "_Places":
        """Those of some rows."""
        other = self.at(self.lane[rows], self.s[rows], self.lateral[rows])
        other.length = self.length[rows]
        if self._bodies is not None:
            other._bodies = self._bodies[rows]
        return other

    def at(
        self, lane: NDArray[np.int32], s: NDArray[np.float64], lateral: NDArray[np.float64]
    ) -> "_Places":
        """The same vehicles, elsewhere."""
        other = copy(self)
        other.lane, other.s, other.lateral = lane, s, lateral
        return other

    def pose(self) -> NDArray[np.float64]:
        """x, y (m) of the fronts, and headings, (n, 3)."""
        pose = self.along()
        if self._bodies is not None:
            steers = self.steers
            pose[steers] = self._bodies[steers]
        return pose

    def along(self) -> NDArray[np.float64]:
        """The same as if everybody was on the lane."""
        network = self._network
        pose = np.zeros((self.lane.size, 3))
        place_all_bodies(
            network.points, network.station, network.point_start, self.lane, self.s, self.lateral,
            self.length, pose,
        )  # fmt: skip
        return pose


def placed(run: "RunFile", frame: RecordedFrame, time: float) -> Positions:
    """Where a frame's own vehicles are. Raises RunError for lanes or vehicles that there are not."""
    pose = _Places(run, frame, np.arange(len(frame))).pose()
    return _positions(time, frame.id, pose, frame.speed.astype(np.float64))


def _positions(
    time: float, id: NDArray[np.int32], pose: NDArray[np.float64], speed: NDArray[np.float64]
) -> Positions:
    x, y, heading = pose.T.copy()
    return Positions(time, id, x, y, heading, speed)
