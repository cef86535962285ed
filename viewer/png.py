"""Writing PNG files with the standard library alone."""

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.writing import replaced


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """An image of shape (height, width, 3) as a PNG file."""
    height, width, _ = image.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = image.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + _chunk(b"IEND", b"")
    )


def write_png(path: str | Path, image: NDArray[np.uint8]) -> None:
    """Write an image of shape (height, width, 3) to a PNG file.

    Raises RunError if the file cannot be written.
    """
    with replaced(path) as part:
        part.write_bytes(png_bytes(image))
