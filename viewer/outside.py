"""Bodies from outside on the map: what a host put into the traffic, in a colour of their own; of a chase
its target in another."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.outside.body_log import BodyLog
from rushhour.viewer.colouring import COLOURS, Legend
from rushhour.viewer.moments import Moment
from rushhour.viewer.silhouettes import CLASSES
from rushhour.viewer.themes import Colour

OUTSIDE: Final[Colour] = (226, 120, 255)
TARGET: Final[Colour] = (255, 50, 140)  # on no scale of vehicles, as opponents' is not
TARGET_ID: Final = 0  # of a chase


def in_force(log: BodyLog, frame: int) -> NDArray[Any]:
    """The bodies of a log that were there in a frame."""
    k = int(np.searchsorted(log.frame, frame, side="right")) - 1
    return log.set(k) if k >= 0 else log.rows[:0]


def outside_moment(
    rows: NDArray[Any], chased: bool
) -> tuple[NDArray[np.float64], Moment, NDArray[np.int32]]:
    """Bodies as vehicles: their sizes and shapes (k, 3), where they are, and their codes (n,)."""
    target = (rows["id"] == TARGET_ID) & chased
    other = CLASSES.index("opponent" if chased else "body")
    shape = np.where(target, CLASSES.index("target"), other)
    length, width, heading = (rows[name].astype(float) for name in ("length", "width", "heading"))
    sizes, of = np.unique(np.column_stack((length, width, shape)), axis=0, return_inverse=True)
    size: NDArray[np.int32] = of.reshape(-1).astype(np.int32)
    half = 0.5 * length
    moment = Moment(
        0.0, rows["id"].astype(np.int32), rows["x"] + half * np.cos(heading),
        rows["y"] + half * np.sin(heading), heading, np.hypot(rows["vx"], rows["vy"]), length, width,
        size, np.zeros(len(rows), np.int32), {},
    )  # fmt: skip
    return sizes, moment, size * 8 * 256 + target.astype(np.int32)


def outside_palette() -> NDArray[np.uint8]:
    """Their colours, that of a target second."""
    palette = np.zeros((COLOURS, 3), np.uint8)
    palette[:2] = OUTSIDE, TARGET
    return palette


def outside_legend(rows: NDArray[Any], chased: bool) -> Legend:
    """What their colours say."""
    if not chased:
        return Legend("from outside", kinds=((OUTSIDE, f"bodies ({len(rows):,})"),))
    hunters = int((rows["id"] != TARGET_ID).sum())
    return Legend("chase", kinds=((TARGET, "target"), (OUTSIDE, f"opponents ({hunters:,})")))
