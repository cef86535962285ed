"""Demand of CityFlow files (flow.json), fitted to a network.

A *flow* is one route for vehicles of one kind: one at its startTime, then one every interval until
its endTime, that included. The roads of its route are anchors, joined by the quickest ways.
Source: CityFlow's flow.cpp and engine.cpp; networks.md 7.
"""

from collections.abc import Iterator, Sequence
from math import ceil, floor, inf
from pathlib import Path
from typing import Any, Final

from rushhour.kernels.core.network import LONGEST_VEHICLE
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.json_files import Item, read_json, shown
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import LANE_BEST, POS_GIVEN, Demand, VehicleType
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.sumo.flows import LATEST, MOST_VEHICLES
from rushhour.traffic.sumo.routes import LONGEST_ROUTE, Roads, RouteBook

LEAST_INTERVAL: Final = 1e-4  # s
LEAST: Final = 1e-6  # of what must be more than 0
MOST: Final = 1000.0  # m, s, m/s, m/s^2
_NEVER: Final = -1.0  # endTime of a flow that goes on for ever


def read_flows(
    paths: Sequence[str | Path],
    network: Network,
    *,
    begin: float | None = None,
    end: float | None = None,
    skip_bad_trips: bool = False,
) -> Demand:
    """Read the flows of CityFlow files (.json, also gzipped), numbered on from file to file.

    begin, end: s; only trips with begin <= depart < end are taken. Vehicle k of flow i is called
    flow_i_k, as CityFlow does, and enters at the start of its first road. Trips that cannot be
    driven are errors, unless skip_bad_trips: then they are left out and counted.
    Raises DemandError naming file, flow and value for anything that cannot be meant, and for a
    flow without an end where the run has none.

    >>> demand = read_flows(["flow.json"], network, begin=0.0, end=3600.0)
    """
    reader = _Reader(network, -inf if begin is None else begin, end, skip_bad_trips)
    try:
        for path in paths:
            for item in flow_items(Path(path)):
                reader.add(item)
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    reader.builder.remarks = reader.remarks.lines()
    return route_demand(network, reader.builder.build(), skip_bad=skip_bad_trips)


def flow_items(path: Path) -> Iterator[Item]:
    """The flows of a file. Raises NetworkError for a file that is no list of objects."""
    content = read_json(path)
    if not isinstance(content, list):
        raise NetworkError(f"{path}: {shown(content)}; give a list of flows, as CityFlow's are")
    for i, value in enumerate(content):
        yield Item(value, path, f"[{i}]")


def flow_facts(path: Path) -> dict[str, Any]:
    """How many flows a file holds, and when they start.

    Raises NetworkError for a file that is no list of flows.
    """
    starts = [_start(item) for item in flow_items(path)]
    facts: dict[str, Any] = {"kind": "demand", "name": path.name, "elements": {"flow": len(starts)}}
    if starts:
        facts["first_departure_s"], facts["last_departure_s"] = min(starts), max(starts)
    return facts


def _start(item: Item) -> float:
    return item.number("startTime", 0.0, LATEST) if "startTime" in item else 0.0


class _Reader:
    """Turns flows into trips."""

    def __init__(
        self, network: Network, begin: float, end: float | None, skip_bad_trips: bool
    ) -> None:
        self.begin = begin
        self.end = end if end != inf else None
        self.skip_bad_trips = skip_bad_trips
        self.builder = DemandBuilder()
        self.remarks = Remarks()
        self._book = RouteBook(network, 0)
        self._kinds: dict[tuple[float, ...], VehicleType] = {}
        self._flows = 0
        self._trips = 0

    def add(self, item: Item) -> None:
        """Add the trips of the next flow."""
        name = f"flow_{self._flows}"
        self._flows += 1
        kind = self._kind(item.item("vehicle"))
        times = list(self._departures(item))
        try:
            roads = self._roads(item)
        except DemandError as error:
            if not self.skip_bad_trips:
                raise
            what = str(error).removeprefix(f"{item.file}: ")
            self.remarks.add(
                "trips on roads that do not exist are left out", what, len(times), differs=True
            )
            return
        routed = self._book.fault(roads, kind) is None
        for k, time in times:
            self.builder.add(
                Trip(
                    id=f"{name}_{k}",
                    depart=time,
                    type=kind,
                    roads=roads,
                    routed=routed,
                    mended=not routed,
                    depart_lane=LANE_BEST,
                    depart_pos=0.0,
                    depart_pos_kind=POS_GIVEN,
                )
            )

    def _kind(self, item: Item) -> VehicleType:
        """The type of a flow's vehicles, one for each set of values."""
        values = {
            "length": item.number("length", LEAST, MOST),
            "width": item.number("width", LEAST, MOST),
            "min_gap": item.number("minGap", 0.0, MOST),
            "accel": item.number("usualPosAcc", LEAST, MOST),
            "decel": item.number("usualNegAcc", LEAST, MOST),
            "emergency_decel": item.number("maxNegAcc", LEAST, MOST),
            "time_gap": item.number("headwayTime", 0.0, MOST),
            "max_speed": item.number("maxSpeed", LEAST, MOST),
        }
        key = tuple(values.values())
        if key not in self._kinds:
            name = f"cityflow_{len(self._kinds)}"
            if values["length"] > LONGEST_VEHICLE:
                what = f"vehicle types longer than {LONGEST_VEHICLE:g} m are shortened to it"
                self.remarks.add(what, name, differs=True)
            values["length"] = min(values["length"], LONGEST_VEHICLE)
            values["emergency_decel"] = max(values["emergency_decel"], values["decel"])
            self._kinds[key] = VehicleType(name=name, speed_dev=0.0, model="idm", **values)  # type: ignore[arg-type]  # numbers for number fields
        return self._kinds[key]

    def _departures(self, item: Item) -> Iterator[tuple[int, float]]:
        """Number and time of each departure of a flow within the run."""
        start, step = _start(item), item.number("interval", LEAST_INTERVAL, LATEST)
        last = item.number("endTime", _NEVER, LATEST) if "endTime" in item else _NEVER
        if last < 0.0 and self.end is None:
            raise DemandError(
                f"{item.where}: goes on for ever (endTime -1); give --duration, or an endTime"
            )
        if 0.0 <= last < start:
            self.remarks.add("flows that end before they start", item.place)
        # Counts of departures; rounding is allowed for, the times decide below.
        counts = [floor((last - start) / step + 1e-9) + 1] if last >= 0.0 else []
        limit = inf
        if self.end is not None:
            limit = self.end
            counts.append(ceil((limit - start) / step) + 1)
        stop = max(0, min(counts))
        first = max(0, floor((self.begin - start) / step)) if self.begin > start else 0
        self._trips += max(0, stop - first)
        if self._trips > MOST_VEHICLES:
            raise DemandError(
                f"{item.where}: more than {MOST_VEHICLES} departures; shorten the flows or run a "
                "part of them with --begin and --duration"
            )
        for k in range(first, stop):
            time = start + k * step
            if self.begin <= time < limit:
                yield k, time

    def _roads(self, item: Item) -> Roads:
        """Roads of a route; anchors given twice in a row count once."""
        names = item.texts("route")
        if len(names) > LONGEST_ROUTE:
            raise DemandError(
                f"{item.where}: a route of {len(names)} roads; give at most {LONGEST_ROUTE}"
            )
        roads = [self._book.road(name, f"{item.where}.route[{i}]") for i, name in enumerate(names)]
        kept = tuple(road for i, road in enumerate(roads) if i == 0 or road != roads[i - 1])
        if len(kept) < 2:
            raise DemandError(f"{item.where}: a route of {len(kept)} roads; give two or more")
        return kept
