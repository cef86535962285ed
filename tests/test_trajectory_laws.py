"""Laws of motion for bots on both engines (validation.md B2 - B4, B7.2, B7.3)."""

import math

import numpy as np
import pytest
from bots import INF, T, V, moved, walked

from rushhour.kernels.steering.engines import step_gain, wrap180
from rushhour.kernels.steering.trajectory_laws import (
    LineLaw,
    aim_along_lines,
    aim_around_points,
    aim_at_points,
    around_yaw,
    bearing,
    direct_intercept,
    first_turn,
    intercept_bound,
    least_radius,
    line_intercept,
    line_offset,
    line_yaw,
    offset_rate,
    point_speed,
    sine_intercept,
)

RATE = 90.0  # degrees/s
RADIUS = least_radius(V, RATE, INF)


def to_origin(k_d: float, most: float = INF):
    return lambda x, y, *_: (
        bearing(x, y, 0.0, 0.0),
        point_speed(math.sqrt(x * x + y * y), k_d, most),
    )


def around(clearance: float, side: float = 1.0):
    def law(x, y, *_):
        return around_yaw(bearing(x, y, 0.0, 0.0), math.sqrt(x * x + y * y), clearance, side), V

    return law


def along_x(k_y: float, most: float = 90.0, radius: float = 0.0, horizon: float = 0.0, pace=V):
    """The line law along the x axis; pace: speed, or a function of y. radius < 0: of the speed."""

    def law(x, y, yaw, v):
        tight = least_radius(v, RATE, INF) if radius < 0.0 else radius
        wanted = line_yaw(y, offset_rate(v, yaw, 0.0), 0.0, v, k_y, most, tight, horizon)
        return wanted, pace(y) if callable(pace) else pace

    return law


# To a point


def test_without_lag_the_distance_shrinks_by_the_same_share_each_step():
    distance = np.abs(moved(to_origin(2.0), (-1000, 0, 0, 0), 4.0)[:, 0])
    assert distance[1:] / distance[:-1] == pytest.approx(0.96, abs=1e-9)
    assert abs(moved(to_origin(1.0 / T), (-1000, 0, 0, 0), T)[-1, 0]) < 1e-9  # lands in a step


@pytest.mark.parametrize(("k_d", "over"), [(0.5, 0.0), (1.0, 0.0), (2.0, 3.2), (4.0, 8.9)])
def test_with_a_lag_of_the_speed_it_overshoots_above_a_quarter_of_it(k_d, over):
    rows = moved(to_origin(k_d), (-1000, 0, 0, 0), 20.0, k_speed=4.0)
    assert max(0.0, rows[:, 0].max()) == pytest.approx(over, abs=0.05)


def dance(radius: float) -> tuple[float, float]:
    """Greatest change of yaw in the last second, and the final distance."""
    x, y, yaw, speed = (np.array([v]) for v in (-300.3, 40.0, 0.0, V))
    arrived, wanted, pace, yaws = np.zeros(1, np.bool_), np.empty(1), np.empty(1), []
    for _ in range(200):
        aim_at_points(x, y, yaw, np.zeros((1, 2)), INF, V, radius, arrived, wanted, pace, 0, 1)
        row = moved(lambda *_: (wanted[0], pace[0]), (x[0], y[0], yaw[0], speed[0]), T)[1]
        x[0], y[0], yaw[0], speed[0] = row[:4]
        yaws.append(yaw[0])
    turns = [abs(wrap180(b - a)) for a, b in zip(yaws[-50:], yaws[-49:], strict=False)]
    return max(turns), math.hypot(x[0], y[0])


def test_with_an_arrival_radius_of_a_step_nobody_dances_on_the_destination():
    assert dance(0.0)[0] > 90.0
    turned, left = dance(V * T)
    assert turned < 1e-9 and left <= V * T


# Around a point


@pytest.mark.parametrize(
    ("dt", "low", "high"), [(0.02, 100.03, 100.04), (0.05, 100.11, 100.30), (0.1, 100.29, 101.50)]
)
def test_without_lag_it_flips_between_the_circle_and_a_step_outside(dt, low, high):
    rows = moved(around(100.0), (-600, 30, 0, V), 30.0, dt)
    radius = np.hypot(rows[:, 0], rows[:, 1])
    assert radius.min() >= 100.0
    steady = radius[len(radius) // 2 :]
    assert steady.max() <= math.sqrt(100.0**2 + (V * dt) ** 2)
    assert low <= steady.min() + 0.01 and steady.max() <= high
    turns = np.diff(np.unwrap(rows[len(rows) // 2 :, 2], period=360.0))
    flips = np.diff(turns)
    assert (flips[1:] * flips[:-1] < 0.0).mean() > 0.7  # commands flip-flop on the circle


@pytest.mark.parametrize(
    ("clearance", "k", "radius"),
    [(100, 4, 116.38), (100, 8, 104.63), (100, 16, 101.20), (200, 4, 209.26), (200, 8, 202.41),
     (200, 16, 200.61)],
)  # fmt: skip
def test_with_lag_the_circle_is_wider_by_the_closed_form_and_never_cut(clearance, k, radius):
    rows = moved(around(clearance), (-600, 30, 0, V), 25.0, 1e-3, k_yaw=k)
    away = np.hypot(rows[:, 0], rows[:, 1])
    assert away[-1] == pytest.approx(radius, rel=1e-3)
    assert away[-1] * math.cos(V / (k * away[-1])) == pytest.approx(clearance, rel=1e-3)
    assert away.min() >= 0.999 * clearance


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("start", [(-600.0, 30.0), (-200.0, -500.0)])
def test_the_way_there_is_the_tangent_on_the_chosen_side(side, start):
    rows = moved(around(100.0, side), (*start, 0, V), 1.2)
    (x0, y0), (x1, y1) = rows[0, :2], rows[40, :2]
    assert side * line_offset(0.0, 0.0, x0, y0, x1, y1) == pytest.approx(100.0, rel=1e-6)


@pytest.mark.parametrize(
    ("clearance", "dt", "radius"),
    [(100, 1e-3, 117.8), (100, 0.01, 117.0), (100, 0.05, 114.0), (100, 0.1, 110.9),
     (100, 0.24, 105.1), (200, 1e-3, 209.5), (200, 0.24, 202.6)],
)  # fmt: skip
def test_a_walk_round_a_point_is_wider_by_its_friction_and_less_so_in_long_steps(
    clearance, dt, radius
):
    rows = walked(around(clearance), (-600, 30, 0, V), 30.0, dt)
    away = np.hypot(rows[:, 0], rows[:, 1])
    assert away[len(away) // 2 :].mean() == pytest.approx(radius, rel=2e-3)
    if dt == 1e-3:
        assert radius == pytest.approx(math.sqrt(clearance**2 + (V / 4.0) ** 2), rel=2e-3)
        assert rows[-1, 3] == pytest.approx(V * radius / clearance, rel=3e-3)


# Along a line


@pytest.mark.parametrize("most", [45.0, 60.0, 90.0])
def test_without_lag_the_first_part_is_straight_at_the_intercept_angle(most):
    rows = moved(along_x(1.0 / T, most), (0, 400, 0, V), 1.2)
    slope = np.diff(rows[:50, 1]) / T
    assert slope == pytest.approx(-math.sin(math.radians(most)) * V, abs=1e-9 * V)


def test_without_lag_the_offset_decays_by_the_same_share_and_never_overshoots():
    def by_sine(x, y, yaw, v):
        return sine_intercept(y, v, 2.0), V

    exact = moved(by_sine, (0, 100, 0, V), 3.0)[:, 1]
    assert exact[1:] / exact[:-1] == pytest.approx(1.0 - 2.0 * T, abs=1e-12)
    linear = moved(along_x(2.0), (0, 20, 0, V), 3.0)[:, 1]
    assert linear[1:] / linear[:-1] == pytest.approx(1.0 - 2.0 * T, rel=1e-3)
    assert linear.min() >= 0.0


def test_the_direct_form_goes_straight_across_under_a_bound_of_its_speed():
    def direct(x, y, yaw, v):
        return direct_intercept(y, 2.0, 100.0)

    rows = moved(direct, (5, 400, 0, 0), 6.0)
    assert rows[:, 0] == pytest.approx(5.0, abs=1e-9) and rows[:, 1].min() >= 0.0
    assert rows[1:, 3].max() == 100.0 and rows[-1, 1] < 5.0


@pytest.mark.parametrize(
    ("k_y", "over"), [(0.5, 0.0), (1.0, 0.0), (1.5, 1.18), (2.0, 4.32), (4.0, 16.3), (8.0, 30.5)]
)
def test_with_lag_it_swings_as_a_spring_and_not_up_to_a_quarter_of_the_lag(k_y, over):
    rows = moved(along_x(k_y), (0, 10, 0, V), 12.0, 1e-3, k_yaw=4.0)
    assert max(0.0, -rows[:, 1].min() / 10.0) == pytest.approx(0.01 * over, abs=0.002)


@pytest.mark.parametrize(
    ("dt", "overs"), [(1e-3, (0.0, 1.16, 4.29, 16.2)), (0.02, (0.0, 0.87, 3.77, 15.5))]
)
def test_a_walk_swings_with_its_friction_as_lag(dt, overs):
    for k_y, over in zip((1.0, 1.5, 2.0, 4.0), overs, strict=True):
        rows = walked(along_x(k_y), (0, 10, 0, V), 8.0, dt)
        assert max(0.0, -rows[:, 1].min() / 10.0) == pytest.approx(0.01 * over, abs=0.002)


@pytest.mark.parametrize(("yaw", "turn"), [(119.0, -1.0), (121.0, 1.0), (0.0, -1.0), (-100.0, 1.0)])
def test_the_first_turn_goes_the_short_way_to_the_intercept(yaw, turn):
    assert first_turn(400.0, 0.0, yaw, 60.0) == turn
    rows = moved(along_x(1.0 / T, 60.0), (0, 400, yaw, V), T, yaw_rate=RATE)
    assert math.copysign(1.0, wrap180(rows[1, 2] - yaw)) == turn
    assert first_turn(400.0, 0.0, yaw, 50.0) == first_turn(-400.0, 0.0, -yaw, 50.0) * -1.0


def test_the_limit_that_decides_the_first_turn_may_differ_from_the_intercept_angle():
    assert (
        first_turn(400.0, 0.0, 125.0, 60.0) == 1.0 and first_turn(400.0, 0.0, 125.0, 50.0) == -1.0
    )
    assert first_turn(0.0, 30.0, 30.0, 60.0) == 0.0


def overshoot(k_y: float, bounded: bool, ahead: bool, k_yaw: float = INF) -> float:
    horizon = T / step_gain(k_yaw, T) if ahead else 0.0
    law = along_x(k_y, radius=RADIUS if bounded else 0.0, horizon=horizon)
    return float(-moved(law, (0, 400, 0, V), 20.0, k_yaw=k_yaw, yaw_rate=RATE)[:, 1].min())


def test_a_bounded_turn_overshoots_unless_its_last_arc_is_tangent():
    assert RADIUS == pytest.approx(159.155, abs=1e-3)
    assert overshoot(1.0 / T, bounded=False, ahead=False) == pytest.approx(153.3, abs=0.5)
    assert overshoot(5.0, bounded=False, ahead=False) == pytest.approx(82.7, abs=0.5)
    assert 0.0 < overshoot(1.0 / T, bounded=True, ahead=False) <= V * T
    assert overshoot(1.0 / T, bounded=True, ahead=True) < 1e-9
    assert intercept_bound(0.0, RADIUS) == 0.0 and intercept_bound(-1e9, RADIUS) == 180.0


def test_with_lag_the_bound_helps_and_the_prediction_nearly_ends_the_overshoot():
    none, bound, ahead = (
        overshoot(4.0, b, p, 4.0) for b, p in ((False, False), (True, False), (True, True))
    )
    assert (none, bound, ahead) == pytest.approx((73.9, 47.7, 6.9), abs=0.1)
    assert none > bound > ahead and ahead <= 0.1 * none
    linear = [overshoot(2.0, b, p, 4.0) for b, p in ((False, False), (True, False), (True, True))]
    assert linear == pytest.approx([9.4, 9.4, 5.5], abs=0.1)  # the bound cannot end the swing


@pytest.mark.parametrize(
    ("first", "then", "low", "high"),
    [(250, 80, 0.0, 2.0), (250, 400, 15.0, 25.0), (80, 250, 55.0, 70.0)],
)
def test_a_drop_of_the_speed_in_the_last_turn_does_no_harm_and_a_rise_overshoots(
    first, then, low, high
):
    passed = []

    def pace(y):
        if abs(y) < 60.0:
            passed.append(y)
        return then if passed else first

    rows = moved(
        along_x(2.0, radius=-1.0, pace=pace), (0, 400, 0, first), 30.0,
        k_yaw=4.0, k_speed=4.0, yaw_rate=RATE, accel=400.0, decel=400.0,
    )  # fmt: skip
    assert low <= -rows[:, 1].min() <= high


@pytest.mark.parametrize("k_yaw", [4.0, INF])
def test_in_the_end_it_is_on_the_line_and_in_its_direction(k_yaw):
    rows = moved(along_x(1.0), (0, 400, 100, V), 30.0, k_yaw=k_yaw)
    assert abs(rows[-1, 1]) < 1e-6 and abs(wrap180(rows[-1, 2])) < 1e-6


def test_offset_and_its_rate_have_the_sign_of_the_left():
    assert line_offset(5.0, 2.0, 0.0, 0.0, 10.0, 0.0) == 2.0
    assert line_offset(5.0, 2.0, 10.0, 0.0, 0.0, 0.0) == -2.0
    assert line_offset(5.0, 2.0, 1.0, 1.0, 1.0, 1.0) == 0.0
    assert offset_rate(10.0, 120.0, 90.0) == pytest.approx(5.0)
    assert [bearing(0, 0, *q) for q in ((1, 0), (0, 1), (-1, 0), (0, -1))] == [
        0.0,
        90.0,
        180.0,
        -90.0,
    ]
    assert [line_intercept(y, v, 2.0, 60.0) for y, v in ((0.0, 0.0), (5.0, 0.0))] == [0.0, -60.0]


def test_many_bots_are_commanded_as_each_alone():
    n = 4
    draw = np.random.default_rng(1)
    x, y, yaw, speed = draw.uniform(-300, 300, (4, n))
    speed = np.abs(speed)
    lines, wanted = draw.uniform(-300, 300, (n, 4)), np.empty(n)
    aim_along_lines(x, y, yaw, speed, lines, LineLaw(2.0, 60.0, RADIUS, 0.1), wanted, 0, n)
    for i in range(n):
        course = bearing(*lines[i])
        off = line_offset(x[i], y[i], *lines[i])
        rate = offset_rate(speed[i], yaw[i], course)
        assert wanted[i] == line_yaw(off, rate, course, speed[i], 2.0, 60.0, RADIUS, 0.1)
    side, clearance = np.array([1.0, -1.0, 1.0, -1.0]), np.full(n, 50.0)
    aim_around_points(x, y, lines[:, :2].copy(), clearance, side, wanted, 0, n)
    for i in range(n):
        away = math.sqrt((lines[i, 0] - x[i]) ** 2 + (lines[i, 1] - y[i]) ** 2)
        bear = bearing(x[i], y[i], lines[i, 0], lines[i, 1])
        assert wanted[i] == pytest.approx(around_yaw(bear, away, 50.0, side[i]))
