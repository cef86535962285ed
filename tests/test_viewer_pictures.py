"""What OpenGL draws, by the colours of pixels at known places. Without it: skipped, in CI failed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from viewed_run import REDDISH, bodies, needs_gl

from rushhour.kernels.core.network import GREEN, LEFT, RED, RIGHT, STRAIGHT
from rushhour.kernels.drawing.packing import vehicle_at
from rushhour.roadnets.generators.grid import cross
from rushhour.roadnets.model import Network
from rushhour.viewer.camera import Camera
from rushhour.viewer.colouring import Coloured, Legend
from rushhour.viewer.lights import LIGHT_COLOURS
from rushhour.viewer.moments import Moment
from rushhour.viewer.panels import Panel, line, text_image
from rushhour.viewer.raster import draw_network, draw_vehicles
from rushhour.viewer.road_mesh import RoadMesh
from rushhour.viewer.scene import FEWEST_DOTS, Scene, Stroke
from rushhour.viewer.shapes import lane_arrows
from rushhour.viewer.silhouettes import CLASSES
from rushhour.viewer.themes import DARK, THEMES, Theme

SIZE = (320, 240)
BODY = (200, 10, 20)


class Single:
    """A picture of one scene."""

    def __init__(self, picture: Any) -> None:
        self.picture = picture

    def image(self, one: Scene) -> np.ndarray:
        return self.picture.image(((0, one),))


@pytest.fixture(scope="module")
def network() -> Network:
    return cross(lanes=2)


@pytest.fixture(scope="module")
def picture(network: Network) -> Iterator[Any]:
    needs_gl().close()
    from rushhour.viewer.gl.picture import Picture

    made = Picture([(RoadMesh(network), np.array([(5.0, 2.0, 0.0), (12.0, 2.5, 3.0)]))], *SIZE)
    yield Single(made)
    made.close()


def scene(network: Network, moment: Moment, scale: float = 0.25, **more: Any) -> Scene:
    camera = Camera(0.0, 0.0, scale, *SIZE)
    coloured = Coloured(np.zeros(len(moment), np.uint8), REDDISH, Legend(""))
    lights = np.zeros(network.n_connectors, np.uint8)
    return replace(Scene(camera, moment, coloured, lights), **more)


def count(image: np.ndarray, colour: tuple[int, int, int], off: int = 2) -> int:
    """Pixels of a colour."""
    return int((np.abs(image.astype(int) - colour).max(axis=2) <= off).sum())


def red(image: np.ndarray) -> np.ndarray:
    """Where a body of that colour is painted: its windows and lights are of other colours."""
    bands = image.astype(int)
    return np.asarray((bands[..., 0] > 110) & (bands[..., 0] > 2 * bands[..., 1:].max(axis=2)))


def at(image: np.ndarray, camera: Camera, x: float, y: float) -> tuple[int, ...]:
    """The colour at a place."""
    px, py = camera.pixel(x, y)
    return tuple(image[int(py), int(px)].tolist())


@pytest.mark.parametrize("n", [0, 1, 7])
def test_as_many_bodies_are_drawn_as_there_are(network: Network, picture: Any, n: int):
    moment = bodies([(-30.0 + 10.0 * k, 25.0, 0.0) for k in range(n)])
    image = picture.image(scene(network, moment))
    assert image.shape == (240, 320, 3)
    columns = red(image).any(axis=0).astype(int)
    assert (np.diff(columns, prepend=0) == 1).sum() == n
    assert 80 * n <= red(image).sum() <= n * 20 * 8  # 5 x 2 m at 4 pixels a metre


def test_a_body_lies_behind_its_front_bumper_along_its_heading(network: Network, picture: Any):
    drawn = scene(network, bodies([(10.0, 25.0, np.pi / 2)]))
    image = picture.image(drawn)
    camera = drawn.camera
    for y in (24.0, 20.5):
        px, py = camera.pixel(10.0, y)
        assert red(image)[int(py), int(px)]
    assert at(image, camera, 10.0, 25.5) == DARK.land and at(image, camera, 12.0, 23.0) == DARK.land


@pytest.mark.parametrize("heading", [0.0, 0.5 * np.pi, np.pi])
def test_a_small_body_is_narrow_in_front(network: Network, picture: Any, heading: float):
    image = picture.image(scene(network, bodies([(0.0, 0.0, heading)], 12.0, 8.0), scale=0.5))
    places = np.argwhere(red(image))
    ahead = np.array([-np.sin(heading), np.cos(heading)])
    along = np.rint(places @ ahead).astype(int)
    wide = np.bincount(along - along.min())
    third = len(wide) // 3
    assert third >= 2 and wide[-third:].max() < 0.8 * wide[:third].max()


def test_a_larger_vehicle_is_drawn_larger(network: Network, picture: Any):
    small = bodies([(0.0, 25.0, 0.0)])
    large = replace(small, size=np.ones(1, np.int32))
    sizes = []
    for moment in (small, large):
        rows, columns = np.nonzero(red(picture.image(scene(network, moment))))
        sizes.append((np.ptp(columns) + 1, np.ptp(rows) + 1))
    for (long, wide), wanted in zip(sizes, ((20, 8), (48, 10)), strict=True):
        assert wanted[0] - 2 <= long <= wanted[0] and wanted[1] - 2 <= wide <= wanted[1]


def test_far_away_a_vehicle_can_still_be_seen(network: Network, picture: Any):
    image = picture.image(scene(network, bodies([(0.0, 100.0, 0.0)]), scale=4.0))
    assert red(image).sum() >= 4


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize("scale", [1.0, 0.25, 0.1])
def test_dark_vehicles_have_rims_that_are_seen_on_asphalt(
    network: Network, theme: Theme, scale: float
):
    """A rim around each body, in the window and in pictures without a graphics card."""
    needs_gl().close()
    from rushhour.viewer.gl.picture import Picture

    dark, light = (160, 10, 20), (250, 240, 90)
    palette = np.array([dark, light] + [(0, 0, 0)] * 254, np.uint8)
    moment = bodies([(-80.0 * scale, -1.75, 0.0), (80.0 * scale, -1.75, 0.0)])
    drawn = Picture(
        [(RoadMesh(network, theme), np.array([(5.0, 2.0, 0.0), (12.0, 2.5, 3.0)]))], *SIZE
    )
    try:
        one = replace(scene(network, moment, scale), coloured=Coloured(np.array([0, 1], np.uint8), palette, Legend("")))  # fmt: skip
        window = drawn.image(((0, one),))
    finally:
        drawn.close()
    raster = draw_network(network, SIZE, one.camera.box, theme)
    front = np.column_stack((moment.x, moment.y, moment.heading))
    draw_vehicles(raster, network, [-1, -1], 0.0, 0.0, moment.length, moment.width, palette[:2], front, theme)  # fmt: skip
    for image in (window, raster.image()):
        for body, rim in ((dark, theme.dark_rim), (light, theme.rim)):
            rows, columns = np.nonzero(np.abs(image.astype(int) - body).max(axis=2) <= 40)
            assert len(rows) > 8
            y0, y1, x0, x1 = rows.min(), rows.max(), columns.min(), columns.max()
            around = image[y0 - 2 : y1 + 3, x0 - 2 : x1 + 3].reshape(-1, 3).astype(float)
            near = np.abs(around - rim).max(axis=1).min()
            far = np.abs(np.array(body) - rim).max()
            assert near < 0.5 * far


def test_near_by_a_car_has_lights_and_a_windscreen(network: Network, picture: Any):
    lit = {"signals": np.array([1 | 2], np.uint8)}
    plain = replace(bodies([(2.5, 25.0, 0.0)]), columns={"signals": np.zeros(1, np.uint8)})
    braking = replace(plain, columns=lit)
    camera = Camera(0.0, 25.0, 0.02, *SIZE)
    images = [picture.image(scene(network, m, camera=camera)) for m in (plain, braking)]
    brake, blink = (255, 13, 20), (255, 158, 0)
    assert [count(image, brake, 4) > 40 for image in images] == [False, True]
    assert [count(image, blink, 4) > 40 for image in images] == [False, True]
    rows = np.argwhere(np.abs(images[1].astype(int) - blink).max(axis=2) <= 4)[:, 0]
    assert (rows < 120).all()  # heading east, its left is up
    assert min(count(image, (37, 22, 32), 6) for image in images) > 300  # windscreen


@pytest.fixture(scope="module")
def classes(network: Network) -> Iterator[Any]:
    """A picture in which size k is of the k-th class, 6 x 2 m."""
    needs_gl().close()
    from rushhour.viewer.gl.picture import Picture

    sizes = np.array([(6.0, 2.0, float(k)) for k in range(6)])
    made = Picture([(RoadMesh(network), sizes)], *SIZE)
    yield Single(made)
    made.close()


def test_every_class_has_a_silhouette_of_its_own(network: Network, classes: Any):
    camera = Camera(0.0, 25.0, 0.03, *SIZE)
    images = []
    for k in range(6):
        moment = replace(bodies([(3.0, 25.0, 0.0)]), size=np.full(1, k, np.int32))
        images.append(classes.image(scene(network, moment, camera=camera)).astype(int))
    for a in range(6):
        for b in range(a):
            other = np.abs(images[a] - images[b]).max(axis=2) > 40
            assert other.sum() > 200, (CLASSES[a], CLASSES[b])
    for k, image in enumerate(images):  # each has a front: it is not what it is turned round
        turned = image[:, ::-1]
        assert (np.abs(image - turned).max(axis=2) > 40).sum() > 200, CLASSES[k]


@pytest.mark.parametrize("shape", [CLASSES.index("car"), CLASSES.index("racer")])
@pytest.mark.parametrize("steer", [-0.5, 0.4])
def test_front_wheels_are_turned_as_they_are_steered(
    network: Network, classes: Any, shape: int, steer: float
):
    """To the left the rear edge of the right wheel looks out, whichever way the body heads."""
    for heading in (0.0, 3.0, -3.1):
        moment = replace(bodies([(0.0, 25.0, heading)]), size=np.full(1, shape, np.int32))
        camera = Camera(-3.0 * np.cos(heading), 25.0 - 3.0 * np.sin(heading), 0.02, *SIZE)
        seen = []
        for turned in (0.0, steer, -steer):
            columns = {"body_steer": np.full(1, turned)}
            drawn = scene(network, replace(moment, columns=columns), camera=camera)
            seen.append(classes.image(drawn).astype(int))
        straight, one, other = seen
        assert (np.abs(one - straight).max(axis=2) > 60).sum() > 20
        assert (np.abs(one - other).max(axis=2) > 60).sum() > 20
        plain = classes.image(scene(network, moment, camera=camera)).astype(int)
        assert (np.abs(plain - straight).max(axis=2) <= 2).all()


@pytest.mark.parametrize("scale", [0.04, 0.2, 1.0, 5.0])
@pytest.mark.parametrize("shape", range(len(CLASSES)), ids=CLASSES)
def test_without_a_graphics_card_vehicles_are_drawn_as_with_one(
    network: Network, scale: float, shape: int
):
    needs_gl().close()
    from rushhour.viewer.gl.picture import Picture

    sizes = np.array([(5.0, 1.9, float(shape)), (9.0, 2.4, float(shape))])
    x = 2.5 + np.array([-40.0, 40.0]) * scale
    moment = replace(bodies([(x[0], 200.0, 0.6), (x[1], 200.0, -2.0)]), size=np.arange(2, dtype=np.int32))  # fmt: skip
    moment = replace(
        moment, length=sizes[:, 0], width=sizes[:, 1],
        columns={"signals": np.array([3, 4], np.uint8), "body_steer": np.array([0.3, -0.2])},
    )  # fmt: skip
    camera = Camera(0.0, 200.0, scale, *SIZE)
    made = Picture([(RoadMesh(network), sizes)], *SIZE)
    try:
        drawn = scene(network, moment, camera=camera)
        with_one = made.image(((0, drawn),)).astype(int)
        empty = made.image(((0, scene(network, bodies([]), camera=camera)),)).astype(int)
    finally:
        made.close()
    raster = draw_network(network, SIZE, camera.box, DARK)
    front = np.column_stack((moment.x, moment.y, moment.heading))
    draw_vehicles(
        raster, network, [-1, -1], 0.0, 0.0, sizes[:, 0], sizes[:, 1], REDDISH[:2], front,
        shape=sizes[:, 2], lights=moment.columns["signals"], steer=moment.columns["body_steer"],
    )  # fmt: skip
    off = np.abs(raster.image().astype(int) - with_one).max(axis=2)
    there = np.abs(with_one - empty).max(axis=2) > 8
    assert there.sum() > 20
    assert off[there].mean() < 8 and (off[there] > 60).mean() < 0.03
    assert (off[~there] > 60).mean() < 0.01  # the ground, with its own smoothing


def test_lanes_have_arrows_for_their_turns():
    network = cross(lanes=2)
    ways, ends = network.arrays.connectors, network.n_road_lanes
    for lane in range(ends):
        turns = {int(k) for k in ways.turn[ways.from_lane == lane]}
        if not turns:
            continue
        last = network.point_start[lane + 1] - 1
        end, before = network.points[last], network.points[last - 1]
        along = (end - before) / np.hypot(*(end - before))
        left = np.array((-along[1], along[0]))
        at = lane_arrows(network).reshape(-1, 2) - end
        near = at[(np.abs(at @ left) < 1.5) & (at @ along > -10.0) & (at @ along < 0.0)]
        sides = near @ left
        assert (sides.max() > 1.0) == (LEFT in turns) and (sides.min() < -1.0) == (RIGHT in turns)
        assert ((near @ along).max() > -6.0) == (STRAIGHT in turns)


def test_roads_lie_where_they_are_at_any_coordinates(network: Network, picture: Any):
    image = picture.image(scene(network, bodies([])))
    from rushhour.viewer.gl.picture import Picture

    far = np.array([680_000.0, 5_400_000.0])
    moved = replace(network, points=network.points + far)
    drawn = scene(moved, bodies([(680_000.0, 5_400_025.0, 0.3)]))
    camera = replace(drawn.camera, x=far[0], y=far[1])
    made = Picture([(RoadMesh(moved), np.array([(5.0, 2.0, 0.0)]))], *SIZE)
    moved_picture = Single(made)
    there = moved_picture.image(replace(drawn, camera=camera, moment=bodies([])))
    body = moved_picture.image(replace(drawn, camera=camera))
    made.close()
    assert (np.abs(there.astype(int) - image).max(axis=2) > 40).mean() < 0.002
    here = picture.image(scene(network, bodies([(0.0, 25.0, 0.3)])))
    assert abs(int(red(body).sum()) - int(red(here).sum())) <= 6


def test_signals_show_at_the_ends_of_their_lanes(network: Network, picture: Any):
    first = network.arrays.connectors.from_lane
    lights = np.where(first == first[0], RED, GREEN).astype(np.uint8)
    image = picture.image(scene(network, bodies([]), lights=lights))
    red, green = (tuple(LIGHT_COLOURS[k].tolist()) for k in (0, 4))
    assert 30 < count(image, red) < count(image, green)


def test_lanes_take_the_colours_that_are_told(network: Network, picture: Any):
    colours = np.zeros((network.n_lanes, 4), np.uint8)
    colours[0] = (10, 200, 250, 255)
    drawn = scene(network, bodies([]), scale=1.5, lane_colours=colours)
    image = picture.image(drawn)
    points = network.lane_points(0)
    middle = 0.5 * (points[0] + points[-1])
    assert at(image, drawn.camera, *middle.tolist()) == (10, 200, 250)
    assert count(picture.image(scene(network, bodies([]), scale=1.5)), (10, 200, 250)) == 0


def test_crowds_far_away_are_dots(network: Network, picture: Any):
    places = np.zeros((FEWEST_DOTS, 3))
    places[:, 0] = np.linspace(-300.0, 300.0, FEWEST_DOTS)
    places[:, 1] = 200.0
    drawn = scene(network, bodies(places.tolist()), scale=4.0)
    assert drawn.dotted
    image = picture.image(drawn)
    assert 150 * 2 <= count(image, BODY) <= 152 * 3


def test_panels_and_lines_lie_over_the_picture(network: Network, picture: Any):
    panel = Panel("told", 8, 16, text_image((line("I", (1, 250, 2)),), 4))
    stroke = Stroke(np.array([(-20.0, 25.0), (20.0, 25.0)]), 0.1, 4.0, (250, 1, 250), above=True)
    image = picture.image(scene(network, bodies([]), panels=(panel,), strokes=(stroke,)))
    places = np.argwhere(np.abs(image.astype(int) - (1, 250, 2)).max(axis=2) <= 2)
    ink = np.argwhere(np.abs(panel.image[..., :3].astype(int) - (1, 250, 2)).max(axis=2) <= 2)
    assert len(ink) > 60 and places.tolist() == (ink + (16, 8)).tolist()  # pixel for pixel
    assert count(image, (250, 1, 250)) == 160 * 4


def test_a_picture_is_the_same_each_time(network: Network, picture: Any):
    drawn = scene(network, bodies([(0.0, 20.0, 0.7)]))
    first = picture.image(drawn)
    picture.image(scene(network, bodies([]), scale=2.0))
    assert (picture.image(drawn) == first).all()


def test_what_is_drawn_under_a_pixel_is_what_a_click_there_finds(network: Network, picture: Any):
    draw = np.random.default_rng(3)
    places = [(-35.0 + 9.0 * k, 24.0, draw.uniform(-1.0, 1.0)) for k in range(8)]
    moment = bodies(places)
    drawn = scene(network, moment)
    image = picture.image(drawn)
    painted = np.argwhere(red(image))
    found = set()
    for row, column in painted[::7]:
        x, y = drawn.camera.place(column + 0.5, row + 0.5)
        who = vehicle_at(
            moment.x, moment.y, moment.heading, moment.length, moment.width, x, y, 0.01
        )
        assert who >= 0
        found.add(int(who))
    assert found == set(range(8))
