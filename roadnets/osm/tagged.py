"""What a map has besides roads: its points, and its areas with their holes, by the keys of their tags.

An area is a closed way, or a multipolygon. Maps whose ids are out of order are sorted first, as no
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
    """A point or an area of a map."""

    tags: dict[str, str]  # of the keys that were asked for
    place: tuple[float, float] | None  # longitude and latitude of a point
    outlines: list[list[Ring]]  # of an area: its parts, each an outline and its holes


def read_tagged(
    path: Path, keys: Sequence[str], more: Sequence[str], rows: Callable[[Tagged], list[Row]]
) -> list[Row]:
    """The rows that are made of all points and areas which have one of some keys, in the order of the map.

    more: keys whose tags are told as well. Raises what osmium does for what is no map.
    """
    try:
        return _read(path, keys, more, rows)
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
        return _read(ordered, keys, more, rows)


def _read(
    path: Path, keys: Sequence[str], more: Sequence[str], rows: Callable[[Tagged], list[Row]]
) -> list[Row]:
    import osmium

    filtered = osmium.filter.KeyFilter(*keys)
    all_of = osmium.osm.NODE | osmium.osm.WAY | osmium.osm.RELATION
    things: Any = osmium.FileProcessor(str(path), all_of)
    found: list[Row] = []
    for one in things.with_areas(filtered).with_filter(filtered):
        tags = {key: one.tags[key] for key in (*keys, *more) if key in one.tags}
        if not one.is_node():
            outlines = _outlines(one)
            if outlines:
                found += rows(Tagged(tags, None, outlines))
        elif one.location.valid():
            found += rows(Tagged(tags, (one.location.lon, one.location.lat), []))
    return found


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
    found = [(n.location.lon, n.location.lat) for n in nodes if n.location.valid()]
    return np.array(found[:-1], np.float64).reshape(-1, 2)


def ring_size(ring: Ring) -> float:
    """The area of a ring, in square units of its places.

    >>> ring_size(np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 3.0)]))
    3.0
    """
    x, y = (ring - ring[0]).T
    return 0.5 * abs(float(x @ np.roll(y, -1) - np.roll(x, -1) @ y))
