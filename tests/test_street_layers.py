"""What streets are coloured by over an interval: one description for pictures, the window and pages."""

from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import Opened, chromium
from PIL import Image
from viewed_run import record

from rushhour.cli import main
from rushhour.kernels.core.network import NONE, SIGNAL, STOP
from rushhour.roadnets.generators.grid import cross
from rushhour.traffic.analysis.emissions import CARBON, co2_rate
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer import actions as do
from rushhour.viewer.pair import Pair
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.road_sums import Sums, SumsOfRun, interval_edges
from rushhour.viewer.session import Session
from rushhour.viewer.street_layers import LAYERS, Streets, layer_names, shares
from rushhour.viewer.street_picture import fullest, street_picture


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where: Path = tmp_path_factory.mktemp("layers")
    record(where / "a.h5", steps=240, vehicles=80)
    record(where / "b.h5", steps=240, vehicles=30)
    return where


def reference(run: RunFile, begin: float, end: float) -> dict[str, np.ndarray]:
    """What was driven on each road in a time, summed one vehicle after the other."""
    network, times = run.network(), np.asarray(run.times)
    lanes = network.arrays.lanes
    found = {name: np.zeros(network.n_roads) for name in Sums._fields[1:]}
    before: dict[int, float] = {}
    last = times[0]
    for place, time in enumerate(times.tolist()):
        frame = run.frame(place)
        span = time - last
        for vehicle, lane, speed in zip(frame.id.tolist(), frame.lane.tolist(), frame.speed.tolist(), strict=True):  # fmt: skip
            road = int(lanes.road[lane])
            if road < 0 or not begin < time <= end:
                continue
            gained = (speed - before[vehicle]) / span if vehicle in before else 0.0
            found["time"][road] += span
            found["standing"][road] += span * (speed < 1.4)
            found["distance"][road] += span * speed
            found["lost"][road] += span * max(0.0, 1.0 - speed / lanes.speed[lane])
            found["co2"][road] += span * float(co2_rate(np.array([speed]), np.array([gained]))[0])
        before = dict(zip(frame.id.tolist(), frame.speed.tolist(), strict=True))
        last = time
    return found


def test_sums_of_an_interval_are_those_of_each_vehicle(folder: Path) -> None:
    with RunFile(folder / "a.h5") as run:
        sums = SumsOfRun(run)
        np.testing.assert_allclose(sums.edges, [0.0, 60.0, 120.0])
        assert [sums.interval(t) for t in (0.0, 59.9, 60.0, 120.0, 999.0)] == [0, 0, 1, 1, 1]
        for i in range(2):
            wanted = reference(run, 60.0 * i, 60.0 * (i + 1))
            for name, values in wanted.items():
                np.testing.assert_allclose(getattr(sums.at(i), name), values, rtol=1e-6, atol=1e-6)
    assert interval_edges(0.0, 7200.0).size == 61  # of two hours: 60 of two minutes


def test_layers_are_edies_speed_flow_and_density(folder: Path) -> None:
    with RunFile(folder / "a.h5") as run:
        network = run.network()
        sums, streets = SumsOfRun(run).at(1), Streets(network)
        length, lanes = network.arrays.roads.length, network.arrays.roads.lane_count
    of = {name: shares(name, streets, sums) for name in LAYERS}
    on = sums.time > 0.0
    assert on.any() and not on.all()
    for name, share in of.items():
        assert np.isnan(share[~on]).all(), name
    speed = sums.distance[on] / sums.time[on]
    flow = sums.distance[on] / (length[on] * 60.0) * 3600.0 / lanes[on]  # a lane and hour
    density = sums.time[on] / (length[on] * 60.0) * 1000.0 / lanes[on]
    np.testing.assert_allclose(of["speed"][on], np.clip(speed / streets.limit[on], 0, 1))
    np.testing.assert_allclose(of["flow"][on], np.clip(flow / 1800.0, 0, 1))
    np.testing.assert_allclose(of["density"][on], np.clip(density / 130.0, 0, 1))
    np.testing.assert_allclose(3.6 * density * speed, flow)


def test_levels_of_service_are_those_of_the_delay_at_the_end_of_a_road() -> None:
    """HCM, exhibits 19-8 and 20-2; where no sign or signal is there is none."""
    streets = Streets(cross())
    n = streets.km.size
    for control, letters in ((NONE, "-------"), (SIGNAL, "ABBCDEF"), (STOP, "ABCCEFF")):
        streets.control[:] = control
        found = ""
        for delay in (9.9, 10.1, 15.1, 20.1, 35.1, 55.1, 80.1):  # s of each of 7 vehicles
            driven = Sums(60.0, *(np.full(n, v) for v in (99.0, 0.0, 0.0, 7 * delay, 0.0)))
            driven = driven._replace(distance=7000.0 * streets.km)
            level = shares("level", streets, driven)[0]
            found += "-" if np.isnan(level) else "ABCDEF"[round(5 * level)]
        assert found == letters
    hardly = Sums(60.0, *(np.full(n, v) for v in (9.0, 9.0, 0.0, 9.0, 0.0)))
    assert np.isnan(shares("level", streets, hardly)).all()


def test_carbon_dioxide_is_that_of_the_power_a_car_needs() -> None:
    idle = co2_rate(np.zeros(1), np.zeros(1))[0]
    assert 3600.0 * idle / 2390.0 == pytest.approx(0.9)  # l an hour
    steady = co2_rate(np.array([25.0]), np.zeros(1))[0]
    assert 100.0 < 1000.0 * steady / 25.0 < 160.0  # g a km at 90 km/h
    assert co2_rate(np.array([15.0]), np.array([-2.0]))[0] == 0.0  # pushed by the car
    up = co2_rate(np.array([10.0]), np.array([1.0]))[0] - co2_rate(np.array([10.0]), np.zeros(1))[0]
    assert up * 3.6e6 / (0.3 * 2390.0) == pytest.approx(1500.0 * 10.0)  # W: mass, gain, speed


def test_a_litre_of_petrol_gives_the_carbon_dioxide_that_is_in_it() -> None:
    """Petrol is CH1.86 (EMEP/EEA guidebook, road transport, 3.169 g a g) of 0.745 kg a litre (EN 228)."""
    each = 44.011 / (12.011 + 1.86 * 1.008)
    assert each == pytest.approx(3.169, abs=0.001)
    assert pytest.approx(1000.0 * 0.745 * each, rel=0.02) == CARBON


def colours_of(session: Session, name: str) -> Any:
    while session.state.streets != name:
        session.do(do.NextStreets())
    return session.scene().lane_colours


@pytest.mark.parametrize("beside", [False, True], ids=["one run", "two runs"])
def test_the_window_and_the_page_colour_streets_alike(folder: Path, tmp_path: Path, beside: bool) -> None:  # fmt: skip
    page, first, second = tmp_path / "p.html", folder / "a.h5", folder / "b.h5"
    more = ["--beside", str(second)] if beside else []
    assert main(["share", str(first), "-o", str(page), *more]) == 0
    if beside:
        session = Pair(RunSource(first), RunSource(second), 1300, 600, False).sessions[0]
    else:
        session = Session(RunSource(first), 640, 480)
    network = session.source.network
    lanes = network.arrays.roads.first_lane
    seen = 0
    with chromium() as browser:
        opened = Opened(browser, page.as_uri())
        assert tuple(opened.get("rushhour.layers.map((one) => one.name)")) == layer_names(beside)
        for name in layer_names(beside):
            opened.page.select_option("#layer", name)
            for time in (30.0, 90.0):
                opened.drawn(f"rushhour.seek({time})")
                told = np.array(opened.get("Array.from(rushhour.roadColours())"), np.int64)
                session.do(do.Seek(time))
                colours = colours_of(session, name)
                np.testing.assert_array_equal(colours[lanes, 3] > 0, told > 0)
                bands = np.column_stack([told >> shift & 255 for shift in (0, 8, 16)])
                driven = told > 0
                off = np.abs(colours[lanes][driven, :3].astype(int) - bands[driven])
                assert off.max(initial=0) <= 3, name  # of 255 steps of a scale
                seen += int(driven.sum())
            legend = opened.page.inner_text("#key")
            assert LAYERS[name.removeprefix("less-")].title in legend
            assert ("b.h5" in legend) == name.startswith("less-")
        assert opened.told == []
    assert seen > 100


def test_differences_are_towards_red_where_more_was_driven_here(folder: Path) -> None:
    pair = Pair(RunSource(folder / "a.h5"), RunSource(folder / "b.h5"), 1300, 600, False)
    pair.do(do.Seek(30.0))
    for _ in range(1 + layer_names(True).index("less-density")):
        pair.do(do.NextStreets())
    scenes = [scene for _, scene in pair.scenes()]
    roads = pair.sources[0].network.arrays.roads
    lanes = roads.first_lane
    here, there = (
        SumsOfRun(source.run).at(0).time / (roads.length * roads.lane_count)
        for source in pair.sources
        if isinstance(source, RunSource)
    )
    assert (here - there).max() > 0.0
    for scene, less in zip(scenes, (here - there, there - here), strict=True):
        most, least = int(np.argmax(less)), int(np.argmin(less))
        if less[most] > 0.0:
            red, _, blue = scene.lane_colours[lanes[most]][:3].astype(int)
            assert red > blue
        if less[least] < 0.0:
            red, _, blue = scene.lane_colours[lanes[least]][:3].astype(int)
            assert blue > red


def test_streets_are_coloured_by_option_and_key_or_refused(folder: Path, tmp_path: Path, capsys: Any) -> None:  # fmt: skip
    plain, coloured = tmp_path / "plain.png", tmp_path / "coloured.png"
    look = ["--at", "90s", "--size", "640x480", "--no-names"]
    assert main(["view", str(folder / "a.h5"), "--shot", str(plain), *look]) == 0
    assert main(["view", str(folder / "a.h5"), "--shot", str(coloured), "--streets", "delay", *look]) == 0  # fmt: skip
    assert plain.read_bytes() != coloured.read_bytes()
    capsys.readouterr()
    for args, said in (
        ([str(folder / "a.h5"), "--streets", "less-delay"], "wanted one of speed, delay"),
        ([str(folder / "a.h5"), "--streets", "noise"], "wanted one of speed, delay"),
    ):
        assert main(["view", *args, "--shot", str(tmp_path / "no.png")]) == 2
        assert said in capsys.readouterr().err
    network = tmp_path / "n.h5"
    assert main(["generate", "ring", "-o", str(network)]) == 0
    assert main(["view", str(network), "--streets", "delay", "--shot", str(tmp_path / "no.png")]) == 2  # fmt: skip
    assert "no frames" in capsys.readouterr().err
    session = Session(RunSource(folder / "a.h5"), 640, 480)
    names = []
    for _ in range(1 + len(LAYERS)):
        session.do(do.NextStreets())
        names.append(session.state.streets)
    assert names == [*LAYERS, ""]
    session.do(do.NextStreets(-1))
    assert session.state.streets == list(LAYERS)[-1]


def test_a_report_has_streets_in_the_fullest_interval_in_the_window_s_colours(folder: Path) -> None:
    with RunFile(folder / "a.h5") as run:
        sums, network = SumsOfRun(run), run.network()
        i = fullest(run, sums)
        most = [
            run.counts[(run.times > a) & (run.times <= b)].mean() for a, b in pairwise(sums.edges)
        ]
        assert most[i] > 0.9 * max(most)
        for name in ("delay", "level", "co2"):
            image = np.asarray(
                Image.open(BytesIO(street_picture(run, sums, name, i))).convert("RGB")
            )
            session = Session(RunSource(run), 640, 480)
            session.do(do.Seek(0.5 * (sums.edges[i] + sums.edges[i + 1])))
            colours = colours_of(session, name)
            lanes = network.arrays.roads.first_lane[sums.at(i).time > 0.0]
            told = {tuple(c[:3].tolist()) for c in colours[lanes] if c[3]}
            assert told
            seen = {tuple(c) for c in np.unique(image.reshape(-1, 3), axis=0).tolist()}
            assert len(told & seen) >= 0.9 * len(told), name
