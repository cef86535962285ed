"""GeoPackages with the layers nodes and edges, as `ox.save_graph_geopackage` writes them."""

import sqlite3
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.graphs.records import ENDS, Graph
from rushhour.roadnets.reading.geopackages import columns, opened, place_of, rows, tables

WANTED: Final = "give a GeoPackage with the layers nodes and edges, as ox.save_graph_geopackage"


def read_geopackage(path: Path) -> Graph:
    """Read a .gpkg file. Raises NetworkError, one line."""
    with opened(path, WANTED) as base:
        return _read(base, path).finish()


def _read(base: sqlite3.Connection, path: Path) -> Graph:
    graph = Graph(path)
    plain = tables(base)
    shapes = {}
    for table in ("nodes", "edges"):
        if not plain.get(table, False):
            layers = ", ".join(sorted(n for n in plain if not n.startswith(("gpkg_", "sqlite_"))))
            raise NetworkError(f"{path}: has no table {table} (only {layers[:80]}); {WANTED}")
        shapes[table], graph.crs = place_of(base, table, path, WANTED)
    names = columns(base, "nodes")
    ident = next((n for n in ("osmid", "node_id", "id", "fid") if n in names), "")
    for row, tags, shape in rows(base, "nodes", names, shapes["nodes"], path, WANTED):
        graph.add_node(tags.pop(ident, ""), tags, shape, f"{path}: node {row}")
    names = columns(base, "edges")
    ends = next((p for p in ENDS if set(p) <= set(names)), None)
    if ends is None:
        raise NetworkError(f"{path}: its edges have no columns u and v; {WANTED}")
    for row, tags, shape in rows(base, "edges", names, shapes["edges"], path, WANTED):
        u, v = tags.pop(ends[0], ""), tags.pop(ends[1], "")
        graph.add_edge(u, v, tags, shape, f"{path}: edge {row}")
    return graph
