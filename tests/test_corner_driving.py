"""Opponents in corners (validation.md C3.7 - C3.10)."""

import math

import numpy as np
import pytest

from rushhour.kernels.steering.bicycle import Bodies, G, move_bodies
from rushhour.kernels.steering.corner_driving import (
    CORNERING,
    DRIVING,
    SLIDING,
    CornerCars,
    corner_limit,
    corner_mode,
    drive_corners,
    points_ahead,
    steer_by_direction,
)
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.steering.classes import CLASSES, body_types
from rushhour.traffic.steering.corners import SURFACES, CornerDriver, corner_limits, corner_table
from rushhour.traffic.steering.followers import at_start, path_table

DT = 1.0 / 60.0


def test_both_points_lie_at_their_distances_along_the_path_and_stop_at_its_end():
    way = path_table([np.cumsum(np.random.default_rng(1).uniform(1, 9, (30, 3)), axis=0)])
    for s in np.linspace(0.0, way.station[-1], 60):
        nx, ny, fx, fy = points_ahead(way.points, way.station, 0, 30, s, 8.0, 28.0)
        for x, y, wanted in ((nx, ny, s + 8.0), (fx, fy, s + 28.0)):
            wanted = min(wanted, way.station[-1])
            k = min(int(np.searchsorted(way.station, wanted, side="right")) - 1, 28)
            w = (wanted - way.station[k]) / (way.station[k + 1] - way.station[k])
            place = way.points[k] + w * (way.points[k + 1] - way.points[k])
            assert (x, y) == pytest.approx(tuple(place[:2]), abs=1e-9)


def test_the_wheel_turns_by_the_direction_less_the_heading():
    assert steer_by_direction(0.5, 0.2, 0.6) == pytest.approx(0.3)
    assert steer_by_direction(-3.0, 3.0, 0.6) == pytest.approx(2 * math.pi - 6.0)
    assert steer_by_direction(2.0, 0.0, 0.6) == 0.6


@pytest.mark.parametrize("body", CLASSES)
@pytest.mark.parametrize("surface", SURFACES)
def test_limits_never_rise_with_the_angle_and_fall_with_the_grip(body, surface):
    limits = corner_limits(CornerDriver(body=body, surface=surface))
    assert (np.diff(limits) < 0.0).all() and limits[-1] > 0.0
    better = corner_limits(CornerDriver(body=body))
    assert (limits <= better).all()
    table = corner_table([CornerDriver(body=body, surface=surface)])
    read = [corner_limit(table.edge, table.limit, 0, a) for a in np.linspace(-2.0, 0.0, 100)]
    assert (np.diff(read) >= 0.0).all() and read[0] == limits[-1] and read[-1] == limits[0]


def test_a_slide_begins_once_above_its_angle_and_ends_well_below():
    angles = [0.05, 0.3, 1.25, 1.3, 1.1, 0.9, 0.6, 0.5, 0.3, 0.05]
    mode, seen = DRIVING, []
    for angle in angles:
        mode = corner_mode(mode, angle, 10.0, 0.1, 1.2, 0.55, 5.0)
        seen.append(mode)
    assert seen == [DRIVING, CORNERING] + [SLIDING] * 5 + [CORNERING, CORNERING, DRIVING]
    assert corner_mode(DRIVING, -1.3, 10.0, 0.1, 1.2, 0.55, 5.0) == SLIDING
    assert corner_mode(DRIVING, 1.3, 4.0, 0.1, 1.2, 0.55, 5.0) == CORNERING  # too slow for it


def lap(waypoints, driver: CornerDriver, seconds: float, speed: float = 0.0) -> np.ndarray:
    """Rows s, offset, speed, mode, angle, throttle, slides, turning of one car."""
    paths, table, types = path_table([waypoints]), corner_table([driver]), body_types([driver.body])
    types.grip[:] *= SURFACES[driver.surface]
    _, bodies = at_start(paths, [0], [0], [0])
    bodies.speed[:] = speed
    cars = CornerCars(
        np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1), np.zeros(1),
        np.zeros(1, np.uint8), np.zeros(1), np.zeros(1, np.int32), np.zeros(1),
    )  # fmt: skip
    rows = []
    for _ in range(round(seconds / DT)):
        drive_corners(paths, table, types, cars, bodies, 0, 1)
        rows.append((cars.s[0], cars.offset[0], bodies.speed[0], cars.mode[0], cars.angle[0],
                     bodies.throttle[0], cars.slides[0], bodies.turning[0]))  # fmt: skip
        move_bodies(types, bodies, DT, 0, 1)
    return np.array(rows)


def bend(degrees: float, radius: float = 15.0, before: float = 120.0) -> np.ndarray:
    """A straight, a bend to the left, a straight."""
    turn = np.linspace(0.0, math.radians(degrees), 40)
    arc = np.column_stack((before + radius * np.sin(turn), radius - radius * np.cos(turn)))
    end = arc[-1] + 100.0 * np.array([math.cos(turn[-1]), math.sin(turn[-1])])
    return np.vstack(([(0.0, 0.0)], arc, [end]))


def test_just_driving_means_full_gas():
    rows = lap([(0, 0), (500, 0)], CornerDriver(), 10.0)
    assert (rows[:, 3] == DRIVING).all() and (rows[:, 5] == 1.0).all()


def test_a_slower_car_is_an_easier_opponent():
    rows = lap([(0, 0), (900, 0)], CornerDriver(top=15.0), 20.0)
    assert rows[:, 2].max() < 15.1 and rows[-1, 2] > 14.5


@pytest.mark.parametrize("body", ["car", "storm", "bolte"])
@pytest.mark.parametrize("surface", ["asphalt", "wet", "gravel"])
def test_in_a_bend_it_is_no_faster_than_the_limit_of_its_angle_allows(body, surface):
    """The limit is that of the range its angle was in up to a third of a second ago."""
    driver = CornerDriver(body=body, surface=surface, top=13.0)
    rows = lap(bend(90.0, radius=15.0), driver, 25.0)
    limits = corner_table([driver])
    apex = 120.0 + 15.0 * math.radians(45.0)
    k = int(np.argmax(rows[:, 0] >= apex))
    assert rows[k, 3] == CORNERING
    limit = max(corner_limit(limits.edge, limits.limit, 0, a) for a in rows[k - 20 : k + 1, 4])
    assert rows[k, 2] <= 1.05 * limit
    assert rows[k, 2] ** 2 / 15.0 <= CLASSES[body].grip * SURFACES[surface] * G * 1.05
    out = int(np.argmax(rows[:, 0] >= 200.0))
    assert out > 0 and abs(rows[out, 1]) < 1.0  # and out of it, on the path


def test_in_a_corner_it_steers_at_the_far_point():
    driver, paths = CornerDriver(far=30.0), path_table([[(0, 0), (20, 0), (20, 100)]])
    table, types = corner_table([driver]), body_types(["car"])
    _, bodies = at_start(paths, [0], [0], [0])
    cars = CornerCars(
        np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1), np.zeros(1),
        np.zeros(1, np.uint8), np.zeros(1), np.zeros(1, np.int32), np.zeros(1),
    )  # fmt: skip
    drive_corners(paths, table, types, cars, bodies, 0, 1)
    assert cars.mode[0] == CORNERING and cars.angle[0] == pytest.approx(math.atan2(10.0, 20.0))
    assert bodies.wheel[0] == pytest.approx(math.atan2(10.0, 20.0))


def hairpin(**given) -> np.ndarray:
    return lap(
        bend(170.0, radius=7.0, before=80.0), CornerDriver(body="storm", top=14.0, **given), 25.0
    )


@pytest.mark.small_world
def test_where_the_angle_is_too_big_it_slides_and_returns_to_driving():
    slides, none = hairpin(slide=math.radians(60.0)), hairpin(slide=9.0)
    after = int(np.argmax(slides[:, 0] >= 145.0))
    assert none[-1, 6] == 0 and slides[after, 6] == 1
    assert slides[after, 3] == DRIVING and abs(slides[after, 1]) < 0.5
    began = np.flatnonzero(np.diff(slides[:after, 6]) > 0)
    assert (np.abs(slides[began + 1, 4]) >= math.radians(60.0) - 1e-9).all()


def test_a_slide_turns_the_car_faster_than_its_wheels_alone():
    types, driver = body_types(["storm"]), CornerDriver(body="storm")
    rates = []
    for hand in (0.0, 1.0):
        arrays = {name: np.zeros(1) for name in Bodies._fields} | {"type": np.zeros(1, np.int32)}
        body = Bodies(**arrays)
        body.speed[:], body.throttle[:], body.wheel[:] = 12.0, 1.0, types.max_steer[0]
        body.hand_brake[:] = hand
        seen = []
        for _ in range(60):
            move_bodies(types, body, DT, 0, 1)
            seen.append(body.turning[0])
        rates.append(np.mean(seen))
    assert rates[1] > 1.2 * rates[0] > 0.0 and driver.slide > driver.recover


def test_a_driver_that_cannot_be_is_refused():
    with pytest.raises(ParameterError, match="'tank': wanted one of storm"):
        corner_table([CornerDriver(body="tank")])
    with pytest.raises(ParameterError, match="'mud': wanted one of asphalt"):
        corner_table([CornerDriver(surface="mud")])
    with pytest.raises(ParameterError, match="points at 30 and 20 m"):
        corner_table([CornerDriver(near=30.0, far=20.0)])
