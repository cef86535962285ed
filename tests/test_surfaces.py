"""The surfaces of crossings bend round their corners, in pictures, the window and pages alike."""

from pathlib import Path

import numpy as np
import pytest
from browsers import Opened, chromium
from PIL import Image

from rushhour.cli import main
from rushhour.roadnets.generators.grid import cross
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load, save
from rushhour.viewer.raster import draw_network
from rushhour.viewer.shapes import intersection_areas
from rushhour.viewer.surfaces import surfaces
from rushhour.viewer.themes import DAY

SCALE = 0.1  # m a pixel
SIZE = (960, 600)


def chords(network: Network) -> np.ndarray:
    """The middles of the straight corners of a crossing, each a little towards its middle, (4, 2) m."""
    (area,), _ = intersection_areas(network)
    middle, after = area.mean(axis=0), np.roll(area, -1, axis=0)
    long = np.hypot(*(after - area).T)
    corners = long < 0.99 * long.max()
    if corners.sum() != 4:  # kerbs of one road are as long as corners
        corners = np.abs(np.prod(after - area, axis=1)) > 1.0
    return 0.97 * (0.5 * (area + after)[corners] - middle) + middle


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_the_kerb_of_a_corner_bends_inside_of_its_chord(lanes: int) -> None:
    network = cross(lanes=lanes)
    found = surfaces(network)
    assert found.node.size == 1
    np.testing.assert_allclose(found.middle, 0.0, atol=1e-6)
    assert len(chords(network)) == 4
    a, b, c = np.moveaxis(found.triangles(), 1, 0)
    area = 0.5 * ((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])).sum()  # fmt: skip
    (hull,), _ = intersection_areas(network)
    x, y = hull.T
    whole = 0.5 * abs(float(x @ np.roll(y, -1) - np.roll(x, -1) @ y))
    assert 0.6 * whole < area < 0.98 * whole
    wider = found.triangles(1.0)
    assert np.hypot(*wider[:, 1].T).min() > np.hypot(*found.points.T).min() + 0.5


def test_pictures_the_window_and_pages_leave_land_in_the_corners(tmp_path: Path) -> None:
    path, shot, run, page = (tmp_path / name for name in ("n.h5", "s.png", "r.h5", "r.html"))
    save(cross(lanes=2), path)
    network = load(path)
    x, y = surfaces(network).middle[0]
    half = 0.5 * SCALE * np.array(SIZE)
    box = (x - half[0], y - half[1], x + half[0], y + half[1])
    look = [f"--centre={x},{y}", "--zoom", str(SCALE), "--size", "960x600", "--theme", "day"]
    assert main(["view", str(path), "--shot", str(shot), "--no-names", *look]) == 0
    assert main(["run", str(path), "--vehicles", "1", "--duration", "2s", "--record", str(run)]) == 0  # fmt: skip
    assert main(["share", str(run), "-o", str(page), "--theme", "day"]) == 0
    with chromium() as browser:
        opened = Opened(browser, page.as_uri())
        opened.drawn(f"rushhour.lookAt({x} - rushhour.facts.origin[0], {y} - rushhour.facts.origin[1], {SCALE})")  # fmt: skip
        images = {
            "page": opened.pixels(),
            "picture": draw_network(network, SIZE, box, DAY).image(),
            "window": np.asarray(Image.open(shot).convert("RGB")),
        }
        assert opened.told == []
    for px, py in chords(network):
        column, row = round((px - box[0]) / SCALE), round((box[3] - py) / SCALE)
        for name, image in images.items():
            assert np.abs(image[row, column].astype(int) - DAY.land).max() <= 1, name
    for name, image in images.items():
        assert tuple(image[SIZE[1] // 2, SIZE[0] // 2]) in DAY.roads, name
        kerbs = (np.abs(image.astype(int) - DAY.kerb).max(axis=2) <= 2).sum()
        assert kerbs > 400, name  # along the corners, too


def test_joints_and_crossings_with_islands_keep_what_their_movements_cover() -> None:
    assert surfaces(cross(lanes=8)).node.size == 0  # farther than REACH
