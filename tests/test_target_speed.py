"""Target speeds of Algorithm 1 and of the baseline (validation.md A1.4 - A1.7)."""

import math

import numpy as np
import pytest

from rushhour.kernels.steering.target_speed import (
    COUNT,
    LATERAL,
    LEAST,
    MOST,
    SPACING,
    G,
    aim_speeds,
    angle_speed,
    critical_speed,
    sharpest_ahead,
    widest_angle,
)
from rushhour.traffic.steering.followers import path_table


def aimed(paths, places, s, path=None, lateral=LATERAL, most=MOST) -> np.ndarray:
    """Target speeds of vehicles at places (n, 2 or 3) and stations s, m/s."""
    places = np.atleast_2d(np.asarray(places, float))
    if places.shape[1] == 2:
        places = np.column_stack((places, np.zeros(len(places))))
    out = np.empty(len(places))
    which = np.zeros(len(places), np.int32) if path is None else np.asarray(path, np.int32)
    aim_speeds(
        paths, which, np.asarray(s, float), np.ascontiguousarray(places),
        lateral, SPACING, COUNT, LEAST, most, out, 0, len(places),
    )  # fmt: skip
    return out


def circle(radius: float, turn: float = math.pi) -> np.ndarray:
    angles = np.linspace(0.0, turn, 2001)
    return radius * np.column_stack((np.cos(angles), np.sin(angles)))


def test_the_defaults_are_those_of_the_paper():
    assert (LATERAL, SPACING, COUNT, LEAST, MOST) == (0.4, 6.0, 5, 1.0, 10.0)


@pytest.mark.parametrize(
    ("degrees", "speed"),
    [(25, 10.0), (30, 9.213), (45, 7.247), (60, 5.943), (90, 4.080), (120, 2.607), (135, 1.932),
     (150, 1.278), (157, 1.0), (175, 1.0), (180, 1.0)],
)  # fmt: skip
def test_before_a_corner_the_speed_is_that_of_its_angle(degrees, speed):
    d = math.radians(degrees)
    way = path_table([[(-6, 0), (0, 0), (60 * math.cos(d), 60 * math.sin(d))]])
    assert aimed(way, (-6, 0), [0.0])[0] == pytest.approx(speed, abs=1e-3)


@pytest.mark.parametrize(("radius", "speed"), [(8, 7.345), (10, 8.451), (15, 10.631)])
def test_on_a_circle_the_speed_is_that_of_its_radius(radius, speed):
    way = path_table([circle(radius)])
    assert aimed(way, (radius, 0), [0.0], most=20.0)[0] == pytest.approx(speed, rel=0.005)
    assert aimed(way, (radius, 0), [0.0])[0] == pytest.approx(min(10.0, speed), rel=0.005)


@pytest.mark.parametrize("radius", [8.0, 15.0, 40.0])
def test_half_the_lateral_keeps_a_smooth_bend_below_what_it_says(radius):
    """Points of a smooth bend show half its curvature: 0.4 really asks for up to 0.8 g."""
    way = path_table([circle(radius)])
    felt = aimed(way, (radius, 0), [0.0], most=50.0)[0] ** 2 / radius / G
    halved = aimed(way, (radius, 0), [0.0], lateral=0.2, most=50.0)[0] ** 2 / radius / G
    assert 0.6 < felt <= 0.8
    assert 0.3 < halved <= 0.4


@pytest.mark.parametrize(
    ("offset", "speed"), [(0.0, 10.0), (2.7, 10.0), (2.825, 10.0), (4.0, 8.404), (6.0, 6.862)]
)
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_beside_a_straight_path_a_vehicle_slows_down(offset, speed, side):
    way = path_table([[(0, 0), (200, 0)]])
    assert aimed(way, (50, side * offset), [50.0])[0] == pytest.approx(speed, abs=1e-3)
    bend = sharpest_ahead(way.points, way.station, 0, 2, 50.0, 50.0, side * offset, 0.0, 6.0, 5)
    assert bend == pytest.approx(offset / 72.0)


def test_points_beyond_the_end_of_the_path_bend_nothing():
    way = path_table([[(0, 0), (100, 0)]])
    for s in (70.0, 80.0, 90.0, 99.0, 100.0):
        assert aimed(way, (s, 0), [s])[0] == 10.0
    assert aimed(way, (103, 0), [100.0])[0] == 10.0


def test_a_corner_is_seen_up_to_three_points_ahead_and_not_beyond_the_last():
    """Points at 6, 12, 18, 24 m: a corner at 18 m bends the last curve, one at 24 m none."""
    way = path_table([[(-60, 0), (0, 0), (0, 60)]])
    for ahead, speed in ((6.0, 4.080), (12.0, 4.080), (18.0, 4.080), (24.0, 10.0), (30.0, 10.0)):
        assert aimed(way, (-ahead, 0), [60.0 - ahead])[0] == pytest.approx(speed, abs=1e-3)


def test_a_crest_counts_as_a_bend_does():
    """The curve is laid in space: up and down at the same angle as a corner, the same speed."""
    d = math.radians(45.0)
    corner = path_table([[(-6, 0), (0, 0), (60 * math.cos(d), 60 * math.sin(d))]])
    crest = path_table([[(-6, 0, 0), (0, 0, 0), (60 * math.cos(d), 0, -60 * math.sin(d))]])
    level = aimed(corner, (-6, 0), [0.0])[0]
    assert aimed(crest, (-6, 0, 0), [0.0])[0] == pytest.approx(level, abs=1e-9)


def test_speeds_of_many_agents_are_those_of_each_alone():
    draw = np.random.default_rng(1)
    ways = path_table([np.cumsum(draw.uniform(-6, 12, (40, 3)), axis=0) for _ in range(8)])
    path = draw.integers(0, 8, 200)
    s = draw.uniform(0, 200, 200)
    places = draw.uniform(-20, 120, (200, 3))
    together = aimed(ways, places, s, path)
    alone = [aimed(ways, places[i], s[i : i + 1], path[i : i + 1])[0] for i in range(200)]
    np.testing.assert_array_equal(together, alone)
    assert ((together >= LEAST) & (together <= MOST)).all() and np.unique(together).size > 50


def test_straight_is_the_most_and_a_cusp_the_least():
    assert critical_speed(0.0, 0.4, 1.0, 10.0) == 10.0
    assert critical_speed(math.inf, 0.4, 1.0, 10.0) == 1.0
    assert critical_speed(0.1, 0.4, 1.0, 10.0) == pytest.approx(math.sqrt(39.24))


def test_the_baseline_is_inversely_proportional_to_the_widest_angle_ahead():
    way = path_table([[(0, 0), (20, 0), (20, 20), (40, 20)]])
    angle = widest_angle(way.points, way.station, 0, 4, 0.0, 0.0, 24.0)
    assert angle == pytest.approx(math.pi / 2)
    assert widest_angle(way.points, way.station, 0, 4, 0.0, 0.0, 10.0) == 0.0
    assert widest_angle(way.points, way.station, 0, 4, 0.0, 2.0, 10.0) == pytest.approx(2.0)
    assert angle_speed(angle, 5.0, 1.0, 10.0) == pytest.approx(5.0 / angle)
    assert angle_speed(0.0, 5.0, 1.0, 10.0) == 10.0
    assert angle_speed(3.0, 0.5, 1.0, 10.0) == 1.0
