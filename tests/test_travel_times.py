"""Rerouting by current travel times: drivers split over two ways, and nobody else is touched."""

import numpy as np
import pytest
from command_worlds import demand_of, world_of

import rushhour as rh
from rushhour.cli.one_run import given_fields
from rushhour.kernels.measuring.travel_times import FREE_TRACE, slowness
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.measures.trip_table import trip_columns
from rushhour.traffic.scenarios.opening import opened

FREE = {"routing.choice": "free-flow"}  # at departure; here drivers look on their way
ALL = {**FREE, "rerouting.fraction": 1.0, "rerouting.period": 30.0}


@pytest.fixture(scope="module")
def network():
    """From "in" to "out" by "short" and "slow", which carries 1,300 vehicles an hour, or by "long"."""
    builder = rh.NetworkBuilder("bottleneck")
    builder.add_road([(-300.0, 0.0), (0.0, 0.0)], lanes=2, speed=13.9, id="in")
    builder.add_road([(0.0, 0.0), (300.0, 0.0)], speed=13.9, id="short")
    builder.add_road([(300.0, 0.0), (400.0, 0.0)], speed=4.0, id="slow")
    long = [(0.0, 0.0), (60.0, 150.0), (200.0, 260.0), (340.0, 150.0), (400.0, 0.0)]
    builder.add_road(long, speed=13.9, id="long")
    builder.add_road([(400.0, 0.0), (600.0, 0.0)], lanes=2, speed=13.9, id="out")
    builder.add_intersection(0.0, 0.0, control="none", id="fork")
    builder.add_intersection(400.0, 0.0, control="none", id="join")
    return builder.build()


def times(world) -> tuple[np.ndarray, np.ndarray]:
    """Travel times (s) of all trips and whether they went by the long way."""
    log = world.trips
    return log.arrived - log.departed, log.distance > 1000.0


def test_drivers_who_look_at_the_traffic_share_two_ways_near_equilibrium(network) -> None:
    means = {}
    for given in (FREE, ALL):
        world = world_of(network, demand_of(network, 2.0, 200, ["in", "out"]), given)
        world.step(4800)
        assert world.done
        taken, by_long = times(world)
        means[len(given)] = taken.mean()
        assert by_long.any() == (given is ALL)
    # All by the short way, the queue before "slow" grows; those who look leave it when it costs more.
    assert means[3] < 0.65 * means[1]
    assert 0.2 < by_long.mean() < 0.8
    late = np.arange(taken.size) >= taken.size // 2
    short, long = taken[late & ~by_long].mean(), taken[late & by_long].mean()
    assert abs(short - long) < 0.35 * min(short, long), "neither way is much better"
    reroutes = trip_columns(world.sim)["reroutes"]
    assert sum(reroutes) == world.rerouting()["rerouted"] >= by_long.sum()


def test_a_blocked_way_is_left_by_those_who_look_and_by_nobody_else(network) -> None:
    for fraction in (0.0, 0.5):
        given = {**FREE, "rerouting.fraction": fraction, "rerouting.period": 15.0}
        world = world_of(network, demand_of(network, 4.0, 60, ["in", "out"]), given)
        world.step(220)
        table = world.vehicles
        ahead = table.lane == network.lane_index["slow_0"]
        world.stop(int(table.id[ahead][0]), duration="4min")
        world.step(2000)
        assert world.done
        share = times(world)[1].mean()
        assert share == 0.0 if fraction == 0.0 else share > 0.25


def test_with_nobody_looking_the_bits_are_as_without(network) -> None:
    demand = demand_of(network, 2.0, 60, ["in", "out"])
    plain = world_of(network, demand, FREE)
    none = world_of(network, demand, {**FREE, "rerouting.fraction": 0.0, "rerouting.period": 5.0})
    for world in (plain, none):
        world.step(400)
    assert plain.state_hash() == none.state_hash()
    few = world_of(network, demand, {**FREE, "rerouting.fraction": 0.01})
    few.step(400)
    assert few.state_hash() != plain.state_hash(), "what is known of the traffic is state"


def test_routes_in_use_are_kept_when_the_pool_closes_up(network) -> None:
    demand = demand_of(network, 2.0, 60, ["in", "long", "out"], whole=True)
    ways, logs = [], []
    for closes_up in (False, True):
        world = world_of(network, demand)
        world.close_roads("long")  # the way round has more roads: it needs a new place
        world.step(60)
        world.push_aside("car3")
        world.step(20)
        detours, used = world.routing.detours, world.routing.minds.used
        assert (world.vehicles.leg >= detours.base).all()
        if closes_up:
            detours._close_up()
            assert world.routing.minds.used <= used
        table, road = world.vehicles, world.sim.routes.road
        places = zip(table.leg.tolist(), table.route_end.tolist(), strict=True)
        ways.append([road[a:b].tolist() for a, b in places])
        world.step(1200)
        logs.append(world.trips.column("arrived").tolist())
    assert ways[0] == ways[1]
    assert logs[0] == logs[1] and len(logs[0]) == 59


def test_slowness_is_what_is_on_a_road_over_how_fast_it_goes() -> None:
    count, pace = np.array([0.0, 4.0, 4.0, 10.0]), np.array([0.0, 4.4, 2.0, 0.0])
    found = np.zeros(4)
    slowness(count, pace, found)
    assert found[0] == found[1] == 1.0
    assert found[2] == pytest.approx(2.0, rel=0.02)
    assert found[3] == pytest.approx(10.0 / FREE_TRACE, rel=0.01)


def test_keeping_routes_and_changing_them_exclude_each_other(network) -> None:
    with pytest.raises(ParameterError, match="drop one of the two"):
        world_of(
            network,
            demand_of(network, 2.0, 1, ["in", "out"]),
            {**ALL, "gridlock.keep_routes": True},
        )


def test_shares_and_periods_come_from_the_command_line_and_from_sumo(tmp_path) -> None:
    import argparse

    from rushhour.cli.command_line import add_commands
    from rushhour.traffic.scenarios.scenario import ScenarioError

    parser = argparse.ArgumentParser()
    add_commands(parser)
    given = given_fields(
        parser.parse_args(["run", "x.h5", "--reroute", "30%", "--reroute-period", "2min"])
    )
    assert dict(given["parameters"]) == {"rerouting.fraction": 0.3, "rerouting.period": 120.0}
    with pytest.raises(ScenarioError, match="--reroute 'some': wanted a share such as 30%"):
        given_fields(parser.parse_args(["run", "x.h5", "--reroute", "some"]))
    (tmp_path / "x.sumocfg").write_text(
        '<configuration><net-file value="x.net.xml"/><device.rerouting.probability value="0.4"/>'
        '<device.rerouting.period value="90"/></configuration>'
    )
    scenario = opened(tmp_path / "x.sumocfg")
    assert dict(scenario.parameters) == {"rerouting.fraction": 0.4, "rerouting.period": 90.0}
    [remark] = scenario.remarks
    assert remark.startswith("nobody is teleported")
    scenario = opened(tmp_path / "x.sumocfg", parameters=(("rerouting.fraction", 0.1),))
    assert dict(scenario.parameters)["rerouting.fraction"] == 0.1
