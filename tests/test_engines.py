"""The two engines of bots, and how they stop (validation.md B0 L0, B6, B7.1, B7.4)."""

import math

import numpy as np
import pytest
from bots import INF, T, V, moved, walked

from rushhour.kernels.steering.engines import (
    BaseEngine,
    GoldSrc,
    base_stopping_distance,
    goldsrc_stopping_distance,
    move_bots,
    step_gain,
    walk_bots,
    wrap180,
    wrap360,
)
from rushhour.kernels.steering.trajectory_laws import bearing, point_speed


@pytest.mark.parametrize(
    ("angle", "half", "full"),
    [(0, 0, 0), (180, -180, 180), (-180, -180, 180), (179.5, 179.5, 179.5), (-0.5, -0.5, 359.5),
     (360, 0, 0), (540, -180, 180), (-540, -180, 180), (-1e-20, 0, 0), (725, 5, 5)],
)  # fmt: skip
def test_angles_are_wrapped_at_the_cuts(angle, half, full):
    assert wrap180(float(angle)) == pytest.approx(half, abs=1e-12)
    assert wrap360(float(angle)) == pytest.approx(full, abs=1e-12)
    assert -180.0 <= wrap180(float(angle)) < 180.0 and 0.0 <= wrap360(float(angle)) < 360.0


def test_the_yaw_follows_with_its_lag_and_the_speed_with_its_own():
    rows = moved(lambda *_: (90.0, 100.0), (0, 0, 0, 0), 1.0, k_yaw=4.0, k_speed=2.0)
    assert rows[-1, 2] == pytest.approx(90.0 * (1.0 - math.exp(-4.0)))
    assert rows[-1, 3] == pytest.approx(100.0 * (1.0 - math.exp(-2.0)))
    at_once = moved(lambda *_: (90.0, 100.0), (0, 0, 0, 0), T)
    assert tuple(at_once[-1, 2:4]) == pytest.approx((90.0, 100.0))
    assert at_once[-1, 1] == pytest.approx(100.0 * T)  # with the new yaw and the new speed


def test_it_turns_the_short_way_round():
    rows = moved(lambda *_: (10.0, 1.0), (0, 0, 350, 1), 5 * T, yaw_rate=100.0)
    assert rows[1:, 2] == pytest.approx([352.0, 354.0, 356.0, 358.0, 0.0], abs=1e-9)


def test_bounds_of_turning_and_of_the_speed_hold():
    """At 100 units/s, 50 units/s^2 across allow 28.6 degrees/s."""
    n, engine = 1, BaseEngine(1.0, 1.0, 90.0, 50.0, 200.0, 30.0)
    x, y, yaw, speed = (np.full(n, value) for value in (0.0, 0.0, 0.0, 100.0))
    move_bots(x, y, yaw, speed, np.full(n, 180.0), np.full(n, 500.0), engine, T, 0, n)
    assert yaw[0] == pytest.approx(360.0 - math.degrees(50.0 / 100.0) * T)  # wrap180(180) = -180
    assert speed[0] == pytest.approx(100.0 + 30.0 * T)
    move_bots(x, y, yaw, speed, yaw.copy(), np.zeros(n), engine, T, 0, n)
    assert speed[0] == pytest.approx(100.6 - 200.0 * T)
    speed[:] = 0.0
    yaw[:] = 0.0
    move_bots(x, y, yaw, speed, np.full(n, 90.0), np.zeros(n), engine, T, 0, n)
    assert yaw[0] == pytest.approx(90.0 * T)  # standing it may turn at its yaw rate


def stop_way(speed: float, dt: float, k: float, decel: float = INF) -> float:
    return float(
        moved(lambda *_: (0.0, 0.0), (0, 0, 0, speed), 30.0, dt, k_speed=k, decel=decel)[-1, 0]
    )


def test_without_a_bound_it_stops_in_the_way_of_a_geometric_series():
    assert stop_way(V, T, 4.0) == pytest.approx(60.0333, abs=1e-4)
    assert base_stopping_distance(V, 4.0, INF, T) == pytest.approx(stop_way(V, T, 4.0), rel=1e-9)


@pytest.mark.parametrize("speed", [250.0, 400.0, 40.0])
def test_with_a_bounded_deceleration_it_brakes_first_and_then_creeps(speed):
    way = base_stopping_distance(speed, 4.0, 200.0, 1e-3)
    assert stop_way(speed, 1e-3, 4.0, 200.0) == pytest.approx(way, rel=0.002)
    assert base_stopping_distance(V, 4.0, 200.0, 1e-3) == pytest.approx(162.5)


@pytest.mark.parametrize(("dt", "way"), [(1e-3, 49.8), (0.01, 48.0), (0.05, 40.0)])
def test_friction_stops_a_walk_in_the_published_way(dt, way):
    rows = walked(lambda *_: (0.0, 0.0), (0, 0, 0, V), 5.0, dt)
    assert rows[-1, 0] == pytest.approx(way, abs=0.05)
    aslant = walked(lambda *_: (0.0, 0.0), (0, 0, 53.13, V), 5.0, dt)
    assert tuple(aslant[-1, :2]) == pytest.approx((0.6 * way, 0.8 * way), abs=0.05)
    assert goldsrc_stopping_distance(V, 4.0, 100.0) == 50.0
    assert goldsrc_stopping_distance(50.0, 4.0, 100.0) == pytest.approx(50.0**2 / 800.0)


@pytest.mark.parametrize("engine", ["late", "bounded", "goldsrc"])
def test_stopping_by_the_known_way_ends_within_a_step_and_never_exactly(engine):
    def law(x, y, yaw, v):
        way = {
            "late": lambda: base_stopping_distance(v, 4.0, INF, T),
            "bounded": lambda: base_stopping_distance(v, 4.0, 200.0, T),
            "goldsrc": lambda: goldsrc_stopping_distance(v, 4.0, 100.0),
        }[engine]()
        return 0.0, 0.0 if law.stops or -x <= way else V

    def triggered(x, y, yaw, v):
        wanted = law(x, y, yaw, v)
        law.stops = law.stops or wanted[1] == 0.0
        return wanted

    law.stops = False
    if engine == "goldsrc":
        rows, step = walked(triggered, (-1000, 0, 0, V), 10.0, 0.01), V * 0.01
    else:
        bound = 200.0 if engine == "bounded" else INF
        rows, step = moved(triggered, (-1000, 0, 0, V), 15.0, k_speed=4.0, decel=bound), V * T
    assert 0.0 < abs(rows[-1, 0]) <= 2.0 * step and rows[-1, 3] < 1e-3


@pytest.mark.parametrize(("wish", "first"), [(39.0, 3.9), (41.0, 4.1)])
def test_a_wish_of_forty_never_gets_a_walk_going(wish, first):
    rows = walked(lambda *_: (0.0, wish), (0, 0, 0, 0), 5.0, 0.01)
    assert rows[1, 3] == pytest.approx(first)
    assert rows[-1, 3] == pytest.approx(3.9 if wish < 40.0 else 41.0, abs=0.01)


@pytest.mark.parametrize("dt", [0.01, 0.02])
@pytest.mark.parametrize("k_d", [1.0, 2.0, 4.0])
def test_by_the_distance_law_a_walk_ends_short_of_its_point_and_does_not_overshoot(k_d, dt):
    def law(x, y, yaw, v):
        return bearing(x, y, 0.0, 0.0), point_speed(math.sqrt(x * x + y * y), k_d, V)

    rows = walked(law, (-1000, 0, 0, 0), 60.0, dt)
    short = 1.0 / (10.0 * dt * k_d)
    assert -rows[-1, 0] == pytest.approx(short, abs=1.0 * dt + 1e-6)
    assert rows[:, 0].max() < 0.0


@pytest.mark.tiny_world
def test_many_bots_move_and_walk_as_each_alone():
    n, engine = 3, BaseEngine(step_gain(4.0, T), 1.0, INF, INF, INF, INF)
    draw = np.random.default_rng(1)
    x, y, yaw, speed = draw.uniform(0, 100, (4, n))
    wanted, pace = draw.uniform(0, 300, (2, n))
    alone = [moved(lambda *_, i=i: (wanted[i], pace[i]), (x[i], y[i], yaw[i], speed[i]), T, k_yaw=4.0)[1, :4] for i in range(n)]  # fmt: skip
    walks = [walked(lambda *_, i=i: (wanted[i], pace[i]), (x[i], y[i], yaw[i], speed[i]), T, T)[1, :4] for i in range(n)]  # fmt: skip
    many = [a.copy() for a in (x, y, yaw, speed)]
    move_bots(*many, wanted, pace, engine, T, 0, n)
    np.testing.assert_allclose(np.array(many).T, alone, rtol=1e-12)
    walk_bots(x, y, yaw, speed, wanted, pace, GoldSrc(4.0, 100.0, 10.0, 320.0), T, 0, n)
    np.testing.assert_allclose(np.array((x, y, yaw, speed)).T, walks, rtol=1e-9)
