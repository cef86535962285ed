"""Race paths by searches in time slots (validation.md C4)."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from race_paths import least_distance, shared_cells

from rushhour.games.racing.course import drawn_course, oval_course
from rushhour.games.racing.race_file import record_of_paths
from rushhour.games.racing.race_paths import (
    WEIGHTS,
    Pace,
    drawn_paces,
    generate_races,
)
from rushhour.games.racing.smoothing import gaussian_weights, smoothed, total_turning
from rushhour.kernels.racing.race_cells import gained
from rushhour.kernels.racing.race_paths import HELD, cell_cost, next_speed, turn_cost, turned
from rushhour.roadnets.errors import ParameterError

EQ_2 = (WEIGHTS.held, WEIGHTS.turn, WEIGHTS.cost, WEIGHTS.end)


@pytest.fixture(scope="module")
def made():
    """Forty races of six over an oval."""
    return generate_races(oval_course(120.0, 36.0, 24.0), racers=6, races=40, seed=1)


def test_the_fast_the_leading_and_the_inner_take_their_turn_first():
    weights = (0.5, 0.2, 1.0)
    usual = turn_cost(0.8, 100.0, 30.0, *weights)
    assert usual == 0.5 / 0.8 + 0.2 * 100.0 + 30.0
    assert turn_cost(0.9, 100.0, 30.0, *weights) < usual
    assert turn_cost(0.8, 99.0, 30.0, *weights) < usual
    assert turn_cost(0.8, 100.0, 29.0, *weights) < usual
    assert turn_cost(0.0, 1.0, 1.0, *weights) == math.inf


def test_a_cell_costs_what_equation_2_says_with_the_published_weights():
    assert EQ_2 == (0.25, 0.4, 0.1, 0.25) and sum(EQ_2) == pytest.approx(1.0)
    assert cell_cost(0.0, 1.0, 3.0, 40.0, *EQ_2) == pytest.approx(0.4 + 0.3 + 10.0)
    assert cell_cost(HELD, 0.0, 0.0, 0.0, *EQ_2) == 25.0
    assert cell_cost(0.0, 1.0, 1.0, 9.0, *EQ_2) == pytest.approx(
        cell_cost(0.0, 0.0, 5.0, 9.0, *EQ_2)
    )
    for step, eighths in (((1, 0), 0), ((1, 1), 1), ((0, -1), 2), ((-1, 1), 3), ((-1, 0), 4)):
        assert turned(2.0, 0.0, *map(float, step)) == pytest.approx(eighths)


def test_what_is_gained_over_the_start_line_is_counted_on():
    assert gained(0.5, 99.5, 100.0) == 1.0 and gained(99.5, 0.5, 100.0) == -1.0
    assert gained(7.0, 5.0, 100.0) == 2.0


def test_speeds_change_by_no_more_than_the_acceleration_and_stay_in_their_range(made):
    assert next_speed(10.0, 16.0, 2.0, 0.5, 0.5) == 10.5
    assert next_speed(16.0, 16.0, 2.0, 9.0, 0.0) == 14.0
    pace, on = Pace(), made.cells[:, 1:] >= 0
    speeds = made.speeds[:, 1:][on]
    assert (np.abs(speeds - pace.average) <= pace.spread * (1 + 1e-6)).all()
    change = np.abs(np.diff(made.speeds, axis=1))[on]
    assert change.max() <= pace.accel * made.slot * (1 + 1e-5)
    assert speeds.std() > 0.1 * pace.spread


def test_all_arrive_and_no_two_racers_are_ever_in_one_cell(made):
    assert np.isfinite(made.finish).all()
    assert shared_cells(made) == 0
    assert min(least_distance(made.positions(r, 0.0)) for r in range(5)) >= 0.7 * made.course.cell
    assert min(least_distance(made.positions(r)) for r in range(5)) >= 0.5 * made.course.cell


@pytest.mark.slow
def test_in_a_thousand_races_of_six_all_arrive_and_nobody_shares_a_cell():
    made = generate_races(oval_course(), racers=6, races=1000, seed=3)
    assert np.isfinite(made.finish).all() and shared_cells(made) == 0
    assert len({tuple(row) for row in made.finish.tolist()}) > 990


def test_a_racer_moves_at_most_to_a_neighbour_in_a_slot_and_never_back(made):
    columns = made.course.cost.shape[1]
    row, column = np.divmod(made.cells, columns)
    on = (made.cells[:, 1:] >= 0) & (made.cells[:, :-1] >= 0)
    for part in (row, column):
        assert np.abs(np.diff(part, axis=1))[on].max() == 1
    along = made.course.along.ravel()[made.cells]
    step = gained_all(along[:, 1:], along[:, :-1], made.course.lap)[on]
    assert step.min() >= 0.0 and (made.course.cost.ravel()[made.cells[made.cells >= 0]] > 0).all()


def gained_all(along, before, lap):
    return (along - before + 0.5 * lap) % lap - 0.5 * lap


def test_on_a_straight_racers_keep_their_direction(made):
    """At most one change of track in 100 cells; nobody is nearer than three cells to the curve."""
    course = made.course
    x = course.centre_of(made.cells)[..., 0]
    track = made.cells // course.cost.shape[1]
    moved = (np.diff(made.cells, axis=1) != 0) & (made.cells[:, 1:] >= 0)
    free = moved & (x[:, 1:] > 8.0) & (x[:, 1:] < 100.0) & (x[:, :-1] > 8.0) & (x[:, :-1] < 100.0)
    assert free.sum() > 5000
    assert (np.diff(track, axis=1) != 0)[free].mean() <= 0.01


def test_in_a_curve_racers_go_to_the_inner_track(made):
    """The mean cost of the cells falls from part to part, and is low at last, for who start at once.

    They stand in one row across the course.
    """
    course = made.course
    across = np.flatnonzero((-course.along.ravel()) % course.lap < 1.0)
    across = across[np.argsort(course.out.ravel()[across])][::2][:6]
    made = generate_races(
        course, 6, 40, seed=1, pace=Pace(reaction=0.0), starts=course.centre_of(across)
    )
    on = made.cells >= 0
    along = np.where(on, course.along.ravel()[made.cells], -1.0)
    cost = course.cost.ravel()[made.cells].astype(float)
    entry, bow = 120.0 / course.cell, math.pi * 36.0 / course.cell
    parts = [
        cost[(along >= entry + bow * k / 6) & (along < entry + bow * (k + 1) / 6)].mean()
        for k in range(6)
    ]
    assert parts[0] > parts[1] > parts[2] and max(parts[2:]) < 0.75 * parts[0]


def test_lots_are_drawn_for_the_starts_of_each_race_and_given_starts_are_kept(made):
    assert (np.sort(made.starts, axis=1) == np.arange(6)).all()
    assert len({tuple(row) for row in made.starts.tolist()}) > 30
    more = generate_races(made.course, racers=6, races=600, seed=2)
    had = np.array([np.bincount(more.starts[:, k], minlength=6) for k in range(6)])
    assert had.min() > 70 and had.max() < 135  # 100 of 600 each, 9 either way by chance
    places = made.course.centre_of(made.cells[0, 0])
    kept = generate_races(made.course, racers=6, races=5, seed=1, starts=places)
    assert (kept.starts == np.arange(6)).all()
    assert (kept.cells[:, 0] == made.cells[0, 0]).all()


def test_each_stands_for_its_reaction_drawn_for_the_race():
    course = oval_course(200.0, 30.0, 24.0)
    made = generate_races(course, 6, 40, seed=8, pace=Pace(reaction=2.0))
    stood = (made.cells == made.cells[:, :1]).cumprod(axis=1).sum(axis=1) * made.slot
    assert 1.6 < stood.max() < 2.6 and stood.min() < 0.5 and 0.8 < stood.mean() < 1.5
    at_once = generate_races(course, 6, 40, seed=8, pace=Pace(reaction=0.0))
    first = (at_once.cells == at_once.cells[:, :1]).cumprod(axis=1).sum(axis=1) * at_once.slot
    assert np.median(first) < 0.3


def test_a_bad_day_counts_in_bends_that_grip_bounds_too():
    """On a circle where grip alone bounds the speed, racers of one race differ by their form."""
    course = oval_course(0.0, 14.0, 16.0)
    made = generate_races(course, 4, 20, seed=3, pace=Pace(16.0, 4.0, grip=5.0, form=1.0))
    most = math.sqrt(5.0 * 14.0)
    top = np.where(made.cells >= 0, made.speeds, np.nan)[:, 1:]
    top = np.nanmax(top, axis=1)
    assert top.max() == pytest.approx(most, rel=0.03) and top.min() < 0.8 * most
    even = generate_races(course, 4, 20, seed=3, pace=Pace(16.0, 4.0, grip=5.0, form=0.0))
    assert np.ptp(even.speeds[:, 5]) < 0.03 * most


def test_abilities_are_drawn_by_seed_and_none_exceeds_the_best():
    drawn = drawn_paces(Pace(), 6, 0.3, seed=4)
    assert drawn == drawn_paces(Pace(), 6, 0.3, seed=4) != drawn_paces(Pace(), 6, 0.3, seed=5)
    for name, best in (("average", 16.0), ("accel", 1.5), ("grip", 10.0), ("courage", 1.0)):
        values = [getattr(one, name) for one in drawn]
        assert 0.7 * best <= min(values) < max(values) <= best
    assert drawn_paces(Pace(), 3, 0.0) == [Pace()] * 3


def test_speeds_in_a_bend_are_what_the_grip_allows():
    course = oval_course(200.0, 30.0, 9.6)
    made = generate_races(course, 2, 5, seed=2, pace=Pace(20.0, 1.0, grip=5.0))
    along = course.along.ravel()[made.cells] * course.cell
    inside = (made.cells >= 0) & (along > 210.0) & (along < 190.0 + 30.0 * np.pi)
    assert made.speeds[inside].max() == pytest.approx(math.sqrt(5.0 * 30.0), rel=0.02)
    assert made.speeds[(made.cells >= 0) & (along > 380.0) & (along < 390.0)].max() > 19.0


def test_who_is_led_into_a_dead_end_searches_again_and_arrives():
    """A blind alley at the inside of a bend, where the costs draw every racer in."""
    course = oval_course(120.0, 36.0, 24.0)
    cost = course.cost.copy()
    row, column = np.nonzero(cost)
    out, along = course.out[row, column], course.along[row, column]
    bend = (120.0 + 0.4 * math.pi * 36.0) / course.cell
    wall = (np.abs(along - bend) < 1.0) & (out < course.out[cost > 0].min() + 6.0)
    side = (
        (along > bend - 14.0) & (along < bend)
        & (np.abs(out - course.out[cost > 0].min() - 6.0) < 1.0)
    )  # fmt: skip
    cost[row[wall | side], column[wall | side]] = 0
    made = generate_races(course.with_costs(cost), racers=6, races=10, seed=9)
    assert made.absent() == [] and made.again.sum() > 0 and shared_cells(made) == 0


def test_a_start_from_which_no_way_leads_is_refused():
    course = oval_course(60.0, 20.0, 12.0)
    cost = course.cost.copy()
    row, column = np.divmod(course.cell_at(np.array([[20.0, -25.0]]))[0], cost.shape[1])
    cost[row - 2 : row + 3, column - 2 : column + 3] = 0
    cost[row, column] = 1
    with pytest.raises(ParameterError, match="start 0: no way leads from there"):
        generate_races(course.with_costs(cost), racers=1, starts=[(20.0, -25.0)])


def test_too_little_weight_of_the_costs_leads_outwards(made):
    """The published remark: without the pull of the costs racers run farther out in curves."""
    free = generate_races(
        made.course, 6, 40, seed=1, weights=WEIGHTS._replace(cost=0.0, end=WEIGHTS.end)
    )
    means = [
        m.course.out.ravel()[m.cells[(m.cells >= 0) & (m.course.cost.ravel()[m.cells] > 1)]].mean()
        for m in (made, free)
    ]
    assert means[1] > means[0] + 0.5


def test_who_finds_no_free_cell_waits():
    """A passage of one track: nobody overtakes, nobody overlaps."""
    course = oval_course(60.0, 20.0, 12.0)
    cost = course.cost.copy()
    narrow = (
        (course.along > 8.0)
        & (course.along < 20.0)
        & (course.out > course.out[cost > 0].min() + 1.2)
    )
    cost[narrow] = 0
    made = generate_races(course.with_costs(cost), racers=4, races=5, seed=2)
    assert np.isfinite(made.finish).all() and made.waits.sum() > 20 and shared_cells(made) == 0


def test_starts_and_finish_are_the_users(made):
    course = made.course
    ends = [(10.0 * k, -40.0 - 5.0 * k) for k in range(3)]
    mine = generate_races(course, racers=3, seed=1, starts=ends, finish=(120.0, 40.0))
    at = course.centre_of(mine.cells[0, 0])
    assert np.abs(at - ends).max() <= 0.5 * course.cell
    assert (mine.finish < 0.7 * np.nanmin(made.finish)).all()
    faster = generate_races(course, racers=2, seed=1, pace=[Pace(14.0, 1.0), Pace(18.0, 1.0)])
    assert faster.ranking() == [1, 0]


def test_the_filter_keeps_the_ends_sums_to_one_and_never_turns_more(made):
    for sigma in (0.7, 3.0, 8.0):
        assert gaussian_weights(sigma).sum() == pytest.approx(1.0, abs=1e-12)
    raw, smooth = made.positions(0, 0.0), made.positions(0)
    for k in range(6):
        there = np.isfinite(raw[:, k, 0])
        one, two = raw[there, k], smooth[there, k]
        alone = smoothed(one, 3.0)
        assert (alone[0] == one[0]).all() and (alone[-1] == one[-1]).all()
        assert total_turning(alone) <= total_turning(one) and total_turning(two) <= total_turning(
            one
        )
        assert (made.course.cell_at(two) >= 0).all()


def test_positions_are_exact_at_their_times_and_on_lines_between(made):
    record = record_of_paths(made)
    k = 100
    np.testing.assert_array_equal(record.at(record.time[k])[:, 0], record.x[k])
    half = record.at(0.5 * (record.time[k] + record.time[k + 1]))
    np.testing.assert_allclose(half[:, 1], 0.5 * (record.y[k] + record.y[k + 1]), atol=1e-12)
    np.testing.assert_array_equal(record.at(-5.0), record.at(0.0))
    np.testing.assert_array_equal(record.at(1e9)[:, 0], record.x[-1])
    assert (np.diff(record.time) > 0.0).all()


def test_the_same_seed_gives_the_same_race_whatever_runs_beside_it(made):
    one = generate_races(made.course, racers=6, races=3, seed=1)
    np.testing.assert_array_equal(one.cells[2, :200], made.cells[2, :200])
    other = generate_races(made.course, racers=6, races=3, seed=2)
    assert (one.finish != other.finish).any()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"racers": 0}, "0 racers; wanted 1 to 64"),
        ({"pace": Pace(10.0, 10.0)}, "wanted an average above the spread"),
        ({"pace": [Pace()]}, "1 paces for 6 racers"),
        ({"starts": [(45.0, 30.0)] * 6}, "start 0 .* is not on the course"),
        ({"starts": [(45.0, -30.0)] * 6, "handicap": True}, "handicap: weights are for starts"),
        ({"finish": (45.0, 30.0)}, "finish .* is not on the course"),
        ({"races": 999_999, "laps": 100}, "wanted fewer at once"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_line(given, text):
    course = drawn_course(
        [(-9, -9), (99, -9), (99, 69), (-9, 69)], [(20, 20), (70, 20), (70, 40), (20, 40)]
    )
    with pytest.raises(ParameterError, match=text):
        generate_races(course, **given)
    with pytest.raises(ParameterError, match="64 racers; there is room for"):
        generate_races(oval_course(20.0, 12.0, 8.0), racers=64)
