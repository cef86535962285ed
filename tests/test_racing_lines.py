"""Lines and speeds on racetracks: closed forms, what tyres give, and published laps."""

import sys
from pathlib import Path

import numpy as np
import pytest
from plain_kernels import as_python
from real_data import data_folder

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

import published_laps
from steering_models import wavy_track

from rushhour.games.racing.car_race import CarRace, taught_track
from rushhour.games.racing.racing_line import (
    CARS,
    Car,
    bends_of,
    held_speeds,
    least_curvature,
    least_time,
    points_on,
    refined,
    share_bounds,
    time_of,
    with_racing_line,
)
from rushhour.kernels.racing.fastest_lines import shorten_lap
from rushhour.roadnets.racetracks import build_track, read_track


def ring(radius, width, nodes=90):
    """A circle, counter-clockwise: its middle has the radius."""
    angle = np.linspace(0.0, 2.0 * np.pi, nodes, endpoint=False)
    one = np.column_stack((np.cos(angle), np.sin(angle)))
    return build_track((radius - 0.5 * width) * one, (radius + 0.5 * width) * one)


def wild_track(seed, width):
    """A closed track of bends drawn by seed."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0.0, 2.0 * np.pi, 160, endpoint=False)
    radius = 120.0 * np.ones_like(angle)
    for k in range(2, 9):
        radius += 90.0 / k**1.2 * rng.uniform(-0.5, 0.5) * np.cos(k * angle + rng.uniform(0.0, 6.0))
    middle = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    step = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    aside = np.column_stack((-step[:, 1], step[:, 0])) / np.hypot(*step.T)[:, None]
    return build_track(middle + 0.5 * width * aside, middle - 0.5 * width * aside)


def test_on_a_circle_the_speed_is_that_of_grip_and_downforce_in_closed_form():
    car = Car(grip=1.2, lift=0.002, accel=9.0, brake=12.0, power=500.0, drag=0.0, fastest=90.0)
    angle = np.linspace(0.0, 2.0 * np.pi, 500, endpoint=False)
    circle = 60.0 * np.column_stack((np.cos(angle), np.sin(angle)))
    np.testing.assert_allclose(bends_of(circle), 1.0 / 60.0, rtol=1e-3)
    wanted = np.sqrt(0.97 * 1.2 * 9.81 / (1.0 / 60.0 - 0.97 * 0.002))
    np.testing.assert_allclose(held_speeds(circle, np.ones(500), car), wanted, rtol=1e-3)


def test_speeds_never_ask_for_more_than_tyres_engine_and_brakes_give():
    track, took = with_racing_line(wild_track(21, 11.0), CARS["gt"])
    car, v = CARS["gt"], track.line_speed
    step = np.hypot(*(np.roll(track.line, -1, axis=0) - track.line).T)
    along = (np.roll(v, -1) ** 2 - v**2) / (2.0 * step) + car.drag * v * v
    across = v * v * np.abs(bends_of(track.line))
    most = car.grip * 9.81 + car.lift * v * v
    assert (across <= 0.971 * most).all() and (along >= -1.02 * most - 1e-9).all()
    assert (along <= car.accel + 1e-6).all() and (along <= car.power / v * 1.02).all()
    assert took == pytest.approx(time_of(track.line, v))


def test_the_line_has_less_curvature_than_the_middle_and_no_random_line_has_less():
    track = refined(wild_track(22, 11.0))
    low, high = share_bounds(track, 0.9)
    share = least_curvature(track, low, high)
    assert (share >= low).all() and (share <= high).all()

    def bent(share):
        points = points_on(track, share)
        step = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
        return float((bends_of(points) ** 2 * step).sum())

    rng = np.random.default_rng(0)
    assert bent(share) < 0.7 * bent(np.full(len(share), 0.5))
    t = np.arange(len(share)) * 2.0 * np.pi / len(share)
    for _ in range(50):
        wave = rng.uniform(-0.1, 0.1) * np.sin(rng.integers(1, 20) * t + rng.uniform(0.0, 6.0))
        assert bent(np.clip(share + wave, low, high)) >= bent(share) * 0.999


def test_the_line_of_least_time_is_faster_and_within_the_same_bounds():
    for track in (wavy_track(80), wild_track(22, 11.0), wild_track(3, 9.0)):
        track = refined(track)
        low, high = share_bounds(track, 0.9)
        for car in CARS.values():
            share = least_curvature(track, low, high)
            bent = least_time(track, car, low, high, share)
            assert (bent >= low).all() and (bent <= high).all()
            took = [
                time_of(way, held_speeds(way, track.grip, car))
                for way in (points_on(track, share), points_on(track, bent))
            ]
            assert took[1] < 0.998 * took[0]


def test_bumps_are_kept_as_in_plain_python():
    track = refined(wild_track(22, 11.0))
    low, high = share_bounds(track, 0.9)
    n, car = len(low), np.array([0.001, 9.0, 16.0, 290.0, 0.0006, 85.0])
    made = []
    for kernel in (shorten_lap, as_python(shorten_lap)):
        share = least_curvature(track, low, high)
        speed = held_speeds(points_on(track, share), track.grip, CARS["gt"])
        kept, work = np.zeros(n), np.zeros((3, n + 1))
        found = kernel(
            track.left, track.right, low, high, 13.0 * track.grip, car, 12, 20, 0.4, speed, share,
            kept, work,
        )  # fmt: skip
        made.append((found, share, speed))
    assert made[0][0] == made[1][0] > 3
    np.testing.assert_array_equal(made[0][1], made[1][1])
    np.testing.assert_array_equal(made[0][2], made[1][2])


@pytest.mark.parametrize(
    "track",
    [
        ring(14.0, 6.0),
        ring(25.0, 3.0),
        ring(60.0, 12.0, 12),
        wild_track(3, 5.0),
        wild_track(8, 9.0),
    ],
    ids=["tiny", "narrow", "coarse", "wild and narrow", "wild"],
)
@pytest.mark.parametrize("car", CARS)
def test_on_any_closed_track_the_line_is_within_it_and_cars_arrive(track, car):
    raced, took = with_racing_line(track, CARS[car])
    raced, lap = taught_track(raced, car=CARS[car])
    assert 0.99 * took < lap < 1.15 * took  # the coarse ring has 12 corners
    done = CarRace(raced, 2, seed=6, car=CARS[car]).run(2)
    assert np.isfinite(done.finish).all() and done.lost.sum() == 0


def test_the_reference_laps_a_circle_in_the_closed_form():
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    points = 90.0 * np.column_stack((np.cos(angle), np.sin(angle)))
    # the tyres also pull against the drag
    speed = np.sqrt(1.4 * 9.81 / (np.hypot(1.0 / 90.0, 0.0006) - 0.0011))
    assert published_laps.lap(points, "gt") == pytest.approx(2.0 * np.pi * 90.0 / speed, rel=1e-4)


# s of a lap of gt and road by bench/published_laps.py on the published lines of least curvature:
# racelines/ of github.com/TUMFTM/racetrack-database at commit e59595d1
PUBLISHED = {
    "Hockenheim": (100.27, 124.82), "IMS": (54.85, 71.21), "Monza": (109.32, 135.95),
    "Norisring": (51.03, 63.15), "Shanghai": (123.43, 152.98), "Silverstone": (123.47, 154.45),
    "Spa": (142.54, 178.04), "Suzuka": (122.37, 153.32),
}  # fmt: skip


IN_CI = ("IMS", "Norisring", "Shanghai")  # an oval, a short one and a long one


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in IN_CI else pytest.mark.soak)
        for name in PUBLISHED
    ],
)
def test_driven_laps_are_within_5_percent_of_those_on_the_published_lines(name):
    track = read_track(data_folder("racetracks") / f"{name}.csv")
    for car, published in zip(("gt", "road"), PUBLISHED[name], strict=True):
        line, took = with_racing_line(track, CARS[car])
        _, lap = taught_track(line, car=CARS[car])
        assert took <= 1.03 * published and lap <= 1.05 * published


@pytest.mark.slow
def test_a_published_formula_1_car_plans_shanghai_within_5_percent_of_its_published_laps():
    """Of github.com/TUMFTM/laptime-simulation at afa0aa7: its test object, its README's picture."""
    car = Car(
        grip=1.75, lift=0.0068, accel=13.2, brake=60.0, power=822.0, drag=0.00124, fastest=95.0
    )
    plain = read_track(data_folder("racetracks") / "Shanghai.csv")
    track, planned = with_racing_line(plain, car, quickest=True)
    _, driven = taught_track(track, car=car)
    assert 91.405 < planned < 1.05 * 91.405 and planned < driven < 1.05 * 91.405


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["IMS", "Norisring", pytest.param("Silverstone", marks=pytest.mark.soak)]
)
def test_best_laps_of_races_are_within_5_percent_of_those_on_the_published_lines(name):
    """Ten cars, three laps, seeds that were not looked at while this was built."""
    line, _ = with_racing_line(read_track(data_folder("racetracks") / f"{name}.csv"), CARS["gt"])
    track, _ = taught_track(line)
    races = [CarRace(track, 10, seed=seed).run(3) for seed in (61, 62, 63)]
    best = float(np.mean([race.best_lap.min() for race in races]))
    assert best <= 1.05 * PUBLISHED[name][0]
    assert sum(race.passes.sum() for race in races) > sum(race.contacts.sum() for race in races)
