"""Equilibrium by `rushhour assign` and by SUMO's duaIterate.py on the same trips: gap, mean time, CPU time.

    python bench/equilibrium.py NET.net.xml TRIPS.rou.xml --iterations 10 --json FILE

Both route sets are driven by SUMO itself, with the same vehicles and the same options; its edgeData by 5 min gives the
travel times at which both are held against the fastest ways (relative gap). CPU times are of all processes.
"""

import argparse
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import rushhour as rh
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.traffic.assignment.equilibrium import SPAN, assign
from rushhour.traffic.assignment.files import write_sumo_routes
from rushhour.traffic.assignment.timed_ways import LONGEST, TimedRouter
from rushhour.traffic.routing.routes import route_demand


def home() -> Path:
    import sumo

    return Path(sumo.SUMO_HOME)


def children() -> float:
    """CPU s of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(words: list[Any], folder: Path) -> float:
    """Run a command; CPU s that it took."""
    before = children()
    environment = {**os.environ, "SUMO_HOME": str(home())}
    subprocess.run([str(w) for w in words], cwd=folder, check=True, env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    return children() - before


def driven_by_sumo(
    network: Any, net: Path, routes: Path, folder: Path, end: float
) -> dict[str, Any]:
    """What SUMO makes of a route file: mean duration and departure delay, s, and its relative gap, %."""
    (folder / "edges.add.xml").write_text(
        f'<additional><edgeData id="e" file="edges.xml" freq="{SPAN:g}" excludeEmpty="true"/></additional>'
    )
    call([home() / "bin" / "sumo", "-n", net, "-r", routes, "-a", "edges.add.xml", "--tripinfo-output",
          "trips.xml", "--no-step-log", "--no-warnings", "--time-to-teleport", "300"], folder)  # fmt: skip
    trips = ET.parse(folder / "trips.xml").getroot().findall("tripinfo")
    duration = [float(one.get("duration", 0)) for one in trips]
    late = [float(one.get("departDelay", 0)) for one in trips]
    rows = []
    for interval in ET.parse(folder / "edges.xml").getroot().findall("interval"):
        row = np.full(network.n_roads, np.nan)
        for edge in interval.findall("edge"):
            if edge.get("id") in network.road_index and edge.get("traveltime"):
                row[network.road_index[edge.get("id")]] = float(edge.get("traveltime", 0))
        rows.append(row)
    demand = route_demand(network, rh.read_demand([routes], network))
    router = TimedRouter(network, CLASS_BIT["passenger"], len(demand))
    timed = router.costs(np.minimum(np.array(rows), LONGEST), 0.0, SPAN)
    own = router.walked(timed, demand.route_start, demand.roads, demand.depart)
    first, last = demand.roads[demand.route_start[:-1]], demand.roads[demand.route_start[1:] - 1]
    best = np.minimum(router.ways(timed, first, last, demand.depart).cost, own)
    return {
        "arrived": len(trips), "mean_duration_s": round(float(np.mean(duration)), 1),
        "mean_depart_delay_s": round(float(np.mean(late)), 1),
        "gap_percent": round(100.0 * float((own - best).sum() / best.sum()), 2),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("net", type=Path)
    parser.add_argument("trips", type=Path)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    network = rh.load_network(args.net)
    demand = rh.read_demand([args.trips], network)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        net = folder / "net.net.xml"
        opener = gzip.open if args.net.suffix == ".gz" else open
        with opener(args.net, "rb") as source, net.open("wb") as target:
            shutil.copyfileobj(source, target)
        assign(network, demand, iterations=1, every_way=True, gap=0.0)  # compiles the kernels
        before = process_time()
        found = assign(network, demand, iterations=args.iterations, gap=args.gap, every_way=True)
        ours = process_time() - before
        write_sumo_routes(folder / "ours.rou.xml", network, found.demand)
        write_sumo_routes(folder / "trips.xml", network, route_demand(network, demand), ways=False)
        write_sumo_routes(folder / "free.rou.xml", network, route_demand(network, demand))
        last = args.iterations - 1
        (folder / "dua").mkdir()
        theirs = call([sys.executable, home() / "tools" / "assign" / "duaIterate.py", "-n", net, "-t",
                       folder / "trips.xml", "-l", args.iterations, "--disable-tripinfos",
                       "--time-to-teleport", "300"], folder / "dua")  # fmt: skip
        routes = next((folder / "dua").rglob(f"*_{last:03d}.rou.xml*"))
        end = float(demand.depart[-1])
        rows = {
            "rushhour assign": {
                "iterations": len(found.iterations), "cpu_s": round(ours, 1), "own_gap_percent": round(100.0 * min(i.gap for i in found.iterations), 2),
                **driven_by_sumo(network, net, folder / "ours.rou.xml", folder, end)},
            "duaIterate.py": {"iterations": args.iterations, "cpu_s": round(theirs, 1), **driven_by_sumo(network, net, routes, folder, end)},
            "fastest empty roads": driven_by_sumo(network, net, folder / "free.rou.xml", folder, end),
        }  # fmt: skip
    facts = {"network": args.net.name, "trips": len(demand), "rows": rows}
    print(f"{args.net.name}, {len(demand):,} trips")
    for name, row in rows.items():
        print(f"{name:<20} " + ", ".join(f"{key} {value}" for key, value in row.items()))
    if args.json:
        args.json.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
