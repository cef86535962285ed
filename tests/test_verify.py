"""Verifying run files: the same bits are found the same, and what differs is named."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from resumed_worlds import new_world
from test_bad_keyframes import altered
from test_resume import record

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.verifying import Verdict, verify
from rushhour.traffic.world import World

FRAMES = 120


def verdict(path: Path) -> Verdict:
    with RunFile(path) as run:
        return verify(run)


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run.h5"
    record(path, new_world("commands"), FRAMES)
    return path


@pytest.mark.parametrize(
    ("mode", "frames", "keyframes"), [("both", 31, 4), ("frames", 31, 0), ("keyframes", 0, 4)]
)
def test_a_run_comes_to_the_same_bits_again(
    tmp_path: Path, mode: str, frames: int, keyframes: int
) -> None:
    world = new_world("stops")
    with Recorder(tmp_path / "run.h5", world, mode=mode, keyframe_every=10.0) as recorder:
        world.observers.append(recorder)
        world.step(40)
        world.stop(int(world.vehicles.id[0]), duration=5.0)
        world.step(FRAMES - 40)
    found = verdict(tmp_path / "run.h5")
    assert found.same and (found.frames, found.keyframes) == (frames, keyframes)
    assert found.same_since == FRAMES and not found.others
    assert found.lines() == [f"the same bits: {frames} frames and {keyframes} keyframes compared"]


class Nudge:
    """Moves a vehicle in a frame behind everybody's back."""

    def __init__(self, world: World, frame: int, field: str, by: float) -> None:
        self.world, self.frame, self.field, self.by = world, frame, field, by
        self.vehicle = -1

    def observe(self) -> None:
        if self.world.frame == self.frame:
            slot = int(np.flatnonzero(self.world.sim.veh.lane >= 0)[3])
            self.vehicle = int(self.world.sim.veh.id[slot])
            getattr(self.world.sim.veh, self.field)[slot] += self.by


def nudged(path: Path, frame: int, field: str, by: float, **options: object) -> Nudge:
    world = new_world("program")
    nudge = Nudge(world, frame, field, by)
    with Recorder(path, world, 1.0, keyframe_every=10.0, **options) as recorder:  # type: ignore[arg-type]
        world.observers += [nudge, recorder]
        world.step(FRAMES)
    return nudge


def test_the_first_frame_vehicle_and_field_that_differ_are_named(tmp_path: Path) -> None:
    nudge = nudged(tmp_path / "run.h5", 52, "speed", 0.5)
    found = verdict(tmp_path / "run.h5")
    assert not found.same and found.difference is not None
    assert found.difference.frame == 52 and found.same_since == 48
    assert found.difference.field == "speed"
    assert found.difference.vehicle.endswith(f"(number {nudge.vehicle})")
    assert "a fault, or the file was altered" in found.lines()[-1]


def test_what_lies_beyond_the_recorded_digits_is_found_too(tmp_path: Path) -> None:
    nudged(tmp_path / "run.h5", 52, "s", 1e-9)
    found = verdict(tmp_path / "run.h5")
    assert found.difference is not None and found.difference.frame == 52
    assert "beyond its digits" in str(found.difference)


def test_what_no_frame_shows_is_found_in_the_next_keyframe(tmp_path: Path) -> None:
    nudge = nudged(tmp_path / "run.h5", 52, "longest", 1)
    found = verdict(tmp_path / "run.h5")
    assert found.difference is not None and found.difference.frame == 80
    assert found.difference.field == "longest" and str(nudge.vehicle) in found.difference.vehicle


def test_a_command_that_is_missing_in_the_file_is_a_difference(tmp_path: Path) -> None:
    world = new_world("stops")
    with Recorder(tmp_path / "run.h5", world, keyframe_every=10.0) as recorder:
        world.observers.append(recorder)
        world.step(60)
        world.stop(int(world.vehicles.id[0]))
        world.step(60)

    def forget(file) -> None:
        for name in ("frame", "time", "end"):
            file["commands"][name].resize((0,))

    path = altered(tmp_path / "run.h5", tmp_path / "other.h5", forget)
    assert verdict(tmp_path / "run.h5").same
    found = verdict(path)
    assert found.difference is not None and 60 < found.difference.frame <= 80


def test_another_machine_is_told_from_a_fault(tmp_path: Path) -> None:
    nudged(tmp_path / "run.h5", 52, "speed", 0.5)

    def elsewhere(file) -> None:
        file["meta"].attrs["cpu"] = "z80"
        file["meta"].attrs["numba_version"] = "0.1"

    path = altered(tmp_path / "run.h5", tmp_path / "other.h5", elsewhere)
    found = verdict(path)
    assert not found.same and set(found.others) == {"cpu", "numba_version"}
    assert found.others["cpu"][0] == "z80"
    assert "on another kind of machine (cpu 'z80', here" in found.lines()[-1]


def test_replay_says_what_a_file_holds_and_verifies_it(
    run_file, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(run_file)]) == 0
    assert "keyframes    4, the last at" in capsys.readouterr().out
    assert main(["replay", str(run_file), "--verify"]) == 0
    assert "the same bits: 31 frames and 4 keyframes compared" in capsys.readouterr().out
    nudged(tmp_path / "run.h5", 52, "speed", 0.5)
    assert main(["replay", str(tmp_path / "run.h5"), "--verify"]) == 1
    assert "differs at frame 52 (0:00:13): vehicle '" in capsys.readouterr().out
    assert main(["replay", str(tmp_path / "run.h5"), "--verify", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["same"] is False and facts["difference"]["frame"] == 52


def test_a_run_cut_off_at_its_start_has_nothing_to_verify(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "run.h5", new_world("stops"), 0)
    assert main(["replay", str(tmp_path / "run.h5"), "--verify"]) == 2
    told = capsys.readouterr()
    assert "nothing to verify: it holds nothing behind its first frame" in told.err
    assert "same bits" not in told.out
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        for group in ("frames", "keyframes"):
            file[group]["index"].resize((0,))
        file["meta/complete"][()] = 0
    assert main(["replay", str(tmp_path / "run.h5"), "--verify"]) == 2
    assert "nothing to verify: it holds no frames and no keyframes" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "run.h5")]) == 0
    text = capsys.readouterr().out
    assert "no: it was killed, or still goes on" in text and "nothing was recorded" in text


def test_a_run_recorded_from_its_middle_without_keyframes_cannot_be_verified(
    tmp_path: Path,
) -> None:
    world = new_world("stops")
    world.step(20)
    record(tmp_path / "run.h5", world, 40, mode="frames")
    with pytest.raises(RunError, match="begins in the middle of a run and holds no keyframe"):
        verdict(tmp_path / "run.h5")
