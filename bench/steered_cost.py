"""What a steered vehicle costs alone: nanoseconds per vehicle of its follower and of its body.

python bench/steered_cost.py [--vehicles N] [--threads N] [--json FILE]

Cars, vans, trucks and buses on the paths of bench/path_following.py, at 30 Hz, after 5 simulated
seconds. follower: place on the path, Algorithm 1, target point, pure pursuit, PI, stuck manager;
body: tyres that slide; kinematic: the body that cannot slide, on one thread.
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
DT: Final = 1.0 / 30.0


def main() -> None:
    """Drive, time, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vehicles", type=int, default=17_000)
    parser.add_argument("--threads", type=int, help="all cores by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    options = parser.parse_args()
    if options.vehicles < 1 or (options.threads is not None and options.threads < 1):
        parser.error("wanted at least 1 vehicle and 1 thread")
    if options.threads:
        os.environ["NUMBA_NUM_THREADS"] = str(options.threads)  # before numba is imported

    import numpy as np
    from following_trials import all_paths

    from rushhour.kernels.steering.bicycle import move_all_bodies, roll_bodies
    from rushhour.kernels.steering.following import follow_all_paths
    from rushhour.traffic.profiling.conditions import condition_lines, conditions
    from rushhour.traffic.profiling.text_tables import table
    from rushhour.traffic.steering.classes import body_types
    from rushhour.traffic.steering.followers import Driver, at_start, driver_table

    told: dict[str, Any] = {"conditions": conditions(), "vehicles": options.vehicles}
    print("\n".join(condition_lines(told["conditions"])))
    n = options.vehicles
    paths, drivers = all_paths(range(20)), driver_table([Driver()])
    types = body_types(["car", "van", "truck", "bus"])
    each = np.arange(n)
    f, bodies = at_start(paths, each % (paths.start.size - 1), np.zeros(n), each % 4)
    for _ in range(round(5.0 / DT)):
        follow_all_paths(paths, drivers, types, f, bodies, DT)
        move_all_bodies(types, bodies, DT)
    parts: dict[str, Callable[[], None]] = {
        "follower": lambda: follow_all_paths(paths, drivers, types, f, bodies, DT),
        "body": lambda: move_all_bodies(types, bodies, DT),
        "kinematic": lambda: roll_bodies(types, bodies, DT, 0, n),
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
        rows.append([name, f"{median(times):.0f}", f"{min(times):.0f}"])
    print("\n".join(table([f"{n:,} vehicles, ns each", "median", "least"], rows)))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
