"""What is found in an OpenStreetMap as a whole, when it has become streets (networks.md 8)."""

from collections import Counter
from itertools import chain, repeat
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.findings import ERROR, NOTE, WARNING
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.osm.built_up import BuiltUp
from rushhour.roadnets.osm.country import Country
from rushhour.roadnets.osm.crossings import find_crossings
from rushhour.roadnets.osm.links import Road, Streets
from rushhour.roadnets.osm.merging import Merged, extent
from rushhour.roadnets.osm.signs import Signs, length_of
from rushhour.roadnets.osm.ways.legal import BUILT_FOR, KMH, MPH, in_miles, limits_of
from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay
from rushhour.roadnets.osm.ways.speeds import ZONE_KEYS, read_speed
from rushhour.roadnets.osm.ways.tags import Tags, is_open

LARGE: Final = 40.0  # m between two nodes of an intersection
MANY: Final = 5  # nodes of an intersection
LARGE_PIECE: Final = 1000.0  # m of road that is left out in one piece
SOURCES: Final = (
    "maxspeed", "zone", "--default-speed", "by law in town", "by law out of town",
    "by law on motorways and motorroads", "by class (service, links)",
)  # fmt: skip
# By what a way is known to be in a built-up area or not.
WORDS: Final = {
    "zone": "zone tags", "class": "residential streets", "areas": "landuse",
    "lights": "lights and sidewalks", "streets": "streets around",
}  # fmt: skip
REACHED, MOSTLY = 0.5, 0.95  # shares of the roads' length


class Kept(NamedTuple):
    """Roads outside intersections: all, those reached and left, those that all reach each other."""

    every: set[Road]
    used: set[Road]
    core: set[Road]


class OpenWays(NamedTuple):
    """Ways that cars may use."""

    ways: list[OsmWay]
    length: NDArray[np.float64]  # m


def report(
    osm: OsmMap, streets: Streets, merged: Merged, signs: Signs, kept: Kept, ways: OpenWays
) -> None:
    """Add to the findings of the streets what is found in the map as a whole."""
    _incomplete(osm, streets)
    _reach(streets, kept)
    _left_out(streets, kept)
    _signals(streets, signs)
    _service_at_lights(streets, merged, signs)
    _large(streets, merged)
    _defaults(ways, streets)
    find_crossings(osm, streets)


def _incomplete(osm: OsmMap, streets: Streets) -> None:
    if osm.skipped:
        kinds = Counter(osm.skipped).most_common(6)
        text = ", ".join(f"{number} {kind}" for kind, number in kinds)
        more = ", ..." if len(osm.skipped) > len(kinds) else ""
        streets.remarks.add(f"ways that are no roads for cars ({text}{more})",
                            count=sum(osm.skipped.values()))  # fmt: skip
    pieces = Counter(way.id for way in osm.ways if way.id in osm.missing)
    some = {way.id: way.nodes[-1] for way in osm.ways if way.id in osm.missing}
    for way_id, lost in sorted(osm.missing.items()):
        left = pieces[way_id]
        done = f"{left} piece{'s' * (left != 1)} of it kept" if left else "left out"
        streets.find(
            "L01", f"way {way_id}: {lost} of its nodes are not in the file; {done}",
            [f"way {way_id}"], some.get(way_id),
        )  # fmt: skip
    for way_id in osm.lone:
        streets.find("L02", f"way {way_id}: fewer than two nodes; left out", [f"way {way_id}"])


def _reach(streets: Streets, kept: Kept) -> None:
    """Say how much of the map can be reached and left."""
    length = _lengths(streets, [link.nodes for link in streets.links]) / 1000.0
    total, used, strong = (
        float(length[np.fromiter((i for i, _ in part), int, len(part))].sum()) for part in kept
    )
    if total <= 0.0:
        return
    severity = WARNING if used < MOSTLY * total else NOTE
    streets.find(
        "L21",
        f"{used:.1f} of {total:.1f} km of road can be reached and left "
        f"({100.0 * used / total:.1f} %); {100.0 * strong / total:.1f} % reach each other",
        severity=ERROR if used < REACHED * total else severity,
    )


def _lengths(streets: Streets, lines: list[list[int]]) -> NDArray[np.float64]:
    """Lengths of lines of two nodes or more, m."""
    if not lines:
        return np.zeros(0)
    places = map(streets.xy.__getitem__, chain.from_iterable(lines))
    xy = np.fromiter(chain.from_iterable(places), float).reshape(-1, 2)
    step = np.zeros(len(xy))
    step[:-1] = np.hypot(*np.diff(xy, axis=0).T)
    sizes = np.fromiter(map(len, lines), int, len(lines))
    step[np.cumsum(sizes) - 1] = 0.0  # from a line to the next one
    return np.add.reduceat(step, np.cumsum(sizes) - sizes)


def open_ways_of(osm: OsmMap, streets: Streets) -> OpenWays:
    """The ways of a map that cars may use."""
    ways = [way for way in osm.ways if is_open(way.tags)]
    return OpenWays(ways, _lengths(streets, [way.nodes for way in ways]))


def _left_out(streets: Streets, kept: Kept) -> None:
    """Name the pieces that are left out because they cannot be reached or left."""
    by_node: dict[int, list[Road]] = {}
    left = kept.every - kept.used
    for road in left:
        for node in (streets.links[road[0]].a, streets.links[road[0]].b):
            by_node.setdefault(node, []).append(road)
    seen: set[Road] = set()
    for road in sorted(left):
        if road in seen:
            continue
        piece, open_roads = [], [road]
        seen.add(road)
        while open_roads:
            piece.append(open_roads.pop())
            link = streets.links[piece[-1][0]]
            for other in by_node[link.a] + by_node[link.b]:
                if other not in seen:
                    seen.add(other)
                    open_roads.append(other)
        length = sum(length_of(streets, streets.links[i]) for i, _ in piece)
        link = streets.links[min(piece)[0]]
        streets.find(
            "L21",
            f"way {link.first_way} and what it leads to ({length / 1000.0:.2f} km of road) cannot be "
            "both reached and left; left out",
            [f"way {way}" for way in sorted({streets.links[i].first_way for i, _ in piece})[:20]],
            link.a,
            severity=WARNING if length >= LARGE_PIECE else NOTE,
        )  # fmt: skip


def _signals(streets: Streets, signs: Signs) -> None:
    for node in sorted(signs.mid_block):
        streets.find(
            "L10", f"signal node {node}: far from a junction; a signal for those on foot",
            [f"node {node}"], node, fix_line("signals", [node], False),
        )  # fmt: skip


def _service_at_lights(streets: Streets, merged: Merged, signs: Signs) -> None:
    lit = {merged.home(node) for node in signs.signals}
    for index, link in enumerate(streets.links):
        if link.rules.highway != "service" or index in merged.inner:
            continue
        for node in (link.a, link.b):
            if merged.home(node) in lit:
                streets.find(
                    "L36", f"way {link.first_way}: a service way with a signal at node {node}",
                    [f"way {link.first_way}", f"node {node}"], node,
                    fix_line("close", [link.first_way], True),
                )  # fmt: skip


def _large(streets: Streets, merged: Merged) -> None:
    for home, nodes in sorted(merged.groups.items()):
        width = extent(streets, nodes)
        if len(nodes) < MANY and width <= LARGE:
            continue
        streets.find(
            "L11", f"intersection {home}: made of {len(nodes)} nodes, {width:.0f} m across",
            [f"node {node}" for node in nodes], home,
            fix_line("keep_apart", sorted(nodes), True),
        )  # fmt: skip


def _defaults(open_ways: OpenWays, streets: Streets) -> None:
    """Which share of the streets' length has no limit or no lanes of its own."""
    ways, length = open_ways
    total = float(length.sum())
    for key, what in (("maxspeed", "limit by law"), ("lanes", "number of lanes by class of road")):
        silent = np.array([not any(map(str.startswith, way.tags, repeat(key))) for way in ways])
        share = float(length[silent].sum()) / total if total > 0.0 else 0.0
        if share >= 0.005:
            streets.find("L26", f"{100.0 * share:.0f} % of the km have no {key}: {what}")


def limit_remarks(
    open_ways: OpenWays,
    country: Country,
    urban: dict[int, BuiltUp],
    speeds: dict[str, float],
) -> list[str]:
    """Whose limits were taken, how many km are in town, and what each km's limit comes from.

    speeds: the user's, by class.
    """
    ways, length = open_ways.ways, open_ways.length / 1000.0
    total = max(float(length.sum()), 1e-9)
    limits = limits_of(country.place)
    where = f"country {country.place} ({country.why})" if country.place else "country unknown"
    if limits is None:
        limits = limits_of("")
        where += ", not in the table of limits" if country.place else ""
        where += ": limits of the rest of the world; --country says another"
    assert limits is not None
    unit, name = (MPH, "mph") if in_miles(country.place) else (KMH, "km/h")
    slow, middle, fast = (
        f"{speed / unit:.0f}" for speed in (limits.urban, limits.rural, limits.motorway)
    )
    law = f"by law {slow} {name} in town, {middle} out of it, {fast} on motorways"
    lines = [f"{where}; {law}"]
    town: Counter[str] = Counter()
    source: Counter[str] = Counter()
    for way, km in zip(ways, length.tolist(), strict=True):
        known = urban[way.id]
        town[("town " if known.urban else "country ") + known.by] += km
        source[_source(way.tags, known.urban, speeds)] += km
    for here, words in (("town", "in town"), ("country", "out of town")):
        parts = {by: km for key, km in town.items() for side, by in (key.split(),) if side == here}
        if parts:
            told = ", ".join(f"{km:.1f} by {WORDS[by]}" for by, km in sorted(parts.items()))
            lines.append(f"{sum(parts.values()):.1f} km {words}: {told}")
    told = ", ".join(f"{100.0 * source[k] / total:.0f} % {k}" for k in SOURCES if source[k])
    return [*lines, f"limits of {total:.1f} km: {told}"]


def _source(tags: Tags, urban: bool, speeds: dict[str, float]) -> str:
    """What the limit of a way comes from."""
    if any(key.startswith("maxspeed") and key != "maxspeed:type" for key in tags):
        return SOURCES[0]
    if any(key in tags and read_speed(tags[key]) is not None for key in ZONE_KEYS):
        return SOURCES[1]
    highway = tags["highway"]
    if highway in speeds:
        return SOURCES[2]
    if highway in BUILT_FOR:
        return SOURCES[6]
    if highway == "motorway" or tags.get("motorroad") == "yes":
        return SOURCES[5]
    return SOURCES[3] if urban else SOURCES[4]
