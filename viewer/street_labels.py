"""Names of streets along their roads: letters turned with the street.

The roads of a name are joined into *lines*, from crossing to crossing. A line has its name in its
middle and again every REPEAT pixels, where there is room: on a stretch that is nearly straight, not on
the letters of another name, and not near the same name. Main streets come first. Where names are does
not depend on what part of the network is seen, so that they stay where they are when it is moved.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import cos, degrees, pi, radians
from typing import Final

import numpy as np
from numpy.typing import NDArray
from shapely import LineString, line_locate_point, points

from rushhour.roadnets.model import Network
from rushhour.roadnets.street_names import parts_of
from rushhour.viewer.camera import Box
from rushhour.viewer.covered import covered
from rushhour.viewer.lettering import is_drawn, piece_masks, pieces_of
from rushhour.viewer.storeys import levels_at, levels_of
from rushhour.viewer.themes import Colour, Theme

SIZES: Final = 54.0  # of the font across the shorter side of a picture
LEAST_SIZE: Final = 12.0  # pixels of the font
MOST_SIZE: Final = 22.0
RIM: Final = 0.16  # of the size, around each letter
STEP: Final = 0.6  # of the size: how far apart a name is asked whether it bends, or meets another
REPEAT: Final = 700.0  # pixels from a name to the same name on its line
APART: Final = 350.0  # pixels at least between two places of one name, on other lines too
SHIFTS: Final = (0.0, -0.12, 0.12, -0.25, 0.25, -0.38, 0.38)  # of a line: places that are tried
TURN: Final = cos(radians(16.0))  # the most from letter to letter
BEND: Final = cos(radians(75.0))  # the most from the first letter to the last
ONWARD: Final = cos(radians(50.0))  # a line goes on so straight at an intersection
CLEAR: Final = 0.5  # of the size, between the middle of a letter and that of another name
FARTHEST: Final = 8.0  # m per pixel, from which on nothing is told
BEYOND: Final = 0.5  # of the picture on each side that is laid out, too
COVERED_STEP: Final = 3.0  # m between places that are asked whether another road lies over them
COVERED_TO: Final = 3.4  # m per pixel, up to which bridges are drawn over what they cross
ROOM: Final = 1.05  # times its length that a name needs


@dataclass(frozen=True)
class StreetLine:
    """Roads of one name, one after the other. points: (k, 2) m; station: (k,) m along it.

    crossings: (j, 2) m, from where to where it leads through an intersection.
    covered: (m,) m along it, places below another road.
    """

    text: str
    rank: float  # the larger the more important
    points: NDArray[np.float64]
    station: NDArray[np.float64]
    crossings: NDArray[np.float64]
    covered: NDArray[np.float64]

    @property
    def length(self) -> float:
        """From its start to its end, m."""
        return float(self.station[-1])


@dataclass(frozen=True, eq=False)
class _Placed:
    """Where a name is, m: its pieces (k, 2) and their headings (k,) rad; places along it; its middle."""

    at: NDArray[np.float64]
    heading: NDArray[np.float64]
    samples: NDArray[np.float64]
    middle: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Labels:
    """m names, and the n pieces of lettering that they are drawn with."""

    texts: tuple[str, ...]  # of each name
    places: NDArray[np.float64]  # (m, 2) m, middles of the names
    pieces: tuple[str, ...]  # those there are
    piece: NDArray[np.int32]  # (n,) which of them
    name: NDArray[np.int32]  # (n,) of which name
    at: NDArray[np.float64]  # (n, 2) m, middle of each
    heading: NDArray[np.float64]  # (n,) rad
    size: float  # m, of the font


def _labels(texts: list[str], placed: list[_Placed], size: float) -> Labels:
    """Names with their pieces where they are."""
    numbers: dict[str, int] = {}
    piece = [
        numbers.setdefault(what, len(numbers)) for text in texts for what, _, _ in pieces_of(text)
    ]
    name = np.repeat(np.arange(len(texts), dtype=np.int32), [len(one.at) for one in placed])
    return Labels(
        tuple(texts), np.array([one.middle for one in placed]).reshape(-1, 2),
        tuple(numbers), np.array(piece, np.int32), name,
        np.concatenate([np.zeros((0, 2)), *(one.at for one in placed)]),
        np.concatenate([np.zeros(0), *(one.heading for one in placed)]), size,
    )  # fmt: skip


NOTHING: Final = _labels([], [], 1.0)


class StreetLabels:
    """The names of a network, laid out for a picture; kept while it is moved only."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._kept: tuple[tuple[float, float], Box, Labels] | None = None

    @cached_property
    def _lines(self) -> list[StreetLine]:
        return [line for line in street_lines(self._network) if is_drawn(line.text)]

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
        size = scale * min(max(LEAST_SIZE, pixels / SIZES), MOST_SIZE)
        kept, key = self._kept, (scale, size)
        if kept is not None and kept[0] == key and _inside(box, kept[1]):
            return kept[2]
        more = BEYOND * (box[2] - box[0]), BEYOND * (box[3] - box[1])
        wide = (box[0] - more[0], box[1] - more[1], box[2] + more[0], box[3] + more[1])
        low, high = self._reach
        near = (high >= wide[:2]).all(axis=1) & (low <= wide[2:]).all(axis=1)
        lines = [self._lines[i] for i in np.flatnonzero(near).tolist()]
        labels = laid_out(lines, wide, scale, size)
        self._kept = (key, wide, labels)
        return labels


def _inside(box: Box, other: Box) -> bool:
    """Whether a box lies within another."""
    return box[0] >= other[0] and box[1] >= other[1] and box[2] <= other[2] and box[3] <= other[3]


def street_lines(network: Network) -> list[StreetLine]:
    """The lines of all names, the most important first."""
    by_name: dict[str, list[int]] = {}
    for road, name in enumerate(network.road_names):
        text = " / ".join(parts_of(name))
        if text:
            by_name.setdefault(text, []).append(road)
    below = _covered_places(network)
    lines = [
        line for text, roads in by_name.items() for line in _lines_of(network, text, roads, below)
    ]
    return sorted(lines, key=lambda line: (-line.rank, -line.length, line.text))


def _covered_places(network: Network) -> dict[int, NDArray[np.float64]]:
    """Places of named roads, (k, 2) m, that lie below another road, by road."""
    if levels_of(network) == (None,):
        return {}
    roads = np.array([k for k, name in enumerate(network.road_names) if name], np.int64)
    lane = network.arrays.roads.first_lane[roads].astype(np.int64)
    length = network.arrays.lanes.length[lane]
    count = np.maximum(2, np.ceil(length / COVERED_STEP).astype(np.int64))
    which = np.repeat(np.arange(roads.size), count)
    share = (np.arange(which.size) - np.repeat(np.cumsum(count) - count, count)) / (count - 1)[which]  # fmt: skip
    s = share * length[which]
    base = np.concatenate(([0.0], np.cumsum(network.arrays.lanes.length + 1.0)))
    owner = np.repeat(np.arange(network.n_lanes), np.diff(network.point_start))
    along = base[owner] + network.station
    places = np.column_stack(
        [np.interp(base[lane[which]] + s, along, network.points[:, k]) for k in (0, 1)]
    )
    below = covered(network, places, levels_at(network, lane[which], s))
    of = roads[which[below]]
    return {int(road): places[below][of == road] for road in np.unique(of)}


def _lines_of(
    network: Network, text: str, roads: list[int], below: dict[int, NDArray[np.float64]]
) -> list[StreetLine]:
    """The roads of a name, joined where they go on nearly straight. below: places of roads that are covered."""
    net = network.arrays.roads
    ends, shapes, ranks, hidden = [], [], [], []
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
        hidden.append(below.get(road, np.zeros((0, 2))))
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
        through = np.zeros(len(line) - 1, np.bool_)  # which pieces lead through an intersection
        for ahead in (True, False):
            node = ends[first][1 if ahead else 0]
            line, through = (line, through) if ahead else (line[::-1], through[::-1])
            while node >= 0:
                onward = _onward(line, around[node], shapes, free)
                if onward is None:
                    break
                k, at_start = onward
                del free[k]
                used.append(k)
                line = np.concatenate((line, shapes[k] if at_start else shapes[k][::-1]))
                through = np.concatenate((through, [True], np.zeros(len(shapes[k]) - 1, np.bool_)))
                node = ends[k][1 if at_start else 0]
        step = np.hypot(*np.diff(line, axis=0).T)
        line = line[np.concatenate(([True], step > 1e-6))]
        if len(line) > 1:
            station = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))
            at = np.flatnonzero(through[step > 1e-6])
            crossings = np.column_stack((station[at], station[at + 1]))
            places = np.concatenate([hidden[k] for k in used])
            under = np.sort(line_locate_point(LineString(line), points(places)))
            rank = max(ranks[k] for k in used)
            found.append(StreetLine(text, rank, line, station, crossings, under))
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


def laid_out(lines: list[StreetLine], box: Box, scale: float, size: float) -> Labels:
    """Names in a box, those of the first lines first. scale: m per pixel; size: m of the font."""
    clear = CLEAR * size
    taken: set[tuple[int, int]] = set()  # cells as wide as a letter with what is beside it
    where: dict[str, list[NDArray[np.float64]]] = {}
    texts, found = [], []
    for line in lines:
        wide = _width(line.text) * size
        if wide * ROOM > line.length:
            continue
        times = max(1, int(line.length / max(REPEAT * scale, 1.5 * wide)))
        for k in range(times):
            middles = [line.length * (k + 0.5 + shift) / times for shift in SHIFTS]
            for middle in sorted(middles, key=lambda m: _crosses(line, m, wide)):
                placed = _placed(line, middle, size)
                if placed is None or (scale <= COVERED_TO and _is_covered(line, middle, wide)):
                    continue
                others = where.get(line.text, [])
                if not _in_box(placed.middle, box) or any(
                    float(np.hypot(*(placed.middle - other))) < APART * scale for other in others
                ):
                    continue
                cells = {(int(x), int(y)) for x, y in np.floor(placed.samples / clear)}
                if any(
                    (x + i, y + j) in taken
                    for x, y in cells
                    for i in (-1, 0, 1)
                    for j in (-1, 0, 1)
                ):
                    continue
                taken |= cells
                where.setdefault(line.text, []).append(placed.middle)
                texts.append(line.text)
                found.append(placed)
                break
    return _labels(texts, found, size)


def _width(text: str) -> float:
    """How wide a name is, in sizes of the font."""
    _, middle, wide = pieces_of(text)[-1]
    return middle + 0.5 * wide


def _crosses(line: StreetLine, middle: float, wide: float) -> bool:
    """Whether a name would lie on an intersection."""
    begin, end = line.crossings.T
    return bool(((begin < middle + 0.5 * wide) & (end > middle - 0.5 * wide)).any())


def _is_covered(line: StreetLine, middle: float, wide: float) -> bool:
    """Whether another road would lie over a name."""
    first, last = np.searchsorted(line.covered, (middle - 0.5 * wide, middle + 0.5 * wide))
    return bool(last > first)


def _in_box(place: NDArray[np.float64], box: Box) -> bool:
    return bool(box[0] <= place[0] <= box[2] and box[1] <= place[1] <= box[3])


def _placed(line: StreetLine, middle: float, size: float) -> _Placed | None:
    """Where the pieces of a name are on its line; None: it bends there, or ends."""
    wide = _width(line.text) * size
    start = middle - 0.5 * wide
    if start < 0.0 or start + wide > line.length:
        return None
    x, y = line.points.T

    def on(s: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack((np.interp(s, line.station, x), np.interp(s, line.station, y)))

    def ahead(s: NDArray[np.float64]) -> NDArray[np.float64]:
        step = on(s + 1.5 * STEP * size) - on(s - 1.5 * STEP * size)
        return np.asarray(step / np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None])

    pieces = pieces_of(line.text)
    along = np.linspace(start, start + wide, max(2, int(np.ceil(wide / (STEP * size))) + 1))
    unit = ahead(along)
    if (unit[1:] * unit[:-1]).sum(axis=1).min() < TURN:
        return None
    if float(unit[0] @ unit[-1]) < (BEND if len(pieces) > 1 else TURN):
        return None
    samples = on(along)
    chord = samples[-1] - samples[0]
    # Read from the left; what runs straight up and down, upwards.
    straight = 1e-9 * size
    turned = chord[0] < -straight or (abs(chord[0]) <= straight and chord[1] < 0.0)
    offsets = size * np.array([offset for _, offset, _ in pieces])
    s = start + (wide - offsets if turned else offsets)
    unit = ahead(s)
    heading = np.arctan2(unit[:, 1], unit[:, 0]) + (pi if turned else 0.0)
    return _Placed(on(s), heading, samples, on(np.array([middle]))[0])


@dataclass(frozen=True, eq=False)
class Atlas:
    """Pieces of lettering in one image: coverage of letters and of rims, (h, w, 2).

    boxes: (k, 4) left, top, width, height of each piece, pixels.
    """

    image: NDArray[np.uint8]
    boxes: NDArray[np.int32]


ACROSS: Final = 1024  # pixels of an atlas


@lru_cache(maxsize=8)
def atlas_of(pieces: tuple[str, ...], size: int) -> Atlas:
    """The image of some pieces, size pixels of the font; rows of pieces one below the other."""
    masks = [piece_masks(piece, size, RIM * size) for piece in pieces]
    across = max([ACROSS, *(mask.shape[2] + 2 for mask in masks)])
    boxes = np.zeros((len(masks), 4), np.int32)
    x = y = row = 0
    for k, mask in enumerate(masks):
        _, high, wide = mask.shape
        if x + wide + 1 > across:
            x, y, row = 0, y + row + 1, 0
        boxes[k] = (x, y, wide, high)
        x, row = x + wide + 1, max(row, high)
    image = np.zeros((y + row + 1, across, 2), np.uint8)
    for (left, top, wide, high), mask in zip(boxes.tolist(), masks, strict=True):
        image[top : top + high, left : left + wide] = np.moveaxis(mask, 0, 2)
    return Atlas(image, boxes)


def paint_names(
    canvas: NDArray[np.uint8], names: Labels, at: NDArray[np.float64], scale: float, theme: Theme
) -> None:
    """Paint names on a canvas (h, w, 3), all rims before all letters.

    at: (n, 2) pixels of the middles of pieces.   scale: pixels per m.
    """
    from PIL import Image

    size = max(1, round(names.size * scale))
    for layer, colour in ((1, theme.halo), (0, theme.names)):
        for k, (x, y) in enumerate(at.tolist()):
            mask = piece_masks(names.pieces[int(names.piece[k])], size, RIM * size)[layer]
            turned = Image.fromarray(mask).rotate(
                degrees(float(names.heading[k])), Image.Resampling.BICUBIC, expand=True
            )
            _blend(canvas, np.asarray(turned), x, y, colour)


def _blend(
    canvas: NDArray[np.uint8], mask: NDArray[np.uint8], x: float, y: float, colour: Colour
) -> None:
    """Lay a colour over a canvas by a mask whose middle is at pixel (x, y); cut at the edges."""
    high, wide = mask.shape
    left, top = round(x - 0.5 * wide), round(y - 0.5 * high)
    x0, y0 = max(0, left), max(0, top)
    x1, y1 = min(canvas.shape[1], left + wide), min(canvas.shape[0], top + high)
    if x1 > x0 and y1 > y0:
        share = mask[y0 - top : y1 - top, x0 - left : x1 - left, None].astype(np.float32) / 255.0
        place = canvas[y0:y1, x0:x1]
        place[...] = np.round(place + share * (np.array(colour, np.float32) - place))
