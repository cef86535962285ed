"""Bodies that reach back over the end of a lane, and gaps to them (C3.3, E1)."""

import numpy as np
import pytest

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

NETWORKS = {
    "town": lambda: generate("town", size="small", seed=1),
    "grid": lambda: generate("grid", rows=3, columns=3, lanes=3, border="loops"),
    "ring": lambda: generate("ring", circumference=600.0, lanes=2),
}


@pytest.fixture(scope="module", params=list(NETWORKS))
def world(request):
    """One world for all tests; between its frames they bring its order up to date."""
    network = NETWORKS[request.param]()
    return World(network, vehicles_on_road(network, 150, seed=1), dt=0.25, seed=1)


def rear_over(world: World, lane: int) -> tuple[int, float]:
    """By search: who has left the lane with its front only, and where its rear is on it."""
    veh, length = world.sim.veh, world.network.arrays.lanes.length
    found: tuple[int, float] = (-1, np.inf)
    for i in np.flatnonzero(veh.lane >= 0):
        rear = veh.s[i] - veh.length[i]
        for back in veh.behind[i]:
            if rear >= 0.0 or back < 0:
                break
            rear += length[back]
            if back == lane and rear < found[1]:
                found = (int(i), float(rear))
    return found


def test_rears_that_hang_over_the_end_of_a_lane_are_known(world):
    seen = 0
    for _ in range(5):
        world.step(30)
        world.sim.sort()
        for lane in range(world.network.n_lanes):
            slot, rear = rear_over(world, lane)
            assert int(world.sim.order.over[lane]) == slot
            if slot >= 0:
                assert world.sim.order.over_rear[lane] == pytest.approx(rear, abs=1e-9)
                seen += 1
    assert seen > 0


def test_gaps_stay_above_half_the_standstill_gap(world):
    """E1: on every lane, between cars that are not changing lane."""
    least = np.inf
    for _ in range(40):
        world.step(10)
        table = world.vehicles
        order = np.lexsort((-table.s, table.lane))
        lane, s, length = table.lane[order], table.s[order], table.length[order]
        settled = table.lateral[order] == 0.0
        pairs = (lane[:-1] == lane[1:]) & settled[:-1] & settled[1:]
        least = min(least, (s[:-1] - length[:-1] - s[1:])[pairs].min(initial=np.inf))
    assert 1.0 < least < np.inf
