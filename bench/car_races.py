"""Cars that race: what a frame costs, and races of ten on each of the real tracks.

python bench/car_races.py [--data DIR] [--cars 10 100 400] [--laps 2] [--seeds 1-3] [--tracks Spa ...] [--json FILE]

Passes, contacts, who arrived and who was put back are sums over the seeds; the winner's time and the best lap are means.

Costs are wall times of frames after the start on the longest track; threads: NUMBA_NUM_THREADS.
"""

import argparse
import json
from pathlib import Path
from time import perf_counter

import numba
import numpy as np
from scenarios import DATA_HELP, data_base

from rushhour.games.racing.car_race import CarRace, taught_track
from rushhour.games.racing.racing_line import CARS, with_racing_line
from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.racetracks import read_track
from rushhour.traffic.profiling.text_tables import table

FRAMES = 1200


def frame_cost(track: Track, cars: int) -> float:
    """Milliseconds of a frame, the mean of FRAMES after five seconds of driving."""
    race = CarRace(track, cars, seed=1)
    for _ in range(300):
        race.step(100)
    started = perf_counter()
    for _ in range(FRAMES):
        race.step(100)
    return 1e3 * (perf_counter() - started) / FRAMES


def main() -> None:
    """Race, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help=DATA_HELP)
    parser.add_argument("--cars", type=int, nargs="+", default=[10, 100, 400], metavar="N")
    parser.add_argument("--laps", type=int, default=2, metavar="N")
    parser.add_argument("--seeds", default="1-1", metavar="A-B", help="first-last (default: 1-1)")
    parser.add_argument("--tracks", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there")
    options = parser.parse_args()
    files = sorted((data_base(options.data) / "racetracks").glob("*.csv"))
    first, last = (int(seed) for seed in options.seeds.split("-"))
    rows, told, longest = [], {}, None
    for file in files:
        if options.tracks and file.stem not in options.tracks:
            continue
        track, _ = with_racing_line(read_track(file), CARS["gt"])
        track, lap = taught_track(track)
        if longest is None or track.station[-1] > longest.station[-1]:
            longest = track
        races = [CarRace(track, 10, seed=k).run(options.laps) for k in range(first, last + 1)]
        rows.append([file.stem, float(track.station[-1]), lap, float(np.mean([np.nanmin(r.finish) for r in races])),
                     float(np.mean([r.best_lap.min() for r in races])), 10 * len(races),
                     *(sum(int(value.sum()) for value in values) for values in zip(
                         *((np.isfinite(r.finish), r.lost, r.passes, r.contacts) for r in races),
                         strict=True)),
                     sum(bool(r.contacts.sum() > r.passes.sum()) for r in races)])  # fmt: skip
    header = [
        "track",
        "m",
        "taught lap, s",
        "winner, s",
        "best lap, s",
        "cars",
        "arrived",
        "put back",
        "passes",
        "contacts",
        "races with more contacts",
    ]
    print("\n".join(table(header, rows)))
    costs = []
    if longest is not None:
        for cars in options.cars:
            ms = frame_cost(longest, cars)
            costs.append([cars, ms, 1e3 * ms / cars, cars / ms])
    told = {"threads": numba.get_num_threads(), "races": rows, "frames": costs}
    print("\n".join(["", *table(["cars", "ms a frame", "us a car", "cars per ms"], costs)]))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
