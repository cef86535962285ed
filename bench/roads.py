"""Speed and density by road and 5 minutes: rushhour against Eclipse SUMO, measured by SUMO's own spread.

python bench/roads.py [SCENARIO ...] [--seeds 1 2] [--also ROAD ...] [--data DIR] [--json FILE]

SUMO runs twice, with the seeds of --sumo-seeds; the distance of those runs is what chance alone
makes of the same files. Ours may be twice as far from the first of them. Where it is farther, the
roads, the times and the intersections are named that make most of it.
"""

import argparse
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from fresh import FreshProcessError, measure_fresh
from road_distance import (
    ENOUGH,
    SHORTEST,
    distances,
    measured,
    most,
    pairs_of,
    shares,
    speed,
    speed_share,
)
from scenarios import DATA_HELP, SCENARIOS, Scenario, data_base, scenario_files
from sumo_roads import edge_lengths, sumo_roads

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

INTERVAL: Final = 300.0  # s
ALLOWED: Final = 2.0  # times the distance of two SUMO runs
NAMED: Final = 10  # pairs and intersections that are named
HOUR: Final = 3600.0  # s, the first of the measured time, for the roads of --also
NAMED_SHARE: Final = 0.005  # of the squared distance; what has less is not printed
FIGURES: Final = {  # of road_distance.differences
    "speed": "speed, m/s", "density": "density, veh/km",
    "density_by_length": "density by length, veh/km",
}  # fmt: skip
ENDING: Final = [name for name, scenario in SCENARIOS.items() if not scenario.throughput]

Run = dict[str, Any]


def compared(scenario: Scenario, base: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Both simulators on one scenario: distances, ratios, departures, and what differs most."""
    peers = [sumo_roads(scenario, base, seed, INTERVAL) for seed in options.sumo_seeds]
    task = {**scenario_files(scenario, base), "dt": options.dt, "interval": INTERVAL}
    threads = {"NUMBA_NUM_THREADS": str(options.threads)}
    ours = [
        measure_fresh("world_roads.py", {**task, "seed": seed}, threads) for seed in options.seeds
    ]
    lengths = edge_lengths(base / scenario.network)
    return {
        "scenario": scenario.name,
        **held_against(peers, ours, lengths),
        "also": {
            road: [hour_on(run["roads"], road, lengths[road]) for run in (ours[0], peers[0])]
            for road in options.also
            if road in lengths
        },
        "unmatched": unmatched(lengths, ours[0]["network"], peers[0]["roads"]["road"]),
        "sumo": [told(run) for run in peers],
        "rushhour": [told(run) for run in ours],
        "same_trips": same_trips(peers[0]["trips"], ours[0]["trips"]),
        "teleports_at": teleports_at(peers, ours[0]["network"]),
    }


def held_against(peers: list[Run], ours: list[Run], lengths: dict[str, float]) -> dict[str, Any]:
    """Distances of the runs, their ratios, and for ratios above ALLOWED what makes them.

    lengths: m, of SUMO's roads.
    """
    pairs = pairs_of([run["roads"] for run in (*peers, *ours)])
    known = {road: row[1] for road, row in ours[0]["network"].items()} | lengths
    length = np.array([known[road] for road, _ in pairs])
    first, second = (measured(run["roads"], pairs) for run in peers)
    chance = distances(second, first, length)
    found: dict[str, Any] = {
        "sumo_sumo": chance, "ours_sumo": [], "ratios": [], "differs": [], "speed_share": []
    }  # fmt: skip
    for run in ours:
        mine = measured(run["roads"], pairs)
        far = distances(mine, first, length)
        ratios = {name: far[name]["distance"] / chance[name]["distance"] for name in FIGURES}
        parts = shares(mine, first, length)
        found["ours_sumo"].append(far)
        found["ratios"].append(ratios)
        found["speed_share"].append(speed_share(mine, first))
        found["differs"].append({
            name: named(parts[name], pairs, mine, first, run["network"])
            for name, ratio in ratios.items()
            if ratio > ALLOWED
        })  # fmt: skip
    return found


def named(share: Any, pairs: list[Any], mine: Any, peer: Any, network: Run) -> dict[str, Any]:
    """The pairs and the intersections that have most of a squared distance."""
    own, other = speed(mine), speed(peer)
    worst = []
    for k in (-share).argsort(kind="stable")[:NAMED].tolist():
        road, begin = pairs[k]
        worst.append({
            "road": road, "begin": begin, "intersection": network[road][0],
            "going_to": network[road][2], "share": float(share[k]),
            "speed": [float(own[k]), float(other[k])],
            "density": [float(mine.density[k]), float(peer.density[k])],
        })  # fmt: skip
    ends = [network[road][0] for road, _ in pairs]
    found = []
    for at, part in most(share, ends, NAMED):
        here = [k for k, end in enumerate(ends) if end == at]
        roads = most(share[here], [pairs[k][0] for k in here], 3)
        found.append({"intersection": at, "share": part, "roads": [
            {"road": road, "share": own_part, "going_to": network[road][2],
             "density": [mean_of(x.density, pairs, road) for x in (mine, peer)]}
            for road, own_part in roads
        ]})  # fmt: skip
    return {"pairs": worst, "intersections": found}


def hour_on(rows: Run, road: str, length: float) -> list[float]:
    """Speed (m/s), density (veh/km) and flow (veh/h) of a road in the first hour of a run."""
    begin = min(rows["begin"])
    here = [
        k for k, name in enumerate(rows["road"]) if name == road and rows["begin"][k] < begin + HOUR
    ]
    spent = sum(rows["vehicle_seconds"][k] for k in here)
    driven = sum(rows["distance"][k] for k in here)
    return [driven / max(spent, 1e-9), 1000.0 * spent / HOUR / length, driven / length]


def mean_of(values: Any, pairs: list[Any], road: str) -> float:
    """Mean over the intervals of one road."""
    here = [k for k, (name, _) in enumerate(pairs) if name == road]
    return float(values[here].mean())


def unmatched(lengths: dict[str, float], network: Run, used: list[str]) -> dict[str, Any]:
    """Roads of one network that the other lacks, and those whose length differs by over 5 %.

    used: roads on which SUMO had vehicles.
    """
    common = lengths.keys() & network.keys()
    return {
        "matched": len(common),
        "sumo_only": sorted(lengths.keys() - network.keys()),
        "sumo_only_used": sorted((lengths.keys() - network.keys()) & set(used)),
        "ours_only": sorted(network.keys() - lengths.keys()),
        "short": sorted(road for road in common if lengths[road] < SHORTEST),
        "other_length": sorted(
            road for road in common if abs(network[road][1] / lengths[road] - 1.0) > 0.05
        ),
    }


def same_trips(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, int]:
    """How many trips departed in SUMO, and how many of them are ours: same time due, same road."""
    common = theirs.keys() & ours.keys()
    return {
        "sumo": len(theirs),
        "rushhour": len(ours),
        "same_id": len(common),
        "same_time": sum(abs(theirs[trip][0] - ours[trip][0]) < 0.01 for trip in common),
        "same_road": sum(theirs[trip][1] == ours[trip][1] for trip in common),
    }


def teleports_at(peers: list[Run], network: Run) -> list[list[list[Any]]]:
    """By SUMO run: [intersection, road, number] of those teleported off a road."""
    found = []
    for run in peers:
        counts: dict[str, int] = {}
        for road, number in zip(run["roads"]["road"], run["roads"]["teleported"], strict=True):
            counts[road] = counts.get(road, 0) + number
        found.append(
            [[network.get(road, [""])[0], road, n] for road, n in sorted(counts.items()) if n]
        )
    return found


def told(run: Run) -> Run:
    """A run without its tables."""
    return {name: x for name, x in run.items() if name not in ("roads", "trips", "network")}


def report_lines(result: dict[str, Any]) -> list[str]:
    """One scenario, for people."""
    seeds = [run["seed"] for run in result["sumo"]]
    chance, rows = result["sumo_sumo"], []
    for run, far, ratios in zip(
        result["rushhour"], result["ours_sumo"], result["ratios"], strict=True
    ):
        for name, what in FIGURES.items():
            rows.append([
                f"{what}, seed {run['seed']}", chance[name]["distance"], far[name]["distance"],
                ratios[name], "within" if ratios[name] <= ALLOWED else "OUTSIDE",
                far[name]["mean_difference"], far[name]["pairs"],
            ])  # fmt: skip
    header = [
        result["scenario"], f"SUMO {seeds[1]} - SUMO {seeds[0]}", f"ours - SUMO {seeds[0]}",
        "ratio", f"of {ALLOWED:g}", "mean difference", "pairs",
    ]  # fmt: skip
    lines = ["", *table(header, rows)]
    lines += run_lines(result) + road_lines(result)
    if result["also"]:
        header = ["first hour", *(f"{who} {what}" for who in ("ours", f"SUMO {seeds[0]}")
                                  for what in ("m/s", "veh/km", "veh/h"))]  # fmt: skip
        also = [[road, *mine, *theirs] for road, (mine, theirs) in result["also"].items()]
        lines += table(header, also)
    for run, differs in zip(result["rushhour"], result["differs"], strict=True):
        for name, found in differs.items():
            lines += differing_lines(f"{FIGURES[name]}, seed {run['seed']}", found)
    return lines


def run_lines(result: dict[str, Any]) -> list[str]:
    """Departures, arrivals, times and teleports of every run."""
    rows = [
        [f"{who} {run['seed']}"]
        + [run[key] for key in ("departed", "arrived", "mean_travel_time_s")]
        + [run["mean_departure_delay_s"], run["mean_speed_mps"], run["teleports"]]
        for who, key in (("SUMO", "sumo"), ("ours", "rushhour"))
        for run in result[key]
    ]
    header = ["run", "departed", "arrived", "travel s", "delay s", "m/s", "teleports"]
    same = result["same_trips"]
    return [
        *table(header, rows),
        f"trips: {same['same_id']} in both; same time due: {same['same_time']}, "
        + f"same first road: {same['same_road']}",
        *(
            f"SUMO {run['seed']} teleported {number} off {road} before {at}"
            for run, where in zip(result["sumo"], result["teleports_at"], strict=True)
            for at, road, number in where
        ),
    ]


def road_lines(result: dict[str, Any]) -> list[str]:
    """How many roads stand against each other, and which do not."""
    found = result["unmatched"]
    lines = [
        f"roads: {found['matched']} by id; speeds of pairs with {ENOUGH:g} vehicle-seconds in "
        + f"both, {100 * result['speed_share'][0]:.0f} % of all; density of roads from "
        + f"{SHORTEST:g} m, those left out: {len(found['short'])}"
    ]
    for key, what in (
        ("sumo_only", "only SUMO's"), ("sumo_only_used", "only SUMO's, with vehicles on them"),
        ("ours_only", "only ours"),
        ("other_length", "more than 5 % longer or shorter in ours"),
    ):  # fmt: skip
        if found[key]:
            some = ", ".join(found[key][:NAMED])
            more = ", ..." if len(found[key]) > NAMED else ""
            lines.append(f"  {what}: {len(found[key])} ({some}{more})")
    return lines


def differing_lines(what: str, found: dict[str, Any]) -> list[str]:
    """What makes most of a distance: pairs, then intersections with their approaches."""
    rows = [
        [f"{row['road']} at {row['begin'] / 60:g} min", row["intersection"], 100 * row["share"]]
        + [*row["speed"], *row["density"]]
        for row in found["pairs"]
    ]
    header = [
        "road",
        "ends at",
        "% of square",
        "ours m/s",
        "SUMO m/s",
        "ours veh/km",
        "SUMO veh/km",
    ]
    lines = [f"most of the distance in {what}:", *table(header, rows)]
    for row in found["intersections"]:
        if row["share"] < NAMED_SHARE:
            break
        approaches = "; ".join(
            f"{road['road']} {100 * road['share']:.0f} % "
            f"({road['density'][0]:.0f} / {road['density'][1]:.0f} veh/km, going to "
            + ", ".join(f"{following} {count}" for following, count in road["going_to"])
            + ")"
            for road in row["roads"]
            if road["share"] >= NAMED_SHARE
        )
        lines.append(f"  {row['intersection']}: {100 * row['share']:.0f} %: {approaches}")
    return lines


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", nargs="*", help=f"of {', '.join(ENDING)}; default all")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    parser.add_argument("--dt", type=float, default=0.25, help="our step, s")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="ours; default 1")
    parser.add_argument("--sumo-seeds", type=int, nargs=2, default=[1, 2], help="default 1 2")
    parser.add_argument("--also", nargs="+", default=[], metavar="ROAD", help="name these, too")
    parser.add_argument("--threads", type=int, default=1, help="ours; default 1")
    given = parser.parse_args()
    unknown = [name for name in given.scenario if name not in ENDING]
    if unknown:
        parser.error(f"unknown scenario {unknown[0]!r}; choose of {', '.join(ENDING)}")
    try:
        given.data = data_base(given.data)
    except FileNotFoundError as error:
        parser.error(str(error))
    given.scenario = given.scenario or ENDING
    if given.also:
        networks = [edge_lengths(given.data / SCENARIOS[name].network) for name in given.scenario]
        nowhere = [road for road in given.also if not any(road in known for known in networks)]
        if nowhere:
            parser.error(f"--also {nowhere[0]}: no such road in {', '.join(given.scenario)}")
    return given


def main() -> None:
    """Measure, print, write."""
    options = arguments()
    condition = conditions()
    print("\n".join(condition_lines(condition)), flush=True)
    results = []
    for name in options.scenario:
        try:
            result = compared(SCENARIOS[name], options.data, options)
        except (FreshProcessError, FileNotFoundError, RuntimeError) as error:
            raise SystemExit(f"roads.py: {error}") from None
        results.append(result)
        print("\n".join(report_lines(result)), flush=True)
        if options.json:
            text = json.dumps({"conditions": condition, "results": results}, indent=1)
            options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
