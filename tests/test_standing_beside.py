"""Who leaves a lane by one connector waits at its line while somebody stands on another in its way."""

import numpy as np
import pytest
from network_drafts import connector, crossing
from planted_world import PlantedWorld

from rushhour.kernels.core.vehicles import EXIT_FULL
from rushhour.kernels.junctions.diverge_queue import who_stands_beside, who_stands_on_way
from rushhour.kernels.junctions.grant_holders import note_holder
from rushhour.kernels.rerouting.wait_for_graph import awaited
from rushhour.roadnets.build import finish
from rushhour.traffic.world import World

QUEUE_GAP = 2.5  # m


@pytest.mark.parametrize(
    ("on", "inside", "queued", "waits"),
    [
        (
            "n",
            [20.0, 12.8, 5.6],
            12,
            True,
        ),  # the last one's rear is 0.6 m beyond the line, and stays
        ("n", [20.0, 12.8, 5.6], 3, False),  # they will go on
        ("n", [20.0], 12, False),  # its rear is where the two ways have parted
        ("e", [9.0, 5.6], 12, False),  # they are on the same connector: leaders like any other
    ],
)
def test_who_turns_right_waits_while_a_queue_stands_on_the_way_straight_on(
    on, inside, queued, waits
):
    network = finish(crossing())
    ways = {to: connector(network, "s", to) for to in ("n", "e")}
    world = PlantedWorld(network)
    for place in range(queued):
        world.put(f"out_{on}_0", 88.0 - 7.5 * place)
    for s in inside:
        world.put(ways[on], s)
    asks = world.put("in_s_0", 89.5, path=[ways["e"]])
    grants = World(network).sim.grants  # with how far the ways of a lane lie on each other
    assert grants.pocket[ways[on]] - grants.let_past[ways[on]] > 1.0
    net, veh, order = network.arrays, world.sim.veh, world.order()
    found = who_stands_beside(net, veh, order, grants, ways["e"], QUEUE_GAP, 0.3)
    assert (found >= 0) == waits
    # So does who would come over another line before, and stop nowhere between.
    veh.path[asks, :2] = connector(network, "n", "s"), ways["e"]
    by_first = [
        who_stands_on_way(net, veh, order, grants, asks, 0, n, QUEUE_GAP, 0.3) for n in (1, 2)
    ]
    assert by_first == [-1, found]
    # It is that one that it waits for, so that a ring over both is found: over one line, and a bus over
    # two where the lane between them is too short for it.
    veh.reason[asks], veh.stands_since[asks] = EXIT_FULL, 0
    veh.length[asks] = 12.0
    slot_of = np.arange(veh.id.size + 1, dtype=np.int32)
    net.lanes.length.setflags(write=True)
    net.lanes.length[net.connectors.to_lane[veh.path[asks, 0]]] = 0.5
    for path in ((veh.path[asks, 0], ways["e"]), (ways["e"], -1)):
        veh.path[asks, :2] = path
        awaits = awaited(net, veh, order, grants, 0.3, QUEUE_GAP, slot_of, asks)
        assert not waits or awaits == found


@pytest.mark.parametrize(
    ("queued", "waits"),
    [
        (
            13,
            True,
        ),  # who goes straight on will stand with its rear where the two ways lie on each other
        (12, False),  # it will stand inside, but where they have parted
        (3, False),
    ],
)
def test_who_turns_right_waits_behind_one_whose_grant_leads_to_a_queue_that_ends_beside(
    queued, waits
):
    """Both would be inside otherwise, the second held up in the way of those who cross."""
    network = finish(crossing())
    ways = {to: connector(network, "s", to) for to in ("n", "e")}
    world = PlantedWorld(network)
    for place in range(queued):
        world.put("out_n_0", 89.5 - 6.8 * place)
    goes = world.put("in_s_0", 89.5, path=[ways["n"]])
    world.put("in_s_0", 82.0, path=[ways["e"]])
    net, veh, order = network.arrays, world.sim.veh, world.order()
    grants = World(network).sim.grants
    veh.granted[goes] = 1
    note_holder(net, veh, grants, world.sim.rules, goes)
    found = who_stands_beside(net, veh, order, grants, ways["e"], QUEUE_GAP, 0.3)
    assert found == (goes if waits else -1)


@pytest.mark.parametrize(
    ("speed", "granted", "waits"),
    [
        (0.0, 0, True),
        (3.0, 0, False),  # it goes on, and its rear comes out of the way
        (0.0, 1, False),  # it will go on
    ],
)
def test_who_turns_right_waits_while_one_stands_beyond_that_has_changed_to_another_lane(
    speed, granted, waits
):
    """Its rear is 1.6 m beyond the line on the way straight on, to out_n_0; it is on out_n_1."""
    network = finish(crossing(lanes=2, box=3.0))
    ways = {to: connector(network, "s", to) for to in ("n", "e")}
    inside = network.n_road_lanes + ways["n"]
    world = PlantedWorld(network)
    stands = world.put("out_n_1", 0.1, speed, behind=[inside, "in_s_0"])
    world.put("in_s_0", 96.5, path=[ways["e"]])
    net, veh = network.arrays, world.sim.veh
    veh.granted[stands], veh.had_grant[stands] = granted, granted > 0
    order = world.order()
    order.over[inside], order.over_rear[inside] = stands, 1.6
    grants = World(network).sim.grants
    assert grants.pocket[ways["n"]] - grants.let_past[ways["n"]] > 1.6
    found = who_stands_beside(net, veh, order, grants, ways["e"], QUEUE_GAP, 0.3)
    assert found == (stands if waits else -1)
