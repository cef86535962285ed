"""The load of a lane is that of the frame's sort, whoever departs in it."""

import weakref

import numpy as np
import pytest

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world


def crowded() -> World:
    """A grid onto which more depart in the first frames than there are places for vehicles at first."""
    network = generate("grid", rows=4, columns=4, lanes=2)
    crowd = [vehicles_on_road(network, 200, seed=1), random_trips(network, 300, over=10.0, seed=2)]
    return World(network, merge(crowd), seed=3)


def test_it_counts_who_was_there_as_the_frame_was_sorted() -> None:
    world = crowded()
    for _ in range(30):
        lane = world.sim.veh.lane.copy()
        world.step()
        np.testing.assert_array_equal(
            world.sim.order.load, np.bincount(lane[lane >= 0], minlength=world.network.n_lanes)
        )
    assert world.departed > 300


def test_how_many_places_there_are_at_first_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where places run out in the middle of a frame's departures, those before count no more."""
    roomy = crowded()
    monkeypatch.setattr("rushhour.traffic.sim.sim.CAPACITY", 16)
    narrow = crowded()
    assert narrow.sim.veh.lane.size == 16 < roomy.sim.veh.lane.size
    grown = 0
    grow = Sim.grow

    def counted(sim: Sim) -> None:
        nonlocal grown
        grown += 1
        grow(sim)

    monkeypatch.setattr(Sim, "grow", counted)
    for _ in range(60):
        roomy.step()
        narrow.step()
        assert roomy.state_hash() == narrow.state_hash()
    assert grown >= 4


def test_arrays_that_were_outgrown_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of kernels kept them, as much memory again as the vehicles of now take."""
    monkeypatch.setattr("rushhour.traffic.sim.sim.CAPACITY", 16)
    world, outgrown = crowded(), []
    grow = Sim.grow

    def watched(sim: Sim) -> None:
        outgrown.extend(weakref.ref(a) for a in (*sim.veh, sim.order.slot, sim.waiting.older))
        grow(sim)

    monkeypatch.setattr(Sim, "grow", watched)
    world.step(10)
    assert len(outgrown) > 200
    assert not [each() for each in outgrown if each() is not None]


def test_a_world_that_was_brought_back_knows_its_loads() -> None:
    world = crowded()
    world.step(20)
    np.testing.assert_array_equal(world.clone().sim.order.load, world.sim.order.load)
    assert world.sim.order.load.sum() > 300
