"""Vehicles packed for other ranks: what arrives is what was sent, in whichever slots."""

import numpy as np
import pytest

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.ranks.exchange import free_slots
from rushhour.traffic.ranks.packing import Rows, aligned
from rushhour.traffic.sim.state import new_vehicles
from rushhour.traffic.world import World


@pytest.fixture(scope="module")
def veh() -> Vehicles:
    network = generate("grid", rows=2, columns=3, control="signals")
    world = World(network, vehicles_on_road(network, 40, seed=2), seed=1)
    world.step(80)
    return world.sim.veh


@pytest.mark.parametrize("n", [0, 1, 7, 40])
def test_packed_vehicles_arrive_as_they_were(veh: Vehicles, n: int) -> None:
    here = np.flatnonzero(veh.lane >= 0).astype(np.int32)[::-1][:n].copy()
    there = np.random.default_rng(n).permutation(64)[: here.size].astype(np.int32)
    sender, other = Rows(veh), new_vehicles(64)
    receiver = Rows(other)
    data = np.zeros(aligned(here.size * sender.size), np.uint8)
    sender.take(here, data)
    receiver.put(data, there)
    for name in Vehicles._fields:
        np.testing.assert_array_equal(getattr(other, name)[there], getattr(veh, name)[here], name)
    for name in ("id", "s", "lane", "reason", "left", "suits"):
        column = sender.column(data, here.size, name)
        np.testing.assert_array_equal(column, getattr(veh, name)[here])
        assert column.dtype == getattr(veh, name).dtype
    untouched = np.setdiff1d(np.arange(64), there)
    assert (other.lane[untouched] == -1).all()


def test_rows_are_as_wide_as_their_fields(veh: Vehicles) -> None:
    width = sum(array.itemsize * int(np.prod(array.shape[1:])) for array in veh)
    assert Rows(veh).size == width


@pytest.mark.parametrize("size", [0, 5, 70_000, 200_000])
@pytest.mark.parametrize("free", [0.0, 0.3, 1.0])
def test_the_first_free_slots_are_found_piece_by_piece(size: int, free: float) -> None:
    lane = np.where(np.random.default_rng(size).random(size) < free, -1, 3).astype(np.int32)
    all_free = np.flatnonzero(lane < 0)
    for wanted in (0, 1, size // 4, size):
        found = free_slots(lane, wanted)
        assert found.size >= min(wanted, all_free.size)
        np.testing.assert_array_equal(found, all_free[: found.size])
