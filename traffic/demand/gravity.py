"""A day of car trips from land use: purposes, a gravity model, gateways, times of day (docs/demand-model.md).

Trips of a purpose lead from homes to what they are for, and back. How many end where follows a radiation model, or a gravity model
over zones: T_ij = a_i O_i b_j D_j exp(-c_ij / mean), c the time on empty roads; work and school keep both margins
(Furness), the others their homes'. Source: Ortuzar, Willumsen, Modelling Transport, 4th edition, chapter 5.
Trip k of a purpose is a hash of (seed, purpose, k): others that are added change nothing of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform_all
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, ParameterError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import Difference
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.land_use import LandUse
from rushhour.traffic.demand.model import LANE_FREE, SPEED_MAX, Demand, VehicleType
from rushhour.traffic.routing.routes import Desk, costs_from, free_ways, kept_desk
from rushhour.traffic.settings.numbers import whole_seed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GRAVITY, RADIATION = "gravity", "radiation"
SPATIAL: Final = (GRAVITY, RADIATION)
DAY: Final = 86_400.0  # s
CELL: Final = 400.0  # m, of a zone
MOST_ZONES: Final = 500
STREAM: Final = 8600  # + 4 a purpose: pair, origin, destination, time
ATTEMPTS: Final = 4  # draws of a trip before it is left out
STAFF: Final = 0.5  # work at a m2 of schools, shops, leisure, of that at a m2 of offices and works
BORDER: Final = 0.06  # share of the extent within which a road begins or ends at the edge
AT_EDGE: Final = 120.0  # m from the edge, at least
# m2 of floor a person below which a map does not draw a kind of it; about a twentieth of what Columbus has, of our own choosing.
LEAST: Final = {"home": 2.0, "work": 0.3, "school": 0.1, "shop": 0.1, "leisure": 0.1}
ARTERIAL: Final = 10  # rank of tertiary roads (roadnets.osm.places); links are below


@dataclass(frozen=True)
class Purpose:
    """Trips between homes and a kind of floor. share: of all trips; hours: shares of the 24 hours, out and back."""

    name: str
    kind: str  # of LandUse.floor
    share: float
    out: tuple[float, ...]
    back: tuple[float, ...]
    both_margins: bool = False


def _hours(peaks: Mapping[float, float], width: float) -> tuple[float, ...]:
    """Shares of 24 hours of bells around some hours."""
    hour = np.arange(24) + 0.5
    total = sum(w * np.exp(-0.5 * ((hour - at) / width) ** 2) for at, w in peaks.items())
    shares = np.asarray(total) / np.sum(total)
    return tuple(float(f"{x:.5f}") for x in shares)


# Shares of trips as car drivers and the shape of their day after Mobilitaet in Deutschland 2017, results report,
# tables 6 and 9 (work and business 0.34, education and escorting 0.12, shopping and errands 0.28, leisure 0.26).
PURPOSES: Final = (
    Purpose("work", "work", 0.34, _hours({7.3: 1.0, 13.5: 0.15}, 1.1), _hours({16.7: 1.0, 13.0: 0.2}, 1.4), True),
    Purpose("school", "school", 0.12, _hours({7.7: 1.0, 14.0: 0.2}, 0.6), _hours({13.3: 0.8, 16.0: 0.7}, 1.2), True),
    Purpose("shop", "shop", 0.28, _hours({10.5: 1.0, 16.5: 0.9}, 1.8), _hours({11.5: 1.0, 17.5: 0.9}, 1.8)),
    Purpose("leisure", "leisure", 0.26, _hours({15.0: 0.8, 19.0: 1.0}, 2.4), _hours({17.5: 0.7, 21.5: 1.0}, 2.2)),
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    """Coefficients. Sources: docs/demand-model.md."""

    population: float | None = None  # None: floor area of homes over `floor_per_person`
    floor_per_person: float = 46.0  # m2
    rate: float = 1.33  # car trips a person and day
    spatial: str = GRAVITY  # or RADIATION
    mean_time: float = 420.0  # s, of the impedance exp(-c / mean) of the gravity model
    external: float = 0.15  # of all trips, that come from outside, lead there or through
    through: float = 0.2  # of those, that lead through
    outward: float = 0.5  # of the others, those of people who live here and work outside
    purposes: tuple[Purpose, ...] = field(default=PURPOSES)

    def __post_init__(self) -> None:
        if self.spatial not in SPATIAL:
            raise ParameterError(f"model {self.spatial[:40]!r}: wanted {' or '.join(SPATIAL)}")
        for name, low, high in (
            ("population", 1.0, 1e8), ("floor_per_person", 1.0, 1000.0), ("rate", 0.0, 20.0),
            ("mean_time", 10.0, 36_000.0), ("external", 0.0, 0.95), ("through", 0.0, 1.0),
            ("outward", 0.0, 1.0),
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                said = name.replace("_", " ")
                raise ParameterError(f"{said} {value:g}: wanted {low:g} to {high:g}")


@dataclass
class DayDemand:
    """Trips of a day, or a part of it, and what they come from."""

    demand: Demand
    facts: dict[str, Any]


def day_demand(
    network: Network, land: LandUse, model: Model = Model(), *, begin: float = 0.0, end: float = DAY,
    seed: int = 0, vehicle_type: VehicleType | None = None,
) -> DayDemand:  # fmt: skip
    """Draw the car trips that depart from `begin` until `end`, s. Raises DemandError where nobody lives."""
    seed = whole_seed(seed)
    if not 0.0 <= begin < end <= DAY:
        raise ParameterError(f"begin {begin:g}, end {end:g}: wanted 0 <= begin < end <= {DAY:g} s")
    people = model.population or land.total["home"] / model.floor_per_person
    places = _Places(network, land, people)
    if not places.weight["home"].any() or people < 1.0:
        raise DemandError(
            "the map tells of no homes; give one with buildings or residential land use"
        )
    trips = people * model.rate
    gates_in, gates_out = places.gates()
    external = model.external if gates_in.size and gates_out.size else 0.0
    parts = []
    for number, purpose in enumerate(model.purposes):
        pairs = places.pairs(purpose, model)
        for way, hours in enumerate((purpose.out, purpose.back)):
            count = 0.5 * (1.0 - external) * trips * purpose.share
            parts.append(
                _Part(f"{purpose.name}.{'out' if way == 0 else 'back'}", count, hours, 2 * number + way,
                      pairs if way == 0 else pairs.T, "home" if way == 0 else purpose.kind,
                      purpose.kind if way == 0 else "home")
            )  # fmt: skip
    drawn = [_draw(part, places, seed, begin, end) for part in parts]
    if external > 0.0:
        drawn += _draw_external(
            model, external * trips, places, (gates_in, gates_out), seed, begin, end
        )
    kind, gates = vehicle_type or VehicleType(), (gates_in, gates_out)
    return _demand(network, drawn, kind, people, land, gates, places.along)


@dataclass
class _Part:
    """Trips of one kind: how many a day, when, and between which zones."""

    name: str
    count: float
    hours: tuple[float, ...]
    number: int  # of its stream
    pairs: Floats  # (z, z)
    origin: str  # kinds of floor
    destination: str


@dataclass
class _Drawn:
    """Trips of a part: ends by attempt, (ATTEMPTS, n), and departures."""

    name: str
    origin: NDArray[np.int32]
    destination: NDArray[np.int32]
    depart: Floats
    number: Ints


class _Places:
    """Roads of a network with what stands at them, and the zones that they make."""

    def __init__(self, network: Network, land: LandUse, people: float = 0.0) -> None:
        self.network = network
        self.graph, self.desk = kept_desk(network, CLASS_BIT["passenger"])
        open_roads = np.isfinite(self.graph.cost) & _reachable(self.graph, self.desk)
        self.open = open_roads
        # So that none is empty:
        base = 1e-3 * np.where(open_roads, network.arrays.roads.length, 0.0)
        floor = dict(land.floor)
        floor["work"] = floor["work"] + STAFF * (floor["school"] + floor["shop"] + floor["leisure"])
        self.along = [  # kinds of which the map draws next to nothing, which lie along all roads then
            kind for kind, values in floor.items()
            if float(values[open_roads].sum()) <= people * LEAST[kind]
        ]  # fmt: skip
        self.weight = {
            kind: base if kind in self.along else np.where(open_roads, values, 0.0)
            for kind, values in floor.items()
        }
        x = 0.5 * (self.graph.start_x + self.graph.end_x)
        y = 0.5 * (self.graph.start_y + self.graph.end_y)
        self.x, self.y = x, y
        cell = max(CELL, float(np.sqrt(np.ptp(x) * np.ptp(y) / MOST_ZONES)))
        key = np.floor(x / cell).astype(np.int64) * 1_000_003 + np.floor(y / cell).astype(np.int64)
        key[~open_roads] = np.iinfo(np.int64).min
        zones, zone = np.unique(key, return_inverse=True)
        self.zone, self.n_zones = zone, zones.size
        order = np.lexsort((-network.arrays.roads.length, zone))
        self.middle = order[np.searchsorted(zone[order], np.arange(zones.size))]  # its longest road
        self._times: Floats | None = None

    @property
    def times(self) -> Floats:
        """Time on empty roads between zones, (z, z) s; within a zone half of that to the nearest other."""
        if self._times is None:
            found = np.full((self.n_zones, self.n_zones), np.inf)
            for z, road in enumerate(self.middle.tolist()):
                if self.open[road]:
                    found[z] = costs_from(self.graph, self.desk, road)[self.middle]
            np.fill_diagonal(found, np.inf)
            nearest = found.min(axis=1, initial=1e9)
            np.fill_diagonal(found, np.where(np.isfinite(nearest), 0.5 * nearest, 60.0))
            self._times = found
        return self._times

    def margin(self, kind: str) -> Floats:
        """Floor of a kind by zone, as a share of all."""
        total = np.bincount(self.zone, self.weight[kind], self.n_zones)
        return np.asarray(total / max(float(total.sum()), 1e-12))

    def pairs(self, purpose: Purpose, model: Model) -> Floats:
        """Shares of the trips from homes to a kind of floor by pair of zones, (z, z)."""
        home, goal = self.margin("home"), self.margin(purpose.kind)
        if model.spatial == RADIATION:
            attraction = radiated(home, goal, self.times)
        else:
            attraction = np.exp(-self.times / model.mean_time) * goal[None]
        trips = (
            home[:, None] * attraction / np.maximum(attraction.sum(axis=1, keepdims=True), 1e-300)
        )
        for _ in range(30 if purpose.both_margins else 0):
            trips *= (goal / np.maximum(trips.sum(axis=0), 1e-300))[None]
            trips *= (home / np.maximum(trips.sum(axis=1), 1e-300))[:, None]
        found: Floats = trips
        return found

    def road(self, kind: str, zone: Ints, u: Floats) -> NDArray[np.int32]:
        """A road of each zone, drawn by the floor of a kind."""
        order = np.argsort(self.zone, kind="stable")
        running = np.concatenate(([0.0], np.cumsum(self.weight[kind][order])))
        first = np.searchsorted(self.zone[order], np.arange(self.n_zones + 1))
        low, high = running[first[zone]], running[first[zone + 1]]
        at = np.searchsorted(running, low + u * (high - low), "right") - 1
        found: NDArray[np.int32] = order[np.minimum(at, order.size - 1)].astype(np.int32)
        return found

    def gates(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Roads that come in over the edge of the map, and those that leave.

        They begin or end where nothing else does. Of roads of a rank (ARTERIAL) wherever that is, since ways stick out of
        an extract; of those on which one may turn back there, and of others, near the edge of the box around all.
        """
        graph, n = self.graph, self.graph.cost.size
        roads = self.network.arrays.roads
        low, high = np.array([self.x.min(), self.y.min()]), np.array([self.x.max(), self.y.max()])
        near = np.maximum(BORDER * (high - low), AT_EDGE)

        def at_edge(x: Floats, y: Floats) -> NDArray[np.bool_]:
            place = np.column_stack((x, y))
            return np.asarray(((place < low + near) | (place > high - near)).any(axis=1))

        before = graph.road_of[np.repeat(np.arange(graph.road_of.size), np.diff(graph.out_start))]
        after = graph.road_of[graph.out]
        begins, ends = roads.from_intersection, roads.to_intersection
        on = ~((begins[before] == ends[after]) & (begins[before] >= 0))  # none turns back
        entered, left, come_to, gone_from = (np.zeros(n, np.bool_) for _ in range(4))
        come_to[after], gone_from[before] = True, True
        entered[after[on]], left[before[on]] = True, True
        usable = np.isfinite(graph.cost)
        starts, stops = (at_edge(x, y) for x, y in ((graph.start_x, graph.start_y), (graph.end_x, graph.end_y)))  # fmt: skip
        arterial = usable & (roads.priority >= ARTERIAL)
        fast = usable & (roads.speed[:n] > 12.0)
        for wanted, inward, outward in (
            (arterial, ~entered & (~come_to | starts), ~left & (~gone_from | stops)),
            (fast, ~come_to & starts, ~gone_from & stops),
            (usable, ~come_to & starts, ~gone_from & stops),
        ):
            come = np.flatnonzero(wanted & inward & left)
            leave = np.flatnonzero(wanted & outward & entered)
            if come.size and leave.size:
                return come.astype(np.int32), leave.astype(np.int32)
        return np.zeros(0, np.int32), np.zeros(0, np.int32)

    def gate_weight(self, gates: NDArray[np.int32]) -> Floats:
        """What comes over a gate, relative: lanes by the square of the limit."""
        roads = self.network.arrays.roads
        weight = roads.lane_count[gates] * (roads.speed[gates] / 13.9) ** 2
        return np.asarray(weight / weight.sum())


def radiated(home: Floats, goal: Floats, times: Floats) -> Floats:
    """Chances that trips from a zone end in another by the radiation model, (z, z), rows up to a factor.

    m n / ((m + s) (m + n + s)), m homes of the zone and n what the trip is for in the other, as shares of all, s of what is
    nearer by time than the other, both zones left out; none within a zone, nor where there is no way. Source: Simini, Gonzalez,
    Maritan, Barabasi (2012), "A universal model for mobility and migration patterns", equation 2.
    """
    z = home.size
    found = np.zeros((z, z))
    for i in range(z):
        order = np.argsort(times[i], kind="stable")
        order = order[(order != i) & np.isfinite(times[i][order])]
        n = goal[order]
        beyond = home[i] + np.cumsum(n)  # m + s + n
        found[i, order] = home[i] * n / np.maximum((beyond - n) * beyond, 1e-300)
    return found


def _reachable(graph: Any, desk: Desk) -> NDArray[np.bool_]:
    """Roads of the largest part of the network in which every road leads to every other."""
    try:
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components
    except ImportError:
        raise DemandError("demand from a map wants scipy; pip install 'rushhour[data]'") from None
    k = graph.road_of.size
    origin = np.repeat(np.arange(k), np.diff(graph.out_start))
    links = coo_matrix((np.ones(graph.out.size), (origin, graph.out)), (k, k))
    _, part = connected_components(links, directed=True, connection="strong")
    largest = np.bincount(part).argmax()
    found = np.zeros(graph.cost.size, np.bool_)
    found[graph.road_of[part == largest]] = True
    return found


def _due(count: float, hours: tuple[float, ...], seed: int, stream: int, begin: float, end: float) -> tuple[Ints, Floats]:  # fmt: skip
    """Numbers and departures, s, of those of so many trips a day that depart from begin until end."""
    number = np.arange(round(count), dtype=np.int64)
    edges = np.concatenate(([0.0], np.cumsum(hours)))
    depart = np.interp(
        uniform_all(seed, number, 0, stream) * edges[-1], edges, 3600.0 * np.arange(25)
    )
    inside = (depart >= begin) & (depart < end)
    return number[inside], depart[inside]


def _draw(part: _Part, places: _Places, seed: int, begin: float, end: float) -> _Drawn:
    """Draw the trips of a part that depart in time."""
    stream = STREAM + 4 * part.number
    number, depart = _due(part.count, part.hours, seed, stream, begin, end)
    running = np.cumsum(part.pairs.ravel())
    ends = []
    for attempt in range(ATTEMPTS):
        u, v, w = (uniform_all(seed, number, attempt, stream + 1 + k) for k in range(3))
        pair = np.minimum(np.searchsorted(running, u * running[-1], "right"), running.size - 1)
        origin, destination = np.divmod(pair, places.n_zones)
        ends.append(
            (places.road(part.origin, origin, v), places.road(part.destination, destination, w))
        )
    origins, destinations = (np.array([pair[k] for pair in ends], np.int32) for k in (0, 1))
    return _Drawn(part.name, origins, destinations, depart, number)


def _draw_external(
    model: Model, trips: float, places: _Places, gates: tuple[Any, Any], seed: int, begin: float, end: float,
) -> list[_Drawn]:  # fmt: skip
    """Trips of those who work here and live outside, in and away; of those who live here and work outside, out and
    home; and those that lead through. They have the day of work trips.
    """
    work = model.purposes[0]
    both = tuple(0.5 * (a + b) for a, b in zip(work.out, work.back, strict=True))
    margin = places.margin("work") + places.margin("shop")
    at = {"work": np.cumsum(margin / margin.sum()), "home": np.cumsum(places.margin("home"))}
    found = []
    inside = 0.5 * (1.0 - model.through) * trips
    inward, outward = (1.0 - model.outward) * inside, model.outward * inside
    for k, (name, count, hours) in enumerate((
        ("in", inward, work.out), ("away", inward, work.back), ("through", model.through * trips, both),
        ("out", outward, work.out), ("home", outward, work.back),
    )):  # fmt: skip
        kind = "home" if name in ("out", "home") else "work"
        comes = name in ("in", "home")
        zones = at[kind]
        stream = STREAM + 400 + 4 * k
        number, depart = _due(count, hours, seed, stream, begin, end)
        ends = []
        for attempt in range(ATTEMPTS):
            u, v, w = (uniform_all(seed, number, attempt, stream + 1 + j) for j in range(3))
            come, leave = (
                g[
                    np.minimum(
                        np.searchsorted(np.cumsum(places.gate_weight(g)), x, "right"), g.size - 1
                    )
                ]
                for g, x in zip(gates, (u, v), strict=True)
            )
            zone = np.minimum(np.searchsorted(zones, v if comes else u, "right"), zones.size - 1)
            local = places.road(kind, zone, w)
            pair = (come, local) if comes else (local, leave)
            if name == "through":
                pair = (come, leave)
            ends.append(pair)
        origins, destinations = (np.array([pair[k] for pair in ends], np.int32) for k in (0, 1))
        found.append(_Drawn(name, origins, destinations, depart, number))
    return found


def _demand(
    network: Network, drawn: list[_Drawn], kind: VehicleType, people: float, land: LandUse, gates: tuple[Any, Any],
    along: list[str],
) -> DayDemand:  # fmt: skip
    """Trips with the ways on empty roads; those between one road, or without a way, are drawn again."""
    builder = DemandBuilder()
    lost, counts = 0, {}
    for part in drawn:
        left = np.arange(part.depart.size)
        kept = 0
        for attempt in range(ATTEMPTS):
            if not left.size:
                break
            a, b = part.origin[attempt, left], part.destination[attempt, left]
            good = a != b
            ways = free_ways(network, CLASS_BIT["passenger"], a[good], b[good])
            there = np.zeros(left.size, np.bool_)
            there[np.flatnonzero(good)[np.diff(ways.start) > 0]] = True
            for i in np.flatnonzero(there).tolist():
                trip = int(left[i])
                builder.add(
                    Trip(f"{part.name}.{part.number[trip]}", round(float(part.depart[trip]), 2), kind,
                         (int(a[i]), int(b[i])), False, depart_lane=LANE_FREE, depart_speed_kind=SPEED_MAX)
                )  # fmt: skip
            kept += int(there.sum())
            left = left[~there]
        lost += left.size
        counts[part.name] = kept
    from rushhour.traffic.routing.routes import route_demand

    demand = route_demand(network, builder.build())
    remarks = list(demand.remarks)
    if along:
        remarks.append(
            f"the map draws next to nothing of {', '.join(along)} for {people:,.0f} people: these lie along all its roads, by "
            "their length; give a map with buildings or land use where places matter"
        )
    if lost:
        remarks.append(Difference(f"trips without a way are left out: {lost:,}"))
    demand = replace(demand, remarks=tuple(remarks))
    facts = {
        "trips": len(demand), "population": round(people), "by_purpose": counts, "left_out": lost,
        "floor_m2": {name: round(value) for name, value in land.total.items()},
        "buildings": land.buildings, "points": land.points, "areas": land.areas,
        "gates": [int(gates[0].size), int(gates[1].size)],
    }  # fmt: skip
    return DayDemand(demand, facts)
