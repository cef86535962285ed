"""Reaching a point in a direction: families of curves (validation.md B5)."""

import math

import numpy as np
import pytest
from bots import moved

from rushhour.kernels.steering.approach_families import (
    F1,
    F2,
    F3,
    F4,
    F5,
    aim_home,
    circle_radius,
    family_yaw,
    home_bearing,
)
from rushhour.kernels.steering.engines import wrap180

START = (-200.0, 50.0)
PACE = 100.0


def home(
    family: int,
    first: float,
    second: float = 0.0,
    start=START,
    seconds: float = 6.0,
    stop=1.0,
    dt=0.005,
):
    """Rows on the way home, up to the stop radius; the start's yaw is that of the law."""

    def law(x, y, *_):
        return family_yaw(family, x, y, first, second), PACE

    yaw = family_yaw(family, *start, first, second)
    rows = moved(law, (*start, yaw, PACE), seconds, dt)
    away = np.hypot(rows[:, 0], rows[:, 1])
    near = np.flatnonzero(away <= stop)
    return rows[: near[0] + 1] if near.size else rows


def test_k_two_is_the_circle_that_the_start_fixes():
    rows = home(F2, 2.0)
    radius = circle_radius(*START)
    assert radius == pytest.approx(-425.0) and circle_radius(-5.0, 0.0) == math.inf
    away = np.hypot(rows[:, 0], rows[:, 1] + radius)
    # the circle ends in the origin along +x, so its middle is at (0, -radius)
    assert np.abs(away - 425.0).max() <= 1e-4 * 425.0
    assert abs(wrap180(rows[-1, 2])) <= 0.5 and math.hypot(*rows[-1, :2]) <= 1.0


@pytest.mark.parametrize("k", [1.5, 2.0, 2.5, 3.0])
def test_any_k_draws_a_sinusoidal_spiral(k):
    rows = home(F2, k, stop=40.0, dt=1e-3)
    away = np.hypot(rows[:, 0], rows[:, 1])
    bear = np.array([home_bearing(x, y) for x, y in rows[:, :2]])
    constant = away ** (k - 1.0) / np.abs(np.sin(np.radians((k - 1.0) * bear)))
    assert constant == pytest.approx(constant[0], rel=0.01)


@pytest.mark.parametrize(
    ("k", "angle", "arrives"),
    [(2.5, 117.0, True), (2.5, 123.0, False), (3.0, 87.0, True), (3.0, 93.0, False)],
)
def test_it_converges_from_bearings_below_180_over_k_less_one(k, angle, arrives):
    start = (-200.0 * math.cos(math.radians(angle)), -200.0 * math.sin(math.radians(angle)))
    rows = home(F2, k, start=start, seconds=30.0, stop=2.0)
    came = math.hypot(*rows[-1, :2]) <= 2.0 and abs(wrap180(rows[-1, 2])) < 20.0
    assert came == arrives
    if k == 3.0 and not arrives:
        assert abs(wrap180(rows[-1, 2])) > 160.0  # it arrives against the wanted direction


@pytest.mark.parametrize("k", [1.5, 2.0, 3.0])
def test_the_final_heading_is_within_the_closed_bound(k):
    rows = home(F2, k, stop=2.9)
    first, near = math.hypot(*START), math.hypot(*rows[-1, :2])
    size = first ** (k - 1.0) / math.sin(math.radians((k - 1.0) * abs(home_bearing(*START))))
    bound = k * math.degrees(math.asin(near ** (k - 1.0) / size)) / (k - 1.0)
    assert abs(wrap180(rows[-1, 4])) <= bound * 1.05 + 1e-6


def test_f5_with_two_is_the_parabola_and_with_one_the_straight_line():
    rows = home(F5, 2.0)
    shape = START[1] / START[0] ** 2
    assert np.abs(rows[:, 1] - shape * rows[:, 0] ** 2).max() <= 1e-3 * START[1]
    line = home(F5, 1.0)
    assert np.abs(line[:, 0] * START[1] - line[:, 1] * START[0]).max() < 1e-6 * 200.0 * 50.0
    assert family_yaw(F5, *START, 1.0, 0.0) == pytest.approx(home_bearing(*START))
    assert family_yaw(F2, *START, 1.0, 0.0) == home_bearing(*START)


@pytest.mark.parametrize(("b", "c"), [(1.5, 1.0), (1.0, 1.0), (0.5, 1.0), (0.0, 1.0), (0.3, 0.8)])
def test_f1_draws_conics(b, c):
    rows = home(F1, b, c, stop=5.0)
    x, y = rows[:, 0], rows[:, 1]
    f = -(START[0] ** 2 + 2 * b * START[0] * START[1] + c * c * START[1] ** 2) / (2 * START[1])
    residual = x * x + 2 * b * x * y + c * c * y * y + 2 * f * y
    assert np.abs(residual).max() <= 1e-3 * (START[0] ** 2)


@pytest.mark.parametrize("k", [1.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("family", [F3, F4])
def test_f3_and_f4_end_within_two_units_in_the_direction(family, k):
    rows = home(family, k, stop=1.5)
    assert math.hypot(*rows[-1, :2]) <= 2.0
    assert abs(wrap180(rows[-1, 2])) <= 2.5


@pytest.mark.parametrize("family", [F2, F3, F4])
def test_every_circle_is_the_same_circle(family):
    at = family_yaw(F2, *START, 2.0, 0.0)
    assert family_yaw(family, *START, 2.0, 0.0) == pytest.approx(at)
    assert family_yaw(F1, *START, 0.0, 1.0) == pytest.approx(at)


def test_every_way_home_is_mirrored_and_turns_with_the_destination():
    for family, shape in (
        (F1, (0.0, 0.8)),
        (F2, (1.7, 0)),
        (F3, (2.2, 0)),
        (F4, (1.6, 0)),
        (F5, (3.0, 0)),
    ):
        up, down = (family_yaw(family, -200.0, y, *map(float, shape)) for y in (50.0, -50.0))
        assert up == pytest.approx(-down)
        wanted = np.empty(1)
        turn = math.radians(30.0)
        x = 7.0 + START[0] * math.cos(turn) - START[1] * math.sin(turn)
        y = 3.0 + START[0] * math.sin(turn) + START[1] * math.cos(turn)
        aim_home(
            np.array([x]), np.array([y]), np.array([[7.0, 3.0, 30.0]]),
            np.array([family], np.int32), np.array([shape], float), wanted, 0, 1,
        )  # fmt: skip
        assert wanted[0] == pytest.approx(30.0 + up)
