"""Panels of text, ramps and bars that lie over the picture, painted without a graphics card."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.viewer.colouring import Legend
from rushhour.viewer.lettering import text_mask, text_width
from rushhour.viewer.raster import FAINT, INK, LAND
from rushhour.viewer.themes import Colour

GLASS: Final = 225  # opacity of a panel, of 255
ROW: Final = 11  # pixels of a line of text, times its scale
EDGE: Final = 4  # pixels around it, times its scale
ACCENT: Final[Colour] = (250, 206, 70)
WARN: Final[Colour] = (240, 110, 90)
DUE: Final[Colour] = (90, 190, 235)  # demand
RAMP_SIZE: Final = (120, 5)  # pixels, times the scale

Line = tuple[tuple[str, Colour], ...]  # parts of a line of text with their colours
Lines = tuple[Line, ...]


@dataclass(frozen=True)
class Panel:
    """An image (height, width, 4) whose upper left corner lies at a pixel. name: its place."""

    name: str
    x: int
    y: int
    image: NDArray[np.uint8]

    @property
    def width(self) -> int:
        """Pixels."""
        return int(self.image.shape[1])

    @property
    def height(self) -> int:
        """Pixels."""
        return int(self.image.shape[0])


def text_scale(width: int, height: int) -> int:
    """Pixels of a dot of the font in a picture of a size."""
    return max(1, round(min(width, height) / 450))


def glass(width: int, height: int, opacity: int = GLASS) -> NDArray[np.uint8]:
    """An empty panel."""
    image = np.empty((max(1, height), max(1, width), 4), np.uint8)
    image[..., :3], image[..., 3] = LAND, opacity
    return image


def write(image: NDArray[np.uint8], text: str, x: int, y: int, colour: Colour, scale: int) -> None:
    """Paint a line of text on a panel; cut at its right edge."""
    mask = text_mask(text, scale)[:, : max(0, image.shape[1] - x)]
    place = image[y : y + mask.shape[0], x : x + mask.shape[1]]
    place[mask[: place.shape[0]]] = (*colour, 255)


def line(text: str, colour: Colour = INK) -> Line:
    """A line of one colour."""
    return ((text, colour),)


def pair(name: str, value: str, width: int, colour: Colour = INK) -> Line:
    """A line with a faint name in a column of so many letters."""
    return ((f"{name:<{width}}", FAINT), (value, colour))


def text_size(lines: Lines, scale: int) -> tuple[int, int]:
    """Pixels that lines need, width and height, with an edge around."""
    widest = max((text_width("".join(text for text, _ in one), scale) for one in lines), default=0)
    return widest + 2 * EDGE * scale, (ROW * len(lines) - 2 + 2 * EDGE) * scale


@lru_cache(maxsize=64)
def text_image(lines: Lines, scale: int) -> NDArray[np.uint8]:
    """A panel with lines of text. The same lines give the same array."""
    image = glass(*text_size(lines, scale))
    y = EDGE * scale
    for one in lines:
        x = EDGE * scale
        for text, colour in one:
            write(image, text, x, y, colour, scale)
            x += 6 * len(text) * scale
        y += ROW * scale
    return image


def legend_image(legend: Legend, scale: int) -> NDArray[np.uint8]:
    """A legend: its title, then a ramp with its ends, or a patch for each kind."""
    edge, row = EDGE * scale, ROW * scale
    titled = text_size((line(legend.title),), scale)
    if legend.ramp is not None:
        span, thick = RAMP_SIZE[0] * scale, RAMP_SIZE[1] * scale
        ends = text_width(legend.low, scale) + text_width(legend.high, scale) + 6 * scale
        width = max(titled[0], span + 2 * edge, ends + 2 * edge)
        image = glass(width, titled[1] + row + thick)
        write(image, legend.title, edge, edge, INK, scale)
        at = np.linspace(0, len(legend.ramp) - 1, width - 2 * edge).astype(np.intp)
        top = edge + row
        image[top : top + thick, edge : width - edge, :3] = legend.ramp[at][None]
        image[top : top + thick, edge : width - edge, 3] = 255
        y = top + thick + 2 * scale
        write(image, legend.low, edge, y, INK, scale)
        write(image, legend.high, width - edge - text_width(legend.high, scale), y, INK, scale)
        return image
    patch = 7 * scale
    widest = max((text_width(text, scale) for _, text in legend.kinds), default=0)
    width = max(titled[0], widest + patch + 3 * scale + 2 * edge)
    image = glass(width, titled[1] + row * len(legend.kinds))
    write(image, legend.title, edge, edge, INK, scale)
    for k, (colour, text) in enumerate(legend.kinds):
        y = edge + row * (k + 1)
        image[y : y + patch, edge : edge + patch] = (*colour, 255)
        write(image, text, edge + patch + 3 * scale, y, INK, scale)
    return image


@lru_cache(maxsize=32)
def scale_image(metres_per_pixel: float, width: int, scale: int) -> NDArray[np.uint8]:
    """A bar of a round length, for a picture so many pixels wide."""
    reach = 0.2 * width * metres_per_pixel
    power = 10.0 ** np.floor(np.log10(reach))
    metres = max(m * power for m in (1.0, 2.0, 5.0) if m * power <= reach)
    bar = max(2, round(metres / metres_per_pixel))
    label = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    edge, thick = EDGE * scale, 2 * scale
    image = glass(max(bar, text_width(label, scale)) + 2 * edge, 19 * scale + 2 * thick)
    write(image, label, edge, edge, INK, scale)
    y = image.shape[0] - edge - thick
    image[y : y + thick, edge : edge + bar] = (*INK, 255)
    for x in (edge, edge + bar - thick):
        image[y - thick : y, x : x + thick] = (*INK, 255)
    return image


@lru_cache(maxsize=16)
def bars_image(
    rows: tuple[tuple[str, float, Colour], ...], full: float, unit: str, title: str, scale: int
) -> NDArray[np.uint8]:
    """Bars with their values, a full one `full` units long; longer ones end at the edge, in WARN."""
    edge, row = EDGE * scale, ROW * scale
    names = max(text_width(name, scale) for name, _, _ in rows) + 6 * scale
    span, told = 110 * scale, 60 * scale
    width = max(names + span + told + 2 * edge, text_size((line(title),), scale)[0])
    image = glass(width, row * (len(rows) + 1) + 2 * edge)
    write(image, title, edge, edge, INK, scale)
    for k, (name, value, colour) in enumerate(rows):
        y = edge + row * (k + 1)
        write(image, name, edge, y, FAINT, scale)
        long = round(span * min(1.0, value / full)) if full > 0.0 else 0
        shade = WARN if value > full else colour
        image[y + scale : y + 6 * scale, edge + names : edge + names + long] = (*shade, 255)
        write(image, f"{value:.2f} {unit}", edge + names + span + 4 * scale, y, INK, scale)
    return image


@dataclass(frozen=True)
class Timeline:
    """What the timeline shows; times in s, shares 0 .. 1 of its span."""

    share: float  # where the cursor is
    curve: tuple[float, ...]  # vehicles over time, 1: the most
    demand: tuple[float, ...]  # departures that were due over time, 1: the most
    ticks: tuple[tuple[float, Colour], ...]  # events and bookmarks by share
    label: str


@lru_cache(maxsize=4)
def _timeline_back(
    curve: tuple[float, ...],
    demand: tuple[float, ...],
    ticks: tuple[tuple[float, Colour], ...],
    width: int,
    scale: int,
) -> NDArray[np.uint8]:
    image = glass(width, 22 * scale)
    low, high = 12 * scale, 21 * scale
    if curve:
        at = np.linspace(0, len(curve) - 1, width)
        height = np.interp(at, np.arange(len(curve)), curve) * (high - low)
        rows = np.arange(image.shape[0])[:, None]
        image[(rows > high - height[None]) & (rows <= high)] = (*FAINT, 150)
    if demand:
        bins = np.arange(width) * len(demand) // width
        up = high - np.array(demand)[bins] * (high - low)
        before = np.concatenate((up[:1], up[:-1]))  # so that steps are joined
        top, foot = np.minimum(up, before)[None], np.maximum(up, before)[None]
        rows = np.arange(image.shape[0])[:, None]
        image[(rows >= np.floor(top)) & (rows < np.floor(foot) + scale)] = (*DUE, 255)
    for share, colour in ticks:
        x = min(width - scale, round(share * (width - 1)))
        image[low - scale : high, x : x + scale] = (*colour, 255)
    return image


def timeline_image(timeline: Timeline, width: int, scale: int) -> NDArray[np.uint8]:
    """The timeline across a picture: vehicles and demand over time, events, bookmarks, the time."""
    back = _timeline_back(timeline.curve, timeline.demand, timeline.ticks, width, scale)
    image = back.copy()
    write(image, timeline.label, EDGE * scale, 2 * scale, INK, scale)
    x = min(width - 2 * scale, round(timeline.share * (width - 1)))
    image[10 * scale :, max(0, x) : x + 2 * scale] = (*ACCENT, 255)
    return image
