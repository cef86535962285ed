"""`rushhour why` and `rushhour queues`: chains of waiting whose cause is known."""

import json
import re

import numpy as np
import pytest
from network_drafts import crossing

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.network import ALL_WAY_STOP
from rushhour.kernels.core.vehicles import CONFLICT
from rushhour.roadnets.build import finish
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.analysis.standing_still import Holder
from rushhour.traffic.analysis.waiting import Scene
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

FIXED = {"gridlock.policy": "none", "gridlock.change_mind_share": 0.0}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Everybody drives from west to east over an all-way stop; the first breaks down behind it."""
    network = finish(crossing(ALL_WAY_STOP))
    builder = DemandBuilder()
    ways = [network.road_index[name] for name in ("in_w", "out_e")]
    for number in range(24):
        builder.add(Trip(f"car{number}", 2.0 * number, VehicleType(), ways))
    world = World(network, builder.build(), parameters=Parameters(FIXED), dt=0.25, seed=1)
    path = tmp_path_factory.mktemp("runs") / "broken.h5"
    with Recorder(path, world) as recorder:
        world.observers.append(recorder)
        world.step(60)
        while world.vehicles.lane[world.vehicles.id == 0] != network.lane_index["out_e_0"]:
            world.step()
        world.stop("car0")
        world.step(480)
    return path


def test_a_chain_leads_over_a_full_exit_to_who_broke_down(broken):
    with rh.open_run(broken) as run:
        at = float(run.times[-1])
        frame = run.frame(-1)
        last = int(
            frame.id[
                np.argmin(
                    np.where(frame.lane == run.network().lane_index["in_w_0"], frame.s, np.inf)
                )
            ]
        )
        (chain,) = rh.why(run, at, vehicle=last)
    reasons = [wait.reason for wait in chain.waits]
    assert chain.cause == "hazard"
    assert chain.where == "out_e_0"
    assert reasons[-1] == "hazard"
    assert reasons.count("exit_full") == 1
    full = chain.waits[reasons.index("exit_full")]
    assert full.lane == "in_w_0"
    assert full.what == "out_e_0"
    assert set(reasons) == {"leader", "exit_full", "hazard"}
    assert chain.waits[-1].name == "car0"
    ahead = [wait.to_line for wait in chain.waits if wait.lane == "out_e_0"]
    assert ahead == sorted(ahead, reverse=True)  # from the tail to the head


def test_the_time_that_somebody_stands_is_told(broken):
    with rh.open_run(broken) as run:
        way = run.trajectory("car0")
        stands = float(way.time[np.flatnonzero(way.speed > 0.1)[-1] + 1])
        (chain,) = rh.why(run, float(run.times[-1]), vehicle="car0")
    assert chain.waits[0].since == stands


def test_a_queue_is_ranked_with_its_cause_and_the_roads_between(broken):
    with rh.open_run(broken) as run:
        found = {queue.road: queue for queue in rh.queues(run, every=1.0)}
        frames = [run.frame(i) for i in range(run.frames.size)]
        lane = run.network().lane_index["out_e_0"]
    queue = found["out_e"]
    assert (queue.cause, queue.where, queue.through) == ("hazard", "out_e_0", ())
    assert found["in_w"].through == ("out_e",)
    standing = [int(((f.lane == lane) & (f.speed < 1.4)).sum()) for f in frames]
    counted = [count for count in standing if count >= 3]
    assert queue.most == max(standing)
    assert queue.delay == pytest.approx(sum(counted), abs=0.01 * sum(counted))


def test_who_waits_for_one_who_waits_for_it_is_in_a_ring(broken):
    with rh.open_run(broken) as run:
        scene = Scene(run, run.frames.size - 1)
        row = {name: scene.row(number) for number, name in enumerate(run.vehicle_names())}
        columns = scene.frame.columns
        for name, other in (("car3", "car4"), ("car4", "car5"), ("car5", "car3")):
            columns["reason"][row[name]] = CONFLICT
            columns["blocker"][row[name]] = scene.frame.id[row[other]]
        scene._held = lambda at, look=0, first=False: (
            int(columns["reason"][at]),
            scene.place,
        )  # of a past
        chain = scene.chain(row["car6"])
    assert [wait.name for wait in chain.waits] == ["car6", "car5", "car3", "car4"]
    assert chain.cause == "ring"
    assert "a ring" in chain.lines()[-1]


def test_the_commands_say_the_same_as_the_functions(broken, capsys):
    at = "0:02:00"
    assert main(["why", str(broken), "--at", at, "--road", "in_w"]) == 0
    text = capsys.readouterr().out
    assert "cause: was told to stand (on out_e_0)" in text
    assert re.search(
        r"^  car15 on in_w_0, \d+ m before its end: follows car14; stands$", text, re.MULTILINE
    )
    assert "the exit is full (out_e_0)" in text
    assert main(["why", str(broken), "--at", at, "--road", "in_w", "--json"]) == 0
    (chain,) = json.loads(capsys.readouterr().out)["chains"]
    assert chain["cause"] == "hazard"
    assert main(["why", str(broken), "--at", at, "--road", "out_w"]) == 0
    assert "nobody queues on out_w" in capsys.readouterr().out
    assert main(["queues", str(broken), "--json", "--every", "1s"]) == 0
    roads = [queue["road"] for queue in json.loads(capsys.readouterr().out)["queues"]]
    assert sorted(roads) == ["in_w", "out_e"]
    assert main(["queues", str(broken)]) == 0
    text = capsys.readouterr().out
    assert "was told to stand (on out_e_0)" in text
    assert re.search(r" (in_w|out_e) +\S+ +end of run +\d+ veh ", text)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--vehicle", "car0", "--road", "in_w"],
            "--vehicle ID or --road ID, or neither, not both",
        ),
        (["--at", "1min", "--vehicle", "nobody"], "no vehicle 'nobody'"),
        (["--at", "1min", "--road", "in_W"], "did you mean in_w"),
        (["--at", "5h", "--road", "in_w"], "nothing was recorded at 5:00:00"),
        (["--at", "soon", "--road", "in_w"], "wanted a time such as"),
        (["--at", "0s", "--vehicle", "car9"], "car9 is not on the road at 0:00:00; it was from"),
    ],
)
def test_what_is_not_there_is_one_line(broken, words, says, capsys):
    assert main(["why", str(broken), *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_without_a_vehicle_or_a_road_it_is_who_has_stood_for_longest(broken, capsys):
    assert main(["why", str(broken)]) == 0
    told = capsys.readouterr().out
    assert "  car0 on out_e_0, " in told and told.endswith("was told to stand (on out_e_0)\n")
    with rh.open_run(broken) as run:
        (chain,) = rh.why(run)
        ways = [run.trajectory(int(number)) for number in run.frame(-1).id]
    moved = [float(way.time[way.speed > 0.1].max()) for way in ways]
    assert chain.waits[0].since - 10.0 <= min(moved) < chain.waits[0].since
    assert main(["why", str(broken), "--at", "2s"]) == 0
    assert capsys.readouterr().out == "nobody stands at 0:00:02\n"


def test_a_run_without_reasons_says_what_to_do(tmp_path, capsys):
    network = generate("ring", circumference=300.0)
    world = World(network, vehicles_on_road(network, 5, seed=1), dt=0.25)
    path = tmp_path / "bare.h5"
    with Recorder(path, world, fields=("speed",)) as recorder:
        world.observers.append(recorder)
        world.step(8)
    assert main(["queues", str(path)]) == 2
    assert "without --record-fields" in capsys.readouterr().err


def test_who_stands_beside_the_way_is_what_keeps_one_from_an_empty_exit(tmp_path, capsys):
    """A slow car breaks down just behind the intersection, the bus behind it stands inside; who follows turns right."""
    network = finish(crossing())
    builder = DemandBuilder()
    ways = [[network.road_index[name] for name in ("in_s", to)] for to in ("out_n", "out_e")]
    builder.add(Trip("slow", 0.0, VehicleType("slow", max_speed=3.0), ways[0]))
    builder.add(Trip("bus", 6.0, VehicleType("bus", length=12.0), ways[0]))
    builder.add(Trip("car", 45.0, VehicleType(), ways[1]))
    world = World(network, builder.build(), parameters=Parameters(FIXED), dt=0.25, seed=1)
    path = tmp_path / "barred.h5"
    with Recorder(path, world) as recorder:
        world.observers.append(recorder)
        world.step()
        while world.vehicles.lane[0] != network.lane_index["out_n_0"]:
            world.step()
        world.stop("slow")
        world.step(240)
    with rh.open_run(path) as run:
        (chain,) = rh.why(run, float(run.times[-1]), vehicle=2)
    found = [(wait.name, wait.reason) for wait in chain.waits]
    assert found == [("car", "exit_full"), ("bus", "leader"), ("slow", "hazard")]
    assert chain.cause == "hazard" and chain.waits[0].what == "out_e_0"
    holder = Holder(world)
    slots = [holder.slot(vehicle) for vehicle in range(3)]
    assert [holder.next(slot) for slot in slots] == [-1, slots[0], slots[1]]
    assert main(["why", str(path), "--vehicle", "car"]) == 0
    assert "slow" in capsys.readouterr().out
