"""Movements bend where a stop line cannot move back far enough: they pass before it, not over the street."""

from math import cos, radians, sin

import numpy as np
import pytest
from numpy.typing import NDArray

from rushhour.roadnets.geometry.street_lines import line_length
from rushhour.roadnets.osm.bending import MOST_TURNING, OVER, bent_ways

Line = NDArray[np.float64]


def beyond(way: Line, lane: Line) -> float:
    """How far beyond the end of a straight lane a way crosses it, m; 0 where it does not."""
    back = (lane[0] - lane[-1]) / np.hypot(*(lane[0] - lane[-1]))
    left = np.array([-back[1], back[0]])
    away = way - lane[-1]
    side, along = away @ left, away @ back
    found = 0.0
    for k in np.flatnonzero(np.diff(np.sign(side)) != 0):
        share = side[k] / (side[k] - side[k + 1])
        found = max(found, float(along[k] + share * (along[k + 1] - along[k])))
    return found


def turning(way: Line, first: Line, last: Line) -> float:
    """All turns of a way added up, those where it leaves and joins its lanes too, rad."""
    whole = np.vstack((first[-2:-1], way, last[1:2]))
    step = np.diff(whole, axis=0)
    turn = np.diff(np.arctan2(step[:, 1], step[:, 0]))
    return float(np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi).sum())


def crossroads(inside: float, angle: float) -> list[Line]:
    """A street straight on, and one from the side whose end lies `inside` metres over its line."""
    ahead = np.array([cos(angle), sin(angle)])
    side = -ahead * 60.0, ahead * inside
    return [
        np.array([(-60.0, 0.0), (-15.0, 0.0)]), np.array([(15.0, 0.0), (60.0, 0.0)]),
        np.array(side), ahead * 30.0 + np.array([(0.0, 0.0), (ahead * 30.0)]),
    ]  # fmt: skip


def bent(
    homes: list[list[tuple[int, int]]], lines: list[Line], road: NDArray[np.int64]
) -> dict[tuple[int, int], Line]:
    """Shapes of movements between lines that bend."""
    return bent_ways(homes, lines, np.array([line[[0, 1, -2, -1]] for line in lines]), road)


@pytest.mark.parametrize("angle", [radians(a) for a in (35.0, 60.0, 90.0, 120.0, 145.0, -90.0)])
@pytest.mark.parametrize("inside", [0.8, 2.0, 3.5])
def test_a_way_over_a_street_is_led_past_its_stop_line(inside: float, angle: float) -> None:
    lines = crossroads(inside, angle)
    pairs = [(0, 1), (2, 3)]
    ways = bent([pairs], lines, np.arange(4))
    assert set(ways) == {(0, 1)}
    way = ways[0, 1]
    assert way[0] == pytest.approx(lines[0][-1]) and way[-1] == pytest.approx(lines[1][0])
    assert beyond(np.array([lines[0][-1], lines[1][0]]), lines[2]) > OVER
    assert beyond(way, lines[2]) <= OVER
    assert line_length(way) <= 1.5 * 30.0
    assert turning(way, lines[0], lines[1]) <= MOST_TURNING + 1e-9


def test_ways_that_lead_over_nothing_are_left_alone() -> None:
    lines = crossroads(-3.0, radians(90.0))
    assert bent([[(0, 1), (2, 3)]], lines, np.arange(4)) == {}
    assert bent([], lines, np.arange(4)) == {}


def test_streets_of_other_intersections_and_of_the_movement_itself_are_in_no_way() -> None:
    lines = crossroads(2.0, radians(90.0))
    assert bent([[(0, 1)], [(2, 3)]], lines, np.arange(4)) == {}
    assert bent([[(0, 1), (2, 3)]], lines, np.array([0, 1, 0, 3])) == {}


def test_a_way_that_would_have_to_swing_round_stays_as_it_is() -> None:
    """The street from the side reaches 25 m over the line: no way round it is near the straight one."""
    assert bent([[(0, 1), (2, 3)]], crossroads(25.0, radians(90.0)), np.arange(4)) == {}
