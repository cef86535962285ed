"""Films: each ending is written as what it says, or refused in a line."""

import stat
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from viewed_run import needs_gl, record

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.viewer.films import ENDINGS, film

STARTS = {".mp4": b"ftyp", ".mov": b"ftyp", ".mkv": b"\x1aE\xdf\xa3", ".gif": b"GIF89a"}


def test_every_ending_is_a_film_of_its_kind(tmp_path: Path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra `video`")
    for ending in ENDINGS:
        path = tmp_path / f"a{ending}"
        path.write_text("old")
        with film(path, (64, 48), 10.0) as add:
            for k in range(20):
                add(np.full((48, 64, 3), 12 * k, np.uint8))
        assert STARTS[ending] in path.read_bytes()[:16]
        frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
        assert frames == 20 and seconds == pytest.approx(2.0, abs=0.06)
        assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_gif_has_the_colours_and_the_pace_of_its_pictures(tmp_path: Path):
    pytest.importorskip("imageio_ffmpeg", reason="the extra `video`")
    images = pytest.importorskip("PIL.Image", reason="comes with matplotlib")
    colours = [(200, 30, 20), (20, 180, 40), (30, 40, 220)]
    with film(tmp_path / "a.gif", (64, 48), 25.0) as add:
        for colour in colours:
            add(np.full((48, 64, 3), colour, np.uint8))
    with images.open(tmp_path / "a.gif") as read:
        assert (read.n_frames, read.size, read.info["loop"]) == (3, (64, 48), 0)
        for k, colour in enumerate(colours):
            read.seek(k)
            assert read.info["duration"] == 40
            assert np.abs(np.array(read.convert("RGB"))[20, 20] - np.array(colour)).max() < 6


def test_what_ffmpeg_says_is_one_line_and_the_old_film_stays(
    tmp_path: Path, monkeypatch: Any, capfd: Any
):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra `video`")
    old = tmp_path / "a.gif"
    for script, why in (
        ("echo first >&2; echo disk is full >&2; exit 3", "disk is full"),
        ("exit 5", "it ended with 5"),
        ("cat > /dev/null; echo late >&2; exit 1", "late"),
        ("exec 0<&-; sleep 0.2; exit 0", "it ended with 0"),
    ):
        program = tmp_path / "ffmpeg.sh"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(tmp_path / "ffmpeg.sh"))
        old.write_text("old")
        with (
            pytest.raises(RunError, match=f"a.gif: ffmpeg could not write it .{why}"),
            film(old, (640, 480), 10.0) as add,
        ):
            for _ in range(20):
                add(np.zeros((480, 640, 3), np.uint8))
        assert old.read_text() == "old" and len(list(tmp_path.iterdir())) == 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_the_command_writes_a_gif_of_a_run_or_says_in_a_line_why_not(tmp_path: Path, capfd: Any):
    pytest.importorskip("imageio_ffmpeg", reason="the extra `video`")
    needs_gl()
    run, path = record(tmp_path / "run.h5", steps=20), tmp_path / "a.gif"
    words = ["view", str(run), "--size", "161x121", "--to", "2s", "--video"]
    assert main([*words, str(path)]) == 0
    assert "51 pictures" in capfd.readouterr().out
    probe = subprocess.run(["head", "-c", "10", str(path)], capture_output=True, check=True).stdout
    assert probe == b"GIF89a" + (160).to_bytes(2, "little") + (120).to_bytes(2, "little")
    for more, why in (
        (["a.webp"], "a.webp: wanted a name that ends in .mp4, .mov, .mkv or .gif"),
        (["a.gif", "--fps", "60"], "a GIF has up to 50 pictures a second, not 60"),
        (["no/a.gif"], "no/a.gif: cannot be written (No such file or directory)"),
    ):
        assert main([*words, *more]) == 2
        error = capfd.readouterr().err.replace("\r", "\n").strip().split("\n")[-1]
        assert why in error
