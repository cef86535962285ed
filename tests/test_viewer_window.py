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

from rushhour.viewer.window_kinds import WINDOWS

TESTS = Path(__file__).parent
SCREEN = ["-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"]


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A screen of its own."""
    if shutil.which("Xvfb") is None:
        why = "Xvfb is not installed (apt-get install xvfb)"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
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


def wants(kind: str) -> None:
    """Skip where the library of a window is not installed; CI has glfw, and Qt where somebody put it."""
    module, _, extra = WINDOWS[kind]
    if importlib.util.find_spec(module) is None:
        why = f"{module} is not installed (pip install 'rushhour[{extra}]')"
        pytest.fail(why) if os.environ.get("CI") and kind == "glfw" else pytest.skip(why)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(WINDOWS))
def test_a_window_zooms_drags_selects_plays_scrubs_and_closes(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
):
    wants(kind)  # before a screen: one that starts and ends at once may take another's socket along
    display = request.getfixturevalue("display")
    run = record(tmp_path / "run.h5", steps=120)
    kept = Path(os.environ.get("RUSHHOUR_SHOTS", tmp_path))  # to look at what it showed
    kept.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, str(TESTS / "window_smoke.py"), str(run), str(kept), kind]
    path = os.pathsep.join((str(TESTS.parent), os.environ.get("PYTHONPATH", "")))
    env = os.environ | {"DISPLAY": display, "NUMBA_NUM_THREADS": "1", "PYTHONPATH": path}
    env.pop("WAYLAND_DISPLAY", None)
    done = subprocess.run(
        words, env=env, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["scale"][1] == pytest.approx(said["scale"][0] / 1.25**3)
    assert said["x"][1] == pytest.approx(said["x"][0] - 60.0 * said["scale"][1])
    assert said["selected"] is not None and said["playing"]
    assert said["share"] == pytest.approx(0.5, abs=0.01)
    assert said["pictures"] >= 40
    assert said["note"] == "written: rushhour-001.png"
    assert (tmp_path / "rushhour-001.png").stat().st_size > 2000
    if kind == "glfw":
        for name in ("chosen", "help", "scrubbed"):
            assert (kept / f"{name}.png").stat().st_size > 2000
