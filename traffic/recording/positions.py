"""Where the vehicles of a recorded run were at any time: between two frames, along their lanes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.lanes_passed import go_between, note_lane_changes
from rushhour.kernels.pose import place_all_bodies
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.roadnets.tables import as_frame
from rushhour.traffic.recording.recorded_frame import RecordedFrame

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

    def __len__(self) -> int:
        return len(self.id)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Raises NetworkError if pandas is not installed."""
        names = ("id", "x", "y", "heading", "speed")
        return as_frame({name: getattr(self, name) for name in names})


def positions_at(run: "RunFile", time: float) -> Positions:
    """Positions at a time in s; before the first recorded frame those in it, likewise after the last.

    A vehicle drives evenly from where a frame has it to where the next one has it, along the lanes
    between; where it changes lane, straight across. One that the next frame lacks stays.
    """
    if not run.frames.size:
        return placed(run, run.at(time), time)
    i = max(0, int(np.searchsorted(run.times, time + 1e-9, side="right")) - 1)
    frame = run.frame(i)
    if i + 1 >= run.frames.size or time <= frame.time + 1e-9:
        return placed(run, frame, frame.time)
    later = run.frame(i + 1)
    share = (time - frame.time) / (later.time - frame.time)
    _, a, b = np.intersect1d(frame.id, later.id, assume_unique=True, return_indices=True)
    start = _Places(run, frame, np.arange(len(frame)))
    end = _Places(run, later, b)
    ways = run.ways
    lane, s = start.lane[a], start.s[a]
    changes = np.zeros(len(a), np.bool_)
    note_lane_changes(ways, lane, end.lane, changes)
    go_between(ways, lane, s, end.lane, end.s, share)
    pose = start.pose()
    final = end.pose()
    lateral = start.lateral[a] + share * (end.lateral - start.lateral[a])
    start.lane[a], start.s[a], start.lateral[a] = lane, s, lateral
    between = start.pose()
    across = pose[a[changes]]
    across[:, :2] += share * (final[changes, :2] - across[:, :2])
    between[a[changes]] = across
    speed = frame.speed.astype(np.float64)
    speed[a] += share * (later.speed[b] - speed[a])
    return _positions(time, frame.id, between, speed)


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

    def pose(self) -> NDArray[np.float64]:
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
