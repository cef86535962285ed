"""Sheets of pictures of the largest junctions of a map: ours beside netconvert's, to be looked at.

python bench/junction_sheets.py MAP ... [--count 50] [--out DIR] [--rows 4] [--json FILE]

MAP is anything that `rushhour import` reads; netconvert's half needs an OpenStreetMap file and
eclipse-sumo, else it is left out. Largest are those with the most lanes that lead through them
(or, with --by turning | wide | faults, those whose lanes turn most, lie farthest apart, or have most findings). Grey are roads, red
bars stop lines, green dots where roads begin; blue ways over the junction, orange those that wander (L32).
"""

import argparse
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sumo_options import sumo_binary

from rushhour.kernels.core.network import U_TURN
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.lint.junctions import bends_of, junction_findings, stop_places, wandering
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_degrees, local_metres
from rushhour.roadnets.storage import save

COLUMNS: Final = 2  # junctions beside each other, each with two halves
INCHES: Final = 4.2  # of a half
ROOM: Final = 25.0  # m around a junction's stop lines
SMALLEST: Final = 30.0  # m from the middle that are seen at least
LARGEST: Final = 140.0
CONTROL: Final = ("none", "signal", "all-way stop", "stop", "yield")
NETCONVERT: Final = (
    "--keep-edges.by-vclass", "passenger", "--geometry.remove", "--roundabouts.guess", "--ramps.guess",
    "--junctions.join", "--tls.join", "--tls.guess-signals", "--no-warnings",
)  # fmt: skip
Points = NDArray[np.float64]


class Junction(NamedTuple):
    """One of the largest: where it is, m of the network, and what is said of it."""

    number: int
    middle: Points
    reach: float  # m from the middle that are seen
    told: str


def largest(network: Network, count: int, by: str) -> list[Junction]:
    """The junctions that come first."""
    links = network.arrays.connectors
    places = stop_places(network)
    if by == "faults":
        score = np.zeros(len(network.intersection_ids))
        names = Counter(
            name.removeprefix("intersection ")
            for one in junction_findings(network)
            for name in one.source[:1]
        )
        for node, name in enumerate(network.intersection_ids):
            score[node] = names[name]
    elif by == "lanes":
        score = np.bincount(links.intersection, minlength=len(network.intersection_ids)).astype(
            float
        )
    else:
        score = np.zeros(len(network.intersection_ids))
        turning = np.where(links.turn == U_TURN, 0.0, bends_of(network).turning)
        np.maximum.at(score, links.intersection, turning)
        if by == "wide":
            score[:] = 0.0
            for node, at in places.items():
                score[node] = np.hypot(*np.ptp(at, axis=0))
    order = np.lexsort((np.arange(score.size), -score))[:count]
    if by == "faults":
        order = order[score[order] > 0.0]
    kinds = network.arrays.intersections.control
    found = []
    for node in order.tolist():
        at = places[node]
        middle = (at.min(axis=0) + at.max(axis=0)) / 2.0
        reach = float(np.abs(at - middle).max()) + ROOM
        ways = int((links.intersection == node).sum())
        found.append(
            Junction(
                node, middle, min(max(reach, SMALLEST), LARGEST),
                f"{network.intersection_ids[node]}: {ways} ways, {CONTROL[kinds[node]]}",
            )
        )  # fmt: skip
    return found


def near(network: Network, middle: Points, reach: float) -> NDArray[np.bool_]:
    """Lanes with a point in a square."""
    inside = (np.abs(network.points - middle) <= reach).all(axis=1)
    return np.asarray(np.add.reduceat(inside, network.point_start[:-1]) > 0)


def draw(axes: Any, network: Network, middle: Points, reach: float, told: str) -> None:
    """A square of a network."""
    from matplotlib.collections import LineCollection, PolyCollection

    lanes, links, n = network.arrays.lanes, network.arrays.connectors, network.n_road_lanes
    seen = near(network, middle, reach)
    bodies, bars, begins = [], [], []
    for lane in np.flatnonzero(seen[:n]).tolist():
        line, wide = network.lane_points(lane), lanes.width[lane] / 2.0
        step = np.gradient(line, axis=0)
        aside = np.column_stack((-step[:, 1], step[:, 0])) / np.hypot(*step.T)[:, None] * wide
        bodies.append(np.concatenate((line + aside, (line - aside)[::-1])))
        bars.append([line[-1] + aside[-1], line[-1] - aside[-1]])
        begins.append(line[0])
    wander = wandering(network, bends_of(network))
    back = links.turn == U_TURN
    ways = np.flatnonzero(seen[n:]).tolist()
    colours = ["orange" if wander[k] else "0.7" if back[k] else "tab:blue" for k in ways]
    axes.add_collection(PolyCollection(bodies, facecolors="0.85", edgecolors="0.6", linewidths=0.4))
    axes.add_collection(
        LineCollection([network.lane_points(n + k) for k in ways], colors=colours, linewidths=0.8)
    )
    axes.add_collection(LineCollection(bars, colors="red", linewidths=1.6))
    if begins:
        axes.plot(*np.array(begins).T, ".", color="green", markersize=2.5)
    axes.set_xlim(middle[0] - reach, middle[0] + reach)
    axes.set_ylim(middle[1] - reach, middle[1] + reach)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(told, fontsize=8, pad=2)


def of_netconvert(path: Path, out: Path) -> Network | None:
    """netconvert's network of a map, made once; None where it reads no such file."""
    if not path.name.endswith((".osm", ".osm.gz", ".pbf")):
        return None
    plain = path
    if path.name.endswith(".pbf"):
        plain = path.with_name(path.name.removesuffix(".pbf") + ".gz")  # netconvert reads no pbf
        if not plain.exists():
            return None
    made = out / f"{path.name.split('.')[0]}.net.xml.gz"
    if not made.exists():
        binary = Path(sumo_binary()).with_name("netconvert")
        command = [str(binary), "--osm-files", str(plain), *NETCONVERT, "-o", str(made)]
        subprocess.run(command, check=True, capture_output=True)
    return load_network(made)


def ours(path: Path, out: Path) -> Network:
    """Our network of a map, made once."""
    made = out / f"{path.name.split('.')[0]}.h5"
    if not made.exists():
        save(import_network(path), made)
    return load_network(made)


def sheets(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Draw the sheets of a map; their names and what is on them."""
    from matplotlib.figure import Figure

    network, peer = ours(path, options.out), of_netconvert(path, options.out)
    found = largest(network, options.count, options.by)
    name = path.name.split(".")[0]
    halves = 2 if peer is not None else 1
    per = COLUMNS * (2 if halves == 1 else 1) * options.rows
    columns = COLUMNS * 2
    drawn: dict[str, list[str]] = {}
    for first in range(0, len(found), per):
        some = found[first : first + per]
        figure = Figure(figsize=(INCHES * columns, INCHES * options.rows))
        cells = figure.subplots(options.rows, columns).ravel()
        for cell in cells:
            cell.set_axis_off()
        for k, junction in enumerate(some):
            cell = cells[halves * k]
            cell.set_axis_on()
            told = f"{first + k + 1}. {junction.told}, {2 * junction.reach:.0f} m"
            draw(cell, network, junction.middle, junction.reach, told)
            if peer is not None:
                cells[halves * k + 1].set_axis_on()
                degrees = local_degrees(network, *junction.middle)
                there = np.array(local_metres(peer, *degrees))
                draw(cells[halves * k + 1], peer, there, junction.reach, "netconvert")
        figure.tight_layout(pad=0.3)
        file = options.out / f"{name}_{options.by}_{first // per + 1}.png"
        figure.savefig(file, dpi=options.dpi)
        drawn[file.name] = [one.told for one in some]
        print(file, flush=True)
    return drawn


def main() -> None:
    """Import, draw, name the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("maps", nargs="+", type=Path, metavar="MAP")
    parser.add_argument("--count", type=int, default=50, help="junctions of a map")
    parser.add_argument("--by", choices=("lanes", "turning", "wide", "faults"), default="lanes")
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--dpi", type=int, default=90)
    parser.add_argument("--out", type=Path, default=Path("junction_sheets"), metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what is on each sheet")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    drawn = {str(path): sheets(path, options) for path in options.maps}
    if options.json:
        options.json.write_text(json.dumps(drawn, indent=1) + "\n")


if __name__ == "__main__":
    main()
