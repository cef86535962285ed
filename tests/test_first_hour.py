"""What a user types in the first hour is answered in one line: ends, times, files and disks."""

import bz2
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import pytest

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.reading.json_files import read_json
from rushhour.roadnets.storage import save


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    save(generate("grid", rows=2, columns=2), folder / "grid.h5")
    for name, more in (("run", []), ("keyframes", ["--record-mode", "keyframes"])):
        words = ["run", folder / "grid.h5", "--trips", 40, "--over", "1min", "--duration", "1min"]
        words += ["--record", folder / f"{name}.h5", *more]
        assert main(list(map(str, words))) == 0
    return folder


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "run grid.h5 --trips 9 --over 1min --record x.h5 --record-every 0",
            "record every 0: wanted",
        ),
        (
            "run grid.h5 --trips 9 --over 1min --record x.h5 --keyframe-every 0",
            "keyframe every 0: ",
        ),
        ("run --resume run.h5 --at 1e9", "was recorded until 0:01:0"),
        ("queues run.h5 --from 50s --until 10s", "the end is before the begin"),
        ("queues run.h5 --from 2h", "no frame was recorded from 2:00:00; its frames are from"),
        ("queues keyframes.h5", "holds no frames (mode keyframes)"),
        (
            "signals grid.h5 --trips 300 --over 10min --seed 3 --plot c.png --corridor 0.0,0.1 --run keyframes.h5",
            "holds no frames (mode keyframes)",
        ),
        ("run grid.h5 --trips 9 --over 1min --give-up-after 5", "wanted 1min or more, or never"),
        ("run grid.h5 --trips 9 --over 1min --give-up-after soon", "wanted a time such as"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_line(
    folder: Path, words: str, says: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_vehicles_steer_in_a_what_if_of_a_run_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = "run --resume run.h5 --at 10s --steered 50% --duration 1min --json"
    assert main(words.split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["steered"]["vehicles"] > 0


@pytest.mark.parametrize("size", [48, 4096])
@pytest.mark.parametrize(
    "words", ["replay", "info", "queues", "run --resume", "why --at 1s --road a"]
)
def test_a_recording_killed_before_anything_was_on_the_disk_is_told_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: int, words: str
) -> None:
    """48 bytes are what is there after 0.2 s; a mark and no contents what is there after 0.6 s."""
    path = tmp_path / "killed.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file.create_group("meta")
        file.swmr_mode = True
        file.flush()
        data = path.read_bytes()
    path.write_bytes(data[:48] + b"\0" * (size - 48))
    first, *rest = words.split()
    assert main([first, *rest, str(path)]) == 2
    error = capsys.readouterr().err
    assert "its writer was killed" in error and "import the map" not in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("what", ["expands", "objects"])
def test_a_small_file_takes_no_huge_memory(tmp_path: Path, what: str) -> None:
    """122 kB of gzip are 122 MB of lists, which took 3.4 GB."""
    bomb = b"[" + b"[]," * 40_000_000 + b"[]]"
    if what == "expands":
        path = tmp_path / "b1.json.gz"
        path.write_bytes(gzip.compress(bomb))
    else:
        path = tmp_path / "b1.json"
        path.write_bytes(bomb)
    words = "expands more than 200-fold" if what == "expands" else "would take .* GB; cut it"
    with pytest.raises(NetworkError, match=words):
        read_json(path)


@pytest.mark.parametrize("packed", [gzip, bz2])
def test_a_map_that_expands_beyond_reason_is_refused_before_it_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], packed: Any
) -> None:
    nodes = b"<node id='1' lat='1' lon='1'/>" * 300_000
    path = tmp_path / f"map.osm.{'gz' if packed is gzip else 'bz2'}"
    path.write_bytes(packed.compress(b"<?xml version='1.0'?><osm>" + nodes + b"</osm>"))
    assert path.stat().st_size < 122_000
    assert main(["import", str(path), "-o", str(tmp_path / "map.h5")]) == 2
    error = capsys.readouterr().err
    assert f"error: {path}: expands more than 200-fold" in error and error.count("\n") == 1


FULL = """
import resource, sys
from rushhour.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), -1))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a full disk is made by a limit of the system")
@pytest.mark.parametrize(("how", "code"), [([], 0), (["--on-full", "end"], 2)])
def test_a_full_disk_ends_the_recording_or_the_run(
    folder: Path, tmp_path: Path, how: list[str], code: int
) -> None:
    path = tmp_path / "full.h5"
    words = ["run", str(folder / "grid.h5"), "--vehicles", "300", "--duration", "5min", "--json"]
    words += ["--record", str(path), "--keyframe-every", "10s", *how]
    done = subprocess.run(
        [sys.executable, "-c", FULL, "700000", *words], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(rh.__file__).resolve().parents[1])},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "full.h5 cannot be written: File too large" in done.stderr
    if code == 0:
        found = json.loads(done.stdout)
        assert found["sim_s"] == 300.0
        assert any("nothing is recorded from" in remark for remark in found["remarks"])
        assert done.stderr.count("nothing is recorded from") == 1
    with rh.open_run(path) as run:
        assert run.keyframes.index["frame"].size >= 2 and run.times.size > 10
