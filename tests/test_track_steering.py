"""Steering models of a racing AI (validation.md C2.4 - C2.10)."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from real_data import data_folder

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from steering_models import SHOWN, bend_speeds, drive, wavy_track

from rushhour.kernels.steering.bicycle import G
from rushhour.kernels.steering.track_steering import (
    LOCK,
    angle_to,
    line_error,
    projected_point,
    segment_beside,
    spidey_2_steer,
    spidey_steer,
)
from rushhour.kernels.steering.tracks import rest_of_segment
from rushhour.roadnets.racetracks import read_track

NAMES = [name for name, _, _ in SHOWN]


@pytest.mark.parametrize(
    ("pose", "node", "wanted"),
    [
        ((0.0, 0.0, 0.0), (10.0, 2.0), math.atan2(2.0, 10.0)),
        ((3.0, 4.0, math.pi / 2), (3.0, 14.0), 0.0),
        ((0.0, 0.0, 3.0), (-10.0, -2.0), math.atan2(-2.0, -10.0) + 2 * math.pi - 3.0),
        ((0.0, 0.0, 0.0), (0.0, -5.0), -math.pi / 4),  # capped
    ],
)
def test_spidey_1_steers_by_the_angle_to_the_next_node_capped_at_45_degrees(pose, node, wanted):
    assert spidey_steer(angle_to(*pose, *node)) == pytest.approx(wanted, abs=1e-12)


def test_spidey_2_steers_by_the_mean_of_two_angles_wrapped_before():
    assert spidey_2_steer(0.2, 0.6) == pytest.approx(0.4)
    assert spidey_2_steer(3.0, -3.0) == 0.0 and spidey_2_steer(1.0, 1.2) == LOCK
    first, second = angle_to(0, 0, 3.0, -10, 1), angle_to(0, 0, 3.0, -10, -1)
    assert spidey_2_steer(first, second) == pytest.approx(math.pi - 3.0, abs=1e-9)


def test_the_projected_point_lies_ahead_in_proportion_to_speed():
    assert projected_point(1.0, 2.0, math.pi / 2, 10.0, 0.8) == pytest.approx((1.0, 10.0))
    assert projected_point(1.0, 2.0, 0.0, 0.0, 0.8) == (1.0, 2.0)


def test_its_error_is_the_distance_of_the_line_and_positive_where_that_lies_to_the_left():
    assert line_error(5.0, -3.0, 0.0, 0.0, 10.0, 0.0) == 3.0
    assert line_error(5.0, 3.0, 0.0, 0.0, 10.0, 0.0) == -3.0
    assert line_error(5.0, 3.0, 10.0, 0.0, 0.0, 0.0) == 3.0
    assert line_error(2.0, 0.0, 0.0, 0.0, 1.0, 1.0) == pytest.approx(math.sqrt(2.0))
    assert line_error(5.0, 3.0, 1.0, 1.0, 1.0, 1.0) == 0.0


def test_the_segment_beside_the_point_is_the_first_that_reaches_so_far():
    """25 m with 10, 8, 6, 9 m ahead: the fourth."""
    line = np.array([(0.0, 0.0), (10.0, 0.0), (18.0, 0.0), (24.0, 0.0), (33.0, 0.0), (33.0, 50.0)])
    for distance, end in ((25.0, 4), (24.0, 3), (24.1, 4), (10.0, 1), (0.0, 1), (18.5, 3)):
        assert segment_beside(line, 1, 0.0, 1.0, distance) == end
    assert segment_beside(line, 1, 5.0, 1.0, 20.0) == 4  # 5 m are left of the first
    assert segment_beside(line, 5, 33.0, 40.0, 40.0) == 0  # round the ring
    assert rest_of_segment(0.0, 0.0, 10.0, 0.0, 12.0, 3.0) == (0.0, 10.0)
    assert rest_of_segment(0.0, 0.0, 10.0, 0.0, -2.0, 3.0) == (10.0, 10.0)


@pytest.fixture(scope="module")
def on_the_ring():
    return {speed: drive(wavy_track(), 60.0, speed) for speed in (12.0, 20.0)}


@pytest.mark.parametrize(
    ("speed", "rates"), [(12.0, (0.55, 1.27, 0.05)), (20.0, (0.90, 1.37, 0.09))]
)
def test_the_projection_is_calmer_and_closer_than_spidey_1_and_that_than_spidey_2(
    on_the_ring, speed, rates
):
    done = on_the_ring[speed]
    order = [NAMES.index(name) for name in ("spidey 1", "spidey 2", "projection, segment-aware")]
    calm, error = done.steering_rate[order], done.largest_error[order]
    assert calm[2] < calm[0] < calm[1] and error[2] < error[0] < error[1]
    assert calm == pytest.approx(rates, rel=0.08, abs=0.02)


def test_the_fixed_segment_loses_against_the_one_the_point_is_beside(on_the_ring):
    fixed, aware = (NAMES.index(f"projection, {s}") for s in ("fixed segment", "segment-aware"))
    for done in on_the_ring.values():
        assert done.largest_error[aware] < 0.5 * done.largest_error[fixed]


def test_on_a_smooth_track_the_law_is_not_switched_more_than_twice_a_second(on_the_ring):
    for done in on_the_ring.values():
        assert (done.switches <= 2.0).all()


def test_off_the_track_a_projecting_car_steers_at_the_node_and_comes_back():
    """Too fast for its grip it leaves the track, falls back to the node, and goes on."""
    track = wavy_track(half_width=5.0)
    aware = NAMES.index("projection, segment-aware")
    done = drive(track, 60.0, 22.0)
    assert done.off_track[aware] > 0.0 and done.switches[aware] > 0.0
    assert done.laps[aware] > 1.0


def test_on_a_real_track_the_projection_keeps_to_its_line():
    track = read_track(data_folder("racetracks") / "Spa.csv", line_every=4)
    track = track._replace(line_speed=bend_speeds(track, 0.35 * G, 3.0, 30.0))
    done = drive(track, 60.0, None)
    aware = NAMES.index("projection, segment-aware")
    assert done.off_track[aware] == 0.0 and done.largest_error[aware] < 4.0
    assert done.laps[aware] > 0.15
