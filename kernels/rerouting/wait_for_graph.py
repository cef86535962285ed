"""Who waits for whom: the wait-for graph of the vehicles that stand, and its cycles.

Each vehicle that stands waits for one other at most: its leader, who uses the zone before it, whom it
must let go first, the last on the exit that has no room for it, who is beside it where it must change
lane. A cycle of these cannot move by itself. Every cycle holds the head of a lane, so walks begin
there. A process that steps a part of a world knows whom its own wait for: its walks end where they come
to others, and it tells to whom they lead.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import (
    AT_STOP,
    CONFLICT,
    EXIT_FULL,
    LANE_CHANGE,
    LEADER,
    NOTHING,
    ONCOMING,
    PASSED,
    PATH,
    RED_LIGHT,
    YIELDS,
    Grants,
    Order,
    Vehicles,
)
from rushhour.kernels.following.lane_gaps import braking_gap, place_behind, place_beside
from rushhour.kernels.junctions.diverge_queue import who_stands_on_way
from rushhour.kernels.junctions.exit_room import chain_length
from rushhour.kernels.junctions.permissive_places import waits_on
from rushhour.kernels.junctions.ring_exits import last_before_room
from rushhour.kernels.rerouting.stuck import full_exit

CLOSE = 1.5  # m: somebody on the lane beside who is nearer bars the way there
SQUEEZED = 1.1  # m between those who have changed places and others
COMES_ON = 4.0  # m/s^2 by which who drives up behind one that changes places can brake
REACTS = 0.5  # s until it does
ALONE = 0.1  # m that one keeps to others who changes where the other of the two finds no place
LOOK = np.int64(1) << np.int64(32)  # a look's number, times this, goes before the number of a walk
ELSEWHERE = -2  # less the id of somebody who is in no slot here


@kernel
def note_slots(
    veh: Vehicles, order: Order, stepped: NDArray[np.bool_], look: int, slot_of: NDArray[np.int32],
    waits: NDArray[np.int32], seen: NDArray[np.int64],
) -> None:  # fmt: skip
    """Write the slot of each vehicle on the road at its id, and mark as seen by no walk of this look those on
    lanes that are not stepped here: copies, of which others know whom they wait for.

    slot_of: longer than the greatest id. stepped: (n_lanes,). waits, seen: see `find_cycles`.
    """
    for lane in range(order.start.shape[0] - 1):
        for p in range(order.start[lane], order.start[lane + 1]):
            i = order.slot[p]
            slot_of[veh.id[i]] = i
            if not stepped[lane]:
                seen[i] = look * LOOK
                waits[i] = -1


@kernel
def stands(veh: Vehicles, i: int) -> bool:
    """Whether a vehicle stands, and neither at a stop nor because it was told to."""
    return (
        veh.stands_since[i] >= 0
        and veh.speed[i] < 0.1
        and veh.dwell_until[i] < 0
        and veh.told[i] == NOTHING
    )


@kernel
def lacks_room(veh: Vehicles, i: int) -> bool:
    """Whether a vehicle stands for want of room beyond, be its light red by now: the green that it
    had was of no use to it."""
    reason = veh.reason[i]
    return reason == EXIT_FULL or (reason == RED_LIGHT and veh.full_since[i] >= 0)


@kernel
def in_path(veh: Vehicles, i: int, k: int) -> bool:
    """Whether i takes connector k next, or after some others."""
    for q in range(PATH):
        if veh.path[i, q] == k:
            return True
    return False


@kernel
def last_over_joints(
    net: NetworkArrays, veh: Vehicles, order: Order, queue_gap: float, lane: int, i: int
) -> int:  # fmt: skip
    """Who leaves no room for i on an empty lane: the last on a joint out of it, with its rear there, or
    on the lane beyond, too near for i; where i goes on first. -1: nobody."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    other = -1
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if not net.connectors.free[k]:
            continue
        on = n_road_lanes + k
        j = order.over[on]
        to = net.connectors.to_lane[k]
        if order.start[on] < order.start[on + 1]:
            j = order.slot[order.start[on + 1] - 1]
        elif j < 0 and order.start[to] < order.start[to + 1]:
            last = order.slot[order.start[to + 1] - 1]
            room = net.lanes.length[lane] + net.lanes.length[on] + veh.s[last] - veh.length[last]
            if room < veh.length[i] + queue_gap:
                j = last
        if j < 0 or j == i:
            continue
        if in_path(veh, i, k):
            return int(j)
        other = j
    return int(other)


@kernel
def last_towards(
    net: NetworkArrays, veh: Vehicles, order: Order, queue_gap: float, lane: int, i: int
) -> int:  # fmt: skip
    """The last vehicle on a lane, with its rear there, on a joint behind it, or on its way there by a
    grant; -1. Not i."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    if order.start[lane] < order.start[lane + 1]:
        j = order.slot[order.start[lane + 1] - 1]
        if j != i:
            return int(j)
    if order.over[lane] >= 0 and order.over[lane] != i:
        return int(order.over[lane])
    j = last_over_joints(net, veh, order, queue_gap, lane, i)
    if j >= 0:
        return j
    for x in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        k = net.lanes.in_connector[x]
        on = n_road_lanes + k
        if order.start[on] < order.start[on + 1]:
            j = order.slot[order.start[on + 1] - 1]
            if j != i:
                return int(j)
        back = net.connectors.from_lane[k]
        for p in range(order.start[back], order.start[back + 1]):
            j = order.slot[p]
            if veh.granted[j] == 0:
                break
            if j != i and veh.path[j, 0] == k:
                return int(j)
    return -1


@kernel
def beside(net: NetworkArrays, veh: Vehicles, order: Order, i: int) -> int:
    """Who bars the change of lane that i must make: ahead of it there, then behind; -1 nobody."""
    lane = veh.lane[i]
    if lane >= net.lanes.out_start.shape[0] - 1 or veh.wanted[i] == lane:
        return -1
    target = lane + 1 if veh.wanted[i] > lane else lane - 1
    if net.lanes.road[target] != net.lanes.road[lane]:
        return -1
    s = place_beside(net, lane, target, veh.s[i])
    place = place_behind(veh, order, target, s)
    if place > order.start[target]:
        j = order.slot[place - 1]
        if veh.s[j] - veh.length[j] < s + CLOSE:
            return int(j)
    elif order.over[target] >= 0 and order.over_rear[target] < s + CLOSE:
        return int(order.over[target])
    if place < order.start[target + 1]:
        j = order.slot[place]
        if veh.s[j] > s - veh.length[i] - CLOSE:
            return int(j)
    return -1


@kernel
def user_of_zone(net: NetworkArrays, veh: Vehicles, grants: Grants, i: int) -> int:
    """Who is the last to use a conflict zone of the connector that i is on, or enters next; -1."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    k = veh.lane[i] - n_road_lanes
    at = veh.s[i]
    if k < 0:
        k = veh.path[i, 0]
        at = -inf
    if k < 0:
        return -1
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        o = net.conflicts.other[c]
        if net.conflicts.here_in[c] > at and grants.tail[o] < net.conflicts.there_out[c]:
            j = grants.tail_slot[o]
            if j >= 0 and j != i:
                return int(j)
    return -1


@kernel
def awaited(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, stop_offset: float,
    queue_gap: float, slot_of: NDArray[np.int32], i: int,
) -> int:  # fmt: skip
    """Slot of whom i waits for; -1 where it does not stand, or waits for nobody, and ELSEWHERE less the id of
    who has none here: it left the road, or another process steps it."""
    if not stands(veh, i):
        return -1
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    if lacks_room(veh, i):
        lane = -1
        if veh.lane[i] >= n_road_lanes and waits_on(veh, grants, i, veh.lane[i] - n_road_lanes):
            lane = net.connectors.to_lane[veh.lane[i] - n_road_lanes]
        elif veh.path[i, 0] < 0:
            return -1
        elif veh.lane[i] < n_road_lanes:
            line = veh.line[i]
            n, _ = chain_length(net, veh, i, stop_offset)
            j = who_stands_on_way(net, veh, order, grants, i, line, n, queue_gap, stop_offset)
            if j < 0:
                j = last_before_room(
                    net, veh, order, grants.on_ring, grants.ring_entry, i, n, queue_gap
                )
            if j >= 0:
                return int(j)
            lane = full_exit(net, veh, order, i, stop_offset)
        else:
            lane = net.connectors.to_lane[veh.path[i, 0]]
        return last_towards(net, veh, order, queue_gap, lane, i) if lane >= 0 else -1
    reason = veh.reason[i]
    known = reason in (LEADER, CONFLICT, YIELDS, LANE_CHANGE, ONCOMING, PASSED, AT_STOP)
    number = veh.blocker[i]
    if known and number >= 0:
        j = slot_of[number] if number < slot_of.shape[0] else -1
        if j >= 0 and veh.lane[j] >= 0 and veh.id[j] == number:
            return int(j) if j != i else -1
        return int(ELSEWHERE - number)
    if reason == CONFLICT:
        return user_of_zone(net, veh, grants, i)
    if reason == LANE_CHANGE:
        return beside(net, veh, order, i)
    return -1


@kernel
def walk_on(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, stop_offset: float,
    queue_gap: float, slot_of: NDArray[np.int32], i: int, look: int, walk: int, waits: NDArray[np.int32],
    seen: NDArray[np.int64], leads: NDArray[np.int64],
) -> int:  # fmt: skip
    """Go from i on along whom each waits for, writing `waits`; a member of a cycle met first by this
    walk, else -1. Writes leads[walk]: the id of the first on the way that is not this process's own; -1
    where there is none. walk: 1 or more, another for each walk of a look."""
    mark = look * LOOK + walk
    while i >= 0 and seen[i] < look * LOOK:
        seen[i] = mark
        waits[i] = awaited(net, veh, order, grants, stop_offset, queue_gap, slot_of, i)
        i = waits[i]
    leads[walk] = -1
    if i < 0:
        if i <= ELSEWHERE:
            leads[walk] = ELSEWHERE - i
        return -1
    if seen[i] == mark:
        return i
    earlier = seen[i] - look * LOOK
    leads[walk] = leads[earlier] if earlier > 0 else np.int64(veh.id[i])
    return -1


@kernel
def find_cycles(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, stop_offset: float,
    queue_gap: float, slot_of: NDArray[np.int32], stepped: NDArray[np.bool_], first: int, last: int, look: int,
    waits: NDArray[np.int32], seen: NDArray[np.int64], leads: NDArray[np.int64], out: NDArray[np.int32],
    left: NDArray[np.int64], count: NDArray[np.int64],
) -> None:  # fmt: skip
    """Cycles to which those wait who are first on the road lanes first .. last - 1 and on connectors out of
    these, of lanes that are stepped here.

    Writes to out a member of each cycle, to left the ids of others to whom walks lead, and in waits whom
    each of those that were come by waits for; to count how many cycles and ids. look: a number greater than
    at all calls before. waits, seen: one entry for each slot. leads: n_lanes + 1. out, left: n_lanes.
    count: 2.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    found = gone = 0
    for lane in range(first, last):
        for x in range(-1, net.lanes.out_start[lane + 1] - net.lanes.out_start[lane]):
            on = lane if x < 0 else n_road_lanes + net.lanes.out_start[lane] + x
            if order.start[on] == order.start[on + 1] or not stepped[on]:
                continue
            i = walk_on(
                net, veh, order, grants, stop_offset, queue_gap, slot_of, order.slot[order.start[on]], look,
                on + 1, waits, seen, leads,
            )  # fmt: skip
            if i >= 0:
                out[found] = i
                found += 1
            elif leads[on + 1] >= 0:
                left[gone] = leads[on + 1]
                gone += 1
    count[0], count[1] = found, gone


@kernel
def go_on_from(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, stop_offset: float,
    queue_gap: float, slot_of: NDArray[np.int32], slots: NDArray[np.int32], look: int, walk: int,
    waits: NDArray[np.int32], seen: NDArray[np.int64], leads: NDArray[np.int64], out: NDArray[np.int32],
) -> int:  # fmt: skip
    """Cycles to which those in some slots wait that no walk of this look has found. walk: the number of the
    walk from the first of them. Writes as `find_cycles`; out: as long as slots."""
    found = 0
    for x in range(slots.shape[0]):
        i = walk_on(
            net, veh, order, grants, stop_offset, queue_gap, slot_of, slots[x], look, walk + x, waits, seen,
            leads,
        )  # fmt: skip
        if i >= 0:
            out[found] = i
            found += 1
    return found


@kernel
def may_go_before(
    net: NetworkArrays, lane: int, way: int, other_lane: int, other_way: int, other_s: float
) -> bool:
    """Whether one may go before another whose way conflicts with its own: it has not reached the zone.

    lane, way: where each stands, and the connector that it takes next; s: m.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    k = lane - n_road_lanes if lane >= n_road_lanes else way
    o = other_lane - n_road_lanes if other_lane >= n_road_lanes else other_way
    if k < 0 or o < 0:
        return False
    reached = other_s if other_lane >= n_road_lanes else -inf
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.other[c] == o:
            return bool(reached <= net.conflicts.there_in[c])
    return False


@kernel
def needs_behind(veh: Vehicles, j: int, kept: float) -> float:
    """Metres that j needs to a rear ahead of it that comes to stand there: kept, and what it brakes on."""
    v = veh.speed[j]
    return kept if v < 0.1 else braking_gap(v, 0.0, COMES_ON, REACTS, kept)


@kernel
def has_place_beside(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, other: int, lane: int, kept: float
) -> bool:
    """Whether i fits on a neighbouring lane where it is, kept m from all but `other`, who goes, and who
    drives up behind it there, or is inside on its way to that lane, can brake for it."""
    s = place_beside(net, veh.lane[i], lane, veh.s[i])
    rear = s - veh.length[i]
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if j == other or j == i:
            continue
        ahead = veh.s[j] - veh.length[j] - s
        if ahead < kept and rear - veh.s[j] < needs_behind(veh, j, kept):
            return False
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for c in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        on = n_road_lanes + net.lanes.in_connector[c]
        if order.start[on] < order.start[on + 1]:
            j = order.slot[order.start[on]]
            behind = net.lanes.length[on] - veh.s[j] + rear
            if veh.speed[j] >= 0.1 and behind < needs_behind(veh, j, kept):
                return False
    j = order.over[lane]
    return j < 0 or j == other or order.over_rear[lane] >= s + kept


@kernel
def change_places(net: NetworkArrays, veh: Vehicles, order: Order, i: int, j: int) -> bool:
    """Let i and j, which stand beside each other and each want the other's lane, go there in the next
    frame, or one of them where only that finds a place; whether it could be done. Who holds a grant
    stays on its lane. -1: nobody, nothing is done."""
    if i < 0 or j < 0 or abs(veh.lane[i] - veh.lane[j]) != 1:
        return False
    if veh.granted[i] > 0 or veh.granted[j] > 0:
        return False
    a, b = veh.lane[i], veh.lane[j]
    if net.lanes.road[a] < 0 or net.lanes.road[a] != net.lanes.road[b]:
        return False
    if (veh.wanted[i] - a) * (b - a) <= 0 or (veh.wanted[j] - b) * (a - b) <= 0:
        return False
    if has_place_beside(net, veh, order, i, j, b, SQUEEZED) and has_place_beside(
        net, veh, order, j, i, a, SQUEEZED
    ):
        veh.change_to[i] = b
        veh.change_to[j] = a
    elif has_place_beside(net, veh, order, i, -1, b, ALONE):
        veh.change_to[i] = b
    elif has_place_beside(net, veh, order, j, -1, a, ALONE):
        veh.change_to[j] = a
    else:
        return False
    return True
