"""Filling convex polygons into an image, and shrinking it to smooth the edges.

An image is (height, width, 3) uint8, row 0 at the top; coordinates are pixels, x to the right and
y down, a pixel's centre at half-integers.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel


@kernel
def fill_polygons(
    image: NDArray[np.uint8],
    xy: NDArray[np.float64],
    start: NDArray[np.int64],
    colour: NDArray[np.uint8],
    lo: int,
    hi: int,
) -> None:
    """Paint convex polygons lo .. hi-1, in order, so that later ones cover earlier ones.

    Reads xy (p, 2), start (n+1,) into it, colour (n, 3); writes image. A pixel is painted when
    its centre lies inside; what lies outside the image is cut off. NaN paints nothing.
    """
    height = image.shape[0]
    width = image.shape[1]
    for i in range(lo, hi):
        top = np.inf
        bottom = -np.inf
        for k in range(start[i], start[i + 1]):
            top = min(top, xy[k, 1])
            bottom = max(bottom, xy[k, 1])
        if not (bottom >= 0.0 and top <= height):
            continue
        first = max(0, int(np.ceil(max(top, -1.0) - 0.5)))
        last = min(height - 1, int(np.floor(min(bottom, height + 1.0) - 0.5)))
        for row in range(first, last + 1):
            y = row + 0.5
            left = np.inf
            right = -np.inf
            before = start[i + 1] - 1
            for k in range(start[i], start[i + 1]):
                y0 = xy[before, 1]
                y1 = xy[k, 1]
                if (y0 <= y) != (y1 <= y):
                    x = xy[before, 0] + (y - y0) / (y1 - y0) * (xy[k, 0] - xy[before, 0])
                    left = min(left, x)
                    right = max(right, x)
                before = k
            if not (right >= 0.0 and left <= width):
                continue
            from_column = max(0, int(np.ceil(max(left, -1.0) - 0.5)))
            to_column = min(width - 1, int(np.floor(min(right, width + 1.0) - 0.5)))
            for column in range(from_column, to_column + 1):
                image[row, column, 0] = colour[i, 0]
                image[row, column, 1] = colour[i, 1]
                image[row, column, 2] = colour[i, 2]


@kernel
def shrink(large: NDArray[np.uint8], small: NDArray[np.uint8], factor: int) -> None:
    """Average squares of factor x factor pixels of one image into one pixel of another.

    Reads large; writes small, whose height and width are factor times less.
    """
    share = factor * factor
    for row in range(small.shape[0]):
        for column in range(small.shape[1]):
            for band in range(3):
                total = share // 2
                for i in range(factor):
                    for k in range(factor):
                        total += int(large[row * factor + i, column * factor + k, band])
                small[row, column, band] = total // share
