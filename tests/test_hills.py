"""Bodies on hills: what they climb, how they roll and brake, and where poses and exports put them."""

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from test_heights import hill
from test_steered import BUS, DT, steered

import rushhour as rh
from rushhour.kernels.steering.bicycle import G, climbing_accel
from rushhour.traffic.analysis.exporting import export_frames
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.steering.classes import CLASSES
from rushhour.traffic.world import World

TRUCK = VehicleType(name="truck", length=12.0, width=2.5, vehicle_class="truck", accel=1.3)
BODIES = {"steered.share": 0.0, "steered.bodies": True}


def climb(kind: VehicleType, grade: float, share: float = 1.0, top: float = 900.0) -> World:
    """One vehicle on a road that rises evenly."""
    network = hill(grade * top, top)
    return steered(network, ("a", ["up", "on"], kind), **{**BODIES, "steered.share": share})


def test_a_truck_climbs_as_fast_as_its_power_lifts_it():
    grade, truck = 0.15, CLASSES["truck"]
    world = climb(TRUCK, grade)
    world.step(round(40.0 / DT))
    sine, power = grade / math.hypot(1.0, grade), truck.power / truck.mass
    # power = (g sin + drag v) v
    lift = G * sine
    v = (math.sqrt(lift * lift + 4.0 * truck.drag * power) - lift) / (2.0 * truck.drag)
    assert 10.0 < v < 12.0 and world.vehicles.s[0] < 800.0  # slower than the limit
    assert world.steered_bodies.speed[0] == pytest.approx(v, rel=0.01)
    assert world.steered_bodies.slope[0] == pytest.approx(sine)


def test_the_lane_tier_feels_no_hill():
    flat, steep = (climb(TRUCK, grade, share=0.0) for grade in (0.0, 0.09))
    for world in (flat, steep):
        world.step(150)
    assert steep.state_hash() == flat.state_hash() and steep.vehicles.speed[0] > 5.0


def test_heights_that_are_all_the_same_leave_the_bits_as_they_are():
    one, other = (
        steered(network, ("a", ["up", "on"], BUS), **BODIES)
        for network in (hill(0.0), hill(0.0, space=False))
    )
    for world in (one, other):
        world.step(200)
    assert not one.network.is_hilly and one.state_hash() == other.state_hash()


def test_a_bus_starts_on_a_hill_of_a_fifth_and_a_steeper_one_holds_it():
    bus = CLASSES["bus"]
    for grade, starts in ((0.2, True), (0.3, False)):
        world = climb(BUS, grade, share=0.0)
        world.step(90)
        world.stop("a", hard=True)
        world.step(150)
        world.set_tier("a", "steered")
        s = float(world.vehicles.s[0])
        world.go_on("a")
        world.step(110)
        assert (world.vehicles.s[0] > s + 3.0) == starts
        assert world.vehicles.s[0] >= s - 1e-9
    assert bus.traction == pytest.approx(0.25 * G, rel=0.05)


def test_a_driven_body_gains_downhill_what_drag_leaves_it_and_is_held_uphill():
    sine, car = -0.05, CLASSES["car"]
    grade = sine / math.sqrt(1.0 - sine * sine)
    world = climb(VehicleType(), grade)
    world.step(30)
    world.set_tier("a", "driven")
    v = float(world.steered_bodies.speed[0])
    world.step(round(6.0 / DT))
    end = -G * sine / car.drag
    fades = math.exp(-car.drag * 6.0)
    assert world.steered_bodies.speed[0] == pytest.approx(end + (v - end) * fades, rel=2e-3)
    world = climb(VehicleType(), -grade)
    world.step(30)
    world.set_tier("a", "driven")
    world.step(round(40.0 / DT))
    assert world.steered_bodies.speed[0] == 0.0  # it came to rest, and does not roll back


def test_full_pedals_reach_as_far_uphill_as_on_the_level_until_traction_ends():
    for kernel in (climbing_accel, getattr(climbing_accel, "py_func", climbing_accel)):
        assert kernel(1.8, 3.0, 0.0) == 1.8
        assert kernel(1.8, 3.0, 0.1) == pytest.approx(1.8 + 0.981)
        assert kernel(1.8, 3.0, 0.3) == 3.0
        assert kernel(1.8, 3.0, -0.3) == 1.8
        assert kernel(6.0, 0.0, 0.3) == 6.0  # a game's, which slows down on hills


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_poses_lie_on_the_road_and_are_tilted_as_it_is(share: float):
    world = climb(VehicleType(), 0.05, share)
    world.poses()
    for _ in range(5):
        world.step(20)
        poses, half = world.poses(), world.poses(alpha=0.5)
        assert poses.z[0] == pytest.approx(5.0 + 0.05 * poses.x[0], abs=2e-2)
        assert half.z[0] == pytest.approx(5.0 + 0.05 * half.x[0], abs=2e-2)
        assert poses.pitch[0] == pytest.approx(math.atan(0.05)) == half.pitch[0]
    assert world.vehicles.z[0] == pytest.approx(5.0 + 0.05 * world.vehicles.s[0], abs=1e-6)
    assert world.vehicles.slope[0] == pytest.approx(math.sin(math.atan(0.05)))


def test_fcd_and_tables_of_a_hilly_run_have_heights(tmp_path: Path):
    world = climb(VehicleType(), 0.05)
    with rh.Recorder(tmp_path / "run.h5", world) as recorder:
        world.observers.append(recorder)
        world.step(200)
    with rh.open_run(tmp_path / "run.h5") as run:
        export_frames(run, "fcd", tmp_path / "fcd.xml")
        export_frames(run, "csv", tmp_path / "run.csv")
    last = list(ElementTree.parse(tmp_path / "fcd.xml").iter("vehicle"))[-1]
    assert float(last.get("z")) == pytest.approx(5.0 + 0.05 * float(last.get("x")), abs=0.02)
    assert float(last.get("slope")) == pytest.approx(math.degrees(math.atan(0.05)), abs=0.01)
    lines = (tmp_path / "run.csv").read_text().splitlines()
    row = dict(zip(lines[0].split(","), lines[-1].split(","), strict=True))
    assert float(row["z_m"]) == pytest.approx(5.0 + 0.05 * float(row["x_m"]), abs=0.01)
    assert np.isfinite(float(row["y_m"]))
