"""Numbers written bit after bit into words of 32 bits, the lowest bit first, and read again.

A *Rice code* of parameter k writes a number u as its upper part u >> k in ones, a zero, and its
lowest k bits: short for numbers near or below 2^k. The words of a stream are followed by at least
two more that may be read.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

WORD: Final = 0xFFFFFFFF
MOST: Final = 31  # bits that are written or read at once
ONES: Final = 12  # of a Rice code, at most: so many announce a plain number instead
LARGEST_K: Final = 15
LENGTH: Final = 5  # bits that tell the length of a plain number

# By its lowest ONES bits, how many ones a number ends with.
TRAILING_ONES: Final = np.array(
    [(~x & (x + 1)).bit_length() - 1 for x in range(1 << ONES)], np.uint8
)


@kernel
def bit_length(u: int) -> int:
    """Bits of a number that is not negative."""
    bits = 0
    while u > 0:
        u >>= 1
        bits += 1
    return bits


@kernel
def folded(value: int) -> int:
    """A number of either sign as one that is not negative: 0, -1, 1, -2 ... become 0, 1, 2, 3 ..."""
    return (value << 1) ^ (value >> 63)


@kernel
def unfolded(u: int) -> int:
    """What `folded` folded."""
    return (u >> 1) ^ -(u & 1)


@kernel
def put(
    out: NDArray[np.uint32], at: int, acc: int, n: int, value: int, width: int
) -> tuple[int, int, int]:
    """Write the lowest bits of a value that has no others; width: 0 .. MOST.

    at: word that is being filled, acc: its n bits so far; all three are returned.
    """
    acc |= int(value) << n
    n += width
    out[at] = acc & WORD
    full = n >> 5
    return at + full, acc >> (full << 5), n & 31


@kernel
def put_number(out: NDArray[np.uint32], at: int, acc: int, n: int, u: int) -> tuple[int, int, int]:
    """Write a number from 0 below 2^31: its length, and it."""
    width = bit_length(u)
    at, acc, n = put(out, at, acc, n, width, LENGTH)
    return put(out, at, acc, n, u, width)


@kernel
def rice_code(u: int, k: int) -> tuple[int, int]:
    """A number in a Rice code of parameter k, and its bits: at most ONES + k, 0 if it is too large."""
    ones = u >> k
    if ones >= ONES:
        return 0, 0
    return ((1 << ones) - 1) | ((u & ((1 << k) - 1)) << (ones + 1)), ones + 1 + k


@kernel
def put_rice(
    out: NDArray[np.uint32], at: int, acc: int, n: int, u: int, k: int
) -> tuple[int, int, int]:
    """Write a number from 0 below 2^31 in a Rice code of parameter k."""
    code, width = rice_code(u, k)
    if width > 0:
        return put(out, at, acc, n, code, width)
    at, acc, n = put(out, at, acc, n, (1 << ONES) - 1, ONES)
    return put_number(out, at, acc, n, u)


@kernel
def peek(words: NDArray[np.uint32], bit: int) -> int:
    """The next MOST bits of a stream, from a place counted in bits."""
    at = bit >> 5
    two = int(words[at]) | (int(words[at + 1]) << 32)
    return (two >> int(bit & 31)) & 0x7FFFFFFF


@kernel
def take(words: NDArray[np.uint32], bit: int, width: int) -> tuple[int, int]:
    """Read so many bits, 0 .. MOST: the place behind them, and the value."""
    return bit + width, peek(words, bit) & ((1 << width) - 1)


@kernel
def take_number(words: NDArray[np.uint32], bit: int) -> tuple[int, int]:
    """Read what `put_number` wrote: the place behind it, and the number."""
    bit, width = take(words, bit, LENGTH)
    return take(words, bit, width)


@kernel
def take_rice(words: NDArray[np.uint32], bit: int, k: int) -> tuple[int, int]:
    """Read what `put_rice` wrote: the place behind it, and the number."""
    seen = peek(words, bit)
    ones = int(TRAILING_ONES[seen & ((1 << ONES) - 1)])
    if ones < ONES:
        return bit + ones + 1 + k, (ones << k) | ((seen >> (ones + 1)) & ((1 << k) - 1))
    return take_number(words, bit + ONES)


@kernel
def rice_parameter(total: int, count: int) -> int:
    """The parameter for numbers of this sum; the best one for a falling distribution."""
    return min(LARGEST_K, bit_length((11 * total) // (16 * max(1, count))))
