"""`rushhour run --resume`, as a user types it."""

import json
from pathlib import Path
from typing import Any

import h5py
import pytest

from rushhour.cli import main
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import save
from rushhour.traffic.recording.run_file import RunFile

Run = tuple[Path, dict[str, Any]]


def summary(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", *map(str, words), "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["run", *map(str, words)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    save(generate("grid", rows=2, columns=3), folder / "grid.h5")
    save(generate("grid", rows=3, columns=3), folder / "other.h5")
    words = [folder / "grid.h5", "--trips", 60, "--over", "1min", "--duration", "90s", "--seed", 3]
    words += ["--begin", 0]
    words += ["--record", folder / "run.h5", "--keyframe-every", "20s", "--reroute", "50%"]
    assert main(["run", *map(str, words)]) == 0
    return folder


@pytest.fixture
def straight(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The summary of a run of 90 s that was never recorded."""
    words = [folder / "grid.h5", "--trips", 60, "--over", "1min", "--duration", "90s", "--seed", 3]
    words += ["--begin", 0]
    return summary(capsys, *words, "--reroute", "50%")


@pytest.mark.parametrize("at", [(), ("--at", "25s"), ("--at", "1min"), ("--at", "0")])
def test_a_resumed_run_ends_as_the_run_that_never_stopped(
    folder: Path, straight: dict[str, Any], capsys: pytest.CaptureFixture[str], at: tuple[str, ...]
) -> None:
    if not at:
        found = summary(capsys, "--resume", folder / "run.h5", "--duration", "10s")
        assert found["sim_s"] == 10.0 and "at 0:01:30, frame 360" in found["remarks"][-1]
        return
    found = summary(capsys, "--resume", folder / "run.h5", *at, "--check")
    for name in ("state_hash", "vehicles", "trips", "gridlock", "rerouting", "vehicle_updates"):
        assert found[name] == straight[name], name
    rate = found["vehicle_updates_per_s"] * found["wall_s"]  # of this run alone
    assert at[-1] == "0" or rate < 0.99 * found["vehicle_updates"]
    assert found["remarks"][-1].startswith("resumed from run.h5 at 0:")
    assert not any(found["violations"].values())


def test_a_resumed_run_is_recorded_in_a_file_of_its_own(
    folder: Path, straight: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "run.h5").read_bytes()
    words = ("--resume", folder / "run.h5", "--at", "31s", "--record", folder / "rest.h5")
    assert summary(capsys, *words)["state_hash"] == straight["state_hash"]
    assert (folder / "run.h5").read_bytes() == before
    with RunFile(folder / "rest.h5") as rest, RunFile(folder / "run.h5") as run:
        assert rest.frames[0] == 124 and rest.frames[-1] == run.frames[-1]
        assert rest.digests is not None and run.digests is not None
        assert rest.digests[-1] == run.digests[-1]
    assert main(["replay", str(folder / "rest.h5"), "--verify"]) == 0
    error = refused(capsys, "--resume", folder / "run.h5", "--record", folder / "run.h5")
    assert "which is read; give another name" in error
    assert (folder / "run.h5").read_bytes() == before


def test_a_what_if_says_so_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--resume", folder / "run.h5", "--at", "30s", "--set", "car.time_gap=2", "--seed", "9")
    assert main(["run", *map(str, words)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].startswith("resumed      from run.h5 at 0:00:30, frame 120; a what-if from ")
    assert any(line.startswith("time         0:00:30 to 0:01:30, 240 frames") for line in shown)
    found = summary(capsys, *words)
    assert found["begin_s"] == 30.0
    says = [line for line in found["remarks"] if "what-if" in line]
    assert len(says) == 1 and says[0].endswith("with car.time_gap = 2.0, seed = 9")
    assert found["parameters_changed"]["car.time_gap"] == 2.0 and found["seed"] == 9
    assert found["parameters_changed"]["rerouting.fraction"] == 0.5, "the run's own stay"


def test_the_network_may_be_named_if_it_is_the_same(
    folder: Path, straight: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--resume", folder / "run.h5", "--at", "80s")
    assert summary(capsys, folder / "grid.h5", *words)["state_hash"] == straight["state_hash"]
    error = refused(capsys, folder / "other.h5", *words)
    assert "other.h5 is another network than run.h5 was recorded on; leave it out" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--resume", "none.h5"), "none.h5 does not exist"),
        (("--resume", "grid.h5"), "is not a run file"),
        (("--resume", "run.h5"), "its end, 0:01:30, has come; give --duration"),
        (("--resume", "run.h5", "--dt", "0.1"), "--dt with --resume: the run file says it"),
        (("--resume", "run.h5", "--trips", "5"), "--trips with --resume"),
        (("--resume", "run.h5", "--demand", "x.xml"), "--demand with --resume"),
        (("--resume", "run.h5", "--set", "car.size=2"), "parameter 'car.size' does not exist"),
        (("grid.h5", "--at", "30s"), "--at is for --resume RUN"),
        ((), "no NETWORK; give a network or a scenario, or --resume RUN"),
    ],
)
def test_what_cannot_be_resumed_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    assert message in refused(capsys, *words)


def test_the_mode_of_recording_is_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "all.toml").write_text('network = "grid.h5"\n[recording]\nmode = "all"\n')
    assert "wanted one of frames, keyframes, both" in refused(capsys, "all.toml")
    text = 'network = "grid.h5"\n[demand]\ntrips = 5\nover = 5\n[times]\nduration = 20\n'
    (folder / "keys.toml").write_text(
        text + '[recording]\nfile = "k.h5"\nmode = "keyframes"\nkeyframe_every = "5s"\n'
    )
    summary(capsys, "keys.toml")
    with RunFile(folder / "k.h5") as run:
        assert run.mode == "keyframes" and len(run.keyframes) == 5
        assert run.meta["until"] == run.meta["begin"] + 20.0


def test_replay_tells_a_cut_run_how_to_be_finished_and_a_resumed_one_where_it_goes_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "--resume", str(folder / "run.h5"), "--at", "40s", "--record"]
    assert main([*words, str(tmp_path / "rest.h5")]) == 0
    shown = capsys.readouterr()
    active = next(line for line in shown.out.splitlines() if line.startswith("recorded"))
    assert "rest.h5, " in active and shown.err.startswith("rushhour: rest.h5: about ")
    assert main(["replay", str(tmp_path / "rest.h5")]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert lines["complete"] == "yes" and lines["network"] == "grid"
    assert lines["time"].endswith("dt 0.25 s, goes on with a run that began at 0:00:00")
    assert lines["parameters"] == "rerouting.fraction=0.5, seed 3"
    cut = tmp_path / "cut.h5"
    cut.write_bytes((folder / "run.h5").read_bytes())
    with h5py.File(cut, "r+") as file:
        file["meta/complete"][()] = 0
        for table in ("frames", "keyframes"):
            index = file[table]["index"]
            index.resize((int(0.6 * index.shape[0]),))
    assert main(["replay", str(cut)]) == 0
    text = capsys.readouterr().out
    assert "complete     no: it was killed, or still goes on" in text
    assert f"finish it by rushhour run --resume {cut} --record rest.h5" in text
    assert " of what was to end at 0:01:30" in text
    assert main(["replay", str(cut), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (
        facts["complete"] is False and facts["format_version"] == 3 and "speed" in facts["fields"]
    )
