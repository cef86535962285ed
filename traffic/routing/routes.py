"""Routes: the way of each trip over roads, found in batches. None drives a banned sequence of roads."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.astar import RoadGraph, Scratch, search, search_all
from rushhour.kernels.routing.contraction import Hierarchy
from rushhour.roadnets.banned import banned_part
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import Difference
from rushhour.traffic.demand.checks import let_in
from rushhour.traffic.demand.model import WAY_FOUND, WAY_GIVEN, WAY_OPEN, Demand
from rushhour.traffic.routing.hierarchies import Stairs, hierarchy_if_it_pays
from rushhour.traffic.routing.road_graph import road_graph

BATCH: Final = 2048  # pairs searched in one call
WIDTH: Final = 512  # roads a way may have before a wider array is taken


@dataclass(frozen=True)
class Ways:
    """Ways of q pairs of roads.

    way i is roads[start[i]:start[i+1]], both ends included; empty where there is none.
    cost: (q,) s, without the first road's own; inf unreachable. closed: (q,) roads looked at.
    """

    start: NDArray[np.int64]
    roads: NDArray[np.int32]
    cost: NDArray[np.float64]
    closed: NDArray[np.int32]


class Desk:
    """Working arrays for searches on a graph, `chunks` side by side."""

    def __init__(self, graph: RoadGraph, chunks: int) -> None:
        n, m = graph.road_of.size, graph.out.size
        self.stamp = 1  # larger than any that the arrays hold
        self.scratch = Scratch(
            cost=np.zeros((chunks, n)),
            before=np.full((chunks, n), -1, np.int32),
            seen=np.zeros((chunks, n), np.int64),
            closed=np.zeros((chunks, n), np.int64),
            heap_key=np.zeros((chunks, m + 2)),
            heap_node=np.zeros((chunks, m + 2), np.int32),
            looked_at=np.zeros(chunks, np.int32),
        )


def kept_desk(network: Network, permission: int) -> tuple[RoadGraph, Desk]:
    """The road graph of a class and working arrays for one search at a time, kept between calls."""
    graph = road_graph(network, permission)
    key = ("desk", permission)
    if key not in network.derived:
        network.derived[key] = Desk(graph, 1)
    desk: Desk = network.derived[key]
    return graph, desk


def costs_from(graph: RoadGraph, desk: Desk, start: int) -> NDArray[np.float64]:
    """Cost of the cheapest way from a road to every road, (n,) s, the first road's own included.

    inf where there is no way. desk: working arrays of the graph, see `kept_desk`.
    """
    scratch, n = desk.scratch, graph.cost.size
    search(graph, scratch, 0, desk.stamp, start, -1, np.ones(n), 0.0, 0, 0.0)
    found = np.full(n, inf)
    reached = scratch.closed[0] == desk.stamp
    np.minimum.at(found, graph.road_of[reached], scratch.cost[0, reached])
    desk.stamp += 1
    return np.asarray(found + graph.cost[start])


def find_ways(
    graph: RoadGraph,
    starts: NDArray[np.int32],
    goals: NDArray[np.int32],
    *,
    multipliers: NDArray[np.float64] | None = None,
    taste: float = 0.0,
    taste_seeds: NDArray[np.int64] | None = None,
    estimate: bool = True,
    desk: Desk | None = None,
) -> Ways:
    """Cheapest ways between pairs of roads (q,).

    multipliers: (n_roads,) > 0 on the costs of roads; inf closes a road. taste: each pair's driver
    finds every road dearer by a share of its own, uniform in 0..taste, drawn from its taste seed.
    estimate: False searches without one (Dijkstra), for comparison.
    desk: working arrays of the graph, kept between calls.
    Raises DemandError for multipliers that are not positive.
    """
    n, q = graph.cost.size, starts.size
    multiplier = np.ones(n) if multipliers is None else np.asarray(multipliers, np.float64)
    if multiplier.shape != (n,) or not (multiplier > 0.0).all():
        raise DemandError(f"multipliers: wanted {n} numbers > 0, one per road (inf closes it)")
    if not (np.isfinite(taste) and taste >= 0.0):
        raise DemandError(f"randomness {taste!r}: wanted a share >= 0, such as 0.2")
    least = min(1.0, float(multiplier.min(initial=1.0)))
    pace = least / graph.top_speed * (1.0 - 1e-12) if estimate else 0.0
    seeds = np.zeros(q, np.int64) if taste_seeds is None else taste_seeds.astype(np.int64)
    table = Desk(graph, max(1, min(numba.get_num_threads(), q))) if desk is None else desk

    def search_part(part: slice, *found: NDArray[Any]) -> None:
        search_all(
            graph, table.scratch, table.stamp, starts[part], goals[part], multiplier, pace, seeds[part],
            taste, *found,
        )  # fmt: skip
        table.stamp += part.stop - part.start

    return in_batches(q, search_part)


def free_ways(
    network: Network,
    permission: int,
    starts: NDArray[np.int32],
    goals: NDArray[np.int32],
    *,
    pairs: int | None = None,
) -> Ways:
    """Cheapest ways on empty roads between pairs of roads (q,), for a class of vehicles.

    By A*, or over a hierarchy where the graph is large and a batch of so many pairs is worth
    building one; pairs: of all batches to come, by default q.
    """
    graph, q = road_graph(network, permission), starts.size
    hierarchy = hierarchy_if_it_pays(network, permission, q if pairs is None else pairs)
    if hierarchy is None:
        return find_ways(graph, starts, goals)
    return ways_over(graph, hierarchy, starts, goals)


def ways_over(
    graph: RoadGraph, hierarchy: Hierarchy, starts: NDArray[np.int32], goals: NDArray[np.int32]
) -> Ways:
    """Cheapest ways between pairs of roads (q,) over a hierarchy of the graph."""
    stairs = Stairs(graph, hierarchy, starts.size)

    return in_batches(
        starts.size, lambda part, *found: stairs.search(starts[part], goals[part], *found)
    )


def in_batches(q: int, search_part: Callable[..., None]) -> Ways:
    """Search q pairs part by part: search_part, of a slice, writes ways, length, cost, closed there.

    Where `ways` is too narrow for a way it writes minus its length, and is called again.
    """
    length, closed = np.zeros(q, np.int32), np.zeros(q, np.int32)
    cost = np.full(q, inf)
    pieces: list[NDArray[np.int32]] = []
    ways = np.zeros((min(BATCH, max(q, 1)), WIDTH), np.int32)
    with _bar(q) as found:
        for at in range(0, q, BATCH):
            part = slice(at, min(at + BATCH, q))
            while True:
                search_part(part, ways, length[part], cost[part], closed[part])
                longest = -int(length[part].min())
                if longest <= 0:
                    break
                ways = np.zeros((ways.shape[0], longest), np.int32)
            rows = part.stop - at
            pieces.append(ways[:rows][np.arange(ways.shape[1]) < length[part, None]])
            found(rows)
    start = np.concatenate(([0], np.cumsum(length, dtype=np.int64)))
    return Ways(start, np.concatenate([*pieces, np.zeros(0, np.int32)]), cost, closed)


@contextmanager
def _bar(q: int) -> Iterator[Callable[[int], Any]]:
    """Of more than a batch of ways, shown to a person at a terminal; called with how many more are found."""
    if q <= BATCH:  # a hidden bar costs more than the searches of one frame
        yield lambda rows: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=q, desc="finding routes", unit=" routes", delay=1.0, leave=False, disable=None) as bar:  # fmt: skip
        yield bar.update


def route_trips(
    network: Network,
    origins: Sequence[int] | NDArray[np.int32],
    destinations: Sequence[int] | NDArray[np.int32],
    vehicle_class: str = "passenger",
    *,
    multipliers: NDArray[np.float64] | None = None,
    randomness: float = 0.0,
    seed: int = 0,
) -> Ways:
    """Cheapest ways by time between pairs of roads (indices), for a vehicle class.

    randomness: every driver sees each road's cost raised by up to that share, drawn from the seed
    and the driver's place in the list: the same seed gives the same routes. Raises DemandError for
    roads that the network has not got, lists of unequal length and an unknown class.
    """
    starts, goals = np.asarray(origins, np.int32), np.asarray(destinations, np.int32)
    ends = np.concatenate((starts.ravel(), goals.ravel()))
    if starts.ndim != 1 or starts.shape != goals.shape:
        raise DemandError(
            f"{starts.size} origins, {goals.size} destinations; give one of each a trip"
        )
    if ends.size and not 0 <= ends.min() <= ends.max() < network.n_roads:
        wrong = ends[(ends < 0) | (ends >= network.n_roads)][0]
        raise DemandError(f"no road {wrong}: {network.name!r} has {network.n_roads}, from 0 on")
    if vehicle_class not in CLASS_BIT:
        raise DemandError(f"class {vehicle_class!r}: wanted one of {', '.join(CLASS_BIT)}")
    if multipliers is None and randomness == 0.0:
        return free_ways(network, CLASS_BIT[vehicle_class], starts, goals)
    graph = road_graph(network, CLASS_BIT[vehicle_class])
    seeds = np.int64(seed) * 1_000_003 + np.arange(starts.size, dtype=np.int64)
    return find_ways(
        graph, starts, goals, multipliers=multipliers, taste=randomness, taste_seeds=seeds
    )


def routes_onward(
    network: Network,
    starts: NDArray[np.int32],
    goals: NDArray[np.int32],
    permissions: NDArray[np.uint32],
) -> Ways:
    """Ways for drivers, each with the permissions of its own class."""
    cost, closed = np.full(starts.size, inf), np.zeros(starts.size, np.int32)
    found: list[NDArray[np.int32]] = [np.zeros(0, np.int32)] * starts.size
    for permission in np.unique(permissions):
        rows = np.flatnonzero(permissions == permission)
        ways = free_ways(network, int(permission), starts[rows], goals[rows])
        cost[rows], closed[rows] = ways.cost, ways.closed
        for j, row in enumerate(rows):
            found[row] = ways.roads[ways.start[j] : ways.start[j + 1]]
    start = np.concatenate(([0], np.cumsum([way.size for way in found], dtype=np.int64)))
    return Ways(start, np.concatenate([*found, np.zeros(0, np.int32)]), cost, closed)


def route_demand(network: Network, demand: Demand, *, skip_bad: bool = False) -> Demand:
    """Demand with the way of every trip filled in, through its stops in their order.

    Raises DemandError for demand that does not fit the network, and with the number of trips
    without a way, naming the first, unless skip_bad: then they are left out, and a remark says so.
    """
    demand = let_in(network, demand)
    open_trips = np.flatnonzero(~demand.routed & ~demand.walker)
    if not open_trips.size:
        return demand
    # One pair of roads per leg of a trip.
    first = demand.route_start[open_trips]
    legs = demand.route_start[open_trips + 1] - first - 1
    leg_start = np.concatenate(([0], np.cumsum(legs)))
    place = np.arange(leg_start[-1]) - np.repeat(leg_start[:-1] - first, legs)
    permission = np.array([CLASS_BIT[t.vehicle_class] for t in demand.types], np.uint32)
    ways = routes_onward(
        network,
        demand.roads[place],
        demand.roads[place + 1],
        np.repeat(permission[demand.type[open_trips]], legs),
    )
    bad = np.zeros(len(demand), bool)
    gap = -1  # place of the first road from which no way leads on
    routes: dict[int, NDArray[np.int32]] = {}
    for j, trip in enumerate(open_trips):
        parts: list[NDArray[np.int32]] = [demand.roads[first[j] : first[j] + 1]]
        for leg in range(leg_start[j], leg_start[j + 1]):
            way = ways.roads[ways.start[leg] : ways.start[leg + 1]]
            if not way.size and gap < 0:
                gap = int(place[leg])
            bad[trip] |= not way.size
            parts.append(way[1:])
        route = np.concatenate(parts)
        if not bad[trip] and legs[j] > 1 and banned_part(route.tolist(), network.banned_from):
            roads = demand.roads[first[j] : first[j] + legs[j] + 1].tolist()
            route, served = _way_through(network, int(permission[demand.type[trip]]), roads)
            bad[trip] = served < legs[j]
            if bad[trip] and gap < 0:
                gap = int(first[j]) + served
        routes[int(trip)] = route
    if gap < 0:
        return _with_routes(demand, routes, bad)
    first_bad = _no_way(network, demand, int(np.flatnonzero(bad)[0]), gap)
    count = int(bad.sum())
    if not skip_bad:
        such = f" ({count} such trips)" if count > 1 else ""
        raise DemandError(
            f"{first_bad}{such}; correct the trip or leave such trips out with --skip-bad-trips"
        )
    kept = _with_routes(demand, routes, bad)
    remark = Difference(f"trips without a way are left out: {count} (first: {first_bad})")
    return replace(kept, remarks=(*demand.remarks, remark))


def _way_through(
    network: Network, permission: int, roads: list[int]
) -> tuple[NDArray[np.int32], int]:
    """The cheapest way through all these roads that drives no banned sequence across one of them.

    Returns it, and over how many legs it leads: where there is no way on, not over all.
    """
    graph, desk = kept_desk(network, permission)
    scratch, even = desk.scratch, np.ones(graph.cost.size)
    # By the node of the road reached: what the way up to it costs, and its nodes.
    best: dict[int, tuple[float, list[int]]] = {roads[0]: (0.0, roads[:1])}
    for leg, goal in enumerate(roads[1:]):
        nodes = np.flatnonzero(graph.road_of == goal).tolist()
        found: dict[int, tuple[float, list[int]]] = {}
        for start, (cost, way) in best.items():
            search(graph, scratch, 0, desk.stamp, start, -1, even, 0.0, 0, 0.0)
            for node in nodes:
                if scratch.closed[0, node] != desk.stamp:
                    continue
                total = cost + float(scratch.cost[0, node])
                begun = int(graph.anew[node])
                if begun not in found or total < found[begun][0]:
                    found[begun] = total, way + _way_to(scratch, node)[1:]
            desk.stamp += 1
        if not found:
            return np.zeros(0, np.int32), leg
        best = found
    _, way = min(best.values())
    return graph.road_of[way], len(roads) - 1


def way_onward(
    network: Network,
    permission: int,
    driven: Sequence[int],
    goal: int,
    multiplier: NDArray[np.float64],
) -> list[int]:
    """The cheapest way on for who drove these roads: from the last of them to the goal; none: empty.

    multiplier: (n_roads,) >= 1, of the time that each road takes.
    """
    graph, desk = kept_desk(network, permission)
    node = driven[0]
    for road in driven[1:]:
        after = graph.out[graph.out_start[node] : graph.out_start[node + 1]]
        found = after[graph.road_of[after] == road]
        node = int(found[0]) if found.size else road  # else that turn is closed by now
    pace = 1.0 / graph.top_speed * (1.0 - 1e-12)
    end = search(graph, desk.scratch, 0, desk.stamp, node, goal, multiplier, pace, 0, 0.0)
    desk.stamp += 1
    return [] if end < 0 else graph.road_of[_way_to(desk.scratch, int(end))].tolist()


def _way_to(scratch: Scratch, node: int) -> list[int]:
    """Nodes from the start of the last search to a node that it closed."""
    way = []
    while node >= 0:
        way.append(node)
        node = int(scratch.before[0, node])
    return way[::-1]


def _no_way(network: Network, demand: Demand, trip: int, place: int) -> str:
    kind = demand.types[demand.type[trip]].vehicle_class
    a, b = (network.road_quoted(int(demand.roads[p])) for p in (place, place + 1))
    return f"vehicle {demand.ids[trip][:60]!r}: no way for class {kind} from road {a} to {b}"


def _with_routes(
    demand: Demand, routes: dict[int, NDArray[np.int32]], bad: NDArray[np.bool_]
) -> Demand:
    """The demand with these routes, without the bad trips."""
    start, stop = demand.route_start[:-1].tolist(), demand.route_start[1:].tolist()
    keep = np.flatnonzero(~bad)
    pieces = [routes[i] if i in routes else demand.roads[start[i] : stop[i]] for i in keep.tolist()]
    sizes = np.array([piece.size for piece in pieces], np.int64)
    codes = demand.route_choice
    choice = [
        _choice_along(routes[i], demand.roads[start[i] : stop[i]], codes[start[i] : stop[i]])
        if i in routes else codes[start[i] : stop[i]]
        for i in keep.tolist()
    ]  # fmt: skip
    whole = replace(
        demand,
        route_choice=np.concatenate([*choice, np.zeros(0, np.uint8)]),
        routed=np.where(demand.walker, demand.routed, True)[keep],
        route_start=np.concatenate(([0], np.cumsum(sizes))),
        roads=np.concatenate([*pieces, np.zeros(0, np.int32)]),
    )
    if not bad.any():
        return whole
    stops = np.diff(demand.stop_start)
    keep_stop = np.repeat(~bad, stops)
    by_trip = {
        name: getattr(demand, name)[keep]
        for name in (
            "depart", "type", "walker", "depart_lane", "depart_pos", "depart_pos_kind",
            "depart_speed", "depart_speed_kind", "arrival_pos",
        )
    }  # fmt: skip
    by_stop = {
        name: getattr(demand, name)[keep_stop]
        for name in ("stop_lane", "stop_pos", "stop_duration", "stop_until", "stop_parking")
    }
    return replace(
        whole,
        ids=tuple(demand.ids[i] for i in keep),
        stop_start=np.concatenate(([0], np.cumsum(stops[keep]))),
        **by_trip,
        **by_stop,
    )


def _choice_along(
    route: NDArray[np.int32], named: NDArray[np.int32], codes: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """How the roads of a route came there that was found over the named ones."""
    if not (codes == WAY_OPEN).any():
        return np.full(route.size, WAY_GIVEN, np.uint8)
    found = np.full(route.size, WAY_FOUND, np.uint8)
    place = 0
    for road, code in zip(named.tolist(), codes.tolist(), strict=True):
        place += int(np.argmax(route[place:] == road))
        found[place] = code
    return found
