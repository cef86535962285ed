"""The surfaces of crossings: from road to road along the kerbs, which bend round the corners.

Where a crossing is too large for that, or its kerbs bend back, its surface is what its movements cover, and gaps
between them that are narrow: islands and blocks stay free.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network

ARMS: Final = 3  # at least
REACH: Final = 28.0  # m from the middle to the end of a road, at most
SMALLEST: Final = 4.0  # m2
LARGEST: Final = 1600.0  # m2
BACK: Final = -6.0  # m2 that the ways of one street may overlap by
BEND: Final = 9  # pieces of a corner
GAP: Final = 0.6  # m between two kerbs that need no corner
ALONG: Final = 0.15  # sine of the angle between two kerbs from which on they meet
WIDER: Final = 0.05  # m, as lanes are
LEAST_MOVEMENTS: Final = 3  # with more, a crossing is more than its connectors
NARROW: Final = 8.0  # m, of a gap between movements that is surfaced, too
ONTO: Final = (-1.0, 0.4)  # m along a road, from and to where its end belongs to a crossing
BENT: Final = 0.05  # m, of a bend that nobody sees
ROUND: Final = 6  # pieces of a quarter of a circle


@dataclass(frozen=True)
class Surfaces:
    """Outlines of crossings as r rings of p places in all, and the t triangles that fill them.

    Outlines are counter-clockwise, holes clockwise; a middle that triangles meet in is a ring of its own.
    """

    node: NDArray[np.int64]  # (r,) which intersection
    start: NDArray[np.int64]  # (r+1,) into points
    points: NDArray[np.float64]  # (p, 2) m
    corner: NDArray[np.int64]  # (t, 3) into points

    @property
    def owner(self) -> NDArray[np.int64]:
        """Which intersection each place is of, (p,)."""
        return np.repeat(self.node, np.diff(self.start))

    @property
    def outwards(self) -> NDArray[np.float64]:
        """Unit vectors at the places, (p, 2); 0 in middles."""
        after, before = np.arange(1, len(self.points) + 1), np.arange(-1, len(self.points) - 1)
        after[self.start[1:] - 1], before[self.start[:-1]] = self.start[:-1], self.start[1:] - 1
        along = self.points[after] - self.points[before]
        along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
        return np.column_stack((along[:, 1], -along[:, 0]))

    def triangles(self, more: float = 0.0) -> NDArray[np.float64]:
        """They as triangles (t, 3, 2) m, so many m larger."""
        return np.asarray((self.points + more * self.outwards)[self.corner], np.float64)


def surfaces(network: Network) -> Surfaces:
    """The surfaces of the crossings of a network, found once."""
    if "surfaces" not in network.derived:
        network.derived["surfaces"] = _found(network)
    kept: Surfaces = network.derived["surfaces"]
    return kept


def _found(network: Network) -> Surfaces:
    bent = _bent(network)
    count = np.bincount(
        network.arrays.connectors.intersection, minlength=len(network.intersection_ids)
    )
    others = count > LEAST_MOVEMENTS
    others[bent.node] = False
    closed = _closed(network, others)
    return Surfaces(
        np.concatenate((bent.node, closed.node)),
        np.concatenate((bent.start[:-1], closed.start + bent.start[-1])),
        np.concatenate((bent.points, closed.points)),
        np.concatenate((bent.corner, closed.corner + bent.start[-1])),
    )


def _closed(network: Network, wanted: NDArray[np.bool_]) -> Surfaces:
    """The surfaces of wanted intersections, (n,), by what their movements cover."""
    import shapely

    if not wanted.any():
        return Surfaces(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros((0, 2)), np.zeros((0, 3), np.int64))  # fmt: skip
    ways, first = network.arrays.connectors, network.n_road_lanes
    some = np.flatnonzero(wanted[ways.intersection]) + first
    counts = np.diff(network.point_start)[some]
    at = np.repeat(network.point_start[some] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())  # fmt: skip
    lines = shapely.linestrings(network.points[at], indices=np.repeat(np.arange(some.size), counts))
    half = 0.5 * network.arrays.lanes.width[some] + WIDER
    ribbons = shapely.buffer(lines, half, cap_style="flat", quad_segs=ROUND)
    arm, left, right, away = _arms(network)
    mine = wanted[arm]
    left, right, away = left[mine], right[mine], away[mine]
    ends = [left + ONTO[0] * away, left + ONTO[1] * away, right + ONTO[1] * away, right + ONTO[0] * away]  # fmt: skip
    parts = np.concatenate((ribbons, shapely.polygons(np.stack(ends, axis=1))))
    node = np.concatenate((ways.intersection[some - first], arm[mine]))
    order = np.argsort(node, kind="stable")
    found, cuts = np.unique(node[order], return_index=True)
    covered = np.array([shapely.union_all(group) for group in np.split(parts[order], cuts[1:])])
    closed = shapely.buffer(covered, 0.5 * NARROW, quad_segs=ROUND)
    closed = shapely.simplify(shapely.buffer(closed, -0.5 * NARROW, quad_segs=ROUND), BENT)
    areas, of = shapely.get_parts(closed, return_index=True)
    return _filled(shapely.orient_polygons(areas), found[of])


def _filled(areas: NDArray[Any], node: NDArray[np.int64]) -> Surfaces:
    """Polygons of shapely, each with its intersection, as rings and triangles of their places."""
    import shapely

    rings, of = shapely.get_rings(areas, return_index=True)
    points, ring = shapely.get_coordinates(rings, return_index=True)
    last = np.diff(ring, append=-1) != 0  # is the first once more
    points, ring = points[~last], ring[~last]
    triangles, area = shapely.get_parts(
        shapely.constrained_delaunay_triangles(areas), return_index=True
    )
    corners = shapely.get_coordinates(triangles).reshape(-1, 4, 2)[:, :3].reshape(-1, 2)
    # The same place of two areas is two: which one is told by its area.
    told = np.column_stack((np.concatenate((of[ring], np.repeat(area, 3))), np.concatenate((points, corners))))  # fmt: skip
    _, number = np.unique(told, axis=0, return_inverse=True)
    number = number.reshape(-1)
    place = np.zeros(len(told), np.int64)
    place[number[: len(points)]] = np.arange(len(points))
    start = np.concatenate(([0], np.cumsum(np.bincount(ring, minlength=len(rings)))))
    return Surfaces(node[of], start, points, place[number[len(points) :]].reshape(-1, 3))


def _bent(network: Network) -> Surfaces:
    """Those of crossings that are seen whole from their middles, along the kerbs."""
    node, left, right, away = _arms(network)
    end = 0.5 * (left + right)
    count = np.bincount(node, minlength=1)
    sums = [np.bincount(node, end[:, k], count.size) for k in (0, 1)]
    middle = np.column_stack(sums).astype(np.float64) / np.maximum(count, 1)[:, None]
    off = end - middle[node]
    wrong = (np.hypot(off[:, 0], off[:, 1]) > REACH) | ((off * away).sum(axis=1) < 0.0)
    usable = (count >= ARMS) & ~_any(wrong, node, count.size)
    kept = usable[node]
    order = np.lexsort((np.arctan2(off[:, 1], off[:, 0])[kept], node[kept]))
    node = node[kept][order]
    left, right, away = (values[kept][order] for values in (left, right, away))
    if not node.size:
        return Surfaces(node, np.zeros(1, np.int64), np.zeros((0, 2)), np.zeros((0, 3), np.int64))
    first = np.flatnonzero(np.diff(node, prepend=-1))
    after = np.arange(1, node.size + 1)
    after[np.append(first[1:], node.size) - 1] = first
    corner, bends = _corners(left, right[after], away, away[after])
    points = np.concatenate((right[:, None], left[:, None], corner), axis=1)
    there = np.ones(points.shape[:2], bool)
    there[:, 2:] = bends[:, None]
    return _chosen(node, middle[node[first]], points, there)


def _any(values: NDArray[np.bool_], group: NDArray[np.int64], groups: int) -> NDArray[np.bool_]:
    return np.bincount(group[values], minlength=groups) > 0


def _arms(
    network: Network,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The ends of roads: at which intersection, the kerbs to the left and right of who looks away from it, and there."""
    roads, lanes = network.arrays.roads, network.arrays.lanes
    inner = roads.first_lane + roads.lane_count - 1
    parts = []
    for node, ends in ((roads.from_intersection, False), (roads.to_intersection, True)):
        edges = []
        for lane in (roads.first_lane, inner):
            at = network.point_start[lane + 1] - 1 if ends else network.point_start[lane]
            step = network.points[at + (-1 if ends else 1)] - network.points[at]
            step = step / np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
            edges.append((network.points[at], step, 0.5 * lanes.width[lane] + WIDER))
        # Lane 0 is at the kerb: right of the way of traffic, or left of it.
        if ends == network.left_hand:
            edges.reverse()
        (a, along, wide), (b, across, thick) = edges
        left = a + np.column_stack((-along[:, 1], along[:, 0])) * wide[:, None]
        right = b - np.column_stack((-across[:, 1], across[:, 0])) * thick[:, None]
        known = node >= 0
        parts.append((node[known].astype(np.int64), left[known], right[known], along[known]))
    return tuple(np.concatenate(one) for one in zip(*parts, strict=True))  # type: ignore[return-value]


def _corners(
    a: NDArray[np.float64], b: NDArray[np.float64], u: NDArray[np.float64], v: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Places of bends from a to b, (n, BEND - 1, 2), whose kerbs lead away along u and v; and whether they are wide enough."""
    between = b - a
    gap = np.hypot(between[:, 0], between[:, 1])
    sine = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    safe = np.where(np.abs(sine) > ALONG, sine, 1.0)
    s = (between[:, 0] * v[:, 1] - between[:, 1] * v[:, 0]) / safe
    t = (between[:, 0] * u[:, 1] - between[:, 1] * u[:, 0]) / safe
    # Where both kerbs would meet, inside of both ends.
    meet = (np.abs(sine) > ALONG) & (s < 0.0) & (t < 0.0) & (np.minimum(s, t) > -2.0 * gap)
    top = np.where(meet[:, None], a + s[:, None] * u, 0.5 * (a + b))
    w = (np.arange(1, BEND) / BEND)[None, :, None]
    bend = (1 - w) ** 2 * a[:, None] + 2 * w * (1 - w) * top[:, None] + w**2 * b[:, None]
    return bend, gap >= GAP


def _chosen(
    node: NDArray[np.int64], middle: NDArray[np.float64], points: NDArray[np.float64],
    there: NDArray[np.bool_],
) -> Surfaces:  # fmt: skip
    """Those that have a usable size and are seen whole from their middle; node: of each arm, in order."""
    per_arm = there.sum(axis=1)
    flat = points[there]
    owner = np.repeat(np.unique(node, return_inverse=True)[1].reshape(-1), per_arm)
    sizes = np.bincount(owner, minlength=len(middle))
    start = np.concatenate(([0], np.cumsum(sizes)))
    nexts = np.arange(1, len(flat) + 1)
    nexts[start[1:] - 1] = start[:-1]
    off, then = flat - middle[owner], flat[nexts] - middle[owner]
    part = off[:, 0] * then[:, 1] - off[:, 1] * then[:, 0]
    area = 0.5 * np.bincount(owner, part, len(middle))
    good = (area >= SMALLEST) & (area <= LARGEST) & ~_any(part < BACK, owner, len(middle))
    kept = good[owner]
    # Each middle comes before its outline, as a ring of its own.
    number = np.cumsum(good)[owner][kept]
    place = np.arange(kept.sum()) + number
    sizes = np.column_stack((np.ones(good.sum(), np.int64), sizes[good])).reshape(-1)
    start = np.concatenate(([0], np.cumsum(sizes)))
    return Surfaces(
        np.repeat(np.unique(node)[good], 2), start,
        np.insert(flat[kept], (np.cumsum(sizes[1::2]) - sizes[1::2]), middle[good], axis=0),
        np.column_stack((start[2 * number - 2], place, np.where(place + 1 == start[2 * number], start[2 * number - 1], place + 1))),
    )  # fmt: skip
