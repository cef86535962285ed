"""Scripts of this folder, run with one, two and four threads, in a process of its own that has four."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
THREADS = (1, 2, 4)
BETWEEN = "-- the same with other threads --\n"
AGAIN = f"""
import runpy, sys
import numba
del sys.argv[0]
for threads in {THREADS}:
    numba.set_num_threads(threads)
    runpy.run_path(sys.argv[0], run_name="__main__")
    print({BETWEEN!r}, end="")
"""


def printed_by_threads(script: str, *words: str) -> list[str]:
    """What a script prints with each number of THREADS."""
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, str(TESTS / script), *words],
        env={
            **os.environ,
            "NUMBA_NUM_THREADS": str(max(THREADS)),
            "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)]),
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    *printed, end = done.stdout.split(BETWEEN)
    assert len(printed) == len(THREADS) and not end
    return printed
