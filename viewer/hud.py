"""What lies over the picture: where which panel is, and what it says."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted
from rushhour.viewer.colouring import Legend
from rushhour.viewer.keymap import help_lines
from rushhour.viewer.moments import Bars
from rushhour.viewer.panels import (
    ACCENT,
    DUE,
    FAINT,
    ROW,
    Line,
    Lines,
    Panel,
    Timeline,
    bars_image,
    legend_image,
    line,
    pair,
    scale_image,
    text_image,
    text_scale,
    timeline_image,
)
from rushhour.viewer.themes import DARK, Theme
from rushhour.viewer.view_state import ViewState

GAP: Final = 5  # pixels between panels, times the scale of the text
KEPT: Final = (
    "title",
    "timeline",
)  # below the help, too; others are left out where it would cut them


@dataclass(frozen=True)
class Said:
    """What panels say besides the state."""

    name: str
    vehicles: int
    legends: tuple[Legend, ...]
    inspector: Lines = ()
    images: tuple[NDArray[np.uint8], ...] = ()  # below the inspector
    timeline: Timeline | None = None
    costs: tuple[Bars, ...] = ()
    note: str = ""


def panels(state: ViewState, said: Said, window: bool, theme: Theme = DARK) -> tuple[Panel, ...]:
    """All panels. window: with what only a person at a window needs."""
    width, height = state.camera.width, state.camera.height
    scale = text_scale(width, height)
    gap = GAP * scale
    found: list[Panel] = []
    head: list[Line] = [line(said.name), line(clock(state.clock.time), ACCENT)]
    if window:
        playing = "playing" if state.clock.playing else "stopped"
        head.append(line(f"{playing}, {state.clock.rate:g} x", FAINT))
    title = text_image(tuple(head), scale, theme)
    found.append(Panel("title", gap, gap, title))
    top = gap + title.shape[0] + gap
    bottom = height - gap
    if said.timeline is not None:
        bar = timeline_image(said.timeline, width, scale, theme)
        bottom = height - bar.shape[0] - gap
        found.append(Panel("timeline", 0, height - bar.shape[0], bar))
    ruler = scale_image(state.camera.scale, width, scale, theme)
    found.append(Panel("scale", gap, bottom - ruler.shape[0], ruler))
    closer = [text_image(said.inspector, scale, theme)] if said.inspector else []
    found += _column([*closer, *said.images], gap, top, bottom - ruler.shape[0] - gap)
    y = bottom
    for k, legend in enumerate(said.legends):
        image = legend_image(legend, scale, theme)
        y -= image.shape[0]
        found.append(Panel(f"legend {k}", width - gap - image.shape[1], y, image))
        y -= gap
    y = gap
    if said.vehicles:
        count = text_image((line(counted(said.vehicles, "vehicle"), FAINT),), scale, theme)
        found.append(Panel("count", width - gap - count.shape[1], y, count))
        y += count.shape[0] + gap
    for k, bars in enumerate(said.costs):
        rows = tuple((name, round(value, 2), DUE) for name, value in bars.rows)
        image = bars_image(rows, bars.budget, "ms", bars.title, scale, theme)
        found.append(Panel(f"costs {k}", width - gap - image.shape[1], y, image))
        y += image.shape[0] + gap
    note = f"find: {state.finding}_   (Enter; Escape)" if state.finding is not None else said.note
    if note:
        image = text_image((line(note, ACCENT),), scale, theme)
        found.append(Panel("note", (width - image.shape[1]) // 2, bottom - image.shape[0], image))
    if state.help:
        image = text_image(_help(height // (ROW * scale) - 2), scale, theme)
        x, y = max(0, (width - image.shape[1]) // 2), max(0, (height - image.shape[0]) // 2)
        told = Panel("help", x, y, image)
        found = [one for one in found if one.name in KEPT or not one.meets(told)] + [told]
    return tuple(found)


def _help(most: int) -> Lines:
    """What keys do, in two columns where one has more than so many lines."""
    lines = help_lines()
    names = 2 + max(len(key) for key, _ in lines)
    words = 1 + max(len(what) for _, what in lines)
    told = [pair(key, what, names) for key, what in lines]
    if len(told) <= most:
        return tuple(told)
    half = -(-len(told) // 2)
    left = [pair(key, f"{what:<{words}}", names) for key, what in lines[:half]]
    right = [*told[half:], ()][:half]
    return tuple((*a, *b) for a, b in zip(left, right, strict=True))


def _column(images: list[NDArray[np.uint8]], gap: int, top: int, bottom: int) -> list[Panel]:
    """Panels one below the other, the first the inspector; where there is no room, beside them."""
    found: list[Panel] = []
    x, y, widest = gap, top, 0
    for k, image in enumerate(images):
        if y > top and y + image.shape[0] > bottom:
            x, y = x + widest + gap, top
        found.append(Panel("inspector" if k == 0 else f"closer {k}", x, y, image))
        y += image.shape[0] + gap
        widest = max(widest, image.shape[1])
    return found
