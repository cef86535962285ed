"""The grant phase: who may enter an intersection.

A vehicle enters a connector only with a grant. Grants are given once a frame by each *grant group*
(intersections tied by links shorter than a vehicle), serially and in a fixed order within the
group; groups are processed side by side, as no two write the same vehicle, tail or reservation.
A grant covers a *chain* of connectors up to the first lane that can hold the vehicle, so nobody
waits inside for something outside. Source: right-of-way.md sections 1 and 2.
"""

from math import inf

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.car_following import stopping_distance, travel_time
from rushhour.kernels.curve_speed import bend_speed
from rushhour.kernels.gaps import chain_length, gap_blocker, has_room, is_clear
from rushhour.kernels.jit import kernel
from rushhour.kernels.network import (
    ALL_WAY_STOP,
    GREEN,
    GROUP_LENGTH,
    LEFT,
    RED,
    SIGNAL,
    STOP_THEN_GO,
    U_TURN,
    YELLOW,
    NetworkArrays,
)
from rushhour.kernels.random import uniform
from rushhour.kernels.rules import POLICY_FAIR, POLICY_LITERAL, Rules
from rushhour.kernels.vehicles import (
    CONFLICT,
    EXIT_FULL,
    FREE,
    PATH,
    RED_LIGHT,
    STOP_SIGN,
    STREAM_REACTION,
    YIELDS,
    Grants,
    Order,
    Types,
    Vehicles,
)

LINE_ZONE = 2.0  # m before the stop line within which a standing vehicle has arrived
JOINTS = 4  # joints that need no grant, between a vehicle and the line it asks at
CALM = 30.0  # s at the line before a driver accepts smaller gaps
IMPATIENT = 180.0  # s, after which only the smallest counts
LEAST_GAP = 0.3  # share of the critical gap
LOST_GREEN = 15.0  # s before a full exit in the green, after which the next place there is kept
PARTS = 4  # of the connectors, cleared side by side
LEFT_AT_YELLOW = 4.0  # m; a left turn that waits this close may go at yellow


@kernel
def note_tail(grants: Grants, veh: Vehicles, k: int, rear: float, i: int) -> None:
    """Take i for the last holder of connector k if its rear is the last one so far."""
    if rear < grants.tail[k] or (
        rear == grants.tail[k] and veh.id[i] < veh.id[grants.tail_slot[k]]
    ):
        grants.tail[k] = rear
        grants.tail_slot[k] = i


@kernel
def to_path(net: NetworkArrays, veh: Vehicles, i: int) -> float:
    """Metres from i's front to the start of path[0]."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[i]
    d = net.lanes.length[lane] - veh.s[i]
    if lane >= n_road_lanes:
        d += net.lanes.length[net.connectors.to_lane[lane - n_road_lanes]]
    return d


@kernel
def reserve(veh: Vehicles, grants: Grants, rules: Rules, i: int, lane: int, n: int) -> None:
    """Keep room for i on a lane, which it will leave by path[n]."""
    k = veh.path[i, n] if n < PATH else -1
    if grants.reserved[lane] > 0.0 and grants.onward[lane] != k:
        k = -1
    grants.onward[lane] = k
    grants.reserved[lane] += veh.length[i] + rules.queue_gap


@kernel
def note_holder(net: NetworkArrays, veh: Vehicles, grants: Grants, rules: Rules, i: int) -> None:
    """Note vehicle i on every connector it holds, and the room it will take on its exit."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[i]
    rear = veh.s[i] - veh.length[i]
    base = net.lanes.length[lane]
    exit_lane, beyond = -1, 0
    if lane >= n_road_lanes:
        k = lane - n_road_lanes
        exit_lane = net.connectors.to_lane[k]
        base += net.lanes.length[exit_lane]
        if net.connectors.free[k]:
            exit_lane = -1
        else:
            note_tail(grants, veh, k, rear, i)
    for q in range(veh.granted[i]):
        k = veh.path[i, q]
        to = net.connectors.to_lane[k]
        if not net.connectors.free[k]:
            note_tail(grants, veh, k, rear - base, i)
            exit_lane, beyond = to, q + 1
        base += net.lanes.length[n_road_lanes + k] + net.lanes.length[to]
    if exit_lane >= 0:
        reserve(veh, grants, rules, i, exit_lane, beyond)


@kernel
def worst_light(net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, n: int) -> int:
    """RED if any of the first n connectors of i's path shows it, else the first YELLOW or
    STOP_THEN_GO; else 0."""
    worst = 0
    for q in range(n):
        k = veh.path[i, q]
        if net.connectors.signal[k] >= 0:
            light = grants.light[k]
            if light == RED:
                return RED
            if worst == 0 and (light == YELLOW or light == STOP_THEN_GO):
                worst = int(light)
    return worst


@kernel
def turns_left(net: NetworkArrays, k: int) -> bool:
    """Whether a movement crosses the oncoming traffic."""
    return net.connectors.turn[k] == LEFT or net.connectors.turn[k] == U_TURN


@kernel
def keeps_grant(
    net: NetworkArrays, veh: Vehicles, types: Types, grants: Grants, rules: Rules, i: int,
    line: int, d: float, dt: float,
) -> bool:  # fmt: skip
    """Whether a vehicle d m before its line still has green, or can no longer stop."""
    light = worst_light(net, veh, grants, i, veh.granted[i])
    if light != RED and light != YELLOW:
        return True
    v = veh.speed[i]
    lane = veh.lane[i]
    if net.lanes.length[lane] < GROUP_LENGTH and (v > 0.5 or light == YELLOW):
        return True  # it is between two lines that it may pass together, and others follow it
    if v < 0.5 and light == RED:
        return False
    if light == YELLOW and d < LEFT_AT_YELLOW and turns_left(net, veh.path[i, line]):
        return True
    return d <= stopping_distance(v, types.decel[veh.type[i]]) + v * dt + rules.stop_offset


@kernel
def has_lost_room(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, line: int, d: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether a holder that can still stop d m before its line finds no room beyond any more.

    Somebody ahead whose going on was counted on may have lost its green, or its way.
    """
    v = veh.speed[i]
    if d <= stopping_distance(v, types.decel[veh.type[i]]) + v * dt + rules.stop_offset:
        return False
    if grants.waived[veh.path[i, line]] >= frame:
        return False
    return not has_room(net, veh, order, grants, rules, i, veh.granted[i])


@kernel
def led_to_by_joint(net: NetworkArrays, lane: int) -> bool:
    """Whether the only way into a road lane is a connector that needs no grant."""
    at = net.lanes.in_start[lane]
    return (
        net.lanes.in_start[lane + 1] - at == 1 and net.connectors.free[net.lanes.in_connector[at]]
    )


@kernel
def give_back_later_lines(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, line: int, d: float, dt: float,
) -> None:  # fmt: skip
    """Shorten the grant of a vehicle d m before path[line] that covers a later line, not green now.

    Where it can stop before that line, and the lanes before it hold it, it waits there.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    v = veh.speed[i]
    room = stopping_distance(v, types.decel[veh.type[i]]) + v * dt + rules.stop_offset
    held = 0.0  # m of lanes since the line before, on which it could wait
    last = line + 1
    for q in range(line, veh.granted[i]):
        k = veh.path[i, q]
        if q > line and not net.connectors.free[k]:
            light = grants.light[k]
            closed = net.connectors.signal[k] >= 0 and (light == RED or light == YELLOW)
            if closed and d > room and held >= veh.length[i] + rules.stop_offset:
                if has_room(net, veh, order, grants, rules, i, last):
                    veh.granted[i] = last
                return
            held = 0.0
            last = q + 1
        length = net.lanes.length[net.connectors.to_lane[k]]
        held += length
        d += net.lanes.length[n_road_lanes + k] + length
        if net.connectors.free[k]:
            held += net.lanes.length[n_road_lanes + k]


HELD = 0  # has its grant
REVOKED = 1  # lost it, and so do all behind
NOT_YET = 2  # does not ask; nobody behind may
ASKS = 3


@kernel
def has_lost_green(veh: Vehicles, i: int, frame: int, dt: float) -> bool:
    """Whether i faced a full exit for so long that its green was lost to it."""
    if veh.full_since[i] < 0:
        return False
    stands = veh.arrived[i] >= 0 and (frame - veh.arrived[i]) * dt >= IMPATIENT
    return stands or (frame - veh.full_since[i]) * dt >= LOST_GREEN


@kernel(forceinline=True)
def review_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, line: int, d: float, head: bool, frame: int, dt: float,
) -> int:  # fmt: skip
    """HELD, REVOKED, NOT_YET or ASKS for a vehicle d m before the line of its path[line].

    head: nobody is between it and the line.
    """
    if veh.granted[i] > line:
        give_back_later_lines(net, veh, types, order, grants, rules, i, line, d, dt)
        if not keeps_grant(net, veh, types, grants, rules, i, line, d, dt):
            veh.refused[i] = RED_LIGHT
        elif has_lost_room(net, veh, types, order, grants, rules, i, line, d, frame, dt):
            veh.refused[i] = EXIT_FULL
        else:
            note_holder(net, veh, grants, rules, i)
            return HELD
        veh.granted[i] = 0
        return REVOKED
    v = veh.speed[i]
    if head and veh.arrived[i] < 0 and v < 0.1 and d <= LINE_ZONE + rules.stop_offset:
        veh.arrived[i] = frame
    k = veh.path[i, line]
    if k < 0 or net.connectors.free[k]:
        return NOT_YET
    b = types.decel[veh.type[i]]
    if d > stopping_distance(v, b) + v * (1.0 + dt) + LINE_ZONE + rules.stop_offset:
        return NOT_YET
    if net.connectors.must_stop[k] and (not head or veh.arrived[i] < 0):
        veh.refused[i] = STOP_SIGN
        return NOT_YET
    if net.connectors.signal[k] >= 0 and grants.light[k] == RED:
        veh.refused[i] = RED_LIGHT
        if not has_lost_green(veh, i, frame, dt):
            veh.full_since[i] = -1
        else:
            # Its exit was full in its last green: the room that comes is its own by now.
            veh.line[i] = line
            last = veh.path[i, chain_length(net, veh, i, rules.stop_offset) - 1]
            grants.wished[net.connectors.to_lane[last]] += veh.length[i] + rules.queue_gap
        return NOT_YET
    veh.line[i] = line
    return ASKS


@kernel(forceinline=True)
def review_lane(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    lane: int, frame: int, dt: float,
) -> int:  # fmt: skip
    """Note the holders before the line at the end of a lane; returns its candidate, or -1.

    Takes grants back at yellow and red where the vehicle can still stop, and from all behind it.
    The candidate is the first vehicle without a grant, when it is close enough to ask. Looks back
    through joints that need no grant (the lane before the line may be shorter than a car).
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    head, revoked, closed = True, False, False
    candidate = -1
    here, line, last = lane, 0, -1  # last: the joint into `lane`
    dist = 0.0
    fast = 1.2 * net.lanes.speed[lane]
    reach = fast * fast / 3.0 + 2.0 * fast + 10.0
    while True:
        on_connector = here >= n_road_lanes
        for p in range(order.start[here], order.start[here + 1]):
            i = order.slot[p]
            at = line - 1 if on_connector else line
            if at > 0 and veh.path[i, at - 1] != last:
                continue  # it goes elsewhere
            d = dist + net.lanes.length[here] - veh.s[i]
            if d > reach:
                break
            k = veh.path[i, at]
            if k >= 0 and net.connectors.free[k]:
                # It goes on by a joint: it is seen from the line that this leads to.
                head = False
                closed = closed or veh.granted[i] <= at
                continue
            if revoked or closed:
                # Somebody without a grant changed lane to before a holder: it is still one.
                if veh.granted[i] > at and revoked:
                    veh.granted[i] = 0
                    veh.refused[i] = RED_LIGHT
                elif veh.granted[i] > at:
                    note_holder(net, veh, grants, rules, i)
                continue
            what = review_vehicle(net, veh, types, order, grants, rules, i, at, d, head, frame, dt)
            head = False
            if what == REVOKED:
                revoked = True
            elif what == NOT_YET:
                closed = True
            elif what == ASKS:
                candidate = i
                closed = True
        dist += net.lanes.length[here]
        if on_connector:
            here = net.connectors.from_lane[here - n_road_lanes]
            continue
        if line >= JOINTS or dist > reach:
            break
        if not led_to_by_joint(net, here):
            break
        k = net.lanes.in_connector[net.lanes.in_start[here]]
        if line == 0:
            last = k
        line += 1
        here = n_road_lanes + k
    return candidate


@kernel
def waits_longer(veh: Vehicles, j: int, i: int) -> bool:
    """Whether j stood at its line before i did (ties by lane)."""
    if veh.arrived[j] < 0:
        return False
    if veh.arrived[i] < 0 or veh.arrived[j] < veh.arrived[i]:
        return True
    return veh.arrived[j] == veh.arrived[i] and veh.lane[j] < veh.lane[i]


@kernel
def goes_before(net: NetworkArrays, veh: Vehicles, all_way: bool, i: int, j: int) -> bool:
    """Order in which candidates are considered: arrival at an all-way stop, else rank.

    Before the rank come those who stand before a full exit, by how long they stand: each place there
    goes to one of them.
    """
    if all_way:
        if veh.arrived[i] != veh.arrived[j]:
            return veh.arrived[i] < veh.arrived[j]
    else:
        if (veh.full_since[i] >= 0) != (veh.full_since[j] >= 0):
            return veh.full_since[i] >= 0
        if veh.full_since[i] >= 0 and veh.arrived[i] != veh.arrived[j]:
            return waits_longer(veh, i, j)
        ri = net.connectors.rank[veh.path[i, veh.line[i]]]
        rj = net.connectors.rank[veh.path[j, veh.line[j]]]
        if ri != rj:
            return ri < rj
    return veh.lane[i] < veh.lane[j]


@kernel
def in_conflict(net: NetworkArrays, k: int, o: int) -> bool:
    """Whether two connectors conflict."""
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.other[c] == o:
            return True
    return False


@kernel
def my_turn(
    net: NetworkArrays, veh: Vehicles, grants: Grants, first: int, count: int, i: int, limit: int,
    literal: bool,
) -> bool:  # fmt: skip
    """Whether all who have waited longer, conflict and could go let i pass once more.

    literal: everybody who has waited longer goes first, whatever the movement.
    """
    k = veh.path[i, veh.line[i]]
    for x in range(first, first + count):
        j = grants.candidate[x]
        if j < 0 or j == i or veh.granted[j] > 0 or veh.refused[j] == EXIT_FULL:
            continue
        if not waits_longer(veh, j, i):
            continue
        if literal or (in_conflict(net, k, veh.path[j, veh.line[j]]) and veh.overtaken[j] >= limit):
            return False
    return True


@kernel
def count_overtaken(
    net: NetworkArrays, veh: Vehicles, grants: Grants, first: int, count: int, i: int
) -> None:
    """Count i's grant for those who have waited longer and conflict with it."""
    k = veh.path[i, veh.line[i]]
    for x in range(first, first + count):
        j = grants.candidate[x]
        if j < 0 or j == i or veh.granted[j] > 0 or veh.refused[j] == EXIT_FULL:
            continue
        if waits_longer(veh, j, i) and in_conflict(net, k, veh.path[j, veh.line[j]]):
            veh.overtaken[j] += 1


@kernel
def nobody_inside(net: NetworkArrays, grants: Grants, x: int) -> bool:
    """Whether no connector of an intersection is held."""
    inter = net.intersections
    for c in range(inter.connector_start[x], inter.connector_start[x + 1]):
        k = inter.connector[c]
        if grants.tail[k] < inf:
            return False
    return True


@kernel
def reaction_of(veh: Vehicles, rules: Rules, control: int, stop: bool, i: int, seed: int) -> float:
    """Seconds between a grant and the first movement of vehicle i."""
    if veh.speed[i] > 0.5:
        return 0.0
    if control == ALL_WAY_STOP:
        u = uniform(seed, veh.id[i], veh.arrived[i], STREAM_REACTION)
        return rules.stop_reaction * (1.0 + rules.reaction_spread * (2.0 * u - 1.0))
    if control == SIGNAL and veh.refused[i] == RED_LIGHT and not stop:
        return rules.green_reaction
    return 0.0


@kernel
def margin_of(rules: Rules, control: int, must_stop: bool) -> float:
    """Seconds wanted between two users of a conflict zone."""
    if control == SIGNAL:
        return rules.margin_signal
    if control == ALL_WAY_STOP:
        return rules.margin_all_way
    return rules.margin_stop if must_stop else rules.margin_yield


@kernel
def all_go_on(veh: Vehicles, order: Order, lane: int) -> bool:
    """Whether everybody on a lane has a grant that leads beyond it, and nobody stands in its end."""
    for p in range(order.start[lane], order.start[lane + 1]):
        if veh.granted[order.slot[p]] == 0:
            return False
    j = order.over[lane]
    return j < 0 or veh.granted[j] > 0 or veh.speed[j] >= 0.5


@kernel
def through(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, n: int
) -> int:  # fmt: skip
    """Entries of i's path up to the line after the n-th, if all between the two lines go on; else 0.

    The two lines must belong to one group: no lane between them is longer than couples two.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    q = n
    while True:
        lane = net.connectors.to_lane[veh.path[i, q - 1]]
        if q >= PATH or veh.path[i, q] < 0 or net.lanes.length[lane] >= GROUP_LENGTH:
            return 0
        if grants.reserved[lane] > 0.0 or not all_go_on(veh, order, lane):
            return 0
        k = veh.path[i, q]
        q += 1
        if not net.connectors.free[k]:
            return q
        if not all_go_on(veh, order, n_road_lanes + k):
            return 0


@kernel
def nobody_between(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, n: int
) -> bool:
    """Whether nobody will wait on the lanes between the first n connectors of candidate i's path.

    A long vehicle is granted several lines at once; a short one may stop between them.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for q in range(veh.line[i], n - 1):
        lane = net.connectors.to_lane[veh.path[i, q]]
        k = veh.path[i, q + 1]
        if grants.reserved[lane] > 0.0 or not all_go_on(veh, order, lane):
            return False
        if net.connectors.free[k] and not all_go_on(veh, order, n_road_lanes + k):
            return False
    return True


@kernel
def chain_with_room(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int,
    frame: int,
) -> int:  # fmt: skip
    """Entries of path to grant candidate i together, ending at a lane with room; minus if none.

    Where the first lane that could hold the vehicle has no room, but all on it go on, the chain is
    led through it: a platoon flows through a short lane between two lines as through none. Only
    lanes within the group count, so nobody else decides on them at the same time.
    """
    n = chain_length(net, veh, i, rules.stop_offset)
    least = n
    if grants.waived[veh.path[i, veh.line[i]]] >= frame:
        return n
    if not nobody_between(net, veh, order, grants, i, n):
        return -least
    while not has_room(net, veh, order, grants, rules, i, n):
        n = through(net, veh, order, grants, i, n)
        if n == 0:
            return -least
    return n


@kernel
def is_late(
    net: NetworkArrays, veh: Vehicles, types: Types, grants: Grants, i: int, n: int, d: float,
    reaction: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether a later line of a grant for n entries closes before i, d m before the first, is there."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    t = veh.type[i]
    line = veh.line[i]
    v_max = min(types.max_speed[t], net.lanes.speed[veh.lane[i]] * veh.factor[i])
    clock = frame * dt + reaction + travel_time(d, veh.speed[i], types.accel[t], v_max)
    for q in range(line, n):
        k = veh.path[i, q]
        if q > line and net.connectors.signal[k] >= 0 and clock > grants.closes[k]:
            return True
        lane = n_road_lanes + k
        inside = min(types.max_speed[t], net.lanes.speed[lane] * veh.factor[i])
        inside = min(inside, bend_speed(net.lanes, lane, 0.5 * net.lanes.length[lane]))
        clock += (net.lanes.length[lane] + net.lanes.length[net.connectors.to_lane[k]]) / inside
    return False


@kernel
def impatience(veh: Vehicles, i: int, frame: int, dt: float) -> float:
    """Share of its critical gap that a vehicle still wants after waiting at the line, <= 1."""
    if veh.arrived[i] < 0:
        return 1.0
    waited = (frame - veh.arrived[i]) * dt
    return max(LEAST_GAP, 1.0 - max(0.0, waited - CALM) / (IMPATIENT - CALM))


@kernel
def blocker_of(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, ahead: float, reaction: float, margin: float, patient: bool, share: float,
    all_way: bool,
) -> tuple[int, int]:  # fmt: skip
    """Reason and slot of who keeps candidate i from using n entries of its path; FREE, -1."""
    j = is_clear(net, veh, types, grants, rules, i, n, ahead, reaction, margin)
    if j >= 0:
        return CONFLICT, j
    if not all_way:
        j = gap_blocker(net, veh, types, order, grants, rules, i, n, patient, share)
        if j >= 0:
            return YIELDS, j
    return FREE, -1


@kernel
def further_chain(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, n: int
) -> int:
    """Entries of path up to the line after the n-th, if i could pass both at once; else 0."""
    m = through(net, veh, order, grants, i, n)
    if m == 0 or net.connectors.must_stop[veh.path[i, m - 1]]:
        return 0
    if worst_light(net, veh, grants, i, m) != 0:
        return 0
    return m if has_room(net, veh, order, grants, rules, i, m) else 0


@kernel(forceinline=True)
def try_grant(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    x: int, first: int, count: int, i: int, patient: bool, frame: int, dt: float, seed: int,
) -> bool:  # fmt: skip
    """Give i its grant if light, room, way, gap and turn allow; else note why not."""
    k = veh.path[i, veh.line[i]]
    control = net.intersections.control[x]
    stop = net.connectors.must_stop[k]
    all_way = control == ALL_WAY_STOP
    reaction = reaction_of(veh, rules, control, stop, i, seed)
    n = chain_with_room(net, veh, order, grants, rules, i, frame)
    room = n > 0
    if not room:
        n = -n
    ahead = to_path(net, veh, i)
    d = ahead
    for q in range(veh.line[i]):
        joint = veh.path[i, q]
        d += net.lanes.length[net.lanes.out_start.shape[0] - 1 + joint]
        d += net.lanes.length[net.connectors.to_lane[joint]]
    light = worst_light(net, veh, grants, i, n)
    if light == RED or (light == YELLOW and (d >= LEFT_AT_YELLOW or not turns_left(net, k))):
        veh.refused[i] = RED_LIGHT
        mine = grants.light[k] if net.connectors.signal[k] >= 0 else GREEN
        if mine == RED or mine == YELLOW:
            if not has_lost_green(veh, i, frame, dt):
                veh.full_since[i] = -1
        elif veh.full_since[i] < 0 and veh.speed[i] < 0.1:
            # A later line of the chain is red at its green: perhaps never both, so it counts as
            # a way on that is not to be had.
            veh.full_since[i] = frame
        return False
    late = n > veh.line[i] + 1 and is_late(net, veh, types, grants, i, n, d, reaction, frame, dt)
    if late and not (veh.arrived[i] >= 0 and (frame - veh.arrived[i]) * dt >= IMPATIENT):
        veh.refused[i] = RED_LIGHT
        return False
    if light == STOP_THEN_GO and veh.arrived[i] < 0:
        veh.refused[i] = STOP_SIGN
        return False
    if not room:
        veh.refused[i] = EXIT_FULL
        if veh.full_since[i] < 0 and veh.speed[i] < 0.1:
            veh.full_since[i] = frame
        if veh.full_since[i] >= 0:
            # Room that comes is kept for it.
            exit_lane = net.connectors.to_lane[veh.path[i, n - 1]]
            grants.wished[exit_lane] += veh.length[i] + rules.queue_gap
        return False
    veh.full_since[i] = -1
    # Through the next line as well if that can be had: then nobody waits between the two.
    share = impatience(veh, i, frame, dt)
    margin = margin_of(rules, control, stop)
    m = further_chain(net, veh, order, grants, rules, i, n)
    reason, j = FREE, -1
    for turn in range(2):
        entries = m if turn == 0 else n
        if entries == 0:
            continue
        reason, j = blocker_of(
            net, veh, types, order, grants, rules, i, entries, ahead, reaction, margin, patient,
            share, all_way,
        )  # fmt: skip
        if j < 0:
            n = entries
            break
    if j >= 0:
        veh.refused[i] = reason
        veh.blocker[i] = veh.id[j]
        return False
    if all_way:
        literal = rules.all_way_policy == POLICY_LITERAL
        limit = rules.overtake_limit if rules.all_way_policy == POLICY_FAIR else 0
        if not my_turn(net, veh, grants, first, count, i, limit, literal):
            veh.refused[i] = STOP_SIGN
            return False
        if literal and not nobody_inside(net, grants, x):
            veh.refused[i] = CONFLICT
            return False
    elif not patient and not my_turn(
        net, veh, grants, first, count, i, rules.overtake_limit, False
    ):
        veh.refused[i] = YIELDS
        return False
    if all_way or not patient:
        count_overtaken(net, veh, grants, first, count, i)
    veh.granted[i] = n
    veh.go[i] = frame + int(np.ceil(reaction / dt - 1e-9))
    veh.overtaken[i] = 0
    veh.refused[i] = 0
    return True


@kernel(forceinline=True)
def grant_intersection(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    x: int, serial: int, frame: int, dt: float, seed: int,
) -> int:  # fmt: skip
    """Give grants at intersection x; returns how many grants its group has given (serial + ...).

    First everybody in the order of rank or arrival. Then, among those who stand and yield only to
    heads that were refused themselves, the one who has waited longest (a round of mutual yields
    would never end otherwise).
    """
    inter = net.intersections
    first, count = inter.lane_start[x], inter.lane_start[x + 1] - inter.lane_start[x]
    all_way = inter.control[x] == ALL_WAY_STOP
    # Insertion sort of the candidates; lanes without one fall out.
    n = 0
    for y in range(count):
        i = grants.candidate[first + y]
        if i < 0:
            continue
        z = n
        while z > 0 and goes_before(net, veh, all_way, i, grants.candidate[first + z - 1]):
            grants.candidate[first + z] = grants.candidate[first + z - 1]
            z -= 1
        grants.candidate[first + z] = i
        n += 1
    yielding = False
    for turn in range(2 * n):
        i = grants.candidate[first + turn % n]
        patient = turn < n
        if not patient and (
            not yielding or veh.granted[i] > 0 or veh.refused[i] != YIELDS or veh.arrived[i] < 0
        ):
            continue
        if try_grant(
            net, veh, types, order, grants, rules, x, first, n, i, patient, frame, dt, seed
        ):
            veh.stamp[i] = np.int64(frame) * 65536 + serial
            serial += 1
            note_holder(net, veh, grants, rules, i)
        elif veh.refused[i] == YIELDS and veh.arrived[i] >= 0:
            yielding = True
    return serial


@kernel
def forget_part(grants: Grants, part: int) -> None:
    """Forget the holders of one part of the connectors, the reservations of one of the lanes."""
    n = grants.tail.shape[0]
    for k in range(part * n // PARTS, (part + 1) * n // PARTS):
        grants.tail[k] = inf
        grants.tail_slot[k] = -1
    n = grants.reserved.shape[0]
    for lane in range(part * n // PARTS, (part + 1) * n // PARTS):
        grants.reserved[lane] = 0.0
        grants.wished[lane] = 0.0


@kernel(parallel=True)
def forget_all(grants: Grants) -> None:
    """Forget last frame's holders and reservations, PARTS at a time."""
    for part in prange(PARTS):
        forget_part(grants, part)


@kernel(forceinline=True)
def note_inside(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, x: int
) -> None:
    """Note the vehicles on the connectors of x, and those just beyond whose rear is still there."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    inter = net.intersections
    for c in range(inter.connector_start[x], inter.connector_start[x + 1]):
        k = inter.connector[c]
        lane = n_road_lanes + k
        if net.connectors.free[k]:
            continue  # noted from the line that it leads to
        for p in range(order.start[lane], order.start[lane + 1]):
            note_holder(net, veh, grants, rules, order.slot[p])
        # The vehicle whose rear hangs over the connector's end (its front is further on).
        if order.over[lane] >= 0:
            note_tail(grants, veh, k, order.over_rear[lane], order.over[lane])


@kernel(forceinline=True)
def grant_group(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    group: int, frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Run the grant phase of one group. Reads positions and speeds; writes grants, see module."""
    inter = net.intersections
    lo, hi = inter.group_start[group], inter.group_start[group + 1]
    for g in range(lo, hi):
        note_inside(net, veh, order, grants, rules, inter.group[g])
    asking = False
    for g in range(lo, hi):
        x = inter.group[g]
        for y in range(inter.lane_start[x], inter.lane_start[x + 1]):
            lane = inter.lane[y]
            grants.candidate[y] = -1
            if order.start[lane] == order.start[lane + 1] and not led_to_by_joint(net, lane):
                continue
            i = review_lane(net, veh, types, order, grants, rules, lane, frame, dt)
            grants.candidate[y] = i
            asking = asking or i >= 0
    if not asking:
        return
    serial = 0
    for g in range(lo, hi):
        serial = grant_intersection(
            net, veh, types, order, grants, rules, inter.group[g], serial, frame, dt, seed
        )


@kernel
def grant_groups(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    tasks: NDArray[np.int32], task: int, frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Run the groups tasks[task] .. tasks[task+1]."""
    for group in range(tasks[task], tasks[task + 1]):
        grant_group(net, veh, types, order, grants, rules, group, frame, dt, seed)


@kernel(parallel=True)
def grant_all(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    tasks: NDArray[np.int32], frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Run the grant phase, a task of groups of about equal work at a time."""
    for task in prange(tasks.shape[0] - 1):
        grant_groups(
            net,
            veh,
            types,
            order,
            grants,
            rules,
            tasks,
            task,
            frame,
            dt,
            seed,
        )
