"""Demand of an origin-destination matrix: trips per period between the zones of a network.

A volume becomes whole trips: its whole part, and one more with the probability of the rest. Each
trip draws the places of its zones where it starts and ends, and its time within the period; all
draws are hashes of (seed, pair of zones, number of the trip), so that no pair changes another's.
Among the roads at its two places it takes those with the quickest way between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform_all
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network, Zones
from rushhour.roadnets.reading.csv_tables import CsvTable
from rushhour.roadnets.reading.remarks import Difference
from rushhour.roadnets.reading.values import number
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.matrix_files import COLUMNS, LARGEST_VOLUME, matrices_of, matrix_table
from rushhour.traffic.demand.model import LANE_FREE, SPEED_MAX, Demand, VehicleType
from rushhour.traffic.demand.random_trips import MOST_TRIPS, SHORTEST_ROAD
from rushhour.traffic.routing.routes import costs_from, kept_desk
from rushhour.traffic.settings.numbers import whole_seed
from rushhour.traffic.words.durations import clock, seconds

PERIOD: Final = 3600.0  # s that volumes are for
MOST_SHARES: Final = 100_000  # intervals of a profile
STREAM: Final = 8400  # + 0 rest of the volume, 1 departure, 2 origin, 3 destination
ATTEMPTS: Final = 4  # draws of a trip's places before combinations are tried in turn
COMBINATIONS: Final = 16
BAD: Final = -1  # instead of a road: cannot be driven
WITHIN: Final = -2  # stays within a zone
STAYS: Final = "stays"
CAR: Final = VehicleType()

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Pair:
    """Trips of one pair of zones."""

    name: str
    origin: int  # zone, -1 unknown
    destination: int
    volume: float
    where: str


def read_matrix(
    path: Path,
    network: Network,
    *,
    period: float | str = PERIOD,
    scale: float = 1.0,
    profile: Sequence[float] = (),
    begin: float = 0.0,
    end: float | None = None,
    seed: int = 0,
    skip_bad_trips: bool = False,
    vehicle_type: VehicleType = CAR,
    zones: "ZoneSet | None" = None,
    matrix: str | None = None,
) -> Demand:
    """Read a matrix (.csv with o_zone_id, d_zone_id, volume; .omx; VISUM's .mtx) as trips of a network.

    zones: None for those of the network; in one that has none every intersection is a zone by its id. A file that says its
    time of day is for that: period must be left at its default.
    matrix: which one of an OMX file of several.
    period: s or a text such as "1h", the time that the volumes are for. scale: of all volumes.
    profile: shares of the period's equal intervals, any scale (default: even). Departures start at
    begin, s; only those before end are taken. Trips within a zone, and between zones at one place,
    are left out, with a remark; pairs that cannot be driven are errors, unless skip_bad_trips: then
    they are left out, counted, and the first one is named.
    Raises DemandError, with file and line, for anything that cannot be read or meant.

    >>> demand = read_matrix(Path("demand.csv"), network, period="1h", scale=0.1, seed=1)
    """
    seed = whole_seed(seed)
    period_s = seconds(period, "demand period")
    if not 0.0 < period_s:
        raise DemandError(f"demand period {period!r}: wanted more than 0 s")
    if not 0.0 < scale < inf:
        raise DemandError(f"demand scale {scale!r}: wanted a number above 0, such as 0.1")
    edges = _edges(profile)
    try:
        held = matrix_table(path, matrix)
        zones = zones_of(network) if zones is None else zones
        pairs = _pairs(held.table, zones, network.name, scale)
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    first, period_s = _period_of(path, held.span, begin, period_s)
    drawn = _drawn(network, zones, pairs, seed, vehicle_type)
    depart = first + period_s * np.interp(
        uniform_all(seed, drawn.key, 0, STREAM + 1), edges, np.linspace(0.0, 1.0, edges.size)
    )
    builder = DemandBuilder()
    taken = (drawn.first >= 0) & (depart >= begin)
    if end is not None:
        taken &= depart < end
    for t in np.flatnonzero(taken).tolist():
        roads = tuple(dict.fromkeys((int(drawn.first[t]), int(drawn.last[t]))))
        name = f"{pairs[drawn.pair[t]].name}.{drawn.number[t]}"
        builder.add(
            Trip(name, float(depart[t]), vehicle_type, roads, len(roads) == 1,
                 depart_lane=LANE_FREE, depart_speed_kind=SPEED_MAX)
        )  # fmt: skip
    builder.remarks += _left_out(path.name, held.unused, pairs, drawn, skip_bad_trips)
    return builder.build()


def _period_of(
    path: Path, span: tuple[float, float] | None, begin: float, period: float
) -> tuple[float, float]:
    """Begin and length, s, of the time that volumes are for: the file's own, or what is given."""
    if span is None:
        return begin, period
    if period != PERIOD:
        raise DemandError(
            f"{path}: says that it is for {clock(span[0])} to {clock(span[1])}; leave the demand's period out"
        )
    return span[0], span[1] - span[0]


def _edges(profile: Sequence[float]) -> NDArray[np.float64]:
    """Running share of the trips at the ends of the intervals of a profile, from 0 to 1."""
    if not len(profile):
        return np.array([0.0, 1.0])
    fit = len(profile) <= MOST_SHARES and all(isfinite(s) and s >= 0.0 for s in profile)
    if not fit or not 0.0 < sum(profile) < inf:
        raise DemandError(
            f"demand profile of {len(profile)} shares: wanted numbers >= 0, not all 0, "
            f"at most {MOST_SHARES}"
        )
    edges = np.concatenate(([0.0], np.cumsum(np.asarray(profile, np.float64))))
    return np.asarray(edges / edges[-1])


def matrix_facts(path: Path) -> dict[str, Any]:
    """What a matrix holds, counted; of an OMX file of several the volume of each.

    Raises DemandError, with file and line, for what cannot be read.
    """
    names = matrices_of(path)
    if len(names) > 1:
        return {
            "kind": "matrices of trips between zones",
            "name": path.name,
            "volumes": {one: _facts(path, one)["volume"] for one in names},
        }
    return _facts(path, None)


def _facts(path: Path, matrix: str | None) -> dict[str, Any]:
    try:
        held = matrix_table(path, matrix)
        table = held.table
        ends = [table.needed(name) for name in COLUMNS[:2]]
        volume = [
            number(text, table.where(row), "volume", 0.0, LARGEST_VOLUME)
            for row, text in enumerate(table.needed(COLUMNS[2]))
        ]
    except NetworkError as error:
        raise DemandError(str(error)) from None
    within = sum(v for a, b, v in zip(*ends, volume, strict=True) if a == b)
    return {
        "kind": "matrix of trips between zones",
        "name": path.name,
        "pairs": len(table),
        "zones": len({*ends[0], *ends[1]}),
        "volume": round(sum(volume), 6),
        "volume_within_zones": round(within, 6),
        **({} if held.span is None else {"begin_s": held.span[0], "end_s": held.span[1]}),
    }


@dataclass(frozen=True)
class ZoneSet:
    """The zones that a matrix may name. whose: what has them, for errors.

    by_road: the places are roads, not intersections. weight: of each place, where trips do not draw them alike.
    """

    ids: tuple[str, ...]
    places: Zones
    whose: str = "the network"
    by_road: bool = False
    origin_weight: NDArray[np.float64] | None = None  # as places.origin
    destination_weight: NDArray[np.float64] | None = None
    remarks: tuple[str, ...] = ()

    def ends(self, network: Network, demand: Demand) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where trips start and end, as the places of zones are."""
        return places_of(network, demand, self.by_road)


def places_of(
    network: Network, demand: Demand, by_road: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where trips start and end, (n,) each: roads, or intersections."""
    first = demand.roads[demand.route_start[:-1]]
    last = demand.roads[demand.route_start[1:] - 1]
    if by_road:
        return first, last
    roads = network.arrays.roads
    return roads.from_intersection[first], roads.to_intersection[last]


def zones_of(network: Network) -> ZoneSet:
    """The zones of a network, or, where there are none, its intersections, each by itself."""
    if network.zone_ids:
        return ZoneSet(network.zone_ids, network.zones)
    n = len(network.intersection_ids)
    start, each = np.arange(n + 1, dtype=np.int32), np.arange(n, dtype=np.int32)
    return ZoneSet(network.intersection_ids, Zones(start, each, start, each))


def _pairs(table: CsvTable, known: ZoneSet, name: str, scale: float) -> list[_Pair]:
    """One entry per pair of zones, in the order of first mention; repeated rows are added up."""
    origins, destinations, volumes = (table.needed(name) for name in COLUMNS)
    zones = {zone: i for i, zone in enumerate(known.ids)}
    if len(table) and not any(zone in zones for zone in {*origins, *destinations}):
        raise DemandError(
            f"{table.path}: none of its zones is one of {name}, nor an intersection where it has none; "
            "give the network that the matrix was made for"
        )
    found: dict[tuple[str, str], _Pair] = {}
    total = 0.0
    for row, (a, b) in enumerate(zip(origins, destinations, strict=True)):
        where = table.where(row)
        volume = number(volumes[row], where, "volume", 0.0, LARGEST_VOLUME) * scale
        total += volume
        if total > MOST_TRIPS:
            raise DemandError(f"{where}: more than {MOST_TRIPS} trips; lower the demand scale")
        if volume > 0.0:
            before = found.get((a, b))
            whole = volume + (before.volume if before else 0.0)
            where = before.where if before else where
            found[a, b] = _Pair(f"{a}-{b}", zones.get(a, -1), zones.get(b, -1), whole, where)
    return list(found.values())


@dataclass(frozen=True)
class _Drawn:
    """Trips of all pairs, (t,) each, and why pairs have trips that cannot be driven."""

    pair: NDArray[np.int64]
    number: NDArray[np.int64]  # within its pair
    key: NDArray[np.int64]  # what its draws are hashed from
    first: NDArray[np.int64]  # road, or BAD or WITHIN
    last: NDArray[np.int64]
    faults: dict[int, str]  # by pair


def _drawn(
    network: Network, known: ZoneSet, pairs: list[_Pair], seed: int, kind: VehicleType
) -> _Drawn:
    """Draw the trips of all pairs and their first and last roads."""
    volume = np.array([pair.volume for pair in pairs], np.float64)
    ends = np.array([(p.origin, p.destination) for p in pairs], np.int64).reshape(-1, 2)
    keys = (ends[:, 0] * (len(known.ids) + 1) + ends[:, 1]) * MOST_TRIPS
    whole = np.floor(volume)
    count = whole.astype(np.int64) + (uniform_all(seed, keys, 0, STREAM) < volume - whole)
    pair = np.repeat(np.arange(len(pairs)), count)
    number = np.arange(pair.size) - np.repeat(np.cumsum(count) - count, count)
    key = keys[pair] + number
    places = _Places(network, known, kind)
    code = np.full(len(pairs), BAD)
    faults: dict[int, str] = {}
    drivable = np.zeros(len(pairs), bool)
    for i in np.flatnonzero(count).tolist():
        fault = places.fault(*ends[i].tolist())
        if fault == STAYS:
            code[i] = WITHIN
        elif fault:
            faults[i] = fault
        drivable[i] = not fault
    first, last = code[pair], code[pair]
    left = np.flatnonzero(drivable[pair])
    for attempt in range(ATTEMPTS + COMBINATIONS):
        if not left.size:
            break
        zones = ends[pair[left]]
        if attempt < ATTEMPTS:
            u, v = (uniform_all(seed, key[left], attempt, STREAM + e) for e in (2, 3))
            a, b = places.picked(zones, u, v)
        else:
            a, b = places.combination(zones, attempt - ATTEMPTS)
        first[left], last[left] = places.quickest(a, b)
        left = left[first[left] < 0]
    for i in np.unique(pair[left]).tolist():
        faults[i] = "no way from zone to zone"
    return _Drawn(pair, number, key, first, last, faults)


def _left_out(
    file: str, unused: tuple[str, ...], pairs: list[_Pair], drawn: _Drawn, skip_bad_trips: bool
) -> list[str]:
    """Remarks of what a file has and no trip came of; trips that cannot be driven are refused unless skipped."""
    remarks: list[str] = []
    if drawn.faults:
        i = min(drawn.faults)
        bad = int(np.count_nonzero(drawn.first == BAD))
        told = (
            f"{pairs[i].where}: trips {pairs[i].name[:60]!r}: {drawn.faults[i]} "
            f"({bad} trips of {len(drawn.faults)} such pairs)"
        )
        if not skip_bad_trips:
            raise DemandError(f"{told}; correct them or leave them out with --skip-bad-trips")
        remarks.append(Difference(f"trips of pairs that cannot be driven are left out: {told}"))
    if unused:
        remarks.append(f"columns of {file} that are not used: {', '.join(unused)[:200]}")
    within = int(np.count_nonzero(drawn.first == WITHIN))
    if within:
        remarks.append(Difference(f"trips within one zone or place are left out: {within}"))
    return remarks


class _Places:
    """The intersections where the trips of each zone start and end, and the roads at them."""

    def __init__(self, network: Network, known: "ZoneSet", kind: VehicleType) -> None:
        zones, self.whose = known.places, known.whose
        self.graph, self.desk = kept_desk(network, CLASS_BIT[kind.vehicle_class])
        roads = network.arrays.roads
        usable = np.flatnonzero(np.isfinite(self.graph.cost))
        if known.by_road:
            self.leaving = self.arriving = {road: [road] for road in usable.tolist()}
        else:
            self.leaving = _grouped(roads.from_intersection, usable, roads.length)
            self.arriving = _grouped(roads.to_intersection, usable, roads.length)
        self.starts, self.start_shares = _with_roads(
            zones.origin_start, zones.origin, known.origin_weight, self.leaving
        )
        self.goals, self.goal_shares = _with_roads(
            zones.destination_start, zones.destination, known.destination_weight, self.arriving
        )

    def fault(self, origin: int, destination: int) -> str:
        """Why nobody can drive between two zones, STAYS if nobody has to; "" if perhaps one can."""
        if origin < 0 or destination < 0:
            return f"a zone that {self.whose} does not have"
        starts, goals = self.starts[origin], self.goals[destination]
        if origin == destination or (starts.size == 1 and np.array_equal(starts, goals)):
            return STAYS
        if not starts.size or not goals.size:
            return f"their zone has no road to {'end' if starts.size else 'start'} on"
        return ""

    def picked(self, zones: _Ints, u: _Floats, v: _Floats) -> tuple[_Ints, _Ints]:
        """Places of trips, (t,), at shares u and v of those of their zones, (t, 2)."""
        return (
            _picked(self.starts, self.start_shares, zones[:, 0], u),
            _picked(self.goals, self.goal_shares, zones[:, 1], v),
        )

    def combination(self, zones: _Ints, number: int) -> tuple[_Ints, _Ints]:
        """Places of trips, (t,): combination `number` of those of their zones, round and round."""
        pairs = []
        for z, w in zones.tolist():
            starts, goals = self.starts[z], self.goals[w]
            pairs.append((starts[number // goals.size % starts.size], goals[number % goals.size]))
        return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])

    def quickest(self, a: _Ints, b: _Ints) -> tuple[_Ints, _Ints]:
        """First and last roads of the quickest ways from place to place, (t,); BAD without one."""
        first, last = np.full(a.size, BAD), np.full(a.size, BAD)
        order = np.argsort(a, kind="stable")
        starts = np.flatnonzero(np.diff(a[order], prepend=-1))
        for rows in np.split(order, starts[1:]):
            rows = rows[b[rows] != a[rows]]
            if not rows.size:
                continue
            goals, at = np.unique(b[rows], return_inverse=True)
            best = np.full(goals.size, inf)
            ways = np.full((goals.size, 2), BAD)
            for road in self.leaving[int(a[rows[0]])]:
                cost = costs_from(self.graph, self.desk, road)
                for g, goal in enumerate(goals.tolist()):
                    arriving = self.arriving[goal]
                    j = int(cost[arriving].argmin())
                    if cost[arriving[j]] < best[g]:
                        best[g] = cost[arriving[j]]
                        ways[g] = road, arriving[j]
            first[rows], last[rows] = ways[at].T
        return first, last


def _with_roads(
    start: NDArray[np.int32],
    pool: NDArray[np.int32],
    weight: _Floats | None,
    roads: dict[int, list[int]],
) -> tuple[list[_Ints], list[_Floats] | None]:
    """Of each zone the places that have a road, and their running shares where they weigh."""
    here = [
        np.array([k for k in range(a, b) if int(pool[k]) in roads], np.int64)
        for a, b in pairwise(start.tolist())
    ]
    if weight is None:
        return [pool[rows].astype(np.int64) for rows in here], None
    here = [rows[weight[rows] > 0.0] for rows in here]
    shares = [np.cumsum(weight[rows]) / weight[rows].sum() for rows in here]
    return [pool[rows].astype(np.int64) for rows in here], shares


def _picked(places: list[_Ints], shares: list[_Floats] | None, zones: _Ints, at: _Floats) -> _Ints:
    """A place of each zone, (t,), at a share of those that it has."""
    rows = zip(zones.tolist(), at.tolist(), strict=True)
    if shares is None:
        return np.array([places[z][int(x * places[z].size)] for z, x in rows])
    return np.array([places[z][int(np.searchsorted(shares[z][:-1], x, "right"))] for z, x in rows])


def _grouped(node: NDArray[np.int32], roads: _Ints, length: _Floats) -> dict[int, list[int]]:
    """Roads by intersection; where there are others, without those too short to begin or end on."""
    found: dict[int, list[int]] = {}
    for road in roads.tolist():
        found.setdefault(int(node[road]), []).append(road)
    return {
        place: [road for road in here if length[road] >= SHORTEST_ROAD] or here
        for place, here in found.items()
    }
