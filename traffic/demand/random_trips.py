"""Random demand: trips between random roads, random walkers, and vehicles that fill the roads.

Everything is drawn by hashing (seed, number of the trip, attempt): the same seed gives the same
demand whatever else is drawn.
"""

from collections.abc import Sequence
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform_all
from rushhour.kernels.routing.astar import RoadGraph
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.gate import fingerprint
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.values import FARTHEST
from rushhour.traffic.demand.model import (
    LANE_FREE,
    LANE_RANDOM,
    POS_BASE,
    POS_RANDOM_FREE,
    SPEED_MAX,
    Demand,
    VehicleType,
    open_choice,
)
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import find_ways, free_ways
from rushhour.traffic.settings.numbers import LATEST, bounded, whole, whole_seed
from rushhour.traffic.words.durations import seconds

MOST_TRIPS: Final = 10_000_000
ATTEMPTS: Final = 40  # draws of a pair of roads before looking at what a drawn origin reaches
ORIGINS: Final = 100  # origins looked at for such a trip before giving up
STREAM: Final = 8100  # + 0 origin, 1 destination, 2 departure, 3 type
SHORTEST_ROAD: Final = 12.0  # m; nobody starts or ends on a shorter one
CAR: Final = VehicleType()


def random_trips(
    network: Network,
    trips: int,
    over: float | str = 3600.0,
    *,
    seed: int = 0,
    begin: float = 0.0,
    min_distance: float = 0.0,
    vehicle_types: Sequence[VehicleType] = (CAR,),
    shares: Sequence[float] | None = None,
) -> Demand:
    """Trips between random roads, departing uniformly within `over`.

    Roads are drawn in proportion to their lane length. over: s or a text such as "1h".
    min_distance: m, straight line from the origin's end to the destination's start. shares: of the
    vehicle types, any scale (default equal). A pair without a way is drawn again.
    Raises DemandError where no pair can be found, and for bad numbers.

    >>> demand = random_trips(network, trips=20_000, over="1h", seed=1)
    """
    seed, begin = _checked(trips, seed, begin)
    bounded(min_distance, "min_distance", 0.0, FARTHEST)
    over_s = seconds(over, "over")
    number = np.arange(trips)
    depart = begin + over_s * uniform_all(seed, number, 0, STREAM + 2)
    depart.sort()
    kind = _drawn_types(seed, trips, vehicle_types, shares)
    pieces: list[NDArray[np.int32]] = [np.zeros(0, np.int32)] * trips
    for t in range(len(vehicle_types)):
        _draw_ways(network, vehicle_types[t], np.flatnonzero(kind == t), seed, min_distance, pieces)
    sizes = np.array([piece.size for piece in pieces], np.int64)
    return _demand(
        network,
        vehicle_types,
        depart,
        kind,
        np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
        np.concatenate([*pieces, np.zeros(0, np.int32)]),
        walker=False,
        lane=LANE_FREE,
        position=POS_BASE,
    )


def random_walkers(
    network: Network,
    count: int,
    over: float | str = 0.0,
    *,
    seed: int = 0,
    begin: float = 0.0,
    vehicle_types: Sequence[VehicleType] = (CAR,),
    shares: Sequence[float] | None = None,
) -> Demand:
    """Vehicles that draw an exit at every intersection, from random places, for ever.

    They are removed (as arrived) only where the road ends. Arguments as of `random_trips`.
    """
    seed, begin = _checked(count, seed, begin)
    over_s = seconds(over, "over")
    number = np.arange(count)
    depart = np.sort(begin + over_s * uniform_all(seed, number, 0, STREAM + 2))
    kind = _drawn_types(seed, count, vehicle_types, shares)
    first = np.zeros(count, np.int32)
    for t, vehicle_type in enumerate(vehicle_types):
        mine = np.flatnonzero(kind == t)
        if not mine.size:
            continue
        roads, heap = _road_weights(network, vehicle_type, need_exit=True)
        first[mine] = roads[np.searchsorted(heap, uniform_all(seed, mine, 0, STREAM), side="right")]
    return _demand(
        network, vehicle_types, depart, kind, np.arange(count + 1), first, walker=True,
        lane=LANE_RANDOM, position=POS_RANDOM_FREE,
    )  # fmt: skip


def vehicles_on_road(
    network: Network,
    count: int,
    *,
    seed: int = 0,
    begin: float = 0.0,
    vehicle_types: Sequence[VehicleType] = (CAR,),
    shares: Sequence[float] | None = None,
) -> Demand:
    """Random walkers, all at once at `begin`: so many vehicles on the road, and they stay there.

    Those for whom there is no room yet wait outside.
    """
    return random_walkers(
        network, count, 0.0, seed=seed, begin=begin, vehicle_types=vehicle_types, shares=shares
    )


def _checked(count: int, seed: int, begin: float) -> tuple[int, float]:
    """The seed and the begin, if these are numbers that can be meant."""
    whole(count, "vehicles", 0, MOST_TRIPS)
    return whole_seed(seed), bounded(begin, "begin", -LATEST, LATEST)


def _drawn_types(
    seed: int, count: int, types: Sequence[VehicleType], shares: Sequence[float] | None
) -> NDArray[np.int32]:
    """Vehicle type of each trip."""
    weight = np.ones(len(types)) if shares is None else np.asarray(shares, np.float64)
    sound = weight.shape == (len(types),) and (weight >= 0).all() and 0.0 < weight.sum() < inf
    if not sound:
        raise DemandError(f"shares {shares!r}: wanted {len(types)} numbers >= 0, not all 0")
    edge = np.cumsum(weight / weight.sum())
    edge[-1] = 1.0
    u = uniform_all(seed, np.arange(count), 0, STREAM + 3)
    return np.searchsorted(edge, u, side="right").astype(np.int32)


def _road_weights(
    network: Network, vehicle_type: VehicleType, *, need_exit: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Roads that the type can use, and the running share of their lane length."""
    net = network.arrays
    graph = road_graph(network, CLASS_BIT[vehicle_type.vehicle_class])
    usable = np.isfinite(graph.cost) & (net.roads.length >= SHORTEST_ROAD)
    if need_exit:
        usable &= np.diff(graph.out_start[: network.n_roads + 1]) > 0
    roads = np.flatnonzero(usable).astype(np.int32)
    if not roads.size:
        raise DemandError(
            f"{network.name}: no road for class {vehicle_type.vehicle_class}; "
            "choose another vehicle type or network"
        )
    weight = net.roads.length[roads] * net.roads.lane_count[roads]
    edge = np.cumsum(weight / weight.sum())
    edge[-1] = 1.0
    return roads, edge


def _draw_ways(
    network: Network,
    vehicle_type: VehicleType,
    trips: NDArray[np.int64],
    seed: int,
    min_distance: float,
    pieces: list[NDArray[np.int32]],
) -> None:
    """Draw origin and destination of these trips, again where there is no way, into pieces."""
    if not trips.size:
        return
    roads, edge = _road_weights(network, vehicle_type, need_exit=False)
    permission = CLASS_BIT[vehicle_type.vehicle_class]
    graph = road_graph(network, permission)
    left = trips
    for attempt in range(ATTEMPTS):
        a, b = (
            roads[np.searchsorted(edge, uniform_all(seed, left, attempt, STREAM + end), "right")]
            for end in (0, 1)
        )
        distance = np.hypot(graph.start_x[b] - graph.end_x[a], graph.start_y[b] - graph.end_y[a])
        tried = np.flatnonzero((a != b) & (distance >= min_distance))
        ways = free_ways(network, permission, a[tried], b[tried], pairs=trips.size)
        found = np.diff(ways.start) > 0
        for j in np.flatnonzero(found):
            pieces[left[tried[j]]] = ways.roads[ways.start[j] : ways.start[j + 1]]
        open_trips = np.ones(left.size, bool)
        open_trips[tried[found]] = False
        left = left[open_trips]
        if not left.size:
            return
    if not network.n_connectors:
        raise DemandError(
            f"{network.name}: none of its {network.n_roads} roads leads into another, so no trip has "
            "a way; take a larger piece of the map"
        )
    lost = _draw_reached(graph, roads, edge, left, seed, min_distance, pieces)
    if lost:
        raise DemandError(
            f"{network.name}: {lost} of {trips.size} random trips found no pair of connected "
            f"roads from {ORIGINS} origins; check the network's turns or lower min_distance"
        )


def _draw_reached(
    graph: RoadGraph,
    roads: NDArray[np.int32],
    edge: NDArray[np.float64],
    trips: NDArray[np.int64],
    seed: int,
    min_distance: float,
    pieces: list[NDArray[np.int32]],
) -> int:
    """Draw these trips' destinations among the roads that the origin reaches; trips left without.

    For networks where few pairs are connected: slower, but no draw of a destination is wasted, and
    none is left without if any of the others found an origin that leads anywhere.
    """
    weight = np.diff(edge, prepend=0.0)
    reached: dict[int, tuple[NDArray[np.int32], NDArray[np.float64]]] = {}
    left = trips
    for attempt in range(ATTEMPTS, ATTEMPTS + ORIGINS + 1):
        if attempt == ATTEMPTS + ORIGINS:  # the last: from one of those found to lead anywhere
            leads = np.isin(roads, [a for a, (places, _) in reached.items() if places.size])
            if not leads.any():
                break
            running = np.cumsum(weight[leads])
            roads, edge = roads[leads], running / running[-1]
        u, v = (uniform_all(seed, left, attempt, STREAM + end) for end in (0, 1))
        origin = roads[edge.searchsorted(u, "right")]
        target = np.full(left.size, -1, np.int32)
        for i, a in enumerate(origin.tolist()):
            if a not in reached:
                distance = np.hypot(
                    graph.start_x[roads] - graph.end_x[a], graph.start_y[roads] - graph.end_y[a]
                )
                fit = (roads != a) & (distance >= min_distance)
                if fit.any():
                    fit &= _reached(graph, a)[roads]
                reached[a] = roads[fit], np.cumsum(weight[fit])
            places, running = reached[a]
            if places.size:
                pick = running.searchsorted(v[i] * running[-1], "right")
                target[i] = places[min(pick, places.size - 1)]
        found = np.flatnonzero(target >= 0)
        ways = find_ways(graph, origin[found], target[found])
        for j, trip in enumerate(left[found].tolist()):
            pieces[trip] = ways.roads[ways.start[j] : ways.start[j + 1]]
        left = left[target < 0]
        if not left.size:
            break
    return left.size


def _reached(graph: RoadGraph, origin: int) -> NDArray[np.bool_]:
    """Which roads can be driven to from a road."""
    seen = np.zeros(graph.road_of.size, bool)
    seen[origin] = True
    front = [origin]
    while front:
        node = front.pop()
        for target in graph.out[graph.out_start[node] : graph.out_start[node + 1]].tolist():
            if not seen[target]:
                seen[target] = True
                front.append(target)
    roads = np.zeros(graph.cost.size, bool)
    roads[graph.road_of[seen]] = True
    return roads


def _demand(
    network: Network,
    types: Sequence[VehicleType],
    depart: NDArray[np.float64],
    kind: NDArray[np.int32],
    start: NDArray[np.int64],
    roads: NDArray[np.int32],
    *,
    walker: bool,
    lane: int,
    position: int,
) -> Demand:
    n = depart.size
    return Demand(
        types=tuple(types),
        ids=tuple(str(i) for i in range(n)),
        depart=depart,
        type=kind,
        walker=np.full(n, walker),
        routed=np.full(n, True),
        route_start=start,
        roads=roads,
        route_choice=open_choice(start),
        depart_lane=np.full(n, lane, np.int32),
        depart_pos=np.zeros(n),
        depart_pos_kind=np.full(n, position, np.uint8),
        depart_speed=np.zeros(n),
        depart_speed_kind=np.full(n, SPEED_MAX, np.uint8),
        arrival_pos=np.full(n, np.inf),
        stop_start=np.zeros(n + 1, np.int64),
        stop_lane=np.zeros(0, np.int32),
        stop_pos=np.zeros(0),
        stop_duration=np.zeros(0),
        stop_until=np.zeros(0),
        stop_parking=np.zeros(0, np.bool_),
        made_for=fingerprint(network),
    )
