"""Demand from tables of trips: csv, parquet, or a pandas frame (docs/demand.md).

A row is a trip: when it departs, where it starts and ends (road ids, or places in metres or degrees,
taken to the nearest road open to its vehicle), in what kind of vehicle, and its route if it has one.
"""

import re
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_metres, road_finder
from rushhour.roadnets.reading.remarks import Difference, Remarks
from rushhour.roadnets.reading.values import FARTHEST, number, seconds, whole
from rushhour.roadnets.street_names import several
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, Demand, VehicleType
from rushhour.traffic.demand.trip_columns import TripColumns, columns_of_file, columns_of_frame
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.settings.parameter_table import TYPE_NAMES
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sumo.flows import LATEST
from rushhour.traffic.sumo.routes import RouteBook

ENDS: Final = ("origin", "destination")
_MINUTES: Final = re.compile(r"\d{1,4}:[0-5]\d")  # a clock without seconds, as in tables of counts
FASTEST: Final = 100.0  # m/s that a vehicle may depart with
SNAP: Final = 500.0  # m, the farthest that the nearest road may be from a place


def read_trips(
    source: Any,
    network: Network,
    *,
    begin: float | None = None,
    end: float | None = None,
    skip_bad_trips: bool = False,
    parameters: Parameters | None = None,
    types: Mapping[str, VehicleType] | None = None,
) -> Demand:
    """Read trips from a .csv, .csv.gz or .parquet file, a pandas frame or a mapping of columns.

    begin, end: s; only trips with begin <= depart < end are taken. parameters: of the vehicle types
    (car, van, truck, bus, motorcycle). types: others by name, which go before them. Trips that cannot be driven are errors, unless
    skip_bad_trips: then they are left out and counted, and a remark names the first.
    Raises DemandError naming file, line (or row) and value for anything that cannot be meant.

    >>> demand = read_trips("trips.csv", network)
    """
    if isinstance(source, str | Path):
        table = columns_of_file(Path(source))
    else:
        table = columns_of_frame(source)
    reader = _Rows(table, network, skip_bad_trips, parameters or Parameters(), types or {})
    try:
        demand = reader.demand(-inf if begin is None else begin, inf if end is None else end)
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    return route_demand(network, demand, skip_bad=skip_bad_trips)


def trip_facts(path: Path) -> dict[str, Any]:
    """What a table of trips holds: how many, which columns, when they depart.

    Raises DemandError for a file that is no table of trips.
    """
    table = columns_of_file(path)
    try:
        depart = _departures(table)
    except NetworkError as error:
        raise DemandError(str(error)) from None
    facts: dict[str, Any] = {
        "kind": "demand",
        "name": path.name,
        "trips": len(depart),
        "columns": ", ".join(table.columns),
        "columns_not_used": ", ".join(table.unknown),
    }
    if depart.size:
        facts["first_departure_s"] = float(depart.min())
        facts["last_departure_s"] = float(depart.max())
    return facts


def _departures(table: TripColumns) -> NDArray[np.float64]:
    """When each row departs, s. Raises NetworkError for what is no time."""
    return np.array(
        [
            seconds(
                f"{text}:00" if _MINUTES.fullmatch(text) else text,
                table.where(row),
                "depart",
                0.0,
                LATEST,
            )
            for row, text in enumerate(table.needed("depart"))
        ],
        np.float64,
    )


class _Undrivable(Exception):
    """Why a trip cannot be driven."""


class _Rows:
    """Turns rows into trips."""

    def __init__(
        self, table: TripColumns, network: Network, skip_bad: bool, parameters: Parameters,
        types: Mapping[str, VehicleType],
    ) -> None:  # fmt: skip
        self.table, self.network, self.skip_bad = table, network, skip_bad
        self.book = RouteBook(network, 0)
        self.types = {name: parameters.vehicle_type(name) for name in TYPE_NAMES} | dict(types)
        self.snapped: dict[str, dict[int, int]] = {}  # by end and row: the road, -1 none near
        self.bad = 0
        self.first_bad = ""

    def demand(self, begin: float, end: float) -> Demand:
        """The trips that depart in time."""
        table, builder = self.table, DemandBuilder()
        depart = _departures(table)
        rows = np.flatnonzero((depart >= begin) & (depart < end)).tolist()
        kinds = {row: self._kind(row) for row in rows}
        self.snapped = {name: self._snapped(name, rows, kinds) for name in ENDS}
        names: set[str] = set()
        for row in rows:
            name = table.text("id", row) or f"{table.name}.{row}"
            if name in names:
                raise DemandError(
                    f"{table.where(row)}: {name[:60]!r} is the id of another trip; give each its own"
                )
            names.add(name)
            try:
                roads, routed = self._roads(row, kinds[row])
            except _Undrivable as reason:
                self.bad += 1
                self.first_bad = (
                    self.first_bad or f"{table.where(row)}: trip {name[:60]!r}: {reason}"
                )
            else:
                start = self._start(row, roads[0])
                builder.add(Trip(name, float(depart[row]), kinds[row], roads, routed, **start))
        builder.remarks = self._remarks()
        return builder.build()

    def _remarks(self) -> list[str]:
        """What was left out. Raises DemandError if bad trips are not to be."""
        remarks = Remarks()
        for name in self.table.unknown:
            remarks.add("columns of the trips that are not used", name)
        lines = remarks.lines()
        if self.bad and not self.skip_bad:
            such = f" ({self.bad} such trips)" if self.bad > 1 else ""
            raise DemandError(
                f"{self.first_bad}{such}; correct the trip or leave such trips out with "
                "--skip-bad-trips"
            )
        if self.bad:
            what = f"trips that cannot be driven are left out: {self.bad} (first: {self.first_bad})"
            lines.append(Difference(what))
        return lines

    def _kind(self, row: int) -> VehicleType:
        name = self.table.text("type", row) or "car"
        name = name if name in self.types else name.lower()
        if name not in self.types:
            raise DemandError(
                f"{self.table.where(row)}: type {name[:40]!r}; wanted one of {', '.join(self.types)}"
            )
        return self.types[name]

    def _start(self, row: int, road: int) -> dict[str, Any]:
        """Lane, place and speed with which a trip departs, where they are given."""
        table, found = self.table, dict[str, Any]()
        lanes, roads = self.network.arrays.lanes, self.network.arrays.roads
        lane = 0
        if table.text("depart_lane", row):
            most = int(roads.lane_count[road]) - 1
            lane = whole(table.text("depart_lane", row), table.where(row), "depart_lane", 0, most)
            found["depart_lane"] = lane
        for name, high in (
            ("depart_pos", float(lanes.length[roads.first_lane[road] + lane])),
            ("depart_speed", FASTEST),
        ):
            if table.text(name, row):
                found[name] = number(table.text(name, row), table.where(row), name, 0.0, high)
        if "depart_pos" in found:
            found["depart_pos_kind"] = POS_GIVEN
        return found

    # --- where a trip goes --------------------------------------------------------------------

    def _roads(self, row: int, kind: VehicleType) -> tuple[tuple[int, ...], bool]:
        """Roads of a trip, and whether they are its complete way."""
        text = self.table.text("route", row)
        if not text:
            first, last = (self._end(row, name, kind) for name in ENDS)
            return ((first,), True) if first == last else ((first, last), False)
        roads = tuple(self._road(name, "its route") for name in text.split())
        for name, road in zip(ENDS, (roads[0], roads[-1]), strict=True):
            said = self.table.text(name, row)
            if said and self._road(said, name) != road:
                raise _Undrivable(f"its {name} {said[:60]!r} is not that of its route")
        fault = self.book.fault(roads, kind)
        if fault is not None:
            raise _Undrivable(fault)
        return roads, True

    def _road(self, name: str, what: str) -> int:
        """The road of an id, or of a street that is one road."""
        road = self.network.road_index.get(name)
        if road is not None:
            return road
        street = self.network.street_index.roads(name)
        if street.size > 1:
            raise _Undrivable(f"{what}: {several(self.network, name, street)}")
        if not street.size:
            raise _Undrivable(f"road {name[:60]!r} of {what} is not in {self.network.name}")
        return int(street[0])

    def _end(self, row: int, name: str, kind: VehicleType) -> int:
        """The road where a trip without a route starts or ends."""
        said = self.table.text(name, row)
        if said:
            road = self._road(said, f"its {name}")
            if not self.book.is_open(road, kind):
                raise _Undrivable(f"road {said[:60]!r} is closed to class {kind.vehicle_class}")
            return road
        if row not in self.snapped[name]:
            raise DemandError(
                f"{self.table.where(row)}: has no {name}; fill in {name}, or {name}_x and "
                f"{name}_y, or {name}_lon and {name}_lat"
            )
        road = self.snapped[name][row]
        if road < 0:
            raise _Undrivable(
                f"no road for class {kind.vehicle_class} within {SNAP:g} m of its {name}"
            )
        return road

    def _snapped(self, name: str, rows: list[int], kinds: dict[int, VehicleType]) -> dict[int, int]:
        """Roads nearest to the places of one end, of the rows that give a place."""
        found: dict[int, int] = {}
        left = [r for r in rows if not (self.table.text(name, r) or self.table.text("route", r))]
        for pair, most in (("x", "y"), (FARTHEST, FARTHEST)), (("lon", "lat"), (180.0, 90.0)):
            columns = [f"{name}_{axis}" for axis in pair]
            mine = [
                r for r in left if r not in found and all(self.table.text(c, r) for c in columns)
            ]
            if not mine:
                continue
            first, second = (
                np.array([number(self.table.text(c, r), self.table.where(r), c, -m, m)
                          for r in mine])
                for c, m in zip(columns, most, strict=True)
            )  # fmt: skip
            if pair == ("lon", "lat"):
                first, second = local_metres(self.network, first, second)
            found |= self._nearest(mine, first, second, kinds)
        return found

    def _nearest(
        self,
        rows: list[int],
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        kinds: dict[int, VehicleType],
    ) -> dict[int, int]:
        """The nearest road that the class of each row may use, -1 where none is near."""
        bits = np.array([CLASS_BIT[kinds[row].vehicle_class] for row in rows], np.uint32)
        found: dict[int, int] = {}
        road_of = self.network.arrays.lanes.road
        for bit in np.unique(bits).tolist():
            at = np.flatnonzero((bits == bit) & np.isfinite(x) & np.isfinite(y))
            near = road_finder(self.network, bit).nearest(x[at], y[at], SNAP)
            roads = np.where(near.lane >= 0, road_of[near.lane], -1)
            found.update((rows[i], int(road)) for i, road in zip(at.tolist(), roads, strict=True))
        return {row: found.get(row, -1) for row in rows}
