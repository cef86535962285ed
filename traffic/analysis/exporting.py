"""Recorded frames as files for other programs: csv, parquet, SUMO's FCD, GeoJSON.

Written while they are read, frame by frame, so that memory does not grow with the length of the run.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.nearest import local_degrees
from rushhour.roadnets.writing import replaced, writes_to, written
from rushhour.traffic.analysis.chosen import (
    EVERYTHING,
    Chosen,
    ChosenFrames,
    Rows,
    height_and_slope,
)
from rushhour.traffic.analysis.fcd import write_fcd
from rushhour.traffic.analysis.geojson import write_geojson
from rushhour.traffic.analysis.lines import Lines
from rushhour.traffic.analysis.names import Names, text_array
from rushhour.traffic.recording.frame_fields import FULL

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

FORMATS: Final = ("parquet", "csv", "fcd", "geojson")
ENDINGS: Final = {"parquet": ".parquet", "csv": ".csv", "fcd": ".fcd.xml", "geojson": ".geojson"}
# Columns of csv and parquet, in their order: name, field of a frame (or ""), digits in csv.
COLUMNS: Final = (
    ("time_s", "", 3), ("vehicle", "id", -1), ("type", "id", -1), ("road", "lane", -1),
    ("name", "lane", -1), ("lane", "lane", -1), ("intersection", "lane", -1), ("s_m", "s", 3), ("lateral_m", "lateral", 3),
    ("x_m", "", 3), ("y_m", "", 3), ("z_m", "", 3), ("lon_deg", "", 7), ("lat_deg", "", 7),
    ("heading_rad", "", 4), ("speed_m_s", "speed", 3), ("accel_m_s2", "accel", 3),
    ("reason", "reason", -1), ("blocker", "blocker", -1),
)  # fmt: skip
Progress = Callable[[int, int], None]


def export_frames(
    run: "RunFile", kind: str, path: str | Path, chosen: Chosen = EVERYTHING, *, lonlat: bool = False,
    progress: Progress = lambda done, of: None,
) -> int:  # fmt: skip
    """Write the recorded frames of a run to a file; returns how many rows were written.

    kind: one of FORMATS. chosen: the times, roads and vehicles wanted. lonlat: longitude and latitude
    (WGS 84), of csv and parquet beside x and y, of fcd in their place; GeoJSON always has them.
    progress: called with frames done and in all. A path that ends in .gz is compressed.
    Raises RunError for another kind, a file that cannot be written, a run without frames or without
    what was chosen; NetworkError if the network has no projection.

    >>> export_frames(rh.open_run("run.h5"), "csv", "frames.csv.gz", Chosen(begin=60.0))
    """
    path = Path(path)
    if kind not in FORMATS:
        raise RunError(f"export {kind[:40]!r}: wanted one of {', '.join(FORMATS)}")
    frames = ChosenFrames(run, chosen)
    if lonlat or kind == "geojson":
        want_projection(run)
    if writes_to(path, run.path):
        raise RunError(f"-o {path} is the run itself; give another name")
    if kind == "parquet":
        return _write_parquet(frames, path, lonlat, progress)
    with written(path) as file:
        if kind == "csv":
            return _write_csv(frames, file, lonlat, progress)
        if kind == "fcd":
            return write_fcd(frames, file, lonlat, progress)
        with io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
            return write_geojson(frames, text, progress)


def want_projection(run: "RunFile") -> None:
    """Refuse a network that does not say where on earth it is. Raises NetworkError."""
    network = run.network()
    if not network.projection:
        raise RunError(
            f"{run.path}: its network {network.name} has no projection, so there is no longitude and "
            "latitude; export csv, parquet or fcd in metres"
        )
    local_degrees(network, np.zeros(1), np.zeros(1))  # says so if PROJ is not there


def columns_of(frames: ChosenFrames, lonlat: bool) -> list[tuple[str, str, int]]:
    """The columns that a table of these frames has."""
    fields = frames.run.frame(frames.places[0]).columns
    return [
        (name, field, digits)
        for name, field, digits in COLUMNS
        if (not field or field in fields)
        and (lonlat or name not in ("lon_deg", "lat_deg"))
        and (name != "z_m" or frames.run.network().is_hilly)
        and (name != "name" or frames.run.network().road_names)
    ]


def values_of(frames: ChosenFrames, rows: Rows, lonlat: bool) -> dict[str, NDArray[Any]]:
    """What is not a recorded field, by column."""
    found = {
        "time_s": np.full(len(rows), rows.frame.time),
        "x_m": rows.x, "y_m": rows.y, "heading_rad": rows.heading,
    }  # fmt: skip
    if frames.run.network().is_hilly:
        found["z_m"] = height_and_slope(frames, rows)[0]
    if lonlat:
        found["lon_deg"], found["lat_deg"] = local_degrees(frames.run.network(), rows.x, rows.y)
    return found


def _write_csv(frames: ChosenFrames, file: Any, lonlat: bool, progress: Progress) -> int:
    columns = columns_of(frames, lonlat)
    names = Names(frames.run)
    quoted = {name: _quoted(names.of(name)) for name, _, digits in columns if digits < 0}
    lines = Lines(
        ["", *[","] * (len(columns) - 1), "\r\n"],
        [quoted[name] if digits < 0 else digits for name, _, digits in columns],
    )
    file.write((",".join(name for name, _, _ in columns) + "\r\n").encode())
    size = 0
    for k, rows in enumerate(frames):
        made = values_of(frames, rows, lonlat)
        if len(rows):
            file.write(lines.of([rows.field(f) if f else made[name] for name, f, _ in columns]))
        size += len(rows)
        progress(k + 1, len(frames))
    return size


def _quoted(names: NDArray[Any]) -> NDArray[Any]:
    """Names as csv writes them."""
    special = frozenset(',"\r\n')
    return text_array(
        [
            '"' + name.replace('"', '""') + '"' if special.intersection(name) else name
            for name in names.tolist()
        ]
    )


def _write_parquet(frames: ChosenFrames, path: Path, lonlat: bool, progress: Progress) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise RunError(
            f"{path}: parquet wants the package pyarrow; pip install 'rushhour[data]', or export csv"
        ) from None
    if path.name.lower().endswith(".gz"):
        raise RunError(f"{path}: parquet is compressed as it is; leave .gz out of the name")
    columns = columns_of(frames, lonlat)
    names = Names(frames.run)
    texts = {
        name: pyarrow.array(names.of(name).tolist(), pyarrow.string())
        for name, _, digits in columns
        if digits < 0
    }
    group = frames.run.group("frames")
    full = group is not None and str(group.attrs.get("precision", "")) == FULL
    kinds = {
        name: pyarrow.string() if name in texts
        else pyarrow.float32() if field and not full else pyarrow.float64()
        for name, field, _ in columns
    }  # fmt: skip
    size = 0

    def table(parts: dict[str, list[NDArray[Any]]]) -> Any:
        whole = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        arrays = [
            texts[name].take(pyarrow.array(_places(whole[name], len(texts[name]))))
            if name in texts
            else pyarrow.array(whole[name]).cast(kinds[name])
            for name, _, _ in columns
        ]
        return pyarrow.table(arrays, names=[name for name, _, _ in columns])

    schema = pyarrow.schema([(name, kinds[name]) for name, _, _ in columns])
    with replaced(path) as part, parquet.ParquetWriter(part, schema) as writer:
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name, _, _ in columns}
        waiting = 0
        for k, rows in enumerate(frames):
            made = values_of(frames, rows, lonlat)
            for name, field, _ in columns:
                parts[name].append(rows.field(field) if field else made[name])
            waiting += len(rows)
            size += len(rows)
            if waiting >= ROWS_PER_GROUP or k + 1 == len(frames):
                writer.write_table(table(parts))
                parts = {name: [] for name, _, _ in columns}
                waiting = 0
            progress(k + 1, len(frames))
    return size


ROWS_PER_GROUP: Final = 1 << 18  # of a parquet file


def _places(numbers: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Numbers as places in a table of names; -1 is its last."""
    places = numbers.astype(np.int64)
    return np.where(places < 0, size - 1, places)
