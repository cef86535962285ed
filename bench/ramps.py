"""A ramp joins a motorway of two lanes: what passes, ours beside netconvert's `--ramps.guess` in SUMO.

python bench/ramps.py [--ramp 0.2] [--share 0.9] [--minutes 30] [--seeds 1..3] [--json FILE]

The map is an OpenStreetMap file with a motorway and a ramp of one lane; both importers make an acceleration
lane of it. --ramp of all come by the ramp. Capacity is what passes in SUMO while more want to come than can
("full"). Then --share of it comes, at times drawn at random.
"""

import argparse
import json
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from math import cos, radians
from pathlib import Path
from typing import Any, Final

import numpy as np
from crossings import Source, load
from sumo_options import sumo_binary

from rushhour.roadnets.importing import import_network
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.traffic.analysis.repeating import seeds_of
from rushhour.traffic.demand.model import LANE_BEST, VehicleType
from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

NODES: Final = {
    1: (-2000.0, 0.0), 2: (0.0, 0.0), 3: (2000.0, 0.0), 4: (-800.0, -150.0), 5: (-300.0, -40.0),
    6: (-40.0, -5.0),
}  # fmt: skip
ONE_WAY: Final = {"oneway": "yes", "maxspeed": "120"}
WAYS: Final = {
    10: ([1, 2], {"highway": "motorway", "lanes": "2", **ONE_WAY}),
    11: ([2, 3], {"highway": "motorway", "lanes": "2", **ONE_WAY}),
    12: ([4, 5, 6, 2], {"highway": "motorway_link", "lanes": "1", **ONE_WAY, "maxspeed": "80"}),
}
MAIN, RAMP = "10", "12"
TOO_MUCH: Final = 6000.0  # veh/h that want to come
WARM: Final = 300.0  # s
LATITUDE: Final = 48.0
DEGREE: Final = 111_320.0  # m of latitude


def write_map(path: Path) -> None:
    """The motorway and its ramp as an OpenStreetMap file."""
    root = ET.Element("osm", version="0.6")
    for ref, (x, y) in NODES.items():
        lon, lat = 11.0 + x / DEGREE / cos(radians(LATITUDE)), LATITUDE + y / DEGREE
        ET.SubElement(root, "node", id=str(ref), lat=f"{lat:.8f}", lon=f"{lon:.8f}")
    for ref, (nodes, tags) in WAYS.items():
        way = ET.SubElement(root, "way", id=str(ref))
        for node in nodes:
            ET.SubElement(way, "nd", ref=str(node))
        for key, value in tags.items():
            ET.SubElement(way, "tag", k=key, v=value)
    ET.ElementTree(root).write(path)


def ours(path: Path, rates: dict[str, float], minutes: float, seed: int) -> dict[str, Any]:
    """Flow, veh/h, and delay, s, by the way where they came in."""
    network = import_network(path, OsmOptions(country="DE"))
    names = {way: next(r for r in network.road_ids if r.startswith(f"{way}#")) for way in rates}
    last = [r for r in network.road_ids if r.startswith("11#")][-1]
    passed = load(
        network, [Source(names[way], rate, {last: 1.0}) for way, rate in rates.items()],
        warm=WARM, measured=60.0 * minutes, seed=seed, kind=VehicleType(),
        lane=LANE_BEST,
    )  # fmt: skip
    found: dict[str, Any] = {
        way: (passed.flow(name), passed.mean_delay(name) if rates[way] else 0.0)
        for way, name in names.items()
    }
    return {**found, "violations": sum(passed.violations.values())}


def sumo_net(path: Path) -> tuple[Path, dict[str, str], str]:
    """netconvert's network, its edges where ways begin, and the one at the end."""
    net = path.with_name("net.xml")
    binary = Path(sumo_binary())
    subprocess.run(
        [str(binary.with_name("netconvert")), "--osm-files", str(path), "--ramps.guess", "-o", str(net),
         "--no-warnings"],
        check=True, capture_output=True,
    )  # fmt: skip
    links = [(one.get("from", ""), one.get("to", "")) for one in ET.parse(net).iter("connection")]
    links = [(a, b) for a, b in links if not a.startswith(":")]
    first, last = {a for a, _ in links} - {b for _, b in links}, {b for _, b in links}
    (end,) = last - {a for a, _ in links}
    return net, {way: next(a for a in first if a.startswith(way)) for way in (MAIN, RAMP)}, end


def sumos(path: Path, rates: dict[str, float], minutes: float, seed: int) -> dict[str, Any]:
    """The same in SUMO, at steps of 1 s."""
    net, edges, end = sumo_net(path)
    until, draw = WARM + 60.0 * minutes, np.random.default_rng(seed)
    trips = sorted(
        (float(at), edges[way], f"{way}.{k}")
        for way, rate in rates.items()
        for k, at in enumerate(draw.uniform(0.0, until, round(rate * until / 3600.0)))
    )
    root = ET.Element("routes")
    for at, edge, name in trips:
        ET.SubElement(
            root, "trip", {"id": name, "depart": f"{at:.2f}", "from": edge, "to": end,
                           "departLane": "best", "departSpeed": "max"},
        )  # fmt: skip
    routes, told = path.with_name("trips.xml"), path.with_name("info.xml")
    ET.ElementTree(root).write(routes)
    subprocess.run(
        [sumo_binary(), "-n", str(net), "-r", str(routes), "--end", f"{until:g}", "--seed", str(seed),
         "--tripinfo-output", str(told), "--no-step-log", "--no-warnings"],
        check=True, capture_output=True,
    )  # fmt: skip
    found = {}
    for way in rates:
        delays = [
            float(one.get("timeLoss", 0.0)) + float(one.get("departDelay", 0.0))
            for one in ET.parse(told).iter("tripinfo")
            if one.get("id", "").startswith(way) and float(one.get("arrival", 0.0)) > WARM
        ]
        found[way] = (len(delays) * 60.0 / minutes, float(np.mean(delays)) if delays else 0.0)
    return found


def main() -> None:
    """Find the capacity, let a share of it come, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ramp", type=float, default=0.2, help="share that comes by the ramp")
    parser.add_argument("--share", type=float, default=0.9, help="of the capacity")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seeds", type=seeds_of, default=[1], metavar="A..B")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    options = parser.parse_args()
    told = conditions()
    print("\n".join([*condition_lines(told), ""]), flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ramp.osm"
        write_map(path)
        for seed in options.seeds:
            by_way = {MAIN: 1.0 - options.ramp, RAMP: options.ramp}
            full = {way: TOO_MUCH * part for way, part in by_way.items()}
            capacity = sum(flow for flow, _ in sumos(path, full, options.minutes, seed).values())
            rates = {way: options.share * capacity * part for way, part in by_way.items()}
            for name, wanted, run in (
                ("SUMO, full", full, sumos), ("ours, full", full, ours),
                ("SUMO", rates, sumos), ("ours", rates, ours),
            ):  # fmt: skip
                found = run(path, wanted, options.minutes, seed)
                row: list[Any] = [seed, name]
                for way in (MAIN, RAMP):
                    row += [round(wanted[way]), round(found[way][0]), round(found[way][1], 1)]
                rows.append([*row, found.get("violations", "")])
                print("  ".join(map(str, rows[-1])), flush=True)
    head = [
        "seed",
        "case",
        "motorway",
        "passed",
        "s lost",
        "ramp",
        "passed",
        "s lost",
        "violations",
    ]
    print("\n".join(["", *table(head, rows)]))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
