"""Six bodies follow one winding path, each as its class can; a picture and a race file.

python examples/follow_paths.py [--picture follow-paths.png]
"""

import argparse
from pathlib import Path

import numpy as np

import rushhour as rh
from rushhour.viewer.race_shot import save_race_shot

parser = argparse.ArgumentParser(description="Six bodies follow a winding path.")
parser.add_argument("--picture", type=Path, default=Path("follow-paths.png"))
options = parser.parse_args()

turn = 2.0 * np.pi * np.arange(240) / 240
radius = 70.0 + 14.0 * np.sin(5.0 * turn)
ring = np.column_stack((1.5 * radius * np.cos(turn), radius * np.sin(turn)))
cars = ["storm", "bolte", "panhard_crab", "zaha", "armata", "hovercraft"]
driven = rh.trajectory.drive_paths(
    [np.roll(np.vstack((ring, ring[:1]))[:-1], -14 * k, axis=0) for k in range(len(cars))],
    cars,
    rh.trajectory.Driver(lateral=0.3),
    seconds=40.0,
)
for k, car in enumerate(cars):
    print(
        f"{car:<13} {driven.s[-1, k]:6.1f} m, {np.mean(driven.speed[:, k]):5.2f} m/s, "
        f"{np.abs(driven.offset[:, k]).mean():.2f} m beside its path, stuck {driven.stuck[k]}"
    )
out = ring / np.hypot(*ring.T)[:, None]
record = rh.race.RaceRecord(
    "paths", driven.time, driven.x, driven.y, driven.heading, np.full(len(cars), 4.2),
    np.full(len(cars), 1.9), np.full(len(cars), np.nan),
    {"left": ring - 4.0 * out, "right": ring + 4.0 * out}, tuple(cars),
)  # fmt: skip
rh.race.save_race(record, options.picture.with_suffix(".h5"))
save_race_shot(options.picture, record, 20.0, (1280, 720))
print(f"{options.picture} written")
