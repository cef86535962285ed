"""Runs that go on from their run file: bit for bit, with any thread count, or as a what-if."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from resumed_worlds import KINDS, new_world
from several_threads import printed_by_threads
from test_snapshot import assert_same

from rushhour.kernels.compiling.jit import config
from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.recording.frame_fields import TOLERANCE
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.world import World

TESTS = Path(__file__).parent
FRAMES = 160
KEYFRAME = 40  # frames between two keyframes


def record(path: Path, world: World, frames: int = FRAMES, **options: object) -> World:
    """Step a world and record it, with a keyframe every KEYFRAME frames."""
    given = {"keyframe_every": KEYFRAME * world.dt, **options}
    with Recorder(path, world, 1.0, **given) as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(frames - world.frame)
    return world


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, World]]:
    """A recorded run of each kind of world."""
    folder = tmp_path_factory.mktemp("runs")
    return {kind: (folder / f"{kind}.h5", record(folder / f"{kind}.h5", new_world(kind)))
            for kind in KINDS}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_goes_on_from_every_keyframe_as_it_did(recorded, kind: str) -> None:
    path, straight = recorded[kind]
    end = straight.snapshot()
    with RunFile(path) as run:
        times = run.keyframes.index["time"].tolist()
        frames = run.keyframes.index["frame"].tolist()
    assert frames == [*range(0, FRAMES, KEYFRAME), FRAMES]
    for frame, at in zip(frames, times, strict=True):
        world = World.resume(path, at)
        assert world.frame == frame
        world.step(FRAMES - frame)
        assert world.state_hash() == straight.state_hash(), f"from frame {frame}"
        assert_same(world.snapshot(), end)
        assert world.counts() == straight.counts()
        assert [str(one) for one in world.commands] == [str(one) for one in straight.commands]


def test_a_run_goes_on_between_keyframes_at_the_very_time(recorded) -> None:
    path, straight = recorded["commands"]
    world = World.resume(path, at=straight.begin + 0.25 * 57)
    assert world.frame == 57 and world.time == straight.begin + 0.25 * 57
    assert world.step(FRAMES - 57) is None and world.state_hash() == straight.state_hash()
    assert World.resume(path).frame == FRAMES, "without a time: at the last keyframe"


@pytest.mark.skipif(
    bool(config.DISABLE_JIT or config.BOUNDSCHECK), reason="threads are those of compiled kernels"
)
@pytest.mark.soak
@pytest.mark.parametrize("kind", ["commands", "actuated"])
def test_threads_leave_no_trace_of_a_resumed_run(recorded, kind: str) -> None:
    path, straight = recorded[kind]
    words = (kind, str(path), "57", str(FRAMES))
    hashes = {text.strip() for text in printed_by_threads("resumed_worlds.py", *words)}
    assert hashes == {straight.state_hash()}


def test_commands_given_after_a_keyframe_are_given_again_unless_not_wanted(tmp_path: Path) -> None:
    path, world = tmp_path / "run.h5", new_world("stops")
    with Recorder(path, world, 1.0, keyframe_every=10.0) as recorder:
        world.observers.append(recorder)
        world.step(60)
        world.stop(int(world.vehicles.id[0]), duration=5.0)
        world.schedule(world.time + 5.0, "close_roads", roads=["short"])
        world.step(60)
        world.open_roads("short")
        world.step(40)
    again = World.resume(path, world.begin + 10.0)
    assert again.frame == 40 and len(again.commands.coming) == 3
    again.step(120)
    assert again.state_hash() == world.state_hash()
    assert [str(one) for one in again.commands] == [str(one) for one in world.commands]
    other = World.resume(path, world.begin + 10.0, commands=False)
    assert not other.commands.coming
    other.step(120)
    assert other.state_hash() != world.state_hash()
    between = World.resume(path, world.begin + 17.5, commands=False)
    assert [one.name for one in between.commands] == ["stop"], "given by then"


def test_a_world_of_a_run_file_has_the_demand_of_the_run(recorded) -> None:
    path, straight = recorded["stops"]
    demand = World.resume(path, straight.begin).demand
    for field in fields(Demand):
        ours, theirs = getattr(demand, field.name), getattr(straight.demand, field.name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs, err_msg=field.name)
        elif field.name != "remarks":
            assert ours == theirs, field.name
    assert demand.remarks[-1] == "resumed from stops.h5 at 0:00:00, frame 0"


def test_a_resumed_run_is_recorded_and_resumed_again(recorded, tmp_path: Path) -> None:
    path, straight = recorded["rings"]
    first = World.resume(path, straight.begin + 30.0)
    record(tmp_path / "second.h5", first, 100)
    with RunFile(tmp_path / "second.h5") as run:
        assert run.frames[0] == 60 and run.meta["first_frame"] == 60
        assert len(run.table("trips")) == len(first.trips), "those that finished before, too"
    again = World.resume(tmp_path / "second.h5", straight.begin + 45.0)
    again.step(FRAMES - 90)
    assert again.state_hash() == straight.state_hash()


def test_a_what_if_begins_where_it_is_resumed_and_says_so(recorded) -> None:
    path, straight = recorded["stops"]
    at = straight.begin + 17.0
    as_it_was = World.resume(path, at)
    other = World.resume(path, at, parameters={"signals.min_green": 7, "car.time_gap": 3.0})
    assert other.parameters["car.time_gap"] == 3.0 and "what-if" not in as_it_was.demand.remarks[-1]
    assert other.demand.remarks[-1].endswith(
        "frame 68; a what-if from there on, with signals.min_green = 7.0, car.time_gap = 3.0"
    )
    for name in ("vehicles", "waiting", "road_lanes"):
        np.testing.assert_array_equal(
            other.snapshot().tables[name], as_it_was.snapshot().tables[name]
        )
    other.step(80)
    as_it_was.step(80)
    assert other.state_hash() != as_it_was.state_hash()
    same = World.resume(path, at, parameters={"car.time_gap": 1.0}, seed=straight.seed)
    same.step(80)
    assert same.state_hash() == as_it_was.state_hash(), "what was given is what holds"
    seeded = World.resume(path, at, seed=99)
    assert "seed = 99" in seeded.demand.remarks[-1]


def test_signals_may_be_controlled_otherwise_from_some_time_on(recorded) -> None:
    path, straight = recorded["program"]
    for control in ("actuated", "max_pressure", "fixed"):
        world = World.resume(path, straight.begin + 20.0, parameters={"signals.control": control})
        world.step(60)
        assert world.frame == 140
    with pytest.raises(ParameterError, match="worked into the network"):
        World.resume(path, parameters={"curve.lateral_acceleration": 2.0})
    with pytest.raises(ParameterError, match="truck.* would change nobody"):
        World.resume(path, parameters={"truck.time_gap": 2.0})
    with pytest.raises(ParameterError, match="did you mean"):
        World.resume(path, parameters={"car.time_gpa": 2.0})


def test_only_keyframes_make_any_instant_again(recorded, tmp_path: Path) -> None:
    path, straight = recorded["commands"]
    record(tmp_path / "keyframes.h5", new_world("commands"), mode="keyframes")
    assert (tmp_path / "keyframes.h5").stat().st_size < path.stat().st_size
    with RunFile(path) as frames, RunFile(tmp_path / "keyframes.h5") as keyframes:
        assert keyframes.frames.size == 0 and keyframes.mode == "keyframes"
        draw = np.random.default_rng(1)
        for i in [0, *draw.permutation(frames.frames.size)[:6].tolist(), frames.frames.size - 1]:
            want = frames.frame(i)
            got = keyframes.at(want.time)
            assert got.frame == want.frame and got.time == want.time
            for name in ("id", "lane", "reason", "blocker", "signals", "tier"):
                np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
            for name, within in TOLERANCE.items():
                np.testing.assert_allclose(
                    getattr(got, name), getattr(want, name), atol=within + 1e-5
                )
        assert keyframes.at(straight.begin + 10.25).frame == 41, "any frame, not a recorded one"
        assert keyframes.at(0.0).frame == 0 and keyframes.at(1e6).frame == FRAMES


def test_only_frames_cannot_be_resumed(tmp_path: Path) -> None:
    record(tmp_path / "run.h5", new_world("stops"), 40, mode="frames")
    with pytest.raises(RunError, match=r"run\.h5: holds no keyframes to resume from; .*both"):
        World.resume(tmp_path / "run.h5")
    with pytest.raises(RunError, match="wanted one of frames, keyframes, both"):
        Recorder(tmp_path / "run.h5", new_world("stops"), mode="all")


def test_a_run_is_resumed_from_its_begin_on_at_the_earliest(recorded, tmp_path: Path) -> None:
    path, straight = recorded["stops"]
    late = World.resume(path, straight.begin + 20.0)
    record(tmp_path / "late.h5", late, 100)
    with pytest.raises(RunError, match=r"begins at 0:00:20 \(20 s\); resume at or after it"):
        World.resume(tmp_path / "late.h5", straight.begin + 5.0)


def test_a_world_that_broke_off_within_a_frame_leaves_no_keyframe(tmp_path: Path) -> None:
    path, world = tmp_path / "run.h5", new_world("stops")

    class Breaks:
        def observe(self) -> None:
            if world.frame == 50:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Recorder(path, world, keyframe_every=10.0) as recorder:
        world.observers += [recorder, Breaks()]
        world.step(100)
    with RunFile(path) as run:
        assert run.complete and run.keyframes.index["frame"].tolist() == [0, 40]


KILLED = """
import sys
from resumed_worlds import new_world
from rushhour.traffic.recording import recorder as recording
recording.FLUSH_SECONDS = 0.0
world = new_world(sys.argv[2])
world.observers.append(recording.Recorder(sys.argv[1], world, 0.25, keyframe_every=1.0))
print(world.frame, flush=True)
while True:
    world.step()
    print(world.frame, flush=True)
"""


def killed_run(path: Path, kind: str, after: int, wait: float) -> int:
    """Kill a recording process some frames after its start; the last frame that it told of."""
    environment = os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), kind], stdout=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    seen = 0
    for _ in range(after):
        seen = int(process.stdout.readline())
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return seen


def goes_on(path: Path, kind: str, seen: int) -> None:
    """A killed run holds every keyframe until then, and goes on from the last one as ever."""
    with RunFile(path) as run:
        frames = run.keyframes.index["frame"]
        assert not run.complete
        each = round(1.0 / float(run.meta["dt"]))
        np.testing.assert_array_equal(frames, each * np.arange(frames.size))
        assert frames[-1] >= seen - seen % each
    world = World.resume(path)
    world.step(8)
    straight = new_world(kind)
    straight.step(world.frame)
    assert world.state_hash() == straight.state_hash()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("commands", 9),
        *(pytest.param(*row, marks=pytest.mark.soak) for row in (("stops", 90), ("rings", 41))),
    ],
)
def test_a_killed_run_goes_on_from_its_last_keyframe(tmp_path: Path, kind: str, after: int) -> None:
    seen = killed_run(tmp_path / "run.h5", kind, after, 0.002 * (after % 5))
    goes_on(tmp_path / "run.h5", kind, seen)


@pytest.mark.soak
def test_runs_killed_at_a_hundred_random_moments_go_on(tmp_path: Path) -> None:
    draw = np.random.default_rng(11)
    for i in range(100):
        kind = list(KINDS)[i % len(KINDS)]
        seen = killed_run(
            tmp_path / "run.h5", kind, int(draw.integers(2, 120)), float(draw.uniform(0.0, 0.02))
        )
        goes_on(tmp_path / "run.h5", kind, seen)


def test_many_trips_outside_and_more_vehicles_than_there_was_room_for_go_on(tmp_path: Path) -> None:
    """The arrays have grown, and routes found under way were moved together."""
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.traffic.settings.parameters import Parameters

    network = generate("grid", rows=6, columns=6, border="loops")
    trips = random_trips(network, 2500, over=20.0, seed=1)
    trips = replace(trips, depart=trips.depart - float(trips.depart[0]))
    given = Parameters({"rerouting.fraction": 0.5, "rerouting.period": 5.0})
    world = World(network, trips, parameters=given, dt=0.5, seed=3)
    record(tmp_path / "run.h5", world, 160)
    assert world.sim.veh.lane.size > 1024 and world.routing.detours.total > 500
    again = World.resume(tmp_path / "run.h5", 40.5)
    again.step(160 - again.frame)
    assert_same(again.snapshot(), world.snapshot())


PLAIN = """
import sys
from resumed_worlds import new_world
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.world import World
world = new_world("stops")
with Recorder(sys.argv[1], world, 0.5, keyframe_every=1.0) as recorder:
    world.observers.append(recorder)
    world.step(8)
print(World.resume(sys.argv[1]).state_hash() == world.state_hash())
"""


@pytest.mark.slow
def test_keyframes_are_written_where_nothing_is_compiled(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAIN, str(tmp_path / "run.h5")],
        check=False, capture_output=True, text=True, cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.stdout.split() == ["True"], done.stderr[-2000:]
