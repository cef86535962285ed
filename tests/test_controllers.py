"""Speed control and PID against their closed forms (validation.md A1.10 - A1.12, C2.9)."""

import numpy as np
import pytest

from rushhour.kernels.steering.controllers import (
    PID_BOUND,
    correct,
    p_pedal,
    pi_pedal,
    pid_output,
    press_pedals,
)

DT = 1.0 / 60.0


def uphill(kp: float, ki: float, target: float, slope: float, amax: float, seconds: float) -> float:
    """Speed, m/s, after some time on a plant that a slope (m/s^2) pulls back; it cannot roll back."""
    speed, integral = 0.0, 0.0
    for _ in range(round(seconds / DT)):
        if ki == 0.0:
            pedal = p_pedal(target - speed, kp)
        else:
            pedal, integral = pi_pedal(target - speed, integral, kp, ki, 20.0, DT)
        speed = max(0.0, speed + (amax * pedal - slope) * DT)
    return speed


def test_proportional_control_is_short_on_a_slope_by_the_slope_over_its_gain():
    speed = uphill(kp=0.3, ki=0.0, target=6.0, slope=1.5, amax=3.0, seconds=60.0)
    assert 6.0 - speed == pytest.approx(1.5 / (0.3 * 3.0), rel=0.01)  # 1.667 m/s


@pytest.mark.parametrize(("target", "stalls"), [(1.6, True), (1.75, False)])
def test_proportional_control_stalls_where_its_full_error_is_less_than_the_slope(target, stalls):
    assert (uphill(0.3, 0.0, target, 1.5, 3.0, 60.0) == 0.0) == stalls


def test_the_integral_takes_the_slope_away():
    assert abs(6.0 - uphill(0.3, 0.2, 6.0, 1.5, 3.0, 60.0)) < 0.01


def released(anti_windup: bool) -> float:
    """Overshoot, m/s, of a vehicle that is blocked for 10 s and then let go."""
    kp, ki, target, amax, speed, integral, most = 0.3, 0.2, 6.0, 3.0, 0.0, 0.0, 0.0
    for frame in range(round(60.0 / DT)):
        if anti_windup:
            pedal, integral = pi_pedal(target - speed, integral, kp, ki, 1e9, DT)
        else:
            integral += (target - speed) * DT
            pedal = min(1.0, max(-1.0, kp * (target - speed) + ki * integral))
        if frame * DT >= 10.0:
            speed = max(0.0, speed + amax * pedal * DT)
        most = max(most, speed - target)
    return most


def test_who_was_blocked_overshoots_little_with_anti_windup_and_much_without():
    assert released(True) <= 1.0
    assert released(False) == pytest.approx(15.6, abs=0.2)


def test_the_integral_stays_within_its_bound():
    integral = 0.0
    for _ in range(2000):
        _, integral = pi_pedal(0.5, integral, 0.1, 0.01, 20.0, DT)
    assert integral <= 20.0


@pytest.mark.tiny_world
def test_many_pedals_are_pressed_as_each_alone():
    target, speed = np.array([5.0, 0.0, 2.0]), np.array([0.0, 5.0, 2.1])
    integral, out = np.array([1.0, 2.0, 3.0]), np.empty(3)
    alone = [
        pi_pedal(t - v, i, 0.4, 0.2, 20.0, DT)
        for t, v, i in zip(target, speed, integral, strict=True)
    ]
    press_pedals(target, speed, integral, 0.4, 0.2, 20.0, DT, out, 0, 3)
    np.testing.assert_array_equal(np.column_stack((out, integral)), alone)


def test_the_pid_gives_the_published_numbers():
    first, integral = pid_output(1.0, 0.0, 0.0, 1.0, 0.5, 0.5, DT)
    assert first == pytest.approx(31.0000083, abs=1e-7)  # the kick of a rate from nothing
    second, integral = pid_output(1.0, 1.0, integral, 1.0, 0.5, 0.5, DT)
    assert second == pytest.approx(1.0000167, abs=1e-7)
    for _ in range(60 * 60):
        last, integral = pid_output(1.0, 1.0, integral, 1.0, 0.5, 0.5, DT)
    assert last == pytest.approx(1.025) and integral == PID_BOUND


def test_the_pid_begins_without_a_kick_from_the_error_itself_and_stands_at_no_time():
    assert pid_output(1.0, 1.0, 0.0, 1.0, 0.5, 0.5, DT)[0] == pytest.approx(1.0000083, abs=1e-7)
    assert pid_output(1.0, 0.0, 0.0, 1.0, 0.5, 0.5, 0.0) == (1.0, 0.0)


def test_many_corrections_keep_the_error_for_the_next():
    error, last, integral, out = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2), np.empty(2)
    gains = [np.array([1.0, 2.0]), np.array([0.5, 0.0]), np.array([0.5, 0.1])]
    correct(error, last, integral, *gains, DT, out, 0, 2)
    assert out[0] == pid_output(1.0, 0.0, 0.0, 1.0, 0.5, 0.5, DT)[0]
    assert out[1] == pid_output(-2.0, 0.0, 0.0, 2.0, 0.0, 0.1, DT)[0]
    np.testing.assert_array_equal(last, error)
