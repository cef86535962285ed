"""Pictures show roads and vehicles where they are."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from plain_kernels import as_python

from rushhour.kernels.core.network import NONE
from rushhour.kernels.drawing.raster import fill_polygons, shrink
from rushhour.kernels.geometry.pose import lane_pose, place_all_bodies, place_bodies
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.grid import cross, grid
from rushhour.roadnets.generators.ring import ring, straight
from rushhour.viewer.lettering import rise, text_mask, text_width
from rushhour.viewer.lights import lights_of, states_at
from rushhour.viewer.png import png_bytes
from rushhour.viewer.raster import (
    SMOOTHING,
    draw_network,
    draw_vehicles,
    save_picture,
    speed_colours,
)
from rushhour.viewer.themes import DARK

RED = np.array([(235, 64, 52)], dtype=np.uint8)


def read_png(data: bytes) -> np.ndarray:
    """The pixels of a file, as another library reads it."""
    with Image.open(BytesIO(data)) as image:
        image.verify()
    with Image.open(BytesIO(data)) as image:
        assert (image.format, image.mode) == ("PNG", "RGB")
        return np.asarray(image)


def test_png_reads_back_as_written() -> None:
    image = (np.arange(30 * 41 * 3) % 251).astype(np.uint8).reshape(30, 41, 3)
    np.testing.assert_array_equal(read_png(png_bytes(image)), image)


def test_polygon_paints_the_pixels_whose_centres_it_holds() -> None:
    image = np.zeros((8, 10, 3), dtype=np.uint8)
    square = np.array([(2.0, 1.0), (7.0, 1.0), (7.0, 4.0), (2.0, 4.0)])
    fill_polygons(image, square, np.array([0, 4]), np.array([(9, 8, 7)], dtype=np.uint8), 0, 1)
    expected = np.zeros_like(image)
    expected[1:4, 2:7] = (9, 8, 7)
    np.testing.assert_array_equal(image, expected)


def test_polygon_outside_the_image_or_not_a_number_paints_nothing() -> None:
    image = np.zeros((8, 10, 3), dtype=np.uint8)
    xy = np.array([(20.0, 1.0), (1e300, 1.0), (25.0, 4.0), (np.nan, 1.0), (3.0, 2.0), (4.0, 9.0)])
    colour = np.full((2, 3), 200, dtype=np.uint8)
    fill_polygons(image, xy, np.array([0, 3, 6]), colour, 0, 2)
    assert image[:, :3].sum() == 0


def test_shrinking_averages_squares() -> None:
    large = np.zeros((4, 4, 3), dtype=np.uint8)
    large[:2, :2] = 100
    large[0, 2] = 80
    small = np.zeros((2, 2, 3), dtype=np.uint8)
    shrink(large, small, 2)
    assert small[:, :, 0].tolist() == [[100, 20], [0, 0]]


def test_pose_on_a_circle_is_on_the_circle_and_tangent() -> None:
    network = ring(314.159265, lanes=1)
    start, end = int(network.point_start[0]), int(network.point_start[1])
    radius = 314.159265 / (2.0 * np.pi)
    for s in (0.0, 13.7, 100.0, float(network.arrays.lanes.length[0])):
        x, y, heading = lane_pose(network.points, network.station, start, end, s)
        assert np.hypot(x, y) == pytest.approx(radius, abs=2e-3)
        tangent = np.arctan2(y, x) + np.pi / 2.0
        assert abs((heading - tangent + np.pi) % (2.0 * np.pi) - np.pi) < 0.011


def test_bodies_are_placed_alike_alone_and_together() -> None:
    network = grid(2, 2)
    rng = np.random.default_rng(3)
    n = 9000
    lane = rng.integers(0, network.n_lanes, n).astype(np.int32)
    s = rng.uniform(0.0, 1.0, n) * network.arrays.lanes.length[lane]
    lateral, length = rng.uniform(-1.0, 1.0, n), rng.uniform(3.0, 12.0, n)
    one, all_of_them = np.empty((n, 3)), np.empty((n, 3))
    shapes = (network.points, network.station, network.point_start)
    place_bodies(*shapes, lane, s, lateral, length, one, 0, n)
    place_all_bodies(*shapes, lane, s, lateral, length, all_of_them)
    np.testing.assert_array_equal(one, all_of_them)


def test_bodies_are_placed_as_by_plain_python() -> None:
    network = grid(1, 1)
    lane = np.array([0, 5, -1, network.n_lanes - 1], dtype=np.int32)
    s, lateral, length = np.array([3.0, 20.0, 1.0, 4.0]), np.full(4, 0.3), np.full(4, 5.0)
    want, got = np.empty((4, 3)), np.empty((4, 3))
    shapes = (network.points, network.station, network.point_start)
    as_python(place_bodies)(*shapes, lane, s, lateral, length, want, 0, 4)
    place_bodies(*shapes, lane, s, lateral, length, got, 0, 4)
    np.testing.assert_allclose(got, want, rtol=0.0, atol=1e-12)
    assert np.isnan(got[2]).all()


def test_polygons_are_filled_as_by_plain_python() -> None:
    rng = np.random.default_rng(7)
    middle = rng.uniform(-5.0, 45.0, (60, 1, 2))
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, (60, 4)), axis=1)
    xy = (middle + 8.0 * np.stack((np.cos(angle), np.sin(angle)), axis=2)).reshape(-1, 2)
    colour = rng.integers(1, 256, (60, 3)).astype(np.uint8)
    start = np.arange(0, 241, 4)
    want, got = np.zeros((40, 40, 3), np.uint8), np.zeros((40, 40, 3), np.uint8)
    as_python(fill_polygons)(want, xy, start, colour, 0, 60)
    fill_polygons(got, xy, start, colour, 0, 60)
    np.testing.assert_array_equal(got, want)


def test_vehicle_paints_the_pixels_where_it_stands_and_no_others() -> None:
    network = straight(200.0, lanes=2)
    box = (80.0, -20.0, 120.0, 20.0)
    bare = draw_network(network, (400, 400), box)
    raster = draw_network(network, (400, 400), box)
    draw_vehicles(raster, network, [1], [100.0], 0.5, 5.0, 1.8, RED)
    image = raster.image()
    assert raster.pixels_per_metre == 10.0
    # 95 - 100 m along, lane 1 is 3.5 m to the left, moved 0.5 m further left
    red = (image[..., 0] > 150) & (image[..., 1:] < 110).all(axis=2)
    rows, columns = np.nonzero(red)
    centre = (20.0 - 4.0) * 10.0
    assert (columns.min(), columns.max()) == (150, 199)
    assert (rows.min(), rows.max()) == (centre - 9, centre + 8)
    assert 0.4 * 50 * 18 < red.sum() < 0.95 * 50 * 18  # windows, and round corners
    changed = np.any(image != bare.image(), axis=2)  # with its rim: 0.07 m and 0.6 pixels
    rows, columns = np.nonzero(changed)
    assert (columns.min(), columns.max()) == (149, 200)
    assert (rows.min(), rows.max()) == (centre - 10, centre + 9)
    around = image[changed & ~red]
    assert np.abs(around.astype(int) - DARK.rim).max(axis=1).min() <= 8


def test_roads_are_asphalt_as_wide_as_their_lanes() -> None:
    network = straight(200.0, lanes=1)
    image = draw_network(network, (400, 400), (80.0, -20.0, 120.0, 20.0)).image()
    column = image[:, 200]
    asphalt = np.all(column == DARK.roads[0], axis=1)
    assert abs(asphalt.sum() - 35) <= 2
    assert (column[0] == DARK.land).all() and (column[-1] == DARK.land).all()


def test_a_vehicle_is_still_seen_on_a_picture_of_the_whole_city() -> None:
    network = straight(20_000.0)
    raster = draw_network(network, (400, 300))
    bare = raster.image()
    draw_vehicles(raster, network, [0], [10_000.0], 0.0, 5.0, 1.8, RED)
    changed = np.any(raster.image() != bare, axis=2)
    assert changed.sum() >= 6
    assert raster.scale * 5.0 / SMOOTHING < 0.2  # true size would be a tenth of a pixel


def test_lanes_show_the_colour_of_their_signal() -> None:
    network = cross(control="signals", green=30.0, cycle=60.0)
    for time, colour in ((10.0, {"S", "N"}), (31.0, set()), (40.0, {"E", "W"}), (70.0, {"S", "N"})):
        lanes, colours = lights_of(network, states_at(network, time))
        green = {network.lane_ids[k][0] for k, c in zip(lanes, colours, strict=True) if c[1] > 210}
        assert green == colour
        assert lanes.size == 4


def test_standing_is_red_and_free_is_blue() -> None:
    red, blue = speed_colours([0.0, 50.0], 50.0)
    assert red[0] > 150 and red[1] < 100 and red[2] < 100
    assert blue[2] > 150 and blue[0] < 120


def test_saved_picture_is_a_readable_file_of_the_asked_size(tmp_path: Path) -> None:
    network = grid(2, 2)
    path = tmp_path / "grid.png"
    save_picture(path, network, [0, 1], [20.0, 30.0], speed=[0.0, 13.0], size=(320, 240),
                 title="Two vehicles")  # fmt: skip
    assert read_png(path.read_bytes()).shape == (240, 320, 3)


def test_picture_of_an_empty_road_needs_no_vehicles(tmp_path: Path) -> None:
    path = tmp_path / "empty.png"
    save_picture(path, straight(100.0), size=(200, 100))
    assert read_png(path.read_bytes()).shape == (100, 200, 3)


def test_unusable_pictures_are_refused_in_one_line(tmp_path: Path) -> None:
    network = straight(100.0)
    with pytest.raises(RunError, match=r"picture of 5 x 5 pixels"):
        draw_network(network, (5, 5))
    with pytest.raises(RunError, match=r"box"):
        draw_network(network, box=(0.0, 0.0, 0.0, 1.0))
    with pytest.raises(RunError, match=r"picture: lane 9 of 1"):
        save_picture(tmp_path / "x.png", network, [9], [1.0], speed=[0.0])
    with pytest.raises(RunError, match=r"cannot be written"):
        save_picture(tmp_path / "no folder" / "x.png", network)


def test_letters_have_the_width_they_claim() -> None:
    mask = text_mask("50 km/h", 2)
    assert mask.shape[1] == text_width("50 km/h", 2)
    ink = np.flatnonzero(mask.any(axis=0))
    assert ink[0] <= 3 and ink[-1] >= mask.shape[1] - 4  # from edge to edge
    rows = np.flatnonzero(text_mask("I", 2).any(axis=1)) - rise(2)
    assert rows[0] in (0, 1) and rows[-1] in (12, 13, 14)  # a capital of 7 times the scale


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_gaps_between_equal_letters_are_equal(scale: int) -> None:
    """Letters are not pushed to whole pixels, which tears "ms" apart and "joined" in two."""
    mask = text_mask("lllllllll", scale).astype(np.float64)
    ink, gap = mask.sum(axis=0), text_width("lllllllll", scale) / 9.0
    at = np.arange(len(ink)) + 0.5
    middles = [
        float((ink * at)[part].sum() / ink[part].sum())
        for part in (np.abs(at - gap * (k + 0.5)) < 0.5 * gap for k in range(9))
    ]
    assert np.abs(np.diff(middles) - np.diff(middles).mean()).max() < 0.3


def test_an_island_within_an_intersection_stays_land() -> None:
    """Two streets 40 m apart that are one intersection: between them nobody drives."""
    draft = Draft("island", "test")
    for name, x in (("w", -100.0), ("m", 0.0), ("e", 100.0)):
        draft.intersections.append(DraftIntersection(name, x, 0.0, NONE))
    for k, y in enumerate((-22.0, -18.8, 18.8, 22.0)):
        for side, ends, (a, b) in (("w", "wm", (-100.0, -20.0)), ("e", "me", (20.0, 100.0))):
            lane = DraftLane(f"{side}{k}_0", np.array(((a, y), (b, y))), 10.0)
            draft.roads.append(DraftRoad(f"{side}{k}", *ends, [lane]))
        draft.connectors.append(DraftConnector(f"w{k}", 0, f"e{k}", 0))
    network = finish(draft)
    raster = draw_network(network, (800, 400), (-100.0, -50.0, 100.0, 50.0))

    def painted(x: float, y: float) -> bool:
        column, row = raster.pixels(np.array((x, y))).astype(int)
        return tuple(raster.canvas[row, column].tolist()) != DARK.land

    assert not painted(0.0, 0.0)
    assert not painted(0.0, 10.0)
    assert not painted(0.0, 16.8)  # it reaches to the lane beside it
    assert painted(0.0, 17.6)
    assert painted(0.0, 20.4)  # no gap between two that are neighbours
    assert not painted(0.0, 26.0)  # beyond the outermost lane there is none
