"""What was driven on each road in intervals: vehicle-seconds, vehicle-metres and the time lost.

Flow, density and speed are those of Edie (1963): distances and times of all, over the area of a road's
length and an interval, so that they hold whatever the interval is.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network

LEAST: Final = 60.0  # s of an interval
MOST: Final = 60  # intervals


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
        self.vehicles, self.distance, self.lost = (np.zeros(shape) for _ in range(3))

    def add(self, k: int, span: float, lane: NDArray[np.int32], speed: NDArray[np.float64]) -> None:
        """The vehicles of the k-th frame, as they were in the span, s, before it; those in intersections are left out."""
        i = min(len(self.vehicles) - 1, int((self._times[k] - self._times[0] - 1e-6) / self.span))
        road = self._road[lane]
        on = road >= 0
        road, speed, limit = road[on], speed[on], self._limit[lane[on]]
        n = self.vehicles.shape[1]
        self.vehicles[i] += span * np.bincount(road, minlength=n)
        self.distance[i] += span * np.bincount(road, speed, n)
        self.lost[i] += span * np.bincount(road, np.maximum(0.0, 1.0 - speed / limit), n)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As a page takes them."""
        return {
            "layer_time": self.edges.astype(np.float64),
            "layer_vehicles": self.vehicles.astype(np.float32),
            "layer_distance": self.distance.astype(np.float32),
            "layer_lost": self.lost.astype(np.float32),
            "road_length": self._length.astype(np.float32),
        }
