"""The surfaces of crossings bend round their corners, in pictures, the window and pages alike."""

from pathlib import Path

import numpy as np
import pytest
import shapely
from browsers import map_images
from scipy.ndimage import distance_transform_edt

import rushhour as rh
from rushhour.roadnets.generators.grid import cross
from rushhour.roadnets.model import Network
from rushhour.viewer.surfaces import NARROW, surfaces
from rushhour.viewer.themes import DAY

SCALE = 0.1  # m a pixel
SIZE = (960, 600)


PIXEL = 0.2  # m
LAND = 12.0  # m from the ends of roads from where on only movements count


def hull(network: Network) -> np.ndarray:
    """The convex hull of the ends of the connectors of a crossing, with their widths, (k, 2) m."""
    ends = []
    for lane in range(network.n_road_lanes, network.n_lanes):
        line = network.lane_points(lane)[:, :2]
        half = 0.5 * network.arrays.lanes.width[lane]
        for at, other in ((0, 1), (-1, -2)):
            along = (line[other] - line[at]) / np.hypot(*(line[other] - line[at]))
            across = half * np.array((-along[1], along[0]))
            ends += [line[at] + across, line[at] - across]
    return shapely.get_coordinates(shapely.orient_polygons(shapely.convex_hull(shapely.multipoints(ends))))[:-1]  # fmt: skip


def chords(network: Network) -> np.ndarray:
    """The middles of the straight corners of a crossing, each a little towards its middle, (4, 2) m."""
    area = hull(network)
    middle, after = area.mean(axis=0), np.roll(area, -1, axis=0)
    long = np.hypot(*(after - area).T)
    corners = long < 0.99 * long.max()
    if corners.sum() != 4:  # kerbs of one road are as long as corners
        corners = np.abs(np.prod(after - area, axis=1)) > 1.0
    return 0.97 * (0.5 * (area + after)[corners] - middle) + middle


def wide_crossing(seed: int) -> Network:
    """Streets that end far from where they meet, as where maps join several crossings."""
    rng = np.random.default_rng(seed)
    builder = rh.NetworkBuilder(f"wide {seed}")
    builder.add_intersection(0.0, 0.0, id="middle", reach=70.0)
    arms = int(rng.integers(3, 6))
    for angle in np.arange(arms) * 2.0 * np.pi / arms + rng.uniform(-0.4, 0.4, arms):
        way = np.array((np.cos(angle), np.sin(angle)))
        end = rng.uniform(35.0, 60.0)
        forward, backward = rng.integers(1, 4, 2).tolist()
        builder.add_street([200.0 * way, end * way], forward, backward, end="middle")
    return builder.build()


def covered(network: Network, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which places movements cover."""
    found = np.zeros(x.shape, bool)
    for lane in range(network.n_road_lanes, network.n_lanes):
        line = shapely.linestrings(network.lane_points(lane)[:, :2])
        half = 0.5 * network.arrays.lanes.width[lane] + 0.05
        found |= shapely.dwithin(line, shapely.points(x, y), half)
    return found


def reference(network: Network) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Places around 0, by a grid: their x and y, how far outside of what movements cover, and of what also fills narrow gaps, m."""
    x, y = np.meshgrid(np.arange(-40.0, 40.0, PIXEL), np.arange(-40.0, 40.0, PIXEL))
    outside = PIXEL * distance_transform_edt(~covered(network, x, y))
    inside = PIXEL * distance_transform_edt(outside <= 0.5 * NARROW)
    return x, y, outside, 0.5 * NARROW - inside


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_the_kerb_of_a_corner_bends_inside_of_its_chord(lanes: int) -> None:
    network = cross(lanes=lanes)
    found = surfaces(network)
    assert np.unique(found.node).size == 1
    np.testing.assert_allclose(found.points[0], 0.0, atol=1e-6)  # its middle
    assert len(chords(network)) == 4
    a, b, c = np.moveaxis(found.triangles(), 1, 0)
    area = 0.5 * ((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])).sum()  # fmt: skip
    x, y = hull(network).T
    whole = 0.5 * abs(float(x @ np.roll(y, -1) - np.roll(x, -1) @ y))
    assert 0.6 * whole < area < 0.98 * whole
    wider = found.triangles(1.0)
    assert np.hypot(*wider[:, 1].T).min() > np.hypot(*found.points[1:].T).min() + 0.5


def test_pictures_the_window_and_pages_leave_land_in_the_corners(tmp_path: Path) -> None:
    network = cross(lanes=2)
    middle = surfaces(network).points[0]
    images = map_images(network, middle, SCALE, tmp_path)
    for column, row in pixels(chords(network), middle, SCALE):
        for name, image in images.items():
            assert np.abs(image[row, column].astype(int) - DAY.land).max() <= 1, name
    for name, image in images.items():
        assert tuple(image[SIZE[1] // 2, SIZE[0] // 2]) in DAY.roads, name
        kerbs = (np.abs(image.astype(int) - DAY.kerb).max(axis=2) <= 2).sum()
        assert kerbs > 400, name  # along the corners, too


def pixels(places: np.ndarray, middle: np.ndarray, scale: float) -> list[list[int]]:
    """Columns and rows of places (n, 2), m, in a picture around a middle."""
    off = (places - middle) / scale * (1.0, -1.0) + 0.5 * np.array(SIZE)
    return np.floor(off).astype(int).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_a_wide_crossing_covers_its_movements_and_narrow_gaps_and_no_more(seed: int) -> None:
    network = wide_crossing(seed)
    x, y, _, beyond = reference(network)
    found = shapely.union_all(shapely.polygons(surfaces(network).triangles()))
    got = shapely.contains_xy(found, x, y)
    ends = np.concatenate(
        [network.lane_points(k)[[0, -1], :2] for k in range(network.n_road_lanes)]
    )
    near = np.hypot(ends[:, 0], ends[:, 1]).min() - LAND
    here = np.hypot(x, y) < near
    assert here.sum() > 5_000
    unsure = 0.35  # m: of the grid, and of bends that nobody sees
    assert got[here & (beyond < -unsure)].all()
    assert not got[here & (beyond > unsure)].any()


def test_pictures_the_window_and_pages_surface_narrow_gaps_and_leave_wide_ones(
    tmp_path: Path,
) -> None:
    network = wide_crossing(2)
    x, y, outside, beyond = reference(network)
    here = np.hypot(x, y) < 22.0
    gap = np.argmax(np.where(here & (beyond < -0.5), outside, -1.0))
    wide = np.argmax(np.where(here, beyond, -1.0))
    assert outside.flat[gap] > 1.0
    assert beyond.flat[wide] > 1.0
    places = np.array([(x.flat[k], y.flat[k]) for k in (gap, wide)])
    (a, b), (c, d) = pixels(places, np.zeros(2), SCALE)
    for name, image in map_images(network, np.zeros(2), SCALE, tmp_path).items():
        assert tuple(image[b, a]) in DAY.roads, name
        assert np.abs(image[d, c].astype(int) - DAY.land).max() <= 1, name
