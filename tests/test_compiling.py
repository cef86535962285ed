"""One process compiles a kernel, the others wait for it; more processes compile a frame ahead."""

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba.core.compiler_lock import global_compiler_lock

from rushhour.cli.compiling_aside import compile_a_frame
from rushhour.kernels.compiling.compile_locks import announcing_compiles, compiled_once, locked
from rushhour.kernels.compiling.jit import config, rehearsed
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

HOLD = """
import sys
from pathlib import Path
from rushhour.kernels.compiling.compile_locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_lock_is_held_by_one_process_until_it_ends_even_by_force(tmp_path: Path):
    path = tmp_path / "deep" / "kernel.lock"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    with locked(path, wait=False) as held:
        assert not held
    waited: list[float] = []

    def wait() -> None:
        with locked(path):
            waited.append(time.perf_counter())

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)  # long enough to take a lock that nobody has
    assert not waited
    other.kill()
    thread.join(10.0)
    assert waited
    other.communicate()


def test_without_a_folder_that_can_be_written_everybody_compiles(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with locked(tmp_path / "file" / "kernel.lock", wait=False) as held:
        assert held


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_rehearsed_frame_moves_nobody_and_names_its_kernels():
    network = generate("grid", rows=2, columns=2, control="signals")
    world = World(network, vehicles_on_road(network, 4, seed=1), dt=0.5, seed=1)
    at = world.sim.veh.s.copy()
    with rehearsed() as calls:
        world.step()
    names = [kernel.__name__ for kernel, _ in calls]
    assert {"switch_lights", "grant_all", "drive_all", "move_all", "choose_lanes_all"} <= set(names)
    assert not world.sim.veh.accel.any() and (world.sim.veh.s == at).all()
    other = World(network, vehicles_on_road(network, 4, seed=1), dt=0.5, seed=1)
    other.step()
    assert other.sim.veh.accel.any() and (other.sim.veh.s != at).any()


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_what_is_compiled_aside_is_what_a_frame_calls():
    compile_a_frame(0)
    compiled: list[str] = []
    network = generate("grid", rows=2, columns=3, control="signals")
    with announcing_compiles(compiled.append):
        World(network, vehicles_on_road(network, 4, seed=1), dt=0.5, seed=1).step()
    assert compiled == []


@pytest.mark.skipif(sys.platform == "win32", reason="no locks of kernels there")
def test_a_thread_that_waits_for_numbas_lock_holds_no_kernels_lock(tmp_path: Path) -> None:
    """Else a thread that records and one that steps wait for each other, in a first run."""

    def outer() -> None:
        pass

    def compile_it(signature: str) -> str:
        with global_compiler_lock:
            return signature

    dispatcher = SimpleNamespace(py_func=outer, compile=compile_it)
    compiled_once(dispatcher, str(tmp_path))
    with global_compiler_lock:
        waits = threading.Thread(target=dispatcher.compile, args=("f8",))
        waits.start()
        waits.join(0.5)
        with locked(tmp_path / "outer.lock", wait=False) as held:
            assert held
    waits.join(10.0)
    assert not waits.is_alive()


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_other_threads_do_not_rehearse():
    network = generate("grid", rows=2, columns=2, control="signals")
    world = World(network, vehicles_on_road(network, 4, seed=1), dt=0.5, seed=1)
    at = world.sim.veh.s.copy()
    with rehearsed() as calls:
        other = threading.Thread(target=world.step)
        other.start()
        other.join()
    assert calls == [] and (world.sim.veh.s != at).any()


SPARING = """
import sys
import numba, numpy as np
import rushhour as rh
from rushhour.kernels.compiling.jit import StateKernel
from rushhour.kernels.driving.acceleration import drive_vehicle

assert isinstance(drive_vehicle, StateKernel)
world = rh.World(rh.generate("grid", rows=2, columns=2), dt=0.25)
world.step()
assert "flat" not in vars(drive_vehicle), "a kernel that only kernels call was made for them"
assert "scipy.linalg" not in sys.modules, "all of scipy's linear algebra was imported"
square = np.array([[2.0, 1.0], [0.0, 1.0]])
assert (numba.njit(lambda a: a @ a)(square) == square @ square).all()
assert numba.njit(lambda a: np.cov(a))(square)[0, 0] == 0.5
"""


def test_a_first_frame_from_the_cache_makes_and_imports_what_it_needs_and_no_more() -> None:
    for _ in range(2):  # what is not kept yet is compiled by the first
        done = subprocess.run(
            [sys.executable, "-c", SPARING], check=False, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
