"""The same traffic whichever way the map is turned, and whatever the time step (validation E11, E12)."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rushhour.kernels.core.network import LEFT, RIGHT
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.generators import grid as generate_grid
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.world import World

GRIDS = {
    "signals": {"control": "signals", "lanes": 2},
    "priority": {"control": "priority", "lanes": 2},
    "all-way stops": {"control": "all_way_stop", "lanes": 1, "left": "shared"},
}


def with_soak(soon: str) -> list[object]:
    """The grids; all but one are left to `make soak`."""
    others = [name for name in GRIDS if name != soon]
    return [soon, *(pytest.param(name, marks=pytest.mark.soak) for name in others)]


def draft_of_grid(monkeypatch: pytest.MonkeyPatch, name: str) -> Draft:
    """A grid of 3 x 3 crossings before it is finished."""
    with monkeypatch.context() as patch:
        patch.setattr(generate_grid, "finish", lambda draft: draft)
        draft = generate_grid.grid(rows=3, columns=3, length=150.0, **GRIDS[name])
    assert isinstance(draft, Draft)
    return draft


def mapped(draft: Draft, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Put (1, 0) to x and (0, 1) to y everywhere, exactly."""
    matrix = np.array([x, y])
    for road in draft.roads:
        for lane in road.lanes:
            lane.shape = lane.shape @ matrix
    for inter in draft.intersections:
        inter.x, inter.y = (np.array([inter.x, inter.y]) @ matrix).tolist()
    for link in draft.connectors:
        if link.shape is not None:
            link.shape = link.shape @ matrix


def turned(draft: Draft) -> None:
    """Turn a draft by a quarter to the left."""
    mapped(draft, (0.0, 1.0), (-1.0, 0.0))


def mirrored(draft: Draft) -> None:
    """Make a draft its mirror image, in which traffic keeps left."""
    mapped(draft, (1.0, 0.0), (0.0, -1.0))
    draft.left_hand = True
    swap = {LEFT: RIGHT, RIGHT: LEFT}
    for link in draft.connectors:
        link.turn = link.turn if link.turn is None else swap.get(link.turn, link.turn)


def arrivals(network: Network, demand, dt: float = 0.25) -> NDArray[np.float64]:
    """Time of arrival of every trip, s."""
    world = World(network, demand, dt=dt, seed=1)
    while not world.done:
        world.step()
        assert world.time < 3000.0
    return world.trips.arrived[np.argsort(world.trips.trip)]


def compared(
    monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Draft], None]
) -> tuple[Network, Network, Draft]:
    """A grid, the same changed, and its draft."""
    plain, draft = finish(draft_of_grid(monkeypatch, name)), draft_of_grid(monkeypatch, name)
    change(draft)
    return plain, finish(draft), draft


@pytest.mark.slow
@pytest.mark.parametrize("name", with_soak("signals"))
def test_a_map_turned_by_a_quarter_has_the_same_traffic(monkeypatch, name):
    """E12: 300 trips arrive in the same frames."""
    plain, other, _ = compared(monkeypatch, name, turned)
    demand = random_trips(plain, 300, over=300.0, seed=1)
    np.testing.assert_array_equal(arrivals(plain, demand), arrivals(other, demand))


@pytest.mark.slow
@pytest.mark.parametrize("name", with_soak("all-way stops"))
def test_a_mirrored_map_with_left_hand_traffic_has_the_same_traffic(monkeypatch, name):
    """E12: 300 trips arrive in the same frames."""
    plain, other, draft = compared(monkeypatch, name, mirrored)
    assert draft.left_hand and other.left_hand
    assert (plain.arrays.connectors.turn != other.arrays.connectors.turn).any()
    demand = random_trips(plain, 300, over=300.0, seed=1)
    np.testing.assert_array_equal(arrivals(plain, demand), arrivals(other, demand))


@pytest.mark.slow
@pytest.mark.parametrize("name", with_soak("priority"))
def test_travel_times_do_not_depend_on_the_time_step(name):
    """E11: the mean of 100 trips within 1 % of that at dt 0.05 s, at 0.1 and 0.25 s."""
    network = generate("grid", rows=3, columns=3, length=150.0, **GRIDS[name])
    demand = random_trips(network, 100, over=600.0, seed=1)
    times = [
        arrivals(network, demand, dt).mean() - demand.depart.mean() for dt in (0.05, 0.1, 0.25)
    ]
    np.testing.assert_allclose(times[1:], times[0], rtol=0.01)
