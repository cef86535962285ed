"""A world in a browser while it is simulated, and runs and worlds in notebooks."""

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import POSITIONS, Opened, chromium
from viewed_run import record

import rushhour as rh
from rushhour.roadnets.errors import RunError
from rushhour.viewer.live import LiveSource
from rushhour.viewer.notebook import WIDGET
from rushhour.viewer.page.live_page import LiveFrames, LivePage


def world_of(vehicles: int = 40) -> rh.World:
    network = rh.generate("grid", rows=2, columns=2, control="signals")
    return rh.World(network, rh.vehicles_on_road(network, vehicles, seed=3), dt=0.25, seed=3)


@pytest.fixture
def served() -> Iterator[LivePage]:
    pytest.importorskip("websockets")
    page = LivePage(LiveFrames(LiveSource(world_of())))
    ends = threading.Event()
    thread = threading.Thread(target=page.run, args=(lambda: not ends.is_set(),))
    thread.start()
    yield page
    ends.set()
    thread.join()
    page.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


def test_a_page_watches_pauses_steps_and_changes_the_speed_of_a_world(
    browser: Any, served: LivePage
) -> None:
    frames = served._frames
    assert frames is not None
    world = frames.world
    assert world.frame == 0  # nobody watches yet
    opened = Opened(browser, served.address)
    opened.get("rushhour.pickRate(20)")
    opened.until("rushhour.end > 2")
    opened.page.keyboard.press("Space")
    opened.until("!rushhour.playing")
    opened.page.wait_for_timeout(600)
    stopped = world.frame
    opened.page.wait_for_timeout(600)
    assert world.frame == stopped
    opened.drawn("rushhour.seek(rushhour.end)")
    opened.page.click("#on")
    opened.until(f"Math.abs(rushhour.end - {(stopped + 2) * 0.25}) < 1e-6")
    opened.drawn("rushhour.seek(rushhour.end)")
    assert world.frame == stopped + 2
    rows = {row[0]: row for row in opened.get(POSITIONS)}
    assert len(rows) == world.active
    source = LiveSource(world).at(world.time)
    for k, vehicle in enumerate(source.id.tolist()):
        row = rows[world.demand.ids[vehicle]]
        assert row[1:3] == pytest.approx((source.x[k], source.y[k]), abs=0.051)
    assert opened.told == []
    opened.close()
    unseen = world_of()
    unseen.step(world.frame)
    assert unseen.state_hash() == world.state_hash()


def test_a_page_that_is_paused_stays_where_it_is_though_a_frame_was_on_its_way(
    browser: Any, served: LivePage
) -> None:
    frames = served._frames
    assert frames is not None
    opened = Opened(browser, served.address)
    opened.get("rushhour.pickRate(20)")
    opened.until("rushhour.end > 2")
    opened.page.keyboard.press("Space")
    opened.until("!rushhour.playing")
    opened.page.wait_for_timeout(600)
    paused, end = opened.get("[rushhour.time, rushhour.end]")
    with served._news:  # as one that was under way when the world heard of it
        served._latest = (served._latest[0] + 1, frames.step())
        served._news.notify_all()
    opened.until(f"rushhour.end > {end} + 0.4")
    opened.drawn()
    assert opened.get("rushhour.time") == paused
    world = frames.world.frame
    while opened.get("rushhour.time < rushhour.end - 1e-6"):  # what is there already comes first
        opened.page.keyboard.press(".")
    assert frames.world.frame == world
    opened.page.keyboard.press(".")
    opened.until(f"rushhour.end > {end} + 0.9 && rushhour.time === rushhour.end")
    assert frames.world.frame == world + 2
    assert opened.told == []
    opened.close()


def test_what_one_page_of_a_world_does_to_it_all_its_pages_show(
    browser: Any, served: LivePage
) -> None:
    """One that is opened later neither goes on with it nor changes its speed."""
    frames = served._frames
    assert frames is not None
    first = Opened(browser, served.address)
    first.until("rushhour.playing")
    first.get("rushhour.pickRate(20)")
    first.until("rushhour.end > 2")
    first.page.keyboard.press("Space")
    first.until("!rushhour.playing")
    first.page.wait_for_timeout(600)
    stopped = frames.world.frame
    second = Opened(browser, served.address)
    second.until("rushhour.rate === 20")
    second.page.wait_for_timeout(600)
    assert not second.get("rushhour.playing") and second.page.inner_text("#play") == "▶"
    assert second.page.inner_text("#rate") == "20×"
    assert frames.world.frame == stopped and not first.get("rushhour.playing")
    second.page.keyboard.press("Space")
    second.get("rushhour.pickRate(60)")
    first.until(f"rushhour.playing && rushhour.rate === 60 && rushhour.end > {stopped * 0.25 + 2}")
    assert first.told == second.told == []
    first.close()
    second.close()


def test_vehicles_of_a_world_are_found_and_its_end_is_told_and_can_be_replayed(
    browser: Any,
) -> None:
    pytest.importorskip("websockets")
    page = LivePage(LiveFrames(LiveSource(world_of())))
    ends = threading.Event()
    thread = threading.Thread(target=page.run, args=(lambda: not ends.is_set(),))
    thread.start()
    try:
        opened = Opened(browser, page.address)
        opened.until("rushhour.end > 2")
        name = opened.get(POSITIONS)[0][0]
        opened.page.keyboard.press("/")
        opened.page.keyboard.type(name)
        opened.page.keyboard.press("Enter")
        opened.until("rushhour.chosen !== null")
        opened.until(f"document.querySelector('#card h2')?.textContent === {name!r}")
    finally:
        ends.set()
        thread.join()
        page.close()
    opened.until("document.getElementById('now').textContent === 'the simulation has ended'")
    assert not opened.get("rushhour.playing")
    opened.page.keyboard.press("Home")
    opened.page.click("#play")
    opened.until("rushhour.time > rushhour.begin + 0.3")
    assert opened.get("document.getElementById('now').textContent") == "the simulation has ended"
    assert opened.told == []
    opened.close()


def asked(url: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=10
        ) as got:
            return int(got.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_without_the_token_or_from_another_host_nothing_is_shown(served: LivePage) -> None:
    host = f"http://127.0.0.1:{served.port}"
    assert asked(served.address) == 200
    assert asked(f"{host}/") == 403
    assert asked(f"{host}/?token=guessed") == 403
    assert asked(served.address, Host="evil.example") == 403
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}  # fmt: skip
    assert asked(served.address, Origin="http://evil.example", **upgrade) == 403


def test_a_widget_plays_a_run_and_shows_a_world(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    run = record(tmp_path / "run.h5", steps=40, vehicles=30)
    world = world_of(25)
    world.step(20)
    for what, vehicles, time in ((run, 30, 20.0), (world, 25, 5.0)):
        widget = rh.show(what, height=400)
        page = browser.new_page(viewport={"width": 900, "height": 500})
        page.set_content("<div id='here'></div>")
        page.evaluate(
            """async ([code, text, height]) => {
              const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
              const model = { get: (name) => ({ page: text, height })[name] };
              module.default.render({ model, el: document.getElementById("here") });
            }""",
            [WIDGET, widget.page, widget.height],
        )
        frame = page.wait_for_selector("iframe").content_frame()
        frame.wait_for_function("window.rushhour && rushhour.drawn > 0", timeout=30_000)
        assert frame.evaluate("rushhour.facts.vehicles.length") >= vehicles
        assert frame.evaluate("rushhour.end") == pytest.approx(time)
        # How many there are, at the left and at the right end of the axis of time: of one instant the same.
        high = [
            frame.evaluate(
                "(share) => { const c = rushhour.back, x = Math.round(share * (c.width - 1)); let n = 0;"
                " for (const v of c.getContext('2d').getImageData(x, 13, 1, c.height - 27).data.filter((_, k) => k % 4 === 3)) n += v > 60;"
                " return n; }",
                share,
            )
            for share in (0.5, 0.98)
        ]  # fmt: skip
        assert high[0] > 5 and (what is run or high[0] == high[1])
        page.close()


def test_what_cannot_be_shown_is_refused_in_a_line() -> None:
    pytest.importorskip("anywidget")
    with pytest.raises(RunError, match="show of a int: wanted a run or a world"):
        rh.show(7)  # type: ignore[arg-type]
    with pytest.raises(RunError, match="height 10: wanted 200 pixels or more"):
        rh.show(world_of(), height=10)
    with pytest.raises(RunError, match="as it stands"):
        rh.show(world_of(), begin=1.0)
