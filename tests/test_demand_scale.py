"""`--scale` for every kind of demand: so many vehicles, by SUMO's rule, recorded and resumed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cityflow_texts import flow, town, written
from demand_texts import demand_of, network_text, small_network

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import DemandError
from rushhour.traffic.demand.scaling import scaled

pytestmark = pytest.mark.tiny_world  # its commands run as plain Python, too

TRIPS = "".join(f'<trip id="t{i}" depart="{5 * i}" from="a" to="d"/>' for i in range(10))
FLOWS = (
    '<flow id="p" begin="2" end="60" period="7" from="a" to="d"/>'
    '<flow id="n" begin="0" end="50" number="5" from="a" to="e"/>'
)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main(["run", *map(str, words), "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


# What SUMO 1.28 lets depart of these trips (`--tripinfo-output`, `--scale`).
@pytest.mark.parametrize(("factor", "ids"), [
    (0.3, "t0 t4 t7"),
    (0.75, "t0 t2 t3 t4 t6 t7 t8"),
    (1.2, "t0 t0.1 t1 t2 t3 t4 t4.1 t5 t6 t7 t8 t9 t9.1"),
    (1.6, "t0 t0.1 t1 t2 t2.1 t3 t4 t4.1 t5 t5.1 t6 t7 t7.1 t8 t9 t9.1"),
])  # fmt: skip
def test_the_vehicles_of_sumo_depart_to_the_id(tmp_path: Path, factor: float, ids: str) -> None:
    network = small_network(tmp_path)
    found = demand_of(network, tmp_path, TRIPS, scale=factor)
    assert sorted(found.ids) == sorted(ids.split())
    one = demand_of(network, tmp_path, TRIPS)
    again = scaled(one, factor)
    assert again.ids == found.ids
    assert again.depart.tolist() == found.depart.tolist()


@pytest.mark.parametrize(("text", "factor", "times"), [
    ('<flow id="f" begin="50" end="350" number="50" from="a" to="d"/>', 0.3, (15, 50.0, 330.0)),
    ('<flow id="f" begin="50" end="350" number="50" from="a" to="d"/>', 4.0, (200, 50.0, 348.5)),
    ('<flow id="f" begin="50" number="20" period="5" from="a" to="d"/>', 1.5, (30, 50.0, 146.67)),
    ('<flow id="f" begin="50" end="1050" vehsPerHour="360" from="a" to="d"/>', 0.3,
     (30, 50.0, 1016.67)),
    ('<vType id="h" scale="0.5"/><flow id="f" type="h" begin="5" end="305" number="50" from="a" to="d"/>',
     1.5, (38, 5.0, 301.0)),
    ('<flow id="f" begin="0" end="600" probability="1" from="a" to="d"/>', 2.0, (1200, 0.0, 599.0)),
])  # fmt: skip
def test_flows_are_denser_as_sumos_are(
    tmp_path: Path, text: str, factor: float, times: tuple[int, float, float]
) -> None:
    found = demand_of(small_network(tmp_path), tmp_path, text, scale=factor)
    assert (len(found), *found.depart[[0, -1]].round(2).tolist()) == times


def test_the_scale_of_a_type_counts_beside_that_of_the_run(tmp_path: Path) -> None:
    types = '<vType id="twice" scale="2"/><vType id="never" scale="0"/>'
    text = types + "".join(
        f'<trip id="{kind}{i}" type="{kind}" depart="{i}" from="a" to="d"/>'
        for i in range(10) for kind in ("twice", "never")
    )  # fmt: skip
    found = demand_of(small_network(tmp_path), tmp_path, text, scale=1.5)
    assert len(found) == 30
    assert not any(name.startswith("never") for name in found.ids)
    assert not any("'scale'" in remark for remark in found.remarks)


def test_a_copy_is_given_no_id_that_is_taken(tmp_path: Path) -> None:
    text = '<trip id="a" depart="0" from="a" to="d"/><trip id="a.1" depart="1" from="a" to="d"/>'
    network = small_network(tmp_path)
    wanted = ["a", "a.1", "a.1.1", "a.2"]
    assert sorted(demand_of(network, tmp_path, text, scale=2.0).ids) == wanted
    assert sorted(scaled(demand_of(network, tmp_path, text), 2.0).ids) == wanted


@pytest.mark.parametrize("factor", [-0.1, float("nan"), float("inf"), 1e7])
def test_a_factor_that_is_none_is_refused(tmp_path: Path, factor: float) -> None:
    network = small_network(tmp_path)
    with pytest.raises(DemandError, match="wanted a factor from 0 to"):
        demand_of(network, tmp_path, TRIPS, scale=factor)
    with pytest.raises(DemandError, match="wanted a factor from 0 to"):
        scaled(demand_of(network, tmp_path, TRIPS), factor)


def test_more_departures_than_can_be_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(DemandError, match="more than 5000000 departures; lower the scale"):
        demand_of(small_network(tmp_path), tmp_path, TRIPS, scale=9e5)


def _files(folder: Path) -> None:
    (folder / "small.net.xml").write_text(network_text())
    (folder / "t.rou.xml").write_text(f"<routes>{TRIPS}</routes>")
    (folder / "f.rou.xml").write_text(f"<routes>{FLOWS}</routes>")
    rows = "".join(f"{5 * i},a,d\n" for i in range(10))
    (folder / "t.csv").write_text("depart,origin,destination\n" + rows)
    (folder / "c.toml").write_text(
        'network = "small.net.xml"\n[demand]\nfiles = ["t.rou.xml"]\nscale = 1.2\n'
    )
    (folder / "c.sumocfg").write_text(
        '<configuration><net-file value="small.net.xml"/><route-files value="t.rou.xml"/>'
        '<scale value="1.2"/><scale-suffix value="_"/></configuration>'
    )


@pytest.mark.parametrize(("words", "departed"), [
    (["small.net.xml", "--demand", "t.rou.xml", "--scale", "1.2"], 13),
    (["small.net.xml", "--demand", "f.rou.xml", "--scale", "2"], 27),
    (["small.net.xml", "--demand", "t.csv", "--scale", "0.3"], 3),
    (["small.net.xml", "--trips", "10", "--over", "1min", "--scale", "1.5"], 15),
    (["small.net.xml", "--vehicles", "4", "--duration", "1s", "--scale", "0.5"], 2),
    (["c.toml"], 13),
    (["c.toml", "--scale", "3"], 30),
    (["c.sumocfg"], 13),
    (["c.sumocfg", "--scale", "2.5"], 25),
])  # fmt: skip
def test_every_demand_of_run_is_scaled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: Sequence[str], departed: int,
) -> None:  # fmt: skip
    _files(tmp_path)
    monkeypatch.chdir(tmp_path)
    if "--duration" not in words:
        words = [*words, "--until-empty"]
    assert run(capsys, *words)["vehicles"]["departed"] == departed


def test_cityflows_flows_are_scaled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = written(tmp_path, town())
    flows = written(tmp_path, [flow("w-a", "a-n", endTime=30)], "flows.json")
    once = run(capsys, net, "--demand", flows, "--duration", "2min")["vehicles"]
    more = run(capsys, net, "--demand", flows, "--duration", "2min", "--scale", "2")["vehicles"]
    due = [one["departed"] + one["waiting_to_depart"] for one in (once, more)]
    assert due[1] == 2 * due[0] > 0


def test_a_scaled_run_is_recorded_and_goes_on_with_the_same_bits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _files(tmp_path)
    record = tmp_path / "r.h5"
    whole = run(capsys, tmp_path / "c.sumocfg", "--record", record, "--keyframe-every", "10s")
    with rh.open_run(record) as stored:
        assert "t4_1" in stored.demand.ids
    resumed = run(capsys, "--resume", record, "--at", "20s", "--record", tmp_path / "more.h5")
    assert resumed["state_hash"] == whole["state_hash"]
    assert main(["run", "--resume", str(record), "--scale", "0"]) == 2
    assert "--scale with --resume" in capsys.readouterr().err
