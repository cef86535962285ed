"""What there is to draw below vehicles: the roads of a network, or the ground of a race."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rushhour.viewer.moments import Source
from rushhour.viewer.race_source import RaceSource
from rushhour.viewer.raster import Box, network_box
from rushhour.viewer.road_mesh import RoadMesh
from rushhour.viewer.themes import DARK, Theme

Part = tuple[RoadMesh, NDArray[np.float64]]


def parts_of(sources: Sequence[Source], theme: Theme = DARK) -> list[Part]:
    """Ground and sizes of vehicles of each source, as renderers take them."""
    return [
        (
            source.ground_in(theme)
            if isinstance(source, RaceSource)
            else RoadMesh(source.network, theme),
            source.sizes,
        )
        for source in sources
    ]


def box_of(source: Source) -> Box:
    """The rectangle around all that a source shows, m."""
    if isinstance(source, RaceSource):
        return source.ground.box
    return network_box(source.network)
