"""What a map has besides roads: its points, and its areas with their holes, by the keys of their tags.

An area is a closed way, or a multipolygon; of one that lacks members, as at the edge of an extract, what of it is
closed. Maps whose ids are out of order are sorted first, as no
multipolygon can be put together from them otherwise.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Ring = NDArray[np.float64]  # (k, 2) longitude, latitude; its last place is not the first again
Row = TypeVar("Row")


class Tagged(NamedTuple):
    """A point, an area or a line of a map."""

    tags: dict[str, str]  # of the keys that were asked for
    place: tuple[float, float] | None  # longitude and latitude of a point
    outlines: list[list[Ring]]  # of an area: its parts, each an outline and its holes
    line: Ring | None = None  # of a way that is not closed, from its first to its last place


def read_tagged(
    path: Path, keys: Sequence[str], more: Sequence[str], rows: Callable[[Tagged], list[Row]],
    lines: str = "",
) -> list[Row]:  # fmt: skip
    """The rows that are made of all points and areas which have one of some keys, in the order of the map.

    more: keys whose tags are told as well. lines: a key whose ways that are not closed are told, too.
    Raises what osmium does for what is no map.
    """
    try:
        return _read(path, keys, more, rows, lines)
    except RuntimeError as error:
        if "out of order" not in str(error):
            raise
    import osmium

    with TemporaryDirectory() as folder:
        ordered = Path(folder) / "map.osm.pbf"
        source, target = osmium.MergeInputReader(), osmium.SimpleWriter(str(ordered))
        source.add_file(str(path))
        source.apply(target, simplify=True)
        target.close()
        return _read(ordered, keys, more, rows, lines)


def _read(
    path: Path, keys: Sequence[str], more: Sequence[str], rows: Callable[[Tagged], list[Row]],
    lines: str,
) -> list[Row]:  # fmt: skip
    import osmium

    filtered = osmium.filter.KeyFilter(*keys)
    all_of = osmium.osm.NODE | osmium.osm.WAY | osmium.osm.RELATION
    things: Any = osmium.FileProcessor(str(path), all_of)
    found: list[Row] = []
    parts: dict[int, tuple[dict[str, str], list[tuple[int, bool]]]] = {}  # of multipolygons
    for one in things.with_areas(filtered).with_filter(filtered):
        tags = {key: one.tags[key] for key in (*keys, *more) if key in one.tags}
        if one.is_relation():
            if one.tags.get("type") == "multipolygon":
                ways = [(m.ref, m.role == "inner") for m in one.members if m.type == "w"]
                parts[one.id] = (tags, ways)
        elif not one.is_node():
            outlines = _outlines(one)
            if outlines:
                found += rows(Tagged(tags, None, outlines))
                if one.is_area():
                    parts.pop(one.orig_id(), None)
            elif lines in tags and one.is_way() and not one.is_closed():
                found += rows(Tagged(tags, None, [], _places(one.nodes)))
        elif one.location.valid():
            found += rows(Tagged(tags, (one.location.lon, one.location.lat), []))
    for tags, outlines in _incomplete(path, list(parts.values())):
        found += rows(Tagged(tags, None, outlines))
    return found


def _incomplete(
    path: Path, parts: list[tuple[dict[str, str], list[tuple[int, bool]]]]
) -> list[tuple[dict[str, str], list[list[Ring]]]]:
    """What is closed of multipolygons that could not be put together, each outline with the holes that there are."""
    import osmium

    wanted = {way for _, ways in parts for way, _ in ways}
    if not wanted:
        return []
    known: dict[int, tuple[int, int, Ring]] = {}
    things: Any = osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY)
    all_ways = osmium.filter.EntityFilter(osmium.osm.WAY)
    for one in things.with_locations().with_filter(all_ways):
        if one.id in wanted and all(n.location.valid() for n in one.nodes):
            known[one.id] = (one.nodes[0].ref, one.nodes[-1].ref, _places(one.nodes))
    found = []
    for tags, ways in parts:
        outer, inner = (
            _closed([known[way] for way, hole in ways if hole == holes and way in known])
            for holes in (False, True)
        )
        if outer:
            # Which hole is in which outline is of no matter where there is one outline; else they are left out.
            found.append((tags, [[ring, *(inner if len(outer) == 1 else [])] for ring in outer]))
    return found


def _closed(ways: list[tuple[int, int, Ring]]) -> list[Ring]:
    """The rings that ways make which are joined at their ends; what stays open is left out."""
    rings = []
    while ways:
        first, last, line = ways.pop()
        while first != last:
            k = next((k for k, (a, b, _) in enumerate(ways) if last in (a, b)), None)
            if k is None:
                break
            a, b, more = ways.pop(k)
            line = np.concatenate((line, (more if a == last else more[::-1])[1:]))
            last = b if a == last else a
        if first == last and len(line) > 3:
            rings.append(line[:-1])
    return rings


def _outlines(one: Any) -> list[list[Ring]]:
    """Of a closed way, and of a multipolygon. The area that osmium makes of a closed way is left out:
    the way itself stands for it."""
    if one.is_way():
        parts = [[_ring(one.nodes)]] if one.is_closed() else []
    elif one.is_area() and not one.from_way():
        parts = [[_ring(outer), *map(_ring, one.inner_rings(outer))] for outer in one.outer_rings()]
    else:
        return []
    return [[ring for ring in part if len(ring) >= 3] for part in parts if len(part[0]) >= 3]


def _ring(nodes: Any) -> Ring:
    return _places(nodes)[:-1]


def _places(nodes: Any) -> Ring:
    found = [(n.location.lon, n.location.lat) for n in nodes if n.location.valid()]
    return np.array(found, np.float64).reshape(-1, 2)


def ring_size(ring: Ring) -> float:
    """The area of a ring, in square units of its places.

    >>> ring_size(np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 3.0)]))
    3.0
    """
    around = ring - ring[0]
    (x, y), (u, v) = around.T, np.concatenate((around[1:], around[:1])).T
    return 0.5 * abs(float(x @ v - u @ y))
