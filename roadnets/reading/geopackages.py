"""GeoPackages: SQLite databases, read by Python's own sqlite3: read-only, plain tables only (no
views, whose text could be any program), values of bounded size. Source: www.geopackage.org/spec.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from rushhour.roadnets.errors import NetworkError

LONGEST_VALUE: Final = 16 << 20  # bytes
LONGEST_TEXT: Final = 100_000  # characters of a value
ENVELOPES: Final = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}  # bytes, by the code in the header
MOST_COLUMNS: Final = 1000


@contextmanager
def opened(path: Path, wanted: str) -> Iterator[sqlite3.Connection]:
    """The database. wanted: what to give, said in errors. Raises NetworkError, one line, for another file."""
    try:
        base = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
        try:
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
            base.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, MOST_COLUMNS)
            base.execute("PRAGMA trusted_schema=OFF")
            base.execute("PRAGMA cell_size_check=ON")
            yield base
        finally:
            base.close()
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise NetworkError(f"{path}: not read as a GeoPackage ({error}); {wanted}") from None


def tables(base: sqlite3.Connection) -> dict[str, bool]:
    """Names of its tables and views, and whether each is a plain table."""
    rows = base.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view')")
    return {
        name: kind == "table" and (sql or "").upper().lstrip().startswith("CREATE TABLE")
        for kind, name, sql in rows
    }


def place_of(base: sqlite3.Connection, table: str, path: Path, wanted: str) -> tuple[str, str]:
    """The column of a table's geometry, and the coordinate system that it is in."""
    found = base.execute(
        "SELECT column_name, srs_id FROM gpkg_geometry_columns WHERE table_name = ?", (table,)
    ).fetchone()
    if found is None:
        raise NetworkError(f"{path}: its table {table} has no geometry; {wanted}")
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


def columns(base: sqlite3.Connection, table: str) -> list[str]:
    """Names of the columns of a table."""
    return [str(row[1]) for row in base.execute(f'PRAGMA table_info("{table}")')]


def rows(
    base: sqlite3.Connection, table: str, names: list[str], shape: str, path: Path, wanted: str
) -> Iterator[tuple[int, dict[str, str], bytes | None]]:
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
        yield number, tags, _bytes_of(blob, f"{path}: {table} {number}", wanted)


def _bytes_of(blob: Any, where: str, wanted: str) -> bytes | None:
    """The WKB behind the header of a GeoPackage's geometry; None of an empty one."""
    if blob is None:
        return None
    if not isinstance(blob, bytes) or len(blob) < 8 or blob[:2] != b"GP":
        raise NetworkError(f"{where}: no GeoPackage geometry; {wanted}")
    flags = blob[3]
    head = ENVELOPES.get(flags >> 1 & 7)
    if head is None:
        raise NetworkError(f"{where}: geometry with an unknown envelope; {wanted}")
    return None if flags & 16 else blob[8 + head :]
