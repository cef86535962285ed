"""Measure in a fresh process: a script of this folder gets a task and answers with one object."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent


class FreshProcessError(Exception):
    """The process that should have measured failed."""


def measure_fresh(
    script: str, task: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run a script of this folder on a task; its answer, plus `process_s`, the whole process.

    Raises FreshProcessError with the last line the process wrote when it fails.
    """
    command = [sys.executable, str(HERE / script), json.dumps(task)]
    start = perf_counter()
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        cwd=HERE.parent,
    )
    wall = perf_counter() - start
    if done.returncode:
        told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise FreshProcessError(f"{script} {task.get('scenario', '')}: {told[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**answer, "process_s": wall}


def task_of_this_process() -> dict[str, Any]:
    """The task given by `measure_fresh`."""
    task: dict[str, Any] = json.loads(sys.argv[1])
    return task
