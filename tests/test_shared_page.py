"""The page of `rushhour share` in a real browser: what is in it, and what it does."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from browsers import LOOK_PAGE, LOOK_SHOT, POSITIONS, Opened, chromium, same_colours
from PIL import Image
from viewed_run import needs_gl, record

from rushhour.cli import main
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.outside import OUTSIDE, TARGET
from rushhour.viewer.page import writing
from rushhour.viewer.themes import THEMES

PHONE = 720  # pixels, up to which a page is wide there


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("shared")
    record(here / "run.h5", steps=180, vehicles=80)
    assert main(["share", str(here / "run.h5"), "-o", str(here / "run.html")]) == 0
    return here


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture
def page(browser: Any, folder: Path) -> Iterator[Opened]:
    """The page in a browser; it must have said and asked for nothing."""
    opened = Opened(browser, (folder / "run.html").as_uri())
    yield opened
    assert opened.told == []
    assert [url for url in opened.asked if not url.startswith(("file:", "blob:", "data:"))] == []
    assert len([url for url in opened.asked if url.startswith("file:")]) == 1
    opened.close()


def test_every_vehicle_of_every_frame_is_where_the_run_has_it(page: Opened, folder: Path) -> None:
    with RunFile(folder / "run.h5") as run:
        names = run.vehicle_names()
        for i in (0, 1, 44, run.frames.size - 1):
            frame, at = run.frame(i), run.positions(float(run.times[i]))
            page.drawn(f"rushhour.seek({run.times[i]})")
            rows = {row[0]: row for row in page.get(POSITIONS)}
            assert rows.keys() == {names[v] for v in frame.id}
            for k, vehicle in enumerate(frame.id.tolist()):
                _, x, y, turn, speed, lane, reason, blocker = rows[names[vehicle]]
                assert (x, y) == pytest.approx((at.x[k], at.y[k]), abs=0.051)
                assert np.cos(turn - at.heading[k]) > np.cos(0.0032)
                assert speed == pytest.approx(at.speed[k], abs=0.051)
                assert (lane, reason) == (frame.lane[k], frame.columns["reason"][k])
                other = int(frame.columns["blocker"][k])
                assert blocker == (None if other < 0 else names[other])


def test_the_axis_of_time_says_its_begin_where_that_is_no_round_time(
    browser: Any, folder: Path
) -> None:
    path = folder / "late.html"
    assert main(["share", str(folder / "run.h5"), "-o", str(path), "--from", "13s"]) == 0
    opened = Opened(browser, path.as_uri())
    said = opened.get(
        """(() => {
          const said = [], pen = CanvasRenderingContext2D.prototype, own = pen.fillText;
          pen.fillText = function (...what) { said.push(what.slice(0, 2)); own.apply(this, what); };
          rushhour.timeKey = ""; rushhour.timeline(); pen.fillText = own;
          return said;
        })()"""
    )
    assert opened.get("rushhour.begin") == 13.0
    times = [(text, x) for text, x in said if text.count(":") == 2]
    assert times[0] == ("0:00:13", 0)
    assert times[1][0] == "0:00:20"
    assert times[1][1] > 60
    opened.close()


def test_between_two_frames_everybody_is_near_their_lanes(page: Opened, folder: Path) -> None:
    """Curves from one frame to the next are within a quarter of a metre of the way along the lanes."""
    page.drawn("rushhour.lookAt(0, 0, 5)")
    away = []
    with RunFile(folder / "run.h5") as run:
        names = run.vehicle_names()
        for time in (20.5, 31.5, 47.25, 60.75):
            page.drawn(f"rushhour.seek({time})")
            at = run.positions(time)
            poses = page.get(
                "rushhour.facts.vehicles.map((name, id) => [name, rushhour.poseOf(id)])"
            )
            there = dict(poses)
            x0, y0 = page.get("rushhour.facts.origin")
            for k, vehicle in enumerate(at.id.tolist()):
                pose = there[names[vehicle]]
                dx, dy = pose["x"] + x0 - at.x[k], pose["y"] + y0 - at.y[k]
                away.append(abs(-np.sin(at.heading[k]) * dx + np.cos(at.heading[k]) * dy))
    assert np.percentile(away, 99) < 0.25 and max(away) < 1.0


def test_what_signals_show_is_what_the_run_recorded(page: Opened, folder: Path) -> None:
    from rushhour.viewer.lights import LIGHT_COLOURS, lights_of
    from rushhour.viewer.recorded import RunSource

    source = RunSource(folder / "run.h5")
    for time in (3.0, 33.0, 61.0, 88.0):
        page.drawn(f"rushhour.seek({time})")
        lanes, colours = lights_of(source.network, source.lights(time))
        shown = page.get("Array.from(rushhour.lit.lanes, (l, k) => [l, rushhour.lightState(k)])")
        told = {lane: LIGHT_COLOURS[state].tolist() for lane, state in shown if state < 5}
        assert told == dict(zip(lanes.tolist(), colours.tolist(), strict=True))
    source.run.close()


def test_it_plays_at_its_speed_and_stops_at_the_end(page: Opened) -> None:
    page.get("rushhour.pickRate(20)")
    page.page.keyboard.press("Space")
    page.until("rushhour.playing && rushhour.time > 10")
    page.page.keyboard.press("Space")
    time = page.get("rushhour.time")
    page.drawn()
    assert not page.get("rushhour.playing") and page.get("rushhour.time") == time
    page.page.keyboard.press("End")
    page.drawn()
    assert page.get("rushhour.time") == page.get("rushhour.end") == 90.0
    assert page.page.inner_text("#clock") == "0:01:30"


def test_the_axis_of_time_is_dragged_and_holds_count_and_delay(page: Opened, folder: Path) -> None:
    box = page.page.locator("#time").bounding_box()
    page.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 20)
    page.drawn()
    assert page.get("rushhour.time") == pytest.approx(45.0, abs=0.2)
    with RunFile(folder / "run.h5") as run:
        assert page.get("Array.from(rushhour.head.there)") == run.counts.tolist()
        i = 30
        before, after = run.frame(i - 1), run.frame(i)
        limit = run.network().arrays.lanes.speed[after.lane]
        both = np.isin(after.id, before.id)
        lost = np.maximum(0.0, 1.0 - after.speed / limit)[both].sum()
        assert page.get(f"rushhour.head.lost[{i}]") == pytest.approx(lost, rel=1e-3)


def test_a_search_finds_vehicles_roads_and_signals(page: Opened) -> None:
    for text, kind in (("17", "vehicle"), ("0.0-0.1", "street"), ("signal 0.0", "signal")):
        page.page.fill("#search", text)
        page.page.keyboard.press("Enter")
        page.until(f"rushhour.chosen && rushhour.chosen.kind === '{kind}'")
        page.drawn()
        assert text.split()[-1] in page.page.inner_text("#card h2")
    page.page.fill("#search", "no such thing")
    assert "nothing is called so" in page.page.inner_text("#found")


def test_keys_choose_among_what_a_search_finds(page: Opened) -> None:
    keyboard, box = page.page.keyboard, "document.getElementById('search')"
    rows = "[...document.querySelectorAll('#found [role=option]')]"
    marked = f"{rows}.flatMap((li, k) => li.getAttribute('aria-selected') === 'true' ? [k] : [])"
    keyboard.press("/")
    keyboard.type("1")
    count = page.get(f"{rows}.length")
    assert count > 5 and page.get(marked) == [0]
    for key, wanted in (
        ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("ArrowUp", 0), ("ArrowUp", count - 1),
        ("ArrowDown", 0), ("ArrowDown", 1),
    ):  # fmt: skip
        keyboard.press(key)
        assert page.get(marked) == [wanted]
        assert page.get(f"{box}.getAttribute('aria-activedescendant')") == f"found-{wanted}"
        assert page.get(f"""(() => {{ const a = {rows}[{wanted}].getBoundingClientRect(),
            b = document.getElementById('found').getBoundingClientRect();
            return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; }})()""")  # it is scrolled to
    name = page.get(f"{rows}[1].firstChild.textContent").strip()
    keyboard.press("Enter")
    page.until("rushhour.chosen")
    page.drawn()
    assert name in page.page.inner_text("#card h2")
    shown = "!document.getElementById('found').hidden"
    assert not page.get(shown) and page.get(f"{box}.value") == "1"
    keyboard.press("Escape")  # of the map again: who was chosen is let go
    assert page.get("rushhour.chosen") is None
    page.page.click("#search")
    assert page.get(shown)
    keyboard.press("Escape")
    assert not page.get(shown) and page.get(f"{box}.value") == ""
    time = page.get("rushhour.time")
    keyboard.press("Space")
    page.until(f"rushhour.playing && rushhour.time > {time}")
    keyboard.press("Space")
    page.page.fill("#search", "1")
    page.page.click("#found li:nth-child(3)")
    page.until("rushhour.chosen")
    assert not page.get(shown)
    page.page.fill("#search", "no such thing")
    for key in ("ArrowDown", "Enter", "ArrowUp"):
        keyboard.press(key)
    page.page.mouse.click(480, 300)
    assert not page.get(shown)


@pytest.mark.parametrize("size", [(390, 780), (1000, 700)])
def test_what_a_search_finds_lies_above_all_other_panels(
    browser: Any, folder: Path, size: tuple[int, int]
) -> None:
    """Also on a phone, with somebody chosen and the list of queues open."""
    width, height = size
    opened = Opened(
        browser, (folder / "run.html").as_uri(), viewport={"width": width, "height": height}
    )
    opened.drawn("rushhour.seek(60)")
    opened.drawn("rushhour.choose({ kind: 'vehicle', id: rushhour.runs.at(rushhour.index).frames.vehicle[0] })")  # fmt: skip
    opened.get("document.getElementById('queues').hidden = false")
    opened.page.fill("#search", "1")
    hidden = opened.get("""[...document.querySelectorAll("#found li")].slice(0, 5).filter((li) => {
        const b = li.getBoundingClientRect(), x = b.left + 0.5 * b.width, y = b.top + 0.5 * b.height;
        return !document.getElementById("found").contains(document.elementFromPoint(x, y));
    }).length""")
    assert opened.get("document.querySelectorAll('#found li').length") >= 5 and hidden == 0
    opened.page.fill("#search", "")
    opened.get("rushhour.jump({ road: rushhour.ground.said.roads[0], worst: 60 })")
    assert opened.get("document.getElementById('queues').hidden") == (width < 720)
    assert opened.told == []
    opened.close()


def test_a_click_says_what_a_vehicle_waits_for_up_to_the_cause(page: Opened, folder: Path) -> None:
    """The chain goes from blocker to blocker as the frame has them."""
    with RunFile(folder / "run.h5") as run:
        names = run.vehicle_names()
        frame = run.frame(60)
        blockers = dict(zip(frame.id.tolist(), frame.columns["blocker"].tolist(), strict=True))
        waits = [v for v in blockers if blockers.get(blockers[v], -1) >= 0]
        assert waits
        chain = [waits[0]]
        while blockers.get(chain[-1], -1) in blockers and blockers[chain[-1]] not in chain:
            chain.append(blockers[chain[-1]])
        at = run.positions(60.0)
        row = int(np.searchsorted(at.id, waits[0]))
        length = float(run.vehicles("length")[waits[0]])
        middle = (at.x[row] - 0.5 * length * np.cos(at.heading[row]),
                  at.y[row] - 0.5 * length * np.sin(at.heading[row]))  # fmt: skip
    page.drawn("rushhour.seek(60)")
    page.drawn(
        f"(() => {{ const [x, y] = rushhour.facts.origin; rushhour.lookAt({middle[0]} - x, {middle[1]} - y, 0.1) }})()"
    )
    page.page.mouse.click(480, 300)
    page.drawn()
    assert page.page.inner_text("#card h2") == names[waits[0]]
    told = page.page.locator("#card li a").all_inner_texts()
    assert told == [names[v] for v in chain[1:13]]
    assert "why" in page.page.inner_text("#card") and "delay" in page.page.inner_text("#card")
    page.page.keyboard.press("Escape")
    page.drawn()
    assert not page.page.is_visible("#card")


def test_who_is_followed_stays_in_the_middle(page: Opened) -> None:
    page.page.fill("#search", "5")
    page.page.keyboard.press("Enter")
    page.until("rushhour.chosen && rushhour.chosen.kind === 'vehicle'")
    page.drawn()
    page.page.click("#follow")
    for time in (12.0, 33.5, 51.0):
        page.drawn(f"rushhour.seek({time})")
        x, y = page.get("(() => { const p = rushhour.poseOf(rushhour.chosen.id); return rushhour.toScreen(p.x - 0.5 * p.length * Math.cos(p.turn), p.y - 0.5 * p.length * Math.sin(p.turn)) })()")  # fmt: skip
        assert (x, y) == pytest.approx((480.0, 300.0), abs=1.0)


def test_a_link_leads_to_its_moment_and_place(browser: Any, folder: Path, page: Opened) -> None:
    page.drawn("rushhour.seek(42); rushhour.lookAt(30, -20, 0.25); rushhour.pickColour('delay'); rushhour.pickTheme('print')")  # fmt: skip
    link = page.get("rushhour.hash")
    other = Opened(browser, (folder / "run.html").as_uri() + link)
    for what in ("time", "colour", "theme", "camera.x", "camera.y", "camera.scale"):
        there = other.get(f"rushhour.{what}")
        assert there == (
            pytest.approx(page.get(f"rushhour.{what}"), abs=0.06)
            if isinstance(there, float)
            else page.get(f"rushhour.{what}")
        )
    other.close()


@pytest.mark.parametrize(
    "where", ["x=1e9&y=2&z=0.2", "t=&x=&y=&z=", "x=5", "t=abc&x=a&y=b", "z=-1"]
)
def test_a_link_that_leads_nowhere_shows_the_map(browser: Any, folder: Path, where: str) -> None:
    plain = Opened(browser, (folder / "run.html").as_uri())
    other = Opened(browser, (folder / "run.html").as_uri() + "#" + where)
    for what in ("time", "camera.x", "camera.y", "camera.scale"):
        assert other.get(f"rushhour.{what}") == plain.get(f"rushhour.{what}")
    other.drawn("location.hash = '#v=nobody'")
    other.until("document.getElementById('found').textContent === 'nothing is called so'")
    assert other.told == []
    plain.close()
    other.close()


def test_every_theme_has_its_ground_and_every_colouring_its_legend(page: Opened) -> None:
    for name, theme in THEMES.items():
        page.drawn(f"rushhour.pickTheme('{name}')")
        corner = page.pixels()[300, 4]
        assert np.abs(corner.astype(int) - theme.land).max() <= 1
        assert page.page.input_value("#theme") == name
    keys = set()
    for colour in ("speed", "speed-red-green", "reason", "type", "delay"):
        page.page.select_option("#colour", colour)
        page.drawn()
        keys.add(page.page.inner_html("#key"))
    assert len(keys) == 5 and any("red light" in key for key in keys)


def test_the_wheel_goes_closer_at_the_cursor_and_a_drag_moves_the_map(page: Opened) -> None:
    before = page.get("rushhour.toWorld(900, 250)")
    scale = page.get("rushhour.camera.scale")
    page.page.mouse.move(900, 250)
    page.page.mouse.wheel(0, -400)
    page.until(f"rushhour.camera.scale < {0.9 * scale}")
    assert page.get("rushhour.toWorld(900, 250)") == pytest.approx(before, abs=1e-6)
    page.page.mouse.down()
    page.page.mouse.move(800, 330, steps=4)
    page.page.mouse.up()
    page.drawn()
    assert page.get("rushhour.toWorld(800, 330)") == pytest.approx(before, abs=1e-6)


def test_vehicles_and_lights_are_drawn_where_the_viewer_draws_them(
    page: Opened, folder: Path
) -> None:
    """The same instant, place and size: what has a colour in one picture has one in the other."""
    needs_gl().close()
    shot = folder / "shot.png"
    assert main(["view", str(folder / "run.h5"), "--shot", str(shot), *LOOK_SHOT]) == 0
    page.drawn(LOOK_PAGE)
    same_colours(page.pixels(), np.asarray(Image.open(shot).convert("RGB")))


class Server(SimpleHTTPRequestHandler):
    """Gives files by parts, as web servers do."""

    parts: ClassVar[list[tuple[int, int]]] = []
    by_parts = True

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        if wanted is None or not self.by_parts:
            super().do_GET()
            return
        first, last = (int(text) for text in wanted.removeprefix("bytes=").split("-"))
        data = Path(self.translate_path(self.path)).read_bytes()[first : last + 1]
        self.parts.append((first, len(data)))
        self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.mark.parametrize("by_parts", [True, False])
def test_a_folder_is_fetched_by_the_parts_that_are_played(
    browser: Any, folder: Path, by_parts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from servers that give files only whole."""
    monkeypatch.setattr(writing, "ROWS", 1000)
    assert main(["share", str(folder / "run.h5"), "--folder", str(folder / "site")]) == 0
    monkeypatch.setattr(Server, "by_parts", by_parts)
    Server.parts.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(folder / "site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        opened = Opened(browser, f"http://127.0.0.1:{server.server_port}/")
        size = (folder / "site/data.bin").stat().st_size
        assert not by_parts or sum(length for _, length in Server.parts) < 0.8 * size
        begins = opened.get("Array.from(rushhour.runs.from)")
        there = opened.get("Array.from(rushhour.head.there)")
        rows = [sum(there[a : b + 1]) for a, b in pairwise(begins)]
        assert rows[0] < 200 + 2 * there[begins[1]] < 900 < min(rows[1:])  # it opens sooner
        opened.drawn("rushhour.seek(75)")
        opened.until("rushhour.runs.at(rushhour.frameAt(75))")
        opened.drawn()
        with RunFile(folder / "run.h5") as run:
            assert len(opened.get(POSITIONS)) == len(run.at(75.0))
        assert opened.told == []
        opened.close()
    finally:
        server.shutdown()
        server.server_close()


def test_a_file_that_was_cut_off_says_so(browser: Any, folder: Path) -> None:
    text = (folder / "run.html").read_text()
    cut = folder / "cut.html"
    cut.write_text(text[: text.index('id="b0"') + 400])
    page = browser.new_page()
    page.goto(cut.as_uri())
    page.wait_for_function("document.getElementById('wait').textContent.includes('cut off')")
    assert page.is_visible("#wait")
    page.close()


def test_a_layer_is_drawn_with_its_legend(page: Opened) -> None:
    before = page.pixels()
    for name, said in (("level", "level of service"), ("speed", "mean speed")):
        page.page.select_option("#layer", name)
        page.drawn("rushhour.seek(30)")
        assert said in page.page.inner_text("#key")
        colours = np.array(page.get("Array.from(rushhour.roadColours())"), np.uint32)
        assert (colours > 0).any()
        assert (before != page.pixels()).any(axis=-1).sum() > 500
    scale = page.get("rushhour.layers.find((one) => one.name === 'level').scale.map((c) => rushhour.packed(c))")  # fmt: skip
    page.drawn("rushhour.pickLayer('level')")
    assert page.page.inner_text(".levels").split() == list("ABCDEF")
    told = page.get("Array.from(rushhour.roadColours())")
    assert set(told) <= {0, *scale} and len(set(told)) > 1
    page.page.select_option("#layer", "")
    page.drawn()


def test_a_run_of_another_network_is_not_compared(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ring = str(tmp_path / "net.h5")
    assert main(["generate", "ring", "-o", ring]) == 0
    assert main(["run", ring, "--vehicles", "5", "--duration", "10s", "--record", str(tmp_path / "ring.h5")]) == 0  # fmt: skip
    asked = ["share", str(folder / "run.h5"), "--beside", str(tmp_path / "ring.h5")]
    assert main([*asked, "-o", str(tmp_path / "no.html")]) == 2
    assert "another network" in capsys.readouterr().err
    assert not (tmp_path / "no.html").exists()


def test_a_chase_shows_its_target_and_opponents_in_the_window_s_colours(
    browser: Any, tmp_path: Path
) -> None:
    streets, run, file = (tmp_path / name for name in ("s.h5", "c.h5", "c.html"))
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", str(streets)]) == 0
    words = ["chase", str(streets), "--opponents", "2", "--vehicles", "10", "--duration", "6s"]
    assert main([*words, "--seed", "1", "--record", str(run)]) == 0
    assert main(["share", str(run), "-o", str(file), "--theme", "day"]) == 0
    page = Opened(browser, file.as_uri())
    for colour in ("speed", "type", "reason", "delay"):
        page.drawn(f"rushhour.seek(3); rushhour.pickColour('{colour}')")
        words = page.get(
            "Array.from({ length: rushhour.seen }, (_, k) => rushhour.draw.words[9 * k + 8])"
        )
        bands = [tuple(word >> shift & 255 for shift in (0, 8, 16)) for word in words]
        assert bands.count(TARGET) == 1 and bands.count(OUTSIDE) == 2, colour
        rows = page.page.locator("#key .kind")
        told = {
            rows.nth(k).locator("span").first.inner_text(): rows.nth(k).locator("i").evaluate("(e) => getComputedStyle(e).backgroundColor")
            for k in range(rows.count())
        }  # fmt: skip
        assert told["target"] == f"rgb{TARGET}" and told["opponent"] == f"rgb{OUTSIDE}"
    assert page.told == []
    page.close()


def test_nothing_of_the_legend_is_cut_off(page: Opened) -> None:
    for select in ("#colour", "#layer"):
        inside = page.get(f"document.querySelector('{select}').getBoundingClientRect().right <= document.querySelector('#legend').getBoundingClientRect().right - 8")  # fmt: skip
        assert inside, select


@pytest.mark.parametrize("width", [1280, 1000, 780, 390])
def test_the_help_cuts_off_no_other_panel(browser: Any, folder: Path, width: int) -> None:
    """They are whole, or left out until it is closed."""
    size = {"width": width, "height": 780}
    opened = Opened(browser, (folder / "run.html").as_uri(), viewport=size)
    opened.drawn("rushhour.seek(60)")
    opened.drawn("rushhour.choose({ kind: 'vehicle', id: rushhour.runs.at(rushhour.index).frames.vehicle[0] })")  # fmt: skip
    cut = """(() => {
        const box = (id) => document.getElementById(id).getBoundingClientRect(), help = box("help");
        return ["legend", "queues", "card"].filter((id) => {
            const b = box(id), seen = getComputedStyle(document.getElementById(id)).visibility === "visible";
            return seen && b.left < help.right && help.left < b.right && b.top < help.bottom && help.top < b.bottom;
        });
    })()"""
    opened.get("document.getElementById('queues').hidden = false")
    opened.page.click("#help-button")
    assert opened.page.locator("#help").is_visible() and opened.get(cut) == []
    opened.page.click("#help-button")
    for panel in ("#card", "#legend"):  # on a phone the list has their place
        assert opened.page.is_visible(panel) == (width > PHONE)
    opened.get("document.getElementById('queues').hidden = true")
    opened.page.click("#card .close")
    assert opened.page.is_visible("#legend")
    assert opened.told == []
    opened.close()
