"""What the poses for an engine cost: nanoseconds per vehicle, once a frame and for each picture.

python bench/poses.py [--vehicles N] [--threads N] [--json FILE]

A grid of signals with so many vehicles on the road. frame: placing everybody, once for each frame
that the world steps; picture: filling the arrays of the host, as often as it draws.
"""

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

BLOCKS: Final = 40


def main() -> None:
    """Step, time, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vehicles", type=int, default=10_000)
    parser.add_argument("--threads", type=int, help="all cores by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    options = parser.parse_args()
    if options.vehicles < 1 or (options.threads is not None and options.threads < 1):
        parser.error("wanted at least 1 vehicle and 1 thread")
    if options.threads:
        os.environ["NUMBA_NUM_THREADS"] = str(options.threads)  # before numba is imported

    import rushhour as rh
    from rushhour.traffic.profiling.conditions import condition_lines, conditions
    from rushhour.traffic.profiling.text_tables import table

    told: dict[str, Any] = {"conditions": conditions()}
    print("\n".join(condition_lines(told["conditions"])))
    side = max(3, round((options.vehicles / 120.0) ** 0.5))
    network = rh.generate("grid", rows=side, columns=side, lanes=2, control="signals")
    world = rh.World(network, rh.vehicles_on_road(network, options.vehicles, seed=1), dt=0.1)
    poses = world.poses()
    world.step(100)
    poses = world.poses(poses)
    keeper = world.observers[-1]
    n = world.active
    parts: dict[str, Callable[[], object]] = {
        "frame": keeper.observe,
        "picture": lambda: world.poses(poses, 0.5),
    }
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
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
