"""Scripts for CityFlow's Engine, as its documentation writes them, run on ours."""

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cityflow_texts import PHASES, flow, town, written
from real_data import data_folder

from rushhour.compat import cityflow
from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.commands.log import CommandError

FLOWS = [
    flow("w-a", "a-b", "b-e", interval=4.0, endTime=300),
    flow("n-a", "a-s", interval=6.0, endTime=300),
    flow("e-b", "b-a", "a-w", interval=5.0, endTime=300),
]
NAMES = [
    "next_step", "get_vehicle_count", "get_vehicles", "get_lane_vehicle_count",
    "get_lane_waiting_vehicle_count", "get_lane_vehicles", "get_vehicle_info", "get_vehicle_speed",
    "get_vehicle_distance", "get_leader", "get_current_time", "get_average_travel_time",
    "set_tl_phase", "set_vehicle_speed", "set_vehicle_route", "set_random_seed", "reset", "snapshot",
    "load", "load_from_file", "set_replay_file", "set_save_replay", "push_vehicle",
]  # fmt: skip


def config(folder: Path, flows: list[Any] = FLOWS, **changes: Any) -> str:
    """A config.json as CityFlow's documentation has it."""
    written(folder, town(), "roadnet.json")
    written(folder, flows, "flow.json")
    base = {
        "interval": 1.0, "seed": 0, "dir": f"{folder}/", "roadnetFile": "roadnet.json",
        "flowFile": "flow.json", "rlTrafficLight": True, "saveReplay": False,
        "roadnetLogFile": "roadnet_log.json", "replayLogFile": "replay.txt",
    }  # fmt: skip
    return str(written(folder, {**base, **changes}, "config.json"))


@pytest.fixture
def eng(tmp_path: Path) -> cityflow.Engine:
    return cityflow.Engine(config(tmp_path), thread_num=1)


def steps(eng: cityflow.Engine, n: int) -> None:
    for _ in range(n):
        eng.next_step()


def test_a_script_as_in_cityflows_documentation_runs(eng: cityflow.Engine) -> None:
    for step in range(120):
        eng.set_tl_phase("a", step // 30 % 2)
        eng.next_step()
    assert eng.get_current_time() == 120.0
    running = eng.get_vehicles()
    assert eng.get_vehicle_count() == len(running) == len(eng.get_vehicle_speed())
    assert set(running) <= set(eng.get_vehicles(include_waiting=True))
    count, lanes = eng.get_lane_vehicle_count(), eng.get_lane_vehicles()
    assert count == {lane: len(who) for lane, who in lanes.items()}
    assert {lane.rsplit("_", 1)[0] for lane in count} == {road["id"] for road in town()["roads"]}
    waiting = eng.get_lane_waiting_vehicle_count()
    assert all(waiting[lane] <= count[lane] for lane in count) and sum(waiting.values()) > 0
    speed, distance = eng.get_vehicle_speed(), eng.get_vehicle_distance()
    for vehicle in running:
        info = eng.get_vehicle_info(vehicle)
        assert info["running"] == "1" and float(info["speed"]) == pytest.approx(
            speed[vehicle], abs=1e-6
        )
        assert float(info["distance"]) == pytest.approx(distance[vehicle], abs=1e-6)
        assert info["route"].split()[0] in {"w-a", "n-a", "e-b"}
        if "road" in info:
            assert info["drivable"].rsplit("_", 1)[0] == info["road"]
            assert info["intersection"] == info["road"].split("-")[1]
            assert vehicle in lanes[info["drivable"]]
        else:
            assert "_TO_" in info["drivable"]
    assert 20.0 < eng.get_average_travel_time() < 120.0


def test_a_leader_is_the_next_ahead_on_the_lane_or_beyond_it(eng: cityflow.Engine) -> None:
    steps(eng, 60)
    followed = 0
    for who in eng.get_lane_vehicles().values():
        distance = eng.get_vehicle_distance()
        assert [distance[one] for one in who] == sorted(
            (distance[one] for one in who), reverse=True
        )
        for ahead, behind in pairwise(who):
            assert eng.get_leader(behind) == ahead
            followed += 1
    assert followed > 3


def test_lanes_are_counted_from_the_inner_one(tmp_path: Path) -> None:
    lefts = [flow("w-a", "a-n", endTime=30, interval=3.0)]  # from the inner lane
    eng = cityflow.Engine(config(tmp_path, lefts))
    eng.set_tl_phase("a", 1)  # red for them
    steps(eng, 60)
    count = eng.get_lane_vehicle_count()
    assert count["w-a_0"] > 2 and count["w-a_1"] == 0


def test_a_phase_shows_at_once_and_stays_until_told_otherwise(eng: cityflow.Engine) -> None:
    steps(eng, 100)
    world = eng._world
    place = world.signals.ids.index("a")
    assert world.signals.phase[place] == 0  # by its own clock it would be in the third by now
    eng.set_tl_phase("a", 1)
    eng.next_step()
    assert world.signals.state("a") == world.signals.phases("a")[1][0]
    assert len(world.signals.phases("a")) == len(PHASES)
    eng.set_tl_phase("b", 0)  # has no lights, or is at the border
    eng.set_tl_phase("w", 0)
    with pytest.raises(CommandError, match="no phase 4 of signal 'a'"):
        eng.set_tl_phase("a", 4)
    with pytest.raises(RushhourError, match="no intersection 'x'"):
        eng.set_tl_phase("x", 0)


def test_without_rl_lights_the_clock_goes_on_and_a_warning_says_so(tmp_path: Path) -> None:
    eng = cityflow.Engine(config(tmp_path, rlTrafficLight=False))
    steps(eng, 35)
    with pytest.warns(UserWarning, match="rlTrafficLight"):
        eng.set_tl_phase("a", 3)
    eng.next_step()
    assert eng._world.signals.phase[eng._world.signals.ids.index("a")] == 1


def test_snapshots_are_loaded_from_memory_and_from_files(
    eng: cityflow.Engine, tmp_path: Path
) -> None:
    steps(eng, 40)
    archive = eng.snapshot()
    archive.dump(str(tmp_path / "save.json"))
    steps(eng, 30)
    after = eng._world.state_hash()
    eng.load(archive)
    assert eng.get_current_time() == 40.0
    steps(eng, 30)
    assert eng._world.state_hash() == after
    other = cityflow.Engine(config(tmp_path))
    other.load_from_file(str(tmp_path / "save.json"))
    steps(other, 30)
    assert other._world.state_hash() == after


def test_what_is_no_archive_is_one_line(eng: cityflow.Engine, tmp_path: Path) -> None:
    for name, content in {"a": b"", "b": b"PK\x03\x04junk", "c": b"{}"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RushhourError, match="no archive of an engine"):
            eng.load_from_file(str(tmp_path / name))
    with pytest.raises(RushhourError, match="give a dumped archive"):
        eng.load_from_file(str(tmp_path / "nowhere"))
    eng.snapshot().dump(str(tmp_path / "save"))
    less = cityflow.Engine(config(tmp_path, FLOWS[:1]))
    with pytest.raises(RushhourError, match="with other flows"):
        less.load_from_file(str(tmp_path / "save"))


def test_reset_begins_anew_and_the_same_seed_gives_the_same(eng: cityflow.Engine) -> None:
    steps(eng, 50)
    first = eng._world.state_hash()
    eng.reset()
    assert eng.get_current_time() == 0.0 and eng.get_vehicle_count() == 0
    steps(eng, 50)
    assert eng._world.state_hash() == first
    eng.set_random_seed(7)
    eng.reset()
    assert eng._world.seed == 7
    eng.reset(seed=True)
    assert eng._world.seed == 0


def test_a_replay_has_a_line_for_each_step(tmp_path: Path) -> None:
    eng = cityflow.Engine(config(tmp_path, saveReplay=True))
    steps(eng, 30)
    running = eng.get_vehicles()
    eng.set_save_replay(False)
    eng.next_step()
    lines = (tmp_path / "replay.txt").read_text().splitlines()
    assert len(lines) == 30
    vehicles, roads = lines[-1].split(";")
    rows = [row.split() for row in vehicles.split(",")[:-1]]
    assert [row[3] for row in rows] == running
    assert all(len(row) == 7 and float(row[5]) == 5.0 and float(row[6]) == 2.0 for row in rows)
    shown = dict(part.split(" ", 1) for part in roads.split(",")[:-1])
    assert shown["w-a"] == "g g" and shown["n-a"] == "r r"  # its right turns alone are open
    assert "a-w" not in shown  # leads to the border
    eng.set_save_replay(True)
    eng.set_replay_file("other.txt")
    eng.next_step()
    assert len((tmp_path / "other.txt").read_text().splitlines()) == 1


def test_a_vehicle_drives_the_route_that_it_is_given(eng: cityflow.Engine) -> None:
    assert not eng.set_vehicle_route("flow_0_0", ["a-n"])  # it does not run yet
    steps(eng, 4)
    assert eng.get_vehicle_info("flow_0_0")["route"] == "w-a a-b b-e"
    assert eng.set_vehicle_route("flow_0_0", ["a-n"])
    eng.next_step()
    assert eng.get_vehicle_info("flow_0_0")["route"] == "w-a a-n"
    assert not eng.set_vehicle_route("flow_0_0", ["b-e"])  # does not follow
    with pytest.raises(RushhourError, match="no road 'moon' in the roadnet"):
        eng.set_vehicle_route("flow_0_0", ["moon"])


def test_a_vehicle_keeps_the_speed_that_it_is_given(eng: cityflow.Engine) -> None:
    steps(eng, 4)
    eng.set_vehicle_speed("flow_0_0", 3.0)
    steps(eng, 8)
    assert eng.get_vehicle_speed()["flow_0_0"] == pytest.approx(3.0, abs=0.1)
    eng.set_vehicle_speed("flow_0_0", 0.0)
    steps(eng, 6)
    assert eng.get_vehicle_speed()["flow_0_0"] == 0.0
    eng.set_vehicle_speed("flow_0_0", 0.0)
    eng.set_vehicle_speed("flow_0_0", -1.0)
    steps(eng, 6)
    assert eng.get_vehicle_speed()["flow_0_0"] > 6.0
    with pytest.raises(RushhourError, match="'flow_0_9' is not there now"):
        eng.set_vehicle_speed("flow_0_9", 3.0)


def test_a_pushed_vehicle_enters_drives_to_its_last_road_and_is_kept_by_snapshots(
    eng: cityflow.Engine, tmp_path: Path
) -> None:
    steps(eng, 3)
    info = {"speed": 5.0, "length": 3.0, "maxSpeed": 6.0, "minGap": 1.0}
    eng.push_vehicle(info, ["s-a", "b-e"])  # by a-b, as flows are joined
    eng.push_vehicle({}, ["n-a", "a-s"])
    assert "manually_pushed_0" not in eng.get_vehicles()
    eng.next_step()
    told = eng.get_vehicle_info("manually_pushed_0")
    assert told["route"] == "s-a a-b b-e" and float(told["speed"]) == pytest.approx(5.6, abs=1.0)
    table = eng._world.table().set_index("id")
    assert table.loc["manually_pushed_0", "length"] == 3.0
    assert eng._world.demand.types[-2].min_gap == 1.0
    steps(eng, 4)
    before = eng.snapshot()
    before.dump(str(tmp_path / "pushed.bin"))
    fastest = 0.0
    for _ in range(120):
        eng.next_step()
        fastest = max(fastest, eng.get_vehicle_speed().get("manually_pushed_0", 0.0))
    assert 5.9 < fastest <= 6.0 and "manually_pushed_0" not in eng.get_vehicles()
    ends = eng._world.state_hash()
    eng.load(before)
    assert "manually_pushed_0" in eng.get_vehicles()
    steps(eng, 120)
    assert eng._world.state_hash() == ends
    other = cityflow.Engine(config(tmp_path), thread_num=1)
    other.load_from_file(str(tmp_path / "pushed.bin"))
    steps(other, 120)
    assert other._world.state_hash() == ends
    other.push_vehicle(info, ["s-a", "b-e"])
    other.next_step()
    assert "manually_pushed_2" in other.get_vehicles()
    eng.reset()
    assert eng.get_vehicles(include_waiting=True) == []
    for given, roads, why in (
        ({}, ["moon"], "no road 'moon' in the roadnet"), ({}, [], "no roads given"),
        ({"wings": 2.0}, ["w-a", "a-b"], "no 'wings'; wanted speed, length"),
        ({"length": -1.0}, ["w-a", "a-b"], "length -1 m; wanted > 0, at most 18 m"),
        ({"length": 40.0}, ["w-a", "a-b"], "length 40 m; wanted > 0, at most 18 m"),
        ({}, ["a-w", "w-a"], "no way to road 'w-a'"),
    ):  # fmt: skip
        with pytest.raises(RushhourError, match=f"^push_vehicle: [^\n]*{why}[^\n]*$"):
            eng.push_vehicle(given, roads)


def test_calls_that_are_not_there_say_so(eng: cityflow.Engine) -> None:
    for name in NAMES:
        assert callable(getattr(eng, name))
    with pytest.raises(AttributeError, match="fly: CityFlow's Engine"):
        eng.fly()
    with pytest.raises(RushhourError, match="no vehicle 'nobody'"):
        eng.get_vehicle_info("nobody")


def test_a_file_that_is_no_configuration_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RushhourError, match=r"wanted CityFlow's config.json"):
        cityflow.Engine(written(tmp_path, {"a": 1}, "x.json"))


@pytest.mark.slow
def test_hangzhou_is_driven_by_an_agents_loop_and_queues_fall_by_pressure(tmp_path: Path) -> None:
    data = data_folder("cityflow_hangzhou_4x4")
    for name in ("roadnet_4_4.json", "flow_real.json"):
        (tmp_path / name).write_bytes(gzip.decompress((data / f"{name}.gz").read_bytes()))
    text = {
        "interval": 1.0, "seed": 0, "dir": f"{tmp_path}/", "roadnetFile": "roadnet_4_4.json",
        "flowFile": "flow_real.json", "rlTrafficLight": True, "laneChange": False,
        "saveReplay": False,
    }  # fmt: skip
    path = written(tmp_path, text, "config.json")
    crossings = [
        one for one in json.loads((tmp_path / "roadnet_4_4.json").read_text())["intersections"]
        if not one["virtual"]
    ]  # fmt: skip
    means = {}
    for agent in ("cycle", "pressure"):
        eng = cityflow.Engine(str(path), thread_num=1)
        queues = []
        for step in range(600):
            if step % 15 == 0:
                waiting = eng.get_lane_waiting_vehicle_count()
                for one in crossings:
                    phases = one["trafficLight"]["lightphases"]
                    best = 1 + step // 15 % 4
                    if agent == "pressure":
                        full = [
                            sum(
                                waiting[
                                    f"{one['roadLinks'][k]['startRoad']}_{link['startLaneIndex']}"
                                ]
                                for k in phase["availableRoadLinks"]
                                for link in one["roadLinks"][k]["laneLinks"]
                            )
                            for phase in phases
                        ]
                        best = int(np.argmax(full))
                    eng.set_tl_phase(one["id"], best)
            eng.next_step()
            queues.append(sum(eng.get_lane_waiting_vehicle_count().values()))
        means[agent] = np.mean(queues)
        assert eng.get_vehicle_count() > 100
    assert means["pressure"] < 0.8 * means["cycle"]
