"""rushhour against Eclipse SUMO on networks that nobody drew, made by seed.

python bench/against_sumo.py --cases 1..40 [--work DIR] [--dt 0.25 0.5] [--routes sumo own] [--jobs 2] [--sumo-seeds 5]
python bench/against_sumo.py --cases cologne1,acosta [--sumo-seeds 5]
python bench/against_sumo.py --cases 1..40 --overload

Each case (sumo_cases.py; by name: sumo_named.py) is run by SUMO without teleports and by us, on SUMO's routes (which are
kept) and on our own. What is done stays in DIR, so that a run can be stopped and gone on with. The
table says for each case the ratio of travel time and departure delay, who arrived, the correlation
of flows by road, the longest standstill and violations; the worst come first.

--overload: 130 % of what the network carries (what SUMO just empties) departs in the same time, on our own routes,
and when the last one has arrived, against 80 %. The file of --json is drawn by against_sumo_plot.py.
"""

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Any, Final

import numpy as np
from fresh import FreshProcessError, measure_fresh
from scenarios import DATA_HELP, data_base
from sumo_cases import DURATION, LONGEST, NoCaseError, make_case, run_sumo
from sumo_named import NAMED, make_named
from sumo_roads import edge_lengths, edge_rows

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

COLUMNS: Final = (
    "case", "network", "trips", "ours s", "SUMO s", "ratio", "arrived", "of", "flows r", "GEH<5", "longest s",
    "violations", "rings",
)  # fmt: skip
ROUTES: Final = {
    "sumo": ("routes.rou.xml", {"gridlock.keep_routes": True}),
    "own": ("trips.xml", {}),
}
OVERLOAD: Final = (
    "case", "network", "dt", "trips", "arrived", "last at 80 %, min", "at 130 %", "ratio", "violations",
)  # fmt: skip
SHARES: Final = (0.8, 1.3)  # of what the network carries
OVERLOADED: Final = 2.0  # times as long a run may take as one of a case
BANDS: Final = ((0.97, 1.03), (0.90, 1.10), (0.80, 1.25))


def sumo_result(
    folder: Path, case: dict[str, Any], file: str, seeds: Sequence[int], step: float = 1.0
) -> dict[str, Any]:
    """SUMO on a case, once for each seed: of the first, but for the mean of travel and delay, over those that empty."""
    at = "" if step == 1.0 else f"-{step:g}"
    runs = []
    for seed in seeds:
        path = folder / f"sumo-{file.partition('.')[0]}-{seed}{at}.json"
        if not path.exists():
            found = run_sumo(folder, seed, step, file, case.get("begin", 0.0), longest_of(case))
            lengths = edge_lengths(folder / "net.net.xml")
            rows = edge_rows(folder / "roads.xml", lengths, duration_of(case))
            found["flows"] = dict(zip(rows["road"], rows["distance"], strict=True))
            found["lengths"] = lengths
            path.write_text(json.dumps(found))
        runs.append(json.loads(path.read_text()))
    # Near what a network carries SUMO locks with some seeds, and others differ by a sixth.
    through = [run["mean_sum_s"] for run in runs if run["empties"]]
    return runs[0] | {"mean_sum_s": float(np.mean(through or runs[0]["mean_sum_s"]))}


def duration_of(case: dict[str, Any]) -> float:
    """Seconds within which all trips of a case depart."""
    return float(case.get("duration", DURATION))


def longest_of(case: dict[str, Any]) -> float:
    """Seconds after which a run of a case is given up."""
    return float(case.get("longest", LONGEST * DURATION))


def our_result(
    folder: Path, case: dict[str, Any], routes: str, dt: float, seed: int, scale: float = 1.0
) -> dict[str, Any]:
    """Our run of a case, once. scale: how often each of its trips departs."""
    path = folder / f"ours-{routes}-{dt:g}-{seed}{'' if scale == 1.0 else f'-{scale:.2f}'}.json"
    if not path.exists():
        file, parameters = ROUTES[routes]
        task = {
            "network": str(folder / "net.net.xml"),
            "demand": [str(folder / "more.add.xml"), str(folder / file)],
            "programs": [str(folder / name) for name in case.get("programs", ())],
            "parameters": parameters, "dt": dt, "seed": seed, "scale": scale,
            "longest": longest_of(case) * (1.0 if scale == 1.0 else OVERLOADED),
        }  # fmt: skip
        try:
            found = measure_fresh("world_case.py", task, {"NUMBA_NUM_THREADS": "1"})
        except FreshProcessError as error:
            found = {"failed": str(error)}
        path.write_text(json.dumps(found))
    result: dict[str, Any] = json.loads(path.read_text())
    return result


def overloaded(which: int | str, options: argparse.Namespace) -> list[list[Any]]:
    """Rows of a case: when all have arrived of 80 % and of 130 % of what its network carries."""
    rows: list[list[Any]] = []
    try:
        if isinstance(which, str):
            raise NoCaseError("of a scenario it is not known what its network carries")
        folder = options.work / f"case{which}"
        case = make_case(which, folder, options.data)
        for dt in options.dt:
            few, many = (
                our_result(folder, case, "own", dt, options.seeds[0], share / case["share"])
                for share in SHARES
            )
            last = [float(one.get("last_s", 0.0)) / 60.0 for one in (few, many)]
            broken = ", ".join(f"{kind} {n}" for kind, n in many.get("violations", {}).items())
            rows.append([
                case["seed"], f"{case['kind']}: {case['network']}", dt, many.get("meant", 0),
                many.get("arrived", 0), *last, last[1] / last[0] if many.get("empties") else inf,
                broken or "-",
            ])  # fmt: skip
            print("  ".join(str(value) for value in rows[-1]), flush=True)
    except NoCaseError as error:
        print(f"case {which}: {error}", flush=True)
    return rows


def done_case(which: int | str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """All runs of a case, as rows; none where the seed gives no network."""
    named = isinstance(which, str)
    folder = options.work / (which if isinstance(which, str) else f"case{which}")
    rows = []
    try:
        seeds = [*range(1, options.sumo_seeds + 1)]
        if isinstance(which, str):
            case = make_named(which, folder, options.data)
        else:
            case = make_case(which, folder, options.data)
            first = dict.fromkeys([which, *seeds])  # with which it was found to empty
            seeds = [*first][: options.sumo_seeds]
        for routes in options.routes:
            # The generated cases' trips have one set of routes in SUMO, duarouter's.
            file = ROUTES[routes if named else "sumo"][0]
            peer = sumo_result(folder, case, file, seeds, options.sumo_step)
            for dt in options.dt:
                for seed in options.seeds:
                    ours = our_result(folder, case, routes, dt, seed)
                    row = {"case": case, "routes": routes, "dt": dt}
                    rows.append(row | compared(peer, ours, duration_of(case)))
                    print(
                        "  ".join(str(value) for value in row_of(rows[-1])), dt, routes, flush=True
                    )
    except NoCaseError as error:
        print(f"case {which}: {error}", flush=True)
    return rows


def compared(peer: dict[str, Any], ours: dict[str, Any], duration: float) -> dict[str, Any]:
    """What the table says of one run of ours; duration: s within which all depart."""
    if "failed" in ours:
        return {"failed": ours["failed"], "ratio": float("inf"), "empties": False}
    names = sorted(set(peer["flows"]) & set(peer["lengths"]))
    passed = np.array([
        [run["flows"].get(name, 0.0) / peer["lengths"][name] for name in names]
        for run in (peer, ours)
    ])  # fmt: skip
    hourly = passed * 3600.0 / duration
    geh = np.sqrt(2.0 * (hourly[0] - hourly[1]) ** 2 / np.maximum(hourly.sum(axis=0), 1e-9))
    return {
        "ratio": ours["mean_sum_s"] / max(peer["mean_sum_s"], 1e-9),
        "sums": (ours["mean_sum_s"], peer["mean_sum_s"]),
        "empties": ours["empties"],
        "peer_empties": peer["empties"],
        "peer_arrived": peer["arrived"],
        "arrived": ours["arrived"],
        "meant": peer["meant"],
        "correlation": float(np.corrcoef(passed)[0, 1]) if len(names) > 2 else 1.0,
        "geh": float(np.mean(geh < 5.0)),
        "longest": ours["longest_standstill_s"],
        "violations": ours["violations"],
        "rings": ours["gridlock"].get("cycles_found", 0),
    }


def row_of(row: dict[str, Any]) -> list[Any]:
    """A line of the table."""
    case = row["case"]
    name = f"{case['kind']}: {case['network']}" + (", buses" if case["bus_lines"] else "")
    if "failed" in row:
        return [case["seed"], row["failed"][:60], case["trips"]]
    broken = ", ".join(f"{kind} {count}" for kind, count in row["violations"].items())
    ours, theirs = (round(value, 1) for value in row["sums"])
    whole = row["peer_empties"]
    return [
        case["seed"], name, case["trips"], ours, theirs if whole else f"of {row['peer_arrived']}: {theirs}",
        round(row["ratio"], 3) if whole else "-", row["arrived"], row["meant"],
        round(row["correlation"], 3), round(row["geh"], 3), row["longest"], broken or "-",
        row["rings"],
    ]  # fmt: skip


def report(rows: list[dict[str, Any]]) -> list[str]:
    """Tables by routes and dt, the worst first, and what share lies within the bands."""
    lines = []
    for routes, dt in sorted({(row["routes"], row["dt"]) for row in rows}):
        some = [row for row in rows if (row["routes"], row["dt"]) == (routes, dt)]
        some.sort(key=lambda row: (row["empties"], not row.get("peer_empties"), -abs(np.log(max(row["ratio"], 1e-3)))))  # fmt: skip
        lines += ["", f"routes: {routes}, dt {dt:g} s"]
        lines += table(list(COLUMNS), [row_of(row) for row in some])
        good = [row for row in some if "failed" not in row]
        # What SUMO's few arrived have taken says nothing of all.
        ratio = np.array([row["ratio"] for row in good if row["empties"] and row["peer_empties"]])
        locked = [row["case"]["seed"] for row in good if not row["peer_empties"]]
        stuck = [row["case"]["seed"] for row in some if not row["empties"]]
        broken = sum(1 for row in good if row["violations"])
        lines.append(
            f"{len(some)} cases, {len(stuck)} do not empty {stuck}, {broken} with violations"
        )
        if locked:
            lines.append(f"SUMO itself does not empty {len(locked)}, which have no ratio: {locked}")
        if ratio.size:
            within = ", ".join(
                f"{np.mean((lo <= ratio) & (ratio <= hi)):.0%} within {lo} - {hi}"
                for lo, hi in BANDS
            )
            lines.append(f"ratio: median {np.median(ratio):.3f}, {within}")
    return lines


def cases(text: str) -> list[int | str]:
    """Cases from `1..40`, `3,5,9` or names."""
    found: list[int | str] = []
    for part in text.split(","):
        low, _, high = part.partition("..")
        if low in NAMED:
            found.append(low)
        else:
            found += range(int(low), int(high or low) + 1)
    return found


def main() -> None:
    """Make, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=cases, default=list(range(1, 21)), metavar="A..B")
    parser.add_argument(
        "--work", type=Path, default=Path("bench-results/against_sumo"), metavar="DIR"
    )
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--dt", type=float, nargs="+", default=[0.25, 0.5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--routes", nargs="+", choices=list(ROUTES), default=list(ROUTES))
    parser.add_argument(
        "--sumo-seeds",
        type=int,
        default=5,
        help="runs of SUMO on each case, of whose means the mean is taken",
    )
    parser.add_argument(
        "--sumo-step",
        type=float,
        default=1.0,
        metavar="S",
        help="of SUMO, whose own results it moves",
    )
    parser.add_argument("--jobs", type=int, default=2, help="cases side by side")
    parser.add_argument("--overload", action="store_true", help="130 %% of what the networks carry")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    options.data = data_base(options.data)
    options.work = options.work.resolve()
    told = conditions()
    print("\n".join(condition_lines(told)), flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        if options.overload:
            full = [
                row
                for rows in pool.map(lambda one: overloaded(one, options), options.cases)
                for row in rows
            ]
            full.sort(key=lambda row: -row[-2])
            print("\n".join(table(list(OVERLOAD), full)))
            return
        found = list(pool.map(lambda number: done_case(number, options), options.cases))
    rows = [row for case in found for row in case]
    print("\n".join(report(rows)))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
