"""Real browsers for tests of pages: Debian's Chromium, and Firefox on a screen that nobody sees.

Without one a test is skipped with the reason; where CI is set, it fails.
"""

import importlib.util
import io
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from PIL import Image

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FIREFOX = ("firefox-esr", "firefox")
SIZE = {"width": 960, "height": 600}
# OpenGL in software, so that pictures are the same everywhere.
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]  # fmt: skip
# The vehicles of the moment that a page shows, as rows.
POSITIONS = """(() => {
  const { frames, frame } = rushhour.runs.at(rushhour.frameAt(rushhour.time)), rows = [];
  for (let r = frames.start[frame]; r < frames.start[frame + 1]; r++)
    rows.push([rushhour.facts.vehicles[frames.vehicle[r]], frames.x[r] + rushhour.facts.origin[0],
      frames.y[r] + rushhour.facts.origin[1], frames.turn[r], frames.speed[r], frames.lane[r],
      frames.reason[r], frames.blocker[r] < 0 ? null : rushhour.facts.vehicles[frames.blocker[r]]]);
  return rows;
})()"""
SCREEN = ["-screen", "0", "1400x1000x24", "-nolisten", "tcp", "-noreset"]


def missing(why: str) -> None:
    """Skip a test; fail it in CI."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def found(names: tuple[str, ...], package: str) -> str:
    """The program of a browser."""
    if importlib.util.find_spec("playwright") is None:
        missing("playwright is not installed (pip install 'playwright<1.61')")
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    missing(f"no {names[0]} (apt-get install {package})")
    return ""


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium without a window."""
    program = found(CHROMIUM, "chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=SOFTWARE)
        yield browser
        browser.close()


@contextmanager
def screen() -> Iterator[str]:
    """A screen of its own, by its name."""
    if shutil.which("Xvfb") is None:
        missing("Xvfb is not installed (apt-get install xvfb)")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), *SCREEN], pass_fds=[write], stderr=subprocess.DEVNULL
    )
    os.close(write)
    try:
        with os.fdopen(read) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def firefox() -> Iterator[Any]:
    """Firefox in a window: without one Debian's has no WebGL."""
    program = found(FIREFOX, "firefox-esr")
    from playwright.sync_api import sync_playwright

    with screen() as display, sync_playwright() as play:
        browser = play.firefox.launch(
            channel="moz-firefox", executable_path=program, headless=False,
            env={**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1"},
            firefox_user_prefs={"webgl.force-enabled": True},
        )  # fmt: skip
        yield browser
        browser.close()


class Opened:
    """A page of ours in a browser. told: what it said that it should not; asked: what it fetched."""

    def __init__(self, browser: Any, url: str, **how: Any) -> None:
        self.page = browser.new_page(**{"viewport": SIZE, **how})
        self.told: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)
        self.until("window.rushhour && rushhour.drawn > 0")

    def _hear(self, message: Any) -> None:
        # That pixels are read is meant; a driver says once that it waits for them.
        if message.type in ("error", "warning") and "due to ReadPixels" not in message.text:
            self.told.append(message.text)

    def until(self, condition: str, seconds: float = 90.0) -> None:
        """Wait until an expression of the page is true."""
        self.page.wait_for_function(condition, timeout=1e3 * seconds)

    def get(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return self.page.evaluate(expression)

    def drawn(self, action: str = "") -> None:
        """Do something in the page, and wait until that is drawn."""
        before = self.get("rushhour.drawn")
        if action:
            self.get(action)
        self.get("rushhour.wake()")
        self.until(f"rushhour.drawn > {before} && !rushhour.awake")

    def pixels(self) -> Any:
        """The map with nothing above it: (height, width, 3)."""
        self.get("document.body.classList.add('bare')")
        self.page.add_style_tag(
            content=".bare .panel, .bare #scale, .bare #over { visibility: hidden }"
        )
        data = self.page.screenshot()
        self.get("document.body.classList.remove('bare')")
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def close(self) -> None:
        self.page.close()
