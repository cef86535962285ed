"""The surfaces of crossings: from road to road along the kerbs, which bend round the corners.

A crossing that is too large to be without islands, or whose kerbs bend back, has none: `shapes.aprons` says
where it is surfaced.
"""

from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True)
class Surfaces:
    """Outlines of k crossings, counter-clockwise, of p places in all; each is seen whole from its middle."""

    node: NDArray[np.int64]  # (k,) which intersection
    middle: NDArray[np.float64]  # (k, 2) m
    start: NDArray[np.int64]  # (k+1,) into points
    points: NDArray[np.float64]  # (p, 2) m
    outwards: NDArray[np.float64]  # (p, 2) unit vectors

    @property
    def owner(self) -> NDArray[np.int64]:
        """Which of them each triangle belongs to, (p,)."""
        return np.repeat(np.arange(self.node.size), np.diff(self.start))

    def triangles(self, more: float = 0.0) -> NDArray[np.float64]:
        """They as triangles (p, 3, 2) m, from the middle to the outline, so many m larger."""
        edge = self.points + more * self.outwards
        return np.stack((self.middle[self.owner], edge, edge[self.after]), axis=1)

    @property
    def after(self) -> NDArray[np.int64]:
        """The place that follows each, (p,)."""
        after = np.arange(1, len(self.points) + 1)
        after[self.start[1:] - 1] = self.start[:-1]
        return after


def surfaces(network: Network) -> Surfaces:
    """The surfaces of the crossings of a network."""
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
        places = np.zeros((0, 2))
        return Surfaces(node, places, np.zeros(1, np.int64), places, places)
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
    nexts, befores = np.arange(1, len(flat) + 1), np.arange(-1, len(flat) - 1)
    nexts[start[1:] - 1], befores[start[:-1]] = start[:-1], start[1:] - 1
    off, then = flat - middle[owner], flat[nexts] - middle[owner]
    part = off[:, 0] * then[:, 1] - off[:, 1] * then[:, 0]
    area = 0.5 * np.bincount(owner, part, len(middle))
    good = (area >= SMALLEST) & (area <= LARGEST) & ~_any(part < BACK, owner, len(middle))
    along = flat[nexts] - flat[befores]
    outwards = np.column_stack((along[:, 1], -along[:, 0]))
    outwards /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    kept = good[owner]
    return Surfaces(
        np.unique(node)[good], middle[good], np.concatenate(([0], np.cumsum(sizes[good]))),
        flat[kept], outwards[kept],
    )  # fmt: skip
