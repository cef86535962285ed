"""The costs of a course as a picture that can be painted in.

A pixel is a cell, the uppermost row first: black where nobody walks, else grey of STEP times the
cost. What was painted is taken to the nearest cost.
"""

import struct
import zlib
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.games.racing.course import Course
from rushhour.roadnets.errors import NetworkError
from rushhour.viewer.png import write_png

DAMAGE: Final = (
    OSError, RuntimeError, ValueError, AssertionError, LookupError, TypeError, zlib.error, struct.error
)  # fmt: skip  # what a damaged picture makes the decoder raise
STEP: Final = 25  # of the brightness, 0 .. 255


def save_cost_layer(course: Course, path: str | Path) -> None:
    """Write the costs as a PNG. Raises RunError if it cannot be written."""
    grey = (STEP * course.cost[::-1]).astype(np.uint8)
    write_png(path, np.ascontiguousarray(np.repeat(grey[..., None], 3, axis=2)))


def read_cost_layer(path: str | Path, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Costs (rows, columns) from such a PNG. Raises NetworkError for another size, or no PNG."""
    from vispy.io import read_png

    try:
        image = np.asarray(read_png(str(path)))
    except DAMAGE as error:
        what = " ".join(str(error).split())[:120]
        raise NetworkError(f"{path}: cannot be read as a PNG ({what})") from None
    if image.ndim == 2:
        image = image[..., None]
    if image.shape[:2] != tuple(shape):
        raise NetworkError(
            f"{path}: {image.shape[1]} x {image.shape[0]} pixels; wanted one for each of the "
            f"{shape[1]} x {shape[0]} cells"
        )
    grey = image[::-1, :, :3].astype(np.float64).mean(axis=2)
    return np.asarray(np.minimum(np.rint(grey / STEP), 10), np.uint8)
