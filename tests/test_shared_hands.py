"""What hands do to a page of `rushhour share`: fingers, and the list of queues."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import Opened, chromium
from viewed_run import record

from rushhour.cli import main
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.themes import RED_TO_GREEN, SPEEDS

PHONE = {"width": 390, "height": 800}
# Speed and colour of all who are seen.
ROWS = """(() => {
  const { frames, frame } = rushhour.runs.at(rushhour.frameAt(rushhour.time)), { of } = rushhour.colouring(), rows = [];
  for (let r = frames.start[frame]; r < frames.start[frame + 1]; r++) {
    const word = of(frames, r, frames.speed[r]); rows.push([frames.speed[r], word & 255, word >> 8 & 255, word >> 16 & 255]);
  }
  return rows;
})()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("hands")
    record(here / "run.h5", steps=180, vehicles=80)
    assert main(["share", str(here / "run.h5"), "-o", str(here / "run.html")]) == 0
    return here


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


class Fingers:
    """Fingers on the screen of a page, as the browser takes them from a screen."""

    def __init__(self, opened: Opened) -> None:
        self._session = opened.page.context.new_cdp_session(opened.page)

    def move(self, kind: str, *places: tuple[float, float]) -> None:
        """kind: Start, Move or End."""
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        self._session.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
        )


def test_two_fingers_zoom_and_one_moves_and_taps(browser: Any, folder: Path) -> None:
    opened = Opened(browser, (folder / "run.html").as_uri(), viewport=PHONE, has_touch=True)
    fingers = Fingers(opened)
    scale = opened.get("rushhour.camera.scale")
    middle = opened.get("rushhour.toWorld(200, 400)")
    fingers.move("Start", (150.0, 400.0), (250.0, 400.0))
    for k in range(1, 6):
        fingers.move("Move", (150.0 - 10.0 * k, 400.0), (250.0 + 10.0 * k, 400.0))
    fingers.move("End")
    opened.until(f"rushhour.camera.scale < {0.55 * scale}")
    assert opened.get("rushhour.camera.scale") == pytest.approx(scale / 2.0, rel=0.02)
    assert opened.get("rushhour.toWorld(200, 400)") == pytest.approx(middle, abs=scale)
    held = opened.get("rushhour.toWorld(200, 400)")
    fingers.move("Start", (200.0, 400.0))
    for k in range(1, 6):
        fingers.move("Move", (200.0 + 12.0 * k, 400.0 - 8.0 * k))
    fingers.move("End")
    opened.drawn()
    assert opened.get("rushhour.toWorld(260, 360)") == pytest.approx(held, abs=4.0 * scale)
    opened.drawn("rushhour.seek(60)")
    vehicle = opened.get("rushhour.runs.at(rushhour.frameAt(60)).frames.vehicle[0]")
    opened.drawn(f"(() => {{ const p = rushhour.poseOf({vehicle}); rushhour.lookAt(p.x - 2 * Math.cos(p.turn), p.y - 2 * Math.sin(p.turn), 0.1) }})()")  # fmt: skip
    assert opened.page.is_visible("#legend")
    fingers.move("Start", (195.0, 400.0))
    fingers.move("End")
    opened.until(f"rushhour.chosen && rushhour.chosen.id === {vehicle}")
    assert opened.page.is_visible("#card")
    assert not opened.page.is_visible("#legend")  # there is no room for both
    assert opened.told == []
    opened.close()


def test_a_queue_of_the_list_leads_to_where_and_when_it_was_longest(
    browser: Any, folder: Path
) -> None:
    opened = Opened(browser, (folder / "run.html").as_uri())
    queues = opened.get("rushhour.facts.queues")
    assert queues
    opened.page.click("#queues-button")
    rows = opened.page.locator("#queues li")
    assert rows.count() == len(queues)
    with RunFile(folder / "run.h5") as run:
        network = run.network()
        x0, y0 = opened.get("rushhour.facts.origin")
        for k in (0, len(queues) - 1):
            rows.nth(k).click()
            opened.until(f"rushhour.chosen && rushhour.chosen.kind === 'street' && Math.abs(rushhour.time - {queues[k]['worst']}) < 1e-6")  # fmt: skip
            opened.drawn()
            assert queues[k]["road"] in opened.page.inner_text("#card h2")
            road = network.road_index[queues[k]["road"]]
            frame = run.at(queues[k]["worst"])
            on_road = network.arrays.lanes.road[frame.lane] == road
            assert (frame.speed[on_road] < 1.4).sum() >= 1
            line = network.lane_points(int(network.arrays.roads.first_lane[road]))
            shown = opened.get("rushhour.boxOf()")
            inside = (line > np.array(shown[:2]) + (x0, y0)).all(axis=1)
            inside &= (line < np.array(shown[2:]) + (x0, y0)).all(axis=1)
            assert inside.any()
    assert opened.told == []
    opened.close()


def test_on_a_phone_an_open_list_of_queues_covers_no_card(browser: Any, folder: Path) -> None:
    opened = Opened(browser, (folder / "run.html").as_uri(), viewport=PHONE)
    page = opened.page
    page.click("#queues-button")
    page.locator("#queues li").first.click()  # its street is chosen, and the list makes room for it
    page.wait_for_selector("#card")
    assert not page.is_visible("#queues")
    page.click("#queues-button")
    assert page.is_visible("#queues") and not page.is_visible("#card")
    page.click("#queues-button")
    page.click("#card .close")
    assert not page.is_visible("#card")
    assert opened.told == []
    opened.close()


def test_frames_are_decoded_by_a_worker(browser: Any, folder: Path) -> None:
    opened = Opened(browser, (folder / "run.html").as_uri())
    assert len(opened.page.workers) == 1
    assert opened.get("rushhour.runs.worker !== null && rushhour.runs.kept.size > 0")
    opened.get("rushhour.runs.kept.clear(); openBlock = undefined")  # the page itself opens none
    opened.drawn("rushhour.seek(40)")
    opened.until("rushhour.runs.at(rushhour.frameAt(40))")
    assert opened.told == []
    opened.close()


def test_the_colours_of_before_are_there_by_choice(browser: Any, folder: Path) -> None:
    page = Opened(browser, (folder / "run.html").as_uri())
    page.drawn("rushhour.pickTheme('day'); rushhour.seek(60)")
    for name, (slow, *_, fast) in {"speed": SPEEDS, "speed-red-green": RED_TO_GREEN}.items():
        page.page.select_option("#colour", name)
        page.drawn()
        told = np.array(page.get(ROWS))
        stands, colours = told[:, 0] < 0.05, told[:, 1:]
        assert stands.sum() > 3 and (np.abs(colours[stands] - slow) <= 2).all()
        ends = page.page.locator("#key .ramp").evaluate("(e) => e.style.background")
        assert f"rgb{slow}" in ends and f"rgb{fast}" in ends
    assert page.told == []
    page.close()
