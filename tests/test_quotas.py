"""Work quotas: a frame does no more than them, everybody has a turn, and runs stay the same bits."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resumed_worlds import new_world, quotas
from several_threads import printed_by_threads

from rushhour.cli import main
from rushhour.kernels.lanes.change_turns import TURNS
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.profiling import calibrating
from rushhour.traffic.profiling.calibrating import SHARES, quotas_for
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.settings.quotas import NAMES, Queue, checked_quotas
from rushhour.traffic.world import World

PLENTY = dict.fromkeys(NAMES, 100_000)
FRAMES = 160


def test_a_queue_serves_who_asked_first_and_counts_how_long_they_waited() -> None:
    queue = Queue(2)
    assert queue.turn([9, 5, 7, 3], 0, 2) == [3, 5]
    assert queue.turn([9, 7], 1, 2) == [7, 9]
    assert (queue.longest, queue.most_waiting, queue.put_off, queue.waiting) == (1, 2, 2, 0)
    assert queue.turn([1, 2, 4], 5, 0) == []
    assert queue.turn([2, 4, 8], 9, 1) == [2]  # 1 went; 8 is new and comes after 4
    assert queue.turn([4, 8], 10, 1) == [4] and queue.longest == 5


def test_quotas_that_never_bind_change_nothing() -> None:
    free, held = new_world("program"), new_world("program")
    assert held.quotas() == {}
    held = World(held.network, held.demand, dt=held.dt, seed=held.seed, quotas=PLENTY)
    free.step(FRAMES)
    held.step(FRAMES)
    assert held.state_hash() == free.state_hash()
    assert all(told["most_waiting"] == 0 for told in held.quotas().values())


@pytest.fixture(scope="module")
def watched() -> tuple[World, list[dict[str, Any]]]:
    """A world whose quotas all bind, and what each of its frames did."""
    world = quotas()
    seen: list[dict[str, Any]] = []
    departures, after = world.phases.depart, []

    def depart() -> None:
        departures()
        after.append((world.sim.n >= 240, world.waiting_to_depart))

    # Looks in where World itself offers no place to: between sorting and departures.
    world.phases.depart = depart  # type: ignore[method-assign]
    for _ in range(FRAMES):
        turned = world.routing.detours.total
        world.step()
        turns = (np.arange(TURNS) + ((world.frame - 1) >> 1)) % TURNS
        seen.append({
            "on_road": world.active, "steered": int(np.count_nonzero(world.steering.state.tier)),
            "rerouted": world.routing.detours.total - turned, "looks": world.sim.awake.looks[turns].copy(),
            "full": after[-1][0] and after[-1][1] > 0, "outside": after[-1][1],
            "bodies": dict(world.sim.quotas.steered.since),
        })  # fmt: skip
    del world.phases.depart
    return world, seen


def test_no_frame_does_more_than_its_quotas(watched) -> None:
    _, seen = watched
    assert max(frame["on_road"] for frame in seen) == 240
    assert max(frame["steered"] for frame in seen) == 8
    assert max(frame["rerouted"] for frame in seen) == 1


def test_the_latency_and_backlog_told_are_those_that_a_plain_count_finds(watched) -> None:
    world, seen = watched
    told = world.quotas()
    # Frames in a row in which the road was full while somebody waited outside.
    run = longest = 0
    for frame in seen:
        run = run + 1 if frame["full"] else 0
        longest = max(longest, run)
    assert told["vehicles"]["longest_wait_s"] == longest * world.dt > 0.0
    assert told["vehicles"]["most_waiting"] == max(f["outside"] * f["full"] for f in seen)
    # How long each of those who wait for a body has done so.
    since: dict[int, int] = {}
    most = 0
    for number, frame in enumerate(seen):
        for gone in set(since) - set(frame["bodies"]):
            most = max(most, number - since.pop(gone))
        for one in frame["bodies"]:
            since.setdefault(one, number)
            most = max(most, number - since[one])
    assert told["steered"]["longest_wait_s"] in ((most - 1) * world.dt, most * world.dt)
    assert told["steered"]["most_waiting"] == max(len(frame["bodies"]) for frame in seen) > 0
    # Pairs of frames between two looks of the same turn, beyond the usual four.
    looked = np.array([frame["looks"] for frame in seen])[::2]
    last, gap = np.full(TURNS, -4), 0
    for pair, looks in enumerate(looked):
        last[looks] = pair
        gap = max(gap, int((pair - last).max()) - 4)
    assert told["lanes"]["longest_wait_s"] <= 2 * gap * world.dt
    assert gap > 0 and told["lanes"]["most_waiting"] > 0


def test_every_turn_looks_for_a_better_lane_within_its_round(watched) -> None:
    _, seen = watched
    for first in range(0, FRAMES - 2 * TURNS, 16):
        looks = [frame["looks"] for frame in seen[first : first + 2 * TURNS]]
        assert np.any(looks, axis=0).all()


def test_the_backlog_drains_when_the_work_does() -> None:
    """Everybody wants another way at once, as rerouting begins: one in a frame gets it, then all have."""
    network = generate("grid", rows=3, columns=3, border="loops")
    given = Parameters({"rerouting.fraction": 1.0, "rerouting.period": 3600.0})
    trips = random_trips(network, 60, over=0.5, seed=2)
    world = World(network, trips, parameters=given, dt=0.25, seed=1, quotas={"routing": 1})
    world.step(4)
    deep = world.quotas()["routing"]
    assert deep["waiting"] > 20
    world.step(80)
    told = world.quotas()["routing"]
    assert told["waiting"] == 0
    assert told["longest_wait_s"] >= deep["waiting"] * world.dt


def test_the_same_rings_are_found_a_part_of_the_lanes_at_a_time() -> None:
    """Where nothing is done about them, so that the traffic is the same."""
    network = generate("grid", rows=3, columns=3, length=100.0, lanes=1, control="all_way_stop",
                       left="shared", border="closed")  # fmt: skip
    nothing = {"gridlock.policy": "none", "gridlock.change_mind_share": 0.0}
    standing = []
    for most in (10**9, network.n_road_lanes // 3):
        given = Parameters({**nothing, "quota.wait_for": most})
        cars = vehicles_on_road(network, 200, seed=3)
        world = World(network, cars, parameters=given, dt=0.5, seed=3)
        world.step(1000)
        standing.append({lane: ring.lanes for lane, ring in world.rings.standing.items()})
    assert standing[0] == standing[1] != {}
    assert world.quotas()["wait_for"]["longest_wait_s"] == 2 * world.dt


@pytest.mark.slow
def test_quotas_give_the_same_bits_with_any_number_of_threads() -> None:
    assert len(set(printed_by_threads("hashed_quotas.py"))) == 1


def test_a_run_repeats_from_the_quotas_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    world = quotas(steered=5, lanes=7, routing=2, wait_for=11, vehicles=200)
    world.run(20.0, record=path, progress=False)
    with RunFile(path) as run:
        told = run.table("quotas").columns
        assert run.parameters["quota.routing"] == "2"
    again = World.resume(path, at=0.0)
    again.step(world.frame)
    assert again.state_hash() == world.state_hash() and again.quotas() == world.quotas()
    last = {str(name): row for row, name in enumerate(told["quota"])}
    for name, found in world.quotas().items():
        assert told["most_waiting"][last[name]] == found["most_waiting"]
        assert told["longest"][last[name]] * world.dt == found["longest_wait_s"]


def test_quotas_for_a_budget_leave_each_kind_of_work_its_share() -> None:
    cost = {"vehicle": 100.0, "frame": 1e5, "lanes": 50.0, "routing": 2e4, "wait_for": 4.0}
    most = quotas_for(cost, 0.01)
    time = 0.85e7
    for name in ("lanes", "routing", "wait_for"):
        assert most[name] == int(SHARES[name] * time / cost[name])
    assert "steered" not in most
    everything = sum(most[name] * cost[name] for name in ("lanes", "routing", "wait_for"))
    assert most["vehicles"] * 100.0 + 1e5 + everything <= time
    assert all(quotas_for(cost, 0.02)[name] > most[name] for name in most)


def test_where_empty_frames_were_late_a_vehicle_still_costs_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine: it came out as 0 ns, and `--budget` ended in a division by zero."""
    stepped, worlds = calibrating._stepped, iter((1e9, 0.0))

    def late(*given: Any) -> tuple[Any, World]:
        ns, world = stepped(*given)
        return ns + next(worlds), world

    monkeypatch.setattr(calibrating, "_stepped", late)
    measured = calibrating.measure_work(generate("cross"), Parameters(), 0.25, 1)
    assert measured["vehicle"] > 0.0
    assert quotas_for(measured, 0.01)["vehicles"] >= 1


@pytest.mark.parametrize("steered", [0.0, 900.0])
def test_a_smaller_budget_takes_from_every_quota_and_most_from_vehicles(steered: float) -> None:
    """What a frame costs without anybody comes out of the vehicles' share alone: they go first."""
    cost = {"vehicle": 100.0, "frame": 5e5, "lanes": 50.0, "routing": 2e4, "wait_for": 4.0}
    if steered:
        cost["steered"] = steered
    budgets = (0.032, 0.016, 0.008, 0.004, 0.003)
    found = [quotas_for(cost, budget) for budget in budgets]
    for more, less in pairwise(found):
        assert list(more) == [name for name in NAMES if name in more]
        share = {name: less[name] / more[name] for name in more}
        assert all(part < 1.0 for part in share.values())
        assert share["vehicles"] == min(share.values())


def test_a_world_with_a_budget_has_quotas_and_says_what_they_come_from() -> None:
    network = generate("grid", rows=3, columns=3, border="loops")
    demand = vehicles_on_road(network, 40, seed=1)
    world = World(network, demand, dt=0.25, seed=1, budget="50ms", quotas={"vehicles": 30})
    chosen = world.calibration["quotas"]
    assert world.parameters["quota.vehicles"] == 30  # given, and so kept
    assert world.parameters["quota.routing"] == chosen["routing"] > 0
    again = World(network, demand, dt=0.25, seed=1, parameters=world.parameters)
    for one in (world, again):
        one.step(20)
    assert world.state_hash() == again.state_hash() and world.active == 30
    with pytest.raises(ParameterError, match=r"budget 60 s: wanted 0.0001 to 10 s"):
        World(network, demand, budget="1min")


def test_the_command_line_takes_quotas_and_tells_of_them(tmp_path: Path, capsys) -> None:
    path, run = tmp_path / "grid.h5", tmp_path / "run.h5"
    main(["generate", "grid", "-o", str(path)])
    capsys.readouterr()
    options = [
        "--vehicles",
        "50",
        "--duration",
        "10s",
        "--quota",
        "vehicles=20",
        "--record",
        str(run),
    ]
    assert main(["run", str(path), *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["quotas"]["vehicles"]
    assert told["most"] == 20 and told["waiting"] == told["most_waiting"] == 30
    assert main(["replay", str(run)]) == 0
    assert re.search(r"quotas +vehicles 20: 30 wait, 30 at most", capsys.readouterr().out)
    assert main(["run", str(path), *options[:4], "--quota", "speed=20"]) == 2
    assert "quota 'speed' does not exist; wanted steered, lanes" in capsys.readouterr().err
    assert main(["profile", str(path), "--calibrate"]) == 2
    assert "add --budget" in capsys.readouterr().err


def test_the_names_of_quotas_are_those_of_parameters() -> None:
    assert checked_quotas(PLENTY).keys() <= Parameters().keys()
