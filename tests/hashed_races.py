"""Print hashes of generated race paths; run in a new process, with any number of threads."""

import hashlib

from rushhour.traffic.racing.course import oval_course
from rushhour.traffic.racing.race_paths import generate_races

if __name__ == "__main__":
    made = generate_races(oval_course(30.0, 12.0, 12.0), racers=4, races=3, seed=1)
    said = hashlib.sha256()
    for part in (made.cells, made.speeds, made.finish, made.waits):
        said.update(part.tobytes())
    print("paths", said.hexdigest())
