"""Buildings, water and green of a map are kept with the network and drawn below the roads, everywhere alike."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from browsers import Opened, chromium
from osm_texts import CROSS, CROSS_WAYS, write_osm
from PIL import Image

from rushhour.cli import main
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm import areas
from rushhour.roadnets.storage import load, save
from rushhour.roadnets.surroundings import BUILDING, GREEN, WATER
from rushhour.viewer.raster import draw_network
from rushhour.viewer.themes import DAY, THEMES

# A square house with a court, a pond in a wood, and what is no building, by x, y of the lower left corner, side.
SQUARES = {
    20: ("building", "house", 20.0, 20.0, 40.0), 21: ("court", "", 30.0, 30.0, 20.0),
    22: ("landuse", "forest", -80.0, 20.0, 60.0), 23: ("natural", "water", -60.0, 40.0, 20.0),
    24: ("building", "no", 20.0, -60.0, 40.0), 25: ("building", "hut", -30.0, -30.0, 3.0),
}  # fmt: skip
PLACES = {
    "wall": ((25.0, 40.0), "building"), "court": ((40.0, 40.0), "land"), "pond": ((-50.0, 50.0), "water"),
    "wood": ((-75.0, 30.0), "green"), "none": ((40.0, -40.0), "land"),
}  # fmt: skip


def town(folder: Path, side: str = "right", backwards: bool = False) -> Path:
    nodes, ways, ring = dict(CROSS), [(*way[:2], way[2] | {"driving_side": side}) for way in CROSS_WAYS], 100  # fmt: skip
    for ref, (key, value, x, y, size) in SQUARES.items():
        for k, (dx, dy) in enumerate(((0.0, 0.0), (size, 0.0), (size, size), (0.0, size))):
            nodes[ring + k] = (x + dx, y + dy)
        line = [ring, ring + 1, ring + 2, ring + 3, ring]
        ways.append((ref, line, {key: value} if ref not in (20, 21) else {}))
        ring += 4
    court = [(7, [("way", "outer", 20), ("way", "inner", 21)], {"type": "multipolygon", "building": "house"})]  # fmt: skip
    return write_osm(folder, nodes, ways[::-1] if backwards else ways, relations=court)


def at(network: Network, place: tuple[float, float]) -> np.ndarray:
    return np.array(place) - network.origin


def covered(network: Network, kind: int, place: tuple[float, float]) -> bool:
    """Whether a triangle of a kind has a place in it."""
    t, p = network.surroundings.triangles(kind), at(network, place)
    side = [
        (b[:, 0] - a[:, 0]) * (p[1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (p[0] - a[:, 0])
        for a, b in ((t[:, 0], t[:, 1]), (t[:, 1], t[:, 2]), (t[:, 2], t[:, 0]))
    ]
    signs = np.sign(side)
    return bool((abs(signs.sum(axis=0)) == 3).any())


@pytest.mark.parametrize("side", ["right", "left"])
def test_areas_are_where_the_map_has_them_with_their_holes(tmp_path: Path, side: str) -> None:
    network = load_network(town(tmp_path, side))
    assert network.left_hand == (side == "left")
    assert network.surroundings.kind.tolist() == [GREEN, WATER, BUILDING, BUILDING]
    assert covered(network, BUILDING, PLACES["wall"][0])
    assert not covered(network, BUILDING, PLACES["court"][0])
    assert covered(network, GREEN, PLACES["wood"][0])
    assert covered(network, WATER, PLACES["pond"][0])
    assert not any(covered(network, kind, PLACES["none"][0]) for kind in range(3))
    assert any("1 buildings, 1 of water, 1 green" in note for note in network.notes)


def test_areas_are_stored_and_networks_stored_before_have_none(tmp_path: Path) -> None:
    network = load_network(town(tmp_path))
    save(network, tmp_path / "t.h5")
    for stored, given in zip(load(tmp_path / "t.h5").surroundings, network.surroundings, strict=True):  # fmt: skip
        np.testing.assert_array_equal(stored, given)
    with h5py.File(tmp_path / "t.h5", "r+") as file:
        del file["network/surroundings"]
    assert load(tmp_path / "t.h5").surroundings.corner.size == 0


@pytest.mark.parametrize(
    ("name", "value"), [("corner", 99), ("kind", 3), ("start", 1), ("x", np.nan)]
)
def test_areas_that_would_be_drawn_from_nowhere_are_refused(
    tmp_path: Path, name: str, value: float
) -> None:
    save(load_network(town(tmp_path)), tmp_path / "t.h5")
    with h5py.File(tmp_path / "t.h5", "r+") as file:
        file[f"network/surroundings/{name}"][0] = value
    with pytest.raises(NetworkError, match=f"surroundings/{name}"):
        load(tmp_path / "t.h5")


def test_a_map_whose_ways_are_not_in_order_keeps_its_areas_with_their_holes(tmp_path: Path) -> None:
    network = load_network(town(tmp_path, backwards=True))
    assert network.surroundings.kind.tolist() == [GREEN, WATER, BUILDING, BUILDING]
    assert covered(network, BUILDING, PLACES["wall"][0])
    assert not covered(network, BUILDING, PLACES["court"][0])


def test_a_river_is_as_wide_as_its_line_says_and_none_is_in_a_tunnel(tmp_path: Path) -> None:
    """Lines bend; streams, as thin as they are, are left out."""
    nodes = {**CROSS, 100: (-90.0, 60.0), 101: (0.0, 60.0), 102: (90.0, 150.0)}
    nodes |= {103: (-90.0, -60.0), 104: (90.0, -60.0), 105: (-90.0, -90.0), 106: (90.0, -90.0)}
    ways = [
        *CROSS_WAYS, (30, [100, 101, 102], {"waterway": "river", "width": "24 m"}),
        (31, [103, 104], {"waterway": "canal", "tunnel": "culvert"}),
        (32, [105, 106], {"waterway": "stream"}),
    ]  # fmt: skip
    network = load_network(write_osm(tmp_path, nodes, ways))
    assert covered(network, WATER, (-50.0, 60.0 + 11.0)) and covered(network, WATER, (-50.0, 49.0))
    assert not covered(network, WATER, (-50.0, 73.0)) and not covered(network, WATER, (-50.0, 47.0))
    assert covered(network, WATER, (45.0, 105.0)) and covered(network, WATER, (45.0 + 7.0, 105.0 - 7.0))  # fmt: skip
    for place in ((0.0, -60.0), (0.0, -90.0)):
        assert not covered(network, WATER, place)


def test_an_area_that_lacks_members_is_drawn_as_far_as_it_is_closed(tmp_path: Path) -> None:
    """A river of two ways, of whose islands one lies outside of the extract, and a lake whose other bank does."""
    nodes = {**CROSS, 100: (-90.0, 30.0), 101: (90.0, 30.0), 102: (90.0, 90.0), 103: (-90.0, 90.0)}
    nodes |= {110: (-20.0, 50.0), 111: (20.0, 50.0), 112: (20.0, 70.0), 113: (-20.0, 70.0)}
    nodes |= {120: (-90.0, -90.0), 121: (90.0, -90.0), 122: (90.0, -40.0)}
    ways = [
        *CROSS_WAYS, (30, [101, 102, 103], {}), (31, [101, 100, 103], {}),
        (32, [110, 111, 112, 113, 110], {}), (33, [120, 121, 122], {}),
    ]  # fmt: skip
    river = [("way", "outer", 30), ("way", "outer", 31), ("way", "inner", 32), ("way", "inner", 99)]
    lake = [("way", "outer", 33), ("way", "outer", 98)]
    kind = {"type": "multipolygon", "natural": "water"}
    path = write_osm(tmp_path, nodes, ways, relations=[(7, river, kind), (8, lake, kind)])
    network = load_network(path)
    assert covered(network, WATER, (-60.0, 60.0)) and covered(network, WATER, (60.0, 40.0))
    assert not covered(network, WATER, (0.0, 60.0))  # the island that is there
    assert not covered(network, WATER, (40.0, -80.0))


def test_of_very_many_places_the_smallest_areas_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(areas, "MOST", 12)
    network = load_network(town(tmp_path))
    assert network.surroundings.kind.tolist() == [GREEN, BUILDING, BUILDING]
    assert any("the 1 smallest were left out" in note for note in network.notes)


@pytest.mark.parametrize(("side", "kept"), [(900.0, True), (1100.0, False)])
def test_a_quarter_that_is_tagged_as_a_building_is_left_out(
    tmp_path: Path, side: float, kept: bool
) -> None:
    """As one of Columbus, of 1.8 km2."""
    nodes = CROSS | {30: (9.0, 9.0), 31: (9.0 + side, 9.0), 32: (9.0 + side, 9.0 + side), 33: (9.0, 9.0 + side)}  # fmt: skip
    ways = [*CROSS_WAYS, (20, [30, 31, 32, 33, 30], {"building": "yes"})]
    network = load_network(write_osm(tmp_path, nodes, ways))
    assert covered(network, BUILDING, (90.0, 90.0)) == kept
    said = any("; 1 larger than any building left out" in note for note in network.notes)
    assert said == (not kept)


def test_corners_that_nobody_sees_are_left_out_and_no_others() -> None:
    turn = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    ring = 50.0 * np.column_stack((np.cos(turn), np.sin(turn)))
    thin = areas.thinned(ring, 1.0)
    assert 8 <= len(thin) < 40
    a, b = thin, np.roll(thin, -1, axis=0)
    step = b - a
    for place in ring:
        along = np.clip(((place - a) * step).sum(axis=1) / (step * step).sum(axis=1), 0.0, 1.0)
        assert np.hypot(*(a + along[:, None] * step - place).T).min() <= 1.0
    square = np.array([(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (5.0, 4.0), (0.0, 9.0)])
    np.testing.assert_array_equal(areas.thinned(square, 1.0), square)


def test_pictures_the_window_and_pages_draw_the_same_below_the_roads(tmp_path: Path) -> None:
    path = town(tmp_path)
    network = load_network(path)
    save(network, tmp_path / "t.h5")
    middle, scale, size = at(network, (0.0, 0.0)), 0.5, (960, 600)
    x, y = middle
    half = 0.5 * scale * np.array(size)
    raster = draw_network(network, size, (x - half[0], y - half[1], x + half[0], y + half[1]), DAY)
    shot = tmp_path / "shot.png"
    assert main(["view", str(tmp_path / "t.h5"), "--shot", str(shot), "--theme", "day", f"--centre={x},{y}",
                 "--zoom", str(scale), "--size", "960x600", "--no-names"]) == 0  # fmt: skip
    rendered = np.asarray(Image.open(shot).convert("RGB"))
    run, page = tmp_path / "run.h5", tmp_path / "run.html"
    assert main(["run", str(tmp_path / "t.h5"), "--vehicles", "2", "--duration", "5s", "--record", str(run)]) == 0  # fmt: skip
    assert main(["share", str(run), "-o", str(page), "--theme", "day"]) == 0
    with chromium() as browser:
        opened = Opened(browser, page.as_uri())
        opened.drawn(f"rushhour.lookAt({x} - rushhour.facts.origin[0], {y} - rushhour.facts.origin[1], {scale})")  # fmt: skip
        pages = {"day": opened.pixels()}
        for name in ("dark", "print"):
            opened.drawn(f"rushhour.pickTheme('{name}')")
            pages[name] = opened.pixels()
        assert opened.told == []
    for place, kind in PLACES.values():
        column, row = round(0.5 * size[0] + place[0] / scale), round(0.5 * size[1] - place[1] / scale)  # fmt: skip
        for image in (raster.image(), rendered, pages["day"]):
            np.testing.assert_allclose(image[row, column], getattr(DAY, kind), atol=1)
        for name, image in pages.items():
            np.testing.assert_allclose(image[row, column], getattr(THEMES[name], kind), atol=1)
    street = raster.image()[300, 480 + 200]
    assert tuple(street) in DAY.roads
