"""The page of `rushhour share` in Firefox: what another engine might do otherwise."""

from pathlib import Path

import numpy as np
import pytest
from browsers import POSITIONS, Opened, firefox
from viewed_run import record

from rushhour.cli import main
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.themes import THEMES


@pytest.mark.slow
def test_firefox_opens_plays_seeks_searches_clicks_follows_and_changes_its_theme(
    tmp_path: Path,
) -> None:
    record(tmp_path / "run.h5", steps=180, vehicles=80)
    assert main(["share", str(tmp_path / "run.h5"), "-o", str(tmp_path / "run.html")]) == 0
    with firefox() as browser:
        page = Opened(browser, (tmp_path / "run.html").as_uri())
        page.page.keyboard.press("Space")
        page.until("rushhour.time > 1")
        page.page.keyboard.press("Space")
        with RunFile(tmp_path / "run.h5") as run:
            frame = run.frame(60)
            page.drawn("rushhour.seek(60)")
            assert {row[0] for row in page.get(POSITIONS)} == {
                run.vehicle_names()[v] for v in frame.id
            }
        page.page.fill("#search", "5")
        page.page.keyboard.press("Enter")
        page.until("rushhour.chosen && rushhour.chosen.kind === 'vehicle'")
        page.drawn()
        page.page.click("#follow")
        page.drawn("rushhour.seek(30.5)")
        x, y = page.get("(() => { const p = rushhour.poseOf(rushhour.chosen.id); return rushhour.toScreen(p.x - 0.5 * p.length * Math.cos(p.turn), p.y - 0.5 * p.length * Math.sin(p.turn)) })()")  # fmt: skip
        middle = (0.5 * page.get("rushhour.width"), 0.5 * page.get("rushhour.height"))
        assert (x, y) == pytest.approx(middle, abs=1.0)
        for name, theme in THEMES.items():
            page.drawn(f"rushhour.choose(null); rushhour.home(); rushhour.pickTheme('{name}')")
            assert np.abs(page.pixels()[300, 4].astype(int) - theme.land).max() <= 1
        assert [text for text in page.told if "WebGL" not in text] == []
        page.close()
