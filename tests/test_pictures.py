"""What a notebook shows: facts of networks, worlds and runs, and pictures of them."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import rushhour as rh
from rushhour.traffic.words.durations import clock
from rushhour.viewer.raster import speed_colours, usual_speed
from rushhour.viewer.themes import THEMES


@pytest.fixture(scope="module")
def world() -> rh.World:
    network = rh.generate("cross", lanes=2, length=120.0, control="signals")
    world = rh.World(network, rh.random_trips(network, 60, "1min", seed=1), dt=0.5, seed=1)
    world.step(80)
    return world


@pytest.fixture(scope="module")
def run_path(world: rh.World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "run.h5"
    with world.record(path):
        world.step(40)
    return path


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(png)))


def test_a_world_is_drawn_with_its_vehicles_in_the_colour_of_their_speed(world: rh.World) -> None:
    shown = rh.picture(world, size=(800, 600))
    image = pixels(shown._repr_png_())
    assert image.shape == (600, 800, 3)
    empty = pixels(rh.picture(world.network, size=(800, 600)).png)
    middle = slice(120, 480), slice(160, 600)  # without texts and legend
    differs = np.any(image[middle] != empty[middle], axis=-1)
    assert differs.sum() > 100
    speed = world.vehicles.speed
    slow = speed_colours(speed[speed < 1.0], usual_speed(world.network)).astype(int)
    away = np.abs(image[middle].astype(int)[..., None, :] - slow).max(axis=-1).min(axis=-1)
    assert (away < 12).sum() > 20 and (speed < 0.1).any()
    assert f"{world.active} vehicles; colours: speed" in shown.caption


def test_a_picture_has_the_colours_of_its_theme(world: rh.World) -> None:
    for name, theme in THEMES.items():
        for what in (world, world.network):
            image = pixels(rh.picture(what, size=(400, 300), theme=name).png)
            colours = {tuple(colour) for colour in image.reshape(-1, 3).tolist()}
            assert {theme.land, theme.ink} <= colours and colours & set(theme.roads)
            assert image[-2, 200].tolist() == list(theme.land)
    with pytest.raises(rh.RushhourError, match="theme 'night': wanted one of day, dark, print"):
        rh.picture(world, theme="night")


def test_drawing_a_world_leaves_it_as_it_is(world: rh.World) -> None:
    before = world.state_hash(), world.frame
    rh.picture(world, colour="waiting", size=(100, 80))
    assert (world.state_hash(), world.frame) == before


@pytest.mark.parametrize("colour", ["limit", "acceleration", "reason", "waiting", "type", "tier"])
def test_every_colouring_of_the_viewer_is_one_of_pictures(run_path: Path, colour: str) -> None:
    plain = rh.picture(run_path, size=(200, 150))
    assert rh.picture(run_path, colour=colour, size=(200, 150)).png != plain.png


def test_a_run_is_drawn_at_the_time_asked_for(run_path: Path, tmp_path: Path) -> None:
    with rh.open_run(run_path) as run:
        first = rh.picture(run, at=float(run.times[0]), size=(200, 150))
        assert first.png != rh.picture(run, size=(200, 150)).png
        begin = f"{float(run.times[0]):g}s"
        assert rh.picture(run_path, at=begin, size=(200, 150)).png == first.png
        assert run.frames.size  # it stays open
    first.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == first.png


def test_what_cannot_be_drawn_is_one_line(world: rh.World, tmp_path: Path) -> None:
    for call, message in (
        (lambda: rh.picture(world, at=3.0), "drawn as it stands"),
        (lambda: rh.picture(world.network, at=3.0), "has no time"),
        (lambda: rh.picture(world, colour="mood"), "picture: colour 'mood': wanted one of speed"),
        (lambda: rh.picture(7), "picture of a int: wanted a network"),
        (lambda: rh.picture(world.network, size=(10, 10)), "10 x 10 pixels: wanted 64"),
        (lambda: rh.picture(world.network).save(tmp_path / "no" / "a.png"), "cannot be written"),
    ):
        with pytest.raises(rh.RushhourError, match=message):
            call()


def test_networks_worlds_and_runs_show_their_facts(world: rh.World, run_path: Path) -> None:
    shown = world.network._repr_html_()
    assert (
        "<th style" in shown and f"{world.network.n_roads}</td>" in shown and "1 signals" in shown
    )
    assert f"{world.arrived:,} of 60" in world._repr_html_()
    with rh.open_run(run_path) as run:
        assert f"{clock(run.times[0])} to" in run._repr_html_() and "60</td>" in run._repr_html_()
    assert "closed" in run._repr_html_()


def test_names_from_files_are_escaped_in_what_is_shown() -> None:
    builder = rh.NetworkBuilder("<script>alert(1)</script>")
    builder.add_street([(0, 0), (200, 0)])
    assert "<script>" not in builder.build()._repr_html_()
