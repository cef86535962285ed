"""pyproj, which is an extra: loaded where it is used, refused by name where missing."""

from typing import Any

from rushhour.roadnets.errors import NetworkError


def load_pyproj(needs: str) -> Any:
    """pyproj, of the extra `data`. needs: what does, with its verb. Raises NetworkError where it is missing."""
    try:
        import pyproj
    except ImportError:
        raise NetworkError(f"{needs} pyproj; install it: pip install 'rushhour[data]'") from None
    return pyproj
