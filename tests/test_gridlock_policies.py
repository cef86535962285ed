"""What is done about rings of lanes that wait for each other: right-of-way.md section 6, E8."""

from itertools import pairwise

import pytest
from checked_runs import checked

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world
FULL = 200  # cars: 8 of 11 that stand on a lane


@pytest.fixture(scope="module")
def network():
    """Nine crossings; nobody leaves it."""
    return generate(
        "grid", rows=3, columns=3, length=100.0, lanes=1, control="all_way_stop",
        left="shared", border="closed",
    )  # fmt: skip


def full(network, minutes=10.0, seed=3, **given):
    """A full world after so long, with its checker."""
    parameters = Parameters({f"gridlock.{name}": value for name, value in given.items()})
    world = World(
        network,
        vehicles_on_road(network, FULL, seed=seed),
        parameters=parameters,
        dt=0.5,
        seed=seed,
    )
    checker = checked(world)
    world.step(round(minutes * 120))
    return world, checker


def test_without_a_policy_a_ring_stands_for_ever_and_is_named(network):
    world, _ = full(network, policy="none", change_mind_share=0.0)
    report = world.gridlock()
    assert report["cycles_found"] > report["cycles_resolved"]
    assert report["longest_cycle"] > 300.0
    old = max(report["cycles"], key=lambda ring: -ring["since"])
    assert old["until"] is None or old["until"] > old["since"]
    assert all(old[what] == 0 for what in ("rerouted", "rotated", "removed"))
    ends = [network.lane_index[name] for name in old["lanes"]]
    net = network.arrays.connectors
    follows = set(zip(net.from_lane.tolist(), net.to_lane.tolist(), strict=True))
    assert len(ends) >= 3
    assert all(pair in follows for pair in zip(ends, [*ends[1:], ends[0]], strict=True))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_rerouting_resolves_every_ring_within_a_minute_and_removes_nobody(network, share):
    world, checker = full(network, policy="reroute", change_mind_share=share, turn_off_after=3600.0)
    report = world.gridlock()
    assert share > 0.0 or report["cycles_found"] > 0  # else minds change before one closes
    assert report["longest_cycle"] <= 60.0
    assert share > 0.0 or sum(ring["rerouted"] for ring in report["cycles"]) > 0
    assert world.counts()["removed"] == 0
    assert checker.violations == {}


def test_the_heads_of_a_rotated_ring_move_on(network):
    """It goes in the look after, or the one after that; what its movements forbid stays."""
    world, checker = full(network, seed=4, policy="rotate", act_after=0.0, change_mind_share=0.0)
    cycles = world.gridlock()["cycles"]
    rotated = [ring for ring in cycles if ring["rotated"] and ring["until"] is not None]
    assert len(rotated) > 2
    still = full(network, seed=4, policy="none", change_mind_share=0.0)[0]
    assert world.vehicles.distance.sum() > 1.1 * still.vehicles.distance.sum()
    assert checker.violations == {}


def test_the_share_of_heads_that_change_their_mind_is_a_parameter(network):
    changes = [
        full(network, 10.0, policy="none", change_mind_share=share)[0].counts()["minds_changed"]
        for share in (0.0, 0.3, 1.0)
    ]
    assert changes[0] == 0
    assert 0 < changes[1] < changes[2]


@pytest.mark.parametrize("period", [5.0, 20.0])
def test_rings_are_looked_for_once_a_period(network, period):
    world, _ = full(network, seed=3, policy="none", change_mind_share=0.0, wait_for_period=period)
    since = [ring["since"] for ring in world.gridlock()["cycles"]]
    assert since
    assert all(seen % period == 0.0 for seen in since)
    assert period == 20.0 or any(seen % 20.0 for seen in since)


def test_walkers_that_take_exits_with_room_go_on_where_others_stand(network):
    given = {"policy": "none", "change_mind_after": 3600.0}
    stands, _ = full(network, 5.0, turn_off_after=3600.0, **given)
    turns, checker = full(network, 5.0, turn_off_after=0.0, **given)
    assert stands.counts()["minds_changed"] == 0 < turns.counts()["minds_changed"]
    assert turns.vehicles.distance.sum() > 1.1 * stands.vehicles.distance.sum()
    assert checker.violations == {}


def test_each_change_of_mind_at_a_line_takes_twice_as_long_and_keeps_the_claim(network):
    parameters = Parameters(
        {"gridlock.policy": "none", "gridlock.change_mind_after": 5.0,
         "gridlock.turn_off_after": 3600.0}
    )  # fmt: skip
    world = World(
        network, vehicles_on_road(network, FULL, seed=3), parameters=parameters, dt=0.5, seed=3
    )
    minds: dict[int, int] = {}
    times: dict[tuple[int, int], list[float]] = {}  # of a vehicle since it came to a line
    for _ in range(600):
        world.step()
        veh, n = world.sim.veh, world.active
        for i in range(n):
            k = int(veh.id[i])
            if veh.minds[i] > minds.get(k, 0) and veh.arrived[i] >= 0:
                assert veh.full_since[i] == world.frame - 1  # still a claim
                waited = 0.5 * (world.frame - 1 - veh.arrived[i])
                times.setdefault((k, int(veh.arrived[i])), []).append(waited)
            minds[k] = int(veh.minds[i])
    often = [found for found in times.values() if len(found) > 1]
    assert len(often) > 5
    assert all(b >= 2.0 * a - 0.5 for found in often for a, b in pairwise(found))
