"""Equilibrium by `rushhour assign` and by SUMO's duaIterate.py on the same trips: gap, mean time, CPU time.

    python bench/equilibrium.py NET.net.xml TRIPS.rou.xml --iterations 10 --json FILE
    python bench/equilibrium.py NET.net.xml --trips 50000 --over 6h --iterations 0 --ours 6      # random trips; ours alone
    python bench/equilibrium.py grid --side 8 --trips 2400
    python bench/equilibrium.py GMNS_FOLDER --trips 9000        # its demand.csv, in an hour, as Sioux Falls

Both route sets are driven by SUMO itself, with the same vehicles and the same options, by several seeds; its edgeData by
5 min gives the travel times at which both are held against the fastest ways (relative gap), taken as `assign` does. CPU times are of all processes. Of duaIterate
the routes after each iteration are held so, and the time until its gap is that of ours, or its best, is told.
"""

import argparse
import csv
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
from time import perf_counter, process_time
from typing import Any

import numpy as np

import rushhour as rh
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.traffic.assignment.equilibrium import SPAN, assign
from rushhour.traffic.assignment.files import write_sumo_routes
from rushhour.traffic.assignment.timed_ways import ALIKE, Sums, TimedRouter
from rushhour.traffic.demand.matrix import read_matrix
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
    done = subprocess.run(
        [str(w) for w in words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{words[:2]}: {(done.stdout + done.stderr)[-2000:]}")
    return children() - before


def made_grid(folder: Path, side: int) -> Path:
    """A grid of signals, by SUMO's netgenerate."""
    call([home() / "bin" / "netgenerate", "--grid", "--grid.number", side, "--grid.length", 200, "-L", 2, "-j",
          "traffic_light", "--tls.guess", "true", "--no-turnarounds", "true", "-o", "made.net.xml"], folder)  # fmt: skip
    return folder / "made.net.xml"


def made_gmns(folder: Path, tables: Path) -> Path:
    """A network of GMNS tables by SUMO's netconvert, with lanes by capacity and signals where more than two roads meet."""
    with (tables / "node.csv").open(encoding="utf-8-sig") as file:
        nodes = list(csv.DictReader(file))
    with (tables / "link.csv").open(encoding="utf-8-sig") as file:
        links = list(csv.DictReader(file))
    place = ET.Element("nodes")
    for row in nodes:
        x, y = (
            81_000.0 * (float(row["x_coord"]) + 96.75),
            111_320.0 * (float(row["y_coord"]) - 43.5),
        )
        ET.SubElement(
            place, "node", id=row["node_id"], x=f"{x:.1f}", y=f"{y:.1f}", type="traffic_light"
        )
    ways = ET.Element("edges")
    for row in links:
        capacity = float(row["capacity"])
        lanes = 1 + (capacity > 8000.0) + (capacity > 15_000.0)
        ET.SubElement(ways, "edge", {"id": row["link_id"], "from": row["from_node_id"], "to": row["to_node_id"],
                                     "numLanes": str(lanes), "speed": "13.9"})  # fmt: skip
    ET.ElementTree(place).write(folder / "made.nod.xml")
    ET.ElementTree(ways).write(folder / "made.edg.xml")
    call([home() / "bin" / "netconvert", "-n", "made.nod.xml", "-e", "made.edg.xml", "--no-turnarounds", "true",
          "-o", "made.net.xml"], folder)  # fmt: skip
    return folder / "made.net.xml"


def driven_by_sumo(
    network: Any, net: Path, routes: Path, folder: Path, seeds: int
) -> dict[str, Any]:
    """What SUMO makes of a route file by so many seeds: mean duration and departure delay, s, and relative gaps, %.

    The gap is taken as `assign` takes its own: at the mean of the simulations, with vehicles of each road's mean. That at
    the bare times of one simulation, the mean of all, is told beside it: of few vehicles it is chance for the most part.
    """
    demand = route_demand(network, rh.read_demand([routes], network))
    router = TimedRouter(network, CLASS_BIT["passenger"], len(demand))
    sums: Sums | None = None
    arrived, duration, late, bare = [], [], [], []
    for seed in range(seeds):
        trips, one = once_by_sumo(network, net, routes, folder, seed)
        arrived.append(len(trips))
        duration.append(np.mean([float(trip.get("duration", 0)) for trip in trips]))
        late.append(np.mean([float(trip.get("departDelay", 0)) for trip in trips]))
        bare.append(gap_of(router, demand, one.times(network)))
        sums = one if sums is None else sums.mixed(one, seed / (seed + 1.0))
    assert sums is not None
    return {
        "arrived": min(arrived), "mean_duration_s": round(float(np.mean(duration)), 1),
        "mean_depart_delay_s": round(float(np.mean(late)), 1),
        "gap_percent": round(gap_of(router, demand, sums.times(network, ALIKE)), 2),
        "gap_of_one_percent": round(float(np.mean(bare)), 2),
    }  # fmt: skip


def once_by_sumo(
    network: Any, net: Path, routes: Path, folder: Path, seed: int
) -> tuple[list[ET.Element], Sums]:
    """The trips of one simulation, and what roads took by interval."""
    (folder / "edges.add.xml").write_text(
        f'<additional><edgeData id="e" file="edges.xml" freq="{SPAN:g}" excludeEmpty="true"/></additional>'
    )
    call([home() / "bin" / "sumo", "-n", net, "-r", routes, "-a", "edges.add.xml", "--tripinfo-output", "trips.xml",
          "--no-step-log", "--no-warnings", "--time-to-teleport", "300", "--seed", 23423 + seed], folder)  # fmt: skip
    length, rows = network.arrays.roads.length, []
    for interval in ET.parse(folder / "edges.xml").getroot().findall("interval"):
        row = np.zeros((2, network.n_roads))
        for edge in interval.findall("edge"):
            if edge.get("id") in network.road_index:
                road, spent = network.road_index[edge.get("id")], float(edge.get("sampledSeconds"))
                time = float(edge.get("traveltime", 0.0))
                row[:, road] = spent, spent * length[road] / time if time > 0.0 else 0.0
        rows.append(row)
    spent, driven = np.array(rows).transpose(1, 0, 2)
    return ET.parse(folder / "trips.xml").getroot().findall("tripinfo"), Sums(spent, driven)


def gap_of(router: TimedRouter, demand: Any, times: Any) -> float:
    """What ways take more than the fastest at the same times, %."""
    timed = router.costs(times, 0.0, SPAN)
    own = router.walked(timed, demand.route_start, demand.roads, demand.depart)[0]
    first, last = demand.roads[demand.route_start[:-1]], demand.roads[demand.route_start[1:] - 1]
    best = np.minimum(router.ways(timed, first, last, demand.depart).cost, own)
    return 100.0 * float((own - best).sum() / best.sum())


def theirs(
    network: Any, net: Path, folder: Path, iterations: int, wanted: float, seeds: int, every: int
) -> dict[str, Any]:
    """duaIterate's best routes, and the CPU and wall time until its gap was at most `wanted`, %, or until that best.

    Held are those of every so many iterations, up to its last one.
    """
    (folder / "dua").mkdir()
    started = perf_counter()
    cpu = call([sys.executable, home() / "tools" / "assign" / "duaIterate.py", "-n", net, "-t", folder / "asked.trips.xml",
                "-l", iterations, "--disable-tripinfos", "--time-to-teleport", "300"], folder / "dua")  # fmt: skip
    wall = perf_counter() - started
    rows = []
    for k in range((iterations - 1) % every, iterations, every):
        routes = next((folder / "dua").rglob(f"*_{k:03d}.rou.xml*"))
        rows.append({"iterations": k + 1, **driven_by_sumo(network, net, routes, folder, seeds)})
        print(
            "duaIterate.py", {**rows[-1], "cpu_s": round(cpu * (k + 1) / iterations, 1)}, flush=True
        )
    reached = next((row for row in rows if row["gap_percent"] <= wanted), None)
    found = reached or min(rows, key=lambda row: row["gap_percent"])
    share = found["iterations"] / iterations
    return {
        **found, "cpu_s": round(cpu * share, 1), "wall_s": round(wall * share, 1), "reached": reached is not None,
        "gaps_percent": [row["gap_percent"] for row in rows],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument(
        "net", help="a .net.xml, `grid`, or a folder of GMNS tables with demand.csv"
    )
    parser.add_argument(
        "demand", type=Path, nargs="?", help="a route file, with a .net.xml; random trips without"
    )
    parser.add_argument("--side", type=int, default=8, help="of the grid, intersections")
    parser.add_argument(
        "--trips", type=int, default=2400, help="random ones within --over, of tables within 1 h"
    )
    parser.add_argument("--over", default="20min", help="time within which random trips depart")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="share of the trips of a route file"
    )
    parser.add_argument("--iterations", type=int, default=10, help="of duaIterate")
    parser.add_argument("--ours", type=int, help="iterations of ours at most (default: as many)")
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--sumo-seeds", type=int, default=3, help="by which both are held")
    parser.add_argument("--every", type=int, default=1, help="how many iterations of duaIterate lie between those that are held")  # fmt: skip
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = Path(args.net)
        if args.net == "grid":
            net = made_grid(folder, args.side)
        elif tables.is_dir():
            net = made_gmns(folder, tables)
        else:
            net = folder / "net.net.xml"
            opener = gzip.open if args.net.endswith(".gz") else open
            with opener(args.net, "rb") as source, net.open("wb") as target:
                shutil.copyfileobj(source, target)
        network = rh.load_network(net)
        if args.net == "grid" or (args.demand is None and not tables.is_dir()):
            demand = rh.random_trips(network, args.trips, args.over, seed=1)
        elif tables.is_dir():
            with (tables / "demand.csv").open(encoding="utf-8-sig") as file:
                total = sum(float(row["volume"]) for row in csv.DictReader(file))
            demand = read_matrix(tables / "demand.csv", network, scale=args.trips / total, seed=1)
        else:
            demand = rh.read_demand([args.demand], network, scale=args.scale)
        row = compared(args, network, demand, net, folder)
    print(f"{args.net}, {len(demand):,} trips")
    for name, facts in row.items():
        print(f"{name:<20} " + ", ".join(f"{key} {value}" for key, value in facts.items()))
    if args.json:
        args.json.write_text(json.dumps({"network": args.net, "trips": len(demand), "rows": row}, indent=1) + "\n")  # fmt: skip


def compared(args: Any, network: Any, demand: Any, net: Path, folder: Path) -> dict[str, Any]:
    """Both, by what SUMO makes of them; duaIterate's first ways are the fastest of empty roads."""
    few = rh.random_trips(network, 50, "1min", seed=1)
    assign(network, few, iterations=2, every_way=True, gap=0.0)  # compiles the kernels
    before, started = process_time(), perf_counter()
    found = assign(
        network, demand, iterations=args.ours or args.iterations, gap=args.gap, every_way=True
    )
    cpu, wall = process_time() - before, perf_counter() - started
    write_sumo_routes(folder / "ours.rou.xml", network, found.demand)
    write_sumo_routes(
        folder / "asked.trips.xml", network, route_demand(network, demand), ways=False
    )
    ours = {
        "iterations": len(found.iterations), "cpu_s": round(cpu, 1), "wall_s": round(wall, 1),
        "own_gaps_percent": [round(100.0 * one.gap, 2) for one in found.iterations],
        "own_mean_time_s": found.iterations[-1].mean_time,
        **driven_by_sumo(network, net, folder / "ours.rou.xml", folder, args.sumo_seeds),
    }  # fmt: skip
    rows = {"rushhour assign": ours}
    print(ours, flush=True)
    if args.iterations:
        rows["duaIterate.py"] = theirs(
            network, net, folder, args.iterations, ours["gap_percent"], args.sumo_seeds, args.every
        )
    return rows


if __name__ == "__main__":
    main()
