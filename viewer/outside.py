"""Bodies from outside on the map: what a host put into the traffic, in a colour of their own; of a chase
its target in another."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.outside.body_log import BodyLog
from rushhour.viewer.colouring import Legend
from rushhour.viewer.shapes import Quads, bodies
from rushhour.viewer.themes import Colour

OUTSIDE: Final[Colour] = (226, 120, 255)
TARGET: Final[Colour] = (70, 225, 255)
TARGET_ID: Final = 0  # of a chase


def in_force(log: BodyLog, frame: int) -> NDArray[Any]:
    """The bodies of a log that were there in a frame."""
    k = int(np.searchsorted(log.frame, frame, side="right")) - 1
    return log.set(k) if k >= 0 else log.rows[:0]


def outside_quads(rows: NDArray[Any], rim: float = 0.0) -> Quads:
    """The rectangles of bodies, (n, 4, 2) m; rim: m that they are larger on every side."""
    half = 0.5 * rows["length"]
    x = rows["x"] + half * np.cos(rows["heading"])
    y = rows["y"] + half * np.sin(rows["heading"])
    pose = np.column_stack((x, y, rows["heading"]))
    return bodies(pose, rows["length"], rows["width"], rim=rim)


def outside_colours(rows: NDArray[Any], chased: bool) -> NDArray[np.uint8]:
    """The colours of bodies, (n, 3)."""
    colours = np.tile(np.array(OUTSIDE, np.uint8), (len(rows), 1))
    if chased:
        colours[rows["id"] == TARGET_ID] = TARGET
    return colours


def outside_legend(rows: NDArray[Any], chased: bool) -> Legend:
    """What their colours say."""
    if not chased:
        return Legend("from outside", kinds=((OUTSIDE, f"bodies ({len(rows):,})"),))
    hunters = int((rows["id"] != TARGET_ID).sum())
    return Legend("chase", kinds=((TARGET, "target"), (OUTSIDE, f"opponents ({hunters:,})")))
