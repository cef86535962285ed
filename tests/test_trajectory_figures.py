"""The figures of bench/trajectory.py show what their source says, stage by stage."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from trajectory import FIGURES, STAGES, draw, run

BY_NAME = {figure.name: figure for figure in FIGURES}


def measured(name: str, stage: int) -> list[float]:
    figure = BY_NAME[name]
    return [figure.measure(rows) for rows in run(figure, STAGES[stage])]


def test_both_engines_and_three_stages_are_shown():
    assert [stage.lag is None for stage in STAGES] == [False, False, False, True, True]
    assert STAGES[0].lag == float("inf") and STAGES[2].dt > STAGES[1].dt
    assert STAGES[4].dt > STAGES[3].dt


@pytest.mark.parametrize("stage", range(4))
def test_a_bound_and_a_prediction_take_the_overshoot_of_a_bounded_turn_away(stage):
    none, bound, ahead = measured("bounded turn", stage)
    assert none > bound > ahead >= 0.0


def test_lag_makes_high_gains_overshoot_and_leaves_the_safe_one():
    assert max(measured("line, gains", 0)) == 0.0
    for stage in (1, 2, 3):
        safe, twice, high = measured("line, gains", stage)
        assert safe == 0.0 < twice < high


def test_the_first_turn_changes_side_at_the_intercept_angle_in_every_stage():
    assert all(measured("first turn", stage) == [-1.0, 1.0] for stage in range(len(STAGES)))


def test_a_picture_has_a_column_for_each_stage(tmp_path: Path):
    figure = BY_NAME["to a point"]
    draw(tmp_path, figure, {stage.name: run(figure, stage) for stage in STAGES[2:4]})
    assert (tmp_path / "trajectory-to-a-point.png").read_bytes().startswith(b"\x89PNG")
