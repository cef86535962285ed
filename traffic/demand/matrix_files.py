"""Matrices of trips between zones in the forms of the field: csv, OMX, PTV's VISUM ($V, $O).

All come as a table with the columns of a csv: o_zone_id, d_zone_id, volume. VISUM's files say the time
of day that they are for, and a factor. Sources: PTV VISUM's manual, "Matrix formats"; the OMX specification
(github.com/osPlanning/omx); SUMO's od2trips, whose reading of both forms is compared in the tests.
"""

import csv
import io
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.reading.csv_tables import CsvTable, header_of, read_table
from rushhour.roadnets.reading.unpacking import unpacked
from rushhour.roadnets.reading.values import number, whole

COLUMNS: Final = ("o_zone_id", "d_zone_id", "volume")
NAMES: Final = (  # of columns of a csv, in lower case, each COLUMN's own first
    (COLUMNS[0], "origin", "orig", "o", "from", "o_zone", "origin_zone", "from_zone", "otaz"),
    (COLUMNS[1], "destination", "dest", "d", "to", "d_zone", "destination_zone", "to_zone", "dtaz"),
    (COLUMNS[2], "trips", "demand", "volumes", "flow", "count", "vehicles", "total"),
)
DEPART: Final = "depart"  # a column that trips have and matrices have not
OUTLINES: Final = (".geojson", ".gpkg")  # of the zones of a matrix
OMX: Final = (".omx",)
VISUM: Final = (".mtx", ".mtx.gz", ".fma")
LARGEST: Final = 1 << 28  # bytes of a VISUM file, unpacked
LARGEST_VOLUME: Final = 1e9  # trips of one pair
MOST_ZONES: Final = 20_000
BLOCK: Final = 1 << 22  # cells of an OMX matrix that are read at once: most matrices are sparse
MOST_FACTOR: Final = 1e6


@dataclass(frozen=True)
class MatrixTable:
    """A matrix as rows, volumes as they depart; span: of its file, s of the day it is for, None where it says none.

    unused: columns of its file that mean nothing here.
    """

    table: CsvTable
    span: tuple[float, float] | None = None
    unused: tuple[str, ...] = ()


def is_matrix(path: Path) -> bool:
    """Whether a file is a matrix: by its ending, or a csv with the columns of one.

    Raises DemandError if it cannot be read.
    """
    name = path.name.lower()
    if name.endswith((*OMX, *VISUM)):
        return True
    found = _columns_of(path)
    if set(COLUMNS[:2]) <= found:
        return True
    if DEPART not in found and all(found.intersection(names) for names in NAMES):
        return True
    return bool(found) and _is_square(path)


def _columns_of(path: Path) -> set[str]:
    """Names of the columns of a csv, in lower case; none of another file."""
    if not path.name.lower().endswith((".csv", ".csv.gz")):
        return set()
    try:
        return set(header_of(path))
    except NetworkError as error:
        raise DemandError(str(error)) from None


def matrix_table(path: Path, asked: str | None = None) -> MatrixTable:
    """Read a matrix of any form. asked: which one of an OMX file.

    Raises NetworkError or DemandError, with file and line, for what is none.
    """
    name = path.name.lower()
    if name.endswith(OMX):
        return MatrixTable(_omx(path, asked))
    if name.endswith(VISUM):
        return _visum(path)
    return _csv(path)


def _csv(path: Path) -> MatrixTable:
    """A csv, whatever of NAMES its columns are called; or a square of volumes."""
    if _is_square(path):
        return MatrixTable(_csv_square(path))
    table = read_table(path)
    called = [next((one for one in names if one in table.columns), None) for names in NAMES]
    columns = {
        name: table.columns[found]
        for name, found in zip(COLUMNS, called, strict=True)
        if found is not None
    }
    unused = tuple(name for name in table.columns if name and name not in called)
    return MatrixTable(CsvTable(path, columns, table.lines), unused=unused)


def _is_square(path: Path) -> bool:
    """Whether a csv begins as a square of volumes: numbers alone, or zones along its first row and down its first column."""
    head = unpacked(path, LARGEST, 1 << 18).decode("utf-8-sig", "replace")
    rows = csv.reader(io.StringIO(head, newline=""))
    try:
        first, second = islice((row for row in rows if any(value.strip() for value in row)), 2)
    except (ValueError, csv.Error):
        return False
    same = len(first) == len(second) > 1 and all(map(_is_number, second[1:]))
    return same and (first[1].strip() == second[0].strip() or all(map(_is_number, first)))


def _is_number(text: str) -> bool:
    try:
        float(text or "0")
    except ValueError:
        return False
    return True


def _csv_square(path: Path) -> CsvTable:
    """A square of volumes, rows by origin: with its zones along the first row and column, or without: 1, 2, ..."""
    text = unpacked(path, LARGEST).decode("utf-8-sig", "replace")
    reader = csv.reader(io.StringIO(text, newline=""))
    rows, lines = [], []
    for row in reader:
        if any(value.strip() for value in row):
            rows.append([value.strip() for value in row])
            lines.append(reader.line_num)
    across, down = rows[0][1:], [row[0] for row in rows[1:]]
    named = across == down
    if not rows[0][0] or not _is_number(rows[0][0]):
        if not named:
            raise DemandError(
                f"{path}: {len(across)} zones along its first row and {len(down)} down its first column, not the same; wanted "
                "both in one order"
            )
        zones, rows, lines = across, [row[1:] for row in rows[1:]], lines[1:]
    elif named or len(across) == 2:
        raise DemandError(
            f"{path}: numbers without names, of which the first ones may be zones; add a first line o_zone_id,d_zone_id,volume "
            "to pairs, and leave the first value empty where zones stand along the first row and column"
        )
    else:
        zones = [str(i + 1) for i in range(len(rows))]
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(zones):
            raise DemandError(
                f"{path}:{line}: {len(row)} volumes for {len(zones)} zones; complete the square"
            )
    numbers = [
        [_number(line, one or "0", path, "volume", LARGEST_VOLUME) for one in row]
        for line, row in zip(lines, rows, strict=True)
    ]
    cells = _Cells([], [], [])
    cells.add(0, np.array(numbers))
    return _table(path, zones, cells, lines)


def _table(path: Path, zones: list[str], cells: "_Cells", lines: list[int]) -> CsvTable:
    """The cells of a square of volumes. lines: of each row of it. Raises DemandError for zones that are called alike."""
    if len(set(zones)) < len(zones):
        twice = next(one for one, n in Counter(zones).items() if n > 1)
        raise DemandError(
            f"{path}: two of its zones are called {twice[:40]!r}; give each its own id"
        )
    return CsvTable(
        path,
        {
            COLUMNS[0]: [zones[i] for i in cells.row],
            COLUMNS[1]: [zones[i] for i in cells.column],
            COLUMNS[2]: [repr(one) for one in cells.volume],
        },
        [lines[i] for i in cells.row],
    )


class _Cells(NamedTuple):
    """Places in a square of volumes that are not 0; those without a number are empty."""

    row: list[int]
    column: list[int]
    volume: list[float]

    def add(self, first: int, block: NDArray[np.float64]) -> None:
        """Those of some rows, from the row `first` on."""
        block = np.where(np.isnan(block), 0.0, block)
        row, column = np.nonzero(block)
        self.row.extend((row + first).tolist())
        self.column.extend(column.tolist())
        self.volume.extend(block[row, column].tolist())


# --- OMX ------------------------------------------------------------------------------------------


def matrices_of(path: Path) -> list[str]:
    """Names of the matrices of an OMX file; none of another file. Raises DemandError for what cannot be read."""
    import h5py

    if not path.name.lower().endswith(OMX):
        return []
    unpacked(path, LARGEST, most=2)  # whether it can be opened
    try:
        with h5py.File(path, "r") as file:
            return sorted(_held(path, file, "data"))
    except OSError as error:
        raise _not_omx(path, error) from None


def _omx(path: Path, asked: str | None) -> CsvTable:
    """The one matrix of an OMX file, by its zone lookup; of several, the one asked for, or called trips or volume."""
    import h5py

    names = matrices_of(path)
    wanted = [one for one in names if one.lower() in ("trips", "volume")] or names
    if asked is not None:
        wanted = [one for one in names if one == asked]
    if len(wanted) != 1:
        lack = "" if asked is None else f", none called {asked[:40]!r}"
        raise DemandError(
            f"{path}: OMX with {len(names)} matrices ({', '.join(names)[:200] or 'none'}){lack}; say which one drives by "
            "--demand-matrix NAME (matrix in [demand] of a scenario)"
        )
    try:
        with h5py.File(path, "r") as file:
            held = _held(path, file, "data")
            data = _array(path, held, wanted[0])
            n = data.shape[0] if data.ndim == 2 else -1
            if (
                data.ndim != 2
                or data.shape[1] != n
                or not 0 < n <= MOST_ZONES
                or data.dtype.kind not in "fiu"
            ):
                raise DemandError(
                    f"{path}: matrix {wanted[0]} is {data.dtype} {data.shape}; wanted numbers, square, at most {MOST_ZONES} zones"
                )
            zones = _looked_up(path, file, n)
            cells = _Cells([], [], [])
            rows = max(1, BLOCK // n)
            for first in range(0, n, rows):
                cells.add(first, np.asarray(data[first : first + rows], np.float64))
    except (OSError, RuntimeError, KeyError) as error:
        raise _not_omx(path, error) from None
    return _table(path, zones, cells, list(range(1, n + 1)))


def _not_omx(path: Path, error: Exception) -> DemandError:
    reason = " ".join(str(error).split())[:150]
    return DemandError(f"{path}: not read as OMX ({reason}); write it again")


def _held(path: Path, file: Any, name: str) -> Any:
    """A group of an OMX file; without one an empty one. Raises DemandError where it is in another file."""
    import h5py

    if isinstance(file.get(name, getlink=True), h5py.ExternalLink):
        raise _elsewhere(path, name)
    found = file.get(name)
    return found if isinstance(found, h5py.Group) else {}


def _array(path: Path, group: Any, name: str) -> Any:
    """An array of a group. Raises DemandError where it is none, or is in another file, which nobody named."""
    import h5py

    if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
        raise _elsewhere(path, name)
    found = group[name]
    if not isinstance(found, h5py.Dataset):
        raise DemandError(
            f"{path}: {name[:40]} is a group; wanted an array, as openmatrix writes it"
        )
    if found.external or found.is_virtual:
        raise _elsewhere(path, name)
    return found


def _elsewhere(path: Path, name: str) -> DemandError:
    return DemandError(f"{path}: {name[:40]} is kept in another file; give one that has all")


def _looked_up(path: Path, file: Any, n: int) -> list[str]:
    """The ids of n zones, by the lookup of an OMX file; 1, 2, ... where it has none."""
    looked = _held(path, file, "lookup")
    names = sorted(looked)
    if len(names) > 1:
        names = [one for one in names if "zone" in one.lower() or "taz" in one.lower()]
    if len(names) > 1 or (len(looked) and not names):
        raise DemandError(
            f"{path}: OMX with {len(looked)} lookups ({', '.join(sorted(looked))[:200]}); wanted one, or one whose name "
            "has zone or taz"
        )
    if not names:
        return [str(i + 1) for i in range(n)]
    ids = _array(path, looked, names[0])
    if ids.shape != (n,):
        raise DemandError(f"{path}: lookup {names[0]} has {ids.shape}; wanted {n} zones")
    return [_zone(one) for one in ids[:].tolist()]


def _zone(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


# --- VISUM ----------------------------------------------------------------------------------------


def _visum(path: Path) -> MatrixTable:
    """A file of $O (pairs) or $V (a square), also with M (a type of vehicles, not used), R and N."""
    text = unpacked(path, LARGEST).decode("utf-8-sig", "replace")
    lines = text.replace("\r\n", "\n").split("\n")
    head = lines[0].strip().upper().partition(";")[0]
    kind = head[1:2]
    if not head.startswith("$") or kind not in ("O", "V"):
        raise DemandError(
            f"{path}:1: {lines[0][:40]!r}; wanted a matrix of VISUM, which begins with $O or $V"
        )
    words = [
        (number_, word)
        for number_, line in enumerate(lines[1:], 2)
        if not line.startswith("*")
        for word in line.split()
    ]
    at = iter(words)
    if "M" in head:
        _next(at, path, "type of vehicles")
    begin, end = (_time(*_next(at, path, what), path) for what in ("begin", "end"))
    if end < begin:
        raise DemandError(
            f"{path}: times from {begin:g} to {end:g} s; wanted an end after the begin"
        )
    factor = _number(*_next(at, path, "factor"), path, "factor", MOST_FACTOR)
    span = (begin, end) if end > begin else None
    rest = list(at)
    table = _square(path, rest, factor) if kind == "V" else _pairs(path, rest, factor)
    return MatrixTable(table, span)


def _pairs(path: Path, words: list[tuple[int, str]], factor: float) -> CsvTable:
    if len(words) % 3:
        raise DemandError(
            f"{path}:{words[-1][0]}: a row without from, to and volume; give all three"
        )
    volume = [
        repr(factor * _number(line, word, path, "volume", LARGEST_VOLUME))
        for line, word in words[2::3]
    ]
    columns = {
        COLUMNS[0]: [word for _, word in words[::3]], COLUMNS[1]: [word for _, word in words[1::3]],
        COLUMNS[2]: volume,
    }  # fmt: skip
    return CsvTable(path, columns, [line for line, _ in words[::3]])


def _square(path: Path, words: list[tuple[int, str]], factor: float) -> CsvTable:
    at = iter(words)
    line, word = _next(at, path, "number of zones")
    n = whole(word, f"{path}:{line}", "number of zones", 1, MOST_ZONES)
    if len(words) != 1 + n + n * n:
        raise DemandError(
            f"{path}: {len(words) - 1:,} entries for {n:,} zones; wanted their names and {n:,} x {n:,} volumes"
        )
    zones = [word for _, word in words[1 : 1 + n]]
    cells = words[1 + n :]
    values = np.array([_number(line, word, path, "volume", LARGEST_VOLUME) for line, word in cells])
    found = _Cells([], [], [])
    found.add(0, factor * values.reshape(n, n))
    return _table(path, zones, found, [line for line, _ in cells[::n]])


def _next(words: Any, path: Path, what: str) -> tuple[int, str]:
    found = next(words, None)
    if found is None:
        raise DemandError(f"{path}: ends before its {what}; give the whole file")
    return found[0], found[1]


def _number(line: int, word: str, path: Path, what: str, most: float) -> float:
    return number(word, f"{path}:{line}", what, 0.0, most)


def _time(line: int, word: str, path: Path) -> float:
    """Seconds of the day of VISUM's hours.minutes, as 7.30, or 7:30."""
    hours, _, minutes = word.replace(":", ".").partition(".")
    where = f"{path}:{line}"
    return 3600.0 * number(hours, where, "hours", 0.0, 48.0) + 60.0 * number(minutes or "0", where, "minutes", 0.0, 59.0)  # fmt: skip
