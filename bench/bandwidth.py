"""Memory: what this machine moves a second, and what a vehicle-update moves at most.

python bench/bandwidth.py [--threads 1 2] [--json FILE]

The first table is a triad (a[i] = b[i] + scalar c[i], counted 24 bytes an element, as STREAM does) on
arrays of several sizes, best of --runs. The second is counted, not measured: from the sources, which columns of the vehicles the kernels of
each phase read and write, on any of their paths, and how many bytes a vehicle has in them. That is
the most that a frame has to move of them once; most vehicles take short paths.
"""

import argparse
import ast
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import rushhour.kernels
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.sim.state import new_vehicles

KERNELS = Path(rushhour.kernels.__file__).parent
TOTAL_MB = (1, 8, 24, 200, 600)  # of the three arrays together
PER_ELEMENT = 24  # bytes: two reads, one write
# The kernels that `World.step` calls in each phase, by module; those of a few vehicles a frame left out.
PHASES = {
    "order": (
        ("core.order", "sort_by_lane"),
        ("core.order", "sort_all"),
        ("lanes.overtaking", "pass_all"),
    ),
    "grant": (("junctions.waking", "wake_all"), ("junctions.right_of_way", "grant_all")),
    "lanes": (("lanes.lane_choice", "choose_lanes_all"),),
    "drive": (("driving.acceleration", "drive_all"),),
    "move": (("driving.moving", "move_all"), ("trips.departing", "release_left")),
}


@numba.njit(parallel=True)
def triad(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], x: float) -> None:
    """a = b + x c. Reads b, c; writes a."""
    for i in numba.prange(a.shape[0]):
        a[i] = b[i] + x * c[i]


def bandwidth(megabytes: float, runs: int) -> float:
    """GB/s of the triad on three arrays of so many MB together, the best of some runs."""
    n = int(megabytes * 1e6 / PER_ELEMENT)
    a, b, c = (np.full(n, value) for value in (0.0, 1.0, 2.0))
    repeats = max(1, int(2e8 / (n * PER_ELEMENT)))
    best = 0.0
    triad(a, b, c, 3.0)
    for _ in range(runs):
        begin = perf_counter()
        for _ in range(repeats):
            triad(a, b, c, 3.0)
        best = max(best, repeats * n * PER_ELEMENT / (perf_counter() - begin) / 1e9)
    return best


def caches() -> dict[str, str]:
    """The caches of the first core, as the system tells them; nothing where it does not."""
    found = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        told = {name: (index / name).read_text().strip() for name in ("level", "type", "size")}
        if told["type"] != "Instruction":
            found[f"L{told['level']}"] = told["size"]
    return found


@cache
def functions_of(module: str) -> tuple[dict[str, ast.FunctionDef], dict[str, tuple[str, str]]]:
    """The functions of a module of kernels, and what it imports from others of them, by name."""
    tree = ast.parse((KERNELS / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    others = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rushhour.kernels."):
            source = (node.module or "").removeprefix("rushhour.kernels.")
            others |= {alias.asname or alias.name: (source, alias.name) for alias in node.names}
    return own, others


def called(module: str, name: str, seen: set[tuple[str, str]]) -> Iterator[ast.FunctionDef]:
    """A kernel and all kernels that it calls, each once."""
    own, others = functions_of(module)
    if name not in own:
        if name in others:
            yield from called(*others[name], seen)
        return
    if (module, name) in seen:
        return
    seen.add((module, name))
    yield own[name]
    for node in ast.walk(own[name]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from called(module, node.func.id, seen)


def touched(kernels: tuple[tuple[str, str], ...]) -> tuple[set[str], set[str]]:
    """Columns of the vehicles that some kernels read, and those that they write."""
    read: set[str] = set()
    written: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for module, name in kernels:
        for function in called(module, name, seen):
            for node in ast.walk(function):
                if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)):
                    continue
                of = node.value
                if (
                    isinstance(of.value, ast.Name)
                    and of.value.id == "veh"
                    and of.attr in Vehicles._fields
                ):
                    (written if isinstance(node.ctx, ast.Store) else read).add(of.attr)
    return read, written


def bytes_by_phase() -> list[dict[str, Any]]:
    """Bytes of a vehicle that each phase may read and write, and how many columns these are."""
    size = {name: array[:1].nbytes for name, array in new_vehicles(1)._asdict().items()}
    rows = []
    for phase, kernels in PHASES.items():
        read, written = touched(kernels)
        rows.append({
            "phase": phase, "columns_read": len(read), "columns_written": len(written),
            "read": sum(size[name] for name in read), "written": sum(size[name] for name in written),
        })  # fmt: skip
    everything = {"phase": "all", "columns_read": "", "columns_written": ""}
    sums = {key: sum(row[key] for row in rows) for key in ("read", "written")}
    return [*rows, {**everything, **sums}, {
        "phase": "a vehicle's row", "columns_read": len(size), "columns_written": "",
        "read": sum(size.values()), "written": "",
    }]  # fmt: skip


def main() -> None:
    """Measure, count, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    cores = sorted({1, min(2, os.cpu_count() or 1)})
    parser.add_argument("--threads", type=int, nargs="+", default=cores)
    parser.add_argument("--runs", type=int, default=5, help="of which the best counts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    options = parser.parse_args()
    told = conditions()
    print("\n".join(condition_lines(told)))
    sizes = caches()
    print("caches of a core:", ", ".join(f"{k} {v}" for k, v in sizes.items()) or "not told")
    moved = []
    for threads in options.threads:
        numba.set_num_threads(threads)
        for megabytes in TOTAL_MB:
            rate = bandwidth(megabytes, options.runs)
            moved.append({"threads": threads, "megabytes": megabytes, "gb_per_s": rate})
    rows = [[row["threads"], row["megabytes"], row["gb_per_s"]] for row in moved]
    print("\n".join(["", *table(["threads", "MB in all", "GB/s"], rows)]))
    counted = bytes_by_phase()
    most = {row["threads"]: row["gb_per_s"] for row in moved}  # of the largest arrays
    columns = ("phase", "columns_read", "columns_written", "read", "written")
    print("\n".join(["", *table(
        ["phase", "columns read", "written", "bytes read", "bytes written"],
        [[row[name] for name in columns] for row in counted],
    )]))  # fmt: skip
    whole = next(row for row in counted if row["phase"] == "all")
    for threads, rate in most.items():
        each = (whole["read"] + whole["written"]) / rate
        print(
            f"{threads} thread(s): {each:.0f} ns a vehicle-update where all of that comes from memory, "
            f"{1e3 / each:,.0f} million a second"
        )
    if options.json:
        found = {"conditions": told, "caches": sizes, "triad": moved, "bytes": counted}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
