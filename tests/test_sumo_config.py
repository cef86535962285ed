"""SUMO configurations and the kinds of additional files."""

from pathlib import Path

import pytest
from demand_texts import network_text

from rushhour.roadnets.errors import DemandError, RushhourError
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
    assert config.ignored == ("time-to-teleport",)


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


def test_a_configuration_runs_and_names_what_it_ignores(tmp_path: Path) -> None:
    (tmp_path / "small.net.xml").write_text(network_text())
    trip = '<trip id="v{0}" depart="{0}" from="a" to="e" type="t"/>'
    for name, depart in (("my trips", 70), ("b", 30)):
        (tmp_path / f"{name}.rou.xml").write_text(f"<routes>{trip.format(depart)}</routes>")
    (tmp_path / "types.add.xml").write_text('<additional><vType id="t" length="3"/></additional>')
    world = open_world(opened(write(tmp_path, TEXT.format(end=100))))
    assert world.demand.ids == ("v70",)  # v30 departs before the begin
    assert world.demand.types[0].length == 3.0
    assert world.begin == 60.0
    assert world.demand.remarks == (
        "options of small.sumocfg that are not used: time-to-teleport",
        "step-length 0.5 s of small.sumocfg is not used, see --dt",
    )


def test_signal_programs_are_found_behind_thousands_of_others(tmp_path: Path) -> None:
    path = tmp_path / "all.add.xml"
    stops = '<busStop id="s" lane="a_1"/>' * 3000
    path.write_text(f'<additional>{stops}<tlLogic id="t"/></additional>')
    assert additional_kinds(path) == {"additional", "busStop", "tlLogic"}


def test_the_look_at_a_route_file_ends_with_its_first_vehicle(tmp_path: Path) -> None:
    path = tmp_path / "x.rou.xml"
    path.write_text('<routes><vType id="t"/><vehicle id="v"/><flow id="f"/></routes>')
    assert additional_kinds(path) == {"routes", "vType", "vehicle"}
    with pytest.raises(RushhourError, match="cannot be read"):
        additional_kinds(tmp_path / "nowhere.add.xml")
