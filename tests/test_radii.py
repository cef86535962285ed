"""The least radius of a line: that of arcs, of corners; compiled as in plain Python."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from plain_kernels import as_python

from rushhour.kernels.geometry import radii

pytestmark = pytest.mark.small_world
SPAN, STEP = 4, 0.5  # a window of 2 m


def measured(*lines: np.ndarray, measure=radii.measure_radii) -> np.ndarray:
    start = np.concatenate(([0], np.cumsum([len(line) for line in lines]))).astype(np.int32)
    found = np.zeros(len(lines))
    measure(np.vstack(lines), start, STEP, np.zeros(SPAN + 1), found, 0, len(lines))
    return found


def arc(radius: float, angle: float = np.pi / 2.0) -> np.ndarray:
    t = np.linspace(0.0, angle, 1000)
    return radius * np.column_stack((np.cos(t), np.sin(t)))


@pytest.mark.parametrize("radius", [2.0, 4.5, 10.0, 60.0])
def test_the_tightest_radius_of_an_arc_is_its_own(radius: float) -> None:
    joined = np.vstack(([(radius, -30.0)], arc(radius)))
    back = arc(radius, -1.9 * np.pi)  # through the heading at which the angle jumps
    assert measured(joined, arc(radius), back, arc(radius)[::-1]) == pytest.approx(radius, rel=0.03)


def test_a_corner_turns_within_the_window() -> None:
    corner = np.array([(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)])
    assert measured(corner)[0] == pytest.approx(2.0 / (np.pi / 2.0))


def test_straight_and_short_lines_have_no_radius() -> None:
    lines = [
        np.array([(0.0, 0.0), (9.0, 4.0)]),
        np.array([(0.0, 0.0), (4.5, 2.0), (9.0, 4.0)]),
        np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 0.9)]),
        np.array([(0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]),
    ]
    assert (measured(*lines) == np.inf).all()


def test_compiled_radii_are_those_of_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    lines = [np.cumsum(rng.normal(size=(int(rng.integers(2, 30)), 2)), axis=0) for _ in range(200)]
    lines += [arc(3.0), np.repeat(arc(5.0)[::100], 2, axis=0)]
    compiled = measured(*lines)
    assert np.isfinite(compiled).any()
    monkeypatch.setattr(radii, "tightest_radius", as_python(radii.tightest_radius))
    plain = measured(*lines, measure=as_python(radii.measure_radii))
    assert_allclose(plain, compiled, rtol=1e-12)  # hypot differs in the last bit
