"""What scripts for SUMO's TraCI tell single vehicles and ask about those around them."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from sumo_texts import written

from rushhour.compat import traci
from rushhour.compat.traci import constants as tc

ROADS = """<net version="1.20">
  <edge id="in" from="a" to="b" priority="1">
    <lane id="in_0" index="0" speed="13.89" length="400" shape="0,-4.8 400,-4.8"/>
    <lane id="in_1" index="1" speed="13.89" length="400" shape="0,-1.6 400,-1.6"/>
  </edge>
  <edge id="out" from="b" to="c" priority="1">
    <lane id="out_0" index="0" speed="13.89" length="400" shape="410,-4.8 810,-4.8"/>
    <lane id="out_1" index="1" speed="13.89" length="400" shape="410,-1.6 810,-1.6"/>
  </edge>
  <junction id="a" type="dead_end" x="0" y="0" incLanes="" intLanes="" shape="0,0 0,-6.4"/>
  <junction id="b" type="priority" x="405" y="0" incLanes="in_0 in_1" intLanes="" shape="400,0 410,0 410,-6.4 400,-6.4"/>
  <junction id="c" type="dead_end" x="810" y="0" incLanes="out_0 out_1" intLanes="" shape="810,0 810,-6.4"/>
  <connection from="in" to="out" fromLane="0" toLane="0" dir="s" state="M"/>
  <connection from="in" to="out" fromLane="1" toLane="1" dir="s" state="M"/>
</net>"""
TRIPS = """<routes>
  <vType id="car" length="4.5" minGap="2" sigma="0" speedFactor="1" speedDev="0"/>
  <vType id="slow" length="4.5" minGap="2" sigma="0" speedFactor="1" speedDev="0" maxSpeed="4"/>
  <vehicle id="ahead" type="slow" depart="0" departLane="0" departPos="100" departSpeed="4"><route edges="in out"/></vehicle>
  <vehicle id="behind" type="car" depart="0" departLane="0" departPos="40" departSpeed="8"><route edges="in out"/></vehicle>
  <vehicle id="beside" type="slow" depart="0" departLane="1" departPos="80" departSpeed="4"><route edges="in out"/></vehicle>
  <vehicle id="bus" type="car" depart="40"><route edges="in out"/>
    <stop lane="out_0" endPos="100" duration="20"/><stop lane="out_0" endPos="200" duration="5" parking="true"/></vehicle>
</routes>"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two lanes")
    written(folder, ROADS, "two.net.xml")
    return written(folder, TRIPS, "two.rou.xml")


@pytest.fixture
def run(files: Path) -> Iterator[None]:
    net = str(files.parent / "two.net.xml")
    traci.start(["sumo", "-n", net, "-r", str(files), "--seed", "1"])
    yield
    traci.close()


def steps(n: int) -> None:
    for _ in range(n):
        traci.simulationStep()


def test_neighbours_are_told_with_the_gap_less_the_min_gap_of_who_is_behind(run: None) -> None:
    vehicle = traci.vehicle
    assert vehicle.getFollower("ahead") == ("", -1.0)  # not departed
    assert vehicle.getNeighbors("behind", 2) == ()
    steps(2)
    at = {name: vehicle.getLanePosition(name) for name in vehicle.getIDList()}
    gap = at["ahead"] - 4.5 - at["behind"] - 2.0
    ahead, seen = vehicle.getLeader("behind")
    assert ahead == "ahead" and seen == pytest.approx(gap)
    behind, back = vehicle.getFollower("ahead")
    assert behind == "behind" and back == pytest.approx(gap)
    assert vehicle.getFollower("behind") == ("", -1.0)
    ((left, far),) = vehicle.getLeftLeaders("behind")
    assert left == "beside" and far == pytest.approx(at["beside"] - 4.5 - at["behind"] - 2.0)
    assert vehicle.getRightLeaders("behind") == () == vehicle.getLeftFollowers("behind")
    assert [name for name, _ in vehicle.getRightFollowers("beside")] == ["behind"]
    assert [name for name, _ in vehicle.getRightLeaders("beside")] == ["ahead"]
    with pytest.raises(traci.TraCIException, match="^vehicle.getNeighbors: blocking[^\n]*$"):
        vehicle.getLeftLeaders("behind", True)


def test_a_follower_is_found_across_a_junction(run: None) -> None:
    steps(1)
    crossed = False
    for _ in range(110):
        traci.simulationStep()
        names = traci.vehicle.getIDList()
        if {"ahead", "behind"} <= set(names):
            leader = traci.vehicle.getLeader("behind")
            if leader and leader[0] == "ahead":
                assert traci.vehicle.getFollower("ahead", 100.0)[0] == "behind"
                crossed |= traci.vehicle.getRoadID("ahead") != traci.vehicle.getRoadID("behind")
    assert crossed or "behind" not in names


def test_the_driving_distance_is_what_is_driven_until_there(run: None) -> None:
    steps(1)
    far = traci.vehicle.getDrivingDistance("ahead", "out", 50.0)
    driven = traci.vehicle.getDistance("ahead")
    assert far == pytest.approx(400.0 - traci.vehicle.getLanePosition("ahead") + 10.0 + 50.0, abs=1)
    for _ in range(200):
        traci.simulationStep()
        left = traci.vehicle.getDrivingDistance("ahead", "out", 50.0)
        if left == tc.INVALID_DOUBLE_VALUE:
            break
        assert left == pytest.approx(far - (traci.vehicle.getDistance("ahead") - driven), abs=0.5)
    assert traci.vehicle.getLanePosition("ahead") > 50.0
    assert traci.vehicle.getDrivingDistance("ahead", "in", 50.0) == tc.INVALID_DOUBLE_VALUE
    here = traci.vehicle.getDrivingDistance2D("ahead", 600.0, -4.8)
    assert here == pytest.approx(190.0 - traci.vehicle.getLanePosition("ahead"), abs=0.1)
    with pytest.raises(traci.TraCIException, match="no lane 7 on edge 'in'"):
        traci.vehicle.getDrivingDistance("ahead", "in", 50.0, 7)


def test_stops_are_told_and_left_when_a_script_says_resume(run: None) -> None:
    vehicle = traci.vehicle
    steps(41)
    first, second = vehicle.getStops("bus")
    assert (first.lane, first.endPos, first.duration) == ("out_0", pytest.approx(100.0), 20.0)
    assert (first.stopFlags, second.stopFlags) == (tc.STOP_DEFAULT, tc.STOP_PARKING)
    assert vehicle.getStops("bus", 1) == (first,) and len(vehicle.getNextStops("bus")) == 2
    with pytest.raises(traci.TraCIException, match="^leave_stop: vehicle 'bus' is not at a stop"):
        vehicle.resume("bus")
    for _ in range(100):
        traci.simulationStep()
        if vehicle.isStopped("bus"):
            break
    assert [stop[3] for stop in vehicle.getNextStops("bus")] == [1, 2]
    steps(2)
    vehicle.resume("bus")
    steps(3)
    assert not vehicle.isStopped("bus") and vehicle.getSpeed("bus") > 1.0
    assert [stop.endPos for stop in vehicle.getStops("bus")] == [pytest.approx(200.0)]
    world = traci.getConnection().world
    assert world.counts()["stops_made"] == 1 and world.commands[-1].name == "leave_stop"


@pytest.mark.parametrize("mode", [None, 0, 512])
def test_who_must_not_change_by_itself_stays_behind_a_slow_one(run: None, mode: int | None) -> None:
    vehicle = traci.vehicle
    steps(1)
    assert vehicle.getLaneChangeMode("behind") == 1621
    vehicle.remove("beside")
    vehicle.setLaneChangeMode("ahead", 256)  # or it would make way
    if mode is not None:
        vehicle.setLaneChangeMode("behind", mode)
        assert vehicle.getLaneChangeMode("behind") == mode
    lanes = []
    for _ in range(30):
        traci.simulationStep()
        lanes.append(vehicle.getLaneIndex("behind"))
    if mode is None:
        assert 1 in lanes  # past the slow one
        return
    assert set(lanes) == {0} and vehicle.getSpeed("behind") == pytest.approx(4.0, abs=0.3)
    vehicle.changeLane("behind", 1, 1.0)
    steps(15)
    assert vehicle.getLaneIndex("behind") == 1  # told to, and there it stays
    vehicle.setLaneChangeMode("behind", 1621)
    steps(2)
    assert list(traci.getConnection().world.control.lane_requests.requests) == [
        0
    ]  # only that of the slow one


def test_a_speed_factor_holds_on_every_road_and_goes_with_the_limit(run: None) -> None:
    vehicle = traci.vehicle
    vehicle.setSpeedFactor("bus", 0.5)
    steps(60)
    assert vehicle.getSpeed("bus") == pytest.approx(0.5 * 13.89, abs=0.1)
    assert vehicle.getSpeedFactor("bus") == 0.5
    traci.edge.setMaxSpeed("in", 10.0)
    steps(6)
    assert vehicle.getSpeed("bus") == pytest.approx(5.0, abs=0.1)
    vehicle.setSpeedFactor("bus", 3.0)  # no more than by itself
    steps(10)
    assert vehicle.getSpeed("bus") == pytest.approx(10.0, abs=0.2)
    assert vehicle.getSpeedFactor("bus") == 1.0
    with pytest.raises(traci.TraCIException, match="^setSpeedFactor: -1: wanted 0 or more$"):
        vehicle.setSpeedFactor("bus", -1)


def test_modes_colours_and_parameters_are_told_back(run: None) -> None:
    vehicle = traci.vehicle
    assert vehicle.getSpeedMode("ahead") == 31 and vehicle.getColor("ahead") == (255, 255, 0, 255)
    with pytest.warns(UserWarning, match=r"^vehicle.setSpeedMode 0: drivers keep") as said:
        vehicle.setSpeedMode("ahead", 0)
    assert len(said) == 1 and said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vehicle.setSpeedMode("ahead", 31)
        vehicle.setSpeedMode("behind", 7)  # one warning is enough
        vehicle.setColor("ahead", (1, 2, 3))
    assert (vehicle.getSpeedMode("ahead"), vehicle.getSpeedMode("behind")) == (31, 7)
    assert vehicle.getColor("ahead") == (1, 2, 3, 255)
    with pytest.raises(traci.TraCIException, match="^setColor: "):
        vehicle.setColor("ahead", (1, 2))
    vehicle.setParameter("ahead", "group", "red")
    assert (
        vehicle.getParameter("ahead", "group") == "red" and vehicle.getParameter("bus", "x") == ""
    )
    with pytest.raises(traci.TraCIException, match=r"^setParameter: device\.rerouting\.period is"):
        vehicle.setParameter("ahead", "device.rerouting.period", "5")
    assert vehicle.getPersonNumber("ahead") == 0 and vehicle.getLine("ahead") == ""
    assert traci.simulation.getOption("step-length") == "1.00"
    assert traci.simulation.getCollisions() == ()
    with pytest.raises(traci.TraCIException, match="getOption: 'fcd-output' is not there"):
        traci.simulation.getOption("fcd-output")
    with pytest.raises(traci.TraCIException, match="Vehicle 'moon' is not known"):
        vehicle.setColor("moon", (1, 2, 3))


def test_what_is_told_to_vehicles_comes_to_the_same_bits_from_the_log(files: Path) -> None:
    def world(script: bool):
        traci.start(["sumo", "-n", str(files.parent / "two.net.xml"), "-r", str(files)])
        if script:
            for step in range(90):
                if step == 2:
                    traci.vehicle.setLaneChangeMode("behind", 0)
                    traci.vehicle.setSpeedFactor("ahead", 0.2)
                if step > 50 and "bus" in traci.vehicle.getIDList():
                    if traci.vehicle.isStopped("bus"):
                        traci.vehicle.resume("bus")
                traci.simulationStep()
        found = traci.getConnection().world
        traci.close()
        return found

    first, again = world(True), world(False)
    assert {command.name for command in first.commands} == {
        "request_lane",
        "set_speed",
        "leave_stop",
    }
    again.repeat(first.commands)
    again.step(first.frame)
    assert again.state_hash() == first.state_hash()
