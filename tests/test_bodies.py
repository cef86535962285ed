"""Bodies from outside: traffic brakes behind them, lets them cross, changes lane and passes."""

import numpy as np
import pytest
from bodies_worlds import corners, covered, overlaps
from checked_runs import checked
from command_worlds import demand_of, straight, world_of
from two_way_road import EAST, WEST, trip, two_way_road

from rushhour.kernels.core.vehicles import REASONS
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.demand.builder import DemandBuilder
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.world import World

BODY = REASONS.index("body")


def one_lane(cars: int = 5, every: float = 4.0) -> World:
    """Cars on a road of 400 m to the east, on y = 0."""
    network = straight(lanes=1, length=400.0)
    return world_of(network, demand_of(network, every, cars, ["first", "last"]))


def column(world: World, vehicle: int, name: str) -> float:
    table = world.vehicles
    return float(getattr(table, name)[np.flatnonzero(table.id == vehicle)[0]])


def test_traffic_stands_behind_a_body_and_goes_on_without_it() -> None:
    world = one_lane()
    checker = checked(world)
    world.step(40)
    world.bodies.set([5], x=250.0, y=0.0)
    for _ in range(140):
        world.step()
        assert not overlaps(world)
    assert 1.5 < 250.0 - 2.25 - column(world, 0, "s") < 3.5, "at the gap of a queue"
    assert column(world, 0, "speed") == 0.0 and column(world, 0, "reason") == BODY
    assert world.bodies.waiting() == [(0, 5)] and world.reasons()["body"] == 1
    world.bodies.clear()
    world.step(100)
    assert column(world, 4, "speed") > 5.0 and not world.bodies.waiting()
    assert world.bodies.contacts == 0 and not checker.violations, checker.lines()


def test_traffic_follows_a_body_that_drives() -> None:
    world = one_lane(2)
    world.step(24)
    for k in range(140):
        world.bodies.set([9], x=130.0 + 4.0 * 0.25 * k, y=0.0, speed=4.0)
        world.step()
        assert not overlaps(world)
    assert abs(column(world, 0, "speed") - 4.0) < 0.3
    assert column(world, 0, "reason") == BODY


@pytest.mark.parametrize("aside", [2.3, -2.4])
def test_who_has_room_beside_a_body_drives_on(aside: float) -> None:
    world = one_lane(2)
    world.step(24)
    world.bodies.set([1], x=180.0, y=aside, length=1.0, width=1.0)
    slowest = np.inf
    for _ in range(60):
        world.step()
        slowest = min(slowest, column(world, 0, "speed"))
        assert not overlaps(world)
    assert slowest > 12.0


def test_nobody_touches_pedestrians_who_cross_and_all_get_on() -> None:
    """Each begins 8 m beside the road, five seconds before it is on it, whatever comes."""
    draw = np.random.default_rng(4)
    world = one_lane(30, every=2.5)
    walkers = [
        (k, float(draw.uniform(60.0, 380.0)), float(draw.choice([-1.4, 1.4, 1.0, -0.8])), k * 4.0)
        for k in range(24)
    ]
    yielded = 0
    for _ in range(400):
        now = [(k, x, v, world.time - t) for k, x, v, t in walkers if 0.0 <= world.time - t < 16.0]
        ids, x, v, since = np.array(now).T.reshape(4, -1)
        y = -8.0 * np.sign(v) + v * since
        world.bodies.set(ids.astype(int), x, y, np.pi / 2, vx=0.0, vy=v, length=0.5, width=0.5)
        world.step()
        assert not overlaps(world)
        yielded += len(world.bodies.waiting())
    assert world.bodies.contacts == 0 and yielded > 50
    assert world.arrived > 10, "they go first where there is time"


def test_who_jumps_before_a_car_is_counted_once() -> None:
    world = one_lane(1)
    world.step(60)
    s = column(world, 0, "s")
    world.bodies.set([3], x=s + 6.0, y=0.0, length=0.5, width=0.5)
    touched = []
    for _ in range(8):
        world.step()
        touched += world.bodies.touching()
    assert len(touched) > 1 and set(touched) == {(3, 0)}
    assert world.bodies.contacts == 1 == world.counts()["body_contacts"]


def crossing(control: str) -> World:
    network = generate("cross", length=120.0, control=control)
    return World(network, random_trips(network, 60, 60.0, seed=3), dt=0.25, seed=3)


@pytest.mark.parametrize("control", ["yield", "signals", "all_way_stop"])
def test_nobody_enters_an_intersection_past_a_body(control: str) -> None:
    world = crossing(control)
    checker = checked(world)
    world.bodies.set([1], x=0.0, y=0.0, length=9.0, width=9.0)
    net = world.network
    inside = 0
    for _ in range(320):
        world.step()
        assert not overlaps(world)
        inside += int((world.vehicles.lane >= net.n_road_lanes).sum())
    assert world.reasons()["body"] >= 2 and inside < 320
    world.bodies.clear()
    world.step(1600)
    assert world.arrived == 60
    assert not checker.violations, checker.lines()


def test_a_pedestrian_on_the_crossing_is_let_over() -> None:
    """It walks to and fro over one arm; those with a green wait for it, and go between.

    Before a car that stands in its way it stops, as on a crossing that a queue reaches over.
    """
    world = crossing("signals")
    width, walked = 10.0, 0.0
    for _ in range(600):
        for time in (walked + world.dt, walked):
            phase = (time % 30.0) / 15.0
            y = width * (2.0 * phase - 1.0) if phase < 1.0 else width * (3.0 - 2.0 * phase)
            v = (2.0 if phase < 1.0 else -2.0) * width / 15.0 if time > walked else 0.0
            if not covered(world, corners(-14.0, y + v * world.dt, 0.0, 0.6, 0.6)):
                break
        walked = time
        world.bodies.set([1], x=-14.0, y=y, vx=0.0, vy=v, length=0.6, width=0.6)
        world.step()
        assert not overlaps(world)
    assert walked > 0.5 * world.time
    assert world.arrived > 30 and world.bodies.contacts == 0


def test_all_change_past_a_body_on_one_of_two_lanes() -> None:
    network = straight(lanes=2, length=500.0)
    world = world_of(network, demand_of(network, 2.5, 40, ["first", "last"]))
    checker = checked(world)
    y = float(network.points[network.point_start[0], 1])
    world.bodies.set([1], x=300.0, y=y)
    for _ in range(800):
        world.step()
        assert not overlaps(world)
    assert world.arrived == 40
    assert not checker.violations, checker.lines()
    assert checker.information["longest_standstill_s"]["value"] < 30.0


def two_way(trips: int, oncoming: int) -> World:
    network = two_way_road(metres=600.0)
    builder = DemandBuilder()
    for k in range(trips):
        builder.add(trip(network, f"e{k}", 6.0 * k))
    for k in range(oncoming):
        builder.add(trip(network, f"w{k}", 9.0 * k, WEST))
    return World(network, builder.build(), dt=0.25, seed=1)


@pytest.mark.parametrize(("size", "oncoming"), [(1.8, 0), (1.8, 5), (0.6, 3)])
def test_a_body_on_a_one_lane_road_is_passed(size: float, oncoming: int) -> None:
    world = two_way(4, oncoming)
    checker = checked(world)
    assert EAST[1] == "east"
    y = -1.6 if size > 1.0 else -2.9  # in the lane, or at its edge
    world.bodies.set([1], x=250.0, y=y, length=4.0 if size > 1.0 else 0.6, width=size)
    for _ in range(800):
        world.step()
        assert not overlaps(world)
    assert world.arrived == 4 + oncoming
    assert not checker.violations, checker.lines()
    assert 4 <= world.counts()["passes"] <= 6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ids": [1, 1], "x": [0, 9]}, "id 1 is given twice"),
        ({"ids": [1], "x": [np.nan]}, r"x of body 1 is nan; wanted a number from -1e\+07"),
        ({"ids": [1], "x": 0.0, "length": 0.0}, "length of body 1 is 0; wanted .* more than 0"),
        ({"ids": [1], "x": 0.0, "speed": 900.0}, "vx of body 1 is 900"),
        ({"ids": [1], "x": 0.0, "speed": 1.0, "vy": 1.0}, "give one of both"),
        ({"ids": [1, 2], "x": [0.0, 1.0, 2.0]}, r"x has the shape \(3,\); there are 2 ids"),
        ({"ids": [0.5], "x": 0.0}, "wanted whole numbers"),
        ({"ids": [2**40], "x": 0.0}, "32 bits"),
        ({"ids": [1], "x": "far"}, "x: wanted numbers"),
    ],
)
def test_what_cannot_be_a_body_is_one_line_and_changes_nothing(given, message) -> None:
    world = one_lane(1)
    world.bodies.set([4], 1.0, 2.0)
    with pytest.raises(CommandError, match=message) as told:
        world.bodies.set(**{"y": 0.0, **given})
    assert "\n" not in str(told.value)
    world.step()
    assert world.bodies.rows["id"].tolist() == [4]


def test_bodies_are_in_the_hash_while_there_are_any() -> None:
    one, other = one_lane(2), one_lane(2)
    for world in (one, other):
        world.step(20)
    other.bodies.set([1], 9e3, 9e3)  # far off the roads
    for world in (one, other):
        world.step(10)
    assert one.state_hash() != other.state_hash()
    other.bodies.clear()
    for world in (one, other):
        world.step(10)
    assert one.state_hash() == other.state_hash()
