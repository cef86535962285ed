"""Findings: what was mended, doubted or counted in a map, each with its id, place and repair.

A finding has the number of its check (networks.md 8: L01 - L37), a severity, one line of text, the
ids of the source that it is about, a place, and where there is one the line of a file of fixes
(roadnets.fixes) that would overrule it.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError

Place = Sequence[float] | NDArray[np.float64]  # x, y, m

ERROR, WARNING, NOTE = "E", "W", "I"
MOST_EXAMPLES: Final = 5  # of a check, where lines are shown
LONGEST: Final = 240  # characters of a message
MOST_FINDINGS: Final = 2_000_000  # in a file; more was never written

# What each check is about, and how severe its findings are unless they say otherwise.
CHECKS: Final[dict[str, tuple[str, str]]] = {
    "L01": (WARNING, "nodes missing in the file"),
    "L02": (NOTE, "ways or roads without extent"),
    "L03": (WARNING, "doubled roads"),
    "L04": (NOTE, "crossings without a common node"),
    "L05": (WARNING, "ends just short of a road"),
    "L06": (WARNING, "numbers not taken as they are"),
    "L07": (WARNING, "turn:lanes that do not fit"),
    "L08": (WARNING, "contradictions of one-ways"),
    "L09": (WARNING, "turn restrictions not used"),
    "L10": (NOTE, "signals and nodes away from junctions"),
    "L11": (WARNING, "large intersections of several nodes"),
    "L12": (WARNING, "nodes not made one intersection"),
    "L13": (WARNING, "roads shorter than a car"),
    "L14": (NOTE, "little room between two controls"),
    "L15": (WARNING, "roads and lanes without exit"),
    "L16": (NOTE, "roads and lanes without entry"),
    "L17": (WARNING, "roads that overlap"),
    "L18": (WARNING, "turns too tight for a car"),
    "L19": (ERROR, "greens that conflict"),
    "L20": (WARNING, "doubtful signal programs"),
    "L21": (WARNING, "parts that do not reach each other"),
    "L22": (WARNING, "rings of short roads"),
    "L23": (WARNING, "sharp kinks"),
    "L24": (NOTE, "dead ends that turn back"),
    "L25": (WARNING, "lengths that disagree"),
    "L26": (NOTE, "defaults taken"),
    "L27": (WARNING, "driving side unsure"),
    "L28": (WARNING, "contents that are not read"),
    "L30": (NOTE, "movements that yield to each other"),
    "L31": (WARNING, "roads steeper than vehicles climb"),
    "L32": (WARNING, "movements that wander"),
    "L33": (WARNING, "stop lines inside intersections"),
    "L34": (WARNING, "neighbouring signals out of step"),
    "L35": (WARNING, "lights for people on foot out of step"),
    "L36": (WARNING, "service ways with a signal"),
    "L37": (WARNING, "very wide intersections"),
}


class Finding(NamedTuple):
    """One thing that was found."""

    check: str  # L01 ...
    severity: str  # E stops an import, W is mended or doubtful, I is counted
    message: str  # what, where, what was done: one line
    source: tuple[str, ...] = ()  # "way 5", "node -7", "road e1": kind and id in the source
    place: tuple[float, float] | None = None  # m, as the network's points
    fix: str = ""  # the line of a file of fixes that would overrule it


def finding(
    check: str,
    message: str,
    source: Iterable[str] = (),
    place: Place | None = None,
    fix: str = "",
    severity: str = "",
) -> Finding:
    """A finding of a check; severity "": the check's own."""
    text = _printable(message)
    text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    at = None if place is None else (float(place[0]), float(place[1]))
    ids = tuple(_printable(name) for name in source)
    return Finding(check, severity or CHECKS[check][0], text, ids, at, fix)


def _printable(text: str) -> str:
    return text if text.isprintable() else repr(text)[1:-1]


def by_check(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Findings of each check, by number, the most severe first."""
    found: dict[str, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.check, []).append(one)
    return {
        check: sorted(found[check], key=lambda one: "EWI".index(one.severity))
        for check in sorted(found)
    }


def short_lines(findings: Iterable[Finding]) -> list[str]:
    """A line per finding, of each check at most MOST_EXAMPLES and one that counts the others."""
    lines: list[str] = []
    for check, found in by_check(findings).items():
        lines += [f"{check} {one.message}" for one in found[:MOST_EXAMPLES]]
        if len(found) > MOST_EXAMPLES:
            lines.append(f"{check} {len(found) - MOST_EXAMPLES} more of this kind")
    return lines


def moved(findings: Iterable[Finding], dx: float, dy: float) -> list[Finding]:
    """The same findings with their places moved, m."""
    return [
        one if one.place is None else one._replace(place=(one.place[0] + dx, one.place[1] + dy))
        for one in findings
    ]


# --- as bytes, for files ------------------------------------------------------------------------


def packed(findings: Iterable[Finding]) -> bytes:
    """Findings as a JSON list of lists, in the order of their fields."""
    return json.dumps([list(one) for one in findings], ensure_ascii=False).encode(errors="replace")


def unpacked(data: bytes) -> tuple[Finding, ...]:
    """Findings that `packed` wrote. Raises NetworkError for anything else."""
    try:
        rows = json.loads(data.decode())
        if not isinstance(rows, list) or len(rows) > MOST_FINDINGS:
            raise ValueError("no list")
        return tuple(_checked(row) for row in rows)
    except (ValueError, TypeError, RecursionError):
        raise NetworkError("findings: damaged; import the map again") from None


def _checked(row: Any) -> Finding:
    """One finding of a file. Raises ValueError or TypeError if it is none."""
    check, severity, message, source, place, fix = row
    if type(source) is not list or not "".join((message, fix, *source)).isprintable():
        raise ValueError("texts")
    if check not in CHECKS or severity not in (ERROR, WARNING, NOTE):
        raise ValueError("check")
    if place is None:
        return Finding(check, severity, message, tuple(source), None, fix)
    x, y = place
    if not all(type(value) in (int, float) and abs(value) < 1e9 for value in (x, y)):
        raise ValueError("place")
    return Finding(check, severity, message, tuple(source), (float(x), float(y)), fix)
