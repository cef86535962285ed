"""The order: vehicles sorted by lane, and from head to tail within each lane.

A counting sort over lanes from last frame's order (so that lanes come out nearly sorted), then an
insertion sort inside each lane. Ties in s break by id. Also finds, for each lane, the vehicle
whose rear still hangs over its end.
The load of a lane stays as it was sorted: who departs in a frame counts from the next one on.
A process that steps a part of a large map sorts the blocks of lanes on which anybody may be there.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import Lanes
from rushhour.kernels.core.vehicles import BEHIND, FULL_LOAD, TASKS, Order, Vehicles

LEAST_SHARE = 64  # vehicles of a task; to hand one out costs as much as a vehicle or two
MOST_PARTS = 8  # of the previous order, counted and scattered side by side: one a thread
STRIPES = 64  # of the order, sorted side by side
BLOCK = 256  # lanes, of which all or none are looked at


@kernel
def tasks_of(n: int) -> int:
    """Into how many tasks n vehicles are divided, whatever the number of threads."""
    return max(1, min(TASKS, n // LEAST_SHARE))


@kernel
def share(first: int, size: int, task: int, tasks: int) -> tuple[int, int]:
    """Where the share of a task in `size` things from `first` on begins, and where it ends.

    Lanes, the vehicles on them, and what is granted to them are all divided alike, in one piece
    each: then a thread finds what it wrote in the phase before in its own cache, not in another
    core's. Road lanes and connectors are divided apart, as they come one after the other.
    """
    return first + task * size // tasks, first + (task + 1) * size // tasks


@kernel
def lanes_of(block: int, lanes: int) -> tuple[int, int]:
    """Where the lanes of a block begin, of so many, and where they end."""
    return block * BLOCK, min(lanes, (block + 1) * BLOCK)


@kernel
def count_part(veh: Vehicles, order: Order, blocks: NDArray[np.int32], n: int, part: int) -> None:
    """Count the vehicles of each lane in one part of the previous order (n entries in all).

    Clears `over` for the same part of all lanes, as rears reach beyond the blocks, and the first row of
    counts for that part of the blocks.
    """
    count = order.counts[part + 1]
    lanes = count.shape[0] - 1
    parts = order.counts.shape[0] - 1
    for block in blocks:
        first, last = lanes_of(block, lanes)
        count[first:last] = 0
    count[lanes] = 0
    first, last = share(0, n, part, parts)
    for p in range(first, last):
        lane = veh.lane[order.slot[p]]
        count[lane if lane >= 0 else lanes] += 1
    first, last = share(0, lanes, part, parts)
    for lane in range(first, last):
        order.over[lane] = -1
    first, last = share(0, blocks.shape[0], part, parts)
    for x in range(first, last):
        lo, hi = lanes_of(blocks[x], lanes)
        order.counts[0, lo:hi] = 0


@kernel(parallel=True)
def count_all(veh: Vehicles, order: Order, blocks: NDArray[np.int32], n: int) -> None:
    """Count by lane, in as many parts as there are rows of counts behind the first."""
    for part in prange(order.counts.shape[0] - 1):
        count_part(veh, order, blocks, n, part)


@kernel
def place_lanes(order: Order, blocks: NDArray[np.int32]) -> int:
    """Turn counts into places, and into loads; returns the number of vehicles on lanes.

    A row of counts then says for each lane how many the parts up to it have there. Between the blocks
    nobody is, and loads stay.
    """
    lanes = order.start.shape[0] - 1
    parts = order.counts.shape[0] - 1
    for part in range(1, parts):
        before, count = order.counts[part], order.counts[part + 1]
        for block in blocks:
            first, last = lanes_of(block, lanes)
            for lane in range(first, last):
                count[lane] += before[lane]
    count = order.counts[parts]
    place = begun = 0
    for block in blocks:
        first, last = lanes_of(block, lanes)
        order.start[begun:first] = place
        for lane in range(first, last):
            order.start[lane] = place
            order.load[lane] = min(count[lane], FULL_LOAD)
            place += count[lane]
        begun = last
    order.start[begun:] = place
    return place


@kernel
def scatter_part(veh: Vehicles, order: Order, n: int, part: int) -> None:
    """Write one part of the previous order to its places in `spare`."""
    behind = order.counts[part]  # those of the parts before, in each lane
    first, last = share(0, n, part, order.counts.shape[0] - 1)
    for p in range(first, last):
        slot = order.slot[p]
        lane = veh.lane[slot]
        if lane >= 0:
            order.spare[order.start[lane] + behind[lane]] = slot
            behind[lane] += 1


@kernel(parallel=True)
def scatter_all(veh: Vehicles, order: Order, n: int) -> None:
    """Scatter, a part at a time."""
    for part in prange(order.counts.shape[0] - 1):
        scatter_part(veh, order, n, part)


@kernel
def sort_by_lane(veh: Vehicles, order: Order, blocks: NDArray[np.int32], n: int) -> int:
    """Sort the n vehicles of the previous order by lane into `spare`, those that left fall out.

    blocks: ascending, of BLOCK lanes each; nobody is on lanes of others. Returns how many remain. Writes
    start, and load in the blocks; within a lane they keep their sequence.
    """
    count_all(veh, order, blocks, n)
    remain = place_lanes(order, blocks)
    scatter_all(veh, order, n)
    return remain


@kernel(forceinline=True)
def hang_over(veh: Vehicles, lanes: Lanes, order: Order, slot: int) -> None:
    """Note a vehicle on the lanes that its rear still covers.

    At most one vehicle can hang over a lane's end, so no two tasks write the same entry.
    Writes over, over_rear.
    """
    rear = veh.s[slot] - veh.length[slot]
    b = 0
    while rear < 0.0 and b < BEHIND:
        back = veh.behind[slot, b]
        if back < 0:
            break
        rear += lanes.length[back]
        order.over[back] = slot
        order.over_rear[back] = rear
        b += 1


@kernel(forceinline=True)
def settle(veh: Vehicles, order: Order, lo: int, p: int, slot: int) -> None:
    """Put a vehicle into the sorted places lo .. p-1 of its lane and the free place p after them."""
    s = veh.s[slot]
    while p > lo:
        other = order.slot[p - 1]
        so = veh.s[other]
        if so > s or (so == s and veh.id[other] < veh.id[slot]):
            break
        order.slot[p] = other
        p -= 1
    order.slot[p] = slot


@kernel
def sort_stripe(veh: Vehicles, lanes: Lanes, order: Order, stripe: int) -> None:
    """Sort the lanes that begin in one stripe of the order by falling s, ties by id, and note
    overhanging rears. By vehicles: most lanes of a large map are empty.
    """
    n = order.start[order.start.shape[0] - 1]
    roads = order.start[lanes.out_start.shape[0] - 1]
    for first, last in share(0, roads, stripe, STRIPES), share(roads, n - roads, stripe, STRIPES):
        p = first
        while p < last:
            lane = veh.lane[order.slot[p]]
            lo, hi = order.start[lane], order.start[lane + 1]
            if lo >= first:
                for q in range(lo + 1, hi):
                    settle(veh, order, lo, q, order.slot[q])
                last_one = order.slot[hi - 1]
                hang_over(veh, lanes, order, last_one)
                if hi - lo > 1 and lo >= roads:
                    # Who turned across the next lane has its rear elsewhere than those behind it.
                    for q in range(lo, hi - 1):
                        slot = order.slot[q]
                        if veh.s[slot] < veh.length[slot] and (
                            veh.behind[slot, 0] != veh.behind[last_one, 0]
                        ):
                            hang_over(veh, lanes, order, slot)
            p = hi


@kernel(parallel=True)
def sort_all(veh: Vehicles, lanes: Lanes, order: Order) -> None:
    """Sort all lanes and note all overhanging rears, a stripe at a time."""
    for stripe in prange(STRIPES):
        sort_stripe(veh, lanes, order, stripe)


@kernel
def sort_newcomers(veh: Vehicles, order: Order, newcomers: int) -> None:
    """Sort spare[:newcomers] by lane (Shell's sort)."""
    gap = 1
    while gap < newcomers // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, newcomers):
            slot = order.spare[p]
            lane = veh.lane[slot]
            q = p
            while q >= gap and veh.lane[order.spare[q - gap]] > lane:
                order.spare[q] = order.spare[q - gap]
                q -= gap
            order.spare[q] = slot
        gap //= 3


@kernel
def splice_new(veh: Vehicles, order: Order, newcomers: int) -> None:
    """Insert the newcomers spare[:newcomers] (on lanes, not yet in the order) into the order.

    Works backwards through the order once.
    """
    sort_newcomers(veh, order, newcomers)
    lanes = order.start.shape[0] - 1
    last, end = lanes, order.start[lanes]  # what comes from there on is in place
    for k in range(newcomers - 1, -1, -1):
        lane = veh.lane[order.spare[k]]
        if lane == last:
            continue
        # All that lies between two lanes with newcomers moves as one block, by all before it.
        shift = k + 1
        lo = order.start[lane + 1]
        for p in range(end - 1, lo - 1, -1):
            order.slot[p + shift] = order.slot[p]
        for behind in range(lane + 1, last + 1):
            order.start[behind] += shift
        last, end = lane, lo
    first = 0
    while first < newcomers:
        lane = veh.lane[order.spare[first]]
        beyond = first + 1
        while beyond < newcomers and veh.lane[order.spare[beyond]] == lane:
            beyond += 1
        place = order.start[lane + 1] - (beyond - first)
        for k in range(first, beyond):
            settle(veh, order, order.start[lane], place + k - first, order.spare[k])
        first = beyond
