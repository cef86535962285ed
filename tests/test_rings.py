"""Rings of lanes that wait for each other are found, also over joints, and go on."""

import numpy as np
import pytest
from planted_world import PlantedWorld

from rushhour.kernels.network import NONE, YIELD
from rushhour.kernels.vehicles import EXIT_FULL
from rushhour.kernels.watching import find_rings, find_rings_from, wait_for_lanes
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.traffic.rings import Rings

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


@pytest.mark.parametrize("on_joint", [True, False])
def test_a_ring_is_found_over_queues_that_stand_on_joints(on_joint):
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
    heads = [world.put("b_0", 9.0, 0.0, [link["bc"]]), world.put("d_0", 9.0, 0.0, [link["da"]])]
    world.put("a_0", 9.0, 0.0, [link["ab"]])  # the head of a: to b by a joint
    if on_joint:
        world.put(link["cd"], 5.0)  # c is empty, its queue stands on the joint
    veh = world._veh
    veh.stands_since[:4] = 0
    veh.full_since[:4] = -1
    veh.full_since[heads] = 0
    veh.refused[heads] = EXIT_FULL
    order = world.order()
    waits, colour, found = (np.empty(n, np.int32) for _ in range(3))
    assert wait_for_lanes(net, veh, order, 0.3, waits) == 2
    assert find_rings(waits, colour, found) == (1 if on_joint else 0)
    # Also from some lanes at a time: by the slice in which its lowest lane is, once.
    lowest = found[:1].tolist() if on_joint else []
    for size in (1, 2, n):
        parts = [(first, min(n, first + size)) for first in range(0, n, size)]
        part = np.empty(n, np.int32)
        again = [
            int(lane)
            for first, last in parts
            for lane in part[: find_rings_from(net, veh, order, 0.3, first, last, waits, part)]
        ]
        assert again == lowest


@pytest.mark.parametrize(("body", "fits"), [(5.0, False), (2.0, True)])
def test_a_ring_rotates_only_where_who_comes_finds_a_place(body, fits):
    """On 10 m two stand; the second, with its rear at 4 m - body, moves up by 5.5 m."""
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
    world._veh.length[world.put("a_0", 4.0)] = body
    comes = world.put("d_0", 9.0, 0.0, [into])
    order = world.order()
    rings = Rings(network, "rotate", 0.0, 0.5)
    assert rings._have_places(world._veh, order, [comes]) == fits
