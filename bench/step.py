"""What a frame costs: vehicle-updates per second, and nanoseconds by phase.

python bench/step.py [--network FILE --demand FILE ...] [--dt 0.5 0.25] [--threads 1 2] [--steered]

Each row is a fresh process: it reads the files, compiles, warms up in simulated time, then steps
blocks of frames; the figures are those of the median block, the best block stands beside it.
Default: the grids with 20,000 and 50,000 vehicles from the data folder; with --steered the first of
them, everybody steered, at dt 1/30 s.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from fresh import FreshProcessError, measure_fresh
from scenarios import DATA_HELP, SCENARIOS, data_base, scenario_files

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

GRIDS = ("grid20_20k", "grid32_50k")
COLUMNS = {
    "on road": "mean_on_road",
    "m/s": "mean_speed_mps",
    "updates/s": "vehicle_updates_per_s",
    "best": "best_vehicle_updates_per_s",
    "RTF": "real_time_factor",
    "compiled": "compiled",
    "RSS MB": "max_rss_mb",
}


def sources(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The files to measure: those given, or the grids."""
    if options.network:
        return [
            {
                "scenario": options.network.name.split(".")[0],
                "network": str(options.network.resolve()),
                "demand": [str(path.resolve()) for path in options.demand],
                "programs": [],
            }
        ]
    base = data_base(options.data)
    grids = GRIDS[:1] if options.steered else GRIDS
    return [scenario_files(SCENARIOS[name], base) for name in grids]


def measured(source: dict[str, Any], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One row per number of threads and dt."""
    rows = []
    for threads in options.threads:
        for dt in options.dt:
            task = {
                **source,
                "dt": dt,
                "seed": options.seed,
                "parameters": {"steered.share": 1.0} if options.steered else {},
                "warm_up": options.warm_up,
                "blocks": options.blocks,
                "block_s": options.frames * dt / options.blocks,
            }
            row = measure_fresh("world_window.py", task, {"NUMBA_NUM_THREADS": str(threads)})
            rows.append({"scenario": source["scenario"], **row})
    return rows


def report_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Two tables: speed, and cost by phase."""
    names = [f"{row['scenario']}, {row['threads']} thread(s), dt {row['step_s']:g}" for row in rows]
    speed = [
        [name, *(row[key] for key in COLUMNS.values())]
        for name, row in zip(names, rows, strict=True)
    ]
    phases = list(rows[0]["phase_ns_per_update"])
    costs = []
    for name, row in zip(names, rows, strict=True):
        each = [round(row["phase_ns_per_update"][phase], 1) for phase in phases]
        costs.append([name, *each, round(sum(each), 1)])
    frames = []
    for name, row in zip(names, rows, strict=True):
        each = [f"{row['phase_ms_p50'][phase]:.2f}" for phase in phases]
        frames.append([name, *each, f"{row['frame_ms_p50']:.2f}", f"{row['frame_ms_p99']:.2f}"])
    return [
        "",
        *table(["vehicle-updates", *COLUMNS], speed),
        "",
        *table(["wall ns per vehicle-update", *phases, "all"], costs),
        "",
        *table(["ms per frame, p50", *phases, "all", "p99"], frames),
    ]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", type=Path, help="any network rushhour reads")
    parser.add_argument("--demand", type=Path, action="append", default=[], help="repeatable")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    parser.add_argument("--dt", type=float, nargs="+", help="s (0.5 and 0.25; steered 1/30)")
    parser.add_argument("--steered", action="store_true", help="everybody steers a body")
    cores = sorted({1, min(2, os.cpu_count() or 1)})
    parser.add_argument("--threads", type=int, nargs="+", default=cores)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warm-up", type=float, default=60.0, help="simulated s before measuring")
    parser.add_argument("--frames", type=int, default=240, help="measured frames")
    parser.add_argument("--blocks", type=int, default=8, help="into which they are divided")
    given = parser.parse_args()
    given.dt = given.dt or ([1.0 / 30.0] if given.steered else [0.5, 0.25])
    if given.network and not given.demand:
        parser.error("--network without --demand; give the trips with --demand FILE")
    if not 1 <= given.blocks <= given.frames:
        parser.error("--blocks: wanted 1 to --frames")
    return given


def main() -> None:
    """Measure, print, write."""
    options = arguments()
    told = conditions()
    print("\n".join(condition_lines(told)), flush=True)
    rows: list[dict[str, Any]] = []
    try:
        for source in sources(options):
            found = measured(source, options)
            rows += found
            print("\n".join(report_lines(found)), flush=True)
    except (FreshProcessError, FileNotFoundError) as error:
        raise SystemExit(f"step.py: {error}") from None
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
