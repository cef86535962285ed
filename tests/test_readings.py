"""Reads of all lanes and intersections at once: what a loop over the vehicles would find."""

import numpy as np
import pytest

import rushhour as rh
from rushhour.kernels.measuring.queues import GAP, SLOW
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world


@pytest.fixture(scope="module")
def world() -> World:
    network = rh.generate("grid", rows=3, columns=3, lanes=2)
    world = World(network, rh.random_trips(network, 300, "1min", seed=1), dt=0.25, seed=1)
    world.step(400)
    return world


def test_lanes_tell_what_is_on_them(world: World) -> None:
    lanes, table, n = world.lanes, world.vehicles, world.network.n_road_lanes
    count = np.bincount(table.lane[table.lane < n], minlength=n)
    np.testing.assert_array_equal(lanes.count, count)
    length = world.network.arrays.lanes.length[:n]
    np.testing.assert_allclose(lanes.density, 1000.0 * count / length)
    for lane in range(n):
        here = np.flatnonzero(table.lane == lane)
        here = here[np.argsort(-table.s[here])]
        speed = table.speed[here]
        assert lanes.standing[lane] == (speed < 0.1).sum()
        assert (
            np.isnan(lanes.speed[lane])
            if not here.size
            else (lanes.speed[lane] == pytest.approx(speed.mean()))
        )
        since = table.stands_since[here]
        waited = ((world.frame - since) * world.dt)[since >= 0].sum()
        assert lanes.waiting[lane] == pytest.approx(waited)
        queue, rear, metres = 0, length[lane], 0.0
        for i in here:
            if rear - table.s[i] > GAP:
                break
            rear = table.s[i] - table.length[i]
            if table.speed[i] < SLOW:
                queue, metres = queue + 1, length[lane] - max(rear, 0.0)
        assert (lanes.queue[lane], lanes.queue_length[lane]) == (queue, pytest.approx(metres))
    assert lanes.queue.sum() > 10 and lanes.waiting.sum() > 0.0


def test_vehicles_tell_their_names_roads_standstills_and_what_is_left_of_their_routes(
    world: World,
) -> None:
    table, network = world.vehicles, world.network
    assert [world.demand.ids[i] for i in table.id] == table.name.tolist()
    roads = network.arrays.lanes.road[table.lane]
    np.testing.assert_array_equal(table.road, roads)
    stands = table.stands_since >= 0
    assert (table.waiting[~stands] == 0.0).all() and stands.sum() > 10
    assert (table.waiting[stands] > 0.0).all() and table.waiting.max() < world.time
    on_road = roads >= 0
    left = [
        list(world.sim.routes.road[a:b]) for a, b in zip(table.leg, table.route_end, strict=True)
    ]
    assert table.roads_left.tolist() == [len(way) for way in left]
    assert [way[0] for way, on in zip(left, on_road, strict=True) if on] == roads[on_road].tolist()


def test_intersections_add_up_the_lanes_that_end_there(world: World) -> None:
    nodes, lanes, n = world.intersections, world.lanes, world.network.n_road_lanes
    at = world.network.arrays.lanes.intersection
    for i in range(len(nodes)):
        mine = np.flatnonzero(at[:n] == i)
        assert nodes.approaching[i] == lanes.count[mine].sum()
        assert nodes.queue[i] == lanes.queue[mine].sum()
        assert nodes.standing[i] == lanes.standing[mine].sum()
        assert nodes.waiting[i] == pytest.approx(lanes.waiting[mine].sum())
    inside = world.vehicles.lane[world.vehicles.lane >= n]
    assert nodes.inside.sum() == inside.size > 0
    ends_nowhere = lanes.count[at[:n] < 0].sum()
    assert nodes.approaching.sum() + nodes.inside.sum() + ends_nowhere == world.active


def test_readings_are_kept_until_the_next_frame_and_change_nothing(world: World) -> None:
    before = world.state_hash()
    lanes = world.lanes
    assert world.lanes is lanes and world.intersections is world.intersections
    with pytest.raises(ValueError, match="read-only"):
        lanes.count[0] = 1
    kept = lanes.count.copy()
    assert world.state_hash() == before
    snapshot = world.snapshot()
    world.step()
    assert world.lanes is not lanes
    np.testing.assert_array_equal(lanes.count, kept)
    world.restore(snapshot)
    np.testing.assert_array_equal(world.lanes.count, kept)


def test_tables_have_ids_and_units(world: World) -> None:
    pytest.importorskip("pandas")
    lanes, nodes = world.lanes.table(), world.intersections.table()
    assert list(lanes) == [
        "lane", "count", "standing", "queue", "queue_m", "density_veh_per_km", "speed_m_per_s",
        "waiting_s",
    ]  # fmt: skip
    assert list(nodes) == [
        "intersection",
        "approaching",
        "inside",
        "standing",
        "queue",
        "waiting_s",
    ]
    assert tuple(lanes.lane) == world.network.lane_ids
    assert tuple(nodes.intersection) == world.network.intersection_ids


def test_detectors_tell_their_last_interval() -> None:
    network = rh.generate("grid", rows=2, columns=2)
    world = World(network, rh.random_trips(network, 100, "1min", seed=1), dt=0.5, seed=1, begin=0.0)
    assert world.detectors == {}
    loops = [rh.Loop("a", 0, 20.0, interval=10.0), rh.Loop("b", 2, 20.0, interval=15.0)]
    world.observers.append(measures := rh.Measures(world, 20.0, loops=loops, queues=True))
    world.step(80)
    found = world.detectors
    assert set(found) == {"roads", "loops", "queues"}
    assert list(found["loops"].loop) == ["a", "b"] and list(found["loops"].end) == [40.0, 30.0]
    assert set(found["roads"].end) == {40.0} and len(found["roads"]) > 10
    assert set(found["queues"].end) == {40.0}
    whole = measures.loops
    last = np.flatnonzero(whole.loop == "a")[-1]
    assert found["loops"].count[0] == whole.count[last]
