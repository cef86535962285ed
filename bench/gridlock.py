"""How grids flow when they are full, by gridlock policy: right-of-way.md section 6 with this simulator.

python bench/gridlock.py [--policies ...] [--densities 20 40 60 80] [--seeds 0 1 2 3 4] [--json FILE]

Grids of 10 x 10 crossings, 100 m from line to line, vehicles turn back at the border; so many random walkers are on
the road as the density says, in % of cars standing 7 m apart. Printed is the flow in the second
half of the time: vehicles an hour that leave a lane, the mean over lanes and seeds; "stop" and the minute from which nothing moved for 90 s, the earliest of the seeds. Below: changes of
mind by vehicle and hour, rings found and the longest that one stood, vehicles removed.
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

GRIDS: Final[dict[str, dict[str, Any]]] = {
    "1 lane, all-way stops": {
        "length": 117.0,
        "lanes": 1,
        "control": "all_way_stop",
        "left": "shared",
    },
    "1 lane, signals, shared lefts": {
        "length": 117.0,
        "lanes": 1,
        "control": "signals",
        "left": "shared",
    },
    "2 lanes, signals, shared lefts": {
        "length": 124.0,
        "lanes": 2,
        "control": "signals",
        "left": "shared",
    },
    "2 lanes, signals, left lanes": {
        "length": 130.0,
        "lanes": 2,
        "control": "signals",
        "left": "lane",
    },
}
ALONE: Final = {"gridlock.change_mind_share": 0.0}  # the policy is all there is
POLICIES: Final[dict[str, dict[str, Any]]] = {
    "none, no change of mind": {**ALONE, "gridlock.policy": "none"},
    "rotate, no change of mind": {
        **ALONE, "gridlock.policy": "rotate", "gridlock.act_after": 0.0},
    "teleport, no change of mind": {
        **ALONE, "gridlock.policy": "teleport", "gridlock.act_after": 0.0},
    "change of mind after 10 s": {
        "gridlock.policy": "none", "gridlock.change_mind_after": 10.0},
    "change of mind after 30 s": {"gridlock.policy": "none"},
    "change of mind after 60 s": {
        "gridlock.policy": "none", "gridlock.change_mind_after": 60.0},
    "the default": {},
}  # fmt: skip
JAM_SPACING: Final = 7.0  # m, a car of 5 m and 2 m before it
STANDS_FOR: Final = 90.0  # s without movement that make a standstill


def run(task: dict[str, Any]) -> dict[str, Any]:
    """One grid with one density, policy and seed."""
    network = generate("grid", rows=10, columns=10, border="loops", **GRIDS[task["grid"]])
    metres = float(network.arrays.lanes.length[: network.n_road_lanes].sum())
    count = round(task["density"] / 100.0 * metres / JAM_SPACING)
    world = World(
        network,
        vehicles_on_road(network, count, seed=task["seed"]),
        parameters=Parameters(POLICIES[task["policy"]]),
        dt=task["dt"],
        seed=task["seed"],
    )
    checker = Checker(world)
    world.observers.append(checker)
    minutes = task["minutes"]
    measures = Measures(world, 30.0 * minutes)
    world.observers.append(measures)
    still = 0.0
    stop = None
    for second in range(60 * minutes):
        world.step(round(1.0 / world.dt))
        moving = bool((world.vehicles.speed > 0.1).any())
        still = 0.0 if moving else still + 1.0
        if still >= STANDS_FOR and stop is None:
            stop = (second - STANDS_FOR) / 60.0
            break
    flow = 0.0
    if stop is None:
        measures.finish()
        roads = measures.table("roads")
        second_half = roads.begin > world.begin
        flow = float(roads.left[second_half].sum()) / network.n_road_lanes / (minutes / 120.0)
    counts, report = world.counts(), world.gridlock()
    return {
        **task,
        "flow": flow,
        "stop": stop,
        "on_road": world.active,
        "wanted": count,
        "minds": counts["minds_changed"] / max(world.active, 1) / (world.time / 3600.0),
        "rings": counts["cycles_found"],
        "longest": report["longest_cycle"],
        "removed": counts["removed"],
        "violations": sum(checker.violations.values()),
    }


def cell(rows: list[dict[str, Any]]) -> str:
    """What the seeds of one case came to."""
    stops = [row["stop"] for row in rows if row["stop"] is not None]
    if stops:
        return f"stop {min(stops):.0f} ({len(stops)}/{len(rows)})"
    return f"{np.mean([row['flow'] for row in rows]):.0f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grids", nargs="+", choices=GRIDS, default=list(GRIDS))
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--densities", nargs="+", type=int, default=[20, 40, 60, 80])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--dt", type=float, default=0.25)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    told = conditions()
    print("\n".join(condition_lines(told)))
    tasks = [
        {"grid": g, "policy": p, "density": d, "seed": s,
         "minutes": options.minutes, "dt": options.dt}
        for g, p, d, s in product(
            options.grids, options.policies, options.densities, options.seeds
        )
    ]  # fmt: skip
    results: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        for row in tqdm(pool.map(run, tasks), "runs", len(tasks), disable=None):
            results.append(row)
            if options.json:  # as it grows: the whole table takes hours
                kept = {"conditions": told, "rows": results}
                options.json.write_text(json.dumps(kept, indent=1))
    for grid in options.grids:
        lines, notes = [], []
        for policy in options.policies:
            by_density = [
                [r for r in results if (r["grid"], r["policy"], r["density"]) == (grid, policy, d)]
                for d in options.densities
            ]
            lines.append([policy, *(cell(rows) for rows in by_density)])
            every = [row for rows in by_density for row in rows]
            notes.append(
                [
                    policy,
                    float(np.mean([row["minds"] for row in every])),
                    sum(row["rings"] for row in every),
                    max(row["longest"] for row in every),
                    sum(row["removed"] for row in every),
                    sum(row["violations"] for row in every),
                ]
            )
        print(f"\n{grid}: vehicles an hour and lane at % of jam density")
        print("\n".join(table(["policy", *(f"{d} %" for d in options.densities)], lines)))
        header = ["policy", "minds/veh/h", "rings", "longest s", "removed", "violations"]
        print("\n".join(table(header, notes)))


if __name__ == "__main__":
    main()
