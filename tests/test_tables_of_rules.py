"""The tables of the rules of the road, run as plain Python: compiled, each kernel is the same (`test_kernels_python.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

TESTS = Path(__file__).parent


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="they run by themselves")
@pytest.mark.parametrize("rules", ["exits", "lanes", "passing", "starting"])
def test_the_rules_of_the_road_are_those_of_their_tables(rules: str) -> None:
    path = TESTS / f"test_rules_of_{rules}.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(path)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(TESTS.parent)},
        cwd=TESTS.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout
