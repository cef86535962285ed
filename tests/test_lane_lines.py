"""Lanes drawn in a kernel: the same as street lines drawn one by one, and right of their street."""

from itertools import pairwise

import numpy as np
import pytest

from rushhour.kernels.geometry.lane_lines import draw_lanes
from rushhour.roadnets.geometry.street_lines import line_length, part, side_line

pytestmark = pytest.mark.small_world


def drawn(lines, cut, street, backward, offset):
    points = np.concatenate(lines)
    start = np.concatenate(([0], np.cumsum([len(line) for line in lines])))
    room = int(sum(len(lines[t]) + 2 for t in street))
    out, out_start = np.empty((room, 2)), np.zeros(len(street) + 1, np.int64)
    draw_lanes(
        points, start, np.array(cut, float), np.array(street), np.array(backward),
        np.array(offset, float), out, out_start,
    )  # fmt: skip
    return [out[a:b] for a, b in pairwise(out_start.tolist())]


def wandering(draw, n: int):
    """A line whose bends are gentle, of steps of 5 to 20 m."""
    angle = np.cumsum(draw.uniform(-0.4, 0.4, n))
    step = draw.uniform(5.0, 20.0, n)
    return np.concatenate(([[0.0, 0.0]], np.cumsum(np.column_stack((
        step * np.cos(angle), step * np.sin(angle))), axis=0)))  # fmt: skip


def test_lanes_are_those_of_the_street_lines_drawn_one_by_one():
    draw = np.random.default_rng(5)
    lines = [wandering(draw, int(n)) for n in draw.integers(1, 12, 60)]
    cut = draw.uniform(0.0, 4.0, (60, 2))
    street = np.repeat(np.arange(60), 2)
    backward = np.tile([False, True], 60)
    offset = draw.uniform(-3.0, 6.0, 120)
    found = drawn(lines, cut, street, backward, offset)
    for lane, shape in enumerate(found):
        line = lines[street[lane]]
        length = line_length(line)
        share = min(0.45 * length, max(0.15 * length, (length - 8.0) / 2.0))
        most = [max(share, length - 8.0 - min(other, share)) for other in cut[street[lane]][::-1]]
        first, last = np.minimum(cut[street[lane]], most)
        open_line = part(line, float(first), float(length - last))
        expected = side_line(open_line[::-1] if backward[lane] else open_line, float(offset[lane]))
        np.testing.assert_allclose(shape, expected, atol=1e-9)


def test_a_bend_tighter_than_the_offset_does_not_fold_the_lane():
    angle = np.linspace(0.0, np.pi, 20)
    bend = np.column_stack((5.0 * np.cos(angle), 5.0 * np.sin(angle)))[::-1]  # to the right
    line = np.concatenate(([[-5.0, -30.0]], bend, [[5.0, -30.0]]))
    (lane,) = drawn([line], [(0, 0)], [0], [False], [8.0])
    assert np.isfinite(lane).all()
    assert len(lane) >= 2
    np.testing.assert_allclose(lane[0], (3.0, -30.0), atol=1e-9)
    np.testing.assert_allclose(lane[-1], (-3.0, -30.0), atol=1e-9)


def test_points_on_top_of_each_other_do_not_matter():
    line = np.array([(0.0, 0.0), (0.0, 0.0), (10.0, 0.0), (10.1, 0.0), (20.0, 0.0), (20.0, 0.0)])
    (lane,) = drawn([line], [(1, 2)], [0], [False], [1.5])
    np.testing.assert_allclose(lane, [(1.0, -1.5), (10.0, -1.5), (18.0, -1.5)], atol=1e-9)


def test_a_short_street_keeps_room_for_a_car_if_it_has_it():
    for length, left in ((100.0, 80.0), (20.0, 8.0), (12.0, 8.0), (6.0, 4.2)):
        (lane,) = drawn([np.array([(0.0, 0.0), (length, 0.0)])], [(10, 10)], [0], [False], [0.0])
        assert lane[1, 0] - lane[0, 0] == pytest.approx(left)


def test_an_end_takes_what_the_other_end_leaves_of_its_share():
    """Of 20 m each may lose 6 m, so that 8 m are left; what one does not ask for the other gets."""
    for cut, left in (((1, 30), (1, 9)), ((30, 1), (11, 19)), ((4, 7), (4, 13)), ((7, 7), (6, 14))):
        (lane,) = drawn([np.array([(0.0, 0.0), (20.0, 0.0)])], [cut], [0], [False], [0.0])
        np.testing.assert_allclose(lane[:, 0], left)
