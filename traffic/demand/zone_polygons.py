"""Zones of demand as polygons: from GeoJSON or a GeoPackage, laid over a network.

A zone is called by its first column of NAMES. Its intersections and roads are those within; of polygons that
overlap the first counts. Geometry is shapely's (BSD).
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.geometry.libraries import load_pyproj
from rushhour.roadnets.model import Network, Zones
from rushhour.roadnets.nearest import local_metres
from rushhour.roadnets.reading.csv_tables import read_table
from rushhour.roadnets.reading.geopackages import columns, opened, place_of, rows, tables
from rushhour.roadnets.reading.json_files import read_json
from rushhour.roadnets.reading.values import number
from rushhour.traffic.demand.land_use import LandUse
from rushhour.traffic.demand.matrix import ZoneSet
from rushhour.traffic.demand.matrix_files import OUTLINES
from rushhour.traffic.routing.routes import kept_desk

NAMES: Final = ("zone_id", "zone", "taz", "taz_id", "id", "name", "fid")
PEOPLE: Final = ("population", "people", "inhabitants")
LARGEST: Final = 256 << 20  # bytes of a GeoJSON file
MOST_PEOPLE: Final = 1e8
WANTED: Final = f"give polygons with one of the columns {', '.join(NAMES)}"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ZonePolygons:
    """Zones in the metres of a network. people: as the file says, NaN where it does not."""

    path: Path
    ids: tuple[str, ...]
    shapes: NDArray[Any]  # (z,) of shapely
    people: Floats  # (z,)

    def of(self, x: Floats, y: Floats) -> NDArray[np.int64]:
        """The zone in which each place lies, (q,), of several the first; -1 none."""
        import shapely

        found = np.full(x.size, -1, np.int64)
        tree = shapely.STRtree(self.shapes)
        place, zone = tree.query(shapely.points(x, y), predicate="intersects")
        order = np.argsort(-zone, kind="stable")  # the first is written last
        found[place[order]] = zone[order]
        return found


def read_zone_polygons(path: Path, network: Network) -> ZonePolygons:
    """Read zones. Raises DemandError, one line, for what cannot be read, or lies beside the network."""
    try:
        if not path.name.lower().endswith(OUTLINES):
            raise DemandError(f"{path}: not read as zones; give polygons as .geojson or .gpkg")
        import shapely

        found = _geojson(shapely, path) if path.suffix.lower() == ".geojson" else _geopackage(shapely, path)  # fmt: skip
        if not found.rows:
            raise DemandError(f"{path}: no polygon in it; {WANTED}")
        ids, people = _named(path, [tags for tags, _ in found.rows])
        shapes = np.array([shape for _, shape in found.rows], object)
        for name, good in zip(ids, shapely.is_valid(shapes).tolist(), strict=True):
            if not good:
                raise DemandError(
                    f"{path}: zone {name[:60]!r}: its outline crosses itself; mend it"
                )
        shapes = shapely.transform(shapes, lambda xy: _local(path, network, found.system, xy))
    except NetworkError as error:
        raise DemandError(str(error)) from None
    zones = ZonePolygons(path, ids, shapes, people)
    nodes = network.arrays.intersections
    if (zones.of(nodes.x, nodes.y) < 0).all():
        raise DemandError(f"{path}: no intersection of {network.name} lies in any of its zones; give zones of this place")  # fmt: skip
    return zones


@dataclass(frozen=True)
class _Found:
    """Columns and polygon of each zone; the coordinate system, "" the network's own metres."""

    rows: list[tuple[dict[str, str], Any]]
    system: str


def _geojson(shapely: Any, path: Path) -> _Found:
    """Polygons of a FeatureCollection, which are in degrees."""
    whole = read_json(path, LARGEST)
    features = whole.get("features") if isinstance(whole, dict) else None
    if not isinstance(features, list):
        raise DemandError(f"{path}: no FeatureCollection; {WANTED}")
    found = []
    for k, one in enumerate(features, 1):
        shape = one.get("geometry") if isinstance(one, dict) else None
        if not isinstance(shape, dict) or shape.get("type") not in ("Polygon", "MultiPolygon"):
            raise DemandError(f"{path}: feature {k} is no polygon; {WANTED}")
        rings: Any = shape.get("coordinates")
        try:
            parts = rings if shape["type"] == "MultiPolygon" else [rings]
            outlines = [[np.array(ring, np.float64)[:, :2] for ring in part] for part in parts]
            if not all(np.isfinite(ring).all() for part in outlines for ring in part):
                raise ValueError("not finite")
            polygon = shapely.MultiPolygon([(part[0], part[1:]) for part in outlines])
        except (TypeError, ValueError, LookupError, shapely.errors.ShapelyError):
            raise DemandError(f"{path}: feature {k} is no list of places in degrees; {WANTED}") from None  # fmt: skip
        tags = one.get("properties")
        tags = tags if isinstance(tags, dict) else {}
        texts = {str(k): str(v) for k, v in tags.items() if isinstance(v, str | int | float)}
        if isinstance(one.get("id"), str | int):
            texts.setdefault("fid", str(one["id"]))
        found.append((texts, polygon))
    return _Found(found, "EPSG:4326")


def _geopackage(shapely: Any, path: Path) -> _Found:
    """Polygons of the one layer of a GeoPackage that has them."""
    wanted = "give a GeoPackage with one layer of polygons"
    with opened(path, wanted) as base:
        layers = [
            name for name, plain in tables(base).items()
            if plain and not name.startswith(("gpkg_", "sqlite_", "rtree_"))
        ]  # fmt: skip
        if len(layers) != 1:
            said = ", ".join(sorted(layers))[:80] or "none"
            raise DemandError(f"{path}: {len(layers)} layers ({said}); {wanted}")
        shape, system = place_of(base, layers[0], path, wanted)
        found = []
        names = columns(base, layers[0])
        for k, tags, blob in rows(base, layers[0], names, shape, path, wanted):
            try:
                polygon = shapely.from_wkb(blob)
            except shapely.errors.ShapelyError:
                polygon = None
            if polygon is None or polygon.geom_type not in ("Polygon", "MultiPolygon"):
                raise DemandError(f"{path}: {layers[0]} {k} is no polygon; {wanted}")
            found.append((tags, polygon))
    return _Found(found, system)


def _named(path: Path, tags: list[dict[str, str]]) -> tuple[tuple[str, ...], Floats]:
    """Names of zones, and the people that the file says live there."""
    lower = [{name.lower(): value for name, value in one.items()} for one in tags]
    name = next((name for name in NAMES if all(name in one for one in lower)), None)
    if name is None:
        raise DemandError(f"{path}: its zones have no name in common; {WANTED}")
    ids = tuple(one[name] for one in lower)
    doubled = next((a for k, a in enumerate(ids) if a in ids[:k]), None) if len(set(ids)) < len(ids) else None  # fmt: skip
    if doubled is not None:
        raise DemandError(
            f"{path}: two zones are called {doubled[:60]!r} by {name}; name each once"
        )
    column = next((one for one in PEOPLE if any(one in row for row in lower)), "")
    people = np.full(len(ids), np.nan)
    for k, row in enumerate(lower):
        if column in row:
            people[k] = number(
                row[column], f"{path}: zone {ids[k][:60]!r}", column, 0.0, MOST_PEOPLE
            )
    return ids, people


def _local(path: Path, network: Network, system: str, xy: Floats) -> Floats:
    """Places of a coordinate system in the metres of a network."""
    if not system:
        return xy
    lon, lat = xy.T
    if system != "EPSG:4326":
        pyproj = load_pyproj(f"{path}: its coordinates need")
        try:
            change = pyproj.Transformer.from_crs(system, "EPSG:4326", always_xy=True)
        except pyproj.exceptions.ProjError:
            raise DemandError(f"{path}: unknown coordinate system {system[:40]!r}; give degrees") from None  # fmt: skip
        lon, lat = change.transform(lon, lat)
    metres = np.column_stack(local_metres(network, lon, lat))
    if not np.isfinite(metres).all():
        raise DemandError(f"{path}: places that are none on the earth; give longitude before latitude")  # fmt: skip
    return metres


def zone_set(zones: ZonePolygons, network: Network) -> ZoneSet:
    """Zones for a matrix: trips of each start and end at the intersections within, spread over them alike.

    A zone without any has the intersection nearest to a point of its own.
    """
    nodes = network.arrays.intersections
    zone = zones.of(nodes.x, nodes.y)
    lists = [np.flatnonzero(zone == k) for k in range(len(zones.ids))]
    import shapely

    points = shapely.point_on_surface(zones.shapes)
    for k, here in enumerate(lists):
        if not here.size:
            away = np.hypot(nodes.x - points[k].x, nodes.y - points[k].y)
            lists[k] = np.array([int(away.argmin())])
    start = np.concatenate(([0], np.cumsum([here.size for here in lists]))).astype(np.int32)
    pool = np.concatenate(lists).astype(np.int32)
    return ZoneSet(zones.ids, Zones(start, pool, start, pool), zones.path.name)


def people_by_zone(zones: ZonePolygons, table: Path | None) -> Floats:
    """People of each zone, (z,): of a table with the columns zone_id and population, or of the polygons' own.

    Raises DemandError for zones without, and for rows of zones that are not there.
    """
    if table is None:
        missing = np.flatnonzero(np.isnan(zones.people))
        if missing.size:
            raise DemandError(
                f"{zones.path}: zone {zones.ids[int(missing[0])][:60]!r} has no {' or '.join(PEOPLE)} "
                f"({missing.size} such zones); add the column, or give a table as --population with --zones"
            )
        return zones.people
    try:
        held = read_table(table)
        names = held.needed(*NAMES)
        values = held.needed(*PEOPLE)
        people = np.full(len(zones.ids), np.nan)
        place = {name: k for k, name in enumerate(zones.ids)}
        for row, (name, text) in enumerate(zip(names, values, strict=True)):
            where = held.where(row)
            if name not in place:
                raise DemandError(f"{where}: zone {name[:60]!r} is none of {zones.path.name}; correct or remove it")  # fmt: skip
            if not np.isnan(people[place[name]]):
                raise DemandError(f"{where}: zone {name[:60]!r} stands twice; give each once")
            people[place[name]] = number(text, where, "population", 0.0, MOST_PEOPLE)
    except NetworkError as error:
        raise DemandError(str(error)) from None
    missing = np.flatnonzero(np.isnan(people))
    if missing.size:
        raise DemandError(f"{table}: zone {zones.ids[int(missing[0])][:60]!r} is missing ({missing.size} such zones); add it, with 0 if nobody lives there")  # fmt: skip
    return people


def settled(
    network: Network, land: LandUse, zones: ZonePolygons, people: Floats, floor_per_person: float
) -> tuple[LandUse, str]:
    """Land use in which so many live in each zone, and what is to be said of it.

    They live where the floor of homes of their zone is, else at all of its roads by their length; nobody lives beside the zones.
    """
    roads = network.arrays.roads
    graph, _ = kept_desk(network, CLASS_BIT["passenger"])
    x, y = 0.5 * (graph.start_x + graph.end_x), 0.5 * (graph.start_y + graph.end_y)
    zone = np.where(np.isfinite(graph.cost), zones.of(x, y), -1)
    home = np.zeros(network.n_roads)
    nowhere, left_out = [], 0.0
    for k, count in enumerate(people.tolist()):
        mine = np.flatnonzero(zone == k)
        weight = land.floor["home"][mine]
        if not weight.any():
            weight = roads.length[mine]
        if mine.size:
            home[mine] = count * floor_per_person * weight / weight.sum()
        elif count > 0.0:
            nowhere.append(zones.ids[k])
            left_out += count
    said = ""
    if nowhere:
        said = f"{left_out:,.0f} people left out: {len(nowhere)} zones have no road, the first {nowhere[0][:40]}"
    return replace(land, floor={**land.floor, "home": home}), said
