"""Pictures of a network, a world or a run by the processor alone, for notebooks and files."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.roadnets.writing import replaced
from rushhour.traffic.words.durations import clock, seconds
from rushhour.traffic.words.plurals import counted
from rushhour.viewer.colouring import OF_TRIPS, VEHICLES, told_at, want_colouring
from rushhour.viewer.moments import Source
from rushhour.viewer.panels import lay, legend_image
from rushhour.viewer.png import png_bytes
from rushhour.viewer.raster import (
    Box,
    add_legend,
    draw_names,
    draw_network,
    draw_signals,
    draw_vehicles,
)
from rushhour.viewer.themes import Theme, theme_named
from rushhour.viewer.trip_words import TripWords

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

SIZE: Final = (800, 600)  # pixels


@dataclass(frozen=True)
class Picture:
    """A picture as the bytes of a PNG file; a notebook shows it.

    caption: what is seen, in words.
    """

    png: bytes
    caption: str

    def __repr__(self) -> str:
        return fields_shown(self)

    def _repr_png_(self) -> bytes:
        return self.png

    def save(self, path: str | Path) -> None:
        """Write the PNG. Raises RunError if the file cannot be written."""
        with replaced(path) as part:
            part.write_bytes(self.png)


def picture(
    what: "Network | World | RunFile | str | Path",
    at: float | str | None = None,
    *,
    colour: str = "speed",
    size: tuple[int, int] = SIZE,
    box: Box | None = None,
    theme: str = "dark",
) -> Picture:
    """A picture of a network, of a world as it stands, or of a run (or its file) at a time.

    at: s or text such as "7:10", of a run; default: its last frame. colour of vehicles: speed,
    limit, acceleration, reason, waiting, type, tier. size: pixels. box: x least, y least, x
    greatest, y greatest, m; default: all of it. theme: dark, day or print. Raises RunError for what cannot be drawn.

    >>> rh.picture(world, colour="waiting")
    >>> rh.picture("run.h5", at="7:10", box=(0, 0, 300, 200)).save("centre.png")
    """
    tones = theme_named(theme, "picture: theme")
    if isinstance(what, Network):
        if at is not None:
            raise RunError("picture: a network has no time; leave `at` out, or give a run")
        raster = draw_network(what, size, box, tones)
        draw_names(raster, what, tones)
        image = raster.image()
        add_legend(image, raster.pixels_per_metre, title=what.name, theme=tones)
        return Picture(png_bytes(image), f"{what.name}: {what.n_roads:,} roads")
    want_colouring(colour, VEHICLES, "picture: colour")
    source, time = _source(what, at)
    return _drawn(source, time, colour, size, box, tones)


def _source(what: Any, at: float | str | None) -> tuple[Source, float]:
    """Where the vehicles come from, and the time to draw, s."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

    if isinstance(what, World):
        from rushhour.viewer.live import LiveSource

        if at is not None:
            raise RunError("picture: a world is drawn as it stands; leave `at` out, or give a run")
        return LiveSource(what), what.time
    if not isinstance(what, RunFile | str | Path):
        raise RunError(f"picture of a {type(what).__name__}: wanted a network, a world or a run")
    from rushhour.viewer.recorded import RunSource

    run = RunSource(what)
    return run, float(run.times[-1]) if at is None else seconds(at, "picture: at")


def _drawn(
    source: Source, time: float, colour: str, size: tuple[int, int], box: Box | None, theme: Theme
) -> Picture:
    network = source.network
    raster = draw_network(network, size, box, theme)
    moment = source.at(time)
    draw_signals(raster, network, source.lights(moment.time))
    draw_names(raster, network, theme)
    words = None
    if colour in OF_TRIPS and source.demand is not None:
        words = TripWords(source.demand, network)
    told = VEHICLES[colour](told_at(source, moment, words))
    n = len(moment)
    front = np.column_stack((moment.x, moment.y, moment.heading))
    draw_vehicles(
        raster, network, moment.columns.get("lane", np.full(n, -1)), np.zeros(n), 0.0, moment.length, moment.width,
        told.palette[told.colour], front, theme=theme, shape=source.sizes[moment.size, 2],
        lights=moment.columns.get("signals", 0), steer=moment.columns.get("body_steer", 0.0),
    )  # fmt: skip
    image = raster.image()
    title = f"{network.name} at {clock(moment.time)}, {counted(n, 'vehicle')}"
    add_legend(image, raster.pixels_per_metre, title=title, theme=theme)
    panel = legend_image(told.legend, max(1, round(min(size) / 600)), theme)
    lay(image, panel, max(0, size[0] - panel.shape[1]), max(0, size[1] - panel.shape[0]))
    return Picture(png_bytes(image), f"{title}; colours: {told.legend.title}")
