"""Race tracks: closed rings of nodes, from csv files of centre line and widths, and saved as HDF5.

One file holds everything of a track: edges, surface, the line that an AI follows, and the speed at
each of its points.
"""

import csv
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.kernels.steering.tracks import Track, is_on_segment
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.hdf5_file import open_hdf5
from rushhour.roadnets.writing import replaced

MOST_POINTS: Final = 1_000_000
_FIELDS: Final = ("left", "right", "grip", "line", "line_speed")


def build_track(
    left: ArrayLike,
    right: ArrayLike,
    line: ArrayLike | None = None,
    line_speed: ArrayLike | None = None,
    grip: ArrayLike = 1.0,
    name: str = "track",
) -> Track:
    """A closed track as kernels take it.

    left, right: (n, 2) m, edges at each node, n at least 3. line: (m, 2) m in driving order, by
    default the middle of every node; line_speed: (m,) m/s, nan where not known. grip: of each
    segment, in relation to asphalt. Raises NetworkError for what is no track, and for a point of
    the line that is not on it.
    """
    edges = [np.ascontiguousarray(side, np.float64) for side in (left, right)]
    for side in edges:
        if side.ndim != 2 or side.shape[1] != 2 or not 3 <= len(side) <= MOST_POINTS:
            raise NetworkError(f"{name}: edges of shape {side.shape}; wanted (3 or more, 2) metres")
        if not np.isfinite(side).all():
            raise NetworkError(f"{name}: an edge point is not finite; wanted metres")
    if edges[0].shape != edges[1].shape:
        raise NetworkError(f"{name}: {len(edges[0])} left and {len(edges[1])} right edge points")
    n = len(edges[0])
    middle = 0.5 * (edges[0] + edges[1])
    points = np.ascontiguousarray(middle if line is None else line, np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or not 3 <= len(points) <= MOST_POINTS:
        raise NetworkError(f"{name}: a line of shape {points.shape}; wanted (3 or more, 2) metres")
    if not np.isfinite(points).all():
        raise NetworkError(f"{name}: a point of the line is not finite; wanted metres")
    given = np.nan if line_speed is None else line_speed
    try:
        speed = np.array(np.broadcast_to(np.asarray(given, np.float64), (len(points),)))
        surface = np.array(np.broadcast_to(np.asarray(grip, np.float64), (n,)))
    except ValueError:
        raise NetworkError(
            f"{name}: wanted {len(points)} speeds of the line and {n} grips, one a segment"
        ) from None
    if not (surface > 0.0).all() or (speed < 0.0).any():
        raise NetworkError(f"{name}: a grip not above 0, or a speed below 0")
    index = _indices(edges[0], edges[1], points, name)
    return Track(
        left=edges[0],
        right=edges[1],
        station=_stations(middle),
        grip=surface,
        line=points,
        line_station=_stations(points),
        line_speed=speed,
        line_index=index,
        target=_targets(index, n),
    )


def _stations(ring: NDArray[np.float64]) -> NDArray[np.float64]:
    step = np.hypot(*(np.roll(ring, -1, axis=0) - ring).T)
    return np.concatenate(([0.0], np.cumsum(step)))


def _indices(
    left: NDArray[np.float64], right: NDArray[np.float64], points: NDArray[np.float64], name: str
) -> NDArray[np.int32]:
    """Index of each point of the line: the first segment, from that of the point before on.

    A point on a node is in the segment that begins there: it is looked at a little further on.
    """
    middle = 0.5 * (left + right)
    on = (1e-9 * (np.roll(middle, -1, axis=0) - middle)).tolist()
    n, at, found = len(left), 0, []
    for k, (x, y) in enumerate(points.tolist()):
        at = next(
            (i for i in range(at, n) if is_on_segment(left, right, i, x + on[i][0], y + on[i][1])),
            -1,
        )
        if at < 0:
            raise NetworkError(
                f"{name}: point {k} of the line, ({x:.1f}, {y:.1f}), is not on the track beyond the "
                "point before it; wanted a line in driving order that begins near the first node"
            )
        found.append(at)
    return np.array(found, np.int32)


def _targets(index: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """For each segment the first point of the line in a later one, round the ring."""
    ahead = np.searchsorted(index, np.arange(n), side="right")
    return np.where(ahead == len(index), 0, ahead).astype(np.int32)


def read_track(path: str | Path, every: int = 1, line_every: int = 1) -> Track:
    """A track from a csv file: x_m, y_m, w_tr_right_m, w_tr_left_m along the closed centre line.

    every: take each so many-th point as a node; line_every: each so many-th node is a point of the
    line. Raises NetworkError with path and line for what is no such file.
    """
    path = Path(path)
    rows: list[list[float]] = []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.reader(file), 1):
                if not row or row[0].lstrip().startswith("#"):
                    continue
                if len(rows) >= MOST_POINTS:
                    raise NetworkError(f"{path}: more than {MOST_POINTS:,} points")
                try:
                    rows.append([float(cell) for cell in row[:4]])
                except ValueError:
                    raise NetworkError(
                        f"{path}, line {number}: {','.join(row)!r:.60}; wanted four numbers"
                    ) from None
                if len(row) < 4 or not np.isfinite(rows[-1]).all() or min(rows[-1][2:]) < 0.0:
                    raise NetworkError(
                        f"{path}, line {number}: wanted x, y and widths of at least 0, in metres"
                    )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise NetworkError(
            f"{path}: cannot be read as a track ({why}); wanted lines of x, y and the widths to the right "
            "and left, m"
        ) from error
    table = np.array(rows, np.float64).reshape(-1, 4)[::every]
    if len(table) < 3:
        raise NetworkError(f"{path}: {len(table)} points; wanted at least 3")
    centre = table[:, :2]
    along = np.roll(centre, -1, axis=0) - np.roll(centre, 1, axis=0)
    length = np.hypot(along[:, 0], along[:, 1])
    if (length == 0.0).any():
        k = int(np.argmin(length))
        raise NetworkError(f"{path}: the track turns on the spot at {tuple(centre[k])}")
    aside = np.column_stack((-along[:, 1], along[:, 0])) / length[:, None]
    left, right = centre + table[:, 3:] * aside, centre - table[:, 2:3] * aside
    return build_track(left, right, 0.5 * (left + right)[::line_every], name=str(path))


def save_track(track: Track, path: str | Path) -> None:
    """Write a track, with its line and the speeds there. Raises NetworkError if it cannot be."""
    import h5py

    with replaced(path, NetworkError) as part, h5py.File(part, "w") as file:
        file.attrs["format"] = "rushhour track 1"
        for name in _FIELDS:
            file[name] = getattr(track, name)


def load_track(path: str | Path) -> Track:
    """Read what save_track wrote. Raises NetworkError for a file that is none."""
    import h5py

    try:
        with open_hdf5(path) as file:
            if file.attrs.get("format") != "rushhour track 1":
                raise NetworkError(f"{path}: no track of rushhour; wanted a file of save_track")
            arrays = {}
            for name in _FIELDS:
                data = file.get(name)
                if not isinstance(data, h5py.Dataset) or data.dtype.kind != "f":
                    raise NetworkError(f"{path}: wanted numbers in {name}")
                if data.size > 2 * MOST_POINTS:
                    raise NetworkError(f"{path}: {name} has more than {MOST_POINTS:,} points")
                arrays[name] = data[()]
    except (OSError, RuntimeError) as error:
        raise NetworkError(f"{path}: cannot be read as a track ({error})") from error
    return build_track(**arrays, name=str(path))
