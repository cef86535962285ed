"""Recorded frames for other programs: tables, SUMO's FCD, GeoJSON, and figures of a run."""

import csv
import gzip
import importlib.util
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from recorded_world import FormulaWorld

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.chosen import Chosen, ChosenFrames
from rushhour.traffic.analysis.exporting import export_frames
from rushhour.traffic.analysis.fcd import compass
from rushhour.traffic.analysis.geojson import write_geojson
from rushhour.traffic.analysis.statistics import run_statistics

BEGIN, FRAMES, N = (
    100.0,
    40,
    5,
)  # of FormulaWorld: vehicle i comes in frame i + 1 and is at 7 i + 2 t
PROJECTION = "+proj=tmerc +lat_0=41.15 +lon_0=-8.61 +k=1 +ellps=WGS84 +units=m +no_defs"


def recorded(path: Path, projection: str = "") -> Path:
    """A run of FormulaWorld, a frame each 0.5 s."""
    world = FormulaWorld(N, begin=BEGIN)
    world.sim.network = world.sim.whole = replace(world.network, projection=projection)
    with rh.Recorder(path, world, 0.5, mode="frames", precision="full") as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(FRAMES)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs") / "run.h5")


@pytest.fixture(scope="module")
def on_earth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyproj")
    return recorded(tmp_path_factory.mktemp("runs") / "earth.h5", PROJECTION)


def rows_of(path: Path) -> list[dict[str, str]]:
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:  # type: ignore[operator]
        return list(csv.DictReader(file))


def test_csv_has_every_vehicle_of_every_frame_where_it_was(path: Path, tmp_path: Path) -> None:
    with rh.open_run(path) as run:
        size = export_frames(run, "csv", tmp_path / "a.csv.gz")
        assert size == int(run.counts.sum())
        road, start = run.network().road_ids[0], run.network().lane_points(0)[0]
    rows = rows_of(tmp_path / "a.csv.gz")
    assert len(rows) == size
    for row in rows:
        number = int(row["vehicle"].removeprefix("veh,"))  # ids with commas are quoted
        s = 7.0 * number + 2.0 * (float(row["time_s"]) - BEGIN)
        assert float(row["s_m"]) == pytest.approx(s) and float(row["speed_m_s"]) == 2.0
        assert float(row["x_m"]) == pytest.approx(start[0] + s, abs=2e-3)
        assert row["road"] == road and float(row["heading_rad"]) == 0.0
        assert float(row["y_m"]) == pytest.approx(start[1] + 0.1 * number, abs=2e-3)


def test_parquet_and_csv_hold_the_same(path: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with rh.open_run(path) as run:
        export_frames(run, "csv", tmp_path / "a.csv")
        export_frames(run, "parquet", tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet").to_pydict()
    rows = rows_of(tmp_path / "a.csv")
    assert list(table) == list(rows[0]) and len(table["vehicle"]) == len(rows)
    for name, values in table.items():
        texts = [row[name] for row in rows]
        if isinstance(values[0], str):
            assert values == texts
        else:
            np.testing.assert_allclose(values, np.array(texts, float), atol=1e-3)


def test_times_roads_and_vehicles_choose_what_is_exported(path: Path, tmp_path: Path) -> None:
    with rh.open_run(path) as run:
        chosen = Chosen(102.0, 103.0, run.network().road_ids[:1], ("veh,1", "veh,3"))
        assert export_frames(run, "csv", tmp_path / "a.csv", chosen) == 6
        assert len(ChosenFrames(run, Chosen(102.2, 102.2))) == 1  # the frame that shows it: 102.0
        assert ChosenFrames(run, Chosen(102.2, 102.2)).places[0] == 4
    rows = rows_of(tmp_path / "a.csv")
    assert {row["vehicle"] for row in rows} == {"veh,1", "veh,3"}
    assert {row["time_s"] for row in rows} == {"102.000", "102.500", "103.000"}


def test_fcd_is_in_sumos_terms(path: Path, tmp_path: Path) -> None:
    with rh.open_run(path) as run:
        export_frames(run, "fcd", tmp_path / "a.fcd.xml.gz")
        network, times = run.network(), run.times
        scale = network.declared_length[0] / network.arrays.lanes.length[0]
    root = ElementTree.fromstring(gzip.decompress((tmp_path / "a.fcd.xml.gz").read_bytes()))
    steps = root.findall("timestep")
    assert [float(step.get("time", "")) for step in steps] == times.tolist()
    assert steps[0].findall("vehicle") == []  # nobody was there yet
    last = {v.get("id"): v for v in steps[-1].findall("vehicle")}
    for i in range(N):
        v = last[f"veh,{i}"]
        s = 7.0 * i + 2.0 * (times[-1] - BEGIN)
        assert v.get("angle") == "90.00" and v.get("lane") == network.lane_ids[0]
        assert float(v.get("pos", "")) == pytest.approx(s * scale, abs=0.006)
        assert float(v.get("speed", "")) == 2.0 and v.get("type") == "bus"
    np.testing.assert_allclose(
        compass(np.array([0.0, math.pi / 2, math.pi, -math.pi / 2])), [90.0, 0.0, 270.0, 180.0]
    )


def test_sumos_own_tool_reads_the_fcd(path: Path, tmp_path: Path) -> None:
    found = importlib.util.find_spec("sumo")
    if found is None or not found.submodule_search_locations:
        pytest.skip("eclipse-sumo is not installed")
    tools = Path(found.submodule_search_locations[0]) / "tools"
    with rh.open_run(path) as run:
        export_frames(run, "fcd", tmp_path / "a.fcd.xml")
        first, last = run.positions(102.0), run.times[-1]
    words = [str(tools / "traceExporter.py"), "-i", "a.fcd.xml", "--gpx-output", "a.gpx"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    tracks = ElementTree.parse(tmp_path / "a.gpx").getroot().findall("trk")
    names = [track.findtext("name") for track in tracks]
    assert sorted(map(str, names)) == [f"veh,{i}" for i in range(N)]
    points = tracks[names.index("veh,0")].find("trkseg")
    assert points is not None
    found_x = [float(point.get("lon", "")) for point in points]
    assert min(abs(x - first.x[0]) for x in found_x) < 0.006
    assert len(found_x) == round((last - 100.5) / 0.5) + 1


def test_geojson_is_a_line_for_each_vehicle_or_a_point_in_one_frame(
    on_earth: Path, tmp_path: Path
) -> None:
    with rh.open_run(on_earth) as run:
        export_frames(run, "geojson", tmp_path / "lines.geojson")
        export_frames(run, "geojson", tmp_path / "points.geojson", Chosen(105.0, 105.0))
        whole = int(run.counts.sum())
        with (tmp_path / "parts.geojson").open("w") as file:
            write_geojson(ChosenFrames(run), file, lambda done, of: None, most=20)
    lines = json.loads((tmp_path / "lines.geojson").read_text())["features"]
    assert [line["properties"]["vehicle"] for line in lines] == [f"veh,{i}" for i in range(N)]
    assert {line["geometry"]["type"] for line in lines} == {"LineString"}
    assert sum(len(line["geometry"]["coordinates"]) for line in lines) == whole
    (lon0, lat0), (lon1, lat1) = (lines[0]["geometry"]["coordinates"][k] for k in (0, -1))
    metres = (lon1 - lon0) * math.radians(1.0) * 6378137.0 * math.cos(math.radians(41.15))
    span = lines[0]["properties"]["end_s"] - lines[0]["properties"]["begin_s"]
    assert metres == pytest.approx(2.0 * span, rel=0.01) and lat1 == pytest.approx(lat0, abs=1e-6)
    assert abs(lon0 + 8.61) < 0.1 and abs(lat0 - 41.15) < 0.1
    points = json.loads((tmp_path / "points.geojson").read_text())["features"]
    assert len(points) == N and points[0]["geometry"]["type"] == "Point"
    assert points[2]["properties"]["heading_deg"] == 90.0
    # where lines are too long for memory, each part goes on where the one before ended
    parts = json.loads((tmp_path / "parts.geojson").read_text())["features"]
    of_one = [part for part in parts if part["properties"]["vehicle"] == "veh,0"]
    assert len(of_one) > 1 and [p["properties"]["part"] for p in of_one] == list(range(len(of_one)))
    for before, after in pairwise(of_one):
        assert before["properties"]["end_s"] == after["properties"]["begin_s"]
        assert before["geometry"]["coordinates"][-1] == after["geometry"]["coordinates"][0]


def test_longitude_and_latitude_stand_beside_metres(on_earth: Path, tmp_path: Path) -> None:
    with rh.open_run(on_earth) as run:
        export_frames(run, "csv", tmp_path / "a.csv", Chosen(105.0, 105.0), lonlat=True)
        export_frames(run, "fcd", tmp_path / "a.xml", Chosen(105.0, 105.0), lonlat=True)
    row = rows_of(tmp_path / "a.csv")[0]
    assert float(row["lat_deg"]) == pytest.approx(41.15, abs=0.1) and "x_m" in row
    vehicle = next(ElementTree.parse(tmp_path / "a.xml").iter("vehicle"))
    assert float(vehicle.get("x", "")) == pytest.approx(float(row["lon_deg"]), abs=1e-6)


def test_standing_delay_and_halts_are_those_of_the_formula(path: Path) -> None:
    with rh.open_run(path) as run:
        found = run_statistics(run)
        limit = float(run.network().arrays.lanes.speed[0])
        seconds = 0.5 * int(run.counts.sum())
    assert found["vehicles"] == N and found["speed_m_s"]["mean"] == 2.0
    assert found["standing"]["halts"] == 0 and found["standing"]["share"] == 0.0
    assert found["vehicle_hours"] == pytest.approx(seconds / 3600.0, abs=1e-4)
    assert found["delay_s"]["all"] == pytest.approx(seconds * (1.0 - 2.0 / limit), abs=1e-3)
    by = found["delay_s"]["by_reason"]  # vehicle i has reason i % 3
    assert set(by) == {"free", "leader", "red_light"}
    assert sum(by.values()) == pytest.approx(found["delay_s"]["all"], abs=2e-3)
    assert found["roads"][0]["entered"] == N


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--export", "csv", "--roads", "strait"), r"no road 'strait'; "),
        (("--export", "csv", "--vehicles", "veh1"), r"no vehicle 'veh1'; did you mean veh,1"),
        (
            ("--export", "csv", "--from", "3h"),
            r"no recorded frame from 3:00:00; it holds 0:01:40 to",
        ),
        (("--export", "csv", "--from", "105", "--to", "101"), r"wanted a time and a later one"),
        (("--export", "geojson"), r"has no projection, so there is no longitude"),
        (("--export", "csv", "-o", "no/such/x.csv"), r"cannot be written \(No such file"),
        (("--export", "parquet", "-o", "x.parquet.gz"), r"wanted a name that ends in .parquet"),
        (("--lonlat",), r"--lonlat is for --export"),
        (("--from", "100"), r"--from is for --export and --stats"),
    ],
)
def test_a_wrong_choice_is_one_line(
    words: tuple[str, ...], message: str, path: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["replay", str(path), *words]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and re.search(message, told), told
    assert not list(tmp_path.glob("*.csv"))


def test_parquet_without_pyarrow_is_one_line(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with rh.open_run(path) as run, pytest.raises(RunError, match=r"pip install 'rushhour\[data\]'"):
        export_frames(run, "parquet", tmp_path / "a.parquet")


def test_the_commands_say_what_they_wrote(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("csv", "fcd"):
        assert main(["replay", str(path), "--export", kind, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["rows"] > 0 and (tmp_path / told["written"]).stat().st_size > 0
    assert main(["replay", str(path), "--stats"]) == 0
    assert "7.2 km/h" in capsys.readouterr().out
    words = ["replay", str(path), "--from", "105", "--to", "105", "--vehicles", '"veh,1"']
    assert main([*words, "--export", "csv"]) == 0
    assert capsys.readouterr().out == "run.csv: 1 position of vehicles\n"
    assert main([*words, "--stats"]) == 0
    assert "0:01:45 to 0:01:45, 1 frame\n" in capsys.readouterr().out
