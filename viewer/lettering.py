"""Small letters for legends: a 5 x 7 dot font of capitals, digits and a few signs."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

# Seven rows of five dots for each sign, as hexadecimal numbers of five bits.
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
    "?": "0E 11 01 02 04 00 04",
}  # fmt: skip


def text_width(text: str, scale: int) -> int:
    """Width of a line of text in pixels; its height is 7 * scale."""
    return max(0, 6 * len(text) - 1) * scale


def text_mask(text: str, scale: int) -> NDArray[np.bool_]:
    """The dots of a line of text, shape (7 * scale, text_width); unknown signs show as '?'."""
    mask = np.zeros((7, max(1, 6 * len(text) - 1)), dtype=np.bool_)
    for k, sign in enumerate(text.upper()):
        rows = [int(row, 16) for row in _DOTS.get(sign, _DOTS["?"]).split()]
        for y, row in enumerate(rows):
            for x in range(5):
                mask[y, 6 * k + x] = bool(row >> (4 - x) & 1)
    return np.repeat(np.repeat(mask, scale, axis=0), scale, axis=1)


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
