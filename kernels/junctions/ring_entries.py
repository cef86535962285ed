"""Entering a roundabout: nobody does whom the ring cannot carry to its exit.

The pieces of a small ring hold a car or two, and whoever stands on one of them stands in the way of all
who come round: a ring whose pieces are all taken never moves again, be its exits free. So an entry
leaves room on the ring, and asks for room on the road by which one leaves, less what those need who are
on the ring and leave by it, too. Who is on the ring goes first.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import ALL_WAY_STOP, GROUP_LENGTH, SIGNAL, NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import PATH, Grants, Order, Vehicles
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.following.lane_gaps import place_behind
from rushhour.kernels.junctions.arrival_order import time_at_line, waits_longer
from rushhour.kernels.junctions.critical_gaps import RING_ROADS, is_ring
from rushhour.kernels.junctions.queue_ends import queue_end, taken

LONGEST_MEAN_PIECE = 50.0  # m between two arms; on longer ones a queue finds place of its own
A_CAR = 7.5  # m that one takes where it stands: a place
LONG = 30.0  # s at the line after which the next place on the ring is kept for who waits there
ITS_TURN = (
    120.0  # s after which all of them are, while its way out has room: nobody passes it by then
)
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
def yields_to_ring(net: NetworkArrays, on_ring: NDArray[np.bool_], k: int) -> bool:
    """Whether connector k gives way to somebody who comes round a ring."""
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.yields[c] and on_ring[net.connectors.from_lane[net.conflicts.other[c]]]:
            return True
    return False


@kernel
def find_ring_entries(
    net: NetworkArrays, one_way: NDArray[np.bool_], way: NDArray[np.int64],
    on_ring: NDArray[np.bool_], entry: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Write which road lanes are of a roundabout, and which connectors enter a small one without lights.

    Streets in a circle into which somebody goes first are none: room that one who enters leaves free on
    it is taken by those, and it would never go.

    one_way: by road. way: scratch, (RING_ROADS, 3).
    """
    for road in range(net.roads.lane_count.shape[0]):
        first = net.roads.first_lane[road]
        on_ring[first : first + net.roads.lane_count[road]] = is_ring(net, one_way, road, True, way)
    for k in range(entry.shape[0]):
        to = net.connectors.to_lane[k]
        control = net.intersections.control[net.connectors.intersection[k]]
        entry[k] = (
            on_ring[to]
            and not on_ring[net.connectors.from_lane[k]]
            and control != SIGNAL
            and control != ALL_WAY_STOP
            and is_tight(net, on_ring, net.lanes.road[to])
            and yields_to_ring(net, on_ring, k)
        )


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
    mine = veh.ring_exit[j]
    return bool(mine >= 0 and net.lanes.road[mine] == net.lanes.road[exit])  # by any of its lanes


@kernel
def room_to_leave(
    net: NetworkArrays, veh: Vehicles, order: Order, queue_gap: float, i: int, q: int, lane: int
) -> float:  # fmt: skip
    """Metres free, once all have closed up, from `lane` on, beyond the first q connectors of i's path: up
    to the first on which it can stand; inf where its path ends before that, and nobody is there."""
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
        return PATH, int(veh.ring_exit[i])
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
def entry_within(veh: Vehicles, entry: NDArray[np.bool_], i: int, n: int) -> int:
    """Which of the first n connectors of i's path enters a small roundabout, from its line on; -1 none.

    The line may lie before a lane too short to wait on, and the grant lead on from that into the ring.
    """
    for q in range(veh.line[i], n):
        if entry[veh.path[i, q]]:
            return q
    return -1


@kernel
def places_of(veh: Vehicles, j: int, queue_gap: float) -> float:
    """How many cars would stand where j does: a bus takes two places."""
    return max(1.0, np.floor((veh.length[j] + queue_gap) / A_CAR + 0.5))


@kernel
def come_by(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, queue_gap: float, k: int, i: int
) -> float:  # fmt: skip
    """Places that those need, but i, who have a grant to enter by connector k and are not on it yet."""
    j = grants.tail_slot[k]
    lane = net.connectors.from_lane[k]
    total = 0.0
    if j >= 0 and j != i and veh.lane[j] != lane:  # from before a short lane, or it is on it
        if entry_within(veh, grants.ring_entry, j, veh.granted[j]) >= 0:
            total = places_of(veh, j, queue_gap)
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if j != i and veh.granted[j] > 0 and veh.path[j, 0] == k:
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
        room = inf if on_ring[lane] else room_to_leave(net, veh, order, queue_gap, j, q + 1, lane)
        if room >= veh.length[j]:
            return inf, out
    return places_of(veh, j, queue_gap), out


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


@kernel(forceinline=True)
def counted_on(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], on: int, exit: int,
    queue_gap: float, all_leave: bool,
) -> tuple[float, float, float, bool, bool]:  # fmt: skip
    """Of those on a lane or connector of a ring: the places that they take, and of these who leave it next,
    behind nobody who stays; metres of lane `exit` that those need who leave by it; whether somebody
    stands, and whether all leave next. all_leave: so do those ahead of them."""
    places, leaving, metres, stands = 0.0, 0.0, 0.0, False
    for p in range(order.start[on], order.start[on + 1]):
        j = order.slot[p]
        places += places_of(veh, j, queue_gap)
        stands = stands or veh.speed[j] < 0.1
        k = veh.path[j, 0]
        all_leave = all_leave and k >= 0 and not on_ring[net.connectors.to_lane[k]]
        if all_leave:
            leaving += places_of(veh, j, queue_gap)
        if leaves_by(net, veh, on_ring, j, exit):
            metres += veh.length[j] + queue_gap
    return places, leaving, metres, stands, all_leave


@kernel(forceinline=True)
def rears_before(
    net: NetworkArrays, veh: Vehicles, order: Order, on_ring: NDArray[np.bool_], ring_lane: int,
    exit: int, queue_gap: float,
) -> tuple[float, float]:  # fmt: skip
    """Places of those who leave a ring from a lane, on their way out, with their rear on it still; and
    metres of lane `exit` for those on the way to it."""
    places, metres = 0.0, 0.0
    for k in range(net.lanes.out_start[ring_lane], net.lanes.out_start[ring_lane + 1]):
        to, on = net.connectors.to_lane[k], net.lanes.out_start.shape[0] - 1 + k
        if on_ring[to]:
            continue
        if to == exit:
            metres += taken(veh, order, on, queue_gap)
        if order.start[on] < order.start[on + 1]:
            j = order.slot[order.start[on + 1] - 1]
            if veh.s[j] < veh.length[j]:
                places += places_of(veh, j, queue_gap)
    return places, metres


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
    if on_ring[lane] or room_to_leave(net, veh, order, queue_gap, i, q + 1, lane) >= veh.length[i]:
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


@kernel(forceinline=True)
def counted_around(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int,
    ring_lane: int, exit: int, onto: int, around: float, room: float, frame: int, dt: float,
) -> tuple[float, float, float, float, float, float, float, bool]:  # fmt: skip
    """Of a lane of a ring and what leads into it: `around` with the metres of the ring in them, `room` less
    those of lane `exit` that somebody there needs; places taken, and of these those who leave next;
    places for who has a grant to enter, and kept for who waits, and metres of `exit` kept; whether somebody stands.

    onto: this lane, where i leaves by the next way out, -1 else.
    """
    on_ring, entry, gap = grants.on_ring, grants.ring_entry, rules.queue_gap
    around += net.lanes.length[ring_lane]
    taken_there, leaving, coming, kept, kept_out, stands = 0.0, 0.0, 0.0, 0.0, 0.0, False
    lo, hi = net.lanes.in_start[ring_lane], net.lanes.in_start[ring_lane + 1]
    all_leave = True  # by the next way out, from the front on
    for x in range(lo - 1, hi):
        on = ring_lane
        if x >= lo:
            k = net.lanes.in_connector[x]
            on = net.lanes.out_start.shape[0] - 1 + k
            if on_ring[net.connectors.from_lane[k]]:
                around += net.lanes.length[on]
            elif entry[k]:
                on_it, out = kept_for(net, veh, order, on_ring, gap, k, i, exit, frame, dt)
                kept, kept_out = max(kept, on_it), max(kept_out, out)
                coming += come_by(net, veh, order, grants, gap, k, i)
        places, leave, metres, somebody, all_leave = counted_on(
            net, veh, order, on_ring, on, exit, gap, all_leave
        )
        taken_there += places
        leaving += leave
        room -= metres
        stands = stands or somebody
        if on == onto and all_leave:
            leaving += places_of(veh, i, gap)
    rears, metres = rears_before(net, veh, order, on_ring, ring_lane, exit, gap)
    return (
        around, room - metres, taken_there + rears, leaving + rears, coming, kept, kept_out, stands
    )  # fmt: skip


@kernel
def ring_carries(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, n: int,
    frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether i, that asks at its line for its first n connectors, enters no small roundabout by them, or
    one that carries it to its exit.

    Reads where others are and where they go. Grants only as far as the ring is of one group with i's
    line, over short pieces on from it or back: others change meanwhile.
    """
    first = entry_within(veh, grants.ring_entry, i, n)
    if first < 0:
        return True
    # Who is let go with others who wait in a circle finds its room when those ahead have gone, too.
    turned = grants.waived[veh.path[i, veh.line[i]]] >= frame
    onto = net.connectors.to_lane[veh.path[i, first]]
    q, lane = exit_of(net, veh, order, grants.on_ring, i, first, rules.queue_gap)
    room = inf
    if not grants.on_ring[lane] and not turned:
        room = room_to_leave(net, veh, order, rules.queue_gap, i, q + 1, lane) - veh.length[i]
    # The lane by which it enters, where it leaves from that one.
    at_once = int(onto) if not grants.on_ring[lane] and q == first + 1 < PATH else -1
    around, places, others, leaving, kept, kept_out = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    somebody_stands = False
    apart, behind = False, 0.0  # beyond a long piece; who comes to enter since the last of those
    here = road = net.lanes.road[onto]
    for _ in range(RING_ROADS):
        outer = net.roads.first_lane[here]
        for ring_lane in range(outer, outer + net.roads.lane_count[here]):
            places += max(1.0, np.floor(net.lanes.length[ring_lane] / A_CAR))
            around, room, there, leave, coming, kept_there, out, stands = counted_around(
                net, veh, order, grants, rules, i, ring_lane, lane, at_once, around, room, frame, dt
            )
            others += there
            leaving += leave
            kept, kept_out = max(kept, kept_there), max(kept_out, out)
            somebody_stands = somebody_stands or stands
            if apart:
                behind += coming
            else:
                others += coming
        if net.roads.length[here] >= GROUP_LENGTH:
            apart, behind = True, 0.0
        here = next_on_ring(net, grants.on_ring, here)
        if here == road or here < 0:
            break
    others += behind
    # One place stays free, or nobody can move once all of them want to go on round the ring. But an
    # empty ring takes anybody: a bus may need all that it has.
    spare = min(places, np.floor(around / A_CAR)) - 1.0
    if not somebody_stands:
        spare += leaving
    needed = others + places_of(veh, i, rules.queue_gap)
    if turned:
        kept = 0.0
    return room >= kept_out and (others + kept <= 0.0 or needed + kept <= spare)
