"""CityFlow flows: departures, types and routes by hand, Hangzhou's real ones under the checker."""

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cityflow_texts import CAR, flow, town, written
from real_data import data_folder

from rushhour.cli import main
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.demand import model as codes
from rushhour.traffic.demand.cityflow import read_flows
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.scenarios.opening import open_world, opened

HANGZHOU = "cityflow_hangzhou_4x4"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return load_network(written(tmp_path_factory.mktemp("cityflow"), town()))


def read(folder: Path, network: Network, *flows: dict[str, Any], **options: Any) -> Demand:
    return read_flows([written(folder, flows, "flow.json")], network, **options)


def departures(demand: Demand) -> dict[str, float]:
    return dict(zip(demand.ids, demand.depart.tolist(), strict=True))


def ways(network: Network, demand: Demand) -> list[list[str]]:
    """Roads of each trip."""
    start = demand.route_start.tolist()
    return [[network.road_ids[r] for r in demand.roads[a:b]] for a, b in pairwise(start)]


# --- departures -------------------------------------------------------------------------------


def test_vehicles_depart_every_interval_from_start_to_end_both_included(
    tmp_path: Path, network: Network
) -> None:
    flows = [
        flow("w-a", "a-n", startTime=10, endTime=16, interval=3),
        flow("w-a", "a-b", startTime=12, endTime=13.9, interval=2),
        flow("n-a", "a-s", startTime=0, endTime=3, interval=0.1),
    ]
    found = departures(read(tmp_path, network, *flows))
    assert {k: v for k, v in found.items() if not k.startswith("flow_2")} == {
        "flow_0_0": 10.0, "flow_0_1": 13.0, "flow_0_2": 16.0, "flow_1_0": 12.0,
    }  # fmt: skip
    assert sum(name.startswith("flow_2") for name in found) == 31
    assert found["flow_2_30"] == pytest.approx(3.0)


def test_a_flow_without_end_departs_until_the_run_ends(tmp_path: Path, network: Network) -> None:
    endless = flow("w-a", "a-n", startTime=4, interval=5, endTime=-1)
    found = departures(read(tmp_path, network, endless, end=19.0))
    assert found == {"flow_0_0": 4.0, "flow_0_1": 9.0, "flow_0_2": 14.0}
    del endless["endTime"], endless["startTime"]  # as CityFlow's own defaults
    assert departures(read(tmp_path, network, endless, end=10.0)) == {
        "flow_0_0": 0.0, "flow_0_1": 5.0,
    }  # fmt: skip
    with pytest.raises(DemandError, match=r"flow.json: \[0\]: goes on for ever .*give --duration"):
        read(tmp_path, network, endless)


def test_only_departures_of_the_run_are_taken_and_keep_their_numbers(
    tmp_path: Path, network: Network
) -> None:
    many = flow("w-a", "a-n", interval=0.3, endTime=1000)
    found = departures(read(tmp_path, network, many, begin=600.0, end=601.0))
    assert found == pytest.approx({f"flow_0_{k}": 0.3 * k for k in (2000, 2001, 2002, 2003)})
    assert not read(tmp_path, network, many, begin=2000.0)


def test_flows_are_numbered_on_from_file_to_file(tmp_path: Path, network: Network) -> None:
    paths = [written(tmp_path, [flow("w-a", "a-n")] * 2, "one.json"), tmp_path / "two.json.gz"]
    paths[1].write_bytes(gzip.compress(json.dumps([flow("n-a", "a-w")]).encode()))
    assert read_flows(paths, network).ids == ("flow_0_0", "flow_1_0", "flow_2_0")


def test_a_flow_that_ends_before_it_starts_is_remarked(tmp_path: Path, network: Network) -> None:
    demand = read(tmp_path, network, flow("w-a", "a-n", startTime=9, endTime=8))
    assert len(demand) == 0
    assert demand.remarks == ("flows that end before they start: 1 ([0])",)


# --- vehicles and routes ----------------------------------------------------------------------


def test_vehicles_are_those_of_the_file_driven_by_idm(tmp_path: Path, network: Network) -> None:
    other = {**CAR, "length": 30.0, "maxNegAcc": 3.0, "usualPosAcc": 1.5, "headwayTime": 0.0}
    flows = [flow("w-a", "a-n"), flow("w-a", "a-n"), flow("w-a", "a-n", vehicle=other)]
    demand = read(tmp_path, network, *flows)
    assert demand.type.tolist() == [0, 0, 1]
    car, long = demand.types
    assert (car.length, car.width, car.min_gap, car.time_gap) == (5.0, 2.0, 2.5, 2.0)
    assert (car.accel, car.decel, car.emergency_decel, car.max_speed) == (2.0, 4.5, 4.5, 11.111)
    assert (car.model, car.speed_factor, car.speed_dev) == ("idm", 1.0, 0.0)
    assert (long.length, long.accel, long.emergency_decel, long.time_gap) == (18.0, 1.5, 4.5, 0.0)
    assert demand.remarks == ("vehicle types longer than 18 m are shortened to it: 1 (cityflow_1)",)


def test_vehicles_enter_at_the_start_of_the_first_road_and_drive_to_the_end_of_the_last(
    tmp_path: Path, network: Network
) -> None:
    demand = read(tmp_path, network, flow("w-a", "a-n"))
    assert (demand.depart_pos[0], demand.depart_pos_kind[0]) == (0.0, codes.POS_GIVEN)
    assert (demand.depart_speed[0], demand.depart_speed_kind[0]) == (0.0, codes.SPEED_GIVEN)
    assert demand.depart_lane[0] == codes.LANE_BEST
    assert demand.arrival_pos[0] == np.inf


def test_anchors_are_joined_by_the_quickest_way(tmp_path: Path, network: Network) -> None:
    flows = [
        flow("w-a", "a-b", "b-e"),  # complete
        flow("w-a", "b-e"),
        flow("s-a", "s-a", "b-m", "b-m"),
    ]
    demand = read(tmp_path, network, *flows)
    assert demand.routed.all()
    assert ways(network, demand) == [
        ["w-a", "a-b", "b-e"], ["w-a", "a-b", "b-e"], ["s-a", "a-b", "b-m"],
    ]  # fmt: skip
    assert demand.remarks == ()


BAD_ROUTES = [
    (("w-a", "x-y"), r"flow.json: \[0\].route\[1\]: road 'x-y' is not in town"),
    (("w-a",), r"flow.json: \[0\]: a route of 1 roads; give two or more"),
    (("w-a", "w-a"), r"\[0\]: a route of 1 roads"),
    ((), r"\[0\]: a route of 0 roads"),
    (("a-n", "w-a"), r"vehicle 'flow_0_0': no way .* from road 'a-n' to 'w-a' \(3 such trips\)"),
]


@pytest.mark.parametrize(("route", "pattern"), BAD_ROUTES)
def test_trips_that_cannot_be_driven_are_named_or_left_out_and_counted(
    tmp_path: Path, network: Network, route: tuple[str, ...], pattern: str
) -> None:
    flows = [flow(*route, endTime=2), flow("w-a", "a-n")]
    with pytest.raises(DemandError, match=pattern):
        read(tmp_path, network, *flows)
    demand = read(tmp_path, network, *flows, skip_bad_trips=True)
    assert demand.ids == ("flow_1_0",)
    assert len(demand.remarks) == 1
    assert ": 3 (" in demand.remarks[0]


# --- runs -------------------------------------------------------------------------------------


def test_a_config_runs_its_flows_from_second_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, town())
    flows = [
        flow("w-a", "b-e", startTime=5, interval=20, endTime=-1),
        flow("m-b", "a-s", startTime=7, endTime=30, interval=4),
    ]
    written(tmp_path, flows, "flow.json")
    config = {
        "interval": 1.0, "seed": 0, "dir": "elsewhere/", "roadnetFile": "town.json",
        "flowFile": "flow.json", "rlTrafficLight": False, "saveReplay": False,
    }  # fmt: skip
    path = written(tmp_path, config, "config.json")
    assert main(["run", str(path), "--duration", "200s", "--check", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["begin_s"], summary["sim_s"]) == (0.0, 200.0)
    assert summary["vehicles"]["departed"] == 10 + 6
    assert summary["vehicles"]["arrived"] > 8
    assert not any(summary["violations"].values())
    assert summary["remarks"] == ["options of config.json that are not used: saveReplay"]
    assert main(["run", str(path), "--check"]) == 2  # until when?
    assert "give --duration" in capsys.readouterr().err


def test_a_network_and_flows_run_without_a_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = str(written(tmp_path, town()))
    flows = str(written(tmp_path, [flow("w-a", "b-e", startTime=30, endTime=40)], "flow.json"))
    assert main(["run", network, "--demand", flows, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["begin_s"] == 0.0
    assert summary["vehicles"]["arrived"] == 11
    assert main(["run", network, "--demand", flows, "--begin", "35s", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vehicles"]["arrived"] == 6


def test_lights_begin_with_their_first_phase_at_0_s(tmp_path: Path) -> None:
    # Straight traffic from the west has green from 0 to 30 s, from the south from 30 to 50 s.
    path = written(tmp_path, town())
    flows = written(tmp_path, [flow("w-a", "a-b"), flow("s-a", "a-n")], "flow.json")
    world = open_world(opened(path, demand=(flows,), dt=0.5))
    entered: dict[int, float] = {}
    while world.active or not world.departed:
        world.step()
        table = world.vehicles
        for vehicle, lane in zip(table.id.tolist(), table.lane.tolist(), strict=True):
            if lane >= world.network.n_road_lanes:
                entered.setdefault(vehicle, world.time)
    assert entered[0] < 30.0
    assert 30.0 < entered[1] < 50.0


def test_info_tells_flows_from_networks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flows = written(tmp_path, [flow("w-a", "b-e", startTime=30), flow("w-a", "b-e")], "flow.json")
    assert main(["info", str(flows), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "kind": "demand", "name": "flow.json", "elements": {"flow": 2},
        "first_departure_s": 0.0, "last_departure_s": 30.0,
    }  # fmt: skip
    assert main(["info", str(written(tmp_path, town())), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["roads"], facts["lanes"]) == ("network", 12, 24)


def test_a_network_is_saved_under_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "city.json.gz").write_bytes(gzip.compress(json.dumps(town()).encode()))
    assert main(["import", "city.json.gz"]) == 0
    assert load_network("city.h5").road_ids == load_network("city.json.gz").road_ids


# --- bad files --------------------------------------------------------------------------------


BAD_FLOWS: dict[str, tuple[object, str]] = {
    "an object": ({"flows": []}, r"FILE: an object; give a list of flows"),
    "a network": (town(), r"FILE: an object; give a list of flows"),
    "no object": ([3], r"FILE: \[0\]: 3; give an object"),
    "no vehicle": ([{**flow("w-a", "a-n"), "vehicle": None}], r"\[0\].vehicle: null; give an obj"),
    "no length": ([flow("w-a", "a-n", vehicle={})], r"\[0\].vehicle: has no 'length'; add it"),
    "length 0": ([flow("w-a", "a-n", vehicle={**CAR, "length": 0})], r"vehicle: length 0; give"),
    "width a text": ([flow("w-a", "a-n", vehicle={**CAR, "width": "2"})], r"width '2'; give"),
    "no braking": (
        [flow("w-a", "a-n", vehicle={**CAR, "usualNegAcc": 0})], r"usualNegAcc 0; give a number"
    ),
    "negative gap": ([flow("w-a", "a-n", vehicle={**CAR, "minGap": -1})], r"minGap -1; give"),
    "interval 0": ([flow("w-a", "a-n", interval=0)], r"\[0\]: interval 0; give a number from"),
    "no interval": ([{**flow("w-a", "a-n"), "interval": None}], r"\[0\]: interval null; give"),
    "before time": ([flow("w-a", "a-n", startTime=-5)], r"\[0\]: startTime -5; give a number"),
    "never": ([flow("w-a", "a-n", endTime=1e300)], r"endTime 1e\+300; give a number"),
    "millions": (
        [flow("w-a", "a-n", endTime=1e9, interval=1e-4)], r"\[0\]: more than 5000000 departures"
    ),
    "route a text": ([{**flow(), "route": "w-a"}], r"\[0\]: route 'w-a'; give a list"),
    "road a number": ([{**flow(), "route": ["w-a", 3]}], r"\[0\]: route\[1\] 3; give a text"),
    "endless route": ([{**flow(), "route": ["w-a"] * 100_001}], r"a route of 100001 roads; give"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_FLOWS)
def test_flows_that_cannot_be_meant_are_refused_in_one_line(
    tmp_path: Path, network: Network, kind: str
) -> None:
    content, pattern = BAD_FLOWS[kind]
    path = written(tmp_path, content, "flow.json")
    with pytest.raises(DemandError) as caught:
        read_flows([path], network)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    with pytest.raises(DemandError, match=pattern):
        raise DemandError(message.replace(str(path), "FILE"))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, network: Network) -> None:
    with pytest.raises(DemandError, match="nowhere.json: cannot be read"):
        read_flows([tmp_path / "nowhere.json"], network)


# --- Hangzhou ---------------------------------------------------------------------------------


FLOWS = {"flow_real": 2983, "flow_real_5816": 6984}


@pytest.mark.parametrize("name", FLOWS)
def test_flows_of_hangzhou_are_what_their_description_counts(name: str) -> None:
    folder = data_folder(HANGZHOU)
    network = load_network(folder / "roadnet_4_4.json.gz")
    demand = read_flows([folder / f"{name}.json.gz"], network)
    assert len(demand) == FLOWS[name]
    assert demand.roads.size / len(demand) == pytest.approx(4.6, abs=0.1)
    assert (demand.depart[0], demand.depart[-1]) == (0.0, 3599.0)
    assert len(demand.types) == 1
    assert demand.remarks == ()
    raw = json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))
    wanted = {f"flow_{i}_0": entry["route"] for i, entry in enumerate(raw)}
    assert dict(zip(demand.ids, ways(network, demand), strict=True)) == wanted


def checked_run(name: str, duration: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Summary of a run of Hangzhou in which no check found anything."""
    folder = data_folder(HANGZHOU)
    words = ["run", folder / "roadnet_4_4.json.gz", "--demand", folder / f"{name}.json.gz",
             "--duration", duration, "--dt", "0.5", "--check", "--json"]  # fmt: skip
    assert main([str(word) for word in words]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert not any(summary["violations"].values())
    return summary


@pytest.mark.parametrize("name", FLOWS)
def test_all_who_are_due_in_five_minutes_of_hangzhou_depart(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    vehicles = checked_run(name, "5min", capsys)["vehicles"]
    raw = (data_folder(HANGZHOU) / f"{name}.json.gz").read_bytes()
    due = sum(entry["startTime"] < 300 for entry in json.loads(gzip.decompress(raw)))
    assert vehicles["departed"] + vehicles["waiting_to_depart"] == due
    assert vehicles["departed"] > 0.97 * due


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["flow_real", pytest.param("flow_real_5816", marks=pytest.mark.soak)]
)
def test_an_hour_of_hangzhou_breaks_no_rule(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    summary = checked_run(name, "1h", capsys)
    vehicles = summary["vehicles"]
    assert vehicles["departed"] + vehicles["waiting_to_depart"] == FLOWS[name]
    assert vehicles["departed"] == vehicles["arrived"] + vehicles["active"]
    assert summary["trips"]["longest_standstill_s"] < 245.0  # a cycle of the lights
