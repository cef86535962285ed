"""What a frame costs in several versions of rushhour, stepped in turns, so that all meet the same machine.

python bench/versions.py CHECKOUT [CHECKOUT ...] --network FILE --demand FILE [--dt T] [--threads N]

Each CHECKOUT is a folder with a version of the project; its kernels should be compiled (the first run
does it). Each version is a process with a world of its own; they step `frames` frames in turns, `rounds`
times. Told: the 10th percentile and the median of a frame by phase, and both against the first version.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np


def serve() -> None:
    """Step as many frames as each line asks, and answer with what each phase of each took, in ns."""
    from worlds import opened_world  # of the version that PYTHONPATH names

    task = json.loads(sys.argv[2])
    world, _ = opened_world(task)
    world.step(round(task["warm_up"] / world.dt))
    print(json.dumps([*world.costs.names, world.active]), flush=True)
    for line in sys.stdin:
        world.step(int(line))
        print(json.dumps(world.costs.recent()[-int(line) :].tolist()), flush=True)


def started(checkout: Path, task: dict[str, Any], threads: int) -> subprocess.Popen[str]:
    """A version that waits for lines."""
    here = checkout.resolve()
    path = os.pathsep.join([str(here), str(here / "bench")])
    return subprocess.Popen(
        [sys.executable, "-P", str(Path(__file__).resolve()), "serve", json.dumps(task)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=here,
        env={**os.environ, "PYTHONPATH": path, "NUMBA_NUM_THREADS": str(threads)},
    )  # fmt: skip


def answer(version: subprocess.Popen[str], line: str | None) -> Any:
    """What it says, to a line if given; raises SystemExit where it ended."""
    assert version.stdin is not None and version.stdout is not None
    if line is not None:
        version.stdin.write(line + "\n")
        version.stdin.flush()
    said = version.stdout.readline()
    if not said:
        raise SystemExit(
            f"versions.py: a version ended, code {version.wait()}; its error stands above"
        )
    return json.loads(said)


def main() -> None:
    """Step the versions in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--network", type=Path, required=True)
    parser.add_argument("--demand", type=Path, action="append", default=[])
    parser.add_argument("--trips", type=int, help="random ones of an hour, in place of --demand")
    parser.add_argument("--dt", type=float, default=0.25)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warm-up", type=float, default=60.0, help="simulated s")
    parser.add_argument("--frames", type=int, default=20, help="of a turn")
    parser.add_argument("--rounds", type=int, default=12)
    given = parser.parse_args()
    if not given.demand and not given.trips:
        parser.error("no traffic; give --demand FILE or --trips N")
    for checkout in given.checkouts:
        if not (checkout / "bench" / "worlds.py").exists():
            parser.error(
                f"{checkout}: no version of rushhour; wanted a folder with bench/worlds.py"
            )
    task: dict[str, Any] = {
        "network": str(given.network.resolve()), "demand": [str(one.resolve()) for one in given.demand],
        "dt": given.dt, "seed": given.seed, "warm_up": given.warm_up, "programs": [],
    }  # fmt: skip
    if given.trips:
        task["trips"] = given.trips
    names: list[str] = []
    versions = []
    for checkout in given.checkouts:  # one after the other: they read and compile alone
        versions.append(started(checkout, task, given.threads))
        *names, on_road = answer(versions[-1], None)
        print(f"{checkout}: {on_road} on the road", flush=True)
    took: list[list[list[float]]] = [[] for _ in versions]
    for _ in range(given.rounds):
        for costs, version in zip(took, versions, strict=True):
            costs += answer(version, str(given.frames))
    print(f"{'ms a frame':24}" + "".join(f"{name:>9}" for name in [*names, "all"]))
    first: dict[int, np.ndarray] = {}
    for checkout, costs in zip(given.checkouts, took, strict=True):
        each = np.array(costs) / 1e6
        each = np.column_stack([each, each.sum(axis=1)])
        for percent in (10, 50):
            row = np.percentile(each, percent, axis=0)
            against = first.setdefault(percent, row)
            cells = "".join(f"{value:9.3f}" for value in row)
            print(f"{checkout.resolve().name[:20]:20} p{percent}{cells}", end="")
            print(f"   {row[-1] / against[-1]:.3f} of the first" if against is not row else "")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve()
    else:
        main()
