"""What SUMO's demand files hold besides vehicles: followed, refused by name, or told first."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_worlds import straight

import rushhour as rh
from rushhour.cli import main
from rushhour.compat import traci
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.storage import save

TRIP = '<vehicle id="a" depart="0" type="t"><route edges="first last"/></vehicle>'
SIGN = (
    '<variableSpeedSign id="sign" lanes="first_0 gone_0"><step time="20" speed="5"/>'
    '<step time="60" speed="-1"/></variableSpeedSign>'
)


def files(folder: Path, more: str = "", kind: str = "", root: str = "additional") -> list[str]:
    """Words of a run with an additional file, and a type of vehicles with these attributes."""
    save(straight(), folder / "city.h5")
    (folder / "t.rou.xml").write_text(f'<routes><vType id="t" {kind}/>{TRIP}</routes>')
    (folder / "more.add.xml").write_text(f"<{root}>{more}</{root}>")
    demand = ["--demand", str(folder / "t.rou.xml"), "--demand", str(folder / "more.add.xml")]
    return ["run", str(folder / "city.h5"), *demand, "--duration", "2min"]


@pytest.mark.parametrize(("more", "kind", "name", "what"), [
    ('<calibrator id="c" lane="first_0" pos="5"/>', "", "calibrator", "<calibrator>"),
    ('<vaporizer id="first"/>', "", "vaporizer", "<vaporizer>"),
    ("", 'carFollowModel="ACC"', "carFollowModel", "carFollowModel 'ACC'"),
])  # fmt: skip
def test_what_would_change_the_traffic_is_refused_unless_it_is_ignored_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str, kind: str, name: str, what: str
) -> None:
    words = files(tmp_path, more, kind)
    assert main(words) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"{what} would change the traffic and is not followed here" in error
    assert error.endswith(f"--ignore-options {name}")
    assert ".xml:1: " in error
    assert main([*words, "--json", "--ignore-options", name]) == 0
    (told,) = json.loads(capsys.readouterr().out)["differences"]
    assert "ignored, as was asked" in told
    (tmp_path / "s.toml").write_text(
        'network = "city.h5"\n[demand]\nfiles = ["t.rou.xml", "more.add.xml"]\n'
        f'ignore_options = ["{name}"]\n[times]\nduration = "10s"\n'
    )
    assert main(["run", str(tmp_path / "s.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == [told]
    paths, network = [tmp_path / "t.rou.xml", tmp_path / "more.add.xml"], straight()
    with pytest.raises(DemandError, match="would change the traffic"):
        rh.read_demand(paths, network)
    assert len(rh.read_demand(paths, network, ignored=[name])) == 1


def test_names_that_are_none_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*files(tmp_path), "--ignore-options", "calibrators"]) == 2
    assert "wanted an option of a .sumocfg, or of demand files" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "city.h5"), "--trips", "3", "--ignore-options", "x"]) == 2
    assert "--ignore-options is for a .sumocfg and files of SUMO" in capsys.readouterr().err


def test_speed_signs_set_the_limits_of_their_lanes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.h5"
    assert main([*files(tmp_path, SIGN), "--record", str(record), "--json"]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert summary["commands"] == {"given": 2, "refused": 0, "aside": 0}
    (told,) = summary["differences"]
    assert "lanes of speed signs that the network lacks are left out" in told
    with rh.open_run(record) as run:
        way = run.trajectory("a")
    speed = {round(time): v for time, v in zip(way.time.tolist(), way.speed.tolist(), strict=True)}
    assert speed[18] > 10.0 and speed[55] < 6.5 and speed[80] > 10.0


def test_attributes_without_an_effect_are_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = files(tmp_path, "", 'minGapLat="0.5" lcSublane="2"', root="additionals")
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == []


def test_traci_takes_names_of_elements_as_well(tmp_path: Path) -> None:
    from traci_files import scenario

    config = scenario(tmp_path)
    (tmp_path / "c.add.xml").write_text('<additional><calibrator id="c"/></additional>')
    words = ["sumo", "-c", str(config), "-a", str(tmp_path / "c.add.xml")]
    with pytest.raises(traci.TraCIException, match="<calibrator> would change the traffic"):
        traci.start(words)
    traci.start([*words, "--ignore-options", "calibrator"])
    traci.close()
