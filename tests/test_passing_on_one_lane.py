"""C3.11, S3-30 - S3-33: passing on a road with one lane for each direction."""

from itertools import pairwise

import numpy as np
import pytest
from checked_runs import checked
from planted_world import PlantedWorld
from two_way_road import CAR, EAST, TRACTOR, WEST, Drive, trip, two_way_road

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.opposites import opposite_lanes
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.model import VehicleType

pytestmark = pytest.mark.small_world
BUS = VehicleType(name="bus", length=12.0, width=2.5)


@pytest.fixture(scope="module")
def network():
    return two_way_road()


def stream(network, name, way, every, count, begin=0.0):
    return [trip(network, f"{name}{i}", begin + every * i, way) for i in range(count)]


def test_lanes_side_by_side_in_opposite_directions_are_opposite(network):
    opposite = opposite_lanes(network)
    first = network.arrays.roads.first_lane
    for a, b in zip(EAST, WEST[::-1], strict=True):
        here, there = first[network.road_index[a]], first[network.road_index[b]]
        assert opposite[here] == there
        assert opposite[there] == here
    assert (opposite_lanes(generate("grid", rows=2, columns=2, lanes=2)) == -1).all()
    wrong_side = two_way_road(left_hand=True)
    assert (opposite_lanes(wrong_side) >= 0).all()


@pytest.mark.parametrize("left_hand", [False, True])
def test_a_slow_vehicle_is_passed_where_nobody_comes(left_hand):
    network = two_way_road(left_hand=left_hand)
    trips = [trip(network, "slow", 0.0, kind=TRACTOR), trip(network, "car", 20.0)]
    drive = Drive(network, trips, 400.0)
    assert drive.world.counts()["passes"] == 1
    assert drive.arrival("car") < drive.arrival("slow") - 60.0
    side = drive.track("car")[:, 2] * (-1.0 if left_hand else 1.0)
    assert side.min() == 0.0
    assert side.max() == pytest.approx(0.5 * (TRACTOR.width + CAR.width) + 0.4)
    assert drive.checker.violations == {}
    behind = Drive(network, trips, 400.0, allowed=False)
    assert behind.world.counts()["passes"] == 0
    assert behind.arrival("car") > behind.arrival("slow")


def test_the_body_moves_to_the_side_and_back_in_time_and_is_back_5_s_after(network):
    """C3.11: back to 0.5 m from the middle within 5 s after the pass; no jump to the side."""
    trips = [trip(network, "slow", 0.0, kind=TRACTOR), trip(network, "car", 20.0)]
    drive = Drive(network, trips, 300.0)
    car, slow = drive.track("car"), drive.track("slow")
    assert np.abs(np.diff(car[:, 2])).max() <= 3.5 / 3.0 * 0.25 + 1e-9
    place = np.interp(car[:, 0], slow[:, 0], slow[:, 1], right=np.inf)
    ahead = car[:, 1] - CAR.length > place
    past = car[np.argmax(ahead), 0]
    back = car[(car[:, 0] > past) & (np.abs(car[:, 2]) < 0.5), 0][0]
    assert back - past <= 5.0
    beside = (car[:, 1] > place - TRACTOR.length) & ~ahead
    assert beside.any()
    widths = 0.5 * (CAR.width + TRACTOR.width)
    assert (car[beside, 2] > widths).all()


def test_who_is_passed_does_not_accelerate(network):
    trips = [
        trip(network, "bus", 0.0, kind=BUS, halts=[(400.0, 25.0)]),
        *stream(network, "car", EAST, 6.0, 6, 4.0),
    ]
    drive = Drive(network, trips, 200.0)
    assert drive.world.counts()["passes"] >= 1
    bus = drive.track("bus")
    for name in (f"car{i}" for i in range(6)):
        car = drive.track(name)
        place = np.interp(car[:, 0], bus[:, 0], bus[:, 1])
        speed = np.interp(car[:, 0], bus[:, 0], bus[:, 3])
        beside = (car[:, 1] > place - BUS.length) & (car[:, 1] - CAR.length < place)
        assert (np.diff(speed)[beside[1:]] <= 1e-9).all()
    assert drive.checker.violations == {}


@pytest.mark.parametrize("every", [25.0, 9.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_nobody_meets_anybody_head_on(network, seed, every):
    """Slow vehicles, halting buses and cars in both directions; the checker sees every frame."""
    rng = np.random.default_rng(seed)
    trips = []
    for way in (EAST, WEST):
        t = 0.0
        for i in range(int(420.0 / every)):
            t += rng.exponential(every)
            kind = rng.choice(3, p=[0.8, 0.1, 0.1])
            halts = [(float(rng.uniform(200, 900)), 40.0)] if kind == 2 else []
            name = f"{way[1]}{i}"
            trips.append(trip(network, name, t, way, (CAR, TRACTOR, BUS)[kind], halts))
    drive = Drive(network, sorted(trips, key=lambda t: t.depart), 600.0)
    assert drive.world.counts()["passes"] > 5
    assert drive.checker.violations == {}
    held = Drive(network, trips, 600.0, allowed=False)
    metres = [d.world.trips.distance.sum() + d.world.vehicles.distance.sum() for d in (drive, held)]
    assert metres[0] > metres[1]


def test_a_stream_that_leaves_no_gap_is_waited_for(network):
    oncoming = stream(network, "west", WEST, 5.0, 80)
    trips = [trip(network, "slow", 60.0, kind=TRACTOR), trip(network, "car", 90.0), *oncoming]
    drive = Drive(network, sorted(trips, key=lambda t: t.depart), 300.0)
    assert drive.track("car")[-1, 0] > 200.0
    assert (drive.track("car")[:, 2] == 0.0).all()
    assert drive.checker.violations == {}


def test_a_wide_lane_is_shared_whatever_comes():
    network = two_way_road(width=6.4)
    oncoming = stream(network, "west", WEST, 5.0, 60)
    trips = [trip(network, "slow", 0.0, kind=TRACTOR), trip(network, "car", 20.0), *oncoming]
    drive = Drive(network, sorted(trips, key=lambda t: t.depart), 400.0, oncoming=False)
    assert drive.track("car")[:, 2].max() > 2.0
    assert drive.arrival("car") < drive.arrival("slow")
    assert drive.checker.violations == {}


def test_a_queue_is_not_passed():
    """Cars before a light, or behind somebody who waits for it."""
    network = generate("cross", control="signals", lanes=1, left="shared", length=400.0)
    assert (opposite_lanes(network) >= 0).any()
    from rushhour.traffic.demand.random_trips import random_trips
    from rushhour.traffic.world import World

    world = World(network, random_trips(network, 150, 300.0, seed=1), dt=0.25, seed=1)
    checker = checked(world)
    world.step(4 * 400)
    assert world.arrived > 50
    assert world.counts()["passes"] == 0
    assert checker.violations == {}


def test_the_checker_sees_a_head_on_collision(network):
    world = PlantedWorld(network)
    world.sim.grants.opposite[:] = opposite_lanes(network)
    east, west = network.road_index["east"], network.road_index["west"]
    first = network.arrays.roads.first_lane
    i = world.put(network.lane_ids[first[east]], 600.0)
    world.put(network.lane_ids[first[west]], network.arrays.lanes.length[first[west]] - 598.0)
    world.sim.veh.around[i] = 9
    checker = Checker(world)
    for lateral, found in ((1.0, 0), (2.2, 1)):
        world.sim.veh.lateral[i] = lateral
        world.sim.frame += 1
        checker.observe()
        assert checker.report()["overlap"] == found


def test_drivers_pass_at_the_same_moments_for_every_order_of_the_lanes(network):
    """The two directions are equals: mirrored traffic passes as often."""
    trips = {
        way[1]: [trip(network, "slow", 0.0, way, TRACTOR), *stream(network, "c", way, 8.0, 5, 15.0)]
        for way in (EAST, WEST)
    }
    drives = [Drive(network, trips[name], 400.0) for name in ("east", "west")]
    starts = [
        sorted(
            round(float(t[np.argmax(t[:, 2] > 0), 0]), 6)
            for t in map(d.track, d.seen)
            if t[:, 2].any()
        )
        for d in drives
    ]
    assert len(starts[0]) > 1
    assert all(abs(a - b) <= 0.5 for a, b in zip(*starts, strict=True))
    assert all(b > a for a, b in pairwise(starts[0]))
