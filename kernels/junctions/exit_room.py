"""Is there room beyond: the second question before a grant, and how far a grant must lead.

A grant covers a *chain* of connectors up to the first lane that can hold the vehicle. Room is what
is free on that lane once all on it have closed up, less what is promised to others. Source:
right-of-way.md sections 1 and 2.
"""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.obstacles import any_bodies, room_to_body
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import NEVER, PATH, Grants, Order, Vehicles
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.junctions.grant_holders import must_change, swap_room
from rushhour.kernels.junctions.queue_ends import (
    QUEUE_OVERHANG,
    clear_end,
    queue_end,
    taken,
)
from rushhour.kernels.junctions.ring_exits import entry_within, reserved_behind

BESIDE = 10.0  # m along a connector within which a rear may be in the way of those who take another
APART = 0.9  # of a connector, where it is clear of others out of its lane at the latest
STARVES = (
    60.0  # s more than those on a ring by which one has stood before it, and goes in before them
)
OVERHANG = 1.0  # m of a vehicle that may stay behind where no lane near by holds it
MOST_LINES = 4  # over which a grant leads at most where the vehicle nearly fits between them


@kernel
def holds(
    net: NetworkArrays, k: int, room: float, length: float, stop_offset: float
) -> bool:  # fmt: skip
    """Whether so many metres of lane behind connector k hold somebody of a length: with its rear on
    the connector, where nobody crosses."""
    rest = length + stop_offset - room
    return rest <= stop_offset or rest <= clear_end(net, k)


@kernel
def chain_length(
    net: NetworkArrays, veh: Vehicles, i: int, stop_offset: float
) -> tuple[int, bool]:  # fmt: skip
    """Entries of path that candidate i must be granted together: up to a lane that can hold it; and
    whether none near by can, so that they lead to the first that nearly does, else the first of all.

    Connectors that need no grant and the lanes they join count as one stretch of road.
    """
    need = veh.length[i] + stop_offset
    q, nearly = veh.line[i], 0
    for lines in range(PATH):
        if lines >= MOST_LINES and nearly > 0:
            break
        k = veh.path[i, q]
        if k < 0:
            return q, False
        length = net.lanes.length[net.connectors.to_lane[k]]
        if holds(net, k, length, veh.length[i], stop_offset):
            return q + 1, False
        if nearly == 0 and need - length <= OVERHANG:
            nearly = q + 1
        r = q + 1
        while length < need and r < PATH and veh.path[i, r] >= 0:
            kr = veh.path[i, r]
            if not net.connectors.free[kr]:
                break
            n_road_lanes = net.lanes.out_start.shape[0] - 1
            length += net.lanes.length[n_road_lanes + kr]
            length += net.lanes.length[net.connectors.to_lane[kr]]
            r += 1
        if length >= need:
            return q + 1, False
        if r >= PATH:
            break
        if veh.path[i, r] < 0:
            return (nearly, True) if nearly > 0 else (q + 1, False)
        q = r
    return (nearly if nearly > 0 else veh.line[i] + 1), True


@kernel
def all_take(veh: Vehicles, order: Order, lane: int, k: int) -> bool:
    """Whether everybody on a lane will leave it by connector k, or has a grant to leave it."""
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        if veh.path[j, 0] != k and not veh.had_grant[j]:
            return False
    return True


@kernel
def freed(
    net: NetworkArrays, veh: Vehicles, order: Order, lane: int, queue_gap: float
) -> float:  # fmt: skip
    """Metres of a lane that those in front will free: they go on over joints, with room beyond."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    total = 0.0
    promised = 0.0  # of the room beyond the last joint
    last = -1
    for p in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[p]
        k = veh.path[j, 0]
        if k < 0 or not net.connectors.free[k] or stands_for_long(veh, j):
            break
        promised = promised if k == last else 0.0
        last = k
        _, closed, _, held = queue_end(net, veh, order, net.connectors.to_lane[k], queue_gap)
        closed -= taken(veh, order, n_road_lanes + k, queue_gap)
        promised += veh.length[j] + queue_gap
        if held or closed < promised:
            break
        total += veh.length[j] + queue_gap
    return total


@kernel
def before_body(
    veh: Vehicles, order: Order, grants: Grants, lane: int, queue_gap: float
) -> float:  # fmt: skip
    """Metres from the start of a lane to the first body that stands in it, or to the end of the queue
    behind that; inf if none does."""
    room = room_to_body(grants.obstacles, lane)
    if room == inf:
        return inf
    free = room - queue_gap
    for p in range(order.start[lane + 1] - 1, order.start[lane] - 1, -1):
        j = order.slot[p]
        if veh.s[j] > room or veh.around[j] > 0:
            break
        free -= veh.length[j] + queue_gap
    return free


@kernel
def barred_beside(
    net: NetworkArrays, veh: Vehicles, order: Order, lane: int, k: int, queue_gap: float
) -> bool:
    """Whether somebody on another connector out of a lane than joint k stands there with its rear, or
    will, as the lane beyond does not take all on it: nobody who takes k gets past it."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for o in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        on = n_road_lanes + o
        if o == k:
            continue
        j = order.over[on]
        if j >= 0 and not veh.had_grant[j] and veh.speed[j] < 0.5:
            if order.over_rear[on] < min(BESIDE, APART * net.lanes.length[on]):
                return True
        if order.start[on] == order.start[on + 1]:
            continue
        _, closed, _, held = queue_end(net, veh, order, net.connectors.to_lane[o], queue_gap)
        closed -= taken(veh, order, on, queue_gap)
        j = order.slot[order.start[on + 1] - 1]
        rear = veh.s[j] - veh.length[j]
        if not held:
            rear = max(rear, net.lanes.length[on] + closed + queue_gap)
        if (held or closed < 0.0) and rear < BESIDE:
            return True
    return False


@kernel
def ends_on(veh: Vehicles, grants: Grants, i: int, lane: int, roads: int) -> bool:
    """Whether i's trip ends so many roads after its leg, on a lane that nobody else was granted."""
    if veh.leg[i] < 0 or grants.reserved[lane] > 0.0:
        return False
    return bool(veh.leg[i] + roads == veh.route_end[i] - 1)


@kernel(forceinline=True)
def room_needed(
    veh: Vehicles, grants: Grants, i: int, n: int, lane: int, dt: float
) -> float:  # fmt: skip
    """Metres that i asks of a lane, the exit beyond the first n connectors of its path: for itself, and for
    those who go before it."""
    need = grants.reserved[lane] + veh.length[i]
    if veh.granted[i] > 0 or n == 0:
        return need
    # Heads that ask later in this frame may stand for longer. Whoever stands for longest counts none
    # of the others: nobody would ever go into room for one while each counted all.
    # Who is on a roundabout goes before all who want to enter it, but for who has stood for much longer.
    eldest = grants.eldest_since[lane]
    enters = grants.on_ring[lane] and entry_within(veh, grants.ring_entry, i, n) >= 0
    if enters and veh.arrived[i] >= 0:
        enters = (min(eldest, grants.wished_since[lane]) - veh.arrived[i]) * dt < STARVES
    waits = eldest < NEVER and (veh.arrived[i] < 0 or eldest < veh.arrived[i] or enters)
    first = 0 <= veh.arrived[i] <= grants.wished_since[lane] and not enters
    need += max(0.0 if first else grants.wished[lane], grants.eldest[lane] if waits else 0.0)
    return need + claimed_before(veh, grants, i, lane)


@kernel(forceinline=True)
def claimed_before(veh: Vehicles, grants: Grants, i: int, lane: int) -> float:
    """Metres of a lane for those beside it who must change to it, and have stood for longer than i."""
    if veh.arrived[i] < 0 or grants.claimed_since[lane] <= veh.arrived[i]:
        return float(grants.claimed[lane])
    return 0.0


@kernel
def stands_beside(
    net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, lane: int
) -> bool:  # fmt: skip
    """Whether somebody who must change to a lane has stood beside it for longer than i, and the lane takes
    one of both only. It needs the place itself: with room beyond a joint, others would roll past it."""
    claimed = claimed_before(veh, grants, i, lane)
    return claimed > 0.0 and net.lanes.length[lane] < claimed + veh.length[i]


@kernel
def awaited_inside(net: NetworkArrays, grants: Grants, i: int, lane: int) -> bool:
    """Whether somebody but i waits inside an intersection for its way into a lane: a rear that stays
    behind on the way of another stands in its own."""
    for x in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        j = grants.waiter[net.lanes.in_connector[x]]
        if j >= 0 and j != i:
            return True
    return False


@kernel(forceinline=True)
def behind_rear(net: NetworkArrays, order: Order, on: int, queue_gap: float) -> float:
    """Metres of a lane or connector beyond the rear that hangs over its end, with the gap to that."""
    return net.lanes.length[on] - order.over_rear[on] + queue_gap


@kernel(forceinline=True)
def room_on_exit(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, lane: int,
    entered: int, n: int,
) -> tuple[float, float, bool, bool]:  # fmt: skip
    """`queue_end` of a lane, the exit beyond the first n connectors of i's path: who will have to change
    there stands so far from the line, and all behind it. entered: see `must_change`."""
    kept = grants.kept[lane]
    if must_change(veh, i, entered, n):
        kept = max(kept, swap_room(net, lane, veh.length[i], rules.queue_gap))
    now, closed, vacant, held = queue_end(net, veh, order, lane, rules.queue_gap)
    most = net.lanes.length[lane] - kept
    return min(now, most), min(closed, most), vacant, held


@kernel(forceinline=True)
def room_at_line(
    net: NetworkArrays, veh: Vehicles, order: Order, lane: int, closed: float, queue_gap: float
) -> float:  # fmt: skip
    """Metres of a lane before a line, of which `closed` are free once all have closed up, with what those
    in front will free, less the end of it behind a rear that stands there."""
    closed += freed(net, veh, order, lane, queue_gap)
    if order.over[lane] >= 0 and veh.speed[order.over[lane]] < 0.1:
        closed -= behind_rear(net, order, lane, queue_gap)
    return closed


@kernel(forceinline=True)
def room_over_joint(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, k: int, asks: bool,
    queue_gap: float,
) -> tuple[float, float, float, bool, bool]:  # fmt: skip
    """Metres on joint k and the lane behind it that will be free, below 0 where that is overfull; those
    free now on the joint, and behind it if it is empty; whether both are empty; and whether somebody
    is held up there. asks: i has no grant yet."""
    on, to = net.lanes.out_start.shape[0] - 1 + k, net.connectors.to_lane[k]
    now_on, more, empty_on, held = queue_end(net, veh, order, on, queue_gap)
    now_to, more_to, empty_to, held_to = queue_end(net, veh, order, to, queue_gap)
    j = order.over[on]
    if j >= 0 and not veh.had_grant[j] and veh.lane[j] != to:
        # It has left the way to the side, its rear still here: nobody gets past it.
        more -= behind_rear(net, order, on, queue_gap)
        held = True
    elif not held:
        more += more_to
    if asks:
        more -= claimed_before(veh, grants, i, to)
    return more, now_on, now_to if empty_on else 0.0, empty_on and empty_to, held or held_to


@kernel(forceinline=True)
def parts_before_joint(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, lane: int, k: int,
    queue_gap: float,
) -> tuple[bool, float]:  # fmt: skip
    """Whether the room beyond joint k is none to those on the lane before it, or on their way there, as
    they may turn off elsewhere and wait for that; and metres behind a rear that they do not get past."""
    mixed = grants.reserved[lane] > 0.0 and grants.onward[lane] != k
    mixed = mixed or not all_take(veh, order, lane, k)
    j = order.over[lane]
    on, to = net.lanes.out_start.shape[0] - 1 + k, net.connectors.to_lane[k]
    if j >= 0 and veh.lane[j] != on and veh.lane[j] != to and not veh.had_grant[j]:
        # It waits on another joint, its rear still here: nobody gets past it.
        return True, behind_rear(net, order, lane, queue_gap)
    if not mixed and barred_beside(net, veh, order, lane, k, queue_gap):
        return True, behind_rear(net, order, lane, queue_gap) if j >= 0 else 0.0
    return mixed, 0.0


@kernel(forceinline=True)
def room_through_joints(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, q: int, lane: int,
    asks: bool, need: float, now: float, closed: float, vacant: bool, held: bool, queue_gap: float,
) -> tuple[float, float, int]:  # fmt: skip
    """`room_on_exit` of a lane, now and closed, with that of those to which joints lead on from it, as far
    as i, whose path goes on with path[q], asks for more; and the lane at which that ends.

    What lies beyond joints is room as well, or takes some where it is overfull. now: inf where i's trip
    ends on an empty lane. asks: i has no grant yet.
    """
    entered = 1 if veh.lane[i] >= net.lanes.out_start.shape[0] - 1 else 0
    while not held and (now < need or (vacant and now < need + queue_gap)):
        k = veh.path[i, q] if q < PATH else -1
        out = net.lanes.out_start[lane]
        if k < 0 and out < net.lanes.out_start[lane + 1]:
            k = out
        if k < 0 or not net.connectors.free[k]:
            return now, room_at_line(net, veh, order, lane, closed, queue_gap), lane
        more, now_on, now_to, empty, held = room_over_joint(
            net, veh, order, grants, i, k, asks, queue_gap
        )
        mixed, lost = parts_before_joint(net, veh, order, grants, lane, k, queue_gap)
        closed -= lost
        if mixed or q >= PATH or veh.path[i, q] != k:
            if vacant:
                now += min(0.0, now_on)
            return now, closed + min(0.0, more), lane
        if vacant:
            now += now_on
            now += now_to
        vacant = vacant and empty
        closed += more
        lane = net.connectors.to_lane[k]
        if more >= 0.0 and closed >= need and order.over[lane] < 0:
            break
        q += 1
        if vacant and ends_on(veh, grants, i, lane, entered + q):
            return inf, closed, lane
    return now, closed, lane


@kernel
def has_room(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, n: int,
    dt: float,
) -> bool:  # fmt: skip
    """Whether the exit beyond the first n connectors of i's path takes the whole vehicle; n = 0:
    that beyond the connector which it is on.

    Counts those already granted to that exit; what can close up counts as room. Who has no grant yet
    comes after those who stand before the exit, or for longer beside it to change to it. A last
    road that is shorter than the vehicle needs to be empty only: the vehicle leaves there.
    """
    gap, length = rules.queue_gap, veh.length[i]
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    last = veh.path[i, n - 1] if n > 0 else veh.lane[i] - n_road_lanes
    lane = net.connectors.to_lane[last]
    reserved = grants.reserved[lane]
    if (
        any_bodies(grants.obstacles)
        and before_body(veh, order, grants, lane, gap) < reserved + length
    ):
        return False
    entered = 1 if veh.lane[i] >= n_road_lanes else 0  # its leg counts from the road before
    need = room_needed(veh, grants, i, n, lane, dt)
    if reserved > 0.0 and n > 0:
        need -= min(reserved, reserved_behind(net, veh, order, grants.on_ring, i, lane, gap))
    now, closed, vacant, held = room_on_exit(net, veh, order, grants, rules, i, lane, entered, n)
    if vacant and ends_on(veh, grants, i, lane, entered + n):
        return True
    if vacant and n > 0:
        if reserved <= 0.0 and holds(net, last, now, length, rules.stop_offset):
            need -= max(0.0, length - now)  # what stays behind
        if now < need <= length and order.over[lane] < 0:
            m, alone = chain_length(net, veh, i, rules.stop_offset)
            if alone and m == n:
                return True
    asks = veh.granted[i] == 0 and n > 0
    if asks and max(now, closed) < need and stands_beside(net, veh, grants, i, lane):
        return False
    now, closed, end = room_through_joints(
        net, veh, order, grants, i, n, lane, asks, need, now, closed, vacant, held, gap
    )
    if now >= need or closed >= need:
        return True
    if grants.on_ring[end] and grants.claimed[end] > 0.0:
        return False  # who stands beside it and must change to it, to leave, would stand for ever
    if n == 0 or closed < need - min(QUEUE_OVERHANG, clear_end(net, last)):
        return False
    return not awaited_inside(net, grants, i, lane)
