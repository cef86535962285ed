"""Names of streets on pictures: readable, along their roads, none on another, each once around a place."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_data import data_folder
from street_worlds import high_street
from viewed_run import needs_gl

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.roadnets.storage import save
from rushhour.viewer.camera import Camera
from rushhour.viewer.lettering import CAPITAL, is_drawn, pieces_of, text_mask, text_width
from rushhour.viewer.raster import network_box, save_picture
from rushhour.viewer.street_labels import APART, FARTHEST, Labels, StreetLabels, street_lines
from rushhour.viewer.themes import DARK


def labels(network: Network, scale: float, size: tuple[int, int] = (1280, 800)) -> Labels:
    """Names on a picture of the middle of a network."""
    x0, y0, x1, y1 = network_box(network)
    camera = Camera(0.5 * (x0 + x1), 0.5 * (y0 + y1), scale, *size)
    return StreetLabels(network).within(camera.box, scale)


def test_a_street_of_many_roads_and_both_directions_is_one_line_from_end_to_end() -> None:
    lines = {line.text: line for line in street_lines(high_street())}
    assert set(lines) == {"High St / Löwenstraße", "High St", "A St", "B St", "C St"}
    assert lines["High St"].length == pytest.approx(450.0, abs=15.0)
    np.testing.assert_allclose(
        lines["High St"].points[:, 1], 0.0, atol=1e-6
    )  # between both directions


def test_names_stand_on_their_streets() -> None:
    network = high_street()
    found = labels(network, 0.6)
    assert {"High St", "A St", "B St", "C St"} <= set(found.texts)
    for text, place in zip(found.texts, found.places, strict=True):
        roads = network.find_roads(text.split(" / ")[0])
        near = network.nearest_road(*place)
        assert near.road_index in roads and near.distance < 3.0  # none on a crossing


def test_a_line_drawn_from_right_to_left_and_one_upwards_are_turned_to_be_read() -> None:
    builder = rh.NetworkBuilder()
    builder.add_road([(400, 0), (0, 0)], id="w", name="LTLTLTLT")
    builder.add_road([(0, 500), (0, 100)], id="s", name="TLTLTLTL")
    found = labels(builder.build(), 0.5)
    assert sorted(found.texts) == ["LTLTLTLT", "TLTLTLTL"]
    for name in range(2):
        mine = np.flatnonzero(found.name == name)
        assert [found.pieces[k] for k in found.piece[mine]] == list(found.texts[name])
        along = found.at[mine[-1]] - found.at[mine[0]]
        np.testing.assert_allclose(
            found.heading[mine] % (2.0 * np.pi), np.arctan2(along[1], along[0]), atol=1e-6
        )
        assert along[0] > 1.0 or (abs(along[0]) < 1.0 and along[1] > 1.0)  # to the right, or up


def spread(network: Network, scale: float) -> int:
    """Check that names are apart; how many there are."""
    found = labels(network, scale)
    cells: dict[tuple[int, int], int] = {}
    wide = {piece: w for text in found.texts for piece, _, w in pieces_of(text)}
    half = 0.5 * found.size * np.array([wide[piece] for piece in found.pieces])[found.piece]
    high = 0.5 * CAPITAL * found.size
    for k in range(len(found.texts)):
        places = []  # on the letters of a name, less than half a pixel apart
        for i in np.flatnonzero(found.name == k).tolist():
            x, y = np.meshgrid(
                np.linspace(-half[i], half[i], 2 + int(4 * half[i] / scale)),
                np.linspace(-high, high, 2 + int(4 * high / scale)),
            )
            c, s = np.cos(found.heading[i]), np.sin(found.heading[i])
            places.append(found.at[i] + np.column_stack((x.ravel() * c - y.ravel() * s, x.ravel() * s + y.ravel() * c)))  # fmt: skip
        at = np.unique(np.floor(np.concatenate(places) / scale).astype(int), axis=0)
        for cell in map(tuple, at.tolist()):
            assert cells.setdefault(cell, k) == k, (found.texts[k], found.texts[cells[cell]])
    by_name: dict[str, list[np.ndarray]] = {}
    for text, place in zip(found.texts, found.places, strict=True):
        for other in by_name.setdefault(text, []):
            assert np.hypot(*(place - other)) >= APART * scale - 1e-6, text
        by_name[text].append(place)
    return len(found.texts)


def test_no_two_names_share_a_pixel_and_none_is_twice_around_a_place() -> None:
    counts = [spread(high_street(8), scale) for scale in (0.2, 0.5, 1.0, 2.0, 4.0, FARTHEST)]
    assert counts[1] >= 8 and counts[-1] <= counts[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "file", "box"),
    [
        ("osm_krems", "krems.osm.gz", (15.59, 48.405, 15.615, 48.418)),
        ("osm_porto", "porto_portugal.osm.pbf", (-8.625, 41.14, -8.6, 41.155)),
        ("osm_columbus", "columbus.osm.gz", (-83.01, 39.955, -82.99, 39.975)),
    ],
)
def test_names_of_real_windows_are_apart(
    folder: str, file: str, box: tuple[float, float, float, float]
) -> None:
    network = import_network(data_folder(folder) / file, OsmOptions(box=box))
    assert spread(network, 0.5) >= 5 and spread(network, 2.0) >= 15


def test_names_stay_where_they_are_while_the_picture_is_moved() -> None:
    names = StreetLabels(high_street(8))
    camera = Camera(600.0, 0.0, 0.5, 640, 480)
    first = names.within(camera.box, 0.5)
    assert first.texts and names.within(camera.panned(40, -30).box, 0.5) is first
    moved = names.within(camera.panned(-900, 0).box, 0.5)
    assert moved is not first
    before = {(t, *p) for t, p in zip(first.texts, np.round(first.places, 6).tolist(), strict=True)}
    after = {(t, *p) for t, p in zip(moved.texts, np.round(moved.places, 6).tolist(), strict=True)}
    assert before & after


def test_nothing_is_told_from_afar_and_of_streets_that_are_too_short() -> None:
    assert not labels(high_street(), 1.01 * FARTHEST).texts
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 50), (30, 50)], name="A name of thirty metres")
    assert not labels(builder.build(), 1.0).texts


SCRIPTS = ["Zürich_Ł北", "Невский проспект", "Λεωφόρος", "שדרות רוטשילד", "شارع الملك", "शिवाजी मार्ग",
           "ถนนสุขุมวิท", "東京大通り", "테헤란로", "አዲስ አበባ", "1.º ª ’–ŻÓŁćøßÅ"]  # fmt: skip


@pytest.mark.parametrize("text", SCRIPTS)
def test_names_in_any_script_are_lettered_along_their_street(text: str) -> None:
    """Each sign is one of its own, none the box of a sign that no font has."""
    assert is_drawn(text)
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (300, 20)], name=text)
    found = labels(builder.build(), 0.5)
    assert found.texts == (text,)
    assert "".join(found.pieces[k] for k in found.piece).replace(" ", "") or found.pieces
    boxes = text_mask("\U0010fffd", 4)
    for sign in text.replace(" ", ""):
        mask = text_mask(sign, 4)
        assert mask.any() and not (mask.shape == boxes.shape and np.array_equal(mask, boxes)), sign


def test_letters_are_as_wide_as_they_are_and_accents_are_their_own() -> None:
    assert text_width("WWW", 2) > 2 * text_width("iii", 2)
    masks = {text_mask(sign, 2).tobytes() for sign in "aäãáâå"}
    assert len(masks) == 6
    assert not is_drawn("\U0010fffd")


def test_letters_that_are_joined_or_read_from_the_right_are_one_piece() -> None:
    assert [piece for piece, _, _ in pieces_of("شارع الملك")] == ["شارع الملك"]
    assert [piece for piece, _, _ in pieces_of("Lo\u0308w St")] == ["L", "o\u0308", "w", "S", "t"]


def pixels(path: Path) -> int:
    """How many pixels of a picture have nearly the colour of names, but for title and scale. Letters lie
    between pixels, so few have all of it."""
    matplotlib = pytest.importorskip("matplotlib.image")
    image = np.round(255.0 * matplotlib.imread(path)[..., :3]).astype(int)
    image = image[40 : image.shape[0] - 40]
    return int((np.abs(image - np.array(DARK.names)).max(axis=-1) < 40).sum())


def test_a_picture_without_a_graphics_card_has_names(tmp_path: Path) -> None:
    save_picture(tmp_path / "a.png", high_street(), size=(800, 400))
    plain = rh.generate("grid", rows=2, columns=2)
    save_picture(tmp_path / "b.png", plain, size=(800, 400))
    assert pixels(tmp_path / "a.png") > 100 and pixels(tmp_path / "b.png") == 0


@pytest.mark.slow
def test_the_viewer_shows_names_and_leaves_them_out(tmp_path: Path, capsys: Any) -> None:
    from rushhour.viewer import actions as do
    from rushhour.viewer.keymap import action_of

    needs_gl().close()
    save(high_street(), tmp_path / "net.h5")
    words = ["view", str(tmp_path / "net.h5"), "--size", "640x400", "--shot"]
    assert main([*words, str(tmp_path / "a.png")]) == 0
    assert main([*words, str(tmp_path / "b.png"), "--no-names"]) == 0
    assert main([*words, str(tmp_path / "c.png"), "--road", "b st"]) == 0
    assert pixels(tmp_path / "a.png") > 100 and pixels(tmp_path / "b.png") == 0
    assert action_of("t", False, None) == do.Show("names")
    assert main([*words, str(tmp_path / "d.png"), "--road", "Hihg St"]) == 2
    assert "has no such road; did you mean High St" in capsys.readouterr().err
