"""Steered vehicles of a world: they keep to their lanes by wheel and pedals, and to the rules."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_runs import checked
from several_threads import printed_by_threads
from sketches import arms

import rushhour as rh
from rushhour.kernels.compiling.jit import config
from rushhour.kernels.core.vehicles import RED_LIGHT
from rushhour.kernels.steering.lane_bodies import LANE
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

DT = 1.0 / 30.0
BUS = VehicleType(name="bus", vehicle_class="bus", length=12.0, width=2.5, accel=1.2, decel=2.0)


def bend(radius: float = 25.0, lanes: int = 1) -> Network:
    """A street that turns left by a right angle, between straight ones."""
    turn = [math.radians(4.5 * k) for k in range(21)]
    arc = [(100 + radius * math.sin(a), radius * (1 - math.cos(a))) for a in turn]
    builder = rh.NetworkBuilder("bend")
    builder.add_road([(0, 0), *arc, (100 + radius, radius + 200)], lanes, id="way")
    return builder.build()


def steered(
    network: Network,
    *trips: tuple[str, list[str], VehicleType],
    dt: float = DT,
    every: float = 3.0,
    **more: Any,
) -> World:
    """A world of trips that depart some s after each other; everybody is steered."""
    builder = DemandBuilder()
    for k, (name, way, kind) in enumerate(trips):
        builder.add(Trip(name, every * k, kind, [network.road_index[road] for road in way]))
    given = Parameters({"steered.share": 1.0, "lane_change.gain": 5.0, **more})
    return World(network, builder.build(), parameters=given, dt=dt, seed=1)


def crowd(share: float = 1.0, control: str = "signals", dt: float = DT, **more: Any) -> World:
    """Walkers on a small grid."""
    network = rh.generate("grid", rows=2, columns=2, control=control)
    given = Parameters({"steered.share": share, **more})
    demand = vehicles_on_road(network, 25, seed=1)
    return World(network, demand, parameters=given, dt=dt, seed=1)


def fronts(world: World) -> np.ndarray:
    """Ids, and x, y of the front bumpers of all who are steered, (n, 3)."""
    s, b = world.steering, world.steering.bodies
    slots = np.flatnonzero((world.sim.veh.lane >= 0) & (s.state.tier != LANE))
    nose, h = s.kinds.nose[b.type[slots]], b.heading[slots]
    x, y = b.x[slots] + nose * np.cos(h), b.y[slots] + nose * np.sin(h)
    return np.column_stack([world.sim.veh.id[slots], x, y])


def beside(network: Network, lane: int, x: float, y: float) -> float:
    """Distance from the middle of a lane, m."""
    p = network.lane_points(lane)
    d = np.diff(p, axis=0)
    w = np.clip((([x, y] - p[:-1]) * d).sum(axis=1) / (d * d).sum(axis=1), 0.0, 1.0)
    return float(np.hypot(*(p[:-1] + w[:, None] * d - [x, y]).T).min())


@pytest.mark.parametrize("kind", [VehicleType(), BUS], ids=["car", "bus"])
@pytest.mark.parametrize("dt", [DT, 0.25])
def test_a_steered_vehicle_keeps_within_its_lane_round_a_bend(kind: VehicleType, dt: float) -> None:
    network = bend()
    world = steered(network, ("one", ["way"], kind), dt=dt)
    room = 0.5 * (network.arrays.lanes.width[0] - kind.width)
    worst, turned = 0.0, 0.0
    for _ in range(round(40.0 / dt)):
        world.step()
        for _, x, y in fronts(world):
            worst = max(worst, beside(network, 0, x, y))
            turned = max(turned, float(world.steering.bodies.heading[0]))
    assert worst <= room
    assert turned == pytest.approx(math.pi / 2, abs=0.02)
    assert world.arrived == 1 and world.steered()["tight_bends"] == 0


def test_the_place_on_the_lane_is_that_of_the_front_bumper() -> None:
    network = bend()
    world = steered(network, ("one", ["way"], VehicleType()))
    station = network.station[network.point_start[0] : network.point_start[1]]
    apart = []
    for _ in range(900):
        world.step()
        for _, x, y in fronts(world):
            s = float(world.sim.veh.s[0])
            place = [np.interp(s, station, network.lane_points(0)[:, k]) for k in (0, 1)]
            apart.append(math.hypot(x - place[0], y - place[1]))
    assert len(apart) > 500 and max(apart) < 0.35


def test_wheel_and_pedals_keep_to_what_the_body_can() -> None:
    world = crowd()
    kinds, bodies, veh = world.steering.kinds, world.steering.bodies, world.sim.veh
    last: dict[tuple[int, int], tuple[float, float, float, float]] = {}
    hardest = 0.0
    for frame in range(600):
        world.step()
        for i in np.flatnonzero((veh.lane >= 0) & (world.steering.state.towed == 0)):
            t = bodies.type[i]
            steer, speed = float(bodies.steer[i]), float(bodies.speed[i])
            assert abs(steer) <= kinds.max_steer[t]
            assert -1.0 <= bodies.throttle[i] <= 1.0
            name = (int(veh.id[i]), frame - 1)
            if name in last:
                assert abs(steer - last[name][0]) <= kinds.steer_rate[t] * DT + 1e-12
                moved = math.hypot(bodies.x[i] - last[name][1], bodies.y[i] - last[name][2])
                assert moved <= max(speed, last[name][3]) * DT + 0.02
                hardest = max(hardest, abs(speed - last[name][3]) / DT)
            last[name[0], frame] = (steer, float(bodies.x[i]), float(bodies.y[i]), speed)
    assert 1.0 < hardest < 10.5


@pytest.mark.parametrize("control", ["signals", "all_way_stop"])
def test_a_steered_crowd_breaks_no_rule(control: str) -> None:
    world = crowd(control=control)
    checker = checked(world)
    world.step(1500)
    assert checker.violations == {}, checker.lines()
    told = world.steered()
    assert told["vehicles"] == 25 and told["off_lane"] == told["set_on_lane"] == 0


def test_a_steered_car_stands_before_a_red_light_and_the_next_behind_it() -> None:
    builder = arms("signals")
    network = builder.build()
    car = VehicleType()
    world = steered(network, *((f"car{k}", ["-w", "e"], car) for k in range(3)))
    seen = 0
    for _ in range(1800):
        world.step()
        table = world.vehicles
        waits = (table.reason == RED_LIGHT) & (table.speed == 0.0)
        if waits.any():
            seen += 1
            order = np.argsort(-table.s)
            gaps = table.s[order][:-1] - table.length[order][:-1] - table.s[order][1:]
            assert (gaps > 1.0).all()
    assert seen > 30 and world.done


def test_who_changes_lane_steers_over_in_some_seconds() -> None:
    network = bend(radius=60.0, lanes=2)
    slow = VehicleType(name="slow", max_speed=5.0)
    world = steered(
        network, ("slow", ["way"], slow), ("fast", ["way"], VehicleType()),
        **{"lane_change.gain": 0.1},
    )  # fmt: skip
    bodies, veh = world.steering.bodies, world.sim.veh
    way: list[float] = []
    for _ in range(900):
        world.step()
        for name, x, y in fronts(world):
            if name == 1:
                way.append(beside(network, 0, x, y))
    steps = np.abs(np.diff(way))
    assert world.counts()["lane_changes"] >= 1
    assert max(way) > 2.8 and steps.max() < 0.1  # m in a frame: it never jumps aside
    assert world.steered()["slow_changes"] == 0
    assert bodies.x.size >= veh.lane.size


def test_a_bend_too_tight_is_taken_as_on_a_lane_without_a_jump() -> None:
    world = crowd(control="all_way_stop")
    veh, bodies = world.sim.veh, world.steering.bodies
    last: dict[int, tuple[float, float, float]] = {}
    for _ in range(900):
        world.step()
        for i in np.flatnonzero(veh.lane >= 0):
            name, now = int(veh.id[i]), (bodies.x[i], bodies.y[i], bodies.heading[i])
            if name in last:
                assert math.hypot(now[0] - last[name][0], now[1] - last[name][1]) < 0.75
                assert abs(now[2] - last[name][2]) < 0.15  # rad
            last[name] = now
    assert world.steered()["tight_bends"] > 0


@pytest.mark.parametrize(("aside", "turned", "ends"), [(2.2, 0.4, "back_on_lane"), (0.5, 3.0, "")])
def test_a_car_pushed_off_its_lane_comes_back(aside: float, turned: float, ends: str) -> None:
    network = bend(radius=80.0)
    world = steered(network, ("one", ["way"], VehicleType()))
    world.step(90)
    bodies = world.steering.bodies
    bodies.y[0] += aside
    bodies.heading[0] += turned
    world.step(2100)
    told = world.steered()
    assert told["off_lane"] >= 1 and told["back_on_lane"] == told["off_lane"]
    assert world.arrived == 1
    assert (told["reversed"] + told["set_on_lane"] > 0) == (ends == "")


def test_a_share_a_number_or_everybody_is_steered() -> None:
    def tiers(world: World) -> int:
        world.step(3)
        return int(np.count_nonzero(world.steering.state.tier))

    assert tiers(crowd(0.0)) == 0 and crowd(0.0).steered()["vehicles"] == 0
    assert tiers(crowd(1.0)) == 25
    assert 5 <= tiers(crowd(0.5)) <= 20
    assert tiers(crowd(1.0, **{"steered.most": 7})) == 7


def test_a_steered_run_takes_as_long_as_one_on_lanes() -> None:
    means = []
    for share in (0.0, 1.0):
        network = bend(radius=40.0)
        world = steered(
            network, *((f"car{k}", ["way"], VehicleType()) for k in range(8)),
            **{"steered.share": share},
        )  # fmt: skip
        while not world.done and world.frame < 3000:
            world.step(30)
        means.append(float(np.mean(world.trips.arrived - world.trips.departed)))
    assert means[1] == pytest.approx(means[0], rel=0.05)


@pytest.mark.slow
def test_steered_runs_have_the_same_bits_with_one_two_and_four_threads() -> None:
    if config.DISABLE_JIT:
        pytest.skip("plain Python has one thread")
    printed = printed_by_threads("hashed_steered.py", "150")
    assert len(set(printed)) == 1


def test_the_bodies_of_a_world_stand_in_the_order_of_its_vehicles() -> None:
    world = crowd(0.5)
    world.step(60)
    bodies, table = world.steered_bodies, world.vehicles
    steered = np.isin(table.id, bodies.id)
    assert 0 < bodies.id.size < table.id.size and (bodies.id == table.id[steered]).all()
    assert np.isfinite(bodies.x).all() and np.isfinite(bodies.heading).all()
    assert (np.abs(bodies.speed - table.speed[steered]) < 0.5).all()
    with pytest.raises(ValueError, match="read-only"):
        bodies.x[0] = 0.0


def test_poses_of_the_steered_are_those_of_their_bodies() -> None:
    world = crowd(share=0.5)
    world.step(60)
    poses = world.poses()
    world.step(40)
    poses, before = world.poses(poses), world.poses(alpha=0.0)
    found = fronts(world)
    assert 5 < len(found) < world.active
    row = {int(poses.id[r]): r for r in np.flatnonzero(poses.id >= 0)}
    for vehicle, x, y in found:
        r = row[int(vehicle)]
        half, heading = 0.5 * poses.length[r], poses.heading[r]
        front = (poses.x[r] + half * math.cos(heading), poses.y[r] + half * math.sin(heading))
        np.testing.assert_allclose(front, (x, y), atol=1e-9)
        moved = math.hypot(poses.x[r] - before.x[r], poses.y[r] - before.y[r])
        assert moved <= poses.speed[r] * DT + 0.1


def test_recorded_frames_tell_who_is_steered(tmp_path: Path) -> None:
    world = crowd(share=0.5)
    with world.record(tmp_path / "run.h5", every=1.0):
        world.step(90)
        tier = dict(zip(fronts(world)[:, 0].astype(int), [1] * 99, strict=False))
    with rh.open_run(tmp_path / "run.h5") as run:
        frame = run.at(run.times[-1])
        assert {int(i): int(t) for i, t in zip(frame.id, frame.tier, strict=True)} == {
            int(i): tier.get(int(i), 0) for i in world.vehicles.id
        }
        assert 5 < sum(tier.values()) < len(frame.id)
