"""Bodies from outside on the map: what a host put into the traffic, in a colour of their own."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.outside.body_log import BodyLog
from rushhour.viewer.colouring import Legend
from rushhour.viewer.raster import Colour
from rushhour.viewer.shapes import Quads, bodies

OUTSIDE: Final[Colour] = (226, 120, 255)


def in_force(log: BodyLog, frame: int) -> NDArray[Any]:
    """The bodies of a log that were there in a frame."""
    k = int(np.searchsorted(log.frame, frame, side="right")) - 1
    return log.set(k) if k >= 0 else log.rows[:0]


def outside_quads(rows: NDArray[Any]) -> Quads:
    """The rectangles of bodies, (n, 4, 2) m."""
    half = 0.5 * rows["length"]
    x = rows["x"] + half * np.cos(rows["heading"])
    y = rows["y"] + half * np.sin(rows["heading"])
    return bodies(np.column_stack((x, y, rows["heading"])), rows["length"], rows["width"])


def outside_legend(count: int) -> Legend:
    """What their colour says."""
    return Legend("from outside", kinds=((OUTSIDE, f"bodies ({count:,})"),))
