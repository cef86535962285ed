"""Windows of OpenStreetMap extracts, cut by seed, each imported and driven through under the checker.

python bench/cut_maps.py --seeds 1..20 [--load 0.6] [--minutes 30] [--sumo] [--jobs 2] [--work DIR] [--json FILE] [--map FILE]

A window is 1 - 3 km wide and high around a road of one of the extracts of the data folder, or of the
maps given by --map (the seed draws all of it), cut out with --bbox. Random trips depart within --minutes, as many as --load of the cars that
stand on its roads when all lanes are full, a car taking 7.5 m. Wanted is no violation. The worst
come first; what is done stays in --work, with the networks. A window that cannot be driven through,
as one in which no road leads into another, says why. With --sumo each window is also driven
through by SUMO without teleports, on netconvert's network of it: as many random trips in the same time.
"""

import argparse
import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import cos, radians
from pathlib import Path
from typing import Any, Final

import numpy as np
from fresh import FreshProcessError, measure_fresh
from scenarios import DATA_HELP, data_base
from sumo_cases import NoCaseError, arrived_in_window

from rushhour.roadnets.geometry.projecting import to_lonlat
from rushhour.roadnets.osm.ways.reading import read_osm
from rushhour.traffic.analysis.repeating import seeds_of
from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

EXTRACTS: Final = (
    "osm_krems/krems.osm.gz",
    "osm_columbus/columbus.osm.gz",
    "osm_porto/porto_portugal.osm.pbf",
    "sumo_luxembourg/luxembourg_main_roads.osm.gz",
)
SMALLEST, WIDEST = 1000.0, 3000.0  # m
DEGREE: Final = 111_320.0  # m of latitude
COLUMNS: Final = (
    "seed", "map", "km", "lane km", "trips", "departed", "arrived", "in SUMO", "on road", "still",
    "longest s", "violations", "lint",
)  # fmt: skip


@cache
def road_places(path: Path) -> tuple[tuple[float, float], ...]:
    """Longitude and latitude of every node of the roads of a map."""
    osm = read_osm(path, "no")
    xy = np.array([osm.xy[node] for node in sorted(osm.xy)])
    return tuple(map(tuple, to_lonlat(osm.projection, xy, str(path)).tolist()))


def drawn(seed: int, data: Path, extracts: Sequence[str] = EXTRACTS) -> dict[str, Any]:
    """The window of a seed: its map, box in degrees, width and height in m."""
    draw = random.Random(f"cut_maps {seed}")
    name = draw.choice(extracts)
    lon, lat = draw.choice(road_places(data / name))
    wide, high = (draw.uniform(SMALLEST, WIDEST) for _ in range(2))
    east, north = wide / DEGREE / cos(radians(lat)) / 2.0, high / DEGREE / 2.0
    box = (lon - east, lat - north, lon + east, lat + north)
    return {"map": str(data / name), "box": [round(at, 5) for at in box], "size": (wide, high)}


def result(seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """What a window came to, once."""
    told = f"{seed}-{options.load:g}-{options.minutes:g}-{options.dt:g}"
    path = options.work / f"window{told}.json"
    if not path.exists():
        task = drawn(seed, options.data, options.map or EXTRACTS) | {
            "seed": seed, "load": options.load, "minutes": options.minutes, "dt": options.dt,
            "keep": str(options.work / f"window{seed}.h5"),
        }  # fmt: skip
        try:
            found = measure_fresh("cut_map.py", task, {"NUMBA_NUM_THREADS": "1"})
        except FreshProcessError as error:
            found = {"failed": str(error).rpartition("Error: ")[2]}
        path.write_text(json.dumps({**task, **found}, indent=1))
    done: dict[str, Any] = json.loads(path.read_text())
    if options.sumo and "failed" not in done and "in_sumo" not in done:
        done["in_sumo"] = in_sumo(done, options.work / f"window{told}.sumo")
        path.write_text(json.dumps(done, indent=1))
    print("  ".join(map(str, row_of(done))), flush=True)
    return done


def in_sumo(done: dict[str, Any], folder: Path) -> int | str:
    """How many arrive in SUMO, or why none were driven there."""
    extract = Path(done["map"].replace(".osm.pbf", ".osm.gz"))
    box = ",".join(map(str, done["box"]))
    over = done["minutes"] * 60.0
    try:
        return arrived_in_window(folder, extract, box, done["trips"], over, done["seed"])
    except NoCaseError as error:
        return str(error)


def row_of(done: dict[str, Any]) -> list[Any]:
    """A line of the table."""
    size = " x ".join(f"{m / 1000.0:.1f}" for m in done["size"])
    name = Path(done["map"]).parent.name
    if "failed" in done:
        return [done["seed"], name, size, *[""] * 8, f"not driven: {done['failed']}", ""]
    return [
        done["seed"], name, size, round(done["lane_km"]), done["trips"], done["departed"],
        done["arrived"], done.get("in_sumo", ""), done["on_road"], done["still"], done["longest_s"],
        counted(done["violations"]), counted(done["lint"]),
    ]  # fmt: skip


def counted(counts: dict[str, int]) -> str:
    """ "a 2, b 1"; "-" for none."""
    return ", ".join(f"{kind} {count}" for kind, count in counts.items() if count) or "-"


def worst(done: dict[str, Any]) -> tuple[bool, int, float]:
    """Sorts the worst first."""
    return "failed" not in done, -sum(done.get("violations", {}).values()), -done.get("still", 0)


def main() -> None:
    """Cut, drive, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=seeds_of, required=True, metavar="A..B")
    parser.add_argument("--load", type=float, default=0.6, help="of the cars that the roads hold")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--dt", type=float, default=0.25)
    parser.add_argument("--sumo", action="store_true", help="drive each in SUMO, too")
    parser.add_argument("--jobs", type=int, default=1, help="windows at once")
    parser.add_argument("--work", type=Path, default=Path("cut_maps"), metavar="DIR")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument(
        "--map", action="append", metavar="FILE", help="cut from this one; may be repeated"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    options = parser.parse_args()
    try:
        options.data = Path.cwd() if options.map else data_base(options.data)
    except FileNotFoundError as error:
        parser.error(str(error))
    options.work.mkdir(parents=True, exist_ok=True)
    options.work = options.work.resolve()
    told = conditions()
    print("\n".join([*condition_lines(told), ""]), flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        every = list(pool.map(lambda seed: result(seed, options), options.seeds))
    every.sort(key=worst)
    print("\n".join(["", *table(list(COLUMNS), [row_of(done) for done in every])]))
    clean = sum(not any(one.get("violations", {"failed": 1}).values()) for one in every)
    driven = sum("failed" not in one for one in every)
    print(f"{clean} of {driven} windows that were driven through without a violation")
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "windows": every}, indent=1) + "\n")


if __name__ == "__main__":
    main()
