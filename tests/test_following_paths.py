"""Followers on paths: stuck manager, new paths, walls (validation.md A1.12, A1.13, E13, E14)."""

import math

import numpy as np
import pytest

from rushhour.kernels.steering.bicycle import move_bodies
from rushhour.kernels.steering.following import follow_paths
from rushhour.kernels.steering.stuck_manager import (
    AHEAD,
    DRIVES,
    PATIENCE,
    RETURNING,
    REVERSES,
    REVERSING,
    STUCK,
    TELEPORTS,
    stuck_action,
    watch_progress,
)
from rushhour.kernels.steering.walls import keep_within_walls, scraped
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.steering.classes import CLASSES, body_types
from rushhour.traffic.steering.followers import Driver, at_start, driver_table, path_table

DT = 1.0 / 60.0
STRAIGHT = [(0.0, 0.0), (200.0, 0.0)]


def actions(stations) -> list[tuple[int, int]]:
    """Frames in which something other than driving begins, for given stations, m."""
    mark, waited, left, tries, at, before, told = 0.0, 0.0, 0.0, 0, 0.0, DRIVES, []
    for frame, s in enumerate(stations):
        what, mark, waited, left, tries, at = stuck_action(s, mark, waited, left, tries, at, DT)
        if what != before:
            told.append((frame, what))
        before = what
    return told


def test_who_makes_no_progress_is_stuck_once_after_its_patience_and_then_reverses():
    patience, reversing = round(PATIENCE / DT), round(REVERSING / DT)
    told = actions([0.5] * (patience + reversing + 10))
    assert told == [
        (patience - 1, STUCK), (patience, REVERSES), (patience + reversing, DRIVES),
    ]  # fmt: skip


def test_who_comes_back_from_reversing_is_not_stuck_again_before_it_had_its_chance():
    """Rolling back 12 m, standing and turning take longer than the patience."""
    patience, reversing = round(PATIENCE / DT), round(REVERSING / DT)
    back = list(np.linspace(50.0, 40.0, reversing)) + list(np.linspace(40.0, 38.0, 90))
    slow = [38.0] * 180 + list(np.linspace(38.0, 50.0, 700)) + list(np.linspace(50.0, 70.0, 600))
    assert [what for _, what in actions([50.0] * patience + back + slow)] == [
        STUCK, REVERSES, DRIVES,
    ]  # fmt: skip


def test_wheels_that_spin_are_no_progress_and_creeping_a_metre_in_time_is():
    back_and_forth = [0.9 * abs(math.sin(0.1 * frame)) for frame in range(300)]
    assert actions(back_and_forth)[0][1] == STUCK
    assert actions([-2.0 * frame * DT for frame in range(300)])[0][1] == STUCK  # rolling back
    assert actions([0.3 * frame * DT for frame in range(3000)]) == []  # 0.3 m/s: 1.2 m in time
    assert actions([0.2 * frame * DT for frame in range(3000)])[0][1] == STUCK


def test_who_is_found_again_nearby_is_teleported_and_further_on_it_is_a_new_event():
    patience, reversing = round(PATIENCE / DT), round(REVERSING / DT)
    returning = round(RETURNING / DT)
    again = [what for _, what in actions([0.0] * (2 * patience + reversing + returning + 5))]
    assert again == [STUCK, REVERSES, DRIVES, TELEPORTS, DRIVES]
    on = (
        [0.0] * (patience + reversing) + list(np.linspace(0.0, 13.0, 200)) + [13.0] * (2 * patience)
    )
    told = [what for _, what in actions(on)]
    assert told == [STUCK, REVERSES, DRIVES, STUCK, REVERSES, DRIVES]


def test_many_are_watched_as_each_alone():
    n = 3
    arrays = [np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.int32), np.zeros(n)]
    out, s, seen = np.zeros(n, np.uint8), np.zeros(n), []
    for frame in range(300):
        s[:] = (0.0, 0.3 * frame * DT, 5.0 * frame * DT)
        watch_progress(s, *arrays, DT, out, 0, n)
        seen.append(out.copy())
    assert np.array(seen).max(axis=0).tolist() == [REVERSES, DRIVES, DRIVES]


def run(paths, seconds, name="storm", driver=None, blocked=(), walls=False):
    """A follower after some seconds; in `blocked` frames its body is held where it is."""
    types, table = body_types([name]), driver_table([driver or Driver()])
    f, bodies = at_start(paths, [0], [0], [0])
    touched, seen = np.zeros(1, np.bool_), []
    for frame in range(round(seconds / DT)):
        follow_paths(paths, table, types, f, bodies, DT, 0, 1)
        if frame in blocked:
            bodies.speed[:] = 0.0
        else:
            move_bodies(types, bodies, DT, 0, 1)
        if walls:
            keep_within_walls(paths, types, bodies, f.path, f.s, touched, 0, 1)
        seen.append(
            (
                int(f.action[0]),
                bodies.throttle[0],
                bodies.wheel[0],
                f.s[0],
                f.integral[0],
                f.offset[0],
            )
        )
    return f, bodies, np.array(seen)


def test_before_a_wall_it_reverses_with_the_other_lock_and_forgets_its_integral():
    f, _, seen = run(path_table([STRAIGHT]), 7.0, blocked=range(1000))
    first = int(np.argmax(seen[:, 0] == STUCK))
    assert first * DT == pytest.approx(PATIENCE, abs=1.5 * DT)
    reversing = seen[(seen[:, 0] == STUCK) | (seen[:, 0] == REVERSES)]
    assert (reversing[:, 1] == -1.0).all() and len(reversing) == pytest.approx(
        REVERSING / DT, abs=1
    )
    assert (np.abs(reversing[:, 2]) == math.radians(35.0)).all()
    assert seen[first, 4] == 0.0 and f.stuck[0] == 1
    assert seen[-1, 0] == DRIVES and seen[-1, 1] > 0.0


def test_a_teleport_leads_on_along_the_path_and_is_counted():
    f, bodies, seen = run(path_table([STRAIGHT]), 14.2, blocked=range(1000))
    assert (f.stuck[0], f.teleports[0]) == (1, 1)  # one event: reversing did not end it
    assert TELEPORTS in seen[:, 0] and bodies.x[0] == f.s[0] == AHEAD


def test_released_it_drives_on_along_its_path():
    f, _, _ = run(path_table([STRAIGHT]), 25.0, blocked=range(300, 580))
    assert f.s[0] > 50.0 and abs(f.offset[0]) < 0.3 and f.stuck[0] == 1


@pytest.mark.tiny_world
@pytest.mark.small_world
def test_a_path_may_be_replaced_at_any_frame():
    paths = path_table([STRAIGHT, [(10.0, -50.0), (10.0, 100.0)]])
    types, table = body_types(["storm"]), driver_table([Driver()])
    f, bodies = at_start(paths, [0], [0], [0])
    for frame in range(600):
        if frame == 90:
            f.integral[0] = 5.0
            f.path[0] = 1
        follow_paths(paths, table, types, f, bodies, DT, 0, 1)
        if frame == 90:  # found on all of the new path; nothing of the old is left
            assert f.s[0] == pytest.approx(50.0 + bodies.y[0]) and f.integral[0] < 0.1
            assert f.followed[0] == 1 and f.waited[0] <= DT
        move_bodies(types, bodies, DT, 0, 1)
    assert abs(bodies.x[0] - 10.0) < 0.1 and bodies.y[0] > 20.0


def test_at_the_last_waypoint_it_brakes_and_stands_and_is_not_stuck():
    f, bodies, _ = run(path_table([[(0.0, 0.0), (60.0, 0.0)]]), 30.0)
    assert bodies.speed[0] == 0.0 and 60.0 <= bodies.x[0] < 75.0
    assert f.s[0] == 60.0 and f.stuck[0] == 0
    assert (bodies.throttle[0], f.target[0]) == (0.0, 0.0)


def test_an_inactive_follower_is_left_as_it_is():
    paths, types, table = path_table([STRAIGHT]), body_types(["storm"]), driver_table([Driver()])
    f, bodies = at_start(paths, [0, 0], [0, 0], [0, 0])
    f.active[1] = False
    follow_paths(paths, table, types, f, bodies, DT, 0, 2)
    assert bodies.throttle.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("along", "outward", "left"),
    [(10.0, 2.0, 8.0), (-10.0, 2.0, -8.0), (1.0, 5.0, 0.0), (0.0, 3.0, 0.0), (4.0, -1.0, 4.0)],
)
def test_a_wall_takes_from_the_speed_along_it_what_it_takes_from_that_into_it(along, outward, left):
    assert scraped(along, outward) == pytest.approx(left)


def test_nobody_leaves_the_tube_between_the_walls():
    """Flat out into a corner: the body ends at the wall, on its side of it."""
    paths = path_table([[(0, 0), (60, 0), (60, 900)]], 4.0, 6.0)
    fast = Driver(lateral=50.0, most=25.0)
    f, _, seen = run(paths, 30.0, "hovercraft", fast, walls=True)
    most = 6.0 - 0.5 * 1.6
    assert np.abs(seen[:, 5]).max() <= most + 25.0 * DT
    assert np.abs(seen[:, 5]).max() > most - 0.1 and f.s[0] > 100.0


@pytest.mark.small_world
@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_path_nothing_is_ever_nan_and_limits_hold(seed):
    """Waypoints on top of each other, back and forth, up and down; every class of body."""
    draw = np.random.default_rng(seed)
    ways = []
    for _ in range(12):
        points = np.cumsum(draw.uniform(-8.0, 8.0, (25, 3)) * [1, 1, 0.1], axis=0)
        points[5] = points[4]
        points[9] = points[7]
        points[12:14, :2] = points[11, :2]  # straight up
        ways.append(points)
    paths = path_table(ways, 3.0, 5.0)
    types = body_types(tuple(CLASSES))
    table = driver_table([Driver(), Driver(angle_gain=2.0, ki=0.0)])
    n = 60
    f, bodies = at_start(
        paths, np.arange(n) % 12, np.arange(n) % 2, np.arange(n) % len(tuple(CLASSES))
    )
    touched = np.zeros(n, np.bool_)
    for _ in range(900):
        steer = bodies.steer.copy()
        follow_paths(paths, table, types, f, bodies, DT, 0, n)
        teleported = f.action == TELEPORTS
        move_bodies(types, bodies, DT, 0, n)
        keep_within_walls(paths, types, bodies, f.path, f.s, touched, 0, n)
        for array in (*f, *bodies):
            assert np.isfinite(array).all()
        turned = np.abs(bodies.steer - steer)[~teleported]
        assert (turned <= types.steer_rate[bodies.type][~teleported] * DT + 1e-12).all()
        assert (np.abs(bodies.steer) <= types.max_steer[bodies.type]).all()
        assert (np.abs(bodies.throttle) <= 1.0).all()
    assert 0 < f.teleports.sum() <= f.stuck.sum()


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([(0, 0), (0, 0)], "path 1: 1 different waypoints; wanted at least 2"),
        ([], r"path 1: shape \(0,\); wanted \(k, 2\) or \(k, 3\) metres"),
        ([(0, 0, 0, 0)], "path 1: shape"),
        ([(0, 0), (math.nan, 1)], "path 1: a waypoint is not finite"),
    ],
)
def test_a_path_that_is_none_is_refused(points, message):
    with pytest.raises(ParameterError, match=message):
        path_table([STRAIGHT, points])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"count": 2}, "driver 1: wanted count at least 3"),
        ({"spacing": 0.0}, "driver 1: wanted spacing above 0 m"),
        ({"lateral": math.nan}, "driver 1: wanted lateral above 0 g"),
        ({"least": 5.0, "most": 4.0}, "driver 1: wanted 0 <= least <= most"),
        ({"look": (0.8, 9.0, 6.0)}, "driver 1: wanted look"),
        ({"ki": -0.1}, "driver 1: wanted angle_gain, kp and ki"),
    ],
)
def test_a_driver_that_cannot_drive_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        driver_table([Driver(), Driver(**given)])


def test_followers_of_paths_that_there_are_not_are_refused():
    paths = path_table([STRAIGHT])
    with pytest.raises(ParameterError, match="wanted paths from 0 to 0"):
        at_start(paths, [0, 1], [0, 0], [0, 0])
    with pytest.raises(ParameterError, match="2 paths, 1 drivers, 2 body types"):
        at_start(paths, [0, 0], [0], [0, 0])
    with pytest.raises(ParameterError, match="drivers and body types of at least 0"):
        at_start(paths, [0], [-1], [0])
