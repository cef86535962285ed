"""Buttons of the window, for who knows no keys: what keys do most, in words, above the picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rushhour.viewer import actions as do
from rushhour.viewer.panels import ACCENT, INK, Panel, line, text_image, text_scale
from rushhour.viewer.themes import DARK, Theme
from rushhour.viewer.view_state import ViewState

ABOVE: Final = 20  # pixels that buttons are high at most, times the scale of the text
BETWEEN: Final = 2  # pixels between two, times the scale of the text


@dataclass(frozen=True)
class Button:
    """A panel that is clicked, and what that does."""

    panel: Panel
    action: do.Action


def _wanted(state: ViewState) -> list[tuple[str, do.Action, bool]]:
    """What each says and does, and whether that goes on now; the most wanted first."""
    return [
        ("stop" if state.clock.playing else "play", do.Play(), state.clock.playing),
        ("slower", do.Rate(-1), False),
        ("faster", do.Rate(1), False),
        ("all", do.Fit(), False),
        ("help", do.Show("help"), state.help),
        ("colour", do.NextColour(), False),
        ("lanes", do.NextLanes(), False),
        ("streets", do.NextStreets(), False),
        ("find", do.Find(""), state.finding is not None),
        ("follow", do.Follow(), state.follow),
    ]


def buttons(state: ViewState, panels: Sequence[Panel], theme: Theme = DARK) -> tuple[Button, ...]:
    """As many as there is room for above the picture, between the panels that are there."""
    scale = text_scale(state.camera.width, state.camera.height)
    gap = BETWEEN * scale
    above = [one for one in panels if one.y < ABOVE * scale and one.name != "help"]
    half = 0.5 * state.camera.width
    left = max((one.x + one.width for one in above if one.x < half), default=0)
    right = min((one.x for one in above if one.x >= half), default=state.camera.width)
    room, images = right - left - 2 * gap, []
    for text, action, on in _wanted(state):
        image = text_image((line(text, ACCENT if on else INK),), scale, theme)
        if room < image.shape[1] + gap:
            break
        room -= image.shape[1] + gap
        images.append((text, action, image))
    x, found = left + gap + max(0, room) // 2, []
    for text, action, image in images:
        found.append(Button(Panel(f"button {text}", x, 2 * gap, image), action))
        x += image.shape[1] + gap
    return tuple(found)


def pressed(found: Sequence[Button], px: float, py: float) -> do.Action | None:
    """What the button at a pixel does; None: there is none."""
    for button in found:
        panel = button.panel
        if panel.x <= px < panel.x + panel.width and panel.y <= py < panel.y + panel.height:
            return button.action
    return None
