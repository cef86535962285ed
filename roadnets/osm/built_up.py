"""Which ways lie in built-up areas, where the limits of towns hold.

Decided way by way, by the first that says something: the zone that its tags name, its class, areas
of houses, shops and works on the map, street lights and sidewalks, and at last the streets around:
a road in town has side streets, and homes about it.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay
from rushhour.roadnets.osm.ways.speeds import zone_of
from rushhour.roadnets.osm.ways.tags import Tags

STEP: Final = 25.0  # m between places that are looked at along a way
BESIDE: Final = 30.0  # m from an area: streets run between areas
# The streets around are those of 5 by 5 cells of this size.
CELL: Final = 100.0  # m
AROUND: Final = 2
# Found on the signed limits of Krems, Columbus and Porto: of 266 km of roads below trunk these tell
# 86 % of those of up to 35 mph or 50 km/h and 89 % of those of 80 km/h and more as they are; of 36 km
# of trunk roads 96 %.
SIDE_STREETS: Final = 3.0  # per km of road of its class
SIDE_STREETS_TRUNK: Final = 6.0  # with fewer a trunk road leads past a town
HOMES: Final = 1.0  # km of residential street per km^2
RESIDENTIAL: Final = ("residential", "living_street")
LIT: Final = ("yes", "24/7", "automatic", "sunset-sunrise", "limited")
SIDEWALKS: Final = ("both", "left", "right", "yes", "separate")


class BuiltUp(NamedTuple):
    """Whether a way is in a built-up area, and by what it was told."""

    urban: bool
    by: str  # "zone", "class", "areas", "lights" or "streets"


def built_up(osm: OsmMap) -> dict[int, BuiltUp]:
    """For each way (by id) whether it is in a built-up area."""
    found: dict[int, BuiltUp] = {}
    rest: list[OsmWay] = []
    for way in osm.ways:
        zone = zone_of(way.tags)
        if zone is not None:
            found[way.id] = BuiltUp(zone, "zone")
        elif way.tags["highway"] in RESIDENTIAL:
            found[way.id] = BuiltUp(True, "class")
        else:
            rest.append(way)
    places, owner = _places(osm, rest)
    inside = _share(_beside_areas(osm, places), owner, len(rest))
    around = _streets_around(osm, places, owner, rest)
    for k, way in enumerate(rest):
        lights = _lights(way.tags)
        if way.id in found and not inside[k] > 0.5:
            continue  # a piece of a way that is known
        if inside[k] > 0.5:
            found[way.id] = BuiltUp(True, "areas")
        elif lights is not None:
            found[way.id] = BuiltUp(lights, "lights")
        else:
            found[way.id] = BuiltUp(bool(around[k]), "streets")
    return found


def _lights(tags: Tags) -> bool | None:
    """Whether a way has the street lights or sidewalks of a town; None where it does not say."""
    lit, sidewalk = tags.get("lit"), tags.get("sidewalk")
    if lit in LIT or sidewalk in SIDEWALKS:
        return True
    return False if lit == "no" else None


def _places(osm: OsmMap, ways: Sequence[OsmWay]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places along ways, (k, 2) in m, each in the middle of an equal piece, and whose they are."""
    if not ways:
        return np.zeros((0, 2)), np.zeros(0, np.int64)
    line = np.array([osm.xy[node] for way in ways for node in way.nodes])
    ends = np.cumsum([len(way.nodes) for way in ways])
    starts = np.concatenate(([0], ends[:-1]))
    step = np.hypot(*np.diff(line, axis=0, prepend=line[:1]).T)
    step[starts] = 0.0  # from a way to the next
    along = np.cumsum(step)
    length = along[ends - 1] - along[starts]
    pieces = np.maximum(1, np.rint(length / STEP)).astype(np.int64)
    owner = np.repeat(np.arange(len(ways)), pieces)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    at = along[starts][owner] + (nth + 0.5) * (length / pieces)[owner]
    return np.stack([np.interp(at, along, line[:, i]) for i in (0, 1)], axis=1), owner


def _share(flags: NDArray[np.bool_], owner: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Of each way the share of its places with a flag."""
    share: NDArray[np.float64] = np.bincount(owner, flags, count) / np.maximum(
        np.bincount(owner, minlength=count), 1
    )
    return share


def _beside_areas(osm: OsmMap, places: NDArray[Any]) -> NDArray[np.bool_]:
    """Which places lie in a built-up area of the map, or beside one."""
    beside = np.zeros(len(places), bool)
    if not osm.built_up or not len(places):
        return beside
    import shapely

    # Several rings: the outer ones and the holes of one area, in pieces.
    shapes = [
        shapely.Polygon(area[0])
        if len(area) == 1 and len(area[0]) > 3
        else shapely.build_area(shapely.multilinestrings([shapely.LineString(p) for p in area]))
        for area in osm.built_up
    ]
    tree = shapely.STRtree(shapes)
    hits = tree.query(shapely.points(places), predicate="dwithin", distance=BESIDE)
    beside[hits[0]] = True
    return beside


def _streets_around(
    osm: OsmMap, places: NDArray[Any], owner: NDArray[Any], ways: Sequence[OsmWay]
) -> NDArray[np.bool_]:
    """Of ways with places along them, whether side streets and homes around them tell a town."""
    streets = [way for way in osm.ways if way.tags["highway"] != "service"]
    if not streets or not ways:
        return np.zeros(len(ways), bool)
    kinds = np.array([_kind(way) for way in streets])
    spots, whose = _places(osm, streets)
    low = np.minimum(spots.min(axis=0), places.min(axis=0)) - AROUND * CELL

    def keys(points: NDArray[Any]) -> NDArray[np.int64]:
        x, y = ((points - low) // CELL).astype(np.int64).T
        found: NDArray[np.int64] = (x << 32) + y
        return found

    at, cells = keys(places), keys(spots)
    side = STEP / 1000.0 / ((2 * AROUND + 1) * CELL / 1000.0) ** 2  # km/km^2 of a place
    homes = side * _around(at, cells[np.isin(kinds, RESIDENTIAL)[whose]])
    junctions = _junctions(streets)
    own_km, own_junctions = np.zeros(len(at)), np.zeros(len(at))
    here = np.array([_kind(way) for way in ways])[owner]
    for kind in np.unique(here):
        mine = np.flatnonzero(kinds == kind)
        nodes = {n for k in mine for n in streets[k].nodes if n in junctions}
        of_kind = here == kind
        own_km[of_kind] = _around(at[of_kind], cells[(kinds == kind)[whose]]) * STEP / 1000.0
        if nodes:
            xy = np.array([osm.xy[node] for node in sorted(nodes)])
            own_junctions[of_kind] = _around(at[of_kind], keys(xy))
    count = len(ways)
    pieces = np.bincount(owner, minlength=count)
    kind = np.array([_kind(way) for way in ways])
    frequent = np.bincount(owner, own_junctions, count) >= np.where(
        np.isin(kind, ("trunk", "motorway")), SIDE_STREETS_TRUNK, SIDE_STREETS
    ) * np.bincount(owner, own_km, count)
    lived_in = np.bincount(owner, homes, count) >= HOMES * pieces
    lived_in |= not np.isin(kinds, RESIDENTIAL).any()  # a map of main roads alone
    found: NDArray[np.bool_] = lived_in & (frequent | (kind == "service"))
    return found


def _kind(way: OsmWay) -> str:
    """Class of a way, a link as what it leads to."""
    return way.tags["highway"].removesuffix("_link")


def _junctions(streets: Sequence[OsmWay]) -> set[int]:
    """Nodes at which three ends of streets meet or more."""
    nodes = np.concatenate([way.nodes for way in streets])
    ends = np.full(len(nodes), 2)
    last = np.cumsum([len(way.nodes) for way in streets]) - 1
    ends[last] = 1
    ends[np.concatenate(([0], last[:-1] + 1))] = 1
    found, which = np.unique(nodes, return_inverse=True)
    return set(found[np.bincount(which, ends) >= 3].tolist())


def _around(at: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many of some things, given by their cells, lie in the cells around each of others."""
    total = np.zeros(len(at))
    places, which = np.unique(at, return_inverse=True)
    known, counts = np.unique(cells, return_counts=True)
    if not len(known):
        return total
    sums = np.zeros(len(places))
    steps = range(-AROUND, AROUND + 1)
    for dx in steps:
        for dy in steps:
            key = places + (dx << 32) + dy
            found = np.minimum(np.searchsorted(known, key), len(known) - 1)
            sums += np.where(known[found] == key, counts[found], 0)
    return sums[which]
