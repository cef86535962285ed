"""Each check finds what is planted for it, and is silent where traffic is sound."""

import re

import numpy as np
import pytest
from network_drafts import chain, conflict, connector, crossing, line
from planted_world import CAR, PlantedWorld, start

from rushhour.kernels.checking.survey import KEPT, KINDS
from rushhour.kernels.core.network import YIELD
from rushhour.kernels.core.vehicles import (
    CONFLICT,
    EXIT_FULL,
    LANE_CHANGE,
    LEADER,
    RED_LIGHT,
    YIELDS,
)
from rushhour.roadnets.build import finish
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import OF_CONNECTORS, TEXTS, Checker
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.sim.fields import VEHICLE, with_room

pytestmark = [pytest.mark.small_world, pytest.mark.tiny_world]
ROAD = finish(chain(line(0.0, 200.0), line(210.0, 400.0)))
TWO_LANES = generate("straight", length=300.0, lanes=3)
CROSSING = finish(crossing(YIELD))


# --- bodies ----------------------------------------------------------------------------------


def test_cars_that_keep_their_distance_are_in_order():
    world, checker = start(ROAD, ("r0_0", 50.0, {"speed": 10.0}), ("r0_0", 40.0, {"speed": 10.0}))
    world.step(checker, 20)
    assert checker.violations == {}
    assert checker.information["smallest_gap_m"]["value"] == pytest.approx(5.0)


def test_an_overlap_is_counted_once_for_as_long_as_it_lasts():
    world, checker = start(ROAD, ("r0_0", 50.0), ("r0_0", 46.0))
    world.step(checker, 5)
    assert checker.violations == {"overlap": 1}
    assert re.search(
        r"vehicle 1 \(car1\) on lane r0_0, 46\.00 m .*gap -1\.000 m", checker.lines()[0]
    )
    world.sim.veh.s[1] = 40.0  # a jump; then they overlap again
    world.step(checker)
    world.sim.veh.s[1] = 47.0
    world.step(checker)
    assert checker.report()["overlap"] == 2


def test_a_rear_that_hangs_over_the_lanes_end_is_run_into():
    k = 0
    world, checker = start(
        ROAD, (k, 3.0, {"path": [], "behind": ["r0_0"]}), ("r0_0", 198.5, {"path": [k]})
    )
    world.step(checker)
    assert checker.violations == {"overlap": 1}
    world, checker = start(
        ROAD, (k, 3.0, {"path": [], "behind": ["r0_0"]}), ("r0_0", 195.5, {"path": [k]})
    )
    world.step(checker)
    assert checker.violations == {}


def test_two_bodies_over_the_end_of_one_lane_overlap_whatever_their_way():
    left, right = connector(CROSSING, "e", "s"), connector(CROSSING, "e", "n")
    world, checker = start(
        CROSSING, (left, 3.0, {"behind": ["in_e_0"]}), (right, 2.0, {"behind": ["in_e_0"]})
    )
    world.step(checker)
    assert checker.report()["overlap"] == 1


@pytest.mark.parametrize(("model", "found"), [("idm", {"close_gap": 1}), ("krauss", {})])
def test_who_follows_by_idm_keeps_half_the_standstill_gap(model, found):
    kind = VehicleType(model=model)
    world, checker = start(ROAD, ("r0_0", 50.0), ("r0_0", 44.1), types=(kind,))
    world.step(checker, 3)
    assert checker.violations == found


def zone(k: int, other: int) -> tuple[float, float]:
    c = conflict(CROSSING, k, other)
    x = CROSSING.arrays.conflicts
    return float(x.here_in[c]), float(x.there_in[c])


def test_two_bodies_in_the_zone_where_their_movements_cross_are_found():
    k, o = connector(CROSSING, "e", "w"), connector(CROSSING, "n", "s")
    here, there = zone(k, o)
    world, checker = start(CROSSING, (k, here + 0.5), (o, there + 1.0))
    world.step(checker, 2)
    assert checker.violations == {"conflict_zone_shared": 1}
    assert "0.50 m into the zone that vehicle 1 (car1) leaves" in checker.lines()[0]
    world, checker = start(CROSSING, (k, here - 0.1), (o, there + 1.0))
    world.step(checker, 2)
    assert checker.violations == {}


def test_a_rear_that_is_still_in_the_zone_counts_as_inside():
    k, o = connector(CROSSING, "e", "w"), connector(CROSSING, "n", "e")
    out = float(CROSSING.arrays.conflicts.here_out[conflict(CROSSING, k, o)])
    _, there = zone(k, o)
    for front, found in ((out + 4.9, {"conflict_zone_shared": 1}), (out + 5.1, {})):
        world, checker = start(CROSSING, (k, front), (o, there + 1.0))
        world.step(checker)
        assert checker.violations == found


def test_two_who_merge_side_by_side_are_found():
    k, o = connector(CROSSING, "e", "w"), connector(CROSSING, "n", "w")
    length = CROSSING.arrays.lanes.length[CROSSING.n_road_lanes + o]
    world, checker = start(CROSSING, ("out_w_0", 4.0, {"behind": [k, "in_e_0"]}), (o, length - 0.5))
    world.step(checker)
    assert checker.violations == {"conflict_zone_shared": 1}


def test_two_who_merge_may_follow_each_other_through_the_zone():
    k, o = connector(CROSSING, "e", "w"), connector(CROSSING, "n", "w")
    _, there = zone(k, o)
    world, checker = start(CROSSING, ("out_w_0", 4.5, {"behind": [k, "in_e_0"]}), (o, there + 1.0))
    world.step(checker)
    assert checker.violations == {}
    assert checker.information["merges_shared"] == 1


# --- standing --------------------------------------------------------------------------------


def test_who_stands_in_a_zone_for_half_a_minute_blocks_the_box():
    k, o = connector(CROSSING, "e", "w"), connector(CROSSING, "n", "s")
    here, _ = zone(k, o)
    world, checker = start(CROSSING, (k, here + 0.5), dt=0.5)
    world.step(checker, 59)
    assert checker.violations == {}
    world.step(checker, 40)
    assert checker.violations == {"stands_inside": 1}


def test_who_stands_ten_minutes_is_stuck_unless_at_a_stop_of_its_trip():
    world, checker = start(ROAD, ("r0_0", 50.0), ("r0_0", 20.0), dt=0.5)
    world.sim.veh.dwell_until[1] = 10_000
    world.step(checker, 601)
    assert checker.violations == {"stands_without_end": 1}
    world.step(checker, 600)
    assert checker.violations == {"stands_without_end": 1, "stuck": 1}
    assert checker.information["longest_standstill_s"]["value"] == pytest.approx(600.5)
    assert checker.information["longest_standstill_s"]["vehicle"] == "0 (car0)"


@pytest.mark.parametrize(
    ("reason", "full", "found"),
    [(LEADER, -1, 0), (RED_LIGHT, -1, 0), (RED_LIGHT, 10, 1), (EXIT_FULL, 10, 1), (LANE_CHANGE, -1, 1)],
)  # fmt: skip
def test_who_heads_a_queue_for_five_minutes_but_for_a_red_light_stands_without_end(
    reason, full, found
):
    world, checker = start(ROAD, ("r0_0", 50.0), dt=0.5)
    world.sim.veh.reason[0], world.sim.veh.full_since[0] = reason, full
    world.step(checker, 601)
    assert checker.violations == ({"stands_without_end": 1} if found else {})


@pytest.mark.parametrize(
    ("speed", "told"),
    [
        (0.0, "in the end gives way (at j1), vehicle 1 (car1)"),
        (0.11, "in the end a queue that moves on lane r0_0, "),
    ],
)
def test_whom_it_waits_for_in_the_end_is_told(speed, told):
    world, checker = start(ROAD, ("r0_0", 50.0), ("r0_0", 120.0, {"speed": speed}), dt=0.5)
    veh = world.sim.veh
    veh.reason[:2], veh.blocker[0], veh.full_since[0] = (CONFLICT, YIELDS), veh.id[1], 10
    world.step(checker, 601)
    (line,) = [line for line in checker.lines() if "vehicle 0 (car0)" in line]
    assert line.startswith("stands_without_end")
    assert told in line


# --- conservation ----------------------------------------------------------------------------


def test_a_vehicle_that_is_gone_before_its_end_has_vanished():
    world, checker = start(ROAD, ("r0_0", 50.0, {"speed": 10.0}))
    world.arrive(0)
    world.step(checker)
    assert checker.violations == {"vanished": 1}


def test_a_vehicle_that_leaves_at_its_end_has_arrived():
    world, checker = start(ROAD, ("r1_0", 188.0, {"speed": 10.0}), ("r0_0", 49.0, {"speed": 10.0}))
    world.sim.veh.leg[1], world.sim.veh.route_end[1] = 0, 1
    world.sim.routes.arrival[1] = 51.0
    checker = Checker(world)
    world.arrive(0)
    world.arrive(1)
    world.step(checker)
    assert checker.violations == {}


def test_who_leaves_without_a_line_in_the_log_is_missed():
    world, checker = start(ROAD, ("r1_0", 189.0, {"speed": 10.0}), ("r1_0", 50.0))
    world.sim.veh.lane[0] = -1
    world.sim.departed -= 1  # even if the sums agree
    world.step(checker)
    assert checker.violations == {"vanished": 1}


def test_departed_is_on_the_road_and_arrived():
    world, checker = start(ROAD, ("r0_0", 50.0))
    world.sim.departed += 1
    world.step(checker)
    assert checker.violations == {"conservation": 1}
    assert "found 1, wanted 2" in checker.lines()[0]


def test_an_id_is_on_the_road_once():
    world, checker = start(ROAD, ("r0_0", 50.0), ("r0_0", 20.0))
    world.sim.veh.id[1] = 0
    world.sim.veh.lane[1] = 0
    world.step(checker)
    assert checker.report()["conservation"] == 1


def test_who_has_left_does_not_come_back():
    world, checker = start(ROAD, ("r1_0", 189.0, {"speed": 10.0}))
    world.arrive(0)
    world.step(checker)
    assert checker.violations == {}
    world.put("r0_0", 50.0)
    world.sim.veh.id[1] = 0
    world.step(checker)
    assert checker.violations == {"conservation": 1}


@pytest.mark.parametrize(("field", "value"), [("lane", 99), ("lane", -7), ("id", -1), ("id", 500)])
def test_indices_out_of_range_are_found_and_not_followed(field, value):
    world, checker = start(ROAD, ("r0_0", 50.0), ("r0_0", 20.0))
    getattr(world.sim.veh, field)[0] = value
    world.sim.frame += 1
    checker.observe()
    assert checker.report()["conservation"] == 1


# --- motion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [1 / 30, 0.25, 0.5])
@pytest.mark.parametrize("accel", [-3.0, 0.0, 2.0])
def test_motion_by_constant_acceleration_is_in_order_to_a_standstill_and_over_lanes(dt, accel):
    world, checker = start(ROAD, ("r0_0", 185.0, {"speed": 8.0, "path": [0]}), dt=dt)
    world.sim.veh.accel[0] = accel
    world.step(checker, round(2.8 / dt))
    assert checker.violations == {}
    assert (world.sim.veh.lane[0] == ROAD.lane_index["r0_0"]) == (accel < 0)


@pytest.mark.parametrize("shift", [0.01, -0.01, 5.0])
def test_a_jump_along_the_lane_is_found(shift):
    world, checker = start(ROAD, ("r0_0", 50.0, {"speed": 8.0}))
    world.step(checker)
    world.sim.veh.s[0] += shift
    world.step(checker, 2)
    assert checker.violations == {"jumped": 1}


def test_a_jump_to_another_road_is_found():
    world, checker = start(ROAD, ("r0_0", 50.0, {"speed": 8.0}))
    world.sim.veh.lane[0] = ROAD.lane_index["r1_0"]
    world.step(checker)
    assert checker.violations == {"jumped": 1}


@pytest.mark.parametrize(("lane", "found"), [(1, {}), (2, {"jumped": 1})])
def test_lanes_are_changed_one_at_a_time(lane, found):
    world, checker = start(TWO_LANES, (TWO_LANES.lane_ids[0], 50.0, {"speed": 8.0}))
    world.sim.veh.lane[0] = lane
    world.step(checker)
    assert checker.violations == found


def test_nobody_drives_backwards():
    world, checker = start(ROAD, ("r0_0", 50.0))
    world.sim.veh.speed[0] = -0.5
    world.sim.veh.s[0] = 50.0
    world.sim.frame += 1
    checker.observe()
    assert checker.report()["negative_speed"] == 1


@pytest.mark.parametrize(
    "field", ["s", "speed", "accel", "lateral", "length", "factor", "distance", "ideal"]
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_found_in_every_field(field, value):
    world, checker = start(ROAD, ("r0_0", 50.0), ("r0_0", 30.0))
    getattr(world.sim.veh, field)[0] = value
    for _ in range(3):
        world.sim.frame += 1
        checker.observe()
    assert checker.violations == {"not_finite": 1}


@pytest.mark.parametrize(
    ("speed", "accel", "frames", "found", "why"),
    [
        (5.0, 2.5, 2, {}, "as a car can"),
        (5.0, 2.6, 2, {"acceleration_cap": 1}, "more than a car can"),
        (13.0, -9.0, 2, {}, "as hard as brakes can"),
        (13.0, -9.1, 2, {"acceleration_cap": 1}, "harder"),
        (16.0, -1.0, 3, {}, "too fast, and slowing down"),
        (16.0, 1.0, 3, {"speed_cap": 1}, "too fast, and speeding up"),
    ],
)
def test_accelerations_have_caps(speed, accel, frames, found, why):
    world, checker = start(ROAD, ("r0_0", 50.0, {"speed": speed}))
    world.sim.veh.accel[0] = accel
    world.step(checker, frames)
    assert checker.violations == found, why


# --- the checker itself ----------------------------------------------------------------------


def test_slots_leave_no_trace_in_a_report():
    k, o = connector(CROSSING, "e", "w"), connector(CROSSING, "n", "s")
    here, there = zone(k, o)
    cars = [(k, here + 0.5), (o, there + 1.0), ("in_e_0", 50.0), ("in_e_0", 46.0)]
    lines = []
    for slots in ([0, 1, 2, 3], [9, 2, 0, 5]):
        world = PlantedWorld(CROSSING)
        for car, slot in zip(cars, slots, strict=True):
            world.put(*car, slot=slot)
        checker = Checker(world)
        world.step(checker, 2)
        lines.append(checker.lines())
    assert lines[0] == lines[1]
    assert len(lines[0]) == 2


def test_only_the_first_of_a_kind_are_kept_and_all_are_counted():
    world, checker = start(ROAD, ("r0_0", 50.0))
    for frame in range(50):
        world.sim.veh.s[0] = 50.0 + frame % 2
        world.step(checker)
    assert checker.report()["jumped"] == 49
    assert len(checker.lines()) == KEPT + 1
    assert checker.lines()[-1] == f"jumped: and {49 - KEPT} more"


def test_the_checker_follows_a_world_that_grows():
    world, checker = start(ROAD, ("r0_0", 150.0, {"speed": 10.0}), capacity=1)
    world.step(checker)
    world.sim.veh = with_room(world.sim.veh, VEHICLE, 4096)
    world.put("r0_0", 100.0, 10.0)
    world.step(checker, 3)
    assert checker.violations == {}


def test_every_kind_has_a_text():
    assert set(TEXTS) == set(KINDS)
    assert set(OF_CONNECTORS) < set(KINDS)
    assert CAR.min_gap == 2.0  # the distances above were chosen for it
