"""A world stepped in parts: who stays in a part, who has left it, and whom another part sees.

What a part *sees* of the others is told by three numbers of each lane: metres from its start, and
metres from its end, within which it sees whoever is there (front bumper), and metres from its end
within which it sees who has nobody before it on the lane.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import Lanes
from rushhour.kernels.core.vehicles import Order, Vehicles


class Sight(NamedTuple):
    """What a part sees, shape (n_lanes,)."""

    start: NDArray[np.float64]  # m from the start of the lane; inf: all of it
    end: NDArray[np.float64]  # m from the end of the lane
    first: NDArray[np.float64]  # m from there within which the first of those on it is seen


@kernel
def is_seen(veh: Vehicles, lanes: Lanes, sight: Sight, i: int) -> bool:
    """Whether a vehicle on the road is seen."""
    lane, s = veh.lane[i], veh.s[i]
    return bool(s < sight.start[lane] or lanes.length[lane] - s < sight.end[lane])


@kernel
def may_be_first(veh: Vehicles, lanes: Lanes, sight: Sight, i: int) -> bool:
    """Whether a vehicle on the road is seen if nobody is before it on its lane."""
    lane = veh.lane[i]
    return bool(lanes.length[lane] - veh.s[i] < sight.first[lane])


@kernel
def pick_seen(
    veh: Vehicles, lanes: Lanes, sight: Sight, slots: NDArray[np.int32], ahead: NDArray[np.float64],
    out: NDArray[np.int32],
) -> int:  # fmt: skip
    """Write those of some slots whose vehicles are seen to out, as long as slots; returns how many.

    Who is the first of its lane is so among those in slots. ahead: (n_lanes,) scratch of -inf.
    """
    for x in range(slots.shape[0]):
        lane = veh.lane[slots[x]]
        ahead[lane] = max(ahead[lane], veh.s[slots[x]])
    found = 0
    for x in range(slots.shape[0]):
        i = slots[x]
        first = veh.s[i] >= ahead[veh.lane[i]] and may_be_first(veh, lanes, sight, i)
        if first or is_seen(veh, lanes, sight, i):
            out[found] = i
            found += 1
    for x in range(slots.shape[0]):
        ahead[veh.lane[slots[x]]] = -inf
    return found


@kernel
def part_ways(
    veh: Vehicles, lanes: Lanes, order: Order, n: int, mine: NDArray[np.bool_], sight: Sight,
    own: NDArray[np.bool_], border: NDArray[np.bool_], count: NDArray[np.int32],
    stays: NDArray[np.int32], shown: NDArray[np.int32], gone: NDArray[np.int32],
) -> tuple[int, int, int]:  # fmt: skip
    """After a frame: of a part's own vehicles list those that it still sees (stays), those on lanes at
    the border (shown), and whoever it is to forget (gone): those it does not see, and all copies.

    n: entries of the order. own: (n_lanes,) lanes of the part. border: (n_lanes,) lanes on which some
    other part may see somebody. Writes the lists, each as long as the order may be, count: own vehicles
    by lane, on lanes of the border, and mine: who is on own lanes now. Returns how many each list has.
    """
    a = b = c = 0
    for p in range(n):
        i = order.slot[p]
        lane = veh.lane[i]
        if lane < 0:
            continue
        if mine[i]:
            mine[i] = own[lane]
            if border[lane]:
                count[lane] += 1
                shown[b] = i
                b += 1
            if is_seen(veh, lanes, sight, i) or may_be_first(veh, lanes, sight, i):
                stays[a] = i
                a += 1
                continue
        gone[c] = i
        c += 1
    return a, b, c


@kernel
def list_border(
    veh: Vehicles, order: Order, n: int, own: NDArray[np.bool_], border: NDArray[np.bool_], frame: int,
    shown: NDArray[np.int32], copies: NDArray[np.int32],
) -> tuple[int, int, int]:  # fmt: skip
    """Within a frame, in the order: own vehicles on lanes at the border (shown), and all copies.

    own: (n_lanes,). Returns how many, and how many own vehicles began to pass in this frame.
    """
    a = b = passes = 0
    for p in range(n):
        i = order.slot[p]
        lane = veh.lane[i]
        if not own[lane]:
            copies[b] = i
            b += 1
            continue
        if border[lane]:
            shown[a] = i
            a += 1
        if veh.pass_frame[i] == frame:
            passes += 1
    return a, b, passes


@kernel
def lanes_in_order(order: Order, slots: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Write the lanes in whose places of the order some slots lie; slots: in the order."""
    x = p = 0
    for lane in range(order.start.shape[0] - 1):
        while p < order.start[lane + 1] and x < slots.shape[0]:
            if order.slot[p] == slots[x]:
                out[x] = lane
                x += 1
            p += 1
