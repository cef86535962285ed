"""Watching: who is stuck, and which rings of lanes wait for each other."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.jit import kernel
from rushhour.kernels.network import NetworkArrays
from rushhour.kernels.random import uniform
from rushhour.kernels.room import chain_length
from rushhour.kernels.vehicles import EXIT_FULL, STREAM_MIND, Order, Vehicles

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
    standing at the end of a lane that does not lead on. Returns their number.

    share: of those before a full exit, drawn anew after every `patience` frames. Of each lane the first is looked at and all that are within LINE_REACH of its end.
    """
    found = 0
    for lane in range(first, last):
        near = net.lanes.length[lane] - LINE_REACH
        for p in range(order.start[lane], order.start[lane + 1]):
            i = order.slot[p]
            since = veh.stands_since[i]
            if since >= 0 and frame + 1 - since >= patience and veh.granted[i] == 0:
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
    n = chain_length(net, veh, i, stop_offset)
    for q in range(veh.line[i], n):
        lane = net.connectors.to_lane[veh.path[i, q]]
        if q == n - 1:
            return int(lane)
        if order.start[lane] < order.start[lane + 1]:
            j = order.slot[order.start[lane]]
            if veh.granted[j] == 0 and veh.stands_since[j] >= 0:
                return int(lane)
    return -1


@kernel
def stands_on_joint(net: NetworkArrays, veh: Vehicles, order: Order, lane: int) -> int:
    """The lane that a queue reaches back from over a joint into the end of this lane; -1."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    if order.start[lane] < order.start[lane + 1]:
        i = order.slot[order.start[lane]]
        k = veh.path[i, 0]
        if k >= 0 and net.connectors.free[k] and veh.stands_since[i] >= 0:
            return int(net.connectors.to_lane[k])
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        on = n_road_lanes + k
        if net.connectors.free[k] and order.start[on] < order.start[on + 1]:
            if veh.stands_since[order.slot[order.start[on]]] >= 0:
                return int(net.connectors.to_lane[k])
    return -1


@kernel
def awaited_lane(
    net: NetworkArrays, veh: Vehicles, order: Order, lane: int, stop_offset: float
) -> int:
    """The lane that a road lane waits for, as `wait_for_lanes` has it; -1."""
    if order.start[lane] < order.start[lane + 1]:
        i = order.slot[order.start[lane]]
        if veh.path[i, 0] >= 0 and faces_full_exit(veh, i):
            return full_exit(net, veh, order, i, stop_offset)
    return stands_on_joint(net, veh, order, lane)


@kernel
def find_rings_from(
    net: NetworkArrays, veh: Vehicles, order: Order, stop_offset: float, first: int, last: int,
    waits: NDArray[np.int32], rings: NDArray[np.int32],
) -> int:  # fmt: skip
    """Rings whose lowest lane is one of first .. last - 1, by that lane; returns how many.

    Walks on from each of these until somebody does not wait, or a lower lane or a ring without it is
    reached. Writes waits of the lanes that it comes by.
    """
    found = 0
    for start in range(first, last):
        lane, mark, steps, power = start, -1, 0, 1
        while True:
            waits[lane] = awaited_lane(net, veh, order, lane, stop_offset)
            lane = waits[lane]
            if lane <= start or lane == mark:
                break
            steps += 1
            if steps == power:  # Brent: sooner or later the mark lies on the ring
                mark, steps, power = lane, 0, 2 * power
        if lane == start:
            rings[found] = start
            found += 1
    return found


@kernel
def wait_for_lanes(
    net: NetworkArrays, veh: Vehicles, order: Order, stop_offset: float, waits: NDArray[np.int32]
) -> int:
    """For each road lane the lane that its standing head waits to enter because it is full; -1.

    A lane from which a queue goes on over a joint waits for what lies behind that. Returns how many
    heads wait.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    count = 0
    for lane in range(n_road_lanes):
        waits[lane] = -1
        if order.start[lane] < order.start[lane + 1]:
            i = order.slot[order.start[lane]]
            if veh.path[i, 0] >= 0 and faces_full_exit(veh, i):
                waits[lane] = full_exit(net, veh, order, i, stop_offset)
                count += 1
    if count > 1:
        for lane in range(n_road_lanes):
            if waits[lane] < 0:
                waits[lane] = stands_on_joint(net, veh, order, lane)
    return count


@kernel
def find_rings(
    waits: NDArray[np.int32], colour: NDArray[np.int32], rings: NDArray[np.int32]
) -> int:
    """Lanes at which walks along `waits` close; one per ring, its lowest lane. Returns how many.

    colour: scratch, one entry per road lane.
    """
    n = waits.shape[0]
    colour[:n] = -1
    found = 0
    for start in range(n):
        lane = start
        while lane >= 0 and colour[lane] < 0:
            colour[lane] = start
            lane = waits[lane]
        if lane >= 0 and colour[lane] == start and waits[start] >= 0:
            low = lane
            walk = waits[lane]
            while walk != lane:
                low = min(low, walk)
                walk = waits[walk]
            rings[found] = low
            found += 1
    return found
