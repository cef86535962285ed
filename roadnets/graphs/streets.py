"""From a street graph to a map of ways, which the rules for OpenStreetMap then read as any other.

Of a directed graph the edges from u to v and back of one way, on one line, are a street of two
directions; an edge without such a partner is one-way. In an undirected one (`ox.save_graph_geopackage`
writes it unless told otherwise) `oneway`, `from` and `to` say which way an edge is open.
Sources: osmnx's documentation (docs: osmnx.convert, osmnx.io, osmnx.simplification).
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.projecting import to_degrees
from rushhour.roadnets.geometry.street_lines import line_length
from rushhour.roadnets.graphs.geopackage import read_geopackage
from rushhour.roadnets.graphs.graphml import read_graphml
from rushhour.roadnets.graphs.records import Edge, Graph, values_of
from rushhour.roadnets.graphs.tables import is_graph_folder, read_tables
from rushhour.roadnets.osm.ways.area import Area
from rushhour.roadnets.osm.ways.reading import NODE_KEYS, OsmMap, OsmWay, map_of
from rushhour.roadnets.osm.ways.speeds import read_speed
from rushhour.roadnets.osm.ways.tags import ACCESS_KEYS, CLASSES, CLOSED, Tags, wanted

NO_TAGS: Final = (
    "osmid", "length", "reversed", "key", "from", "to", "u", "v", "id", "oneway", "speed_kph", "travel_time",
    "crs", "u_original", "v_original", "original_edge_id", "bearing", "grade", "grade_abs",
)  # fmt: skip
BY_DIRECTION: Final = ("lanes", "maxspeed", "turn:lanes")  # may differ between the two edges
SAME_LINE: Final = 1.0  # m between the lines of two edges that are one street
DEGREE: Final = 111_319.49  # m
LARGEST_ID: Final = 1 << 59  # of a node or a way; others are numbered
_WHOLE: Final = re.compile(r"(-?\d{1,18})(?:\.0*)?")
_FLOAT_LANES: Final = re.compile(r"(\d{1,2})\.0*")


@dataclass
class _Street:
    """What becomes a way: a line of points with the node at either end."""

    start: str
    end: str
    line: NDArray[np.float64]
    tags: Tags
    ids: tuple[int, ...]  # of the ways it was made of


def read_graph_map(path: Path, service: str, area: Area | None = None) -> OsmMap:
    """Read a graph as a map. service, area: as of osm.ways.reading.read_osm.

    Raises NetworkError for what cannot be read, for undirected graphs that do not say which way
    their edges are open, and for graphs without a road.
    """
    if is_graph_folder(path):
        graph = read_tables(path if path.is_dir() else path.parent)
    else:
        graph = read_geopackage(path) if path.suffix.lower() == ".gpkg" else read_graphml(path)
    degrees = _place(graph)
    if area is not None and not degrees:
        raise NetworkError(
            f"{path}: has no coordinate system, so no degrees; --bbox and --polygon need one"
        )
    streets, notes = _streets(graph, degrees)
    skipped: Counter[str] = Counter()
    nodes = _numbers(list(graph.nodes), notes)
    inner = min(0, *nodes.values())
    places = {nodes[name]: (node.x, node.y) for name, node in graph.nodes.items()}
    ways: list[OsmWay] = []
    for number, street in enumerate(streets, 1):
        if not wanted(street.tags, service):
            skipped[street.tags["highway"]] += 1
            continue
        between = range(inner - 1, inner - len(street.line) + 1, -1)
        inner -= len(between)
        places.update(zip(between, map(tuple, street.line[1:-1].tolist()), strict=True))
        ends = nodes[street.start], nodes[street.end]
        way = street.ids[0] if street.ids else number
        ways.append(OsmWay(way, [ends[0], *between, ends[1]], street.tags))
    if streets and not any(street.ids for street in streets):
        notes["edges without osmid, ways numbered in their order"] += len(streets)
    ways.sort(key=lambda way: way.id)
    tags: dict[int, Tags] = {}
    for name, node in graph.nodes.items():
        found = {str(key): node.tags[key] for key in NODE_KEYS if key in node.tags}
        if found:
            tags[nodes[name]] = found
    osm = map_of(path, ways, places, tags, [], dict(skipped), area, degrees)
    two_way = sum(street.tags["oneway"] == "no" for street in streets)
    osm.remarks.add(
        f"graph of {len(graph.nodes)} nodes and {len(graph.edges)} edges, "
        f"{_length(graph, degrees):.2f} km; streets of two directions {two_way}, of one",
        count=len(streets) - two_way,
    )
    for text, count in notes.items():
        osm.remarks.add(text, count=count)
    return osm


def _place(graph: Graph) -> bool:
    """Bring all coordinates to degrees, as far as is said what they are; whether that was done."""
    every = np.array([(node.x, node.y) for node in graph.nodes.values()])
    reach = np.abs(every).max(axis=0)
    if not graph.crs:
        return bool(reach[0] <= 180.0 and reach[1] <= 90.0 and np.ptp(every, axis=0).max() < 10.0)
    lines = [edge.line for edge in graph.edges]
    cuts = np.cumsum([len(every), *map(len, lines)])[:-1]
    moved = to_degrees(graph.crs, np.concatenate([every, *lines]), str(graph.path))
    parts = np.split(moved, cuts)
    for node, (x, y) in zip(graph.nodes.values(), parts[0].tolist(), strict=True):
        node.x, node.y = x, y
    for edge, part in zip(graph.edges, parts[1:], strict=True):
        edge.line = part
    return True


def _numbers(names: list[str], notes: Counter[str]) -> dict[str, int]:
    """Whole numbers for the ids of nodes: themselves, or their place where one is no such number."""
    found = {name: _id(name) for name in names}
    numbers = [number for number in found.values() if number is not None]
    if len(set(numbers)) < len(names):
        notes["nodes numbered in their order, as their ids are no whole numbers"] += len(names)
        return {name: place for place, name in enumerate(names, 1)}
    return {name: number for name, number in found.items() if number is not None}


def _id(text: str) -> int | None:
    """A whole number that can be an id."""
    found = _WHOLE.fullmatch(text)
    number = int(found[1]) if found else LARGEST_ID
    return number if abs(number) < LARGEST_ID else None


def _length(graph: Graph, degrees: bool) -> float:
    """Length of all edges, km: as they say it, else as they are drawn."""
    total = 0.0
    for edge in graph.edges:
        try:
            total += float(edge.tags.get("length", ""))
        except ValueError:
            total += line_length(_flat(edge.line) if degrees else edge.line)
    return total / 1000.0


def _flat(line: NDArray[np.float64]) -> NDArray[np.float64]:
    """A line in degrees as metres, near enough to compare."""
    flat: NDArray[np.float64] = line * DEGREE
    flat[:, 0] *= np.cos(np.radians(line[0, 1]))
    return flat


# --- edges to streets -------------------------------------------------------------------------


def _streets(graph: Graph, degrees: bool) -> tuple[list[_Street], Counter[str]]:
    """The streets of a graph in the order of their first edges, and what is to be remarked."""
    notes: Counter[str] = Counter()
    undirected = not graph.directed or all("from" in edge.tags for edge in graph.edges)
    if undirected:
        _check_undirected(graph)
        return [_undirected(edge, notes) for edge in graph.edges], notes
    between: dict[frozenset[str], list[int]] = {}
    for i, edge in enumerate(graph.edges):
        between.setdefault(frozenset((edge.start, edge.end)), []).append(i)
    partner: dict[int, int] = {}
    for around in between.values():
        for i in around:
            if i not in partner:
                j = _partner(graph.edges, i, [k for k in around if k not in partner], degrees)
                if j is not None:
                    partner[i], partner[j] = j, i
    found = []
    for i, edge in enumerate(graph.edges):
        if i not in partner:
            found.append(_one_way(edge, notes))
        elif i < partner[i]:
            found.append(_two_way(edge, graph.edges[partner[i]], notes))
    return found, notes


def _check_undirected(graph: Graph) -> None:
    """Raise NetworkError for edges that do not say which way they are open."""
    for edge in graph.edges:
        said = "oneway" in edge.tags
        if not said or (_flag(edge.tags["oneway"]) and not {"from", "to"} <= edge.tags.keys()):
            lacks = "oneway" if not said else "from and to"
            raise NetworkError(
                f"{edge.where}: the graph is undirected and its edge has no {lacks}, so nobody knows "
                "which way it is open; save the directed graph (before ox.convert.to_undirected)"
            )


def _partner(edges: list[Edge], i: int, among: list[int], degrees: bool) -> int | None:
    """The edge that leads back along the same street as an edge; None where it is one-way."""
    edge = edges[i]
    if _flag(edge.tags.get("oneway", "")):
        return None
    back = [
        j for j in among
        if j != i and (edges[j].start, edges[j].end) == (edge.end, edge.start)
        and not _flag(edges[j].tags.get("oneway", ""))
        and set(values_of(edges[j].tags.get("osmid", "")))
        == set(values_of(edge.tags.get("osmid", "")))
    ]  # fmt: skip
    ahead = edge.line[::-1]
    for j in back:
        line = edges[j].line
        if len(line) == len(ahead):
            off = _flat(line) - _flat(ahead) if degrees else line - ahead
            if np.hypot(*off.T).max() < SAME_LINE:
                return j
    alone = len(among) == 2 and edge.start != edge.end
    return back[0] if len(back) == 1 and alone and "osmid" in edge.tags else None


def _flag(text: str) -> bool:
    """Whether `oneway` or `reversed` says yes (of every part of the edge)."""
    values = values_of(text.lower())
    return bool(values) and all(
        value in ("true", "1", "1.0", "yes", "-1", "t", "reverse", "reversed") for value in values
    )


def _undirected(edge: Edge, notes: Counter[str]) -> _Street:
    """The street of an edge that stands for both directions."""
    said = edge.tags["oneway"].strip().lower()
    line, start, end = edge.line, edge.start, edge.end
    turn = edge.tags.get("from", start) != start
    if _flag(said):
        turn ^= said in ("-1", "reverse", "reversed")
    else:
        turn ^= _flag(edge.tags.get("reversed", ""))
    if turn:
        line, start, end = line[::-1], end, start
    tags = _tags_of(edge, notes)
    tags["oneway"] = "yes" if _flag(said) else "no"
    return _Street(start, end, line, tags, _ids(edge))


def _one_way(edge: Edge, notes: Counter[str]) -> _Street:
    """The street of an edge without a partner."""
    tags = _tags_of(edge, notes)
    street = _Street(edge.start, edge.end, edge.line, tags, _ids(edge))
    if "oneway" not in edge.tags or _flag(edge.tags["oneway"]):
        tags["oneway"] = "yes"
        return street
    # Its lanes count for both directions; the way back is not in the graph.
    tags["oneway"] = "no"
    against = _flag(edge.tags.get("reversed", ""))
    tags["motor_vehicle:" + ("forward" if against else "backward")] = "no"
    notes["edges that say oneway=False without the edge back, taken as one-way"] += 1
    if against:
        street.start, street.end, street.line = edge.end, edge.start, edge.line[::-1]
    return street


def _two_way(first: Edge, second: Edge, notes: Counter[str]) -> _Street:
    """The street of two edges, in the direction of its way."""
    if _flag(first.tags.get("reversed", "")) and not _flag(second.tags.get("reversed", "")):
        first, second = second, first
    tags, other = _tags_of(first, notes), _tags_of(second, Counter())
    own = "oneway" not in first.tags  # then an edge's lanes are those of its direction
    for key in BY_DIRECTION:
        if tags.get(key) != other.get(key) or (own and key == "lanes" and key in tags):
            for name, said in (("forward", tags.pop(key, "")), ("backward", other.get(key, ""))):
                if said:
                    tags[f"{key}:{name}"] = said
    tags["oneway"] = "no"
    return _Street(first.start, first.end, first.line, tags, _ids(first))


def _ids(edge: Edge) -> tuple[int, ...]:
    """The ids of the ways that an edge was made of."""
    return tuple(n for text in values_of(edge.tags.get("osmid", "")) if (n := _id(text)))


# --- attributes to tags -----------------------------------------------------------------------


def _tags_of(edge: Edge, notes: Counter[str]) -> Tags:
    """The tags of an edge. Of several values, which come in no order, those that hold on all of it:
    the highest class, the fewest lanes, the lowest limit, the narrowest, the most closed."""
    tags: Tags = {}
    several = False
    for key, text in edge.tags.items():
        if key in NO_TAGS:
            continue
        values = values_of(text)
        if not values:
            continue
        several |= len(values) > 1
        tags[key] = values[0] if len(values) == 1 else _common(key, values)
    if several:
        notes["edges of ways that differ: highest class, fewest lanes, lowest limit taken"] += 1
    for key in [key for key in tags if key.partition(":")[0] == "lanes"]:
        found = _FLOAT_LANES.fullmatch(tags[key])
        tags[key] = found[1] if found else tags[key]
    if len(set(values_of(edge.tags.get("reversed", "").lower()))) > 1:
        sided = [key for key in tags if {"forward", "backward"} & set(key.split(":"))]
        for key in sided:
            del tags[key]
        if sided:
            notes["tags by direction of edges whose ways run both ways, not used"] += 1
    if "highway" not in tags:
        tags["highway"] = "road"
        notes["edges without highway, taken as roads of no class"] += 1
    if "maxspeed" not in tags and "speed_kph" in edge.tags:
        tags["maxspeed"] = edge.tags["speed_kph"][:10]
        notes["edges without maxspeed, their speed_kph taken"] += 1
    return tags


def _common(key: str, values: list[str]) -> str:
    """What holds on the whole of an edge of several ways."""
    base = key.partition(":")[0]
    if base == "highway":
        shut = [value for value in values if value.partition(";")[0] not in CLASSES]
        return shut[0] if shut else max(values, key=lambda value: CLASSES[value].rank)
    if base in ("lanes", "width", "est_width"):
        numbers = {value: _first_number(value) for value in values}
        return min(values, key=lambda value: numbers[value])
    if base == "maxspeed":
        read = {value: read_speed(value) for value in values}
        told = {value: speed for value, speed in read.items() if speed is not None}
        return min(told, key=lambda value: told[value]) if told else values[0]
    if base in ACCESS_KEYS:
        return next((value for value in values if value in CLOSED), values[0])
    if base == "junction":
        return next((v for v in values if v in ("roundabout", "circular")), values[0])
    if base in ("bridge", "tunnel"):
        return next((value for value in values if value != "no"), values[0])
    return values[0]


def _first_number(text: str) -> float:
    found = re.match(r"\d{1,4}(?:\.\d{1,4})?", text)
    return float(found[0]) if found else float("inf")
