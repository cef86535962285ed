"""Watching: who is stuck, and which exit has no room for whom."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.trips import is_on_last_road
from rushhour.kernels.core.vehicles import EXIT_FULL, STREAM_MIND, Order, Vehicles
from rushhour.kernels.junctions.exit_room import chain_length

LINE_REACH = 20.0  # m from the lane's end within which a vehicle without a way on is stuck


@kernel
def is_drawn(veh: Vehicles, i: int, frame: int, patience: int, share: float, seed: int) -> bool:
    """Whether somebody has faced a full exit for `patience` frames, and is drawn among those."""
    since = veh.full_since[i]
    if since < 0 or frame - since < patience:
        return False
    times = (frame - since) // patience
    when = since + times * patience
    return share >= 1.0 or uniform(seed, veh.id[i], when, STREAM_MIND) < share


@kernel
def wants_another_way(
    veh: Vehicles, i: int, frame: int, patience: int, share: float, seed: int
) -> bool:
    """Whether somebody has waited long enough, and is drawn among those who have.

    A walker each time twice as long: who goes from one full exit to another loses its claim to the
    next place there, and could do so in step with the lights for ever. Drivers go to exits with room.
    """
    if veh.leg[i] < 0 and veh.arrived[i] >= 0:
        patience = max(patience, (frame - veh.arrived[i]) // 2)
    return is_drawn(veh, i, frame, patience, share, seed)


@kernel
def find_stuck(
    net: NetworkArrays, veh: Vehicles, order: Order, frame: int, patience: int, share: float,
    seed: int, first: int, last: int, out: NDArray[np.int32],
) -> int:  # fmt: skip
    """Slots of those on the road lanes first .. last - 1 that should change their mind: patience frames before a full exit, or
    standing at the end of a lane that does not lead on, but not on the last road of their trip.
    Returns their number.

    share: of those before a full exit, drawn anew after every `patience` frames. Of each lane the first is looked at and all that are within LINE_REACH of its end.
    """
    found = 0
    for lane in range(first, last):
        near = net.lanes.length[lane] - LINE_REACH
        for p in range(order.start[lane], order.start[lane + 1]):
            i = order.slot[p]
            since = veh.stands_since[i]
            stuck = since >= 0 and frame + 1 - since >= patience
            there = is_on_last_road(veh, i)  # no way is needed any more
            gone = veh.lane[i] != lane  # it has crept over its line since vehicles were ordered
            if stuck and not there and not gone and veh.granted[i] == 0:
                if veh.path[i, 0] < 0 and veh.full_since[i] < 0 and veh.s[i] > near:
                    veh.full_since[i] = frame - patience
                if wants_another_way(veh, i, frame, patience, share, seed):
                    out[found] = i
                    found += 1
            if veh.s[i] <= near:
                break
    return found


@kernel
def faces_full_exit(veh: Vehicles, i: int) -> bool:
    """Whether a head stands before an exit without room."""
    return veh.full_since[i] >= 0 and veh.refused[i] == EXIT_FULL and veh.granted[i] == 0


@kernel
def full_exit(net: NetworkArrays, veh: Vehicles, order: Order, i: int, stop_offset: float) -> int:
    """The lane without room that head i faces: the first that can hold it, or one before that on
    which somebody stands. Lanes shorter than a vehicle are passed at once, so it may be far."""
    n, _ = chain_length(net, veh, i, stop_offset)
    for q in range(veh.line[i], n):
        lane = net.connectors.to_lane[veh.path[i, q]]
        if q == n - 1:
            return int(lane)
        if order.start[lane] < order.start[lane + 1]:
            j = order.slot[order.start[lane]]
            if veh.granted[j] == 0 and veh.stands_since[j] >= 0:
                return int(lane)
    return -1
