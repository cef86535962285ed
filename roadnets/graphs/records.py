"""A street graph as its file has it: nodes with places, edges with attributes and lines.

What osmnx and NetworkX write, whatever the kind of file: texts, lists as texts, lines as WKT or WKB.
Geometry is read by shapely (BSD).
"""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.csv_tables import blank
from rushhour.roadnets.reading.values import FARTHEST, LONGEST_SHAPE, number

MOST_EDGES: Final = 20_000_000  # more would not fit an ordinary computer
LONGEST_TEXT: Final = 100_000  # characters of an attribute that is no line
LONGEST_LINE: Final = 16 << 20  # characters or bytes of a line
ENDS: Final = (("u", "v"), ("source", "target"))  # columns of an edge's nodes
STANDING: Final = ("geometry", "geom", "x", "y", "fid", "lon", "lat")  # read as places, not as tags
_HEX: Final = re.compile(r"[0-9A-Fa-f]+")


@dataclass
class Node:
    """A node; x, y as given."""

    x: float
    y: float
    tags: dict[str, str]


@dataclass
class Edge:
    """An edge from a node to a node; line: text, WKB or None as given, then (p, 2) points."""

    start: str
    end: str
    tags: dict[str, str]
    line: Any
    where: str  # for messages


@dataclass
class Graph:
    """A graph. directed: as the file says; crs: of its coordinates, "" if it does not say."""

    path: Path
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    directed: bool = True
    crs: str = ""

    def add_node(self, name: str, tags: dict[str, str], point: Any, where: str) -> None:
        """Add a node. point: its WKT or WKB, which counts where there is no x and y.

        Raises NetworkError for a node without an id, given twice, or without a place.
        """
        if not name:
            raise NetworkError(f"{where}: has no id; give each node its own")
        if name in self.nodes:
            raise NetworkError(f"{where}: node {name[:40]!r} is given twice; drop one")
        x, y = tags.get("x", tags.get("lon", "")), tags.get("y", tags.get("lat", ""))
        if blank(x) or blank(y):
            if not point:
                raise NetworkError(f"{where}: node {name[:40]!r} has no x and y; add them")
            (shape,) = _shapes([point], [where])
            if shape.geom_type != "Point" or shape.is_empty:
                raise NetworkError(f"{where}: node {name[:40]!r}: a {shape.geom_type}; give POINT")
            x, y = repr(float(shape.x)), repr(float(shape.y))
        self.nodes[name] = Node(
            number(x, where, "x", -FARTHEST, FARTHEST),
            number(y, where, "y", -FARTHEST, FARTHEST),
            _kept(tags),
        )

    def add_edge(self, start: str, end: str, tags: dict[str, str], line: Any, where: str) -> None:
        """Add an edge. Raises NetworkError if there are too many."""
        if len(self.edges) >= MOST_EDGES:
            raise NetworkError(f"{where}: more than {MOST_EDGES} edges; give a part of the graph")
        kept = _kept(tags)
        self.edges.append(Edge(start, end, kept, line, where))

    def finish(self) -> "Graph":
        """Turn the lines of edges into points, from their start to their end.

        Raises NetworkError for edges of nodes that are not there, and for lines that are none.
        """
        if not self.edges:
            raise NetworkError(f"{self.path}: no edges in it; give a graph with streets")
        for edge in self.edges:
            for name in (edge.start, edge.end):
                if name not in self.nodes:
                    raise NetworkError(f"{edge.where}: no node {name[:40]!r}; add it to the nodes")
        drawn = [edge for edge in self.edges if edge.line]
        shapes = _shapes([edge.line for edge in drawn], [edge.where for edge in drawn])
        for edge, shape in zip(drawn, shapes, strict=True):
            edge.line = _points(shape, edge.where)
        for edge in self.edges:
            a, b = self.nodes[edge.start], self.nodes[edge.end]
            ends = np.array([(a.x, a.y), (b.x, b.y)])
            if not isinstance(edge.line, np.ndarray):
                edge.line = ends
                continue
            line = edge.line
            off = np.hypot(*(line[[0, -1]] - ends).T).sum()
            if np.hypot(*(line[[-1, 0]] - ends).T).sum() < off:
                line = line[::-1]
            edge.line = np.vstack((ends[:1], line[1:-1], ends[1:]))
        return self


def values_of(text: str) -> list[str]:
    """The values of an attribute: of a list written as Python does, else the text itself.

    >>> values_of("['residential', 'tertiary']"), values_of("[1, 2]"), values_of("50 mph")
    (['residential', 'tertiary'], ['1', '2'], ['50 mph'])
    """
    text = text.strip()
    if not text.startswith(("[", "(", "{")) or len(text) > LONGEST_TEXT:
        return [] if blank(text) else [text]
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return [text]
    if not isinstance(found, list | tuple | set):
        return [text]
    every = sorted(found, key=str) if isinstance(found, set) else found
    texts = [str(one).strip() for one in every]
    return list(dict.fromkeys(one for one in texts if one != "None" and not blank(one)))


def _kept(tags: dict[str, str]) -> dict[str, str]:
    """What is said in tags, but for what stands elsewhere."""
    return {key: text for key, text in tags.items() if key not in STANDING and not blank(text)}


def _shapes(given: list[Any], where: list[str]) -> list[Any]:
    """Geometries of texts and bytes, WKT or WKB; where: of each, for messages."""
    if not given:
        return []
    import shapely

    for one, place in zip(given, where, strict=True):
        if len(one) > LONGEST_LINE:
            raise NetworkError(f"{place}: a geometry of more than {LONGEST_LINE >> 20} MB; mend it")
    binary = np.array([isinstance(one, bytes) or bool(_HEX.fullmatch(one)) for one in given])
    every = np.empty(len(given), object)
    every[:] = given
    found = np.empty(len(given), object)
    with np.errstate(invalid="ignore"):
        for mask, read in ((binary, shapely.from_wkb), (~binary, shapely.from_wkt)):
            found[mask] = read(every[mask], on_invalid="ignore")
    for shape, one, place in zip(found, given, where, strict=True):
        if shape is None:
            told = repr(one[:40]) if isinstance(one, str) else "of bytes"
            raise NetworkError(f"{place}: geometry {told} is not read; give WKT or WKB")
    return list(found)


def _points(shape: Any, where: str) -> NDArray[np.float64]:
    """Points of a line, (p, 2) as given; of a multiline whose parts follow each other, too."""
    import shapely

    if shape.geom_type == "MultiLineString":
        shape = shapely.line_merge(shape)
        shape = shape.geoms[0] if getattr(shape, "geoms", None) and len(shape.geoms) == 1 else shape
    points: NDArray[np.float64] = shapely.get_coordinates(shape)
    if shape.geom_type != "LineString" or not 2 <= len(points) <= LONGEST_SHAPE:
        raise NetworkError(
            f"{where}: geometry is a {shape.geom_type} of {len(points)} points; give a LINESTRING"
        )
    if not (np.abs(points) <= FARTHEST).all():
        raise NetworkError(f"{where}: geometry beyond {FARTHEST:g}, or not finite; correct it")
    return points
