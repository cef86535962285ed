"""How high lanes are: a height for every point of every lane, from what the source says of some.

A source may draw lanes in space (SUMO), know places along roads or intersections (OpenStreetMap,
GMNS, roads drawn by hand), or say how steep a road is. Where it says nothing, intersections lie
where the roads between them are least steep, and a road rises evenly from one to the other, so
does a connector from lane to lane. A network of which nothing is said, or all the same, is level.
What is not drawn in space is never steeper than STEEPEST.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.geometry.slopes import add_up_pulls
from rushhour.roadnets.drafts.draft import Draft, DraftRoad
from rushhour.roadnets.drafts.index import DraftIndex
from rushhour.roadnets.drafts.shapes import Shapes
from rushhour.roadnets.drafts.steepness import Lines, held
from rushhour.roadnets.findings import Finding, finding
from rushhour.roadnets.model import level

Values = NDArray[np.float64]

STEEPEST: Final = 0.3  # rise per metre of a road; the steepest streets there are have 35 %
SAID: Final = 100.0  # times as much a rise counts that the source says as one nobody knows
STEPS: Final = 500  # of the conjugate gradients, at most
CLOSE: Final = 1e-7  # share of the first residual at which they end
FLAT: Final = 1e-3  # m, differences that are none
AT_ONCE: Final = 50_000  # points or connectors, for the memory's sake


class _Slopes(NamedTuple):
    """Roads as what ties the heights of two intersections, (n,) each."""

    start: NDArray[np.int32]  # intersection
    end: NDArray[np.int32]
    rise: Values  # m, expected
    weight: Values  # of a square metre off it


def point_heights(
    draft: Draft, index: DraftIndex, lanes: Shapes, connectors: Shapes, shift: tuple[float, float]
) -> tuple[Values, list[Finding]]:
    """Height, m, of each point of the lanes and then of the connectors, (0,) where all is level; and
    what was held back.

    shift: what was subtracted from the draft's coordinates.
    """
    told = any(
        road.grade is not None or road.heights is not None or _drawn(road) for road in draft.roads
    )
    if not told and all(node.z is None for node in draft.intersections):
        return level(), []
    ends = _intersection_heights(draft, index, lanes)
    height = _even_heights(draft, index, lanes, shift, ends)
    number = 0
    for r, road in enumerate(draft.roads):
        for lane in road.lanes:
            if lane.heights is not None or road.heights is not None:
                part = slice(lanes.start[number], lanes.start[number + 1])
                points, station = lanes.points[part], lanes.station[part]
                if lane.heights is not None:
                    at, high = _knots(points, station, lane.heights, shift)
                else:
                    at, high = _knots(points, station, np.asarray(road.heights), shift)
                    inside = (at > 0.0) & (at < station[-1])
                    a, b = int(index.road_from[r]), int(index.road_to[r])
                    before = _apart(draft, a, points[0], shift)
                    beyond = station[-1] + _apart(draft, b, points[-1], shift)
                    at = np.concatenate(([-before], at[inside], [beyond]))
                    high = np.concatenate(([ends[a]], high[inside], [ends[b]]))
                height[part] = np.interp(station, at, high)
            number += 1
    height = np.concatenate([height, _across(index, lanes, connectors, height)])
    found: list[Finding] = []
    if draft.steepest is not None:
        height, found = _held_back(draft, index, lanes, connectors, height, draft.steepest)
    return (np.ascontiguousarray(height) if np.ptp(height) > FLAT else level()), found


def _across(index: DraftIndex, lanes: Shapes, connectors: Shapes, height: Values) -> Values:
    """Heights of all points of connectors, from the lane that each leaves to the one it joins."""
    first = height[lanes.start[index.to_lane]]
    last = height[lanes.start[index.from_lane + 1] - 1]
    start, counts = connectors.start, np.diff(connectors.start)
    found = np.empty(len(connectors.station))
    for k in range(0, counts.size, AT_ONCE):
        some = slice(k, k + AT_ONCE)
        part = slice(start[k], start[min(k + AT_ONCE, counts.size)])
        length = connectors.station[start[1:][some] - 1]
        share = connectors.station[part] / np.repeat(np.maximum(length, 1e-9), counts[some])
        found[part] = (
            np.repeat(last[some], counts[some]) * (1.0 - share)
            + np.repeat(first[some], counts[some]) * share
        )
    return found


def _held_back(
    draft: Draft, index: DraftIndex, lanes: Shapes, connectors: Shapes, height: Values, most: float
) -> tuple[Values, list[Finding]]:
    """Heights that rise by no more than `most` per metre anywhere, and how many roads would have."""
    n, points = len(index.lane_road), int(lanes.start[-1])
    first = np.concatenate([lanes.start[:-1], connectors.start[:-1] + points]).astype(np.int64)
    last = np.concatenate([lanes.start[1:], connectors.start[1:] + points]).astype(np.int64) - 1
    step = np.full(points + len(connectors.station), np.inf)  # behind the last point of a line
    for station, a in ((lanes.station, 0), (connectors.station, points)):
        np.subtract(station[1:], station[:-1], out=step[a : a + max(0, len(station) - 1)])
    step[last] = np.inf
    grave = np.concatenate([
        _steeper(height, step, most, k, min(k + AT_ONCE, len(height) - 1))
        for k in range(0, len(height), AT_ONCE)
    ])  # fmt: skip
    rise = np.abs(height[grave + 1] - height[grave])
    if not (rise > most * step[grave] * (1.0 + CLOSE) + CLOSE).any():
        return height, []
    grade = rise / np.maximum(step[grave], 1e-9)
    steep = (grade > most * (1.0 + CLOSE)) & (grave < points)
    found = []
    if steep.any():
        lane = np.searchsorted(lanes.start, grave[steep], side="right") - 1
        road = index.lane_road[lane]
        worst = int(road[grade[steep].argmax()])
        text = (
            f"roads that would rise by more than {most:.0%}, the steepest, "
            f"{draft.roads[worst].id!r}, by {grade[steep].max():.0%}; held at {most:.0%}: "
            f"{np.unique(road).size}"
        )
        names = [f"road {draft.roads[r].id}" for r in np.unique(road)[:20].tolist()]
        found.append(finding("L31", text, names))
    across = np.arange(n, first.size)
    before, behind = index.from_lane.astype(np.int64), index.to_lane.astype(np.int64)
    lines = Lines(
        first, last,
        np.concatenate((np.stack((before, across), axis=1), np.stack((across, behind), axis=1))),
        np.concatenate(
            (np.stack((last[before], first[n:]), axis=1), np.stack((last[n:], first[behind]), axis=1))
        ),
    )  # fmt: skip
    wide = np.unique(np.searchsorted(first, grave, side="right") - 1)
    return held(height, lines, step, most, wide), found


def _steeper(height: Values, step: Values, most: float, lo: int, hi: int) -> NDArray[np.int64]:
    """Points from lo to hi from which the next one differs by more than `most` per metre."""
    room = most * step[lo:hi]
    here, there = height[lo:hi], height[lo + 1 : hi + 1]
    return lo + np.flatnonzero((here + room < there) | (there + room < here))


def _drawn(road: DraftRoad) -> list[Values]:
    """Heights of the lanes of a road that are drawn in space."""
    return [lane.heights for lane in road.lanes if lane.heights is not None]


def _apart(draft: Draft, node: int, point: Values, shift: tuple[float, float]) -> float:
    """From the middle of an intersection to the end of a lane there, m."""
    inter = draft.intersections[node]
    return float(np.hypot(inter.x - shift[0] - point[0], inter.y - shift[1] - point[1]))


def _even_heights(
    draft: Draft, index: DraftIndex, lanes: Shapes, shift: tuple[float, float], ends: Values
) -> Values:
    """Heights of all points of lanes that rise evenly from the middle of one intersection to the
    middle of the next; ends: of the intersections."""
    place = np.array([(node.x, node.y) for node in draft.intersections]) - shift
    before, after = index.road_from[index.lane_road], index.road_to[index.lane_road]
    gap = lanes.points[lanes.start[:-1]] - place[before]
    beyond = lanes.points[lanes.start[1:] - 1] - place[after]
    start = np.hypot(gap[:, 0], gap[:, 1])
    whole = start + lanes.length + np.hypot(beyond[:, 0], beyond[:, 1])
    counts = np.diff(lanes.start)
    share = (np.repeat(start, counts) + lanes.station) / np.repeat(whole, counts)
    rise = ends[after] - ends[before]
    return np.asarray(np.repeat(ends[before], counts) + share * np.repeat(rise, counts))


def _knots(
    points: Values, station: Values, heights: Values, shift: tuple[float, float]
) -> tuple[Values, Values]:
    """Where along a lane places (x, y, z) lie nearest, ascending, and how high they are."""
    start, step = points[:-1], np.diff(points, axis=0)
    square = np.maximum(1e-18, (step * step).sum(axis=1))
    away = (heights[:, :2] - shift)[:, None] - start[None]
    share = np.clip((away * step).sum(axis=2) / square, 0.0, 1.0)
    off = away - share[:, :, None] * step
    best = (off * off).sum(axis=2).argmin(axis=1)
    row = np.arange(len(heights))
    at = station[best] + share[row, best] * np.diff(station)[best]
    order = np.argsort(at, kind="stable")
    return at[order], heights[order, 2]


def _intersection_heights(draft: Draft, index: DraftIndex, lanes: Shapes) -> Values:
    """Height of every intersection, m: as said, as lanes drawn in space end there, else between."""
    n = len(draft.intersections)
    total, count = np.zeros(n), np.zeros(n)
    for r, road in enumerate(draft.roads):
        for drawn in _drawn(road):
            for node, z in ((index.road_from[r], drawn[0, 2]), (index.road_to[r], drawn[-1, 2])):
                total[node] += z
                count[node] += 1.0
    for node, inter in enumerate(draft.intersections):
        if inter.z is not None:
            total[node], count[node] = inter.z, 1.0
    known = count > 0.0
    height = np.where(known, total / np.maximum(count, 1.0), 0.0)
    if known.all():
        return height
    length = np.maximum(1.0, lanes.length[index.first_lane])
    grade = np.array([0.0 if road.grade is None else road.grade for road in draft.roads])
    said = np.array([road.grade is not None for road in draft.roads])
    slopes = _Slopes(
        index.road_from, index.road_to, grade * length, np.where(said, SAID, 1.0) / length
    )
    if known.any():
        height[~known] = height[known].mean()
    height = _least_steep(height, ~known, slopes)
    return height if known.any() else height - height.min()


def _least_steep(height: Values, free: NDArray[np.bool_], slopes: _Slopes) -> Values:
    """Heights with the least weighted sum of squares off the expected rises; moves the free ones.

    Conjugate gradients, preconditioned by the diagonal. Sums are NumPy's own, so that the bits do
    not depend on threads.
    """
    n = height.size
    diagonal = np.bincount(slopes.start, slopes.weight, n) + np.bincount(
        slopes.end, slopes.weight, n
    )
    scale = np.where(free & (diagonal > 0.0), 1.0 / np.maximum(diagonal, 1e-12), 0.0)

    def pulled(z: Values, rise: Values) -> Values:
        found = np.zeros((2, n))
        add_up_pulls(z, slopes.start, slopes.end, rise, slopes.weight, found[0], found[1])
        return np.where(free, found[0] - found[1], 0.0)

    rest = -pulled(height, slopes.rise)
    along = scale * rest
    size = first = float((rest * along).sum())
    even = np.zeros(slopes.rise.size)
    for _ in range(STEPS):
        if size <= CLOSE * CLOSE * first or size <= 0.0:
            break
        pull = pulled(along, even)
        step = size / float((along * pull).sum())
        height = height + step * along
        rest = rest - step * pull
        new = float((rest * scale * rest).sum())
        along = scale * rest + (new / size) * along
        size = new
    return height
