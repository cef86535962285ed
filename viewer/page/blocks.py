"""Blocks: named arrays in one compressed piece, as the page's `decode.js` opens them.

A block is zlib's: a little-endian uint32, the length of a JSON object, the object, spaces up to the
next multiple of 8, and arrays one after the other, each from a multiple of 8 on. The object holds
`facts`, and by name of each array its kind, its place behind the object and its length. Small numbers
of either sign are *signs*: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... in a byte, and what is beyond 254 is
255, with the number itself in a second array `NAME+`, in the order of those.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL: Final = 6  # of zlib: 9 takes four times as long and saves 2 %
WIDE: Final = 255
KINDS: Final = {"u1": "u8", "u2": "u16", "i4": "i32", "u4": "u32", "f4": "f32", "f8": "f64"}


def signs(numbers: ArrayLike, name: str) -> dict[str, NDArray[Any]]:
    """Whole numbers (n,) as a byte each, and those beyond as int32 in a second array."""
    given = np.asarray(numbers, np.int64).ravel()
    folded = np.where(given < 0, -2 * given - 1, 2 * given)
    wide = folded >= WIDE
    return {
        name: np.where(wide, WIDE, folded).astype(np.uint8),
        f"{name}+": given[wide].astype(np.int32),
    }


def steps(numbers: ArrayLike, name: str, starts: ArrayLike = ()) -> dict[str, NDArray[Any]]:
    """The differences of whole numbers (n,) as signs; at `starts` the numbers themselves."""
    given = np.asarray(numbers, np.int64).ravel()
    change = np.diff(given, prepend=0)
    first = np.asarray(starts, np.int64)
    change[first] = given[first]
    return signs(change, name)


def block(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any] | None = None) -> bytes:
    """Arrays of KINDS, flattened, and facts that JSON can hold."""
    places, parts, at = {}, [], 0
    for name, values in arrays.items():
        plain = np.ascontiguousarray(values)
        data = plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes()
        places[name] = [KINDS[plain.dtype.str[1:]], at, plain.size]
        parts.append(data + b"\0" * (-len(data) % 8))
        at += len(parts[-1])
    head = json.dumps(
        {"facts": facts or {}, "arrays": places}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    head += b" " * (-(4 + len(head)) % 8)
    return zlib.compress(b"".join((len(head).to_bytes(4, "little"), head, *parts)), LEVEL)
