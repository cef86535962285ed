"""Pure pursuit against its closed forms (validation.md A1.8, A1.9)."""

import math

import numpy as np
import pytest

from rushhour.kernels.steering.bicycle import rolled, rolling_turn
from rushhour.kernels.steering.pure_pursuit import (
    look_distance_at,
    pursue,
    pursuit_curvature,
    pursuit_steer,
    steer_to,
)
from rushhour.traffic.steering.followers import path_table

BASE = 2.5  # m, wheelbase


def test_on_a_circle_the_error_dies_out_and_the_angle_is_that_of_the_chord():
    radius, look, step = 10.0, 4.0, 0.05
    x, y, heading = radius + 0.3, 0.0, math.pi / 2
    chord = 2.0 * math.asin(look / (2.0 * radius))  # angle at the centre
    for _ in range(4000):
        at = math.atan2(y, x) + chord
        tx, ty = radius * math.cos(at), radius * math.sin(at)
        steer = steer_to(x, y, heading, tx, ty, BASE, 1.0)
        angle = math.remainder(math.atan2(ty - y, tx - x) - heading, math.tau)
        turning = rolling_turn(5.0, steer, BASE, 1e9)
        x, y, heading = rolled(x, y, heading, 5.0, turning, step / 5.0)
    assert abs(math.sqrt(x * x + y * y) - radius) <= look / radius * step / 2.0 + 1e-3
    assert math.tan(steer) / BASE == pytest.approx(1.0 / radius, rel=1e-3)
    assert angle == pytest.approx(math.asin(look / 2 / radius), abs=1e-3)


def test_to_a_straight_line_it_swings_like_a_damped_spring():
    """Natural frequency sqrt(2) v / Ld and damping 1 / sqrt(2): 4.32 % over, zero at 2.356 s."""
    look, speed, dt, start = 5.0, 5.0, 1e-3, 0.01
    x, y, heading, ys = 0.0, start, 0.0, []
    for _ in range(8000):
        # the target is look along the line from the nearest point; for small offsets at look
        steer = steer_to(x, y, heading, x + math.sqrt(look * look - y * y), 0.0, BASE, 1.0)
        turning = rolling_turn(speed, steer, BASE, 1e9)
        x, y, heading = rolled(x, y, heading, speed, turning, dt)
        ys.append(y)
    offsets = np.array(ys)
    crossing = float(np.argmax(offsets < 0.0)) * dt
    assert crossing == pytest.approx(0.75 * math.pi * look / speed, rel=0.01)
    assert -offsets.min() / start == pytest.approx(0.0432, abs=0.003)


def test_the_arc_to_a_point_goes_through_it():
    for angle, distance in ((0.3, 5.0), (-1.1, 8.0), (1.5, 3.0)):
        bend = pursuit_curvature(angle, distance)
        turn = 2.0 * angle  # the arc turns by twice the angle to its end
        end = (math.sin(turn) / bend, (1.0 - math.cos(turn)) / bend)
        assert end == pytest.approx((distance * math.cos(angle), distance * math.sin(angle)))


def test_what_lies_behind_is_turned_to_as_sharply_as_what_lies_abreast():
    assert pursuit_curvature(3.0, 4.0) == pursuit_curvature(math.pi / 2, 4.0) == 0.5
    assert pursuit_curvature(-3.0, 4.0) == -0.5
    assert pursuit_curvature(1.0, 0.0) == 0.0


def test_the_wheels_turn_by_the_bicycle_s_angle_within_their_lock():
    assert pursuit_steer(2.5, 0.1, 1.0) == pytest.approx(math.atan(0.25))
    assert pursuit_steer(2.5, 10.0, 0.6) == 0.6
    assert pursuit_steer(2.5, -10.0, 0.6) == -0.6


def test_the_look_ahead_grows_with_speed_within_bounds():
    assert [look_distance_at(v, 0.8, 6.0, 15.0) for v in (0.0, 10.0, -10.0, 30.0)] == [6, 8, 8, 15]


def test_many_vehicles_aim_at_the_point_ahead_on_their_own_path():
    ways = path_table([[(0, 0), (50, 0)], [(0, 0), (0, 50)]])
    place = np.zeros((3, 3))
    place[:, 1] = 1.0
    out = np.empty(3)
    pursue(
        ways, np.array([0, 1, 0], np.int32), np.array([0.0, 1.0, 45.0]), place,
        np.array([0.0, math.pi / 2, 0.0]), np.full(3, 8.0), np.full(3, BASE), np.full(3, 0.6),
        out, 0, 3,
    )  # fmt: skip
    assert out[0] == steer_to(0.0, 1.0, 0.0, 8.0, 0.0, BASE, 0.6) < 0.0
    assert out[1] == pytest.approx(0.0, abs=1e-12)
    assert out[2] == steer_to(0.0, 1.0, 0.0, 50.0, 0.0, BASE, 0.6)
