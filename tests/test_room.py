"""What is counted on: room beyond joints, and the way that who must change lane leaves free."""

import numpy as np
import pytest
from network_drafts import chain, line
from planted_world import PlantedWorld

from rushhour.kernels.core.network import NONE, YIELD
from rushhour.kernels.junctions.exit_room import freed, has_room
from rushhour.kernels.junctions.grant_holders import note_holder
from rushhour.kernels.junctions.queue_ends import owed
from rushhour.kernels.lanes.change_room import claim, leaves_room
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)

BODY = 5.0  # m, of a car
GAP = 2.0  # m between those who stand


def in_a_row(*lengths: float):
    """Roads one after the other through joints of 2 m, empty; and what asks what is owed on one."""
    at, shapes = 0.0, []
    for length in lengths:
        shapes.append(line(at, at + length))
        at += length + 2.0
    network = finish(chain(*shapes))
    world = PlantedWorld(network)
    lanes = [network.lane_index[f"r{i}_0"] for i in range(len(lengths))]

    def ask(lane: int) -> float:
        order = world.order()
        return owed(network.arrays, world.sim.veh, order, world.sim.grants, lanes[lane], GAP)

    return world, lanes, ask


def test_what_a_lane_before_a_joint_cannot_hold_is_owed_by_the_one_beyond():
    world, lanes, ask = in_a_row(33.0, 40.0)
    world.sim.grants.reserved[lanes[0]] = BODY + GAP
    assert ask(1) == 0.0
    for i in range(4):  # they take 28 m of 33
        world.put("r0_0", 32.0 - 7.0 * i)
    assert ask(1) == pytest.approx(2.0)
    world.sim.grants.reserved[lanes[1]] = 7.0
    assert ask(1) == pytest.approx(9.0)
    world.sim.grants.reserved[lanes[0]] = 0.0
    assert ask(1) == 7.0  # nobody was promised what the queue there lacks


def test_debts_add_up_over_a_row_of_short_roads_and_those_on_the_joints():
    world, lanes, ask = in_a_row(33.0, 0.9, 2.3, 40.0)
    for i in range(4):
        world.put("r0_0", 32.0 - 7.0 * i)
    world.sim.grants.reserved[lanes[0]] = 2 * (BODY + GAP)
    assert ask(1) == pytest.approx(9.0)
    assert ask(2) == pytest.approx(9.0 - 0.9)
    assert ask(3) == pytest.approx(9.0 - 0.9 - 2.3)
    joint = int(world.network.arrays.lanes.in_connector[
        world.network.arrays.lanes.in_start[lanes[1]]
    ])  # fmt: skip
    world.put(joint, 1.0)
    assert ask(1) == pytest.approx(9.0 + BODY + GAP)


@pytest.mark.parametrize(("standing", "free"), [(0, 14.0), (4, 7.0), (5, 0.0)])
def test_those_who_go_on_over_a_joint_free_their_lane_as_far_as_there_is_room(standing, free):
    """Two before the joint; beyond, of 40 m, those who stand there leave 40, 12 or 5 m."""
    world, lanes, _ = in_a_row(33.0, 40.0)
    joint = int(world.network.arrays.lanes.out_start[lanes[0]])
    for s in (30.0, 20.0):
        world.put("r0_0", s, 5.0, [joint])
    for i in range(standing):
        world.put("r1_0", 39.0 - 7.0 * i)
    order = world.order()
    assert freed(world.network.arrays, world.sim.veh, order, lanes[0], GAP) == free
    world.sim.veh.path[0, 0] = -1  # the first does not go on
    assert freed(world.network.arrays, world.sim.veh, order, lanes[0], GAP) == 0.0


def test_a_lane_that_a_grant_leads_beyond_is_known():
    network = short_road()
    net = network.arrays
    ways = [int(net.lanes.out_start[network.lane_index[name]]) for name in ("in_0", "mid_1")]
    world = PlantedWorld(network)
    i = world.put("in_0", 50.0, 0.0, ways)
    assert not net.connectors.free[ways].any()
    for granted in (1, 2):
        world.sim.veh.granted[i] = granted
        world.sim.grants.crossed[:] = False
        note_holder(net, world.sim.veh, world.sim.grants, world.sim.rules, i)
        assert world.sim.grants.crossed[network.lane_index["mid_0"]] == (granted == 2)


def short_road():
    """From w over a yield line to a road of 24 m with two lanes, of which the left leads on."""
    draft = Draft("short", "test")
    for name, x in (
        ("w", -100.0),
        ("v", -90.0),
        ("x", 0.0),
        ("u", 20.0),
        ("y", 30.0),
        ("e", 100.0),
    ):
        draft.intersections.append(DraftIntersection(name, x, 0.0, YIELD if name in "xy" else NONE))
    for name, start, end, count, *ends in (
        ("in", "w", "x", 1, -100.0, 0.0), ("side", "v", "x", 1, -90.0, -1.0), ("late", "u", "y", 1, 20.0, 29.0), ("mid", "x", "y", 2, 3.0, 27.0),
        ("on", "y", "e", 1, 33.0, 100.0),
    ):  # fmt: skip
        lanes = [
            DraftLane(f"{name}_{i}", np.array([(x, 3.2 * i) for x in ends]), 10.0)
            for i in range(count)
        ]
        draft.roads.append(DraftRoad(name, start, end, lanes))
    draft.connectors.append(DraftConnector("in", 0, "mid", 0))
    draft.connectors.append(DraftConnector("side", 0, "mid", 0))
    draft.connectors.append(DraftConnector("mid", 1, "on", 0))
    draft.connectors.append(DraftConnector("late", 0, "on", 0))
    return finish(draft)


@pytest.mark.parametrize("leaves_by_changing", [True, False])
def test_who_must_change_lane_on_a_short_road_takes_more_of_it(leaves_by_changing):
    """Of 24 m it leaves 9.6 before the line: one more finds room behind it, not two."""
    network = short_road()
    net = network.arrays
    link = int(net.lanes.out_start[network.lane_index["in_0"]])
    assert not net.connectors.free[link]
    fits = []
    for before in range(4):
        world = PlantedWorld(network)
        veh, grants, rules = world.sim.veh, world.sim.grants, world.sim.rules
        for _ in range(before + 1):
            i = world.put("in_0", 50.0, 0.0, [link])
            veh.leg[i], veh.route_end[i] = 0, 3 if leaves_by_changing else 2
            veh.granted[i], veh.arrived[i] = 1, 0
        veh.granted[i] = 0
        for j in range(before):
            note_holder(net, veh, grants, rules, j)
        order = world.order()
        fits.append(bool(has_room(net, veh, order, grants, rules, i, 1, 0.25)))
    # Four cars with gaps take 26 m.
    assert fits == ([True, True, False, False] if leaves_by_changing else [True, True, True, False])


@pytest.mark.parametrize(("others_since", "room"), [(20, True), (5, False)])
def test_who_has_stood_for_longest_counts_none_of_the_others(others_since, room):
    """Where there is room for one of three, each counted what the other two need: nobody went."""
    network = short_road()
    net = network.arrays
    world = PlantedWorld(network)
    exit_lane = network.lane_index["mid_0"]
    for s in (23.5, 15.5):
        world.put("mid_0", s)
    i = world.put("in_0", 50.0, 0.0, [int(net.lanes.out_start[network.lane_index["in_0"]])])
    world.sim.veh.arrived[i] = 10
    world.sim.grants.wished[exit_lane] = 16.0
    world.sim.grants.wished_since[exit_lane] = others_since
    world.sim.veh.wanted[:] = world.sim.veh.lane
    found = has_room(
        net, world.sim.veh, world.order(), world.sim.grants, world.sim.rules, i, 1, 0.25
    )
    assert found == room


def test_room_that_is_claimed_for_a_change_of_lane_is_there_when_somebody_was_let_in():
    """A bus claimed 15 m beside it; a car was let in where 20 m were free, and its place, the bus and
    one gap too many came to 23: while others came the bus stood for 900 s."""
    network = short_road()
    net = network.arrays
    world = PlantedWorld(network)
    veh, grants, rules = world.sim.veh, world.sim.grants, world.sim.rules
    lane = network.lane_index["mid_0"]
    veh.length[world.put("mid_0", 23.7)] = net.lanes.length[lane] - 20.5 - rules.queue_gap
    bus = world.put("mid_1", 14.0)
    veh.length[bus] = 12.0
    car = world.put("in_0", 50.0, 0.0, [int(net.lanes.out_start[network.lane_index["in_0"]])])
    veh.arrived[car] = 10
    veh.wanted[:] = veh.lane
    veh.wanted[bus] = lane
    claim(veh, grants, rules, bus, lane, 0)
    order = world.order()
    assert has_room(net, veh, order, grants, rules, car, 1, 0.25)
    veh.granted[car] = 1
    note_holder(net, veh, grants, rules, car)
    assert leaves_room(net, veh, order, grants, rules, bus, lane, 0.0)
