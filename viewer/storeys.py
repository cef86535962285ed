"""What lies over what: bridges and tunnels, by the levels of the network.

Levels of roads are those of `network.levels`; an intersection lies where the roads do that end there, on the ground
where one of them does.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.roadnets.model import Network

NEAR_END: Final = 0.5  # m before the end of a lane, from where on a vehicle may have left it
ASIDE: Final = 4.0  # m beside a lane, where its vehicles are
LOWEST: Final = -127  # no level

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Found = TypeVar("Found")


def found_once(find: Callable[[Network], Found]) -> Callable[[Network], Found]:
    """What a function finds out about a network, found once for each."""

    def kept(network: Network) -> Found:
        if find not in network.derived:
            network.derived[find] = find(network)
        found: Found = network.derived[find]
        return found

    kept.__doc__ = find.__doc__
    return kept


class Stretches(NamedTuple):
    """Stretches of lanes that do not lie at level 0, by lane and place."""

    lane: Ints
    begin: Floats  # m from the start of the lane
    end: Floats
    level: Ints


@found_once
def stretches(network: Network) -> Stretches:
    """The stretches of the lanes of roads."""
    levels, roads = network.levels, network.arrays.roads
    count = roads.lane_count[levels.road].astype(np.int64)
    of = np.repeat(np.arange(count.size), count)
    number = np.arange(of.size) - np.repeat(np.cumsum(count) - count, count)
    lane = roads.first_lane[levels.road][of] + number
    length = network.arrays.lanes.length[lane]
    begin, end = levels.begin[of] * length, levels.end[of] * length
    order = np.lexsort((begin, lane))
    level = levels.level.astype(np.int64)[of]
    return Stretches(lane[order].astype(np.int64), begin[order], end[order], level[order])


def levels_of(network: Network) -> tuple[int, ...] | tuple[None]:
    """The levels from below, in the order in which they are drawn; None where there is but one."""
    found = np.unique(np.append(network.levels.level, 0)).tolist()
    return tuple(found) if len(found) > 1 else (None,)


@found_once
def node_levels(network: Network) -> Ints:
    """The level of each intersection, (n,)."""
    levels, roads = network.levels, network.arrays.roads
    n = len(network.intersection_ids)
    low, high = np.full(n, -LOWEST), np.full(n, LOWEST)
    for node, ends in ((roads.from_intersection, levels.begin == 0.0), (roads.to_intersection, levels.end == 1.0)):  # fmt: skip
        here = np.zeros(network.n_roads, np.int64)
        here[levels.road[ends]] = levels.level[ends]
        known = node >= 0
        np.minimum.at(low, node[known], here[known])
        np.maximum.at(high, node[known], here[known])
    return np.where(
        (low > 0) & (low < -LOWEST), low, np.where((high < 0) & (high > LOWEST), high, 0)
    )


def levels_at(network: Network, lane: ArrayLike, s: ArrayLike) -> Ints:
    """The level of places on lanes and connectors, (n,). s: m from the start of the lane."""
    lanes, at = np.asarray(lane, np.int64), np.asarray(s, np.float64)
    if not network.levels.road.size:
        return np.zeros(lanes.shape, np.int64)
    n = network.n_road_lanes
    level = np.zeros(lanes.shape, np.int64)
    inside = lanes >= n
    level[inside] = node_levels(network)[network.arrays.connectors.intersection[lanes[inside] - n]]
    some = stretches(network)
    far = network.arrays.lanes.length.max() + 1.0
    found = np.searchsorted(some.lane * far + some.begin, lanes * far + at, "right") - 1
    there = (some.lane[found] == lanes) & (at <= some.end[found]) & (found >= 0)
    return np.where(there, some.level[found], level)


class Crossed(NamedTuple):
    """What a vehicle may be on that leaves a lane, or that is on a connector."""

    above: NDArray[np.bool_]  # (n_road_lanes,) whether one may be at another level than 0 there
    onto: Ints  # (n_road_lanes,) the highest level that a lane leads to
    inside: Ints  # (n_connectors,) the highest of it, where it comes from and where it leads to
    low: Floats  # (n_lanes, 2) m, of the box around each lane, so wide that vehicles on it are inside
    high: Floats


@found_once
def _crossed(network: Network) -> Crossed:
    ways, roads = network.arrays.connectors, np.arange(network.n_road_lanes)
    ends = levels_at(network, roads, network.arrays.lanes.length[: roads.size])
    inside = np.maximum(ends[ways.from_lane], levels_at(network, roads, 0.0 * roads)[ways.to_lane])
    inside = np.maximum(inside, node_levels(network)[ways.intersection])
    onto = np.zeros(roads.size, np.int64)
    np.maximum.at(onto, ways.from_lane, inside)
    above = onto > 0
    above[stretches(network).lane] = True
    low, high = (
        f.reduceat(network.points, network.point_start[:-1]) for f in (np.minimum, np.maximum)
    )
    return Crossed(above, onto, inside, low - ASIDE, high + ASIDE)


def vehicle_levels(
    network: Network, lanes: ArrayLike, pose: Floats, length: Floats, box: Floats
) -> Ints:
    """The level that each vehicle is drawn at, (n,): the highest of where its front and its rear are, and of what its lane
    leads to where it is at its end. pose: (n, 3) x, y (m) of fronts and heading (rad). box: m, of those that are looked at.
    """
    lane, n = np.asarray(lanes, np.int64), network.n_road_lanes
    above, onto, inside, low, high = _crossed(network)
    level = np.zeros(lane.size, np.int64)
    level[lane >= n] = inside[lane[lane >= n] - n]
    # Between two frames far apart some have long left the lane that is known: nothing covers them, nor bodies.
    place, turn = pose[:, :2], pose[:, 2]
    there = (lane >= 0) & ((place >= low[lane]) & (place <= high[lane])).all(axis=1)
    level[~there] = int(network.levels.level.max(initial=0))
    here = there & (lane < n) & (place >= box[:2]).all(axis=1) & (place <= box[2:]).all(axis=1)
    some = np.flatnonzero(here)
    some = some[above[lane[some]]]
    level[some] = LOWEST
    front = place[some]
    rear = front - length[some, None] * np.column_stack((np.cos(turn[some]), np.sin(turn[some])))
    for one in np.unique(lane[some]).tolist():
        mine = np.flatnonzero(lane[some] == one)
        line, end = network.lane_points(one), network.arrays.lanes.length[one] - NEAR_END
        for end_of_it in (front[mine], rear[mine]):
            s = _along(line, end_of_it)
            found = levels_at(network, np.full(mine.size, one), s)
            found = np.where(s >= end, np.maximum(found, onto[one]), found)
            level[some[mine]] = np.maximum(level[some[mine]], found)
    return level


def _along(line: Floats, places: Floats) -> Floats:
    """How far along a line, (k, 2) m, it is nearest to places (n, 2), m."""
    step = np.diff(line, axis=0)
    square = np.maximum((step**2).sum(axis=1), 1e-12)
    off = places[:, None] - line[None, :-1]
    share = np.clip((off * step).sum(axis=2) / square, 0.0, 1.0)
    away = np.hypot(*np.moveaxis(off - share[..., None] * step, 2, 0))
    at = np.concatenate(([0.0], np.cumsum(np.sqrt(square))))
    found = away.argmin(axis=1)
    return np.asarray(at[found] + share[np.arange(len(places)), found] * np.sqrt(square[found]))
