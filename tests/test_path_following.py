"""The comparison of path followers: its paths, and what a few trials show (validation.md A2)."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from following_paths import NAMES, RECIPES, drawn_path
from following_trials import all_paths, run_trials

from rushhour.traffic.steering.classes import GAME
from rushhour.traffic.steering.followers import Driver


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_drawn_from_its_seed_in_steps_of_about_five_metres(name):
    way = drawn_path(name, 3)
    np.testing.assert_array_equal(way, drawn_path(name, 3))
    assert way.shape != drawn_path(name, 4).shape or (way != drawn_path(name, 4)).any()
    step = np.hypot(*np.diff(way[:, :2], axis=0).T)
    assert (step > 3.2).all() and (step < 6.8).all()
    assert 0.0 < RECIPES[name].corridor < RECIPES[name].wall


def test_paths_are_about_as_long_as_the_published_ones():
    lengths = [
        np.hypot(*np.diff(drawn_path(n, s)[:, :2], axis=0).T).sum()
        for n in NAMES
        for s in range(20)
    ]
    assert 230.0 < np.mean(lengths) < 275.0


def test_no_slope_is_steeper_than_the_weakest_engine_takes_with_a_little_run_up():
    grades = [np.diff(w[:, 2]) / np.hypot(*np.diff(w[:, :2], axis=0).T)
              for w in (drawn_path(n, s) for n in NAMES for s in range(20))]  # fmt: skip
    assert max(np.abs(g).max() for g in grades) <= 0.35


def test_algorithm_1_gets_stuck_less_often_than_the_baseline_and_arrives_sooner():
    """Two seeds: 120 trials each; with the gain that bench/path_following.py calibrates."""
    seeds = (0, 1)
    paths = all_paths(seeds)
    base = run_trials(paths, seeds, [Driver(angle_gain=4.21, kp=0.25, ki=0.0)])
    ours = run_trials(paths, seeds, [Driver()])
    assert ours.events.sum() < 0.52 * base.events.sum()
    assert ours.time.mean() < 0.75 * base.time.mean()
    assert ours.speed.mean() > 1.2 * base.speed.mean()
    hovers, hills = (
        GAME.index("hovercraft"),
        [NAMES.index("steep_hill"), NAMES.index("hill_corner")],
    )
    on_hills = (base.body == hovers) & np.isin(base.path, hills)
    assert base.events[on_hills].sum() >= 1 and ours.events[on_hills].sum() == 0
