"""Rows taken out of arrays by their numbers, packed as bytes column after column, and put into others.

Columns come in groups of one width, 8, 4 and 1 bytes, and tables of 4 bytes; a group without any has one
column without a row.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel


@kernel
def take_rows(
    wide: tuple[NDArray[np.int64], ...], narrow: tuple[NDArray[np.int32], ...],
    tables: tuple[NDArray[np.int32], ...], small: tuple[NDArray[np.uint8], ...],
    slots: NDArray[np.int32], out: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Pack what the columns and tables hold in some slots. Writes out."""
    n = slots.shape[0]
    at = 0
    for c in range(len(wide)):
        eights = wide[c]
        if eights.shape[0] > 0:
            eight = out[at : at + 8 * n].view(np.int64)
            for row in range(n):
                eight[row] = eights[slots[row]]
            at += 8 * n
    for c in range(len(narrow)):
        fours = narrow[c]
        if fours.shape[0] > 0:
            four = out[at : at + 4 * n].view(np.int32)
            for row in range(n):
                four[row] = fours[slots[row]]
            at += 4 * n
    for c in range(len(tables)):
        table = tables[c]
        if table.shape[0] > 0:
            width = table.shape[1]
            cells = out[at : at + 4 * width * n].view(np.int32)
            for row in range(n):
                for k in range(width):
                    cells[row * width + k] = table[slots[row], k]
            at += 4 * width * n
    for c in range(len(small)):
        ones = small[c]
        if ones.shape[0] > 0:
            for row in range(n):
                out[at + row] = ones[slots[row]]
            at += n


@kernel
def put_rows(
    wide: tuple[NDArray[np.int64], ...], narrow: tuple[NDArray[np.int32], ...],
    tables: tuple[NDArray[np.int32], ...], small: tuple[NDArray[np.uint8], ...],
    slots: NDArray[np.int32], data: NDArray[np.uint8],
) -> None:  # fmt: skip
    """The other way round: write what was packed into some slots of columns and tables."""
    n = slots.shape[0]
    at = 0
    for c in range(len(wide)):
        eights = wide[c]
        if eights.shape[0] > 0:
            eight = data[at : at + 8 * n].view(np.int64)
            for row in range(n):
                eights[slots[row]] = eight[row]
            at += 8 * n
    for c in range(len(narrow)):
        fours = narrow[c]
        if fours.shape[0] > 0:
            four = data[at : at + 4 * n].view(np.int32)
            for row in range(n):
                fours[slots[row]] = four[row]
            at += 4 * n
    for c in range(len(tables)):
        table = tables[c]
        if table.shape[0] > 0:
            width = table.shape[1]
            cells = data[at : at + 4 * width * n].view(np.int32)
            for row in range(n):
                for k in range(width):
                    table[slots[row], k] = cells[row * width + k]
            at += 4 * width * n
    for c in range(len(small)):
        ones = small[c]
        if ones.shape[0] > 0:
            for row in range(n):
                ones[slots[row]] = data[at + row]
            at += n


@kernel
def take_places(
    wide: tuple[NDArray[np.int64], ...], narrow: tuple[NDArray[np.int32], ...],
    small: tuple[NDArray[np.uint8], ...], places: NDArray[np.int64], ends: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Pack what columns hold in places of their own. Writes out.

    places: of all columns, one after the other; ends: (columns,) where those of each end.
    """
    x = first = at = 0
    for c in range(len(wide)):
        eights, n = wide[c], int(ends[x]) - first
        eight = out[at : at + 8 * n].view(np.int64)
        for row in range(n):
            eight[row] = eights[places[first + row]]
        at += 8 * n
        first += n
        x += 1
    for c in range(len(narrow)):
        fours, n = narrow[c], int(ends[x]) - first
        four = out[at : at + 4 * n].view(np.int32)
        for row in range(n):
            four[row] = fours[places[first + row]]
        at += 4 * n
        first += n
        x += 1
    for c in range(len(small)):
        ones, n = small[c], int(ends[x]) - first
        for row in range(n):
            out[at + row] = ones[places[first + row]]
        at += n
        first += n
        x += 1


@kernel
def put_places(
    wide: tuple[NDArray[np.int64], ...], narrow: tuple[NDArray[np.int32], ...],
    small: tuple[NDArray[np.uint8], ...], places: NDArray[np.int64], ends: NDArray[np.int64],
    data: NDArray[np.uint8],
) -> None:  # fmt: skip
    """The other way round: write what was packed into these places."""
    x = first = at = 0
    for c in range(len(wide)):
        eights, n = wide[c], int(ends[x]) - first
        eight = data[at : at + 8 * n].view(np.int64)
        for row in range(n):
            eights[places[first + row]] = eight[row]
        at += 8 * n
        first += n
        x += 1
    for c in range(len(narrow)):
        fours, n = narrow[c], int(ends[x]) - first
        four = data[at : at + 4 * n].view(np.int32)
        for row in range(n):
            fours[places[first + row]] = four[row]
        at += 4 * n
        first += n
        x += 1
    for c in range(len(small)):
        ones, n = small[c], int(ends[x]) - first
        for row in range(n):
            ones[places[first + row]] = data[at + row]
        at += n
        first += n
        x += 1
