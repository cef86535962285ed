"""The soak test of path followers: its routes, contacts and figures (validation.md A2.8)."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from soak import AGENTS, HILLS, heights, push_apart, route, soak
from soak_plots import save_soak

from rushhour.kernels.steering.bicycle import Bodies
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.steering.classes import body_types
from rushhour.traffic.steering.followers import Driver


@pytest.fixture(scope="module")
def town():
    return generate("town", size="small", seed=1)


def test_a_route_runs_on_from_lane_to_lane_over_the_hills(town):
    way = route(town, 500.0, 0, 3)
    np.testing.assert_array_equal(way, route(town, 500.0, 0, 3))
    assert route(town, 500.0, 1, 3).shape != way.shape or (route(town, 500.0, 1, 3) != way).any()
    step = np.hypot(*np.diff(way[:, :2], axis=0).T)
    assert step.sum() >= 480.0 and step.max() < 150.0
    turn = np.diff(np.unwrap(np.arctan2(*np.diff(way[:, :2], axis=0).T[::-1])))
    assert np.abs(turn[:-1]).max() < 1.0  # no jump from one lane to another
    assert np.abs(np.diff(way[:, 2]) / step).max() <= 2.0**0.5 * HILLS[0]


def test_bodies_that_touch_are_parted_and_lose_their_speed_towards_each_other():
    arrays = {name: np.zeros(2) for name in Bodies._fields} | {"type": np.zeros(2, np.int32)}
    bodies = Bodies(**arrays)
    bodies.x[:], bodies.heading[:], bodies.speed[:] = (0.0, 5.5), (0.0, np.pi), 5.0
    types = body_types(["storm"])
    for _ in range(40):
        push_apart(types, bodies)
    nose = types.nose[0]
    assert bodies.x[1] - bodies.x[0] >= 2.0 * nose - 1e-3
    assert np.abs(bodies.speed).max() < 1e-9
    bodies.x[:] = (0.0, 30.0)
    bodies.speed[:] = 5.0
    push_apart(types, bodies)
    assert bodies.x.tolist() == [0.0, 30.0] and bodies.speed.tolist() == [5.0, 5.0]


def test_a_soak_counts_the_time_of_driving_and_the_events(town):
    done = soak(town, Driver(), 0, 8.0)
    assert 0.0 < done["driving_s"] <= AGENTS * 8.0 + 1e-6 and done["speed_ms"] > 3.0
    assert done["seconds_per_event"] == done["driving_s"] / max(1, done["stuck_events"])
    assert len(done["places_m"]) == done["stuck_events"]


def test_times_and_places_of_a_soak_are_drawn(town, tmp_path):
    runs = [
        {"seconds_per_event": 60.0, "places_m": [[0.0, 0.0]]},
        {"seconds_per_event": 70.0, "places_m": []},
    ]
    save_soak(tmp_path / "soak.png", town, heights, {"baseline": runs, "ours": runs})
    assert (tmp_path / "soak.png").stat().st_size > 10_000
