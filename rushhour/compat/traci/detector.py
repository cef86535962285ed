"""Detectors of additional files as TraCI asks for them: where they lie."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rushhour.compat.traci.names import Names
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.reading.values import number
from rushhour.traffic.sumo.records import AREAS, LOOPS, additional_elements


class Stretch(NamedTuple):
    """Where a detector lies: m along our lane, begin and end (of a loop the same)."""

    name: str
    lane: int
    begin: float
    end: float


def read_stretches(paths: Sequence[Path], names: Names, areas: bool) -> dict[str, Stretch]:
    """Induction loops, or lane areas on one lane, of additional files, by id.

    Those on lanes that are not there are left out. Raises RushhourError for positions that are no
    numbers.
    """
    found: dict[str, Stretch] = {}
    for path in paths:
        for event, tag, a, line in additional_elements(path):
            if event == "end":
                continue
            lane = names.lane_number.get(a.get("lane", ""), -1)
            if tag not in (AREAS if areas else LOOPS) or lane < 0 or "id" not in a:
                continue
            where, full = f"{path}:{line}: {tag} {a['id'][:60]!r}", float(names.length[lane])
            begin = _metres(a, "pos", 0.0, full, where)
            end = begin
            if areas:
                end = _metres(a, "endPos", full, full, where)
                if "length" in a and "endPos" not in a:
                    end = min(full, begin + number(a["length"], where, "length", 0.0, 1e7))
                elif "length" in a and "pos" not in a:
                    begin = max(0.0, end - number(a["length"], where, "length", 0.0, 1e7))
            places = (names.from_file(lane, min(max(pos, 0.0), full)) for pos in (begin, end))
            found[a["id"]] = Stretch(a["id"], lane, *places)
            if found[a["id"]].end < found[a["id"]].begin:
                raise RushhourError(f"{where}: ends before it begins; correct pos and endPos")
    return found


def _metres(a: dict[str, str], name: str, default: float, full: float, where: str) -> float:
    if name not in a:
        return default
    value = number(a[name], where, name, -1e7, 1e7)
    return value + full if value < 0.0 else value
