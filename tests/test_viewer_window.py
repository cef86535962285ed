"""A real window on a screen that nobody sees (Xvfb), driven as a person would."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from viewed_run import record

TESTS = Path(__file__).parent
SCREEN = ["-screen", "0", "1280x900x24", "-nolisten", "tcp"]


def missing() -> str:
    """What is not installed for windows."""
    if shutil.which("Xvfb") is None:
        return "Xvfb is not installed (apt-get install xvfb)"
    if importlib.util.find_spec("glfw") is None:
        return "glfw is not installed (pip install 'rushhour[viewer]')"
    return ""


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A screen of its own."""
    why = missing()
    if why and os.environ.get("CI"):
        pytest.fail(why)
    if why:
        pytest.skip(why)
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), *SCREEN], pass_fds=[write], stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    assert number, "Xvfb did not start"
    yield f":{number}"
    server.terminate()
    server.wait()


@pytest.mark.slow
def test_a_window_zooms_drags_selects_plays_scrubs_and_closes(display: str, tmp_path: Path):
    run = record(tmp_path / "run.h5", steps=120)
    kept = Path(os.environ.get("RUSHHOUR_SHOTS", tmp_path))  # to look at what it showed
    kept.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, str(TESTS / "window_smoke.py"), str(run), str(kept)]
    env = os.environ | {"DISPLAY": display, "NUMBA_NUM_THREADS": "1"}
    env.pop("WAYLAND_DISPLAY", None)
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert said["scale"][1] == pytest.approx(said["scale"][0] / 1.25**3)
    assert said["x"][1] == pytest.approx(said["x"][0] - 60.0 * said["scale"][1])
    assert said["selected"] is not None and said["playing"]
    assert said["share"] == pytest.approx(0.5, abs=0.01)
    assert said["pictures"] >= 40
    for name in ("chosen", "help", "scrubbed"):
        assert (kept / f"{name}.png").stat().st_size > 2000
