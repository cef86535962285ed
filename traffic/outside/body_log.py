"""The bodies of a run, frame by frame: what was given from outside, to be given again."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown

# One body. x, y: m, of the middle; heading: rad; vx, vy: m/s; length, width: m.
ROW: Final = np.dtype(
    [("id", "<i4"), *[(n, "<f8") for n in ("x", "y", "heading", "vx", "vy", "length", "width")]]
)


@dataclass(frozen=True)
class BodyLog:
    """Sets of bodies. frame, end: (sets,), rows: (n,) of ROW.

    The k-th set holds from the start of frame[k] on; its rows are those from end[k-1] to end[k].
    """

    frame: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[Any]

    def __repr__(self) -> str:
        return fields_shown(self)

    def __len__(self) -> int:
        return int(self.frame.size)

    def at(self, frame: int) -> NDArray[Any] | None:
        """The bodies that were given for a frame; None if those before went on."""
        k = int(np.searchsorted(self.frame, frame))
        if k == len(self) or self.frame[k] != frame:
            return None
        return self.set(k)

    def set(self, k: int) -> NDArray[Any]:
        """The bodies of the k-th set."""
        return self.rows[int(self.end[k - 1]) if k else 0 : int(self.end[k])]


def no_bodies() -> BodyLog:
    """A log without sets."""
    return BodyLog(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, ROW))
