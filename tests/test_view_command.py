"""`rushhour view` writes pictures and films, and says in one line what is missing or wrong."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from viewed_run import needs_gl, record

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.viewer.gl import context
from rushhour.viewer.window_kinds import window_backend


@pytest.fixture(scope="module")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("view") / "run.h5", steps=20, vehicles=10)


def test_a_shot_is_the_same_file_each_time(
    run_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    needs_gl().close()
    options = ["--at", "6s", "--size", "320x240", "--colour", "reason", "--lanes", "density"]
    for name in ("a.png", "b.png"):
        words = ["view", str(run_path), "--shot", str(tmp_path / name), *options, "--costs"]
        assert main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["time_s"] == 6.0
    data = (tmp_path / "a.png").read_bytes()
    assert data == (tmp_path / "b.png").read_bytes() and data[:4] == b"\x89PNG"
    closer = ["--vehicle", "3", "--centre", "10,10", "--zoom", "0.1", *options[:4]]
    assert main(["view", str(run_path), "--shot", str(tmp_path / "c.png"), *closer]) == 0
    assert (tmp_path / "c.png").read_bytes() != data
    for name, centre in (("d.png", ["--centre", "-10,5"]), ("e.png", ["--centre=-10,5"])):
        words = ["view", str(run_path), "--shot", str(tmp_path / name), *centre, *options[:4]]
        assert main([*words, "--zoom", "0.1"]) == 0  # in the west of the origin
    assert (tmp_path / "d.png").read_bytes() == (tmp_path / "e.png").read_bytes()


def test_a_film_has_a_picture_for_every_instant(
    run_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    needs_gl().close()
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra `video`")
    film = tmp_path / "film.mp4"
    words = ["view", str(run_path), "--video", str(film), "--from", "2s", "--to", "6s"]
    assert main([*words, "--fps", "5", "--rate", "2", "--size", "321x241", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pictures"] == 11
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(film))
    assert frames == 11
    assert next(imageio_ffmpeg.read_frames(str(film)))["size"] == (320, 240)


def test_a_film_of_a_vehicle_follows_it(
    run_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    needs_gl().close()
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra `video`")
    from PIL import Image

    film = tmp_path / "film.mp4"
    words = ["view", str(run_path), "--vehicle", "3", "--size", "320x240", "--zoom", "0.2"]
    span = ["--from", "1s", "--to", "4s", "--fps", "1"]
    assert main([*words, "--video", str(film), *span]) == 0, capsys.readouterr().err
    pictures = list(imageio_ffmpeg.read_frames(str(film)))[1:]
    images = [np.frombuffer(one, np.uint8).reshape(240, 320, 3).astype(int) for one in pictures]
    assert len(images) == 4
    for k in range(4):
        shot = tmp_path / "shot.png"
        assert main([*words, "--at", f"{1 + k}s", "--shot", str(shot)]) == 0
        off = [
            np.abs(np.asarray(Image.open(shot).convert("RGB"), int) - one).mean() for one in images
        ]
        assert off[k] == min(off) < 0.6 * sorted(off)[1]
    assert main([*words, "--video", str(film), "--from", "8s", "--to", "7s"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shot", "a.png", "--colour", "mood"], "--colour 'mood': wanted one of speed"),
        (["--shot", "a.png", "--lanes", "mood"], "--lanes 'mood': wanted one of plain"),
        (["--shot", "a.png", "--size", "1600"], "--size '1600': wanted WIDTHxHEIGHT"),
        (["--shot", "a.png", "--centre", "4"], "--centre '4': wanted X,Y"),
        *(
            (
                ["--shot", "a.png", "--zoom", text],
                f"--zoom {told}: wanted metres per pixel, 0.004 to 2000",
            )
            for text, told in (("-1", "-1"), ("nan", "nan"), ("1e300", "1e+300"), ("1e-9", "1e-09"))
        ),
        *(
            (
                ["--shot", "a.png", "--centre", place],
                "--centre: nothing lies there; what there is reaches",
            )
            for place in ("1e300,1", "0,-1e9", "90000,0")
        ),
        (["--shot", "a.png", "--vehicle", "nobody"], "there is no such vehicle"),
        (["--shot", "a.png", "--fps", "5"], "--fps is for --video"),
        (["--video", "a.mp4", "--at", "5s"], "--at is for --shot"),
        *(
            (["--browser", *words], f"{words[0]}: of a page it is chosen in it; leave it out")
            for words in (
                ["--at", "5s"],
                ["--vehicle", "3"],
                ["--centre", "1,1"],
                ["--zoom", "1"],
                ["--costs"],
                ["--colour", "type"],
                ["--theme", "day"],
                ["--no-names"],
                ["--streets", "delay"],
            )
        ),
        (["--shot", "a.png", "--at", "1h"], "nothing was recorded at 1:00:00; its frames are from"),
        (["--video", "a.mp4", "--shot", "a.png"], "wanted one of them"),
        (["--video", "a.mp4", "--fps", "0"], "--fps 0.0: wanted more than 0"),
        (["--json"], "--json is for --shot and --video"),
    ],
)
def test_wrong_options_are_one_line(
    run_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["view", str(run_path), *options]) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def test_a_moment_before_the_begin_or_after_the_end_of_a_run_or_race_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    net, run, race, shot = (str(tmp_path / n) for n in ("n.h5", "r.h5", "race.h5", "a.png"))
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", net]) == 0
    made = ["run", net, "--trips", "20", "--over", "1min", "--begin", "7:00", "--duration", "30s"]
    assert main([*made, "--record", run]) == 0
    assert main(["racepaths", "oval", "--racers", "2", "-o", race]) == 0
    for file, at in ((run, "10s"), (run, "6:59"), (run, "7:01"), (race, "1h")):
        capsys.readouterr()
        assert main(["view", file, "--at", at, "--shot", shot]) == 2
        assert "nothing was recorded at" in capsys.readouterr().err
        assert not Path(shot).exists()
    assert main(["view", race, "--browser"]) == 2
    assert "--browser is for runs of traffic" in capsys.readouterr().err
    needs_gl().close()
    assert main(["view", run, "--at", "7:00:20", "--shot", shot, "--size", "64x64"]) == 0


def test_a_shot_that_cannot_be_written_says_so(
    run_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    needs_gl().close()
    there = tmp_path / "none" / "a.png"
    assert main(["view", str(run_path), "--shot", str(there), "--size", "64x64"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def no_library(name: str) -> None:
        raise OSError(name)

    monkeypatch.delenv("EGL_PLATFORM", raising=False)
    monkeypatch.setattr(context.ctypes, "CDLL", no_library)
    with pytest.raises(
        RunError, match=r"libEGL\.so\.1 is not installed: .*apt-get install libegl1"
    ):
        context.offscreen_canvas()


def test_a_missing_extra_says_what_to_install(
    run_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    for module in ("glfw", "PySide6"):
        monkeypatch.setitem(sys.modules, module, None)
    assert main(["view", str(run_path), "--video", str(tmp_path / "a.mp4")]) == 2
    assert "pip install 'rushhour[video]'" in capsys.readouterr().err
    assert main(["view", str(run_path)]) == 2
    assert "pip install 'rushhour[viewer]'" in capsys.readouterr().err


def test_without_a_display_a_window_says_so(
    run_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "glfw", sys)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert main(["view", str(run_path)]) == 2
    assert "no display" in capsys.readouterr().err


def test_which_library_opens_a_window_is_asked_for_by_name(
    run_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    view = ["view", str(run_path), "--window"]
    monkeypatch.setitem(sys.modules, "PySide6", None)
    for words, told in (
        (["gtk"], "--window 'gtk': wanted one of glfw, qt"),
        (["qt"], "needs PySide6: pip install 'rushhour[viewer-qt]'"),
        (["qt", "--shot", "x.png"], "--window is for windows"),
    ):
        assert main([*view, *words]) == 2
        assert told in capsys.readouterr().err


def test_what_qt_lacks_is_named_before_it_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    platforms = tmp_path / "PySide6" / "Qt" / "plugins" / "platforms"
    platforms.mkdir(parents=True)
    (tmp_path / "PySide6" / "__init__.py").write_text("")
    (platforms / "libqxcb.so").write_text("no library")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":1")
    for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RunError, match="Qt lacks .*apt-get install .*libxcb-icccm4"):
        window_backend("qt")
