"""Rows of numbers as lines of text: a literal before each column, and one behind the last.

A column is a number with a fixed count of decimals, or one of some texts. Numbers are rounded as
Python's format `z.3f` rounds them: by their exact value, ties to the even digit, and what becomes zero
has no minus.
"""

from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

MOST_SCALED: Final = 4.0e15  # a number times ten to its decimals, below 2^52
LONGEST: Final = 20  # characters of a number, at most
SPLITTER: Final = 134217729.0  # 2^27 + 1
MINUS: Final = 45
POINT: Final = 46
ZERO: Final = 48


@kernel
def rounding_error(a: float, b: float, product: float) -> float:
    """What was rounded off a product: a * b less `product`, exactly (Dekker 1971)."""
    split = SPLITTER * a
    a1 = split - (split - a)
    a2 = a - a1
    split = SPLITTER * b
    b1 = split - (split - b)
    b2 = b - b1
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


@kernel
def put_decimal(out: NDArray[np.uint8], at: int, value: float, decimals: int) -> int:
    """Write a number as text; the place behind it, -1 for one that is too large or none."""
    factor = 1.0
    for _ in range(decimals):
        factor *= 10.0
    size = abs(value)
    scaled = size * factor
    if not scaled < MOST_SCALED:
        return -1
    whole = floor(scaled)
    over = (scaled - whole - 0.5) + rounding_error(size, factor, scaled)
    digits = int(whole)
    if over > 0.0 or (over == 0.0 and digits & 1):
        digits += 1
    if value < 0.0 and digits > 0:
        out[at] = MINUS
        at += 1
    count, power = 1, 10
    while digits >= power:
        count, power = count + 1, 10 * power
    count = max(count, decimals + 1)
    end = at + count + (1 if decimals > 0 else 0)
    place = end - 1
    for i in range(count):
        if i == decimals and decimals > 0:
            out[place] = POINT
            place -= 1
        out[place] = ZERO + digits % 10
        digits //= 10
        place -= 1
    return end


@kernel(nogil=True)
def put_lines(
    numbers: NDArray[np.float64], decimals: NDArray[np.int64], texts: NDArray[np.int64],
    columns: NDArray[np.int64], literals: NDArray[np.int64], pool: NDArray[np.uint8],
    start: NDArray[np.int64], out: NDArray[np.uint8],
) -> int:  # fmt: skip
    """Write a line for each row; the bytes written, or -1 - row of a number that cannot be.

    numbers: (k, n); decimals: (k,) of each; texts: (t, n), numbers of texts. columns: (c,), a row of
    numbers, or -1 - a row of texts; literals: (c + 1,) the texts around them. Text i is the bytes
    of the pool from start[i] up to start[i + 1].
    """
    at = 0
    rows = numbers.shape[1]
    for row in range(rows):
        for c in range(columns.shape[0] + 1):
            word = literals[c]
            for i in range(start[word], start[word + 1]):
                out[at] = pool[i]
                at += 1
            if c == columns.shape[0]:
                break
            column = columns[c]
            if column >= 0:
                at = put_decimal(out, at, numbers[column, row], decimals[column])
                if at < 0:
                    return -1 - row
                continue
            word = texts[-1 - column, row]
            for i in range(start[word], start[word + 1]):
                out[at] = pool[i]
                at += 1
    return at
