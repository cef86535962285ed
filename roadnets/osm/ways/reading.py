"""Reading OpenStreetMap files: the ways that are roads, their nodes in metres, turn restrictions.

The file is read by osmium (libosmium: XML, gzip, bzip2, PBF; BSL-1.0), which is imported here only,
from the extra `data`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.projecting import local_projection, to_metres
from rushhour.roadnets.osm.ways.area import Area
from rushhour.roadnets.osm.ways.pbf import check_texts
from rushhour.roadnets.osm.ways.tags import Tags, wanted
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.unpacking import check_expansion

NODE_KEYS: Final = (
    "highway", "crossing", "crossing:markings", "barrier", "direction", "traffic_signals", "traffic_signals:direction",
    "stop", "stop:direction", "access", "motor_vehicle", "junction",
)  # fmt: skip
SIGN_NODES: Final = (
    "traffic_signals", "crossing", "stop", "give_way", "mini_roundabout", "turning_circle",
    "turning_loop",
)  # fmt: skip
MOST_NODES: Final = 50_000_000  # of roads; more would not fit an ordinary computer


@dataclass
class OsmWay:
    """A way as the file has it."""

    id: int
    nodes: list[int]
    tags: Tags


@dataclass
class Restriction:
    """A turn restriction: members by role."""

    id: int
    tags: Tags
    sources: list[int]  # ways
    via_nodes: list[int]
    via_ways: list[int]
    targets: list[int]  # ways


@dataclass
class OsmMap:
    """What a file says about roads. xy: node -> metres east and north of the origin."""

    name: str
    ways: list[OsmWay]
    xy: dict[int, tuple[float, float]]
    node_tags: dict[int, Tags]
    restrictions: list[Restriction]
    projection: str
    skipped: dict[str, int] = field(default_factory=dict)  # ways that are no roads, by class
    missing: dict[int, int] = field(default_factory=dict)  # way -> nodes that are not in the file
    lone: list[int] = field(default_factory=list)  # ways with fewer than two nodes
    remarks: Remarks = field(default_factory=Remarks)  # of the reader


def _osmium() -> Any:
    try:
        import osmium
    except ImportError:
        raise NetworkError(
            "OpenStreetMap files need osmium; install it: pip install 'rushhour[data]'"
        ) from None
    return osmium


def read_osm(path: Path, service: str, area: Area | None = None) -> OsmMap:
    """Read a map. service: "no" leaves service ways out. area: only what lies within.

    Raises NetworkError for what is no OpenStreetMap file or has no road.
    """
    osmium = _osmium()
    if not path.name.lower().endswith(".pbf"):
        check_expansion(path)
    try:
        if path.name.lower().endswith(".pbf"):
            check_texts(path)
        found = _read(osmium, path, service)
    except (
        osmium.InvalidLocationError, RuntimeError, ValueError, OSError, MemoryError
    ) as error:  # fmt: skip
        reason = str(error).strip().splitlines()[0][:150] if str(error).strip() else "damaged"
        raise NetworkError(
            f"{path}: not read as OpenStreetMap ({reason}); give a whole .osm, .osm.gz or .osm.pbf"
        ) from None
    ways, places, node_tags, restrictions, skipped = found
    return map_of(path, ways, places, node_tags, restrictions, skipped, area)


def map_of(
    path: Path,
    ways: list[OsmWay],
    places: dict[int, tuple[float, float]],
    node_tags: dict[int, Tags],
    restrictions: list[Restriction],
    skipped: dict[str, int],
    area: Area | None = None,
    degrees: bool = True,
) -> OsmMap:
    """A map of what was read, in metres around its middle. places: of nodes, lon, lat if `degrees`,
    else already metres, of nowhere. area: only what lies within.

    Raises NetworkError where nothing is left and for places that are no town's.
    """
    if area is not None:
        ways = _within(ways, places, area)
        if not ways:
            raise NetworkError(f"{path}: no road for cars within the area; see --bbox, --polygon")
    missing = _cut_missing(ways, places)
    lone = sorted({w.id for w in ways if len(w.nodes) < 2} - missing.keys())
    ways = [way for way in ways if len(way.nodes) > 1]
    if not ways:
        raise NetworkError(f"{path}: no road for cars in it; give a map with highway=* ways")
    used = sorted({node for way in ways for node in way.nodes})
    given = np.array([places[node] for node in used])
    projection, xy = "", given
    if degrees:
        projection = _projection(path, given)
        xy = to_metres(projection, given, str(path))
    at = dict(zip(used, map(tuple, xy.tolist()), strict=True))
    kept = {node: tags for node, tags in node_tags.items() if node in at}
    name = path.name.split(".")[0]
    return OsmMap(name, ways, at, kept, restrictions, projection, skipped, missing, lone)


def _projection(path: Path, degrees: NDArray[np.float64]) -> str:
    """The projection of a map around its middle; places (p, 2) lon, lat."""
    west, south = degrees.min(axis=0)
    east, north = degrees.max(axis=0)
    if not (-180.0 <= west <= east <= 180.0 and -85.0 < south <= north < 85.0):
        raise NetworkError(f"{path}: coordinates beyond 85 degrees north or south; correct them")
    if east - west > 10.0 or north - south > 10.0:
        raise NetworkError(
            f"{path}: {east - west:.0f} by {north - south:.0f} degrees; cut a city out of it with "
            "--bbox WEST,SOUTH,EAST,NORTH"
        )
    lon, lat = round(float(west + east) / 2.0, 4), round(float(south + north) / 2.0, 4)
    return local_projection(lon, lat)


def _read(osmium: Any, path: Path, service: str) -> tuple[Any, ...]:
    ways: list[OsmWay] = []
    places: dict[int, tuple[float, float]] = {}
    skipped: dict[str, int] = {}
    roads = osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY).with_locations()
    only_ways = roads.with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
    for way in only_ways.with_filter(osmium.filter.KeyFilter("highway")):
        tags = dict(way.tags)
        if not wanted(tags, service):
            kind = tags["highway"]
            skipped[kind] = skipped.get(kind, 0) + 1
            continue
        nodes = []
        for node in way.nodes:
            ref = node.ref
            nodes.append(ref)
            if ref not in places:
                location = node.location
                if location.valid():
                    places[ref] = (location.lon, location.lat)
        ways.append(OsmWay(way.id, nodes, tags))
        if len(places) > MOST_NODES:
            raise ValueError(f"more than {MOST_NODES} nodes of roads")
    _place_negative(osmium, path, ways, places)
    node_tags: dict[int, Tags] = {}
    signs = osmium.FileProcessor(str(path), osmium.osm.NODE)
    for node in signs.with_filter(osmium.filter.KeyFilter("highway", "barrier", "junction")):
        tags = node.tags
        if tags.get("highway") in SIGN_NODES or "barrier" in tags or "junction" in tags:
            node_tags[node.id] = {key: tags[key] for key in NODE_KEYS if key in tags}
    restrictions: list[Restriction] = []
    relations = osmium.FileProcessor(str(path), osmium.osm.RELATION)
    for relation in relations.with_filter(osmium.filter.TagFilter(("type", "restriction"))):
        roles: dict[str, list[int]] = {}
        for member in relation.members:
            roles.setdefault(member.role + member.type, []).append(member.ref)
        restrictions.append(
            Restriction(
                relation.id, dict(relation.tags), roles.get("fromw", []), roles.get("vian", []),
                roles.get("viaw", []), roles.get("tow", []),
            )
        )  # fmt: skip
    ways.sort(key=lambda way: way.id)
    restrictions.sort(key=lambda r: r.id)
    return ways, places, node_tags, restrictions, skipped


def _place_negative(
    osmium: Any, path: Path, ways: list[OsmWay], places: dict[int, tuple[float, float]]
) -> None:
    """Look up nodes with negative ids (of editors and other sources): osmium's index lacks them."""
    open_nodes = {node for way in ways for node in way.nodes if node < 0 and node not in places}
    if not open_nodes:
        return
    for node in osmium.FileProcessor(str(path), osmium.osm.NODE):
        if node.id in open_nodes and node.location.valid():
            places[node.id] = (node.location.lon, node.location.lat)


def _within(ways: list[OsmWay], places: dict[int, tuple[float, float]], area: Area) -> list[OsmWay]:
    """The parts of ways within an area: nodes outside count as missing, but for the next one."""
    held = area.holds(np.array(list(places.values())).reshape(-1, 2))
    inside = {node for node, holds in zip(places, held.tolist(), strict=True) if holds}
    kept: list[OsmWay] = []
    for way in ways:
        piece: list[int] = []
        for i, node in enumerate(way.nodes):
            beside = way.nodes[max(0, i - 1) : i + 2]
            if node in inside or any(other in inside for other in beside):
                piece.append(node)
            elif len(piece) > 1:
                kept.append(OsmWay(way.id, piece, way.tags))
                piece = []
        if len(piece) > 1:
            kept.append(OsmWay(way.id, piece, way.tags))
    return kept


def _cut_missing(ways: list[OsmWay], places: dict[int, tuple[float, float]]) -> dict[int, int]:
    """Split ways at nodes that the file lacks (appends the rest as ways); returns them by way."""
    missing: dict[int, int] = {}
    rest: list[OsmWay] = []
    for way in ways:
        lost = sum(node not in places for node in way.nodes)
        clean: list[list[int]] = [[]]
        for node in way.nodes:
            if node not in places:
                clean.append([])
            elif not clean[-1] or clean[-1][-1] != node:
                clean[-1].append(node)
        if lost:
            missing[way.id] = lost
        pieces = [piece for piece in clean if len(piece) > 1]
        way.nodes = pieces[0] if pieces else []
        rest += [OsmWay(way.id, piece, way.tags) for piece in pieces[1:]]
    ways += rest
    return missing
