"""GeoPackages with the layers nodes and edges, as `ox.save_graph_geopackage` writes them.

A GeoPackage is a SQLite database, read by Python's own sqlite3: read-only, plain tables only (no
views, whose text could be any program), values of bounded size. Source: www.geopackage.org/spec.
"""

import sqlite3
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.graphs.records import ENDS, LONGEST_LINE, LONGEST_TEXT, Graph

ENVELOPES: Final = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}  # bytes, by the code in the header
MOST_COLUMNS: Final = 1000
WANTED: Final = "give a GeoPackage with the layers nodes and edges, as ox.save_graph_geopackage"


def read_geopackage(path: Path) -> Graph:
    """Read a .gpkg file. Raises NetworkError, one line."""
    try:
        base = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
        try:
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_LINE)
            base.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, MOST_COLUMNS)
            base.execute("PRAGMA trusted_schema=OFF")
            base.execute("PRAGMA cell_size_check=ON")
            return _read(base, path).finish()
        finally:
            base.close()
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise NetworkError(f"{path}: not read as a GeoPackage ({error}); {WANTED}") from None


def _read(base: sqlite3.Connection, path: Path) -> Graph:
    graph = Graph(path)
    kinds = {name: (kind, sql or "") for kind, name, sql in base.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view')")}  # fmt: skip
    shapes = {}
    for table in ("nodes", "edges"):
        kind, sql = kinds.get(table, ("", ""))
        if kind != "table" or not sql.upper().lstrip().startswith("CREATE TABLE"):
            layers = ", ".join(sorted(n for n in kinds if not n.startswith(("gpkg_", "sqlite_"))))
            raise NetworkError(f"{path}: has no table {table} (only {layers[:80]}); {WANTED}")
        shapes[table], graph.crs = _place_of(base, table, path)
    names = _columns(base, "nodes")
    ident = next((n for n in ("osmid", "node_id", "id", "fid") if n in names), "")
    for row, tags, shape in _rows(base, "nodes", names, shapes["nodes"], path):
        graph.add_node(tags.pop(ident, ""), tags, shape, f"{path}: node {row}")
    names = _columns(base, "edges")
    ends = next((p for p in ENDS if set(p) <= set(names)), None)
    if ends is None:
        raise NetworkError(f"{path}: its edges have no columns u and v; {WANTED}")
    for row, tags, shape in _rows(base, "edges", names, shapes["edges"], path):
        u, v = tags.pop(ends[0], ""), tags.pop(ends[1], "")
        graph.add_edge(u, v, tags, shape, f"{path}: edge {row}")
    return graph


def _place_of(base: sqlite3.Connection, table: str, path: Path) -> tuple[str, str]:
    """The column of a table's geometry, and the coordinate system that it is in."""
    found = base.execute(
        "SELECT column_name, srs_id FROM gpkg_geometry_columns WHERE table_name = ?", (table,)
    ).fetchone()
    if found is None:
        raise NetworkError(f"{path}: its table {table} has no geometry; {WANTED}")
    column, number = found
    system = base.execute(
        "SELECT organization, organization_coordsys_id, definition FROM gpkg_spatial_ref_sys "
        "WHERE srs_id = ?", (number,),
    ).fetchone()  # fmt: skip
    if system is None or number in (-1, 0):
        return str(column), ""
    organization, code, text = system
    known = str(organization).upper() == "EPSG"
    return str(column), f"EPSG:{code}" if known else str(text)


def _columns(base: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in base.execute(f'PRAGMA table_info("{table}")')]


def _rows(base: sqlite3.Connection, table: str, names: list[str], shape: str, path: Path) -> Any:
    """Number, texts by column and geometry of each row."""
    for number, row in enumerate(base.execute(f'SELECT * FROM "{table}"'), 1):
        values = dict(zip(names, row, strict=False))
        blob = values.pop(shape, None)
        tags = {}
        for name, value in values.items():
            if value is None or isinstance(value, bytes):
                continue
            text = str(value)
            if len(text) > LONGEST_TEXT:
                raise NetworkError(
                    f"{path}: {table} {number}: {name[:40]} of more than {LONGEST_TEXT} characters"
                )
            tags[name] = text
        yield number, tags, _bytes_of(blob, f"{path}: {table} {number}")


def _bytes_of(blob: Any, where: str) -> bytes | None:
    """The WKB behind the header of a GeoPackage's geometry; None of an empty one."""
    if blob is None:
        return None
    if not isinstance(blob, bytes) or len(blob) < 8 or blob[:2] != b"GP":
        raise NetworkError(f"{where}: no GeoPackage geometry; {WANTED}")
    flags = blob[3]
    head = ENVELOPES.get(flags >> 1 & 7)
    if head is None:
        raise NetworkError(f"{where}: geometry with an unknown envelope; {WANTED}")
    return None if flags & 16 else blob[8 + head :]
