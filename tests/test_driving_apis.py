"""rh.trajectory, rh.race, rh.chase: what their names do, their examples, one of their films."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from example_runs import printed_by
from PIL import Image

import rushhour as rh
from rushhour.roadnets.errors import ParameterError

ROOT = Path(__file__).resolve().parents[1]


def test_every_name_of_the_three_modules_is_there() -> None:
    for module in (rh.trajectory, rh.race, rh.chase):
        assert sorted(module.__all__) == list(dict.fromkeys(sorted(module.__all__)))
        for name in module.__all__:
            assert getattr(module, name) is not None, name


@pytest.mark.parametrize("lag", [np.inf, 3.0])
def test_bots_come_to_points_lines_and_circles_as_the_laws_say(lag: float) -> None:
    rng = np.random.default_rng(77)
    n, dt = 24, 0.02
    engine = rh.trajectory.late_engine(lag, dt)

    def made() -> rh.trajectory.Bots:
        far, turn = rng.uniform(30.0, 80.0, n), rng.uniform(0.0, 2.0 * np.pi, n)
        x, y = far * np.cos(turn), far * np.sin(turn)
        return rh.trajectory.Bots(x, y, rng.uniform(0.0, 360.0, n), 10.0, engine=engine, dt=dt)

    to, round_, on = made(), made(), made()
    law = rh.trajectory.LineLaw(k_y=0.5, most=60.0, radius=0.0, horizon=0.0)
    for _ in range(round(40.0 / dt)):
        to.at_points([5.0, -3.0], k_d=0.5, most=10.0, radius=0.5)
        round_.around([0.0, 0.0], clearance=15.0)
        on.along([-10.0, -8.0, 10.0, 12.0], law)
        for bots in (to, round_, on):
            bots.step()
    assert to.arrived.all() and np.hypot(to.x - 5.0, to.y + 3.0).max() < 0.6
    assert np.allclose(np.hypot(round_.x, round_.y), 15.0, atol=1.0)
    assert np.abs((on.y - on.x - 2.0) / np.sqrt(2.0)).max() < 0.05


def test_bots_come_home_in_the_direction_that_was_asked_for() -> None:
    bots = rh.trajectory.Bots(
        [-90.0, -70.0], [20.0, -35.0], 0.0, 10.0,
        engine=rh.trajectory.late_engine(np.inf, 0.01), dt=0.01,
    )  # fmt: skip
    nearest, yaw = np.full(2, np.inf), np.zeros(2)
    for _ in range(1500):
        bots.home([0.0, 0.0, 0.0], "F2", shape=[2.0, 0.0])
        bots.step()
        far = np.hypot(bots.x, bots.y)
        yaw = np.where(far < nearest, bots.yaw, yaw)
        nearest = np.minimum(nearest, far)
    assert nearest.max() < 0.2
    assert np.abs((yaw + 180.0) % 360.0 - 180.0).max() < 4.0


def test_goldsrc_walks_no_faster_than_it_may() -> None:
    bots = rh.trajectory.Bots([0.0], [0.0], dt=0.01)
    bots.wanted_speed[:] = 900.0
    bots.step(500)
    assert 250.0 < bots.speed[0] <= 320.0


def test_a_body_follows_its_path_in_one_call_whatever_its_class() -> None:
    way = [(0, 0), (50, 0), (50, 40), (110, 55)]
    driven = rh.trajectory.drive_paths([way] * 3, ["car", "storm", "bolte"], seconds=40.0, every=3)
    assert driven.x.shape == (driven.time.size, 3) and driven.time[-1] == pytest.approx(40.0)
    length = float(np.hypot(*np.diff(np.array(way, float), axis=0).T).sum())
    assert (driven.s[-1] > length - 10.0).all()
    for k in range(3):  # up to its end, from where on there is nothing to follow
        end = int(np.argmax(driven.s[:, k] > length - 3.0))
        assert end > 100 and np.abs(driven.offset[:end, k]).max() < 4.0
    assert not driven.stuck.any()


def test_place_and_offset_of_a_drive_are_those_of_the_same_moment() -> None:
    way = np.array([(0, 0), (50, 0), (50, 40), (110, 55)], float)
    driven = rh.trajectory.drive_paths([way], "storm", seconds=20.0, every=1)
    station = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(way, axis=0).T))))
    k = driven.s[:, 0] < station[-1]
    beside = np.column_stack([np.interp(driven.s[k, 0], station, way[:, j]) for j in (0, 1)])
    apart = np.hypot(driven.x[k, 0] - beside[:, 0], driven.y[k, 0] - beside[:, 1])
    assert k.sum() > 500 and np.abs(apart - np.abs(driven.offset[k, 0])).max() < 1e-9


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: rh.trajectory.Bots([0.0, np.nan], [0.0, 0.0]), "finite numbers"),
        (lambda: rh.trajectory.Bots([0.0, 1.0], [0.0, 0.0, 1.0]), "one value of each bot"),
        (lambda: rh.trajectory.Bots([0.0], [0.0], dt=0.0), "dt 0.0: wanted more than 0"),
        (lambda: rh.trajectory.Bots([0.0], [0.0]).along([1.0, 2.0], None), r"lines: shape \(2,\)"),  # type: ignore[arg-type]
        (lambda: rh.trajectory.Bots([0.0], [0.0]).home([0, 0, 0], "F9"), "family 'F9': wanted one of F1"),
        (lambda: rh.trajectory.late_engine(0.0, 0.1), "lag 0.0: wanted more than 0"),
        (lambda: rh.trajectory.drive_paths([[(0, 0), (9, 0)]], ["car", "bus"]), "2 cars for 1 paths"),
        (lambda: rh.trajectory.drive_paths([[(0, 0), (9, 0)]], seconds=-1.0), "seconds -1.0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(made, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        made()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bots", "follow_paths"])
def test_the_examples_end_in_a_picture_and_a_race_file(name: str, tmp_path: Path) -> None:
    picture = tmp_path / "p.png"
    assert "written" in printed_by(f"{name}.py", "--picture", picture)
    assert len({*Image.open(picture).convert("RGB").getdata()}) > 6
    assert rh.race.load_race(tmp_path / "p.h5").length.size in (6, 24)


@pytest.mark.slow
def test_make_films_makes_a_film(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "bench" / "films.py"), "--only", "bots", "--seconds", "2", "--out",
         str(tmp_path), "--pictures", str(tmp_path / "new")],
        check=True, capture_output=True,
    )  # fmt: skip
    assert (tmp_path / "bots.mp4").stat().st_size > 2000 and (
        tmp_path / "new" / "bots.png"
    ).exists()
