"""A real window on a screen that nobody sees (Xvfb), driven as a person would."""

import importlib.util
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_data import data_folder
from viewed_run import record

from rushhour.roadnets.importing import import_network
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.world import World
from rushhour.viewer import actions as do
from rushhour.viewer.keymap import KEYS, key_name
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session
from rushhour.viewer.window_kinds import WINDOWS

TESTS = Path(__file__).parent
SCREEN = ["-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"]


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A screen of its own."""
    for program, package in (("Xvfb", "xvfb"), ("xdotool", "xdotool")):
        if shutil.which(program) is None:
            why = f"{program} is not installed (apt-get install {package})"
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
    """Skip where the library of a window is not installed; CI has both."""
    module, _, extra = WINDOWS[kind]
    if importlib.util.find_spec(module) is None:
        why = f"{module} is not installed (pip install 'rushhour[{extra}]')"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)


def record_town(path: Path) -> Path:
    """A minute of a real town: Krems."""
    network = import_network(data_folder("osm_krems") / "krems.osm.gz")
    world = World(network, random_trips(network, 300, over=60.0, seed=1), dt=0.5, seed=1)
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(120)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "place"),
    [
        pytest.param(kind, place, marks=pytest.mark.soak if (place == "town") != (k == 0) else ())
        for k, kind in enumerate(WINDOWS)
        for place in ("grid", "town")
    ],
)
def test_a_window_zooms_drags_selects_plays_scrubs_and_closes(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, place: str
):
    wants(kind)  # before a screen: one that starts and ends at once may take another's socket along
    display = request.getfixturevalue("display")
    file = tmp_path / "run.h5"
    run = record(file, steps=120) if place == "grid" else record_town(file)
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
    assert said["samples"] == 4  # of each pixel, which the driver in software can
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


class Person:
    """Sits before a window of window_keys.py and uses its real keyboard and mouse, by xdotool."""

    def __init__(self, display: str, folder: Path, kind: str, fails: str = "") -> None:
        run = record(folder / "run.h5", steps=120)
        words = [sys.executable, str(TESTS / "window_keys.py"), str(run), kind, fails]
        path = os.pathsep.join((str(TESTS.parent), os.environ.get("PYTHONPATH", "")))
        self.env = os.environ | {"DISPLAY": display, "NUMBA_NUM_THREADS": "1", "PYTHONPATH": path}
        self.env.pop("WAYLAND_DISPLAY", None)
        self.errors = (folder / "stderr.txt").open("w+")
        self.window = subprocess.Popen(
            words, env=self.env, stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=folder
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        assert self.next_line(120.0) == "ready", self.said()
        self.number = self.xdotool("search", "--name", "^rushhour").split()[-1]
        self.xdotool("windowfocus", "--sync", self.number)

    def _listen(self) -> None:
        assert self.window.stdout is not None
        for line in self.window.stdout:
            self._lines.put(line.strip())
        self._lines.put("")

    def next_line(self, patience: float = 20.0) -> str:
        """What the window tells next; "" if it has ended."""
        try:
            return self._lines.get(timeout=patience)
        except queue.Empty:
            raise AssertionError(f"nothing was told in {patience} s; {self.said()}") from None

    def said(self) -> str:
        """What is on stderr."""
        self.errors.seek(0)
        return self.errors.read()

    def xdotool(self, *words: str) -> str:
        return subprocess.run(
            ["xdotool", *words],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout

    def press(self, key: str) -> str:
        """Press a key and let it go, as "c" or "shift+c"; returns the action that came of it."""
        *held, key = key.split("+")
        for name in (*held, key):
            self.xdotool("keydown", name)
        for name in (key, *held):
            self.xdotool("keyup", name)
        return self.next_line()

    def close(self) -> None:
        """End it however it is."""
        self.window.kill()
        self.window.wait()
        self.errors.close()


@pytest.fixture
def sit_down(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[type[Person]]:
    """Makes persons who sit before windows of a kind, and ends their windows."""
    seated: list[Person] = []

    def make(kind: str, fails: str = "") -> Person:
        wants(kind)
        seated.append(Person(request.getfixturevalue("display"), tmp_path, kind, fails))
        return seated[-1]

    yield make  # type: ignore[misc]
    for person in seated:
        person.close()


# what xdotool calls a key that has another name here
KEYSYMS = {
    ",": "comma", ".": "period", "[": "bracketleft", "]": "bracketright", "?": "question",
    "left": "Left", "right": "Right", "home": "Home", "end": "End", "escape": "Escape",
}  # fmt: skip


def keysym(key: str, shift: bool) -> str:
    return ("shift+" if shift else "") + KEYSYMS.get(key, key)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(WINDOWS))
def test_every_key_that_is_pressed_and_let_go_does_what_help_says(sit_down, kind: str):
    person = sit_down(kind)
    for (key, shift), (_, action) in KEYS.items():
        if action == do.Quit():
            continue
        assert person.press(keysym(key, shift)) == str(action), (key, shift)
        if action == do.Find(""):  # letters are typed now
            assert person.press("v") == str(do.Find("v"))
            assert person.press("7") == str(do.Find("v7"))
            assert person.press("BackSpace") == str(do.Find("v"))
            assert person.press("Escape") == str(do.Find(None))
    for key in ("eacute", "F5", "ctrl+y", "Tab", "KP_1", "Delete"):  # keys without an action
        person.xdotool("key", key)
    assert person.press("q") == str(do.Quit())
    assert person.next_line() == "closed"
    assert person.window.wait(20) == 0
    assert "rror" not in person.said()


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(WINDOWS))
@pytest.mark.parametrize("fails", ["Play,Zoom,Click,Resize", "tick", "scenes"])
def test_no_error_in_a_callback_ends_the_window(sit_down, kind: str, fails: str):
    person, all_fail = sit_down(kind, fails), fails.split(",")
    person.xdotool("mousemove", "--window", person.number, "300", "200")
    acts = {
        "Zoom": ("click", "4"),
        "Click": ("click", "1"),
        "Resize": ("windowsize", person.number, "700", "500"),
    }
    for fail in all_fail:
        for _ in range(2):  # the same error twice is told once
            if fail in acts:
                person.xdotool(*acts[fail])
                assert person.next_line().startswith(fail)
            else:
                assert person.press("space") == str(do.Play())
            time.sleep(0.3)  # of pictures and ticks
            assert person.press("c") == str(do.NextColour())
            if fail == "Resize":
                acts["Resize"] = ("windowsize", person.number, "640", "480")
    told = person.said()
    for fail in all_fail:
        assert told.count(f"ValueError: {fail} was to fail") == 1, told
    assert told.count("\n") == len(all_fail) and "Traceback" not in told
    assert person.press("q") == str(do.Quit())
    assert person.next_line() == "closed"
    assert person.window.wait(20) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(WINDOWS))
def test_a_button_that_is_clicked_does_what_it_says(sit_down, tmp_path: Path, kind: str):
    person = sit_down(kind)
    session = Session(RunSource(tmp_path / "run.h5"), 800, 600, window=True)
    shown = {p.name: p for p in session.scene().panels if p.name.startswith("button ")}
    for name, action in (("faster", do.Rate(1)), ("help", do.Show("help")), ("play", do.Play())):
        panel = shown[f"button {name}"]
        x, y = panel.x + panel.width // 2, panel.y + panel.height // 2
        person.xdotool("mousemove", "--window", person.number, str(x), str(y))
        person.xdotool("click", "1")
        assert person.next_line().startswith("Click")
        assert person.next_line() == str(action)
    assert "rror" not in person.said()


def test_a_key_let_go_is_named_by_its_letter_or_its_code_point():
    for text, name in (("c", "c"), (ord("c"), "c"), ("C", "c"), (ord("?"), "?"), (0, "slash"),
                       (None, "slash"), (-5, "slash"), (0x110000, "slash"), (10, "slash"), (32, "slash")):  # fmt: skip
        assert key_name("slash", text) == name, text
