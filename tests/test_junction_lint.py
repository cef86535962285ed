"""Curves between lanes, and where lines run over each other, against plain arithmetic."""

import itertools

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, street, write_osm

from rushhour.roadnets.drafts import heights, shapes
from rushhour.roadnets.drafts.shapes import MOST_TURNING, TURNS_BACK, smooth_curves
from rushhour.roadnets.geometry import meeting_lines
from rushhour.roadnets.geometry.meeting_lines import Lines, farthest_crossings
from rushhour.roadnets.geometry.outlines import near_pairs
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.lint import junctions


def turned(angle):
    return np.column_stack((np.cos(angle), np.sin(angle)))


def test_curves_are_at_most_half_longer_than_the_straight_way_and_turn_no_more_than_they_must():
    rng = np.random.default_rng(5)
    n = 4000
    start, end = rng.uniform(-30.0, 30.0, (2, n, 2))
    u, v = rng.uniform(-np.pi, np.pi, (2, n))
    points, first = smooth_curves(np.hstack((start, turned(u), end, turned(v))))
    chord = np.arctan2(*(end - start).T[::-1])

    def wrap(x):
        return np.abs(np.remainder(x + np.pi, 2.0 * np.pi) - np.pi)

    asked = wrap(chord - u) + wrap(v - chord)
    for k in np.flatnonzero((wrap(v - u) <= TURNS_BACK) & (asked < MOST_TURNING - 0.05)):
        line = points[first[k] : first[k + 1]]
        step = np.diff(line, axis=0)
        heading = np.concatenate(([u[k]], np.arctan2(step[:, 1], step[:, 0]), [v[k]]))
        assert np.hypot(*step.T).sum() <= 1.5 * np.hypot(*(end[k] - start[k])) + 1e-9
        assert wrap(np.diff(heading)).sum() <= np.radians(200.0)
        assert line[0] == pytest.approx(start[k])
        assert line[-1] == pytest.approx(end[k])


def test_what_is_done_in_parts_for_the_memory_s_sake_is_the_same_in_small_ones(
    tmp_path, monkeypatch
):
    """A crossing, and a way round that rises by more than the street beside it may."""
    nodes = {**CROSS, 9: (150.0, 400.0)}
    ways = [*CROSS_WAYS, (20, [1, 9, 2], street(incline="30%"))]
    whole, parts = [], []
    for found, most in ((whole, None), (parts, 3)):
        for module in (heights, shapes, meeting_lines, junctions):
            if most:
                monkeypatch.setattr(module, "AT_ONCE", most)
        network = import_network(write_osm(tmp_path, nodes, ways))
        found += [network.points, network.station, network.height]
        assert network.n_connectors > 9 and np.ptp(network.height) > 10.0
        assert "L31" in {one.check for one in network.findings}
        lines = Lines.of(network.points, network.point_start[:-1], network.point_start[1:] - 1)
        found += [lines.low, lines.high, lines.along, *junctions.bends_of(network)]
        found += junctions.lines_inside(network)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("back", [False, True])
def test_a_line_s_box_holds_its_points_and_no_others(back: bool):
    points = np.random.default_rng(3).uniform(-9.0, 9.0, (20, 2))
    first, last = np.array([0, 2, 9, 17]), np.array([1, 8, 16, 19])
    lines = Lines.of(points, last, first) if back else Lines.of(points, first, last)
    for k, (a, b) in enumerate(zip(first, last, strict=True)):
        assert lines.low[k].tolist() == points[a : b + 1].min(axis=0).tolist()
        assert lines.high[k].tolist() == points[a : b + 1].max(axis=0).tolist()
    assert np.diff(lines.along) == pytest.approx(np.hypot(*np.diff(points, axis=0).T))


def test_the_farthest_crossing_is_where_segments_cross_one_by_one():
    rng = np.random.default_rng(2)
    lines = [rng.uniform(0.0, 10.0, (k, 2)) for k in rng.integers(2, 6, 30)]
    bounds = np.cumsum([0, *map(len, lines)])
    points = np.concatenate(lines)
    first, last = bounds[:-1], bounds[1:] - 1
    i, j = (part.ravel() for part in np.meshgrid(np.arange(30), np.arange(30)))
    for back in (False, True):
        over = Lines.of(points, last, first) if back else Lines.of(points, first, last)
        reach = farthest_crossings(Lines.of(points, first, last), over, i, j)
        for a, b, found in zip(i, j, reach, strict=True):
            other = lines[b][::-1] if back else lines[b]
            if a != b:
                assert found == pytest.approx(by_hand(lines[a], other), abs=1e-6)


def by_hand(line, over) -> float:
    best, along = -1.0, 0.0
    for p, q in itertools.pairwise(over):
        for a, b in itertools.pairwise(line):
            matrix = np.column_stack((q - p, a - b))
            s, t = np.linalg.solve(matrix, a - p)
            if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
                best = max(best, along + s * float(np.hypot(*(q - p))))
        along += float(np.hypot(*(q - p)))
    return best


def test_near_pairs_are_those_of_which_two_places_are_near():
    rng = np.random.default_rng(3)
    groups = {k: rng.uniform(0.0, 300.0, 2) + rng.uniform(-20.0, 20.0, (5, 2)) for k in range(40)}
    expected = {
        (a, b) for a in groups for b in groups if a < b
        and min(np.hypot(*(p - q)) for p in groups[a] for q in groups[b]) < 40.0
    }  # fmt: skip
    assert {(a, b) for _, a, b in near_pairs(groups, 40.0)} == expected
    assert near_pairs({}, 40.0) == []
