"""Pictures as PNG files."""

from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.writing import replaced


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """An image of shape (height, width, 3) as a PNG file."""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def write_png(path: str | Path, image: NDArray[np.uint8]) -> None:
    """Write an image of shape (height, width, 3) to a PNG file.

    Raises RunError if the file cannot be written.
    """
    with replaced(path) as part:
        part.write_bytes(png_bytes(image))
