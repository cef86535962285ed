"""Restrictions over roads between intersections: nobody is routed over them, everybody else may turn."""

import heapq
from dataclasses import replace
from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np
import pytest
from checked_runs import driven
from osm_texts import street, turns, write_osm

from rushhour.roadnets.banned import banned_part, none_banned
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.osm.network import read_osm_draft
from rushhour.roadnets.storage import load, save
from rushhour.traffic.demand.builder import Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.tables import read_trips
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import find_ways, route_demand, route_trips
from rushhour.traffic.sumo.demand import read_demand

pytest.importorskip("osmium")

# Two streets to the north, 12 between them; all ends in the east and south lead on to each other.
SQUARE = {1: (0.0, 0.0), 2: (100.0, 0.0), 3: (-300.0, 0.0), 4: (0.0, 300.0), 5: (100.0, 300.0),
          6: (400.0, 0.0), 7: (100.0, -300.0), 8: (400.0, -300.0)}  # fmt: skip
WEST, NORTH, VIA, LEFT, EAST, SOUTH = range(10, 16)
WAYS = [(WEST, [3, 1], street()), (NORTH, [4, 1], street()), (VIA, [1, 2], street()),
        (LEFT, [2, 5], street()), (EAST, [2, 6], street()), (SOUTH, [6, 8, 7, 2], street())]  # fmt: skip


def restriction(rule: str, start: int, vias: list[int], to: int, ref: int = 1):
    members = [("way", "from", start), *(("way", "via", via) for via in vias), ("way", "to", to)]
    return ref, members, {"type": "restriction", "restriction": rule}


def draft_of(folder: Path, nodes, ways, *relations):
    return read_osm_draft(write_osm(folder, nodes, ways, None, list(relations)))


def way_between(network, start: str, goal: str) -> list[str]:
    index = network.road_index
    ways = route_trips(network, [index[start]], [index[goal]])
    return [network.road_ids[road] for road in ways.roads]


def test_who_comes_from_the_street_drives_round_and_others_turn(tmp_path: Path):
    draft = draft_of(tmp_path, SQUARE, WAYS, restriction("no_left_turn", WEST, [VIA], LEFT))
    assert draft.banned == [("10#0", "12#0", "13#0")]
    assert [one.message for one in draft.findings if one.check == "L09"] == []
    network = finish(draft)
    assert ("12#0", "13#0") in turns(network)
    assert way_between(network, "11#0", "13#0") == ["11#0", "12#0", "13#0"]
    assert way_between(network, "12#0", "13#0") == ["12#0", "13#0"]
    round_trip = ["10#0", "12#0", "-15#0", "-14#0", "13#0"]
    assert way_between(network, "10#0", "13#0") == round_trip
    save(network, tmp_path / "map.h5")
    again = load(tmp_path / "map.h5")
    assert way_between(again, "10#0", "13#0") == round_trip


def test_only_bans_every_other_exit_for_those_from_the_street(tmp_path: Path):
    rule = restriction("only_straight_on", WEST, [VIA], EAST)
    draft = draft_of(tmp_path, SQUARE, WAYS, rule)
    (south,) = {b for a, b in turns(finish(draft)) if a == "12#0"} - {"13#0", "14#0"}
    assert set(draft.banned) == {("10#0", "12#0", "13#0"), ("10#0", "12#0", south)}


def test_only_bans_the_turn_back_too(tmp_path: Path):
    tags = street("primary", lanes="3", turn__lanes__forward="reverse;left|through;right",
                  lanes__forward="2", lanes__backward="1")  # fmt: skip
    ways = [way if way[0] != VIA else (VIA, way[1], tags) for way in WAYS]
    rule = restriction("only_straight_on", WEST, [VIA], EAST)
    draft = draft_of(tmp_path, SQUARE, ways, rule)
    assert ("12#0", "-12#0") in turns(finish(draft))
    assert ("10#0", "12#0", "-12#0") in draft.banned


def test_several_ways_and_overlapping_restrictions_are_all_held(tmp_path: Path):
    """One over two ways, one that begins within it and goes on one street further."""
    nodes = {**SQUARE, 9: (250.0, 0.0), 16: (250.0, 300.0)}
    ways = [*WAYS[:4], (EAST, [2, 9], street()), (20, [9, 6], street()), (21, [9, 16], street()),
            WAYS[5]]  # fmt: skip
    draft = draft_of(
        tmp_path, nodes, ways,
        restriction("no_left_turn", WEST, [VIA, EAST], 21),
        restriction("no_straight_on", VIA, [EAST], 20, 2),
    )  # fmt: skip
    on = "-15#0"  # 20 and 15 are one street
    assert draft.banned == [("10#0", "12#0", "14#0", "21#0"), ("12#0", "14#0", on)]
    network = finish(draft)
    assert way_between(network, "10#0", "21#0") == ["10#0", "12#0", "15#0", "21#0"]
    assert way_between(network, "11#0", "21#0") == ["11#0", "12#0", "14#0", "21#0"]


DUAL = {1: (0.0, 6.0), 2: (0.0, -6.0), 3: (-300.0, 6.0), 4: (300.0, 6.0), 5: (-300.0, -6.0),
        6: (300.0, -6.0), 7: (0.0, 300.0), 8: (0.0, -300.0), 9: (150.0, -6.0),
        10: (150.0, -300.0)}  # fmt: skip
MAIN = street("primary", oneway="yes", lanes="2")
DUAL_WAYS = [(10, [4, 1, 3], MAIN), (11, [5, 2], MAIN), (15, [2, 9], MAIN), (16, [9, 6], MAIN),
             (12, [7, 1], street()), (13, [1, 2], street()), (14, [2, 8], street()),
             (17, [9, 10], street())]  # fmt: skip


def test_a_street_within_an_intersection_stands_for_those_who_come_over_it(tmp_path: Path):
    """13 lies between the carriageways: who comes over it came from the north, or turned back."""
    rule = restriction("no_right_turn", 13, [15], 17)
    draft = draft_of(tmp_path, DUAL, DUAL_WAYS, rule)
    into = {a for a, b in turns(finish(draft)) if b == "15#0"}
    assert set(draft.banned) == {(a, "15#0", "17#0") for a in into - {"11#0", "-14#0"}}
    assert ("12#0", "15#0", "17#0") in draft.banned


def test_a_street_within_the_next_intersection_stands_for_what_it_leads_to(tmp_path: Path):
    """From 17 by 16 westward over 13: every road that is reached over it is banned."""
    ways = [(10, [4, 18], MAIN), (15, [18, 1], MAIN), (16, [1, 3], MAIN), (17, [19, 18], street()),
            (11, [5, 2, 6], MAIN), (12, [7, 1], street()), (13, [1, 2], street()),
            (14, [2, 8], street())]  # fmt: skip
    nodes = {**DUAL, 18: (150.0, 6.0), 19: (150.0, 300.0)}
    rule = restriction("no_left_turn", 17, [15], 13)
    draft = draft_of(tmp_path, nodes, ways, rule)
    pairs = turns(finish(draft))
    over = {b for a, b in pairs if a == "15#0"} - {"16#0", "-12#0"}
    assert {"14#0"} <= over
    assert set(draft.banned) == {("17#0", "15#0", b) for b in over}


def test_a_left_hand_map_bans_the_roads_that_it_names(tmp_path: Path):
    nodes = {ref: (x, -y) for ref, (x, y) in SQUARE.items()}
    ways = [(ref, refs, {**tags, "driving_side": "left"}) for ref, refs, tags in WAYS]
    draft = draft_of(tmp_path, nodes, ways, restriction("no_right_turn", WEST, [VIA], LEFT))
    assert draft.left_hand
    assert draft.banned == [("10#0", "12#0", "13#0")]
    assert "12#0" in way_between(finish(draft), "11#0", "13#0")


def test_sequences_over_roads_that_are_left_out_are_left_out(tmp_path: Path):
    """Nobody can come to the first street: two streets lead away from its start, none to it."""
    nodes = {**SQUARE, 9: (-300.0, 300.0)}
    ways = [(WEST, [3, 1], street(oneway="yes")), *WAYS[1:], (30, [3, 9, 4], street(oneway="yes"))]
    rule = restriction("no_left_turn", WEST, [VIA], LEFT)
    draft = draft_of(tmp_path, nodes, ways, rule)
    assert "10#0" not in {road.id for road in draft.roads}
    assert draft.banned == []
    finish(draft)


# A grid of streets with restrictions at random, against a search by ways.

SIDE = 4


def grid_of_ways():
    """SIDE x SIDE nodes 200 m apart, a way for every street between two and one out of each corner."""
    nodes = {1 + i + SIDE * j: (200.0 * i, 200.0 * j) for i in range(SIDE) for j in range(SIDE)}
    pairs = [(a, b) for a in nodes for b in (a + 1, a + SIDE)
             if b in nodes and (b == a + SIDE or a % SIDE)]  # fmt: skip
    for corner in (1, SIDE, 1 + SIDE * (SIDE - 1), SIDE * SIDE):  # or its two streets were one
        x, y = nodes[corner]
        nodes[100 + corner] = (1.5 * x - 150.0, y)
        pairs.append((corner, 100 + corner))
    return nodes, [(100 + k, [a, b], street()) for k, (a, b) in enumerate(pairs)]


def drawn_rules(ways, draw, count: int):
    """Random restrictions over one or two via ways; and what each bans, as sequences of ways.

    A road is (way, whether along it); an only_ restriction bans each other exit of the last via.
    """
    roads = {(ref, True): refs for ref, refs, _ in ways}
    roads |= {(ref, False): refs[::-1] for ref, refs, _ in ways}
    after = {a: [b for b in roads if roads[b][0] == roads[a][1] and b[0] != a[0]] for a in roads}
    relations, banned = [], set()
    for k in range(count):
        way = [sorted(roads)[int(draw.integers(len(roads)))]]
        for _ in range(int(draw.integers(2, 4))):
            if after[way[-1]]:
                way.append(after[way[-1]][int(draw.integers(len(after[way[-1]])))])
        if len({ref for ref, _ in way}) < len(way) or len(way) < 3:
            continue
        only = draw.random() < 0.3
        rule = "only_straight_on" if only else "no_left_turn"
        vias = [ref for ref, _ in way[1:-1]]
        relations.append(restriction(rule, way[0][0], vias, way[-1][0], 1 + k))
        others = [b for b in after[way[-2]] if b != way[-1]] if only else [way[-1]]
        banned |= {(*way[:-1], b) for b in others}
    return relations, banned


def cheapest(graph, names, banned, start: int) -> dict[int, float]:
    """Cost from a road to every other, by Dijkstra over the last four roads. names: of the roads."""
    best: dict[int, float] = {}
    known = set()
    heap = [(0.0, (start,))]
    while heap:
        cost, way = heapq.heappop(heap)
        if way in known:
            continue
        known.add(way)
        best.setdefault(way[-1], cost)
        for e in range(graph.out_start[way[-1]], graph.out_start[way[-1] + 1]):
            onward = (*way, int(graph.out[e]))
            driven_now = tuple(names[road] for road in onward)
            if any(driven_now[k:] in banned for k in range(len(onward))):
                continue
            price = cost + float(graph.turn_cost[e]) + float(graph.cost[onward[-1]])
            heapq.heappush(heap, (price, onward[-4:]))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_routes_of_random_maps_are_the_cheapest_that_the_restrictions_allow(tmp_path: Path, seed):
    nodes, ways = grid_of_ways()
    relations, banned = drawn_rules(ways, np.random.default_rng(seed), 25)
    network = finish(draft_of(tmp_path, nodes, ways, *relations))
    assert network.banned.start.size > 10
    names = [(int(name.lstrip("-").split("#")[0]), name[0] != "-") for name in network.road_ids]
    graph = road_graph(network, CLASS_BIT["passenger"])
    plain = road_graph(replace(network, banned=none_banned(), derived={}), CLASS_BIT["passenger"])
    n = network.n_roads
    goals = np.arange(n, dtype=np.int32)
    dearer = 0
    for start in range(0, n, 4):
        best = cheapest(plain, names, banned, start)
        starts = np.full(n, start, np.int32)
        cost = find_ways(graph, starts, goals).cost
        np.testing.assert_allclose(cost, [best.get(goal, inf) for goal in range(n)], rtol=1e-12)
        dearer += int((cost > find_ways(plain, starts, goals).cost + 1e-9).sum())
    assert dearer > 10


# On the road


def test_drivers_whose_quickest_way_is_banned_arrive_by_another(tmp_path: Path):
    draft = draft_of(tmp_path, SQUARE, WAYS, restriction("no_left_turn", WEST, [VIA], LEFT))
    network = finish(draft)
    index = network.road_index
    trips = [
        Trip(f"{start} {k}", 2.0 * k, VehicleType(), [index[start], index["13#0"]], routed=False)
        for k in range(20)
        for start in ("10#0", "11#0")
    ]
    world, checker = driven(network, trips, 0.25)
    assert checker.violations == {}
    assert world.arrived == 40
    for a, b in pairwise(world.demand.route_start.tolist()):
        assert not banned_part(world.demand.roads[a:b].tolist(), network.banned_from)


def test_a_given_route_that_a_restriction_bans_is_a_bad_route(tmp_path: Path):
    draft = draft_of(tmp_path, SQUARE, WAYS, restriction("no_left_turn", WEST, [VIA], LEFT))
    network = finish(draft)
    table = {"depart": [0.0], "route": ["10#0 12#0 13#0"]}
    with pytest.raises(DemandError, match="a turn restriction bans the roads '10#0' '12#0' '13#0'"):
        read_trips(table, network)
    routes = tmp_path / "banned.rou.xml"
    edges = '<vehicle id="a" depart="0"><route edges="10#0 12#0 13#0"/></vehicle>'
    routes.write_text(f"<routes>{edges}</routes>")
    with pytest.raises(
        DemandError, match="banned.rou.xml:1: vehicle 'a': a turn restriction bans the roads"
    ):
        read_demand([routes], network)
    mended = route_demand(network, read_demand([routes], network, skip_bad_trips=True))
    names = [network.road_ids[road] for road in mended.roads]
    assert names == ["10#0", "12#0", "-15#0", "-14#0", "13#0"]
    allowed = read_trips({"depart": [0.0], "route": ["11#0 12#0 13#0"]}, network)
    assert allowed.roads.size == 3
