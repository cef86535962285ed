"""Bodies with wheels: limits, grip, slopes, and the kinematic bicycle they are with grip to spare."""

import math

import numpy as np
import pytest
from several_threads import printed_by_threads

from rushhour.kernels.compiling.jit import config
from rushhour.kernels.steering.bicycle import (
    Bodies,
    G,
    move_bodies,
    roll_bodies,
    rolled,
    rolling_turn,
)
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.steering.classes import CLASSES, GAME, body_types

DT = 1.0 / 60.0
ALL = tuple(CLASSES)


def bodies_of(n: int, **given) -> Bodies:
    """Bodies at the origin, heading east, with some fields given."""
    arrays = {name: np.zeros(n) for name in Bodies._fields}
    arrays["type"] = np.zeros(n, np.int32)
    for name, values in given.items():
        arrays[name][:] = values
    return Bodies(**arrays)


def test_with_grip_to_spare_a_body_is_the_kinematic_bicycle():
    types = body_types(["storm"])
    turning = 4.0 * math.tan(0.15) / 2.4
    body = bodies_of(1, speed=4.0, wheel=0.15, steer=0.15, turning=turning)
    x, y, heading, speed, dt = 0.0, 0.0, 0.0, 4.0, 1e-3
    for _ in range(10_000):
        speed -= speed * types.drag[0] * dt
        rolling = rolling_turn(speed, 0.15, 2.4, 1e9)
        x, y, heading = rolled(x, y, heading, speed, rolling, dt)
        move_bodies(types, body, dt, 0, 1)
    assert (body.x[0], body.y[0]) == pytest.approx((x, y), abs=0.05)
    assert body.heading[0] == pytest.approx(heading, abs=0.01)
    assert abs(body.slip[0]) < 1e-3


@pytest.mark.parametrize("dt", [1.0 / 120.0, 1.0 / 30.0, 0.1])
def test_a_bend_costs_no_speed_while_the_tyres_hold(dt):
    types = body_types(["storm"])._replace(drag=np.zeros(1))
    turning = 5.0 * math.tan(0.3) / 2.4
    body = bodies_of(1, speed=5.0, steer=0.3, wheel=0.3, turning=turning)
    for _ in range(round(20.0 / dt)):
        move_bodies(types, body, dt, 0, 1)
    assert body.speed[0] == pytest.approx(5.0)
    assert body.turning[0] == pytest.approx(turning)
    straight = math.sqrt(1.0 + 0.5 * math.tan(0.3) ** 2) * 5.0  # turning held some of its energy
    body.wheel[:] = 0.0
    for _ in range(round(2.0 / dt)):
        move_bodies(types, body, dt, 0, 1)
    assert body.speed[0] == pytest.approx(straight, rel=0.01)


@pytest.mark.parametrize("name", ALL)
def test_no_bend_asks_more_of_the_tyres_than_their_grip(name):
    """Flat out with full lock the change of motion per step stays within the grip circle."""
    types = body_types([name])
    body = bodies_of(1, throttle=1.0)
    for frame in range(1200):
        body.wheel[0] = types.max_steer[0] * (1.0 if frame % 300 < 200 else -1.0)
        before = velocity(body)
        move_bodies(types, body, DT, 0, 1)
        change = np.hypot(*(velocity(body) - before)) / DT
        drag = types.drag[0] * np.hypot(*before)
        # the reference is the rear axle, which swings about the centre of mass
        swing = (
            0.5
            * types.wheelbase[0]
            * (body.turning[0] ** 2 + types.grip[0] * G * 2 / types.wheelbase[0])
        )
        assert change <= types.grip[0] * G + drag + swing + 1e-9
        assert abs(body.steer[0]) <= types.max_steer[0]


def velocity(body: Bodies) -> np.ndarray:
    cos, sin = np.cos(body.heading[0]), np.sin(body.heading[0])
    u, w = body.speed[0], body.slip[0]
    return np.array([u * cos - w * sin, u * sin + w * cos])


def test_who_brakes_with_all_its_grip_has_none_left_to_turn_with():
    types = body_types(["hovercraft"])
    types.brake[:] = 9.0  # its tyres hold 4.4
    for throttle, turns in ((-1.0, False), (0.0, True)):
        body = bodies_of(1, speed=15.0, wheel=0.4, steer=0.4, throttle=throttle)
        for _ in range(60):
            move_bodies(types, body, DT, 0, 1)
        v = velocity(body)
        assert (abs(math.atan2(v[1], v[0])) > 0.1) == turns


def test_a_steady_slide_turns_the_motion_with_the_grip_and_no_more():
    """Too fast for its lock, a body drives the circle that its grip allows: v^2 / r = grip."""
    types = body_types(["storm"])._replace(drag=np.zeros(1))
    body = bodies_of(1, speed=20.0)
    body.wheel[0] = 0.2  # kinematic: 33 m/s^2
    courses, speeds = [], []
    for _ in range(90):
        move_bodies(types, body, DT, 0, 1)
        v = velocity(body)
        courses.append(math.atan2(v[1], v[0]))
        speeds.append(np.hypot(*v))
    rate = (np.unwrap(courses)[-1] - np.unwrap(courses)[30]) / (59 * DT)
    assert rate * np.mean(speeds) <= 1.05 * 0.9 * G


def test_a_body_that_cannot_slide_turns_wider_where_its_grip_ends():
    types = body_types(["storm"])._replace(drag=np.zeros(1))
    body = bodies_of(1, speed=20.0, wheel=0.3, steer=0.3)
    roll_bodies(types, body, DT, 0, 1)
    assert body.turning[0] * 20.0 == pytest.approx(0.9 * G) and body.slip[0] == 0.0
    body.speed[:] = 3.0
    roll_bodies(types, body, DT, 0, 1)
    assert body.turning[0] == pytest.approx(3.0 * math.tan(0.3) / 2.4)


def test_the_wheel_turns_at_its_rate_and_no_further_than_its_lock():
    types = body_types(["armata"])
    body = bodies_of(1, wheel=9.0)
    for frame in range(120):
        move_bodies(types, body, DT, 0, 1)
        wanted = min(math.radians(24.0), math.radians(35.0) * DT * (frame + 1))
        assert body.steer[0] == pytest.approx(wanted)


@pytest.mark.parametrize("move", [move_bodies, roll_bodies], ids=["sliding", "kinematic"])
def test_brakes_end_in_standing_and_not_in_rolling_back(move):
    types = body_types(["car"])
    body = bodies_of(1, speed=10.0, throttle=-1.0)
    at = []
    for _ in range(120):
        before = body.speed[0]
        move(types, body, DT, 0, 1)
        at.append(body.speed[0])
        if before == 0.0:
            break
    assert 0.0 in at and min(at[: at.index(0.0)]) > 0.0
    assert at.index(0.0) * DT == pytest.approx(10.0 / 8.5, abs=0.05)
    move(types, body, DT, 0, 1)
    assert body.speed[0] < 0.0  # and then it reverses


def test_on_a_slope_who_gives_too_little_gas_stands_and_nobody_rolls_back():
    types = body_types(["zaha"])
    for throttle, moves in ((0.0, False), (0.7, False), (0.8, True)):
        body = bodies_of(1, throttle=throttle, slope=0.26)  # 2.55 of 3.4 m/s^2
        for _ in range(60):
            move_bodies(types, body, DT, 0, 1)
        assert (body.speed[0] > 0.0) == moves and body.speed[0] >= 0.0


def test_downhill_a_body_gains_what_the_slope_gives():
    types = body_types(["car"])._replace(drag=np.zeros(1))
    body = bodies_of(1, speed=1.0, slope=-0.1)
    for _ in range(60):
        move_bodies(types, body, DT, 0, 1)
    assert body.speed[0] == pytest.approx(1.0 + 0.1 * G, rel=1e-9)


def test_an_engine_gives_its_power_and_drag_ends_the_gain():
    types = body_types(["bus"])
    body = bodies_of(1, speed=20.0, throttle=1.0)
    move_bodies(types, body, DT, 0, 1)
    gained = (body.speed[0] - 20.0) / DT
    assert gained == pytest.approx(210_000.0 / 14_000.0 / 20.0 - 0.004 * 20.0, rel=1e-3)
    for _ in range(60 * 600):
        move_bodies(types, body, DT, 0, 1)
    assert body.speed[0] == pytest.approx(math.sqrt(15.0 / 0.004), rel=0.01)


def test_a_locked_hand_brake_slows_down_and_lets_the_rear_go():
    types = body_types(["storm"])
    held, locked = bodies_of(1, speed=12.0, wheel=0.25), bodies_of(1, speed=12.0, wheel=0.25)
    locked.hand_brake[:] = 1.0
    for _ in range(30):
        move_bodies(types, held, DT, 0, 1)
        move_bodies(types, locked, DT, 0, 1)
    assert abs(locked.slip[0]) > abs(held.slip[0]) + 0.2
    assert velocity(locked) @ velocity(locked) < velocity(held) @ velocity(held)


@pytest.mark.tiny_world
def test_mirrored_controls_drive_the_mirrored_way():
    types = body_types(["hovercraft"])
    body = bodies_of(2, speed=9.0, throttle=0.5)
    body.wheel[:] = (0.4, -0.4)
    for _ in range(300):
        move_bodies(types, body, DT, 0, 2)
    assert body.x[0] == body.x[1]
    assert body.y[0] == -body.y[1] and body.slip[0] == -body.slip[1]


def test_the_game_s_classes_turn_on_the_circles_of_the_protocol():
    radii = [CLASSES[name].turning_radius for name in GAME]
    assert radii == pytest.approx([3.4, 5.1, 4.2, 9.2, 11.2, 7.8], abs=0.05)
    with pytest.raises(ParameterError, match="body class 'tank': wanted one of storm, "):
        body_types(["storm", "tank"])


@pytest.mark.parametrize("name", ["car", "van", "truck", "bus"])
def test_ordinary_vehicles_turn_between_kerbs_as_they_do_on_roads(name):
    body = CLASSES[name]
    outer = math.hypot(body.turning_radius + body.half_width, body.wheelbase)
    assert 4.5 < outer < 12.0


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="threads are those of compiled kernels")
@pytest.mark.slow
def test_a_crowd_of_followers_is_the_same_to_the_bit_on_any_number_of_threads():
    printed = printed_by_threads("steered_crowd.py")
    assert len(set(printed)) == 1 and len(printed[0].strip()) == 64


@pytest.mark.parametrize("name", ["hovercraft", "car"])
def test_a_brake_beyond_the_grip_leaves_no_body_turning_that_stands(name):
    """A body that turns on the spot is stopped by its tyres: by w^2 arm / 2 grip, and then stands."""
    types = body_types([name])
    types.brake[:] = 20.0  # more than any tyre holds
    turning, arm = 0.3, 0.5 * types.wheelbase[0]
    body = bodies_of(1, speed=1e-3, slip=-arm * turning, turning=turning, throttle=-1.0)
    dt = 1.0 / 240.0
    for _ in range(240):
        body.throttle[0] = -1.0 if body.speed[0] > 0.0 else 0.0
        move_bodies(types, body, dt, 0, 1)
    turned = turning**2 * arm / (2.0 * types.grip[0] * G)
    assert body.heading[0] == pytest.approx(turned, abs=1.5 * turning * dt)
    at_rest = body.heading[0], body.x[0], body.y[0]
    assert max(abs(body.speed[0]), abs(body.slip[0]), abs(body.turning[0])) < 1e-12
    for _ in range(60):
        move_bodies(types, body, DT, 0, 1)
    assert (body.heading[0], body.x[0], body.y[0]) == pytest.approx(at_rest, abs=1e-12)


@pytest.mark.parametrize("turning", [0.0, 0.3])
def test_who_braked_beyond_its_grip_reverses_afterwards(turning):
    types = body_types(["hovercraft"])
    types.brake[:] = 9.0  # its tyres hold 4.4
    body = bodies_of(1, speed=6.0, turning=turning, throttle=-1.0)
    for _ in range(300):
        move_bodies(types, body, DT, 0, 1)
    assert body.speed[0] < -1.0 and abs(body.turning[0]) < 1e-9
