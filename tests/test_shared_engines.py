"""The page of `rushhour share` in Firefox and in WebKit: what other engines than Chromium's might do otherwise."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import BROWSERS, LOOK_PAGE, LOOK_SHOT, POSITIONS, Shown, same_colours
from PIL import Image
from viewed_run import needs_gl, record

from rushhour.cli import main
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.themes import THEMES

CHOSEN = """(() => {
  const p = rushhour.poseOf(rushhour.chosen.id);
  return rushhour.toScreen(p.x - 0.5 * p.length * Math.cos(p.turn), p.y - 0.5 * p.length * Math.sin(p.turn));
})()"""
VIEW = [sys.executable, "-m", "rushhour", "view"]
Engine = tuple[Any, Callable[[Any, str], Shown]]


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """A browser, and what opens a page in it."""
    begin, open_page = BROWSERS[request.param]
    with begin() as browser:
        yield browser, open_page


@pytest.mark.slow
def test_an_engine_opens_plays_seeks_searches_clicks_follows_and_changes_its_theme(
    tmp_path: Path, engine: Engine
) -> None:
    needs_gl().close()
    record(tmp_path / "run.h5", steps=180, vehicles=80)
    assert main(["share", str(tmp_path / "run.h5"), "-o", str(tmp_path / "run.html")]) == 0
    shot = tmp_path / "shot.png"
    assert main(["view", str(tmp_path / "run.h5"), "--shot", str(shot), *LOOK_SHOT]) == 0
    browser, open_page = engine
    with RunFile(tmp_path / "run.h5") as run:
        page, names = open_page(browser, (tmp_path / "run.html").as_uri()), run.vehicle_names()
        page.press("Space")
        page.until("rushhour.time > 1")
        page.press("Space")
        frame, at = run.frame(60), run.positions(60.0)
        page.drawn("rushhour.seek(60)")
        rows = {row[0]: row for row in page.get(POSITIONS)}
        assert rows.keys() == {names[v] for v in frame.id}
        for k, vehicle in enumerate(frame.id.tolist()):
            assert rows[names[vehicle]][1:3] == pytest.approx((at.x[k], at.y[k]), abs=0.051)
        page.write("#search", "5")
        page.until("rushhour.chosen && rushhour.chosen.kind === 'vehicle'")
        page.drawn()
        page.click("#follow")
        page.drawn("rushhour.seek(30.5)")
        middle = (0.5 * page.get("rushhour.width"), 0.5 * page.get("rushhour.height"))
        assert page.get(CHOSEN) == pytest.approx(middle, abs=1.0)
        name = page.get("document.querySelector('#card h2').textContent")
        page.drawn("rushhour.choose(null)")
        page.click_at(round(middle[0]), round(middle[1]))
        page.until(f"document.querySelector('#card h2')?.textContent === {name!r}")
        for theme, look in THEMES.items():
            page.drawn(f"rushhour.choose(null); rushhour.home(); rushhour.pickTheme('{theme}')")
            assert np.abs(page.pixels()[300, 4].astype(int) - look.land).max() <= 1
        page.drawn(LOOK_PAGE)
        same_colours(page.pixels(), np.asarray(Image.open(shot).convert("RGB")))
        assert [text for text in page.told if "WebGL" not in text] == []
        assert [url for url in page.asked if not url.startswith(("file:", "blob:", "data:"))] == []
        page.close()


@pytest.mark.slow
def test_an_engine_watches_a_world_that_view_serves(tmp_path: Path, engine: Engine) -> None:
    net = str(tmp_path / "net.h5")
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", net]) == 0
    browser, open_page = engine
    words = [*VIEW, net, "--live", "40", "--browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            said = (word for line in served.stdout for word in line.split())
            page = open_page(browser, next(word for word in said if "?token=" in word))
            page.until("rushhour.playing && rushhour.end > 1")
            page.press("Space")
            page.until("!rushhour.playing")
            page.drawn("rushhour.seek(rushhour.end)")
            assert len(page.get(POSITIONS)) == 40
            assert [text for text in page.told if "WebGL" not in text] == []
            page.close()
        finally:
            served.terminate()


@pytest.mark.slow
def test_an_engine_plays_a_folder_that_a_web_server_gives(tmp_path: Path, engine: Engine) -> None:
    run = record(tmp_path / "run.h5", steps=60, vehicles=40)
    assert main(["share", str(run), "--folder", str(tmp_path / "site")]) == 0
    browser, open_page = engine
    words = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    words += ["--directory", str(tmp_path / "site")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = server.stdout.readline().split(" port ")[1].split()[0]
            page = open_page(browser, f"http://127.0.0.1:{port}/")
            page.drawn("rushhour.seek(20)")
            page.until("rushhour.runs.at(rushhour.frameAt(20))")
            with RunFile(run) as file:
                assert len(page.get(POSITIONS)) == len(file.at(20.0))
            assert [text for text in page.told if "WebGL" not in text] == []
            page.close()
        finally:
            server.terminate()
