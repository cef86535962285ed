"""Recorded frames hold where bodies that steer were, not only the lanes that they were on."""

import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from test_steered import bend, crowd, steered

from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.chosen import Chosen
from rushhour.traffic.analysis.exporting import export_frames
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.scenarios.recording import expected_size
from rushhour.traffic.steering.body_table import fronts_of
from rushhour.traffic.world import World
from rushhour.viewer.live import LiveSource
from rushhour.viewer.recorded import RunSource

FRAMES = 30  # from record to record


def recorded(path: Path, world: World, records: int, **more: Any) -> list[np.ndarray]:
    """Record a world once a second; gives the fronts of its bodies in each recorded frame."""
    seen = []
    with Recorder(path, world, 1.0, **more) as recorder:
        world.observers.append(recorder)
        seen.append(fronts_of(world.sim.veh, world.steering))
        for _ in range(records):
            world.step(FRAMES)
            seen.append(fronts_of(world.sim.veh, world.steering))
    return seen


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World, list[np.ndarray]]:
    """A crowd, half of which steers, recorded for 20 s."""
    path = tmp_path_factory.mktemp("bodies") / "run.h5"
    world = crowd(0.5)
    return path, world, recorded(path, world, 20)


def test_a_replay_shows_bodies_where_they_were_to_2_cm_and_half_a_degree(mixed: Any) -> None:
    path, _, seen = mixed
    beside = 0.0
    with RunFile(path) as run:
        for i, fronts in enumerate(seen):
            where = run.positions(float(run.times[i]))
            at = np.searchsorted(where.id, fronts["vehicle"])
            assert (where.id[at] == fronts["vehicle"]).all()
            assert np.abs(where.x[at] - fronts["x"]).max(initial=0.0) <= 0.0051
            assert np.abs(where.y[at] - fronts["y"]).max(initial=0.0) <= 0.0051
            turned = np.angle(np.exp(1j * (where.heading[at] - fronts["heading"])))
            assert np.abs(turned).max(initial=0.0) < math.radians(0.01)
            frame = run.frame(i)
            steers = np.isfinite(frame.body_x)
            np.testing.assert_array_equal(steers, frame.tier > 0)
            np.testing.assert_array_equal(frame.id[steers], fronts["vehicle"])
            np.testing.assert_allclose(frame.body_steer[steers], fronts["steer"], atol=5.1e-5)
            flat = where.heading[at] - frame.body_heading[steers]
            beside = max(beside, float(np.abs(frame.body_steer[steers]).max(initial=0.0)))
            assert np.abs(flat).max(initial=0.0) < 1e-9
    assert beside > 0.1 and 8 < len(seen[-1]) < 20


def test_between_two_frames_a_body_moves_without_a_jump_to_where_the_next_one_has_it(
    mixed: Any,
) -> None:
    path, _, seen = mixed
    with RunFile(path) as run:
        for i in range(5, 10):
            start, end = float(run.times[i]), float(run.times[i + 1])
            there = [
                run.positions(start + share * (end - start)) for share in (0.0, 1e-6, 1 - 1e-6)
            ]
            next_one = run.positions(end)
            for a, b in ((there[0], there[1]), (there[2], next_one)):
                _, p, q = np.intersect1d(a.id, b.id, return_indices=True)
                here = np.isin(a.id[p], seen[i]["vehicle"])
                assert here.sum() > 5
                assert np.hypot(a.x[p] - b.x[q], a.y[p] - b.y[q])[here].max() < 0.01
                turned = np.angle(np.exp(1j * (a.heading[p] - b.heading[q])))[here]
                assert np.abs(turned).max() < 1e-3


def test_full_precision_keeps_every_bit_of_a_body_also_in_a_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    seen = recorded(path, steered(bend(), ("one", ["way"], VehicleType())), 12, precision="full")
    with RunFile(path) as run:
        track = run.trajectory("one")
        rows = np.concatenate(seen)
        assert rows.size == len(track) > 8
        for name in ("x", "y", "heading", "steer"):
            np.testing.assert_array_equal(getattr(track, f"body_{name}"), rows[name])


def test_a_run_without_bodies_holds_none_and_body_may_be_left_out(tmp_path: Path) -> None:
    plain, chosen = tmp_path / "plain.h5", tmp_path / "chosen.h5"
    recorded(plain, crowd(0.0), 1)
    recorded(chosen, crowd(1.0), 1, fields=["lateral"])
    for path in (plain, chosen):
        with RunFile(path) as run, h5py.File(path) as file:
            assert "poses" not in file
            with pytest.raises(RunError, match="no field 'body_x' in this frame"):
                _ = run.frame(-1).body_x


def test_a_recorded_run_with_bodies_verifies_and_its_frames_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    seen = recorded(path, crowd(0.5), 2, mode="keyframes")
    with RunFile(path) as run:
        assert verify(run).same
        frame = run.at(run.keyframes.index["time"][-1])
        steers = np.isfinite(frame.body_x)
        np.testing.assert_array_equal(frame.body_x[steers], seen[-1]["x"])


def test_the_viewer_the_table_and_the_exports_show_bodies_where_they_are(
    mixed: Any, tmp_path: Path
) -> None:
    path, world, seen = mixed
    fronts = seen[-1]
    table = world.table()
    names = [world.demand.ids[k] for k in fronts["vehicle"]]
    np.testing.assert_array_equal(table.set_index("id").x[names], fronts["x"])
    with RunFile(path) as run:
        time = float(run.times[-1])
        moments = LiveSource(world).at(time), RunSource(path).at(time)
        export_frames(run, "csv", tmp_path / "end.csv", Chosen(begin=time))
    for moment in moments:
        at = np.searchsorted(moment.id, fronts["vehicle"])
        np.testing.assert_allclose(moment.x[at], fronts["x"], atol=0.0051)
    lines = (tmp_path / "end.csv").read_text().splitlines()
    columns = lines[0].split(",")
    rows = {line.split(",")[1]: line.split(",") for line in lines[1:]}
    told = [float(rows[name][columns.index("y_m")]) for name in names]
    np.testing.assert_allclose(told, fronts["y"], atol=0.006)


def test_only_bodies_in_the_region_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    world = crowd(1.0)
    low, high = world.network.points.min(axis=0), world.network.points.max(axis=0)
    middle = 0.5 * (low + high)
    recorded(path, world, 2, region=(low[0], low[1], middle[0], high[1]))
    with RunFile(path) as run:
        frame = run.frame(-1)
        assert 0 < len(frame) < world.active
        assert np.isfinite(frame.body_x).all() and frame.body_x.max() <= middle[0] + 1.0


def test_damaged_poses_are_told_in_one_line(mixed: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(mixed[0].read_bytes())
    with h5py.File(path, "a") as file:
        sets = file["poses/set"][:]
        sets["end"][-1] += 1000
        file["poses/set"][:] = sets
    with pytest.raises(RunError, match=r"run\.h5: damaged run file \(a set of poses ends"):
        RunFile(path)


def test_the_size_that_is_expected_counts_bodies() -> None:
    def told(share: float) -> float:
        text = expected_size(crowd(share), 60.0, 1.0, 300.0, "frames", "standard")
        return float(text.split("each ")[1].split(" bytes")[0])

    assert told(0.0) == 3.0 and told(1.0) == pytest.approx(9.5) and 3.0 < told(0.5) < 9.5


@pytest.mark.parametrize("mode", ["frames", "keyframes"])
def test_no_more_frames_are_expected_than_the_run_has(mode: str) -> None:
    world = crowd(0.0)
    finest = expected_size(world, 60.0, world.dt, world.dt, mode, "standard")
    assert expected_size(world, 60.0, 1e-6, 1e-3, mode, "standard") == finest
