"""Demand of SUMO files (.rou.xml, .trips.xml, .add.xml), fitted to a network.

Positions in the files are metres of the lane's declared length; ours are metres of its shape.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, inf, log
from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.roadnets.sumo_values import number, seconds, whole
from rushhour.traffic import demand as codes
from rushhour.traffic.demand import Demand, VehicleType
from rushhour.traffic.demand_builder import DemandBuilder, Stop, Trip
from rushhour.traffic.sumo_records import Attributes, Record, Records, read_records
from rushhour.traffic.sumo_types import DEFAULT_IDS, choose, default_type, drawn

LATEST: Final = 1e9  # s
MOST_VEHICLES: Final = 10_000_000  # of one flow, and in all
LONGEST_ROUTE: Final = 100_000  # roads
FLOW_END: Final = 86400.0  # s, when a flow names no end
STREAM_ROUTE, STREAM_FLOW, STREAM_POS = 8302, 8303, 8304
_LANES: Final = {
    "first": codes.LANE_FIRST, "best": codes.LANE_BEST, "best_prob": codes.LANE_BEST,
    "free": codes.LANE_FREE, "random": codes.LANE_RANDOM, "allowed": codes.LANE_ALLOWED,
}  # fmt: skip
_POSITIONS: Final = {
    "base": codes.POS_BASE, "random": codes.POS_RANDOM, "free": codes.POS_FREE,
    "random_free": codes.POS_RANDOM_FREE, "random_location": codes.POS_RANDOM_FREE,
    "last": codes.POS_LAST, "splitFront": codes.POS_LAST,
}  # fmt: skip
_SPEEDS: Final = {
    "max": codes.SPEED_MAX, "desired": codes.SPEED_DESIRED, "speedLimit": codes.SPEED_LIMIT,
    "random": codes.SPEED_RANDOM, "last": codes.SPEED_LAST, "avg": codes.SPEED_AVERAGE,
}  # fmt: skip


def read_demand(
    paths: Sequence[Path],
    network: Network,
    *,
    begin: float | None = None,
    end: float | None = None,
    ignore_route_errors: bool = False,
    seed: int = 0,
) -> Demand:
    """Read the demand of several files, given in any order.

    begin, end: s; trips that depart outside begin <= depart < end are left out. Routes that do not
    connect for the vehicle's class are errors unless ignore_route_errors: then their gaps are
    routed, or the vehicle is left out, and counted in the remarks.
    Raises DemandError (RushhourError) with file, line and vehicle for what cannot be driven.

    >>> demand = read_demand([Path("a.rou.xml"), Path("stops.add.xml")], network)
    """
    records = read_records([Path(path) for path in paths])
    return _Fitter(records, network, begin, end, ignore_route_errors, seed).demand()


class _Fitter:
    """Turns records into trips on a network."""

    def __init__(
        self,
        records: Records,
        network: Network,
        begin: float | None,
        end: float | None,
        ignore_errors: bool,
        seed: int,
    ) -> None:
        self.records = records
        self.network = network
        self.begin = -inf if begin is None else begin
        self.end = inf if end is None else end
        self.ignore_errors = ignore_errors
        self.seed = seed
        self.remarks = records.remarks
        self.parsed: dict[str, tuple[int, ...]] = {}  # edge lists read before
        self.connected: dict[tuple[tuple[int, ...], int], int] = {}  # place of the first gap, or -1
        n = network.n_roads
        links, road_of = network.arrays.connectors, network.arrays.lanes.road
        keys = road_of[links.from_lane].astype(np.int64) * n + road_of[links.to_lane]
        mask = network.arrays.lanes.permissions[network.n_road_lanes :]
        mask = mask & network.arrays.lanes.permissions[links.from_lane]
        mask = mask & network.arrays.lanes.permissions[links.to_lane]
        self.turns: dict[int, int] = {}
        for key, bits in zip(keys.tolist(), mask.tolist(), strict=True):
            self.turns[key] = self.turns.get(key, 0) | bits

    def demand(self) -> Demand:
        builder = DemandBuilder()
        for record in self.records.vehicles:
            for name, depart in self._departures(record):
                if self.begin <= depart < self.end:
                    trip = self._trip(record, name, depart)
                    if trip is not None:
                        builder.add(trip)
                        if len(builder.trips) > MOST_VEHICLES:
                            raise DemandError(
                                f"{record.where}: more than {MOST_VEHICLES} vehicles; "
                                "shorten the flows or give --duration"
                            )
        builder.remarks = self.remarks.lines()
        return builder.build()

    # --- when ------------------------------------------------------------------------------

    def _departures(self, record: Record) -> Iterator[tuple[str, float]]:
        name, where = record.attributes["id"], record.where
        if record.tag == "flow":
            yield from self._flow(record)
            return
        text = record.attributes.get("depart")
        if text is None:
            raise DemandError(f"{where}: has no depart; give seconds or H:M:S")
        if text in ("triggered", "containerTriggered", "split"):
            self.remarks.add(f'vehicles with depart="{text}" are left out', name)
            return
        if text == "begin":
            yield name, max(self.begin, 0.0)
        else:
            yield name, seconds(text, where, "depart", 0.0, LATEST)

    def _flow(self, record: Record) -> Iterator[tuple[str, float]]:
        """Names and departures of a flow; see docs/demand.md for the rules of spacing."""
        a, name, where = record.attributes, record.attributes["id"], record.where
        begin = seconds(a.get("begin", "0"), where, "begin", 0.0, LATEST)
        end = seconds(a["end"], where, "end", 0.0, LATEST) if "end" in a else None
        most = whole(a["number"], where, "number", 0, MOST_VEHICLES) if "number" in a else None
        spacings = [key for key in ("period", "vehsPerHour", "perHour", "probability") if key in a]
        if len(spacings) > 1 or (not spacings and most is None):
            raise DemandError(
                f"{where}: wanted one of number, period, vehsPerHour, probability; "
                f"has {', '.join(spacings) or 'none'}"
            )
        last = end if end is not None else (inf if most is not None and spacings else FLOW_END)
        times: Iterator[float]
        if not spacings:
            assert most is not None
            step = (last - begin) / max(most, 1)
            times = (begin + k * step for k in range(most))
        elif spacings[0] == "probability":
            p = number(a["probability"], where, "probability", 0.0, 1.0)
            times = self._bernoulli(name, begin, min(last, begin + LATEST), p)
        elif a.get("period", "").startswith("exp("):
            rate = number(a["period"][4:].rstrip(")"), where, "period", 1e-9, 1e4)
            times = self._poisson(name, begin, rate)
        else:
            if spacings[0] == "period":
                period = seconds(a["period"], where, "period", 1e-4, LATEST)
            else:
                period = 3600.0 / number(a[spacings[0]], where, spacings[0], 1e-6, 1e7)
            times = (begin + k * period for k in range(MOST_VEHICLES + 1))
        for k, time in enumerate(times):
            if (most is not None and k >= most) or time >= last:
                return
            if k >= MOST_VEHICLES:
                raise DemandError(f"{where}: more than {MOST_VEHICLES} vehicles; give an end")
            yield f"{name}.{k}", time

    def _bernoulli(self, name: str, begin: float, end: float, p: float) -> Iterator[float]:
        if p <= 0.0:
            return
        for k in range(min(ceil(min(end, begin + 1e8) - begin), 10**8)):
            if drawn(self.seed, name, STREAM_FLOW, k) < p:
                yield begin + k

    def _poisson(self, name: str, begin: float, rate: float) -> Iterator[float]:
        time = begin
        for k in range(MOST_VEHICLES + 1):
            time -= log(1.0 - drawn(self.seed, name, STREAM_FLOW, k)) / rate
            yield time

    # --- who and where ---------------------------------------------------------------------

    def _kind(self, record: Record, name: str) -> VehicleType:
        wanted = record.attributes.get("type", "DEFAULT_VEHTYPE")
        known = self.records
        for turn in range(8):  # distributions of distributions
            if wanted in known.types:
                return known.types[wanted]
            if wanted not in known.type_shares:
                break
            wanted = choose(known.type_shares[wanted], drawn(self.seed, name, turn=turn))
        if wanted in DEFAULT_IDS:
            kind = replace(default_type(DEFAULT_IDS[wanted]), name=wanted)
        else:
            self.remarks.add("unknown vehicle types are taken for cars", wanted)
            kind = replace(default_type("passenger"), name=wanted)
        known.types[wanted] = kind
        return kind

    def _trip(self, record: Record, name: str, depart: float) -> Trip | None:
        a, where = record.attributes, record.where
        kind = self._kind(record, name)
        permission = CLASS_BIT[kind.vehicle_class]
        stop_elements = list(record.stops)
        route = self._route_of(record, name, stop_elements)
        stops: list[Stop] = []
        for stop in stop_elements:
            stops.extend(self._stop(stop, where))
        if route is None:
            ends = [self._edge(a[key], where) for key in ("from", "to") if key in a]
            road_of = self.network.arrays.lanes.road
            if "from" not in a or "to" not in a:
                halts = [int(road_of[stop.lane]) for stop in stops]
                if not halts or len(ends) + len(halts) < 2:
                    self.remarks.add("vehicles without a route, from or to are left out", name)
                    return None
                first = ends[0] if "from" in a else halts[0]
                ends = [first, ends[-1] if "to" in a else halts[-1]]
            via = [self._edge(edge, where) for edge in a.get("via", "").split()]
            between = via or [int(road_of[stop.lane]) for stop in stops]
            roads: tuple[int, ...] = (ends[0], *between, ends[1])
            routed = False
        else:
            checked = self._connected_route(route, permission, kind, where)
            if checked is None:
                return None
            roads, routed = checked
            stops = self._stops_on_route(stops, roads, where)
        if not routed:
            roads = tuple(r for i, r in enumerate(roads) if i == 0 or r != roads[i - 1])
            routed = len(roads) == 1
        return Trip(
            id=name,
            depart=depart,
            type=kind,
            roads=roads,
            routed=routed,
            stops=stops,
            **self._departure(a, roads[0], where),
            arrival_pos=self._arrival(a, roads[-1], name, where),
        )

    def _route_of(
        self, record: Record, name: str, stops: list[Attributes]
    ) -> tuple[int, ...] | None:
        """Roads of a record's route; None when it has none. Stops of a named route are added."""
        attributes = record.route
        if attributes is None:
            wanted = record.attributes.get("route")
            if wanted is None:
                return None
            shares = self.records.route_shares.get(wanted)
            if shares is not None:
                wanted = choose(shares, drawn(self.seed, name, STREAM_ROUTE))
            attributes = self.records.routes.get(wanted)
            if attributes is None:
                raise DemandError(f"{record.where}: route {wanted[:60]!r} is not in any file given")
            stops[:0] = self.records.route_stops.get(wanted, [])
        roads = self._edges(attributes["edges"], record.where)
        if "repeat" in attributes:
            again = whole(attributes["repeat"], record.where, "repeat", 0, LONGEST_ROUTE)
            if len(roads) * (again + 1) > LONGEST_ROUTE:
                raise DemandError(f"{record.where}: the repeated route has too many roads")
            roads = roads * (again + 1)
        a = record.attributes
        first = self._place(a, "departEdge", 0, len(roads), record.where)
        last = self._place(a, "arrivalEdge", len(roads) - 1, len(roads), record.where)
        return roads[first : last + 1] if first <= last else roads[first : first + 1]

    def _place(self, a: Attributes, key: str, default: int, size: int, where: str) -> int:
        if key not in a or a[key] == "random":
            return default
        place = whole(a[key], where, key, -size, size - 1)
        return place % size

    def _edge(self, edge: str, where: str) -> int:
        road = self.network.road_index.get(edge)
        if road is None:
            raise DemandError(
                f"{where}: road {edge[:60]!r} is not in {self.network.name}, or closed to road "
                "vehicles; correct the route"
            )
        return road

    def _edges(self, text: str, where: str) -> tuple[int, ...]:
        roads = self.parsed.get(text)
        if roads is None:
            names = text.split()
            if not 0 < len(names) <= LONGEST_ROUTE:
                raise DemandError(f"{where}: a route of {len(names)} roads; wanted 1 or more")
            roads = tuple(self._edge(name, where) for name in names)
            self.parsed[text] = roads
        return roads

    def _connected_route(
        self, roads: tuple[int, ...], permission: int, kind: VehicleType, where: str
    ) -> tuple[tuple[int, ...], bool] | None:
        """The route, and whether it is complete; None to leave the vehicle out."""
        gap = self._first_gap(roads, permission)
        if gap < 0:
            return roads, True
        ids = self.network.road_ids
        if not self.ignore_errors:
            raise DemandError(
                f"{where}: class {kind.vehicle_class} cannot turn from road {ids[roads[gap]]!r} "
                f"to {ids[roads[gap + 1]]!r}; correct the route or give --ignore-route-errors"
            )
        self.remarks.add("routes with a gap are routed anew", f"{where} at {ids[roads[gap]]}")
        return roads, False

    def _first_gap(self, roads: tuple[int, ...], permission: int) -> int:
        key = (roads, permission)
        found = self.connected.get(key)
        if found is None:
            n, turns = self.network.n_roads, self.turns
            found = -1
            for i in range(len(roads) - 1):
                if not turns.get(roads[i] * n + roads[i + 1], 0) & permission:
                    found = i
                    break
            self.connected[key] = found
        return found

    # --- details ---------------------------------------------------------------------------

    def _departure(self, a: Attributes, road: int, where: str) -> dict[str, Any]:
        net = self.network.arrays.roads
        values: dict[str, Any] = {}
        text = a.get("departLane", "first")
        if text in _LANES:
            values["depart_lane"] = _LANES[text]
        else:
            most = int(net.lane_count[road]) - 1
            values["depart_lane"] = whole(text, where, "departLane", 0, most)
        text = a.get("departPos", "base")
        if text == "stop":
            text = "base"
        if text in _POSITIONS:
            values["depart_pos_kind"] = _POSITIONS[text]
        else:
            lane = int(net.first_lane[road]) + max(0, int(values["depart_lane"]))
            values["depart_pos_kind"] = codes.POS_GIVEN
            values["depart_pos"] = self._true_metres(lane, text, where, "departPos")
        text = a.get("departSpeed", "0")
        if text in _SPEEDS:
            values["depart_speed_kind"] = _SPEEDS[text]
        else:
            values["depart_speed"] = number(text, where, "departSpeed", 0.0, 200.0)
        return values

    def _arrival(self, a: Attributes, road: int, name: str, where: str) -> float:
        text = a.get("arrivalPos", "max")
        lane = int(self.network.arrays.roads.first_lane[road])
        if text == "max":
            return inf
        if text == "random":
            length = float(self.network.arrays.lanes.length[lane])
            return length * drawn(self.seed, name, STREAM_POS)
        return self._true_metres(lane, text, where, "arrivalPos")

    def _true_metres(self, lane: int, text: str, where: str, what: str) -> float:
        """Metres along our lane of a position in the file; negative ones count from the end."""
        declared = float(self.network.declared_length[lane])
        value = number(text, where, what, -1e6, 1e6)
        if value < 0.0:
            value += declared
        scale = float(self.network.arrays.lanes.length[lane]) / max(declared, 1e-3)
        return min(max(value, 0.0), declared) * scale

    def _stop(self, stop: Attributes, where: str) -> Iterator[Stop]:
        """The halt of a stop element; nothing (and a remark) where it is of another kind."""
        place = stop
        if "busStop" in stop:
            found = self.records.bus_stops.get(stop["busStop"])
            if found is None:
                raise DemandError(
                    f"{where}: bus stop {stop['busStop'][:60]!r} is not in any file given"
                )
            place = found
        if "lane" not in place:
            self.remarks.add("stops that are neither at a lane nor at a bus stop are left out")
            return
        lane = self.network.lane_index.get(place["lane"])
        if lane is None:
            raise DemandError(
                f"{where}: stop at lane {place['lane'][:60]!r}, which is not in "
                f"{self.network.name}; correct the stop"
            )
        length = float(self.network.arrays.lanes.length[lane])
        pos = length
        if "endPos" in place:
            pos = self._true_metres(lane, place["endPos"], where, "endPos")
        duration = seconds(stop.get("duration", "0"), where, "duration", -LATEST, LATEST)
        until = seconds(stop["until"], where, "until", 0.0, LATEST) if "until" in stop else -inf
        parking = stop.get("parking", "false").lower() in ("true", "1", "yes", "on")
        yield Stop(lane, min(pos, length - 0.1), max(duration, 0.0), until, parking)

    def _stops_on_route(self, stops: list[Stop], roads: tuple[int, ...], where: str) -> list[Stop]:
        """The stops in the order of the route; one that is not on it is left out, counted."""
        kept: list[Stop] = []
        at, last_pos = 0, -1.0
        for stop in stops:
            road = int(self.network.arrays.lanes.road[stop.lane])
            place = at
            if roads[place] == road and stop.pos < last_pos:
                place += 1
            while place < len(roads) and roads[place] != road:
                place += 1
            if place >= len(roads):
                self.remarks.add("stops that are not on the rest of the route are left out", where)
                continue
            at, last_pos = place, stop.pos
            kept.append(stop)
        return kept
