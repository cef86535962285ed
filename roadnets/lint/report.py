"""The report of an import: a table for people, rows for JSON."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import CHECKS, MOST_EXAMPLES, NOTE, Finding
from rushhour.roadnets.fixes import Together, fix_of
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_degrees
from rushhour.roadnets.street_names import some

NAMES: Final = {"E": "errors", "W": "warnings", "I": "notes"}
INDENT: Final = 9


def finding_rows(network: Network) -> list[dict[str, Any]]:
    """Every finding with its place, as far as it has one: x, y in m, lon, lat in degrees."""
    rows = []
    streets, lines = _Streets(network), _lines(sorted(network.findings, key=_order))
    for one, degrees in zip(network.findings, _degrees(network), strict=True):
        place = one.place or (None, None)
        x, y = (None if value is None else round(value, 2) for value in place)
        lon, lat = degrees or (None, None)
        rows.append(
            {"id": one.check, "severity": one.severity, "message": one.message,
             "source": list(one.source), "streets": streets.of(one), "x": x, "y": y, "lon": lon, "lat": lat, "fix": lines[one.fix]}
        )  # fmt: skip
    return rows


def report_lines(network: Network) -> list[str]:
    """A table of the findings: check, severity and count, below each a few examples."""
    groups: dict[tuple[str, str], list[tuple[Finding, tuple[float, float] | None]]] = {}
    for one, degrees in zip(network.findings, _degrees(network), strict=True):
        groups.setdefault((one.severity, one.check), []).append((one, degrees))
    if not groups:
        return []
    counts = {
        name: sum(len(found) for (severity, _), found in groups.items() if severity == key)
        for key, name in NAMES.items()
    }
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    lines, streets = ["", f"{'found':<20} {told}"], _Streets(network)
    groups = dict(sorted(groups.items(), key=lambda group: _order(group[1][0][0])))
    shown = {key: found[: MOST_EXAMPLES if key[0] != NOTE else 1] for key, found in groups.items()}
    fixes = _lines(one for found in shown.values() for one, _ in found)
    for (severity, check), found in groups.items():
        lines.append(f"{check} {severity} {len(found):>7,}  {CHECKS[check][1]}")
        for one, degrees in shown[severity, check]:
            line = fixes.pop(one.fix, "")  # once
            lines.append(
                " " * INDENT + _example(one, degrees, streets) + (f"  # {line}" if line else "")
            )
    if len(network.findings) > 1:
        lines.append(
            "--json has all of them; put a line after # into fixes.toml to overrule one: --fixes"
        )
    return lines


def _order(one: Finding) -> tuple[int, str]:
    """Where a finding stands in the table."""
    return "EWI".index(one.severity), one.check


def _lines(findings: Iterable[Finding]) -> dict[str, str]:
    """The lines that would overrule findings, by their fixes; one that contradicts a line before it is a comment."""
    together, lines = Together(), dict[str, str]()
    for line in dict.fromkeys(one.fix for one in findings):
        fix = fix_of(line)
        other = together.add(fix) if fix else None
        lines[line] = f"# {line}  (contradicts {other.address})" if other else line
    return lines


class _Streets:
    """What the places of findings are called."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @cached_property
    def _of_ways(self) -> dict[str, list[int]]:
        """Roads by the way of OpenStreetMap that they are made of."""
        found: dict[str, list[int]] = {}
        for road, name in enumerate(self.network.road_ids):
            found.setdefault(name.partition("#")[0].removeprefix("-"), []).append(road)
        return found

    def of(self, one: Finding) -> list[str]:
        """Names of the streets that a finding is about, else those that meet there."""
        network = self.network
        names: dict[str, None] = {}
        met: list[int] = []
        for source in one.source if network.road_names else ():
            kind, _, id = source.partition(" ")
            roads = self._of_ways.get(id, []) if kind == "way" else []
            if kind == "road" and id in network.road_index:
                roads = [network.road_index[id]]
            elif kind == "lane" and id in network.lane_index:
                roads = [int(network.arrays.lanes.road[network.lane_index[id]])]
            elif kind in ("intersection", "node") and id in network.intersection_index:
                met.append(network.intersection_index[id])
            names |= dict.fromkeys(map(network.road_name, roads))
        if not any(names):
            names = dict.fromkeys(map(network.intersection_name, met))
        return [name for name in names if name]


def _example(one: Finding, degrees: tuple[float, float] | None, streets: _Streets) -> str:
    """A finding in a line."""
    names = streets.of(one)
    text = one.message + (f" ({some(names)})" if names else "")
    if degrees:
        return f"{text} @{degrees[0]:.5f},{degrees[1]:.5f}"
    return f"{text} @{one.place[0]:.0f},{one.place[1]:.0f}" if one.place else text


def _degrees(network: Network) -> list[tuple[float, float] | None]:
    """Longitude and latitude of every finding's place; None without one or without a projection."""
    places = [one.place for one in network.findings]
    placed = [place for place in places if place is not None]
    if not placed or not network.projection:
        return [None] * len(places)
    xy = np.array(placed)
    try:
        lon, lat = local_degrees(network, xy[:, 0], xy[:, 1])
    except NetworkError:  # no PROJ, or a projection that it does not know: metres will do
        return [None] * len(places)
    good = np.isfinite(lon) & np.isfinite(lat)
    pairs = iter(
        (round(a, 6), round(b, 6)) if fine else None
        for a, b, fine in zip(lon.tolist(), lat.tolist(), good.tolist(), strict=True)
    )
    return [None if place is None else next(pairs) for place in places]
