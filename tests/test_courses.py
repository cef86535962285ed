"""Courses for race paths: grid, costs, centres, numbers, files (validation.md C4.4 - C4.7, C4.11)."""

import json
import math
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from real_data import data_folder

from rushhour.games.racing.course import drawn_course, oval_course
from rushhour.games.racing.course_file import feature_steps, load_course, read_course, save_course
from rushhour.games.racing.ground_shapes import Oval, Ribbon
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.racetracks import read_track
from rushhour.viewer.course_layer import read_cost_layer, save_cost_layer


@pytest.fixture(scope="module")
def oval():
    return oval_course(120.0, 36.0, 24.0)


def test_cells_are_as_wide_as_the_longest_axis_and_cover_the_course(oval):
    walk = oval.cost > 0
    area = walk.sum() * oval.cell**2
    assert area == pytest.approx(2 * 120.0 * 24.0 + math.pi * (60.0**2 - 36.0**2), rel=0.02)
    cells = np.flatnonzero(walk).astype(np.int32)
    np.testing.assert_array_equal(oval.cell_at(oval.centre_of(cells)), cells)
    assert oval.cell_at(np.array([(60.0, 0.0), (1e9, 0.0), (np.nan, 0.0)])).tolist() == [-1] * 3
    sizes = [drawn_course([(-9, -9), (99, -9), (99, 69), (-9, 69)],
                          [(20, 20), (70, 20), (70, 40), (20, 40)], cell=cell).cost.shape
             for cell in (2.0, 4.0)]  # fmt: skip
    assert sizes[0][0] / sizes[1][0] == pytest.approx(2.0, rel=0.1)


def test_costs_are_from_1_to_10_and_never_fall_outwards(oval):
    assert set(np.unique(oval.cost)) == set(range(11))
    for x, y, angle in (
        (60.0, 0.0, -90.0),
        (120.0, 0.0, -30.0),
        (120.0, 0.0, 10.0),
        (0.0, 0.0, 135.0),
    ):
        out = np.arange(37.5, 59.0, 0.5)
        ray = np.column_stack((x + out * math.cos(math.radians(angle)),
                               y + out * math.sin(math.radians(angle))))  # fmt: skip
        cost = oval.cost.ravel()[oval.cell_at(ray)].astype(int)
        runs = cost[np.append(True, np.diff(cost) != 0)]
        # a ray passes the corner of a cell that is a little farther in or out
        assert (np.diff(runs) >= -1).all() and cost[0] <= 2
        assert cost[-1] >= 9 if angle != -90.0 else (cost == 1).all()


def test_the_distance_of_the_centre_is_that_of_the_line_or_of_the_nearer_centre(oval):
    shape = oval.shape
    points = np.array([(60.0, -40.0), (150.0, 40.0), (-30.0, -40.0), (0.0, 50.0)])
    at, out, curved = shape.place(points)
    assert out == pytest.approx((40.0, 50.0, 50.0, 50.0))
    assert curved.tolist() == [False, True, True, False]
    assert at[0] == pytest.approx(60.0)
    for x in (0.0, 120.0):
        for y in (-45.0, 45.0):
            sides = shape.place(np.array([(x - 1e-10, y), (x + 1e-10, y)]))
            assert abs(np.diff(sides[0])[0]) % shape.lap < 1e-9 or x == 0.0 and y < 0.0
            assert abs(np.diff(sides[1])[0]) < 1e-9


def test_along_a_lap_the_length_grows_to_that_of_the_innermost_track_either_way():
    for clockwise in (False, True):
        shape = Oval(np.array([(0.0, 0.0), (120.0, 0.0)]), 36.0, clockwise, 25.0)
        along = np.arange(0.0, shape.lap, 1.0)
        heading = np.array([shape.heading(a) for a in along])
        step = np.column_stack((np.cos(heading), np.sin(heading)))
        way = np.vstack(((0.0, 0.0), np.cumsum(0.5 * (step[1:] + step[:-1]), axis=0)))
        begin = np.array((25.0 if not clockwise else -25.0, -36.0))
        if clockwise:  # 25 m back from the first straight, in the first curve
            begin = np.array((-36.0 * math.sin(25.0 / 36.0), -36.0 * math.cos(25.0 / 36.0)))
            shape = Oval(shape.centres, 36.0, True, 25.0)
        at = shape.place(way + begin)[0]
        late = (at - along + 0.5 * shape.lap) % shape.lap - 0.5 * shape.lap
        assert np.abs(late).max() < 1.0


def test_cells_of_a_ray_have_the_number_of_its_feature_cell(oval):
    number = oval.number
    features = oval.features
    assert (number[tuple(features.T)] == np.arange(len(features))).all()
    assert len(features) == pytest.approx(oval.lap, rel=0.02)
    walk = oval.cost > 0
    order = np.argsort(oval.along[walk], kind="stable")
    assert (np.diff(number[walk][order])[: -oval.cost.shape[0]] >= 0).all()
    column = number[:, int((60.0 - oval.x0) / oval.cell)]
    assert len(np.unique(column[: len(column) // 2][column[: len(column) // 2] >= 0])) == 1
    assert oval.out[tuple(features.T)].max() < 36.0 / oval.cell + 2.0


def test_centres_follow_from_the_inner_outline():
    angle = np.linspace(0.0, 2 * np.pi, 80, endpoint=False)
    circle = 30.0 * np.column_stack((np.cos(angle), np.sin(angle)))
    long = circle + 50.0 * np.sign(circle) * (1.0, 0.0)
    turn = np.array([(0.0, 1.0), (-1.0, 0.0)])
    for inner, centres in ((long, ((-50.0, 0.0), (50.0, 0.0))), (circle, ((0.0, 0.0), (0.0, 0.0))),
                           (long @ turn, ((0.0, -50.0), (0.0, 50.0)))):  # fmt: skip
        course = drawn_course(2.0 * inner, inner)
        np.testing.assert_allclose(course.shape.centres, centres, atol=1.0)
        assert course.shape.radius == pytest.approx(30.0, abs=0.5)


def test_a_course_takes_a_byte_a_cell_and_two_a_feature_cell():
    """The published example: 643 x 163 cells, 107 kB."""
    course = oval_course(straight=480.0, radius=53.5, width=27.0, cell=1.0)
    assert course.cost.shape == (163, 483 + 160)
    steps = feature_steps(course)
    assert course.cost.nbytes == 104_809 and steps.nbytes == 2 * len(course.features)
    assert course.cost.nbytes + steps.nbytes + 36 < 108_000
    there = course.features[0] + np.cumsum(steps.astype(int), axis=0)
    np.testing.assert_array_equal(there[:-1], course.features[1:])
    np.testing.assert_array_equal(there[-1], course.features[0])


def test_a_course_comes_back_from_its_file_and_with_painted_costs(oval, tmp_path: Path):
    path, layer = tmp_path / "course.h5", tmp_path / "costs.png"
    painted = oval.cost.copy()
    painted[(oval.along > 10.0) & (oval.along < 20.0) & (painted > 0)] = 7
    changed = oval.with_costs(painted)
    save_course(changed, path)
    again = load_course(path)
    np.testing.assert_array_equal(again.cost, painted)
    np.testing.assert_array_equal(again.along, changed.along)
    np.testing.assert_array_equal(again.features, changed.features)
    save_cost_layer(changed, layer)
    np.testing.assert_array_equal(read_cost_layer(layer, oval.cost.shape), painted)
    with pytest.raises(NetworkError, match="pixels; wanted one for each of the 3 x 4 cells"):
        read_cost_layer(layer, (4, 3))
    layer.write_bytes(b"no picture")
    with pytest.raises(NetworkError, match="cannot be read as a PNG"):
        read_cost_layer(layer, (4, 3))


def test_a_drawing_says_outlines_starts_and_finish(tmp_path: Path):
    path = tmp_path / "drawn.json"
    drawing = {
        "outer": [[0, 0], [120, 0], [120, 80], [0, 80]],
        "inner": [[30, 30], [90, 30], [90, 50], [30, 50]],
        "start": [60, 10], "starts": [[50, 10], [50, 20]], "finish": [60, 70], "cell": 3.0,
    }  # fmt: skip
    path.write_text(json.dumps(drawing))
    read = read_course(path, scale=2.0)
    assert read.course.cell == 3.0 and read.starts.tolist() == [[100.0, 20.0], [100.0, 40.0]]
    assert read.course.along.ravel()[read.course.cell_at(np.array([[123.0, 21.0]]))] < 2.0
    for change, text in (
        ({"inner": [[1, 2]]}, "inner: 1 points; wanted 3"),
        ({"inner": [[1, 2], [1, "x"], [3, 4]]}, "wanted .x, y. in metres"),
        ({"cells": 3}, "'cells' is not known"),
        ({"inner": drawing["outer"]}, "without a cell"),
        ({"outer": [[0, 0], [91, 0], [91, 80], [0, 80]], "inner": [[30, 30], [99, 30], [99, 50], [30, 50]]},
         "has a gap"),
    ):  # fmt: skip
        path.write_text(json.dumps(drawing | change))
        with pytest.raises(NetworkError, match=text):
            read_course(path)


def test_a_real_track_becomes_a_course_and_one_that_crosses_itself_is_refused():
    folder = data_folder("racetracks")
    course = read_course(folder / "Norisring.csv", cell=4.0).course
    assert course.lap * course.cell == pytest.approx(2296.0, rel=0.01)
    with pytest.raises(NetworkError, match="meets itself") as said:
        read_course(folder / "Suzuka.csv", cell=3.8)
    places = re.search(r": (\d+) m from its start .* at (\d+) m;", str(said.value))
    assert places is not None
    here, there = map(float, places.groups())
    track = read_track(folder / "Suzuka.csv")
    ribbon = Ribbon(track.left, track.right)
    at = [[np.interp(s, ribbon.station[:-1], ribbon.middle[:, k]) for k in (0, 1)] for s in (here, there)]  # fmt: skip
    assert np.hypot(*np.subtract(*at)) < 1.5 * ribbon.width.max() and abs(here - there) > 1000.0
    with pytest.raises(NetworkError, match="two cells of 8 m"):
        read_course(folder / "Norisring.csv", cell=8.0)


def test_a_point_is_placed_by_the_nearest_part_of_the_middle():
    """By squared distances from every part to every point, one by one, of bends drawn by seed; also far away."""
    for seed in (3, 4):
        rng = np.random.default_rng(seed)
        angle = np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)
        unit = np.column_stack((np.cos(angle), np.sin(angle)))
        middle = (150.0 + 60.0 * np.cos(5.0 * angle + seed))[:, None] * unit * rng.uniform(0.9, 1.1)
        ribbon = Ribbon(middle - 5.0 * unit, middle + 5.0 * unit)
        points = np.vstack((rng.uniform(-400.0, 400.0, (300, 2)), ribbon.middle, ribbon.left))
        found, _, curved = ribbon.place(points)
        for k, point in enumerate(points):
            best = (np.inf, 0.0, 0)
            for node, start in enumerate(ribbon.middle):
                step = ribbon.middle[(node + 1) % 90] - start
                share = min(1.0, max(0.0, (point - start) @ step / (step @ step)))
                off = point - start - share * step
                along = ribbon.station[node] + share * math.hypot(*step)
                best = min(best, (float(off @ off), along, node))
            off = (found[k] - best[1] + 0.5 * ribbon.lap) % ribbon.lap - 0.5 * ribbon.lap
            # a corner is the end of one part and the begin of the next
            assert abs(off) < 1e-6, (seed, k)
    assert ribbon.place(np.empty((0, 2)))[0].size == 0 and curved.any()


@pytest.mark.parametrize("what", ["cost", "centres", "cell", "format"])
def test_damaged_course_files_are_refused_in_a_line(oval, tmp_path: Path, what):
    path = tmp_path / "course.h5"
    save_course(oval, path)
    with h5py.File(path, "r+") as file:
        if what == "cost":
            del file["cost"]
            file["cost"] = np.zeros((3, 3))
        elif what == "format":
            del file.attrs["format"]
        else:
            file.attrs[what] = np.nan
    with pytest.raises(NetworkError, match=r"course\.h5"):
        load_course(path)
