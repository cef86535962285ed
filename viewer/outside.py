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
STANDS_OUT: Final = 2.2  # times the least size of a vehicle that who chases or is chased has


def in_force(log: BodyLog, frame: int) -> NDArray[Any]:
    """The bodies of a log that were there in a frame."""
    k = int(np.searchsorted(log.frame, frame, side="right")) - 1
    return log.set(k) if k >= 0 else log.rows[:0]


def outside_quads(
    rows: NDArray[Any],
    rim: float = 0.0,
    least: tuple[float, float] = (0.0, 0.0),
    front: float = 1.0,
) -> Quads:
    """The shapes of bodies, (n, 4, 2) m, about their middles.

    rim: m that they are larger on every side.   least: m, length and width at least.   front: its share of the width.
    """
    length, width = np.maximum(rows["length"], least[0]), np.maximum(rows["width"], least[1])
    half = 0.5 * length
    x = rows["x"] + half * np.cos(rows["heading"])
    y = rows["y"] + half * np.sin(rows["heading"])
    pose = np.column_stack((x, y, rows["heading"]))
    return bodies(pose, length, width, front, rim)


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
