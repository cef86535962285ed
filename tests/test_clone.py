"""Copies of a world go on as it does; threads, forks and pickles are refused in a line."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resumed_worlds import KINDS, new_world, poison

import rushhour as rh
from rushhour.kernels.compiling.jit import config
from rushhour.roadnets.errors import RunError
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.world import World

COPIES: list[Callable[[World], World]] = [lambda world: world.clone(), copy.copy, copy.deepcopy]


def hashes(world: World, frames: int = 60) -> list[str]:
    """State hashes every twentieth frame."""
    found = []
    for _ in range(frames // 20):
        world.step(20)
        found.append(world.state_hash())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_goes_on_with_the_same_bits_and_leaves_the_original_alone(kind: str) -> None:
    straight, world = new_world(kind), new_world(kind)
    straight.step(70)
    expected = hashes(straight)
    world.step(70)
    copies = [make(world) for make in COPIES]
    for other in copies:
        poison(other)
        assert other.state_hash() == world.state_hash()
    for other in copies:
        assert hashes(other) == expected  # first the copies, which would spoil the original
    assert hashes(world) == expected
    further = hashes(world)
    for other in copies:
        assert hashes(other.clone()) == hashes(other) == further


def test_copies_share_no_array_that_a_frame_writes() -> None:
    world = new_world("controls")
    world.step(40)
    other = world.clone()
    for name in ("veh", "order", "grants", "routes", "trips", "waiting", "lights", "awake"):
        for field, one in getattr(world.sim, name)._asdict().items():
            if isinstance(one, np.ndarray) and one.size:
                assert not np.shares_memory(one, getattr(getattr(other.sim, name), field)), field


def test_a_recorded_and_measured_world_is_copied_without_its_observers(tmp_path: Path) -> None:
    world = new_world("commands")
    measures = Measures(world, interval=10.0)
    with Recorder(tmp_path / "r.h5", world, 1.0, measures) as recorder:
        world.observers += [measures, recorder]
        world.step(50)
        other = world.clone()
        assert other.observers == [] and len(world.observers) == 2
        assert hashes(other) == hashes(world)
    assert rh.open_run(tmp_path / "r.h5").frames.size


def test_bodies_and_commands_that_wait_for_the_next_frame_are_copied() -> None:
    network = rh.generate("grid", rows=2, columns=2)
    world = World(network, rh.vehicles_on_road(network, 40, seed=1), dt=0.25, seed=1)
    world.step(20)
    place = network.lane_points(0)[0]
    world.bodies.set([7], [place[0] + 5.0], [place[1]])
    world.stop("3")
    world.schedule(world.time + 5.0, "remove", vehicle="5")
    other = world.clone()
    assert hashes(other) == hashes(world)
    assert len(other.bodies) == 1 and other.removed == world.removed == 1


def test_a_copy_keeps_its_models_and_what_quotas_were_chosen_from() -> None:
    network = rh.generate("grid", rows=2, columns=2)
    world = World(network, rh.vehicles_on_road(network, 20, seed=1), quotas={"routing": 5})
    world.calibration = {"quotas": {"routing": 5}}
    other = world.clone()
    assert other.calibration == world.calibration and other.calibration is not world.calibration
    assert other.models is world.models and other.parameters is world.parameters


def test_two_threads_that_step_one_world_are_told_so() -> None:
    network = rh.generate("grid", rows=3, columns=3)
    world = World(network, rh.vehicles_on_road(network, 100, seed=1), dt=0.25, seed=1)
    inside, go = threading.Event(), threading.Event()

    class Waiting:
        def observe(self) -> None:
            inside.set()
            assert go.wait(60.0)

    world.observers.append(Waiting())
    other = threading.Thread(target=world.step)
    other.start()
    assert inside.wait(60.0)
    try:
        for call in (world.step, world.clone, world.snapshot, world.reset):
            with pytest.raises(RunError, match="is being stepped.*clone"):
                call()
    finally:
        go.set()
        other.join()
    world.step()
    assert world.frame == 2


def test_an_observer_that_steps_its_world_is_told_so_and_the_world_goes_on() -> None:
    network = rh.generate("grid", rows=2, columns=2)
    world = World(network, dt=0.25)
    told: list[str] = []

    class Steps:
        def observe(self) -> None:
            with pytest.raises(RunError, match="is being stepped") as caught:
                world.step()
            told.append(str(caught.value))

    world.observers.append(Steps())
    world.step(3)
    assert len(told) == 3 and world.frame == 3


def test_what_is_called_between_frames_may_copy_the_world() -> None:
    network = rh.generate("grid", rows=2, columns=2)
    world = World(network, rh.vehicles_on_road(network, 20, seed=1), dt=0.5, seed=1)
    copies: list[World] = []
    world.run(20.0, every=5.0, call=lambda now: copies.append(now.clone()), progress=False)
    for copied in copies:
        copied.step(world.frame - copied.frame)
        assert copied.state_hash() == world.state_hash()
    assert len(copies) == 4


def test_a_pickle_is_refused_in_a_line_that_names_the_run_file() -> None:
    world = World(rh.generate("ring"))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(RunError, match=r"World\.resume\(\"run\.h5\"\)") as caught:
            pickle.dumps(world, protocol)
        assert "\n" not in str(caught.value)


FORKS = """
import os, sys
import rushhour as rh
network = rh.generate("grid", rows=2, columns=2)
demand = rh.vehicles_on_road(network, 20, seed=1)
if sys.argv[1] == "after":
    world = rh.World(network, demand, dt=0.5, seed=1)
    world.step(3)
child = os.fork()
if not child:
    for call in (lambda: world.step(), lambda: rh.World(network, demand).step()):
        try:
            if sys.argv[1] == "before":
                world = rh.World(network, demand, dt=0.5, seed=1)
            call()
            print("stepped", flush=True)
        except rh.RushhourError as error:
            print(error, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
rh.World(network, demand).step(2)
"""


@pytest.mark.skipif(sys.platform != "linux" or config.DISABLE_JIT, reason="no forks, or no threads")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_fork_after_a_step_is_told_to_spawn_and_one_before_it_steps(threads: str) -> None:
    for when in ("after", "before"):
        done = subprocess.run(
            [sys.executable, "-c", FORKS, when], capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_NUM_THREADS": threads}, timeout=300,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        assert len(lines) == 2
        for line in lines:
            assert ("spawn" in line and "forked" in line) if when == "after" else line == "stepped"


def stepped_hash(frames: int) -> Any:
    """What a process of its own makes of a world."""
    network = rh.generate("grid", rows=2, columns=2)
    world = World(network, rh.vehicles_on_road(network, 20, seed=1), dt=0.5, seed=1)
    world.step(frames)
    return world.state_hash()


@pytest.mark.slow
def test_a_process_that_is_spawned_after_a_step_steps() -> None:
    expected = stepped_hash(10)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(stepped_hash, 10).result(timeout=300) == expected
