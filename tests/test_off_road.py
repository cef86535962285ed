"""Back to the road, past what is in the way (validation.md C3.12)."""

import math

import numpy as np
import pytest

from rushhour.kernels.steering.bicycle import Bodies, move_bodies
from rushhour.kernels.steering.off_road import (
    BACKS,
    HEADS,
    ON_ROAD,
    OffRoad,
    back_distance,
    back_lock,
    recover,
)
from rushhour.traffic.steering.classes import body_types
from rushhour.traffic.steering.followers import path_table

DT = 1.0 / 30.0
ROAD = [(-200.0, 0.0), (-40.0, 0.0), (0.0, 20.0), (40.0, 20.0), (200.0, 60.0)]
HALF = 4.0  # m, of the road
BODY = 1.2  # m, radius by which bodies run into obstacles


def cars_at(places, headings, left_at, simple=False) -> tuple[OffRoad, Bodies]:
    n = len(places)
    arrays = {name: np.zeros(n) for name in Bodies._fields} | {"type": np.zeros(n, np.int32)}
    bodies = Bodies(**arrays)
    bodies.x[:], bodies.y[:], bodies.heading[:] = *np.asarray(places).T, headings
    steps = np.hypot(*np.diff(np.array(ROAD), axis=0).T)
    distance = np.hypot(*(np.asarray(places)[:, None] - road_points()[None]).transpose(2, 0, 1))
    s = distance.argmin(axis=1) * steps.sum() / (len(road_points()) - 1)
    off = OffRoad(
        np.zeros(n, np.int32), np.full(n, simple), s, np.full(n, 99.0), np.full(n, HEADS, np.uint8),
        np.asarray(left_at, float).copy(), np.zeros(n, np.int32), np.zeros(n), np.zeros(n),
    )  # fmt: skip
    return off, bodies


def road_points() -> np.ndarray:
    """The road in steps of equal length."""
    road = np.array(ROAD)
    station = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(road, axis=0).T))))
    at = np.linspace(0.0, station[-1], 2000)
    return np.column_stack((np.interp(at, station, road[:, 0]), np.interp(at, station, road[:, 1])))


def kept_off(bodies: Bodies, circles: np.ndarray) -> np.ndarray:
    """Push bodies out of circles (x, y, radius) and stop them; who was touched by its front."""
    hit = np.zeros(bodies.x.size, np.bool_)
    for end in (2.4, 0.0):
        x = bodies.x + end * np.cos(bodies.heading)
        y = bodies.y + end * np.sin(bodies.heading)
        dx, dy = x[:, None] - circles[:, 0], y[:, None] - circles[:, 1]
        away = np.hypot(dx, dy)
        deep = circles[:, 2] + BODY - away
        k = deep.argmax(axis=1)
        rows = np.flatnonzero(deep.max(axis=1) > 0.0)
        for i in rows:
            nx, ny = dx[i, k[i]] / away[i, k[i]], dy[i, k[i]] / away[i, k[i]]
            bodies.x[i] += deep[i, k[i]] * nx
            bodies.y[i] += deep[i, k[i]] * ny
            inward = -bodies.speed[i] * (
                np.cos(bodies.heading[i]) * nx + np.sin(bodies.heading[i]) * ny
            )
            if inward > 0.0:
                bodies.speed[i] = 0.0
                bodies.slip[i] = 0.0
                bodies.turning[i] = 0.0
                hit[i] = True
    return hit


def back_within(off: OffRoad, bodies: Bodies, circles: np.ndarray, seconds: float) -> np.ndarray:
    """Seconds until each is back on the road; inf: not within the time."""
    paths, types = path_table([ROAD], HALF), body_types(["storm"])
    n = bodies.x.size
    hit, when = np.zeros(n, np.bool_), np.full(n, np.inf)
    for frame in range(round(seconds / DT)):
        recover(paths, types, off, bodies, hit, DT, 0, n)
        came = (off.state == ON_ROAD) & np.isinf(when)
        when[came] = frame * DT
        bodies.throttle[~np.isinf(when)], bodies.wheel[~np.isinf(when)] = (
            -bodies.speed[~np.isinf(when)],
            0.0,
        )
        move_bodies(types, bodies, DT, 0, n)
        hit = kept_off(bodies, circles)
    return when


def test_who_leaves_the_road_remembers_where_and_is_left_alone_on_it():
    paths, types = path_table([[(0.0, 0.0), (200.0, 0.0)]], HALF), body_types(["storm"])
    off, bodies = cars_at([(10.0, 0.0)], [0.5], [(0.0, 0.0)])
    off.s[:] = 10.0
    bodies.speed[:] = 8.0
    for _ in range(40):
        bodies.throttle[:], bodies.wheel[:] = 0.3, 0.0
        recover(paths, types, off, bodies, np.zeros(1, np.bool_), DT, 0, 1)
        if off.state[0] != ON_ROAD:
            break
        assert (bodies.throttle[0], bodies.wheel[0]) == (0.3, 0.0)
        move_bodies(types, bodies, DT, 0, 1)
    assert off.state[0] == BACKS and 3.6 < off.left_at[0, 1] <= HALF  # the point lies behind it
    assert abs(off.left_at[0, 0] - bodies.x[0]) < 0.5
    left = off.left_at.copy()
    for _ in range(10):
        move_bodies(types, bodies, DT, 0, 1)
        recover(paths, types, off, bodies, np.zeros(1, np.bool_), DT, 0, 1)
    np.testing.assert_array_equal(off.left_at, left)


@pytest.mark.tiny_world
@pytest.mark.small_world
def test_without_anything_in_the_way_it_heads_for_where_it_left():
    off, bodies = cars_at([(-150.0, 25.0)], [-0.3], [(-120.0, 3.9)])
    when = back_within(off, bodies, np.empty((1, 3)) * 0.0 + 1e4, 20.0)
    assert when[0] < 10.0 and abs(off.left_at[0, 0] - -120.0) < 8.0


def test_after_each_hit_it_reverses_farther_and_with_a_harder_lock():
    distances = [back_distance(k) for k in range(1, 8)]
    locks = [back_lock(k, 0.6) for k in range(1, 8)]
    assert (np.diff(distances) > 0.0).all()
    assert locks[0] < locks[1] < locks[2] == locks[-1] == 0.6
    paths, types = path_table([ROAD], HALF), body_types(["storm"])
    off, bodies = cars_at([(-150.0, 30.0)], [-math.pi / 2], [(-150.0, 3.9)])
    reversed_by, hits = [], 0
    for _ in range(3000):
        hit = np.array([off.state[0] == HEADS and bodies.speed[0] > 2.0])  # a wall all around
        if hit[0]:
            bodies.speed[:] = 0.0
        recover(paths, types, off, bodies, hit, DT, 0, 1)
        if off.hits[0] > hits:
            assert off.state[0] == BACKS and off.hits[0] == hits + 1
            hits = off.hits[0]
            reversed_by.append(off.back[0])
            assert abs(off.turn[0]) == pytest.approx(back_lock(hits, types.max_steer[0]))
        move_bodies(types, bodies, DT, 0, 1)
        if hits == 5:
            break
    assert reversed_by == [back_distance(k) for k in range(1, 6)]


def placements(n: int, seed: int):
    """Cars beside the road among rocks, and where each left it."""
    draw, road = np.random.default_rng(seed), road_points()
    rocks = np.column_stack(
        (draw.uniform(-190, 190, 260), draw.uniform(-90, 140, 260), draw.uniform(0.8, 3.0, 260))
    )
    apart = np.hypot(rocks[:, None, 0] - road[:, 0], rocks[:, None, 1] - road[:, 1]).min(axis=1)
    rocks = rocks[apart > HALF + rocks[:, 2] + 1.0]
    places, left_at = [], []
    while len(places) < n:
        k = int(draw.integers(200, 1800))
        along = road[k + 1] - road[k - 1]
        aside = np.array([-along[1], along[0]]) / np.hypot(*along) * draw.choice([-1.0, 1.0])
        place = road[k] + draw.uniform(8.0, 35.0) * aside
        free = np.hypot(*(place - rocks[:, :2]).T) > rocks[:, 2] + BODY + 3.0
        off_road = np.hypot(*(road - place).T).min() > HALF + 1.0
        if free.all() and off_road:
            near = int(np.hypot(*(road - place).T).argmin())
            places.append(place)
            left_at.append(road[np.clip(near + draw.integers(-100, 100), 0, 1999)])
    return np.array(places), draw.uniform(-math.pi, math.pi, n), np.array(left_at), rocks


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [7, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (8, 9))]
)
def test_from_200_random_places_among_rocks_95_percent_are_back_within_30_seconds(seed):
    places, headings, left_at, rocks = placements(200, seed)
    off, bodies = cars_at(places, headings, left_at)
    when = back_within(off, bodies, rocks, 30.0)
    assert (when <= 30.0).mean() >= 0.95
    simple, stays = cars_at(places, headings, left_at, simple=True)
    assert (back_within(simple, stays, rocks, 30.0) <= 30.0).mean() < (when <= 30.0).mean()


def test_from_random_places_among_rocks_most_are_back_within_30_seconds():
    places, headings, left_at, rocks = placements(40, 8)
    off, bodies = cars_at(places, headings, left_at)
    assert (back_within(off, bodies, rocks, 30.0) <= 30.0).mean() >= 0.9


def test_the_simple_mode_stays_behind_a_wall_that_the_other_gets_round():
    wall = np.array([(-110.0 + 1.5 * k, 14.0, 1.5) for k in range(-4, 5)])
    results = []
    for simple in (True, False):
        off, bodies = cars_at([(-110.0, 30.0)], [-math.pi / 2], [(-110.0, 3.9)], simple)
        results.append(back_within(off, bodies, wall, 60.0)[0])
    assert math.isinf(results[0]) and results[1] < 60.0
