"""Generated race paths: races a second, whether racers ever meet, how near smoothed paths come.

python bench/race_paths.py [--races 1000] [--racers 6] [--json FILE]

The course is the oval of `rushhour racepaths oval`, one lap. Times are wall times of one call with
all threads (NUMBA_NUM_THREADS), kernels compiled before.
"""

import argparse
import json
from pathlib import Path
from time import perf_counter

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.games.racing.course import oval_course
from rushhour.games.racing.race_paths import RacePaths, generate_races
from rushhour.traffic.profiling.text_tables import table


def shared_cells(made: RacePaths) -> int:
    """How often two racers of a race were in one cell in the same slot."""
    cells = np.sort(
        np.where(made.cells < 0, -1 - np.arange(made.cells.shape[2]), made.cells), axis=2
    )
    return int((np.diff(cells, axis=2) == 0).sum())


def least_distance(places: NDArray[np.float64], parts: int = 8) -> float:
    """Least distance of two racers, m, in places (slots, racers, 2) and between two of them."""
    least = np.inf
    for a in range(places.shape[1]):
        for b in range(a):
            apart = places[:, a] - places[:, b]
            for part in range(parts):
                w = part / parts
                at = (1.0 - w) * apart[:-1] + w * apart[1:]
                least = min(least, float(np.nanmin(np.hypot(*at.T), initial=np.inf)))
    return least


def main() -> None:
    """Generate, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--races", type=int, default=1000, metavar="N")
    parser.add_argument("--racers", type=int, default=6, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    options = parser.parse_args()
    course = oval_course()
    generate_races(course, options.racers, 1)
    started = perf_counter()
    made = generate_races(course, options.racers, options.races, seed=1)
    took = perf_counter() - started
    shown = range(min(50, options.races))
    moves = int((np.diff(made.cells, axis=1) != 0).sum())
    facts = {
        "threads": numba.get_num_threads(),
        "races": options.races,
        "racers": options.racers,
        "seconds": took,
        "races_per_s": options.races / took,
        "ns_per_step": 1e9 * took / max(1, moves),
        "arrived": float(np.isfinite(made.finish).mean()),
        "shared_cells": shared_cells(made),
        "waits_per_racer": float(made.waits.mean()),
        "least_distance_cells": min(least_distance(made.positions(r, 0.0)) for r in shown)
        / course.cell,
        "least_distance_smoothed": min(least_distance(made.positions(r)) for r in shown)
        / course.cell,
    }
    print("\n".join(table(["", "value"], [[name, value] for name, value in facts.items()])))
    if options.json:
        options.json.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
