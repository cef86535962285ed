"""The tables of the rules of the road, run as plain Python: compiled, each kernel is the same (`test_kernels_python.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

TESTS = Path(__file__).parent


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="they run by themselves")
def test_the_rules_of_the_road_are_those_of_their_tables() -> None:
    tables = TESTS.glob("test_rules_of_*.py")
    paths = [str(path) for path in tables if "AS_PYTHON]" in path.read_text()]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *paths],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(TESTS.parent)},
        cwd=TESTS.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout


@pytest.mark.parametrize("mark", ["slow", "tiny_world"])
def test_marks_stand_in_the_files_of_their_tests(mark: str) -> None:
    """`make slow` and .ci/run read those files only that name the mark."""
    naming = [path.name for path in TESTS.glob("*.py") if f"mark.{mark}" in path.read_text()]
    assert naming and all(name.startswith("test_") for name in naming)
