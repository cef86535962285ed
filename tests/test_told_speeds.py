"""Drivers who are told a speed keep to it, and to all else."""

import numpy as np
import pytest
from command_worlds import demand_of, straight, two_ways, world_of

from rushhour.traffic.checker import Checker

pytestmark = pytest.mark.small_world


def speeds(w) -> dict[str, float]:
    """Speed of everybody on the road, m/s, by id."""
    return dict(zip(w.vehicles.name.tolist(), w.vehicles.speed.tolist(), strict=True))


def test_who_is_told_a_speed_keeps_it_until_it_is_let_go() -> None:
    w = world_of(network := straight(), demand_of(network, 4.0, 3, ["first", "last"]))
    w.observers.append(checker := Checker(w))
    w.step(100)
    assert min(speeds(w).values()) > 11.0
    w.set_speed("car1", 5.0)
    w.step(60)
    found = speeds(w)
    assert found["car0"] > 12.0 and found["car1"] == pytest.approx(5.0, abs=0.05)
    assert found["car2"] == pytest.approx(5.0, abs=0.5)  # behind it on the only lane
    w.set_speed("car1", None)
    w.step(80)
    assert min(speeds(w).values()) > 11.0 and not checker.violations, checker.lines()


def test_who_is_told_to_slow_down_brakes_comfortably_and_nobody_speeds_up_over_the_limit() -> None:
    w = world_of(network := straight(), demand_of(network, 4.0, 1, ["first", "last"]))
    w.step(100)
    w.set_speed("car0", 1.0)
    hardest = 0.0
    for _ in range(60):
        w.step()
        hardest = min(hardest, float(w.vehicles.accel[0]))
    assert -w.demand.types[0].decel - 1e-9 <= hardest < -0.5
    w.set_speed("car0", 60.0)
    w.step(120)
    assert 12.0 < w.vehicles.speed[0] < 13.9 * 1.05


def test_a_lower_limit_and_a_vehicle_ahead_bind_who_was_told_more() -> None:
    w = world_of(network := straight(), demand_of(network, 4.0, 2, ["first", "last"]))
    w.observers.append(checker := Checker(w))
    w.step(60)
    w.set_speed(["car0", "car1"], [3.0, 9.0])
    w.step(160)
    assert speeds(w)["car1"] == pytest.approx(3.0, abs=0.3)
    w.set_speed_limit("first", 2.0)
    w.step(60)
    assert max(speeds(w).values()) < 2.2 and not checker.violations, checker.lines()


def test_speeds_are_in_snapshots_in_the_hash_and_in_commands_given_again() -> None:
    network = two_ways(lanes=2)
    w = world_of(network, demand_of(network, 4.0, 4, ["in", "out"]))
    w.step(60)
    untold = w.state_hash()
    before = w.snapshot()
    w.set_speed([0, 1], 4.0)
    w.step(1)
    kept = w.snapshot()
    w.step(79)
    told = w.state_hash()
    w.restore(kept)
    np.testing.assert_array_equal(np.sort(w.vehicles.top)[:2], 4.0)
    w.step(79)
    assert w.state_hash() == told
    commands = list(w.commands)
    w.restore(before)
    assert w.state_hash() == untold
    w.step(80)
    assert w.state_hash() != told
    again = world_of(network, demand_of(network, 4.0, 4, ["in", "out"]))
    again.repeat(commands)
    again.step(140)
    assert again.state_hash() == told


def test_a_told_speed_alone_changes_the_hash() -> None:
    w = world_of(network := straight(), demand_of(network, 4.0, 1, ["first", "last"]))
    other = world_of(network, demand_of(network, 4.0, 1, ["first", "last"]))
    w.step(40)
    other.step(40)
    w.set_speed("car0", 90.0)  # faster than it drives: its motion stays the same
    w.step()
    other.step()
    np.testing.assert_array_equal(w.vehicles.s, other.vehicles.s)
    assert w.state_hash() != other.state_hash()
