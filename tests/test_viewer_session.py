"""What is done in a session: selecting, following, finding, stepping, scrubbing, jumping."""

from pathlib import Path

import numpy as np
import pytest
from viewed_run import panel_names

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.generators.ring import straight
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.stepping.costs import PHASES
from rushhour.traffic.world import World
from rushhour.viewer import actions as do
from rushhour.viewer.inspector import way_ahead
from rushhour.viewer.moments import NetworkSource
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session


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
