"""Roads for those alone whose trip starts or ends there: through traffic has no way over them."""

import heapq
from dataclasses import replace
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from drawn_ways import drawn_ways, price, with_banned

from rushhour.roadnets.banned import banned_part
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.random_trips import _reached, random_trips, random_walkers
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import costs_from, find_ways, kept_desk
from rushhour.traffic.world import World

CAR = CLASS_BIT["passenger"]
TRIPS = 1200
START, OPEN, END = 0, 1, 2

# The reference: plain sets and loops.


def with_ends(network, ends_only):
    """The network with these roads only for those whose trip starts or ends there."""
    ends_only = np.array(ends_only, np.bool_)
    ends_only.flags.writeable = False  # as all of a network: kernels are compiled for that
    roads = network.arrays.roads._replace(ends_only=ends_only)
    return replace(network, arrays=network.arrays._replace(roads=roads), derived={})


def after(graph, road: int) -> list[tuple[int, float]]:
    """What follows a road, with the cost of the turn; graph: without states."""
    edges = range(graph.out_start[road], graph.out_start[road + 1])
    return [(int(graph.out[e]), float(graph.turn_cost[e])) for e in edges]


def reach(follow: list[set[int]], seeds: set[int], may: set[int]) -> set[int]:
    found, front = set(seeds), list(seeds)
    while front:
        new = (follow[front.pop()] & may) - found
        found |= new
        front += new
    return found


def allowed(plain, ends_only) -> tuple[list[set[int]], set[int]]:
    """Roads that may be driven first, in between, and last on a trip; and the core."""
    n = plain.cost.size
    ahead = [{b for b, _ in after(plain, a)} for a in range(n)]
    back = [{a for a in range(n) if b in ahead[a]} for b in range(n)]
    guests = set(np.flatnonzero(ends_only).tolist())
    every, free = set(range(n)), set(range(n)) - guests
    # Node n is the world outside.
    out = {a for a in range(n) if not ahead[a]}
    into = {b for b in range(n) if not back[b]}
    onward = [near | ({n} if a in out else set()) for a, near in enumerate(ahead)] + [into]
    before = [near | ({n} if b in into else set()) for b, near in enumerate(back)] + [out]
    parts = [reach(onward, {a}, free | {n}) & reach(before, {a}, free | {n}) for a in sorted(free)]
    core = max(parts, key=len)
    assert sum(part != core and len(part) == len(core) for part in parts) == 0
    core -= {n}
    shut_in = reach(back, core, every) - reach(back, core, free)
    shut_out = reach(ahead, core, every) - reach(ahead, core, free)
    return [guests | shut_in, free, guests | shut_out], core


def keeps(way, may: list[set[int]]) -> bool:
    """Whether a way is roads to begin on, then open ones, then roads to end on."""
    phases = {START, OPEN, END}
    for road in way:
        phases = {q for p in phases for q in range(p, 3) if road in may[q]}
    return bool(phases)


def cheapest(plain, may, start: int, banned=()) -> dict[int, float]:
    """Cost from a road to every other by Dijkstra over roads, phases and the last roads driven."""
    memory, whole = max(map(len, banned), default=2) - 1, set(banned)
    heap = [(0.0, p, (start,)) for p in (START, OPEN, END) if start in may[p]]
    known, found = set(), {}
    while heap:
        cost, phase, driven = heapq.heappop(heap)
        if (phase, driven) in known:
            continue
        known.add((phase, driven))
        found.setdefault(driven[-1], cost)
        for road, turn in after(plain, driven[-1]):
            way = (*driven, road)
            if plain.cost[road] == inf or any(way[k:] in whole for k in range(len(way))):
                continue
            for q in range(phase, 3):
                if road in may[q]:
                    heapq.heappush(heap, (cost + turn + plain.cost[road], q, way[-memory:]))
    return found


@pytest.fixture(scope="module", params=range(8))
def case(request):
    """A network with some such roads, its graph without states, phases, banned sequences."""
    draw = np.random.default_rng(request.param)
    network = generate("grid", rows=3, columns=3, lanes=1, control="all_way_stop")
    plain = road_graph(network, CAR)
    ends_only = draw.random(network.n_roads) < draw.choice([0.1, 0.15, 0.2])
    banned = drawn_ways(plain, draw, 30) if request.param % 2 else []
    network = with_banned(network, banned)
    return with_ends(network, ends_only), plain, allowed(plain, ends_only)[0], banned


def test_ways_are_the_cheapest_of_those_that_keep_through_traffic_out(case):
    network, plain, may, banned = case
    n = network.n_roads
    starts, goals = (a.ravel().astype(np.int32) for a in np.mgrid[:n:3, :n])
    ways = find_ways(road_graph(network, CAR), starts, goals)
    best = {start: cheapest(plain, may, start, banned) for start in range(0, n, 3)}
    wanted = [best[a].get(b, inf) for a, b in zip(starts.tolist(), goals.tolist(), strict=True)]
    np.testing.assert_allclose(ways.cost, wanted, rtol=1e-12)
    for a, b in pairwise(ways.start):
        way = ways.roads[a:b].tolist()
        assert keeps(way, may)
        assert not banned_part(way, network.banned_from)
        assert not way or way[0] == way[-1] or price(plain, way) > 0.0
    free = find_ways(plain, starts, goals)
    broken = sum(not keeps(free.roads[a:b].tolist(), may) for a, b in pairwise(free.start))
    assert broken > 100
    assert np.isfinite(ways.cost).sum() > 400


@pytest.mark.parametrize("seed", range(6))
def test_every_pair_with_a_way_over_a_core_that_reaches_itself_keeps_one(seed):
    draw = np.random.default_rng(seed)
    network = generate("grid", rows=3, columns=3, lanes=1, control="all_way_stop")
    plain = road_graph(network, CAR)
    n = network.n_roads
    starts, goals = (a.ravel().astype(np.int32) for a in np.mgrid[:n, :n])
    had = np.isfinite(find_ways(plain, starts, goals).cost).reshape(n, n)
    arms = ~had.any(axis=1) | ~had.any(axis=0)  # into the world outside, and from there
    ends_only = (draw.random(n) < 0.15) | (had.sum(axis=1) < 2) | (had.sum(axis=0) < 2) | arms
    network = with_ends(network, ends_only)
    _, core = allowed(plain, ends_only)
    has = np.isfinite(find_ways(road_graph(network, CAR), starts, goals).cost).reshape(n, n)
    over = had[:, sorted(core)].any(axis=1)[:, None] & had[sorted(core)].any(axis=0)
    assert over.sum() > 0.5 * n * n
    assert has[over].all()


def test_costs_from_a_road_and_what_it_reaches_are_those_of_single_ways(case):
    network, plain, _, _ = case
    graph, desk = kept_desk(network, CAR)
    goals = np.arange(network.n_roads, dtype=np.int32)
    for start in range(0, network.n_roads, 11):
        cost = find_ways(graph, np.full(goals.size, start, np.int32), goals).cost
        np.testing.assert_allclose(costs_from(graph, desk, start), cost + plain.cost[start])
        np.testing.assert_array_equal(_reached(graph, start), np.isfinite(cost))


def test_random_trips_keep_through_traffic_out(case):
    network, _, may, _ = case
    trips = random_trips(network, 300, 60.0, seed=3)
    ways = [trips.roads[a:b].tolist() for a, b in pairwise(trips.route_start.tolist())]
    assert all(keeps(way, may) for way in ways)
    assert any(network.arrays.roads.ends_only[way[0]] for way in ways)
    assert any(network.arrays.roads.ends_only[way[-1]] for way in ways)


def test_a_network_open_to_all_has_no_states():
    network = generate("grid", rows=3, columns=3, lanes=1, control="all_way_stop")
    assert not network.arrays.roads.ends_only.any()
    graph = road_graph(network, CAR)
    np.testing.assert_array_equal(graph.road_of, np.arange(network.n_roads))
    assert not graph.told_apart.any()


# Drivers who change their way, and random walkers


def some_ends(network, seed: int, share: float):
    return with_ends(network, np.random.default_rng(seed).random(network.n_roads) < share)


def test_drivers_who_change_their_way_keep_to_it():
    network = generate("town", size="small", seed=2)
    plain = road_graph(network, CAR)
    network = some_ends(network, 5, 0.15)
    may, _ = allowed(plain, network.arrays.roads.ends_only)
    drawn = random_trips(network, TRIPS, 60.0, seed=1)
    builder = DemandBuilder()
    for i, (a, b) in enumerate(pairwise(drawn.route_start.tolist())):
        route = drawn.roads[a:b].tolist()
        lane = int(network.arrays.roads.first_lane[route[len(route) // 2]])
        stop = Stop(lane, float(network.arrays.lanes.length[lane]) / 2.0, 1.0)
        stops = [stop] if i % 4 == 0 and len(route) > 2 else []
        builder.add(Trip(str(i), float(drawn.depart[i]), VehicleType(), route, stops=stops))
    world = World(network, builder.build(), dt=0.5)
    driven: dict[int, list[int]] = {}
    changed = inside = 0
    minds, lane = np.zeros(TRIPS, np.int64), np.full(TRIPS, -1)
    for _ in range(500):
        world.step()
        veh, routes = world.sim.veh, world.sim.routes
        moved = (veh.lane != lane[veh.id]) | (veh.minds != minds[veh.id])
        here = (veh.lane >= 0) & (veh.lane < network.n_road_lanes)
        for i in np.flatnonzero(moved & here).tolist():
            name, road = int(veh.id[i]), int(network.arrays.lanes.road[veh.lane[i]])
            lane[name] = veh.lane[i]
            way = driven.setdefault(name, [])
            if not way or way[-1] != road:
                way.append(road)
            if veh.minds[i] == minds[name]:
                continue
            minds[name] = veh.minds[i]
            changed += 1
            inside += bool(network.arrays.roads.ends_only[road])
            rest = routes.road[veh.leg[i] + 1 : veh.route_end[i]].tolist()
            if name % 4:  # who stops on the way may begin anew there
                assert keeps([*way, *rest], may)
    assert changed > 20
    assert inside > 0


@pytest.mark.small_world
def test_walkers_enter_such_roads_from_outside_only_where_nothing_else_leads_on():
    network = some_ends(generate("grid", rows=4, columns=4, lanes=2, control="signals"), 1, 0.3)
    net, guests = network.arrays, network.arrays.roads.ends_only
    world = World(network, random_walkers(network, 300, seed=2), dt=0.5)
    road_of, start = net.lanes.road, net.lanes.out_start
    before = np.full(300, -1)  # lane
    entered = passed = left = 0
    for _ in range(400):
        world.step()
        veh = world.sim.veh
        for i in np.flatnonzero((veh.lane >= 0) & (veh.lane < network.n_road_lanes)).tolist():
            name, lane, last = int(veh.id[i]), int(veh.lane[i]), int(before[veh.id[i]])
            before[name] = lane
            if last < 0 or road_of[last] == road_of[lane]:
                continue
            a, b = road_of[last], road_of[lane]
            left += bool(guests[a] and not guests[b])
            if guests[a]:
                continue
            others = net.roads.out[net.roads.out_start[a] : net.roads.out_start[a + 1]]
            passed += not guests[b] and bool(guests[others].any())
            if guests[b]:
                to = net.connectors.to_lane[start[last] : start[last + 1]]
                assert guests[road_of[to]].all()
                entered += not guests[others].all()  # it could not change lane in time
    assert left > 50
    assert passed > 50
    assert entered < 0.15 * passed
