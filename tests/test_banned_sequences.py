"""Banned sequences of roads: no route drives one, and each is the cheapest of those that do not."""

import heapq
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from drawn_ways import drawn_ways, price, with_banned
from network_drafts import chain, line

from rushhour.kernels.rerouting.other_exits import EXITS, Exits, reroute
from rushhour.kernels.routing.way_ahead import PATH
from rushhour.roadnets.banned import LONGEST, banned_part, packed_ways
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.drafts.fixes import fix_draft
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.fixes import read_fixes
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.random_trips import _reached, random_trips
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import costs_from, find_ways, kept_desk, route_demand
from rushhour.traffic.world import World

CAR = CLASS_BIT["passenger"]
TRIPS = 3000


def grid():
    return generate("grid", rows=3, columns=3, lanes=1, control="all_way_stop")


def cheapest(graph, banned, behind: tuple[int, ...], places, factor=None) -> float:
    """Cost on from the roads driven so far through all places in turn, by Dijkstra over the last
    roads and the places passed; graph: without states. The reference."""
    factor = np.ones(graph.cost.size) if factor is None else factor
    memory = max(map(len, banned), default=2) - 1
    whole = set(banned)

    def passed(road: int, count: int) -> int:
        while count < len(places) and places[count] == road:
            count += 1
        return count

    start = (tuple(behind[-memory:]), passed(behind[-1], 0))
    known = set()
    heap = [(0.0, start)]
    while heap:
        cost, state = heapq.heappop(heap)
        if state in known:
            continue
        known.add(state)
        driven, count = state
        if count == len(places):
            return cost
        for e in range(graph.out_start[driven[-1]], graph.out_start[driven[-1] + 1]):
            road = int(graph.out[e])
            way = (*driven, road)
            if any(way[k:] in whole for k in range(len(way))):
                continue
            price = cost + float(graph.turn_cost[e]) + float(graph.cost[road]) * float(factor[road])
            if price < inf:
                heapq.heappush(heap, (price, (way[-memory:], passed(road, count))))
    return inf


@pytest.fixture(scope="module", params=range(6))
def case(request):
    """A network with random banned sequences, its graph without states, and the sequences."""
    draw = np.random.default_rng(request.param)
    network = grid()
    plain = road_graph(network, CAR)
    ways = drawn_ways(plain, draw, int(draw.integers(10, 60)))
    return with_banned(network, ways), plain, ways


def test_ways_are_the_cheapest_of_those_that_drive_no_banned_sequence(case):
    network, plain, banned = case
    n = network.n_roads
    starts, goals = (a.ravel().astype(np.int32) for a in np.mgrid[:n:3, :n])
    factor = np.random.default_rng(1).uniform(1.0, 3.0, n)
    free = find_ways(plain, starts, goals, multipliers=factor)
    broken = sum(
        bool(banned_part(free.roads[a:b].tolist(), network.banned_from))
        for a, b in pairwise(free.start)
    )
    assert broken > 20
    ways = find_ways(road_graph(network, CAR), starts, goals, multipliers=factor)
    wanted = [
        cheapest(plain, banned, (a,), [b], factor)
        for a, b in zip(starts.tolist(), goals.tolist(), strict=True)
    ]
    np.testing.assert_allclose(ways.cost, wanted, rtol=1e-12)
    for i, (a, b) in enumerate(pairwise(ways.start)):
        way = ways.roads[a:b].tolist()
        if ways.cost[i] == inf:
            assert way == []
            continue
        assert (way[0], way[-1]) == (starts[i], goals[i])
        assert not banned_part(way, network.banned_from)
        assert set(pairwise(way)) <= {
            (road, int(plain.out[e]))
            for road in way
            for e in range(plain.out_start[road], plain.out_start[road + 1])
        }


def test_costs_from_a_road_and_what_it_reaches_are_those_of_single_ways(case):
    network, plain, _ = case
    graph, desk = kept_desk(network, CAR)
    goals = np.arange(network.n_roads, dtype=np.int32)
    for start in range(0, network.n_roads, 5):
        cost = find_ways(graph, np.full(goals.size, start, np.int32), goals).cost
        np.testing.assert_allclose(costs_from(graph, desk, start), cost + plain.cost[start])
        np.testing.assert_array_equal(_reached(graph, start), np.isfinite(cost))


def test_drivers_taste_is_of_roads_not_of_states(case):
    """Who finds every road up to half dearer pays for its way what the roads cost it."""
    network, plain, _ = case
    graph = road_graph(network, CAR)
    starts, goals = np.arange(10, dtype=np.int32), np.arange(30, 40, dtype=np.int32)
    seeds = np.full(10, 7, np.int64)
    loop = find_ways(plain, starts, goals, taste=0.5, taste_seeds=seeds)
    ways = find_ways(graph, starts, goals, taste=0.5, taste_seeds=seeds)
    for i in range(10):
        free = loop.roads[loop.start[i] : loop.start[i + 1]].tolist()
        if not banned_part(free, network.banned_from):
            assert ways.roads[ways.start[i] : ways.start[i + 1]].tolist() == free
            assert ways.cost[i] == loop.cost[i]
        else:
            assert ways.cost[i] > loop.cost[i]


def test_a_network_that_bans_nothing_has_no_states():
    network = grid()
    assert network.banned.start.tolist() == [0]
    graph = road_graph(network, CAR)
    np.testing.assert_array_equal(graph.road_of, np.arange(network.n_roads))


# Trips through stops


def test_ways_through_stops_drive_no_banned_sequence_across_one_either(case):
    network, plain, banned = case
    draw = np.random.default_rng(9)
    places = draw.integers(0, network.n_roads, (400, 3))
    # Half of them stop within a banned sequence.
    for row in places[::2]:
        way = banned[int(draw.integers(len(banned)))]
        row[:] = way[0], way[1], way[2]
    builder = DemandBuilder()
    for i, row in enumerate(places.tolist()):
        builder.add(Trip(str(i), 0.0, VehicleType(), row, routed=False))
    routed = route_demand(network, builder.build(), skip_bad=True)
    routes = {
        int(name): routed.roads[a:b].tolist()
        for name, (a, b) in zip(routed.ids, pairwise(routed.route_start), strict=True)
    }
    dearer = 0
    for i, row in enumerate(places.tolist()):
        wanted = cheapest(plain, banned, (row[0],), row)
        dearer += cheapest(plain, [], (row[0],), row) < wanted < inf
        if i not in routes:
            assert wanted == inf
            continue
        assert not banned_part(routes[i], network.banned_from)
        assert price(plain, routes[i]) == pytest.approx(wanted, rel=1e-12)
    assert len(routes) > 100
    assert dearer > 5


def test_a_trip_whose_only_way_is_banned_is_named():
    network = finish(chain(line(0, 100), line(110, 200), line(210, 300)))
    for places in ([0, 2], [0, 1, 2]):
        builder = DemandBuilder()
        builder.add(Trip("lost", 0.0, VehicleType(), places, routed=False))
        assert route_demand(network, builder.build()).roads.tolist() == [0, 1, 2]
        with pytest.raises(DemandError, match=rf"'lost': no way .* from road 'r{places[-2]}'"):
            route_demand(with_banned(network, [(0, 1, 2)]), builder.build())


# Drivers who change their way


def table() -> Exits:
    return Exits(
        lane=np.zeros(EXITS + 1, np.int32),
        roads=np.zeros((EXITS + 1, PATH), np.int32),
        steps=np.zeros(EXITS + 1, np.int32),
        full=np.zeros(EXITS + 1, np.bool_),
        seen=np.zeros(EXITS, np.int32),
    )


@pytest.fixture(scope="module")
def busy():
    """A small town in the rush hour with random banned sequences; its graph without states.

    Every second driver halts on the way.
    """
    network = generate("town", size="small", seed=2)
    plain = road_graph(network, CAR)
    banned = drawn_ways(plain, np.random.default_rng(4), 400)
    network = with_banned(network, banned)
    drawn = random_trips(network, TRIPS, 200.0, seed=1)
    builder = DemandBuilder()
    for i, (a, b) in enumerate(pairwise(drawn.route_start.tolist())):
        route = drawn.roads[a:b].tolist()
        lane = int(network.arrays.roads.first_lane[route[len(route) // 2]])
        stop = Stop(lane, float(network.arrays.lanes.length[lane]) / 2.0, 1.0)
        stops = [stop] if i % 2 and len(route) > 2 else []
        builder.add(Trip(str(i), float(drawn.depart[i]), VehicleType(), route, stops=stops))
    world = World(network, builder.build(), dt=0.5)
    return world, plain, banned


@pytest.mark.small_world
def test_drivers_who_change_their_way_drive_no_banned_sequence(busy):
    """Neither on the new way nor with what they drove before, all of which is kept here."""
    world, _, _ = busy
    driven: list[list[int]] = [[] for _ in range(TRIPS)]
    leg, start = np.full(TRIPS, -1), np.full(TRIPS, -1)  # as in the step before
    changed = set()
    for _ in range(1600):
        world.step()
        veh, routes = world.sim.veh, world.sim.routes
        for i in np.flatnonzero((veh.lane >= 0) & (veh.leg != leg[veh.id])).tolist():
            name, first, here = int(veh.id[i]), int(veh.route_start[i]), int(veh.leg[i])
            if start[name] in (-1, first):
                before = first - 1 if start[name] < 0 else int(leg[name])
                driven[name] += routes.road[before + 1 : here + 1].tolist()
            elif routes.road[here] != driven[name][-1]:
                driven[name].append(int(routes.road[here]))
            way = [*driven[name], *routes.road[here + 1 : veh.route_end[i]].tolist()]
            assert not banned_part(way, world.network.banned_from)
            leg[name], start[name] = here, first
            if veh.minds[i]:
                changed.add(name)
    assert len(changed) > 50


def test_new_ways_are_the_cheapest_from_the_roads_driven_so_far(busy):
    world, plain, banned = busy
    network, net, veh, routes = world.network, world.network.arrays, world.sim.veh, world.sim.routes
    graph, desk = kept_desk(network, CAR)
    world.sim.sort()
    slots = world.sim.order.slot[: world.sim.n]
    at = (
        (veh.lane[slots] < network.n_road_lanes) & (veh.leg[slots] >= 0) & (veh.granted[slots] == 0)
    )
    slots = slots[at]
    slots = slots[routes.road[veh.leg[slots]] == net.lanes.road[veh.lane[slots]]]
    ways, length = np.full((slots.size, 512), -1, np.int32), np.zeros(slots.size, np.int32)
    desk.stamp = reroute(
        net, veh, world.sim.types, routes, world.sim.order, graph, desk.scratch, table(),
        np.ones(network.n_roads), slots, CAR, -1, 3, desk.stamp, ways, length,
        np.zeros(slots.size, np.int32),
    )  # fmt: skip
    checked = kept_off = 0
    for row in np.flatnonzero(length > 0).tolist():
        i, way = slots[row], ways[row, : length[row]].tolist()
        driven = routes.road[veh.route_start[i] : veh.leg[i]].tolist()
        first = next((k for k in range(1, len(way)) if net.roads.length[way[k]] >= 10.0), 1)
        behind = (*driven, *way[: first + 1])
        goal = way[-1]
        assert goal == routes.road[veh.route_end[i] - 1]
        assert not banned_part([*driven, *way], network.banned_from)
        if veh.stop[i] < veh.stop_end[i]:
            continue
        wanted = cheapest(plain, banned, behind, [goal])
        assert price(plain, way[first:]) == pytest.approx(wanted, rel=1e-12)
        checked += 1
        kept_off += wanted > cheapest(plain, banned, behind[-1:], [goal]) + 1e-9
    assert checked > 50
    assert kept_off > 0


# Drafts


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (("r0", "r1", "rx"), "banned sequence of roads 'r0' 'r1' 'rx': unknown road 'rx'; add it"),
        (("r0", "r1"), "banned sequence of roads 'r0' 'r1': 2 roads; give 3 to 32"),
        ((), "banned sequence of roads : 0 roads; give 3 to 32"),
        (("r0", "r2", "r1"), "'r0' does not lead to 'r2'; correct it"),
    ],
)
def test_a_sequence_that_no_network_can_have_is_refused(way, message):
    draft = chain(line(0, 100), line(110, 200), line(210, 300))
    draft.banned = [("r0", "r1", "r2"), way]
    with pytest.raises(NetworkError) as caught:
        finish(draft)
    assert message in str(caught.value)


def test_sequences_too_long_or_too_many_are_refused():
    index, ends = {"a": 0}, np.zeros(1, np.int32)
    with pytest.raises(NetworkError, match=rf"{LONGEST + 1} roads; give 3 to {LONGEST}"):
        packed_ways([("a",) * (LONGEST + 1)], index, ends, ends)
    with pytest.raises(NetworkError, match="more than 1000000 roads in banned sequences"):
        packed_ways((("a",) * LONGEST for _ in range(40_000)), index, ends, ends)


def test_a_sequence_over_a_road_that_a_fix_closes_is_dropped(tmp_path):
    draft = chain(line(0, 100), line(110, 200), line(210, 300), line(310, 400))
    draft.banned = [("r0", "r1", "r2"), ("r1", "r2", "r3")]
    fixes = tmp_path / "fixes.toml"
    fixes.write_text('close."r0" = true')
    fix_draft(draft, read_fixes(fixes))
    assert draft.banned == [("r1", "r2", "r3")]
    assert finish(draft).banned.road.tolist() == [0, 1, 2]
