"""Pages of crowds without a graphics card: what is dear there is left out, and nothing is elsewhere for it."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from browsers import SIZE, Opened, crowd_page

from rushhour.cli import main
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.viewer.shapes import lane_arrows
from rushhour.viewer.silhouettes import kite_pixels


def streets() -> Network:
    return generate("grid", rows=7, columns=7, lanes=2)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """2,000 vehicles on a grid, as a page in a browser that draws by the processor."""
    with crowd_page(tmp_path_factory.mktemp("crowd"), streets(), 2000) as opened:
        yield opened


@pytest.mark.parametrize("seen", [0, 900, 60_000])
def test_kites_are_as_large_as_in_the_window(page: Opened, seen: int) -> None:
    for scale in (0.05, 0.4, 0.42, 0.7, 2.9, 3.1, 7.0, 9.0, 40.0):
        kite = page.get(
            f"(() => {{ const of = Object.create(rushhour, {{ camera: {{ value: {{ scale: {scale} }} }},"
            f" seen: {{ value: {seen} }} }}); return of.kite; }})()"
        )
        assert kite == pytest.approx(kite_pixels(scale, seen, False), abs=1e-9)


def test_arrows_on_lanes_are_those_of_pictures(page: Opened) -> None:
    got = np.array(page.get("(() => { const m = rushhour.ground.mesh('arrows'); return Array.from(m.data.subarray(0, 8 * m.n)); })()"))  # fmt: skip
    origin = np.array(page.get("rushhour.facts.origin"))
    corners = [lane_arrows(streets()).reshape(-1, 2), got.reshape(-1, 8)[:, :2] + origin]
    cells = [np.unique(np.rint(one / 0.02), axis=0) for one in corners]
    assert len(cells[0]) > 1000
    for one, other in (cells, cells[::-1]):
        known = {tuple(cell) for cell in other.tolist()}
        near = [any((x + i, y + k) in known for i in (-2, -1, 0, 1, 2) for k in (-2, -1, 0, 1, 2)) for x, y in one.tolist()]  # fmt: skip
        assert all(near)


def test_a_browser_without_a_graphics_card_is_known(page: Opened) -> None:
    assert page.get("rushhour.draw.slow") is True


@pytest.mark.parametrize(("scale", "share"), [(0.8, 0.9), (1.7, 0.7), (4.0, 0.35)])
def test_marks_put_into_the_picture_lie_on_their_vehicles_in_their_colours(
    page: Opened, scale: float, share: float
) -> None:
    page.drawn(f"rushhour.seek(5); rushhour.lookAt(0, 0, {scale})")
    assert page.get("rushhour.draw.crowd.hidden === (rushhour.seen <= 1200)")
    rows = np.array(
        page.get("Array.from(rushhour.draw.floats.subarray(0, 9 * rushhour.seen))")
    ).reshape(-1, 9)
    words = np.array(page.get(
        "Array.from(rushhour.draw.words.subarray(0, 9 * rushhour.seen)).filter((_, k) => k % 9 === 8)"
    ), np.uint32)  # fmt: skip
    image = page.pixels().astype(int)
    high, wide = image.shape[:2]
    x = rows[:, 0] - 0.5 * rows[:, 4] * np.cos(rows[:, 2])
    y = rows[:, 1] - 0.5 * rows[:, 4] * np.sin(rows[:, 2])
    column, row = x / scale + 0.5 * wide, 0.5 * high - y / scale
    inside = (column > 4) & (column < wide - 4) & (row > 4) & (row < high - 4)
    colour = np.column_stack([words >> shift & 255 for shift in (0, 8, 16)]).astype(int)
    land = page.get("rushhour.look.land")
    assert (np.abs(image - land).max(axis=2) <= 2).mean() > 0.3  # the ground is there
    hit = 0
    for k in np.flatnonzero(inside).tolist():
        r, c = round(row[k]), round(column[k])
        around = image[r - 2 : r + 3, c - 2 : c + 3].reshape(-1, 3)
        hit += bool((np.abs(around - colour[k]).max(axis=1) <= 3).any())
    assert inside.sum() > 200 and hit > share * inside.sum()  # others lie on some of them


@pytest.mark.parametrize(("scale", "share"), [(1.7, 1.0), (4.0, 0.3)])
def test_rims_of_marks_put_into_the_picture_fade_from_afar_as_those_of_kites(
    page: Opened, scale: float, share: float
) -> None:
    page.drawn(f"rushhour.seek(5); rushhour.lookAt(0, 0, {scale})")
    assert not page.get("rushhour.draw.crowd.hidden")
    words = page.get(
        "[...new Set(Array.from(rushhour.draw.words.subarray(0, 9 * rushhour.seen)).filter((_, k) => k % 9 === 8))]"
    )
    body = np.array([[word >> shift & 255 for shift in (0, 8, 16)] for word in words])
    bright = (body / 255) ** 2 @ (0.2126, 0.7152, 0.0722) >= page.get("rushhour.facts.darkest")
    body, rim = body[bright], np.array(page.get("rushhour.look.rim"))
    image = page.pixels().astype(int).reshape(-1, 3)
    of_kites = np.rint(share * rim + (1 - share) * body).astype(int)
    there = [(np.abs(image - one).max(axis=1) <= 1).any() for one in of_kites]
    assert np.mean(there) > 0.8
    assert (np.abs(image - rim).max(axis=1) <= 1).any() == (share == 1.0)


@pytest.mark.parametrize("takes", [40, 300])
def test_a_picture_that_stands_is_drawn_with_all_samples_however_slow_that_is(
    page: Opened, takes: int
) -> None:
    """And one of many that follow each other not, where it would take longer than a second."""
    page.get(
        "(() => { const draw = rushhour.draw, finish = draw.finish, ground = draw.drawGround; window.fine = 0;"
        f" draw.finish = () => {{ const from = performance.now(); while (performance.now() < from + {takes}); finish.call(draw); }};"
        " draw.drawGround = (...a) => { fine += a[4] === draw.frame; ground.apply(draw, a); };"
        " window.undo = () => { delete draw.finish; delete draw.drawGround; }; })()"
    )  # fmt: skip
    page.get("rushhour.lookAt(0, 0, 0.7)")
    page.until("fine === 1 && !rushhour.awake && rushhour.draw.refineAt === Infinity")
    page.get(
        "rushhour.seek(0); rushhour.pickRate(1); rushhour.play(true); rushhour.lookAt(5, 5, 0.7)"
    )
    if takes < 150:
        page.until("fine === 2")
    else:
        page.page.wait_for_timeout(1500)
        assert page.get("rushhour.playing && fine") == 1
    page.get("rushhour.play(false)")
    page.until("fine === 2 && rushhour.draw.refineAt === Infinity")
    page.get("undo()")


def test_a_picture_drawn_in_parts_is_the_same_as_one_drawn_whole(page: Opened) -> None:
    page.drawn("rushhour.lookAt(Math.max(...rushhour.head.node_x) + 60, 0, 0.25); rushhour.seek(2)")
    page.page.wait_for_function("rushhour.draw.refineAt === Infinity")  # a slow machine's ground
    page.get(
        "(() => { const gl = rushhour.draw.gl, blit = gl.blitFramebuffer; window.blits = [];"
        " gl.blitFramebuffer = (...a) => { blits.push((a[2] - a[0]) * (a[3] - a[1])); return blit.apply(gl, a); }; })()"
    )  # fmt: skip
    for time in (2.6, 3.4, 6.0, 3.1):
        page.get("blits = []")
        page.drawn(f"rushhour.seek({time})")
        assert 0 < page.get("blits.reduce((a, b) => a + b)") < 0.5 * SIZE["width"] * SIZE["height"]
        parts = page.pixels()
        page.drawn("rushhour.draw.shown = null")
        np.testing.assert_array_equal(parts, page.pixels())
    page.get("delete rushhour.draw.gl.blitFramebuffer")


def test_nothing_lies_over_the_whole_map_while_nobody_is_chosen(page: Opened) -> None:
    page.drawn("rushhour.choose(null)")
    assert not page.page.locator("#marks").is_visible()
    page.drawn("rushhour.choose({ kind: 'vehicle', id: 0 }, true)")
    assert page.page.locator("#marks").is_visible()
    page.drawn("rushhour.choose(null)")
    assert not page.page.locator("#marks").is_visible()


def test_from_afar_roads_are_a_line_each_and_end_where_they_meet(page: Opened) -> None:
    far, near, roads = page.get(
        "(() => { const g = rushhour.ground, t = (names) => names.reduce((s, n) => s + g.mesh(n).m / 3, 0);"
        " return [t(['far local', 'far main', 'far fast']), t(['local', 'main', 'fast']), rushhour.head.road_lane.length] })()"
    )  # fmt: skip
    assert 2 * roads <= far <= 8 * roads and far < 0.1 * near
    page.drawn("rushhour.lookAt(0, 0, 4)")
    land = page.get("rushhour.look.land")
    page.get("rushhour.seen = 0; rushhour.scene(performance.now())")  # the ground alone
    image = page.pixels().astype(int)
    places = np.array(page.get(
        "Array.from(rushhour.head.node_x, (x, k) => rushhour.toScreen(x, rushhour.head.node_y[k]))"
    ))  # fmt: skip
    high, wide = image.shape[:2]
    seen = (places[:, 0] > 300) & (places[:, 0] < wide - 5) & (places[:, 1] > 5) & (places[:, 1] < high - 5)  # fmt: skip
    colours = np.array([image[round(r), round(c)] for c, r in places[seen].tolist()])
    assert len(colours) > 10 and (np.abs(colours - land).max(axis=1) > 4).mean() > 0.95


def test_what_is_seen_from_near_is_built_when_it_is_first_drawn(page: Opened) -> None:
    page.until("rushhour.ground.near === null")  # by itself, when the first picture is there
    first, whole = page.get(
        "(() => { const g = new Ground(rushhour.head), first = Object.keys(g.meshes); g.builds(); g.mesh('stops');"
        " const size = (one) => Object.entries(one.meshes).map(([name, mesh]) => [name, mesh.n, mesh.m]).sort();"
        " return [first, [size(g), size(rushhour.ground)]]; })()"
    )  # fmt: skip
    assert {"far local", "water"} <= set(first) and not {"local", "marks", "corners"} & set(first)
    assert whole[0] == whole[1] and len(whole[0]) > len(first)


def test_the_first_frames_are_with_the_worker_before_the_ground_is_built(
    page: Opened, tmp_path: Path
) -> None:
    told = Path(page.page.url.removeprefix("file://")).parent / "run.h5"
    assert main(["share", str(told), "--folder", str(tmp_path)]) == 0
    tab = page.page.context.browser.new_page()
    tab.add_init_script(
        "const post = Worker.prototype.postMessage; window.before = [];"
        "Worker.prototype.postMessage = function (data, ...more) {"
        " if ('number' in data) before.push(!window.rushhour); return post.call(this, data, ...more); };"
    )  # fmt: skip

    def give(route: Any) -> None:
        name = route.request.url.rpartition("/")[2]
        sleep(0.15 if name == "data.bin" else 0.0)  # as by a net
        route.fulfill(path=tmp_path / name)

    tab.route("http://page.test/*", give)
    tab.goto("http://page.test/index.html")
    tab.wait_for_function("window.rushhour && rushhour.drawn > 0", timeout=60_000)
    assert tab.evaluate("before[0]")
    tab.close()


@pytest.mark.parametrize("held", ["<script", "</script>\n"])
def test_the_first_picture_waits_for_nothing_that_comes_after_what_it_shows(
    page: Opened, held: str
) -> None:
    """The page comes in three parts; it is held right at the begin and the end of its first frames, as by a disk, and never ends."""
    text = Path(page.page.url.removeprefix("file://")).read_text(encoding="utf-8")
    head, first = (text.index(f'id="{name}">') for name in ("head", "b0"))
    parts = [text[: text.index(held, head)], text[: text.index("</script>\n", first) + 10], text]
    whole = threading.Event()

    class Slowly(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            sent = 0
            for part in parts:
                self.wfile.write(part[sent:].encode())
                sent = len(part)
                whole.wait(0.3 if part is parts[0] else 60.0)

        def log_message(self, *said: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Slowly) as server:
        threading.Thread(target=server.serve_forever).start()
        tab = page.page.context.browser.new_page()
        try:
            tab.goto(f"http://127.0.0.1:{server.server_port}", wait_until="commit")
            tab.wait_for_function("window.rushhour && rushhour.drawn > 0", timeout=30_000)
            assert tab.evaluate("document.readyState") == "loading"
        finally:
            whole.set()
            tab.close()
            server.shutdown()


def test_no_road_begins_behind_a_panel_of_a_low_page(page: Opened) -> None:
    tab = page.page.context.browser.new_page(viewport={"width": 700, "height": 420})
    tab.goto(page.page.url)
    tab.wait_for_function("window.rushhour && rushhour.drawn > 0", timeout=60_000)
    hidden = tab.evaluate(
        "(() => { const boxes = ['top', 'tools', 'legend', 'bar'].map((id) => $(id).getBoundingClientRect());"
        " return rushhour.ground.places().map(([x, y]) => rushhour.toScreen(x, y))"
        ".filter(([x, y]) => boxes.some((r) => x > r.left && x < r.right && y > r.top && y < r.bottom)).length; })()"
    )  # fmt: skip
    assert hidden == 0
    tab.close()
