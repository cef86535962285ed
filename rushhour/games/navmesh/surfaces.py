"""What the ground is made of: the surfaces of roads, intersections and verges, as shapely's.

shapely (BSD, over GEOS) keeps overlays exact on a grid of a millimetre; see `navmesh.building`.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network

SEAM: Final = 0.1  # m, by which a lane's ribbon is wider on either side, so that lanes join
SMOOTH: Final = 0.1  # m, by which a simplified line may leave the lane's
CLOSING: Final = 3.0  # m; gaps between connectors up to twice that are intersection, too
SEGMENT: Final = 30.0  # m, about, of a road between two cuts
SQUARE: Final = 60.0  # m, of the squares that verges are cut into; a whole one has too many corners


class Surfaces(NamedTuple):
    """Polygons, and the lines that cut roads into segments."""

    road: NDArray[Any]  # (n_roads,) polygons
    line: NDArray[Any]  # (n_roads,) the line of a lane in the middle of each road
    segments: NDArray[np.int32]  # (n_roads,) of each road
    cuts: NDArray[Any]  # lines across roads, between two segments, and through verges
    intersection: NDArray[Any]  # polygons
    crossing: NDArray[np.int32]  # intersection of each of these
    verge: Any  # around all, and all of these


def surfaces(network: Network, verge: float) -> Surfaces:
    """The surfaces of a network, with a strip of `verge` m along their outer edge."""
    import shapely

    lanes, roads = network.arrays.lanes, network.arrays.roads
    counts = np.diff(network.point_start)
    lines = shapely.linestrings(
        network.points[:, :2], indices=np.repeat(np.arange(network.n_lanes), counts)
    )
    ribbons = shapely.buffer(
        shapely.simplify(lines, SMOOTH), 0.5 * lanes.width + SEAM, cap_style="flat",
        join_style="mitre", mitre_limit=2.0,
    )  # fmt: skip
    first, count = roads.first_lane, roads.lane_count
    road = np.array(
        [shapely.union_all(ribbons[a : a + k]) for a, k in zip(first, count, strict=True)]
    )
    middle = lines[first + count // 2]
    pieces = np.maximum(1, np.round(shapely.length(middle) / SEGMENT)).astype(np.int32)
    connectors = network.arrays.intersections
    start = connectors.connector_start
    crossing = np.flatnonzero(np.diff(start)).astype(np.int32)
    n = network.n_road_lanes
    joined = [
        shapely.union_all(ribbons[n + connectors.connector[start[k] : start[k + 1]]])
        for k in crossing
    ]
    closed = shapely.buffer(
        shapely.buffer(np.array(joined, object), CLOSING, quad_segs=2), -CLOSING, quad_segs=2
    )
    whole = shapely.union_all(np.concatenate([road, closed]))
    cuts, around = _cuts(shapely, network, road, middle, pieces), whole
    if verge > 0.0:
        around = shapely.buffer(whole, verge, quad_segs=2)
        cuts = np.concatenate([cuts, _squares(shapely, around)])
    return Surfaces(road, middle, pieces, cuts, closed, crossing, around)


def _squares(shapely: Any, ground: Any) -> NDArray[Any]:
    """Lines across the ground, SQUARE apart, from south to north and from west to east."""
    west, south, east, north = shapely.bounds(ground)
    xs, ys = np.arange(west, east, SQUARE)[1:], np.arange(south, north, SQUARE)[1:]
    upright = [[(x, south), (x, north)] for x in xs]
    level = [[(west, y), (east, y)] for y in ys]
    return (
        np.atleast_1d(shapely.linestrings(upright + level))
        if upright + level
        else np.zeros(0, object)
    )


def _cuts(
    shapely: Any, network: Network, road: NDArray[Any], line: NDArray[Any], pieces: NDArray[Any]
) -> NDArray[Any]:
    """Lines across roads, square to their middle lane, where one segment ends and another begins."""
    of = np.repeat(np.arange(road.size), pieces - 1)
    if not of.size:
        return np.zeros(0, object)
    number = np.arange(of.size) - np.repeat(np.cumsum(pieces - 1) - (pieces - 1), pieces - 1) + 1
    station = shapely.length(line[of]) * number / pieces[of]
    near = shapely.get_coordinates(shapely.line_interpolate_point(line[of], station - 0.25))
    far = shapely.get_coordinates(shapely.line_interpolate_point(line[of], station + 0.25))
    along = far - near
    along /= np.maximum(np.hypot(*along.T), 1e-9)[:, None]
    lanes, roads = network.arrays.lanes, network.arrays.roads
    widths = np.add.reduceat(lanes.width[: network.n_road_lanes], roads.first_lane)
    reach = (widths[of] + 1.0)[:, None] * np.column_stack((-along[:, 1], along[:, 0]))
    at = 0.5 * (near + far)
    across = shapely.linestrings(np.stack((at - reach, at + reach), axis=1))
    cuts = shapely.intersection(across, road[of])
    return np.asarray(cuts[~shapely.is_empty(cuts)])
