"""A country: cities, each a grid of signals, joined to their neighbours by wider and faster roads.

Run by ranks.py, which has it made and kept in a file by a process of its own.
"""

import json
import resource
import sys
from pathlib import Path
from time import process_time

from rushhour.roadnets.build import finish
from rushhour.roadnets.model import Network
from rushhour.roadnets.plans.drafting import draft_of
from rushhour.roadnets.plans.street_plan import Corner, Plan
from rushhour.roadnets.storage import load, save

STREET, ROAD = (2, 13.89), (3, 27.78)  # lanes of each direction and m/s, within and between cities


def country(cities: int, side: int, block: float = 400.0, apart: float = 1500.0) -> Network:
    """A square of cities x cities cities, each of side x side crossings.

    block: m from crossing to crossing. apart: m between two cities; two roads join them.
    """
    plan = Plan("country", f"country of {cities} x {cities} cities")
    pitch = (side - 1) * block + apart
    doors = sorted({side // 3, (2 * side) // 3})  # rows and columns whose streets lead on
    n = cities * side
    at = [(k // side) * pitch + (k % side) * block for k in range(n)]
    for r in range(n):
        for c in range(n):
            corner = Corner(f"{r}.{c}", at[c], at[r], "signals")
            corner.offset = round((c % side) * block / STREET[1], 1)
            plan.add_corner(corner)
    for line in range(n):
        for k in range(n - 1):
            within = (k + 1) % side != 0
            if within or line % side in doors:
                lanes, speed = STREET if within else ROAD
                for start, end in (((line, k), (line, k + 1)), ((k, line), (k + 1, line))):
                    names = ("{}.{}".format(*each) for each in (start, end))
                    plan.add_straight(*names, lanes, lanes, speed, priority=4)
    return finish(draft_of(plan))


def file_of(folder: Path, cities: int, side: int) -> Path:
    """The file of a country in a folder; to read it takes a twentieth of the time to make it."""
    return folder / f"country_{cities}x{side}.h5"


def kept(folder: Path, cities: int, side: int) -> Network:
    """The country of a file in a folder, where it is made at first."""
    path = file_of(folder, cities, side)
    if not path.exists():
        save(country(cities, side), path)
    return load(path)


def main() -> None:
    """Make it and say what that took."""
    task = json.loads(sys.argv[1])
    cities, side = task["cities"], task["side"]
    save(country(cities, side), file_of(Path(task["folder"]), cities, side))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"seconds": process_time(), "peak_mb": most}))


if __name__ == "__main__":
    main()
