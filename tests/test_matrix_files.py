"""Matrices in the forms of the field: each holds what an independent reader finds in it."""

import json
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from gmns_texts import written
from real_data import data_folder

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import DemandError, RushhourError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.matrix import read_matrix
from rushhour.traffic.demand.model import Demand

PAIRS = """$OR;D2
* From-Time  To-Time
7.30 8.15
* Factor
2.00
* a remark
         1          3       1.00
         3          4       2.50
         4          1      11.00
"""
SQUARE = """$VMR
* vehicle type
4
* From-Time  To-Time
7.00 8.00
* Factor
3.00
* District number
3
* names
 1 3 4
* volumes
 0 4 1
 2 0 0
 0 5 7
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return load_network(written(tmp_path_factory.mktemp("gmns")))


def counts(demand: Demand) -> dict[str, int]:
    return dict(Counter(name.rpartition(".")[0] for name in demand.ids))


def by_od2trips(folder: Path, text: str) -> tuple[dict[str, int], list[float]]:
    """What SUMO's od2trips makes of a matrix: trips by pair, and when they depart."""
    sumo = pytest.importorskip("sumo")
    zones = "".join(f'<taz id="{z}" edges="e{z}"/>' for z in (1, 3, 4))
    (folder / "taz.xml").write_text(f"<additional>{zones}</additional>")
    (folder / "m.mtx").write_text(text)
    subprocess.run([Path(sumo.SUMO_HOME) / "bin" / "od2trips", "-n", "taz.xml", "-d", "m.mtx", "-o", "trips.xml",
                    "--ignore-errors"], cwd=folder, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    trips = ET.parse(folder / "trips.xml").getroot().findall("trip")
    pairs = Counter(f"{one.get('fromTaz')}-{one.get('toTaz')}" for one in trips)
    return dict(pairs), [float(one.get("depart", "nan")) for one in trips]


@pytest.mark.parametrize("text", [PAIRS, SQUARE], ids=["pairs", "square"])
def test_a_matrix_of_visum_has_the_trips_that_od2trips_reads_from_it(
    tmp_path: Path, network: Network, text: str
) -> None:
    theirs, times = by_od2trips(tmp_path, text)
    demand = read_matrix(tmp_path / "m.mtx", network)
    stays = {pair for pair in theirs if pair.split("-")[0] == pair.split("-")[1]}  # left out by us
    assert stays == ({"4-4"} if text is SQUARE else set())
    assert counts(demand) == {pair: n for pair, n in theirs.items() if pair not in stays}
    low, high = (25_200.0, 28_800.0) if text is SQUARE else (27_000.0, 29_700.0)
    for depart in (np.array(times), demand.depart):
        assert low <= depart.min() < depart.max() < high


def test_a_matrix_of_visum_departs_at_its_time_and_takes_no_other(
    tmp_path: Path, network: Network
) -> None:
    (tmp_path / "m.mtx").write_text(PAIRS)
    late = read_matrix(tmp_path / "m.mtx", network, begin=28_800.0)
    every = read_matrix(tmp_path / "m.mtx", network)
    assert set(late.ids) == {n for n, t in zip(every.ids, every.depart, strict=True) if t >= 28_800}
    with pytest.raises(DemandError, match=r"m.mtx: says that it is for 7:30:00 to 8:15:00; leave"):
        read_matrix(tmp_path / "m.mtx", network, period="2h")


@pytest.mark.parametrize(("text", "message"), [
    (PAIRS.replace("$OR", "OR"), r":1: 'OR;D2'; wanted a matrix of VISUM"),
    (PAIRS.replace("2.50", "x"), r":8: volume 'x'; give a number"),
    (PAIRS.replace("11.00", ""), r":9: a row without from, to and volume"),
    (PAIRS.replace("8.15", "7.10"), r"wanted an end after the begin"),
    (PAIRS.partition("* Factor")[0], r"ends before its factor"),
    (SQUARE.replace(" 2 0 0\n", " 2 0\n"), r"11 entries for 3 zones; wanted their names and 3 x 3"),
])  # fmt: skip
def test_a_damaged_matrix_of_visum_is_told_by_its_line(
    tmp_path: Path, network: Network, text: str, message: str
) -> None:
    (tmp_path / "m.mtx").write_text(text)
    with pytest.raises(RushhourError, match=message):
        read_matrix(tmp_path / "m.mtx", network)


def test_an_omx_file_of_openmatrix_is_the_csv_with_the_same_volumes(tmp_path: Path) -> None:
    openmatrix = pytest.importorskip("openmatrix")
    folder = data_folder("gmns_siouxfalls")
    network = load_network(folder)
    rows = [line.split(",") for line in (folder / "demand.csv").read_text().split()[1:]]
    volumes = np.zeros((24, 24))
    for a, b, volume in rows:
        volumes[int(a) - 1, int(b) - 1] = float(volume)
    with openmatrix.open_file(str(tmp_path / "sf.omx"), "w") as file:
        file["trips"] = volumes
        file.create_mapping("zone_number", list(range(1, 25)))
    ours = read_matrix(tmp_path / "sf.omx", network, period="1h", scale=0.01, seed=3)
    csv = read_matrix(folder / "demand.csv", network, period="1h", scale=0.01, seed=3)
    assert len(ours) > 3000 and ours.ids == csv.ids
    np.testing.assert_array_equal(ours.depart, csv.depart)
    np.testing.assert_array_equal(ours.roads, csv.roads)
    with openmatrix.open_file(str(tmp_path / "sf.omx")) as file:  # as the library reads it
        whole = 0.01 * np.array(file["trips"])
    assert abs(len(ours) - whole.sum()) < 5.0 * np.sqrt(whole.size)


def test_an_omx_file_of_several_matrices_names_them(tmp_path: Path, network: Network) -> None:
    openmatrix = pytest.importorskip("openmatrix")
    with openmatrix.open_file(str(tmp_path / "two.omx"), "w") as file:
        file["am"], file["pm"] = np.ones((2, 2)), np.ones((2, 2))
    with pytest.raises(DemandError, match=r"two.omx: OMX with 2 matrices \(am, pm\); wanted one"):
        read_matrix(tmp_path / "two.omx", network)
    (tmp_path / "bad.omx").write_bytes(b"nothing")
    with pytest.raises(DemandError, match="bad.omx: not read as OMX"):
        read_matrix(tmp_path / "bad.omx", network)


def test_intersections_are_zones_where_a_network_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = rh.generate("grid", rows=3, columns=3)
    assert not grid.zone_ids
    path = tmp_path / "demand.csv"
    path.write_text("o_zone_id,d_zone_id,volume\n0.0,2.2,7\n2.2,1.0,4\n")
    demand = read_matrix(path, grid)
    assert counts(demand) == {"0.0-2.2": 7, "2.2-1.0": 4}
    roads, ids = grid.arrays.roads, grid.intersection_ids
    for k, name in enumerate(demand.ids):
        a, b = demand.roads[demand.route_start[k]], demand.roads[demand.route_start[k + 1] - 1]
        ends = f"{ids[roads.from_intersection[a]]}-{ids[roads.to_intersection[b]]}"
        assert name.rpartition(".")[0] == ends
    path.write_text("o_zone_id,d_zone_id,volume\nx,y,7\n")
    with pytest.raises(DemandError, match="none of its zones is one of"):
        read_matrix(path, grid)
    (tmp_path / "m.mtx").write_text(PAIRS)
    capsys.readouterr()
    assert main(["info", str(tmp_path / "m.mtx"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["pairs"], facts["zones"], facts["volume"]) == (3, 3, 29.0)
    assert (facts["begin_s"], facts["end_s"]) == (27_000.0, 29_700.0)
