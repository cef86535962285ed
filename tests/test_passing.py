"""State reaches compiled kernels as a table of addresses, made once for given NamedTuples."""

import gc
import json
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from rushhour.kernels.compiling import jit
from rushhour.kernels.compiling.jit import StateKernel, config, kernel
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


class Cells(NamedTuple):
    small: NDArray[np.int32]
    flat: NDArray[np.float64]
    plane: NDArray[np.float64]
    cube: NDArray[np.float64]
    flags: NDArray[np.bool_]
    turns: NDArray[np.int8]
    bits: NDArray[np.uint8]
    factor: float
    count: int
    on: bool


def plain_add_up(cells: Cells, scale: float) -> float:
    total = 0.0
    for i in range(cells.small.shape[0]):
        total += cells.small[i] + cells.flat[i] + 100.0 * cells.turns[i] + 1e3 * cells.bits[i]
        for j in range(cells.plane.shape[1]):
            total += (1 + i + 7 * j) * cells.plane[i, j]
            for k in range(cells.cube.shape[2]):
                total += (1 + i + 7 * j + 31 * k) * cells.cube[i, j, k]
        if cells.flags[i] and cells.on:
            total += cells.factor * cells.count
    return total * scale


def plain_write(cells: Cells, value: float) -> None:
    cells.flat[0] = value


add_up: Any = plain_add_up
write: Any = plain_write


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory):
    """add_up and write of this module, compiled as those of kernels/ are."""
    with pytest.MonkeyPatch.context() as patch:
        folder = str(tmp_path_factory.mktemp("cache"))
        patch.setattr(jit, "cache_folder", lambda module: folder)
        globals().update(add_up=kernel(plain_add_up), write=kernel(plain_write))
        yield


def cells(n: int = 5) -> Cells:
    r = np.random.default_rng(n)
    return Cells(
        r.integers(-9, 9, n).astype(np.int32), r.random(n), r.random((n, 3)), r.random((n, 3, 4)),
        r.random(n) < 0.5, r.integers(-9, 9, n).astype(np.int8),
        r.integers(0, 250, n).astype(np.uint8), 2.5, 7, True,
    )  # fmt: skip


@pytest.mark.parametrize("order", ["C", "F"], ids=["by row", "by column"])
def test_every_kind_of_field_arrives_as_it_is(order):
    assert isinstance(add_up, StateKernel)
    for n in (1, 5, 40):
        state = cells(n)
        plane, cube = (np.array(table, order=order) for table in (state.plane, state.cube))
        state = state._replace(plane=plane, cube=cube)
        assert add_up(state, 2.0) == pytest.approx(add_up.py_func(state, 2.0), rel=1e-12)


def test_what_changes_in_place_or_is_replaced_is_seen():
    state = cells()
    add_up(state, 1.0)
    state.flat[2] += 10.0
    assert add_up(state, 1.0) == pytest.approx(add_up.py_func(state, 1.0), rel=1e-12)
    other = state._replace(flat=state.flat + 3.0, factor=-1.0)
    assert add_up(other, 1.0) == pytest.approx(add_up.py_func(other, 1.0), rel=1e-12)
    assert add_up(state, 1.0) == pytest.approx(add_up.py_func(state, 1.0), rel=1e-12)


def test_many_states_in_turn_are_told_apart():
    states = [cells(n) for n in range(2, 12)]
    for state in states * 2:
        assert add_up(state, 1.0) == pytest.approx(add_up.py_func(state, 1.0), rel=1e-12)


def test_writes_reach_the_array_but_never_a_read_only_one():
    state = cells()
    write(state, 42.0)
    assert state.flat[0] == 42.0
    state.flat.flags.writeable = False
    locked = state._replace()
    with pytest.raises(NumbaError, match="readonly"):
        write(locked, 1.0)
    assert state.flat[0] == 42.0


@pytest.mark.parametrize(
    "flat",
    [np.zeros(10)[::2], [0.0] * 5, np.array(1.0), np.zeros((2, 2, 2, 2)),
     np.zeros(41, np.uint8)[1:].view(np.float64)],
    ids=["with gaps", "no array", "no dimension", "four dimensions", "not aligned"],
)  # fmt: skip
def test_what_is_no_plain_array_is_refused_by_name(flat):
    with pytest.raises(TypeError, match="cells__flat is no number and no plain array"):
        write(cells()._replace(flat=flat), 1.0)


def test_too_few_or_too_many_arguments_are_refused():
    state = cells()
    add_up(state, 1.0)
    for args in ((state,), (state, 1.0, 2.0), (cells(),)):
        with pytest.raises(TypeError, match="takes 2 arguments"):
            add_up(*args)


def test_the_arrays_of_a_world_that_is_gone_are_freed():
    network = generate("ring", circumference=300.0)
    world = World(network, vehicles_on_road(network, 5, seed=1), dt=0.5, seed=1)
    world.step(3)
    speeds = weakref.ref(world.sim.veh.speed)
    del world
    gc.collect()
    assert speeds() is None


def test_no_kernel_is_compiled_after_the_first_frame():
    """A run's frames cost what they do, with no pause in the middle for a rarely needed kernel."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "late_kernels.py")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["arrived"] > 0
    assert report["minds_changed"] > 0
    assert report["late"] == []


def test_worlds_that_take_turns_find_what_they_passed_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = generate("cross")
    demand = vehicles_on_road(network, 4, seed=1)
    worlds = [World(network, demand, seed=1) for _ in range(4)]
    made: list[str] = []

    def note(where: str, *given: Any) -> Any:
        made.append(where)
        return table_of(where, *given)

    table_of = jit.table_of
    for turn in range(6):
        if turn == 3:
            monkeypatch.setattr(jit, "table_of", note)
        for world in worlds:
            world.step()
    assert not made
