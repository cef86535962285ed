"""Vehicles made ready for drawing: those in view packed, all of them dotted, one of them found.

A position is that of the front bumper's middle, x and y in m, heading in rad; numbers that leave for
the graphics card are float32 and relative to an origin, so that they keep their millimetres.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel


@kernel
def pack_visible(
    x: NDArray[np.float64], y: NDArray[np.float64], heading: NDArray[np.float64],
    code: NDArray[np.int32], box: NDArray[np.float64], origin: NDArray[np.float64],
    out: NDArray[np.float32],
) -> int:  # fmt: skip
    """Pack the vehicles whose position lies in a box; returns how many.

    Reads x, y, heading, code (below 2^24, so that float32 keeps it), box (4,) m and origin (2,) m;
    writes out (capacity, 4): x, y from the origin, heading, code. What finds no room is left out.
    A NaN lies in no box.
    """
    n = 0
    for i in range(x.shape[0]):
        if not (box[0] <= x[i] <= box[2] and box[1] <= y[i] <= box[3]):
            continue
        if n >= out.shape[0]:
            break
        out[n, 0] = x[i] - origin[0]
        out[n, 1] = y[i] - origin[1]
        out[n, 2] = heading[i]
        out[n, 3] = code[i]
        n += 1
    return n


@kernel
def ramp_rows(
    value: NDArray[np.float64], low: float, high: float, unknown: int, row: NDArray[np.uint8]
) -> None:
    """Rows of a palette of a ramp, from 0 at low to the one before `unknown` at high.

    Reads value; writes row. What is not a number gets the row `unknown`.
    """
    steps = unknown - 1
    for i in range(value.shape[0]):
        share = (value[i] - low) / (high - low)
        if np.isnan(share):
            row[i] = unknown
        else:
            row[i] = int(min(max(share, 0.0), 1.0) * steps + 0.5)


@kernel
def dot_vehicles(
    x: NDArray[np.float64], y: NDArray[np.float64], colour: NDArray[np.uint8],
    palette: NDArray[np.uint8], left: float, top: float, scale: float, dot: int,
    sums: NDArray[np.int32], image: NDArray[np.uint8],
) -> int:  # fmt: skip
    """Dot all vehicles into an image, each `dot` pixels wide; returns how many were seen.

    Reads x, y, colour (a row of palette), palette (256, 3), the place of the upper left corner (m) and
    scale (m per pixel); writes image (height, width, 4), whose row 0 is at the top, and sums
    (height, width, 4), scratch: zeros, and again zeros in the end. A pixel takes the mean of the
    colours on it; without any it is clear.
    """
    height = image.shape[0]
    width = image.shape[1]
    seen = 0
    back = 0.5 * dot
    for i in range(x.shape[0]):
        across = (x[i] - left) / scale - back + 0.5
        down = (top - y[i]) / scale - back + 0.5
        if not (-dot < across < width and -dot < down < height):
            continue
        seen += 1
        first_row = math.floor(down)
        first_column = math.floor(across)
        c = colour[i]
        for row in range(max(0, first_row), min(height, first_row + dot)):
            for column in range(max(0, first_column), min(width, first_column + dot)):
                sums[row, column, 0] += palette[c, 0]
                sums[row, column, 1] += palette[c, 1]
                sums[row, column, 2] += palette[c, 2]
                sums[row, column, 3] += 1
    for row in range(height):
        for column in range(width):
            n = sums[row, column, 3]
            if n > 0:
                image[row, column, 0] = sums[row, column, 0] // n
                image[row, column, 1] = sums[row, column, 1] // n
                image[row, column, 2] = sums[row, column, 2] // n
                image[row, column, 3] = 255
                for part in range(4):
                    sums[row, column, part] = 0
            else:
                image[row, column, 3] = 0
    return seen


@kernel
def vehicle_at(
    x: NDArray[np.float64], y: NDArray[np.float64], heading: NDArray[np.float64],
    length: NDArray[np.float64], width: NDArray[np.float64], px: float, py: float, reach: float,
) -> int:  # fmt: skip
    """The vehicle whose body is nearest to a place, within reach; -1 if there is none.

    Reads all; lengths in m. The distance to a body is 0 within it; of equals, the one whose middle is
    nearest.
    """
    found = -1
    least = reach * reach
    least_middle = np.inf
    for i in range(x.shape[0]):
        far = reach + length[i] + width[i]
        dx = px - x[i]
        dy = py - y[i]
        if not (abs(dx) <= far and abs(dy) <= far):
            continue
        cos = math.cos(heading[i])
        sin = math.sin(heading[i])
        along = dx * cos + dy * sin + 0.5 * length[i]  # from the middle
        aside = dy * cos - dx * sin
        out_along = max(0.0, abs(along) - 0.5 * length[i])
        out_aside = max(0.0, abs(aside) - 0.5 * width[i])
        distance = out_along * out_along + out_aside * out_aside
        middle = along * along + aside * aside
        if distance < least or (distance == least and middle < least_middle):
            found = i
            least = distance
            least_middle = middle
    return found
