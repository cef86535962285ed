"""The hash of a state: what counts, and what leaves no trace."""

from collections.abc import Callable

import numpy as np
import pytest
from resumed_worlds import new_world

from rushhour.traffic.keyframes.hashing import vehicle_sum
from rushhour.traffic.sim.fields import columns
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world


@pytest.fixture(scope="module")
def stepped() -> World:
    world = new_world("commands")
    world.step(120)
    return world


def live(world: World) -> np.ndarray:
    return np.flatnonzero(world.sim.veh.lane >= 0)


def routed(world: World) -> int:
    """Slot of a driver who has two roads before it, and one behind."""
    veh = world.sim.veh
    rows = live(world)
    found = rows[
        (veh.leg[rows] > veh.route_start[rows]) & (veh.route_end[rows] > veh.leg[rows] + 1)
    ]
    return int(found[0])


def test_it_is_the_sum_of_the_sums_of_its_parts(stepped: World) -> None:
    sim, rows = stepped.sim, live(stepped)
    assert rows.size > 20
    whole = vehicle_sum(b"vehicle", sim.veh, sim.routes, rows)
    for cut in (0, 1, rows.size // 3, rows.size):
        parts = [vehicle_sum(b"vehicle", sim.veh, sim.routes, part) for part in
                 (rows[cut:], rows[:cut])]  # fmt: skip
        np.testing.assert_array_equal(parts[0] + parts[1], whole)
    assert (vehicle_sum(b"aside", sim.veh, sim.routes, rows) != whole).any()


def test_slots_and_places_in_the_pool_of_routes_leave_no_trace(stepped: World) -> None:
    world = stepped.clone()
    before = world.state_hash()
    veh, rows, i = world.sim.veh, live(world), routed(world)
    for _, array in columns(veh):
        array[rows] = array[rows[::-1]].copy()
    assert world.state_hash() == before
    i = int(rows[::-1][list(rows).index(i)])
    first, last, room = int(veh.leg[i]), int(veh.route_end[i]), world.routing.detours.room_for(99)
    road = world.sim.routes.road
    road[room + 7 : room + 7 + last - first] = road[first:last]
    veh.leg[i], veh.route_end[i] = room + 7, room + 7 + last - first
    assert world.state_hash() == before


def road_ahead(world: World) -> None:
    world.sim.routes.road[world.sim.veh.leg[routed(world)] + 1] += 1


def last_road_dropped(world: World) -> None:
    world.sim.veh.route_end[routed(world)] -= 1


def speeds_exchanged(world: World) -> None:
    speed, rows = world.sim.veh.speed, live(world)
    a, b = rows[np.argmax(speed[rows])], rows[np.argmin(speed[rows])]
    speed[[a, b]] = speed[[b, a]]


def first_in_a_queue(world: World) -> None:
    head = world.sim.waiting.head
    head[0] = 1 if head[0] != 1 else 2


def frame_counted_on(world: World) -> None:
    world.sim.frame += 1


@pytest.mark.parametrize(
    "change",
    [road_ahead, last_road_dropped, speeds_exchanged, first_in_a_queue, frame_counted_on],
    ids=lambda change: str(change.__name__),
)
def test_what_counts_changes_it(stepped: World, change: Callable[[World], None]) -> None:
    world = stepped.clone()
    before = world.state_hash()
    assert before == stepped.state_hash()
    change(world)
    assert world.state_hash() != before


def test_a_road_that_lies_behind_does_not_count(stepped: World) -> None:
    world = stepped.clone()
    before = world.state_hash()
    veh, i = world.sim.veh, routed(world)
    place = int(veh.leg[i]) - 1
    others = (veh.leg[live(world)] <= place) & (place < veh.route_end[live(world)])
    assert not others.any()
    world.sim.routes.road[place] += 1
    assert world.state_hash() == before


def test_what_is_left_of_stops_counts(stepped: World) -> None:
    world = new_world("stops")
    world.step(40)
    veh, rows = world.sim.veh, live(world)
    stopping = rows[veh.stop[rows] < veh.stop_end[rows]]
    assert stopping.size, "nobody has a stop before it"
    before = world.state_hash()
    world.sim.routes.stop_frames[veh.stop[stopping[0]]] += 1
    assert world.state_hash() != before
