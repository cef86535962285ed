"""Buildings, water and green of a map: with fewer corners, the largest first where there are very many."""

from pathlib import Path
from typing import Final

import numpy as np

from rushhour.roadnets.geometry.projecting import to_metres
from rushhour.roadnets.osm.tagged import Ring, Tagged, read_tagged, ring_size
from rushhour.roadnets.surroundings import BUILDING, GREEN, KINDS, WATER, Area

KEYS: Final = ("building", "natural", "waterway", "landuse", "leisure")
# What a value of a key is drawn as; buildings have values of any kind.
DRAWN: Final[dict[tuple[str, str], int]] = {
    **{("natural", v): WATER for v in ("water", "bay")},
    **{("waterway", v): WATER for v in ("riverbank", "dock")},
    **{("landuse", v): WATER for v in ("reservoir", "basin")},
    **{("natural", v): GREEN for v in ("wood", "scrub", "grassland", "heath")},
    **{("landuse", v): GREEN for v in ("forest", "grass", "meadow", "recreation_ground", "village_green", "cemetery", "allotments", "orchard", "vineyard")},
    **{("leisure", v): GREEN for v in ("park", "garden", "golf_course", "pitch", "common")},
}  # fmt: skip
SMALLEST: Final = (150.0, 60.0, 20.0)  # m2, of each of KINDS
LARGEST_BUILDING: Final = (
    1e6  # m2; the largest there is covers 0.8 km2, what is larger is a quarter that was tagged so
)
WIDTHS: Final = {"river": 15.0, "canal": 10.0}  # m, of lines that do not tell theirs
COARSE: Final = (1.0, 1.0, 0.3)  # m that a corner may lie off the outline without it
AROUND: Final = 250.0  # m around the roads
MOST: Final = 400_000  # places; some 4 MB of a file


def read_areas(
    path: Path, projection: str, box: tuple[float, float, float, float]
) -> tuple[list[Area], str]:
    """The areas that meet a box around roads, m, of an OpenStreetMap file, and what is to be said of them."""
    try:
        import mapbox_earcut
    except ImportError:
        return (
            [],
            "buildings, water and green left out; pip install 'rushhour[data]' (mapbox_earcut)",
        )
    drawn = read_tagged(path, KEYS, ("width", "tunnel"), _rows, lines="waterway")
    if not drawn:
        return [], ""
    rings = [ring for _, outline, _ in drawn for ring in outline]
    metres = to_metres(projection, np.concatenate(rings), str(path))
    parts = np.split(metres, np.cumsum([len(ring) for ring in rings])[:-1])
    low, high = np.array(box[:2]) - AROUND, np.array(box[2:]) + AROUND
    found: list[tuple[float, int, list[Ring]]] = []
    at = quarters = 0
    for kind, outline, width in drawn:
        mine = parts[at : at + len(outline)]
        at += len(outline)
        if width > 0.0:
            mine = [_banks(mine[0], width)]
        outer = mine[0]
        size = ring_size(outer)
        if not np.isfinite(outer).all() or size < SMALLEST[kind]:
            continue
        if (outer.max(axis=0) < low).any() or (outer.min(axis=0) > high).any():
            continue
        if kind == BUILDING and size > LARGEST_BUILDING:
            quarters += 1
            continue
        thin = [thinned(ring, COARSE[kind]) for ring in mine if ring_size(ring) >= SMALLEST[kind]]
        found.append((size, kind, [ring for ring in thin if len(ring) >= 3]))
    found.sort(key=lambda one: -one[0])
    count = np.cumsum([sum(len(ring) for ring in rings) for _, _, rings in found])
    kept = int(np.searchsorted(count, MOST, side="right"))
    areas = []
    for _, kind, outline in found[:kept]:
        if outline:
            ends = np.cumsum([len(ring) for ring in outline]).astype(np.uint32)
            corner = mapbox_earcut.triangulate_float64(np.concatenate(outline), ends)
            areas.append(Area(kind, tuple(outline), corner.astype(np.int64)))
    areas.sort(key=lambda area: area.kind)
    return areas, _said(areas, len(found) - kept, quarters)


def _said(areas: list[Area], more: int, quarters: int) -> str:
    count = [sum(area.kind == kind for area in areas) for kind in range(len(KINDS))]
    told = f"drawn around the roads: {count[BUILDING]:,} buildings, {count[WATER]:,} of water, {count[GREEN]:,} green"
    told += f"; the {more:,} smallest were left out" if more else ""
    told += f"; {quarters:,} larger than any building left out" if quarters else ""
    return told if areas or quarters else ""


def _rows(one: Tagged) -> list[tuple[int, list[Ring], float]]:
    """The kind of an area, and its outline and holes, lon, lat, of each of its parts; of a river its line and width, m."""
    if one.line is not None:
        width = _width(one.tags)
        return [(WATER, [one.line], width)] if width > 0.0 and len(one.line) > 1 else []
    kind = drawn_as(one.tags)
    return [(kind, part, 0.0) for part in one.outlines] if kind >= 0 else []


def _width(tags: dict[str, str]) -> float:
    """How wide a line of water is, m; 0: it is not to be seen."""
    usual = WIDTHS.get(tags.get("waterway", ""), 0.0)
    if tags.get("tunnel", "no") != "no" or usual == 0.0:
        return 0.0
    try:
        told = float(tags.get("width", "").removesuffix("m"))
    except ValueError:
        return usual
    return told if 0.5 <= told <= 2000.0 else usual


def _banks(line: Ring, width: float) -> Ring:
    """The outline of a line, m, that is so wide."""
    line = line[np.append(True, (np.diff(line, axis=0) != 0.0).any(axis=1))]
    if len(line) < 2:
        return line
    step = np.gradient(line, axis=0)
    step /= np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
    side = 0.5 * width * np.column_stack((-step[:, 1], step[:, 0]))
    return np.concatenate((line + side, (line - side)[::-1]))


def drawn_as(tags: dict[str, str]) -> int:
    """Which of KINDS something is drawn as; -1: as nothing.

    >>> drawn_as({"landuse": "forest"}), drawn_as({"building": "no", "natural": "tree"})
    (0, -1)
    """
    if tags.get("building", "no") not in ("no", "roof", "carport"):
        return BUILDING
    return max((DRAWN.get(one, -1) for one in tags.items()), default=-1)


def thinned(ring: Ring, most: float) -> Ring:
    """A ring without the corners that lie no farther than so many m beside what is left (Douglas and Peucker 1973)."""
    n = len(ring)
    if n <= 4:
        return ring
    far = int(np.argmax(((ring - ring[0]) ** 2).sum(axis=1)))
    closed = np.concatenate((ring, ring[:1]))
    kept = np.zeros(n + 1, bool)
    kept[[0, far, n]] = True
    waiting = [(0, far), (far, n)]
    while waiting:
        a, b = waiting.pop()
        if b - a < 2:
            continue
        line, step = closed[a + 1 : b] - closed[a], closed[b] - closed[a]
        off = np.abs(line[:, 0] * step[1] - line[:, 1] * step[0]) / max(np.hypot(*step), 1e-9)
        worst = int(np.argmax(off))
        if off[worst] > most:
            kept[a + 1 + worst] = True
            waiting += [(a, a + 1 + worst), (a + 1 + worst, b)]
    return ring[kept[:n]]
