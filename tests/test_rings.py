"""Rings of lanes that wait for each other are found, also over joints, and go on."""

import numpy as np
import pytest
from command_worlds import demand_of, straight
from planted_world import PlantedWorld

from rushhour.kernels.core.network import NONE, YIELD
from rushhour.kernels.core.vehicles import CONFLICT, EXIT_FULL, LANE_CHANGE, LEADER
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.liveness.ring_members import empty_before, members_of
from rushhour.traffic.liveness.rings import Ring, Rings, have_places
from rushhour.traffic.world import World

ROADS = {
    "a": ("x1", "j1", (10.0, 0.0), (20.0, 0.0)), "b": ("j1", "x2", (30.0, 10.0), (30.0, 20.0)),
    "c": ("x2", "j2", (20.0, 30.0), (10.0, 30.0)), "d": ("j2", "x1", (0.0, 20.0), (0.0, 10.0)),
    "s1": ("w", "x1", (-40.0, 0.0), (0.0, 0.0)), "s2": ("e", "x2", (70.0, 30.0), (30.0, 30.0)),
}  # fmt: skip


def ring():
    """Four roads in a circle; streets join before two of them, the other two follow by joints."""
    draft = Draft("ring", "test")
    for name in ("x1", "x2", "j1", "j2", "w", "e"):
        control = YIELD if name.startswith("x") else NONE
        draft.intersections.append(DraftIntersection(name, 0.0, 0.0, control))
    for name, (start, end, *line) in ROADS.items():
        lane = DraftLane(f"{name}_0", np.array(line), 10.0)
        draft.roads.append(DraftRoad(name, start, end, [lane]))
    for a, b in ("ab", "bc", "cd", "da", ("s1", "a"), ("s2", "c")):
        draft.connectors.append(DraftConnector(a, 0, b, 0))
    return finish(draft)


@pytest.mark.parametrize(
    ("last", "head_of_d"), [("on the joint", 9.0), ("beyond it", 1.0), ("far beyond it", 9.0)]
)
def test_a_ring_is_found_over_queues_that_stand_on_joints_or_beyond(last, head_of_d):
    network = ring()
    net = network.arrays
    n = network.n_road_lanes
    link = {
        network.lane_ids[a][0] + network.lane_ids[b][0]: k
        for k, (a, b) in enumerate(
            zip(net.connectors.from_lane, net.connectors.to_lane, strict=True)
        )
        if not network.lane_ids[a].startswith("s")
    }
    assert net.connectors.free[[link["ab"], link["cd"]]].all()
    assert not net.connectors.free[[link["bc"], link["da"]]].any()
    world = PlantedWorld(network)
    heads = [world.put("b_0", 9.0, 0.0, [link["bc"]])]
    heads.append(world.put("d_0", head_of_d, 0.0, [link["da"]]))
    follows = [world.put("a_0", 9.0, 0.0, [link["ab"]])]  # the head of a: to b by a joint
    waits_for = [heads[0]]
    world.sim.veh.length[heads[0]] = (
        22.0  # finds no place on c and its joint with somebody on d's start
    )
    if last == "on the joint":
        follows.append(world.put(link["cd"], 5.0))  # c is empty, its queue stands on the joint
        waits_for.append(heads[1])
    veh = world.sim.veh
    stands = last != "far beyond it"
    veh.stands_since[:4] = 0
    veh.full_since[:4] = -1
    veh.full_since[heads] = 0
    veh.refused[heads] = veh.reason[heads] = EXIT_FULL
    veh.reason[follows] = LEADER
    veh.blocker[follows] = veh.id[waits_for]
    rings = Rings(network, "none", 0.0, 0.5)
    order, grants = world.order(), world.sim.grants
    rings.look(veh, order, grants, 1, 0, n)
    assert [ring.waits for ring in rings.named] == ([("exit_full", "leader")] if stands else [])
    # However late it is found: it stands since the last of its members came to.
    veh.stands_since[:4] = [20, 35, 30, 10]
    late = Rings(network, "none", 0.0, 0.5)
    late.look(veh, order, grants, 400, 0, n)
    assert [(ring.since, ring.begun) for ring in late.named] == ([(400, 35)] if stands else [])
    veh.stands_since[:4] = 0
    # Also from some lanes at a time: by the slice in which its lowest lane is, once.
    for size in (1, 2):
        parts = Rings(network, "none", 0.0, 0.5)
        for first in range(0, n, size):
            parts.look(veh, order, grants, 1 + first, first, min(n, first + size))
        assert [ring.lanes for ring in parts.named] == [ring.lanes for ring in rings.named]


def swap(first: float, second: float) -> tuple[PlantedWorld, list[int]]:
    """Two on the lanes of one road, each in the other's way, at these places."""
    world = PlantedWorld(generate("straight", lanes=2, length=20.0))
    net = world.network
    slots = [world.put(net.lane_ids[0], first), world.put(net.lane_ids[1], second)]
    veh = world.sim.veh
    veh.wanted[slots] = [1, 0]
    veh.reason[slots], veh.blocker[slots], veh.stands_since[slots] = LANE_CHANGE, -1, 0
    veh.change_to[:] = -1
    return world, slots


@pytest.mark.parametrize(("first", "second"), [(12.0, 12.0), (14.0, 10.5), (10.5, 14.0)])
def test_two_that_stand_beside_each_other_and_must_swap_change_places(first, second):
    world, slots = swap(first, second)
    rings = Rings(world.network, "rotate", 0.0, 0.5)
    rings.look(world.sim.veh, world.order(), world.sim.grants, 1, 0, world.network.n_road_lanes)
    assert [ring.waits for ring in rings.named] == [("lane_change",)]
    assert world.sim.veh.change_to[slots].tolist() == [1, 0]


def test_nobody_changes_places_where_a_third_is_in_the_way():
    world, slots = swap(14.0, 10.5)
    third = world.put(world.network.lane_ids[1], 17.0)
    world.sim.veh.stands_since[third] = 0
    rings = Rings(world.network, "rotate", 0.0, 0.5)
    rings.look(world.sim.veh, world.order(), world.sim.grants, 1, 0, world.network.n_road_lanes)
    assert world.sim.veh.change_to[slots].tolist() == [-1, -1]


@pytest.mark.parametrize(("speed", "changes"), [(0.0, True), (2.0, True), (5.0, False)])
def test_nobody_changes_places_before_one_who_comes_too_fast_to_stop_behind(speed, changes):
    """Its rear would be 1.5 m beyond the lane's start; one comes onto that lane, 4 m before that."""
    network = generate("grid", rows=3, columns=3, lanes=2)
    net = network.arrays
    into = next(
        int(net.lanes.in_connector[net.lanes.in_start[lane]])
        for lane in range(network.n_road_lanes)
        if net.lanes.number[lane] == 1 and net.lanes.in_start[lane] < net.lanes.in_start[lane + 1]
    )
    lane = int(net.connectors.to_lane[into])
    world = PlantedWorld(network)
    slots = [world.put(network.lane_ids[lane - 1], 6.5), world.put(network.lane_ids[lane], 12.0)]
    veh = world.sim.veh
    veh.wanted[slots] = [lane, lane - 1]
    veh.reason[slots], veh.blocker[slots], veh.stands_since[slots] = LANE_CHANGE, -1, 0
    veh.change_to[:] = -1
    comes = network.n_road_lanes + into
    world.put(into, float(net.lanes.length[comes]) - 4.0, speed)
    rings = Rings(network, "rotate", 0.0, 0.5)
    rings.look(veh, world.order(), world.sim.grants, 1, 0, network.n_road_lanes)
    assert (veh.change_to[slots] >= 0).tolist() == [changes, True]


def test_one_of_two_changes_lane_where_a_third_is_only_in_the_others_way():
    """A bus at 12 m needs the lane on which somebody stands behind the one at 18 m, for whom the
    place before the bus is free. Neither went."""
    world, slots = swap(12.0, 18.0)
    world.sim.veh.length[slots[0]] = 12.0
    third = world.put(world.network.lane_ids[1], 10.5)
    world.sim.veh.stands_since[third] = 0
    rings = Rings(world.network, "rotate", 0.0, 0.5)
    rings.look(world.sim.veh, world.order(), world.sim.grants, 1, 0, world.network.n_road_lanes)
    assert world.sim.veh.change_to[slots].tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("body", "patient", "fits"),
    [(5.0, True, False), (5.0, False, True), (4.3, True, True), (2.0, True, True)],
)
def test_a_ring_rotates_only_where_who_comes_finds_a_place(body, patient, fits):
    """On 10 m two stand; the second, with its rear at 4 m - body, moves up by 5.5 m. Half a metre may
    stay inside, and in the end as much as does now."""
    network = ring()
    net = network.arrays
    into = next(
        k
        for k in range(net.connectors.from_lane.size)
        if network.lane_ids[net.connectors.from_lane[k]] == "d_0"
        and network.lane_ids[net.connectors.to_lane[k]] == "a_0"
    )
    world = PlantedWorld(network)
    world.put("a_0", 9.5)
    world.sim.veh.length[world.put("a_0", 4.0)] = body
    comes = world.put("d_0", 9.0, 0.0, [into])
    order = world.order()
    world.sim.veh.reason[comes], world.sim.veh.full_since[comes] = EXIT_FULL, 0
    head = members_of(network, world.sim.veh, order, [comes], [0], stop_offset=0.3)
    assert head["way"].tolist() == [into]
    assert have_places(head, patient) == fits


@pytest.mark.parametrize(
    ("exit", "stands", "metres"),
    [("c_0", None, 0.0), ("d_0", None, 10.0), ("a_0", None, 20.0), ("a_0", "c_0", 0.0)],
)
def test_the_empty_lanes_before_the_exit_of_a_long_head_are_places_in_a_ring(exit, stands, metres):
    """A bus on a roundabout of short pieces never moved on: it looked for its place beyond them."""
    network = ring()
    net = network.arrays
    ways = {
        network.lane_ids[net.connectors.from_lane[k]][0]: k
        for k in range(net.connectors.from_lane.size)
    }
    world = PlantedWorld(network)
    head = world.put("b_0", 9.0, 0.0, [ways["b"], ways["c"], ways["d"]])
    if stands is not None:
        world.put(stands, 5.0)
    lane = world.lane(exit)
    assert empty_before(network, world.sim.veh, world.order(), head, lane) == pytest.approx(metres)


@pytest.mark.parametrize(
    ("reason", "frame", "closes"),
    [
        (CONFLICT, 30, True),
        (EXIT_FULL, 30, False),
        (EXIT_FULL, 59, False),
        (EXIT_FULL, 60, True),
    ],
)
def test_a_ring_closes_up_where_a_rear_is_in_the_way_and_where_its_heads_are_let_go_in_vain(
    reason, frame, closes
):
    """Rings that only lack room turn first: a queue's rear beside the way counts as a leader, too, and no
    head that is let go moves before it does."""
    network = straight(lanes=1, length=100.0)
    world = PlantedWorld(network)
    members = [world.put("first_0", s) for s in (90.0, 82.0, 74.0)]
    veh = world.sim.veh
    veh.stands_since[:3] = 0
    veh.full_since[:3] = -1
    veh.reason[members], veh.blocker[members] = LEADER, veh.id[np.roll(members, 1)]
    veh.reason[members[0]] = reason
    veh.full_since[members[0]] = 0 if reason == EXIT_FULL else -1
    veh.closes_up[:] = 0
    rings = Rings(network, "rotate", 10.0, 0.5)
    order, grants = world.order(), world.sim.grants
    awaits = veh.id[np.roll(members, 1)].tolist()
    # Such a ring, wherever its members wait.
    rings._members = lambda *_: members_of(network, veh, order, members, awaits, stop_offset=0.3)
    rings.look(veh, order, grants, 10, 0, network.n_road_lanes)
    assert (veh.closes_up[members] == 0).all()  # it has not stood for long
    rings.look(veh, order, grants, frame, 0, network.n_road_lanes)
    assert (veh.closes_up[members] == (frame + 20 if closes else 0)).all()
    (ring,) = rings.report()
    assert ring["closed_up"] == closes


@pytest.mark.parametrize("model", ["idm", "krauss"])
def test_who_closes_up_comes_to_1_m_and_keeps_more_again_when_it_has_driven_on(model):
    network = straight(lanes=1, length=600.0)
    kind = VehicleType(model=model, speed_dev=0.0)
    world = World(network, demand_of(network, 4.0, 6, ["first", "last"], kind), dt=0.25, seed=1)
    world.step(4 * 40)
    world.stop("car0")
    world.step(4 * 90)
    veh = world.sim.veh

    def gaps():
        on = np.flatnonzero(veh.lane >= 0)
        on = on[np.argsort(-(veh.s[on] + 1e4 * veh.lane[on]))]
        return veh.s[on][:-1] - veh.length[on][:-1] - veh.s[on][1:]

    assert gaps() == pytest.approx(np.full(5, 2.0), abs=0.6)
    veh.closes_up[veh.lane >= 0] = world.frame + 40
    world.step(4 * 30)
    assert gaps() == pytest.approx(np.full(5, 1.0), abs=0.1)
    world.go_on("car0")
    world.step(4 * 12)
    world.stop("car0")
    world.step(4 * 90)
    assert gaps() == pytest.approx(np.full(5, 2.0), abs=0.6)


@pytest.mark.parametrize(
    ("lanes", "frame", "begun"),
    [({1, 2, 3, 9}, 80, 10), ({1, 2, 8, 9}, 80, 80), ({1, 2, 3, 9}, 200, 200)],
)
def test_a_ring_into_which_another_turns_has_stood_as_long(lanes, frame, begun):
    """Two rings that share most of their lanes turned into each other whenever a head chose again, and
    neither stood for long enough to be freed."""
    rings = Rings(generate("straight", lanes=1, length=20.0), "reroute", 30.0, 0.5)
    rings.named = [Ring((1, 2, 3, 4), 40, 10, until=70)]
    assert rings._begun(lanes, frame) == begun
