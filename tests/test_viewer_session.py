"""A recorded run looked at through a session: moments, selecting, following, jumping, panels."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from viewed_run import record

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.generators.ring import straight
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.stepping.costs import PHASES
from rushhour.traffic.world import World
from rushhour.viewer import actions as do
from rushhour.viewer.colouring import LANES
from rushhour.viewer.inspector import way_ahead
from rushhour.viewer.lights import states_at
from rushhour.viewer.moments import NetworkSource
from rushhour.viewer.panels import Timeline, time_labels, timeline_image
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.run_costs import RunCosts
from rushhour.viewer.session import Session
from rushhour.viewer.standing import LONGEST, waited_words
from rushhour.viewer.themes import DARK, SPEEDS


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("viewed") / "run.h5")


@pytest.fixture
def session(path: Path) -> Session:
    return Session(RunSource(path), 800, 600, window=True)


def panel_names(session: Session) -> set[str]:
    return {panel.name for panel in session.scene().panels}


def test_a_moment_is_where_the_run_has_its_vehicles(path: Path, session: Session):
    with RunFile(path) as run:
        for time in (0.0, 33.3, 60.0, 12.6, 12.8, 999.0):
            there, shown = run.positions(time), session.source.at(time)
            for field in ("id", "x", "y", "heading", "speed"):
                np.testing.assert_array_equal(getattr(there, field), getattr(shown, field))
        assert set(shown.length.tolist()) == {run.vehicles("length")[0].item()}


def test_a_jump_shows_what_playing_there_shows(path: Path):
    played, jumped = (Session(RunSource(path), 800, 600) for _ in range(2))
    shown = {}
    for tenth in range(1200):  # of a second
        played.do(do.Seek(0.1 * tenth))
        moment = played.moment()
        if tenth % 93 == 0:
            shown[tenth] = moment
    for tenth in sorted(shown, key=lambda tenth: tenth * 7 % 11):
        jumped.do(do.Seek(0.1 * tenth))
        for field in ("id", "x", "y", "heading", "speed"):
            want, got = getattr(shown[tenth], field), getattr(jumped.moment(), field)
            np.testing.assert_array_equal(got, want)


def test_of_large_frames_fewer_are_kept_ready(path: Path, monkeypatch: pytest.MonkeyPatch):
    for rows, pairs in ((10_000, 4), (150, 2), (1, 1)):
        monkeypatch.setattr("rushhour.viewer.recorded.KEPT_ROWS", rows)
        source = RunSource(path)
        for time in range(10, 20):
            assert len(source.at(float(time) + 0.5)) in range(50, 61)
        assert len(source._pairs) == pairs


def test_far_from_the_picture_places_are_straight_between_frames(session: Session):
    exact = session.source.at(33.4)
    x0, x1 = float(np.median(exact.x)), float(exact.x.max()) + 100.0
    near = session.source.at(33.4, (x0, -1e6, x1, 1e6))
    first, last = session.source.at(33.0), session.source.at(34.0)
    inside = (np.minimum(first.x, exact.x) > x0) & (first.x < x1)
    assert inside.any() and not inside.all()
    np.testing.assert_array_equal(near.x[inside], exact.x[inside])
    np.testing.assert_array_equal(near.heading[inside], exact.heading[inside])
    assert np.abs(near.x - exact.x).max() < 3.0
    rough = session.source.at(33.4, (1e6, 1e6, 1e6, 1e6))
    row = last.row(int(rough.id[0]))
    assert rough.x[0] == pytest.approx(0.6 * first.x[0] + 0.4 * last.x[row], abs=1e-9)


def test_signals_are_those_of_the_run(session: Session):
    source = session.source
    for time in (3.0, 31.5, 77.0):
        np.testing.assert_array_equal(source.lights(time), states_at(source.network, time))


def test_a_click_selects_and_the_camera_follows(session: Session):
    session.do(do.Seek(40.0))
    moment = session.moment()
    session.do(do.Look(float(moment.x[3]), float(moment.y[3]), 0.1))
    back = 2.0 * np.array([np.cos(moment.heading[3]), np.sin(moment.heading[3])])
    px, py = session.state.camera.pixel(moment.x[3] - back[0], moment.y[3] - back[1])
    session.do(do.Click(px, py))
    assert session.state.selected == moment.id[3]
    assert "inspector" in panel_names(session)
    session.do(do.Follow())
    session.do(do.Seek(45.0))
    scene = session.scene()
    row = scene.moment.row(int(moment.id[3]))
    assert (scene.camera.x, scene.camera.y) == (scene.moment.x[row], scene.moment.y[row])
    session.do(do.Click(-500.0, -500.0))
    assert session.state.selected is None and "inspector" not in panel_names(session)


def test_the_way_ahead_never_turns_back_where_lanes_are_changed(tmp_path: Path):
    network = generate("grid", rows=2, columns=2, lanes=2, control="signals")
    world = World(network, vehicles_on_road(network, 60, seed=1), dt=0.5, seed=1)
    with Recorder(tmp_path / "run.h5", world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(120)
    source, road = RunSource(tmp_path / "run.h5"), network.arrays.lanes.road
    moment, moved = source.at(10.0), 0
    for vehicle in moment.id.tolist():
        lanes = source.trajectory(vehicle).lane[10:]
        moved += int(((lanes[1:] != lanes[:-1]) & (road[lanes[1:]] == road[lanes[:-1]])).sum())
        steps = np.diff(way_ahead(source, moment, vehicle), axis=0)
        size = np.hypot(*steps.T)
        steps = steps[size > 0.3] / size[size > 0.3][:, None]
        assert (np.sum(steps[1:] * steps[:-1], axis=1) > -0.5).all()
    assert moved > 5


def test_frames_are_stepped_through_both_ways(session: Session):
    session.do(do.Seek(40.3))
    times = []
    for by in (1, 1, -1, -1, -1, 5):
        session.do(do.Step(by))
        times.append(session.state.clock.time)
    assert times == [41.0, 42.0, 41.0, 40.0, 39.0, 44.0]


def test_scrubbing_stops_at_recorded_frames_and_reads_one_of_them(
    session: Session, monkeypatch: pytest.MonkeyPatch
):
    run = session.source.run  # type: ignore[attr-defined]
    read: list[int] = []
    whole = run.frame
    monkeypatch.setattr(run, "frame", lambda i: read.append(i) or whole(i))
    session.do(do.Scrub(333.3))
    session.moment()
    assert session.state.clock.time == 50.0 and read == [50]  # of 120 s in 799 pixels: 50.06
    session.do(do.Skip(0.5))
    session.moment()
    assert read == [50, 51]


def test_who_stands_is_known_whatever_way_one_came(path: Path):
    def waits(times: list[float]) -> np.ndarray:
        session = Session(RunSource(path), 800, 600)
        for time in times:
            session.do(do.Seek(time))
            moment = session.moment()
            found = session.source.waiting(moment)
        assert found is not None
        return found

    straight_there = waits([101.5])
    assert straight_there.max() > 5.0
    np.testing.assert_array_equal(straight_there, waits([10.0, 50.0, 80.0, 118.0, 101.5]))
    with RunFile(path) as run:  # told by its own trajectory
        ids = run.at(101.5).id
        who = int(np.argmax(straight_there))
        way = run.trajectory(int(ids[who]))
        moved = way.time[(way.time <= 101.5) & (way.speed > 0.1)].max()
        assert straight_there[who] == pytest.approx(101.5 - moved, abs=6.0)


def test_an_id_is_found_and_looked_at(session: Session):
    name = session.source.vehicle_name(5)
    session.do(do.Seek(20.0))
    for action in (do.Find(""), do.Find(name.upper()), do.Found()):
        session.do(action)
    row = session.moment().row(5)
    camera = session.state.camera
    assert session.state.selected == 5 and session.state.finding is None
    assert (camera.x, camera.y) == (session.moment().x[row], session.moment().y[row])
    for action in (do.Find("nobody"), do.Found()):
        session.do(action)
    assert session.note == "no vehicle 'nobody'" and "note" in panel_names(session)


def test_every_colouring_of_vehicles_and_lanes_makes_a_scene(session: Session):
    session.do(do.Seek(60.0))
    titles = set()
    for _ in range(9):
        session.do(do.NextColour())
        titles.add(session.scene().coloured.legend.title)
    assert len(titles) == 9 and not any("not recorded" in title for title in titles)
    session.do(do.NextLanes())
    colours = session.scene().lane_colours
    assert colours is not None and session.scene().lane_colours is colours  # drawn once
    assert {"legend 0", "legend 1"} <= panel_names(session)


def test_the_way_of_the_selected_leads_from_it_along_its_lanes(session: Session):
    session.do(do.Seek(30.0))
    run = session.source.run  # type: ignore[attr-defined]
    who = next(i for i in session.moment().id.tolist() if run.trajectory(i).time[-1] >= 60.0)
    session.do(do.Select(who))
    scene = session.scene()
    way, row = scene.strokes[0].points, scene.moment.row(who)
    assert way[0].tolist() == [scene.moment.x[row], scene.moment.y[row]]
    for time in (40.0, 50.0, 60.0):  # it comes by there
        later = session.source.at(time)
        at = later.row(who)
        pieces = np.linspace(way[:-1], way[1:], 200).reshape(-1, 2)
        assert np.hypot(pieces[:, 0] - later.x[at], pieces[:, 1] - later.y[at]).min() < 3.5


def test_help_costs_and_timeline_are_panels(session: Session):
    assert "timeline" in panel_names(session) and "help" not in panel_names(session)
    session.do(do.Show("help"))
    session.do(do.Show("costs"))
    session.tell({"all": 3.0})
    assert {"help", "costs 0", "costs 1"} <= panel_names(session)
    quiet = Session(session.source, 800, 600)
    assert "timeline" not in panel_names(quiet)


def test_who_knows_no_keys_clicks_buttons(session: Session):
    """Each does what its word says; one that is clicked is not looked through at the map below."""

    def click(name: str) -> None:
        panel = next(one for one in session.scene().panels if one.name == f"button {name}")
        session.do(do.Click(panel.x + 0.5 * panel.width, panel.y + 0.5 * panel.height))

    click("play")
    assert session.state.clock.playing
    click("stop")
    click("faster")
    click("faster")
    click("slower")
    assert not session.state.clock.playing and session.state.clock.rate == 2.0
    click("help")
    assert session.state.help
    click("colour")
    assert session.state.colour != "speed"
    session.do(do.Look(0.0, 0.0, 0.1))
    click("all")
    assert session.state.camera.scale > 0.1 and session.state.selected is None
    click("find")
    assert session.state.finding == ""


@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (400, 600), (2560, 1440)])
def test_buttons_lie_within_the_picture_beside_other_panels(path: Path, size: tuple[int, int]):
    session = Session(RunSource(path), *size, window=True)
    panels = session.scene().panels
    shown = [one for one in panels if one.name.startswith("button ")]
    assert len(shown) >= (1 if size[0] < 500 else 5)
    boxes = [(p.x, p.y, p.x + p.width, p.y + p.height, p in shown) for p in panels]
    for i, (x0, y0, x1, y1, button) in enumerate(boxes):
        if not button:
            continue
        assert 0 <= x0 and x1 <= size[0] and 0 <= y0
        for a0, b0, a1, b1, _ in boxes[:i]:
            assert x1 <= a0 or a1 <= x0 or y1 <= b0 or b1 <= y0
    quiet = Session(RunSource(path), *size)
    assert not [one for one in quiet.scene().panels if one.name.startswith("button ")]


def test_the_timeline_says_round_times() -> None:
    assert time_labels(0.0, 119.5, 8) == [
        (15.0 * k, f"0:{k // 4:02d}:{15 * k % 60:02d}") for k in range(8)
    ]
    assert [t for t, _ in time_labels(25_190.0, 28_801.0, 6)] == [900.0 * k for k in range(28, 33)]
    assert time_labels(5.0, 5.0, 6) == [] and len(time_labels(0.0, 1e7, 6)) <= 7
    timeline = Timeline(0.5, (), (), (), "", 0.0, 120.0)
    bare = timeline_image(Timeline(0.5, (), (), (), ""), 600, 1)
    changed = (timeline_image(timeline, 600, 1) != bare).any(axis=(0, 2))
    assert changed[295:300].any() and not changed[100:110].any()  # 1:00 in the middle
    for begin, said in ((0.1, True), (3.5, False)):  # no round times; with room for it, and without
        late = Timeline(0.5, (), (), (), "", begin, 30.0 + begin)
        changed = (timeline_image(late, 600, 1) != bare).any(axis=(0, 2))
        assert changed[:10].any() == said


def test_the_help_is_within_the_picture(path: Path):
    for size in ((1280, 800), (800, 600), (2560, 1440)):
        session = Session(RunSource(path), *size, window=True)
        session.do(do.Show("help"))
        shown = next(panel for panel in session.scene().panels if panel.name == "help")
        assert shown.y >= 0 and shown.y + shown.height <= size[1]
        assert shown.x >= 0 and shown.x + shown.width <= size[0]


@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (640, 480), (2560, 1440)])
def test_the_help_cuts_off_no_legend_and_no_inspector(path: Path, size: tuple[int, int]) -> None:
    """They are whole, or left out until it is closed."""
    session = Session(RunSource(path), *size, window=True)
    session.do(do.Seek(30.0))
    session.do(do.Select(int(session.moment().id[0])))
    before = {panel.name: panel for panel in session.scene().panels}
    assert {"legend 0", "inspector"} <= before.keys()
    session.do(do.Show("help"))
    shown = {panel.name: panel for panel in session.scene().panels}
    told = shown.pop("help")
    for name, one in before.items():
        beside = one.x + one.width <= told.x or told.x + told.width <= one.x
        above = one.y + one.height <= told.y or told.y + told.height <= one.y
        if not name.startswith("button") and name not in ("title", "timeline"):
            assert (name in shown) == (beside or above)
    session.do(do.Show("help"))
    assert {panel.name for panel in session.scene().panels} == before.keys()


def test_where_nothing_happened_a_jump_says_so(session: Session):
    session.do(do.Jump("stuck"))
    assert session.note == "no later stuck" and session.state.clock.time == 0.0
    session.do(do.Jump("ring"))
    assert session.note == "no later gridlock"


def test_a_jump_leads_to_who_stands_longest_and_then_to_the_next(session: Session):
    session.do(do.Seek(101.0))
    moment = session.moment()
    waits = session.source.waiting(moment)
    assert waits is not None
    ranked = moment.id[np.argsort(-waits, kind="stable")].tolist()
    for back, wanted in ((False, 0), (False, 1), (False, 2), (True, 1)):
        session.do(do.Jump("waiter", back))
        assert session.state.selected == ranked[wanted]
        assert session.note.startswith(f"number {wanted + 1} of ")
    row = moment.row(ranked[1])
    assert (session.state.camera.x, session.state.camera.y) == (moment.x[row], moment.y[row])


def test_costs_have_bars_though_some_frames_waited_for_the_machine():
    table = {name: np.full(200, 0.1) for name in PHASES}
    table["frames"], table["time"] = np.ones(200), np.arange(200) + 1.0
    for name in PHASES:
        table[name][150:] = 40.0  # a quarter of them
    run = SimpleNamespace(costs=SimpleNamespace(columns=table), meta={"dt": 0.25})
    costs = RunCosts(run)  # type: ignore[arg-type]
    for time, share in ((10.0, 0.25), (180.0, 1.0)):
        (bars,) = costs.at(time)
        assert min(1.0, bars.rows[-1][1] / bars.budget) == pytest.approx(share)


def test_a_jump_leads_to_the_dearest_frames_in_their_order(session: Session):
    table = session.source.run.costs.columns  # type: ignore[attr-defined]
    spent = sum(np.asarray(table[name], float) for name in PHASES) / np.asarray(table["frames"])
    ranked = np.asarray(table["time"])[np.argsort(-spent, kind="stable")].tolist()
    for back, wanted in ((False, 0), (False, 1), (True, 0)):
        session.do(do.Jump("worst", back))
        assert session.state.clock.time == ranked[wanted] and session.state.costs
        assert f"{np.sort(-spent)[wanted] / -1e6:.2f} ms" in session.note


def test_a_network_alone_is_shown_with_its_signals_by_the_clock():
    session = Session(NetworkSource(straight(500.0)), 320, 240)
    scene = session.scene()
    assert len(scene.moment) == 0 and scene.strokes == ()
    session.do(do.NextColour())
    session.do(do.NextLanes())
    session.do(do.Click(10.0, 10.0))
    assert session.scene().lane_colours is None and session.state.selected is None


def test_who_is_at_the_end_of_a_run_stays_there_while_it_grows():
    source = NetworkSource(straight(500.0))
    source.times = np.array([0.0, 10.0])
    session = Session(source, 320, 240)
    session.do(do.Seek(4.0))
    source.times = np.array([0.0, 20.0])
    session.extended()
    assert (session.state.clock.time, session.state.clock.end) == (4.0, 20.0)
    session.do(do.Ends(last=True))
    source.times = np.array([0.0, 30.0])
    session.extended()
    assert session.state.clock.time == session.state.clock.end == 30.0


def test_too_many_vehicles_far_away_are_a_map_of_lanes(path: Path, monkeypatch: pytest.MonkeyPatch):
    session = Session(RunSource(path), 100, 80, window=True)
    session.do(do.Seek(60.5))
    assert session.state.camera.scale > 2.2 and len(session.scene().moment) > 0
    monkeypatch.setattr(session, "_most_dots", 10)
    with RunFile(path) as run:
        frame = run.at(60.5)
    scene = session.scene()
    colours = scene.lane_colours
    assert len(scene.moment) == 0 and colours is not None
    limit = np.array(session.source.network.arrays.lanes.speed)
    assert np.flatnonzero(colours[:, 3]).tolist() == np.unique(frame.lane).tolist()
    still = np.flatnonzero(np.bincount(frame.lane, frame.speed / limit[frame.lane]) < 0.01)
    still = still[np.isin(still, frame.lane)]
    assert len(still) and (colours[still, :3] == SPEEDS[0]).all()
    session.do(do.Seek(60.9))
    assert session.scene().lane_colours is colours  # the same recorded frame: nothing is drawn anew
    session.do(do.NextColour())
    session.do(do.NextLanes())
    session.do(do.NextLanes())
    assert session.scene().lane_colours is not colours
    session.do(do.Select(3))
    assert len(session.scene().moment) == len(frame)
    session.do(do.Select(None))
    session.do(do.Look(0.0, 0.0, 0.5))
    assert len(session.scene().moment) == len(frame)


def test_far_away_vehicles_do_not_hide_the_colours_of_lanes(session: Session):
    session.do(do.Seek(60.0))
    camera = session.state.camera
    for scale, lanes, vehicles in ((3.0, 0, True), (3.0, 1, False), (0.5, 1, True)):
        session.do(do.Look(camera.x, camera.y, scale))
        while session.state.lanes != LANES[lanes]:
            session.do(do.NextLanes())
        scene = session.scene()
        assert (len(scene.moment) > 0) == vehicles
        assert (scene.lane_colours is not None) == (lanes > 0)
    session.do(do.Look(camera.x, camera.y, 3.0))
    session.do(do.Seek(30.0))
    session.do(do.Select(int(session.moment().id[0])))  # who is looked at is there
    assert len(session.scene().moment) > 0


def test_who_stands_as_long_as_was_looked_back_may_stand_longer():
    assert waited_words(42.4) == "about 42 s"
    assert waited_words(LONGEST) == "300 s or longer"


def test_pictures_that_stay_too_slow_in_a_window_become_a_map(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("rushhour.viewer.session.FEWEST_DOTS", 10)
    session = Session(RunSource(path), 100, 80, window=True)
    session.do(do.Seek(60.0))
    for ms in (50.0, 50.0, 50.0, 30.0, 50.0, 50.0, 50.0, 50.0):
        session.tell({"all": ms})
        assert len(session.scene().moment) > 0
    session.tell({"all": 50.0})
    assert len(session.scene().moment) == 0


def test_the_loads_of_a_frame_are_its_vehicles_by_lane(path: Path):
    source = RunSource(path)
    with RunFile(path) as run:
        frame = run.at(42.7)
    loads = source.loads(42.7)
    assert loads is source.loads(42.1) and loads.vehicles == len(frame) == source.vehicles(42.7)
    lane = int(frame.lane[5])
    on = frame.lane == lane
    assert loads.count[lane] == on.sum()
    assert loads.speed[lane] == pytest.approx(float(frame.speed[on].sum()))


def test_the_timeline_shows_how_many_were_to_depart_when(session: Session):
    source = session.source
    assert isinstance(source, RunSource)
    depart = source.run.vehicles("depart")
    begin, end = float(source.times[0]), float(source.times[-1])
    due = source.due(begin, end, 4)
    count = [
        int(((depart >= begin + k * (end - begin) / 4) & (depart < begin + (k + 1) * (end - begin) / 4)).sum())
        for k in range(4)
    ]  # fmt: skip
    assert max(count[:3]) > 0 and max(due) == 1.0
    assert [share * max(count) for share in due[:3]] == pytest.approx(count[:3], abs=1.0)
    bare = timeline_image(Timeline(0.5, (0.5, 1.0), (), (), ""), 400, 1)
    lined = timeline_image(Timeline(0.5, (0.5, 1.0), due, (), ""), 400, 1)
    blue = (lined == (*DARK.accent, 255)).all(axis=2)
    assert blue.any(axis=0).sum() > 390 and not (bare == (*DARK.accent, 255)).all(axis=2).any()
