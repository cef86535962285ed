"""Panels of text, ramps and bars that lie over the picture, painted without a graphics card."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.words.durations import clock
from rushhour.viewer.colouring import Legend
from rushhour.viewer.lettering import text_width, write_text
from rushhour.viewer.themes import DARK, Colour, Theme

GLASS: Final = 225  # opacity of a panel, of 255
ROW: Final = 11  # pixels of a line of text, times its scale
EDGE: Final = 4  # pixels around it, times its scale
COLUMN: Final = 5  # pixels at least between two columns of text, times its scale
# What a theme has a colour for; where something is drawn says which theme.
INK: Final = "ink"
FAINT: Final = "faint"
ACCENT: Final = "chosen"
WARN: Final = "blocked"
DUE: Final = "accent"  # demand
LABELLED: Final = 60  # pixels of the timeline for each time that is written, times the scale
# s between times that are written
ROUND: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)  # fmt: skip
READABLE: Final = 3.0  # least contrast of a text to its panel
RAMP_SIZE: Final = (120, 5)  # pixels, times the scale

Tone = str | Colour  # a colour, or the name of one of a theme
Line = tuple[tuple[str, Tone], ...]  # parts of a line of text with their colours
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

    def meets(self, other: "Panel") -> bool:
        """Whether it covers pixels that another covers."""
        beside = abs(2 * (self.x - other.x) + self.width - other.width) < self.width + other.width
        below = abs(2 * (self.y - other.y) + self.height - other.height)
        return beside and below < self.height + other.height


def text_scale(width: int, height: int) -> int:
    """Pixels of a dot of the font in a picture of a size."""
    return max(1, round(min(width, height) / 450))


def colour_of(tone: Tone, theme: Theme) -> Colour:
    """The colour that a tone is in a theme."""
    if not isinstance(tone, str):
        return tone
    found: Colour = getattr(theme, tone)
    return found


def readable(tone: Tone, theme: Theme) -> Colour:
    """A tone for text on a panel: nearer to ink where it would be hard to read."""
    colour, ink, panel = (
        np.array(one, float) for one in (colour_of(tone, theme), theme.ink, theme.panel)
    )
    share = 0.0
    while contrast(colour + share * (ink - colour), panel) < READABLE and share < 1.0:
        share += 0.1
    mixed = np.round(colour + min(share, 1.0) * (ink - colour)).astype(int).tolist()
    return (mixed[0], mixed[1], mixed[2])


def contrast(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The contrast of two colours, 1 to 21. Source: WCAG 2.2, contrast ratio."""
    lit = []
    for colour in (one, other):
        c = colour / 255.0
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        lit.append(float(linear @ (0.2126, 0.7152, 0.0722)) + 0.05)
    return max(lit) / min(lit)


def glass(width: int, height: int, theme: Theme = DARK) -> NDArray[np.uint8]:
    """An empty panel."""
    image = np.empty((max(1, height), max(1, width), 4), np.uint8)
    image[..., :3], image[..., 3] = theme.panel, GLASS
    for edge in (image[:1], image[-1:], image[:, :1], image[:, -1:]):
        edge[...] = (*theme.edge, 255)
    return image


def lay(image: NDArray[np.uint8], panel: NDArray[np.uint8], x: int, y: int) -> None:
    """Lay a panel (h, w, 4) over an image (height, width, 3) from pixel (x, y) on, as far as it fits."""
    place = image[y : y + panel.shape[0], x : x + panel.shape[1]]
    part = panel[: place.shape[0], : place.shape[1]].astype(np.float64)
    share = part[..., 3:] / 255.0
    place[:] = (share * part[..., :3] + (1.0 - share) * place).astype(np.uint8)


def line(text: str, colour: Tone = INK) -> Line:
    """A line of one colour."""
    return ((text, colour),)


def pair(name: str, value: str, width: int, colour: Tone = INK) -> Line:
    """A line with a faint name in a column of so many letters."""
    return ((f"{name:<{width}}", FAINT), (value, colour))


def _columns(lines: Lines, scale: int) -> list[list[int]]:
    """Where each part of each line begins, pixels.

    What begins after as many letters, behind a space, is a column: it begins at one place in all lines.
    """
    left: list[list[int]] = [[0] for _ in lines]
    count = max((len(one) for one in lines), default=0)
    for k in range(1, count):
        ends = {}
        for i, one in enumerate(lines):
            if k < len(one):
                before = one[k - 1][0]
                end = left[i][k - 1] + text_width(before.rstrip() or " ", scale)
                column = sum(len(text) for text, _ in one[:k]) if before.endswith(" ") else -1
                ends[i] = (column, end + (COLUMN * scale if column >= 0 else 0))
        widest: dict[int, int] = {}
        for column, end in ends.values():
            widest[column] = max(widest.get(column, 0), end)
        for i, (column, end) in ends.items():
            left[i].append(widest[column] if column >= 0 else end)
    return left


def text_size(lines: Lines, scale: int) -> tuple[int, int]:
    """Pixels that lines need, width and height, with an edge around."""
    ends = [
        x + text_width(text, scale)
        for one, left in zip(lines, _columns(lines, scale), strict=True)
        for (text, _), x in zip(one, left, strict=False)
    ]
    return max(ends, default=0) + 2 * EDGE * scale, (ROW * len(lines) - 2 + 2 * EDGE) * scale


@lru_cache(maxsize=64)
def text_image(lines: Lines, scale: int, theme: Theme = DARK) -> NDArray[np.uint8]:
    """A panel with lines of text. The same lines give the same array."""
    image = glass(*text_size(lines, scale), theme)
    y = EDGE * scale
    for one, left in zip(lines, _columns(lines, scale), strict=True):
        for (text, tone), x in zip(one, left, strict=False):
            write_text(image, text, EDGE * scale + x, y, readable(tone, theme), scale)
        y += ROW * scale
    return image


def legend_image(legend: Legend, scale: int, theme: Theme = DARK) -> NDArray[np.uint8]:
    """A legend: its title, then a ramp with its ends, or a patch for each kind."""
    ink = theme.ink
    edge, row = EDGE * scale, ROW * scale
    titled = text_size((line(legend.title),), scale)
    if legend.ramp is not None:
        span, thick = RAMP_SIZE[0] * scale, RAMP_SIZE[1] * scale
        ends = text_width(legend.low, scale) + text_width(legend.high, scale) + 6 * scale
        width = max(titled[0], span + 2 * edge, ends + 2 * edge)
        image = glass(width, titled[1] + row + thick, theme)
        write_text(image, legend.title, edge, edge, ink, scale)
        at = np.linspace(0, len(legend.ramp) - 1, width - 2 * edge).astype(np.intp)
        top = edge + row
        image[top : top + thick, edge : width - edge, :3] = legend.ramp[at][None]
        image[top : top + thick, edge : width - edge, 3] = 255
        y = top + thick + 2 * scale
        write_text(image, legend.low, edge, y, ink, scale)
        write_text(image, legend.high, width - edge - text_width(legend.high, scale), y, ink, scale)
        return image
    patch = 7 * scale
    widest = max((text_width(text, scale) for _, text in legend.kinds), default=0)
    width = max(titled[0], widest + patch + 3 * scale + 2 * edge)
    image = glass(width, titled[1] + row * len(legend.kinds), theme)
    write_text(image, legend.title, edge, edge, ink, scale)
    for k, (colour, text) in enumerate(legend.kinds):
        y = edge + row * (k + 1)
        image[y : y + patch, edge : edge + patch] = (*colour, 255)
        write_text(image, text, edge + patch + 3 * scale, y, ink, scale)
    return image


@lru_cache(maxsize=32)
def scale_image(
    metres_per_pixel: float, width: int, scale: int, theme: Theme = DARK
) -> NDArray[np.uint8]:
    """A bar of a round length, for a picture so many pixels wide."""
    reach = 0.2 * width * metres_per_pixel
    power = 10.0 ** np.floor(np.log10(reach))
    metres = max(m * power for m in (1.0, 2.0, 5.0) if m * power <= reach)
    bar = max(2, round(metres / metres_per_pixel))
    label = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    edge, thick = EDGE * scale, 2 * scale
    image = glass(max(bar, text_width(label, scale)) + 2 * edge, 19 * scale + 2 * thick, theme)
    write_text(image, label, edge, edge, theme.ink, scale)
    y = image.shape[0] - edge - thick
    image[y : y + thick, edge : edge + bar] = (*theme.ink, 255)
    for x in (edge, edge + bar - thick):
        image[y - thick : y, x : x + thick] = (*theme.ink, 255)
    return image


@lru_cache(maxsize=16)
def bars_image(
    rows: tuple[tuple[str, float, Tone], ...],
    full: float,
    unit: str,
    title: str,
    scale: int,
    theme: Theme = DARK,
) -> NDArray[np.uint8]:
    """Bars with their values, a full one `full` units long; longer ones end at the edge, in WARN."""
    edge, row = EDGE * scale, ROW * scale
    names = max(text_width(name, scale) for name, _, _ in rows) + 6 * scale
    span, told = 110 * scale, 60 * scale
    width = max(names + span + told + 2 * edge, text_size((line(title),), scale)[0])
    image = glass(width, row * (len(rows) + 1) + 2 * edge, theme)
    write_text(image, title, edge, edge, theme.ink, scale)
    for k, (name, value, tone) in enumerate(rows):
        y = edge + row * (k + 1)
        write_text(image, name, edge, y, theme.faint, scale)
        long = round(span * min(1.0, value / full)) if full > 0.0 else 0
        shade = theme.blocked if value > full else colour_of(tone, theme)
        image[y + scale : y + 6 * scale, edge + names : edge + names + long] = (*shade, 255)
        write_text(
            image, f"{value:.2f} {unit}", edge + names + span + 4 * scale, y, theme.ink, scale
        )
    return image


def time_labels(begin: float, end: float, most: int) -> list[tuple[float, str]]:
    """Round times within a span, s, at most so many, and how they are written."""
    span = end - begin
    if not span > 0.0:
        return []
    step = next(
        (one for one in ROUND if span / one <= most), 86_400 * int(np.ceil(span / most / 86_400))
    )
    first = int(np.ceil(begin / step - 1e-9))
    return [(float(k * step), clock(k * step)) for k in range(first, int(end / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Timeline:
    """What the timeline shows; times in s, shares 0 .. 1 of its span."""

    share: float  # where the cursor is
    curve: tuple[float, ...]  # vehicles over time, 1: the most
    demand: tuple[float, ...]  # departures that were due over time, 1: the most
    ticks: tuple[tuple[float, Tone], ...]  # events and bookmarks by share
    label: str
    begin: float = 0.0  # s
    end: float = 0.0


@lru_cache(maxsize=4)
def _timeline_back(timeline: Timeline, width: int, scale: int, theme: Theme) -> NDArray[np.uint8]:
    """All of it but where it is: that much stays from one picture to the next."""
    curve, demand, begin, end = timeline.curve, timeline.demand, timeline.begin, timeline.end
    image = glass(width, 22 * scale, theme)
    low, high = 12 * scale, 21 * scale
    if curve:
        at = np.linspace(0, len(curve) - 1, width)
        height = np.interp(at, np.arange(len(curve)), curve) * (high - low)
        rows = np.arange(image.shape[0])[:, None]
        image[(rows > high - height[None]) & (rows <= high)] = (*theme.faint, 150)
    if demand:
        bins = np.arange(width) * len(demand) // width
        up = high - np.array(demand)[bins] * (high - low)
        before = np.concatenate((up[:1], up[:-1]))  # so that steps are joined
        top, foot = np.minimum(up, before)[None], np.maximum(up, before)[None]
        rows = np.arange(image.shape[0])[:, None]
        image[(rows >= np.floor(top)) & (rows < np.floor(foot) + scale)] = (*theme.accent, 255)
    label = timeline.label
    taken = (2 * EDGE * scale + text_width(label, scale)) if label else 0
    write_text(image, label, EDGE * scale, 2 * scale, theme.ink, scale)
    labels = time_labels(begin, end, max(1, width // (LABELLED * scale)))
    if end > begin:
        # Its begin, too, where that is no round time and does not come upon the first that is.
        first, wide = clock(begin), text_width(clock(begin), scale)
        room = (labels[0][0] - begin) / (end - begin) * (width - 1) if labels else float(width)
        if room > 1.5 * wide + 2 * EDGE * scale:
            labels.insert(0, (begin, first))
    for time, text in labels:
        x, wide = round((time - begin) / (end - begin) * (width - 1)), text_width(text, scale)
        left = min(max(EDGE * scale, x - wide // 2), width - wide - EDGE * scale)
        image[low - 2 * scale : low, x : x + scale, :] = (*theme.ink, 255)
        if left >= taken:
            write_text(image, text, left, 2 * scale, theme.ink, scale)
    for share, tone in timeline.ticks:
        x = min(width - scale, round(share * (width - 1)))
        image[low - scale : high, x : x + scale] = (*colour_of(tone, theme), 255)
    return image


def timeline_image(
    timeline: Timeline, width: int, scale: int, theme: Theme = DARK
) -> NDArray[np.uint8]:
    """The timeline across a picture: vehicles and demand over time, events, bookmarks, the time."""
    image = _timeline_back(replace(timeline, share=0.0), width, scale, theme).copy()
    x = min(width - 2 * scale, round(timeline.share * (width - 1)))
    image[10 * scale :, max(0, x) : x + 2 * scale] = (*theme.chosen, 255)
    return image
