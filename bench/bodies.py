"""What bodies from outside cost: microseconds a frame for each, and a frame of a world without any.

python bench/bodies.py [--vehicles N] [--bodies N ...] [--threads N] [--json FILE]

A grid of signals with so many vehicles on the road, and walkers all over it, who are given anew in
every frame. phases: of a whole frame, ns per vehicle; the frame of none is the one to compare with.
"""

import argparse
import json
import os
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

FRAMES: Final = 60


def main() -> None:
    """Step, time, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vehicles", type=int, default=5_000)
    parser.add_argument("--bodies", type=int, nargs="+", default=[0, 1, 100, 1000])
    parser.add_argument("--threads", type=int, help="all cores by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    options = parser.parse_args()
    if options.vehicles < 1 or min(options.bodies) < 0 or (options.threads or 1) < 1:
        parser.error("wanted at least 1 vehicle and 1 thread, and no number of bodies below 0")
    if options.threads:
        os.environ["NUMBA_NUM_THREADS"] = str(options.threads)  # before numba is imported

    import numpy as np

    import rushhour as rh
    from rushhour.traffic.profiling.conditions import condition_lines, conditions
    from rushhour.traffic.profiling.text_tables import table

    told: dict[str, Any] = {"conditions": conditions()}
    print("\n".join(condition_lines(told["conditions"])))
    side = max(3, round((options.vehicles / 120.0) ** 0.5))
    network = rh.generate("grid", rows=side, columns=side, lanes=2, control="signals")
    draw = np.random.default_rng(1)
    low, high = network.points.min(axis=0), network.points.max(axis=0)
    rows = []
    world = rh.World(network, rh.vehicles_on_road(network, options.vehicles, seed=1), dt=0.1)
    world.bodies.set([0], 0.0, 0.0)
    world.step(100)
    start = world.snapshot()
    for n in options.bodies:
        world.restore(start)
        world.bodies.clear()
        places = low + (high - low) * draw.random((n, 2))
        times, giving = [], []
        for _ in range(FRAMES):
            began = perf_counter()
            if n:
                places += 0.1
                world.bodies.set(np.arange(n), *places.T, vx=1.0, vy=1.0, length=0.5, width=0.5)
            given = perf_counter()
            world.step()
            times.append(1e3 * (perf_counter() - given))
            giving.append(1e6 * (given - began))
        told[str(n)] = {"ms_a_frame": median(times), "least_ms": min(times)}
        more = 1e3 * (median(times) - told[str(options.bodies[0])]["ms_a_frame"])
        each = f"{more / n:.1f}" if n else ""
        row = [f"{n:,}", f"{median(times):.2f}", f"{min(times):.2f}", f"{median(giving):.0f}", each]
        rows.append(row)
    heads = [f"bodies, {world.active:,} vehicles", "ms a frame", "least", "us to give", "us each"]
    print("\n".join(table(heads, rows)))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
