"""Trips fitted to counts: groups of trips of one way become more or fewer, so that counters see what they saw.

A group is the trips of one way that depart in one interval; its factor w >= 0 is what is sought. With a the passages of the
groups at the counters, c the counts and n the trips of the groups, it minimises
sum ((a w - c) / sqrt(max(c, 1)))^2 + trust sum n (w - v)^2: counts weigh by their Poisson error, and what no
counter tells stays as it was. Solved by scipy's bounded least squares. Source: Cascetta (1984), "Estimation of trip matrices from traffic
counts and survey data: a generalized least squares estimator".
v comes first: factors of all trips that start at an intersection, that end at one, that depart in an interval, and of all, multiplied; few
numbers that also tell of roads that nobody counts. Gauss and Newton's method on their logarithms; a residual weighs by the Poisson error, by
what groups may differ by themselves, and by a twentieth of the count, so that one odd counter does not move a town.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform_all
from rushhour.kernels.driving.speeds_ahead import SIGHT_SPEED
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, ParameterError
from rushhour.roadnets.model import Network
from rushhour.roadnets.street_names import some
from rushhour.traffic.analysis.count_tables import LOOP, Counts
from rushhour.traffic.analysis.counts import geh
from rushhour.traffic.demand.matrix import ZoneSet, places_of, zones_of
from rushhour.traffic.demand.model import Demand, want_trips
from rushhour.traffic.demand.scaling import SUFFIX, copies, taken
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.settings.numbers import whole_seed
from rushhour.traffic.words.durations import clock

Floats = NDArray[np.float64]

STREAM: Final = 8900  # + 0 who of a group is repeated, 1 departure of a copy
MOST: Final = 20.0  # times that a group may become larger
SPAN: Final = 900.0  # s, of the departures of a group
SHARED: Final = 0.25  # expected error of the logarithm of a factor that many groups share
WAYS: Final = 0.05  # of what passes a counter, as ways are others than those of the trips
ROUNDS: Final = 30


@dataclass(frozen=True)
class Fitted:
    """Trips, and what counters see of them: before, after and counted, of those used and those held out."""

    demand: Demand
    factors: Floats  # of each trip of the prior demand
    before: Floats  # passages in the intervals of the counts, of the prior trips
    after: Floats  # of the fitted ones
    counts: Counts
    used: NDArray[np.bool_]
    matrix: dict[tuple[str, str], tuple[float, float]]  # trips by zones, before and after
    remarks: tuple[str, ...] = ()  # what counters could not tell

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "trips": len(self.demand), "trips_before": int(self.factors.size),
            "used": self._of(self.used), "held_out": self._of(~self.used), "notes": [*self.remarks, *self.counts.remarks],
        }  # fmt: skip

    def _of(self, rows: NDArray[np.bool_]) -> dict[str, Any] | None:
        if not rows.any():
            return None
        hours = (self.counts.end - self.counts.begin)[rows] / 3600.0
        counted = self.counts.count[rows] / hours
        facts: dict[str, Any] = {"counts": int(rows.sum())}
        for name, values in (("before", self.before), ("after", self.after)):
            driven = values[rows] / hours
            facts[f"geh_below_5_percent_{name}"] = round(
                100.0 * float((geh(driven, counted) < 5.0).mean()), 2
            )
            facts[f"rmse_veh_per_h_{name}"] = round(
                float(np.sqrt(np.mean((driven - counted) ** 2))), 3
            )
        return facts


def fit_to_counts(
    network: Network, demand: Demand, counts: Counts, *, hold_out: float = 0.0, trust: float = 0.3,
    seed: int = 0, zones: ZoneSet | None = None,
) -> Fitted:  # fmt: skip
    """Fit trips to counts of roads.

    hold_out: share of the counters, drawn by the seed, that are not used but compared with. trust: in the prior trips.
    zones: of the matrix; None for those of the network. Raises DemandError where no trip passes a counter, and for counts of loops.
    """
    seed = whole_seed(seed)
    if not 0.0 <= hold_out < 1.0:
        raise ParameterError(f"hold out {hold_out:g}: wanted a share from 0 to below 1, as 0.33")
    if not 0.0 < trust <= 1e6:
        raise ParameterError(f"trust {trust:g}: wanted more than 0, at most 1e6, as 0.3")
    if counts.kind == LOOP:
        raise DemandError("fit wants counts of roads, not of loops; name the roads in the table")
    if find_spec("scipy") is None:
        raise DemandError("fit wants scipy; pip install 'rushhour[data]'")
    want_trips(demand)
    whole = route_demand(network, demand)
    group, size = _groups(whole)
    passes = _passages(network, whole, counts, group, size.size)
    before = np.asarray(passes.sum(axis=1)).ravel()
    names = np.array(counts.place, object).astype(str)
    places = np.unique(names)
    draw = uniform_all(seed, np.arange(places.size, dtype=np.int64), 0, STREAM + 2)
    order = np.argsort(draw, kind="stable")
    out = places[order[: round(hold_out * places.size)]]
    if hold_out > 0.0 and out.size in (0, places.size):
        raise DemandError(
            f"hold out {hold_out:g} of {places.size} counters: {'all' if out.size else 'none'} of them would be; give more counters, "
            "or another share"
        )
    used = ~np.isin(names, out)
    if not before[used].any():
        raise DemandError(
            f"no trip passes a counter that is used: trips depart from {clock(whole.depart[0])} to {clock(whole.depart[-1])}, counts "
            f"are for {clock(counts.begin.min())} to {clock(counts.end.max())}; check their times, and the roads of the counts"
        )
    tables = _shared(network, whole, group)
    factor = _solved(passes[np.flatnonzero(used)], counts.count[used], size, trust, tables)
    fitted, often = _repeated(whole, factor[group], group, seed)
    after_group = np.bincount(group, often, size.size)
    share = np.divide(after_group, size, out=np.ones(size.size), where=size > 0)
    matrix = _matrix(network, whole, factor[group], zones_of(network) if zones is None else zones)
    after = np.asarray(passes @ share)
    seen = np.asarray(passes[np.flatnonzero(used)].sum(axis=0)).ravel() > 0
    remarks = _unseen(size, size * factor, seen) + _passed_by_nobody(network, names, before, counts)
    return Fitted(fitted, factor[group], before, after, counts, used, matrix, tuple(remarks))


def _unseen(size: Floats, fitted: Floats, seen: NDArray[np.bool_]) -> list[str]:
    """That many trips follow counters which they do not pass: few tell of a whole town."""
    before, after = float(size[~seen].sum()), float(fitted[~seen].sum())
    if before <= 0.0 or abs(after / before - 1.0) <= SHARED:
        return []
    remark = (
        f"{before:,.0f} of {size.sum():,.0f} trips pass no counter that is used; they became {after:,.0f} after those that "
        "start or end where they do, or depart when they do; count more roads, or take these trips as they were"
    )
    return [remark]


def _passed_by_nobody(
    network: Network, names: NDArray[np.str_], before: Floats, counts: Counts
) -> list[str]:
    """Counters that saw vehicles, and that no trip passes in their time."""
    places, of = np.unique(names, return_inverse=True)
    counted, passed = (np.bincount(of, values) for values in (counts.count, before))
    dead = np.flatnonzero((counted > 0.0) & (passed <= 0.0))
    if dead.size == 0:
        return []
    most = places[dead[np.argsort(-counted[dead], kind="stable")]].tolist()
    told = some([network.road_label(network.road_index[name]) for name in most])
    return [
        f"no trip passes {dead.size} of {places.size} counters, which saw {counted[dead].sum():,.0f} vehicles: {told}"
    ]


def _groups(demand: Demand) -> tuple[NDArray[np.int64], Floats]:
    """The group of each trip, and how many trips each has."""
    keys: dict[tuple[bytes, int], int] = {}
    start, roads = demand.route_start.tolist(), demand.roads
    group = np.zeros(len(demand), np.int64)
    for i, depart in enumerate(demand.depart.tolist()):
        key = roads[start[i] : start[i + 1]].tobytes(), int(depart // SPAN)
        group[i] = keys.setdefault(key, len(keys))
    return group, np.bincount(group).astype(np.float64)


def _passages(
    network: Network, demand: Demand, counts: Counts, group: NDArray[np.int64], n_groups: int
) -> Any:
    """Passages of each group, as it is, by count: a sparse matrix. Times are those of empty roads and
    crossings."""
    from scipy.sparse import coo_matrix

    bits = np.array([CLASS_BIT[kind.vehicle_class] for kind in demand.types], np.uint32)
    free = network.arrays.roads.length / np.maximum(network.arrays.roads.speed, 1.0)
    for bit in np.unique(bits[demand.type]).tolist()[:1]:
        cost = road_graph(network, bit).cost
        free = np.where(np.isfinite(cost), cost, free)
    of = np.repeat(np.arange(len(demand)), np.diff(demand.route_start))
    took = free[demand.roads] + _times_of_turns(network, demand)
    spent = np.concatenate(([0.0], np.cumsum(took)))
    entered = demand.depart[of] + spent[:-1] - spent[demand.route_start[:-1]][of]
    rows_of: dict[int, list[int]] = {}
    for k, name in enumerate(counts.place):
        rows_of.setdefault(network.road_index[name], []).append(k)
    rows, columns = [], []
    order = np.argsort(demand.roads, kind="stable")
    first = np.searchsorted(demand.roads[order], np.arange(network.n_roads + 1))
    for road, counted in rows_of.items():
        at = order[first[road] : first[road + 1]]
        for k in counted:
            inside = at[(entered[at] >= counts.begin[k]) & (entered[at] < counts.end[k])]
            rows.append(np.full(inside.size, k))
            columns.append(group[of[inside]])
    row, column = np.concatenate(rows), np.concatenate(columns)
    return coo_matrix((np.ones(row.size), (row, column)), (len(counts), n_groups)).tocsr()


def _times_of_turns(network: Network, demand: Demand) -> Floats:
    """Seconds from each road of the routes to the next: across, and what slowing down before a line costs
    at which one yields (`sight_speed`)."""
    net, n = network.arrays, network.n_roads
    links, n_lanes = net.connectors, network.n_road_lanes
    v = net.lanes.speed[links.from_lane]
    time = net.lanes.length[n_lanes:] / np.maximum(net.lanes.speed[n_lanes:], 1.0)
    yields = np.zeros(time.size, np.bool_)
    of = np.repeat(np.arange(time.size), np.diff(links.conflict_start))
    yields[of[net.conflicts.yields]] = True
    yields &= (links.signal < 0) & (v > SIGHT_SPEED)
    car = demand.types[0]
    per = 1.0 / car.accel + 1.0 / car.decel
    time += np.where(yields, (v - SIGHT_SPEED) ** 2 / (2.0 * v) * per, 0.0)
    road = net.lanes.road[:n_lanes].astype(np.int64)
    pair = road[links.from_lane] * n + road[links.to_lane]
    order = np.lexsort((time, pair))
    known, first = np.unique(pair[order], return_index=True)
    asked = np.append(demand.roads[:-1].astype(np.int64) * n + demand.roads[1:], -1)[
        : demand.roads.size
    ]
    at = np.minimum(np.searchsorted(known, asked), known.size - 1)
    return np.where(known[at] == asked, time[order][first][at], 0.0)


def _shared(network: Network, demand: Demand, group: NDArray[np.int64]) -> Any:
    """Which groups share which factor: those of a first and a last intersection, of an interval, and all; sparse."""
    from scipy.sparse import coo_matrix, hstack

    first, last = places_of(network, demand, by_road=False)
    every = np.zeros(len(demand), np.int64)
    row, trip = np.unique(group, return_index=True)
    tables = []
    for kind in (first, last, np.floor(demand.depart / SPAN), every):
        known, column = np.unique(kind[trip], return_inverse=True)
        tables.append(coo_matrix((np.ones(row.size), (row, column)), (row.size, known.size)))
    return hstack(tables).tocsr()


def _solved(passes: Any, counted: Floats, size: Floats, trust: float, tables: Any) -> Floats:
    """The factors of the groups that some counter sees; the others have those that they share."""
    from scipy.optimize import lsq_linear
    from scipy.sparse import diags, vstack

    prior = _prior(passes, counted, size, trust, tables)
    seen = np.flatnonzero(np.asarray(passes.sum(axis=0)).ravel() > 0)
    weight = 1.0 / np.sqrt(np.maximum(counted, 1.0))
    held = np.sqrt(trust * size[seen])
    matrix = vstack([diags(weight) @ passes[:, seen], diags(held)]).tocsr()
    wanted = np.concatenate((weight * counted, held * prior[seen]))
    found = lsq_linear(matrix, wanted, bounds=(0.0, MOST), lsmr_tol="auto", tol=1e-8)
    prior[seen] = found.x
    return prior


def _prior(passes: Any, counted: Floats, size: Floats, trust: float, tables: Any) -> Floats:
    """The product of the shared factors of each group."""
    from scipy.sparse import diags, vstack
    from scipy.sparse.linalg import lsqr

    own = np.asarray(passes.multiply(passes) @ (1.0 / (trust * size))).ravel()
    error = np.maximum(counted, 1.0) + own + (WAYS * counted) ** 2
    weight = diags(1.0 / np.sqrt(error))
    held = np.full(tables.shape[1], 1.0 / SHARED)
    x = np.zeros(held.size)
    for _ in range(ROUNDS):
        factor = np.exp(tables @ x)
        slope = vstack([weight @ passes @ diags(factor) @ tables, diags(held)]).tocsr()
        wanted = np.concatenate((weight @ (counted - passes @ factor), -held * x))
        step = np.clip(lsqr(slope, wanted, atol=1e-10, btol=1e-10)[0], -0.5, 0.5)
        x = np.clip(x + step, -np.log(MOST), np.log(MOST))
        if np.abs(step).max() < 1e-3:
            break
    shared: Floats = np.minimum(np.exp(tables @ x), MOST)
    return shared


def _matrix(
    network: Network, demand: Demand, factor: Floats, zones: ZoneSet
) -> dict[tuple[str, str], tuple[float, float]]:
    """Trips between zones, before and after, in the order of the zones; a place in none has an empty name."""
    ends = []
    for at, start, pool in zip(
        zones.ends(network, demand),
        (zones.places.origin_start, zones.places.destination_start),
        (zones.places.origin, zones.places.destination),
        strict=True,
    ):
        zone = np.full(max(len(network.intersection_ids), network.n_roads), -1)
        zone[pool] = np.repeat(np.arange(len(zones.ids)), np.diff(start))
        ends.append(zone[at])
    pairs, which = np.unique(np.stack(ends, axis=1), axis=0, return_inverse=True)
    before, after = np.bincount(which.ravel()), np.bincount(which.ravel(), factor)
    names = (*zones.ids, "")  # the last: in no zone
    return {
        (names[a], names[b]): (float(n), float(w))
        for (a, b), n, w in zip(pairs.tolist(), before, after, strict=True)
    }


def _repeated(
    demand: Demand, factor: Floats, group: NDArray[np.int64], seed: int
) -> tuple[Demand, NDArray[np.int64]]:
    """Trips as often as their factors say: of a group the next whole number above or below, who is drawn by place."""
    n = len(demand)
    draw = uniform_all(seed, np.arange(n, dtype=np.int64), 0, STREAM)
    order = np.lexsort((draw, group))
    wanted = np.cumsum(factor[order])
    begins = np.flatnonzero(np.diff(group[order], prepend=-1))
    offset = np.zeros(n)
    offset[begins] = np.diff(np.concatenate(([0.0], (wanted - factor[order])[begins])))
    inside = wanted - np.cumsum(offset)  # within the group
    start = inside - factor[order]
    often = np.zeros(n, np.int64)
    luck = uniform_all(
        seed, group[order], 0, STREAM + 3
    )  # of a group: right on average, also of one trip
    often[order] = (np.floor(inside + luck) - np.floor(start + luck)).astype(np.int64)
    rows = np.repeat(np.arange(n), often)
    known = set(demand.ids)
    ids = [
        name
        for i, name in enumerate(demand.ids)
        for name in copies(name, int(often[i]), SUFFIX, known)
    ]
    found = replace(taken(demand, rows), ids=tuple(ids))
    copy = np.concatenate(([False], rows[1:] == rows[:-1])) if rows.size else np.zeros(0, np.bool_)
    jitter = uniform_all(seed, np.arange(rows.size, dtype=np.int64), 0, STREAM + 1)
    depart = np.where(copy, np.floor(found.depart / SPAN) * SPAN + SPAN * jitter, found.depart)
    by_time = np.argsort(np.maximum(depart, demand.depart[0]), kind="stable")
    ordered = taken(replace(found, depart=np.maximum(depart, demand.depart[0])), by_time)
    return ordered, often
