"""Kernels that importing maps uses: turns of lines, and what roads pull at heights."""

from math import pi

import numpy as np
import pytest

from rushhour.kernels.geometry.curves import add_up_turns
from rushhour.kernels.geometry.slopes import add_up_pulls


def test_turns_to_both_sides_add_up_each_the_shorter_way_round() -> None:
    """Two lines of five points each; the last heading of each is no step of it."""
    heading = np.array([0.0, 0.5, 0.0, 0.0, 9.9, pi - 0.1, -pi + 0.1, pi - 0.1, pi - 0.1])
    turning = np.empty(2)
    add_up_turns(heading, np.array([0, 5, 10], np.int32), turning, 0, 2)
    assert turning == pytest.approx([1.0, 0.4])


def test_roads_pull_their_ends_together_until_they_rise_as_they_should() -> None:
    z, rise = np.array([0.0, 3.0, 5.0]), np.array([1.0, 2.0])
    start, end = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    up, down = np.zeros((2, 3))
    add_up_pulls(z, start, end, rise, np.array([0.5, 1.0]), up, down)
    assert up.tolist() == [0.0, 1.0, 0.0] and down.tolist() == [1.0, 0.0, 0.0]
