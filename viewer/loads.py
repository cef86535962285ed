"""How many are on every lane at an instant, and how fast: all that is drawn of too many to be drawn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Loads:
    """Lanes at an instant: arrays (n_lanes,), connectors included."""

    count: NDArray[np.int64]  # vehicles
    speed: NDArray[np.float64]  # m/s, of all of them together

    @property
    def vehicles(self) -> int:
        """How many there are in all."""
        return int(self.count.sum())


def loads_of(lane: NDArray[np.int32], speed: NDArray[Any], lanes: int) -> Loads:
    """The loads of so many lanes. lane, speed (m/s): (n,) of vehicles."""
    return Loads(
        np.bincount(lane, minlength=lanes).astype(np.int64),
        np.bincount(lane, weights=speed, minlength=lanes).astype(np.float64),
    )
