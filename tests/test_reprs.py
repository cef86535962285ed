"""Whatever users get in hand says in a short line what it is: at a prompt, in a debugger, in a log."""

import inspect
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cityflow_texts import flow, town

import rushhour as rh
from rushhour.compat.cityflow import Engine
from rushhour.games.navmesh.mesh import build_navmesh
from rushhour.games.opponents.chase import Chase
from rushhour.games.racing.car_race import CarRace, RaceTape, taught_track
from rushhour.games.racing.course import drawn_course
from rushhour.games.racing.race_file import RaceRecord
from rushhour.games.racing.race_paths import generate_races
from rushhour.kernels.core.reprs import value_shown
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.racetracks import build_track
from rushhour.traffic.checker import Checker

MOST = 300  # characters
# Kernels whose structures users get in hand; others are the inside of objects that tell for them.
OPEN = {"core.network", "drawing.poses", "core.rules", "steering.tracks"}
# Words that the line of an object must hold.
WORDS = {
    "network": "<Network grid: source grid 2 x 2; roads 40; lanes 96, 6.7 km; ",
    "roads": "<RoadTable: 40 rows of id, name, ref, from_intersection,",
    "lanes": "<LaneTable: 96 rows of id, road, number,",
    "intersections": "IntersectionTable: ",
    "arrays": "NetworkArrays(lanes=Lanes, connectors=Connectors",
    "demand": "<Demand: trips 40; random walkers 0; departures 0:00:0",
    "world": "<World on grid: time 0:01:00, frame 120 of 0.5 s; seed 1; on the road ",
    "vehicles": " rows of name, road, width, waiting,",
    "lane readings": "<LaneReadings: 96 rows of count, standing, queue,",
    "intersection readings": "<IntersectionReadings: ",
    "signals": "<4 signals of grid: fixed 4>",
    "trips": "<TripLog: ",
    "bodies": "<Bodies from outside: there 0; contacts 0>",
    "steered bodies": "<BodyTable: 0 rows of id, x, y, heading,",
    "controls": "<DriverInputs: 40 rows of throttle, brake, steer, hand_brake>",
    "commands": "<CommandLog: applied 1; refused 0; to come 1>",
    "costs": "<Costs of 120 frames, ms in the mean: order ",
    "poses": "Poses(id=int32[",
    "snapshot": "Snapshot(tables=",
    "measures": "<Measures: interval 30 s; roads 55 rows; loops 2 rows; queues 24 rows>",
    "checker": "<Checker: found nothing>",
    "recorder": "<Recorder of run.h5: mode both; frames every 1 s; keyframes every 300 s>",
    "run": "<Run run.h5: frames 61, 0:00:00 to 0:01:00; keyframes 2; ",
    "frame": "<RecordedFrame 60, 0:00:30: ",
    "positions": "Positions(time=30, id=int32[",
    "trajectory": " rows of frame, time, lane, s, ",
    "keyframes": "<2 keyframes of run.h5: the last at 0:01:00>",
    "run table": "<MeasureTable: ",
    "parameters": "Parameters({'car.time_gap': 1.2})",
    "rules": "Rules(stop_offset=0.3, ",
    "loop": "Loop(name='A', ",
    "builder": "<NetworkBuilder sketch: roads 2; intersections 0>",
    "picture": "Picture(png=bytes of ",
    "navmesh": "<Navmesh of grid: cells ",
    "chase": "<Chase on grid: opponents 2; captures 0>",
    "chase result": "ChaseResult(time=",
    "tape": "<Tape of a chase: opponents 2; frames 2 of 0.1 s>",
    "track": "Track(",
    "race": "<Race of 3 cars: lap ",
    "race tape": "<Tape of a race: frames 1; every 6>",
    "race result": "RaceResult(order=[",
    "course": "Course(",
    "race paths": "RacePaths(",
    "race record": "RaceRecord(name='oval', time=",
    "engine": "<Engine: time 1 s; world <World on streets: ",
    "closed run": "<Run run.h5: file closed>",
}  # fmt: skip


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("reprs")
    network = rh.generate("grid", rows=2, columns=2)
    demand = rh.random_trips(network, 40, "30s", seed=1)
    parameters = rh.Parameters({"steered.bodies": True})
    world = rh.World(network, demand, parameters=parameters, dt=0.5, seed=1, begin=0.0)
    loop = rh.Loop("A", network.lane_ids[0], pos=20.0)
    measures = rh.Measures(world, interval="30s", loops=[loop], queues=["0.0"])
    checker = Checker(world)
    world.observers += [measures, checker]
    with world.record(folder / "run.h5") as recorder:
        world.set_speed_limit([network.road_ids[0]], 5.0)
        world.schedule("1h", "set_speed_limit", places=[network.road_ids[0]], speed=9.0)
        world.run("1min")
    run = rh.open_run(folder / "run.h5")
    closed = rh.open_run(folder / "run.h5")
    closed.close()
    builder = rh.NetworkBuilder("sketch")
    builder.add_street([(0, 0), (100, 0)])
    hunted = rh.World(network, rh.vehicles_on_road(network, 5, seed=1), dt=0.1, seed=1)
    mesh = build_navmesh(network)
    chase = Chase(hunted, opponents=2, navmesh=mesh)
    hunted.step(2)
    angle = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack((1.5 * np.cos(angle), np.sin(angle)))
    track, _ = taught_track(build_track(60.0 * ring, 72.0 * ring))
    race = CarRace(track, cars=3, seed=1)
    race_tape = RaceTape(race)
    outer, inner = (
        [(0, 0), (160, 0), (160, 90), (0, 90)],
        [(50, 35), (110, 35), (110, 55), (50, 55)],
    )
    course = drawn_course(outer=outer, inner=inner)
    paths = generate_races(course, racers=2, races=3, seed=1)
    many, each = np.zeros((20, 3)), np.ones(3)
    record = RaceRecord("oval", np.arange(20.0), many, many, many, each, each, each, {"left": ring})
    (folder / "streets.json").write_text(json.dumps(town()))
    (folder / "flows.json").write_text(json.dumps([flow("w-a", "a-b", interval=3.0, endTime=60)]))
    files = {"dir": f"{folder}/", "roadnetFile": "streets.json", "flowFile": "flows.json"}
    (folder / "config.json").write_text(json.dumps(files))
    engine = Engine(folder / "config.json")
    engine.next_step()
    found = {
        "network": network, "roads": network.roads, "lanes": network.lanes,
        "intersections": network.intersections, "arrays": network.arrays, "demand": demand,
        "world": world, "vehicles": world.vehicles, "lane readings": world.lanes,
        "intersection readings": world.intersections, "signals": world.signals,
        "trips": world.trips, "bodies": world.bodies, "steered bodies": world.steered_bodies,
        "controls": world.controls, "commands": world.commands, "costs": world.costs,
        "poses": world.poses(), "snapshot": world.snapshot(), "measures": measures,
        "checker": checker, "recorder": recorder, "run": run, "frame": run.at(30.0),
        "positions": run.positions(30.0), "trajectory": run.trajectory(run.vehicle_names()[0]),
        "keyframes": run.keyframes, "run table": run.table("trips"),
        "parameters": rh.Parameters({"car.time_gap": 1.2}), "rules": parameters.rules(),
        "loop": loop, "section": rh.Section("one", *network.road_ids[:1] * 2),
        "queue": rh.Queue("q", network.lane_ids[0]), "builder": builder,
        "picture": rh.picture(world), "queues": rh.queues(run, least=1), "navmesh": mesh,
        "why": rh.why(run, 30.0, 0), "chase": chase, "chase result": chase.result(),
        "tape": chase.tape, "track": track, "race": race, "race tape": race_tape,
        "race result": race.run(laps=1), "course": course, "race paths": paths,
        "race record": record, "engine": engine, "closed run": closed,
    }  # fmt: skip
    return found


@pytest.mark.parametrize("name", WORDS)
def test_a_line_says_what_matters(objects: dict[str, Any], name: str) -> None:
    assert WORDS[name] in repr(objects[name])


def test_no_line_is_long_or_says_nothing(objects: dict[str, Any]) -> None:
    seen: dict[type, str] = {}
    for name, one in objects.items():
        for where, inner in _within(name, one, depth=2):
            if type(inner) not in seen:
                seen[type(inner)] = where
                text = repr(inner)
                assert len(text) < MOST and text.count("\n") < 4, f"{where}: {len(text)} characters"
                assert " object at 0x" not in text, f"{where}: {text}"
    assert len(seen) > 40


def test_what_every_public_function_returns_is_among_these(objects: dict[str, Any]) -> None:
    there = {type(one).__name__ for one in objects.values()}
    public = {name: getattr(rh, name) for name in rh.__all__}
    classes = {name for name, one in public.items() if inspect.isclass(one)}
    errors = {name for name in classes if issubclass(public[name], Exception)}
    assert classes - errors <= there | {"Recorder"}


def test_a_notebook_is_shown_the_same_facts(objects: dict[str, Any]) -> None:
    for name in ("network", "world", "run", "demand", "navmesh"):
        table, line = objects[name]._repr_html_(), repr(objects[name])
        for fact in line[1:-1].partition(": ")[2].split("; ")[:3]:
            assert f">{fact.partition(' ')[0]}" in table, (name, fact)


def test_arrays_are_told_by_kind_and_shape_and_long_values_are_cut() -> None:
    assert value_shown(np.zeros((1000, 2))) == "float64[1000, 2]"
    assert value_shown(np.array([1, 2])) == "[1, 2]"
    assert value_shown("x" * 1000).startswith("'xxx") and len(value_shown("x" * 1000)) <= 60
    assert value_shown(list(range(1000))) == "list of 1,000"
    assert repr(rh.NetworkBuilder("n" * 1000)).endswith(" ...>")


def _within(name: str, one: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """An object of ours and what its public attributes hold."""
    if isinstance(one, list | tuple) and not hasattr(one, "_fields"):
        for inner in one[:2]:
            yield from _within(f"{name}[]", inner, depth)
        return
    module = type(one).__module__
    inner = module.startswith("rushhour.kernels.") and module.removeprefix("rushhour.kernels.")
    if not module.startswith("rushhour") or isinstance(one, type) or inner and inner not in OPEN:
        return
    yield name, one
    for attribute in dir(one) if depth else ():
        if attribute.startswith("_"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                inner = getattr(one, attribute)
        except (AttributeError, RushhourError):
            continue
        yield from _within(f"{name}.{attribute}", inner, depth - 1)
