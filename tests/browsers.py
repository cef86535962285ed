"""Real browsers for tests of pages: Debian's Chromium, and Firefox and WebKit on a screen that nobody sees.

WebKit is the engine of Safari; Debian has it with a plain window around it (MiniBrowser).

Without one a test is skipped with the reason; where CI is set, it fails.
"""

import glob
import importlib.util
import io
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from rushhour.cli import main
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load, save
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.world import World
from rushhour.viewer.raster import draw_network
from rushhour.viewer.themes import DAY

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FIREFOX = ("firefox-esr", "firefox")
WEBKIT = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"
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
# Hides all that lies above the map.
BARE = """(() => {
  if (!document.getElementById("bare")) {
    const style = document.createElement("style");
    style.id = "bare"; style.textContent = ".bare .panel, .bare #scale, .bare #over { visibility: hidden }";
    document.head.append(style);
  }
  document.body.classList.add("bare");
})()"""
# Keeps what a page tells its console from now on, errors that nobody caught as well.
HEAR = """(() => {
  window.heard = [];
  for (const kind of ["error", "warn"]) console[kind] = (...said) => window.heard.push(said.join(" "));
  addEventListener("error", (event) => window.heard.push(event.message));
  addEventListener("unhandledrejection", (event) => window.heard.push(String(event.reason)));
})()"""
ASKED = "[location.href, ...performance.getEntriesByType('resource').map((one) => one.name)]"
# The same instant and place of a run of viewed_run.record for `view --shot` and in its page.
LOOK_SHOT = [
    "--at",
    "60",
    "--centre",
    "0,0",
    "--zoom",
    "0.15",
    "--size",
    "960x600",
    "--theme",
    "print",
    "--no-names",
]
LOOK_PAGE = "rushhour.pickTheme('print'); rushhour.seek(60); (() => { const [x, y] = rushhour.facts.origin; rushhour.lookAt(-x, -y, 0.15) })()"
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


@contextmanager
def webkit() -> Iterator[Any]:
    """WebKit in a window."""
    if importlib.util.find_spec("selenium") is None:
        missing("selenium is not installed (pip install selenium)")
    driver, programs = shutil.which("WebKitWebDriver"), glob.glob(WEBKIT)
    if driver is None or not programs:
        missing("no WebKitWebDriver (apt-get install webkit2gtk-driver)")
    from selenium.webdriver import WebKitGTK, WebKitGTKOptions
    from selenium.webdriver.webkitgtk.service import Service

    options = WebKitGTKOptions()
    options.binary_location = programs[0]
    options.add_argument("--automation")
    with screen() as display:
        env = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1"}
        browser = WebKitGTK(options=options, service=Service(driver, env=env))
        yield browser
        browser.quit()


class Shown:
    """A page of ours in a browser. told: what it said that it should not; asked: what it fetched."""

    told: list[str]
    asked: list[str]

    def get(self, expression: str) -> Any:
        """The value of an expression in the page."""
        raise NotImplementedError

    def until(self, condition: str, seconds: float = 90.0) -> None:
        """Wait until an expression of the page is true."""
        raise NotImplementedError

    def shot(self) -> Any:
        """What is seen: (height, width, 3)."""
        raise NotImplementedError

    def press(self, key: str) -> None:
        """Press a key, as of Playwright, and let it go."""
        raise NotImplementedError

    def click(self, selector: str) -> None:
        raise NotImplementedError

    def click_at(self, x: int, y: int) -> None:
        """Click at a pixel of the page."""
        raise NotImplementedError

    def write(self, selector: str, text: str) -> None:
        """Put text into a field, and press Enter."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def drawn(self, action: str = "") -> None:
        """Do something in the page, and wait until that is drawn."""
        before = self.get("rushhour.drawn")
        if action:
            self.get(action)
        self.get("rushhour.wake()")
        self.until(f"rushhour.drawn > {before} && !rushhour.awake")

    def pixels(self) -> Any:
        """The map with nothing above it: (height, width, 3)."""
        self.get(BARE)
        seen = self.shot()
        self.get("document.body.classList.remove('bare')")
        return seen


class Opened(Shown):
    """A page in a browser that Playwright drives."""

    def __init__(self, browser: Any, url: str, **how: Any) -> None:
        self.page = browser.new_page(**{"viewport": SIZE, **how})
        self.told, self.asked = [], []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)
        self.until("window.rushhour && rushhour.drawn > 0")

    def _hear(self, message: Any) -> None:
        # That pixels are read is meant; a driver says once that it waits for them.
        if message.type in ("error", "warning") and "due to ReadPixels" not in message.text:
            self.told.append(message.text)

    def get(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def until(self, condition: str, seconds: float = 90.0) -> None:
        self.page.wait_for_function(condition, timeout=1e3 * seconds)

    def shot(self) -> Any:
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB"))

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def click(self, selector: str) -> None:
        self.page.click(selector)

    def click_at(self, x: int, y: int) -> None:
        self.page.mouse.click(x, y)

    def write(self, selector: str, text: str) -> None:
        self.page.fill(selector, text)
        self.page.keyboard.press("Enter")

    def close(self) -> None:
        self.page.close()


class Driven(Shown):
    """A page in WebKit, which Selenium drives. What it says is heard from when it was opened on."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser = browser
        browser.get("about:blank")
        for _ in range(2):  # what is seen is as large as asked for, the window larger
            frame = browser.execute_script(
                "return [outerWidth - innerWidth, outerHeight - innerHeight]"
            )
            browser.set_window_size(SIZE["width"] + frame[0], SIZE["height"] + frame[1])
        browser.get(url)
        self.get(HEAR)
        self.until("window.rushhour && rushhour.drawn > 0")

    @property
    def told(self) -> list[str]:  # type: ignore[override]
        wait = "document.getElementById('wait')"
        found: list[str] = self.get(
            f"[...window.heard, ...({wait}.hidden ? [] : [{wait}.textContent])]"
        )
        return found

    @property
    def asked(self) -> list[str]:  # type: ignore[override]
        found: list[str] = self.get(ASKED)
        return found

    def get(self, expression: str) -> Any:
        return self.browser.execute_script("return (0, eval)(arguments[0])", expression)

    def until(self, condition: str, seconds: float = 90.0) -> None:
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.browser, seconds, 0.05).until(lambda _: self.get(condition))

    def shot(self) -> Any:
        data = self.browser.get_screenshot_as_png()
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def press(self, key: str) -> None:
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(self.browser).send_keys(getattr(Keys, key.upper(), key)).perform()

    def click(self, selector: str) -> None:
        self.browser.find_element("css selector", selector).click()

    def click_at(self, x: int, y: int) -> None:
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        act = ActionBuilder(self.browser)
        act.pointer_action.move_to_location(x, y).click()
        act.perform()

    def write(self, selector: str, text: str) -> None:
        field = self.browser.find_element("css selector", selector)
        field.clear()
        field.send_keys(text, "\ue007")

    def close(self) -> None:
        self.browser.get("about:blank")


Browser = tuple[Callable[[], AbstractContextManager[Any]], Callable[[Any, str], Shown]]
BROWSERS: dict[str, Browser] = {
    "chromium": (chromium, Opened),
    "firefox": (firefox, Opened),
    "webkit": (webkit, Driven),
}


def same_colours(image: Any, other: Any) -> None:
    """What has a colour in a page has one in a picture of the viewer: vehicles and lights on the ground of the print theme."""
    from scipy.ndimage import binary_dilation

    assert image.shape == other.shape
    seen = slice(60, 480), slice(210, 700)  # without the panels of the viewer
    ours, theirs = (np.ptp(one[seen].astype(int), axis=-1) > 70 for one in (image, other))
    assert min(ours.sum(), theirs.sum()) > 300
    assert (binary_dilation(theirs, iterations=4) & ours).sum() > 0.97 * ours.sum()
    assert (binary_dilation(ours, iterations=4) & theirs).sum() > 0.97 * theirs.sum()


@contextmanager
def crowd_page(folder: Path, network: Network, vehicles: int) -> Iterator[Opened]:
    """The page of so many vehicles on a network in Chromium, paused; its console stays empty."""
    run, page = folder / "run.h5", folder / "run.html"
    world = World(network, vehicles_on_road(network, vehicles, seed=1), dt=0.5, seed=1)
    with Recorder(run, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(20)
    assert main(["share", str(run), "-o", str(page)]) == 0
    with chromium() as browser:
        opened = Opened(browser, page.as_uri())
        opened.get("rushhour.play(false)")
        yield opened
        assert opened.told == []


def map_images(network: Network, middle: Any, scale: float, folder: Path) -> dict[str, Any]:
    """How pictures, the window and a page show a place of a map by day; scale: m a pixel."""
    path, shot, run, page = (folder / name for name in ("n.h5", "s.png", "r.h5", "r.html"))
    save(network, path)
    x, y = middle
    size = (SIZE["width"], SIZE["height"])
    half = 0.5 * scale * np.array(size)
    box = (x - half[0], y - half[1], x + half[0], y + half[1])
    look = [f"--centre={x},{y}", "--zoom", str(scale), "--size", "960x600", "--theme", "day"]
    assert main(["view", str(path), "--shot", str(shot), "--no-names", *look]) == 0
    assert main(["run", str(path), "--vehicles", "1", "--duration", "2s", "--record", str(run)]) == 0  # fmt: skip
    assert main(["share", str(run), "-o", str(page), "--theme", "day"]) == 0
    with chromium() as browser:
        opened = Opened(browser, page.as_uri())
        opened.drawn(f"rushhour.lookAt({x} - rushhour.facts.origin[0], {y} - rushhour.facts.origin[1], {scale})")  # fmt: skip
        images = {
            "page": opened.pixels(),
            "picture": draw_network(load(path), size, box, DAY).image(),
            "window": np.asarray(Image.open(shot).convert("RGB")),
        }
        assert opened.told == []
    return images
