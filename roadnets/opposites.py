"""What runs the other way: the lane beside a road's only lane, and which roads have nothing beside them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network

APART: Final = 1.0  # m that the two may lie further apart than lanes without a median
ALIKE: Final = 0.1  # share by which their lengths may differ
PLACES: Final = (0.1, 0.5, 0.9)  # of a lane's length, where the two are compared
AGAINST: Final = -0.9  # cosine of two roads at an end, from which they are one street's two sides


def opposite_lanes(network: Network) -> NDArray[np.int32]:
    """For each road lane the only lane of the road beside it in the other direction, shape (n,).

    -1 where a road has several lanes or none lies beside it: one-way streets, medians. The relation
    is symmetric. Kept with the network.
    """
    kept = network.derived.get("opposite_lanes")
    if kept is None:
        kept = network.derived["opposite_lanes"] = _found(network)
    return np.array(kept)


def one_way_roads(network: Network) -> NDArray[np.bool_]:
    """Which roads are one-way streets, shape (n_roads,): none leads from their end back to their start,
    nor does one that comes from, or goes to, where they do run against them there.

    The latter are the two sides of a street that is divided at other places on each, as before turn lanes.
    """
    kept = network.derived.get("one_way_roads")
    if kept is None:
        kept = network.derived["one_way_roads"] = _one_way(network)
    return np.array(kept)


def _one_way(network: Network) -> NDArray[np.bool_]:
    roads = network.arrays.roads
    start, end = roads.from_intersection.astype(np.int64), roads.to_intersection.astype(np.int64)
    lane = roads.first_lane
    first, last = network.point_start[lane], network.point_start[lane + 1] - 1
    leaves = _unit(network.points[first + 1] - network.points[first])
    comes = _unit(network.points[last] - network.points[last - 1])
    # Each pair of a road that comes to an intersection and one that leaves it.
    order = np.argsort(end, kind="stable")
    lo, hi = np.searchsorted(end[order], start, "left"), np.searchsorted(end[order], start, "right")
    count = np.where(start >= 0, hi - lo, 0)
    out = np.repeat(np.arange(start.size), count)
    at = np.arange(out.size) - np.repeat(np.cumsum(count) - count, count)
    into = order[np.repeat(lo, count) + at]
    back = (start[into] == end[out]) & (end[out] >= 0)
    back |= (comes[into] * leaves[out]).sum(axis=1) < AGAINST
    found = np.ones(start.size, np.bool_)
    found[into[back]] = found[out[back]] = False
    return found


def _unit(step: NDArray[np.float64]) -> NDArray[np.float64]:
    return step / np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]


def _found(network: Network) -> NDArray[np.int32]:
    roads = network.arrays.roads
    found = np.full(network.n_road_lanes, -1, np.int32)
    single = np.flatnonzero((roads.lane_count == 1) & (roads.from_intersection >= 0))
    start, end = roads.from_intersection[single].tolist(), roads.to_intersection[single].tolist()
    lanes = roads.first_lane[single].tolist()
    between: dict[tuple[int, int], list[int]] = {}
    for a, b, lane in zip(start, end, lanes, strict=True):
        between.setdefault((a, b), []).append(lane)
    for a, b, lane in zip(start, end, lanes, strict=True):
        for other in between.get((b, a), ()):
            if (
                other > lane
                and found[lane] < 0
                and found[other] < 0
                and _beside(network, lane, other)
            ):
                found[lane], found[other] = other, lane
    return found


def _beside(network: Network, lane: int, other: int) -> bool:
    """Whether two lanes run side by side in opposite directions, each left of the other (or right,
    where traffic keeps left)."""
    lanes = network.arrays.lanes
    long, short = sorted((lanes.length[lane], lanes.length[other]), reverse=True)
    if long - short > ALIKE * long:
        return False
    width = 0.5 * (lanes.width[lane] + lanes.width[other])
    side = -1.0 if network.left_hand else 1.0
    for share in PLACES:
        here, ahead = _place(network, lane, share)
        there, _ = _place(network, other, 1.0 - share)
        to = there - here
        left = side * (ahead[0] * to[1] - ahead[1] * to[0])
        if not 0.5 * width < left < width + APART or abs(float(ahead @ to)) > width:
            return False
    return True


def _place(
    network: Network, lane: int, share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A point of a lane, at a share of its length, and its direction there."""
    first, last = network.point_start[lane], network.point_start[lane + 1]
    points, station = network.points[first:last], network.station[first:last]
    s = share * station[-1]
    k = min(max(int(np.searchsorted(station, s)), 1), points.shape[0] - 1)
    step = max(float(station[k] - station[k - 1]), 1e-9)
    ahead = (points[k] - points[k - 1]) / step
    return points[k - 1] + ahead * (s - station[k - 1]), ahead
