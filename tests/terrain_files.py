"""Elevation models for tests: GeoTIFFs of a height that is a function of the place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def write_slope(
    path: Path,
    crs: str | None,
    transform: Any,
    size: tuple[int, int],
    height: Callable[[Values, Values], Values],
    holes: Callable[[Values, Values], Values] | None = None,
    **more: Any,
) -> Path:
    """Write height(x, y) at the middle of each of size (rows, columns) pixels; nodata in holes."""
    import rasterio

    row, column = np.mgrid[: size[0], : size[1]]
    x = transform.a * (column + 0.5) + transform.c
    y = transform.e * (row + 0.5) + transform.f
    grid = np.asarray(height(x, y), np.float32)
    if holes is not None:
        grid[holes(x, y).astype(bool)] = -9999.0
    with rasterio.open(
        path, "w", driver="GTiff", height=size[0], width=size[1], count=1, dtype="float32", crs=crs,
        transform=transform, nodata=-9999.0, **more,
    ) as file:  # fmt: skip
        file.write(grid, 1)
    return path
