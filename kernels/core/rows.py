"""Rows taken out of arrays by their numbers, packed as bytes column after column, and put into others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel


@kernel
def take_rows(
    columns: tuple[NDArray[Any], ...], slots: NDArray[np.int32], ends: NDArray[np.int64],
    out: NDArray[np.uint8], at: int,
) -> int:  # fmt: skip
    """Pack what columns of one kind hold in some slots; return the byte where that ends.

    columns: (any,) each; slots: of all columns, one after the other; ends: (columns + 1,) where those of
    each begin and end, or (0,): each column in all the slots. Writes out, from byte at on.
    """
    first, end = 0, slots.shape[0]
    for c in range(len(columns)):
        if ends.shape[0] > 0:
            first, end = ends[c], ends[c + 1]
        column = columns[c]
        these = slots[first:end]
        size = column.itemsize * these.shape[0]
        packed = out[at : at + size].view(column.dtype)
        for row in range(these.shape[0]):
            packed[row] = column[these[row]]
        at += size
    return at


@kernel
def put_rows(
    columns: tuple[NDArray[Any], ...], slots: NDArray[np.int32], ends: NDArray[np.int64],
    data: NDArray[np.uint8], at: int,
) -> int:  # fmt: skip
    """The other way round: write what was packed, from byte at on, into the slots."""
    first, end = 0, slots.shape[0]
    for c in range(len(columns)):
        if ends.shape[0] > 0:
            first, end = ends[c], ends[c + 1]
        column = columns[c]
        these = slots[first:end]
        size = column.itemsize * these.shape[0]
        packed = data[at : at + size].view(column.dtype)
        for row in range(these.shape[0]):
            column[these[row]] = packed[row]
        at += size
    return at
