"""Races by paths are fair: over many races and courses no start wins too often, and the better racer does."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from real_data import data_folder

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from race_paths import shared_cells

from rushhour.games.racing.course import drawn_course, oval_course, track_course
from rushhour.games.racing.race_file import record_of_paths
from rushhour.games.racing.race_paths import (
    Pace,
    _ground_to,
    generate_races,
    start_cells,
)
from rushhour.games.racing.smoothing import overlaps
from rushhour.roadnets.racetracks import read_track


def hairpin(width, radius=6.0, straight=90.0):
    """A track there and back with two hairpins: edges (n, 2) m, the inner one `radius` round."""
    bow = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 24)
    there = np.column_stack((np.linspace(0.0, straight, 40)[:-1], np.full(39, -1.0)))
    edges = []
    for r in (radius, radius + width):
        end = np.column_stack((straight + r * np.cos(bow), r * np.sin(bow)))[:-1]
        half = np.concatenate((there * (1.0, r), end))
        edges.append(np.concatenate((half, (straight, 0.0) - half)))
    return edges


def wild(seed, width=14.0):
    """A closed track of bends drawn by seed, edges (n, 2) m."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0.0, 2.0 * np.pi, 240, endpoint=False)
    radius = 130.0 * np.ones_like(angle)
    for k in range(2, 8):
        radius += 90.0 / k**1.3 * rng.uniform(-0.5, 0.5) * np.cos(k * angle + rng.uniform(0.0, 6.0))
    middle = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    step = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    aside = np.column_stack((-step[:, 1], step[:, 0])) / np.hypot(*step.T)[:, None]
    return middle + 0.5 * width * aside, middle - 0.5 * width * aside


def fingers(seed):
    """A track of two to four fingers, each with a hairpin at its tip, drawn by seed: edges (n, 2) m.

    It begins shortly before the first hairpin, in it, behind it or anywhere.
    """
    rng = np.random.default_rng(seed)
    count, width = rng.integers(2, 5), rng.uniform(6.0, 16.0)
    half = rng.uniform(2.0, 8.0) + 0.5 * width  # m, of the hairpins in the middle of the track
    root = 1.2 * (2.0 * half + width) + 10.0
    lines = []
    for turn in 2.0 * np.pi / count * np.arange(count) + rng.uniform(0.0, 6.0):
        tip = root + rng.uniform(3.0 * half, 90.0)
        bow = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 24)
        x = np.concatenate(([root], tip + half * np.cos(bow), [root]))
        y = np.concatenate(([-half], half * np.sin(bow), [half]))
        lines.append(np.column_stack((x * np.cos(turn) - y * np.sin(turn),
                                      x * np.sin(turn) + y * np.cos(turn))))  # fmt: skip
    ring = np.concatenate((*lines, lines[0][:1]))
    station = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(ring, axis=0).T))))
    place = np.arange(0.0, station[-1] - 1.0, 1.5)
    tip = np.pi * half / 2.0 + (station[1] if rng.random() < 0.9 else rng.uniform(0.0, station[-1]))
    place += tip + rng.choice((-1.0, 0.0, 1.0)) * (1.6 * half + 12.0)
    middle = np.column_stack([np.interp(place % station[-1], station, ring[:, k]) for k in (0, 1)])
    step = np.roll(middle, -2, axis=0) - np.roll(middle, 2, axis=0)
    aside = np.column_stack((-step[:, 1], step[:, 0])) / np.hypot(*step.T)[:, None]
    return middle + 0.5 * width * aside, middle - 0.5 * width * aside


def corners(x, y, heading, length, width):
    """(..., 4, 2) m of bodies."""
    out = []
    for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1)):
        along, aside = 0.5 * a * length, 0.5 * b * width
        out.append((x + along * np.cos(heading) - aside * np.sin(heading),
                    y + along * np.sin(heading) + aside * np.cos(heading)))  # fmt: skip
    return np.moveaxis(np.array(out), (0, 1), (-2, -1))


def bodies_meet(record, parts=8):
    """Times at which two bodies of a record overlap: no edge of either has the other beyond it."""
    times = np.concatenate([
        record.time[:-1] + w * np.diff(record.time) for w in np.arange(parts) / parts
    ])  # fmt: skip
    x, y, heading = np.moveaxis(record.at(times), -1, 0)
    boxes = corners(x, y, heading, record.length, record.width)
    reach = np.hypot(record.length, record.width).max()  # m, of bodies that can meet
    met = []
    for a in range(x.shape[1]):
        for b in range(a):
            near = np.flatnonzero(np.hypot(x[:, a] - x[:, b], y[:, a] - y[:, b]) <= reach)
            apart = np.zeros(near.size, bool)
            for one, two in ((a, b), (b, a)):
                corner, others = boxes[near, one], boxes[near, two]
                for k in range(4):
                    edge = corner[:, (k + 1) % 4] - corner[:, k]
                    away = others - corner[:, k, None]
                    cross = edge[:, None, 0] * away[..., 1] - edge[:, None, 1] * away[..., 0]
                    apart |= (cross >= -1e-6).all(axis=1)
            met += times[near[~apart]].tolist()
    return met


COURSES = {
    "oval": oval_course,
    "short": lambda: oval_course(60.0, 20.0, 12.0),
    "hairpins": lambda: track_course(*hairpin(9.0)),
    "narrow hairpins": lambda: track_course(*hairpin(6.0, 3.0)),
    **{f"wild {seed}": lambda seed=seed: track_course(*wild(seed)) for seed in (11, 12, 13)},
    "drawn": lambda: drawn_course(
        [(-60, -36), (60, -36), (60, 36), (-60, 36)], [(-42, -18), (42, -18), (42, 18), (-42, 18)]
    ),
}


@pytest.mark.parametrize("name", COURSES)
def test_on_every_course_all_arrive_and_no_two_bodies_overlap(name):
    course = COURSES[name]()
    made = generate_races(course, racers=6, races=20, seed=77, laps=2)
    assert made.absent() == [] and shared_cells(made) == 0
    for race in range(4):
        assert bodies_meet(record_of_paths(made, race)) == []


@pytest.mark.parametrize("seed", range(900, 906))
def test_on_tracks_of_tight_hairpins_all_arrive_and_no_two_bodies_overlap(seed):
    made = generate_races(track_course(*fingers(seed)), racers=6, races=20, seed=seed)
    assert made.absent() == [] and shared_cells(made) == 0
    for race in range(20):
        assert len(overlaps(made.positions(race), *made.body)) == 0
    for race in range(2):
        assert bodies_meet(record_of_paths(made, race)) == []
    assert sum(int(made.passes(race).sum()) for race in range(20)) >= 60


def test_a_body_fits_its_cell_however_it_is_turned():
    made = generate_races(oval_course(60.0, 20.0, 12.0, cell=3.0), racers=2)
    assert math.hypot(*made.body) == pytest.approx(3.0)


def test_the_overlap_of_bodies_is_seen_where_there_is_one():
    record = record_of_paths(generate_races(oval_course(120.0, 36.0, 24.0), 6, 1, seed=1))
    record.x[50, 1], record.y[50, 1] = record.x[50, 0] + 0.3, record.y[50, 0] + 0.3
    assert bodies_meet(record)


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("IMS", "Norisring")),
        *(
            pytest.param(name, marks=pytest.mark.soak)
            for name in ("Hockenheim", "Monza", "Shanghai", "Spa")
        ),
    ],
)
def test_on_real_tracks_all_arrive_apart_and_every_start_wins(name):
    """100 races of equal racers: the first start wins less than 35; bodies overlap in none of 10."""
    track = read_track(data_folder("racetracks") / f"{name}.csv")
    made = generate_races(track_course(track.left, track.right), racers=6, races=100, seed=404)
    assert made.absent() == []
    wins, from_starts = made.wins()
    assert wins.min() >= 1 and wins.max() < 35
    assert from_starts.min() >= 1 and from_starts.max() < 35
    assert sum(made.passes(race).sum() for race in range(10)) >= 30
    for race in range(10):
        assert bodies_meet(record_of_paths(made, race)) == []


def drawn_by(seed):
    """A course of 100 to 900 m, 9 to 30 m wide, drawn by seed."""
    rng = np.random.default_rng(seed)
    kind = seed % 3
    if kind == 0:
        return oval_course(rng.uniform(0.0, 150.0), rng.uniform(12.0, 50.0), rng.uniform(9.0, 25.0))
    if kind == 1:
        return track_course(*wild(seed, rng.uniform(9.0, 18.0)))
    angle = 2.0 * np.pi * np.arange(60) / 60
    far = 1.0 + 0.08 * np.sin(rng.integers(2, 5) * angle + rng.uniform(0.0, 6.0))
    ring = np.column_stack((100.0 * far * np.cos(angle), 72.0 * far * np.sin(angle)))
    return drawn_course(outer=ring, inner=rng.uniform(0.55, 0.75) * ring)


@pytest.mark.parametrize("seed", range(600, 609))
def test_ways_from_all_starts_to_the_finish_differ_by_a_row_at_most(seed):
    """On courses with room for all in one row by less than a cell, though outer tracks are longer.

    A row askew to the cells, with a free one before it, is 2 sqrt 2 cells behind.
    """
    course = drawn_by(seed)
    cells = start_cells(course, 6)
    place = np.column_stack(np.divmod(cells, course.cost.shape[1]))
    apart = np.abs(place[:, None] - place).max(axis=2) + 9 * np.eye(6)
    way = _ground_to(course, course.lap - 12.0).way[cells]
    wide = np.ptp(course.out.ravel()[cells]) > 8.0
    assert (np.diff(way) >= 0.0).all() and np.ptp(way) <= (1.0 if wide else 2.0 * math.sqrt(2.0))
    assert apart.min() >= (2 if wide else 1)
    assert course.along.ravel()[cells].min() > 0.75 * course.lap


def test_over_courses_drawn_by_seed_no_racer_wins_35_of_100_each_wins_nor_a_start_on_average():
    best = []
    for seed in (*range(600, 609), 641, 642, 643):
        made = generate_races(drawn_by(seed), racers=6, races=100, seed=seed)
        wins, from_starts = made.wins()
        assert made.absent() == [] and wins.sum() == from_starts.sum() == 100, seed
        assert wins.min() >= 4 and wins.max() < 35, seed
        best.append(from_starts.max())
    assert np.mean(best) < 35 and max(best) < 45


def test_over_100_races_of_equal_racers_each_start_wins_and_none_35():
    made = generate_races(oval_course(), racers=6, races=100, seed=31)
    wins, from_starts = made.wins()
    assert wins.min() >= 1 and wins.max() < 35
    assert from_starts.min() >= 1 and from_starts.max() < 35
    assert 0.03 < made.finish.std() / made.finish.mean() < 0.08


@pytest.mark.parametrize("seed", [933, 936, 937])
def test_with_a_handicap_every_start_of_a_narrow_course_wins_and_places_change_more(seed):
    course = track_course(*fingers(seed))
    even = generate_races(course, racers=6, races=100, seed=seed)
    made = generate_races(course, racers=6, races=100, seed=seed, handicap=True)
    assert made.absent() == []
    wins, from_starts = made.wins()
    assert wins.max() < 35 and wins.min() >= 4
    assert even.wins()[1].max() >= 35 > from_starts.max() and from_starts.min() >= 3
    assert 0.0 == made.weight.min() < made.weight.max() <= 0.2 and not even.weight.any()
    passes = [sum(one.passes(race).sum() for race in range(30)) for one in (even, made)]
    assert passes[1] > passes[0]
    assert all(len(overlaps(made.positions(race), *made.body)) == 0 for race in range(3))


def test_the_better_racer_passes_others_from_the_last_start():
    """In 20 races: speed, grip on a course of bends, and courage each gain places."""
    course = track_course(*wild(5))
    dull = Pace(form=0.0, reaction=0.0)
    starts = course.centre_of(start_cells(course, 6))
    paces = [dull] * 5 + [Pace(17.5, form=0.0, reaction=0.0)]
    fast = generate_races(course, 6, 20, seed=3, laps=3, pace=paces, starts=starts)
    assert fast.absent() == []
    assert [fast.ranking(race)[0] for race in range(20)] == [5] * 20
    assert min(int(fast.passes(race)[5]) for race in range(20)) >= 3
    weak = Pace(form=0.0, grip=2.0, reaction=0.0)
    grip = generate_races(course, 6, 20, seed=3, laps=3, pace=[weak] * 5 + [dull], starts=starts)
    assert [grip.ranking(race)[0] for race in range(20)] == [5] * 20
    bold = [Pace(16.0 + 0.4 * k, courage=c) for k, c in enumerate((1.0,) * 6)]
    shy = [Pace(16.0 + 0.4 * k, courage=0.0) for k in range(6)]
    passes = [
        sum(
            generate_races(course, 6, 20, seed=3, laps=3, pace=p).passes(r).sum() for r in range(20)
        )
        for p in (bold, shy)
    ]
    assert passes[0] > passes[1] > 0
