"""The part of a map that is wanted: a box, or a polygon from a file.

A polygon is GeoJSON, WKT, or the .poly format of the OpenStreetMap tools (a name, rings that end with
END, those that begin with ! are holes), longitude before latitude. Geometry is shapely's (BSD), from
the extra `data`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.json_files import read_json

LARGEST: Final = 16 << 20  # bytes of a polygon; a country with its coast takes less
WANTED: Final = "give a polygon as GeoJSON, WKT or .poly"

Box = tuple[float, float, float, float]  # west, south, east, north, degrees


@dataclass(frozen=True)
class Area:
    """Where a map is wanted: within the box and the polygon, as far as they are given."""

    box: Box | None = None
    polygon: Any = None  # of shapely

    def holds(self, degrees: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether places (p, 2) lon, lat lie within, borders included."""
        inside = np.ones(len(degrees), bool)
        if self.box is not None:
            west, south, east, north = self.box
            lon, lat = degrees.T
            inside &= (west <= lon) & (lon <= east) & (south <= lat) & (lat <= north)
        if self.polygon is not None:
            import shapely

            inside &= shapely.intersects_xy(self.polygon, *degrees.T)
        return inside


def read_polygon(path: Path) -> Any:
    """The polygon of a file, in degrees, as shapely's.

    Raises NetworkError, one line, for a file that cannot be read or holds no polygon on the earth.
    """
    import shapely

    cut: list[Any] = []
    if path.suffix.lower() in (".json", ".geojson"):
        parts = _of_geojson(shapely, path)
    else:
        text = _text(path)
        wkt = text.upper().startswith(("POLYGON", "MULTIPOLYGON"))
        parts, cut = (_of_wkt(shapely, text), []) if wkt else _of_poly(shapely, path, text)
    parts = [part for part in parts if part.area > 0.0]
    if not parts:
        raise NetworkError(f"{path}: no polygon in it; {WANTED}")
    west, south, east, north = shapely.total_bounds(np.array(parts + cut))
    if not (-180.0 <= west < east <= 180.0 and -90.0 <= south < north <= 90.0):
        raise NetworkError(
            f"{path}: from {west:g}, {south:g} to {east:g}, {north:g}; "
            "give degrees, longitude before latitude"
        )
    for part in parts + cut:
        if not part.is_valid:
            reason = shapely.is_valid_reason(part)
            raise NetworkError(f"{path}: {reason}; give rings that do not cross themselves")
    whole = shapely.union_all(np.array(parts))
    if cut:
        whole = whole.difference(shapely.union_all(np.array(cut)))
    shapely.prepare(whole)
    return whole


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        text = data.decode("utf-8-sig").strip()
    except OSError as error:
        reason = error.strerror or str(error)
        raise NetworkError(f"{path}: cannot be read ({reason}); {WANTED}") from None
    except UnicodeDecodeError:
        raise NetworkError(f"{path}: not a text in UTF-8; {WANTED}") from None
    if len(data) > LARGEST:
        raise NetworkError(f"{path}: larger than {LARGEST >> 20} MB; simplify the polygon")
    if not text:
        raise NetworkError(f"{path}: empty; {WANTED}")
    return text


def _of_wkt(shapely: Any, text: str) -> list[Any]:
    try:
        with np.errstate(invalid="ignore"):  # NaN is refused by its bounds
            return [shapely.from_wkt(text)]
    except shapely.errors.ShapelyError:
        return []


def _of_geojson(shapely: Any, path: Path) -> list[Any]:
    """All polygons of a GeoJSON file."""
    polygons: list[Any] = []
    waiting = [read_json(path, LARGEST)]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, dict):
            continue
        for key in ("features", "geometries"):
            more = item.get(key)
            waiting += more if isinstance(more, list) else []
        if item.get("type") == "Feature":
            waiting.append(item.get("geometry"))
        rings = item.get("coordinates")
        if item.get("type") in ("Polygon", "MultiPolygon") and isinstance(rings, list):
            for outline in rings if item["type"] == "MultiPolygon" else [rings]:
                polygons.append(_polygon(shapely, path, outline))
    return polygons


def _polygon(shapely: Any, path: Path, rings: Any) -> Any:
    """A polygon of an outline and holes, each a list of places."""
    try:
        outline, *holes = [np.array([(p[0], p[1]) for p in ring], np.float64) for ring in rings]
        if not all(np.isfinite(ring).all() for ring in (outline, *holes)):
            raise ValueError("not finite")
        return shapely.Polygon(outline, holes)
    except (TypeError, ValueError, LookupError, OverflowError, shapely.errors.ShapelyError):
        raise NetworkError(
            f"{path}: a ring that is no list of four or more places in degrees; {WANTED}"
        ) from None


def _of_poly(shapely: Any, path: Path, text: str) -> tuple[list[Any], list[Any]]:
    """Polygons and holes of a .poly file: a name, rings of places that end with END, a last END."""
    added: list[Any] = []
    cut: list[Any] = []
    ring: list[list[str]] | None = None
    holes = False
    for line in text.splitlines()[1:]:
        words = line.split()
        if not words:
            continue
        if ring is None:
            if words[0].upper() == "END":
                break
            ring, holes = [], words[0].startswith("!")
        elif words[0].upper() == "END":
            (cut if holes else added).append(_polygon(shapely, path, [ring]))
            ring = None
        else:
            ring.append(words)
    if ring is not None:
        raise NetworkError(f"{path}: a ring without END; {WANTED}")
    return added, cut
