"""What lies over what: bridges and tunnels, by the levels of the network.

Levels of roads are those of `network.levels`; an intersection lies where the roads do that end there, on the ground
where one of them does.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.roadnets.model import Network

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Stretches(NamedTuple):
    """Stretches of lanes that do not lie at level 0, by lane and place."""

    lane: Ints
    begin: Floats  # m from the start of the lane
    end: Floats
    level: Ints


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


def node_levels(network: Network) -> Ints:
    """The level of each intersection, (n,)."""
    levels, roads = network.levels, network.arrays.roads
    n = len(network.intersection_ids)
    low, high = np.full(n, 127), np.full(n, -127)
    for node, ends in ((roads.from_intersection, levels.begin == 0.0), (roads.to_intersection, levels.end == 1.0)):  # fmt: skip
        here = np.zeros(network.n_roads, np.int64)
        here[levels.road[ends]] = levels.level[ends]
        known = node >= 0
        np.minimum.at(low, node[known], here[known])
        np.maximum.at(high, node[known], here[known])
    return np.where((low > 0) & (low < 127), low, np.where((high < 0) & (high > -127), high, 0))


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
