"""How long opponents are beside the roads of a city, and what else comes of their chases.

python bench/chase_roads.py NETWORK ... [--windows 1-4] [--seeds 11-16] [--vehicles 200] [--seconds 60] [--json FILE]

--windows cuts one of 1 - 2 km by each seed, from the OpenStreetMap extracts of the data folder in turn; --keep
has them written as networks. The boxed share is that of the time in which somebody boxes in.
"""

import argparse
import json
import random
from math import cos, radians
from pathlib import Path

import numpy as np
from cut_maps import DEGREE, EXTRACTS, road_places
from scenarios import DATA_HELP, data_base

import rushhour as rh
from rushhour.games.navmesh.mesh import build_navmesh
from rushhour.games.opponents.chase import STATE_NAMES, Chase
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.roadnets.storage import save


def main() -> None:
    """Chase on every network with every seed, print a line for each network."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    parser.add_argument("--windows", metavar="FIRST-LAST", help="seeds of windows of extracts")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where windows are written")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--seeds", default="11-16", help="first-last")
    parser.add_argument("--vehicles", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    networks = [(path, rh.load_network(path)) for path in options.networks]
    for seed in _seeds(options.windows) if options.windows else ():
        network = window(seed, data_base(options.data))
        networks.append((f"window {seed} of {network.name}", network))
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            save(network, options.keep / f"window{seed}.h5")
    rows = []
    for name, network in networks:
        navmesh = build_navmesh(network)
        runs = [
            _run(network, navmesh, seed, options.vehicles, options.seconds)
            for seed in _seeds(options.seeds)
        ]
        mean = {name: round(float(np.mean([run[name] for run in runs])), 2) for name in runs[0]}
        rows.append({"network": name, **mean})
        print(*(f"{name} {value}" for name, value in rows[-1].items()), sep="  ", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(rows) + "\n")


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def window(seed: int, data: Path) -> Network:
    """1 - 2 km around a place on a road of an extract, all drawn by the seed but the extract."""
    draw = random.Random(f"chase_roads {seed}")
    path = data / EXTRACTS[seed % len(EXTRACTS)]
    lon, lat = draw.choice(road_places(path))
    wide, high = (draw.uniform(1000.0, 2000.0) for _ in range(2))
    east, north = wide / DEGREE / cos(radians(lat)) / 2.0, high / DEGREE / 2.0
    box = (lon - east, lat - north, lon + east, lat + north)
    return import_network(path, OsmOptions(box=box))


def _run(network, navmesh, seed, vehicles, seconds) -> dict[str, float]:
    world = rh.World(network, rh.vehicles_on_road(network, vehicles, seed=seed), dt=0.1, seed=seed)
    world.step(50)
    chase = Chase(world, 4, seed=seed, navmesh=navmesh)
    world.step(round(seconds / world.dt))
    result = chase.result()
    return {
        "off_s": float(result.off_time[1:].mean()),
        "target_off_s": float(result.off_time[0]),
        "captures": result.captures,
        "boxed": float(result.shares[1:, STATE_NAMES.index("box")].mean()),
        "rams": int(result.rams[1:].sum()),
        "resets": int(result.resets.sum()),
        "horns": int(result.horns.sum()),
        "near_misses": int(result.near_misses.sum()),
        "collisions": int(result.collisions.sum()),
    }


if __name__ == "__main__":
    main()
