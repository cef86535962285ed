"""Stations and headings of many lanes at once, against numpy lane by lane."""

from itertools import pairwise

import numpy as np
import pytest
from network_drafts import chain, line

from rushhour.kernels.geometry.curves import add_up_steps, find_segments, segment_at
from rushhour.roadnets.drafts.shapes import (
    HEADING_SPAN,
    Shapes,
    end_headings,
    lane_shapes,
    stations,
)
from rushhour.roadnets.errors import NetworkError


def lanes(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Points of n wandering lanes, some of two points only, and where each begins."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(2, 9, n)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return draw.normal(0.0, 8.0, (start[-1], 2)).cumsum(axis=0), start


@pytest.mark.parametrize("seed", range(3))
def test_stations_are_the_running_sum_of_the_steps_of_each_lane(seed: int) -> None:
    points, start = lanes(seed)
    along = stations(points, start)
    for lo, hi in pairwise(start):
        steps = np.hypot(*np.diff(points[lo:hi], axis=0).T)
        np.testing.assert_array_equal(along[lo:hi], np.concatenate([[0.0], np.cumsum(steps)]))


@pytest.mark.parametrize("seed", range(3))
def test_headings_of_ends_lead_to_the_place_a_span_away(seed: int) -> None:
    points, start = lanes(seed)
    station = stations(points, start)
    first, last = end_headings(Shapes(points, start, station))
    for lane, (lo, hi) in enumerate(pairwise(start)):
        s, p = station[lo:hi], points[lo:hi]
        ahead, behind = (
            np.array([np.interp(at, s, p[:, c]) for c in (0, 1)])
            for at in (min(HEADING_SPAN, s[-1]), max(0.0, s[-1] - HEADING_SPAN))
        )
        assert first[lane] == np.arctan2(*(ahead - p[0])[::-1])
        assert last[lane] == np.arctan2(*(p[-1] - behind)[::-1])


def test_kernels_do_as_their_plain_python_for_the_lanes_they_are_given() -> None:
    points, start = lanes(7)
    step = np.ones(len(points))
    station, plain = np.full((2, len(points)), np.nan)
    add_up_steps(step, start, station, 3, 9)
    add_up_steps.py_func(step, start, plain, 3, 9)
    np.testing.assert_array_equal(station, plain)
    assert np.isnan(np.delete(station, np.s_[start[3] : start[9]])).all()
    station = stations(points, start)
    s = np.linspace(0.0, 30.0, len(start) - 1)
    found, wanted = np.full((2, len(s)), -1)
    find_segments(station, start, s, found, 3, 9)
    for lane in range(3, 9):
        wanted[lane] = segment_at(station, start[lane], start[lane + 1], s[lane])
    np.testing.assert_array_equal(found, wanted)


def test_a_shape_that_is_none_is_told_with_its_lane() -> None:
    for shape, message in (
        (np.zeros((3, 3)), r"lane 'r1_0': a shape of size \(3, 3\)"),
        (line(50.0), r"lane 'r1_0': a shape of size \(1, 2\)"),
        (line(50.0, np.nan), r"lane 'r1_0': point 1 of the shape is not finite"),
    ):
        draft = chain(line(0.0, 50.0), line(50.0, 90.0))
        draft.roads[1].lanes[0].shape = shape
        with pytest.raises(NetworkError, match=message):
            lane_shapes(draft)
