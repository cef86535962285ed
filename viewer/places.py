"""Lanes and intersections to look closer at: which lies under a pixel, what lies around it.

A place is its kind, "lane", "intersection" or "finding", and its number in the network.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.traffic.words.places_named import MOVEMENT, ROAD, want_place

Place = tuple[str, int]
LANE: Final = "lane"
INTERSECTION: Final = "intersection"
FINDING: Final = "finding"
FAR: Final = 1.0  # m per pixel from which on an intersection near the cursor comes before a lane
CLOSEST: Final = 0.05  # m per pixel
AROUND: Final = 6.0  # m of an intersection beyond its connectors that are framed


def place_called(network: Network, kind: str, name: str) -> Place:
    """The place of a name that is printed of a road, a lane, a movement or an intersection.

    kind: "road", "lane" or "intersection", which is looked for first. A road is the lane in its
    middle, a movement its intersection. Raises RunError for a name of nothing.
    """
    found = want_place(network, name, kind)
    number = found.number
    if found.kind == ROAD:
        roads = network.arrays.roads
        return LANE, int(roads.first_lane[number] + roads.lane_count[number] // 2)
    if found.kind == MOVEMENT:
        return INTERSECTION, int(network.arrays.connectors.intersection[number])
    return found.kind, number


def place_at(network: Network, x: float, y: float, scale: float, reach: float) -> Place | None:
    """The lane or intersection nearest to a place in m, within `reach` pixels of `scale` m each."""
    far = reach * scale
    intersections = network.arrays.intersections
    if scale >= FAR and intersections.x.size:
        away = np.hypot(intersections.x - x, intersections.y - y)
        away[np.diff(intersections.connector_start) == 0] = np.inf
        if away.min() <= far:
            return INTERSECTION, int(np.argmin(away))
    lane = _nearest_lane(network, x, y, far)
    if lane < 0:
        return None
    if lane < network.n_road_lanes:
        return LANE, lane
    return INTERSECTION, int(network.arrays.lanes.intersection[lane])


def _nearest_lane(network: Network, x: float, y: float, far: float) -> int:
    """The lane or connector on which a place lies, or whose edge is within far m; -1: none."""
    points = network.points - (x, y)
    owner = np.repeat(np.arange(network.n_lanes), np.diff(network.point_start))
    inside = owner[1:] == owner[:-1]
    a, along = points[:-1][inside], np.diff(points, axis=0)[inside]
    lane = owner[1:][inside]
    square = np.maximum(np.einsum("ij,ij->i", along, along), 1e-12)
    share = np.clip(-np.einsum("ij,ij->i", a, along) / square, 0.0, 1.0)
    middle = np.hypot(*(a + share[:, None] * along).T)
    outside = np.maximum(middle - 0.5 * network.arrays.lanes.width[lane], 0.0)
    if not outside.size or outside.min() > far:
        return -1
    return int(lane[np.lexsort((middle, outside))[0]])


def middle_of(network: Network, place: Place) -> tuple[float, float]:
    """Where a place lies, m."""
    kind, number = place
    if kind == INTERSECTION:
        intersections = network.arrays.intersections
        return float(intersections.x[number]), float(intersections.y[number])
    if kind == FINDING:
        at = network.findings[number].place
        return at if at is not None else (0.0, 0.0)
    points = network.lane_points(number)
    return tuple(points[len(points) // 2].tolist())


def fitting(network: Network, place: Place, pixels: int) -> float:
    """Metres per pixel at which a place fills about half of a picture, so many pixels high."""
    span = float(np.ptp(outline_of(network, place), axis=0).max())
    return max(CLOSEST, 2.0 * span / pixels)


def outline_of(network: Network, place: Place) -> NDArray[np.float64]:
    """A closed line around a place, (k, 2), m: the edges of a lane, a circle about an intersection."""
    kind, number = place
    if kind == LANE:
        points = network.lane_points(number)
        step = np.gradient(points, axis=0)
        step /= np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
        side = 0.5 * network.arrays.lanes.width[number] * np.column_stack((-step[:, 1], step[:, 0]))
        return np.concatenate((points + side, (points - side)[::-1], points[:1] + side[:1]))
    x, y = middle_of(network, place)
    radius = AROUND
    if kind == INTERSECTION:
        ends = [network.lane_points(network.n_road_lanes + k) for k in movements(network, number)]
        if ends:
            radius += float(np.hypot(*(np.concatenate(ends) - (x, y)).T).max())
    angle = np.linspace(0.0, 2.0 * np.pi, 49)
    return np.column_stack((x + radius * np.cos(angle), y + radius * np.sin(angle)))


def movements(network: Network, intersection: int) -> list[int]:
    """The connectors of an intersection."""
    table = network.arrays.intersections
    start = table.connector_start[intersection : intersection + 2]
    return [int(k) for k in table.connector[start[0] : start[1]]]


def approaches(network: Network, intersection: int) -> list[int]:
    """The road lanes that end at an intersection."""
    table = network.arrays.intersections
    start = table.lane_start[intersection : intersection + 2]
    return [int(lane) for lane in table.lane[start[0] : start[1]]]
