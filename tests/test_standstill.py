"""Runs in which nobody moves any more end, say who waits for what, and have an exit code."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_worlds import SAME, demand_of, straight, two_ways, world_of

import rushhour as rh
from rushhour.cli import main
from rushhour.cli import seeds as command_seeds
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.commands.log import Command
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.measures.summary import Clocking
from rushhour.traffic.world import World

STOOD_STILL = 3
ROUTES = """<routes>{more}<vType id="car" length="{length}"/>{trips}</routes>"""


def stood(world: World, **how: Any) -> dict[str, Any]:
    """Facts of the standstill that a run ends with."""
    with pytest.raises(rh.StandstillError) as caught:
        world.run(progress=False, **how)
    facts: dict[str, Any] = caught.value.standstill.facts()
    assert facts["time_s"] == world.time
    return facts


def lit() -> Network:
    """A road through a signal."""
    builder = rh.NetworkBuilder("lit")
    builder.add_road([(0.0, 0.0), (200.0, 0.0)], speed=13.9, id="first")
    builder.add_road([(200.0, 0.0), (400.0, 0.0)], speed=13.9, id="last")
    builder.add_road([(200.0, -200.0), (200.0, 0.0)], speed=13.9, id="side")
    builder.add_intersection(200.0, 0.0, control="signals", id="light")
    return builder.build()


def test_who_was_told_to_stop_for_ever_ends_the_run_with_the_queue_behind() -> None:
    network = straight()
    world = world_of(network, demand_of(network, 5.0, 12, ["first", "last"]))
    world.step(400)
    world.stop("car3")
    facts = stood(world)
    assert facts["nothing_can_change"] and world.time < 15 * 60.0
    (cause,) = facts["causes"]
    assert (cause["cause"], cause["head"], cause["vehicles"]) == ("hazard", "car3", 9)
    assert facts["on_the_road"] == 9


def test_drivers_whom_closed_roads_cut_off_end_the_run_by_name() -> None:
    network = two_ways()
    world = world_of(
        network, demand_of(network, 5.0, 30, ["in", "out"]), {"closures.patience": 1e9}
    )
    world.step(200)
    world.close_roads(["short", "long"])
    facts = stood(world)
    assert facts["nothing_can_change"]
    assert facts["cut_off"] and facts["cut_off"] == world.closures()["cut_off"][:20]
    assert facts["causes"][0]["cause"] == "cut_off"
    world.open_roads(["short", "long"])  # the world can go on
    assert world.run(progress=False).standstill is None and world.done


def test_a_signal_that_is_held_red_for_ever_is_named() -> None:
    network = lit()
    world = world_of(network, demand_of(network, 5.0, 6, ["first", "last"]))
    world.signals.set_program("light", [("r" * int(network.arrays.signals.links[0]), 30.0)])
    facts = stood(world)
    assert facts["nothing_can_change"]
    assert [(one["cause"], one["where"]) for one in facts["causes"]] == [
        ("red_light", "signal light")
    ]
    assert facts["causes"][0]["vehicles"] == 6


def test_departures_that_never_get_in_end_the_run_by_road() -> None:
    network = straight()
    world = world_of(network, demand_of(network, 5.0, 3, ["first", "last"]))
    world.close_roads("first")
    facts = stood(world)
    assert facts["nothing_can_change"]
    assert facts["waiting_to_depart"] == 3 and facts["on_the_road"] == 0
    (cause,) = facts["causes"]
    assert (cause["cause"], cause["where"], cause["head"]) == ("road_closed", "first", "car0")
    assert cause["vehicles"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("how", ["stop", "bus_stop", "departure", "opening"])
def test_what_is_known_to_end_is_waited_for(how: str) -> None:
    network = two_ways()
    ends = [network.road_index[name] for name in ("in", "out")]
    builder = DemandBuilder()
    lane = network.lane_index["in_0"]
    stops = [Stop(lane, 200.0, 4500.0)] if how == "bus_stop" else []
    builder.add(Trip("a", 0.0, SAME, ends, routed=False, stops=stops))
    if how == "departure":
        builder.add(Trip("b", 4500.0, SAME, ends, routed=False))
    # For more than the hour that is waited; who is to wait for an opening so late has all patience.
    world = world_of(network, builder.build(), {"closures.patience": 1e9}, dt=0.5)
    world.step(10)
    if how == "stop":
        world.stop("a", duration="75min")
    if how == "opening":
        world.close_roads(["short", "long"])
        world.schedule("75min", "open_roads", roads=["short", "long"])
    found = world.run(progress=False)
    assert isinstance(found, Clocking) and found.standstill is None
    assert world.done and world.time > 4500.0


def test_a_run_is_given_up_where_somebody_else_may_act_after_a_time() -> None:
    network = straight()
    world = world_of(network, demand_of(network, 5.0, 3, ["first", "last"]), dt=0.5)
    world.step(20)
    world.stop("car0")
    seen: list[float] = []
    facts = stood(world, give_up_after="20min", call=lambda one: seen.append(one.time))
    assert not facts["nothing_can_change"]
    assert 20 * 60.0 <= facts["time_s"] - facts["since_s"] < 22 * 60.0
    assert world.run("90min", progress=False).standstill is None  # a time is a time
    with pytest.raises(ParameterError, match="give_up_after 5: wanted 1min or more, or never"):
        world.run(give_up_after=5, progress=False)


def test_drivers_that_take_way_after_way_to_a_road_that_stands_end_the_run() -> None:
    """48 of them drove round and round for 82 simulated hours, in sight of a car told to stand."""
    network = rh.generate("grid", rows=3, columns=3, length=100.0, lanes=1)
    goal = network.road_index["1.1-2.1"]
    names = ("0.west-0.0", "0.east-0.2", "1.west-1.0", "1.east-1.2")
    gates = [network.road_index[name] for name in names]
    builder = DemandBuilder()
    for k in range(48):
        builder.add(Trip(f"car{k}", k // 4 * 4.0, SAME, [gates[k % 4], goal], routed=False))
    world = world_of(network, builder.build())
    while not (there := world.vehicles.name[world.vehicles.road == goal]).size:
        world.step()
    world.stop(there[0])
    facts = stood(world, give_up_after="20min")
    assert world.time < 90 * 60.0 and not facts["nothing_can_change"]
    assert facts["going_round"] and there[0] not in facts["going_round"]
    assert any(one["cause"] == "hazard" and one["head"] == there[0] for one in facts["causes"])


@pytest.mark.parametrize("stays", [False, True])
def test_a_run_for_a_time_lasts_though_everybody_has_arrived_or_halts_for_a_time(
    stays: bool,
) -> None:
    """Who moves in it is nobody, and nobody goes round."""
    network = straight()
    world = world_of(network, demand_of(network, 5.0, 3, ["first", "last"]))
    world.step(80)
    if stays:
        world.stop("car2", duration="30min")
    assert world.run("30min", progress=False, give_up_after="10min").standstill is None
    assert world.time > 1800.0 and world.arrived == (2 if stays else 3)


def folder_with(tmp_path: Path, name: str = "city.h5") -> list[str]:
    """The words of a run on a road which car2 blocks for ever."""
    save(straight(), tmp_path / name)
    trips = "".join(
        f'<vehicle id="car{k}" type="car" depart="{5 * k}"><route edges="first last"/></vehicle>'
        for k in range(6)
    )
    (tmp_path / "trips.rou.xml").write_text(ROUTES.format(more="", length=5, trips=trips))
    (tmp_path / "scenario.toml").write_text(
        f'network = "{name}"\ndemand = "trips.rou.xml"\n[times]\nuntil_empty = true\n'
        '[[events]]\ntime = "40s"\naction = "stop"\nvehicle = "car2"\n'
    )
    return ["run", str(tmp_path / "scenario.toml")]


def summary(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any], str]:
    capsys.readouterr()
    code = main([*words, "--json"])
    told = capsys.readouterr()
    return code, json.loads(told.out), told.err


def test_the_command_of_a_scenario_ends_with_a_code_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = folder_with(tmp_path)
    code, found, err = summary([*words, "--record", str(tmp_path / "run.h5")], capsys)
    assert code == STOOD_STILL
    assert found["standstill"]["nothing_can_change"]
    assert found["standstill"]["causes"][0]["head"] == "car2"
    assert "nothing can change any more" in err and "car2 on first_0: was told to stand" in err
    at = ["--at", "2min"]
    resumed = summary(["run", "--resume", str(tmp_path / "run.h5"), *at], capsys)
    assert resumed[0] == STOOD_STILL
    assert resumed[1]["standstill"] == found["standstill"]
    assert resumed[1]["state_hash"] == found["state_hash"]
    code, timed, _ = summary([*words, "--duration", "30min"], capsys)
    assert code == 0 and timed["standstill"] is None and timed["sim_s"] == 1800.0
    code, timed, _ = summary([*words, "--duration", "30min", "--give-up-after", "2min"], capsys)
    assert code == STOOD_STILL and timed["sim_s"] < 1800.0


def test_how_long_a_run_is_gone_on_with_is_a_field_of_a_scenario_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = folder_with(tmp_path)
    text = (tmp_path / "scenario.toml").read_text()
    text = text.replace("until_empty = true", 'duration = "20min"\ngive_up_after = "3min"')
    (tmp_path / "scenario.toml").write_text(text)
    code, found, _ = summary([*words, "--record", str(tmp_path / "run.h5")], capsys)
    assert code == STOOD_STILL
    code, again, _ = summary(["run", "--resume", str(tmp_path / "run.h5"), "--at", "1min"], capsys)
    assert code == STOOD_STILL and again["standstill"] == found["standstill"]
    (tmp_path / "scenario.toml").write_text(text.replace('"3min"', "true"))
    assert main(words) == 2
    assert "times.give_up_after = True: wanted a time" in capsys.readouterr().err


def test_each_seed_of_several_tells_its_standstill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = folder_with(tmp_path)
    code, found, err = summary([*words, "--seeds", "1..2"], capsys)
    assert code == STOOD_STILL
    assert [run["standstill"]["causes"][0]["head"] for run in found["runs"]] == ["car2", "car2"]
    assert err.count("nothing can change any more") == 2


def test_a_seed_whose_process_is_killed_is_named_and_the_others_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save(straight(), tmp_path / "city.h5")
    start = command_seeds._start

    def started(seed: int, words: list[str]) -> command_seeds.Run:
        run = start(seed, words)
        if seed == 2:
            run.process.kill()
        return run

    monkeypatch.setattr(command_seeds, "_start", started)
    words = ["run", str(tmp_path / "city.h5"), "--trips", "5", "--over", "10s"]
    code, found, err = summary([*words, "--seeds", "1..3"], capsys)
    assert code == 2
    assert found["seeds"] == [1, 3] and len(found["runs"]) == 2
    assert [one["seed"] for one in found["lost"]] == [2]
    assert "seed 2 is lost: its process was ended by SIGKILL" in err


def test_a_standstill_changes_no_bit(tmp_path: Path) -> None:
    network = straight()

    def begun() -> World:
        world = world_of(network, demand_of(network, 5.0, 6, ["first", "last"]))
        world.step(100)
        world.stop("car1")
        return world

    ended, stepped = begun(), begun()
    stood(ended)
    stepped.step(ended.frame - stepped.frame)
    assert ended.state_hash() == stepped.state_hash()
    assert all(isinstance(one, Command) for one in ended.commands)
