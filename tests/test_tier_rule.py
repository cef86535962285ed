"""Rules that choose who is steered: a region, the nearest to a point that moves, named vehicles."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.steering.lane_bodies import DRIVEN, STEERED
from rushhour.roadnets.storage import save
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.steering.rule import TierRule
from rushhour.traffic.world import World

DT = 1.0 / 30.0


def town(vehicles: int = 40, **more: Any) -> World:
    """Walkers on a grid of 2 x 2 crossings; nobody has a body yet."""
    network = rh.generate("grid", rows=2, columns=2)
    given = Parameters({"steered.bodies": True, **more})
    demand = vehicles_on_road(network, vehicles, seed=1)
    return World(network, demand, parameters=given, dt=DT, seed=1)


def middle(world: World) -> tuple[float, float]:
    low, high = world.network.points.min(axis=0), world.network.points.max(axis=0)
    x, y = (0.5 * (low + high)).tolist()
    return x, y


def tiers(world: World) -> dict[int, int]:
    """Tier by vehicle of those on the road."""
    veh: Vehicles = world.sim.veh
    slots = np.flatnonzero(veh.lane >= 0)
    state = world.steering.state.tier[slots]
    return dict(zip(veh.id[slots].tolist(), state.tolist(), strict=True))


def distances(world: World, center: tuple[float, float]) -> dict[int, float]:
    """From a point to every front on its lane, m."""
    table = world.table()
    apart = np.hypot(table.x - center[0], table.y - center[1])
    numbers = {name: k for k, name in enumerate(world.demand.ids)}
    return {numbers[name]: float(d) for name, d in zip(table.id, apart, strict=True)}


def test_those_within_a_radius_are_steered_and_stay_until_they_are_well_outside() -> None:
    world = town()
    center = middle(world)
    world.step(30)
    world.steer_where(center=center, radius=120.0)
    for _ in range(20):
        world.step(15)
        near = distances(world, center)
        for number, tier in tiers(world).items():
            if near[number] < 112.0:  # it may have come nearer since the last look
                assert tier == STEERED
            if near[number] > 125.0 / 0.9 + 8.0:
                assert tier != STEERED
    assert 3 < sum(tier == STEERED for tier in tiers(world).values()) < 37


def test_a_budget_holds_and_does_not_flap_at_its_border() -> None:
    world = town()
    center = middle(world)
    world.step(1)
    world.steer_where(center=center, budget=10)
    changes = nearest_changes = 0
    before: set[int] = set()
    nearest: set[int] = set()
    for _ in range(40):
        world.step(15)
        now = {number for number, tier in tiers(world).items() if tier == STEERED}
        assert len(now) == 10
        changes, before = changes + len(now - before), now
        near = distances(world, center)
        ten = set(sorted(near, key=lambda number: near[number])[:10])
        nearest_changes, nearest = nearest_changes + len(ten - nearest), ten
    outer = max(near[number] for number in before)
    nearer = [n for n, d in near.items() if n not in before and d < 0.9 * outer - 5.0 - 8.0]
    assert not nearer
    assert 10 < changes < 0.9 * nearest_changes


def test_who_steers_at_a_border_stays_where_a_newcomer_is_hardly_nearer() -> None:
    rule = TierRule(center=(0.0, 0.0), budget=1)
    ids, y = np.array([3, 4], np.int32), np.zeros(2)
    for x, steers, expected in (
        ([50.0, 49.0], [True, False], [True, False]),
        ([50.0, 49.0], [False, False], [False, True]),
        ([50.0, 39.0], [True, False], [False, True]),
        ([50.0, 50.0], [False, False], [True, False]),
    ):
        found = rule.chosen(ids, np.array(x), y, np.array(steers))
        assert found.tolist() == expected


def test_a_polygon_holds_who_is_inside_and_named_ones_are_steered_anywhere() -> None:
    corners = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (5.0, 2.0), (0.0, 10.0))  # with a notch
    rule = TierRule(polygon=corners, vehicles=(9,))
    ids = np.array([0, 1, 2, 9], np.int32)
    x, y = np.array([1.0, 5.0, 9.0, 99.0]), np.array([1.0, 8.0, 5.0, 99.0])
    nobody = np.zeros(4, np.bool_)
    assert rule.chosen(ids, x, y, nobody).tolist() == [True, False, True, True]
    # In the notch it is 3 m outside: who steers stays.
    assert rule.chosen(ids, x, y, ~nobody).tolist() == [True, True, True, True]
    few = TierRule(polygon=corners, vehicles=(9,), budget=2)
    assert few.chosen(ids, x, y, nobody).tolist() == [False, False, True, True]


def test_the_driven_are_left_alone_and_a_rule_can_end() -> None:
    world = town(10)
    world.step(30)
    first, second = sorted(tiers(world))[:2]
    world.set_tier(first, "driven")
    world.steer_where(vehicles=[second])
    world.step(2)
    assert tiers(world)[first] == DRIVEN and tiers(world)[second] == STEERED
    assert world.steering_rule == {"vehicles": (second,)}
    world.steer_where()
    world.set_tier(second, "lane")
    world.step(60)
    assert world.steering_rule is None and STEERED not in tiers(world).values()


def followed(path: Path) -> World:
    """A recorded run with a focus that moves, and a budget of the parameters."""
    world = town(**{"steered.budget": 8})
    x, y = middle(world)
    with Recorder(path, world, 1.0, keyframe_every=2.0) as recorder:
        world.observers.append(recorder)
        for k in range(8):
            world.steer_where(center=(x + 20.0 * k, y), radius=150.0)
            world.step(15)
        world.step(60)
    return world


def test_runs_with_a_rule_verify_resume_and_repeat_with_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    world = followed(path)
    assert 0 < world.steered()["vehicles"] and max(tiers(world).values()) == STEERED
    assert sum(tiers(world).values()) <= 8
    with RunFile(path) as run:
        assert verify(run).same
        commands = run.commands()
    resumed = World.resume(path, at=3.0)
    resumed.step(world.frame - resumed.frame)
    assert resumed.state_hash() == world.state_hash()
    again = town(**{"steered.budget": 8})
    again.repeat(commands)
    again.step(world.frame)
    assert again.state_hash() == world.state_hash()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"radius": 5.0}, "a radius without a center"),
        ({"center": (0.0, 0.0)}, "a center alone"),
        ({"center": (0.0, 0.0), "radius": -1.0}, "radius -1: wanted m above 0"),
        ({"center": (float("nan"), 0.0), "radius": 1.0}, "a coordinate is not finite"),
        ({"polygon": [(0, 0), (1, 1)]}, "a polygon of 2 corners"),
        ({"center": (0.0, 0.0), "budget": 1.5}, "budget 1.5: wanted a whole number"),
        ({"budget": 5}, "nobody is named"),
        ({"vehicles": ["nobody"]}, "no vehicle 'nobody'"),
        ({"center": 3, "radius": 1.0}, "steer_where: "),
    ],
)
def test_a_rule_that_cannot_be_meant_is_one_line(given: dict[str, Any], told: str) -> None:
    world = town(3)
    with pytest.raises(CommandError, match=told):
        world.steer_where(**given)
    assert not len(world.commands)


def test_a_world_without_bodies_has_no_rule() -> None:
    world = town(3, **{"steered.bodies": False})
    with pytest.raises(CommandError, match="steer_where: nobody has a body in this world"):
        world.steer_where(vehicles=[0])


@pytest.mark.parametrize("who", ["6@150,150", "120m@150,150", "ids:{}"])
def test_the_command_line_takes_rules(who: str, tmp_path: Path, capsys: Any) -> None:
    names = tmp_path / "ids.txt"
    names.write_text("0\n2\n\n5\n")
    save(rh.generate("grid", rows=2, columns=2), tmp_path / "grid.h5")
    command = ["run", str(tmp_path / "grid.h5"), "--vehicles", "20", "--duration", "3s", "--json"]
    assert main([*command, "--steered", who.format(names)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["dt_s"] == pytest.approx(DT)
    assert 0 < told["steered"]["vehicles"] < 20
    if who.startswith("ids"):
        assert told["steered"]["vehicles"] == 3


@pytest.mark.parametrize(
    "who", ["many", "5@", "5@1", "x@1,2", "110%", "ids:nowhere.txt", "-3m@1,2"]
)
def test_a_steered_that_cannot_be_meant_is_one_line(who: str, tmp_path: Path, capsys: Any) -> None:
    save(rh.generate("straight"), tmp_path / "net.h5")
    command = ["run", str(tmp_path / "net.h5"), "--vehicles", "2", "--duration", "1s"]
    assert main([*command, "--steered", who]) == 2
    told = capsys.readouterr().err
    assert "--steered" in told and "Traceback" not in told


def test_a_scenario_plans_rules(tmp_path: Path, capsys: Any) -> None:
    save(rh.generate("grid", rows=2, columns=2), tmp_path / "grid.h5")
    (tmp_path / "run.toml").write_text(
        'network = "grid.h5"\n[demand]\nvehicles = 20\n[times]\nduration = "3s"\n'
        '[parameters]\n"steered.bodies" = true\n'
        '[[events]]\ntime = "1s"\naction = "steer_where"\n'
        "center = [150.0, 150.0]\nradius = 150.0\nbudget = 5\n"
        '[[events]]\ntime = "2s"\naction = "steer_where"\n'
    )
    assert main(["run", str(tmp_path / "run.toml"), "--json"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["steered"]["vehicles"] <= 8
