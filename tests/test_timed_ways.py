"""Ways through changing travel times: the fastest from where one is when, and times as measured."""

from heapq import heappop, heappush
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray
from plain_kernels import as_python
from real_data import data_folder

import rushhour as rh
from rushhour.kernels.routing.timed_astar import TimedCosts, cost_at, walk_ways
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment import timed_ways
from rushhour.traffic.assignment.timed_ways import Sums, TimedRouter, measured_sums
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType

CAR = CLASS_BIT["passenger"]
SPAN = 60.0


@pytest.fixture(scope="module")
def grid() -> Network:
    return rh.generate("grid", rows=4, columns=4)


def drawn_times(router: TimedRouter, seed: int, rows: int = 8) -> NDArray[np.float64]:
    """Times that change by less than they last, so that who leaves earlier is there earlier; some unknown."""
    draw = np.random.default_rng(seed)
    free = np.where(np.isfinite(router.graph.cost), router.graph.cost, 1.0)
    times = free * draw.uniform(1.0, 2.5, (rows, free.size))
    times[draw.random(times.shape) < 0.2] = np.nan
    return times


def fastest_by_hand(
    router: TimedRouter, timed: TimedCosts, start: int, goal: int, depart: float
) -> float:
    """Dijkstra over nodes, as plain Python."""
    graph = router.graph
    first = cost_by_hand(timed, start, depart)
    heap, best = [(first, start)], {start: first}
    while heap:
        cost, node = heappop(heap)
        if cost > best[node]:
            continue
        if graph.road_of[node] == goal:
            return cost
        for e in range(graph.out_start[node], graph.out_start[node + 1]):
            ahead, road = int(graph.out[e]), int(graph.road_of[graph.out[e]])
            if graph.cost[road] == inf:
                continue
            at = cost + float(graph.turn_cost[e])
            at += cost_by_hand(timed, road, depart + at)
            if at < best.get(ahead, inf):
                best[ahead] = at
                heappush(heap, (at, ahead))
    return inf


def cost_by_hand(timed: TimedCosts, road: int, time: float) -> float:
    middles = timed.begin + timed.span * (np.arange(timed.cost.shape[1]) + 0.5)
    return float(np.interp(time, middles, timed.cost[road]))


@pytest.mark.parametrize("seed", [1, 2])
def test_ways_are_the_fastest_by_the_time_at_which_each_road_is_reached(
    grid: Network, seed: int
) -> None:
    router = TimedRouter(grid, CAR, 100)
    timed = router.costs(drawn_times(router, seed), 1000.0, SPAN)
    trips = rh.random_trips(grid, 60, over="8min", seed=seed, begin=1000.0)
    starts, goals = (trips.roads[trips.route_start[:-1]], trips.roads[trips.route_start[1:] - 1])
    ways = router.ways(timed, starts, goals, trips.depart)
    walked, entered = router.walked(timed, ways.start, ways.roads, trips.depart)
    np.testing.assert_allclose(walked, ways.cost)
    np.testing.assert_array_equal(entered[ways.start[:-1]], trips.depart)
    assert (np.diff(entered)[np.diff(ways.roads) != 0] != 0.0).all()
    for i in range(60):
        by_hand = fastest_by_hand(
            router, timed, int(starts[i]), int(goals[i]), float(trips.depart[i])
        )
        assert ways.cost[i] == pytest.approx(by_hand)
    plain, at = np.zeros(60), np.zeros(ways.roads.size)
    as_python(walk_ways)(
        router.graph, timed, ways.start, ways.roads, trips.depart, plain, at, 0, 60
    )
    np.testing.assert_array_equal(plain, walked)
    np.testing.assert_array_equal(at, entered)
    assert as_python(cost_at)(timed, 3, 1100.0) == cost_at(timed, 3, 1100.0)
    # another way than on empty roads, for some
    free = router.ways(
        router.costs(np.full((1, grid.n_roads), np.nan), 0.0, SPAN), starts, goals, trips.depart
    )
    assert any(
        not np.array_equal(ways.roads[a:b], free.roads[c:d])
        for a, b, c, d in zip(ways.start, ways.start[1:], free.start, free.start[1:], strict=False)
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ways_guided_by_hours_are_those_guided_by_empty_roads(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = load_network(data_folder("osm_krems") / "krems.osm.gz")
    trips = rh.random_trips(network, 600, over="30min", seed=seed, begin=1000.0)
    starts, goals = trips.roads[trips.route_start[:-1]], trips.roads[trips.route_start[1:] - 1]
    router = TimedRouter(network, CAR, 600)
    rng = np.random.default_rng(seed)
    usual = rng.uniform(1.5, 4.0, network.n_roads) * np.where(
        rng.random(network.n_roads) < 0.1, 20.0, 1.0
    )
    free = np.where(np.isfinite(router.graph.cost), router.graph.cost, 1.0)
    rows = [
        free * usual * rng.uniform(1.0, 1.2, free.size) * level
        for level in np.linspace(0.6, 1.4, 12)
    ]
    timed = router.costs(np.array(rows), 900.0, 300.0)
    plain = router.ways(timed, starts, goals, trips.depart)
    monkeypatch.setattr(
        timed_ways, "WORTH", 150
    )  # of 600 in half an hour, whole and broken quarters
    monkeypatch.setattr(timed_ways, "HOUR", 500.0)
    guided = router.ways(timed, starts, goals, trips.depart)
    for name in ("start", "roads", "cost"):
        np.testing.assert_array_equal(getattr(guided, name), getattr(plain, name))
    hours = np.floor((trips.depart - 900.0) / 500.0)
    hour, count = np.unique(hours, return_counts=True)
    assert (count >= 150).any() and (count < 150).any()
    many = np.isin(hours, hour[count >= 150])
    late = trips.depart + plain.cost > 900.0 + 500.0 * (hours + 2.0)
    assert (many & late).any() and (many & ~late).sum() > 50
    assert guided.closed[many & ~late].mean() < 0.7 * plain.closed[many & ~late].mean()


def test_measured_times_are_what_the_road_took_in_the_interval() -> None:
    network = rh.generate("straight", length=900.0, speed=15.0)
    builder = DemandBuilder()
    for k in range(40):
        builder.add(Trip(f"c{k}", 7.0 * k, VehicleType(), [0]))
    world = rh.World(network, builder.build(), dt=0.5, seed=1)
    measures = rh.Measures(world, SPAN)
    world.observers.append(measures)
    world.run(progress=False)
    measures.finish()
    sums = measured_sums(measures, 0.0, SPAN)
    times = sums.times(network)
    roads = measures.roads
    for row in range(len(roads)):
        at = int((0.5 * (roads.begin[row] + roads.end[row])) // SPAN)
        assert times[at, 0] == pytest.approx(900.0 / roads.speed[row])
    assert np.nanmin(times) > 50.0
    slower = Sums(2.0 * sums.spent, sums.driven)  # a mean of both, also where one lasted longer
    np.testing.assert_allclose(sums.mixed(slower, 0.5).times(network), 1.5 * times)
    longer = Sums(*(np.concatenate((one, one)) for one in sums))
    np.testing.assert_allclose(
        sums.mixed(longer, 0.9).times(network), np.concatenate((times, times))
    )


def test_few_vehicles_of_an_interval_are_drawn_to_the_mean_of_their_road() -> None:
    network = rh.generate("straight", length=900.0, speed=15.0)
    spent, driven = np.array([[100.0], [1200.0], [0.0]]), np.array([[900.0], [5400.0], [0.0]])
    sums = Sums(spent, driven)
    assert sums.times(network)[:2, 0].tolist() == [100.0, 200.0]
    mean = 1300.0 / 7.0  # s a vehicle: one of 100 s, six of 200
    wanted = [(100.0 + 5.0 * mean) / 6.0, (1200.0 + 5.0 * mean) / 11.0, mean]
    np.testing.assert_allclose(sums.times(network, 5.0)[:, 0], wanted)
    unused = Sums(0.0 * spent, 0.0 * driven)
    assert np.isnan(unused.times(network, 5.0)).all()
    stands = Sums(np.array([[60.0]]), np.array([[0.0]]))
    assert stands.times(network, 5.0)[0, 0] == stands.times(network)[0, 0] == 7200.0
