"""How roads rank on a map: side streets, main streets, fast roads; by which they are coloured and how wide they are from afar."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CAR, CLASS_BIT
from rushhour.roadnets.model import Network

SIDE: Final = 0
MAIN: Final = 1
FAST: Final = 2
MAIN_SPEED: Final = 12.0  # m/s; slower ones are side streets
RURAL_SPEED: Final = 16.0  # m/s, from which on a road is a main one whatever its rank
FAST_SPEED: Final = 21.0  # m/s
SHORT: Final = (
    60.0  # m; a shorter road that leads to one road alone, or comes from one, ranks with it
)
LEAST_LANES: Final = (1.5, 3.0, 4.4)  # pixels of a lane by grade
LEAST_KERB: Final = (0.5, 0.8, 0.8)  # pixels, of the rim on each side, from afar


def road_grades(network: Network) -> NDArray[np.uint8]:
    """The grade of each road; both directions of a street have one.

    Fast ones by their limit. Main ones are those that outrank half of the network, have several lanes
    or lead out of town, where one may drive at 12 m/s or more. Short pieces between a crossing and a main
    road, where only the number of lanes changes, are of it.
    """
    roads = network.arrays.roads
    if not len(roads.speed):
        return np.zeros(0, np.uint8)
    lanes = network.arrays.lanes
    length = lanes.length[roads.first_lane]
    order = np.argsort(roads.priority, kind="stable")
    run = np.cumsum(length[order])
    usual = roads.priority[order][np.searchsorted(run, 0.5 * run[-1])]
    outranks = (roads.priority > usual) | (roads.lane_count > 1) | (roads.speed >= RURAL_SPEED)
    grade = np.where((roads.speed >= MAIN_SPEED) & outranks, MAIN, SIDE)
    grade = np.where(roads.speed >= FAST_SPEED, FAST, grade).astype(np.uint8)
    ends = np.column_stack((roads.from_intersection, roads.to_intersection))
    _, street = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    street = np.where((ends >= 0).all(axis=1), street.reshape(-1), len(ends) + np.arange(len(ends)))
    before, after = _continued(network)
    while True:
        highest = np.zeros(2 * len(ends), np.uint8)
        np.maximum.at(highest, street, grade)
        found = highest[street]
        for short, other in ((before, after), (after, before)):
            some = length[short] < SHORT
            np.maximum.at(found, short[some], found[other[some]])
        if np.array_equal(found, grade):
            return found
        grade = found


def bus_lanes(network: Network) -> NDArray[np.bool_]:
    """Which lanes of roads buses may use and cars may not, (n_lanes,)."""
    lanes = network.arrays.lanes
    on_road = np.arange(network.n_lanes) < network.n_road_lanes
    bus, car = lanes.permissions & CLASS_BIT["bus"] != 0, lanes.permissions & CAR != 0
    return np.asarray(on_road & bus & ~car)


def _continued(network: Network) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Roads that lead to one other alone, which nothing else leads to, and those; turning back apart."""
    roads, connectors = network.arrays.roads, network.arrays.connectors
    road = network.arrays.lanes.road
    pairs = np.column_stack((road[connectors.from_lane], road[connectors.to_lane]))
    pairs = np.unique(pairs[(pairs >= 0).all(axis=1)], axis=0)
    back = roads.from_intersection[pairs[:, 0]] == roads.to_intersection[pairs[:, 1]]
    pairs = pairs[~(back & (roads.from_intersection[pairs[:, 0]] >= 0))]
    ways = [np.bincount(pairs[:, k], minlength=len(roads.speed))[pairs[:, k]] for k in (0, 1)]
    alone = pairs[(ways[0] == 1) & (ways[1] == 1)]
    return alone[:, 0], alone[:, 1]


def lane_grades(network: Network) -> NDArray[np.uint8]:
    """The grade of each lane: of its road, or of its intersection."""
    lanes, n = network.arrays.lanes, network.n_road_lanes
    on_road = road_grades(network)[lanes.road[:n]]
    at = node_grades(network)[np.maximum(network.arrays.connectors.intersection, 0)]
    return np.concatenate((on_road, at)).astype(np.uint8)


def node_grades(network: Network) -> NDArray[np.uint8]:
    """The grade of each intersection: the highest of the roads that meet there."""
    roads, connectors = road_grades(network), network.arrays.connectors
    grade = np.zeros(max(1, len(network.intersection_ids)), np.uint8)
    for lane in (connectors.from_lane, connectors.to_lane):
        road = network.arrays.lanes.road[lane]
        np.maximum.at(grade, connectors.intersection, roads[road])
    return grade
