"""What SUMO's floating car data cost on the same network: processor time and bytes a vehicle-step.

SUMO is warmed up once and its state saved; the same window of it is then run from there with and
without the output, in turn, and the difference of the least processor times is the output's.
"""

import gzip
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from scenarios import SCENARIOS
from sumo_options import sumo_binary, sumo_options

OUTPUTS = ("xml.gz", "parquet")


def fcd(task: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each of OUTPUTS: ns and bytes of a vehicle in a step of 1 s.

    warm_up: s from the first departure to the window; window: s; repeats: runs of each kind.
    """
    scenario, base = SCENARIOS[task["scenario"]], Path(task["data"])
    start = _first_departure(base / scenario.routes[0]) + task["warm_up"]
    command = [sumo_binary(), *sumo_options(scenario, base, 1)]
    with tempfile.TemporaryDirectory() as folder:
        state, summary = Path(folder) / "state.xml.gz", Path(folder) / "summary.xml"
        times = ["--save-state.times", f"{start:g}", "--save-state.files", str(state)]
        _spent([*command, "--end", f"{start + 1.0:g}", *times])
        end = start + task["window"]
        command += ["--load-state", str(state), "--begin", f"{start:g}", "--end", f"{end:g}"]
        _spent([*command, "--summary-output", str(summary)])
        rows = _rows(summary)
        paths = {output: Path(folder) / f"fcd.{output}" for output in OUTPUTS}
        spent: dict[str, list[float]] = {name: [] for name in ("", *OUTPUTS)}
        for _ in range(task["repeats"]):
            for name, found in spent.items():
                more = ["--fcd-output", str(paths[name])] if name else []
                found.append(_spent([*command, *more]))
        plain = min(spent[""])
        return [
            {
                "on_road": rows[-1], "output": f"SUMO's FCD, {name}",
                "ns": 1e9 * (min(spent[name]) - plain) / sum(rows),
                "bytes": paths[name].stat().st_size / sum(rows),
            }
            for name in OUTPUTS
        ]  # fmt: skip


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
