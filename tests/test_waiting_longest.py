"""Which reason held somebody longest, and a red light that is not what holds a queue."""

from pathlib import Path

import numpy as np
import pytest

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.vehicles import EXIT_FULL, LEADER, RED_LIGHT, STARTING, YIELDS
from rushhour.traffic.analysis.chains import Chain, Wait
from rushhour.traffic.analysis.waiting import Scene, _longest
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, VehicleType
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

EVERY = 2.0  # s between frames


@pytest.fixture(scope="module")
def spilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A queue behind who broke down fills the road and stands back through a light."""
    builder = rh.NetworkBuilder("lit")
    for name, line in (
        ("first", [(0.0, 0.0), (200.0, 0.0)]),
        ("last", [(200.0, 0.0), (300.0, 0.0)]),
        ("side", [(200.0, -200.0), (200.0, 0.0)]),
    ):
        builder.add_road(line, speed=13.9, id=name)
    builder.add_intersection(200.0, 0.0, control="signals", id="light")
    network = builder.build()
    demand = DemandBuilder()
    ends = [network.road_index[name] for name in ("first", "last")]
    for k in range(30):
        demand.add(Trip(f"car{k}", 3.0 * k, VehicleType(speed_dev=0.0), ends))
    fixed = {
        "gridlock.policy": "none",
        "gridlock.change_mind_share": 0.0,
        "signals.control": "fixed",
    }
    world = World(network, demand.build(), parameters=Parameters(fixed), dt=0.25, seed=1)
    path = tmp_path_factory.mktemp("runs") / "spilled.h5"
    with Recorder(path, world, EVERY) as recorder:
        world.observers.append(recorder)
        last = network.lane_index["last_0"]
        world.step(4)
        while world.vehicles.lane[world.vehicles.id == 0] != last:
            world.step()
        world.stop("car0")
        world.step(4 * 400)
    return path


def heads(run: rh.RunFile, reason: int) -> list[tuple[float, str]]:
    """When a vehicle at the light stood for a reason, and its name."""
    lane, found = run.network().lane_index["first_0"], []
    for place in range(run.times.size // 2, run.times.size):
        frame = run.frame(place)
        rows = np.flatnonzero(frame.lane == lane)
        head = rows[np.argmax(frame.s[rows])]
        if frame.reason[head] == reason:
            found.append((frame.time, run.vehicle_names()[frame.id[head]]))
    return found


def test_a_light_is_not_the_cause_where_its_green_cannot_be_used(spilled: Path) -> None:
    with rh.open_run(spilled) as run:
        red = heads(run, RED_LIGHT)
        assert red and heads(run, EXIT_FULL)
        for time, name in (red[0], red[-1]):
            (chain,) = rh.why(run, time, vehicle=name)
            assert chain.waits[0].reason == "exit_full"
            assert chain.cause == "hazard" and chain.waits[-1].name == "car0"


def test_every_queue_behind_a_full_exit_names_who_broke_down(
    spilled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["queues", str(spilled), "--from", "2min"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines
    assert all("was told to stand (on last_0)" in line for line in lines)


def test_who_waits_within_an_intersection_for_the_light_behind_it_has_a_chain(
    spilled: Path,
) -> None:
    """Reading the lanes behind a connector was a TypeError: a slice of nothing."""
    with rh.open_run(spilled) as run:
        n = run.network().n_road_lanes
        for place in range(run.times.size):
            scene = Scene(run, place)
            inside = np.flatnonzero(scene.frame.lane >= n)
            if inside.size:
                break
        row = int(inside[0])
        scene.frame.columns["reason"][row] = RED_LIGHT
        scene.frame.columns["speed"][row] = 1.0
        chain = scene.chain(row)
    assert chain.cause == "red_light"


@pytest.mark.parametrize(
    ("stretches", "cause"),
    [
        ([(RED_LIGHT, 57), (EXIT_FULL, 33), (RED_LIGHT, 57)], EXIT_FULL),
        ([(RED_LIGHT, 57)], RED_LIGHT),
        ([(EXIT_FULL, 2), (RED_LIGHT, 57)], RED_LIGHT),  # it came too late
        ([(RED_LIGHT, 50), (STARTING, 1), (RED_LIGHT, 50)], RED_LIGHT),
        ([(RED_LIGHT, 20), (YIELDS, 30), (RED_LIGHT, 60)], YIELDS),
        ([(LEADER, 100), (RED_LIGHT, 20)], LEADER),
        ([(RED_LIGHT, 10), (EXIT_FULL, 10)], EXIT_FULL),
    ],
)
def test_red_after_an_unused_green_counts_as_what_kept_it_unused(
    stretches: list[tuple[int, int]], cause: int
) -> None:
    reasons = np.array([reason for reason, s in stretches for _ in range(s)], np.uint8)
    assert _longest(reasons, np.ones(reasons.size)) == cause


def test_traffic_that_flows_past_is_what_somebody_waits_for(tmp_path: Path) -> None:
    """Whoever drives by on the main road just then was the cause: 'none any more'."""
    builder = rh.NetworkBuilder("join")
    for name, line in (
        ("first", [(0.0, 0.0), (200.0, 0.0)]),
        ("last", [(200.0, 0.0), (500.0, 0.0)]),
        ("side", [(200.0, -200.0), (200.0, 0.0)]),
    ):
        builder.add_road(line, speed=13.9, id=name, priority=0 if name == "side" else 5)
    builder.add_intersection(200.0, 0.0, control="yield", id="join")
    network = builder.build()
    demand = DemandBuilder()
    for k in range(60):
        ends = [network.road_index[name] for name in ("first", "last")]
        demand.add(Trip(f"car{k}", 2.0 * k, VehicleType(speed_dev=0.0), ends))
    ends = [network.road_index[name] for name in ("side", "last")]
    demand.add(Trip("side", 3.0, VehicleType(speed_dev=0.0), ends))
    world = World(network, demand.build(), dt=0.25, seed=1)
    path = tmp_path / "r.h5"
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(4 * 90)
    with rh.open_run(path) as run:
        way = run.trajectory("side")
        times = way.time[(way.speed <= 0.1) & (way.time > 25.0)].tolist()
        assert len(times) > 20
        chains = [rh.why(run, time, vehicle="side")[0] for time in times]
    assert {(chain.cause, chain.where, len(chain.waits)) for chain in chains} <= {
        ("yields", "join", 1), ("conflict", "join", 1),
    }  # fmt: skip


def test_a_queue_that_closes_a_ring_is_named_by_its_last() -> None:
    def wait(name: str, reason: str) -> Wait:
        return Wait(0, name, "a_0", "x", 5.0, 0.0, reason, None)

    waits = (wait("head", "conflict"), wait("third", "leader"), wait("second", "leader"))
    lines = Chain(9.0, waits, "ring", "x").lines()
    assert lines[1] == "third on a_0 and 1 other wait in line behind one of these"


@pytest.mark.parametrize("close", [
    {"close_roads": ["mid"]}, {"close_lanes": ["mid_0"]}, {"close_roads": ["mid"], "open_roads": ["mid"]},
])  # fmt: skip
def test_closed_roads_that_leave_no_way_are_the_cause(
    tmp_path: Path, close: dict[str, list[str]]
) -> None:
    # The file said "waits for a lane change", while the run itself ended with the closed road.
    builder = rh.NetworkBuilder("row")
    for k, name in enumerate(("first", "second", "mid", "last")):
        builder.add_road([(100.0 * k, 0.0), (100.0 * k + 100.0, 0.0)], speed=13.9, id=name)
    network = builder.build()
    way = [network.road_index[name] for name in ("first", "second", "mid", "last")]
    demand = DemandBuilder()
    for k in range(3):
        demand.add(Trip(f"car{k}", 2.0 * k, VehicleType(speed_dev=0.0), way))
    world = World(network, demand.build(), dt=0.25, seed=1)
    path = tmp_path / "closed.h5"
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        for name, which in close.items():
            world.step(4)
            getattr(world, name)(which)
        world.step(4 * 60)
    with rh.open_run(path) as run:
        if "open_roads" in close:
            assert rh.why(run) == []
            return
        (chain,) = rh.why(run, vehicle="car2")
        assert chain.cause == chain.waits[-1].reason == "cut_off"
        assert chain.where == chain.waits[-1].lane and chain.waits[-1].name == "car0"
        assert "has no way, roads are closed (on " in chain.lines()[-1]
        (queue,) = rh.queues(run)
        assert (queue.cause, queue.most) == ("cut_off", 3)


def test_who_could_change_lane_at_last_waited_for_what_kept_it_until_then(tmp_path: Path) -> None:
    """In its last frame of standing nobody is in its way: `waits for a lane change` was all one heard."""
    builder = rh.NetworkBuilder("fork")
    for name, line, lanes in (
        ("first", [(0.0, 0.0), (300.0, 0.0)], 2),
        ("out", [(300.0, 0.0), (420.0, -60.0)], 1),
        ("on", [(300.0, 0.0), (420.0, 60.0)], 1),
    ):
        builder.add_road(line, speed=13.9, lanes=lanes, id=name)
    network, demand = builder.build(), DemandBuilder()
    ends = [network.road_index[name] for name in ("first", "out")]
    for k in range(30):
        demand.add(Trip(f"car{k}", 2.0 * k, VehicleType(speed_dev=0.0), ends, depart_lane=0))
    late = {"depart_lane": 1, "depart_pos": 290.0, "depart_pos_kind": POS_GIVEN}
    demand.add(Trip("wants", 60.0, VehicleType(speed_dev=0.0), ends, **late))
    world = World(network, demand.build(), dt=0.25, seed=1)
    path = tmp_path / "fork.h5"
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.schedule(world.begin + 30.0, "stop", vehicle="car0", duration=150.0)
        world.step(4 * 260)
    with rh.open_run(path) as run:
        way = run.trajectory("wants")
        still = way.time[way.speed < 0.1]
        assert still[-1] - still[0] > 60.0
        for time in (still[0] + 20.0, still[-1]):
            (chain,) = rh.why(run, float(time), "wants")
            assert chain.waits[0].reason == "lane_change"
            assert (chain.cause, chain.waits[-1].name) == ("hazard", "car0")
