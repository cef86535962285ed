"""A map of streets by what was driven on them in an interval, without a graphics card: for reports."""

from typing import Final

from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.colouring import street_colours
from rushhour.viewer.panels import lay, legend_image
from rushhour.viewer.png import png_bytes
from rushhour.viewer.raster import add_legend, draw_names, draw_network
from rushhour.viewer.road_sums import SumsOfRun
from rushhour.viewer.street_layers import Streets, layer_called, shares
from rushhour.viewer.themes import PRINT

SIZE: Final = (1200, 900)  # pixels


def street_picture(
    run: RunFile,
    sums: SumsOfRun,
    name: str,
    i: int,
    other: SumsOfRun | None = None,
    called: str = "",
) -> bytes:
    """A PNG of a layer of `street_layers` in the i-th interval; other: of the run compared with, and its name."""
    network = run.network()
    share = shares(name, Streets(network), sums.at(i), None if other is None else other.at(i))
    colours, legend = street_colours(share, network, layer_called(name, called), sums.edges, i)
    raster = draw_network(network, SIZE, theme=PRINT, lane_colours=colours)
    draw_names(raster, network, PRINT)
    image = raster.image()
    add_legend(image, raster.pixels_per_metre, theme=PRINT)
    panel = legend_image(legend, 2, PRINT)
    lay(image, panel, max(0, SIZE[0] - panel.shape[1]), max(0, SIZE[1] - panel.shape[0]))
    return png_bytes(image)


def fullest(run: RunFile, sums: SumsOfRun) -> int:
    """The interval in the middle of which most vehicles are on the road."""
    middles = 0.5 * (sums.edges[1:] + sums.edges[:-1])
    places = run.times.searchsorted(middles).clip(0, run.times.size - 1)
    return int(run.counts[places].argmax())
