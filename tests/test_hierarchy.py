"""Contraction hierarchies: ways as cheap as those of a plain search, on graphs of every kind."""

from dataclasses import astuple
from math import inf

import numpy as np
import pytest
from real_data import sumo_network

from rushhour.kernels.routing.astar import RoadGraph
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand import random_trips as random_demand
from rushhour.traffic.routing import hierarchies, routes
from rushhour.traffic.routing.hierarchies import build_hierarchy, hierarchy_if_it_pays
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import WIDTH, find_ways, free_ways, ways_over

CAR = CLASS_BIT["passenger"]


def drawn_graph(seed: int, *, roads=60, states=15, turns=150, grain=0.0) -> RoadGraph:
    """Random turns between roads and states, a tenth of the roads closed.

    grain: s, costs are whole multiples of it, so that many ways are equally cheap.
    """
    draw = np.random.default_rng(seed)
    k = roads + states
    pairs = np.unique(draw.integers(0, k, (turns, 2)), axis=0)
    turn_cost, cost = draw.uniform(0.0, 5.0, len(pairs)), draw.uniform(1.0, 30.0, roads)
    if grain:
        turn_cost, cost = (np.ceil(c / grain) * grain for c in (turn_cost, cost))
    cost[draw.random(roads) < 0.1] = inf
    return RoadGraph(
        out_start=np.searchsorted(pairs[:, 0], np.arange(k + 1)).astype(np.int32),
        out=pairs[:, 1].astype(np.int32),
        turn_cost=turn_cost,
        cost=cost,
        start_x=np.zeros(roads), start_y=np.zeros(roads), end_x=np.zeros(roads), end_y=np.zeros(roads),
        road_of=np.concatenate((np.arange(roads), draw.integers(0, roads, states))).astype(np.int32),
        anew=np.arange(k, dtype=np.int32),
        told_apart=np.zeros(roads, np.bool_),
        top_speed=1.0,
    )  # fmt: skip


def way_of(ways, i: int) -> list[int]:
    return ways.roads[ways.start[i] : ways.start[i + 1]].tolist()


def price(graph: RoadGraph, start: int, way: list[int]) -> float:
    """What it costs to drive these roads in turn from a node, over whichever nodes; inf: impossible."""
    at = {start: 0.0} if graph.road_of[start] == way[0] else {}
    for road in way[1:]:
        ahead: dict[int, float] = {}
        for node, cost in at.items():
            for e in range(graph.out_start[node], graph.out_start[node + 1]):
                if graph.road_of[graph.out[e]] == road:
                    total = cost + float(graph.turn_cost[e]) + float(graph.cost[road])
                    ahead[int(graph.out[e])] = min(total, ahead.get(int(graph.out[e]), inf))
        at = ahead
    return min(at.values(), default=inf)


def assert_as_cheap(graph, starts, goals, ways):
    """Every way can be driven, costs what it says, and no more than what a plain search finds."""
    plain = find_ways(graph, starts, goals, estimate=False)
    np.testing.assert_allclose(ways.cost, plain.cost, rtol=1e-9)
    for i, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
        way = way_of(ways, i)
        assert bool(way) == (plain.cost[i] < inf)
        if way:
            assert (way[0], way[-1]) == (graph.road_of[start], goal)
            assert price(graph, start, way) == pytest.approx(ways.cost[i], rel=1e-12)


def all_pairs(graph: RoadGraph):
    """From every node, states among them, to every road."""
    k, n = graph.road_of.size, graph.cost.size
    return np.repeat(np.arange(k, dtype=np.int32), n), np.tile(np.arange(n, dtype=np.int32), k)


@pytest.mark.parametrize("seed, grain", [(1, 0.0), (2, 0.0), (3, 5.0), (4, 15.0)])
def test_ways_over_a_hierarchy_are_as_cheap_as_those_of_a_plain_search(seed, grain):
    """Between all nodes of random graphs with states, closed roads and pairs without a way."""
    graph = drawn_graph(seed, grain=grain)
    starts, goals = all_pairs(graph)
    ways = ways_over(graph, build_hierarchy(graph), starts, goals)
    reached = np.isfinite(ways.cost)
    assert 0.1 < reached.mean() < 0.9
    assert_as_cheap(graph, starts, goals, ways)


def test_costs_are_summed_in_driving_order():
    """To the bit, as A* sums them: shortcuts are not added up."""
    graph = drawn_graph(5)
    starts, goals = all_pairs(graph)
    ways = ways_over(graph, build_hierarchy(graph), starts, goals)
    plain = find_ways(graph, starts, goals, estimate=False)
    same = [way_of(ways, i) == way_of(plain, i) for i in range(starts.size)]
    assert np.mean(same) > 0.99
    np.testing.assert_array_equal(ways.cost[same], plain.cost[same])


def test_links_get_more_room_where_shortcuts_need_it(monkeypatch):
    """Contracting is interrupted for it, and goes on to the same hierarchy."""
    graph = drawn_graph(6, turns=300)
    wide = build_hierarchy(graph)
    asked = []
    grow = hierarchies._with_room
    monkeypatch.setattr(hierarchies, "SPARE", 0)
    monkeypatch.setattr(hierarchies, "_with_room", lambda links: asked.append(1) or grow(links))
    narrow = build_hierarchy(graph)
    assert asked
    for a, b in zip(wide, narrow, strict=True):
        np.testing.assert_array_equal(a, b)


def test_ways_longer_than_the_first_array_are_whole():
    n = WIDTH + 100
    graph = drawn_graph(7, roads=n, states=0)._replace(
        out_start=np.arange(n + 1, dtype=np.int32),
        out=np.roll(np.arange(n, dtype=np.int32), -1),
        turn_cost=np.ones(n),
        cost=np.ones(n),
    )
    ends = np.array([0, 5], np.int32), np.array([n - 1, 4], np.int32)
    ways = ways_over(graph, build_hierarchy(graph), *ends)
    assert way_of(ways, 0) == list(range(n))
    assert way_of(ways, 1) == [*range(5, n), *range(5)]
    assert ways.cost.tolist() == [2.0 * (n - 1)] * 2


def test_a_hierarchy_is_taken_by_counts_alone(monkeypatch):
    """Not because an earlier batch had one built: a run must not depend on what was done before."""
    network = generate("grid", rows=4, columns=4)
    nodes = road_graph(network, CAR).cost.size
    monkeypatch.setattr(hierarchies, "FEWEST_NODES", nodes)
    monkeypatch.setattr(hierarchies, "FEWEST_PAIRS", 50)
    built = hierarchy_if_it_pays(network, CAR, 50)
    assert built is not None
    assert hierarchy_if_it_pays(network, CAR, 60) is built
    assert hierarchy_if_it_pays(network, CAR, 49) is None
    monkeypatch.setattr(hierarchies, "FEWEST_NODES", nodes + 1)
    assert hierarchy_if_it_pays(network, CAR, 50) is None


def test_trips_drawn_again_keep_to_the_hierarchy_of_all(monkeypatch):
    """The few pairs of a later draw are searched like the many of the first."""
    network = generate("grid", rows=4, columns=4)
    monkeypatch.setattr(hierarchies, "FEWEST_NODES", 1)
    monkeypatch.setattr(hierarchies, "FEWEST_PAIRS", 300)
    monkeypatch.setattr(routes, "find_ways", None)
    demand = random_demand.random_trips(network, 300, 60.0, seed=1, min_distance=300.0)
    assert len(demand) == 300


def test_a_real_map_has_ways_as_cheap_as_by_a_star():
    """Bad Hersfeld, which is large enough by the rule."""
    network = sumo_network("sumo_badhersfeld_net")
    graph = road_graph(network, CAR)
    roads = np.flatnonzero(np.isfinite(graph.cost)).astype(np.int32)
    draw = np.random.default_rng(3)
    starts, goals = (draw.choice(roads, hierarchies.FEWEST_PAIRS) for _ in range(2))
    ways = free_ways(network, CAR, starts, goals)
    assert ("hierarchy", CAR) in network.derived
    by_a_star = find_ways(graph, starts, goals)
    np.testing.assert_allclose(ways.cost, by_a_star.cost, rtol=1e-9)
    assert ways.closed.sum() < 0.1 * by_a_star.closed.sum()
    for i in np.flatnonzero(np.isfinite(ways.cost))[:200].tolist():
        assert price(graph, int(starts[i]), way_of(ways, i)) == pytest.approx(
            ways.cost[i], rel=1e-12
        )


def test_ways_do_not_depend_on_the_number_of_threads(monkeypatch):
    graph = drawn_graph(3, grain=1.0)
    draw = np.random.default_rng(2)
    starts, goals = (draw.integers(0, 60, 300).astype(np.int32) for _ in range(2))
    hierarchy = build_hierarchy(graph)
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(hierarchies.numba, "get_num_threads", lambda count=threads: count)
        found.append(ways_over(graph, hierarchy, starts, goals))
    assert np.isfinite(found[0].cost).any()
    for other in found[1:]:
        for mine, theirs in zip(astuple(found[0]), astuple(other), strict=True):
            np.testing.assert_array_equal(mine, theirs)
