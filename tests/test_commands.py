"""Commands: checked when given, applied at the next frame, logged, and repeatable to the bit."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from checked_runs import checked
from command_worlds import demand_of, straight, world_of
from several_threads import printed_by_threads

from rushhour.kernels.compiling.jit import config
from rushhour.kernels.core.vehicles import REASONS
from rushhour.roadnets.errors import RunError
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.measures.trip_table import trip_columns
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile

pytestmark = pytest.mark.small_world
HAZARD = REASONS.index("hazard")


@pytest.fixture(scope="module")
def network():
    return straight(lanes=2, length=600.0)


def world(network, every: float = 4.0, count: int = 12):
    return world_of(network, demand_of(network, every, count, ["first", "last"]))


def row_of(table, vehicle: int) -> int:
    return int(np.flatnonzero(table.id == vehicle)[0])


def test_a_command_is_applied_at_the_start_of_the_next_frame_and_logged(network) -> None:
    w = world(network)
    w.step(60)
    before = w.state_hash()
    w.stop("car0", duration="20s")
    w.close_lanes("first_1")
    assert w.state_hash() == before
    assert [c.outcome for c in w.commands] == ["", ""]
    w.step()
    assert [str(c) for c in w.commands] == [
        "0:00:15 frame 60: stop(vehicle='car0', duration=20.0): done",
        "0:00:15 frame 60: close_lanes(lanes=['first_1']): done",
    ]
    assert w.commands[0].arguments == {"vehicle": "car0", "duration": 20.0}
    assert len(w.commands.applied) == 2 and w.commands.refused == 0
    table = w.commands.to_pandas()
    assert list(table.command) == ["stop", "close_lanes"] and list(table.frame) == [60, 60]
    assert json.loads(table.arguments[1]) == {"lanes": ["first_1"]}


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("stop", ["nobody"], "no vehicle 'nobody'; give an id of the demand"),
        ("stop", [99], "no vehicle 99; there are 12, from 0 on"),
        ("stop", [1.5], "vehicle '1.5': wanted an id or a number"),
        ("stop", ["car11"], "vehicle 'car11' has not departed yet"),
        ("stop", [["car0", 0]], "a vehicle is given twice"),
        ("go_on", ["car0"], "vehicle 'car0' drives and was not told to stop"),
        ("put_back", ["car0"], "vehicle 'car0' drives and was not told to stop"),
        ("close_lanes", ["nowhere"], "no lane 'nowhere'; it has 4, as first_0"),
        ("close_lanes", [4], "lane 4 is inside an intersection; close the lane that it leads to"),
        ("close_lanes", [400], "no lane 400; there are 4, from 0 on"),
        ("close_roads", [["first", "x"]], "no road 'x'; it has 2, as first"),
        ("close_roads", [[]], "no roads given; name at least one"),
        ("open_roads", ["first"], "lane 'first_0' is open"),
    ],
)
def test_what_cannot_be_obeyed_is_one_line_and_changes_nothing(
    network, name: str, arguments: list, why: str
) -> None:
    w = world(network)
    w.step(40)
    before = w.state_hash()
    with pytest.raises(CommandError, match="^[^\n]*$") as error:
        getattr(w, name)(*arguments)
    assert str(error.value).startswith(f"{name}: {why}")
    assert not len(w.commands) and w.state_hash() == before


def test_commands_of_one_frame_know_of_each_other(network) -> None:
    w = world(network)
    w.step(40)
    w.push_aside("car0")
    with pytest.raises(CommandError, match="'car0' stands at the side of the road; put it back"):
        w.stop("car0")
    w.put_back("car0")
    w.remove("car0")
    with pytest.raises(CommandError, match="vehicle 'car0' was removed"):
        w.remove("car0")
    w.close_roads("last")
    with pytest.raises(CommandError, match="lane 'last_0' is closed already"):
        w.close_lanes(["last_0"])
    w.step(400)
    assert w.removed == 1
    with pytest.raises(CommandError, match="vehicle 'car0' was removed"):
        w.stop("car0")
    w.open_roads("last")
    w.step(600)
    with pytest.raises(CommandError, match="vehicle 'car1' has arrived"):
        w.stop("car1")


def test_who_is_told_to_stop_brakes_comfortably_or_hard_and_stands(network) -> None:
    for hard, braking in ((False, 2.5), (True, 9.0)):
        w = world(network)
        w.step(80)
        w.stop("car0", hard=hard)
        strongest = 0.0
        for _ in range(60):
            w.step()
            strongest = min(strongest, float(w.vehicles.accel[row_of(w.vehicles, 0)]))
        table = w.vehicles
        row = row_of(table, 0)
        assert strongest == pytest.approx(-braking, abs=0.05)
        assert table.speed[row] == 0.0 and table.reason[row] == HAZARD
        assert w.reasons()["hazard"] == 1
        w.go_on("car0")
        w.step(40)
        assert w.vehicles.speed[row_of(w.vehicles, 0)] > 5.0


def test_a_stop_ends_after_its_duration_and_counts_as_a_stop(network) -> None:
    w = world(network, count=1)
    w.step(80)
    w.stop("car0", duration="30s")
    w.step(130)
    table = w.vehicles
    assert table.speed[row_of(table, 0)] > 0.0
    w.step(400)
    columns = trip_columns(w.sim)
    assert columns["ended"] == ["arrived"]
    assert 20.0 < columns["stop_time_s"][0] < 30.0 and columns["waiting_time_s"] == [0.0]


def test_who_is_pushed_aside_stands_beside_the_road_and_is_passed(network) -> None:
    w = world(network)
    checker = checked(w)
    w.step(120)
    place = float(w.vehicles.s[row_of(w.vehicles, 0)])
    w.push_aside("car0")
    w.step(40)
    table = w.vehicles
    row = row_of(table, 0)
    lane_width = float(network.arrays.lanes.width[table.lane[row]])
    number = int(network.arrays.lanes.number[table.lane[row]])
    assert table.s[row] == place and table.speed[row] == 0.0
    assert table.lateral[row] <= -(number + 0.5) * lane_width - 0.5 * 1.8
    assert table.reason[row] == HAZARD
    assert w.aside == 1 and w.active == len(table) == w.departed - w.arrived
    w.step(400)
    assert 0 not in w.trips.trip and 1 in w.trips.trip, "the follower is not held up"
    w.put_back("car0")
    w.step(30)
    assert w.aside == 0
    table = w.vehicles
    row = row_of(table, 0)
    assert table.s[row] > place and -9.0 < table.lateral[row] <= 0.0
    w.step(400)
    assert w.arrived == 12 and not checker.violations, checker.lines()
    stop = trip_columns(w.sim)["stop_time_s"][list(w.trips.trip).index(0)]
    assert stop == pytest.approx(110.0, abs=5.0)


def test_the_removed_are_counted_and_marked_and_not_in_the_means(network) -> None:
    from rushhour.traffic.measures.summary import trip_means

    w = world(network)
    checker = checked(w)
    w.step(100)
    w.remove(["car0", "car2"])
    w.step()
    counts = w.counts()
    assert counts["removed"] == 2 and counts["active"] == counts["departed"] - 2
    w.step(600)
    assert w.done and w.arrived == 10
    columns = trip_columns(w.sim)
    assert columns["trip"][:2] == ["car0", "car2"]
    assert columns["ended"] == ["removed"] * 2 + ["arrived"] * 10
    assert columns["arrived_s"][0] == 25.0
    assert trip_means(w)["completed"] == 10
    assert trip_means(w)["mean_travel_time_s"] == pytest.approx(
        np.mean(columns["travel_time_s"][2:]), abs=1e-3
    )
    assert not checker.violations, checker.lines()


def test_planned_commands_are_tried_at_their_time_and_refusals_say_why(network) -> None:
    w = world(network)
    w.schedule("20s", "stop", vehicle="car0", duration="5s")
    w.schedule(10.0, "remove", vehicle=["car1", "car11"])
    with pytest.raises(CommandError, match="no command 'fly'; wanted one of stop, go_on"):
        w.schedule(10.0, "fly", vehicle="car1")
    with pytest.raises(CommandError, match="stop: wanted vehicle, duration, hard; got car"):
        w.schedule(10.0, "stop", car="car1")
    w.step(90)
    assert [(c.frame, c.name, c.outcome) for c in w.commands] == [
        (40, "remove", "done"),
        (40, "remove", "refused: vehicle 'car11' has not departed yet"),
        (80, "stop", "done"),
    ]
    assert w.commands.refused == 1
    with pytest.raises(CommandError, match="time '20s' has gone by; it is 22.5 s"):
        w.schedule("20s", "stop", vehicle="car0")


def commanded(w) -> None:
    """Command a world now and then."""
    w.step(60)
    w.stop(["car0", "car3"] if w.departed > 3 else "car0", duration="20s")
    w.step(40)
    w.push_aside("car1")
    w.close_lanes("first_0")
    w.step(40)
    w.put_back("car1")
    w.remove("car2")
    w.schedule(w.time + 5.0, "stop", vehicle="car11")
    w.step(60)
    w.open_lanes("first_0")
    w.step(100)


def test_the_commands_of_a_run_file_repeat_the_run_to_the_bit(network, tmp_path: Path) -> None:
    w = world(network)
    with Recorder(tmp_path / "run.h5", w, every=1.0) as recorder:
        w.observers.append(recorder)
        commanded(w)
    with RunFile(tmp_path / "run.h5") as run:
        logged = run.commands()
    assert [str(c) for c in logged] == [str(c) for c in w.commands]
    again = world(network)
    again.repeat(logged)
    again.step(w.frame)
    assert again.state_hash() == w.state_hash()
    assert [c.outcome for c in again.commands] == [c.outcome for c in w.commands]
    without = world(network)
    without.step(w.frame)
    assert without.state_hash() != w.state_hash()
    with pytest.raises(CommandError, match="repeat commands in a new world"):
        again.repeat(logged)


def test_damaged_commands_of_a_run_file_are_one_line(network, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    w = world(network)
    with Recorder(path, w):
        commanded(w)
    for name, place, value in (("text", 1, 255), ("end", 0, 1 << 40), ("end", 1, -5)):
        good = path.read_bytes()
        with h5py.File(path, "r+") as file:
            file["commands"][name][place] = value
        with RunFile(path) as run, pytest.raises(RunError, match="/commands is damaged"):
            run.commands()
        path.write_bytes(good)


def test_measures_follow_who_is_taken_off_the_road_and_put_back(network) -> None:
    w = world(network)
    measures = Measures(w, interval=300.0)
    w.observers.append(measures)
    commanded(w)
    on_road = {road: int((w.sim.veh.lane[w.sim.veh.lane >= 0] // 2 == i).sum())
               for i, road in enumerate(network.road_ids)}  # fmt: skip
    measures.finish()
    roads = measures.roads
    assert w.removed == 1 and w.aside == 0
    for i, road in enumerate(roads.road):
        assert roads.entered[i] - roads.left[i] == on_road[road], road
    table = w.vehicles
    driven = float(w.trips.distance.sum() + table.distance.sum())
    between = float(network.arrays.lanes.length[4:].max()) * w.departed
    assert driven - between - 1.0 <= roads.distance.sum() <= driven + 1e-6


@pytest.mark.skipif(
    bool(config.DISABLE_JIT or config.BOUNDSCHECK), reason="threads are those of compiled kernels"
)
@pytest.mark.soak  # threads of a plain run, of quotas and of steered bodies are tried by CI
def test_threads_leave_no_trace_of_commands() -> None:
    told = printed_by_threads("hashed_commands.py")
    assert len(set(told)) == 1
