"""rushhour, Eclipse SUMO, UXsim and CityFlow on the same networks and trips, in one run.

python bench/peers.py [SCENARIO ...] [--data DIR] [--cityflow DIR] [--json FILE] [--plot FILE]

Scenarios that end (acosta, wildau, joined) run until the last arrival and compare travel times;
the others are measured in a window of simulated time and compare speed. SUMO runs its default
models, by default at 1 s steps. UXsim and CityFlow are given the grids of signals. No figure is
kept between runs: all sides are always measured.
"""

import argparse
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from fresh import FreshProcessError, measure_fresh
from peers_plot import draw
from porto_files import porto_network, porto_routes
from scenarios import DATA_HELP, SCENARIOS, Scenario, data_base, scenario_files
from sumo_trips import sumo_trips

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

BLOCK_S = 10.0  # simulated seconds in a measured block
TRIP_COLUMNS = {
    "arrived": "arrived",
    "travel s": "mean_travel_time_s",
    "delay s": "mean_departure_delay_s",
    "sum s": "mean_sum_s",
    "waiting s": "mean_waiting_time_s",
    "m/s": "mean_speed_mps",
    "last s": "last_arrival_s",
    "teleports": "teleports",
    "unfinished": "unfinished",
    "process s": "process_s",
}
WINDOW_COLUMNS = {
    "on road": "mean_on_road",
    "m/s": "mean_speed_mps",
    "updates/s": "vehicle_updates_per_s",
    "wall s": "wall_s",
    "cpu s": "cpu_s",
    "RTF": "real_time_factor",
    "best RTF": "best_real_time_factor",
}


def our_rows(
    scenario: Scenario, base: Path, options: argparse.Namespace, window: dict[str, Any]
) -> list[dict[str, Any]]:
    """Our figures at each dt; a run that had to compile is repeated, so that none is counted."""
    script = "world_window.py" if scenario.throughput else "world_trips.py"
    threads = {"NUMBA_NUM_THREADS": str(options.threads)}
    rows = []
    for dt in options.dt:
        task = {**scenario_files(scenario, base), "dt": dt, "seed": options.seed, **window}
        row = measure_fresh(script, task, threads)
        if row["compiled"]:
            row = measure_fresh(script, task, threads)
        rows.append(row)
    return rows


def other_rows(
    scenario: Scenario, base: Path, options: argparse.Namespace, window: dict[str, Any]
) -> list[dict[str, Any]]:
    """UXsim and CityFlow, where they are there, on a grid of signals."""
    task = {**scenario_files(scenario, base), **window}
    rows = []
    if find_spec("uxsim"):
        for platoon in (1, 5):
            rows.append(measure_fresh("uxsim_window.py", {**task, "platoon": platoon}))
    if options.cityflow:
        given = {**task, "cityflow": str(options.cityflow.resolve())}
        for threads in options.sumo_threads:
            more = {"threads": threads, "lane_changes": True}
            rows.append(measure_fresh("cityflow_window.py", {**given, **more}))
    return rows


def compared(scenario: Scenario, base: Path, options: argparse.Namespace) -> dict[str, Any]:
    """All simulators on one scenario, and the ratios ours / SUMO's."""
    window: dict[str, Any] = {}
    if scenario.made:
        base = options.work.resolve()
        base.mkdir(parents=True, exist_ok=True)
        network = porto_network(options.data, base)
        porto_routes(network, "50k", 50_000, np.zeros(50_000), on_road=True)
    if scenario.throughput:
        blocks = max(1, round(options.window / BLOCK_S))
        window = {"warm_up": options.warm_up, "blocks": blocks, "block_s": BLOCK_S}
        task = {"scenario": scenario.name, "data": str(base), **window}
        peers = [
            measure_fresh("sumo_window.py", {**task, "threads": threads, "step": step})
            for threads in options.sumo_threads
            for step in options.sumo_step
        ]
    else:
        peers = [sumo_trips(scenario, base, threads) for threads in options.sumo_threads]
    peer, *others = peers
    if scenario.signal_grid and not options.sumo_only:
        others += other_rows(scenario, base, options, window)
    ours = [] if options.sumo_only else our_rows(scenario, base, options, window)
    return {
        "scenario": scenario.name,
        "sumo": peer,
        "also": others,
        "rushhour": ours,
        "ratios": [ratios(peer, row) for row in ours],
    }


def ratios(peer: dict[str, Any], ours: dict[str, Any]) -> dict[str, float]:
    """Ours / SUMO's; speed-ups are above 1 where we are faster."""
    found = {"step_s": ours["step_s"]}
    if "arrived" in ours:
        for name in ("mean_travel_time_s", "mean_sum_s", "last_arrival_s"):
            found[name] = ours[name] / peer[name]
        found["process_speed_up"] = peer["process_s"] / ours["process_s"]
    else:
        for name in ("real_time_factor", "vehicle_updates_per_s", "mean_on_road", "mean_speed_mps"):
            found[name] = ours[name] / peer[name]
    return found


def report_lines(result: dict[str, Any], throughput: bool) -> list[str]:
    """The table of one scenario, and a line of ratios for each dt."""
    columns = WINDOW_COLUMNS if throughput else TRIP_COLUMNS
    rows = [
        [f"{row['simulator']}, step {row['step_s']:g} s, {row['threads']} thread(s)"]
        + [row.get(key) for key in columns.values()]
        for row in (result["sumo"], *result["also"], *result["rushhour"])
    ]
    lines = ["", *table([result["scenario"], *columns], rows)]
    for found in result["ratios"]:
        told = [f"{name} x {value:.2f}" for name, value in found.items() if name != "step_s"]
        lines.append(f"ratio to SUMO at dt {found['step_s']:g}: " + ", ".join(told))
    return lines


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", nargs="*", help=f"of {', '.join(SCENARIOS)}; default all")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    parser.add_argument("--plot", type=Path, metavar="FILE",
        help="draw real-time factors against vehicles on the road (PNG)")  # fmt: skip
    parser.add_argument("--work", type=Path, default=Path("bench-results"), metavar="DIR",
        help="where Porto's network and trips are made, once")  # fmt: skip
    parser.add_argument("--cityflow", type=Path, metavar="DIR",
        help="folder with CityFlow's built module; default: it is left out")  # fmt: skip
    parser.add_argument("--dt", type=float, nargs="+", default=[0.5, 0.25], help="our steps, s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="ours; default all")
    parser.add_argument(
        "--sumo-threads", type=int, nargs="+", default=[1], help="SUMO's and CityFlow's; default 1"
    )
    parser.add_argument("--sumo-step", type=float, nargs="+", default=[1.0],
        help="its steps in windows, s; default 1; ratios are to the first of each")  # fmt: skip
    parser.add_argument("--warm-up", type=float, default=60.0, help="simulated s before a window")
    parser.add_argument("--window", type=float, default=120.0, help="simulated s measured")
    parser.add_argument("--sumo-only", action="store_true", help="measure SUMO alone")
    given = parser.parse_args()
    unknown = [name for name in given.scenario if name not in SCENARIOS]
    if unknown:
        parser.error(f"unknown scenario {unknown[0]!r}; choose of {', '.join(SCENARIOS)}")
    if given.cityflow and not any(given.cityflow.glob("cityflow*")):
        parser.error(f"--cityflow {given.cityflow}: no cityflow module there; see bench/README.md")
    try:
        given.data = data_base(given.data)
    except FileNotFoundError as error:
        parser.error(str(error))
    return given


def main() -> None:
    """Measure, print, write."""
    options = arguments()
    told = conditions()
    print("\n".join(condition_lines(told)), flush=True)
    results = []
    for name in options.scenario or SCENARIOS:
        try:
            result = compared(SCENARIOS[name], options.data, options)
        except (FreshProcessError, FileNotFoundError) as error:
            raise SystemExit(f"peers.py: {error}") from None
        results.append(result)
        print("\n".join(report_lines(result, SCENARIOS[name].throughput)), flush=True)
        if options.json:
            text = json.dumps({"conditions": told, "results": results}, indent=1)
            options.json.write_text(text + "\n")
    if options.plot:
        draw(results, options.plot)


if __name__ == "__main__":
    main()
