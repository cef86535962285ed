"""Texts of .osm.pbf files, looked through before osmium reads them.

A text with a zero byte, which no map has, makes libosmium run past the end of its list of tags: the
process would end without a word. So the tables of texts are walked through here first.
Source: wiki.openstreetmap.org/wiki/PBF_Format.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

LARGEST_HEADER: Final = 64 << 10  # bytes, as the format has it
LARGEST_BLOB: Final = 32 << 20  # bytes, unpacked
TYPE, SIZE = 1, 3  # fields of a BlobHeader
RAW, PACKED = 1, 3  # of a Blob
TEXTS = 1  # of a PrimitiveBlock, and each text within
VARINT, LONG, BYTES, SHORT = 0, 1, 2, 5  # kinds of values


def check_texts(path: Path) -> None:
    """Raises ValueError for a .osm.pbf file with zero bytes in its texts, or that is damaged."""
    with path.open("rb") as file:
        for block in _blocks(file):
            for field, table in _fields(block):
                if field == TEXTS and isinstance(table, bytes):
                    for _, text in _fields(table):
                        if isinstance(text, bytes) and 0 in text:
                            raise ValueError("PBF error: a zero byte in a text")


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """The blocks of data of a file, unpacked."""
    while head := file.read(4):
        size = int.from_bytes(head, "big")
        if len(head) < 4 or size > LARGEST_HEADER:
            raise ValueError("PBF error: damaged header")
        header = _message(_whole(file, size))
        length = header.get(SIZE)
        if not isinstance(length, int) or length > LARGEST_BLOB:
            raise ValueError("PBF error: damaged header")
        blob = _message(_whole(file, length))
        if header.get(TYPE) != b"OSMData":
            continue
        data, packed = blob.get(RAW), blob.get(PACKED)
        if isinstance(packed, bytes) and data is None:
            try:
                data = zlib.decompressobj().decompress(packed, LARGEST_BLOB)
            except zlib.error as error:
                raise ValueError(f"PBF error: {error}") from None
        elif not isinstance(data, bytes) or packed is not None:
            raise ValueError("PBF error: data packed by another method than zlib")
        yield data


def _whole(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise ValueError("PBF error: unexpected EOF")
    return data


def _message(data: bytes) -> dict[int, int | bytes]:
    """The fields of a message in which each may stand once."""
    fields = list(_fields(data))
    found = dict(fields)
    if len(found) < len(fields):
        raise ValueError("PBF error: a field twice")
    return found


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of the fields of a message of Protocol Buffers."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            size, at = _varint(data, at)
        elif kind in (LONG, SHORT):
            size = 8 if kind == LONG else 4
        else:
            raise ValueError("PBF error: unknown kind of field")
        if at + size > len(data):
            raise ValueError("PBF error: a field longer than its message")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of 7 bits a byte, and the place behind it."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("PBF error: damaged number")
