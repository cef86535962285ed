"""Starting ranks: processes that pass messages, on the cores that there are."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rushhour.cli.ranks import SLEEPS

TESTS = Path(__file__).parent
MPIEXEC = Path(sys.executable).with_name("mpiexec")
CANNOT = not MPIEXEC.exists() and not os.environ.get("CI")
WHY = "no mpiexec beside Python: pip install mpi4py mpich"
needs_mpi = pytest.mark.skipif(CANNOT, reason=WHY)


def started(ranks: int, *words: object) -> "subprocess.Popen[str]":
    """Ranks that share what cores there are."""
    environment = {**os.environ, **SLEEPS, "NUMBA_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(
        [str(TESTS.parent), str(TESTS)]
    )}  # fmt: skip
    return subprocess.Popen(
        [MPIEXEC, "-n", str(ranks), sys.executable, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


TYPES = """
import json, sys
from rushhour.cli.command_line import main
for line in json.loads(sys.argv[1]):
    code = main(line)
    if code:
        sys.exit(code)
"""


def typed_on_ranks(ranks: int, *lines: Sequence[object]) -> list[str]:
    """What several commands print that the same ranks run one after the other, a line each (--json)."""
    words = json.dumps([[str(word) for word in line] for line in lines])
    out, err = on_ranks(ranks, "-c", TYPES, words)
    told = out.splitlines()
    assert len(told) == len(lines), err
    return told


def on_ranks(ranks: int, *words: object, code: int = 0) -> tuple[str, str]:
    """What they print."""
    out, err = started(ranks, *words).communicate(timeout=900)
    assert "rushhour: error" in err or not code, err
    return out, err
