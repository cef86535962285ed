"""What was driven on each road in intervals: vehicle-seconds, standing ones, vehicle-metres, the time lost, and CO2.

Flow, density and speed are those of Edie (1963): distances and times of all, over the area of a road's
length and an interval, so that they hold whatever the interval is.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.traffic.analysis.emissions import co2_rate
from rushhour.traffic.recording.run_file import RunFile

LEAST: Final = 60.0  # s of an interval
MOST: Final = 60  # intervals
FRAMES: Final = 120  # of an interval that are read while somebody waits
STANDS: Final = 1.4  # m/s, below which somebody counts as standing, as in queues


class Sums(NamedTuple):
    """Of all vehicles on each road together in an interval, each (n_roads,)."""

    span: float  # s
    time: NDArray[np.float64]  # s
    standing: NDArray[np.float64]  # s
    distance: NDArray[np.float64]  # m
    lost: NDArray[np.float64]  # s, against the limit
    co2: NDArray[np.float64]  # g


def interval_edges(begin: float, end: float) -> NDArray[np.float64]:
    """Where intervals of a time, s, begin and end: minutes, or longer ones where those would be more than MOST."""
    span = max(LEAST, LEAST * np.ceil((end - begin) / MOST / LEAST))
    count = max(1, int(np.ceil((end - begin) / span - 1e-9)))
    return np.asarray(np.minimum(begin + span * np.arange(count + 1), max(end, begin + 1e-3)))


def _interval(edges: NDArray[np.float64], time: float) -> int:
    i = int(np.searchsorted(edges, time + 1e-6, side="right")) - 1
    return min(edges.size - 2, max(0, i))


class RoadSums:
    """Sums in intervals between edges, s, of frames that are added in the order of their times.

    vehicles: how many there are in the run; higher numbers are bodies from outside.
    """

    def __init__(self, network: Network, edges: NDArray[np.float64], vehicles: int) -> None:
        self.edges, lanes = edges, network.arrays.lanes
        self._road, self._limit = lanes.road, np.maximum(lanes.speed, 0.1)
        self._before = np.full(vehicles, np.nan)
        shape = (edges.size - 1, network.n_roads)
        self._sums = [np.zeros(shape) for _ in Sums._fields[1:]]

    def at(self, i: int) -> Sums:
        """The sums of an interval."""
        return Sums(float(self.edges[i + 1] - self.edges[i]), *(one[i] for one in self._sums))

    def add(
        self, time: float, span: float, vehicle: NDArray[np.int64] | NDArray[np.int32],
        lane: NDArray[np.int32], speed: NDArray[np.float64],
    ) -> None:  # fmt: skip
        """The vehicles of the frame at a time, as they were in the span before it, s.

        Those in intersections and bodies from outside are left out. With a span of 0 it says how fast they were.
        """
        own = vehicle < self._before.size
        vehicle, lane, speed = vehicle[own], lane[own], speed[own]
        if span > 0.0:
            gained = np.nan_to_num((speed - self._before[vehicle]) / span)
            road = self._road[lane]
            on = road >= 0
            road, limit = road[on], self._limit[lane[on]]
            co2 = co2_rate(speed[on], gained[on])
            i = _interval(self.edges, time - 2e-6)  # at an edge: in the interval that ends there
            lost = np.maximum(0.0, 1.0 - speed[on] / limit)
            for sums, weight in zip(
                self._sums, (None, speed[on] < STANDS, speed[on], lost, co2), strict=True
            ):
                sums[i] += span * np.bincount(road, weight, sums.shape[1])
        self._before[:] = np.nan
        self._before[vehicle] = speed

    def add_run(self, run: RunFile, every: float = 0.0, most: int | None = None) -> None:
        """The vehicles of a run's frames at least `every` s apart, up to so many of them, evenly spread."""
        times = np.asarray(run.times)
        first = max(0, int(np.searchsorted(times, self.edges[0] + 1e-6, side="right")) - 1)
        last = int(np.searchsorted(times, self.edges[-1] + 1e-6, side="right"))
        places = np.arange(first, last)
        if most is not None and places.size > most:
            places = places[np.linspace(0, places.size - 1, most).round().astype(np.int64)]
        before: float | None = None
        for place in places.tolist():
            time = float(times[place])
            if before is not None and time - before < every - 1e-6:
                continue
            frame = run.frame(place)
            span = 0.0 if before is None else time - before
            self.add(time, span, frame.id, frame.lane, np.asarray(frame.speed, np.float64))
            before = time


class SumsOfRun:
    """The sums of a run by interval, each made when it is first asked for, of up to FRAMES frames."""

    def __init__(self, run: RunFile, edges: NDArray[np.float64] | None = None) -> None:
        self._run, self._network = run, run.network()
        times = run.times
        self.edges = interval_edges(float(times[0]), float(times[-1])) if edges is None else edges
        self._made: dict[int, Sums] = {}

    def interval(self, time: float) -> int:
        """The interval that a time, s, lies in; the first or last one outside of all."""
        return _interval(self.edges, time)

    def at(self, i: int) -> Sums:
        """Of an interval, by its number."""
        if i not in self._made:
            some = RoadSums(self._network, self.edges[i : i + 2], self._run.vehicles("depart").size)
            some.add_run(self._run, most=FRAMES)
            self._made[i] = some.at(0)
        return self._made[i]
