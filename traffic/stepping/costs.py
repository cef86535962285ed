"""What every frame costs: nanoseconds per phase, always measured, kept in a ring."""

from time import perf_counter_ns
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.facts import fact_line

PHASES: Final = (
    "order", "depart", "signals", "grant", "lanes", "drive", "steer", "move", "watch", "record", "check",
)  # fmt: skip
RECORD: Final = PHASES.index("record")  # from here on observers


class Costs:
    """A ring of the last frames' costs.

    `start()` opens a frame; each `mark(phase)` gives the time since the mark before to a phase.
    The frame that is open is a list: adding to a list takes a third of adding to an array, ten times a frame.
    """

    names: Final = PHASES

    def __init__(self, frames: int = 16384) -> None:
        self._ring: NDArray[np.int64] = np.zeros((frames, len(PHASES)), np.int64)
        self.updates: NDArray[np.int64] = np.zeros(frames, np.int64)
        self.frames = 0
        self._last = 0
        self._row = [0] * len(PHASES)

    def __repr__(self) -> str:
        recent = self.recent()
        facts = (
            {
                name: f"{ns / 1e6:.3f}"
                for name, ns in zip(PHASES, recent.mean(axis=0), strict=True)
                if ns
            }
            if len(recent)
            else {}
        )
        return fact_line(f"Costs of {self.frames:,} frames, ms in the mean", facts)

    @property
    def ring(self) -> NDArray[np.int64]:
        """Nanoseconds, shape (frames, phases): frame i stands in row i % frames."""
        self._ring[(self.frames - 1) % len(self._ring)] = self._row
        return self._ring

    def start(self) -> None:
        """Open the next frame."""
        size = len(self._ring)
        self._ring[(self.frames - 1) % size] = self._row
        self._row = [0] * len(PHASES)
        self.updates[self.frames % size] = 0
        self.frames += 1
        self._last = perf_counter_ns()

    def mark(self, phase: int) -> None:
        """Give the time since the last mark to a phase (place in `names`)."""
        now = perf_counter_ns()
        self._row[phase] += now - self._last
        self._last = now

    def count(self, vehicles: int) -> None:
        """Note how many vehicles this frame updated."""
        self.updates[(self.frames - 1) % len(self._ring)] = vehicles

    def in_kernels(self) -> int:
        """Nanoseconds of the last frame, without what observers took."""
        return sum(self._row[:RECORD])

    def recent(self) -> NDArray[np.int64]:
        """Costs of the frames still in the ring, oldest first, shape (frames, phases), ns."""
        ring = self.ring
        if self.frames <= len(ring):
            return ring[: self.frames].copy()
        return np.roll(ring, -(self.frames % len(ring)), axis=0)

    def last(self) -> dict[str, int]:
        """Nanoseconds of each phase in the last frame."""
        return dict(zip(PHASES, self._row, strict=True))

    def summary(self) -> dict[str, dict[str, float]]:
        """Per phase p50 and p99 in milliseconds."""
        rows = self.recent()
        if rows.shape[0] == 0:
            return {name: {"p50": 0.0, "p99": 0.0} for name in PHASES}
        p50, p99 = np.percentile(rows, [50, 99], axis=0) / 1e6
        return {
            name: {"p50": round(float(p50[i]), 4), "p99": round(float(p99[i]), 4)}
            for i, name in enumerate(PHASES)
        }
