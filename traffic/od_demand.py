"""Demand of an origin-destination matrix: trips per period between the zones of a network.

A volume becomes whole trips: its whole part, and one more with the probability of the rest. Each
trip draws the places of its zones where it starts and ends, and its time within the period; all
draws are hashes of (seed, pair of zones, number of the trip), so that no pair changes another's.
Among the roads at its two places it takes those with the quickest way between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.random import uniform_all
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.gmns_tables import CsvTable, header_of, read_table
from rushhour.roadnets.model import Network
from rushhour.roadnets.sumo_values import number
from rushhour.traffic.demand import LANE_FREE, SPEED_MAX, Demand, VehicleType
from rushhour.traffic.demand_builder import DemandBuilder, Trip
from rushhour.traffic.durations import seconds
from rushhour.traffic.random_demand import MOST_TRIPS, SHORTEST_ROAD
from rushhour.traffic.routing import costs_from, kept_desk

COLUMNS: Final = ("o_zone_id", "d_zone_id", "volume")
MOST_SHARES: Final = 100_000  # intervals of a profile
STREAM: Final = 8400  # + 0 rest of the volume, 1 departure, 2 origin, 3 destination
CAR: Final = VehicleType()


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
    period: float | str = 3600.0,
    scale: float = 1.0,
    profile: Sequence[float] = (),
    begin: float = 0.0,
    end: float | None = None,
    seed: int = 0,
    skip_bad_trips: bool = False,
    vehicle_type: VehicleType = CAR,
) -> Demand:
    """Read a matrix (.csv, .csv.gz with o_zone_id, d_zone_id, volume) as trips of a network.

    period: s or a text such as "1h", the time that the volumes are for. scale: of all volumes.
    profile: shares of the period's equal intervals, any scale (default: even). Departures start at
    begin, s; only those before end are taken. Trips within a zone, and between zones at one place,
    are left out, with a remark; pairs that cannot be driven are errors, unless skip_bad_trips: then
    they are left out, counted, and the first one is named.
    Raises DemandError, with file and line, for anything that cannot be read or meant.

    >>> demand = read_matrix(Path("demand.csv"), network, period="1h", scale=0.1, seed=1)
    """
    period_s = seconds(period, "demand period")
    if not 0.0 < period_s:
        raise DemandError(f"demand period {period!r}: wanted more than 0 s")
    if not 0.0 < scale < inf:
        raise DemandError(f"demand scale {scale!r}: wanted a number above 0, such as 0.1")
    edges = _edges(profile)
    try:
        table = read_table(path)
        pairs = _pairs(table, network, scale)
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    matrix = _Matrix(network, seed, vehicle_type)
    counts = matrix.counts(pairs)
    builder = DemandBuilder()
    faults: dict[int, str] = {}
    within = 0
    for i in sorted(np.flatnonzero(counts).tolist(), key=lambda i: pairs[i].origin):
        pair, count = pairs[i], int(counts[i])
        ends, fault = matrix.ends(pair, count)
        if not ends and not fault:
            within += count
            continue
        if fault:
            faults[i] = f"{pair.where}: {fault}"
            continue
        key = matrix.keys(pair, count)
        share = uniform_all(seed, key, 0, STREAM + 1)
        depart = begin + period_s * np.interp(share, edges, np.linspace(0.0, 1.0, edges.size))
        for k, time in enumerate(depart.tolist()):
            if end is None or time < end:
                roads = tuple(dict.fromkeys(ends[k]))
                builder.add(
                    Trip(
                        f"{pair.name}.{k}", time, vehicle_type, roads, len(roads) == 1,
                        depart_lane=LANE_FREE, depart_speed_kind=SPEED_MAX,
                    )
                )  # fmt: skip
    bad = int(counts[list(faults)].sum())
    told = f"{faults[min(faults)]} ({bad} trips of {len(faults)} such pairs)" if faults else ""
    if faults and not skip_bad_trips:
        raise DemandError(f"{told}; correct them or leave them out with --skip-bad-trips")
    if faults:
        builder.remarks.append(f"trips of pairs that cannot be driven are left out: {told}")
    if within:
        builder.remarks.append(f"trips within one zone or place are left out: {within}")
    return builder.build()


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


def is_matrix(path: Path) -> bool:
    """Whether a csv table has the columns of a matrix. Raises DemandError if it cannot be read."""
    try:
        return set(COLUMNS[:2]) <= set(header_of(path))
    except NetworkError as error:
        raise DemandError(str(error)) from None


def _pairs(table: CsvTable, network: Network, scale: float) -> list[_Pair]:
    """One entry per pair of zones, in the order of first mention; repeated rows are added up."""
    origins, destinations, volumes = (table.needed(name) for name in COLUMNS)
    zones = {name: i for i, name in enumerate(network.zone_ids)}
    if not zones:
        raise DemandError(
            f"{table.path}: {network.name} has no zones to go between; give a GMNS network"
        )
    found: dict[tuple[str, str], _Pair] = {}
    total = 0.0
    for row, (a, b) in enumerate(zip(origins, destinations, strict=True)):
        where = table.where(row)
        volume = number(volumes[row], where, "volume", 0.0, 1e9) * scale
        total += volume
        if total > MOST_TRIPS:
            raise DemandError(f"{where}: more than {MOST_TRIPS} trips; lower the demand scale")
        if volume > 0.0:
            before = found.get((a, b))
            whole = volume + (before.volume if before else 0.0)
            where = before.where if before else where
            found[a, b] = _Pair(f"{a}-{b}", zones.get(a, -1), zones.get(b, -1), whole, where)
    return list(found.values())


class _Matrix:
    """Draws the trips of pairs, and finds roads for them."""

    def __init__(self, network: Network, seed: int, kind: VehicleType) -> None:
        self.network, self.seed = network, seed
        permission = CLASS_BIT[kind.vehicle_class]
        self.graph, self.desk = kept_desk(network, permission)
        roads = network.arrays.roads
        usable = np.flatnonzero(np.isfinite(self.graph.cost))
        n = len(network.intersection_ids)
        self.leaving = _grouped(roads.from_intersection, usable, n, roads.length)
        self.arriving = _grouped(roads.to_intersection, usable, n, roads.length)
        self.costs: dict[int, NDArray[np.float64]] = {}  # from the roads of one zone
        self.costs_of = -1

    def keys(self, pair: _Pair, count: int) -> NDArray[np.int64]:
        """What the draws of a pair's trips are hashed from."""
        n = len(self.network.zone_ids) + 1
        return (pair.origin * n + pair.destination) * MOST_TRIPS + np.arange(count)

    def counts(self, pairs: list[_Pair]) -> NDArray[np.int64]:
        """Whole trips of each pair: as many as its volume on average over the seeds."""
        volume = np.array([pair.volume for pair in pairs])
        keys = np.array([self.keys(pair, 1)[0] for pair in pairs], np.int64)
        whole = np.floor(volume)
        more = uniform_all(self.seed, keys, 0, STREAM) < volume - whole
        return np.asarray(whole.astype(np.int64) + more)

    def ends(self, pair: _Pair, count: int) -> tuple[list[tuple[int, int]], str]:
        """First and last road of each trip of a pair, or why there are none.

        Neither for trips that stay at one place.
        """
        names = pair.name
        for zone in (pair.origin, pair.destination):
            if zone < 0:
                return [], f"trips {names[:60]!r}: a zone that the network does not have"
        zones = self.network.zones
        starts = self._places(zones.origin_start, zones.origin, pair.origin, self.leaving)
        goals = self._places(
            zones.destination_start, zones.destination, pair.destination, self.arriving
        )
        if pair.origin == pair.destination or (starts == goals and len(starts) == 1):
            return [], ""
        if not starts or not goals:
            which = "start" if not starts else "end"
            return [], f"trips {names[:60]!r}: their zone has no road to {which} on"
        if self.costs_of != pair.origin:
            self.costs_of = pair.origin
            self.costs.clear()
        ways = [way for a in starts for b in goals if (way := self._way(a, b)) is not None]
        if not ways:
            return [], f"trips {names[:60]!r}: no way from zone to zone"
        u, v = (uniform_all(self.seed, self.keys(pair, count), 0, STREAM + e) for e in (2, 3))
        found = []
        for k in range(count):
            a = starts[int(u[k] * len(starts))]
            b = goals[int(v[k] * len(goals))]
            found.append(self._way(a, b) or ways[0])
        return found, ""

    @staticmethod
    def _places(
        start: NDArray[np.int32], pool: NDArray[np.int32], zone: int, roads: dict[int, list[int]]
    ) -> list[int]:
        """Intersections of a zone that have a road."""
        here = pool[start[zone] : start[zone + 1]].tolist()
        return [node for node in here if node in roads]

    def _way(self, start: int, goal: int) -> tuple[int, int] | None:
        """First and last road of the quickest way between two intersections; None without one."""
        if start == goal:
            return None
        best: tuple[float, int, int] = (inf, -1, -1)
        for first in self.leaving[start]:
            if first not in self.costs:
                self.costs[first] = costs_from(self.graph, self.desk, first)
            for last in self.arriving[goal]:
                best = min(best, (float(self.costs[first][last]), first, last))
        return None if best[0] == inf else best[1:]


def _grouped(
    node: NDArray[np.int32], roads: NDArray[np.int64], n: int, length: NDArray[np.float64]
) -> dict[int, list[int]]:
    """Roads by intersection; where there are others, without those too short to begin or end on."""
    found: dict[int, list[int]] = {}
    for road in roads.tolist():
        found.setdefault(int(node[road]), []).append(road)
    for place, here in found.items():
        found[place] = [road for road in here if length[road] >= SHORTEST_ROAD] or here
    return found
