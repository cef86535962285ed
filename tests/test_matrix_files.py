"""Matrices in the forms of the field: each holds what an independent reader finds in it."""

import csv
import gzip
import json
import re
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest
from gmns_texts import written
from real_data import data_folder

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import DemandError, RushhourError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.files import DemandOptions, read_demand_files
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


def test_an_omx_file_of_several_matrices_names_them_and_the_one_that_is_asked_for_drives(
    tmp_path: Path, network: Network, capsys: pytest.CaptureFixture[str]
) -> None:
    openmatrix = pytest.importorskip("openmatrix")
    morning = np.zeros((4, 4))
    morning[0, 2], morning[3, 0] = 4.0, 3.0
    with openmatrix.open_file(str(tmp_path / "two.omx"), "w") as file:
        file["am"], file["pm"] = morning, 2.0 * morning.T
    with pytest.raises(DemandError, match=r"two.omx: OMX with 2 matrices \(am, pm\); say which one drives by --demand-matrix"):  # fmt: skip
        read_matrix(tmp_path / "two.omx", network)
    assert counts(read_matrix(tmp_path / "two.omx", network, matrix="am")) == {"1-3": 4, "4-1": 3}
    assert main(["info", str(tmp_path / "two.omx"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["volumes"] == {"am": 7.0, "pm": 14.0}
    written(tmp_path / "net")
    words = ["--demand", str(tmp_path / "two.omx"), "--demand-matrix", "pm"]
    assert Counter(name for name, _ in departures(tmp_path, words, capsys)) == Counter(
        [f"3-1.{k}" for k in range(8)] + [f"1-4.{k}" for k in range(6)]
    )
    refused(tmp_path, [*words[:-1], "noon"], r"\(am, pm\), none called 'noon'", capsys)
    (tmp_path / "od.csv").write_text("o,d,trips\n1,3,4\n")
    refused(tmp_path, ["--demand", str(tmp_path / "od.csv"), *words[2:]], r"matrix 'pm' is asked for, which is for OMX", capsys)  # fmt: skip
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


# --- by the command line ----------------------------------------------------------------------

VOLUMES = np.array([[0.0, 6.5, 4.25], [2.0, 0.0, 3.0], [0.0, 5.75, 0.0]])  # between zones 1, 3, 4


def in_form(folder: Path, form: str) -> list[str]:
    """The same matrix in a form: the words that ask for it, from 7:30 to 7:45."""
    rows = [(a, b, VOLUMES[i, j]) for i, a in enumerate("134") for j, b in enumerate("134")]
    text = "\n".join(f"{a},{b},{v}" for a, b, v in rows if v)
    path = folder / f"m.{form.partition(' ')[0]}"
    at = ["--begin", "7:30", "--demand-period", "15min"]
    if form == "csv":
        path.write_text("volume,note,D_ZONE_ID,o_zone_id\n" + "\n".join(
            f"{v},x,{b},{a}" for a, b, v in rows if v
        ))  # fmt: skip
    elif form == "csv.gz":
        path.write_bytes(gzip.compress(f"o_zone_id,d_zone_id,volume\n{text}\n".encode()))
    elif form == "omx":
        openmatrix = pytest.importorskip("openmatrix")
        with openmatrix.open_file(str(path), "w") as file:
            file["trips"] = VOLUMES
            file.create_mapping("taz", [1, 3, 4])
    else:
        at = []
        body = text.replace(",", " ") if form.endswith("$O") else (
            "3\n1 3 4\n" + "\n".join(" ".join(map(str, row)) for row in VOLUMES)
        )  # fmt: skip
        head = "$OR" if form.endswith("$O") else "$VR"
        path.write_text(f"{head}\n* from to\n7.30 7.45\n* factor\n1\n{body}\n")
    return ["--demand", str(path), *at]


def departures(folder: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> list[tuple[str, float]]:  # fmt: skip
    """Trips of a run by the command line and when they were to depart, as `export` writes them."""
    run, table = folder / "run.h5", folder / "trips.csv"
    assert main(["run", str(folder / "net"), *words, "--dt", "0.5", "--record", str(run), "--json"]) == 0  # fmt: skip
    assert main(["export", str(run), "--table", "trips", "--to", str(table)]) == 0
    capsys.readouterr()
    with table.open(encoding="utf-8", newline="") as file:
        return [(row["trip"], float(row["depart_s"])) for row in csv.DictReader(file)]


def test_a_matrix_drives_the_same_trips_in_every_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "net")
    forms = ("csv", "csv.gz", "omx", "mtx $O", "mtx $V")
    found = {form: departures(tmp_path, in_form(tmp_path, form), capsys) for form in forms}
    assert 19 <= len(found["csv"]) <= 24
    assert {name.partition(".")[0] for name, _ in found["csv"]} >= {"1-3", "1-4", "3-1", "3-4"}
    assert all(27_000.0 <= depart < 27_900.0 for _, depart in found["csv"])
    for form in forms[1:]:
        assert found[form] == found["csv"], form


def test_a_profile_shares_out_each_form_by_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "net")
    for form in ("csv", "omx", "mtx $O"):
        words = [*in_form(tmp_path, form), "--demand-profile", "1,0,3", "--scale", "40"]
        depart = np.array([at for _, at in departures(tmp_path, words, capsys)])
        share = np.histogram(depart, bins=(27_000, 27_300, 27_600, 27_900))[0] / depart.size
        assert depart.size == pytest.approx(40 * VOLUMES.sum(), abs=6)
        assert share[1] == 0.0 and share[0] == pytest.approx(0.25, abs=0.06), form  # 4 std errors


def made(path: Path, data: object, lookup: object = None, **lookups: object) -> None:
    """An OMX file as h5py writes it, fit or unfit."""
    with h5py.File(path, "w") as file:
        if data is not None:
            file.create_group("data")["trips"] = data
        for name, ids in {**({} if lookup is None else {"zone": lookup}), **lookups}.items():
            file[f"lookup/{name}"] = ids


def linked(path: Path, data: object) -> None:
    made(path.with_name("other.omx"), data, [1, 3, 4])
    made(path, None)
    with h5py.File(path, "a") as file:
        file["data/trips"] = h5py.ExternalLink("other.omx", "data/trips")


def virtual(path: Path, data: object) -> None:
    made(path.with_name("other.omx"), data, [1, 3, 4])
    layout = h5py.VirtualLayout((3, 3), float)
    layout[:] = h5py.VirtualSource("other.omx", "data/trips", (3, 3))
    with h5py.File(path, "w") as file:
        file.create_group("data").create_virtual_dataset("trips", layout)


def grouped(path: Path, data: object) -> None:
    made(path, None)
    with h5py.File(path, "a") as file:
        file.create_group("data/trips")


def cut(path: Path, data: object) -> None:
    made(path, data, [1, 3, 4])
    path.write_bytes(path.read_bytes()[:-900])


BAD_OMX = {
    "negative": (lambda p, v: made(p, -v, [1, 3, 4]), r"m.omx:1: volume '-6.5'; give a number"),
    "endless": (lambda p, v: made(p, v + np.inf, [1, 3, 4]), r"volume 'inf'; give a number"),
    "of more trips than there may be": (lambda p, v: made(p, 1e8 * v, [1, 3, 4]), r"more than 10000000 trips"),
    "of texts": (lambda p, v: made(p, v.astype("S4"), [1, 3, 4]), r"trips is \|S4 \(3, 3\); wanted numbers"),
    "not square": (lambda p, v: made(p, v[:2], [1, 3]), r"trips is float64 \(2, 3\); wanted numbers, square"),
    "a number": (lambda p, v: made(p, 3.0), r"trips is float64 \(\); wanted numbers, square"),
    "empty": (lambda p, v: made(p, None), r"OMX with 0 matrices \(none\)"),
    "a group": (grouped, r"trips is a group; wanted an array"),
    "in another file": (linked, r"trips is kept in another file"),
    "gathered from another file": (virtual, r"trips is kept in another file"),
    "with zones that are called alike": (lambda p, v: made(p, v, [1, 3, 3]), r"two of its zones are called '3'"),
    "with too few zones": (lambda p, v: made(p, v, [1, 3]), r"lookup zone has \(2,\); wanted 3 zones"),
    "with two lookups of zones": (
        lambda p, v: made(p, v, zone_a=[1, 3, 4], zone_b=[4, 3, 1]), r"OMX with 2 lookups \(zone_a, zone_b\)"),
    "with lookups of which none says zone": (
        lambda p, v: made(p, v, a=[1, 3, 4], b=[4, 3, 1]), r"OMX with 2 lookups \(a, b\); wanted one"),
    "of unknown zones": (lambda p, v: made(p, v, [1, 3, 1234567.0]), r"'1-1234567': a zone that the network does not have"),
    "cut off": (cut, r"not read as OMX"),
    "no HDF5": (lambda p, v: p.write_bytes(b"nothing"), r"not read as OMX"),
    "not there": (lambda p, v: None, r"m.omx: cannot be read \(No such file"),
}  # fmt: skip

BAD_VISUM = {
    "of a part of a zone": (SQUARE.replace("\n3\n", "\n3.5\n"), r":9: number of zones '3.5'; give a whole number"),
    "of no zone": (SQUARE.replace("\n3\n", "\n0\n"), r":9: number of zones '0'"),
    "of more zones than there may be": (SQUARE.replace("\n3\n", "\n99999\n"), r":9: number of zones '99999'"),
    "with zones that are called alike": (SQUARE.replace(" 1 3 4", " 1 3 3"), r"two of its zones are called '3'"),
    "with a volume too many": (SQUARE + "1\n", r"13 entries for 3 zones"),
    "negative": (PAIRS.replace("2.50", "-2.5"), r":8: volume '-2.5'"),
    "with a decimal comma": (PAIRS.replace("2.50", "2,50"), r":8: volume '2,50'"),
    "at no time": (PAIRS.replace("7.30", "7.75"), r":3: minutes '75'"),
    "of a period that is given, too": (PAIRS, r"says that it is for 7:30:00 to 8:15:00"),
    "by another key": (PAIRS.replace("$O", "$E"), r":1: '\$ER;D2'; wanted a matrix of VISUM"),
    "empty": ("", r":1: ''; wanted a matrix of VISUM"),
}  # fmt: skip


def refused(folder: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    """Whether the command line ends with 2 and one line that says so."""
    assert main(["run", str(folder / "net"), *words]) == 2
    told = capsys.readouterr().err
    assert told.startswith("rushhour: error: ") and told.count("\n") == 1, told
    assert re.search(message, told), told


@pytest.mark.parametrize("kind", BAD_OMX)
def test_an_omx_file_that_cannot_be_meant_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    written(tmp_path / "net")
    write, message = BAD_OMX[kind]
    write(tmp_path / "m.omx", VOLUMES)
    refused(tmp_path, ["--demand", str(tmp_path / "m.omx")], message, capsys)


@pytest.mark.parametrize("kind", BAD_VISUM)
def test_a_matrix_of_visum_that_cannot_be_meant_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    written(tmp_path / "net")
    text, message = BAD_VISUM[kind]
    (tmp_path / "m.mtx").write_text(text)
    words = ["--demand", str(tmp_path / "m.mtx")]
    if "given, too" in kind:
        words += ["--demand-period", "2h"]
    refused(tmp_path, words, message, capsys)


def test_zones_of_an_omx_file_keep_long_numbers_texts_and_a_byte_order_mark_harms_nobody(
    tmp_path: Path, network: Network
) -> None:
    ids = network.zone_ids
    assert ids == ("1", "2", "3", "4")
    for lookup in (np.array([1.0, 3.0, 4.0]), np.array([b"1", b"3", b"4"]), [1, 3, 4]):
        made(tmp_path / "m.omx", np.round(VOLUMES), lookup)
        assert set(counts(read_matrix(tmp_path / "m.omx", network))) == {"1-3", "1-4", "3-1", "3-4", "4-3"}  # fmt: skip
    (tmp_path / "m.mtx").write_text("\ufeff" + PAIRS, encoding="utf-8")
    assert counts(read_matrix(tmp_path / "m.mtx", network)) == {"1-3": 2, "3-4": 5, "4-1": 22}


@pytest.mark.parametrize(
    "header",
    ["origin,destination,trips", "From,To,Count", "O,D,Flow", "\ufeffo_zone,d_zone,demand", '"otaz","dtaz","vehicles"'],
)  # fmt: skip
def test_a_csv_is_a_matrix_by_any_of_the_usual_names_of_its_columns(
    network: Network, tmp_path: Path, header: str
) -> None:
    rows = "1,3,4\n3,4,2\n"
    (tmp_path / "own.csv").write_text(f"o_zone_id,d_zone_id,volume\n{rows}")
    (tmp_path / "od.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
    own, found = (
        read_demand_files([tmp_path / name], network, DemandOptions())
        for name in ("own.csv", "od.csv")
    )
    assert found.ids == own.ids and len(found) == 6
    np.testing.assert_array_equal(found.depart, own.depart)
    np.testing.assert_array_equal(found.roads, own.roads)


def test_a_column_of_a_matrix_that_is_not_used_is_said(network: Network, tmp_path: Path) -> None:
    (tmp_path / "od.csv").write_text("o,d,trips,from_time\n1,3,4,6:00\n")
    remarks = read_demand_files([tmp_path / "od.csv"], network, DemandOptions()).remarks
    assert "columns of od.csv that are not used: from_time" in remarks


def test_trips_with_a_departure_are_no_matrix_and_a_table_that_is_neither_is_told_what_both_have(
    network: Network, tmp_path: Path
) -> None:
    road = network.road_ids[0]
    (tmp_path / "trips.csv").write_text(
        f"id,depart,origin,destination,count\na,5,{road},{road},2\n"
    )
    assert read_demand_files([tmp_path / "trips.csv"], network, DemandOptions()).ids == ("a",)
    (tmp_path / "other.csv").write_text("zone,one,three\n1,0,4\n3,2,0\n")
    with pytest.raises(DemandError, match=r"other\.csv: has no column depart; it has zone, one, three; a matrix .*o_zone_id"):  # fmt: skip
        read_demand_files([tmp_path / "other.csv"], network, DemandOptions())


@pytest.mark.parametrize("text", [
    ",1,3,4\n1,0,6,4\n3,2,,3\n4,0,5,0\n", "zone,1,3,4\n1,0,6,4\n3,2,0,3\n4,0,5,0\n",
    "\ufeff0,0,6,4\n0,0,0,0\n2,0,0,3\n0,0,5,0\n",
])  # fmt: skip
def test_a_square_csv_is_the_matrix_of_its_rows_and_columns(
    network: Network, tmp_path: Path, text: str
) -> None:
    (tmp_path / "square.csv").write_text(text, encoding="utf-8")
    pairs = {"1-3": 6, "1-4": 4, "3-1": 2, "3-4": 3, "4-3": 5}
    assert counts(rh.read_demand(tmp_path / "square.csv", network)) == pairs


@pytest.mark.parametrize(("text", "message"), [
    ("1,3,4\n3,4,2\n4,1,6\n", "numbers without names, of which the first ones may be zones; add a first line o_zone_id"),
    ("0,1,3\n1,0,4\n3,2,0\n", "numbers without names"),
    (",1,3\n1,0,4\n4,2,0\n", "2 zones along its first row and 2 down its first column, not the same"),
    (",1,3\n1,0,4\n", "2 zones along its first row and 1 down"),
    (",1,3\n1,0,4\n3,2\n", r"square.csv:3: 1 volumes for 2 zones"),
    (",1,3\n1,0,4\n3,-2,0\n", r"square.csv:3: volume '-2'"),
    (",1,1\n1,0,4\n1,2,0\n", "two of its zones are called '1'"),
    ("0,6,4,0\n2,0,0,3\n0,0,5,0\n", r"square.csv:1: 4 volumes for 3 zones"),
])  # fmt: skip
def test_a_square_csv_that_cannot_be_meant_is_told(
    network: Network, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "square.csv").write_text(text)
    with pytest.raises(DemandError, match=message):
        rh.read_demand(tmp_path / "square.csv", network)
