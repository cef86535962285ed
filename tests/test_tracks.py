"""Closed tracks: where cars are on them, and files (validation.md C2.1 - C2.3)."""

import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from real_data import data_folder

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from steering_models import wavy_track

from rushhour.kernels.steering.tracks import (
    grip_under,
    in_triangle,
    index_at,
    is_on_segment,
    locate_cars,
    progress_at,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.racetracks import build_track, load_track, read_track, save_track


@numba.njit
def disagreements(p: np.ndarray, t: np.ndarray) -> int:
    """How often the triangle test differs from barycentric coordinates, off the border."""
    wrong = 0
    for i in range(p.shape[0]):
        ax, ay, bx, by, cx, cy = t[i]
        whole = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        u = ((p[i, 0] - ax) * (cy - ay) - (p[i, 1] - ay) * (cx - ax)) / whole
        v = ((bx - ax) * (p[i, 1] - ay) - (by - ay) * (p[i, 0] - ax)) / whole
        least = min(u, v, 1.0 - u - v)
        if abs(least) > 1e-9 and in_triangle(p[i, 0], p[i, 1], ax, ay, bx, by, cx, cy) != (
            least > 0.0
        ):
            wrong += 1
    return wrong


@pytest.mark.parametrize("far", [0.0, 1000.0])
def test_a_million_points_are_in_the_triangles_that_they_are_in(far):
    draw = np.random.default_rng(1)
    points, triangles = draw.uniform(0, 10, (500_000, 2)), draw.uniform(0, 10, (500_000, 6))
    assert disagreements(points + far, triangles + far) == 0


def test_a_border_belongs_to_a_triangle_and_it_may_turn_either_way():
    for corners in ((0.0, 0.0, 4.0, 0.0, 0.0, 4.0), (0.0, 0.0, 0.0, 4.0, 4.0, 0.0)):
        assert all(in_triangle(*p, *corners) for p in ((0, 0), (2, 0), (2, 2), (1, 1)))
        assert not any(in_triangle(*p, *corners) for p in ((-0.1, 0), (2.1, 2.0), (5, 0)))


def test_both_triangles_together_are_a_convex_segment():
    left, right = np.array([[0.0, 5.0], [9.0, 6.0]]), np.array([[1.0, -4.0], [8.0, -5.0]])
    corners = np.array([left[0], right[0], right[1], left[1]])
    draw = np.random.default_rng(2)
    for x, y in draw.uniform(-8, 12, (2000, 2)):
        edge = np.roll(corners, -1, axis=0) - corners
        inside = (edge[:, 0] * (y - corners[:, 1]) - edge[:, 1] * (x - corners[:, 0]) >= 0.0).all()
        assert is_on_segment(left, right, 0, x, y) == inside


def spread(track, n: int, seed: int) -> np.ndarray:
    """Random points on the track: (n, 3) with the index they were drawn in."""
    draw = np.random.default_rng(seed)
    i = draw.integers(0, len(track.left), n)
    j = (i + 1) % len(track.left)
    a, b = draw.uniform(0.05, 0.95, (2, n, 1))
    first = track.left[i] * a + track.right[i] * (1 - a)
    then = track.left[j] * a + track.right[j] * (1 - a)
    return np.column_stack((first * b + then * (1 - b), i))


def test_every_place_of_a_track_has_one_index_the_closing_segment_too():
    track = wavy_track(250)
    for x, y, i in spread(track, 300, 3):
        on = [k for k in range(250) if is_on_segment(track.left, track.right, k, x, y)]
        assert on == [int(i)]
    assert 249 in spread(track, 3000, 3)[:, 2]


@pytest.mark.small_world
def test_the_search_from_the_last_index_finds_what_all_segments_would():
    """250 nodes, 10 cars that drive, and some that are put anywhere."""
    track, draw = wavy_track(250), np.random.default_rng(4)
    last = draw.integers(0, 250, 10)
    for x, y, i in spread(track, 500, 5):
        for car in range(10):
            assert index_at(track.left, track.right, last[car], x, y) == (int(i), True)
        last[:] = draw.integers(0, 250, 10)


def test_off_the_track_the_last_index_is_kept():
    track = wavy_track(40)
    assert index_at(track.left, track.right, 17, 0.0, 0.0) == (17, False)
    assert index_at(track.left, track.right, 39, 1e5, 0.0) == (39, False)


def test_laps_and_ranks_count_on_forwards_and_back_over_the_first_node():
    track = wavy_track(40)
    n, ahead = 1, track.station[-1]
    index, on, lap = np.zeros(n, np.int32), np.zeros(n, np.bool_), np.zeros(n, np.int32)
    progress, seen = np.zeros(n), []
    for k in [*range(90), *range(90, 30, -1)]:
        place = track.line[k % 40] + 0.3 * (track.line[(k + 1) % 40] - track.line[k % 40])
        locate_cars(track, place[:1].copy(), place[1:].copy(), index, on, lap, progress, 0, n)
        assert on[0]
        seen.append((index[0], lap[0], progress[0]))
    indices, laps, way = map(np.array, zip(*seen, strict=True))
    assert (
        laps.max() == 2
        and laps[-1] == 0
        and (indices == [*(k % 40 for k in [*range(90), *range(90, 30, -1)])]).all()
    )
    assert (np.diff(way[:90]) > 0.0).all() and (np.diff(way[90:]) < 0.0).all()
    assert way[40] - way[0] == pytest.approx(ahead)


def test_progress_runs_along_the_middle():
    track = wavy_track(40)
    for i in (0, 17, 39):
        middle = 0.5 * (track.line[i] + track.line[(i + 1) % 40])
        half = 0.5 * (track.station[i] + track.station[i + 1])
        assert progress_at(track, i, *middle) == pytest.approx(half)


def test_the_surface_under_a_car_is_that_of_its_segment():
    base = wavy_track(40)
    grip = np.where(np.arange(40) < 20, 1.0, 0.6)
    track = build_track(base.left, base.right, grip=grip)
    index, on = np.array([3, 30, 30], np.int32), np.array([True, True, False])
    out = np.empty(3)
    grip_under(track, index, on, 0.4, out, 0, 3)
    assert out.tolist() == [1.0, 0.6, 0.4]


def test_the_node_steered_at_is_ahead_of_the_index_even_where_a_parallel_road_is_nearer():
    """Two arms of a hairpin 12 m apart: the next node is never one of the other arm."""
    t = np.linspace(0.0, np.pi, 9)[1:-1]
    middle = np.vstack((
        [(x, 0.0) for x in range(0, 101, 20)], np.column_stack((100 + 6 * np.sin(t), 6 - 6 * np.cos(t))),
        [(x, 12.0) for x in range(100, -1, -20)],
        np.column_stack((-6 * np.sin(t), 6 + 6 * np.cos(t))),
    ))  # fmt: skip
    along = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    aside = 4.0 * np.column_stack((-along[:, 1], along[:, 0])) / np.hypot(*along.T)[:, None]
    track = build_track(middle + aside, middle - aside)
    assert (track.line_index == np.arange(len(middle))).all()
    assert (track.target == (np.arange(len(middle)) + 1) % len(middle)).all()
    index, on = index_at(track.left, track.right, 2, 50.0, 3.5)
    assert on and index == 2 and track.line[track.target[index]].tolist() == [60.0, 0.0]


def test_a_track_comes_back_from_its_file_as_it_was(tmp_path: Path):
    base = wavy_track(40)
    speed = np.linspace(10.0, 20.0, 20)
    track = build_track(base.left, base.right, base.line[::2], speed, np.linspace(0.5, 1.0, 40))
    save_track(track, tmp_path / "track.h5")
    for one, other in zip(load_track(tmp_path / "track.h5"), track, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_csv_is_read_with_its_widths_on_the_right_sides(tmp_path: Path):
    ring = [(0, 0), (50, 0), (100, 0), (100, 50), (100, 100), (50, 100), (0, 100), (0, 50)]
    rows = [f"{x},{y},3.0,5.0" for x, y in ring]
    path = tmp_path / "ring.csv"
    path.write_text("\n".join(["# x_m,y_m,w_tr_right_m,w_tr_left_m", *rows]))
    track = read_track(path)
    assert track.left[1].tolist() == [50.0, 5.0] and track.right[1].tolist() == [50.0, -3.0]
    assert np.isnan(track.line_speed).all() and track.station[-1] > 380.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,0,1,1\n5,x,1,1\n", r"line 2: '5,x,1,1'; wanted four numbers"),
        ("0,0,1,1\n5,0,1\n", r"line 2: wanted x, y and widths"),
        ("0,0,1,1\n5,0,-1,1\n", r"line 2: wanted x, y and widths"),
        ("0,0,1,1\n5,0,nan,1\n", r"line 2: wanted x, y and widths"),
        ("0,0,1,1\n5,0,1,1\n", r"2 points; wanted at least 3"),
        ("\0\xff", "t.csv"),
    ],
)
def test_a_csv_that_is_no_track_is_refused_in_one_line(text, message, tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(NetworkError, match=message) as told:
        read_track(path)
    assert "\n" not in str(told.value)


def test_a_file_that_holds_no_track_is_refused_in_one_line(tmp_path: Path):
    import h5py

    (tmp_path / "text.h5").write_text("no")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["left"] = [1.0]
    with h5py.File(tmp_path / "half.h5", "w") as file:
        file.attrs["format"] = "rushhour track 1"
        file["left"] = [[1.0, 2.0]] * 4
    for name, message in (
        ("text", "cannot be read as a track"), ("none", "cannot be read as a track"),
        ("other", "no track of rushhour"), ("half", "wanted numbers in right"),
    ):  # fmt: skip
        with pytest.raises(NetworkError, match=message):
            load_track(tmp_path / f"{name}.h5")


def test_a_line_that_leaves_its_track_or_runs_back_is_refused():
    track = wavy_track(40)
    for line in (track.line[::-1], track.line + 100.0):
        with pytest.raises(
            NetworkError, match=r"point \d+ of the line, \(.*\), is not on the track"
        ):
            build_track(track.left, track.right, line)
    with pytest.raises(NetworkError, match="40 left and 39 right edge points"):
        build_track(track.left, track.right[1:])
    with pytest.raises(NetworkError, match="wanted 40 speeds"):
        build_track(track.left, track.right, line_speed=np.ones(3))


@pytest.mark.parametrize("name", ["Monza", "Suzuka"])
def test_real_tracks_are_read_and_every_point_of_the_line_is_in_order(name):
    """Suzuka crosses itself."""
    track = read_track(data_folder("racetracks") / f"{name}.csv", line_every=4)
    assert 5700.0 < track.station[-1] < 5900.0 and (np.diff(track.line_index) == 4).all()
    assert (track.line_index[track.target] != np.arange(len(track.left))).all()
