"""Leaving a roundabout: by which way somebody does, what room that has, and who else counts on it."""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import GROUP_LENGTH, NetworkArrays
from rushhour.kernels.core.vehicles import PATH, Order, Vehicles
from rushhour.kernels.following.lane_gaps import place_behind
from rushhour.kernels.junctions.queue_ends import queue_end, taken


@kernel
def entry_within(veh: Vehicles, entry: NDArray[np.bool_], i: int, n: int) -> int:
    """Which of the first n connectors of i's path enters a small roundabout, from its line on; -1 none.

    The line may lie before a lane too short to wait on, and the grant lead on from that into the ring.
    """
    for q in range(veh.line[i], n):
        if entry[veh.path[i, q]]:
            return q
    return -1


@kernel
def leaves_by(
    net: NetworkArrays, veh: Vehicles, on_ring: NDArray[np.bool_], j: int, exit: int
) -> bool:
    """Whether j, on a ring, leaves it by the lane `exit`."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[j]
    if lane >= n_road_lanes:
        lane = net.connectors.to_lane[lane - n_road_lanes]
        if not on_ring[lane]:
            return bool(lane == exit)
    for q in range(PATH):
        k = veh.path[j, q]
        if k < 0:
            break  # it has to change lane on the ring
        lane = net.connectors.to_lane[k]
        if not on_ring[lane]:
            return bool(lane == exit)
    return bool(veh.ring_exit[j] == net.lanes.road[exit])  # by any of its lanes


@kernel
def room_to_leave(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], queue_gap: float,
    i: int, q: int, lane: int,
) -> float:  # fmt: skip
    """Metres free, once all have closed up, from the way out on that is path[q] of i and leads to `lane`, or
    no known one (see `exit_of`): up to the first lane on which it can stand. inf where its path ends
    before that, and nobody is there; and where i is not known to leave the ring."""
    if on_ring[lane]:
        return inf
    q += 1
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    room, length, vacant = 0.0, 0.0, True
    while True:
        _, closed, empty, held = queue_end(net, veh, order, lane, queue_gap)
        room += closed
        length += net.lanes.length[lane]
        vacant = vacant and empty
        if held or length >= veh.length[i] + queue_gap:
            return room
        if q >= PATH or veh.path[i, q] < 0:
            return inf if vacant else room
        room -= taken(veh, order, n_road_lanes + veh.path[i, q], queue_gap)
        lane = net.connectors.to_lane[veh.path[i, q]]
        q += 1


@kernel(forceinline=True)
def way_off(
    net: NetworkArrays, veh: Vehicles, on_ring: NDArray[np.bool_], i: int, q: int
) -> tuple[int, int]:
    """The place in i's path, from that on by which it enters a ring, of the connector by which it leaves,
    and the lane beyond. PATH where it has to change lane on the ring, so that its path ends there; and a
    lane of the ring, where it is not known to leave it."""
    lane = net.connectors.to_lane[veh.path[i, q]]
    while on_ring[lane] and q + 1 < PATH and veh.path[i, q + 1] >= 0:
        q += 1
        lane = net.connectors.to_lane[veh.path[i, q]]
    if on_ring[lane] and veh.ring_exit[i] >= 0:
        return PATH, int(net.roads.first_lane[veh.ring_exit[i]])
    return q, int(lane)


@kernel
def exit_of(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], i: int, q: int,
    queue_gap: float,
) -> tuple[int, int]:  # fmt: skip
    """`way_off`; of the lanes by which it may leave after a change of lane, that with the most room."""
    q, lane = way_off(net, veh, on_ring, i, q)
    if q < PATH or on_ring[lane]:
        return q, lane
    road = net.lanes.road[lane]
    first, best, most = net.roads.first_lane[road], lane, -inf
    for other in range(first, first + net.roads.lane_count[road]):
        for x in range(net.lanes.in_start[other], net.lanes.in_start[other + 1]):
            if on_ring[net.connectors.from_lane[net.lanes.in_connector[x]]]:
                _, closed, _, _ = queue_end(net, veh, order, other, queue_gap)
                if closed > most:
                    best, most = other, closed
                break
    return q, best


@kernel
def granted_by(
    net: NetworkArrays, veh: Vehicles, order: Order, on: int, first: int, i: int, k: int, lane: int,
    queue_gap: float,
) -> float:  # fmt: skip
    """Metres of `lane` that those on lane or connector `on` have a grant for, from place `first` of the order
    on; without i. k: a connector that they take next, any if -1."""
    metres = 0.0
    for p in range(first, order.start[on + 1]):
        j = order.slot[p]
        if j == i or (k >= 0 and veh.path[j, 0] != k):
            continue
        for q in range(veh.granted[j]):
            if net.connectors.to_lane[veh.path[j, q]] == lane:
                metres += veh.length[j] + queue_gap
                break
    return metres


@kernel
def reserved_behind(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], i: int, lane: int,
    queue_gap: float,
) -> float:  # fmt: skip
    """Metres of a lane, an exit of i's, that those have a grant for who come to it behind i, over i's own lane
    of a ring.

    On a piece too short to wait on who comes has a grant for what lies beyond it, too. Who has entered
    onto it before them would wait for room that they wait for behind it.
    """
    here, n_road_lanes = veh.lane[i], net.lanes.out_start.shape[0] - 1
    if here >= n_road_lanes or net.lanes.length[here] >= GROUP_LENGTH or not on_ring[here]:
        return 0.0
    first = place_behind(veh, order, here, veh.s[i])
    metres = granted_by(net, veh, order, here, first, i, -1, lane, queue_gap)
    for x in range(net.lanes.in_start[here], net.lanes.in_start[here + 1]):
        k = net.lanes.in_connector[x]
        on, back = n_road_lanes + k, net.connectors.from_lane[k]
        metres += granted_by(net, veh, order, on, order.start[on], i, -1, lane, queue_gap)
        metres += granted_by(net, veh, order, back, order.start[back], i, k, lane, queue_gap)
    return metres


@kernel
def last_before_room(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_],
    entry: NDArray[np.bool_], i: int, n: int, queue_gap: float,
) -> int:  # fmt: skip
    """Slot of who is last beyond the way out by which i, that asks for its first n connectors, would leave
    a small roundabout, where it finds no room; -1."""
    first = entry_within(veh, entry, i, n)
    if first < 0:
        return -1
    q, lane = exit_of(net, veh, order, on_ring, i, first, queue_gap)
    if room_to_leave(net, veh, order, on_ring, queue_gap, i, q, lane) >= veh.length[i]:
        return -1
    length = 0.0
    while length < veh.length[i] + queue_gap:
        if order.start[lane] < order.start[lane + 1]:
            return int(order.slot[order.start[lane + 1] - 1])
        if order.over[lane] >= 0:
            return int(order.over[lane])
        length += net.lanes.length[lane]
        q += 1
        if q >= PATH or veh.path[i, q] < 0:
            break
        lane = net.connectors.to_lane[veh.path[i, q]]
    return -1
