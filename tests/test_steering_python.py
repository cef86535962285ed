"""Steering models, compiled and as plain Python, give the same bits; and so does a short drive."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rushhour.kernels.compiling.jit import config
from rushhour.kernels.steering import (
    approach_families,
    bicycle,
    controllers,
    corner_driving,
    engines,
    off_road,
    paths,
    pure_pursuit,
    stuck_manager,
    target_speed,
    track_steering,
    tracks,
    trajectory_laws,
    walls,
)

TESTS = Path(__file__).parent
ROOMS = (
    approach_families, bicycle, controllers, corner_driving, engines, off_road, paths, pure_pursuit,
    stuck_manager, target_speed, track_steering, tracks, trajectory_laws, walls,
)  # fmt: skip
POSITIVE = {
    "dt", "wheelbase", "clearance", "k", "decel", "friction", "stop_speed", "radius", "k_y", "lateral",
    "gain", "accelerate", "max_speed", "accel", "brake", "power", "grip", "front", "rear", "rate",
    "most", "lock", "yaw_rate", "transverse", "distance", "time", "bound", "corner", "slide",
}  # fmt: skip


def scalar_models():
    """Every function of numbers in the rooms of steering."""
    for room in ROOMS:
        for name, model in vars(room).items():
            func = getattr(model, "py_func", model)
            if (
                isinstance(func, type)
                or not callable(func)
                or getattr(func, "__module__", "") != room.__name__
            ):
                continue
            kinds = dict(getattr(func, "__annotations__", {}))
            kinds.pop("return", None)
            if kinds and all(kind in (int, float) for kind in kinds.values()):
                yield pytest.param(model, kinds, id=f"{room.__name__.rpartition('.')[2]}.{name}")


def drawn(kinds: dict[str, type], draw: np.random.Generator) -> list[float | int]:
    row: list[float | int] = []
    for name, kind in kinds.items():
        if kind is int:
            row.append(int(draw.integers(1, 6)))
        elif name == "dt":
            row.append(float(draw.uniform(0.001, 0.1)))
        elif name in POSITIVE:
            row.append(float(draw.uniform(0.01, 20.0)))
        else:
            row.append(float(draw.uniform(-9.0, 9.0)) if draw.random() > 0.05 else 0.0)
    return row


def flat(value) -> list[float]:
    return [float(v) for v in value] if isinstance(value, tuple) else [float(value)]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is nothing compiled to compare with")
@pytest.mark.parametrize(("model", "kinds"), list(scalar_models()))
def test_steering_models_equal_plain_python_bit_for_bit(model, kinds):
    draw = np.random.default_rng(1)
    rows = [drawn(kinds, draw) for _ in range(400)]
    compiled = np.array([flat(model(*row)) for row in rows]).view(np.uint64)
    plain = np.array([flat(model.py_func(*row)) for row in rows]).view(np.uint64)
    np.testing.assert_array_equal(compiled, plain)


@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is nothing compiled to compare with")
def test_followers_as_plain_python_drive_the_same_way_to_the_bit():
    words = [sys.executable, "-W", "ignore", str(TESTS / "steered_crowd.py"), "12", "40"]
    hashes = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            words, env={**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": str(TESTS.parent)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        hashes.append(done.stdout)
    assert hashes[0] == hashes[1]
