"""Re-packing: vehicles moved to the slots in whose order they drive, a part of them at a time.

Vehicles of one lane should lie near each other in memory. Each call looks at some places of the order,
and lets whoever is at place p change slots with whoever is in slot p, if anybody: a list of pairs, by
which every column is then exchanged. Slots are no part of a world's state.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.trips import Waiting
from rushhour.kernels.core.vehicles import Order


@kernel
def plan_moves(
    lane: NDArray[np.int32], order: Order, wait: Waiting, first: int, last: int,
    moves: NDArray[np.int32],
) -> int:  # fmt: skip
    """Bring the vehicles of the places first .. last - 1 of the order into the slots of that number.

    Reads and writes lane, by slot, order.slot, and wait.numbers[2], below which no slot is free; writes
    moves (m, 2), m >= last - first: pairs of slots whose other columns are to be exchanged, one after
    the other. Returns the number of pairs.
    """
    count = 0
    for p in range(first, last):
        slot = order.slot[p]
        if slot == p:
            continue
        on = lane[p]
        if on >= 0:
            # Whoever is there is on this lane, and so among few in the order.
            q = order.start[on]
            while order.slot[q] != p:
                q += 1
            order.slot[q] = slot
        else:
            wait.numbers[2] = min(wait.numbers[2], slot)
        lane[p], lane[slot] = lane[slot], on
        order.slot[p] = p
        moves[count, 0], moves[count, 1] = p, slot
        count += 1
    return count


@kernel
def exchange(columns: tuple[NDArray[np.int64], ...], moves: NDArray[np.int32], count: int) -> None:
    """Exchange the entries of the first `count` pairs of slots in columns of one width, in turn."""
    for c in range(len(columns)):
        column = columns[c]
        for m in range(count):
            a, b = moves[m, 0], moves[m, 1]
            column[a], column[b] = column[b], column[a]
