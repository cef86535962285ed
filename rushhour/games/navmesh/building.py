"""A navmesh out of surfaces: one plane of cells that never overlap and share whole edges.

All outlines are noded together on a grid of a millimetre and the faces between them typed: a
road's where it covers them (of several roads the first), else an intersection's, else a verge.
Faces of one segment are joined, and each is cut into triangles between the nodes that it has, so
that neighbours have the same corners, exactly.
"""

from math import ceil
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.games.navmesh.surfaces import Surfaces
from rushhour.kernels.navmesh.cells import INTERSECTION, ROAD, VERGE, Cells, label_components
from rushhour.roadnets.model import Network

GRID: Final = 1e-3  # m, on which all corners lie
BIN: Final = 12.0  # m, side of the bins that cells are sorted into
MOST_BINS: Final = 1 << 22  # beyond, bins are larger
LEAST: Final = 1e-9  # m2; smaller faces are none


class Faces(NamedTuple):
    """Parts of the ground, (n,) each: segments of roads, intersections, verges."""

    polygon: NDArray[Any]
    kind: NDArray[np.uint8]
    owner: NDArray[np.int32]  # road or intersection; -1 of a verge
    segment: NDArray[np.int32]  # of its road, from 0; -1


def faces_of(ground: Surfaces) -> Faces:
    """The faces between all outlines, those of one segment or intersection joined."""
    import shapely

    outlines = [shapely.boundary(ground.road), ground.cuts]
    outlines += [shapely.boundary(ground.intersection), [shapely.boundary(ground.verge)]]
    noded = shapely.union_all(np.concatenate(outlines), grid_size=GRID)
    found = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    found = found[shapely.area(found) > LEAST]
    places = shapely.point_on_surface(found)
    kind = np.full(found.size, VERGE, np.uint8)
    owner = np.full(found.size, -1, np.int32)
    for polygons, what in ((ground.intersection, INTERSECTION), (ground.road, ROAD)):
        face, polygon = shapely.STRtree(polygons).query(places, predicate="intersects")
        order = np.lexsort((-polygon, face))  # of several the first is written last
        kind[face[order]], owner[face[order]] = what, polygon[order]
    inside = (kind != VERGE) | shapely.intersects(_prepared(shapely, ground.verge), places)
    found, places, kind, owner = found[inside], places[inside], kind[inside], owner[inside]
    segment = np.full(found.size, -1, np.int32)
    of_road = np.flatnonzero(kind == ROAD)
    share = shapely.line_locate_point(ground.line[owner[of_road]], places[of_road], normalized=True)
    pieces = ground.segments[owner[of_road]]
    segment[of_road] = np.minimum((share * pieces).astype(np.int32), pieces - 1)
    faces = _joined(shapely, Faces(found, kind, owner, segment))
    crossing = faces.kind == INTERSECTION
    faces.owner[crossing] = ground.crossing[faces.owner[crossing]]
    return faces


def _prepared(shapely: Any, polygon: Any) -> Any:
    shapely.prepare(polygon)
    return polygon


def _joined(shapely: Any, faces: Faces) -> Faces:
    """Faces of one owner and segment as one, where they touch; verges stay as they are."""
    joins = np.flatnonzero(faces.kind != VERGE)
    keys = np.column_stack((faces.kind, faces.owner, faces.segment))[joins]
    order = np.lexsort(keys.T[::-1])
    keys, joins = keys[order], joins[order]
    first = np.flatnonzero(np.r_[True, (np.diff(keys, axis=0) != 0).any(axis=1)])
    ends = np.r_[first[1:], keys.shape[0]]
    parts = [
        shapely.get_parts(shapely.coverage_union_all(faces.polygon[joins[a:b]]))
        if b - a > 1
        else faces.polygon[joins[a:b]]
        for a, b in zip(first, ends, strict=True)
    ]
    of = np.repeat(joins[first], [len(part) for part in parts])
    rest = np.flatnonzero(faces.kind == VERGE)
    of = np.r_[of, rest]
    polygons = np.concatenate([*parts, faces.polygon[rest]])
    return Faces(polygons, faces.kind[of], faces.owner[of], faces.segment[of])


def cells_of(network: Network, faces: Faces) -> tuple[Cells, NDArray[np.int32]]:
    """Cells of the faces, and the face of each."""
    import shapely

    cut = shapely.constrained_delaunay_triangles(faces.polygon)
    triangles, of = shapely.get_parts(cut, return_index=True)
    corners = shapely.get_coordinates(triangles).reshape(-1, 4, 2)[:, :3]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    turn = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    corners[turn < 0.0] = corners[turn < 0.0][:, ::-1]
    neighbour = _neighbours(corners)
    component = np.zeros(corners.shape[0], np.int32)
    label_components(neighbour, component)
    kind = faces.kind[of]
    centre = corners.mean(axis=1)
    course = np.zeros((corners.shape[0], 2))
    on_road = kind == ROAD
    course[on_road] = _courses(network, faces.owner[of[on_road]], centre[on_road])
    start, members, columns, rows, (x0, y0), size = _bins(corners)
    cells = Cells(
        np.ascontiguousarray(corners[:, :, 0]), np.ascontiguousarray(corners[:, :, 1]), kind,
        neighbour, course, component, start, members, columns, rows, x0, y0, size,
    )  # fmt: skip
    return cells, of.astype(np.int32)


def _neighbours(corners: NDArray[np.float64]) -> NDArray[np.int32]:
    """Cell across each edge, (n, 3); -1: none."""
    n = corners.shape[0]
    units = np.round(corners.reshape(-1, 2) / GRID).astype(np.int64)
    _, vertex = np.unique(units, axis=0, return_inverse=True)
    vertex = vertex.reshape(n, 3)
    ends = np.sort(np.stack((vertex, np.roll(vertex, -1, axis=1)), axis=2), axis=2).reshape(-1, 2)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    same = (ends[order[1:]] == ends[order[:-1]]).all(axis=1)
    same &= ends[order[1:], 0] != ends[order[1:], 1]
    twice = same & ~np.r_[False, same[:-1]] & ~np.r_[same[1:], False]  # of three cells: none
    one, other = order[:-1][twice], order[1:][twice]
    found = np.full(3 * n, -1, np.int32)
    found[one], found[other] = other // 3, one // 3
    return found.reshape(n, 3)


def _courses(
    network: Network, road: NDArray[np.int32], places: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Unit vectors of the roads at places."""
    import shapely

    roads = network.arrays.roads
    lane = roads.first_lane + roads.lane_count // 2
    lines = np.array([shapely.LineString(network.lane_points(k)[:, :2]) for k in lane])[road]
    at = shapely.line_locate_point(lines, shapely.points(places))
    at = np.clip(at, 0.5, np.maximum(shapely.length(lines) - 0.5, 0.5))
    ahead = shapely.get_coordinates(shapely.line_interpolate_point(lines, at + 0.5))
    along = ahead - shapely.get_coordinates(shapely.line_interpolate_point(lines, at - 0.5))
    return np.asarray(along / np.maximum(np.hypot(*along.T), 1e-9)[:, None])


def _bins(
    corners: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], int, int, tuple[float, float], float]:
    """Cells sorted into the bins that their boxes touch."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    origin, far = low.min(axis=0) - 1.0, high.max(axis=0) + 1.0
    wide, deep = (far - origin).tolist()
    size = max(BIN, float(np.sqrt(wide * deep / MOST_BINS)))
    columns, rows = ceil(wide / size), ceil(deep / size)
    first = np.floor((low - origin) / size).astype(np.int64)
    span = np.floor((high - origin) / size).astype(np.int64) - first + 1
    count = span[:, 0] * span[:, 1]
    of = np.repeat(np.arange(corners.shape[0], dtype=np.int32), count)
    number = np.arange(of.size) - np.repeat(np.cumsum(count) - count, count)
    column = first[of, 0] + number % span[of, 0]
    row = first[of, 1] + number // span[of, 0]
    place = row * columns + column
    order = np.argsort(place, kind="stable")
    start = np.zeros(columns * rows + 1, np.int64)
    np.cumsum(np.bincount(place, minlength=columns * rows), out=start[1:])
    return start, of[order], columns, rows, (float(origin[0]), float(origin[1])), size
