"""Rows of vehicles taken out of the arrays by slot, column after column, and put into others."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel


@kernel
def take_columns(
    columns: tuple[NDArray[np.int64], ...], slots: NDArray[np.int32], out: NDArray[np.int64]
) -> None:
    """Copy what columns of one width hold in some slots. Writes out, (columns, n)."""
    for c in range(len(columns)):
        column = columns[c]
        for row in range(slots.shape[0]):
            out[c, row] = column[slots[row]]


@kernel
def put_columns(
    columns: tuple[NDArray[np.int64], ...], slots: NDArray[np.int32], rows: NDArray[np.int64]
) -> None:
    """The other way round: write rows, (columns, n), into some slots."""
    for c in range(len(columns)):
        column = columns[c]
        for row in range(slots.shape[0]):
            column[slots[row]] = rows[c, row]


@kernel
def take_tables(
    tables: tuple[NDArray[np.int32], ...], slots: NDArray[np.int32], out: NDArray[np.int32]
) -> None:
    """Copy the rows of tables in some slots. Writes out, flat, one table after the other."""
    at = 0
    for t in range(len(tables)):
        table = tables[t]
        for row in range(slots.shape[0]):
            for k in range(table.shape[1]):
                out[at] = table[slots[row], k]
                at += 1


@kernel
def put_tables(
    tables: tuple[NDArray[np.int32], ...], slots: NDArray[np.int32], rows: NDArray[np.int32]
) -> None:
    """The other way round: write rows, flat, into some slots of tables."""
    at = 0
    for t in range(len(tables)):
        table = tables[t]
        for row in range(slots.shape[0]):
            for k in range(table.shape[1]):
                table[slots[row], k] = rows[at]
                at += 1
