"""scenario.toml: what it gives, what wins over it, what it refuses."""

from pathlib import Path

import pytest

from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.scenarios.scenario import Scenario, read_scenario
from rushhour.traffic.settings.parameters import Parameters


def written(folder: Path, text: str) -> Path:
    for name in ("city.h5", "a.rou.xml", "b.add.xml"):
        (folder / name).write_text("x")
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


WHOLE = """
network = "city.h5"
seed = 7
[demand]
files = ["a.rou.xml", "b.add.xml"]
trips = 500
over = "1h"
[parameters]
"car.time_gap" = 1.2
[parameters.gridlock]
keep_routes = true
[times]
begin = "7:00"
duration = "10min"
dt = 0.5
[recording]
file = "run.h5"
every = "2s"
output = "out"
"""


def test_every_field_is_read_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path, WHOLE))
    assert scenario == Scenario(
        network=tmp_path / "city.h5",
        demand=(tmp_path / "a.rou.xml", tmp_path / "b.add.xml"),
        trips=500,
        over=3600.0,
        parameters=(("car.time_gap", 1.2), ("gridlock.keep_routes", True)),
        begin=25200.0,
        duration=600.0,
        dt=0.5,
        seed=7,
        record=tmp_path / "run.h5",
        record_every=2.0,
        output=tmp_path / "out",
    )
    assert Parameters(dict(scenario.parameters))["gridlock.keep_routes"] is True


def test_what_is_given_elsewhere_wins(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    scenario = read_scenario(path, seed=9, until_empty=True, parameters=(("car.time_gap", "0.9"),))
    assert (scenario.seed, scenario.duration, scenario.until_empty) == (9, None, True)
    assert dict(scenario.parameters)["car.time_gap"] == "0.9"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = 1", "no network; add network"),
        ('network = "none.h5"', r"network = 'none.h5': wanted an existing file"),
        ('network = "city.h5"\nsed = 1', "sed is not known; did you mean seed"),
        ('network = "city.h5"\n[times]\nstart = 1', r"\[times\] start is not known; wanted one of"),
        ('network = "city.h5"\nseed = "x"', "seed = 'x': wanted a whole number"),
        ('network = "city.h5"\nseed = -1', "seed -1: wanted 0"),
        ('network = "city.h5"\n[times]\nduration = "long"', "wanted a time such as 90s"),
        ('network = "city.h5"\n[times]\nduration = []', "wanted a time such as"),
        ('network = "city.h5"\n[times]\nuntil_empty = 3', "until_empty = 3: wanted true or false"),
        ('network = "city.h5"\n[demand]\nvehicles = 5', "never end; give a duration"),
        ('network = "city.h5"\n[demand]\ntrips = 5', "add over 1h"),
        ('network = "city.h5"\n[demand]\nvehicles = 99999999999', "wanted 1 to 5000000"),
        ('network = "city.h5"\n[demand]\nfiles = [3]', "demand.files = 3: wanted a path"),
        ('network = "city.h5"\ntimes = 3', r"wanted a section \[times\]"),
        ("network = ", "not valid TOML"),
        ("a = " + "[" * 5000, "not valid TOML"),
    ],
)
def test_a_wrong_scenario_is_answered_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RushhourError, match=message) as error:
        read_scenario(written(tmp_path, text))
    assert "\n" not in str(error.value)
    assert "scenario.toml" in str(error.value)


def test_a_huge_scenario_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(RushhourError, match="wanted a small TOML file"):
        read_scenario(written(tmp_path, "#" * (2 << 20)))
