"""What lies over the picture looks as the theme says, in pictures and in the window."""

from pathlib import Path

import numpy as np
import pytest
from viewed_run import needs_gl, record

from rushhour.cli import main
from rushhour.viewer import actions as do
from rushhour.viewer.lettering import text_width
from rushhour.viewer.pair import Pair
from rushhour.viewer.panels import line, pair, readable, text_image, text_size
from rushhour.viewer.places import INTERSECTION, LANE
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session
from rushhour.viewer.themes import DARK, THEMES, Theme


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("panels") / "run.h5", 120)


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_every_panel_of_a_window_is_as_its_theme_says(path: Path, theme: Theme) -> None:
    session = Session(RunSource(path), 1000, 700, window=True)
    session.theme = theme
    session.do(do.Seek(40.0))
    session.do(do.Show("costs"))
    always = {"title", "scale", "timeline", "count", "note"}
    legend = {"legend 0"}  # which help would cover in a window of this size
    for step, more in (
        (do.Choose((INTERSECTION, 0)), legend), (do.Choose((LANE, 0)), legend), (do.Show("help"), set())
    ):  # fmt: skip
        session.do(step)
        session.say("a note")
        shown = session.scene().panels
        names = {panel.name for panel in shown}
        assert always | more <= names
        assert more or not legend & names
        for panel in shown:
            ground = np.median(panel.image[..., :3].reshape(-1, 3), axis=0)
            wanted = {tuple(theme.panel), tuple(theme.land)}  # a diagram's field is land
            assert tuple(ground.astype(int).tolist()) in wanted, panel.name
            assert panel.image[0, 0, :3].tolist() == list(theme.edge), panel.name


@pytest.mark.parametrize("name", list(THEMES))
def test_panels_of_a_picture_are_as_its_theme_says(path: Path, tmp_path: Path, name: str) -> None:
    image = pytest.importorskip("matplotlib.image")
    needs_gl().close()
    out = tmp_path / "a.png"
    assert main(["view", str(path), "--theme", name, "--size", "640x480", "--shot", str(out)]) == 0
    pixels = np.round(255.0 * image.imread(out)[..., :3])
    corner = pixels[7:30, 7:60].reshape(-1, 3)  # the title
    ground = np.median(corner, axis=0)
    assert np.abs(ground - THEMES[name].panel).max() <= 20  # what is below shines through


def test_two_runs_have_one_theme(path: Path) -> None:
    both = Pair(RunSource(path), RunSource(path), 900, 500, window=True)
    both.theme = THEMES["day"]
    for _, scene in both.scenes():
        for panel in scene.panels:
            assert panel.image[0, 0, :3].tolist() == list(THEMES["day"].edge)


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_light_colours_are_darker_where_they_are_text_on_light_panels(theme: Theme) -> None:
    for colour in ((255, 255, 0), (64, 196, 112), (250, 250, 250), (10, 10, 10), (180, 12, 28)):
        found = np.array(readable(colour, theme), float)
        way = np.array(theme.ink, float) - colour
        assert np.abs(np.cross([*way], [*(found - colour)])).max() <= 600.0  # between it and ink
    assert readable((255, 255, 0), DARK) == (255, 255, 0)


def test_values_of_a_panel_begin_below_each_other() -> None:
    """Names of one column are of different widths; the values behind them are not."""
    lines = (pair("il", "1", 10), pair("WWWWWW", "1", 10), line("a line of its own"))
    image = text_image(lines, 2)
    ink = np.abs(image[..., :3].astype(int) - DARK.ink).max(axis=-1) < 60
    rows = [ink[8:22], ink[30:44]]
    first = [int(np.flatnonzero(one.any(axis=0))[0]) for one in rows]
    assert first[0] == first[1] > text_width("WWWWWW", 2)
    assert text_size(lines, 2)[0] == image.shape[1]
