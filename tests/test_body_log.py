"""Bodies from outside keep the promise of the same bits: threads, recordings, going back."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from hashed_bodies import FRAMES, give, stepped, world_with_bodies
from planted_world import PlantedWorld
from several_threads import printed_by_threads

from rushhour.cli import main
from rushhour.kernels.compiling.jit import config
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import Checker
from rushhour.traffic.outside.bodies import Bodies
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.world import World


@pytest.mark.soak
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has one thread")
def test_one_two_and_four_threads_come_to_the_same_bits_among_bodies() -> None:
    assert len(set(printed_by_threads("hashed_bodies.py"))) == 1


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A recorded run among bodies, and its last hash."""
    path = tmp_path_factory.mktemp("bodies") / "run.h5"
    world = world_with_bodies()
    with Recorder(path, world, keyframe_every=10.0) as recorder:
        world.observers.append(recorder)
        for k in range(FRAMES):
            if k < 60 or k % 3 == 0:  # then they stand still for two of three frames
                give(world)
            if k == 90:
                world.bodies.clear()
            world.step()
    assert world.bodies.contacts > 0 and not world.bodies.listeners
    return path, world.state_hash()


def test_a_recorded_run_is_verified_bit_for_bit(recorded: tuple[Path, str]) -> None:
    path, _ = recorded
    with RunFile(path) as run:
        log = run.bodies()
        assert len(log) > 60 and log.frame[0] == 0 and log.at(90).size == 0
        verdict = verify(run)
        assert verdict.same and verdict.keyframes >= 3, verdict.lines()
    assert main(["replay", str(path), "--verify"]) == 0


def test_without_its_bodies_a_run_is_another(recorded: tuple[Path, str], tmp_path: Path) -> None:
    again = tmp_path / "cut.h5"
    again.write_bytes(recorded[0].read_bytes())
    with h5py.File(again, "r+") as file:
        file["bodies/set"].resize((40,))
    with RunFile(again) as run:
        assert not verify(run).same


@pytest.mark.parametrize("at", [25, 75])
def test_a_resumed_run_has_the_bodies_of_the_recorded_one(
    recorded: tuple[Path, str], at: int
) -> None:
    path, last = recorded
    world = World.resume(path, at * 0.25)
    assert world.frame == at and len(world.bodies) == 40
    world.step(FRAMES - at)
    assert world.state_hash() == last
    alone = World.resume(path, at * 0.25, commands=False)
    where = alone.bodies.rows.copy()
    alone.step(5)
    np.testing.assert_array_equal(alone.bodies.rows, where)


def test_bodies_are_repeated_in_a_new_world(recorded: tuple[Path, str]) -> None:
    path, last = recorded
    world = world_with_bodies()
    with RunFile(path) as run:
        world.bodies.repeat(run.bodies())
    world.step(FRAMES)
    assert world.state_hash() == last


def test_a_world_with_bodies_goes_back() -> None:
    world = stepped(30)
    before, first = world.snapshot(), world.state_hash()
    give(world)
    world.step(10)
    end = world.state_hash()
    world.restore(before)
    assert world.state_hash() == first
    give(world)
    world.step(10)
    assert world.state_hash() == end


def test_damaged_bodies_are_one_line(recorded: tuple[Path, str], tmp_path: Path) -> None:
    for name, value in (("length", -1.0), ("x", np.nan)):
        again = tmp_path / "bad.h5"
        again.write_bytes(recorded[0].read_bytes())
        with h5py.File(again, "r+") as file:
            row = file["bodies/row"][3:4]
            row[name] = value
            file["bodies/row"][3:4] = row
        with RunFile(again) as run, pytest.raises(RunError, match=rf"/bodies is damaged .*{name}"):
            run.bodies()


def test_the_checker_names_who_runs_into_a_body_that_stood_there() -> None:
    planted = PlantedWorld(generate("straight", length=300.0))
    planted.put(planted.network.lane_ids[0], 20.0, 10.0)
    world = World(planted.network, dt=0.25)
    bodies = planted.bodies = Bodies(world)
    x, y = planted.network.points[planted.network.point_start[0]]
    bodies.set([7], x + 100.0, y)
    checker = Checker(planted)
    assert bodies.take()
    for _ in range(40):
        planted.step(checker, 1)
        s = float(planted.sim.veh.s[0])
        bodies._touched[:] = 0 if 97.75 < s < 107.0 else -1
    assert checker.violations == {"ran_into_body": 1}
    assert "body 7 had stood there for" in checker.lines()[0]
