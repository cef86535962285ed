"""What is on every lane and at every intersection now: columns of arrays, and tables.

They are reckoned in one pass over the vehicles when they are first asked for after a frame, and kept
until the next one. Nothing of it is state.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.lane_readings import OnLanes, read_lanes
from rushhour.kernels.measuring.queues import Queues
from rushhour.roadnets.facts import Part, rows_line
from rushhour.roadnets.tables import as_frame
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.measures.tables import TABLES, MeasureTable, with_ids
from rushhour.traffic.measures.trip_table import trip_columns
from rushhour.traffic.sim.sim import Sim

# Columns of tables for pandas: name with its unit, and the column here.
LANES: Final = {
    "count": "count", "standing": "standing", "queue": "queue", "queue_m": "queue_length",
    "density_veh_per_km": "density", "speed_m_per_s": "speed", "waiting_s": "waiting",
}  # fmt: skip
INTERSECTIONS: Final = {
    "approaching": "approaching", "inside": "inside", "standing": "standing", "queue": "queue",
    "waiting_s": "waiting",
}  # fmt: skip
OF_DETECTORS: Final = {"loops": "loop", "sections": "section", "queues": "queue", "roads": ""}


class LaneReadings:
    """Read-only arrays over all road lanes, shape (n_road_lanes,), in the order of the network.

    count: vehicles whose front is on the lane. standing: of these slower than 0.1 m/s. queue: those
    slower than 5 km/h in the queue at its end, whom no gap of over 20 m parts from it. queue_length:
    m from the end to the rear of the last of these. density: vehicles per km. speed: m/s, mean; nan
    where nobody is. waiting: s, how long all who stand now have stood, stops left out.
    """

    def __init__(self, sim: Sim, found: OnLanes) -> None:
        self._ids = sim.network.lane_ids
        self.count, self.standing, self.queue = found.vehicles, found.standing, found.queue
        self.queue_length, self.speed, self.waiting = (
            found.queue_length, found.speed, found.waiting,
        )  # fmt: skip
        length = sim.network.arrays.lanes.length[: len(self._ids)]
        self.density: NDArray[np.float64] = 1000.0 * found.vehicles / length
        _seal(self, LANES.values())

    def __repr__(self) -> str:
        return rows_line("LaneReadings", len(self), LANES.values())

    def __len__(self) -> int:
        return len(self._ids)

    def table(self) -> Any:
        """All as a pandas.DataFrame, a row for each lane, with units in the names of the columns.

        Raises NetworkError if pandas is not installed.
        """
        return _frame(self, "lane", self._ids, LANES)


class IntersectionReadings:
    """Read-only arrays over all intersections, shape (n_intersections,), in the order of the network.

    approaching: vehicles on the lanes that end there. inside: those on their ways through it.
    standing, queue, waiting: of the lanes that end there, as of lanes.
    """

    def __init__(self, sim: Sim, lanes: LaneReadings) -> None:
        network, veh = sim.network, sim.veh
        self._ids = network.intersection_ids
        at = network.arrays.lanes.intersection[: len(lanes)]
        ends = at >= 0

        def summed(values: NDArray[Any]) -> NDArray[Any]:
            found = np.zeros(len(self._ids), values.dtype)
            np.add.at(found, at[ends], values[ends])
            return found

        self.approaching = summed(lanes.count)
        self.standing, self.queue = summed(lanes.standing), summed(lanes.queue)
        self.waiting = summed(lanes.waiting)
        through = veh.lane[veh.lane >= network.n_road_lanes] - network.n_road_lanes
        places = network.arrays.connectors.intersection[through]
        self.inside = np.bincount(places, minlength=len(self._ids)).astype(np.int32)
        _seal(self, INTERSECTIONS.values())

    def __repr__(self) -> str:
        return rows_line("IntersectionReadings", len(self), INTERSECTIONS.values())

    def __len__(self) -> int:
        return len(self._ids)

    def table(self) -> Any:
        """All as a pandas.DataFrame, a row for each intersection, units in the names of the columns.

        Raises NetworkError if pandas is not installed.
        """
        return _frame(self, "intersection", self._ids, INTERSECTIONS)


class Readings(Part):
    """What is kept of lanes and intersections until the next frame."""

    def __init__(self, sim: Sim, observers: list[Any]) -> None:
        self.sim, self._observers = sim, observers
        n, lanes = sim.network.n_road_lanes, sim.network.n_lanes
        row = np.full(lanes, -1, np.int32)
        row[:n] = np.arange(n)
        self._queues = Queues(
            row=row, lane=row[:n].copy(), place=np.zeros(n, np.int32),
            start=np.zeros(n + 1, np.int32), slot=np.zeros(0, np.int32), sums=np.zeros((0, 2)),
            most=np.zeros((0, 2)),
        )  # fmt: skip
        self._read_at: tuple[Any, int] | None = None  # vehicles and frame
        self._lanes: LaneReadings | None = None
        self._intersections: IntersectionReadings | None = None

    @property
    def lanes(self) -> LaneReadings:
        """What is on every road lane now: count, queue, density, speed, waiting, ... as arrays.

        >>> world.lanes.queue.max()
        >>> world.lanes.table()
        """
        sim = self.sim
        at = (sim.veh, sim.frame)
        read = self._read_at
        if self._lanes is not None and read and read[0] is at[0] and read[1] == at[1]:
            return self._lanes
        size, n = sim.veh.lane.size, sim.network.n_road_lanes
        if self._queues.slot.size != size:
            self._queues = self._queues._replace(slot=np.zeros(size, np.int32))
        found = OnLanes(
            vehicles=np.zeros(n, np.int32), standing=np.zeros(n, np.int32), queue=np.zeros(n, np.int32),
            queue_length=np.zeros(n), speed=np.zeros(n), waiting=np.zeros(n),
        )  # fmt: skip
        read_lanes(sim.network.arrays.lanes, sim.veh, self._queues, found, sim.frame, sim.dt)
        self._read_at, self._intersections = at, None
        self._lanes = LaneReadings(sim, found)
        return self._lanes

    @property
    def intersections(self) -> IntersectionReadings:
        """Who approaches every intersection, is inside, stands and waits there now, as arrays."""
        lanes = self.lanes
        if self._intersections is None:
            self._intersections = IntersectionReadings(self.sim, lanes)
        return self._intersections

    def trip_table(self) -> Any:
        """The finished trips as a pandas.DataFrame, in the order of arrival (docs/trip-table.md).

        Raises NetworkError if pandas is not installed.
        """
        columns = trip_columns(self.sim)
        return as_frame({name: np.array(values) for name, values in columns.items()})

    @property
    def detectors(self) -> dict[str, MeasureTable]:
        """Roads, loops, sections and queues in their last interval that is over, as tables.

        Of the `Measures` among `observers`; without any, or before the first interval is over, empty.
        """
        found: dict[str, MeasureTable] = {}
        for measures in self._observers:
            if isinstance(measures, Measures):
                for name in measures.kept:
                    if name in OF_DETECTORS and measures.rows[name].size:
                        found[name] = _last_rows(measures, name)
        return found


def _last_rows(measures: Measures, name: str) -> MeasureTable:
    """The last row of each detector of a table; of roads those of the last interval."""
    columns = measures.rows[name].columns()
    if name == "roads":  # without a row for those on which nobody was
        last = np.flatnonzero(columns["end"] == columns["end"][-1])
    else:
        key = columns[OF_DETECTORS[name]]
        _, place = np.unique(key[::-1], return_index=True)
        last = key.size - 1 - place
    network = measures.world.network
    ids = {
        "road": network.road_ids, "road_name": network.road_names, "lane": network.lane_ids,
        "intersection": network.intersection_ids, "vehicle": measures.world.demand.ids,
    }  # fmt: skip
    rows = {column: columns[column][last] for column in TABLES[name]}
    return with_ids(name, rows, measures.detectors.get(name, {}), ids)


def _seal(readings: Any, names: Any) -> None:
    for name in names:
        getattr(readings, name).flags.writeable = False


def _frame(readings: Any, key: str, ids: tuple[str, ...], names: dict[str, str]) -> Any:
    named = {title: getattr(readings, name) for title, name in names.items()}
    return as_frame({key: np.array(ids, object), **named})
