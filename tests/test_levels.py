"""Delays and levels of service by approach and turn, speeds along streets by name, and the style of diagrams."""

from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, street, write_osm
from PIL import Image
from viewed_run import record

from rushhour.cli import main
from rushhour.kernels.core.network import NONE, SIGNAL, STOP
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.storage import save
from rushhour.traffic.analysis.levels import TURNS, level_lines, level_of, movements
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.plots import new_figure, roads_in_order
from rushhour.viewer.themes import LEVELS


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("levels") / "run.h5"
    record(path, steps=240, vehicles=80)
    return path


def test_delays_are_those_of_each_vehicle_from_road_to_road(run: Path) -> None:
    """Against a vehicle after the other, in plain Python."""
    with RunFile(run) as file:
        network, lanes = file.network(), file.network().arrays.lanes
        at: dict[int, list[float]] = {}  # vehicle: road, what it lost since it came onto it
        made: dict[tuple[int, int], list[float]] = {}
        before = float(file.times[0])
        for k in range(len(file.times)):
            frame = file.frame(k)
            span, before = frame.time - before, frame.time
            for vehicle, lane, speed in zip(frame.id.tolist(), frame.lane.tolist(), frame.speed.tolist(), strict=True):  # fmt: skip
                road = int(lanes.road[lane])
                if road >= 0 and at.get(vehicle, [-1])[0] != road:
                    if vehicle in at:
                        made.setdefault((int(at[vehicle][0]), road), []).append(at[vehicle][1])
                    at[vehicle] = [road, 0.0]
                if vehicle in at:
                    at[vehicle][1] += span * max(0.0, 1.0 - speed / lanes.speed[lane])
        found = movements(file)
        links = network.arrays.connectors
        turn = {
            (int(lanes.road[a]), int(lanes.road[b])): TURNS[int(t)]
            for a, b, t in zip(links.from_lane, links.to_lane, links.turn, strict=True)
        }
    known = {pair: values for pair, values in made.items() if pair in turn}
    assert len(found) == len(known) > 10
    wanted = sorted((network.road_ids[a], turn[a, b], len(v), round(float(np.mean(v)), 6)) for (a, b), v in known.items())  # fmt: skip
    assert (
        sorted((one.road, one.turn, one.vehicles, round(one.delay, 6)) for one in found) == wanted
    )
    cost = [one.delay * one.vehicles for one in found]
    assert cost == sorted(cost, reverse=True)


def test_levels_begin_where_the_manual_says() -> None:
    """HCM, exhibits 19-8 (signals) and 20-2 (signs)."""
    steps = {SIGNAL: (10, 20, 35, 55, 80), STOP: (10, 15, 25, 35, 50)}
    for control, most in steps.items():
        assert "".join(level_of(s, control) for s in most) == "ABCDE"
        assert "".join(level_of(s + 0.01, control) for s in most) == "BCDEF"
    assert level_of(99.0, NONE) == ""


def test_a_time_without_frames_is_refused(run: Path) -> None:
    with RunFile(run) as file, pytest.raises(RunError, match="no frame in that time"):
        movements(file, begin=1e6)


def test_diagrams_of_delay_have_the_colours_of_their_levels(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "levels.png"
    assert main(["plot", str(run), "levels", "-o", str(picture), "--json"]) == 0
    with RunFile(run) as file:
        rows = [one for one in movements(file) if one.level]
    assert f'"movements": {len(rows)}' in capsys.readouterr().out
    image = np.asarray(Image.open(picture).convert("RGB")).astype(int)
    worst = rows[0].level
    colour = LEVELS["ABCDEF".index(worst)]
    assert (np.abs(image - colour).max(axis=2) <= 1).sum() > 100
    table = level_lines(rows)
    assert table[1].rstrip().endswith(worst) and len(table) == 1 + min(20, len(rows))


def test_a_report_tells_levels_of_service(run: Path, tmp_path: Path) -> None:
    assert main(["report", str(run), "-o", str(tmp_path / "r.html")]) == 0
    text = (tmp_path / "r.html").read_text()
    assert "Levels of service" in text and "approach and turn" in text
    assert "Delay by approach and turn" in text


def test_a_street_is_driven_along_by_its_name(tmp_path: Path) -> None:
    ways = [(10, [4, 1, 2], street(name="Long Street")), (11, [3, 1, 5], street(name="Short Way"))]
    network = load_network(write_osm(tmp_path, CROSS, ways))
    found = roads_in_order(network, ["Long Street"])
    assert sorted(one.strip("-").split("#")[0] for one in found) == ["10", "10"]
    index, roads = network.road_index, network.arrays.roads
    assert roads.to_intersection[index[found[0]]] == roads.from_intersection[index[found[1]]]
    assert found == roads_in_order(network, found)
    save(network, tmp_path / "n.h5")
    run, picture = tmp_path / "run.h5", tmp_path / "c.png"
    assert main(["run", str(tmp_path / "n.h5"), "--vehicles", "12", "--duration", "1min", "--record", str(run)]) == 0  # fmt: skip
    for kind in ("speed-contour", "time-space"):
        assert main(["plot", str(run), kind, "--road", "Long Street", "-o", str(picture)]) == 0
        assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(("asked", "said"), [([], "at least one road"), (["--road", "nowhere"], "no road 'nowhere'")])  # fmt: skip
def test_a_contour_of_nothing_is_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: list[str], said: str
) -> None:
    assert main(["plot", str(run), "speed-contour", *asked, "-o", str(tmp_path / "c.png")]) == 2
    assert said in capsys.readouterr().err


def test_diagrams_have_one_style_and_leave_that_of_others_alone() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    _, axes = new_figure((4.0, 3.0))
    assert not axes.spines["top"].get_visible() and not axes.spines["right"].get_visible()
    assert dict(matplotlib.rcParams) == before
