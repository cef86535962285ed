"""Small tables of trips that several tests read."""

import csv
import io
from collections.abc import Sequence
from typing import Any

COLUMNS = ("id", "depart", "origin", "destination", "type", "route")
ROWS = (
    ("a", "10", "in_s", "out_n", "car", ""),
    ("b", "0:00:05", "in_e", "out_w", "bus", ""),
    ("c", "7.5", "", "", "", "in_n out_e"),
)


def text_of(rows: Sequence[Sequence[str]], columns: Sequence[str] = COLUMNS) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([columns, *rows])
    return file.getvalue()


def frame_of(rows: Sequence[Sequence[Any]], columns: Sequence[str] = COLUMNS) -> dict[str, Any]:
    return {name: [row[i] for row in rows] for i, name in enumerate(columns)}
