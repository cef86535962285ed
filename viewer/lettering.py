"""Small letters for legends: a 5 x 7 dot font of letters, digits and signs, with accents.

A letter with an accent is put together: capitals are two rows lower to make room for it.
"""

import unicodedata
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Rows of five dots for each sign, as hexadecimal numbers of five bits: seven, and two below the line.
ROWS: Final = 9
CELL: Final = 6  # dots from one sign to the next
_DOTS: Final = {
    " ": "00 00 00 00 00 00 00", "0": "0E 11 13 15 19 11 0E", "1": "04 0C 04 04 04 04 0E",
    "2": "0E 11 01 02 04 08 1F", "3": "1F 02 04 02 01 11 0E", "4": "02 06 0A 12 1F 02 02",
    "5": "1F 10 1E 01 01 11 0E", "6": "06 08 10 1E 11 11 0E", "7": "1F 01 02 04 08 08 08",
    "8": "0E 11 11 0E 11 11 0E", "9": "0E 11 11 0F 01 02 0C", "A": "0E 11 11 1F 11 11 11",
    "B": "1E 11 11 1E 11 11 1E", "C": "0E 11 10 10 10 11 0E", "D": "1C 12 11 11 11 12 1C",
    "E": "1F 10 10 1E 10 10 1F", "F": "1F 10 10 1E 10 10 10", "G": "0E 11 10 17 11 11 0F",
    "H": "11 11 11 1F 11 11 11", "I": "0E 04 04 04 04 04 0E", "J": "07 02 02 02 02 12 0C",
    "K": "11 12 14 18 14 12 11", "L": "10 10 10 10 10 10 1F", "M": "11 1B 15 15 11 11 11",
    "N": "11 11 19 15 13 11 11", "O": "0E 11 11 11 11 11 0E", "P": "1E 11 11 1E 10 10 10",
    "Q": "0E 11 11 11 15 12 0D", "R": "1E 11 11 1E 14 12 11", "S": "0F 10 10 0E 01 01 1E",
    "T": "1F 04 04 04 04 04 04", "U": "11 11 11 11 11 11 0E", "V": "11 11 11 11 11 0A 04",
    "W": "11 11 11 15 15 15 0A", "X": "11 11 0A 04 0A 11 11", "Y": "11 11 11 0A 04 04 04",
    "Z": "1F 01 02 04 08 10 1F", ".": "00 00 00 00 00 0C 0C", ",": "00 00 00 00 0C 04 08",
    ":": "00 0C 0C 00 0C 0C 00", "-": "00 00 00 1F 00 00 00", "+": "00 04 04 1F 04 04 00",
    "/": "00 01 02 04 08 10 00", "(": "02 04 08 08 08 04 02", ")": "08 04 02 02 02 04 08",
    "%": "18 19 02 04 08 13 03", "=": "00 00 1F 00 1F 00 00", "_": "00 00 00 00 00 00 1F",
    "?": "0E 11 01 02 04 00 04", "a": "00 00 0E 01 0F 11 0F", "b": "10 10 16 19 11 11 1E",
    "c": "00 00 0E 10 10 11 0E", "d": "01 01 0D 13 11 11 0F", "e": "00 00 0E 11 1F 10 0E",
    "f": "06 09 08 1C 08 08 08", "g": "00 00 0F 11 11 11 0F 01 0E", "h": "10 10 16 19 11 11 11",
    "i": "04 00 0C 04 04 04 0E", "j": "02 00 06 02 02 02 02 12 0C", "k": "10 10 12 14 18 14 12",
    "l": "0C 04 04 04 04 04 0E", "m": "00 00 1A 15 15 11 11", "n": "00 00 16 19 11 11 11",
    "o": "00 00 0E 11 11 11 0E", "p": "00 00 1E 11 11 11 1E 10 10", "q": "00 00 0F 11 11 11 0F 01 01",
    "r": "00 00 16 19 10 10 10", "s": "00 00 0F 10 0E 01 1E", "t": "08 08 1C 08 08 09 06",
    "u": "00 00 11 11 11 13 0D", "v": "00 00 11 11 11 0A 04", "w": "00 00 11 11 15 15 0A",
    "x": "00 00 11 0A 04 0A 11", "y": "00 00 11 11 11 11 0F 01 0E", "z": "00 00 1F 02 04 08 1F",
    "<": "02 04 08 10 08 04 02", ">": "08 04 02 01 02 04 08", "[": "0E 08 08 08 08 08 0E",
    "]": "0E 02 02 02 02 02 0E", "#": "0A 0A 1F 0A 1F 0A 0A", "'": "04 04 08 00 00 00 00",
    '"': "0A 0A 00 00 00 00 00", "!": "04 04 04 04 04 00 04", "*": "00 0A 04 1F 04 0A 00",
    ";": "00 0C 0C 00 0C 04 08", "|": "04 04 04 04 04 04 04", "&": "08 14 14 08 15 12 0D",
    "@": "0E 11 17 15 17 10 0E", "^": "04 0A 11 00 00 00 00", "~": "00 00 08 15 02 00 00",
    "\u00df": "0C 12 12 14 12 11 16", "\u0131": "00 00 0C 04 04 04 0E", "\u00b0": "0E 0A 0E 00 00 00 00",
    "\u00ba": "0E 0A 0E 00 0E 00 00", "\u00aa": "07 09 0F 00 0F 00 00", "\u00b7": "00 00 00 0C 0C 00 00",
    "\u00f8": "00 01 0E 13 15 19 1E", "\u00d8": "0F 13 13 15 19 19 1E", "\u00e6": "00 00 1A 05 0F 14 0F",
    "\u00c6": "0F 14 14 1F 14 14 17", "\u0153": "00 00 0A 15 17 14 0B", "\u0142": "0C 04 05 06 0C 04 0E",
    "\u0141": "08 08 0A 0C 18 08 0F", "\u0111": "01 07 0D 13 11 11 0F", "\u0110": "0E 09 09 1D 09 09 0E",
}  # fmt: skip
_ALIKE: Final = {"\u2019": "'", "\u2018": "'", "\u00b4": "'", "`": "'", "\u2013": "-", "\u2014": "-", "\u201c": '"',
                 "\u201d": '"', "\u201e": '"', "\u00a0": " "}  # fmt: skip
# Accents by their combining sign: two rows above a letter, two below it.
_ABOVE: Final = {
    "\u0300": (8, 4), "\u0301": (2, 4), "\u0302": (4, 10), "\u0303": (13, 0), "\u0304": (14, 0),
    "\u0306": (17, 14), "\u0307": (4, 0), "\u0308": (10, 0), "\u030a": (6, 6), "\u030b": (5, 10),
    "\u030c": (10, 4),
}  # fmt: skip
_BELOW: Final = {"\u0326": (4, 8), "\u0327": (4, 8), "\u0328": (4, 3), "\u0323": (4, 0)}


def text_width(text: str, scale: int) -> int:
    """Width of a line of text in pixels; its height is 7 * scale, and 2 * scale below the line."""
    return max(0, CELL * len(text) - 1) * scale


def text_mask(text: str, scale: int) -> NDArray[np.bool_]:
    """The dots of a line of text, shape (ROWS * scale, text_width); unknown signs show as '?'."""
    mask = np.zeros((ROWS, max(1, CELL * len(text) - 1)), dtype=np.bool_)
    for k, sign in enumerate(text):
        mask[:, CELL * k : CELL * k + 5] = _dots(sign)
    return np.repeat(np.repeat(mask, scale, axis=0), scale, axis=1)


def is_drawn(text: str) -> bool:
    """Whether the font has every sign of a text."""
    return all(_rows(sign) is not None for sign in text)


@cache
def sign_runs(sign: str) -> NDArray[np.float64]:
    """Dots beside each other of a sign as rectangles (n, 4): left, top, right, bottom, y down."""
    found = []
    for y, row in enumerate(_dots(sign).tolist()):
        x = 0
        while x < len(row):
            end = x
            while end < len(row) and row[end]:
                end += 1
            if end > x:
                found.append((x, y, end, y + 1))
            x = max(end, x + 1)
    return np.array(found, np.float64).reshape(-1, 4)


@cache
def _dots(sign: str) -> NDArray[np.bool_]:
    """The dots of a sign, (ROWS, 5)."""
    rows = _rows(sign) or _plain("?")
    return np.array([[bool(row >> (4 - x) & 1) for x in range(5)] for row in rows])


def _plain(sign: str) -> list[int]:
    rows = [int(row, 16) for row in _DOTS[sign].split()]
    return rows + [0] * (ROWS - len(rows))


@cache
def _rows(sign: str) -> list[int] | None:
    """The rows of a sign, put together where it has accents; None: the font does not have it."""
    sign = _ALIKE.get(sign, sign)
    if sign in _DOTS:
        return _plain(sign)
    letter, *accents = list(unicodedata.normalize("NFD", sign))
    if letter not in _DOTS or not set(accents) <= _ABOVE.keys() | _BELOW.keys() or not accents:
        return None
    rows = _plain({"i": "\u0131"}.get(letter, letter))
    above = [accent for accent in accents if accent in _ABOVE]
    if above and letter.isupper():
        rows = [0, 0, *_lower(rows[:7]), 0, 0]
    for accent in accents:
        first, marks = (0, _ABOVE[accent]) if accent in _ABOVE else (7, _BELOW[accent])
        for k, row in enumerate(marks):
            rows[first + k] |= row
    return rows


def _lower(rows: list[int]) -> list[int]:
    """A capital in five rows: of rows that are alike one is left out, else the second and the sixth."""
    rows = list(rows)
    while len(rows) > 5:
        alike = next((k for k in range(1, len(rows)) if rows[k] == rows[k - 1]), None)
        del rows[alike if alike is not None else 1 if len(rows) == 7 else 4]
    return rows


def write_text(
    image: NDArray[np.uint8], text: str, x: int, y: int, colour: tuple[int, int, int], scale: int
) -> None:
    """Paint a line of text with its upper left corner at pixel (x, y); cut at the edges."""
    mask = text_mask(text, scale)
    height, width, _ = image.shape
    top, left = max(0, -y), max(0, -x)
    bottom, right = min(mask.shape[0], height - y), min(mask.shape[1], width - x)
    if bottom > top and right > left:
        place = image[y + top : y + bottom, x + left : x + right]
        place[mask[top:bottom, left:right]] = colour
