"""What the timeline of a source shows: vehicles over time, events, kept times, the time shown."""

from typing import Final

import numpy as np

from rushhour.viewer.clock import PlaybackClock
from rushhour.viewer.moments import Source
from rushhour.viewer.panels import ACCENT, WARN, Timeline, Tone
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.themes import Colour

CURVE: Final = 240  # points of the curve
RING: Final[Colour] = (200, 130, 255)
SLICES: Final = 60  # of the span, in which departures are counted
MOST_EVENTS: Final = 500  # of a kind


def timeline_of(source: Source, clock: PlaybackClock, bookmarks: tuple[float, ...]) -> Timeline:
    """The timeline over the span of a clock."""
    counts = np.zeros(0) if not isinstance(source, RunSource) else source.run.counts
    curve: tuple[float, ...] = ()
    if counts.size > 1:
        at = np.linspace(clock.begin, clock.end, CURVE)
        curve = tuple(np.interp(at, source.times, counts / max(1, counts.max())).tolist())
    marks: list[tuple[float, Tone]] = [
        *((time, WARN) for time, _, _ in source.events("stuck")[:MOST_EVENTS]),
        *((time, RING) for time, _, _ in source.events("ring")[:MOST_EVENTS]),
        *((time, ACCENT) for time in bookmarks),
    ]
    span = max(clock.end - clock.begin, 1e-9)
    ticks = tuple(((time - clock.begin) / span, colour) for time, colour in marks)
    due = source.due(clock.begin, clock.end, SLICES) if isinstance(source, RunSource) else ()
    label = "loop" if clock.loop else ""
    return Timeline(clock.share, curve, due, ticks, label, clock.begin, clock.end)
