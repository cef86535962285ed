"""Whose turn it is to look for a better lane without need.

Frames go in pairs, one for each side. Vehicles are dealt by their number to TURNS turns, and usually
every fourth of these looks in a pair. Where fewer may look in a frame, turns are left out, the same ones
first in every frame: those that are left look at even distances of time, and each turn looks at least
once in TURNS pairs.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Order, Vehicles

TURNS: Final = 64  # a power of two
USUALLY: Final = 4  # pairs of frames in which everybody looks once


@kernel
def turn_of(number: int, frame: int) -> int:
    """Turn of a vehicle in a frame."""
    return (number + (frame >> 1)) & (TURNS - 1)


@kernel
def reversed_bits(turn: int) -> int:
    """A turn with its bits in reverse: the place in the order in which turns are kept."""
    found = 0
    bit = 1
    while bit < TURNS:
        found = 2 * found + (1 if turn & bit else 0)
        bit *= 2
    return found


@kernel
def count_turns(
    net: NetworkArrays, veh: Vehicles, order: Order, stepped: NDArray[np.bool_], frame: int,
    count: NDArray[np.int64],
) -> None:  # fmt: skip
    """Count those on roads of several lanes that this process steps, by place in the order of turns.

    stepped: (n_lanes,). Writes count.
    """
    count[:] = 0
    for road in range(net.roads.lane_count.shape[0]):
        lanes = net.roads.lane_count[road]
        first = net.roads.first_lane[road]
        if lanes > 1 and stepped[first]:
            for p in range(order.start[first], order.start[first + lanes]):
                count[reversed_bits(turn_of(veh.id[order.slot[p]], frame))] += 1


@kernel
def choose_turns(most: int, looks: NDArray[np.bool_], count: NDArray[np.int64]) -> int:
    """Choose the turns that look in a frame, so that they are at most so many vehicles, or one turn.

    count: see count_turns. Writes looks. Returns how many look.
    """
    total = int(count[0])
    kept = 1
    while kept < TURNS // USUALLY and total + count[kept] <= most:
        total += int(count[kept])
        kept += 1
    for turn in range(TURNS):
        looks[turn] = reversed_bits(turn) < kept
    return total
