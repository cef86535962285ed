"""Speed limits that change while a world runs: who drives, who searches a way, what is kept."""

import numpy as np
import pytest
from command_worlds import demand_of, straight, two_ways, world_of

import rushhour as rh
from rushhour.roadnets.model import Network
from rushhour.traffic.checker import Checker
from rushhour.traffic.commands.events import Event, plan_events
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.routing.limited_network import with_limits
from rushhour.traffic.routing.road_graph import road_graph

pytestmark = pytest.mark.small_world


def bend(speed: float) -> Network:
    """A road that bends with a radius of 200 m, and one behind it."""
    builder = rh.NetworkBuilder("bend")
    turn = np.linspace(0.0, np.pi / 2, 60)
    points = [(200.0 * np.sin(a), 200.0 - 200.0 * np.cos(a)) for a in turn]
    builder.add_road([(-200.0, 0.0), *points], speed=speed, id="first")
    builder.add_road([(200.0, 200.0), (200.0, 500.0)], speed=speed, id="last")
    return builder.build()


def test_drivers_brake_comfortably_to_a_lower_limit_and_back_to_the_old_one() -> None:
    network = straight(lanes=2)
    world = world_of(network, demand_of(network, 4.0, 12, ["first", "last"]))
    world.observers.append(checker := Checker(world))
    world.step(200)
    assert world.vehicles.speed.max() > 13.5
    world.set_speed_limit("first", 5.0)
    hardest = 0.0
    for _ in range(120):
        world.step()
        hardest = min(hardest, float(world.vehicles.accel.min()))
    assert hardest >= -2.6 and world.vehicles.speed.max() < 5.5
    assert world.speed_limits() == {"first_0": 5.0, "first_1": 5.0}
    world.set_speed_limit(["first_1", "first_0"], None)
    world.step(80)
    assert world.vehicles.speed.max() > 13.0 and world.speed_limits() == {}
    assert not checker.violations, checker.lines()


def test_a_raised_limit_is_as_if_the_network_were_built_with_it_bends_included() -> None:
    slow, fast = bend(13.9), bend(30.0)
    raised = with_limits(
        slow, np.full(2, 30.0), rh.Parameters().number("curve.lateral_acceleration")
    )
    assert slow.arrays.lanes.profile.size == 0 and fast.arrays.lanes.profile.size > 0
    for name in ("speed", "profile_start", "profile", "entry_speed"):
        expected = getattr(fast.arrays.lanes, name)
        found = getattr(raised.arrays.lanes, name)
        np.testing.assert_array_equal(found, expected, err_msg=name)
        assert found.dtype == expected.dtype
    np.testing.assert_array_equal(raised.arrays.roads.speed, fast.arrays.roads.speed)


def test_ways_that_are_sought_know_of_the_limits() -> None:
    network = two_ways()
    demand = demand_of(network, 5.0, 20, ["in", "out"])
    given = {"rerouting.fraction": 1.0, "rerouting.period": 5.0}
    world = world_of(network, demand, given)
    world.set_speed_limit("short", 3.0)
    world.step()
    permission = int(world.sim.types.permission[0])
    cost = road_graph(world.network, permission).cost
    before = road_graph(network, permission).cost
    short, long = network.road_index["short"], network.road_index["long"]
    assert cost[short] == pytest.approx(before[short] * 13.9 / 3.0) and cost[long] == before[long]
    world.step(400)
    roads = network.arrays.lanes.road[world.vehicles.lane]
    assert (roads == long).any() and not (roads == short).any()
    world.close_roads("long")  # closures lie over the limits
    world.step()
    assert road_graph(world.network, permission).cost[short] == cost[short]
    assert world.network.arrays.lanes.speed[network.lane_index["short_0"]] == 3.0
    world.reset()
    assert world.network is network and world.speed_limits() == {}


@pytest.mark.parametrize(
    ("places", "speed", "why"),
    [
        ("nowhere", 5.0, "no road 'nowhere'; it has 2, as first"),
        (17, 5.0, "no road 17; there are 2, from 0 on"),
        ([], 5.0, "no places given; name at least one road or lane"),
        (["first", 1.5], 5.0, "road '1.5': wanted an id or a number"),
        ("first", 0.0, "speed 0.0: wanted 0.1 to 100 m/s, or None"),
        ("first", float("nan"), "speed nan: wanted 0.1 to 100 m/s, or None"),
        ("first", "fast", "speed fast: wanted 0.1 to 100 m/s, or None"),
    ],
)
def test_an_impossible_limit_is_one_line_and_changes_nothing(places, speed, why: str) -> None:
    world = world_of(straight(), demand_of(straight(), 4.0, 2, ["first", "last"]))
    before = world.state_hash()
    with pytest.raises(CommandError, match="^[^\n]*$") as error:
        world.set_speed_limit(places, speed)
    assert str(error.value) == f"set_speed_limit: {why}"
    assert not len(world.commands) and world.state_hash() == before


def test_a_planned_limit_and_the_same_limit_given_in_the_run_are_the_same_bits() -> None:
    network = straight()
    planned = world_of(network, demand_of(network, 4.0, 12, ["first", "last"]))
    planned.schedule("20s", "set_speed_limit", places=["first"], speed=6.0)
    given = world_of(network, demand_of(network, 4.0, 12, ["first", "last"]))
    given.step(80)
    given.set_speed_limit("first", 6.0)
    planned.step(160)
    given.step(80)
    assert planned.state_hash() == given.state_hash()
    without = world_of(network, demand_of(network, 4.0, 12, ["first", "last"]))
    without.step(160)
    assert without.state_hash() != given.state_hash()


def test_a_limit_of_a_scenario_holds_until_it_ends() -> None:
    network = straight()
    world = world_of(network, demand_of(network, 4.0, 2, ["first", "last"]))
    given = {"places": ["last"], "speed": 6.0, "until": 20.0}
    plan_events(world, [Event(10.0, "set_speed_limit", given)])
    world.step(41)
    assert world.speed_limits() == {"last_0": 6.0}
    world.step(40)
    assert world.speed_limits() == {}
