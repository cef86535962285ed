"""JSON files and their values, without trusting the file.

`read_json` bounds size and depth; an `Item` is an object of the file with its place there, whose
fields are checked as they are taken: a wrong one is refused with file, place and what was wanted.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.unpacking import unpacked
from rushhour.roadnets.reading.values import FARTHEST

LARGEST: Final = 128 << 20  # bytes after decompression
# Bytes of memory that come with a sign of the text, as an object, a list or a value begins.
HELD: Final = {b"{": 232, b"[": 64, b",": 32}
MOST_HELD: Final = 2 << 30
LONGEST_TEXT: Final = 1000  # characters of a name


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"the number {name}")


def read_json(path: Path, largest: int = LARGEST) -> object:
    """The content of a JSON file, which may be gzipped (told by its first two bytes).

    Raises NetworkError, one line, when the file cannot be opened, is empty, damaged, not JSON,
    larger than `largest` bytes when unpacked, nested too deep, or holds NaN or infinity.
    """
    data = unpacked(path, largest)
    held = sum(data.count(sign) * size for sign, size in HELD.items())
    if held > MOST_HELD:
        raise NetworkError(
            f"{path}: its objects and lists would take {held / (1 << 30):.1f} GB; cut it into parts"
        )
    if not data.strip():
        raise NetworkError(f"{path}: the file is empty; give a complete JSON file")
    try:
        content: object = json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        raise NetworkError(f"{path}: nested too deep; give a JSON file of a network") from None
    except ValueError as error:  # not JSON, not Unicode, a number of thousands of digits
        what = " ".join(str(error).split())[:120]
        raise NetworkError(f"{path}: not JSON ({what}); give a complete, undamaged file") from None
    return content


def shown(value: object) -> str:
    """A value as messages quote it."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "null" if value is None else repr(value)[:40]


class Item:
    """An object of a JSON file, with its file and its place there, as `roads[3].lanes[0]`.

    Every method raises NetworkError for a field that is missing or cannot be meant.
    """

    __slots__ = ("_fields", "file", "place")

    def __init__(self, value: object, file: Path, place: str = "") -> None:
        self.file = file
        self.place = place
        if not isinstance(value, dict):
            raise NetworkError(f"{self.where}: {shown(value)}; give an object")
        self._fields: Mapping[str, object] = value

    @property
    def where(self) -> str:
        """File and place, for messages."""
        return f"{self.file}: {self.place}" if self.place else str(self.file)

    def _inside(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def __contains__(self, key: str) -> bool:
        return self._fields.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def _taken(self, key: str) -> object:
        if key not in self._fields:
            raise NetworkError(f"{self.where}: has no {key!r}; add it")
        return self._fields[key]

    def _refuse(self, key: str, wanted: str) -> NoReturn:
        raise NetworkError(f"{self.where}: {key} {shown(self._fields[key])}; give {wanted}")

    def number(self, key: str, least: float, most: float) -> float:
        """A number, least <= number <= most."""
        value = self._taken(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            if least <= value <= most:
                return float(value)
        self._refuse(key, f"a number from {least:g} to {most:g}")

    def whole(self, key: str, least: int, most: int) -> int:
        """A whole number, least <= number <= most."""
        value = self._taken(key)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self._refuse(key, f"a whole number from {least} to {most}")

    def wholes(self, key: str, least: int, most: int) -> list[int]:
        """A list of whole numbers, least <= number <= most."""
        values = self.entries(key)
        for i, value in enumerate(values):
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise NetworkError(
                    f"{self.where}: {key}[{i}] {shown(value)}; "
                    f"give a whole number from {least} to {most}"
                )
        return values  # type: ignore[return-value]  # as just checked

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._taken(key)
        if isinstance(value, bool):
            return value
        self._refuse(key, "true or false")

    def text(self, key: str) -> str:
        """A text of printable characters that is not empty."""
        value = self._taken(key)
        if isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and value.isprintable():
            return value
        self._refuse(key, f"a text of 1 to {LONGEST_TEXT} characters")

    def entries(self, key: str) -> list[object]:
        """A list."""
        value = self._taken(key)
        if isinstance(value, list):
            return value
        self._refuse(key, "a list")

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        values = self.entries(key)
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise NetworkError(f"{self.where}: {key}[{i}] {shown(value)}; give a text")
        return values  # type: ignore[return-value]  # as just checked

    def item(self, key: str) -> "Item":
        """An object."""
        return Item(self._taken(key), self.file, self._inside(key))

    def items(self, key: str) -> Iterator["Item"]:
        """The objects of a list."""
        place = self._inside(key)
        for i, value in enumerate(self.entries(key)):
            yield Item(value, self.file, f"{place}[{i}]")

    def points(self, key: str, least: int, most: int) -> NDArray[np.float64]:
        """A list of least to most objects with x and y, (p, 2) m."""
        entries = self.entries(key)
        if not least <= len(entries) <= most:
            self._refuse(key, f"{least} to {most} points")
        places = np.empty((len(entries), 2))
        for i, point in enumerate(self.items(key)):
            places[i] = (
                point.number("x", -FARTHEST, FARTHEST),
                point.number("y", -FARTHEST, FARTHEST),
            )
        return places
