"""What dozens of opponents cost in a city of 20,000 vehicles, phase by phase.

python bench/chase.py [--opponents 24] [--vehicles 20000] [--side 20] [--seconds 30] [--json FILE]
"""

import argparse
import json
from pathlib import Path
from time import perf_counter

import numpy as np

import rushhour as rh
from rushhour.games.navmesh.mesh import build_navmesh
from rushhour.games.opponents.chase import Chase
from rushhour.traffic.stepping.costs import PHASES


def main() -> None:
    """Build the grid and its navmesh, chase, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--opponents", type=int, default=24)
    parser.add_argument("--vehicles", type=int, default=20_000)
    parser.add_argument(
        "--side", type=int, default=20, help="crossings along each side of the grid"
    )
    parser.add_argument(
        "--seconds", type=float, default=30.0, help="simulated, after 5 of warming up"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    network = rh.generate("grid", rows=options.side, columns=options.side)
    begun = perf_counter()
    mesh = build_navmesh(network)
    built = perf_counter() - begun
    world = rh.World(
        network, rh.vehicles_on_road(network, options.vehicles, seed=1), dt=0.1, seed=1
    )
    world.step(20)
    without = world.costs.frames
    world.step(50)
    plain = world.costs.recent()[without:].sum(axis=1)
    chase = Chase(world, options.opponents, seed=1, navmesh=mesh)
    world.step(50)
    first = world.costs.frames
    world.step(round(options.seconds / world.dt))
    rows = world.costs.recent()[first:]
    steer = rows[:, PHASES.index("steer")] / 1e6
    result = chase.result()
    facts = {
        "roads": network.n_roads,
        "cells": len(mesh),
        "navmesh_s": round(built, 2),
        "navmesh_bytes": mesh.nbytes,
        "vehicles": world.active,
        "opponents": options.opponents,
        "frame_ms_without": round(float(np.median(plain)) / 1e6, 3),
        "frame_ms": round(float(np.median(rows.sum(axis=1))) / 1e6, 3),
        "opponents_ms_p50": round(float(np.median(steer)), 3),
        "opponents_ms_p99": round(float(np.percentile(steer, 99)), 3),
        "captures": result.captures,
        "resets": int(result.resets.sum()),
        "share_off_road": round(float(result.off_time[1:].mean()) / max(result.time, 1e-9), 3),
    }
    for name, value in facts.items():
        print(f"{name:18} {value:,}")
    if options.json is not None:
        options.json.write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
