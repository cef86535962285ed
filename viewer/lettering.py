"""Lines of text as coverage of pixels, in any script: Noto Sans (OFL-1.1) by FreeType.

A sign is drawn with the first font that has it. Chinese, Japanese and Korean need the extra `cjk`; what no font
has shows as a box. A *piece* is what may be turned by itself along a street: a letter with its accents, or
a whole text where letters are joined or read from the right.
"""

import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

PACKAGES: Final = ("manimgx_fonts", "manimgx_fonts_cjk")  # of fonts, the first ones first
FIRST: Final = "NotoSans["  # the font that is asked first
WEIGHT: Final = 450  # of panels
STREET_WEIGHT: Final = 550
CAPITAL: Final = 0.714  # of the size of the font: how high capitals are
RISE: Final = 0.34  # of the size, above capitals: accents
FALL: Final = 0.34  # of the size, below the line
FINER: Final = 4  # times as fine as pixels are letters painted: Pillow puts each on a whole pixel
JOINED: Final = ("Mc", "Mn", "Me", "Cf")  # categories that belong to the sign before


def font_size(scale: int) -> int:
    """Pixels of the font in panels of a scale; capitals are about 7 * scale pixels high."""
    return 2 + 8 * scale


@lru_cache(maxsize=4096)
def text_width(text: str, scale: int) -> int:
    """Width of a line of text in pixels."""
    return int(np.ceil(_length(text, font_size(scale), WEIGHT)))


@lru_cache(maxsize=4096)
def text_mask(text: str, scale: int) -> NDArray[np.uint8]:
    """Coverage of a line of text, 0 .. 255, as wide as `text_width`; capitals begin in row `rise(scale)`."""
    size = font_size(scale)
    up, down = rise(scale), int(np.ceil(FALL * size))
    high = up + 7 * scale + down
    base = up + round(0.5 * (7 * scale + CAPITAL * size))
    mask = _painted(text, size, WEIGHT, max(1, text_width(text, scale)), high, 0.0, base, 0.0)
    mask.setflags(write=False)
    return mask


def rise(scale: int) -> int:
    """Rows of a mask above capitals."""
    return int(np.ceil(RISE * font_size(scale)))


def write_text(
    image: NDArray[np.uint8], text: str, x: int, y: int, colour: tuple[int, int, int], scale: int
) -> None:
    """Paint a line of text on an image (h, w, 3 or 4), capitals from pixel (x, y) on; cut at the edges."""
    mask, y = text_mask(text, scale), y - rise(scale)
    height, width = image.shape[:2]
    top, left = max(0, -y), max(0, -x)
    bottom, right = min(mask.shape[0], height - y), min(mask.shape[1], width - x)
    if bottom <= top or right <= left:
        return
    share = mask[top:bottom, left:right].astype(np.float32)[..., None] / 255.0
    place = image[y + top : y + bottom, x + left : x + right]
    paint = np.array((*colour, 255)[: image.shape[2]], np.float32)
    place[...] = np.round(place + share * (paint - place)).astype(np.uint8)


def is_drawn(text: str) -> bool:
    """Whether the fonts that are installed have every sign of a text."""
    return all(_font_of(sign) is not None for sign in text)


@lru_cache(maxsize=8192)
def pieces_of(text: str) -> tuple[tuple[str, float, float], ...]:
    """The pieces of a text: what each says, its middle and its width, in sizes of the font."""
    if _is_joined(text):
        wide = _length(text, 100, STREET_WEIGHT) / 100.0
        return ((text, 0.5 * wide, wide),)
    parts: list[str] = []
    for sign in text:
        if parts and unicodedata.category(sign) in JOINED:
            parts[-1] += sign
        else:
            parts.append(sign)
    ends = [0.0]
    for k in range(len(parts)):  # with what is before, so that pairs of letters move together
        ends.append(_length("".join(parts[: k + 1]), 100, STREET_WEIGHT) / 100.0)
    return tuple(
        (part, 0.5 * (a + b), b - a)
        for part, a, b in zip(parts, ends, ends[1:], strict=False)
        if part.strip()
    )


@lru_cache(maxsize=8192)
def piece_masks(piece: str, size: int, rim: float) -> NDArray[np.uint8]:
    """Coverage of a piece and of the rim around it, (2, h, w), with the middle of its capitals in the middle.

    size: pixels of the font.   rim: pixels.
    """
    wide = _length(piece, size, STREET_WEIGHT)
    around = rim + 0.12 * size
    width = 2 * int(np.ceil(0.5 * wide + around)) + 1
    height = 2 * int(np.ceil((0.5 * CAPITAL + FALL) * size + rim)) + 1
    left, base = 0.5 * (width - wide), 0.5 * (height + CAPITAL * size)
    told = [
        _painted(piece, size, STREET_WEIGHT, width, height, left, base, stroke)
        for stroke in (0.0, rim)
    ]
    masks = np.stack(told)
    masks.setflags(write=False)
    return masks


def _is_joined(text: str) -> bool:
    """Whether letters of a text are joined to each other or read from the right."""
    return any(
        unicodedata.bidirectional(sign) in ("R", "AL")
        or unicodedata.category(sign) == "Mc"
        or unicodedata.combining(sign) == 9
        for sign in text
    )


def _painted(
    text: str, size: int, weight: int, width: int, height: int, left: float, base: float, stroke: float
) -> NDArray[np.uint8]:  # fmt: skip
    """Coverage (height, width) of a text that begins at a column, on a line."""
    from PIL import Image, ImageDraw

    image = Image.new("L", (width * FINER, height * FINER))
    draw = ImageDraw.Draw(image)
    x = left * FINER
    for number, run in _runs(text):
        font = _font(number, size * FINER, weight)
        draw.text((x, base * FINER), run, 255, font, anchor="ls", stroke_width=stroke * FINER)
        x += font.getlength(run)
    return np.array(image.resize((width, height), Image.Resampling.BOX), np.uint8)


def _length(text: str, size: int, weight: int) -> float:
    """How wide a text is, pixels."""
    return float(sum(_font(number, size, weight).getlength(run) for number, run in _runs(text)))


def _runs(text: str) -> list[tuple[int, str]]:
    """Stretches of a text with the number of the font that each is drawn with."""
    runs: list[tuple[int, str]] = []
    for sign in unicodedata.normalize("NFC", text):
        before = runs[-1][0] if runs else 0
        number = before if _has(before, sign) else _font_of(sign)
        number = 0 if number is None else number
        if runs and number == before:
            runs[-1] = (before, runs[-1][1] + sign)
        else:
            runs.append((number, sign))
    return runs


@cache
def _paths() -> tuple[Path, ...]:
    """The files of the fonts, that which is asked first first."""
    found: list[Path] = []
    for package in PACKAGES:
        if find_spec(package) is not None:
            folder = Path(str(files(package)))
            fonts = [path for path in folder.iterdir() if path.suffix in (".ttf", ".ttc")]
            found += sorted(fonts, key=lambda path: (not path.name.startswith(FIRST), path.name))
    return tuple(path for path in found if "Italic" not in path.name)


@cache
def _face(number: int) -> Any:
    """What tells which signs a font has."""
    import freetype

    return freetype.Face(str(_paths()[number]))


@cache
def _has(number: int, sign: str) -> bool:
    return bool(_face(number).get_char_index(sign))


@cache
def _font_of(sign: str) -> int | None:
    """The number of the first font that has a sign; None: none has."""
    return next((number for number in range(len(_paths())) if _has(number, sign)), None)


@lru_cache(maxsize=256)
def _font(number: int, size: int, weight: int) -> Any:
    from PIL import ImageFont

    font = ImageFont.truetype(str(_paths()[number]), size)
    told = []
    for axis in font.get_variation_axes():
        wanted = weight if axis["name"] in (b"Weight", "Weight") else axis["default"]
        told.append(float(np.clip(wanted or 0, axis["minimum"] or 0, axis["maximum"] or 0)))
    font.set_variation_by_axes(told)
    return font
