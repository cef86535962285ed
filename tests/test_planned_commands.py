"""Commands planned in scenario files and rerouters of SUMO: when they are done, and what cannot be meant."""

import json
from pathlib import Path

import pytest
from command_worlds import two_ways

from rushhour.cli.command_line import main
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.storage import save
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.scenarios.opening import open_world
from rushhour.traffic.scenarios.scenario import ScenarioError, read_scenario
from rushhour.traffic.sumo.rerouters import read_rerouters

SCENARIO = """
network = "two.h5"

[demand]
trips = 10
over = "30s"

[times]
begin = "7:00"
duration = "2min"

[[events]]
time = "7:00:10"
action = "close_roads"
roads = ["short"]
until = "7:01"

[[events]]
time = "7:00:20"
action = "stop"
vehicle = "t0"
duration = "5s"
"""


def scenario_file(folder: Path, text: str) -> Path:
    save(two_ways(), folder / "two.h5")
    (folder / "run.toml").write_text(text)
    return folder / "run.toml"


def test_a_scenario_plans_commands_at_times_of_day(tmp_path: Path) -> None:
    path = scenario_file(tmp_path, SCENARIO)
    first = open_world(read_scenario(scenario_file(tmp_path, SCENARIO.split("[[")[0])))
    name = first.demand.ids[0]
    path.write_text(SCENARIO.replace("t0", name))
    world = open_world(read_scenario(path))
    world.step(480)
    assert [(c.frame, c.name, c.outcome) for c in world.commands] == [
        (40, "close_roads", "done"), (80, "stop", "done"), (240, "open_roads", "done"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('action = "stop"', 'action = "fly"', "action = 'fly': wanted one of stop, go_on"),
        ('time = "7:00:20"\n', "", "events[1] has no time; add one"),
        ('vehicle = "t0"\n', "", "events[1] has no vehicle; add vehicle"),
        ('duration = "5s"', 'duraton = "5s"', "duraton is not known; did you mean duration?"),
        ('roads = ["short"]', 'roads = ["shirt"]', "events[0]: close_roads: no road 'shirt'"),
        (
            'until = "7:01"',
            'until = "7:00:10"',
            "events[0].until = '7:00:10': wanted later than its time, 7:00:10",
        ),
        ('duration = "5s"', "hard = 3", "events[1].hard = 3: wanted true or false"),
    ],
)
def test_events_that_cannot_be_meant_are_one_line(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    path = scenario_file(tmp_path, SCENARIO.replace(old, new))
    with pytest.raises(RushhourError) as error:
        open_world(read_scenario(path))
    assert isinstance(error.value, ScenarioError | CommandError)
    assert why in str(error.value) and str(path) in str(error.value)


EARLY = """
network = "two.h5"
demand = {trips = 10, over = "30s"}
times = {begin = "7:00", duration = "1min"}
events = [
    {time = "10min", action = "close_roads", roads = ["short"], until = "7:00:20"},
    {time = "10min", action = "close_roads", roads = ["long"], until = "20min"},
    {time = "7:00:30", action = "open_roads", roads = ["long"]},
    {time = "7:10", action = "set_speed_limit", places = ["long"], speed = 5.0},
]
"""


def test_events_before_the_begin_behind_the_end_and_in_vain_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scenario_file(tmp_path, EARLY)
    assert main(["run", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    told = facts["commands"]
    assert (told["given"], told["refused"], told["to_come"]) == (3, 1, 1)
    assert told["refused_first"] == [
        "7:00:30 frame 120: open_roads(roads=['long']): refused: open already"
    ]
    assert told["to_come_first"] == [
        "7:10:00 frame 2400: set_speed_limit(places=['long'], speed=5.0): to come"
    ]
    early = "before the run begins at 7:00:00"
    assert [one for one in facts["remarks"] if early in one] == [
        f"{path}: events[0]: close_roads of 0:10:00, {early}, is done then",
        f"{path}: events[1]: close_roads of 0:10:00, {early}, is left out, as it is over by then",
    ]
    assert main(["run", str(path)]) == 0
    text = capsys.readouterr().out
    assert "commands     3 given, 1 refused, " in text and ", 1 not reached" in text
    for line in (*told["refused_first"], *told["to_come_first"]):
        assert line in text


REROUTER = """<additional>
<rerouter id="r" edges="in">
  <interval begin="10" end="60"><closingReroute id="short"/></interval>
  <interval begin="50" end="0:01:40"><closingReroute id="short" disallow="bus"/>
    <destProbReroute id="out" probability="1"/></interval>
  <interval begin="20"><closingLaneReroute id="out_1"/><closingReroute id="gone"/></interval>
</rerouter></additional>"""


def test_rerouters_of_sumo_files_close_edges_and_lanes_for_their_intervals(tmp_path: Path) -> None:
    (tmp_path / "r.add.xml").write_text(REROUTER)
    ignored = ("disallow", "destProbReroute")
    events, remarks = read_rerouters([tmp_path / "r.add.xml"], two_ways(), ignored)
    assert [(e.time, e.action, dict(e.arguments)) for e in events] == [
        (10.0, "close_roads", {"roads": ["short"], "until": 100.0}),
        (20.0, "close_lanes", {"lanes": ["out_1"]}),
    ]
    assert remarks == [
        "disallow is ignored, as was asked: 1",
        "destProbReroute is ignored, as was asked: 1",
        "closings of roads that the network lacks are left out: 1 (gone)",
    ]
    for bad, why in (
        ('begin="10" end="60"', "interval from 90 to 60 s; let it end later"),
        ('id="short"/>', "closingReroute: has no 'id'; give one"),
    ):
        wrong = REROUTER.replace(bad, 'begin="90" end="60"' if "begin" in bad else "/>")
        (tmp_path / "bad.add.xml").write_text(wrong)
        with pytest.raises(RushhourError, match=r"bad\.add\.xml:3: .*") as error:
            read_rerouters([tmp_path / "bad.add.xml"], two_ways(), ignored)
        assert why in str(error.value)
