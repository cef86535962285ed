"""Diagrams of a run: what they show is what was recorded and measured."""

import json
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.world import World
from rushhour.viewer import plots
from rushhour.viewer.plots import Window, save_fundamental, save_speed_map, save_time_space
from rushhour.viewer.themes import LESS_MORE

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plots") / "run.h5"
    network = generate("grid", rows=2, columns=2)
    world = World(network, random_trips(network, 150, over=90.0, seed=3), dt=0.5, seed=4)
    measures = Measures(world, 20.0, queues=True)
    with Recorder(path, world, 1.0, measures) as recorder:
        world.observers += [measures, recorder]
        world.step(240)
    return path


def follower(network: Network, road: int) -> int:
    """A road that follows another."""
    roads = network.arrays.roads
    return int(roads.out[roads.out_start[road]])


def test_a_time_space_diagram_joins_each_vehicle_from_frame_to_frame(
    run_path: Path, tmp_path: Path
) -> None:
    with RunFile(run_path) as run:
        network = run.network()
        road = int(network.arrays.lanes.road[run.frame(60).lane.min()])
        facts = save_time_space(tmp_path / "a.png", Window(run), [network.road_ids[road]])
        pieces, seen, before = 0, set(), set()
        for i in range(run.frames.size):
            frame = run.frame(i)
            now = set(frame.id[network.arrays.lanes.road[frame.lane] == road].tolist())
            pieces, seen, before = pieces + len(now & before), seen | now, now
        assert facts == {"vehicles": len(seen), "pieces": pieces, "signals": 0, "bands": 0}
        assert pieces > 20
        pair = [network.road_ids[road], network.road_ids[follower(network, road)]]
        longer = save_time_space(tmp_path / "b.png", Window(run), pair)
        assert longer["pieces"] > pieces
        part = save_time_space(tmp_path / "c.png", Window(run, end=60.0), pair)
        assert 0 < part["pieces"] < longer["pieces"]
    for name in "abc":
        assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)


def test_a_fundamental_diagram_has_a_point_for_each_road_and_interval(
    run_path: Path, tmp_path: Path
) -> None:
    with RunFile(run_path) as run:
        roads = run.table("roads")
        some = roads.road[int(np.argmax(roads.flow))]
        facts = save_fundamental(tmp_path / "a.png", Window(run), [])
        assert facts == {"points": len(roads), "roads": len(set(roads.road))}
        one = save_fundamental(tmp_path / "b.png", Window(run, begin=20.0), [some])
        wanted = (roads.road == some) & (roads.begin >= 20.0)
        assert one == {"points": int(wanted.sum()), "roads": 1}


def test_a_speed_map_shows_every_road_that_was_driven_on(run_path: Path, tmp_path: Path) -> None:
    with RunFile(run_path) as run:
        driven = len(set(run.table("roads").road))
        facts = save_speed_map(tmp_path / "a.png", Window(run))
        assert facts == {"roads": driven, "without_vehicles": run.network().n_roads - driven}


def test_without_measures_a_speed_map_takes_the_recorded_frames(tmp_path: Path) -> None:
    network = generate("straight")
    builder = DemandBuilder()
    builder.add(Trip("a", 0.0, VehicleType(), [0]))
    world = World(network, builder.build(), dt=0.5)
    with Recorder(tmp_path / "run.h5", world) as recorder:
        world.observers.append(recorder)
        world.step(60)
    with RunFile(tmp_path / "run.h5") as run:
        facts = save_speed_map(tmp_path / "a.png", Window(run))
        assert facts == {"roads": 1, "without_vehicles": 0}
        with pytest.raises(RunError, match="holds no roads; run it with --measure"):
            save_fundamental(tmp_path / "b.png", Window(run), [])


def test_plots_are_drawn_by_the_command(
    run_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with RunFile(run_path) as run:
        road = run.network().road_ids[0]
    of_road = ["--road", road]
    kinds = {"time-space": of_road, "fundamental": of_road, "speed-map": [], "vehicles": [],
             "trips": [], "queues": [], "costs": []}  # fmt: skip
    for kind, options in kinds.items():
        assert main(["plot", str(run_path), kind, *options]) == 0
        assert (tmp_path / f"run-{kind}.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["time-space"], "wanted at least one road"),
        (["time-space", "--road", "x"], "the network has no road 'x'"),
        (["fundamental", "--road", "x"], "the network has no road 'x'"),
        (["fundamental", "--from", "2h"], "no interval was measured in that time"),
        (["speed-map", "--from", "2min", "--until", "1min"], "wanted a begin before the end"),
        (["speed-map", "-o", "map.bmp"], "wanted a name that ends in .png"),
        (["speed-map", "-o", "no/map.png"], "cannot be written (No such file or directory)"),
        (["pie"], "invalid choice: 'pie'"),
        (
            ["costs", "--road", "x"],
            "--road is for time-space, speed-contour and fundamental; leave it out of costs",
        ),
        (["trips", "--from", "2h"], "no trip ended in that time"),
        (["queues", "--from", "2h"], "no queue was measured in that time"),
        (["costs", "--from", "2h"], "no costs were recorded in that time"),
        (["vehicles", "--from", "2h"], "no frame in that time"),
    ],
)
def test_a_diagram_that_cannot_be_drawn_is_refused_in_one_line(
    run_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(run_path), *words]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


def test_roads_that_do_not_follow_each_other_are_refused(run_path: Path, tmp_path: Path) -> None:
    with RunFile(run_path) as run:
        network = run.network()
        follow = network.arrays.roads.out[: network.arrays.roads.out_start[1]]
        other = next(i for i in range(1, network.n_roads) if i not in follow)
        names = [network.road_ids[0], network.road_ids[other]]
        with pytest.raises(RunError, match="does not follow"):
            save_time_space(tmp_path / "a.png", Window(run), names)
        with pytest.raises(RunError, match="no frame in that time; it was recorded from 0:00:0"):
            save_time_space(tmp_path / "a.png", Window(run, begin=9999.0), names[:1])


def test_a_report_is_one_page_that_holds_its_pictures(
    run_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "run.html"
    assert main(["report", str(run_path), "-o", str(page), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    text = page.read_text(encoding="utf-8")
    assert facts["pictures"] == text.count('src="data:image/png;base64,') == 11
    assert len(facts["sections"]) == text.count("<section") == 16
    assert "http" not in text and "<script" not in text  # nothing is fetched, nothing runs
    with RunFile(run_path) as run:
        most = int(run.counts.max())
        trips = len(run.table("trips"))
    assert f"{most} vehicles at 0:" in text and f"{trips} finished" in text
    assert main(["report", str(run_path), "-o", str(tmp_path / "run.txt")]) == 2
    assert "wanted a name that ends in .html or .htm" in capsys.readouterr().err


def test_a_report_has_maps_of_what_differs_from_another_run(
    run_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside itself nothing differs: all that was driven on is of the middle colour."""
    page = tmp_path / "run.html"
    assert main(["report", str(run_path), "--beside", str(run_path), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    for name in ("Delay", "Standing", "CO2"):
        section = text.split(f"<h2>{name} on streets, less than in {run_path.name}</h2>")[1]
        data = section.split("base64,")[1].split('"')[0]
        image = np.asarray(Image.open(BytesIO(b64decode(data))).convert("RGB"))[:700].astype(int)
        middle, ends = LESS_MORE[1], (LESS_MORE[0], LESS_MORE[2])
        assert (np.abs(image - middle).max(axis=2) < 12).sum() > 300
        assert not any((np.abs(image - end).max(axis=2) < 12).any() for end in ends)
    other = tmp_path / "other.h5"
    network = generate("grid", rows=2, columns=3)
    world = World(network, random_trips(network, 5, over=10.0, seed=3), dt=0.5, seed=4)
    with Recorder(other, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(8)
    assert main(["report", str(run_path), "--beside", str(other), "-o", str(page)]) == 2
    assert "another network than that of" in capsys.readouterr().err


def test_a_report_says_what_a_run_does_not_hold(tmp_path: Path) -> None:
    network = generate("grid", rows=2, columns=2)
    world = World(network, random_trips(network, 20, over=10.0, seed=3), dt=0.5, seed=4)
    with Recorder(tmp_path / "a.h5", world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(8)
    assert main(["report", str(tmp_path / "a.h5"), "-o", str(tmp_path / "a.html")]) == 0
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "no trip ended in that time" in text and text.count('class="missing"') == 2
    assert "nobody passed an intersection with signals or signs" in text
    queues = text[text.index("<h2>Queues over time</h2>") :].split("</section>")[0]
    assert "<img" in queues  # from the frames, since none were measured


def test_the_network_of_a_fundamental_diagram_is_all_that_was_driven_on_all_lanes(
    run_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vehicle-kilometres and vehicle-hours of the table of roads, over every lane of the network."""
    drawn: list[Any] = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, path: drawn.append(figure))
    window = Window(RunFile(run_path))
    save_fundamental(tmp_path / "a.png", window, [])
    rows, net = window.roads(), window.network.arrays.roads
    lanes_km = sum(
        long * count for long, count in zip(net.length.tolist(), net.lane_count.tolist(), strict=True)
    ) / 1000.0  # fmt: skip
    axis = drawn[0].axes[0]
    (line,) = axis.get_lines()
    for k, begin in enumerate(sorted(set(rows["begin"].tolist()))):
        mine = rows["begin"] == begin
        hours = float((rows["end"] - rows["begin"])[mine][0]) / 3600.0
        density = rows["vehicle_seconds"][mine].sum() / 3600.0 / hours / lanes_km
        flow = rows["distance"][mine].sum() / 1000.0 / hours / lanes_km
        assert line.get_xydata()[k] == pytest.approx((density, flow))
    assert [text.get_text() for text in axis.get_legend().get_texts()][-1] == "the network"


def test_roads_of_a_diagram_are_told_apart_by_their_limit() -> None:
    group, names = plots.limit_groups(np.array([50.0, 50.0, 31.0, 129.0, 50.0, 29.0]))
    assert names == ["30 km/h", "50 km/h", "130 km/h"] and group.tolist() == [1, 1, 0, 2, 1, 0]
    many = np.repeat(np.arange(10.0, 100.0, 10.0), np.arange(9, 0, -1))
    group, names = plots.limit_groups(many)
    assert names == ["10 km/h", "20 km/h", "30 km/h", "40 km/h", "others"]
    assert np.bincount(group).tolist() == [9, 8, 7, 6, 15]
