"""Routes over roads: the cheapest there are, found with less search than Dijkstra's."""

import heapq
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from network_drafts import chain, line
from real_data import sumo_network

from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.drafts.draft import DraftConnector
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import find_ways, route_demand, route_trips

PAIRS = 1000
CAR = CLASS_BIT["passenger"]


def bad_hersfeld():
    return sumo_network("sumo_badhersfeld_net")


MAPS = {"town": lambda: generate("town", size="medium", seed=2), "bad_hersfeld": bad_hersfeld}


@pytest.fixture(scope="module", params=list(MAPS))
def case(request):
    """A network, its road graph, and random pairs of roads that cars may use."""
    network = MAPS[request.param]()
    graph = road_graph(network, CAR)
    roads = np.flatnonzero(np.isfinite(graph.cost)).astype(np.int32)
    draw = np.random.default_rng(3)
    return network, graph, draw.choice(roads, PAIRS), draw.choice(roads, PAIRS)


def dijkstra(graph, start: int, goals: set[int], factor) -> dict[int, float]:
    """Cost from a road to others, by the textbook."""
    known: dict[int, float] = {}
    heap = [(0.0, start)]
    left = set(goals)
    while heap and left:
        cost, road = heapq.heappop(heap)
        if road in known:
            continue
        known[road] = cost
        left.discard(road)
        for e in range(graph.out_start[road], graph.out_start[road + 1]):
            ahead = int(graph.out[e])
            price = (
                cost + float(graph.turn_cost[e]) + float(graph.cost[ahead]) * float(factor[ahead])
            )
            if ahead not in known and price < inf:
                heapq.heappush(heap, (price, ahead))
    return known


def reference(graph, starts, goals, factor=None):
    """Costs of all pairs; inf where there is no way."""
    factor = np.ones(graph.cost.size) if factor is None else factor
    costs = np.full(starts.size, inf)
    for start in np.unique(starts):
        rows = np.flatnonzero(starts == start)
        known = dijkstra(graph, int(start), set(goals[rows].tolist()), factor)
        costs[rows] = [known.get(int(goal), inf) for goal in goals[rows]]
    return costs


def price(graph, way, factor=None) -> float:
    """Cost of a way, without its first road; fails where it is not connected."""
    total = 0.0
    for a, b in pairwise(way):
        turns = range(graph.out_start[a], graph.out_start[a + 1])
        (e,) = [e for e in turns if graph.out[e] == b]
        total += graph.turn_cost[e] + graph.cost[b] * (1.0 if factor is None else factor[b])
    return total


def ways_of(ways):
    return [ways.roads[a:b] for a, b in zip(ways.start[:-1], ways.start[1:], strict=True)]


def assert_cheapest(graph, starts, goals, ways, factor=None):
    np.testing.assert_allclose(ways.cost, reference(graph, starts, goals, factor), rtol=1e-9)
    for start, goal, cost, way in zip(starts, goals, ways.cost, ways_of(ways), strict=True):
        if cost == inf:
            assert way.size == 0
            continue
        assert (way[0], way[-1]) == (start, goal)
        assert price(graph, way, factor) == pytest.approx(cost, rel=1e-9)


def test_ways_cost_what_dijkstra_finds(case):
    """C3.5."""
    _, graph, starts, goals = case
    assert_cheapest(graph, starts, goals, find_ways(graph, starts, goals))


def test_the_estimate_never_closes_more_roads_than_dijkstra(case):
    """C3.5; and in all it closes far fewer."""
    _, graph, starts, goals = case
    guided, blind = (find_ways(graph, starts, goals, estimate=e) for e in (True, False))
    assert (guided.closed <= blind.closed).all()
    assert guided.closed.sum() < 0.8 * blind.closed.sum()
    np.testing.assert_allclose(guided.cost, blind.cost, rtol=1e-9)


@pytest.mark.parametrize("low, high", [(1.0, 4.0), (0.2, 1.0), (0.5, 3.0)])
def test_multipliers_keep_ways_cheapest(case, low, high):
    """C3.6: also below one, where the plain estimate would be too large."""
    _, graph, starts, goals = case
    factor = np.random.default_rng(4).uniform(low, high, graph.cost.size)
    some = slice(0, 300)
    ways = find_ways(graph, starts[some], goals[some], multipliers=factor)
    assert_cheapest(graph, starts[some], goals[some], ways, factor)


def test_closed_roads_are_driven_round_or_end_the_way(case):
    """C3.6: a tenth of all roads is closed."""
    _, graph, starts, goals = case
    factor = np.where(np.random.default_rng(5).random(graph.cost.size) < 0.1, inf, 1.0)
    some = slice(0, 300)
    ways = find_ways(graph, starts[some], goals[some], multipliers=factor)
    assert_cheapest(graph, starts[some], goals[some], ways, factor)
    for way in ways_of(ways):
        assert np.isfinite(factor[way[1:]]).all()


def test_roads_that_lead_nowhere_have_no_way_out():
    network = finish(chain(line(0.0, 100.0), line(101.0, 200.0), line(201.0, 300.0)))
    ways = route_trips(network, [0, 2, 1, 1], [2, 0, 0, 1])
    assert [way.tolist() for way in ways_of(ways)] == [[0, 1, 2], [], [], [1]]
    assert ways.cost[1:].tolist() == [inf, inf, 0.0]


def test_a_class_keeps_to_the_lanes_that_it_may_use():
    draft = chain(line(0.0, 100.0), line(101.0, 200.0), line(201.0, 300.0))
    draft.roads[1].lanes[0].permissions = CLASS_BIT["bus"]
    network = finish(draft)
    assert route_trips(network, [0], [2], "bus").roads.tolist() == [0, 1, 2]
    assert route_trips(network, [0], [2], "passenger").roads.size == 0


def test_a_forbidden_turn_is_not_taken():
    """Two ways lead on; the shorter one has no connector."""
    draft = chain(line(0.0, 100.0), line(101.0, 150.0), line(151.0, 300.0))
    draft.connectors = [DraftConnector("r0", 0, "r1", 0)]
    ways = route_trips(finish(draft), [0, 0], [1, 2])
    assert [way.tolist() for way in ways_of(ways)] == [[0, 1], []]


def test_the_same_seed_gives_the_same_ways_and_another_seed_others(case):
    """C3.6: drivers that differ in taste."""
    network, graph, starts, goals = case
    first, again, other = (
        route_trips(network, starts, goals, randomness=0.5, seed=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.roads, again.roads)
    np.testing.assert_array_equal(first.start, again.start)
    differ = [not np.array_equal(a, b) for a, b in zip(ways_of(first), ways_of(other), strict=True)]
    assert np.mean(differ) > 0.1
    cheapest = find_ways(graph, starts, goals).cost
    reached = np.isfinite(cheapest)
    np.testing.assert_array_equal(np.isfinite(first.cost), reached)
    assert (first.cost[reached] >= cheapest[reached] * (1.0 - 1e-9)).all()
    assert (first.cost[reached] <= cheapest[reached] * 1.5 + 1e-9).all()


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan")])
def test_multipliers_that_are_no_prices_are_refused(bad):
    network = generate("ring")
    with pytest.raises(DemandError, match=r"multipliers: wanted 2 numbers > 0"):
        route_trips(network, [0], [1], multipliers=np.array([1.0, bad]))


def test_trips_without_a_way_are_counted_the_first_named_or_left_out():
    network = finish(chain(line(0.0, 100.0), line(101.0, 200.0)))
    builder = DemandBuilder()
    builder.add(Trip("good", 0.0, VehicleType(), [0, 1], routed=False))
    for i, name in enumerate(("lost", "gone")):
        builder.add(Trip(name, 1.0 + i, VehicleType(), [1, 0], routed=False))
    demand = builder.build()
    why = "vehicle 'lost': no way for class passenger from road 'r1' to 'r0'"
    with pytest.raises(DemandError) as caught:
        route_demand(network, demand)
    assert str(caught.value).startswith(f"{why} (2 such trips); correct the trip or")
    left = route_demand(network, demand, skip_bad=True)
    assert left.ids == ("good",)
    assert left.remarks == (f"trips without a way are left out: 2 (first: {why})",)


def test_stops_are_on_the_way():
    """Three places in turn: the way goes through the middle one although it is a detour."""
    network = generate("grid", rows=3, columns=3, lanes=1, control="all_way_stop")
    index = network.road_index
    roads = [index["0.0-0.1"], index["2.2-2.1"], index["0.1-0.2"]]
    builder = DemandBuilder()
    builder.add(Trip("round", 0.0, VehicleType(), roads, routed=False))
    way = route_demand(network, builder.build()).roads
    legs = route_trips(network, roads[:-1], roads[1:])
    first, second = ways_of(legs)
    assert way.tolist() == [*first.tolist(), *second[1:].tolist()]
