"""Zones of SUMO (taz): a matrix between them draws roads by weight, as od2trips does; scale and fit know them."""

import json
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.files import DemandOptions, read_demand_files
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.routing.routes import route_demand

MATRIX = "o_zone_id,d_zone_id,volume\na,b,400\nb,a,120\na,a,9\n"


@pytest.fixture(scope="module")
def grid() -> Network:
    return rh.generate("grid", rows=3, columns=3)


@pytest.fixture
def folder(
    grid: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, list[str]]:
    """A network, a matrix and zones: a with weights of its own, b by its edges, which are alike."""
    monkeypatch.chdir(tmp_path)
    save(grid, tmp_path / "grid.h5")
    (tmp_path / "od.csv").write_text(MATRIX)
    ways = route_demand(grid, rh.random_trips(grid, 60, "1min", seed=1))
    middle = ways.roads[(ways.route_start[:-1] + ways.route_start[1:]) // 2]
    inner = list(dict.fromkeys(middle.tolist()))  # one can come there, and leave
    names = [grid.road_ids[i] for i in inner[:5]]
    a, b, only_to, c, d = names
    (tmp_path / "zones.taz.xml").write_text(
        f'<additional><taz id="a"><tazSource id="{a}" weight="1"/><tazSource id="{b}" weight="3"/>'
        f'<tazSource id="{only_to}" weight="0"/><tazSink id="{only_to}" weight="2"/></taz>'
        f'<taz id="b" edges="{c} {d} a_path"/></additional>'
    )
    return tmp_path, names


def ends(network: Network, demand: Demand, origin: str) -> tuple[Counter[str], Counter[str]]:
    """First and last roads of the trips from a zone."""
    mine = np.array([name.startswith(f"{origin}-") for name in demand.ids])
    first = demand.roads[demand.route_start[:-1]][mine].tolist()
    last = demand.roads[demand.route_start[1:] - 1][mine].tolist()
    names = network.road_ids
    return Counter(names[i] for i in first), Counter(names[i] for i in last)


def test_trips_draw_their_first_and_last_roads_by_the_weights_of_their_taz(
    grid: Network, folder: tuple[Path, list[str]]
) -> None:
    path, (a, b, only_to, c, d) = folder
    demand = read_demand_files([path / "od.csv", path / "zones.taz.xml"], grid, DemandOptions(seed=1))  # fmt: skip
    assert len(demand) == 520
    first, last = ends(grid, demand, "a")
    assert set(first) == {a, b} and set(last) == {c, d}
    assert abs(first[b] - 300) < 3.0 * sqrt(400 * 0.75 * 0.25)
    assert abs(last[c] - 200) < 3.0 * sqrt(400 * 0.25)
    first, last = ends(grid, demand, "b")
    assert set(first) == {c, d} and set(last) == {only_to}
    told = " ".join(demand.remarks)
    assert "1 edges that are no roads" in told and "'a_path'" in told
    assert "trips within one zone or place are left out: 9" in told


def test_shares_are_those_of_od2trips(grid: Network, folder: tuple[Path, list[str]]) -> None:
    sumo = pytest.importorskip("sumo")
    path, (_, b, _, c, _) = folder
    (path / "m.mtx").write_text("$OR;D2\n0.00 1.00\n1.00\na b 400\nb a 120\n")
    zones = (path / "zones.taz.xml").read_text().replace(" a_path", "")
    (path / "theirs.taz.xml").write_text(zones)
    subprocess.run([Path(sumo.SUMO_HOME) / "bin" / "od2trips", "-n", "theirs.taz.xml", "-d", "m.mtx", "-o", "t.xml"],
                   cwd=path, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    trips = ET.parse(path / "t.xml").getroot().findall("trip")
    theirs = Counter((one.get("fromTaz"), one.get("from")) for one in trips)
    sinks = Counter((one.get("toTaz"), one.get("to")) for one in trips)
    demand = read_demand_files([path / "m.mtx", path / "zones.taz.xml"], grid, DemandOptions(seed=2))  # fmt: skip
    first, last = ends(grid, demand, "a")
    assert len(trips) == len(demand) == 520
    assert abs(theirs["a", b] - first[b]) < 4.0 * sqrt(400 * 0.75 * 0.25)
    assert abs(sinks["b", c] - last[c]) < 4.0 * sqrt(400 * 0.25)


def test_the_commands_take_a_matrix_between_taz(
    folder: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, (_, b, _, _, _) = folder
    words = ["grid.h5", "--demand", "od.csv", "--demand", "zones.taz.xml", "--seed", "1"]
    assert main(["run", *words, "--duration", "1h", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] == 520
    assert main(["run", *words, "--duration", "1h", "--json", "--scale", "0.5,to=b"]) == 0
    assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] == 320
    (path / "counts.csv").write_text(f"road,begin,end,count\n{b},0,3600,400\n")
    fit = ["fit", *words, "--counts", "counts.csv", "-o", "fitted.h5", "--matrix", "fitted.csv"]
    assert main(fit) == 0
    rows = [line.split(",") for line in (path / "fitted.csv").read_text().splitlines()[1:]]
    before = {(a, z): float(n) for a, z, _, n in rows}
    assert before == {("a", "b"): 400.0, ("b", "a"): 120.0}


def test_what_cannot_be_meant_is_one_line(
    folder: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = folder
    (path / "other.taz.xml").write_text('<additional><taz id="a" edges="x y"/></additional>')
    (path / "some.taz.xml").write_text(
        (path / "zones.taz.xml").read_text().replace('id="b"', 'id="c"')
    )
    (path / "z.geojson").write_text("{}")
    for files, told in (
        (["other.taz.xml"], "no edge of its 1 taz is a road of"),
        (["some.taz.xml"], "a zone that some.taz.xml does not have"),
        (["zones.taz.xml", "z.geojson"], "zones as polygons, and taz in zones.taz.xml; give one"),
    ):
        demand = [word for name in ["od.csv", *files] for word in ("--demand", name)]
        capsys.readouterr()
        assert main(["run", "grid.h5", *demand, "--duration", "1min"]) == 2
        found = capsys.readouterr().err
        assert told in found and found.strip().count("\n") == 0
