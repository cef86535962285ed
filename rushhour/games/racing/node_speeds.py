"""Speeds at the nodes of a track's line, noted while somebody drives round it.

Source: AV-Racer, seed-systems.md S2-13: as a car passes a node, its speed there is kept.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.steering.tracks import Track, progress_at

Floats = NDArray[np.float64]


class NodeSpeeds:
    """Notes the speed at each point of a line as a car passes it in one of its laps, 0 the first."""

    def __init__(self, track: Track, progress: float, lap: int = 1) -> None:
        # The line and the middle differ in length: points are passed where the middle's station is.
        places = zip(track.line_index, track.line, strict=True)
        at = [progress_at(track, int(i), x, y) for i, (x, y) in places]
        self._at = np.array(at) + lap * float(track.station[-1])
        self._before = progress
        self.speed: Floats = np.full(len(track.line), np.nan)  # m/s; nan: not passed

    def note(self, progress: float, speed: float) -> None:
        """Keep the speed, m/s, at the points between the last place and this one, m."""
        self.speed[(self._at > self._before) & (self._at <= progress)] = speed
        self._before = max(self._before, progress)
