"""Reading OpenStreetMap files: the ways that are roads, their nodes in metres, turn restrictions.

The file is read by osmium (libosmium: XML, gzip, bzip2, PBF; BSL-1.0), which is imported here only,
from the extra `data`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import ne
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.projecting import local_projection, to_metres
from rushhour.roadnets.geometry.street_lines import Line
from rushhour.roadnets.osm.ways.area import Area, Box
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
# Areas with houses, shops or works on them.
BUILT_UP: Final = {
    "landuse": ("residential", "commercial", "retail", "industrial"),
    "place": ("city", "town", "village", "hamlet", "suburb", "quarter", "neighbourhood", "city_block"),
}  # fmt: skip
NEAR: Final = 0.002  # degrees from the roads' box within which areas count
# Ways that a map has at least, and share of their nodes within the box that all of them reach, for it
# to tell where the map was cut.
FEWEST_WAYS: Final = 100
MOST_WITHIN: Final = 0.8
MOST_NODES: Final = 50_000_000  # of roads; more would not fit an ordinary computer


@dataclass(slots=True)
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
    remarks: Remarks = field(default_factory=Remarks, compare=False)  # of the reader
    middle: tuple[float, float] | None = None  # longitude and latitude
    built_up: list[list[Line]] = field(default_factory=list)  # areas: the lines around each, m
    cut: set[int] = field(default_factory=set)  # nodes at which streets were cut that go on


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
    ways, places, node_tags, restrictions, skipped, built_up, bounds = found
    return map_of(
        path, ways, places, node_tags, restrictions, skipped, area, built_up=built_up, bounds=bounds
    )


def map_of(
    path: Path,
    ways: list[OsmWay],
    places: dict[int, tuple[float, float]],
    node_tags: dict[int, Tags],
    restrictions: list[Restriction],
    skipped: dict[str, int],
    area: Area | None = None,
    degrees: bool = True,
    built_up: Sequence[list[Line]] = (),
    bounds: Box | None = None,
) -> OsmMap:
    """A map of what was read, in metres around its middle. places: of nodes, lon, lat if `degrees`,
    else already metres, of nowhere. area: only what lies within. built_up: areas, lon, lat. bounds:
    out of which it was cut, as the file says.

    Raises NetworkError where nothing is left and for places that are no town's.
    """
    cut = _cut_at_box(ways, places, bounds)
    if area is not None:
        ways, outside = _within(ways, places, area)
        cut |= outside
        if not ways:
            raise NetworkError(f"{path}: no road for cars within the area; see --bbox, --polygon")
    missing = _cut_missing(ways, places, cut)
    lone = sorted({w.id for w in ways if len(w.nodes) < 2} - missing.keys())
    ways = [way for way in ways if len(way.nodes) > 1]
    if not ways:
        raise NetworkError(f"{path}: no road for cars in it; give a map with highway=* ways")
    used = sorted({node for way in ways for node in way.nodes})
    given = np.array([places[node] for node in used])
    projection, middle, areas, xy = "", None, [], given
    if degrees:
        projection, middle = _projection(path, given)
        xy = to_metres(projection, given, str(path))
        areas = _in_metres(path, built_up, given, projection)
    at = dict(zip(used, map(tuple, xy.tolist()), strict=True))
    kept = {node: tags for node, tags in node_tags.items() if node in at}
    name = path.name.split(".")[0]
    return OsmMap(
        name, ways, at, kept, restrictions, projection, skipped, missing, lone, middle=middle,
        built_up=areas, cut=cut & at.keys(),
    )  # fmt: skip


def _projection(path: Path, degrees: NDArray[np.float64]) -> tuple[str, tuple[float, float]]:
    """The projection of a map around its middle, and that in degrees; places (p, 2) lon, lat."""
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
    return local_projection(lon, lat), (lon, lat)


def _in_metres(
    path: Path, built_up: Sequence[list[Line]], degrees: NDArray[np.float64], projection: str
) -> list[list[Line]]:
    """The built-up areas near places (p, 2) lon, lat."""
    box = (*degrees.min(axis=0).tolist(), *degrees.max(axis=0).tolist())
    near = [area for area in built_up if _touches(area, box)]
    lines = [line for area in near for line in area]
    if not lines:
        return []
    metres = iter(
        np.split(
            to_metres(projection, np.concatenate(lines), str(path)),
            np.cumsum([len(line) for line in lines])[:-1],
        )
    )
    areas = [[next(metres) for _ in area] for area in near]
    return [area for area in areas if all(np.isfinite(line).all() for line in area)]


def _touches(area: list[Line], box: Box) -> bool:
    """Whether the box around an area comes near a box, degrees."""
    low = np.min([line.min(axis=0) for line in area], axis=0)
    high = np.max([line.max(axis=0) for line in area], axis=0)
    return bool((low <= np.add(box[2:], NEAR)).all() and (high >= np.subtract(box[:2], NEAR)).all())


def _read(osmium: Any, path: Path, service: str) -> tuple[Any, ...]:
    ways: list[OsmWay] = []
    places: dict[int, tuple[float, float]] = {}
    skipped: dict[str, int] = {}
    node_tags: dict[int, Tags] = {}
    restrictions: list[Restriction] = []
    members: list[list[int]] = []  # ways around each area that is built up
    every = osmium.osm.NODE | osmium.osm.WAY | osmium.osm.RELATION
    things = osmium.FileProcessor(str(path), every).with_locations()
    built_up: list[list[Line]] = []
    areas: list[list[int]] = []  # nodes around those that osmium cannot place all
    keys = osmium.filter.KeyFilter("highway", "barrier", "junction", "type", *BUILT_UP)
    for way in things.with_filter(keys):
        if way.is_node():
            _note_signs(way, node_tags)
            continue
        if way.is_relation():
            _note_relation(way, restrictions, members)
            continue
        tags = dict(way.tags)
        if "highway" not in tags:
            if is_built_up(tags) and len(way.nodes) > 3 and way.is_closed():
                around = _line(way)
                if around is not None:
                    built_up.append([around])
                elif min(node.ref for node in way.nodes) < 0:
                    areas.append(_placed(way, places))
            continue
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
    _place_negative(osmium, path, (way.nodes for way in ways), places)
    _place_negative(osmium, path, areas, places)
    built_up += [[line] for refs in areas for line in _line_of(refs, places)]
    ways.sort(key=lambda way: way.id)
    restrictions.sort(key=lambda r: r.id)
    built_up += _of_relations(osmium, path, members)
    return ways, places, node_tags, restrictions, skipped, built_up, _bounds(things.header.box())


def _bounds(box: Any) -> Box | None:
    """The box out of which a file says that it was cut, degrees."""
    if not box.valid():
        return None
    low, high = box.bottom_left, box.top_right
    return low.lon, low.lat, high.lon, high.lat


def is_built_up(tags: Tags) -> bool:
    """Whether an area is one with houses, shops or works."""
    return any(tags.get(key) in values for key, values in BUILT_UP.items())


def _line(way: Any) -> Line | None:
    """The line of a way in degrees, if osmium has placed all of it."""
    if not all(node.location.valid() for node in way.nodes):
        return None
    return np.array([(node.location.lon, node.location.lat) for node in way.nodes])


def _placed(way: Any, places: dict[int, tuple[float, float]]) -> list[int]:
    """The nodes of a way; keeps the places of those that osmium has placed."""
    for node in way.nodes:
        if node.location.valid():
            places[node.ref] = (node.location.lon, node.location.lat)
    return [node.ref for node in way.nodes]


def _line_of(refs: list[int], places: dict[int, tuple[float, float]]) -> list[Line]:
    """The line over nodes, in degrees, if all of them are placed."""
    return [np.array([places[ref] for ref in refs])] if places.keys() >= set(refs) else []


def _note_signs(node: Any, node_tags: dict[int, Tags]) -> None:
    """Keep what the tags of a node say of junctions."""
    tags = node.tags
    if tags.get("highway") in SIGN_NODES or "barrier" in tags or "junction" in tags:
        node_tags[node.id] = {key: tags[key] for key in NODE_KEYS if key in tags}


def _note_relation(
    relation: Any, restrictions: list[Restriction], members: list[list[int]]
) -> None:
    """Keep a turn restriction, or the ways around an area that is built up."""
    kind = relation.tags.get("type")
    if kind == "restriction":
        roles: dict[str, list[int]] = {}
        for member in relation.members:
            roles.setdefault(member.role + member.type, []).append(member.ref)
        restrictions.append(
            Restriction(
                relation.id, dict(relation.tags), roles.get("fromw", []), roles.get("vian", []),
                roles.get("viaw", []), roles.get("tow", []),
            )
        )  # fmt: skip
    elif kind == "multipolygon" and is_built_up(dict(relation.tags)):
        members.append([member.ref for member in relation.members if member.type == "w"])


def _of_relations(osmium: Any, path: Path, members: list[list[int]]) -> list[list[Line]]:
    """The lines around areas that are relations, of those whose ways are all in the file."""
    wanted_ways = {ref for refs in members for ref in refs}
    if not wanted_ways:
        return []
    found: dict[int, Line] = {}
    places: dict[int, tuple[float, float]] = {}
    left: dict[int, list[int]] = {}  # nodes of ways that osmium cannot place all
    ways = osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY).with_locations()
    ways = ways.with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
    if min(wanted_ways) >= 0:  # osmium's filter takes no negative ids
        ways = ways.with_filter(osmium.filter.IdFilter(wanted_ways))
    for way in ways:
        if way.id not in wanted_ways:
            continue
        line = _line(way)
        if line is not None:
            found[way.id] = line
        else:
            left[way.id] = _placed(way, places)
    _place_negative(osmium, path, left.values(), places)
    for way_id, refs in left.items():
        for line in _line_of(refs, places):
            found[way_id] = line
    return [[found[r] for r in refs] for refs in members if refs and all(r in found for r in refs)]


def _place_negative(
    osmium: Any, path: Path, lines: Iterable[list[int]], places: dict[int, tuple[float, float]]
) -> None:
    """Look up nodes with negative ids (of editors and other sources): osmium's index lacks them."""
    open_nodes = {node for nodes in lines for node in nodes if node < 0 and node not in places}
    if not open_nodes:
        return
    for node in osmium.FileProcessor(str(path), osmium.osm.NODE):
        if node.id in open_nodes and node.location.valid():
            places[node.id] = (node.location.lon, node.location.lat)


def _cut_at_box(
    ways: list[OsmWay], places: dict[int, tuple[float, float]], bounds: Box | None
) -> set[int]:
    """Ends of ways beyond the box out of which a map was cut, with the ways that reach it kept whole.

    Without bounds: beyond the least box that each of the ways reaches, which is all but that, as
    those of its border are short. Of maps that were not cut so, next to nothing lies beyond it.
    """
    lines = [line for way in ways if (line := [places[n] for n in way.nodes if n in places])]
    if not lines:
        return set()
    if bounds is not None:
        low, high = np.array(bounds).reshape(2, 2)
    elif len(lines) < FEWEST_WAYS:
        return set()
    else:
        at = np.array([place for line in lines for place in line])
        start = np.cumsum([0, *(len(line) for line in lines[:-1])])
        low = np.maximum.reduceat(at, start).min(axis=0)
        high = np.minimum.reduceat(at, start).max(axis=0)
        if ((at >= low) & (at <= high)).all(axis=1).mean() < MOST_WITHIN:
            return set()
    (west, south), (east, north) = low.tolist(), high.tolist()
    ends = {node for way in ways for node in (way.nodes[0], way.nodes[-1]) if node in places}
    return {
        node
        for node in ends
        if not (west <= places[node][0] <= east and south <= places[node][1] <= north)
    }


def _within(
    ways: list[OsmWay], places: dict[int, tuple[float, float]], area: Area
) -> tuple[list[OsmWay], set[int]]:
    """The parts of ways within an area, and their nodes outside: of those the next one is kept."""
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
    return kept, {node for way in kept for node in way.nodes} - inside


def _cut_missing(
    ways: list[OsmWay], places: dict[int, tuple[float, float]], cut: set[int]
) -> dict[int, int]:
    """Split ways at nodes that the file lacks (appends the rest as ways); returns them by way.

    Adds the nodes beside those to `cut`.
    """
    missing: dict[int, int] = {}
    rest: list[OsmWay] = []
    for way in ways:
        nodes = way.nodes
        if (
            len(nodes) > 1
            and all(map(places.__contains__, nodes))
            and all(map(ne, nodes, nodes[1:]))
        ):
            continue
        lost = sum(node not in places for node in nodes)
        clean: list[list[int]] = [[]]
        for node in way.nodes:
            if node not in places:
                clean.append([])
            elif not clean[-1] or clean[-1][-1] != node:
                clean[-1].append(node)
        if lost:
            missing[way.id] = lost
            cut.update(
                one
                for pair in pairwise(way.nodes)
                if not places.keys() >= set(pair)
                for one in pair
            )
        pieces = [piece for piece in clean if len(piece) > 1]
        way.nodes = pieces[0] if pieces else []
        rest += [OsmWay(way.id, piece, way.tags) for piece in pieces[1:]]
    ways += rest
    return missing
