"""The checker beside real worlds: silent on sound runs, not on tampered ones, and without a trace."""

import numpy as np
import pytest
from checked_runs import checked

from rushhour.kernels.core.network import GREEN
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world
GRIDS = ("signals", "all_way_stop", "priority")


def world_on(network, vehicles: int, check: bool = True, **options):
    options = {"dt": 0.25, "seed": 1, **options}
    world = World(network, vehicles_on_road(network, vehicles, seed=1), **options)
    checker = Checker(world)
    if check:
        world.observers.append(checker)
    return world, checker


def small_grid(control: str):
    return generate("grid", rows=3, columns=3, control=control, border="loops")


@pytest.mark.parametrize("control", GRIDS)
def test_a_grid_breaks_no_rule(control):
    world, checker = world_on(small_grid(control), 150)
    world.step(480)
    assert checker.violations == {}
    assert world.active == 150


def test_lights_that_show_green_to_all_are_not_believed():
    world, checker = world_on(small_grid("signals"), 150)
    for _ in range(480):
        world.sim.grants.light[:] = GREEN
        world.step()
    assert checker.report()["red_light"] > 10


def test_grants_for_everybody_end_in_findings():
    world, checker = world_on(small_grid("all_way_stop"), 150)
    for _ in range(480):
        heads = (world.sim.veh.lane >= 0) & (world.sim.veh.path[:, 0] >= 0)
        world.sim.veh.granted[heads] = np.maximum(world.sim.veh.granted[heads], 1)
        world.step()
    report = checker.report()
    assert report["stop_sign"] > 10
    assert report["conflict_zone_shared"] > 0


def test_cars_with_poor_brakes_run_into_each_other():
    world, checker = world_on(small_grid("signals"), 150)
    world.sim.types.emergency[:] = 0.3
    world.step(480)
    assert checker.report()["overlap"] > 10


def test_a_checked_world_is_the_same_world():
    plain, _ = world_on(small_grid("priority"), 100, check=False)
    checked, _ = world_on(small_grid("priority"), 100)
    for world in (plain, checked):
        world.step(120)
    assert plain.state_hash() == checked.state_hash()


def test_a_checker_may_come_later():
    world, _ = world_on(small_grid("signals"), 150, check=False)
    world.step(200)
    checker = checked(world)
    world.step(200)
    assert checker.violations == {}
