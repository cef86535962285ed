"""Tables of GMNS folders and of demand: csv with a header line, also gzipped, not trusted.

The tables stay text; gmns.records says what the columns of GMNS mean. Names of columns are compared
without regard to case. A byte-order mark is passed over.
"""

import csv
import io
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.unpacking import unpacked

HEADER: Final = 1 << 16  # bytes in which the first line ends
LARGEST: Final = 1 << 28  # bytes of one table after decompression
MOST_COLUMNS: Final = 1000
BLANKS: Final = ("", "nan", "null")  # lower case


@dataclass(frozen=True)
class CsvTable:
    """A table as texts. columns: by lower-case name, one text per row; lines: of each row."""

    path: Path
    columns: dict[str, list[str]]
    lines: list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, row: int) -> str:
        """Place of a row for messages."""
        return f"{self.path}:{self.lines[row]}"

    def column(self, *names: str) -> list[str] | None:
        """The first column that exists under one of these names; None if there is none."""
        return next((self.columns[name] for name in names if name in self.columns), None)

    def needed(self, *names: str) -> list[str]:
        """A column that must exist. Raises NetworkError naming what was looked for."""
        found = self.column(*names)
        if found is None:
            raise NetworkError(
                f"{self.path}: has no column {' or '.join(names)}; add it to the first line"
            )
        return found

    def texts(self, *names: str) -> list[str]:
        """The first column that exists under one of these names; empty texts if there is none."""
        return self.column(*names) or [""] * len(self)

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.path.name.partition(".")[0]

    def remark_unused(self, used: Collection[str], remarks: Remarks) -> None:
        """Remark the columns that hold something and are not used."""
        for name, values in self.columns.items():
            if name and name not in used and any(values):
                remarks.add(f"columns of {self.name}.csv not used", name, check="L28")


def blank(text: str) -> bool:
    """Whether a text of an optional column stands for nothing."""
    return text.lower() in BLANKS


def refuse_doubles(table: CsvTable, column: str) -> None:
    """Raise NetworkError for the first row whose id is empty or has been given before."""
    seen: set[str] = set()
    for row, name in enumerate(table.needed(column)):
        if blank(name):
            raise NetworkError(f"{table.where(row)}: has no {column}; give each row its own")
        if name in seen:
            raise NetworkError(
                f"{table.where(row)}: {column} {name[:40]!r} is given twice; give each row its own"
            )
        seen.add(name)


def optional_table(folder: Path, name: str) -> CsvTable | None:
    """A table of a folder that it need not have; None if it has not. Raises as read_table."""
    path = table_path(folder, name)
    return None if path is None else read_table(path)


def table_path(folder: Path, name: str) -> Path | None:
    """The file of a table in a folder, plain or gzipped; None if there is none."""
    for ending in (".csv", ".csv.gz"):
        path = folder / (name + ending)
        if path.is_file():
            return path
    return None


def read_table(path: Path) -> CsvTable:
    """Read a table. Blank lines are passed over, blanks around values are dropped.

    Raises NetworkError, one line with file and line, for what cannot be opened, is empty, damaged,
    not UTF-8 or not a table: rows longer or shorter than the header, a column given twice.
    """
    data = unpacked(path, LARGEST)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NetworkError(f"{path}:{line}: not UTF-8 text; save the table as UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    header: list[str] = []
    try:
        for row in reader:
            if not any(value.strip() for value in row):
                continue
            if not header:
                header = _header(path, reader.line_num, row)
                continue
            if len(row) != len(header):
                raise NetworkError(
                    f"{path}:{reader.line_num}: {len(row)} values for {len(header)} columns;"
                    " complete the row"
                )
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise NetworkError(
            f"{path}:{reader.line_num}: not a row of a table ({error}); mend its quotes"
        ) from None
    if not header:
        raise NetworkError(f"{path}: empty; wanted a first line with the names of the columns")
    columns = {name: [row[i].strip() for row in rows] for i, name in enumerate(header)}
    return CsvTable(path, columns, lines)


def header_of(path: Path) -> list[str]:
    """Names of the columns of a table, lower case, as far as its first 64 KB hold them.

    Raises NetworkError for what cannot be opened or is damaged gzip.
    """
    text = unpacked(path, LARGEST, HEADER).decode("utf-8-sig", "replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    return [name.strip().strip('"').lower() for name in first.split(",")]


def _header(path: Path, line: int, row: list[str]) -> list[str]:
    names = [name.strip().lower() for name in row]
    if len(names) > MOST_COLUMNS:
        raise NetworkError(f"{path}:{line}: {len(names)} columns; wanted at most {MOST_COLUMNS}")
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        raise NetworkError(f"{path}:{line}: one column; separate the values by commas")
    for i, name in enumerate(names):
        if name and name in names[:i]:
            raise NetworkError(f"{path}:{line}: column {name[:40]!r} is given twice; drop one")
    return names
