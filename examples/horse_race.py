"""A horse race: a course drawn by two outlines, six horses, a table, a picture.

python examples/horse_race.py [--races 200] [--picture horse-race.png]

Paths are generated for many races at once; the picture shows the first one half way, and the race
file can be watched: rushhour view horse-race.h5 --video horse-race.mp4
"""

import argparse
from pathlib import Path

import numpy as np

import rushhour as rh
from rushhour.viewer.race_shot import save_race_shot


def rounded(length: float, width: float, radius: float) -> np.ndarray:
    """An outline of a rectangle with round corners around the middle, (n, 2) m."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    arc = radius * np.column_stack((np.cos(angle), np.sin(angle)))
    half = np.array((0.5 * length - radius, 0.5 * width - radius))
    return arc + half * np.sign(arc)


parser = argparse.ArgumentParser(description="A horse race.")
parser.add_argument("--races", type=int, default=200)
parser.add_argument("--picture", type=Path, default=Path("horse-race.png"))
options = parser.parse_args()

course = rh.race.drawn_course(outer=rounded(300.0, 150.0, 75.0), inner=rounded(240.0, 90.0, 45.0))
paces = [
    rh.race.Pace(average=15.5 + 0.2 * k) for k in range(6)
]  # each a little faster than the one before
made = rh.race.generate_races(course, races=options.races, seed=1, laps=2, pace=paces)

wins, from_starts = made.wins()  # who starts where is drawn for each race
print(f"a lap of {course.lap * course.cell:.0f} m, {options.races} races of two laps")
print("horse  m/s   first race, s   mean, s   wins")
for k in range(6):
    first, mean = made.finish[0, k], made.finish[:, k].mean()
    print(f"H{k + 1}    {paces[k].average:4.1f} {first:15.2f} {mean:9.2f} {wins[k]:6d}")

record = rh.race.record_of_paths(made, 0, "horse race")
rh.race.save_race(record, options.picture.with_suffix(".h5"))
save_race_shot(options.picture, record, 0.3 * record.time[-1], (1280, 720))
print(f"{options.picture} and {options.picture.with_suffix('.h5')} written")
