"""Heights from an elevation model: a GeoTIFF, read by rasterio (BSD), from the extra `terrain`.

Roads lie on the ground at every STEP metres and at intersections, but for bridges and tunnels, which
rise evenly from where they leave it to where they meet it again.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.drafts.draft import Draft, DraftRoad
from rushhour.roadnets.drafts.heights import STEEPEST
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.projecting import from_degrees, to_lonlat
from rushhour.roadnets.geometry.street_lines import stations
from rushhour.roadnets.reading.remarks import Remarks

Values = NDArray[np.float64]

STEP: Final = 20.0  # m along a road between two places of which the height is taken
MOST_PIXELS: Final = 100_000_000  # of the part that is read
LOWEST, HIGHEST = -500.0, 9000.0  # m; what lies beyond is no ground
BESIDE: Final = 15.0  # m from the line of a bridge at which a lane of it can lie
ABUTMENT: Final = 1.0  # m from either end of a bridge, where it still lies on the ground
FEET: Final = {"ft": 0.3048, "foot": 0.3048, "feet": 0.3048, "us-ft": 1200.0 / 3937.0,
               "us survey foot": 1200.0 / 3937.0, "ftus": 1200.0 / 3937.0}  # fmt: skip


def raise_to_ground(draft: Draft, path: Path) -> None:
    """Give the roads and intersections of a draft the heights of an elevation model, in place.

    Raises NetworkError, one line, for a file that is no such model or does not reach the map, and
    for a map without a projection.
    """
    if not draft.projection:
        raise NetworkError(
            f"{path}: the map has no projection, so nobody knows where it lies; --dem needs one"
        )
    lines = [_samples(road) for road in draft.roads]
    middles = np.array([(node.x, node.y) for node in draft.intersections]).reshape(-1, 2)
    every = np.concatenate([middles, *lines]) if lines else middles
    degrees = to_lonlat(draft.projection, every + np.asarray(draft.origin), str(path))
    height = _heights(path, degrees)
    known = np.isfinite(height)
    if not known.any():
        raise NetworkError(
            f"{path}: has no height anywhere on the map; give a model that covers it"
        )
    parts = np.split(height, np.cumsum([len(middles), *map(len, lines)])[:-1])
    for node, z in zip(draft.intersections, parts[0].tolist(), strict=True):
        node.z = z if node.on_ground and np.isfinite(z) else None
    for road, line, heights in zip(draft.roads, lines, parts[1:], strict=True):
        kept = np.isfinite(heights) & ~_aloft(road, line)
        road.heights = np.column_stack((line, heights))[kept] if kept.any() else None
        road.grade = None
        for lane in road.lanes:
            lane.heights = None
            lane.shape = _denser(lane.shape)
    draft.steepest = STEEPEST
    remarks = Remarks()
    remarks.add("places of roads that the elevation model does not cover, heights between taken",
                path.name, count=int((~known).sum()))  # fmt: skip
    draft.remarks += [f"heights of {path.name}, by elevation model", *remarks.lines()]


def _denser(shape: Values) -> Values:
    """A line with a point every STEP metres or less."""
    along = stations(shape)
    pieces = np.maximum(1, np.ceil(np.diff(along) / STEP).astype(int))
    at = np.concatenate(
        [
            np.linspace(a, b, n, endpoint=False)
            for a, b, n in zip(along[:-1], along[1:], pieces.tolist(), strict=True)
        ]
        + [along[-1:]]
    )
    return np.column_stack([np.interp(at, along, shape[:, k]) for k in (0, 1)])


def _samples(road: DraftRoad) -> Values:
    """The places of a road of which the height is taken: along its lane at the kerb."""
    return _denser(road.lanes[0].shape)


def _aloft(road: DraftRoad, places: Values) -> NDArray[np.bool_]:
    """Which places of a road lie on a bridge or in a tunnel."""
    found = np.zeros(len(places), bool)
    for line in road.aloft:
        along = stations(line)
        start, step = line[:-1], np.diff(line, axis=0)
        square = np.maximum(1e-18, (step * step).sum(axis=1))
        away = places[:, None] - start[None]
        share = np.clip((away * step).sum(axis=2) / square, 0.0, 1.0)
        off = np.hypot(*np.moveaxis(away - share[:, :, None] * step, 2, 0))
        best = off.argmin(axis=1)
        row = np.arange(len(places))
        at = along[best] + share[row, best] * np.diff(along)[best]
        inside = (at > ABUTMENT) & (at < along[-1] - ABUTMENT)
        found |= inside & (off[row, best] < BESIDE)
    return found


def _heights(path: Path, degrees: Values) -> Values:
    """Height, m, of each place (p, 2) lon, lat; NaN where the model has none.

    Between the middles of four pixels it is interpolated, as far as they have a height.
    """
    try:
        import rasterio
    except ImportError:
        raise NetworkError(
            f"{path}: elevation models need rasterio; install it: pip install 'rushhour[terrain]'"
        ) from None
    try:
        with rasterio.open(path, driver="GTiff") as model:
            if model.crs is None:
                raise NetworkError(f"{path}: has no coordinate system; give a GeoTIFF with its crs")
            places = from_degrees(model.crs.to_wkt(), degrees, str(path))
            to = ~model.transform
            column = to.a * places[:, 0] + to.b * places[:, 1] + to.c
            row = to.d * places[:, 0] + to.e * places[:, 1] + to.f
            return _between(path, model, row - 0.5, column - 0.5)
    except (rasterio.errors.RasterioError, ValueError, OSError, MemoryError) as error:
        if isinstance(error, NetworkError):
            raise
        reason = str(error).strip().splitlines()[0][:120] if str(error).strip() else "damaged"
        raise NetworkError(
            f"{path}: not read as an elevation model ({reason}); give a GeoTIFF"
        ) from None


def _between(path: Path, model: Any, row: Values, column: Values) -> Values:
    """Heights at rows and columns, which count from the middle of the first pixel."""
    inside = (row > -0.5) & (row < model.height - 0.5)
    inside &= (column > -0.5) & (column < model.width - 0.5)
    found = np.full(row.size, np.nan)
    if not inside.any():
        west, south, east, north = model.bounds
        raise NetworkError(
            f"{path}: reaches from {west:g}, {south:g} to {east:g}, {north:g} of its crs, the map "
            "lies elsewhere; give a model that covers it"
        )
    y, x = row[inside], column[inside]
    top, left = max(0, int(np.floor(y.min()))), max(0, int(np.floor(x.min())))
    rows = min(model.height, int(np.floor(y.max())) + 2) - top
    columns = min(model.width, int(np.floor(x.max())) + 2) - left
    if rows * columns > MOST_PIXELS:
        raise NetworkError(
            f"{path}: {rows} x {columns} pixels on the map; give a coarser model, or less of the map"
        )
    part = model.read(1, window=((top, top + rows), (left, left + columns)), masked=True)
    unit = FEET.get(str(model.units[0] or "").strip().lower(), 1.0)
    grid = np.ma.filled(part.astype(np.float64), np.nan)
    grid = (grid * model.scales[0] + model.offsets[0]) * unit
    grid[~((grid >= LOWEST) & (grid <= HIGHEST))] = np.nan
    y, x = np.clip(y - top, 0.0, rows - 1.0), np.clip(x - left, 0.0, columns - 1.0)
    i = np.minimum(np.floor(y).astype(int), max(0, rows - 2))
    j = np.minimum(np.floor(x).astype(int), max(0, columns - 2))
    total, weight = np.zeros(y.size), np.zeros(y.size)
    for di, dj in ((0, 0), (0, 1), (1, 0), (1, 1)):
        share = np.abs(1 - di - (y - i)) * np.abs(1 - dj - (x - j))
        z = grid[np.minimum(i + di, rows - 1), np.minimum(j + dj, columns - 1)]
        has = np.isfinite(z) & (share > 0.0)
        total[has] += share[has] * z[has]
        weight[has] += share[has]
    found[inside] = np.where(weight > 0.0, total / np.maximum(weight, 1e-12), np.nan)
    return found
