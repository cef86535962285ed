"""A SUMO route file as a list of trips, for simulators that read no SUMO files."""

import gzip
import re
from pathlib import Path
from typing import NamedTuple

_PARTS = re.compile(r'<vehicle\b[^>]*\bdepart="([\d.]+)"|<route\b[^>]*\bedges="([^"]*)"')


class Trip(NamedTuple):
    """One vehicle: when it departs, s, and the ids of all roads of its way."""

    depart: float
    roads: list[str]


def trips_of(path: Path) -> list[Trip]:
    """The vehicles of a route file in which each holds its own route, in the order of the file."""
    found = []
    depart = 0.0
    with gzip.open(path, "rt") as file:
        for line in file:
            for time, roads in _PARTS.findall(line):
                if time:
                    depart = float(time)
                else:
                    found.append(Trip(depart, roads.split()))
    return found
