"""Demand of SUMO files (.rou.xml, .trips.xml, .add.xml), fitted to a network."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from math import inf
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.values import seconds
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import Demand, VehicleType
from rushhour.traffic.demand.scaling import SUFFIX, checked_scale
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.sumo.asked import want_ignored
from rushhour.traffic.sumo.flows import LATEST, Departure, Timetable
from rushhour.traffic.sumo.places import Places
from rushhour.traffic.sumo.records import Record, Records, RouteRecord, Shares, read_records
from rushhour.traffic.sumo.routes import LONGEST_ROUTE, Roads, RouteBook
from rushhour.traffic.sumo.vehicle_types import DEFAULT_IDS, choose, default_type, drawn

MOST_NESTED: Final = 8  # distributions within distributions
STREAM_ROUTE: Final = 8302
STREAM_ZONE: Final = 8307  # + 1 for the sink


def read_demand(
    paths: Sequence[Path],
    network: Network,
    begin: float | None = None,
    end: float | None = None,
    skip_bad_trips: bool = False,
    seed: int = 0,
    scale: float = 1.0,
    scale_suffix: str = SUFFIX,
    trip_defaults: Mapping[str, str] | None = None,
    ignored: Collection[str] = (),
) -> Demand:
    """Read the demand of several files, given in any order; what they define is shared.

    begin, end: s; only trips with begin <= depart < end are taken. seed: of what is drawn for a
    vehicle (by its id): its type, its route, the departures of a random flow. Trips with two ends
    only are left for `routing.routes.route_demand`. Routes that the vehicle's class cannot drive
    are errors unless skip_bad_trips: then they are routed around the gap, or the vehicle is
    left out, and counted in the remarks.
    scale: factor on the traffic, as SUMO's --scale, beside the `scale` of types: flows become
    denser, single vehicles are copied (with an id of scale_suffix and a number) or left out.
    trip_defaults: attributes of vehicles whose file lacks them, as departSpeed. ignored: names of
    elements, attributes and params that are not followed (docs/from-sumo.md) and are to be let be.
    Raises DemandError with file, line and vehicle for what cannot be driven, meant or followed;
    RushhourError for XML that cannot be read.

    >>> demand = read_demand([Path("town.rou.xml"), Path("stops.add.xml")], network)
    """
    try:
        scale = checked_scale(scale)
        records = read_records([Path(path) for path in paths], ignored)
        fitter = _Fitter(records, network, begin, end, skip_bad_trips, seed, scale, scale_suffix)
        fitter.defaults = dict(trip_defaults or {})
        demand = fitter.demand()
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    return route_demand(network, demand, skip_bad=True) if skip_bad_trips else demand


class _Fitter:
    """Turns records into trips on a network."""

    def __init__(
        self,
        records: Records,
        network: Network,
        begin: float | None,
        end: float | None,
        skip_bad_trips: bool,
        seed: int,
        scale: float,
        suffix: str,
    ) -> None:
        self.factor = scale
        self.defaults: dict[str, str] = {}
        self.records = records
        self.skip_bad_trips = skip_bad_trips
        self.seed = seed
        self.remarks = records.remarks
        self.book = RouteBook(network, seed)
        self.places = Places(network, seed, records.remarks, skip_bad_trips, records.ignored)
        self.timetable = Timetable(
            -inf if begin is None else begin, inf if end is None else end, seed, records.remarks,
            self._scale, suffix, records.ignored,
        )  # fmt: skip

    def demand(self) -> Demand:
        """All trips of the records."""
        builder = DemandBuilder()
        names: set[str] = set()
        vehicles = self.records.vehicles
        quotas: Iterator[int] = repeat(1)
        taken: set[str] = set()
        if self.factor != 1.0 or self.records.scales:
            quotas = iter(self.timetable.quotas(vehicles))
            taken.update(record.attributes["id"] for record in vehicles)
        for record, quota in zip(vehicles, quotas, strict=False):
            for departure in self.timetable.departures(record, quota, taken):
                if departure.name in names:
                    raise DemandError(
                        f"{record.where}: {departure.name[:60]!r} is the id of another vehicle; "
                        "give each its own"
                    )
                names.add(departure.name)
                trip = self._trip(record, departure)
                if trip is not None:
                    builder.add(trip)
        if self.factor != 1.0:
            self.remarks.add(f"demand scaled by {self.factor:g}, vehicles in all", "", len(names))
        builder.remarks = self.remarks.lines()
        return builder.build()

    def _scale(self, record: Record, name: str) -> float:
        """How often a vehicle (or, of a flow, each) departs: by the run, and by its type."""
        if not self.records.scales:
            return self.factor
        wanted = record.attributes.get("type", "")
        if record.tag == "flow" and wanted in self.records.type_shares:
            return self.factor  # each of its vehicles draws its own type
        return self.factor * self.records.scales.get(self._kind(record, name).name, 1.0)

    def _kind(self, record: Record, name: str) -> VehicleType:
        """Type of a vehicle, drawn where it is a distribution."""
        wanted, known = record.attributes.get("type", "DEFAULT_VEHTYPE"), self.records
        for turn in range(MOST_NESTED):
            if wanted in known.types:
                return known.types[wanted]
            if wanted not in known.type_shares:
                break
            wanted = choose(known.type_shares[wanted], drawn(self.seed, name, turn=turn))
        if wanted not in DEFAULT_IDS:
            what = f"type {wanted[:60]!r}, that no file given has,"
            want_ignored("type", what, record.where, known.ignored, self.remarks)
            self.remarks.add("unknown vehicle types are taken for cars", wanted, differs=True)
        kind = replace(default_type(DEFAULT_IDS.get(wanted, "passenger")), name=wanted)
        known.types[wanted] = kind
        return kind

    def _route(self, record: Record, name: str) -> RouteRecord | None:
        """Route of a vehicle, drawn where it is a distribution; None for one with ends only."""
        if record.route is not None:
            return record.route
        wanted, known = record.attributes.get("route"), self.records
        if wanted is None:
            return None
        for turn in range(MOST_NESTED):
            if wanted in known.routes or wanted not in known.route_shares:
                break
            u = drawn(self.seed, name, STREAM_ROUTE, turn)
            wanted = choose(known.route_shares[wanted], u)
        if wanted not in known.routes:
            raise DemandError(f"{record.where}: route {wanted[:60]!r} is in no file given; add it")
        return known.routes[wanted]

    def _trip(self, record: Record, departure: Departure) -> Trip | None:
        """The trip of a vehicle; None (and a remark) where it cannot be made."""
        kind = self._kind(record, departure.drawn_as)
        route = self._route(record, departure.drawn_as)
        stops = self._stops(record, route, kind, departure)
        if route is None:
            ends = self._ends(record, departure.drawn_as, stops, kind)
            if ends is None:
                return None
            roads = tuple(r for i, r in enumerate(ends) if i == 0 or r != ends[i - 1])
            routed = len(roads) == 1
        else:
            roads = self.book.roads(route, record.attributes, record.where)
            fault = self.book.fault(roads, kind)
            routed = fault is None
            if fault is not None and not self._forgiven(record, roads, kind, fault):
                return None
            if stops:
                stops = self.places.served(stops, roads, record.where)
        return Trip(
            id=departure.name,
            depart=departure.time,
            type=kind,
            roads=roads,
            routed=routed,
            mended=route is not None and not routed,
            stops=stops,
            arrival_pos=self.places.arrival(
                record.attributes, roads[-1], departure.name, record.where
            ),
            **self.places.departure(
                self.defaults | record.attributes, roads[0], stops, kind, record.where
            ),
        )

    def _forgiven(self, record: Record, roads: Roads, kind: VehicleType, fault: str) -> bool:
        """Whether a faulty route may be mended; False to leave its vehicle out."""
        if not self.skip_bad_trips:
            raise DemandError(
                f"{record.where}: {fault}; correct the route or give --skip-bad-trips"
            )
        if all(self.book.is_open(road, kind) for road in roads) and len(roads) > 1:
            self.remarks.add(
                "routes with a gap are routed anew across it", record.where, differs=True
            )
            return True
        self.remarks.add(
            "vehicles on roads closed to them are left out", record.where, differs=True
        )
        return False

    def _stops(
        self, record: Record, route: RouteRecord | None, kind: VehicleType, departure: Departure
    ) -> list[Stop]:
        """Stops of the route, once a round, then those of the vehicle itself."""
        found: list[Stop | None] = []
        known = self.records.bus_stops
        if route is not None and route.stops:
            rounds = self.book.repeats(route) + 1
            if rounds * len(route.stops) > LONGEST_ROUTE:
                raise DemandError(f"{route.where}: too many stops; lower its repeat")
            text = route.attributes.get("cycleTime", "0")
            cycle = seconds(text, route.where, "cycleTime", 0.0, LATEST)
            for turn in range(rounds):
                later = departure.time + turn * cycle
                found += [self.places.stop(stop, known, kind, later) for stop in route.stops]
        found += [self.places.stop(stop, known, kind, departure.shift) for stop in record.stops]
        return [stop for stop in found if stop is not None]

    # --- trips without a route ----------------------------------------------------------------

    def _ends(
        self, record: Record, name: str, stops: list[Stop], kind: VehicleType
    ) -> list[int] | None:
        """First and last road with what lies between; None (and a remark) without them."""
        halts = [self.places.road_of(stop.lane) for stop in stops]
        first = self._end(record, name, "from", self.records.sources)
        last = self._end(record, name, "to", self.records.sinks)
        via = [self.book.road(e, record.where) for e in record.attributes.get("via", "").split()]
        between = via + [road for road in halts if road not in via]
        given = (first is not None) + (last is not None)
        if given < 2 and given + len(halts) < 2:
            if not self.skip_bad_trips:
                raise DemandError(
                    f"{record.where}: has neither a route nor two edges to go between; give it from and "
                    "to, or run without it by --skip-bad-trips"
                )
            self.remarks.add(
                "vehicles without a route or two edges to go between are left out",
                name,
                differs=True,
            )
            return None
        ends = [] if first is None else [first]
        ends += between
        ends += [] if last is None else [last]
        for road in ends:
            if not self.book.is_open(road, kind):
                edge = self.places.network.road_ids[road]
                fault = f"road {edge!r} is closed to class {kind.vehicle_class}"
                if not self._forgiven(record, tuple(ends), kind, fault):
                    return None
        return ends

    def _end(self, record: Record, name: str, key: str, zones: dict[str, Shares]) -> int | None:
        """Road of `from` or `to`, drawn from a zone for fromTaz or toTaz; None if not given."""
        edge, zone = record.attributes.get(key), record.attributes.get(f"{key}Taz")
        if edge is None and zone is not None:
            shares = zones.get(zone)
            if shares is None:
                raise DemandError(f"{record.where}: taz {zone[:60]!r} is in no file given; add it")
            if not sum(weight for _, weight in shares) > 0.0:
                raise DemandError(
                    f"{record.where}: taz {zone[:60]!r} has no edge {key} it; add one"
                )
            edge = choose(shares, drawn(self.seed, name, STREAM_ZONE + (key == "to")))
        return None if edge is None else self.book.road(edge, record.where)
