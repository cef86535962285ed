"""Scripts of this folder, run in processes of their own with one, two and four threads."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
THREADS = (1, 2, 4)


def printed_by_threads(script: str, *words: str) -> list[str]:
    """What a script prints with each number of THREADS."""
    return [_printed(threads, script, *words) for threads in THREADS]


def _printed(threads: int, script: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, str(TESTS / script), *words],
        env={
            **os.environ,
            "NUMBA_NUM_THREADS": str(threads),
            "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
