"""Recorded races in the window: what it shows of them, and how it is opened."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from browsers import Opened, chromium
from viewed_run import needs_gl

from rushhour.cli import main
from rushhour.games.racing.race_file import RaceRecord, ground_of, load_race, save_race
from rushhour.race import drawn_course, oval_course
from rushhour.roadnets.errors import RunError
from rushhour.viewer import actions as do
from rushhour.viewer.colouring import VEHICLES
from rushhour.viewer.panels import legend_image, scale_image
from rushhour.viewer.race_shot import GAP, TEXT, race_box, race_colours, race_legend, race_picture
from rushhour.viewer.race_source import RaceSource
from rushhour.viewer.session import Session
from rushhour.viewer.shots import picture_for
from rushhour.viewer.silhouettes import CLASSES
from rushhour.viewer.themes import DARK, THEMES, Theme
from rushhour.viewer.track import CHECKS, KERBS, kerb_quads

NAN = float("nan")


def two_on_a_straight() -> RaceRecord:
    """A square track; the first drives 10 m/s to the east, the second 5 m/s, and leaves after 4 s."""
    time = np.arange(0.0, 6.5, 0.5)
    x = np.column_stack((10.0 * time, np.where(time <= 4.0, 5.0 * time, NAN)))
    y = np.column_stack((np.full(time.size, 2.0), np.full(time.size, -2.0)))
    left = np.array([(-10.0, 8.0), (80.0, 8.0), (80.0, 60.0), (-10.0, 60.0)])
    right = np.array([(-20.0, -8.0), (96.0, -8.0), (96.0, 76.0), (-20.0, 76.0)])
    return RaceRecord(
        "square", time, x, y, np.zeros_like(x), np.array([4.0, 4.0]), np.array([2.0, 2.0]),
        np.array([NAN, 4.0]), {"left": left, "right": right},
    )  # fmt: skip


def test_racers_are_where_the_record_has_them_at_any_time():
    source = RaceSource(two_on_a_straight())
    moment = source.at(2.25)
    np.testing.assert_allclose(moment.x, (22.5 + 2.0, 11.25 + 2.0))  # front bumpers
    np.testing.assert_allclose(moment.speed, (10.0, 5.0))
    assert source.at(5.0).id.tolist() == [0] and source.vehicles(5.0) == 1
    assert source.vehicle_number("racer 2") == source.vehicle_number("2") == 1
    assert source.vehicle_number("3") is None and source.vehicle_name(1) == "racer 2"


def test_the_legend_has_those_who_arrived_first_with_their_times():
    source = RaceSource(two_on_a_straight())
    before, after = (source.coloured(source.at(time)).legend.kinds for time in (3.0, 4.0))
    assert [name for _, name in before] == ["racer 1", "racer 2"]
    assert [name for _, name in after] == ["1. racer 2 4.00 s", "racer 1"]


def test_a_race_plays_in_a_session_and_every_colour_and_key_is_borne():
    session = Session(RaceSource(two_on_a_straight()), 320, 240, window=True)
    session.do(do.Play())
    session.tick(3.0)
    assert session.scene().moment.time == 3.0
    px, py = session.state.camera.pixel(30.0, 2.0)
    session.do(do.Click(px, py))
    assert session.state.selected == 0
    for action in (do.Follow(), do.Jump("waiter"), do.Jump("worst"), do.Jump("stuck"), do.Drive(),
                   do.Show("costs"), do.Show("lint"), do.Step(1), do.Select(None)):  # fmt: skip
        session.do(action)
        session.scene()
    session.do(do.Look(0.0, 0.0, 3.0))  # far away: there are no lanes to show in place of racers
    for _ in VEHICLES:
        session.do(do.NextColour())
        session.do(do.NextLanes())
        assert len(session.scene().moment) == 2
    session.do(do.Click(5.0, 5.0))
    assert session.state.place is None


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_a_shot_has_kerbs_a_start_line_a_legend_and_a_scale(theme: Theme):
    record = two_on_a_straight()
    image = race_picture(record, 3.0, (600, 500), theme=theme).astype(int)

    def pixels(colour: tuple[int, int, int]) -> np.ndarray:
        return np.argwhere(np.abs(image - colour).max(axis=2) <= 6)

    red, white = KERBS
    for colour in (red, white):  # along all sides of the track
        assert len(pixels(colour)) > 100
        assert np.ptp(pixels(colour), axis=0).min() > 200
    for colour in race_colours(2).tolist():  # on the track and in the legend
        rows, columns = pixels(tuple(colour)).T
        assert ((rows > 380) & (columns > 400)).sum() > 100 and (columns < 400).any()
    box = race_box(record)
    pixel = max((box[2] - box[0]) / 600, (box[3] - box[1]) / 500)
    bar = scale_image(pixel, 600, 2, theme)
    ink = (bar[-9] == (*theme.ink, 255)).all(axis=1).sum() * pixel
    assert ink == pytest.approx(20.0, abs=2 * pixel)  # the bar is as long as it says
    lower = image[500 - 10 - bar.shape[0] :, 10 : 10 + bar.shape[1]]
    assert (np.abs(lower - theme.ink).max(axis=2) <= 6).sum() >= 20.0 / pixel


def round_a_bend(turn: float) -> RaceRecord:
    """One that goes 4 m/s on a circle of 8 m, 4 m long; turn: 1 to the left, -1 to the right."""
    time = np.arange(0.0, 4.0, 0.1)
    at = 0.5 * time[:, None]
    return replace(
        two_on_a_straight(), time=time, x=8.0 * np.sin(at), y=turn * 8.0 * (1.0 - np.cos(at)),
        heading=turn * at, length=np.array([4.0]), width=np.array([2.0]), finish=np.array([NAN]),
    )  # fmt: skip


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_front_wheels_of_racers_are_turned_as_their_way_bends(turn: float):
    record = round_a_bend(turn)
    assert record.steer(1.0) == pytest.approx(turn * np.arctan(0.57 * 4.0 / 8.0), rel=0.03)
    assert two_on_a_straight().steer(2.0) == pytest.approx([0.0, 0.0])
    source = RaceSource(record)
    assert source.at(1.0).columns["body_steer"] == pytest.approx(record.steer(1.0))
    # In a shot, too: beside the body there are wheels, and those in front are turned.
    x, y = record.at(1.0)[0, :2].tolist()
    box = (x - 4.0, y - 4.0, x + 4.0, y + 4.0)
    straight = replace(record, heading=np.full_like(record.heading, record.at(1.0)[0, 2]))
    shots = [race_picture(one, 1.0, (400, 400), box).astype(int) for one in (record, straight)]
    wheels = [(np.abs(shot - 18).max(axis=2) <= 4).sum() for shot in shots]
    assert min(wheels) > 600 and (np.abs(shots[0] - shots[1]).max(axis=2) > 60).sum() > 60


def test_from_afar_a_page_has_the_start_line(tmp_path: Path):
    save_race(two_on_a_straight(), tmp_path / "race.h5")
    assert main(["share", str(tmp_path / "race.h5"), "-o", str(tmp_path / "race.html")]) == 0
    with chromium() as browser:
        page = Opened(browser, (tmp_path / "race.html").as_uri())
        for theme in THEMES:
            page.drawn(f"rushhour.pickTheme('{theme}'); rushhour.seek(0); rushhour.lookAt(0, 0, 2)")
            s = page.get("rushhour.ground.start")
            image = page.pixels().astype(int)
            high, wide, _ = image.shape
            x, y = 0.5 * (s["x0"] + s["x1"]), 0.5 * (s["y0"] + s["y1"])
            row, column = round(0.5 * high - y / 2.0), round(0.5 * wide + x / 2.0)
            near = image[row - 7 : row + 8, column - 7 : column + 8]
            assert (near.min(axis=2) > 220).sum() >= 12, theme  # a white bar
            assert (near.max(axis=2) < 60).sum() >= 8, theme  # in black
        assert page.told == []


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """The page of two racers, opened."""
    folder = tmp_path_factory.mktemp("race")
    save_race(two_on_a_straight(), folder / "race.h5")
    assert main(["share", str(folder / "race.h5"), "-o", str(folder / "race.html")]) == 0
    with chromium() as browser:
        size = {"width": 960, "height": 600}
        yield Opened(browser, (folder / "race.html").as_uri(), viewport=size)


@pytest.mark.parametrize("theme", THEMES)
def test_pages_have_the_kerbs_and_the_start_line_of_pictures(shared: Opened, theme: str):
    """Their places and colours come from one description: stripe by stripe they are the same."""
    record = two_on_a_straight()
    quads, colours = kerb_quads(record)
    scale, middle = 0.1, np.array([2.0, 0.0])
    x, y = middle - shared.get("rushhour.facts.origin")
    shared.drawn(
        f"rushhour.pickTheme('{theme}'); rushhour.seek(6); rushhour.lookAt({x}, {y}, {scale})"
    )
    image = shared.pixels().astype(int)
    high, wide, _ = image.shape
    at = (quads.mean(axis=1) - middle) / scale
    seen = (np.abs(at) < (250, 150)).all(axis=1)  # beside panels
    column, row = (0.5 * wide + at[seen, 0]).astype(int), (0.5 * high - at[seen, 1]).astype(int)
    off = np.abs(image[row, column] - colours[seen]).max(axis=1)
    assert seen.sum() > 60 and (off <= 12).mean() > 0.95
    box = (*(middle - (48, 30)), *(middle + (48, 30)))
    picture = race_picture(record, 6.0, (960, 600), box, THEMES[theme]).astype(int)
    assert (np.abs(picture[row, column] - colours[seen]).max(axis=1) <= 12).mean() > 0.95


@pytest.mark.parametrize("scale", [0.02, 0.06, 0.3, 1.2, 2.5])
@pytest.mark.parametrize("theme", THEMES)
def test_racers_are_drawn_in_their_colours_in_pages(shared: Opened, theme: str, scale: float):
    x, y = np.array((0.0, 0.0)) - shared.get("rushhour.facts.origin")
    shared.drawn(f"rushhour.pickTheme('{theme}'); rushhour.pickColour('type'); rushhour.seek(2)")
    for k, at in enumerate(((20.0, 2.0), (10.0, -2.0))):
        shared.drawn(f"rushhour.lookAt({x + at[0] - 1.0}, {y + at[1]}, {scale})")
        image = shared.pixels().astype(int)
        near = image[298:303, 478:483] if scale < 1.0 else image[292:309, 472:489]
        assert np.abs(near - race_colours(2)[k]).max(axis=2).min() <= 3


def test_nothing_of_a_race_lies_behind_panels_when_all_of_it_is_seen(shared: Opened):
    shared.drawn("rushhour.home()")
    record, origin = two_on_a_straight(), np.array(shared.get("rushhour.facts.origin"))
    edges = np.concatenate((record.ground["left"], record.ground["right"])) - origin
    at = np.array([shared.get(f"rushhour.toScreen({x}, {y})") for x, y in edges.tolist()])
    for name in ("top", "tools", "legend", "bar"):
        box = shared.get(f"(({{left, top, right, bottom}}) => [left, top, right, bottom])(document.getElementById('{name}').getBoundingClientRect())")  # fmt: skip
        behind = (at > box[:2]).all(axis=1) & (at < box[2:]).all(axis=1)
        assert not behind.any(), name
    assert (at > 0).all() and (at < (960, 600)).all()
    assert np.ptp(at, axis=0).max() > 300


def test_the_name_of_who_is_chosen_lies_beside_others(shared: Opened):
    """The second stands where the name of the first would be, on either side."""
    shared.drawn("rushhour.seek(0); rushhour.lookAt(0, 0, 0.1)")
    width, ahead = 60.0, 3.0  # of the name, pixels; m to the right
    for side in (1.0, -1.0):
        left, middle = shared.get(f"""(() => {{
            const f = rushhour.draw.floats, at = 9 * (f[1] > f[10] ? 1 : 0); // the second
            f[at] = f[9 - at] + {side * (4.0 + ahead)}; f[at + 1] = f[10 - at];
            const [X, Y] = rushhour.toScreen(f[9 - at] - 2, f[10 - at]);
            const [left, middle] = rushhour.besideOthers(X, Y, {width}, {{ turn: 0 }}, 48, 28);
            return [left - X, middle - Y];
        }})()""")
        begin = side * 10.0 * (4.0 + ahead) - 20.0  # of the second, pixels
        assert abs(middle) > 18.0 or left > begin + 40.0 or left + width < begin
    assert shared.told == []


def test_a_course_has_a_line_at_which_it_begins():
    course = drawn_course(
        outer=[(0, 0), (160, 0), (160, 90), (0, 90)], inner=[(50, 35), (110, 35), (110, 55), (50, 55)]
    )  # fmt: skip
    ground = ground_of(course)
    line = ground["line"]
    row, column = ((line.mean(axis=0) - ground["corner"]) / course.cell).astype(int)[::-1]
    assert course.along[row, column] < 1.5  # cells
    assert abs(np.hypot(*(line[1] - line[0])) - 35.0) < 2.0 * course.cell  # from edge to edge
    record = replace(two_on_a_straight(), ground=ground)
    quads, colours = kerb_quads(record)
    assert set(map(tuple, colours.tolist())) == set(CHECKS)
    assert np.hypot(*(quads.mean(axis=(0, 1)) - line.mean(axis=0))) < 0.5


@pytest.mark.parametrize("lower", [True, False])
def test_no_racer_is_below_the_legend_of_a_picture(lower: bool):
    record = two_on_a_straight()
    x, y = record.at(3.0)[0, :2].tolist()
    side = 16.0  # m: seen, so that this racer is in a corner of the right side
    edge = 1.5 if lower else side - 1.5
    box = (x + 1.5 - side, y - edge, x + 1.5, y - edge + side)
    image = race_picture(record, 3.0, (600, 600), box).astype(int)
    mine = np.abs(image - race_colours(2)[0]).max(axis=2) <= 6
    rows, columns = np.nonzero(mine)
    corner = rows > 480 if lower else rows < 120
    assert (corner & (columns > 480)).sum() > 500  # of it, where the legend else is
    other = rows < 300 if lower else rows > 300
    assert (other & (columns > 300)).sum() > 100  # its chip in the legend


@pytest.mark.parametrize("names", [(), ("one of a long name", "two")])
def test_the_whole_ground_lies_beside_the_legend(names: tuple[str, ...]):
    """An oval as wide as the picture, whose right bend lay below it."""
    course = oval_course(120.0, 36.0, 24.0)
    record = replace(two_on_a_straight(), ground=ground_of(course), names=names)
    image = race_picture(record, 0.0, (640, 360)).astype(int)
    turf = (image[..., 1] > image[..., 2] + 15) & (image[..., 1] > 40)  # green or yellow
    rows = slice(60, 300)  # between the title and the scale
    columns = np.flatnonzero(turf[rows].sum(axis=0) > 3)
    panel = legend_image(race_legend(record, 0.0), TEXT, DARK)
    assert columns.max() <= 640 - GAP - panel.shape[1] and np.ptp(columns) > 350
    assert [text for _, text in race_legend(record, 0.0).kinds] == (
        list(names) or ["racer 1", "racer 2"]
    )


def test_names_of_racers_are_kept_in_the_file_and_looked_up(tmp_path: Path):
    record = replace(two_on_a_straight(), names=("1. preview", "2. pid"))
    save_race(record, tmp_path / "named.h5")
    again = load_race(tmp_path / "named.h5")
    source = RaceSource(again)
    assert again.names == record.names and source.vehicle_name(1) == "2. pid"
    assert source.vehicle_number("2. pid") == 1 and source.vehicle_number("racer 1") == 0
    with h5py.File(tmp_path / "named.h5", "r+") as file:
        file.attrs["names"] = '["one of two"]'
    with pytest.raises(RunError, match="tables that do not fit"):
        load_race(tmp_path / "named.h5")
    with h5py.File(tmp_path / "named.h5", "r+") as file:
        file.attrs["names"] = "7"
    with pytest.raises(RunError, match="names: wanted words"):
        load_race(tmp_path / "named.h5")


def test_horses_are_no_cars():
    """Whoever is narrow has a body and no wheels beside it."""
    record = replace(two_on_a_straight(), width=np.array([0.8, 2.0]), length=np.array([2.4, 4.0]))
    assert [CLASSES[k] for k in RaceSource(record).sizes[:, 2].astype(int)] == ["runner", "racer"]
    x, y = record.at(1.0)[0, :2].tolist()
    image = race_picture(record, 1.0, (300, 300), (x - 1.5, y - 1.5, x + 1.5, y + 1.5)).astype(int)
    mine = np.abs(image - race_colours(2)[0]).max(axis=2)[:220] <= 6  # above the legend
    rows = np.flatnonzero(mine.any(axis=1))
    assert 70 <= np.ptp(rows) <= 82  # 0.8 m wide
    ahead, behind = mine[:, 225:].sum(axis=0).max(), mine[:, :225].sum(axis=0).max()
    assert ahead < 0.6 * behind  # a neck


def test_kerbs_lie_beside_the_track_and_a_course_has_none():
    record = two_on_a_straight()
    quads, colours = kerb_quads(record)
    assert len(quads) == len(colours)
    kerbs = quads[(colours == KERBS[0]).all(axis=1)]
    outer = kerbs[:, 2:].reshape(-1, 2)  # away from the track

    def within(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
        x, y = outer.T
        return (x > x0) & (x < x1) & (y > y0) & (y < y1)

    assert (within(-10.0, 8.0, 80.0, 60.0) | ~within(-20.0, -8.0, 96.0, 76.0)).all()
    assert 0.4 < within(-10.0, 8.0, 80.0, 60.0).mean() < 0.6
    assert not len(kerb_quads(replace(record, ground={"cost": np.ones((3, 3))}))[0])


def test_racers_are_drawn_in_their_colours_on_the_track():
    needs_gl().close()
    session = Session(RaceSource(two_on_a_straight()), 320, 240)
    while session.state.colour != "type":
        session.do(do.NextColour())
    session.do(do.Seek(3.0))
    session.do(do.Look(30.0, 0.0, 0.1))
    picture = picture_for(session)
    image = picture.image(session.scenes())
    picture.close()
    for k, (x, y) in enumerate(((30.0, 2.0), (15.0, -2.0))):
        px, py = session.state.camera.pixel(x - 1.0, y)  # behind the cockpit
        assert image[round(py), round(px)].tolist() == race_colours(2)[k].tolist()
    ground, beside = image[100, 100], image[30, 20]  # at y = 2 m, and 9 m
    assert ground.tolist() != beside.tolist()


def test_the_command_opens_a_window_of_a_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    save_race(two_on_a_straight(), tmp_path / "race.h5")
    seen = []

    def watched(viewing: Session, kind: str | None) -> None:
        seen.append((viewing.state.colour, viewing.state.clock.time, kind))

    monkeypatch.setattr("rushhour.viewer.window.watch", watched)
    assert main(["view", str(tmp_path / "race.h5"), "--at", "2s", "--window", "qt"]) == 0
    assert seen == [("type", 2.0, "qt")]
