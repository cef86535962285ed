"""Maximum curvature of quadratic Bezier curves (validation.md A1.1 - A1.5)."""

import math

import numba
import numpy as np
import pytest

from rushhour.kernels.geometry.curvature import max_curvature, max_curvature_3d

G = 9.81  # m/s^2


@numba.njit
def curvature_at(p: np.ndarray, t: float) -> float:
    """Curvature of a curve (3, 2) at t, from its derivatives."""
    ux, uy = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1]
    wx, wy = p[2, 0] - p[1, 0], p[2, 1] - p[1, 1]
    dx, dy = (1 - t) * ux + t * wx, (1 - t) * uy + t * wy
    return abs(ux * wy - uy * wx) / (2.0 * (dx * dx + dy * dy) ** 1.5)


@numba.njit
def densest(p: np.ndarray, samples: int) -> float:
    """Largest curvature found by sampling, then by halving the bracket around the best sample."""
    best, where = -1.0, 0
    for i in range(samples + 1):
        k = curvature_at(p, i / samples)
        if k > best:
            best, where = k, i
    lo, hi = max(0.0, (where - 1) / samples), min(1.0, (where + 1) / samples)
    for _ in range(80):
        a, b = lo + (hi - lo) / 3.0, hi - (hi - lo) / 3.0
        if curvature_at(p, a) < curvature_at(p, b):
            lo = a
        else:
            hi = b
    return max(best, curvature_at(p, 0.5 * (lo + hi)))


@numba.njit
def worst_of(triangles: np.ndarray, samples: int) -> float:
    """Largest relative difference of the closed form from sampling."""
    worst = 0.0
    for i in range(triangles.shape[0]):
        p = triangles[i]
        want = densest(p, samples)
        got = max_curvature(p[0, 0], p[0, 1], p[1, 0], p[1, 1], p[2, 0], p[2, 1])
        worst = max(worst, abs(got / want - 1.0))
    return worst


def kappa(*points: tuple[float, ...]) -> float:
    flat = [float(c) for p in points for c in p]
    return max_curvature(*flat) if len(flat) == 6 else max_curvature_3d(*flat)


def open_triangles(n: int, seed: int) -> np.ndarray:
    """Random triangles whose area is at least a thousandth of the longest side squared."""
    p = np.random.default_rng(seed).uniform(-10, 10, (2 * n, 3, 2))
    side = np.linalg.norm(p - np.roll(p, 1, axis=1), axis=2).max(axis=1)
    u, w = p[:, 1] - p[:, 0], p[:, 2] - p[:, 1]
    area = 0.5 * np.abs(u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0])
    return p[area > 1e-3 * side**2][:n]


def test_the_closed_form_equals_dense_sampling_on_100_000_random_triangles():
    triangles = open_triangles(100_000, 1)
    assert len(triangles) == 100_000
    # 400 samples bracket the single peak of a quadratic; the refinement does the rest.
    assert worst_of(triangles, 400) <= 1e-6


def test_coarse_brackets_lose_nothing_against_20_000_samples():
    assert worst_of(open_triangles(300, 2), 20_000) <= 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_curvature_does_not_depend_on_direction_place_or_turn_and_scales_inversely(seed):
    p = open_triangles(1, seed)[0]
    k = kappa(*p)
    angle = 0.3 + seed
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    assert kappa(*p[::-1]) == pytest.approx(k, rel=1e-12)
    assert kappa(*(p @ turn.T)) == pytest.approx(k, rel=1e-12)
    assert kappa(*(p + [3.0, -4.0])) == pytest.approx(k, rel=1e-12)
    assert kappa(*(p * 7.0)) == pytest.approx(k / 7.0, rel=1e-12)


def test_a_curve_in_a_tilted_plane_has_the_curvature_it_has_flat():
    for i, p in enumerate(open_triangles(100, 3)):
        axes = np.linalg.qr(np.random.default_rng(i).normal(size=(3, 3)))[0][:, :2]
        assert kappa(*(p @ axes.T)) == pytest.approx(kappa(*p), rel=1e-9)


@pytest.mark.parametrize(
    ("points", "want"),
    [
        pytest.param(((0, 0), (1, 0), (2, 0)), 0.0, id="straight, equal"),
        pytest.param(((0, 0), (1, 0), (5, 0)), 0.0, id="straight, unequal"),
        pytest.param(((0, 0), (1, 0), (0, 0)), math.inf, id="there and back"),
        pytest.param(((0, 0), (3, 0), (1, 0)), math.inf, id="overshoot, back"),
        pytest.param(((0, 0), (0, 0), (2, 0)), 0.0, id="p1 = p2"),
        pytest.param(((0, 0), (2, 0), (2, 0)), 0.0, id="p2 = p3"),
        pytest.param(((1, 1), (1, 1), (1, 1)), 0.0, id="one point"),
    ],
)
def test_degenerate_curves_are_straight_or_cusps_and_never_nan(points, want):
    assert kappa(*points) == want
    assert kappa(*[(x, y, 2.0) for x, y in points]) == want


def target(k: float, lateral: float = 0.4, least: float = 1.0, most: float = 10.0) -> float:
    """Speed of Algorithm 1 for a curvature, m/s."""
    if k == 0.0:
        return most
    return min(most, max(least, math.sqrt(lateral * G / k)))


@pytest.mark.parametrize(
    ("degrees", "speed"),
    [
        (25, 10.0), (30, 9.213), (45, 7.247), (60, 5.943), (90, 4.080), (120, 2.607),
        (135, 1.932), (150, 1.278), (157, 1.0), (170, 1.0),
    ],
)  # fmt: skip
def test_a_corner_of_two_sides_of_six_metres_allows_the_speed_of_its_angle(degrees, speed):
    d = math.radians(degrees)
    k = kappa((-6.0, 0.0), (0.0, 0.0), (6.0 * math.cos(d), 6.0 * math.sin(d)))
    assert k == pytest.approx(math.sin(d / 2) / (6.0 * math.cos(d / 2) ** 2), rel=1e-12)
    assert target(k) == pytest.approx(speed, abs=1e-3)


@pytest.mark.parametrize(("radius", "speed"), [(8, 7.345), (10, 8.451), (15, 10.631)])
def test_chords_of_six_metres_on_a_circle_allow_the_speed_of_its_radius(radius, speed):
    theta = 2.0 * math.asin(6.0 / (2.0 * radius))
    p = [(radius * math.cos(i * theta), radius * math.sin(i * theta)) for i in range(3)]
    assert kappa(*p) == pytest.approx(1.0 / (radius * (1.0 + math.cos(theta))), rel=1e-9)
    assert target(kappa(*p), most=20.0) == pytest.approx(speed, rel=1e-3)


@pytest.mark.parametrize("distance", [1e4, 1e5])
def test_far_from_the_origin_no_digits_are_lost(distance):
    p = np.array([(0.0, 0.0), (6.0, 0.05), (12.0, 0.0)])
    assert kappa(*(p + distance)) == pytest.approx(kappa(*p), rel=1e-7)
