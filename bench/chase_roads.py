"""How long opponents are beside the roads of a city, and what else comes of their chases.

python bench/chase_roads.py NETWORK ... [--seeds 11-16] [--vehicles 200] [--seconds 60] [--json FILE]
"""

import argparse
import json
from pathlib import Path

import numpy as np

import rushhour as rh
from rushhour.games.navmesh.mesh import build_navmesh
from rushhour.games.opponents.chase import Chase


def main() -> None:
    """Chase on every network with every seed, print a line for each network."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    parser.add_argument("--seeds", default="11-16", help="first-last")
    parser.add_argument("--vehicles", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    first, last = (int(seed) for seed in options.seeds.split("-"))
    rows = []
    for path in options.networks:
        network = rh.load_network(path)
        navmesh = build_navmesh(network)
        runs = [
            _run(network, navmesh, seed, options.vehicles, options.seconds)
            for seed in range(first, last + 1)
        ]
        mean = {name: round(float(np.mean([run[name] for run in runs])), 2) for name in runs[0]}
        rows.append({"network": network.name, **mean})
        print(*(f"{name} {value}" for name, value in rows[-1].items()), sep="  ", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(rows) + "\n")


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
        "rams": int(result.rams[1:].sum()),
        "resets": int(result.resets.sum()),
        "horns": int(result.horns.sum()),
        "near_misses": int(result.near_misses.sum()),
        "collisions": int(result.collisions.sum()),
    }


if __name__ == "__main__":
    main()
