"""What a frame costs in several versions of rushhour, stepped in turns, so that all meet the same machine.

python bench/versions.py CHECKOUT [CHECKOUT ...] --network FILE --demand FILE [--dt T] [--threads N]

Each CHECKOUT is a folder with a version of the project; its kernels should be compiled (the first run
does it). Each version is a process with a world of its own; they step `frames` frames in turns, `rounds`
times. Told: the 10th percentile and the median of a frame by phase, and both against the first version.
Give one checkout twice to see how far the machine alone moves them.
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
    from rushhour.traffic.profiling.text_tables import table  # of this version, not of those served

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
        *phases, on_road = answer(versions[-1], None)
        if names and phases != names:
            raise SystemExit(f"versions.py: {checkout} has other phases than the first: {phases}")
        names = phases
        print(f"{checkout}: {on_road} on the road", flush=True)
    took: list[list[list[float]]] = [[] for _ in versions]
    for _ in range(given.rounds):
        for costs, version in zip(took, versions, strict=True):
            costs += answer(version, str(given.frames))
    each = np.array(took) / 1e6  # versions, frames, phases
    each = np.concatenate([each, each.sum(axis=2, keepdims=True)], axis=2)
    told = np.percentile(each, [10, 50], axis=1)
    rows = [
        [f"{checkout.resolve().name} {percent}", *(f"{ms:.3f}" for ms in row[version]),
         f"{row[version, -1] / row[0, -1]:.3f} of the first" if version else ""]
        for version, checkout in enumerate(given.checkouts)
        for percent, row in zip(("p10", "p50"), told, strict=True)
    ]  # fmt: skip
    print("\n".join(table(["ms a frame", *names, "all", ""], rows)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve()
    else:
        main()
