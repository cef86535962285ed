"""Measures of roads, loops, sections and queues: closed forms, laws, mistakes."""

import numpy as np
import pytest
from measured_worlds import EVENLY, HEADWAY, all_loops, busy, one_lane, stream, two_lanes

from rushhour.kernels.measuring.queues import Queues, look_at_queues
from rushhour.kernels.measuring.roads import TICKS
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.measures.detectors import DetectorError, Loop, Queue, Section
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.sim import state
from rushhour.traffic.world import World


@pytest.fixture(scope="module")
def grid() -> Network:
    return one_lane()


# --- closed forms ----------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0.5, 0.25, 0.1])
def test_a_constant_stream_has_flow_density_times_speed_and_its_headway(dt: float) -> None:
    world = stream(dt)
    measures = Measures(world, "100s", loops=[Loop("middle", 0, 1000.0), Loop("end", 0, -1.0)])
    world.observers.append(measures)
    world.step(round(500.0 / dt))
    roads = measures.roads
    np.testing.assert_allclose(roads.flow, 3.6 * roads.density * roads.speed, rtol=1e-12)
    steady = roads.begin >= 200.0
    assert steady.sum() == 3
    np.testing.assert_allclose(roads.speed[steady], 15.0, rtol=1e-3)
    np.testing.assert_allclose(roads.flow[steady], 3600.0 / HEADWAY, rtol=5e-3)
    np.testing.assert_allclose(roads.density[steady], 1000.0 / (HEADWAY * 15.0), rtol=5e-3)
    loops = measures.loops
    steady = loops.begin >= 200.0
    assert steady.sum() == 6
    np.testing.assert_array_equal(loops.count[steady], 100.0 / HEADWAY)
    np.testing.assert_allclose(loops.flow[steady], 3600.0 / HEADWAY)
    np.testing.assert_allclose(loops.speed[steady], 15.0, rtol=1e-9)
    np.testing.assert_allclose(loops.space_mean_speed[steady], 15.0, rtol=1e-9)
    inside = steady & (loops.loop == "middle")
    np.testing.assert_allclose(loops.occupancy[inside], 5.0 / (15.0 * HEADWAY), rtol=1e-9)


@pytest.mark.tiny_world
def test_on_one_road_the_sums_are_those_of_the_trips() -> None:
    network = generate("straight", length=300.0)
    builder = DemandBuilder()
    for i in range(12):
        builder.add(Trip(f"c{i}", 2.0 * i, VehicleType(), [0]))
    world = World(network, builder.build(), dt=0.5, seed=1)
    measures = Measures(world, 7.0, sections=[Section("all", "straight", "straight")])
    world.observers.append(measures)
    while not world.done:
        world.step()
    measures.finish()
    roads, trips = measures.roads, world.trips
    for ours, theirs in (
        ("vehicle_seconds", trips.arrived - trips.departed), ("distance", trips.distance),
        ("time_lost", trips.time_loss), ("waiting", trips.waiting_time),
        ("stopped", trips.stop_time),
    ):  # fmt: skip
        np.testing.assert_allclose(roads.columns[ours].sum(), theirs.sum(), atol=1e-6)
    assert roads.departed.sum() == roads.arrived.sum() == roads.entered.sum() == 12
    passages = measures.passages
    np.testing.assert_allclose(passages.entered, trips.departed, atol=1e-9)
    np.testing.assert_allclose(passages.left, trips.arrived, atol=1e-9)
    sections = measures.sections
    assert sections.count.sum() == 12
    total = np.nansum(sections.mean_time * sections.count)
    np.testing.assert_allclose(total, (trips.arrived - trips.departed).sum())


@pytest.mark.parametrize(
    ("front", "speed", "metres", "vehicles"),
    [
        ([199.0, 191.5, 184.0], [0.0, 0.0, 0.0], 21.0, 3),  # a queue at the line
        ([199.0, 185.0, 177.5], [8.0, 0.0, 0.0], 27.5, 2),  # its head drives off already
        ([170.0], [0.0], 0.0, 0),  # alone in the middle of the lane
        ([199.0, 160.0], [0.0, 0.0], 6.0, 1),  # the second one has not come up
        ([199.0, 191.0], [0.0, 9.0], 6.0, 1),  # the second one is coming
        ([2.0], [0.0], 0.0, 0),
        ([], [], 0.0, 0),
    ],
)
def test_a_queue_reaches_back_to_the_last_slow_vehicle_without_a_gap_before_it(
    front: list[float], speed: list[float], metres: float, vehicles: int
) -> None:
    network = generate("straight", length=200.0)
    veh = state.new_vehicles(8)
    for i, (s, v) in enumerate(zip(front, speed, strict=True)):
        slot = 7 - 2 * i
        veh.lane[slot], veh.id[slot], veh.s[slot], veh.speed[slot] = 0, i, s, v
        veh.length[slot] = 5.0
    queues = Queues(
        row=np.zeros(1, np.int32), lane=np.zeros(1, np.int32), place=np.zeros(1, np.int32),
        start=np.zeros(2, np.int32), slot=np.zeros(8, np.int32), sums=np.zeros((1, 2)),
        most=np.zeros((1, 2)),
    )  # fmt: skip
    look_at_queues(network.arrays.lanes, veh, queues)
    np.testing.assert_allclose(queues.sums[0], [metres, vehicles])
    np.testing.assert_allclose(queues.most[0], [metres, vehicles])


# --- laws ------------------------------------------------------------------------------------


def test_vehicles_on_a_road_are_those_that_entered_less_those_that_left(grid: Network) -> None:
    world = busy(grid)
    measures = Measures(world, 20.0)
    world.observers.append(measures)
    counted = np.zeros(grid.n_roads, int)
    for k in range(12):
        world.step(80)
        measures.finish()  # wherever the clock stands
        roads = measures.roads
        last = roads.end == world.time
        assert last.any() and (roads.end <= 20.0 * (k + 1) + world.begin).all()
        row = [grid.road_index[name] for name in roads.road[last]]
        every = [grid.road_index[name] for name in roads.road]
        counted[:] = 0
        np.add.at(counted, every, roads.entered - roads.left)
        road = grid.arrays.lanes.road[world.vehicles.lane]
        now = np.bincount(road[road >= 0], minlength=grid.n_roads)
        np.testing.assert_array_equal(counted, now)
        np.testing.assert_array_equal(roads.vehicles[last], now[row])
    assert world.arrived > 20
    assert measures.roads.departed.sum() == world.departed
    assert measures.roads.arrived.sum() == world.arrived


def test_roads_and_intersections_share_all_time_distance_and_loss(grid: Network) -> None:
    world = busy(grid)
    measures = Measures(world, "1h")
    world.observers.append(measures)
    while not world.done:
        world.step()
    measures._settle_readings()
    time, distance, ideal, waited, stopped = measures.meters.sums.sum(axis=0) / TICKS
    trips = world.trips
    np.testing.assert_allclose(time, (trips.arrived - trips.departed).sum())
    np.testing.assert_allclose(distance, trips.distance.sum())
    np.testing.assert_allclose(time - stopped - ideal, trips.time_loss.sum(), atol=1e-6)
    np.testing.assert_allclose(waited, trips.waiting_time.sum())
    assert (measures.meters.sums >= -1e-9).all()


@pytest.mark.small_world
def test_section_times_are_trip_times_where_it_is_the_whole_way(grid: Network) -> None:
    world = busy(grid, 80)
    demand = world.demand
    ends = [
        (int(demand.roads[a]), int(demand.roads[b - 1]))
        for a, b in zip(demand.route_start[:-1], demand.route_start[1:], strict=True)
    ]
    sections = [Section(f"{a} {b}", a, b) for a, b in dict.fromkeys(ends)]
    measures = Measures(world, "5min", sections=sections)
    world.observers.append(measures)
    while not world.done:
        world.step()
    passages = measures.passages
    found = {
        (section, vehicle): (came, left)
        for section, vehicle, came, left in zip(*passages.columns.values(), strict=True)
    }
    for trip, came, left in zip(
        world.trips.trip, world.trips.departed, world.trips.arrived, strict=True
    ):
        a, b = ends[trip]
        assert found[f"{a} {b}", demand.ids[trip]] == pytest.approx((came, left), abs=1e-9)


@pytest.mark.small_world
def test_a_world_that_is_measured_has_the_same_state() -> None:
    network = two_lanes()
    bare, watched = busy(network, walkers=200), busy(network, walkers=200)
    everything = Measures(
        watched, "30s", loops=all_loops(network, 0.7), queues=True,
        sections=[Section("a", 0, 1), Section("b", 2, 9)],
    )  # fmt: skip
    watched.observers.append(everything)
    for _ in range(4):
        bare.step(120)
        watched.step(120)
        assert bare.state_hash() == watched.state_hash()
    loops = everything.loops
    assert loops.count.sum() > 100
    assert ((loops.occupancy >= 0.0) & (loops.occupancy <= 1.0)).all()


@pytest.mark.small_world
def test_a_vehicle_taken_off_the_road_has_left(grid: Network) -> None:
    world = busy(grid)
    measures = Measures(world, 10.0, loops=all_loops(grid, 0.5))
    world.observers.append(measures)
    world.step(160)
    slot = int(np.flatnonzero(world.sim.veh.lane >= 0)[0])
    world.sim.veh.lane[slot] = -1
    world.step(80)
    measures.finish()
    roads = measures.roads
    on_roads = grid.arrays.lanes.road[world.vehicles.lane] >= 0
    assert (roads.entered - roads.left).sum() == on_roads.sum()
    assert (measures.laid.over != world.sim.veh.id[slot]).all()


@pytest.mark.parametrize("begin", [50_300.0, 25_199.75, 0.3])
def test_intervals_begin_at_full_ones_of_the_clock_whenever_the_run_begins(begin: float) -> None:
    network = generate("straight", length=2000.0, speed=15.0)
    builder = DemandBuilder()
    for i in range(60):
        builder.add(Trip(f"c{i}", begin + 4.0 * i, EVENLY, [0]))
    world = World(network, builder.build(), dt=0.25, begin=begin)
    measures = Measures(
        world, "1min", loops=[Loop("a", 0, 100.0, interval=90.0)], queues=[Queue("q", 0)]
    )
    world.observers.append(measures)
    world.step(4 * 250)
    measures.finish()
    for name, interval in (("roads", 60.0), ("loops", 90.0), ("queues", 60.0)):
        edges = np.unique([measures.table(name).begin, measures.table(name).end])
        assert (edges[0], edges[-1]) == (begin, begin + 250.0)
        inner = edges[1:-1]
        assert np.abs(inner / interval - np.round(inner / interval)).max() * interval < 0.2
        np.testing.assert_allclose(np.diff(inner), interval)
        assert inner.size in (2, 3, 4, 5)
    assert measures.roads.entered.sum() == world.departed
    assert measures.loops.count.sum() == world.arrived + (world.vehicles.s >= 100.0).sum()


# --- intervals, tables, mistakes -----------------------------------------------------------------


def test_loops_may_have_intervals_of_their_own_and_the_last_one_is_shorter() -> None:
    world = stream(0.5)
    loops = [Loop("a", 0, 500.0), Loop("b", 0, 400.0, interval=40.0)]
    measures = Measures(world, 100.0, roads=False, loops=loops)
    world.observers.append(measures)
    world.step(2 * 250)
    measures.finish()
    measures.finish()
    table = measures.loops
    ends = {name: table.end[table.loop == name].tolist() for name in ("a", "b")}
    assert ends == {
        "a": [100.0, 200.0, 250.0],
        "b": [40.0, 80.0, 120.0, 160.0, 200.0, 240.0, 250.0],
    }
    counts = {name: table.count[table.loop == name].sum() for name in ("a", "b")}
    front = world.vehicles.s
    assert counts == {
        "a": world.arrived + (front >= 500.0).sum(), "b": world.arrived + (front >= 400.0).sum(),
    }  # fmt: skip
    assert measures.kept == ("loops",)


def test_the_interval_of_a_table_may_be_told_as_text_and_goes_by_the_clock() -> None:
    world = stream(0.5)
    world.step(50)
    measures = Measures(world, "1min")
    world.observers.append(measures)
    world.step(240)
    roads = measures.roads
    np.testing.assert_array_equal(roads.begin, [25.0, 60.0])
    np.testing.assert_array_equal(roads.end, [60.0, 120.0])
    measures.finish()
    roads = measures.roads
    np.testing.assert_array_equal(roads.end, [60.0, 120.0, 145.0])
    assert roads.entered.sum() - roads.left.sum() == world.active - 7  # that many were there
    frame = roads.to_pandas()
    assert list(frame.columns) == list(roads.columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loops": [Loop("a", "nowhere", 1.0)]}, "loop 'a': the network has no lane 'nowhere'"),
        ({"loops": [Loop("a", 99, 1.0)]}, "loop 'a': the network has no lane 99"),
        ({"loops": [Loop("a", -1, 1.0)]}, "loop 'a': the network has no lane -1"),
        ({"loops": [Loop("a", 0, 2000.1)]}, "pos 2000.1 m is not on lane .* wanted 0 to 2000.00"),
        ({"loops": [Loop("a", 0, -2001.0)]}, "pos -2001 m is not on lane"),
        ({"loops": [Loop("a", 0, float("nan"))]}, "pos nan m is not on lane"),
        ({"loops": [Loop("a", 0, 1.0), Loop("a", 0, 2.0)]}, "loop 'a' is given twice"),
        (
            {"sections": [Section("s", "straight", "x" * 90)]},
            "section 's': the network has no road",
        ),
        ({"queues": ["a lane"]}, "queue 'a lane': is the id of no lane, road or intersection"),
        ({"queues": [Queue("q", "b")]}, "queue 'q': the network has no lane 'b'"),
        ({"interval": "soon"}, "interval 'soon': wanted a time"),
        ({"interval": float("nan")}, "interval nan: wanted a time"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(options, message: str) -> None:
    with pytest.raises(RushhourError, match=message) as caught:
        Measures(stream(0.5), **options)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, DetectorError) or "interval" in options


def test_the_vehicles_on_the_road_come_as_a_pandas_frame() -> None:
    network = two_lanes()
    world = busy(network, walkers=100)
    world.step(200)
    frame, table = world.table(), world.vehicles
    order = np.argsort(table.id)
    assert len(frame) == world.active
    assert frame.id.tolist() == [world.demand.ids[i] for i in table.id[order]]
    np.testing.assert_array_equal(frame.speed, table.speed[order])
    on_lane = frame[frame.lane != ""]
    assert len(on_lane) and (on_lane.intersection == "").all()
    inside = frame[frame.lane == ""]
    assert len(inside) and (inside.road == "").all() and (inside.intersection != "").all()
    for row in on_lane.itertuples():
        lane = network.lane_index[row.lane]
        assert network.road_ids[network.arrays.lanes.road[lane]] == row.road
        points = network.lane_points(lane)
        assert points[:, 0].min() - 20 <= row.x <= points[:, 0].max() + 20
    frame["speed"] = 0.0  # a copy
    assert world.vehicles.speed.max() > 0.0
