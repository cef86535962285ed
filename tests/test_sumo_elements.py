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

WAY = "first last"
TRIP = '<vehicle id="a" depart="0" type="t"><route edges="first last"/></vehicle>'
SIGN = (
    '<variableSpeedSign id="sign" lanes="first_0 gone_0"><step time="20" speed="5"/>'
    '<step time="60" speed="-1"/></variableSpeedSign>'
)


def rerouter(inside: str, more: str = "") -> str:
    """A rerouter that comes into force when the runs here are over."""
    within = f'<interval begin="900" end="999">{inside}</interval>'
    return f'<rerouter id="r" edges="first" {more}>{within}</rerouter>'


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
    ("", 'carFollowModel="EIDM"', "carFollowModel", "carFollowModel 'EIDM'"),
    ("", 'length="25"', "length", "length 25 m, above 18,"),
    ("", 'jmDriveAfterRedTime="5"', "jmDriveAfterRedTime", "'jmDriveAfterRedTime' of <vType>, '5',"),
    ("", 'laneChangeModel="SL2015"', "laneChangeModel", "'laneChangeModel' of <vType>, 'SL2015',"),
    ("", 'actionStepLength="1"', "actionStepLength", "'actionStepLength' of <vType>, '1',"),
    (f'<person id="p" depart="0"><walk edges="{WAY}"/></person>', "", "person", "<person>"),
    ('<containerFlow id="p"/>', "", "containerFlow", "<containerFlow>"),
    ('<WAUT id="w" startProg="a"/>', "", "WAUT", "<WAUT>"),
    (f'<vehicle id="b" depart="9" arrivalLane="0"><route edges="{WAY}"/></vehicle>', "",
     "arrivalLane", "'arrivalLane' of <vehicle>, '0',"),
    ('<trip id="b" depart="9" from="first" to="last" speedFactor="2"/>', "", "speedFactor",
     "'speedFactor' of <trip>, '2',"),
    ('<trip id="b" depart="triggered" from="first" to="last"/>', "", "triggered", "depart='triggered'"),
    ('<trip id="b" depart="9" from="first" to="last" type="sedan"/>', "", "type",
     "type 'sedan', that no file given has,"),
    ('<trip id="b" depart="9" from="first" to="last"><stop lane="first_0" duration="1" speed="3"/></trip>',
     "", "speed", "'speed' of <stop>, '3',"),
    ('<trip id="b" depart="9" from="first" to="last"><stop lane="first_0" parking="opportunistic"/></trip>',
     "", "opportunistic", "parking='opportunistic'"),
    ('<vType id="u"><param key="has.rerouting.device" value="true"/></vType>', "",
     "has.rerouting.device", "<param> 'has.rerouting.device', 'true',"),
    ('<trip id="b" depart="9" from="first" to="last"><param key="has.toc.device" value="1"/></trip>',
     "", "has.toc.device", "<param> 'has.toc.device', '1',"),
    ('<vType id="u"><param key="junctionModel.ignoreTypes" value="t"/></vType>', "",
     "junctionModel.ignoreTypes", "<param> 'junctionModel.ignoreTypes', 't',"),
    ('<vType id="u"><carFollowing-Krauss accel="1"/></vType>', "", "carFollowing-Krauss",
     "<carFollowing-Krauss>"),
    (rerouter('<destProbReroute id="last"/>'), "", "destProbReroute", "<destProbReroute>"),
    (rerouter("", 'probability="0.5"'), "", "probability", "'probability' of <rerouter>, '0.5',"),
    (rerouter('<closingReroute id="last" disallow="bus"/>'), "", "disallow",
     "'disallow' of <closingReroute>, 'bus',"),
    ('<variableSpeedSign id="s" lanes="first_0" vTypes="t"/>', "", "vTypes",
     "'vTypes' of <variableSpeedSign>, 't',"),
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
    told = json.loads(capsys.readouterr().out)["differences"]
    assert told[0] == f"{name} is ignored, as was asked: 1"
    (tmp_path / "s.toml").write_text(
        'network = "city.h5"\n[demand]\nfiles = ["t.rou.xml", "more.add.xml"]\n'
        f'ignore_options = ["{name}"]\n[times]\nduration = "10s"\n'
    )
    assert main(["run", str(tmp_path / "s.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == told
    paths, network = [tmp_path / "t.rou.xml", tmp_path / "more.add.xml"], straight()
    if "<rerouter" in more or "<variableSpeedSign" in more:  # read by those who run something
        return
    with pytest.raises(DemandError, match="would change the traffic"):
        rh.read_demand(paths, network)
    assert len(rh.read_demand(paths, network, ignored=[name])) in (1, 2)


@pytest.mark.parametrize("kind", [
    'arrivalLane="current"', 'arrivalSpeed="current"', 'insertionChecks="all"', 'reroute="false"',
    'type="t" color="red" personNumber="2"',
])  # fmt: skip
def test_values_that_ask_for_what_is_done_anyway_are_no_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    more = f'<vehicle id="b" depart="9" {kind}><route edges="{WAY}"/></vehicle>'
    tuned = 'laneChangeModel="LC2013" jmTimegapMinor="1.0" impatience="0" actionStepLength="0"'
    assert main([*files(tmp_path, more, tuned), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == []


@pytest.mark.parametrize(("more", "kind", "where", "why"), [
    ("", 'sigam="0.9"', "t.rou.xml:1: ", "'sigam' of <vType> is none of SUMO's; did you mean sigma?"),
    ('<vTyp id="u"/>', "", "more.add.xml:1: ", "<vTyp> is none of SUMO's; did you mean <vType>?"),
    ('<trip id="b" depart="9" from="first"/>', "", "", "has neither a route nor two edges"),
    ('<trip id="b" depart="9" from="first" to="last"><stop lane="first_0" parking="perhaps"/></trip>',
     "", "", "parking 'perhaps'; give true or false"),
    ('<rerouter id="r" edges="first" off="perhaps"/>', "", "", "off 'perhaps'; give true or false"),
    ('<include href="in.xml"/>', "", "in.xml:1: ", "<rerouter> stands in a file that another includes"),
])  # fmt: skip
def test_what_would_be_missed_silently_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str, kind: str, where: str, why: str
) -> None:
    (tmp_path / "in.xml").write_text(f"<additional>{rerouter('')}</additional>")
    assert main(files(tmp_path, more, kind)) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert where in error
    assert why in error


def test_what_stands_behind_vehicles_is_found_or_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A closing behind a trip of an additional file was read by nobody, though remarked as read.
    trip = '<trip id="b" depart="9" from="first" to="last"/>'
    closed = rerouter('<closingReroute id="last"/>').replace('"900"', '"60"')
    words = files(tmp_path, trip + closed + SIGN)
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["commands"]["given"] == 3
    assert main([*files(tmp_path, trip + closed, root="routes"), "--json"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "more.add.xml:1: <rerouter> stands behind vehicles, where it would be missed" in error
    assert main([*files(tmp_path, closed.replace("edges", 'off="1" edges')), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["commands"]["given"] == 0


def test_names_that_are_none_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*files(tmp_path), "--ignore-options", "calibrators"]) == 2
    assert "did you mean calibrator?" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "city.h5"), "--trips", "3", "--ignore-options", "x"]) == 2
    assert "--ignore-options is for a .sumocfg and files of SUMO" in capsys.readouterr().err


def test_speed_signs_set_the_limits_of_their_lanes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.h5"
    assert main([*files(tmp_path, SIGN), "--record", str(record), "--json"]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert summary["commands"] == {
        "given": 2, "refused": 0, "refused_first": [], "to_come": 0, "to_come_first": [], "aside": 0,
    }  # fmt: skip
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
