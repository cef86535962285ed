"""Porto as SUMO reads it, and random trips in it: files that both simulators take as they are.

netconvert makes the network of the extract, duarouter the ways; both come with eclipse-sumo. What
is there already is not made again. Trips are drawn here: they begin on a road drawn by its length,
and end on another, accepted with the probability exp(-distance / reach).
"""

import gzip
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sumo_options import sumo_binary

EXTRACT: Final = "osm_porto/porto_portugal.osm.gz"
REACH: Final = 3000.0  # m; the mean way is near three times as long
DAY_REACH: Final = 1500.0  # m; with twice that a day of a million trips is more than Porto holds
SHORTEST_ROAD: Final = 20.0  # m; trips begin and end on roads with room for a car
# Shares of a day's trips by hour, from midnight: peaks from 7 to 9 and from 17 to 19.
DAY: Final = (
    0.6, 0.3, 0.2, 0.2, 0.4, 1.2, 3.5, 7.5, 8.5, 5.5, 4.5, 4.5,
    5.0, 5.2, 5.0, 5.5, 7.0, 8.5, 8.0, 5.5, 4.0, 3.0, 2.0, 1.4,
)  # fmt: skip
NETCONVERT: Final = (
    "--keep-edges.by-vclass", "passenger", "--keep-edges.components", "1", "--geometry.remove",
    "--roundabouts.guess", "--ramps.guess", "--junctions.join", "--tls.join", "--no-turnarounds",
)  # fmt: skip


def porto_network(base: Path, work: Path) -> Path:
    """SUMO's network of the extract, from main roads to service roads; half a minute once."""
    path = work / "porto.net.xml.gz"
    if not path.exists():
        extract = base / EXTRACT
        if not extract.exists():
            raise FileNotFoundError(f"{extract}: no such file; it is in the data folder")
        _made("netconvert", "--osm-files", str(extract), *NETCONVERT, made=path, option="-o")
    return path


def porto_routes(
    network: Path,
    name: str,
    count: int,
    departures: NDArray[np.float64],
    on_road: bool,
    reach: float = REACH,
) -> Path:
    """Trips with their ways, sorted by departure, s; beside the network.

    on_road: a trip begins anywhere on its first road, at speed; otherwise at its start, standing.
    reach: m; the name tells files of different trips apart.
    """
    path = network.parent / f"porto_{name}.rou.xml.gz"
    if not path.exists():
        trips = network.parent / f"porto_{name}.trips.xml"
        place = 'departPos="random_free" departSpeed="max"' if on_road else ""
        with open(trips, "w") as file:
            file.write("<routes>\n")
            file.writelines(
                f'<trip id="{k}" depart="{departures[k]:.2f}" from="{begin}" to="{end}" '
                f'departLane="best" {place}/>\n'
                for k, (begin, end) in enumerate(_pairs(network, count, reach))
            )
            file.write("</routes>\n")
        _made(
            "duarouter", "-n", str(network), "--route-files", str(trips), "--ignore-errors",
            "--routing-algorithm", "CH", "--weight-period", "1000000", "--xml-validation", "never",
            "--alternatives-output", "NUL", "--no-step-log",
            made=path, option="-o",
        )  # fmt: skip
        trips.unlink()
    return path


def day_departures(count: int, seed: int = 1) -> NDArray[np.float64]:
    """Departures of a day, sorted, s from midnight: by hour in the shares of DAY, even in each."""
    rng = np.random.default_rng(seed)
    shares = np.array(DAY) / sum(DAY)
    hours = rng.choice(len(DAY), size=count, p=shares)
    return np.sort(3600.0 * (hours + rng.random(count)))


def _pairs(network: Path, count: int, reach: float, seed: int = 1) -> Iterator[tuple[str, str]]:
    ids, length, places = _roads(network)
    rng = np.random.default_rng(seed)
    share = np.cumsum(length) / length.sum()
    left = count
    while left:
        drawn = share.searchsorted(rng.random((2, 1 << 20)))
        apart = np.hypot(*(places[drawn[0]] - places[drawn[1]]).T)
        taken = (rng.random(apart.size) < np.exp(-apart / reach)) & (drawn[0] != drawn[1])
        for begin, end in drawn[:, taken].T[:left].tolist():
            yield ids[begin], ids[end]
        left -= min(left, int(taken.sum()))


def _roads(network: Path) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Ids, lengths (m) and starts (m) of the roads where trips may begin or end.

    They are in the largest part of the network in which every road can be reached from every other.
    """
    number: dict[str, int] = {}
    length, places, turns = [], [], []
    road = ""
    with gzip.open(network, "rt") as file:
        for line in file:
            word = line.lstrip()
            if word.startswith("<edge "):
                road = "" if 'function="' in word else _value(word, "id")
            elif road and word.startswith("<lane "):  # a road's first lane
                x, y = _value(word, "shape").split(" ", 1)[0].split(",")[:2]
                number[road] = len(number)
                length.append(float(_value(word, "length")))
                places.append((float(x), float(y)))
                road = ""
            elif word.startswith("<connection ") and ' from=":' not in word:
                turns.append((number[_value(word, "from")], number[_value(word, "to")]))
    ways = coo_matrix((np.ones(len(turns), bool), np.array(turns).T), shape=2 * (len(number),))
    part = connected_components(ways, directed=True, connection="strong")[1]
    metres = np.array(length)
    wanted = (part == np.bincount(part).argmax()) & (metres >= SHORTEST_ROAD)
    ids = np.array(list(number))[wanted].tolist()
    return ids, metres[wanted], np.array(places)[wanted]


def _value(line: str, name: str) -> str:
    return line.split(f' {name}="', 1)[1].split('"', 1)[0]


def _made(tool: str, *words: str, made: Path, option: str) -> None:
    """Run a tool that comes with SUMO; its file appears whole or not at all."""
    binary = Path(sumo_binary()).with_name(tool)
    half = made.with_name(f"half.{made.name}")
    home = {"SUMO_HOME": str(binary.parent.parent)}
    done = subprocess.run(
        [str(binary), *words, option, str(half)],
        check=False, capture_output=True, text=True, env={**os.environ, **home},
    )  # fmt: skip
    if done.returncode:
        told = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FileNotFoundError(f"{tool}: {told}")
    os.replace(half, made)
