"""Lanes, intersections and findings looked at closer: what is clicked, what is told of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from viewed_run import needs_gl

from rushhour.cli import main
from rushhour.kernels.core.network import GREEN, RED
from rushhour.roadnets.findings import Finding
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.generators.ring import straight
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.world import World
from rushhour.viewer import actions as do
from rushhour.viewer.live import LiveSource
from rushhour.viewer.moments import NetworkSource
from rushhour.viewer.place_lines import Standings, intersection_lines, state_colour
from rushhour.viewer.places import INTERSECTION, LANE, middle_of, movements, outline_of, place_at
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session
from rushhour.viewer.signal_plan import phase_shown, plan_image, programs_of
from rushhour.viewer.space_time import diagram, passed_on


def text_of(lines: tuple[tuple[tuple[str, object], ...], ...]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def signalled(network: Network) -> int:
    return next(i for i in range(len(network.intersection_ids)) if programs_of(network, i))


def test_the_nearest_lane_is_found_and_within_intersections_those():
    network = generate("grid", rows=2, columns=2, control="signals", lanes=2)
    for lane in range(0, network.n_lanes, 7):
        points = network.lane_points(lane)
        x, y = points[len(points) // 2] if lane >= network.n_road_lanes else points.mean(axis=0)
        found = place_at(network, float(x), float(y), 0.1, 8.0)
        if lane < network.n_road_lanes:
            assert found == (LANE, lane)
        else:
            inside = int(network.arrays.lanes.intersection[lane])
            assert found == (INTERSECTION, inside)
    box = network.points.max(axis=0) + 50.0
    assert place_at(network, *box.tolist(), 0.1, 8.0) is None
    crossing = signalled(network)
    x, y = middle_of(network, (INTERSECTION, crossing))
    assert place_at(network, x + 10.0, y, 3.0, 8.0) == (INTERSECTION, crossing)


def test_a_click_prefers_vehicles_and_escape_lets_go_of_places(session: Session):
    session.do(do.Seek(40.0))
    network, moment = session.source.network, session.moment()
    lane = int(moment.columns["lane"][3])
    session.do(do.Look(float(moment.x[3]), float(moment.y[3]), 0.1))
    px, py = session.state.camera.pixel(float(moment.x[3]), float(moment.y[3]))
    session.do(do.Click(px, py))
    assert session.state.selected == moment.id[3] and session.state.place is None
    empty = next(k for k in range(network.n_road_lanes) if k not in moment.columns["lane"])
    x, y = network.lane_points(empty).mean(axis=0).tolist()
    session.do(do.Look(x, y, 0.1))
    session.do(do.Click(400.0, 300.0))
    assert session.state.place == (LANE, empty) and session.state.selected is None
    names = {panel.name for panel in session.scene().panels}
    assert {"inspector", "closer 1"} <= names  # with its diagram
    session.do(do.Choose((LANE, lane)))
    assert session.scene().strokes[0].points.shape == outline_of(network, (LANE, lane)).shape
    session.do(do.Select(None))
    scene = session.scene()
    assert not scene.strokes and "inspector" not in {panel.name for panel in scene.panels}


def test_a_lane_tells_who_is_on_it_and_who_waits_there(session: Session):
    session.do(do.Seek(61.0))
    moment = session.moment()
    speed, on = moment.speed, moment.columns["lane"]
    queues = np.bincount(on[speed < 1.4], minlength=session.source.network.n_lanes)
    lane = int(np.argmax(queues[: session.source.network.n_road_lanes]))
    assert queues[lane] >= 2
    session.do(do.Choose((LANE, lane)))
    told = text_of(session._closer.lines(session.state, moment, session.scene().lights))
    rows = np.flatnonzero(on == lane)
    assert f"on it     {rows.size}," in told and f"queue     {queues[lane]}," in told
    head = rows[np.argmax(np.where(speed[rows] < 1.4, moment.columns["s"][rows], -1.0))]
    assert f"head      {session.source.vehicle_name(int(moment.id[head]))} red light" in told
    assert "red" in told.splitlines()[-1]


def test_a_diagram_has_everybody_who_was_on_the_lane_and_counts_who_left_it(viewed: Path):
    source = RunSource(viewed)
    with RunFile(viewed) as run:
        lanes = np.concatenate([run.frame(i).lane for i in range(run.frames.size)])
        lane = int(np.argmax(np.bincount(lanes)[: source.network.n_road_lanes]))
        passed = passed_on(source, lane, 75.0)
        assert (passed.begin, passed.end) == (30.0, 120.0)  # the run ends there
        inside = [run.frame(i) for i in np.flatnonzero(run.times >= 30.0).tolist()]
        wanted = [(i, f.time) for f in inside for i in f.id[f.lane == lane].tolist()]
        assert sorted(wanted) == list(zip(passed.id.tolist(), passed.time.tolist(), strict=True))
        sets = [set(f.id[f.lane == lane].tolist()) for f in inside]
        assert passed.left() == len(set().union(*sets) - sets[-1]) > 0
    assert passed.covers(61.0) and not passed.covers(120.0)
    field = diagram(passed, float(source.network.arrays.lanes.length[lane]), 14.0, 75.0, 1)
    still = diagram(replace(passed, s=passed.s[:0], id=passed.id[:0], time=passed.time[:0],
                            step=passed.step[:0], speed=passed.speed[:0]), 100.0, 14.0, 75.0, 1)  # fmt: skip
    assert (field != still).any(axis=2).sum() > 200


def test_the_phase_of_a_plan_is_the_one_that_its_signals_show(session: Session):
    source = session.source
    network = source.network
    program = programs_of(network, signalled(network))[0]
    connectors, signals = network.arrays.connectors, network.arrays.signals
    mine = np.flatnonzero(connectors.signal == program)
    seen = set()
    for time in np.arange(2.0, 118.0, 4.0).tolist():
        lights = source.lights(time)
        phase, at = phase_shown(network, program, lights, time)
        first = int(signals.state_start[program]) + phase * int(signals.links[program])
        shown = signals.state[first + connectors.link[mine]]
        np.testing.assert_array_equal(shown, lights[mine])
        assert at == pytest.approx((time - signals.offset[program]) % signals.cycle[program])
        seen.add(phase)
    assert len(seen) > 6
    dark = np.zeros_like(lights)
    assert phase_shown(network, program, dark, 4.0) == (-1, None)
    image = plan_image(network, program, source.lights(30.0), 30.0, 1)
    assert all((image[..., :3] == state_colour(k)).all(axis=2).any() for k in (GREEN, RED))


def test_an_intersection_tells_its_queues_and_in_a_live_world_its_grants():
    network = generate("grid", rows=2, columns=2, control="signals")
    source = LiveSource(World(network, vehicles_on_road(network, 40, seed=1), dt=0.5, seed=1))
    promised: dict[int, int] = {}
    entered = 0
    for time in np.arange(5.0, 30.0, 0.5).tolist():
        moment = source.at(time)
        for who, lane in zip(moment.id.tolist(), moment.columns["lane"].tolist(), strict=True):
            if lane >= network.n_road_lanes and who in promised:
                assert promised.pop(who) == lane - network.n_road_lanes
                entered += 1
        granted = moment.columns["granted"]
        promised |= dict(zip(moment.id[granted >= 0].tolist(), granted[granted >= 0].tolist(),
                             strict=True))  # fmt: skip
        here = Standings(source, moment)
        for crossing in range(len(network.intersection_ids)):
            inside = [h for k in movements(network, crossing) for h in here.holders(k)]
            told = text_of(intersection_lines(source, moment, source.lights(time), crossing))
            assert f"granted   {len(inside)} may cross" in told
            assert all(source.vehicle_name(name) in told for name in inside[:8])
    assert entered > 10


def test_lint_is_marked_clicked_and_explained(viewed: Path):
    found = Finding("L18", "W", "connector a -> b: radius 3 m; widen it", ("node 7",), (40.0, 0.0))
    noted = Finding("L04", "I", "counted only", (), (80.0, 0.0))
    network = replace(straight(200.0), findings=(noted, found))
    session = Session(NetworkSource(network), 320, 240)
    session.do(do.Look(40.0, 0.0, 0.5))
    assert session.scene().marks is None
    session.do(do.Show("lint"))
    scene = session.scene()
    assert scene.marks is not None and scene.marks.places.tolist() == [[40.0, 0.0]]
    assert session._closer.lint.legend.kinds[0][1] == "L18 turns too tight for a car (1)"
    session.do(do.Click(162.0, 121.0))
    assert session.state.place == ("finding", 1)
    told = text_of(session._closer.lines(session.state, scene.moment, scene.lights))
    assert "radius 3 m" in told and "node 7" in told
    needs_gl().close()
    from rushhour.viewer.shots import picture_for

    picture = picture_for(session)
    marked = picture.image(session.scenes())
    session.do(do.Show("lint"))
    plain = picture.image(session.scenes())
    picture.close()
    assert (marked[118:122, 158:162] == scene.marks.colours[0]).all()
    assert not (plain[118:122, 158:162] == scene.marks.colours[0]).all()


def test_the_command_looks_closer_at_what_is_named(
    viewed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    needs_gl().close()
    network = RunSource(viewed).network
    shots = set()
    for words in (
        ["--lane", network.lane_ids[3]],
        ["--intersection", network.intersection_ids[signalled(network)]],
    ):
        shot = tmp_path / f"{words[0]}.png"
        assert main(["view", str(viewed), "--shot", str(shot), "--size", "640x480", *words]) == 0
        shots.add(shot.read_bytes())
    assert len(shots) == 2
    capsys.readouterr()
    for wrong, said in (
        (["--lane", "nowhere"], "--lane 'nowhere': grid has no such lane"),
        (["--lane", "a", "--vehicle", "1"], "wanted one to look closer at"),
    ):
        assert main(["view", str(viewed), "--shot", str(tmp_path / "x.png"), *wrong]) == 2
        assert said in capsys.readouterr().err
