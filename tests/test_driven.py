"""Vehicles driven from outside by pedals and wheel, and what changes with their tier."""

import math

import numpy as np
import pytest
from sketches import arms
from test_steered import DT, bend, beside, crowd, fronts, steered

from rushhour.kernels.steering.lane_bodies import DRIVEN, LANE, STEERED
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

CAR = VehicleType()
BODIES = {"steered.share": 0.0, "steered.bodies": True}


def street(cars: int = 2, lanes: int = 1) -> World:
    """Cars that follow each other on a straight beginning, none with a body yet."""
    network = bend(radius=80.0, lanes=lanes)
    return steered(network, *((f"car{k}", ["way"], CAR) for k in range(cars)), **BODIES)


def test_pedals_and_wheel_move_the_body_and_the_one_behind_keeps_its_gap() -> None:
    world = street()
    world.step(120)
    world.set_tier("car0", "driven")
    world.controls.throttle[0] = 1.0
    world.step(30)
    faster = float(world.steered_bodies.speed[0])
    world.controls.throttle[0], world.controls.brake[0] = 0.0, 0.6
    world.step(240)
    table = world.vehicles
    assert faster > 8.0 and world.steered_bodies.speed[0] == 0.0 and table.speed[0] == 0.0
    gap = table.s[0] - table.length[0] - table.s[1]
    assert 1.0 < gap < 6.0 and table.speed[1] < 0.1
    world.controls.brake[0], world.controls.throttle[0] = 0.0, 0.5
    world.controls.steer[0] = 0.5
    world.step(30)
    assert world.steered_bodies.turning[0] > 0.0
    assert world.steered_bodies.steer[0] == pytest.approx(0.5 * math.radians(35.0))


def test_the_hand_brake_stops_it_and_reverse_drives_back_while_its_place_waits() -> None:
    world = street(1)
    world.step(150)
    world.set_tier("car0", "driven")
    world.controls.hand_brake[0] = 1.0
    world.step(150)
    assert world.steered_bodies.speed[0] == pytest.approx(0.0, abs=1e-6)
    s, x = float(world.vehicles.s[0]), float(world.steered_bodies.x[0])
    world.controls.hand_brake[0], world.controls.throttle[0] = 0.0, -0.3
    world.step(30)
    assert world.steered_bodies.speed[0] < -0.3 and world.steered_bodies.x[0] < x - 0.1
    assert world.vehicles.s[0] == pytest.approx(s, abs=0.05)


def test_who_drives_onto_the_next_lane_is_on_it_for_all_others() -> None:
    world = street(1, lanes=2)
    world.step(90)
    world.set_tier("car0", "driven")
    lane = int(world.vehicles.lane[0])
    world.controls.throttle[0] = 0.3
    world.controls.steer[0] = 0.12 if lane == 0 else -0.12
    for _ in range(90):
        world.step()
        if world.vehicles.lane[0] != lane:
            break
    assert world.vehicles.lane[0] == 1 - lane
    _, x, y = fronts(world)[0]
    assert beside(world.network, 1 - lane, x, y) < 1.7


def drive_about(world: World, frames: int) -> None:
    """Take two vehicles over and give them other inputs in every fourth frame."""
    draw = np.random.default_rng(3)
    numbers = world.vehicles.id[:2].copy()
    world.set_tier(numbers.tolist(), "driven")
    for frame in range(frames):
        if frame % 4 == 0:
            world.controls.throttle[numbers] = draw.uniform(-0.2, 0.8, 2)
            world.controls.steer[numbers] = draw.uniform(-0.2, 0.2, 2)
        world.step()


def test_the_same_inputs_given_again_lead_to_the_same_bits() -> None:
    first = crowd(0.3)
    first.step(30)
    drive_about(first, 150)
    again = crowd(0.3)
    again.repeat(first.commands)
    again.step(180)
    assert again.state_hash() == first.state_hash()
    assert (again.controls.throttle == first.controls.throttle).all()
    other = crowd(0.3)
    other.step(180)
    assert other.state_hash() != first.state_hash()


def test_a_run_with_somebody_driven_goes_on_from_a_snapshot() -> None:
    world = crowd(0.3)
    world.step(30)
    drive_about(world, 60)
    before = world.snapshot()
    world.step(60)
    end = world.state_hash()
    world.controls.throttle[:] = 0.0
    world.restore(before)
    world.step(60)
    assert world.state_hash() == end


def test_place_speed_and_pose_stay_when_the_tier_changes() -> None:
    world = street(1)
    world.step(150)
    for tier, code in (("steered", STEERED), ("driven", DRIVEN), ("steered", STEERED)):
        table = world.vehicles
        s, v, body = float(table.s[0]), float(table.speed[0]), world.steered_bodies
        pose = (float(body.x[0]), float(body.y[0]), float(body.heading[0])) if len(body) else None
        world.set_tier("car0", tier)
        world.step()
        body = world.steered_bodies
        assert world.steering.state.tier[0] == code
        assert world.vehicles.s[0] - s == pytest.approx(v * DT, abs=0.01)
        assert world.vehicles.speed[0] == pytest.approx(v, abs=0.15)
        if pose:
            assert math.hypot(body.x[0] - pose[0], body.y[0] - pose[1]) < v * DT + 0.01
            assert body.heading[0] == pytest.approx(pose[2], abs=0.02)
        else:
            assert abs(fronts(world)[0, 2]) < 0.02  # on its lane, along it
    astray = float(world.steering.state.astray[0])
    world.set_tier("car0", "lane")
    world.step()
    assert world.steering.state.tier[0] == LANE and len(world.steered_bodies) == 0
    assert world.vehicles.lateral[0] == pytest.approx(astray, abs=0.05)


def test_who_is_driven_over_a_red_line_is_counted_and_seen_beyond_it() -> None:
    network = arms("signals").build()
    world = steered(network, ("one", ["-w", "e"], CAR), **BODIES)
    world.step(30)
    world.set_tier("one", "driven")
    world.step()
    run = 0
    for _ in range(1500):
        body = world.steered_bodies
        if not len(body):
            break
        world.controls.throttle[0] = 0.6 if body.speed[0] < 9.0 else 0.0
        world.controls.steer[0] = float(np.clip(-body.heading[0] - 0.1 * body.astray[0], -1, 1))
        world.step()
        run = world.steered()["lines_run"]
    assert world.done
    assert run == 1 and world.counts()["overruns"] == 0


def test_inputs_and_tiers_that_cannot_be_are_refused() -> None:
    world = steered(bend(), ("car0", ["way"], CAR), **{"steered.share": 0.0})
    world.step(10)
    with pytest.raises(CommandError, match=r"set_tier: nobody has a body in this world; make it"):
        world.set_tier("car0", "driven")
    world = street(1)
    world.step(10)
    with pytest.raises(CommandError, match=r"set_tier: tier 'rail': wanted one of lane, steered"):
        world.set_tier("car0", "rail")
    world.set_tier("car0", "driven")
    world.step()
    world.controls.steer[0] = math.nan
    with pytest.raises(CommandError, match=r"controls: steer of vehicle 0 is not finite; wanted"):
        world.step()
    bad = {"vehicle": [0], "throttle": [2.0], "brake": [0.0], "steer": [0.0], "hand_brake": [0.0]}
    with pytest.raises(CommandError, match=r"control: throttle 2.0: wanted -1 to 1"):
        world.schedule(60.0, "control", **bad)
    with pytest.raises(CommandError, match="control: no vehicle 9; there are 1"):
        world.schedule(60.0, "control", **{**bad, "vehicle": [9], "throttle": [0.0]})
