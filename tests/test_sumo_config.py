"""SUMO configurations and the kinds of additional files."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from demand_texts import network_text

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import DemandError, RushhourError
from rushhour.roadnets.reading.remarks import differences
from rushhour.traffic.demand.model import LANE_FIRST, SPEED_GIVEN, SPEED_MAX
from rushhour.traffic.scenarios.opening import open_world, opened
from rushhour.traffic.sumo.config import additional_kinds, read_config

TEXT = """<configuration>
<input><net-file value="small.net.xml"/><route-files value="my trips.rou.xml, b.rou.xml"/>
<additional-files value="types.add.xml"/></input>
<time><begin value="0:01:00"/><end value="{end}"/><step-length value="0.5"/></time>
<processing><time-to-teleport value="-1"/></processing>
</configuration>"""


def write(folder: Path, text: str) -> Path:
    path = folder / "small.sumocfg"
    path.write_text(text)
    return path


def test_a_configuration_names_files_beside_it(tmp_path: Path) -> None:
    config = read_config(write(tmp_path, TEXT.format(end=100)))
    assert config.net_file == tmp_path / "small.net.xml"
    assert config.route_files == (tmp_path / "my trips.rou.xml", tmp_path / "b.rou.xml")
    assert config.additional_files == (tmp_path / "types.add.xml",)
    assert (config.begin, config.end, config.step_length) == (60.0, 100.0, 0.5)
    assert config.teleport == -1.0


def test_an_end_of_minus_one_is_no_end(tmp_path: Path) -> None:
    assert read_config(write(tmp_path, TEXT.format(end=-1))).end is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<configuration/>", "names no net-file"),
        (TEXT.format(end="late"), "end 'late'; give a number"),
        (TEXT.format(end=1).replace('"0.5"', '"0"'), "step-length '0'"),
    ],
)
def test_faulty_configurations_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DemandError, match=message) as caught:
        read_config(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_configuration_runs(tmp_path: Path) -> None:
    (tmp_path / "small.net.xml").write_text(network_text())
    trip = '<trip id="v{0}" depart="{0}" from="a" to="e" type="t"/>'
    for name, depart in (("my trips", 70), ("b", 30)):
        (tmp_path / f"{name}.rou.xml").write_text(f"<routes>{trip.format(depart)}</routes>")
    (tmp_path / "types.add.xml").write_text('<additional><vType id="t" length="3"/></additional>')
    world = open_world(opened(write(tmp_path, TEXT.format(end=100))))
    assert world.demand.ids == ("v70",)  # v30 departs before the begin
    assert world.demand.types[0].length == 3.0
    assert world.begin == 60.0
    assert world.demand.remarks == ()


def runnable(folder: Path, options: str) -> Path:
    """A configuration of one trip with some options."""
    (folder / "small.net.xml").write_text(network_text())
    (folder / "t.rou.xml").write_text('<routes><trip id="v" depart="70" from="a" to="e"/></routes>')
    return write(
        folder,
        '<configuration><net-file value="small.net.xml"/><route-files value="t.rou.xml"/>'
        f"{options}</configuration>",
    )


# Options that would change the traffic, with a value that nobody here follows and one that asks for
# what is done anyway.
REFUSED = {
    "lateral-resolution": ("0.8", "-1"),
    "mesosim": ("true", "false"),
    "max-depart-delay": ("60", "-1"),
    "ignore-junction-blocker": ("10", "-1"),
    "lanechange.duration": ("3", "0"),
    "default.speeddev": ("0", "0.1"),
    "default.action-step-length": ("0.5", "0"),
    "device.rerouting.mode": ("8", "0"),
    "device.toc.probability": ("0.5", "0"),
    "device.taxi.explicit": ("v", ""),
    "random-depart-offset": ("5", "0"),
    "weights.random-factor": ("2", "1"),
    "load-state": ("s.xml", ""),
    "tls.all-off": ("true", "false"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_option_that_would_change_the_traffic_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    value, meant = REFUSED[name]
    path = runnable(tmp_path, f'<{name} value="{value}"/>')
    assert main(["run", str(path), "--duration", "1s"]) == 2
    told = capsys.readouterr().err
    assert f"option {name} {value!r} would change the traffic" in told
    assert told.count("\n") == 1
    assert main(["run", str(path), "--duration", "1s", "--ignore-options", name]) == 0
    assert f"differs      options of small.sumocfg that are ignored, as was asked: {name}" in (
        capsys.readouterr().out
    )
    assert opened(runnable(tmp_path, f'<{name} value="{meant}"/>')).network.name == "small.net.xml"


def test_a_name_that_sumo_does_not_have_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(
        DemandError, match=r"'step-lenght' is no option .* did you mean step-length"
    ):
        opened(runnable(tmp_path, '<step-lenght value="1"/>'))
    with pytest.raises(DemandError, match=r"'lateral' is no option of SUMO's"):
        opened(runnable(tmp_path, ""), ignored_options=("lateral",))


def test_options_that_are_taken_set_the_run(tmp_path: Path) -> None:
    options = (
        '<begin value="10"/><end value="100"/><step-length value="0.4"/><seed value="42"/>'
        '<scale value="1.5"/><ignore-route-errors value="true"/><no-warnings value="true"/>'
        '<device.rerouting.probability value="0.5"/><threads value="4"/><collision.action value="warn"/>'
    )
    found = opened(runnable(tmp_path, options))
    assert (found.begin, found.duration, found.dt, found.seed) == (10.0, 90.0, 0.2, 42)
    assert (found.demand_scale, found.skip_bad_trips) == (1.5, True)
    assert found.parameters == (("rerouting.fraction", 0.5),)
    wins = opened(runnable(tmp_path, options), seed=7, dt=0.1, demand_scale=1.0)
    assert (wins.seed, wins.dt, wins.demand_scale) == (7, 0.1, 1.0)


def test_defaults_of_departing_are_those_of_trips_that_say_nothing(tmp_path: Path) -> None:
    path = runnable(tmp_path, '<default.departspeed value="max"/><default.departlane value="2"/>')
    (tmp_path / "t.rou.xml").write_text(
        '<routes><trip id="v" depart="1" from="a" to="d"/>'
        '<trip id="w" depart="2" from="a" to="d" departLane="first" departSpeed="3"/></routes>'
    )
    demand = open_world(opened(path)).demand
    assert demand.depart_speed_kind.tolist() == [SPEED_MAX, SPEED_GIVEN]
    assert demand.depart_speed.tolist() == [0.0, 3.0]
    assert demand.depart_lane.tolist() == [1, LANE_FIRST]  # that on foot is not counted here


def test_a_run_until_an_end_begins_where_sumos_clock_does(tmp_path: Path) -> None:
    world = open_world(scenario := opened(runnable(tmp_path, '<end value="100"/>')))
    assert (world.begin, scenario.duration) == (0.0, 100.0)  # not at the first departure, at 70 s


def test_random_draws_another_seed_and_says_which(tmp_path: Path) -> None:
    path = runnable(tmp_path, '<random value="true"/>')
    first, second = opened(path), opened(path)
    assert first.seed != second.seed
    assert f"seed {first.seed} was drawn" in first.remarks[-1]
    assert opened(path, seed=3).seed == 3


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_remarks_that_tell_of_another_result_come_first_and_are_all_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    path = runnable(tmp_path, '<time-to-teleport value="120"/><fcd-output value="f.xml"/>')
    words = (*words, "--ignore-options", "person")
    notes = "".join(f"<unknown{i}/>" for i in range(9))
    (tmp_path / "t.rou.xml").write_text(
        f'<routes>{notes}<person/><trip id="v" depart="70" from="a" to="e"/></routes>'
    )
    assert main(["run", str(path), "--duration", "1s", *words]) == 0
    out = capsys.readouterr().out
    wanted = ("nobody is teleported", "person is ignored, as was asked: 1")
    if "--json" in words:
        summary = json.loads(out)
        found = summary["differences"]
        assert summary["remarks"][: len(found)] == found
        assert len(summary["remarks"]) > len(found)
    else:
        lines = out.splitlines()
        found = [line[13:] for line in lines if line.startswith("differs")]
        notes_at = [i for i, line in enumerate(lines) if line.startswith("note")]
        assert len(notes_at) == 6
        assert "more; see --json" in lines[notes_at[-1]]
        assert max(i for i, line in enumerate(lines) if line.startswith("differs")) < notes_at[0]
    assert len(found) == len(wanted)
    assert all(any(text in line for line in found) for text in wanted)


def test_differences_are_kept_in_a_recorded_run(tmp_path: Path) -> None:
    path = runnable(tmp_path, "")
    record = tmp_path / "r.h5"
    assert main(["run", str(path), "--duration", "1s", "--record", str(record)]) == 0
    with rh.open_run(record) as stored:
        assert ["teleported" in line for line in differences(stored.demand.remarks)] == [True]


def test_tripinfo_is_written_as_sumo_does(tmp_path: Path) -> None:
    path = runnable(tmp_path, '<tripinfo-output value="info.xml"/>')
    assert main(["run", str(path)]) == 0
    (trip,) = ElementTree.parse(tmp_path / "info.xml").getroot()
    assert (trip.tag, trip.get("id"), trip.get("depart")) == ("tripinfo", "v", "70.00")
    times = [float(trip.get(key, "nan")) for key in ("depart", "duration", "arrival")]
    assert times[0] + times[1] == pytest.approx(times[2], abs=0.02)


def test_a_configuration_writes_nowhere_but_in_its_own_folder(tmp_path: Path) -> None:
    with pytest.raises(DemandError, match="tripinfo-output '../info.xml': wanted a file in"):
        opened(runnable(tmp_path, '<tripinfo-output value="../info.xml"/>'))
    with pytest.raises(DemandError, match=r"tripinfo-output 'small.net.xml': wanted .*\.xml"):
        opened(runnable(tmp_path, '<tripinfo-output value="small.net.xml"/>'))


def test_signal_programs_are_found_behind_thousands_of_others(tmp_path: Path) -> None:
    path = tmp_path / "all.add.xml"
    stops = '<busStop id="s" lane="a_1"/>' * 3000
    path.write_text(f'<additional>{stops}<tlLogic id="t"/></additional>')
    assert additional_kinds(path) == {"additional", "busStop", "tlLogic"}


def test_the_look_at_a_route_file_ends_with_its_first_vehicle(tmp_path: Path) -> None:
    path = tmp_path / "x.rou.xml"
    path.write_text('<routes><vType id="t"/><vehicle id="v"/><flow id="f"/></routes>')
    assert additional_kinds(path) == {"routes", "vType"}
    with pytest.raises(RushhourError, match="cannot be read"):
        additional_kinds(tmp_path / "nowhere.add.xml")
