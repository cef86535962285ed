"""Print hashes of generated race paths; run in a new process, with any number of threads."""

import hashlib

import numpy as np

from rushhour.games.racing.car_race import CarRace
from rushhour.games.racing.course import oval_course
from rushhour.games.racing.race_paths import generate_races
from rushhour.roadnets.racetracks import build_track

FRAMES = 20

if __name__ == "__main__":
    made = generate_races(oval_course(30.0, 12.0, 12.0), racers=4, races=3, seed=1)
    said = hashlib.sha256()
    for part in (made.cells, made.speeds, made.finish, made.waits):
        said.update(part.tobytes())
    print("paths", said.hexdigest())
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    ring = np.column_stack((np.cos(angle), np.sin(angle)))
    race = CarRace(build_track(190.0 * ring, 204.0 * ring, line_speed=20.0), cars=80, seed=1)
    for _ in range(FRAMES):
        race.step(1)
    print("cars", race.state_hash())
