"""Places on the lanes of a roundabout: who takes them, comes to take them, and for whom they are kept.

Each lane is a ring of its own: one whose places are all taken never moves again, be there room on the
lane beside. So whoever goes onto a lane, from an arm or from the lane beside, leaves as many places
free on it as the longest needs who is there.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import Grants, Order, Vehicles
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.junctions.arrival_order import time_at_line, waits_longer
from rushhour.kernels.junctions.critical_gaps import RING_ROADS
from rushhour.kernels.junctions.queue_ends import queue_end, taken
from rushhour.kernels.junctions.ring_exits import (
    entry_within,
    exit_of,
    leaves_by,
    room_to_leave,
)

LONGEST_MEAN_PIECE = 50.0  # m between two arms; on longer ones a queue finds place of its own
A_CAR = 7.5  # m that one takes where it stands: a place
LONG = 30.0  # s at the line after which the next place on the ring is kept for who waits there
ITS_TURN = 120.0  # s after which all are, while its way out has room: nobody passes it by then
GIVEN_UP = 300.0  # s after which none is: something else keeps it


@kernel
def next_on_ring(net: NetworkArrays, on_ring: NDArray[np.bool_], road: int) -> int:
    """The road of a ring that follows one of it; -1 none."""
    for at in range(net.roads.out_start[road], net.roads.out_start[road + 1]):
        after = net.roads.out[at]
        if on_ring[net.roads.first_lane[after]]:
            return int(after)
    return -1


@kernel
def is_tight(net: NetworkArrays, on_ring: NDArray[np.bool_], road: int) -> bool:
    """Whether one comes round to a road of a ring again, over pieces that are short on average.

    One long piece among short ones makes no ring large: once the queues of its arms fill it, it locks.
    """
    here, spare = road, 0.0
    for _ in range(RING_ROADS):
        spare += LONGEST_MEAN_PIECE - net.roads.length[here]
        here = next_on_ring(net, on_ring, here)
        if here < 0:
            return False
        if here == road:
            return bool(spare >= 0.0)
    return False


@kernel
def lane_numbered(net: NetworkArrays, road: int, number: int) -> int:
    """The lane of a road with a number, from 0 on the right; the last where it has fewer."""
    return int(net.roads.first_lane[road]) + min(number, int(net.roads.lane_count[road]) - 1)


@kernel
def places_of(veh: Vehicles, j: int, queue_gap: float) -> float:
    """How many cars would stand where j does: a bus takes two places."""
    return max(1.0, np.floor((veh.length[j] + queue_gap) / A_CAR + 0.5))


@kernel
def granted_onto(
    net: NetworkArrays, veh: Vehicles, order: Order, queue_gap: float, k: int, i: int
) -> float:  # fmt: skip
    """Places that those need, but i, who have a grant for connector k and are on the lane before it."""
    lane = net.connectors.from_lane[k]
    total = 0.0
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if j != i and veh.granted[j] > 0 and veh.path[j, 0] == k:
            total += places_of(veh, j, queue_gap)
    return total


@kernel
def come_by(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, queue_gap: float, k: int, i: int
) -> float:  # fmt: skip
    """Places that those need, but i, who have a grant to enter by connector k and are not on it yet."""
    j = grants.tail_slot[k]
    total = granted_onto(net, veh, order, queue_gap, k, i)
    if j >= 0 and j != i and veh.lane[j] != net.connectors.from_lane[k]:
        # From before a short lane, or it is on it.
        if entry_within(veh, grants.ring_entry, j, veh.granted[j]) >= 0:
            total += places_of(veh, j, queue_gap)
    return total


@kernel
def kept_for(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], queue_gap: float, k: int,
    i: int, exit: int, frame: int, dt: float,
) -> tuple[float, float]:  # fmt: skip
    """Places kept from i for who waits to enter by connector k, and has for long, and for longer than i;
    and metres of lane `exit`, where it leaves by that."""
    lane = net.connectors.from_lane[k]
    if order.start[lane] == order.start[lane + 1]:
        return 0.0, 0.0
    j = order.slot[order.start[lane]]
    if j == i or veh.path[j, 0] != k or veh.had_grant[j]:
        return 0.0, 0.0
    waited = time_at_line(veh, j, frame, dt)
    if waited < LONG or not waits_longer(veh, j, i):
        return 0.0, 0.0
    out = veh.length[j] + queue_gap if leaves_by(net, veh, on_ring, j, exit) else 0.0
    if ITS_TURN <= waited < GIVEN_UP and not stands_for_long(veh, j):
        q, lane = exit_of(net, veh, order, on_ring, j, 0, queue_gap)
        if room_to_leave(net, veh, order, on_ring, queue_gap, j, q, lane) >= veh.length[j]:
            return inf, out
    return places_of(veh, j, queue_gap), out


@kernel(forceinline=True)
def metres_for_exit(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], ring_lane: int,
    exit: int, queue_gap: float,
) -> float:  # fmt: skip
    """Metres of lane `exit` that those need who leave by it, of a lane of a ring, of what leads into it and
    of the way from it to the exit."""
    metres = 0.0
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lo, hi = net.lanes.in_start[ring_lane], net.lanes.in_start[ring_lane + 1]
    for x in range(lo - 1, hi):
        on = ring_lane if x < lo else n_road_lanes + net.lanes.in_connector[x]
        for p in range(order.start[on], order.start[on + 1]):
            j = order.slot[p]
            if leaves_by(net, veh, on_ring, j, exit):
                metres += veh.length[j] + queue_gap
    for k in range(net.lanes.out_start[ring_lane], net.lanes.out_start[ring_lane + 1]):
        if net.connectors.to_lane[k] == exit and not on_ring[exit]:
            metres += taken(veh, order, n_road_lanes + k, queue_gap)
    return metres


@kernel(forceinline=True)
def taken_on(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], ring_lane: int,
    queue_gap: float,
) -> tuple[float, float, float, bool, bool]:  # fmt: skip
    """Of a lane of a ring and what leads into it: places taken, those of who leaves it next, behind nobody
    who stays; the most that one takes; whether somebody stands, and whether all leave next.

    Who is on its way out with its rear on the lane still counts, too.
    """
    places, leaving, most, stands, all_leave = 0.0, 0.0, 0.0, False, True
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for k in range(net.lanes.out_start[ring_lane], net.lanes.out_start[ring_lane + 1]):
        on = n_road_lanes + k
        if not on_ring[net.connectors.to_lane[k]] and order.start[on] < order.start[on + 1]:
            j = order.slot[order.start[on + 1] - 1]
            if veh.s[j] < veh.length[j]:
                places += places_of(veh, j, queue_gap)
    leaving = places
    lo, hi = net.lanes.in_start[ring_lane], net.lanes.in_start[ring_lane + 1]
    for x in range(lo - 1, hi):
        on = ring_lane if x < lo else n_road_lanes + net.lanes.in_connector[x]
        for p in range(order.start[on], order.start[on + 1]):
            j = order.slot[p]
            mine = places_of(veh, j, queue_gap)
            places += mine
            most = max(most, mine)
            stands = stands or veh.speed[j] < 0.1
            k = veh.path[j, 0]
            all_leave = all_leave and k >= 0 and not on_ring[net.connectors.to_lane[k]]
            if all_leave:
                leaving += mine
    return places, leaving, most, stands, all_leave


@kernel(forceinline=True)
def waited_for(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int,
    ring_lane: int, exit: int, frame: int, dt: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Of those who enter a lane of a ring but i: places for who has a grant; the most places, and metres of
    lane `exit`, kept for one who waits."""
    coming, kept, kept_out = 0.0, 0.0, 0.0
    for x in range(net.lanes.in_start[ring_lane], net.lanes.in_start[ring_lane + 1]):
        k = net.lanes.in_connector[x]
        if grants.ring_entry[k]:
            on_it, out = kept_for(
                net, veh, order, grants.on_ring, rules.queue_gap, k, i, exit, frame, dt
            )
            kept, kept_out = max(kept, on_it), max(kept_out, out)
            coming += come_by(net, veh, order, grants, rules.queue_gap, k, i)
    return coming, kept, kept_out


@kernel
def length_of(net: NetworkArrays, on_ring: NDArray[np.bool_], ring_lane: int) -> float:
    """Metres of a lane of a ring, with the connectors that lead to it on the ring."""
    metres = net.lanes.length[ring_lane]
    for x in range(net.lanes.in_start[ring_lane], net.lanes.in_start[ring_lane + 1]):
        k = net.lanes.in_connector[x]
        if on_ring[net.connectors.from_lane[k]]:
            metres += net.lanes.length[net.lanes.out_start.shape[0] - 1 + k]
    return float(metres)


@kernel
def places_on(net: NetworkArrays, ring_lane: int) -> float:
    """Cars that stand on a piece of a ring's lane; at least one."""
    return max(1.0, np.floor(net.lanes.length[ring_lane] / A_CAR))


@kernel
def leaves_next(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], i: int, lane: int,
    queue_gap: float,
) -> bool:  # fmt: skip
    """Whether i, once it is on a lane of a ring, leaves it at the end of that, and has room to."""
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        to = net.connectors.to_lane[k]
        if not on_ring[to] and veh.ring_exit[i] == net.lanes.road[to]:
            _, closed, _, _ = queue_end(net, veh, order, to, queue_gap)
            on = net.lanes.out_start.shape[0] - 1 + k
            return bool(closed - taken(veh, order, on, queue_gap) >= veh.length[i])
    return False


@kernel
def takes_change(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, lane: int,
    queue_gap: float, frame: int,
) -> bool:  # fmt: skip
    """Whether a lane, if it is one of a small roundabout, has places left when i has changed to it.

    Who leaves next goes there in any case. Of several who change on it in one frame none knows of the
    others: its roads take turns for the last place.
    """
    here = road = net.lanes.road[lane]
    if not grants.on_ring[lane] or not is_tight(net, grants.on_ring, road):
        return True
    number = net.lanes.number[lane]
    mine = places_of(veh, i, queue_gap)
    places, around, most, others, roads, turn, lowest = 0.0, 0.0, mine, 0.0, 0, 0, road
    for _ in range(RING_ROADS):
        ring_lane = lane_numbered(net, here, number)
        places += places_on(net, ring_lane)
        around += length_of(net, grants.on_ring, ring_lane)
        there, _, longest, _, _ = taken_on(net, veh, order, grants.on_ring, ring_lane, queue_gap)
        others += there
        most = max(most, longest)
        for x in range(net.lanes.in_start[ring_lane], net.lanes.in_start[ring_lane + 1]):
            k = net.lanes.in_connector[x]
            if grants.ring_entry[k]:
                others += granted_onto(net, veh, order, queue_gap, k, i)
        if here < lowest:
            lowest, turn = here, roads  # roads from this one on to the lowest
        roads += 1
        here = next_on_ring(net, grants.on_ring, here)
        if here == road or here < 0:
            break
    free = min(places, np.floor(around / A_CAR)) - most - others - mine
    if free < 0.0:
        return leaves_next(net, veh, order, grants.on_ring, i, lane, queue_gap)
    # Changes to one side are made in every second frame.
    return bool(free >= mine or (frame // 2 + turn) % roads == 0)
