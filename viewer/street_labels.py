"""Names of streets along their roads: letters of the dot font, turned with the street.

The roads of a name are joined into *lines*, from crossing to crossing. A line has its name in its
middle and again every REPEAT pixels, where there is room: on a stretch that is nearly straight, not on
the letters of another name, and not near the same name. Main streets come first. Where names are does
not depend on what part of the network is seen, so that they stay where they are when it is moved.
"""

from dataclasses import dataclass
from functools import cached_property
from math import cos, pi, radians
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.roadnets.street_names import parts_of
from rushhour.viewer.camera import Box
from rushhour.viewer.lettering import CELL, is_drawn, sign_runs
from rushhour.viewer.shapes import Quads

DOTS: Final = 560.0  # dots of the font across the shorter side of a picture
LEAST_DOT: Final = 1.2  # pixels
RIM: Final = 0.9  # dots around each letter that are dark
REPEAT: Final = 700.0  # pixels from a name to the same name on its line
APART: Final = 350.0  # pixels at least between two places of one name, on other lines too
SHIFTS: Final = (0.0, -0.12, 0.12, -0.25, 0.25, -0.38, 0.38)  # of a line: places that are tried
TURN: Final = cos(radians(16.0))  # the most from letter to letter
BEND: Final = cos(radians(75.0))  # the most from the first letter to the last
ONWARD: Final = cos(radians(50.0))  # a line goes on so straight at an intersection
CLEAR: Final = 5.0  # dots between the middle of a letter and that of another name
FARTHEST: Final = 8.0  # m per pixel, from which on nothing is told
BEYOND: Final = 0.5  # of the picture on each side that is laid out, too
ROOM: Final = 1.05  # times its length that a name needs


@dataclass(frozen=True)
class StreetLine:
    """Roads of one name, one after the other. points: (k, 2) m; station: (k,) m along it."""

    text: str
    rank: float  # the larger the more important
    points: NDArray[np.float64]
    station: NDArray[np.float64]

    @property
    def length(self) -> float:
        """From its start to its end, m."""
        return float(self.station[-1])


@dataclass(frozen=True)
class Labels:
    """Names as quadrilaterals (n, 4, 2), m: letters, and what is dark around them. texts: of each."""

    letters: Quads
    rims: Quads
    texts: tuple[str, ...]
    places: NDArray[np.float64]  # (m, 2), middles of the names


NOTHING: Final = Labels(np.zeros((0, 4, 2)), np.zeros((0, 4, 2)), (), np.zeros((0, 2)))


class StreetLabels:
    """The names of a network, laid out for a picture; kept while it is moved only."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._kept: tuple[tuple[float, float], Box, Labels] | None = None

    @cached_property
    def _lines(self) -> list[StreetLine]:
        return street_lines(self._network)

    @cached_property
    def _reach(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower left and the upper right corner of the box around each line, (n, 2) m."""
        low = np.array([line.points.min(axis=0) for line in self._lines]).reshape(-1, 2)
        high = np.array([line.points.max(axis=0) for line in self._lines]).reshape(-1, 2)
        return low, high

    def within(self, box: Box, scale: float) -> Labels:
        """The names for a picture of a box at `scale` m per pixel; some lie beyond it.

        The same object as before where nothing is laid out anew.
        """
        if scale > FARTHEST or not self._network.road_names:
            return NOTHING
        pixels = round(min(box[2] - box[0], box[3] - box[1]) / scale)
        dot = scale * max(LEAST_DOT, pixels / DOTS)
        kept, key = self._kept, (scale, dot)
        if kept is not None and kept[0] == key and _inside(box, kept[1]):
            return kept[2]
        more = BEYOND * (box[2] - box[0]), BEYOND * (box[3] - box[1])
        wide = (box[0] - more[0], box[1] - more[1], box[2] + more[0], box[3] + more[1])
        low, high = self._reach
        near = (high >= wide[:2]).all(axis=1) & (low <= wide[2:]).all(axis=1)
        lines = [self._lines[i] for i in np.flatnonzero(near).tolist()]
        labels = laid_out(lines, wide, scale, dot)
        self._kept = (key, wide, labels)
        return labels


def _inside(box: Box, other: Box) -> bool:
    """Whether a box lies within another."""
    return box[0] >= other[0] and box[1] >= other[1] and box[2] <= other[2] and box[3] <= other[3]


def street_lines(network: Network, every_script: bool = False) -> list[StreetLine]:
    """The lines of all names that can be drawn, the most important first.

    every_script: also names that the dot font has no letters for.
    """
    by_name: dict[str, list[int]] = {}
    for road, name in enumerate(network.road_names):
        text = " / ".join(parts_of(name))
        if text and (every_script or is_drawn(text)):
            by_name.setdefault(text, []).append(road)
    lines = [line for text, roads in by_name.items() for line in _lines_of(network, text, roads)]
    return sorted(lines, key=lambda line: (-line.rank, -line.length, line.text))


def _lines_of(network: Network, text: str, roads: list[int]) -> list[StreetLine]:
    """The roads of a name, joined where they go on nearly straight."""
    net = network.arrays.roads
    ends, shapes, ranks = [], [], []
    seen: set[tuple[int, int]] = set()
    both = {(int(net.from_intersection[r]), int(net.to_intersection[r])) for r in roads}
    for road in roads:
        a, b = int(net.from_intersection[road]), int(net.to_intersection[road])
        if (b, a) in seen:
            continue
        seen.add((a, b))
        ends.append((a, b))
        shapes.append(_middle(network, road, (b, a) in both))
        ranks.append(float(net.speed[road] * np.sqrt(net.lane_count[road])))
    around: dict[
        int, list[tuple[int, bool]]
    ] = {}  # shapes by intersection, and whether they start there
    for k, (a, b) in enumerate(ends):
        around.setdefault(a, []).append((k, True))
        around.setdefault(b, []).append((k, False))
    free = dict.fromkeys(range(len(shapes)))
    found = []
    while free:
        first = next(iter(free))
        del free[first]
        line, used = shapes[first], [first]
        for ahead in (True, False):
            node = ends[first][1 if ahead else 0]
            line = line if ahead else line[::-1]
            while node >= 0:
                onward = _onward(line, around[node], shapes, free)
                if onward is None:
                    break
                k, at_start = onward
                del free[k]
                used.append(k)
                line = np.concatenate((line, shapes[k] if at_start else shapes[k][::-1]))
                node = ends[k][1 if at_start else 0]
        step = np.hypot(*np.diff(line, axis=0).T)
        line = line[np.concatenate(([True], step > 1e-6))]
        if len(line) > 1:
            station = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))
            found.append(StreetLine(text, max(ranks[k] for k in used), line, station))
    return found


def _middle(network: Network, road: int, two_way: bool) -> NDArray[np.float64]:
    """The middle of a road; of a street that is driven both ways the line between both."""
    net = network.arrays.roads
    first, count = int(net.first_lane[road]), int(net.lane_count[road])
    if not two_way:
        return network.lane_points(first + count // 2)
    points = network.lane_points(first + count - 1)
    step = np.gradient(points, axis=0)
    step /= np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
    side = -1.0 if network.left_hand else 1.0
    half = 0.5 * side * float(network.arrays.lanes.width[first + count - 1])
    return np.asarray(points + half * np.column_stack((-step[:, 1], step[:, 0])))


def _onward(
    line: NDArray[np.float64], around: list[tuple[int, bool]], shapes: list[NDArray[np.float64]],
    free: dict[int, None],
) -> tuple[int, bool] | None:  # fmt: skip
    """The shape by which a line goes on straightest; None: none does."""
    here = _unit(line[-1] - line[-2])
    best, found = ONWARD, None
    for k, at_start in around:
        if k not in free:
            continue
        shape = shapes[k] if at_start else shapes[k][::-1]
        along = float(here @ _unit(shape[1] - shape[0]))
        if along > best:
            best, found = along, (k, at_start)
    return found


def _unit(step: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(step / max(float(np.hypot(*step)), 1e-9))


def laid_out(lines: list[StreetLine], box: Box, scale: float, dot: float) -> Labels:
    """Names in a box, those of the first lines first. scale: m per pixel; dot: m of a dot of the font."""
    clear = CLEAR * dot
    taken: set[tuple[int, int]] = set()  # cells as wide as a letter with what is beside it
    where: dict[str, list[NDArray[np.float64]]] = {}
    letters, rims, texts, middles = [], [], [], []
    for line in lines:
        wide = (CELL * len(line.text) - 1) * dot
        if wide * ROOM > line.length:
            continue
        times = max(1, int(line.length / max(REPEAT * scale, 1.5 * wide)))
        for k in range(times):
            for shift in SHIFTS:
                middle = line.length * (k + 0.5 + shift) / times
                placed = _placed(line, middle, wide, dot)
                if placed is None:
                    continue
                at, heading = placed
                centre = at[len(at) // 2]
                others = where.get(line.text, [])
                if not _in_box(centre, box) or any(
                    float(np.hypot(*(centre - other))) < APART * scale for other in others
                ):
                    continue
                cells = {(int(x), int(y)) for x, y in np.floor(at / clear)}
                if any(
                    (x + i, y + j) in taken
                    for x, y in cells
                    for i in (-1, 0, 1)
                    for j in (-1, 0, 1)
                ):
                    continue
                taken |= cells
                where.setdefault(line.text, []).append(centre)
                quads = _lettered(line.text, at, heading, dot, 0.0)
                letters.append(quads)
                rims.append(_lettered(line.text, at, heading, dot, RIM))
                texts.append(line.text)
                middles.append(centre)
                break
    if not texts:
        return NOTHING
    return Labels(np.concatenate(letters), np.concatenate(rims), tuple(texts), np.array(middles))


def _in_box(place: NDArray[np.float64], box: Box) -> bool:
    return bool(box[0] <= place[0] <= box[2] and box[1] <= place[1] <= box[3])


def _placed(
    line: StreetLine, middle: float, wide: float, dot: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Middles (k, 2) and headings (k,) of the letters of a name on its line; None: it bends there."""
    start = middle - 0.5 * wide
    if start < 0.0 or start + wide > line.length:
        return None
    s = start + dot * (CELL * np.arange(len(line.text)) + 2.5)
    x, y = line.points.T
    reach = 1.5 * CELL * dot
    ends = np.array(
        [np.interp(s + side, line.station, axis) for side in (-reach, reach) for axis in (x, y)]
    )
    step = ends[2:] - ends[:2]
    step /= np.maximum(np.hypot(*step), 1e-9)
    if len(s) > 1 and (step[:, 1:] * step[:, :-1]).sum(axis=0).min() < TURN:
        return None
    if float(step[:, 0] @ step[:, -1]) < BEND:
        return None
    at = np.column_stack((np.interp(s, line.station, x), np.interp(s, line.station, y)))
    heading = np.arctan2(step[1], step[0])
    chord = at[-1] - at[0] if len(s) > 1 else step[:, 0]
    if chord[0] < -1e-9 * dot or (
        abs(chord[0]) <= 1e-9 * dot and chord[1] < 0.0
    ):  # read from the left
        return at[::-1], heading[::-1] + pi
    return at, heading


def _lettered(
    text: str, at: NDArray[np.float64], heading: NDArray[np.float64], dot: float, rim: float
) -> Quads:
    """The dots of letters, runs of them as one quadrilateral, each `rim` dots larger."""
    runs = [sign_runs(sign) for sign in text]
    which = np.repeat(np.arange(len(text)), [len(one) for one in runs])
    x0, y0, x1, y1 = (np.concatenate(runs) + (-rim, -rim, rim, rim)).T
    corners = np.stack(((x0, y1), (x1, y1), (x1, y0), (x0, y0)), axis=0)  # (4, 2, n), dots, y down
    east, north = dot * (corners[:, 0] - 2.5), dot * (3.5 - corners[:, 1])
    c, s = np.cos(heading[which]), np.sin(heading[which])
    place = np.stack((east * c - north * s, east * s + north * c), axis=-1)
    return np.ascontiguousarray(np.swapaxes(place + at[which], 0, 1))
