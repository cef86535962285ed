"""Shapes of lanes and connectors, pooled: points, where each lane's begin, distance along each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.geometry.curves import (
    add_up_steps,
    add_up_turns,
    find_segments,
    sample_curves,
)
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.drafts.index import DraftIndex, connector_name
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.reading.values import FARTHEST

SHORTEST = 0.1  # m, a lane
LONGEST = 100_000.0  # m, a lane
SAME_PLACE = 1e-6  # m, nearer points are one
FAR_FROM_ORIGIN = 50_000.0  # m, beyond which an origin is subtracted
HEADING_SPAN = 10.0  # m over which the direction of a lane's end is measured for turns
LONGEST_WAY = 1.45  # times the straight way that a curve is long, unless it turns back
MOST_TURNING = np.radians(198.0)
TURNS_BACK = np.radians(150.0)
ARMS = (0.5, 0.42, 0.35, 0.28, 0.22, 0.16, 0.1, 0.05, 0.01)  # of the chord
SAMPLES = np.linspace(0.0, 1.0, 33)
AT_ONCE = 20_000  # curves, for the memory's sake


@dataclass(frozen=True)
class Shapes:
    """Polylines end to end: lane l has points[start[l]:start[l+1]]; station is m along each."""

    points: NDArray[np.float64]
    start: NDArray[np.int32]
    station: NDArray[np.float64]

    @property
    def length(self) -> NDArray[np.float64]:
        """Arc length of each lane, (n,) m."""
        return self.station[self.start[1:] - 1]


def stations(points: NDArray[np.float64], start: NDArray[np.int32]) -> NDArray[np.float64]:
    """Distance of each point along its own polyline, (p,) m."""
    step = np.zeros(len(points))
    step[1:] = np.hypot(*np.diff(points, axis=0).T)
    along = np.empty(len(points))
    add_up_steps(step, start, along, 0, len(start) - 1)
    return along


def _checked(shape: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    points = np.asarray(shape, np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise NetworkError(f"{what}: a shape of size {points.shape}; give 2 or more points (x, y)")
    near = (np.abs(points) <= FARTHEST).all(axis=1)
    if not near.all():
        raise NetworkError(
            f"{what}: point {int(np.argmin(near))} of the shape is not finite or beyond "
            f"{FARTHEST:g} m; correct its coordinates"
        )
    return points


def _without_repeats(
    points: NDArray[np.float64], start: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Drop points on top of the one before; the first and the last of each lane stay."""
    keep = np.ones(len(points), bool)
    keep[1:] = np.hypot(*np.diff(points, axis=0).T) > SAME_PLACE
    keep[start[:-1]] = True
    last = start[1:] - 1
    lost = last[~keep[last]]
    keep[lost] = True
    before = lost - 1
    keep[before[~np.isin(before, start[:-1])]] = False
    counts = np.add.reduceat(keep, start[:-1])
    return points[keep], np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _stretch_short(
    points: NDArray[np.float64], shapes_start: NDArray[np.int32], draft: Draft
) -> None:
    """Stretch lanes shorter than SHORTEST along their direction; changes points."""
    ids: list[str] | None = None
    chord = points[shapes_start[1:] - 1] - points[shapes_start[:-1]]
    for lane in np.flatnonzero(np.hypot(chord[:, 0], chord[:, 1]) < SHORTEST):
        lo, hi = int(shapes_start[lane]), int(shapes_start[lane + 1])
        arc = float(np.hypot(*np.diff(points[lo:hi], axis=0).T).sum())
        if arc >= SHORTEST:
            continue
        if arc <= SAME_PLACE:
            ids = ids or [lane.id for r in draft.roads for lane in r.lanes]
            raise NetworkError(
                f"lane {ids[lane]!r}: all points of its shape lie in one place; "
                "give it two different points or drop the lane"
            )
        factor = SHORTEST / arc * (1.0 + 1e-9)
        points[lo:hi] = points[lo] + (points[lo:hi] - points[lo]) * factor


def lane_shapes(draft: Draft) -> tuple[Shapes, tuple[float, float]]:
    """Shapes of all road lanes, and what was subtracted from the draft's coordinates.

    Raises NetworkError for a shape that is not finite, has no extent or is absurdly long.
    """
    lanes = [lane for r in draft.roads for lane in r.lanes]
    pieces = [np.asarray(lane.shape, np.float64) for lane in lanes]
    fit = all(p.ndim == 2 and p.shape[1] == 2 and len(p) > 1 for p in pieces)
    points = np.concatenate(pieces) if fit else np.full((1, 2), np.nan)
    if not (np.abs(points) <= FARTHEST).all():  # tell where
        for one in lanes:
            _checked(one.shape, f"lane {one.id!r}")
    counts = np.array([len(p) for p in pieces])
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    shift = (0.0, 0.0)
    if np.abs(points).max() > FAR_FROM_ORIGIN:
        middle = np.round(0.5 * (points.min(axis=0) + points.max(axis=0)))
        shift = (float(middle[0]), float(middle[1]))
        points = points - middle
    points, start = _without_repeats(points, start)
    _stretch_short(points, start, draft)
    station = stations(points, start)
    shapes = Shapes(points, start, station)
    for lane in np.flatnonzero(~(shapes.length <= LONGEST)):
        raise NetworkError(
            f"lane {lanes[lane].id!r}: {shapes.length[lane]:.3g} m long; "
            f"split it below {LONGEST:.0f} m or correct its coordinates"
        )
    return shapes, shift


def end_directions(shapes: Shapes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit tangents at the start and at the end of each lane, (n, 2) each."""
    first = shapes.points[shapes.start[:-1] + 1] - shapes.points[shapes.start[:-1]]
    last = shapes.points[shapes.start[1:] - 1] - shapes.points[shapes.start[1:] - 2]
    return (
        first / np.hypot(first[:, 0], first[:, 1])[:, None],
        last / np.hypot(last[:, 0], last[:, 1])[:, None],
    )


def end_headings(shapes: Shapes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Headings of the first and of the last HEADING_SPAN metres of each lane, (n,) rad each."""
    length = shapes.length
    ahead = _places(shapes, np.minimum(HEADING_SPAN, length)) - shapes.points[shapes.start[:-1]]
    behind = _places(shapes, np.maximum(0.0, length - HEADING_SPAN))
    last = shapes.points[shapes.start[1:] - 1] - behind
    return np.arctan2(ahead[:, 1], ahead[:, 0]), np.arctan2(last[:, 1], last[:, 0])


def _places(shapes: Shapes, s: NDArray[np.float64]) -> NDArray[np.float64]:
    """The point of each lane at distance s, (n, 2) m."""
    n = len(shapes.start) - 1
    p = np.empty(n, np.int64)
    find_segments(shapes.station, shapes.start, s, p, 0, n)
    a, b = shapes.points[p], shapes.points[p + 1]
    slope = (b - a) / (shapes.station[p + 1] - shapes.station[p])[:, None]
    places = slope * (s - shapes.station[p])[:, None] + a
    return np.where((s >= shapes.station[p + 1])[:, None], b, places)


def _moved(
    shape: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A given shape, its ends moved to where the lanes are and the rest in proportion."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(shape, axis=0).T))])
    if along[-1] <= SAME_PLACE:
        return np.stack([start, end])
    w = (along / along[-1])[:, None]
    moved: NDArray[np.float64] = shape + (1.0 - w) * (start - shape[0]) + w * (end - shape[-1])
    moved[0], moved[-1] = start, end
    return moved


def smooth_curves(curves: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Curves between places and directions, as sample_curves takes them: points, where each begins.

    Those that would go far out of the way, in sharp turns and between ends that face each other, are
    cubics with arms so short that they keep near the straight way.
    """
    if not len(curves):
        return np.empty((0, 2)), np.zeros(1, np.int32)
    parts = [_smooth(curves[k : k + AT_ONCE]) for k in range(0, len(curves), AT_ONCE)]
    if len(parts) == 1:
        return parts[0]
    counts = np.concatenate([np.diff(start) for _, start in parts])
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return np.concatenate([points for points, _ in parts]), start


def _smooth(curves: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Some of them."""
    start = np.zeros(len(curves) + 1, np.int32)
    points = np.empty((sample_curves(curves, np.empty((0, 2)), start, 0, len(curves)), 2))
    sample_curves(curves, points, start, 0, len(curves))
    tamed = _tamed(curves, points, start)
    if not tamed:
        return points, start
    count = np.diff(start)
    changed = np.zeros(len(curves), bool)
    changed[list(tamed)] = True
    kept = points[~np.repeat(changed, count)]
    count[changed] = SAMPLES.size
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    found = np.empty((int(start[-1]), 2))
    found[~np.repeat(changed, count)] = kept
    for j, shape in tamed.items():
        found[start[j] : start[j + 1]] = shape
    return found, start


def _tamed(
    curves: NDArray[np.float64], points: NDArray[np.float64], start: NDArray[np.int32]
) -> dict[int, NDArray[np.float64]]:
    """Closer curves for those that are much longer than the straight way, or turn too much.

    A cubic's turning comes down to what the directions of its ends ask for as its arms get shorter.
    """
    p, u, q, v = (curves[:, k : k + 2] for k in (0, 2, 4, 6))
    net = np.arctan2(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0], (u * v).sum(axis=1))
    chord = np.hypot(*(q - p).T)
    far = np.flatnonzero(np.abs(net) <= TURNS_BACK)
    length = stations(points, start)[start[1:] - 1]
    step = np.diff(points, axis=0)
    heading = np.arctan2(step[:, 1], step[:, 0])
    turning = np.empty(len(curves))
    add_up_turns(heading, start, turning, 0, len(curves))
    leave, join = (np.arctan2(one[:, 1], one[:, 0]) for one in (u, v))
    turning += _turn(heading[start[:-1]] - leave) + _turn(join - heading[start[1:] - 2])
    left = far[(length[far] > LONGEST_WAY * chord[far]) | (turning[far] > MOST_TURNING)]
    found: dict[int, NDArray[np.float64]] = {}
    t = SAMPLES[:, None]
    for arm in ARMS:
        if not left.size:
            break
        reach = (arm * chord[left])[:, None]
        a, b = p[left] + reach * u[left], q[left] - reach * v[left]
        shape = (
            ((1.0 - t) ** 3)[None] * p[left, None] + (3.0 * t * (1.0 - t) ** 2)[None] * a[:, None]
            + (3.0 * t * t * (1.0 - t))[None] * b[:, None] + (t**3)[None] * q[left, None]
        )  # fmt: skip
        step = np.diff(shape, axis=1)
        size = np.hypot(step[..., 0], step[..., 1])
        heading = np.arctan2(step[..., 1], step[..., 0])
        turn = _turn(np.diff(heading, axis=1)).sum(axis=1)
        turn += _turn(heading[:, 0] - leave[left]) + _turn(join[left] - heading[:, -1])
        good = size.sum(axis=1) <= LONGEST_WAY * chord[left]
        good &= (turn <= MOST_TURNING) | (arm == ARMS[-1])
        found.update(zip(left[good].tolist(), shape[good], strict=True))
        left = left[~good]
    return found


def _turn(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much a heading changes, whichever way, rad."""
    return np.asarray(np.abs(wrapped(angle)))


def connector_shapes(index: DraftIndex, lanes: Shapes, shift: tuple[float, float]) -> Shapes:
    """Shapes of all connectors in network order: given ones moved to fit, others built smooth."""
    n = len(index.sequence)
    starts = lanes.points[lanes.start[index.from_lane + 1] - 1]
    ends = lanes.points[lanes.start[index.to_lane]]
    joining, leaving = end_directions(lanes)
    given: dict[int, NDArray[np.float64]] = {}
    for k, c in enumerate(index.connectors):
        if c.shape is not None:
            shape = _checked(c.shape, connector_name(c)) - np.array(shift)
            given[k] = _moved(shape, starts[k], ends[k])
    free = np.setdiff1d(np.arange(n), list(given))
    curves = np.hstack(
        [starts[free], leaving[index.from_lane[free]], ends[free], joining[index.to_lane[free]]]
    )
    curve_points, curve_start = smooth_curves(curves)
    counts = np.zeros(n, np.int64)
    counts[free] = np.diff(curve_start)
    smooth = counts > 0
    counts[list(given)] = [len(shape) for shape in given.values()]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    points = np.empty((int(start[-1]), 2))
    points[np.repeat(smooth, counts)] = curve_points
    del curve_points
    for k, shape in given.items():
        points[start[k] : start[k + 1]] = shape
    if n:
        points, start = _without_repeats(points, start)
    station = stations(points, start) if n else np.empty(0)
    for k in np.flatnonzero(station[start[1:] - 1] < SHORTEST).tolist():  # lanes that touch
        station[start[k] : start[k + 1]] = np.linspace(0.0, SHORTEST, start[k + 1] - start[k])
    for k in np.flatnonzero(~(station[start[1:] - 1] <= LONGEST)).tolist():
        name = connector_name(index.connectors[k])
        raise NetworkError(f"{name}: longer than {LONGEST:.0f} m; correct the roads it joins")
    return Shapes(points, start, station)


def joined(a: Shapes, b: Shapes) -> tuple[Shapes, Shapes, Shapes]:
    """Lanes of a, then lanes of b; and the two as parts of that, so that nothing is kept twice."""
    points = np.concatenate([a.points, b.points])
    station = np.concatenate([a.station, b.station])
    n = len(a.points)
    start = np.concatenate([a.start, a.start[-1] + b.start[1:]]).astype(np.int32)
    return (
        Shapes(points, start, station),
        Shapes(points[:n], a.start, station[:n]),
        Shapes(points[n:], b.start, station[n:]),
    )
