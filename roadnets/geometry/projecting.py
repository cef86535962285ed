"""From longitude and latitude to metres around a place, by PROJ."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError


def local_projection(lon: float, lat: float) -> str:
    """PROJ string of a transverse Mercator projection around a place (degrees, WGS 84)."""
    return f"+proj=tmerc +lat_0={lat:.4f} +lon_0={lon:.4f} +k=1 +ellps=WGS84 +units=m +no_defs"


def to_metres(projection: str, degrees: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Places (p, 2) lon, lat as x east, y north in metres.

    what: the file, for the error. Raises NetworkError if pyproj is not installed.
    """
    try:
        import pyproj
    except ImportError:
        raise NetworkError(
            f"{what}: coordinates in degrees need pyproj; install it: pip install 'rushhour[data]'"
        ) from None
    project: Any = pyproj.Proj(projection)
    return np.column_stack(project(degrees[:, 0], degrees[:, 1]))
