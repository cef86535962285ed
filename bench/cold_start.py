"""From the command to the end of the first frame: kernels never compiled, and cached.

python bench/cold_start.py [--network FILE --demand FILE ...] [--json FILE]

The command is `rushhour run` for one frame, in a fresh process with a cache folder of its own:
first empty, then as the first run left it; Python's bytecode lies there, too. Default: Bologna,
Andrea Costa.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from scenarios import DATA_HELP, SCENARIOS, data_base, scenario_files

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

DT = 0.25


def first_frame(network: Path, demand: list[Path], cache: Path) -> dict[str, Any]:
    """Seconds of `rushhour run` for one frame with a cache folder."""
    command = [sys.executable, "-m", "rushhour", "run", str(network), "--json"]
    command += ["--dt", str(DT), "--duration", f"{DT}s"]
    for path in demand:
        command += ["--demand", str(path)]
    others = ("NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE")
    environment = {k: v for k, v in os.environ.items() if k not in others}
    environment["XDG_CACHE_HOME"] = str(cache)
    environment["PYTHONPYCACHEPREFIX"] = str(cache / "bytecode")
    start = perf_counter()
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).resolve().parents[1],
    )
    wall = perf_counter() - start
    if done.returncode:
        told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise SystemExit(f"cold_start.py: {told[-1]}")
    answer = json.loads(done.stdout)
    size = sum(path.stat().st_size for path in (cache / "rushhour").rglob("*") if path.is_file())
    return {"process_s": wall, "compile_s": answer.get("compile_s"), "cache_mb": size / 2**20}


def import_time() -> float:
    """Seconds of a process that does nothing but `import rushhour`, best of three."""
    best = float("inf")
    for _ in range(3):
        start = perf_counter()
        root = Path(__file__).resolve().parents[1]
        subprocess.run([sys.executable, "-c", "import rushhour"], check=True, cwd=root)
        best = min(best, perf_counter() - start)
    return best


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", type=Path, help="any network rushhour reads")
    parser.add_argument("--demand", type=Path, action="append", default=[], help="repeatable")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    parser.add_argument("--runs", type=int, default=3, help="runs with cached kernels; median told")
    options = parser.parse_args()
    if options.network:
        network, demand = options.network.resolve(), [path.resolve() for path in options.demand]
    else:
        try:
            files = scenario_files(SCENARIOS["acosta"], data_base(options.data))
        except FileNotFoundError as error:
            parser.error(str(error))
        network, demand = Path(files["network"]), [Path(name) for name in files["demand"]]
    told = conditions()
    print("\n".join(condition_lines(told)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        cold = first_frame(network, demand, Path(folder))
        runs = [first_frame(network, demand, Path(folder)) for _ in range(max(1, options.runs))]
    cached = sorted(runs, key=lambda run: float(run["process_s"]))[len(runs) // 2]
    imported = import_time()
    rows = [
        ["kernels never compiled", cold["process_s"], cold["compile_s"], cold["cache_mb"]],
        ["kernels cached", cached["process_s"], cached["compile_s"], cached["cache_mb"]],
        ["import rushhour only", imported, None, None],
    ]
    header = [f"first frame of {network.name}", "process s", "compile s", "cache MB"]
    print("\n".join(["", *table(header, rows)]))
    if options.json:
        found = {"never_compiled": cold, "cached": cached, "import_s": imported}
        options.json.write_text(json.dumps({"conditions": told, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
