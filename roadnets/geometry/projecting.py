"""From longitude and latitude to metres around a place, by PROJ."""

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.libraries import load_pyproj


def local_projection(lon: float, lat: float) -> str:
    """PROJ string of a transverse Mercator projection around a place (degrees, WGS 84)."""
    return f"+proj=tmerc +lat_0={lat:.4f} +lon_0={lon:.4f} +k=1 +ellps=WGS84 +units=m +no_defs"


def to_metres(projection: str, degrees: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Places (p, 2) lon, lat as x east, y north in metres.

    what: the file, for the error. Raises NetworkError if pyproj is not installed.
    """
    pyproj = load_pyproj(f"{what}: coordinates in degrees need")
    project = pyproj.Proj(projection)
    return np.column_stack(project(degrees[:, 0], degrees[:, 1]))


def to_lonlat(projection: str, metres: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Places (p, 2) in metres of a PROJ string as lon, lat; the way back of to_metres."""
    pyproj = load_pyproj(f"{what}: a projection needs")
    try:
        project = pyproj.Proj(projection)
    except pyproj.exceptions.CRSError:
        raise NetworkError(f"{what}: projection {projection[:60]!r} is not known") from None
    return np.column_stack(project(metres[:, 0], metres[:, 1], inverse=True))


def to_degrees(system: str, points: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Places (p, 2) x, y of a coordinate system (EPSG:n, PROJ, WKT) as lon, lat of WGS 84.

    what: the file, for the error. Raises NetworkError if pyproj is not installed, if the system is
    not known, and for places that are nowhere on the earth.
    """
    return _turned(system, points, what, True)


def from_degrees(system: str, degrees: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Places (p, 2) lon, lat of WGS 84 in a coordinate system. what, raises: as to_degrees."""
    return _turned(system, degrees, what, False)


def _turned(system: str, points: NDArray[np.float64], what: str, to: bool) -> NDArray[np.float64]:
    """Places from a coordinate system to longitude and latitude, or back."""
    pyproj = load_pyproj(f"{what}: a coordinate system needs")
    try:
        pair = (system, "EPSG:4326") if to else ("EPSG:4326", system)
        turn = pyproj.Transformer.from_crs(*pair, always_xy=True)
        found = np.column_stack(turn.transform(points[:, 0], points[:, 1]))
    except pyproj.exceptions.ProjError as error:
        reason = str(error).splitlines()[0][:120]
        raise NetworkError(
            f"{what}: crs {system[:60]!r}: {reason}; give one that is known"
        ) from None
    if not np.isfinite(found).all():
        raise NetworkError(
            f"{what}: coordinates that are not in its crs {system[:60]!r}; correct it"
        )
    return found
