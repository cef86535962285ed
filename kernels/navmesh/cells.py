"""Cells of a navmesh: triangles with a kind and a neighbour per edge; who stands in which.

Cells never overlap and share whole edges, so a way over the ground is a chain of neighbours. They
are sorted into square *bins*, for looking up the one at a place.
Source: Prototype's road network, seed-systems.md S3-1; validation.md C3.1.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

ROAD: Final = 0
INTERSECTION: Final = 1
VERGE: Final = 2
NOWHERE: Final = -1  # of a cell that there is not
SLACK: Final = 1e-9  # m2, by which a place may lie outside an edge and still be in the cell


class Cells(NamedTuple):
    """n triangles, their corners counter-clockwise; edge e goes from corner e to the next one."""

    x: NDArray[np.float64]  # (n, 3) m
    y: NDArray[np.float64]  # (n, 3) m
    kind: NDArray[np.uint8]  # (n,) ROAD, INTERSECTION, VERGE
    neighbour: NDArray[np.int32]  # (n, 3) cell across each edge; -1: none
    course: NDArray[np.float64]  # (n, 2) unit vector of the lanes; 0, 0: no direction of its own
    component: NDArray[np.int32]  # (n,) cells of the same one can be reached from each other
    bin_start: NDArray[np.int64]  # (columns * rows + 1,) into bin_cell
    bin_cell: NDArray[np.int32]  # cells whose box touches each bin, ascending
    columns: int
    rows: int
    x0: float  # m, of the first bin's corner
    y0: float
    size: float  # m, side of a bin


@kernel
def is_in_cell(cells: Cells, c: int, x: float, y: float) -> bool:
    """Whether a place lies in a cell, its edges included."""
    for e in range(3):
        f = e + 1 if e < 2 else 0
        dx, dy = cells.x[c, f] - cells.x[c, e], cells.y[c, f] - cells.y[c, e]
        if dx * (y - cells.y[c, e]) - dy * (x - cells.x[c, e]) < -SLACK:
            return False
    return True


@kernel
def cell_at(cells: Cells, x: float, y: float) -> int:
    """The cell at a place, the first of several that touch there; NOWHERE beside the ground."""
    i = math.floor((x - cells.x0) / cells.size)
    j = math.floor((y - cells.y0) / cells.size)
    if i < 0 or j < 0 or i >= cells.columns or j >= cells.rows:
        return NOWHERE
    b = j * cells.columns + i
    for k in range(cells.bin_start[b], cells.bin_start[b + 1]):
        if is_in_cell(cells, cells.bin_cell[k], x, y):
            return int(cells.bin_cell[k])
    return NOWHERE


@kernel
def nearest_in_cell(cells: Cells, c: int, x: float, y: float) -> tuple[float, float]:
    """The place of a cell that is nearest to another place."""
    if is_in_cell(cells, c, x, y):
        return x, y
    best, bx, by = math.inf, x, y
    for e in range(3):
        f = e + 1 if e < 2 else 0
        ax, ay = cells.x[c, e], cells.y[c, e]
        dx, dy = cells.x[c, f] - ax, cells.y[c, f] - ay
        square = dx * dx + dy * dy
        w = 0.0
        if square > 0.0:
            w = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / square))
        px, py = ax + w * dx, ay + w * dy
        apart = (px - x) * (px - x) + (py - y) * (py - y)
        if apart < best:
            best, bx, by = apart, px, py
    return bx, by


@kernel
def nearest_cell(cells: Cells, x: float, y: float, roads_only: bool) -> tuple[int, float, float]:
    """The cell nearest to a place, and the nearest place of it; NOWHERE where there is no cell.

    roads_only: roads and intersections only. Bins are looked through in squares that grow, until
    no other can be nearer.
    """
    here = cell_at(cells, x, y)
    if here >= 0 and not (roads_only and cells.kind[here] == VERGE):
        return here, x, y
    i = min(max(math.floor((x - cells.x0) / cells.size), 0), cells.columns - 1)
    j = min(max(math.floor((y - cells.y0) / cells.size), 0), cells.rows - 1)
    found, best, fx, fy = NOWHERE, math.inf, x, y
    for ring in range(max(cells.columns, cells.rows)):
        within = (ring - 1) * cells.size
        if found >= 0 and within > 0.0 and best <= within * within:
            break
        for row in range(max(0, j - ring), min(cells.rows, j + ring + 1)):
            edge = row == j - ring or row == j + ring
            step = 1 if edge or ring == 0 else 2 * ring
            column = i - ring
            while column <= i + ring:
                if 0 <= column < cells.columns:
                    b = row * cells.columns + column
                    for k in range(cells.bin_start[b], cells.bin_start[b + 1]):
                        c = cells.bin_cell[k]
                        if roads_only and cells.kind[c] == VERGE:
                            continue
                        px, py = nearest_in_cell(cells, c, x, y)
                        apart = (px - x) * (px - x) + (py - y) * (py - y)
                        if apart < best:
                            found, best, fx, fy = int(c), apart, px, py
                column += step
    return found, fx, fy


@kernel
def label_components(neighbour: NDArray[np.int32], component: NDArray[np.int32]) -> int:
    """Number the parts that hang together by neighbours, by their first cell; how many there are."""
    n = neighbour.shape[0]
    stack = np.empty(n, np.int32)
    parts = 0
    component[:] = -1
    for first in range(n):
        if component[first] >= 0:
            continue
        size, stack[0], component[first] = 1, first, parts
        while size > 0:
            size -= 1
            c = stack[size]
            for e in range(3):
                other = neighbour[c, e]
                if other >= 0 and component[other] < 0:
                    component[other] = parts
                    stack[size] = other
                    size += 1
        parts += 1
    return parts


@kernel
def locate_places(
    cells: Cells, x: NDArray[np.float64], y: NDArray[np.float64], found: NDArray[np.int32]
) -> None:
    """Write the cell at each of many places, (n,) each; NOWHERE beside the ground."""
    for i in range(x.shape[0]):
        found[i] = cell_at(cells, x[i], y[i])
