"""The kernels with a promise: what the docs say of them holds, and they load and compile little."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config, njit

import rushhour as rh
from rushhour import kernels
from rushhour.kernels.compiling.compile_locks import announcing_compiles

PAGE = Path(__file__).resolve().parents[1] / "docs" / "kernels.md"
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", re.MULTILINE)


def in_a_process(text: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, env=dict(os.environ)
    ).stdout  # fmt: skip


def source(name: str) -> Any:
    found = getattr(kernels, name)
    return getattr(found, "py_func", found)


def test_the_docs_give_every_public_kernel_with_its_arguments_in_their_order() -> None:
    rows = {name: told for name, told, _ in ROW.findall(PAGE.read_text(encoding="utf-8"))}
    assert sorted(rows) == sorted(kernels.__all__)
    for name, told in rows.items():
        words = " ".join(re.findall(r"`([\w, ]+)`", told)).replace(",", " ").split()
        given = list(inspect.signature(source(name)).parameters)
        assert list(dict.fromkeys(words))[: len(given)] == given, name


def test_public_kernels_load_no_heavy_package() -> None:
    loaded = in_a_process(
        "import sys; from rushhour.kernels import *; print(*sys.modules)"
    ).split()  # fmt: skip
    assert "rushhour.kernels.following.car_following" in loaded
    for heavy in ("h5py", "osmium", "vispy", "pandas", "matplotlib", "tqdm"):
        assert heavy not in loaded
    assert not [
        name for name in loaded if name.startswith(("rushhour.t", "rushhour.r", "rushhour.v"))
    ]


def test_an_unknown_kernel_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'idm'"):
        _ = kernels.idm


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_users_compiled_function_gets_the_bits_of_plain_python() -> None:
    from rushhour.kernels import idm_acceleration, krauss_speed, uniform

    @njit
    def both(n: int) -> Any:
        out = np.empty((n, 2))
        for i in range(n):
            v, gap = 20.0 * uniform(1, i, 0, 7), 60.0 * uniform(1, i, 1, 7)
            out[i, 0] = idm_acceleration(v, 15.0, gap, 9.0, 2.5, 2.5, 2.0, 1.0)
            out[i, 1] = krauss_speed(v, 15.0, gap, 9.0, 2.5, 2.5, 2.0, 1.0, 0.5)
        return out

    got = both(200)
    for i in range(200):
        v, gap = 20.0 * source("uniform")(1, i, 0, 7), 60.0 * source("uniform")(1, i, 1, 7)
        assert got[i, 0] == source("idm_acceleration")(v, 15.0, gap, 9.0, 2.5, 2.5, 2.0, 1.0)
        assert got[i, 1] == source("krauss_speed")(v, 15.0, gap, 9.0, 2.5, 2.5, 2.0, 1.0, 0.5)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_world_that_grows_under_commands_compiles_nothing_behind_its_first_frames() -> None:
    def drive(world: rh.World) -> None:
        """More vehicles than there was room for at first, and who stops, joins and goes elsewhere."""
        network = world.network
        world.step(4)
        world.stop(world.vehicles.id[:2])
        world.remove(world.vehicles.id[2:4])
        world.set_speed_limit(network.road_ids[3], 8.0)
        world.close_roads(network.road_ids[5])
        world.bodies.set([1], 0.0, 0.0, heading=1, speed=np.float32(3.0))
        world.poses(alpha=0.5)
        world.step(30)
        world.open_roads(network.road_ids[5])
        world.step(30)

    network = rh.generate("grid", rows=6, columns=6, lanes=2)
    for seed, count in ((1, 40), (2, 1500)):
        world = rh.World(network, rh.vehicles_on_road(network, count, seed=seed), dt=0.5, seed=seed)
        compiled: list[str] = []
        with announcing_compiles(compiled.append):
            drive(world)
    assert world.sim.veh.lane.size > 1024 and compiled == []
