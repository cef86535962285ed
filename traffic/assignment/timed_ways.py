"""Travel times by road and interval from what was measured, and the fastest ways through them."""

from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.astar import RoadGraph
from rushhour.kernels.routing.timed_astar import TimedCosts, search_all_timed, walk_all_ways
from rushhour.roadnets.model import Network
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.routing.hierarchies import Stairs, build_hierarchy
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import Desk, Ways, in_batches

Floats = NDArray[np.float64]
LONGEST: Final = (
    7200.0  # s that a road is taken to cost at most: nobody knows how long who stands there stands
)
HOUR: Final = 3600.0  # s of departures that share a hierarchy of their own, and s that it holds for after them
WORTH: Final = 5000  # trips of one: building it costs as much as some 2,500 searches save
ALIKE: Final = 5.0  # vehicles of the mean over all intervals, added to those that drove in one


class Sums(NamedTuple):
    """What vehicles did on each road in each interval, (r, n): of one simulation, or a mean of several."""

    spent: Floats  # s
    driven: Floats  # m

    def mixed(self, new: "Sums", keep: float) -> "Sums":
        """A mean with those of another simulation. keep: weight of these."""
        rows = max(len(self.spent), len(new.spent))
        old, other = ([_with_rows(one, rows) for one in sums] for sums in (self, new))
        return Sums(*(keep * a + (1.0 - keep) * b for a, b in zip(old, other, strict=True)))

    def times(self, network: Network, alike: float = 0.0) -> Floats:
        """Time to drive each road by interval, (r, n) s; nan where nobody drove.

        It is the time that all spent on the road over the distance that they drove there, times its length (Edie).
        alike: vehicles that took the road's mean over all intervals, added to those of each: the few of one
        interval tell of little but the lights they met (shrinkage to a mean: James and Stein, 1961).
        """
        times = np.full(self.spent.shape, np.nan)
        length = network.arrays.roads.length[None]
        spent, driven = self.spent.sum(axis=0), self.driven.sum(axis=0)
        usual = np.divide(spent, driven, out=np.zeros(driven.size), where=driven > 0.0)  # s/m
        shared = np.where(driven > 0.0, alike * length, 0.0)  # m
        spent, driven = self.spent + shared * usual[None], self.driven + shared
        np.divide(spent * length, driven, out=times, where=driven > 0.0)
        times[(driven <= 0.0) & (spent > 0.0)] = LONGEST
        return np.asarray(np.minimum(times, LONGEST))


def _with_rows(values: Floats, rows: int) -> Floats:
    return np.concatenate((values, np.zeros((rows - len(values), values.shape[1]))))


def measured_sums(measures: Measures, begin: float, span: float) -> Sums:
    """What was measured by road and interval. begin: s, of the first interval; span: s, of each."""
    rows = measures.rows["roads"].columns()
    middle = 0.5 * (rows["begin"] + rows["end"]) - begin  # of rows, whose first may be shorter
    at = np.maximum(middle // span, 0.0).astype(np.int64)
    n = measures.world.network.n_roads
    spent, driven = (np.zeros((int(at.max(initial=0)) + 1, n)) for _ in range(2))
    np.add.at(spent, (at, rows["road"]), rows["vehicle_seconds"])
    np.add.at(driven, (at, rows["road"]), rows["distance"])
    return Sums(spent, driven)


class TimedRouter:
    """Fastest ways of a class of vehicles through travel times; the hierarchy of the empty roads is built once.

    A search guided by the costs of empty roads looks at much of a city that stands. Of an hour in which many depart,
    the least that each road takes until an hour after it is a closer bound, and still one for all who arrive
    by then; who comes later is searched for with the empty roads' again. So ways are the same.
    """

    def __init__(self, network: Network, permission: int, pairs: int) -> None:
        self.graph: RoadGraph = road_graph(network, permission)
        key = ("hierarchy", permission)
        if key not in network.derived:
            network.derived[key] = build_hierarchy(self.graph)
        self._stairs = Stairs(self.graph, network.derived[key], pairs)
        self._desk = Desk(self.graph, max(1, min(numba.get_num_threads(), pairs)))

    def costs(self, times: Floats, begin: float, span: float) -> TimedCosts:
        """Costs of measured times, (r, n); an empty road's where nobody drove, and never below it."""
        free = np.where(np.isfinite(self.graph.cost), self.graph.cost, 0.0)
        cost = np.where(np.isnan(times), free[None], np.maximum(times, free[None]))
        return TimedCosts(np.ascontiguousarray(cost.T), begin, span)

    def ways(
        self, timed: TimedCosts, starts: NDArray[np.int32], goals: NDArray[np.int32], depart: Floats
    ) -> Ways:
        """The fastest ways of trips (q,) that depart at these times, s; cost with the first road's own."""
        hours = np.floor((depart - timed.begin) / HOUR).astype(np.int64)
        open_ones = np.ones(depart.size, np.bool_)
        places, pieces = [], []
        for hour, trips in zip(*np.unique(hours, return_counts=True), strict=True):
            if trips < WORTH:
                continue
            begin = timed.begin + hour * HOUR
            mine, stairs = np.flatnonzero(hours == hour), self._stairs_of(timed, begin, int(trips))
            found = self._searched(stairs, timed, starts[mine], goals[mine], depart[mine])
            soon = depart[mine] + found.cost <= begin + 2.0 * HOUR
            open_ones[mine[soon]] = False
            places.append(mine[soon])
            pieces.append(_taken(found, soon))
        left = np.flatnonzero(open_ones)
        found = self._searched(self._stairs, timed, starts[left], goals[left], depart[left])
        return merged([*places, left], [*pieces, found]) if pieces else found

    def _stairs_of(self, timed: TimedCosts, begin: float, pairs: int) -> Stairs:
        """A hierarchy of the least that each road takes in two hours."""
        rows = np.array([begin, begin + 2.0 * HOUR]) - timed.begin
        first, last = np.maximum(np.floor(rows / timed.span - 0.5), 0.0).astype(np.int64)
        least = timed.cost[:, min(first, timed.cost.shape[1] - 1) : last + 2].min(axis=1)
        cost = np.where(np.isfinite(self.graph.cost), least, np.inf)
        graph = self.graph._replace(cost=cost)
        return Stairs(graph, build_hierarchy(graph), pairs)

    def _searched(
        self, stairs: Stairs, timed: TimedCosts, starts: NDArray[np.int32], goals: NDArray[np.int32],
        depart: Floats,
    ) -> Ways:  # fmt: skip
        """The fastest ways of trips, guided by a hierarchy that costs no more than what they come to."""
        desk = self._desk

        def search_part(part: slice, *found: NDArray[Any]) -> None:
            search_all_timed(
                self.graph, timed, desk.scratch, stairs.hierarchy, stairs.room, desk.stamp, starts[part],
                goals[part], depart[part], *found,
            )  # fmt: skip
            desk.stamp += part.stop - part.start

        return in_batches(starts.size, search_part)

    def walked(
        self, timed: TimedCosts, start: NDArray[np.int64], roads: NDArray[np.int32], depart: Floats
    ) -> tuple[Floats, Floats]:
        """How long ways take, s, and when each of their roads is driven into: way i is roads[start[i]:start[i+1]]."""
        cost, entered = np.zeros(depart.size), np.zeros(roads.size)
        walk_all_ways(self.graph, timed, start, roads, depart, cost, entered)
        return cost, entered


def pooled(
    start: NDArray[np.int64], roads: NDArray[np.int32], which: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Some of the ways roads[start[i]:start[i+1]], one after the other, in the order of `which`."""
    return gathered(start[:-1][which], start[1:][which], roads)


def gathered(
    start: NDArray[np.int64], end: NDArray[np.int64], roads: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The ways roads[start[i]:end[i]], one after the other."""
    sizes = end - start
    begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return begins, roads[np.repeat(start - begins[:-1], sizes) + np.arange(begins[-1])]


def _taken(ways: Ways, which: NDArray[np.bool_]) -> Ways:
    """Some of the ways, (q,)."""
    start, roads = pooled(ways.start, ways.roads, np.flatnonzero(which))
    return Ways(start, roads, ways.cost[which], ways.closed[which])


def merged(places: list[NDArray[np.int64]], pieces: list[Ways]) -> Ways:
    """Ways of parts of the trips as those of all. places: of the ways of each part."""
    order = np.argsort(np.concatenate(places))
    sizes = np.concatenate([np.diff(piece.start) for piece in pieces])
    roads, cost, closed = (
        np.concatenate([getattr(piece, name) for piece in pieces])
        for name in ("roads", "cost", "closed")
    )
    start, roads = pooled(np.concatenate(([0], np.cumsum(sizes))), roads, order)
    return Ways(start, roads, cost[order], closed[order])
