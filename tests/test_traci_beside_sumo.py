"""One script, run by SUMO through its own TraCI and by ours with only the import changed."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from traci_files import driven

import rushhour.compat.traci as ours

pytestmark = pytest.mark.slow
STEPS = 300
FLOWS = (("we", "left0A0", "A0right0", 4), ("ew", "right0A0", "A0left0", 5),
         ("ns", "top0A0", "A0bottom0", 15), ("sn", "bottom0A0", "A0top0", 20))  # fmt: skip


@pytest.fixture(scope="module")
def theirs() -> tuple[Any, Path]:
    """SUMO's module and the folder of its programs."""
    sumo = pytest.importorskip("sumo", reason="eclipse-sumo is not installed (extra: peers)")
    tools = str(Path(sumo.SUMO_HOME) / "tools")
    sys.path.append(tools)
    try:
        return importlib.import_module("traci"), Path(sumo.SUMO_HOME) / "bin"
    finally:
        sys.path.remove(tools)


@pytest.fixture(scope="module")
def config(theirs: tuple[Any, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crossing of two-lane roads with lights, made by SUMO's own generator."""
    folder = tmp_path_factory.mktemp("beside")
    subprocess.run(
        [theirs[1] / "netgenerate", "--grid", "--grid.number=1", "--grid.attach-length=250",
         "-j", "traffic_light", "--default.lanenumber", "2", "--no-turnarounds", "true",
         "-o", folder / "cross.net.xml"], check=True, capture_output=True,
    )  # fmt: skip
    flows = "".join(
        f'<flow id="{name}" type="car" from="{start}" to="{end}" begin="0" end="300" '
        f'period="{period}" departLane="best" departSpeed="max"/>'
        for name, start, end, period in FLOWS
    )
    (folder / "cross.rou.xml").write_text(f'<routes><vType id="car" length="4.5"/>{flows}</routes>')
    config = folder / "cross.sumocfg"
    config.write_text(
        '<configuration><net-file value="cross.net.xml"/><route-files value="cross.rou.xml"/>'
        '<begin value="0"/></configuration>'
    )
    return config


def on_both(theirs: tuple[Any, Path], config: Path, *arguments: Any) -> list[dict[str, Any]]:
    options = ["-c", str(config), "--no-step-log", "true", "--time-to-teleport", "-1"]
    return [
        driven(module, [str(theirs[1] / "sumo"), *options], *arguments)
        for module in (theirs[0], ours)
    ]


@pytest.fixture(scope="module")
def fixed(theirs: tuple[Any, Path], config: Path) -> list[dict[str, Any]]:
    """The program by the clock."""
    return on_both(theirs, config, STEPS, False)


def test_departures_are_the_same_and_speeds_and_counts_alike(fixed: list[dict[str, Any]]) -> None:
    sumo, rushhour = fixed
    assert sorted(sumo["departed"]) == sorted(rushhour["departed"])
    assert sumo["phases"] == rushhour["phases"]
    assert sumo["arrived"] == pytest.approx(rushhour["arrived"], rel=0.1)
    assert fmean(rushhour["counts"]) == pytest.approx(fmean(sumo["counts"]), rel=0.25)
    assert fmean(rushhour["speeds"]) == pytest.approx(fmean(sumo["speeds"]), rel=0.2)


def test_a_script_that_serves_the_longer_queue_helps_in_both(
    theirs: tuple[Any, Path], config: Path, fixed: list[dict[str, Any]]
) -> None:
    served = on_both(theirs, config, STEPS, True)
    for before, after in zip(fixed, served, strict=True):
        assert after["standing"] < 0.6 * before["standing"]
        assert fmean(after["speeds"]) > fmean(before["speeds"])


def test_programs_that_are_touched_step_as_they_do_in_sumo(
    theirs: tuple[Any, Path], config: Path
) -> None:
    def shown(traci: Any, program: str) -> list[tuple[Any, ...]]:
        traci.start([program, "-c", str(config), "--no-step-log", "true"])
        light, rows = traci.trafficlight, []
        name = light.getIDList()[0]
        letters = len(light.getRedYellowGreenState(name))
        for step in range(120):
            if step in (10, 50):
                light.setPhase(name, 1 if step == 10 else 0)
            if step in (30, 51):
                light.setPhaseDuration(name, 5.0 if step == 30 else 7.0)
            if step == 80:
                light.setRedYellowGreenState(name, "G" * 4 + "r" * (letters - 4))
            if step == 95:
                light.setProgram(name, "0")
            if step == 105:
                states = ["G" * letters, "y" * letters, "r" * letters]
                phases = [light.Phase(3 + i, state) for i, state in enumerate(states)]
                light.setProgramLogic(name, light.Logic("mine", 0, 1, phases))
            told = light.getPhase(name), light.getNextSwitch(name)
            traci.simulationStep()
            rows.append(
                (
                    step, *told, light.getPhase(name), light.getRedYellowGreenState(name),
                    light.getNextSwitch(name), light.getSpentDuration(name),
                    light.getPhaseDuration(name), light.getProgram(name),
                )
            )  # fmt: skip
        links = light.getControlledLinks(name), light.getControlledLanes(name)
        traci.close()
        return [*rows, links]

    sumo = shown(theirs[0], str(theirs[1] / "sumo"))
    for theirs_row, our_row in zip(sumo, shown(ours, "sumo"), strict=True):
        assert our_row == theirs_row


def test_what_does_not_move_is_told_as_sumo_tells_it(
    theirs: tuple[Any, Path], config: Path
) -> None:
    def told(traci: Any, program: str) -> dict[str, Any]:
        traci.start([program, "-c", str(config), "--no-step-log", "true"])
        lane, edge, junction = traci.lane, traci.edge, traci.junction
        roads = sorted(name for name in edge.getIDList() if not name.startswith(":"))
        found = {
            "roads": roads,
            "lanes": sorted(name for name in lane.getIDList() if not name.startswith(":")),
            "lane": [
                (lane.getLength(f"{road}_1"), lane.getMaxSpeed(f"{road}_1"), lane.getEdgeID(f"{road}_1"),
                 lane.getShape(f"{road}_1"), lane.getLinkNumber(f"{road}_1"), edge.getLaneNumber(road),
                 edge.getFromJunction(road), edge.getToJunction(road))
                for road in roads
            ],
            "ways": sorted((link[0], link[4], link[6]) for road in roads
                           for link in lane.getLinks(f"{road}_1")),
            "incoming": sorted(name for name in junction.getIncomingEdges("A0") if name[0] != ":"),
            "time": (traci.simulation.getTime(), traci.simulation.getDeltaT(),
                     traci.simulation.getEndTime()),
            "car": (traci.vehicletype.getLength("car"), traci.vehicletype.getMinGap("car"),
                    traci.vehicletype.getVehicleClass("car")),
            "point": traci.simulation.convert2D("left0A0", 10.0, 1),
            "place": traci.simulation.convertRoad(100.0, 245.0),
            "way": traci.simulation.findRoute("left0A0", "A0top0").edges,
        }  # fmt: skip
        traci.close()
        return found

    sumo, rushhour = told(theirs[0], str(theirs[1] / "sumo")), told(ours, "sumo")
    for name, value in sumo.items():
        assert rushhour[name] == value, name


def test_neighbours_stops_and_habits_are_told_as_sumo_tells_them(
    theirs: tuple[Any, Path], config: Path, tmp_path: Path
) -> None:
    way = '<route edges="left0A0 A0right0"/>'
    routes = tmp_path / "near.rou.xml"
    routes.write_text(
        '<routes><vType id="car" length="4.5" minGap="2" sigma="0" speedDev="0"/>'
        + "".join(
            f'<vehicle id="{name}" type="car" depart="0" departLane="{lane}" departPos="{pos}" '
            f'departSpeed="5">{way}</vehicle>'
            for name, lane, pos in (("ahead", 0, 100), ("behind", 0, 60), ("beside", 1, 80))
        )
        + f'<vehicle id="bus" type="car" depart="9">{way}<stop lane="left0A0_0" endPos="150" '
        'duration="30"/></vehicle></routes>'
    )

    def told(traci: Any, program: str) -> dict[str, Any]:
        net = str(config.with_name("cross.net.xml"))
        traci.start([program, "-n", net, "-r", str(routes), "--no-step-log", "true"])
        vehicle = traci.vehicle
        for name in ("ahead", "behind", "beside"):
            vehicle.setLaneChangeMode(name, 0)
            vehicle.setColor(name, (1, 2, 3))
            vehicle.setParameter(name, "group", "red")
        for _ in range(3):
            traci.simulationStep()
        at = {name: vehicle.getLanePosition(name) for name in vehicle.getIDList()}

        def off(found: Any, first: str, second: str) -> tuple[str, bool]:
            """Who it is, and whether the gap is that between two vehicles less 2 m."""
            who, gap = found[0] if isinstance(found[0], tuple) else found
            return who, abs(gap - (at[first] - 4.5 - at[second] - 2.0)) < 0.1

        (stop,) = vehicle.getStops("bus")
        found = {
            "leader": off(vehicle.getLeader("behind", 100.0), "ahead", "behind"),
            "follower": off(vehicle.getFollower("ahead", 100.0), "ahead", "behind"),
            "none": vehicle.getFollower("behind", 100.0),
            "left ahead": off(vehicle.getLeftLeaders("behind"), "beside", "behind"),
            "right behind": off(vehicle.getRightFollowers("beside"), "beside", "behind"),
            "right ahead": off(vehicle.getRightLeaders("beside"), "ahead", "beside"),
            "nobody": (len(vehicle.getLeftFollowers("behind")), len(vehicle.getRightLeaders("ahead"))),
            "far": round(vehicle.getDrivingDistance("ahead", "left0A0", 200.0) + at["ahead"], 2),
            "stop": (stop.lane, stop.endPos, stop.stopFlags, stop.duration, stop.until),
            "habits": (vehicle.getColor("ahead"), vehicle.getLaneChangeMode("ahead"),
                       vehicle.getSpeedMode("ahead"), vehicle.getParameter("ahead", "group"),
                       vehicle.getParameter("ahead", "none"), vehicle.getPersonNumber("ahead")),
        }  # fmt: skip
        for _ in range(60):
            traci.simulationStep()
            if "bus" in vehicle.getIDList() and vehicle.isStopped("bus"):
                break
        found["stopped"] = [one[3] for one in vehicle.getNextStops("bus")]
        vehicle.resume("bus")
        for _ in range(3):
            traci.simulationStep()
        found["left"] = (vehicle.isStopped("bus"), len(vehicle.getStops("bus")))
        traci.close()
        return found

    sumo, rushhour = told(theirs[0], str(theirs[1] / "sumo")), told(ours, "sumo")
    for name, value in sumo.items():
        assert rushhour[name] == value, name


def test_the_example_runs_on_sumo_with_its_import_changed(
    theirs: tuple[Any, Path], config: Path, tmp_path: Path
) -> None:
    text = (Path(__file__).resolve().parents[1] / "examples" / "traci_signal.py").read_text()
    assert text.count("from rushhour.compat import traci\n") == 1
    script = tmp_path / "script.py"
    script.write_text(text.replace("from rushhour.compat import traci\n", "import traci\n"))
    tools = theirs[1].parent / "tools"
    path = os.pathsep.join((str(theirs[1]), os.environ.get("PATH", "")))
    shown = subprocess.run(
        [sys.executable, str(script), str(config)], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(tools), "PATH": path},
    ).stdout  # fmt: skip
    arrived, seconds = re.findall(r"(\d+) arrived in .*, ([\d.]+) s each stood", shown)[0]
    assert int(arrived) == sum(-(-300 // flow[-1]) for flow in FLOWS)
    assert 0.0 < float(seconds) < 15.0
