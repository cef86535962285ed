"""The order of vehicles: each in the list of its lane, sorted, with the leader it should have."""

import numpy as np

from rushhour.kernels.entering import front_gap, place_behind
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World


def test_every_vehicle_is_in_the_list_of_its_lane_and_leaders_are_those_of_brute_force() -> None:
    network = generate("grid", rows=3, columns=3, border="loops")
    world = World(network, vehicles_on_road(network, 150, seed=1), dt=0.25, seed=1)
    gaps = 0
    for _ in range(5):
        world.step(100)
        world._sort()  # the order is derived anew at the begin of each frame
        veh, order = world._veh, world._order
        live = np.flatnonzero(veh.lane >= 0)
        listed = order.slot[: order.start[-1]]
        np.testing.assert_array_equal(np.sort(listed), live)
        for lane in range(network.n_lanes):
            mine = order.slot[order.start[lane] : order.start[lane + 1]]
            assert (veh.lane[mine] == lane).all()
            assert (np.diff(veh.s[mine]) <= 0.0).all()
        for i in live:
            lane, s = int(veh.lane[i]), float(veh.s[i])
            ahead = [j for j in live if veh.lane[j] == lane and veh.s[j] > s]
            if not ahead:
                continue
            leader = min(ahead, key=lambda j: veh.s[j])
            place = place_behind(veh, order, lane, s)
            gap, speed, slot = front_gap(network.arrays, veh, order, lane, place, s)
            assert (slot, speed) == (leader, veh.speed[leader])
            assert gap == veh.s[leader] - veh.length[leader] - s
            gaps += 1
    assert gaps > 100
