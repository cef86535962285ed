"""About how large a page becomes, from some of its frames."""

from typing import Final

import numpy as np

from rushhour.kernels.core.network import NetworkArrays
from rushhour.viewer.page.motion import Ways, frame_block
from rushhour.viewer.page.telling import RaceTold, RunTold

LOOKS: Final = 3  # places that are packed for a trial
FRAMES: Final = 12  # of each
SHELL: Final = 90_000  # bytes of the page's own
PER_LANE: Final = 45  # bytes of the ground
PER_VEHICLE: Final = 6
BASE64: Final = 4.0 / 3.0


def estimated(told: RunTold | RaceTold) -> int:
    """Bytes of one file, from what some of its frames come to."""
    total = told.times.size
    firsts = sorted({k * max(0, total - FRAMES) // max(1, LOOKS - 1) for k in range(LOOKS)})
    arrays = told.arrays
    ways, origin = Ways(arrays), np.zeros(2)
    size = rows = 0
    counts = []
    for first in firsts:
        frames = list(told.some(first, min(total, first + FRAMES)))
        times = told.times[first : first + len(frames)]
        size += len(frame_block(frames, times, origin, ways))
        rows += sum(len(one) for one in frames)
        counts.append((first, len(frames[0])))
        counts.append((first + len(frames) - 1, len(frames[-1])))
    per_row = size / max(1, rows)
    at = np.arange(total)
    there = told.counts()
    if there is None:
        places, values = zip(*sorted(counts), strict=True)
        there = np.interp(at, places, values)
    # Long blocks are told more shortly than these few frames.
    moved = 0.8 * per_row * float(there.sum())
    moved += PER_VEHICLE * float(there.max(initial=0))
    return int(ground_size(arrays) + BASE64 * moved)


def ground_size(arrays: NetworkArrays | None) -> float:
    """Bytes of the page and of what stands still in it; None: a track."""
    ground = 4_000 if arrays is None else PER_LANE * arrays.lanes.length.size
    return SHELL + BASE64 * ground
