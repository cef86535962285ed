"""Each movement wants the gap of its kind: at a stop or a yield sign, into a roundabout, across green."""

import numpy as np
import pytest
from network_drafts import chain, crossing, line
from planted_world import PlantedWorld

from rushhour.kernels.core.network import LEFT, NONE, RIGHT, SIGNAL, STRAIGHT, YIELD
from rushhour.kernels.core.vehicles import FREE, LEADER
from rushhour.kernels.driving.speeds_ahead import SIGHT_SPEED
from rushhour.kernels.junctions.gap_acceptance import prior_vehicle
from rushhour.roadnets.build import finish
from rushhour.roadnets.by_hand.builder import NetworkBuilder
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.opposites import one_way_roads
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

TURNS = {LEFT: "left", STRAIGHT: "straight", RIGHT: "right"}


def gaps_by_turn(control: str, minor: bool = True, **options: object) -> dict[str, set[float]]:
    """Critical gaps (s) of the movements that yield, by turn; from the minor legs, else the major."""
    network = generate("cross", control=control, **options)
    net = network.arrays
    found: dict[str, set[float]] = {}
    gaps = World(network).sim.grants.critical_gap
    for k in np.flatnonzero(gaps > 0.0).tolist():
        lane = network.lane_ids[net.connectors.from_lane[k]]
        if (lane[0] in "NS") == minor:
            turn = int(net.connectors.turn[k])
            found.setdefault(TURNS[turn], set()).add(float(gaps[k]))
    return found


@pytest.mark.parametrize(("control", "kind"), [("two_way_stop", "gap"), ("yield", "gap_yield")])
def test_a_minor_road_wants_the_gaps_of_its_sign(control, kind):
    number = Parameters().number
    want = {turn: {number(f"right_of_way.{kind}_{turn}")} for turn in TURNS.values()}
    assert gaps_by_turn(control) == want


@pytest.mark.parametrize("control", ["two_way_stop", "yield"])
def test_a_left_turn_from_the_major_road_wants_a_gap_of_its_own(control):
    want = Parameters().number("right_of_way.gap_major_left")
    assert gaps_by_turn(control, minor=False) == {"left": {want}}


def test_lefts_across_green_want_the_permissive_gap():
    want = Parameters().number("right_of_way.gap_permissive")
    assert gaps_by_turn("signals")["left"] == {want}


def test_the_entries_of_a_roundabout_are_gentle_and_no_others():
    network = generate("cross", control="roundabout")
    net, grants = network.arrays, World(network).sim.grants
    entries = grants.critical_gap > 0.0
    assert (grants.critical_gap[entries] == Parameters().number("right_of_way.gap_yield")).all()
    assert (grants.zips == entries).all()
    roads = {
        network.road_ids[net.lanes.road[net.connectors.from_lane[k]]]
        for k in np.flatnonzero(entries)
    }
    assert len(roads) == 4  # one of each leg, none of the ring
    for control in ("two_way_stop", "yield", "signals", "all_way_stop"):
        assert not World(generate("cross", control=control)).sim.grants.zips.any()


def test_a_block_of_one_way_streets_is_no_roundabout():
    """Round it 4 x 120 m: farther than any ring."""
    import rushhour as rh

    builder = rh.NetworkBuilder("block")
    corners = [(0.0, 0.0), (120.0, 0.0), (120.0, 120.0), (0.0, 120.0)]
    for i, start in enumerate(corners):
        builder.add_road([start, corners[(i + 1) % 4]], speed=13.9, id=f"side{i}", priority=1)
        out = (start[0] * 2.0 - 60.0, start[1] * 2.0 - 60.0)
        builder.add_road([out, start], speed=13.9, id=f"in{i}")
        builder.add_road([start, (out[0] + 10.0, out[1])], speed=13.9, id=f"out{i}")
        builder.add_intersection(*start, control="yield", id=f"corner{i}")
    grants = World(builder.build()).sim.grants
    assert (grants.critical_gap > 0.0).any()
    assert not grants.zips.any()


@pytest.mark.parametrize(
    ("arms", "ranks", "control", "unposted"),
    [
        ("enws", {}, "yield", True),
        ("enw", {}, "yield", True),
        ("enws", {"e": 2, "w": 2}, "yield", False),
        ("enw", {"e": 2, "w": 2}, "yield", False),
        ("enw", {"e": 2, "n": 2}, "yield", False),  # the road that goes first turns
        ("enws", {"e": 2, "w": 2}, "stop", False),
        ("enws", {}, "signals", False),
        ("enws", {}, "all_way_stop", False),
        ("enws", {}, "roundabout", False),
        ("ew", {}, "yield", False),
    ],
)
@pytest.mark.parametrize("lanes", [1, 2])
def test_a_crossing_is_unposted_where_no_road_goes_first(arms, ranks, control, unposted, lanes):
    ends = {"e": (200.0, 0.0), "n": (0.0, 200.0), "w": (-200.0, 0.0), "s": (0.0, -200.0)}
    builder = NetworkBuilder()
    builder.add_intersection(0.0, 0.0, control=control, id="x")
    ways = 1 if control == "roundabout" else lanes  # as many as a ring has
    for arm in arms:
        builder.add_street([ends[arm], (0.0, 0.0)], ways, ways, priority=ranks.get(arm, 1))
    assert World(builder.build()).sim.grants.unposted.any() == unposted


@pytest.mark.parametrize(
    ("speed", "reason", "counts"),
    [(0.0, LEADER, False), (0.0, FREE, True), (0.5, LEADER, False), (4.0, LEADER, True)],
)
@pytest.mark.parametrize("road", ["r0", "joint"])
def test_who_stands_behind_somebody_farther_back_has_no_priority_yet(road, speed, reason, counts):
    """It stood there for a rear beside its way, whose driver waited for the one who yielded to it; or
    closed up slowly to a queue."""
    draft = chain(line(-200, -17), line(-12, -10), line(10, 100))
    draft.intersections[2].control = YIELD
    draft.intersections += [
        DraftIntersection(name, 0.0, y, NONE) for name, y in (("s", -100.0), ("n", 100.0))
    ]
    for name, ends, y in (("side", ("s", "j2"), -100.0), ("on", ("j2", "n"), 10.0)):
        lane = DraftLane(f"{name}_0", np.array([(0.0, y), (0.0, y + 90.0)]), 13.9)
        draft.roads.append(DraftRoad(name, *ends, [lane], priority=1))
    draft.connectors.append(DraftConnector("side", 0, "on", 0))
    network = finish(draft)
    c = network.arrays.connectors
    joint, o = (
        int(np.flatnonzero(c.from_lane == network.lane_index[name])[0]) for name in ("r0_0", "r1_0")
    )
    assert c.free[joint] and not c.free[o]
    world = PlantedWorld(network)
    if road == "joint":
        slot = world.put(joint, 4.0, speed, [o])
    else:
        slot = world.put("r0_0", 182.0, speed, [joint, o])
    world.sim.veh.reason[slot] = reason
    found = prior_vehicle(
        network.arrays, world.sim.veh, world.sim.types, world.order(), world.sim.grants, o, 5.0, 8.0
    )
    assert found == (slot if counts else -1)


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
@pytest.mark.parametrize(
    ("control", "side", "slows"), [(YIELD, "s", True), (YIELD, "w", False), (SIGNAL, "s", False)]
)
def test_who_yields_could_stop_until_it_sees_who_goes_first(control, side, slows, dt):
    """Nobody else is there: who goes straight on from the minor road still comes to the place from
    which it sees the others so slowly that it could stop there."""
    draft = crossing(control)
    for road in draft.roads:
        road.priority = 1 if road.id[-1] in "ns" else 2
    if control == SIGNAL:
        draft.signals.append(DraftSignal("c", [(90.0, "G" * len(draft.connectors))]))
        for link, connector in enumerate(draft.connectors):
            connector.signal, connector.link = "c", link
    network = finish(draft)
    index, other = network.road_index, {"s": "n", "w": "e"}[side]
    builder = DemandBuilder()
    builder.add(Trip("one", 0.0, VehicleType(), (index[f"in_{side}"], index[f"out_{other}"])))
    world = World(network, builder.build(), dt=dt, seed=1)
    lane = network.arrays.roads.first_lane[index[f"in_{side}"]]
    before, slowest = 0.0, np.inf  # m/s, on the first half of the road, and then
    while not world.done:
        world.step()
        if world.vehicles.lane[:1].tolist() == [lane]:
            if world.vehicles.s[0] < 55.0:
                before = world.vehicles.speed[0]
            else:
                slowest = min(slowest, world.vehicles.speed[0])
    assert before > 12.0
    wanted = SIGHT_SPEED if slows else before
    assert slowest == pytest.approx(wanted, abs=4.5 * dt + 0.1)


def block(split: bool, both: bool):
    """Four crossings in a square with an arm each; round it streets in one or in both directions, whose
    directions are divided 12 m before their ends or not."""
    draft = Draft("block", "test")
    corners = {"a": (0.0, 0.0), "b": (80.0, 0.0), "c": (80.0, 80.0), "d": (0.0, 80.0)}
    around = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    pairs = around + ([(v, u) for u, v in around] if both else [])
    for name, (x, y) in corners.items():
        draft.intersections.append(DraftIntersection(name, x, y, YIELD))
        draft.intersections.append(
            DraftIntersection(f"{name}x", 2.0 * x - 40.0, 2.0 * y - 40.0, NONE)
        )
    pieces = [(u, v) for n in corners for u, v in ((n, f"{n}x"), (f"{n}x", n))]
    place = {i.id: np.array([i.x, i.y]) for i in draft.intersections}
    for u, v in pairs:
        if not split:
            pieces.append((u, v))
            continue
        far = place[v] - 12.0 * (place[v] - place[u]) / 80.0
        draft.intersections.append(DraftIntersection(f"{u}{v}", *far.tolist(), NONE))
        place[f"{u}{v}"] = far
        pieces += [(u, f"{u}{v}"), (f"{u}{v}", v)]
    for u, v in pieces:
        along = (place[v] - place[u]) / np.hypot(*(place[v] - place[u]))
        side = 1.6 * np.array([along[1], -along[0]])
        shape = np.array([place[u] + 4.0 * along + side, place[v] - 4.0 * along + side])
        lane = DraftLane(f"{u}>{v}_0", shape, 13.9)
        draft.roads.append(DraftRoad(f"{u}>{v}", u, v, [lane], int("x" not in u + v)))
    for x in draft.roads:
        for y in draft.roads:
            if (
                x.to_intersection == y.from_intersection
                and x.from_intersection != y.to_intersection
            ):
                draft.connectors.append(DraftConnector(x.id, 0, y.id, 0))
    return finish(draft)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_streets_round_a_block_are_a_roundabout_only_where_they_are_one_way(split, both):
    """A street whose directions are divided at other places, as before turn lanes, is none the less two-way:
    whole towns were taken for roundabouts, entered by the gaps of these."""
    network = block(split, both)
    inner = np.array(["x" not in name for name in network.road_ids])
    assert one_way_roads(network).tolist() == (inner & (not both)).tolist()
    on_ring = World(network).sim.grants.on_ring[: network.n_road_lanes]
    assert on_ring.tolist() == (inner & (not both)).tolist()
