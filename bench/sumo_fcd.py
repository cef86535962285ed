"""What SUMO's floating car data cost on the same network: processor time and bytes a vehicle-step."""

import gzip
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from scenarios import SCENARIOS
from sumo_options import sumo_binary, sumo_options


def fcd(task: dict[str, Any]) -> dict[str, Any]:
    """Run SUMO with and without the output, from the first departure to the end of the window."""
    scenario, base = SCENARIOS[task["scenario"]], Path(task["data"])
    begin = _first_departure(base / scenario.routes[0])
    end = begin + task["warm_up"] + task["window"]
    command = [sumo_binary(), *sumo_options(scenario, base, 1), "--end", f"{end:g}"]
    with tempfile.TemporaryDirectory() as folder:
        path, summary = Path(folder) / f"fcd.{task['output']}", Path(folder) / "summary.xml"
        plain = min(_spent([*command, "--summary-output", str(summary)]) for _ in range(2))
        spent = min(_spent([*command, "--fcd-output", str(path)]) for _ in range(2))
        size = path.stat().st_size
        rows = _rows(summary)
    return {
        "on_road": rows[-1], "output": f"FCD {task['output']}", "ns": 1e9 * (spent - plain) / sum(rows),
        "bytes": size / sum(rows),
    }  # fmt: skip


def _spent(command: list[str]) -> float:
    """Processor time of a process, s. Raises FileNotFoundError if it fails."""
    before = os.times()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    after = os.times()
    if done.returncode:
        told = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FileNotFoundError(f"sumo: {told}")
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def _rows(summary: Path) -> list[int]:
    """Vehicles on the road in each second."""
    return list(map(int, re.findall(r'<step .*? running="(\d+)"', summary.read_text())))


def _first_departure(path: Path) -> float:
    """Of a route file, s."""
    with gzip.open(path, "rt") as file:
        for line in file:
            found = re.search(r'<(?:vehicle|trip)\b.*?depart="([\d.]+)"', line)
            if found:
                return float(found[1])
    return 0.0
