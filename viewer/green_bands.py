"""What the signals along some roads showed over time, and when one may drive through all of them on green."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GREEN as SHOWN_GREEN
from rushhour.kernels.core.network import GREEN_YIELD
from rushhour.viewer.recorded import RunSource

GREEN, RED = "#2f9e44", "#e03131"
THICK: Final = 0.011  # of the reach, of a bar
MOST: Final = 20_000  # s that are looked at


class Greens(NamedTuple):
    """Of k signals along roads, in n seconds."""

    place: NDArray[np.float64]  # (k,) m, of stop lines
    after: NDArray[np.float64]  # (k,) s from the first one, at the limits
    time: NDArray[np.float64]  # (n,) s
    green: NDArray[np.bool_]  # (k, n): for who drives on along the roads


def greens_along(
    source: RunSource, numbers: Sequence[int], begins: Sequence[float], begin: float, end: float
) -> Greens:
    """The signals at the ends of roads that follow each other, begin to end, s, by the second.

    numbers: of roads; begins: m at which each begins.
    """
    network = source.network
    lanes, links, roads = network.arrays.lanes, network.arrays.connectors, network.arrays.roads
    place, after, movements = [], [], []
    driven = 0.0
    for k, (road, then) in enumerate(pairwise(numbers)):
        driven += float(roads.length[road]) / max(0.1, float(roads.speed[road]))
        on = (lanes.road[links.from_lane] == road) & (lanes.road[links.to_lane] == then)
        signalled = np.flatnonzero(on & (links.signal >= 0))
        if signalled.size:
            place.append(begins[k] + float(roads.length[road]))
            after.append(driven)
            movements.append(signalled)
        inside = lanes.length[network.n_road_lanes + np.flatnonzero(on)].mean()
        driven += float(inside) / max(0.1, float(roads.speed[then]))
    time = np.arange(begin, min(end, begin + MOST) + 0.5)
    green = np.zeros((len(place), time.size), bool)
    for j, moment in enumerate(time.tolist() if place else []):
        shown = source.lights(moment)
        for k, which in enumerate(movements):
            green[k, j] = np.isin(shown[which], (SHOWN_GREEN, GREEN_YIELD)).any()
    return Greens(np.array(place), np.array(after) - (after[0] if after else 0.0), time, green)


def through(greens: Greens) -> NDArray[np.bool_]:
    """At which seconds who passes the first signal has green at all of them, at the limits, (n,); none of one signal alone."""
    k, n = greens.green.shape
    found = np.full(n, k > 1)
    for shown, late in zip(greens.green, np.rint(greens.after).astype(int).tolist(), strict=True):
        then = np.zeros(n, bool)
        then[: max(0, n - late)] = shown[late:]
        found &= then
    return found


def draw_greens(axes: Any, greens: Greens) -> int:
    """Draw a bar for each signal and the bands of green through all of them; returns how many bands."""
    if not greens.place.size:
        return 0
    reach = max(float(np.ptp(greens.place)), 100.0)
    for place, shown in zip(greens.place.tolist(), greens.green, strict=True):
        green_bar(axes, shown, greens.time, place, THICK * reach)
    count = 0
    for first, last, on in stretches(through(greens)):
        if on:
            count += 1
            left, right = (
                greens.time[first] + greens.after,
                greens.time[last - 1] + 1.0 + greens.after,
            )
            axes.fill_betweenx(greens.place, left, right, color=GREEN, alpha=0.16, linewidth=0)
    return count


def green_bar(
    axes: Any, on: NDArray[np.bool_], seconds: NDArray[Any], low: float, thick: float
) -> None:
    """What a signal shows from second to second, as a bar along time."""
    for colour, value in ((GREEN, True), (RED, False)):
        spans = [(float(seconds[a]), float(b - a)) for a, b, what in stretches(on) if what == value]
        axes.broken_barh(spans, (low, thick), facecolors=colour, linewidth=0, zorder=3)


def stretches(on: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """From where to before where values stay the same, and what they are.

    >>> stretches(np.array([True, True, False]))
    [(0, 2, True), (2, 3, False)]
    """
    if not on.size:
        return []
    edges = (np.flatnonzero(np.diff(on.astype(int))) + 1).tolist()
    return [(a, b, bool(on[a])) for a, b in pairwise([0, *edges, on.size])]
