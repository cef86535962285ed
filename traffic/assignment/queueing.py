"""What roads take by queues alone: where an assignment begins, before anybody has driven (kernels.routing.point_queues)."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.point_queues import (
    COUNTS,
    Queues,
    TripWays,
    count_present,
    load_queues,
)
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment.timed_ways import ALIKE, Sums, gathered
from rushhour.traffic.demand.model import WAY_GIVEN, Demand
from rushhour.traffic.routing.routes import Ways

Floats = NDArray[np.float64]

STEP: Final = 1.0  # s
LOOK: Final = 60.0  # s between two looks at the traffic of those who depart
LOOKS: Final = 5  # whose mean they choose by
LONGER: Final = 7200.0  # s after the last departure at which it ends at the latest


def empty_queues(network: Network, trips: int) -> Queues:
    """Queues in which nobody is."""
    lanes, roads, m = network.n_road_lanes, network.n_roads, network.arrays.connectors.link.size
    nobody = np.full(trips, -1, np.int32)
    return Queues(
        lane=nobody.copy(),
        place=np.zeros(trips, np.int64),
        behind=nobody,
        entered=np.zeros(trips),
        ready=np.zeros(trips),
        first=np.full(lanes, -1, np.int32),
        last=np.full(lanes, -1, np.int32),
        size=np.zeros(lanes, np.int32),
        open_from=np.full(lanes, -np.inf),
        waiting=np.full(roads, -1, np.int32),
        waiting_last=np.full(roads, -1, np.int32),
        full=np.zeros(roads, np.int32),
        passed=np.full(m, -np.inf),
        busy=np.zeros(lanes, np.int32),
        due=np.zeros(lanes),
        is_busy=np.zeros(lanes, np.bool_),
        counts=np.zeros(COUNTS, np.int64),
    )


def queued_sums(
    network: Network, demand: Demand, permission: NDArray[np.uint32], free: Floats, begin: float, span: float
) -> Sums:  # fmt: skip
    """What roads take by interval when all drive their ways through queues. permission: of each trip's class.

    free: (n_roads,) s, of empty roads. Stops on the way are left out.
    """
    q, ways = empty_queues(network, len(demand)), trip_ways(demand, permission)
    net = network.arrays
    until = float(demand.depart[-1]) + LONGER
    shape = (int((until - begin) / span) + 1, network.n_roads)
    spent, vehicles = np.zeros(shape), np.zeros(shape)
    end = load_queues(net, q, ways, free, spent, vehicles, begin, span, 0, until, STEP)
    count_present(net, q, ways, spent, vehicles, begin, span, end)
    rows = int((end - begin) / span) + 1
    return Sums(spent[:rows], vehicles[:rows] * net.roads.length[None])


def chosen_at_departure(
    network: Network, demand: Demand, permission: NDArray[np.uint32], free: Floats, begin: float,
    trips: NDArray[np.int64], choose: Callable[[Floats, slice, float], Ways],
) -> Demand:  # fmt: skip
    """The demand with the ways that drivers choose as they depart, by what roads took in the queues just before.

    trips: (q,) ascending, those who choose; the others drive their ways. Every LOOK seconds those are asked who depart
    before the next look: choose(times of roads, which of `trips`, s) -> their ways, an empty one where none is better.
    Times are of the last LOOKS of these, and of those who still stand there, too.
    """
    from tqdm.auto import tqdm

    q, ways = empty_queues(network, len(demand)), trip_ways(demand, permission)
    net = network.arrays
    looks = np.arange(begin, float(demand.depart[-1]) + LOOK, LOOK)
    bounds = np.searchsorted(demand.depart[trips], [-np.inf, *looks[1:], np.inf], "right")
    used = demand.roads.size
    total = np.zeros((2, network.n_roads))  # s, and vehicles
    last = deque([total.copy()], LOOKS)
    bar = tqdm(total=trips.size, desc="ways chosen at departure", unit=" trips", delay=1.0, leave=False, disable=None)  # fmt: skip
    with bar:
        for k, now in enumerate(looks.tolist()):
            which = slice(bounds[k], bounds[k + 1])
            if which.stop > which.start:
                known = np.stack((total, np.sum(last, axis=0)), axis=1)
                known[1] *= net.roads.length
                found = choose(Sums(*known).times(network, ALIKE)[1], which, now)
                ways, used = _with_ways(ways, used, trips[which], found)
            here = np.zeros((2, 1, network.n_roads))
            # The step at the next look belongs to this one: it lets go those who were ready a little before it.
            end, first = now + LOOK, 1 if k else 0
            load_queues(
                net, q, ways, free, here[0], here[1], now, LOOK, first, end + 0.5 * STEP, STEP
            )
            count_present(net, q, ways, here[0], here[1], now, LOOK, end)
            total += here[:, 0]
            last.append(here[:, 0])
            bar.update(which.stop - which.start)
    start, roads = gathered(ways.start, ways.end, ways.roads)
    choice = np.full(roads.size, WAY_GIVEN, np.uint8)
    return replace(demand, route_start=start, roads=roads, route_choice=choice)


def trip_ways(demand: Demand, permission: NDArray[np.uint32]) -> TripWays:
    """The ways of a demand. permission: of each trip's class."""
    start, depart = demand.route_start, np.ascontiguousarray(demand.depart)
    return TripWays(
        start[:-1].copy(), start[1:].copy(), demand.roads, depart, permission.astype(np.int64)
    )


def _with_ways(
    ways: TripWays, used: int, trips: NDArray[np.int64], found: Ways
) -> tuple[TripWays, int]:
    """The ways with those found for some trips behind all others, and how much of their pool is used then.

    Who has not departed yet may get another way; those on the road have places in the pool, which stay.
    """
    end, roads = used + found.roads.size, ways.roads
    if end == used:
        return ways, used
    if end > roads.size:  # always at first: the demand's own stay as they are
        roads = np.concatenate((roads, np.zeros(end, np.int32)))
    roads[used:end] = found.roads
    new = np.diff(found.start) > 0
    ways.start[trips[new]] = used + found.start[:-1][new]
    ways.end[trips[new]] = used + found.start[1:][new]
    return ways._replace(roads=roads), end
