"""Measuring frames of a world, from Python and by `rushhour profile`."""

import gc
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import save
from rushhour.testing import frame_budget
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.profiling.measuring import measure_frames
from rushhour.traffic.profiling.profile import profile_of_run
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.stepping.costs import PHASES
from rushhour.traffic.world import World

GRID = generate("grid", rows=2, columns=2)


def small_world() -> World:
    return World(GRID, vehicles_on_road(GRID, 40, seed=1), dt=0.5, seed=1)


def test_a_world_that_is_measured_three_times_over_has_the_state_of_one_that_was_stepped() -> None:
    plain, measured = small_world(), small_world()
    plain.step(60)
    profile = measure_frames(measured, 40, warm_up=10.0, repeat=3)
    assert measured.frame == 60
    assert measured.state_hash() == plain.state_hash()
    assert profile.repeats.shape == (3, len(PHASES) + 1)
    assert (profile.vehicles[1:] > 0).all()
    assert profile.time[0] == 10.0
    assert (profile.frame > 0).all()


def test_collections_of_garbage_are_told_with_the_frame_that_they_happened_in() -> None:
    world = small_world()

    def sometimes() -> None:
        if world.frame == 5:
            gc.collect()

    world.observers.append(SimpleNamespace(observe=sometimes))
    gc.disable()
    try:
        profile = measure_frames(world, 8)
    finally:
        gc.enable()
    assert profile.collecting is not None
    assert np.flatnonzero(profile.collecting).tolist() == [4]
    assert profile.collecting[4] <= profile.ns[4, PHASES.index("record")]
    assert profile.facts["collections"] == 1


def test_a_run_file_tells_the_means_of_the_frames_between_its_records(tmp_path: Path) -> None:
    world = small_world()
    with Recorder(tmp_path / "run.h5", world, 2.0, mode="frames") as recorder:
        world.observers.append(recorder)
        world.step(40)
    ring = world.costs.recent()
    with RunFile(tmp_path / "run.h5") as run:
        profile = profile_of_run(run)
        with pytest.raises(RunError, match="no costs were recorded"):
            profile_of_run(run, begin=1e6)
    drive = PHASES.index("drive")
    assert profile.frames_each == 4.0
    np.testing.assert_allclose(profile.ns[:, drive], ring[:, drive].reshape(-1, 4).mean(axis=1))
    assert profile.told()["frames"] == 40


def test_a_test_of_somebody_else_fails_with_the_phases_to_blame() -> None:
    assert len(frame_budget(small_world(), "1h", frames=10, warm_up="5s", repeat=2)) == 10
    with pytest.raises(
        AssertionError, match=r"over the budget of 1e-06 ms(.|\n)*by phase(.|\n)*ns/vehicle"
    ):
        frame_budget(small_world(), 1e-9, frames=10, warm_up=0.0)


@pytest.mark.parametrize(("frames", "repeat"), [(0, 1), (10, 0), (10**7, 1)])
def test_numbers_out_of_range_are_refused(frames: int, repeat: int) -> None:
    with pytest.raises(RunError, match="wanted 1 to"):
        measure_frames(small_world(), frames, repeat=repeat)


@pytest.fixture(scope="module")
def grid_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "grid.h5"
    save(GRID, path)
    return path


def test_the_command_keeps_or_misses_its_budget_by_the_exit_code(
    grid_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["profile", str(grid_path), "--vehicles", "40", "--frames", "12", "--warm-up", "5s"]
    files = ["--plot", str(tmp_path / "p.png"), "--trace", str(tmp_path / "t.json")]
    assert main([*words, "--budget", "1h", *files, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["frames"] == 12
    assert told["budget"]["kept"] is True
    assert told["touched"]["vehicles"] > 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert main([*words, "--budget", "0.000001ms"]) == 1
    assert "over the budget" in capsys.readouterr().out
    for phase in told["repeats_ms"]:
        told["repeats_ms"][phase] = [1e-9, 1e-9, 1e-9]
    (tmp_path / "old.json").write_text(json.dumps(told))
    assert main([*words, "--compare", str(tmp_path / "old.json")]) == 1
    assert "slower" in capsys.readouterr().out


def test_sizes_on_grids_that_grow_and_on_a_network_that_is_full(
    grid_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--frames", "4", "--warm-up", "5s", "--json"]  # until all found room
    plot = ["--plot", str(tmp_path / "s.png")]
    assert main(["profile", "--sweep", "vehicles=100..200", *short, *plot]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["vehicles"]) == 2
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert main(["profile", str(grid_path), "--sweep", "vehicles=20..50k", *short]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "do not fit" in told["remarks"][0]
    assert len(told["vehicles"]) < 10
    assert main(["profile", str(grid_path), "--find-vehicles", "--budget", "1h", *short]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "full" in told["remark"]
    assert 0 < told["vehicles"] < 1000


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "no NETWORK"), (["--find-vehicles"], "add --budget"),
        (["--sweep", "vehicles=1..2", "--trips", "5"], "--trips does not go with --sweep"),
        (["--find-vehicles", "--budget", "1s", "--repeat", "2"], "--repeat does not go with"),
        (["GRID"], "nobody drives"), (["GRID", "--vehicles", "9", "--frames", "0"], "wanted 1 to"),
        (["GRID", "--vehicles", "9", "--budget", "soon"], "wanted a time"),
        (["GRID", "--vehicles", "9", "--compare", "none.json"], "cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_one_line(
    grid_path: Path, words: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(grid_path) if word == "GRID" else word for word in words]
    assert main(["profile", *given]) == 2
    shown = capsys.readouterr().err.strip()
    assert what in shown
    assert "\n" not in shown
