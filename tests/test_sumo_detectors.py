"""Detectors of SUMO's additional files: where they lie, how often they report, what is refused."""

import random
from pathlib import Path

import numpy as np
import pytest
from damage import damaged_text
from demand_texts import small_network
from real_data import data_folder

from rushhour.cli import main
from rushhour.roadnets.errors import DemandError, RushhourError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.measures.detectors import Loop, Queue
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.sumo.detectors import Detectors, read_detectors
from rushhour.traffic.world import World

GOOD = (
    '<additional><inductionLoop id="d" lane="a_1" pos="50" period="300" file="o.xml"/>'
    '<e1Detector id="e" lane="b_0" pos="-10" freq="0:15:00" file="o.xml"/>'
    '<laneAreaDetector id="f" lanes="a_1 d_0" pos="0" endPos="9" file="o.xml"/>'
    "<!-- <e1Detector id='g' lane='b_0' pos='1'/> --></additional>"
)


@pytest.fixture
def network(tmp_path: Path) -> Network:
    return small_network(tmp_path)


def read(network: Network, folder: Path, text: str) -> Detectors:
    path = folder / "detectors.add.xml"
    path.write_text(text)
    return read_detectors([path], network)


def test_loops_lie_at_their_metres_of_the_declared_length(network: Network, tmp_path: Path) -> None:
    found = read(network, tmp_path, GOOD)
    lane = network.lane_index
    length = network.arrays.lanes.length
    assert [(x.name, x.lane, x.interval) for x in found.loops] == [
        ("d", lane["a_1"], 300.0), ("e", lane["b_0"], 900.0),
    ]  # fmt: skip
    d, e = found.loops
    assert d.pos == pytest.approx(50.0 / 200.0 * length[lane["a_1"]])  # 200 m declared
    assert e.pos == pytest.approx(90.0 / 100.0 * length[lane["b_0"]])
    assert found.queues == [Queue("f", lane["d_0"])]
    assert found.remarks == [
        "<laneAreaDetector> is measured as the queue at the end of its lane: 1 (f)"
    ]


def test_what_is_not_measured_is_remarked(network: Network, tmp_path: Path) -> None:
    found = read(
        network, tmp_path,
        '<additional><e1Detector id="a" lane="nowhere_0" pos="1"/><e3Detector id="b"/>'
        '<e1Detector id="c" lane="b_0" pos="1"/><e1Detector id="c" lane="b_0" pos="500"/>'
        '<include href="x.xml"/><poly id="p"/></additional>',
    )  # fmt: skip
    assert found.loops == [Loop("c", network.lane_index["b_0"], found.loops[0].pos)]
    assert found.loops[0].pos == network.arrays.lanes.length[found.loops[0].lane]
    remarks = "\n".join(found.remarks)
    for what in (
        "detectors on lanes that the network lacks are left out: 1 (a)",
        "<e3Detector> is not measured: 1",
        "detectors given more than once, the last is taken: 1 (c)",
        "pos beyond the lane, moved to its end: 1",
        "included files are not searched for detectors: 1",
    ):
        assert what in remarks


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ('<e1Detector lane="b_0" pos="1"/>', "has no 'id'; give one"),
        ('<e1Detector id="d" pos="1"/>', "e1Detector 'd': has no 'lane'; give one"),
        ('<e1Detector id="d" lane="b_0" pos="far"/>', "pos 'far'; give a number"),
        ('<e1Detector id="d" lane="b_0" pos="nan"/>', "pos 'nan'; give a number"),
        ('<e1Detector id="d" lane="b_0" pos="1" freq="x"/>', "period 'x'"),
        ('<e1Detector id="d" lane="b_0" pos="1" period="1e99"/>', "period '1e99'"),
        ("<e1Detector", "not well-formed XML"),
    ],
)
def test_a_detector_that_cannot_be_meant_is_refused_with_its_line(
    network: Network, tmp_path: Path, element: str, message: str
) -> None:
    with pytest.raises(RushhourError) as caught:
        read(network, tmp_path, f"<additional>\n{element}\n</additional>")
    assert message in str(caught.value) and "detectors.add.xml:" in str(caught.value)
    assert isinstance(caught.value, DemandError) or "XML" in message


def test_damaged_files_end_in_an_error_or_in_detectors_on_the_network(
    network: Network, tmp_path: Path
) -> None:
    draw = random.Random(7)
    refused = 0
    for _ in range(300):
        path = tmp_path / "detectors.add.xml"
        path.write_bytes(damaged_text(draw, GOOD.encode()))
        try:
            found = read_detectors([path], network)
        except RushhourError as error:
            assert "\n" not in str(error)
            refused += 1
            continue
        world = World(network)
        Measures(world, loops=found.loops, queues=found.queues)  # type: ignore[arg-type]
    assert 50 < refused < 300


def test_the_loops_of_bologna_are_on_its_lanes(capsys: pytest.CaptureFixture[str]) -> None:
    folder = data_folder("sumo_bologna_acosta")
    network = load_network(folder / "acosta.net.xml.gz")
    found = read_detectors([folder / "acosta_detectors.add.xml"], network)
    assert len(found.loops) == 58 and not found.queues
    assert {loop.interval for loop in found.loops} == {1800.0}
    lanes = {loop.name: network.lane_ids[int(loop.lane)] for loop in found.loops}
    assert lanes["0.127_2.73_6_1__l1"] == "104_1"
    length = network.arrays.lanes.length
    assert all(0.0 <= loop.pos <= length[int(loop.lane)] for loop in found.loops)


def test_detectors_of_additional_files_are_measured_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small_network(tmp_path)
    (tmp_path / "d.add.xml").write_text(GOOD)
    trips = "".join(
        f'<vehicle id="v{i}" depart="{5 * i}"><route edges="a b e"/></vehicle>' for i in range(6)
    )
    (tmp_path / "t.rou.xml").write_text(f"<routes>{trips}</routes>")
    words = ["run", "small.net.xml", "--demand", "t.rou.xml", "--demand", "d.add.xml"]
    assert main([*words, "--measure", "1min", "--output", "out"]) == 0
    told = capsys.readouterr().out
    assert "2 loops passed 12 times" in told and "1 queues" in told
    rows = np.genfromtxt(tmp_path / "out" / "loops.csv", delimiter=",", names=True, dtype=None,
                         encoding="utf-8")  # fmt: skip
    assert rows["count"].sum() == 12
    assert main([*words, "--json"]) == 0
    assert "<e1Detector> is left to `rushhour run --measure`: 1" in capsys.readouterr().out
