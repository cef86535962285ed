"""What a map tells of where people live, work, learn, shop and spend their time: by road, from OpenStreetMap.

Buildings count by their floor area (footprint times levels), areas of land use by a share of theirs where no
building stands for them, single shops and amenities by a floor area of their kind. Each goes to the nearest road.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_metres, road_finder

Floats = NDArray[np.float64]

KINDS: Final = ("home", "work", "school", "shop", "leisure")
LEVELS: Final = {"apartments": 4.0, "office": 4.0, "hotel": 4.0, "hospital": 4.0, "house": 2.0, "residential": 2.0, "detached": 1.5}  # fmt: skip
HOMES: Final = ("yes", "house", "residential", "apartments", "detached", "terrace", "semidetached_house", "dormitory", "bungalow", "farm")  # fmt: skip
WORKS: Final = ("office", "commercial", "industrial", "warehouse", "manufacture", "hospital", "public", "civic", "government")  # fmt: skip
SCHOOLS: Final = ("school", "kindergarten", "university", "college")
SHOPS: Final = ("retail", "supermarket", "shop", "kiosk")
LEISURES: Final = ("hotel", "church", "stadium", "sports_hall", "restaurant", "cinema", "theatre", "cafe", "bar", "pub", "fast_food", "library", "sports_centre", "community_centre")  # fmt: skip
# m2 of floor for each m2 of land where no building is drawn: of our own choosing, for suburbs.
LAND: Final = {"residential": ("home", 0.25), "commercial": ("work", 0.4), "industrial": ("work", 0.2), "retail": ("shop", 0.3)}  # fmt: skip
SINGLE: Final = {"school": 3000.0, "university": 10_000.0, "college": 5000.0, "kindergarten": 600.0}
FLOOR: Final = 150.0  # m2 of a shop or another place that is a point
LARGEST: Final = 500_000.0  # m2 of floor of one building
FAR: Final = 250.0  # m from its road, beyond which a building is left out
KEYS: Final = ("building", "landuse", "amenity", "shop", "office", "leisure", "tourism")


@dataclass(frozen=True)
class LandUse:
    """Floor area by road, (n_roads,) m2, of each of KINDS; how many things of the map it comes from."""

    floor: dict[str, Floats]
    buildings: int
    points: int
    areas: int

    @property
    def total(self) -> dict[str, float]:
        """Floor area of each kind, m2."""
        return {kind: float(values.sum()) for kind, values in self.floor.items()}


def read_land_use(path: Path, network: Network) -> LandUse:
    """Read floor areas from a map. Raises DemandError for what is no OpenStreetMap file, or tells nothing."""
    try:
        import osmium
    except ImportError:
        raise DemandError("OpenStreetMap files need osmium; pip install 'rushhour[data]'") from None
    try:
        found = _in_order(osmium, path)
    except (osmium.InvalidLocationError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:150] or "damaged"
        raise DemandError(
            f"{path}: not read as OpenStreetMap ({reason}); give a whole map"
        ) from None
    lon, lat, kinds, floor, size, sort = found
    if not len(lon):
        raise DemandError(
            f"{path}: has no buildings, land use, shops or amenities; give a map with them"
        )
    try:
        x, y = local_metres(network, np.array(lon), np.array(lat))
    except NetworkError as error:
        raise DemandError(str(error)) from None
    metres = np.cos(np.radians(np.array(lat))) * (111_320.0**2)  # m2 of a square degree
    area = np.where(np.array(size) > 0.0, np.array(size) * metres, 0.0)
    floors = np.minimum(np.where(area > 0.0, area, 1.0) * np.array(floor), LARGEST)
    sorts = np.array(sort)
    covered = float(floors[sorts == "building"].sum())
    land = sorts == "area"
    if covered > 0.2 * float(
        floors[land].sum()
    ):  # buildings are drawn: land use would count them twice
        floors = np.where(land, 0.0, floors)
    near = road_finder(network, CLASS_BIT["passenger"]).nearest(x, y, FAR)
    road = np.where(near.lane >= 0, network.arrays.lanes.road[near.lane], -1)
    by_road = {}
    for kind in KINDS:
        mine = (np.array(kinds) == kind) & (road >= 0) & (floors > 0.0)
        by_road[kind] = np.bincount(road[mine], floors[mine], network.n_roads).astype(np.float64)
    counts = [int((sorts == name).sum()) for name in ("building", "point", "area")]
    return LandUse(by_road, *counts)


def _in_order(osmium: Any, path: Path) -> tuple[list[Any], ...]:
    """What `_read` finds; a map whose ids are out of order, of which no areas can be made, is sorted first."""
    try:
        return _read(osmium, path)
    except RuntimeError as error:
        if "out of order" not in str(error):
            raise
    with TemporaryDirectory() as folder:
        ordered = Path(folder) / "map.osm.pbf"
        source, target = osmium.MergeInputReader(), osmium.SimpleWriter(str(ordered))
        source.add_file(str(path))
        source.apply(target, simplify=True)
        target.close()
        return _read(osmium, ordered)


def _read(osmium: Any, path: Path) -> tuple[list[Any], ...]:
    """Longitude, latitude, kind, floor a m2 (of points: m2), footprint in square degrees, sort of each."""
    rows: tuple[list[Any], ...] = ([], [], [], [], [], [])

    def add(*row: Any) -> None:
        for column, value in zip(rows, row, strict=True):
            column.append(value)

    filtered = osmium.filter.KeyFilter(*KEYS)
    things = osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY | osmium.osm.RELATION)
    for one in things.with_areas(filtered).with_filter(filtered):
        tags = {key: one.tags[key] for key in (*KEYS, "building:levels") if key in one.tags}
        if one.is_node():
            kind, use = kind_of(tags)
            if kind and "building" not in tags and one.location.valid():
                add(one.location.lon, one.location.lat, kind, SINGLE.get(use, FLOOR), 0.0, "point")
            continue
        for line, holes in _outlines(one):
            size = _area(line - line[0]) - sum(_area(hole - hole[0]) for hole in holes)
            lon, lat = line[:-1].mean(axis=0)
            kind, use = kind_of(tags)
            if size <= 0.0:
                continue
            if "building" in tags and kind:
                add(lon, lat, kind, levels_of(tags), size, "building")
            elif tags.get("landuse") in LAND:
                kind, share = LAND[tags["landuse"]]
                add(lon, lat, kind, share, size, "area")
            elif use in SCHOOLS:
                add(lon, lat, "school", 0.3, size, "point")
    return rows


def _outlines(one: Any) -> list[tuple[Floats, list[Floats]]]:
    """Outlines and their holes, (k, 2) degrees, closed: of a closed way, and of the rings of a multipolygon.

    The area that osmium makes of a closed way is left out: the way itself stands for it.
    """
    if one.is_way():
        line = _places_of(one.nodes)
        return [(line, [])] if one.is_closed() and len(line) >= 4 else []
    if not one.is_area() or one.from_way():
        return []
    return [
        (line, [_places_of(hole) for hole in one.inner_rings(ring)])
        for ring in one.outer_rings()
        if len(line := _places_of(ring)) >= 4
    ]


def _places_of(nodes: Any) -> Floats:
    found = [(n.location.lon, n.location.lat) for n in nodes if n.location.valid()]
    return np.array(found, np.float64).reshape(-1, 2)


def kind_of(tags: dict[str, str]) -> tuple[str, str]:
    """Which of KINDS a building or a point is, and its use; "" for none.

    >>> kind_of({"building": "yes", "shop": "bakery"})
    ('shop', 'bakery')
    """
    amenity, building = tags.get("amenity", ""), tags.get("building", "")
    if amenity in SCHOOLS or building in SCHOOLS:
        return "school", amenity or building
    if "shop" in tags or building in SHOPS:
        return "shop", tags.get("shop", building)
    if "office" in tags or building in WORKS:
        return "work", tags.get("office", building)
    if amenity in LEISURES or building in LEISURES or "leisure" in tags or "tourism" in tags:
        return "leisure", amenity or building
    if building in HOMES:
        return "home", building
    return "", ""


def levels_of(tags: dict[str, str]) -> float:
    """Levels of a building, said or by its kind."""
    try:
        said = float(tags.get("building:levels", ""))
    except ValueError:
        said = 0.0
    return said if 0.5 <= said <= 200.0 else LEVELS.get(tags.get("building", ""), 1.5)


def _area(line: Floats) -> float:
    """Of a closed line, square units."""
    x, y = line.T
    return 0.5 * abs(float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum()))
