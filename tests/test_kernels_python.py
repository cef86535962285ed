"""Compiled kernels and the same kernels as plain Python give the same bits."""

import os
import subprocess
import sys
from math import inf
from pathlib import Path

import numpy as np
import pytest
from plain_kernels import as_python
from tiny_run import tiny_hash

from rushhour.kernels.compiling.jit import config
from rushhour.kernels.core.random import normal, uniform
from rushhour.kernels.driving.acceleration import look_distance
from rushhour.kernels.following.car_following import (
    approach_speed,
    guard_speed,
    idm_acceleration,
    krauss_speed,
    seen_speed,
    stopping_distance,
    travel_time,
)
from rushhour.kernels.following.lane_gaps import braking_gap
from rushhour.kernels.routing.way_ahead import change_effort

FRAMES = 60
CONTROLS = ("all_way_stop", "signals", "yield", "actuated", "max_pressure")  # of tiny worlds
TESTS = Path(__file__).parent
# What a number means and between which bounds it is drawn.
RANGES = {
    "v": (0.0, 40.0),
    "gap": (-2.0, 200.0),
    "accel": (0.5, 4.0),
    "decel": (0.5, 5.0),
    "keep": (0.0, 3.0),
    "time": (0.3, 2.5),
    "dt": (1.0 / 120.0, 0.5),
    "v0": (0.0, 40.0),
    "shortest": (5.0, 10.0),
}
SCALARS = {
    idm_acceleration: ("v", "v0", "gap", "v", "accel", "decel", "keep", "time"),
    krauss_speed: ("v", "v0", "gap", "v", "accel", "decel", "keep", "time", "dt"),
    seen_speed: ("v", "v", "dt"),
    approach_speed: ("v", "gap", "v", "decel", "dt"),
    guard_speed: ("v", "gap", "v", "decel", "dt"),
    travel_time: ("gap", "v", "accel", "v0"),
    stopping_distance: ("v", "decel"),
    look_distance: ("v", "keep", "time", "accel", "dt"),
    braking_gap: ("v", "v", "decel", "dt", "keep"),
    change_effort: ("gap", "shortest"),
}


def bits(values) -> np.ndarray:
    return np.array(values, np.float64).view(np.uint64)


@pytest.mark.parametrize("kernel", SCALARS, ids=lambda kernel: kernel.__name__)
def test_scalar_kernels_equal_plain_python_bit_for_bit(kernel):
    draw = np.random.default_rng(1)
    names = SCALARS[kernel]
    rows = [[float(draw.uniform(*RANGES[name])) for name in names] for _ in range(2000)]
    for special, value in (("v", 0.0), ("gap", 0.0), ("gap", inf)):
        row = [value if name == special else x for name, x in zip(names, rows[0], strict=True)]
        rows.append(row)
    compiled = bits([kernel(*row) for row in rows])
    np.testing.assert_array_equal(compiled, bits([as_python(kernel)(*row) for row in rows]))


@pytest.mark.parametrize("kernel", [uniform, normal], ids=["uniform", "normal"])
@pytest.mark.filterwarnings("ignore:overflow encountered")  # 64-bit arithmetic wraps by design
def test_random_numbers_equal_plain_python_bit_for_bit(kernel):
    draw = np.random.default_rng(2)
    rows = draw.integers(0, 2**31, (2000, 4)).tolist()
    compiled = bits([kernel(*row) for row in rows])
    np.testing.assert_array_equal(compiled, bits([as_python(kernel)(*row) for row in rows]))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is nothing compiled to compare with")
def test_tiny_worlds_as_plain_python_have_the_same_states():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "tiny_run.py"), str(FRAMES), *CONTROLS],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(TESTS.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for control, plain in zip(CONTROLS, done.stdout.split(), strict=True):
        assert tiny_hash(control, FRAMES) == (plain, {}), control
