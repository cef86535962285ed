"""A race on a real track: ten cars, a result, a picture of the field in the first lap.

python examples/car_race.py TRACK.csv [--laps 2] [--picture car-race.png]

TRACK.csv has x_m, y_m, w_tr_right_m, w_tr_left_m along the closed centre line. The cars drive on a
racing line; the speeds at its nodes are learned from a lap that a driver with a plan drives.
"""

import argparse
from pathlib import Path

import rushhour as rh
from rushhour.viewer.race_shot import save_race_shot

parser = argparse.ArgumentParser(description="A race on a real track.")
parser.add_argument("track", type=Path)
parser.add_argument("--laps", type=int, default=2)
parser.add_argument("--picture", type=Path, default=Path("car-race.png"))
options = parser.parse_args()

track, best = rh.race.with_racing_line(rh.race.read_track(options.track), rh.race.CARS["gt"])
track, lap = rh.race.taught_track(track)
print(f"{options.track.stem}: {track.station[-1]:,.0f} m, taught in a lap of {lap:.1f} s")
print(f"the car could do {best:.1f} s")

race = rh.race.CarRace(track, cars=10, models=["preview", "pid"] * 5, spread=0.1, seed=1)
tape = rh.race.RaceTape(race)
result = race.run(laps=options.laps, call=tape)
for place, car in enumerate(result.order, 1):
    print(
        f"{place:2d}. car {car + 1:2d} {race.models[car]:<7} {result.finish[car]:8.2f} s  best lap "
        f"{result.best_lap[car]:7.2f} s  passed {result.passes[car]}, lost {result.lost[car]}"
    )
record = tape.record(race, options.track.stem)
rh.race.save_race(record, options.picture.with_suffix(".h5"))
time = 14.0
x, y, _ = record.at(time)[result.order[4]]  # the fifth, so that others are seen, too
close = (x - 107.0, y - 60.0, x + 107.0, y + 60.0)
save_race_shot(options.picture, record, time, (1280, 720), close)
print(f"{options.picture} written")
