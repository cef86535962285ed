"""Damage to files for the fuzz tests: to bytes, and to the structure of XML, JSON, tables and HDF5.

Every function takes a random.Random, so that an input can be made again from its number.
"""

import csv
import io
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

Damage = Callable[[random.Random, bytes], bytes]

NUMBERS = (
    "0", "-1", "1", "2", "-0.0", "0.5", "1e-9", "1e300", "-1e300", "1e9", "nan", "inf", "-inf",
    "2147483648", "-2147483649", "18446744073709551616", "9" * 40, "1_0", "0x1F", "", " ", "x",
)  # fmt: skip
WORDS = ("", " ", "a", "-", "\u00fc\u2603", "\x7f", "%s%n", "../..", "a" * 3000, "1 2", ",", ";;|")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE]-?\d+)?")
TOKEN = re.compile(rb'"[^"]*"')


# --- bytes ------------------------------------------------------------------------------------


def damaged_bytes(draw: random.Random, data: bytes, letters: bytes = b"") -> bytes:
    """One to four changes; letters: what single bytes become, of any value where there are none."""
    text = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        if not text:
            return b""
        at, kind = draw.randrange(len(text)), draw.randrange(6)
        if kind <= 1:
            text[at] = draw.choice(letters) if letters else draw.randrange(256)
        elif kind == 2:
            text[at] ^= 1 << draw.randrange(8)
        elif kind == 3:
            del text[at : at + draw.choice((1, 2, 20, 200, len(text)))]
        elif kind == 4:
            text[at:at] = text[at : at + draw.choice((1, 4, 40, 400))]
        else:
            other = draw.randrange(len(text))
            text[at : at + 8], text[other : other + 8] = text[other : other + 8], text[at : at + 8]
    return bytes(text)


def flipped_bits(draw: random.Random, data: bytes) -> bytes:
    """One or two bits; every length in the file stays true."""
    text = bytearray(data)
    for _ in range(draw.randint(1, 2)):
        text[draw.randrange(len(text))] ^= 1 << draw.randrange(8)
    return bytes(text)


def damaged_text(draw: random.Random, data: bytes) -> bytes:
    """Single characters that mean something, whole numbers and whole quoted texts."""
    kind = draw.randrange(4)
    if kind == 0:
        return damaged_bytes(draw, data, b"0123456789.-+\"'<>/=&{}[]:;, \nabcnexi|\x00\xff")
    found = list((NUMBER if kind == 1 else TOKEN).finditer(data))
    if not found:
        return damaged_bytes(draw, data)
    for match in sorted(draw.sample(found, min(len(found), draw.randint(1, 3))), key=_from_back):
        new = draw.choice(NUMBERS).encode() if kind == 1 else draw.choice(found).group()
        if kind == 3:
            new = b'"' + draw.choice((*WORDS, *NUMBERS)).encode() + b'"'
        data = data[: match.start()] + new + data[match.end() :]
    return data


def _from_back(match: re.Match[bytes]) -> int:
    return -match.start()


# --- XML --------------------------------------------------------------------------------------


def xml_damage(words: Sequence[str]) -> Damage:
    """Damage to elements and attributes. words: values that mean something to the reader."""

    def damage(draw: random.Random, data: bytes) -> bytes:
        root = ElementTree.fromstring(data)
        for _ in range(draw.choice((1, 1, 2, 4))):
            _damage_tree(draw, root, words)
        return ElementTree.tostring(root)

    return damage


def _damage_tree(draw: random.Random, root: ElementTree.Element, words: Sequence[str]) -> None:
    parents = [element for element in root.iter() if len(element)]
    if not parents:
        return
    parent = draw.choice(parents)
    child = draw.choice(list(parent))
    kind = draw.randrange(9)
    if kind == 0:
        parent.remove(child)
    elif kind == 1:
        parent.insert(draw.randrange(len(parent) + 1), child)
    elif kind == 2:
        draw.choice(parents).append(ElementTree.fromstring(ElementTree.tostring(child)))
    elif kind == 3:
        child.tag = draw.choice([element.tag for element in root.iter()])
    elif child.attrib:
        name = draw.choice(list(child.attrib))
        if kind == 4:
            del child.attrib[name]
        elif kind == 5:  # the value that another has
            others = [e.attrib[name] for e in root.iter() if name in e.attrib]
            child.attrib[name] = draw.choice(others)
        elif kind == 6:
            child.attrib[name] = draw.choice(NUMBERS)
        elif kind == 7:
            child.attrib[name] = draw.choice((*WORDS, *words)).replace("\x7f", "")
        else:
            child.attrib[draw.choice([a for e in root.iter() for a in e.attrib])] = draw.choice(
                (*NUMBERS, *words)
            )


# --- JSON -------------------------------------------------------------------------------------

VALUES = (None, True, -1, 0, 1, 3, 1e-9, 1e9, 1e300, 10**30, "", "a", "w-a", [], {}, [{}])


def damaged_json(draw: random.Random, data: bytes) -> bytes:
    """One to three values changed, removed, moved or doubled somewhere in a document."""
    content = json.loads(data)
    for _ in range(draw.choice((1, 1, 2, 3))):
        _damage_value(draw, content)
    return json.dumps(content).encode()


def _damage_value(draw: random.Random, content: Any) -> None:
    while content:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        key = draw.choice(keys)
        if isinstance(content[key], dict | list) and content[key] and draw.random() < 0.9:
            content = content[key]
            continue
        value = content[key]
        kind = draw.randrange(4)
        if kind == 0:
            content[key] = draw.choice(VALUES)
        elif kind == 1:
            del content[key]
        elif kind == 2 and isinstance(value, int | float):
            content[key] = value * draw.choice([-1, 0.5, 2, 100, 1e6])
        elif isinstance(content, list):
            content.insert(0, value)
        else:
            content[draw.choice(keys)] = value
        return


# --- tables -----------------------------------------------------------------------------------


def damaged_table(draw: random.Random, data: bytes) -> bytes:
    """Cells, rows and columns of a .csv file changed, removed, doubled or exchanged."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    for _ in range(draw.choice((1, 1, 2, 4))):
        row, kind = draw.choice(rows) if rows else [], draw.randrange(6)
        if not row:
            continue
        at = draw.randrange(len(row))
        if kind == 0:
            row[at] = draw.choice(NUMBERS)
        elif kind == 1:
            row[at] = draw.choice(WORDS)
        elif kind == 2:
            row[at] = draw.choice([cell for other in rows for cell in other])
        elif kind == 3:
            rows.remove(row)
        elif kind == 4:
            rows.insert(draw.randrange(len(rows) + 1), list(row))
        else:
            for other in rows:
                del other[at : at + 1]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


# --- HDF5 -------------------------------------------------------------------------------------


def damage_hdf5(draw: random.Random, path: Path) -> None:
    """One to four datasets or attributes of a file changed, removed, exchanged or given another
    type or size."""
    import h5py

    with h5py.File(path, "r+") as file:
        for _ in range(draw.randint(1, 4)):
            places: list[str] = []
            file.visit(places.append)
            sets = [
                place
                for place in places
                if isinstance(file[place], h5py.Dataset)
                and file[place].size <= 10**6
                and file[place].dtype.kind != "V"  # tables of run files: tests/fuzz_runs.py
            ]
            _damage_dataset(draw, file, draw.choice(sets), sets)


def _damage_dataset(draw: random.Random, file: Any, place: str, sets: list[str]) -> None:
    data, kind = file[place][...], draw.randrange(9)
    if kind <= 3 and data.size:
        flat = data.reshape(-1)
        at = draw.randrange(data.size)
        if data.dtype.kind in "OS":
            flat[at] = draw.choice((b"", b"in_n", b"\xff\xfe", b"[", b"a\nb"))
        elif data.dtype.kind == "f":
            flat[at] = draw.choice((np.nan, np.inf, -1.0, 0.0, 1e300, -1e300, 1e-300, flat[0]))
        elif data.dtype.kind == "b":
            flat[at] = not flat[at]
        else:
            least, most = np.iinfo(data.dtype).min, np.iinfo(data.dtype).max
            step = int(flat[at]) + draw.choice((-1, 1))
            flat[at] = min(most, max(least, draw.choice((least, most, 0, 1, step, int(flat[0])))))
        file[place][...] = data
    elif kind == 4:
        del file[place]
    elif kind == 5:
        other = draw.choice(sets)
        if other in file and file[other].shape == data.shape and file[other].dtype == data.dtype:
            file[place][...], file[other][...] = file[other][...], data
    elif kind == 6:
        group = file[place].parent
        name = draw.choice(list(group.attrs) or ["format_version"])
        group.attrs[name] = draw.choice((0, 99, np.nan, "x" * 100, "\u2603", np.zeros(3), b"\xff"))
    else:
        del file[place]
        if kind == 7:
            size = draw.choice((0, 1, data.size + 1, 10**6, 10**12))
            file.create_dataset(place, (size,), data.dtype, chunks=(1024,), maxshape=(None,))
        else:
            new = draw.choice(
                (data.reshape(-1)[: data.size // 2], np.zeros((2, 2)), np.float32(1.0), "text")
            )
            file.create_dataset(place, data=new)
