"""The ground as a navmesh: polygons with neighbours, who stands where, ways (validation.md C3.1)."""

import math
from itertools import pairwise

import numpy as np
import pytest
import shapely
from real_data import data_folder

import rushhour as rh
from rushhour.games.navmesh.mesh import Navmesh, build_navmesh
from rushhour.games.navmesh.surfaces import surfaces
from rushhour.kernels.navmesh.cells import INTERSECTION, ROAD, VERGE, nearest_cell
from rushhour.kernels.navmesh.ways import find_chain
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.model import Network

KEPT: dict[str, Navmesh] = {}


def grid() -> Navmesh:
    if "grid" not in KEPT:
        KEPT["grid"] = build_navmesh(rh.generate("grid", rows=3, columns=3, length=120.0, lanes=2))
    return KEPT["grid"]


def lane_places(network: Network) -> tuple[np.ndarray, np.ndarray]:
    """Places on the middle of road lanes, 5 m from their ends (where turn lanes of the grid overlap),
    and the road of each."""
    places, roads = [], []
    for lane in range(network.n_road_lanes):
        line = shapely.LineString(network.lane_points(lane)[:, :2])
        at = np.linspace(5.0, line.length - 5.0, 9)
        places.append(shapely.get_coordinates(shapely.line_interpolate_point(line, at)))
        roads += [int(network.arrays.lanes.road[lane])] * at.size
    return np.concatenate(places), np.array(roads)


def test_c3_1_neighbours_are_symmetric_and_share_the_ends_of_their_edge_exactly():
    cells = grid().cells
    pairs = 0
    for c in range(len(grid())):
        for e in range(3):
            other = cells.neighbour[c, e]
            if other < 0:
                continue
            back = cells.neighbour[other].tolist().index(c)
            f, g = (e + 1) % 3, (back + 1) % 3
            assert (cells.x[c, e], cells.y[c, e]) == (cells.x[other, g], cells.y[other, g])
            assert (cells.x[c, f], cells.y[c, f]) == (cells.x[other, back], cells.y[other, back])
            pairs += 1
    assert pairs > 2 * len(grid())


def test_cells_cover_the_ground_once():
    mesh = grid()
    ground = surfaces(mesh.network, 2.0)
    area = mesh.area()
    assert sum(area.values()) == pytest.approx(ground.verge.area, rel=1e-5)
    assert area["road"] == pytest.approx(shapely.union_all(ground.road).area, rel=1e-4)
    rng = np.random.default_rng(1)
    low, high = np.array(ground.verge.bounds[:2]), np.array(ground.verge.bounds[2:])
    places = low + (high - low) * rng.random((4000, 2))
    clear = shapely.distance(ground.verge.boundary, shapely.points(places)) > 0.01
    inside = shapely.contains_xy(ground.verge, *places.T)
    found = mesh.cell_at(*places.T) >= 0
    assert (found == inside)[clear].all() and 0.1 < inside.mean() < 0.9


def test_the_middle_of_every_lane_lies_on_the_polygons_of_its_road():
    mesh = grid()
    places, roads = lane_places(mesh.network)
    cells = mesh.cell_at(*places.T)
    assert (cells >= 0).all() and (mesh.cells.kind[cells] == ROAD).all()
    assert (mesh.owner[mesh.face[cells]] == roads).all()


def test_c3_2_a_road_is_a_chain_of_adjacent_segments_and_every_lane_goes_on_from_each_to_the_next():
    mesh = grid()
    network, adjacent = mesh.network, set(map(tuple, mesh.adjacent().tolist()))
    for road in range(network.n_roads):
        mine = np.flatnonzero((mesh.kind == ROAD) & (mesh.owner == road))
        mine = mine[np.argsort(mesh.segment[mine])]
        assert mesh.segment[mine].tolist() == list(range(mine.size))
        for one, other in pairwise(mine):
            assert (min(one, other), max(one, other)) in adjacent
        first, count = network.arrays.roads.first_lane[road], network.arrays.roads.lane_count[road]
        for lane in range(first, first + count):
            line = shapely.LineString(network.lane_points(lane)[:, :2])
            at = np.linspace(5.0, line.length - 5.0, 60)
            cells = mesh.cell_at(
                *shapely.get_coordinates(shapely.line_interpolate_point(line, at)).T
            )
            seen = mesh.segment[mesh.face[cells]]
            assert (np.diff(seen) >= 0).all() and set(seen.tolist()) == set(range(mine.size))
            assert (
                mesh.cells.course[cells] @ (line.coords[-1] - np.array(line.coords[0])) > 0
            ).all()
        roads = network.arrays.roads
        after = set(roads.out[roads.out_start[road] : roads.out_start[road + 1]].tolist())
        ends = {int(k) for pair in adjacent if mine[-1] in pair for k in pair}
        assert not after or any(
            mesh.owner[k] == roads.to_intersection[road]
            if mesh.kind[k] == INTERSECTION
            else mesh.kind[k] == ROAD and mesh.owner[k] in after
            for k in ends
        )  # its lanes lead on into the intersection, or straight into the next road


def test_a_way_crosses_neighbours_only_and_never_leaves_the_ground():
    mesh = grid()
    rng = np.random.default_rng(3)
    places, _ = lane_places(mesh.network)
    for _ in range(12):
        a, b = places[rng.integers(0, len(places), 2)]
        begin, end = mesh.cell_at(*a)[0], mesh.cell_at(*b)[0]
        count = find_chain(mesh.cells, mesh._search, begin, *a, end, *b, 0.0, 0.0)
        chain = mesh._search.chain[:count]
        assert chain[0] == begin and chain[-1] == end
        for one, other in pairwise(chain):
            assert other in mesh.cells.neighbour[one]
        way = mesh.way(tuple(a), tuple(b), margin=0.5)
        np.testing.assert_array_equal(way[[0, -1]], [a, b])
        line = shapely.LineString(way)
        at = shapely.get_coordinates(
            shapely.line_interpolate_point(line, np.arange(0.0, line.length, 0.5))
        )
        found = mesh.cell_at(*at.T)
        assert (found >= 0).all()
        assert set(found.tolist()) <= set(chain.tolist()) | set(
            mesh.cells.neighbour[chain].ravel().tolist()
        )


def test_a_way_on_a_straight_road_is_straight_and_keeps_to_its_side():
    mesh = build_navmesh(rh.generate("straight", lanes=1, length=400.0))
    line = mesh.network.lane_points(0)[:, :2]
    begin, end = line[0] + (5.0, 0.0), line[-1] - (5.0, 0.0)
    way = mesh.way(tuple(begin), tuple(end))
    assert len(way) == 2
    mesh = grid()
    road = int(np.argmax(mesh.network.arrays.roads.length))
    lane = mesh.network.arrays.roads.first_lane[road]
    points = mesh.network.lane_points(lane)[:, :2]
    way = mesh.way(tuple(points[0]), tuple(points[-1]))
    half = 0.5 * (way[:-1] + way[1:])
    cells = mesh.cell_at(*half.T)
    assert (mesh.owner[mesh.face[cells]] == road).all()


def test_the_nearest_cell_is_that_of_brute_force():
    mesh = grid()
    low, high = mesh.cells.x.min() - 40.0, mesh.cells.x.max() + 40.0
    rng = np.random.default_rng(5)
    polygons = shapely.polygons(np.stack((mesh.cells.x, mesh.cells.y), axis=2))
    for x, y in rng.uniform(low, high, (60, 2)):
        for roads_only in (False, True):
            c, px, py = nearest_cell(mesh.cells, x, y, roads_only)
            far = shapely.distance(polygons, shapely.Point(x, y))
            if roads_only:
                far[mesh.cells.kind == VERGE] = math.inf
            assert math.hypot(px - x, py - y) == pytest.approx(far.min(), abs=1e-9)
            assert far[c] == pytest.approx(far.min(), abs=1e-9)


def test_between_parts_that_nothing_joins_there_is_no_way_and_one_line_says_so():
    builder = rh.NetworkBuilder("islands")
    builder.add_street([(0, 0), (100, 0)])
    builder.add_street([(0, 300), (100, 300)])
    mesh = build_navmesh(builder.build())
    assert mesh.cells.component.max() == 1
    with pytest.raises(NetworkError, match=r"^no way from \(10.0, 0.0\) to \(10.0, 300.0\): they"):
        mesh.way((10.0, 0.0), (10.0, 300.0))


def test_a_verge_that_cannot_be_is_refused_and_none_is_none():
    network = rh.generate("straight", lanes=1, length=100.0)
    with pytest.raises(NetworkError, match=r"verge -1: wanted 0 to 50 m"):
        build_navmesh(network, verge=-1)
    assert build_navmesh(network, verge=0.0).area()["verge"] == 0.0


@pytest.mark.slow
def test_a_real_town_hangs_together_and_its_lanes_lie_on_it():
    folder = data_folder("sumo_bologna_joined")
    mesh = build_navmesh(rh.load_network(folder / "joined.net.xml.gz"))
    assert mesh.cells.component.max() == 0
    places, roads = lane_places(mesh.network)
    cells = mesh.cell_at(*places.T)
    assert (cells >= 0).all()
    on_road = mesh.cells.kind[cells] == ROAD
    assert (mesh.owner[mesh.face[cells]] == roads)[on_road].mean() > 0.99
