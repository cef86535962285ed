"""What a session shows of a moment of a recorded run: its vehicles, lights and loads, near and far away."""

from pathlib import Path

import numpy as np
import pytest
from viewed_run import panel_names

from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer import actions as do
from rushhour.viewer.colouring import LANES
from rushhour.viewer.lights import states_at
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session
from rushhour.viewer.standing import LONGEST, waited_words
from rushhour.viewer.themes import SPEEDS


def test_a_moment_is_where_the_run_has_its_vehicles(viewed: Path, session: Session):
    with RunFile(viewed) as run:
        for time in (0.0, 33.3, 60.0, 12.6, 12.8, 999.0):
            there, shown = run.positions(time), session.source.at(time)
            for field in ("id", "x", "y", "heading", "speed"):
                np.testing.assert_array_equal(getattr(there, field), getattr(shown, field))
        assert set(shown.length.tolist()) == {run.vehicles("length")[0].item()}


def test_a_jump_shows_what_playing_there_shows(viewed: Path):
    played, jumped = (Session(RunSource(viewed), 800, 600) for _ in range(2))
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


def test_of_large_frames_fewer_are_kept_ready(viewed: Path, monkeypatch: pytest.MonkeyPatch):
    for rows, pairs in ((10_000, 4), (150, 2), (1, 1)):
        monkeypatch.setattr("rushhour.viewer.recorded.KEPT_ROWS", rows)
        source = RunSource(viewed)
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


def test_who_stands_is_known_whatever_way_one_came(viewed: Path):
    def waits(times: list[float]) -> np.ndarray:
        session = Session(RunSource(viewed), 800, 600)
        for time in times:
            session.do(do.Seek(time))
            moment = session.moment()
            found = session.source.waiting(moment)
        assert found is not None
        return found

    straight_there = waits([101.5])
    assert straight_there.max() > 5.0
    np.testing.assert_array_equal(straight_there, waits([10.0, 50.0, 80.0, 118.0, 101.5]))
    with RunFile(viewed) as run:  # told by its own trajectory
        ids = run.at(101.5).id
        who = int(np.argmax(straight_there))
        way = run.trajectory(int(ids[who]))
        moved = way.time[(way.time <= 101.5) & (way.speed > 0.1)].max()
        assert straight_there[who] == pytest.approx(101.5 - moved, abs=6.0)


def test_who_stands_as_long_as_was_looked_back_may_stand_longer():
    assert waited_words(42.4) == "about 42 s"
    assert waited_words(LONGEST) == "300 s or longer"


def test_the_loads_of_a_frame_are_its_vehicles_by_lane(viewed: Path):
    source = RunSource(viewed)
    with RunFile(viewed) as run:
        frame = run.at(42.7)
    loads = source.loads(42.7)
    assert loads is source.loads(42.1) and loads.vehicles == len(frame) == source.vehicles(42.7)
    lane = int(frame.lane[5])
    on = frame.lane == lane
    assert loads.count[lane] == on.sum()
    assert loads.speed[lane] == pytest.approx(float(frame.speed[on].sum()))


def test_too_many_vehicles_far_away_are_a_map_of_lanes(
    viewed: Path, monkeypatch: pytest.MonkeyPatch
):
    session = Session(RunSource(viewed), 100, 80, window=True)
    session.do(do.Seek(60.5))
    assert session.state.camera.scale > 2.2 and len(session.scene().moment) > 0
    monkeypatch.setattr(session, "_most_dots", 10)
    with RunFile(viewed) as run:
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


def test_pictures_that_stay_too_slow_in_a_window_become_a_map(
    viewed: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("rushhour.viewer.session.FEWEST_DOTS", 10)
    session = Session(RunSource(viewed), 100, 80, window=True)
    session.do(do.Seek(60.0))
    for ms in (50.0, 50.0, 50.0, 30.0, 50.0, 50.0, 50.0, 50.0):
        session.tell({"all": ms})
        assert len(session.scene().moment) > 0
    session.tell({"all": 50.0})
    assert len(session.scene().moment) == 0


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
