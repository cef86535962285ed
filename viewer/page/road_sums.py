"""What was driven on each road in intervals: vehicle-seconds, standing ones, vehicle-metres and the time lost.

Flow, density and speed are those of Edie (1963): distances and times of all, over the area of a road's
length and an interval, so that they hold whatever the interval is.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.traffic.recording.run_file import RunFile

LEAST: Final = 60.0  # s of an interval
MOST: Final = 60  # intervals
STANDS: Final = 1.4  # m/s, below which somebody counts as standing, as in queues


class RoadSums:
    """Sums of frames at times (k,), s."""

    def __init__(self, network: Network, times: NDArray[np.float64]) -> None:
        begin, end = float(times[0]), float(times[-1])
        self.span = max(LEAST, LEAST * np.ceil((end - begin) / MOST / LEAST))
        count = max(1, int(np.ceil((end - begin) / self.span - 1e-9)))
        self.edges = np.minimum(begin + self.span * np.arange(count + 1), max(end, begin + 1e-3))
        self._times, lanes = times, network.arrays.lanes
        self._road, self._limit = lanes.road, np.maximum(lanes.speed, 0.1)
        self._length = network.arrays.roads.length
        shape = (count, network.n_roads)
        self.vehicles, self.standing, self.distance, self.lost = (np.zeros(shape) for _ in range(4))

    def add(self, k: int, span: float, lane: NDArray[np.int32], speed: NDArray[np.float64]) -> None:
        """The vehicles of the k-th frame, as they were in the span, s, before it; those in intersections are left out."""
        self._add(float(self._times[k]), span, lane, speed)

    def _add(
        self, time: float, span: float, lane: NDArray[np.int32], speed: NDArray[np.float64]
    ) -> None:
        i = min(len(self.vehicles) - 1, int((time - self._times[0] - 1e-6) / self.span))
        road = self._road[lane]
        on = road >= 0
        road, speed, limit = road[on], speed[on], self._limit[lane[on]]
        n = self.vehicles.shape[1]
        self.vehicles[i] += span * np.bincount(road, minlength=n)
        self.standing[i] += span * np.bincount(road[speed < STANDS], minlength=n)
        self.distance[i] += span * np.bincount(road, speed, n)
        self.lost[i] += span * np.bincount(road, np.maximum(0.0, 1.0 - speed / limit), n)

    def add_run(self, run: RunFile, every: float) -> None:
        """The vehicles of another run of the same network, of frames at least `every` s apart."""
        times = np.asarray(run.times)
        inside = np.flatnonzero(
            (times >= self._times[0] - 1e-6) & (times <= self._times[-1] + 1e-6)
        )
        before: float | None = None
        for place in inside.tolist():
            time = float(times[place])
            if before is not None and time - before < every - 1e-6:
                continue
            frame = run.frame(place)
            if before is not None:
                self._add(time, time - before, frame.lane, frame.speed)
            before = time

    def arrays(self, name: str = "layer") -> dict[str, NDArray[Any]]:
        """As a page takes them, by a name."""
        columns = ("vehicles", "standing", "distance", "lost")
        return {
            "layer_time": self.edges.astype(np.float64),
            "road_length": self._length.astype(np.float32),
        } | {f"{name}_{column}": getattr(self, column).astype(np.float32) for column in columns}
