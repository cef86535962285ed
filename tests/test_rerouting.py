"""New ways of drivers on the road: every exit of their lane is weighed, the cheapest is taken."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from network_drafts import line

from rushhour.kernels.core.network import NONE
from rushhour.kernels.core.vehicles import PATH
from rushhour.kernels.rerouting.other_exits import EXITS, Exits, exits_near, reroute
from rushhour.kernels.routing.way_ahead import QUEUE_SPACE, TOO_SHORT
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import find_ways, kept_desk
from rushhour.traffic.sim.state import new_order
from rushhour.traffic.world import World

CAR = CLASS_BIT["passenger"]


@pytest.fixture(scope="module")
def world():
    """A small town in the rush hour, in the middle of a frame's work."""
    network = generate("town", size="small", seed=2)
    world = World(network, random_trips(network, 400, 200.0, seed=1), dt=0.5, routing="free-flow")
    world.step(500)
    world.sim.sort()
    return world


def table(size: int = EXITS) -> Exits:
    return Exits(
        lane=np.zeros(size + 1, np.int32),
        roads=np.zeros((size + 1, PATH), np.int32),
        steps=np.zeros(size + 1, np.int32),
        full=np.zeros(size + 1, np.bool_),
        seen=np.zeros(size, np.int32),
    )


def drivers_of(world) -> np.ndarray:
    veh = world.sim.veh
    slots = world.sim.order.slot[: world.sim.n]
    on_road = (veh.lane[slots] < world.network.n_road_lanes) & (veh.granted[slots] == 0)
    here = slots[on_road & (veh.leg[slots] >= 0)]
    return here[
        world.sim.routes.road[veh.leg[here]] == world.network.arrays.lanes.road[veh.lane[here]]
    ]


def exits_of(world, lane: int, avoid: int) -> dict[int, bool]:
    """Lanes that a lane leads to, through short roads, each with whether it or one before is full."""
    net, order = world.network.arrays, world.sim.order
    found = {}
    open_lanes = [(lane, False, 0)]
    while open_lanes:
        here, full_before, steps = open_lanes.pop()
        for k in np.flatnonzero(net.connectors.from_lane == here):
            to = int(net.connectors.to_lane[k])
            open_to = (
                net.lanes.permissions[to] & net.lanes.permissions[world.network.n_road_lanes + k]
            )
            if k == avoid or not open_to & CAR:
                continue
            n = order.start[to + 1] - order.start[to]
            full = full_before or bool(n and (n + 1) * QUEUE_SPACE > net.lanes.length[to])
            if net.roads.length[net.lanes.road[to]] >= TOO_SHORT or steps + 1 >= PATH:
                found[to] = full
            else:
                open_lanes.append((to, full, steps + 1))
    return found


def test_the_exits_of_a_lane_are_all_it_leads_to_but_the_one_to_avoid(world):
    net, order = world.network.arrays, world.sim.order
    exits = table()
    sizes, full = set(), 0
    for lane in range(world.network.n_road_lanes):
        for avoid in (-1, int(net.lanes.out_start[lane])):
            n = exits_near(net, order, lane, CAR, avoid, False, exits)
            found = {int(exits.lane[e]): bool(exits.full[e]) for e in range(n)}
            assert found == exits_of(world, lane, avoid)
            sizes.add(n)
            full += sum(found.values())
    assert {0, 1, 2, 3} <= sizes
    assert full > 0


def test_an_exit_is_followed_through_short_roads_up_to_the_first_long_one():
    draft = Draft("short roads", "test")
    ends = {"in": (0, 50), "tiny": (60, 66), "tinier": (76, 80), "a": (80, 120), "b": (90, 130)}
    for j in ("w", "j", "k", "l", "e"):
        draft.intersections.append(DraftIntersection(j, 0.0, 0.0, NONE))
    for name, start, end in (
        ("in", "w", "j"), ("tiny", "j", "k"), ("tinier", "k", "l"), ("a", "k", "e"), ("b", "l", "e")
    ):  # fmt: skip
        lane = DraftLane(f"{name}_0", line(*ends[name]), 13.9)
        draft.roads.append(DraftRoad(name, start, end, [lane]))
    for pair in (("in", "tiny"), ("tiny", "a"), ("tiny", "tinier"), ("tinier", "b")):
        draft.connectors.append(DraftConnector(pair[0], 0, pair[1], 0))
    network = finish(draft)
    empty = new_order(network.n_lanes, 8)
    exits = table()
    n = exits_near(network.arrays, empty, network.lane_index["in_0"], CAR, -1, False, exits)
    ways = {tuple(network.road_ids[r] for r in exits.roads[e, : exits.steps[e]]) for e in range(n)}
    assert ways == {("tiny", "a"), ("tiny", "tinier", "b")}


def test_exits_that_find_no_place_in_the_table_are_left_out(world):
    net, order = world.network.arrays, world.sim.order
    lane = int(np.argmax(np.diff(net.lanes.out_start[: world.network.n_road_lanes + 1])))
    whole, small = table(), table(2)
    n = exits_near(net, order, lane, CAR, -1, False, whole)
    kept = exits_near(net, order, lane, CAR, -1, False, small)
    assert 0 < kept <= 2 < n
    assert set(small.lane[:kept].tolist()) <= set(whole.lane[:n].tolist())


def test_drivers_are_given_the_cheapest_way_by_an_exit_with_room_before_any_by_a_full_one(world):
    network, net, veh, routes = world.network, world.network.arrays, world.sim.veh, world.sim.routes
    graph, desk = kept_desk(network, CAR)
    slots = drivers_of(world)
    assert slots.size > 100
    ways = np.full((slots.size, 512), -1, np.int32)
    length = np.zeros(slots.size, np.int32)
    desk.stamp = reroute(
        net, veh, world.sim.types, routes, world.sim.order, graph, desk.scratch, table(),
        np.ones(network.n_roads), slots, CAR, -1, 0, desk.stamp, ways, length,
        np.zeros(slots.size, np.int32),
    )  # fmt: skip
    rerouted = 0
    for row, i in enumerate(slots):
        avoid = int(veh.path[i, 0])
        goal = int(routes.road[veh.route_end[i] - 1])
        found = exits_of(world, int(veh.lane[i]), avoid)
        open_exits = [lane for lane, full in found.items() if not (full and avoid >= 0)]
        best = (True, inf)
        for lane in open_exits:
            start = np.array([net.lanes.road[lane]], np.int32)
            cost = float(
                find_ways(road_graph(network, CAR), start, np.array([goal], np.int32)).cost[0]
            )
            if cost < inf:
                best = min(best, (found[lane], cost))
        if best[1] == inf:
            assert length[row] == 0
            continue
        rerouted += 1
        way = ways[row, : length[row]]
        assert way[0] == net.lanes.road[veh.lane[i]]
        assert way[-1] == goal
        driven = find_cost(graph, way[1:])
        assert driven == pytest.approx(best[1], abs=1e-9)
        firsts = {int(net.lanes.road[lane]) for lane in open_exits if found[lane] == best[0]}
        assert int(way[1]) in firsts
    assert rerouted > 50


def find_cost(graph, way) -> float:
    """Cost of a way without its first road's own; fails where two roads are not connected."""
    total = 0.0
    for road, ahead in pairwise(way.tolist()):
        first, last = graph.out_start[road], graph.out_start[road + 1]
        e = first + int(np.flatnonzero(graph.out[first:last] == ahead)[0])
        total += graph.turn_cost[e] + graph.cost[ahead]
    return float(total)


def test_a_way_that_is_longer_than_its_place_asks_for_a_longer_one(world):
    network, veh = world.network, world.sim.veh
    graph, desk = kept_desk(network, CAR)
    slots = drivers_of(world)
    wide, narrow = np.zeros((slots.size, 512), np.int32), np.zeros((slots.size, 3), np.int32)
    lengths = []
    for ways in (wide, narrow):
        length = np.zeros(slots.size, np.int32)
        desk.stamp = reroute(
            network.arrays, veh, world.sim.types, world.sim.routes, world.sim.order, graph, desk.scratch,
            table(), np.ones(network.n_roads), slots, CAR, -1, 0, desk.stamp, ways, length,
            np.zeros(slots.size, np.int32),
        )  # fmt: skip
        lengths.append(length)
    long = lengths[0] > 3
    assert long.any()
    np.testing.assert_array_equal(lengths[1], np.where(long, -lengths[0], lengths[0]))
