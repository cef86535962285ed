"""Whom something happened to: slots of vehicles on the road, found in one pass."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel


@kernel
def note_within(
    lane: NDArray[np.int32], when: NDArray[np.int32], first: int, end: int, out: NDArray[np.int32]
) -> int:
    """Find those with a frame from first on and before end; how many. Writes their slots to out."""
    found = 0
    for i in range(lane.shape[0]):
        if when[i] >= first and when[i] < end and lane[i] >= 0:  # of few, so easily foretold
            out[found] = i
            found += 1
    return found


@kernel
def note_risen(
    lane: NDArray[np.int32], id: NDArray[np.int32], count: NDArray[np.int32],
    known: NDArray[np.int32], out: NDArray[np.int32],
) -> int:  # fmt: skip
    """Find those whose count is above the known one; how many.

    Reads lane, id and count by slot; writes known, by vehicle, and the slots to out.
    """
    found = 0
    for i in range(lane.shape[0]):
        if lane[i] < 0:
            continue
        vehicle = id[i]
        if count[i] != known[vehicle]:
            out[found] = i
            found += 1 if count[i] > known[vehicle] else 0
            known[vehicle] = count[i]
    return found
