"""The order of vehicles: each in the list of its lane, sorted, with the leader it should have."""

from collections.abc import Sequence

import numpy as np
import pytest

from rushhour.kernels.core.order import BLOCK, sort_all, sort_by_lane, splice_new
from rushhour.kernels.core.vehicles import Order, Vehicles
from rushhour.kernels.following.lane_gaps import front_gap, place_behind
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.sim.state import new_order, new_vehicles, other_order
from rushhour.traffic.world import World


def test_every_vehicle_is_in_the_list_of_its_lane_and_leaders_are_those_of_brute_force() -> None:
    network = generate("grid", rows=3, columns=3, border="loops")
    world = World(network, vehicles_on_road(network, 150, seed=1), dt=0.25, seed=1)
    gaps = 0
    for _ in range(5):
        world.step(100)
        world.sim.sort()  # the order is derived anew at the begin of each frame
        veh, order = world.sim.veh, world.sim.order
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


@pytest.mark.tiny_world
@pytest.mark.parametrize(
    ("lanes", "blocks"),
    [(7, [0]), (90, [0]), (5000, range(20)), (5000, [0, 3, 4, 19]), (5000, [7])],
)
def test_the_order_is_that_of_a_sort_by_lane_place_and_id(
    lanes: int, blocks: Sequence[int]
) -> None:
    """Also where nobody is but on some blocks of lanes, and only these are looked at."""
    there = np.concatenate([np.arange(x * BLOCK, min(lanes, (x + 1) * BLOCK)) for x in blocks])
    looked_at = np.array(blocks, np.int32)
    draw = np.random.default_rng(3)
    capacity = 400
    veh = new_vehicles(capacity)
    veh.id[:] = draw.permutation(capacity)
    network = generate("grid", rows=2, columns=2).arrays
    roads = lanes // 3
    shape = network.lanes._replace(out_start=np.zeros(roads + 1, np.int32))
    order = new_order(lanes, capacity)
    known: set[int] = set()
    n = 0
    for _ in range(6):
        for slot in draw.permutation(list(known))[: len(known) // 3]:  # some move, some leave
            veh.lane[slot] = draw.choice([-1, *there])
        veh.s[:] = draw.integers(0, 30, capacity)  # ties, too
        n = sort_by_lane(veh, order, looked_at, n)
        order = other_order(order)
        sort_all(veh, shape, order)
        known = {slot for slot in known if veh.lane[slot] >= 0}
        assert n == len(known)
        _assert_sorted(veh, order, known, lanes)
        newcomers = draw.permutation(sorted(set(range(capacity)) - known))[:60].astype(np.int32)
        veh.lane[newcomers] = draw.choice(there, newcomers.size)
        order.spare[: newcomers.size] = newcomers
        splice_new(veh, order, newcomers.size)
        known |= set(newcomers.tolist())
        n += newcomers.size
        _assert_sorted(veh, order, known, lanes)


def _assert_sorted(veh: Vehicles, order: Order, known: set[int], lanes: int) -> None:
    slots = np.array(sorted(known), np.int64)
    wanted = slots[np.lexsort((veh.id[slots], -veh.s[slots], veh.lane[slots]))]
    np.testing.assert_array_equal(order.slot[: slots.size], wanted)
    counts = np.bincount(veh.lane[slots], minlength=lanes)
    np.testing.assert_array_equal(order.start, np.concatenate(([0], np.cumsum(counts))))
