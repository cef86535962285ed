"""Libraries of geometry that are extras: loaded where they are used, refused by name where missing."""

from typing import Any

from rushhour.roadnets.errors import NetworkError


def load_shapely(needs: str, extra: str = "data") -> Any:
    """shapely. needs: what does, with its verb. Raises NetworkError where it is missing."""
    try:
        import shapely
    except ImportError:
        raise _missing(needs, "shapely", extra) from None
    return shapely


def load_pyproj(needs: str) -> Any:
    """pyproj, of the extra `data`. needs, raises: as load_shapely."""
    try:
        import pyproj
    except ImportError:
        raise _missing(needs, "pyproj", "data") from None
    return pyproj


def _missing(needs: str, library: str, extra: str) -> NetworkError:
    return NetworkError(f"{needs} {library}; install it: pip install 'rushhour[{extra}]'")
