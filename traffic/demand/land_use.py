"""What a map tells of where people live, work, learn, shop and spend their time: by road, from OpenStreetMap.

Buildings count by their floor area (footprint times levels), areas of land use by a share of theirs where no
building stands for them, single shops and amenities by a floor area of their kind. Each goes to the nearest road;
one of much floor has an entrance for every PART of it, evenly along its outline, and goes to the roads nearest to them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_metres, road_finder
from rushhour.roadnets.osm.tagged import Tagged, read_tagged, ring_size

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
PART: Final = 5000.0  # m2 of floor for each entrance: some 100 people who live there, 30 cars that come in an hour
MOST_ENTRANCES: Final = 64
FAR: Final = 250.0  # m from its road, beyond which what an entrance is for is left out
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
        found = read_tagged(path, KEYS, ("building:levels",), _rows)
    except (osmium.InvalidLocationError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:150] or "damaged"
        raise DemandError(
            f"{path}: not read as OpenStreetMap ({reason}); give a whole map"
        ) from None
    if not found:
        raise DemandError(
            f"{path}: has no buildings, land use, shops or amenities; give a map with them"
        )
    places, kinds, floor, size, sort = zip(*found, strict=True)
    lon, lat = np.concatenate(places).T
    try:
        x, y = local_metres(network, lon, lat)
    except NetworkError as error:
        raise DemandError(str(error)) from None
    middle = np.array([one[:, 1].mean() for one in places])
    area = np.maximum(np.array(size), 0.0) * square_degree(middle)
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
    if (road < 0).all():
        raise DemandError(
            f"{path}: nothing that it draws lies within {FAR:g} m of a road of {network.name}; give the network "
            "that was imported from it"
        )
    many = np.array([len(one) for one in places])
    owner = np.repeat(np.arange(len(places)), many)
    part = (floors / many)[owner]
    by_road = {}
    for kind in KINDS:
        mine = (np.array(kinds) == kind)[owner] & (road >= 0) & (part > 0.0)
        by_road[kind] = np.bincount(road[mine], part[mine], network.n_roads).astype(np.float64)
    counts = [int((sorts == name).sum()) for name in ("building", "point", "area")]
    return LandUse(by_road, *counts)


Row = tuple[Floats, str, float, float, str]


def _rows(one: Tagged) -> list[Row]:
    """Entrances, kind, floor a m2 (of points: m2), footprint in square degrees, sort of each."""
    tags = one.tags
    kind, use = kind_of(tags)
    if one.place:
        if not kind or "building" in tags:
            return []
        return [(np.array([one.place]), kind, SINGLE.get(use, FLOOR), 0.0, "point")]
    found: list[Row] = []
    for outer, *holes in one.outlines:
        size = ring_size(outer) - sum(map(ring_size, holes))
        if size <= 0.0:
            continue
        if "building" in tags and kind:
            what = kind, levels_of(tags), size, "building"
        elif tags.get("landuse") in LAND:
            what = *LAND[tags["landuse"]], size, "area"
        elif use in SCHOOLS:
            what = "school", 0.3, size, "point"
        else:
            continue
        floor = what[1] * size * float(square_degree(outer[:, 1].mean()))
        found.append((entrances(outer, floor), *what))
    return found


def entrances(ring: Floats, floor: float) -> Floats:
    """Where one goes in, (k, 2): evenly along an outline, one for every PART m2 of floor; its middle where one will do."""
    k = min(MOST_ENTRANCES, 1 + int(floor / PART))
    if k == 1:
        return np.asarray(ring.mean(axis=0)[None])
    closed = np.concatenate((ring, ring[:1]))
    step = np.diff(closed, axis=0) * [np.cos(np.radians(closed[0, 1])), 1.0]
    run = np.concatenate(([0.0], np.cumsum(np.hypot(*step.T))))
    at = (np.arange(k) + 0.5) / k * run[-1]
    return np.column_stack([np.interp(at, run, closed[:, axis]) for axis in (0, 1)])


def square_degree(lat: Any) -> Any:
    """m2 of a square degree at latitudes."""
    return np.cos(np.radians(lat)) * 111_320.0**2


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
