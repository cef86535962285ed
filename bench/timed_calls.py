"""What scripts that time single calls share: their options, a grid with traffic, and the table of times."""

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

BLOCKS: Final = 40


def timing_options(doc: str | None, vehicles: int) -> argparse.ArgumentParser:
    """The options of all of them; doc: of the script, vehicles: how many by default."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--vehicles", type=int, default=vehicles)
    parser.add_argument("--threads", type=int, help="all cores by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    return parser


def begun(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, dict[str, Any]]:
    """What was asked for, and the conditions, which are printed. Before anything imports numba."""
    options = parser.parse_args()
    if options.vehicles < 1 or (options.threads is not None and options.threads < 1):
        parser.error("wanted at least 1 vehicle and 1 thread")
    if options.threads:
        os.environ["NUMBA_NUM_THREADS"] = str(options.threads)

    from rushhour.traffic.profiling.conditions import condition_lines, conditions

    told = {"conditions": conditions()}
    print("\n".join(condition_lines(told["conditions"])))
    return options, told


def grid_with(vehicles: int) -> Any:
    """A world of a grid of signals with so many vehicles on the road."""
    import rushhour as rh

    side = max(3, round((vehicles / 120.0) ** 0.5))
    network = rh.generate("grid", rows=side, columns=side, lanes=2, control="signals")
    return rh.World(network, rh.vehicles_on_road(network, vehicles, seed=1), dt=0.1)


def time_calls(told: dict[str, Any], parts: Mapping[str, Callable[[], object]], n: int) -> None:
    """Time each call, tell and print ns for each of n vehicles."""
    from rushhour.traffic.profiling.text_tables import table

    rows = []
    for name, call in parts.items():
        call()
        times = []
        for _ in range(BLOCKS):
            started = perf_counter()
            call()
            times.append((perf_counter() - started) / n * 1e9)
        told[name] = {"median_ns": median(times), "least_ns": min(times)}
        rows.append([name, f"{median(times):.1f}", f"{min(times):.1f}"])
    told["vehicles"] = n
    print("\n".join(table([f"{n:,} vehicles, ns each", "median", "least"], rows)))


def write(told: dict[str, Any], path: Path | None) -> None:
    """Write what was told, where a file was asked for."""
    if path:
        path.write_text(json.dumps(told, indent=1) + "\n")
