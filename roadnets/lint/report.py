"""The report of an import: a table for people, rows for JSON."""

from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import CHECKS, MOST_EXAMPLES, NOTE, Finding
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_degrees

NAMES: Final = {"E": "errors", "W": "warnings", "I": "notes"}
INDENT: Final = 9


def finding_rows(network: Network) -> list[dict[str, Any]]:
    """Every finding with its place, as far as it has one: x, y in m, lon, lat in degrees."""
    rows = []
    for one, degrees in zip(network.findings, _degrees(network), strict=True):
        place = one.place or (None, None)
        x, y = (None if value is None else round(value, 2) for value in place)
        lon, lat = degrees or (None, None)
        rows.append(
            {"id": one.check, "severity": one.severity, "message": one.message,
             "source": list(one.source), "x": x, "y": y, "lon": lon, "lat": lat, "fix": one.fix}
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
    lines = ["", f"{'found':<20} {told}"]
    for severity, check in sorted(groups, key=lambda key: ("EWI".index(key[0]), key[1])):
        found = groups[severity, check]
        lines.append(f"{check} {severity} {len(found):>7,}  {CHECKS[check][1]}")
        shown = MOST_EXAMPLES if severity != NOTE else 1
        lines += [" " * INDENT + _example(*each) for each in found[:shown]]
    if len(network.findings) > 1:
        lines.append(
            "--json has all of them; put a line after # into fixes.toml to overrule one: --fixes"
        )
    return lines


def _example(one: Finding, degrees: tuple[float, float] | None) -> str:
    text = one.message
    if degrees:
        text += f" @{degrees[0]:.5f},{degrees[1]:.5f}"
    elif one.place:
        text += f" @{one.place[0]:.0f},{one.place[1]:.0f}"
    return f"{text}  # {one.fix}" if one.fix else text


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
