"""Scripts for SUMO's TraCI, as its documentation writes them, run on ours."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from traci_files import LASTS, STATES, driven, scenario

from rushhour.compat import traci
from rushhour.compat.traci import constants as tc

INVALID = tc.INVALID_DOUBLE_VALUE


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scenario(tmp_path_factory.mktemp("traci"))


@pytest.fixture
def run(config: Path) -> Iterator[None]:
    traci.start(["sumo", "-c", str(config), "--no-step-log", "--seed", "1"])
    yield
    while traci.isLoaded():
        traci.close()


def steps(n: int) -> None:
    for _ in range(n):
        traci.simulationStep()


def test_a_script_sees_time_vehicles_lanes_and_edges_as_sumo_tells_them(run: None) -> None:
    assert traci.simulation.getTime() == 0.0 and traci.getVersion()[0] == tc.TRACI_VERSION
    assert (
        traci.vehicle.getIDList() == () and traci.simulation.getMinExpectedNumber() == 2
    )  # two flows
    departed: list[str] = []
    for _ in range(25):
        traci.simulationStep()
        departed += traci.simulation.getDepartedIDList()
    assert traci.simulation.getTime() == 25.0 and traci.simulation.getDeltaT() == 1.0
    assert departed == ["we.0", "ns.0", "we.1", "we.2", "we.3", "we.4", "ns.1"]
    assert set(traci.vehicle.getIDList()) <= set(departed)
    name = "we.2"
    assert traci.vehicle.getLaneID(name) == "w_in_0" and traci.vehicle.getRoadID(name) == "w_in"
    assert traci.vehicle.getLaneIndex(name) == 0 and traci.vehicle.getAngle(name) == 90.0
    x, y = traci.vehicle.getPosition(name)
    assert traci.vehicle.getLanePosition(name) == pytest.approx(x + 100.0)
    assert y == pytest.approx(-1.6)
    assert traci.vehicle.getSpeed(name) == 0.0  # red for it
    assert 0.0 < traci.vehicle.getWaitingTime(name) <= 25.0
    assert traci.vehicle.getAccumulatedWaitingTime(name) >= traci.vehicle.getWaitingTime(name)
    assert traci.vehicle.getRoute(name) == ("w_in", "e_out")
    assert traci.vehicle.getRouteIndex(name) == 0 and traci.vehicle.getTypeID(name) == "car"
    ((light, link, far, letter),) = traci.vehicle.getNextTLS(name)
    assert (light, link, letter) == ("c", 3, "r") and far == pytest.approx(-10.0 - x)
    ahead, gap = traci.vehicle.getLeader(name)
    assert ahead == "we.1" and -2.5 < gap < 2.0
    on = traci.lane.getLastStepVehicleIDs("w_in_0")
    places = [traci.vehicle.getLanePosition(one) for one in on]
    assert name in on and places == sorted(places)
    assert traci.edge.getLastStepVehicleNumber("w_in") == len(on)
    assert traci.lane.getLastStepHaltingNumber("w_in_0") >= 2
    assert traci.lane.getLastStepMeanSpeed("e_in_0") == pytest.approx(13.89)  # nobody is there
    assert traci.lane.getLastStepOccupancy("w_in_0") == pytest.approx(4.5 * len(on) / 90.0)
    assert traci.lane.getWaitingTime("w_in_0") == pytest.approx(
        sum(traci.vehicle.getWaitingTime(one) for one in on)
    )


def test_inside_a_junction_edges_and_lanes_have_its_name(run: None) -> None:
    seen = set()
    for _ in range(12):
        traci.simulationStep()
        if "ns.0" in traci.vehicle.getIDList():
            seen.add(traci.vehicle.getRoadID("ns.0"))
            assert traci.vehicle.getLaneID("ns.0") in traci.lane.getIDList()
            assert traci.vehicle.getRoadID("ns.0") in traci.edge.getIDList()
    assert any(road.startswith(":c_") for road in seen) and "n_in" in seen


def test_who_is_to_come_has_invalid_values_and_who_is_gone_is_not_known(run: None) -> None:
    traci.simulationStep()
    assert traci.vehicle.getSpeed("we.9") == INVALID and traci.vehicle.getRoadID("we.9") == ""
    assert traci.vehicle.getPosition("we.9") == (INVALID, INVALID)
    assert traci.vehicle.getLaneIndex("we.9") == tc.INVALID_INT_VALUE
    traci.vehicle.remove("we.0")
    steps(2)
    assert traci.simulation.getArrivedIDList() == () and "we.0" not in traci.vehicle.getIDList()
    for ask in (
        lambda: traci.vehicle.getSpeed("we.0"), lambda: traci.vehicle.getSpeed("nobody"),
        lambda: traci.lane.getLength("moon_0"), lambda: traci.edge.getLaneNumber("moon"),
        lambda: traci.trafficlight.getPhase("moon"), lambda: traci.inductionloop.getPosition("x"),
    ):  # fmt: skip
        with pytest.raises(traci.TraCIException, match=r"^[A-Z][a-z ]+ '[\w.]+' is not known\.$"):
            ask()


def test_programs_go_on_from_the_phase_that_a_script_sets(run: None) -> None:
    light = traci.trafficlight
    assert light.getPhase("c") == 0 and light.getNextSwitch("c") == LASTS[0]
    steps(3)
    light.setPhase("c", 1)
    assert light.getPhase("c") == 1 and light.getNextSwitch("c") == 3.0 + LASTS[1]
    shown = []
    for _ in range(6):
        traci.simulationStep()
        shown.append(light.getRedYellowGreenState("c"))
    assert shown == [STATES[1]] * 4 + [STATES[2]] * 2
    world = traci.getConnection().world
    assert world.signals.state("c") == STATES[2]
    light.setPhaseDuration("c", 4.0)
    assert light.getPhaseDuration("c") == LASTS[2] and light.getSpentDuration("c") == 2.0
    steps(5)
    assert light.getPhase("c") == 3
    light.setRedYellowGreenState("c", "rrrG")
    assert light.getProgram("c") == "online" and light.getPhase("c") == 0
    steps(2)
    assert world.signals.state("c") == "rrrG" == light.getRedYellowGreenState("c")
    light.setLinkState("c", 0, "y")
    steps(1)
    assert world.signals.state("c") == "yrrG"
    light.setProgram("c", "0")
    steps(1)
    assert world.signals.state("c") == STATES[0]  # it has gone on in the background
    phases = [light.Phase(5, "GGrr"), light.Phase(3, "rrGG")]
    light.setProgramLogic("c", light.Logic("mine", 0, 1, phases))
    steps(1)
    assert light.getProgram("c") == "mine" and world.signals.state("c") == "rrGG"
    steps(5)
    assert world.signals.state("c") == "GGrr"


def test_the_queues_fall_under_a_script_that_serves_the_longer_one(config: Path) -> None:
    command = ["sumo", "-c", str(config)]
    fixed, served = (driven(traci, command, 200, script) for script in (False, True))
    assert sorted(fixed["departed"]) == sorted(served["departed"]) and len(served["departed"]) == 30
    assert served["arrived"] == 30 and served["standing"] < 0.9 * fixed["standing"]


def test_vehicles_keep_the_speeds_that_scripts_tell_them(run: None) -> None:
    traci.trafficlight.setRedYellowGreenState("c", "rGrG")
    steps(3)
    traci.vehicle.setSpeed("we.0", 3.0)
    steps(6)
    assert traci.vehicle.getSpeed("we.0") == pytest.approx(3.0, abs=0.1)
    traci.vehicle.setSpeed("we.0", 0.0)
    steps(4)
    assert traci.vehicle.getSpeed("we.0") == 0.0
    traci.vehicle.setSpeed("we.0", -1)
    steps(5)
    assert traci.vehicle.getSpeed("we.0") > 6.0
    traci.vehicle.setMaxSpeed("we.2", 5.0)
    before = traci.vehicle.getSpeed("we.2")
    traci.vehicle.slowDown("we.2", 2.0, 4.0)
    steps(2)
    assert 2.5 < traci.vehicle.getSpeed("we.2") < max(before, 5.0)
    steps(2)
    assert traci.vehicle.getSpeed("we.2") == pytest.approx(2.0, abs=0.5)
    steps(6)  # the slowing is over, the greatest speed holds
    assert traci.vehicle.getSpeed("we.2") == pytest.approx(5.0, abs=0.2)
    assert traci.vehicle.getMaxSpeed("we.2") == 5.0


def test_vehicles_are_added_sent_elsewhere_and_stopped(run: None) -> None:
    traci.route.add("mine", ["s_in", "n_out"])
    traci.vehicle.add("new", "mine", typeID="slow", departSpeed="max")
    traci.vehicle.setMaxSpeed("new", 4.0)
    assert traci.vehicle.getSpeed("new") == INVALID and traci.vehicle.getTypeID("new") == "slow"
    assert traci.vehicle.getRoute("new") == ("s_in", "n_out")
    assert traci.simulation.getMinExpectedNumber() == 3  # two flows and the new one
    steps(3)
    assert "new" in traci.vehicle.getIDList() and traci.vehicle.getRouteID("new") == "mine"
    assert traci.vehicle.getSpeed("new") < 5.0
    traci.vehicle.setType("we.0", "slow")
    traci.vehicle.setStop("new", "s_in", pos=60.0, duration=5.0)
    stopped = [traci.vehicle.isStopped("new")]
    steps(1)
    assert traci.vehicle.getTypeID("we.0") == "slow" and traci.vehicle.getLength("we.0") == 4.0
    for _ in range(21):
        traci.simulationStep()
        stopped.append(traci.vehicle.isStopped("new"))
    assert 4 <= sum(stopped) <= 6
    traci.vehicle.setSpeed("we.3", 2.0)
    traci.vehicle.remove("we.3")
    traci.vehicle.setSpeed("we.4", 2.0)
    traci.simulationStep()
    assert "we.3" not in traci.vehicle.getIDList()
    with pytest.raises(traci.TraCIException, match="^set_route: vehicle 'we.4'[^\n]*$"):
        traci.vehicle.setRoute("we.4", ["w_in", "n_out"])
    with pytest.raises(traci.TraCIException, match="no lane 1 on edge 'w_in'"):
        traci.vehicle.changeLane("we.4", 1, 5.0)
    traci.lane.setMaxSpeed("w_in_0", 5.0)
    traci.edge.setDisallowed("s_out", ["all"])
    steps(1)
    assert traci.lane.getMaxSpeed("w_in_0") == 5.0
    assert traci.getConnection().world.closures()["roads"] == ["s_out"]
    traci.edge.setAllowed("s_out", ["all"])
    steps(1)
    assert traci.getConnection().world.closures()["roads"] == []


def test_detectors_tell_who_was_above_them_in_the_last_step(run: None) -> None:
    assert traci.inductionloop.getIDList() == ("loop",) and traci.lanearea.getIDList() == ("area",)
    assert traci.inductionloop.getPosition("loop") == 70.0
    assert traci.lanearea.getLength("area") == pytest.approx(50.0)
    seen: list[str] = []
    area = 0
    for _ in range(60):
        traci.simulationStep()
        ids = traci.inductionloop.getLastStepVehicleIDs("loop")
        seen += ids
        assert len(ids) == traci.inductionloop.getLastStepVehicleNumber("loop")
        assert bool(ids) == (traci.inductionloop.getLastStepMeanSpeed("loop") >= 0.0)
        assert bool(ids) == (traci.inductionloop.getLastStepOccupancy("loop") > 0.0)
        since = traci.inductionloop.getTimeSinceDetection("loop")
        assert since <= traci.simulation.getTime() and (not ids or since <= 1.0)
        area = max(area, traci.lanearea.getLastStepVehicleNumber("area"))
        assert traci.lanearea.getJamLengthVehicle("area") <= area
    assert {"ns.0", "ns.1"} <= set(seen) <= {"ns.0", "ns.1", "ns.2"}
    assert area >= 2


def test_subscriptions_tell_the_same_as_the_calls(run: None) -> None:
    traci.simulation.subscribe([tc.VAR_TIME, tc.VAR_DEPARTED_VEHICLES_IDS])
    traci.edge.subscribe("w_in", [tc.LAST_STEP_VEHICLE_NUMBER, tc.VAR_WAITING_TIME])
    traci.vehicle.subscribe("we.0", [tc.VAR_SPEED, tc.VAR_ROAD_ID], begin=3.0)
    traci.junction.subscribeContext("c", tc.CMD_GET_VEHICLE_VARIABLE, 50.0, [tc.VAR_SPEED])
    traci.simulationStep()
    assert traci.simulation.getSubscriptionResults() == {
        tc.VAR_TIME: 1.0, tc.VAR_DEPARTED_VEHICLES_IDS: ("we.0",)
    }  # fmt: skip
    assert traci.vehicle.getSubscriptionResults("we.0") == {}  # not yet
    steps(6)
    assert traci.vehicle.getAllSubscriptionResults() == {
        "we.0": {
            tc.VAR_SPEED: traci.vehicle.getSpeed("we.0"),
            tc.VAR_ROAD_ID: traci.vehicle.getRoadID("we.0"),
        }
    }
    assert traci.edge.getSubscriptionResults("w_in") == {
        tc.LAST_STEP_VEHICLE_NUMBER: 2, tc.VAR_WAITING_TIME: 0.0
    }  # fmt: skip
    near = traci.junction.getContextSubscriptionResults("c")
    assert near == {
        name: {tc.VAR_SPEED: traci.vehicle.getSpeed(name)}
        for name in traci.vehicle.getIDList()
        if sum(x * x for x in traci.vehicle.getPosition(name)) <= 50.0**2
    }
    assert near
    traci.vehicle.subscribe("", [tc.TRACI_ID_LIST])
    every = {tc.TRACI_ID_LIST: traci.vehicle.getIDList()}
    assert traci.vehicle.getSubscriptionResults("") == every
    traci.vehicle.unsubscribe("")
    traci.edge.unsubscribe("w_in")
    assert traci.edge.getSubscriptionResults("w_in") == {}
    with pytest.raises(traci.TraCIException, match="vehicle: value 0x60 is not there"):
        traci.vehicle.subscribe("we.0", [0x60])  # carbon dioxide
    steps(40)
    assert traci.vehicle.getAllSubscriptionResults() == {}  # it has arrived


def test_labels_are_worlds_of_their_own(config: Path) -> None:
    for label in ("one", "two"):
        traci.start(["sumo", "-c", str(config)], label=label)
    heard: list[float] = []

    class Listener(traci.StepListener):
        def step(self, t: float = 0.0) -> bool:
            heard.append(t)
            return len(heard) < 2

    traci.switch("one")
    traci.addStepListener(Listener())
    traci.simulationStep(5.0)
    assert traci.simulation.getTime() == 5.0 and traci.getLabel() == "one"
    assert traci.getConnection("two").simulation.getTime() == 0.0
    steps(3)
    assert heard == [5.0, 0.0]
    with pytest.raises(traci.TraCIException, match="'one' is already active"):
        traci.start(["sumo", "-c", str(config)], label="one")
    traci.close()
    with pytest.raises(traci.FatalTraCIError, match=r"^Not connected.$"):
        traci.simulation.getTime()
    traci.switch("two")
    traci.load(["-n", str(config.parent / "small.net.xml"), "--begin", "30"])
    assert traci.simulation.getTime() == 30.0 and traci.simulation.getMinExpectedNumber() == 0
    traci.close()
    assert not traci.isLoaded()


def test_calls_that_are_not_there_say_so_in_one_line(run: None) -> None:
    for ask, why in (
        (lambda: traci.vehicle.highlight("we.0"), "vehicle.highlight is not there: looks"),
        (lambda: traci.vehicle.getCO2Emission("we.0"), "vehicle.getCO2Emission .* no emissions"),
        (lambda: traci.lane.fly("w_in_0"), r"lane.fly is not there: docs/from-sumo.md lists"),
        (lambda: traci.person.getIDList(), "traci.person is not there: there are no people"),
        (lambda: traci.vehicle.subscribe("we.0", [tc.VAR_CO2EMISSION]), "vehicle: value 0x60 is"),
        (lambda: tc.VAR_CO3EMISSION, "constants.VAR_CO3EMISSION is not there"),
        (lambda: traci.getConnection().poi, "poi is not there"),
    ):
        with pytest.raises(traci.TraCIException, match=f"^{why}[^\n]*$"):
            ask()
    assert not hasattr(traci.vehicle, "moveToXY")


def test_options_that_are_not_used_are_named_once_and_wrong_ones_are_one_line(
    config: Path, tmp_path: Path
) -> None:
    start = ["sumo", "-c", str(config)]
    with pytest.warns(
        UserWarning, match=r"not used: fcd-output, time-to-teleport \(nobody"
    ) as said:
        traci.start([*start, "--fcd-output", "x.xml", "--time-to-teleport", "300"])
    assert len(said) == 1 and said[0].filename == __file__
    traci.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traci.start(
            [*start, "--step-length=0.5", "-S", "--no-warnings", "true", "--time-to-teleport", "-1"]
        )
    traci.simulationStep()
    assert traci.simulation.getTime() == 0.5
    traci.close()
    for arguments, why in (
        ([], "start: no network; give -c FILE.sumocfg or -n FILE.net.xml"),
        (["-c", str(tmp_path / "none.sumocfg")], "none.sumocfg"),
        (["-c", str(config), "--step-length", "fast"], "step-length 'fast'; give a number"),
        (["-c"], "option -c wants a value"),
    ):
        with pytest.raises(traci.TraCIException, match=f"^[^\n]*{why}[^\n]*$"):
            traci.start(["sumo", *arguments])
    assert not traci.isLoaded()


def test_what_a_script_did_is_in_the_log_and_leads_to_the_same_bits(config: Path) -> None:
    def world(script: bool):
        traci.start(["sumo", "-c", str(config)])
        if script:
            for step in range(30):
                if step == 5:
                    traci.trafficlight.setRedYellowGreenState("c", "rrrG")
                if step == 12:
                    traci.vehicle.slowDown("we.1", 2.0, 5.0)
                traci.simulationStep()
        found = traci.getConnection().world
        traci.close()
        return found

    first, again = world(True), world(False)
    assert {command.name for command in first.commands} == {"set_program", "set_phase", "set_speed"}
    again.repeat(first.commands)
    again.step(first.frame)
    assert again.state_hash() == first.state_hash()


def test_programs_of_additional_files_run_under_their_ids(config: Path, tmp_path: Path) -> None:
    more = tmp_path / "night.add.xml"
    phases = "".join(f'<phase duration="7" state="{state}"/>' for state in STATES)
    more.write_text(
        f'<additional><tlLogic id="c" type="static" programID="night" offset="0">{phases}</tlLogic>'
        "</additional>"
    )
    traci.start(["sumo", "-c", str(config), "-a", str(more)])
    assert traci.trafficlight.getProgram("c") == "night"
    assert traci.trafficlight.getNextSwitch("c") == 7.0 and traci.inductionloop.getIDList() == ()
    (logic,) = traci.trafficlight.getAllProgramLogics("c")
    assert logic.getSubID() == "night" and [p.duration for p in logic.getPhases()] == [7.0] * 4
    traci.close()
