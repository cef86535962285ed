"""What one who asks for a grant is asked: light, room, way, gap and turn.

A grant covers a *chain* of connectors up to the first lane that can hold the vehicle, so nobody
waits inside for something outside. Source: right-of-way.md sections 1 and 2.
"""

import numpy as np

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    ALL_WAY_STOP,
    GREEN,
    RED,
    SIGNAL,
    STOP_THEN_GO,
    YELLOW,
    NetworkArrays,
)
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.rules import POLICY_FAIR, POLICY_LITERAL, Rules
from rushhour.kernels.core.vehicles import (
    BODY,
    CONFLICT,
    EXIT_FULL,
    FREE,
    RED_LIGHT,
    STOP_SIGN,
    STREAM_REACTION,
    YIELDS,
    Grants,
    Order,
    Types,
    Vehicles,
)
from rushhour.kernels.following.car_following import travel_time
from rushhour.kernels.following.curve_speed import bend_speed
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.junctions.arrival_order import (
    IMPATIENT,
    count_overtaken,
    my_turn,
    nobody_inside,
    time_at_line,
    who_starves,
)
from rushhour.kernels.junctions.barring_bodies import bars_way
from rushhour.kernels.junctions.chain_lights import (
    has_lost_green,
    shows_green,
    turns_across,
    waits_for_first,
    worst_light,
)
from rushhour.kernels.junctions.diverge_queue import who_stands_on_way
from rushhour.kernels.junctions.exit_room import has_room
from rushhour.kernels.junctions.gap_acceptance import gap_blocker, is_clear
from rushhour.kernels.junctions.grant_chains import chain_with_room, nobody_between, through
from rushhour.kernels.junctions.grant_holders import (
    to_line,
    to_path,
    wish,
)
from rushhour.kernels.junctions.kept_grants import LEFT_AT_YELLOW
from rushhour.kernels.junctions.patience import (
    impatience,
    pressed_share,
)
from rushhour.kernels.junctions.permissive_places import waiter_ahead
from rushhour.kernels.junctions.permissive_turns import may_wait_inside
from rushhour.kernels.junctions.ring_entries import ring_carries
from rushhour.kernels.junctions.ring_exits import entry_within
from rushhour.kernels.junctions.wrong_lane_turns import crossed_beside
from rushhour.kernels.junctions.zone_yielding import is_waited_for
from rushhour.kernels.signals.coupled_lights import lights_that_count

REFUSED = 0
GRANTED = 1
TO_WAIT = 2
WAIVED = 2.0  # s that the room beyond is still waived for who was let go without it: it sets off


@kernel
def reaction_of(
    veh: Vehicles, types: Types, rules: Rules, control: int, stop: bool, i: int, seed: int
) -> float:  # fmt: skip
    """Seconds between a grant and the first movement of vehicle i."""
    if veh.speed[i] > 0.5:
        return 0.0
    if control == ALL_WAY_STOP:
        u = uniform(seed, veh.id[i], veh.arrived[i], STREAM_REACTION)
        return rules.stop_reaction * (1.0 + rules.reaction_spread * (2.0 * u - 1.0))
    if control == SIGNAL and veh.refused[i] == RED_LIGHT and not stop:
        return float(types.green_reaction[veh.type[i]])
    return 0.0


@kernel
def margin_of(rules: Rules, control: int, must_stop: bool, unposted: bool) -> float:
    """Seconds wanted between two users of a conflict zone. unposted: no road goes first there."""
    if control == SIGNAL:
        return rules.margin_signal
    if control == ALL_WAY_STOP:
        return rules.margin_all_way
    if unposted:
        return rules.margin_unposted
    return rules.margin_stop if must_stop else rules.margin_yield


@kernel
def is_late(
    net: NetworkArrays, veh: Vehicles, types: Types, grants: Grants, i: int, n: int, d: float,
    reaction: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether a later line of a grant for n entries closes before i, d m before the first, is there."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    t = veh.type[i]
    line = veh.line[i]
    v_max = aimed_speed(net, veh, types, i, veh.lane[i])
    clock = frame * dt + reaction + travel_time(d, veh.speed[i], types.accel[t], v_max)
    counted = -1
    for q in range(line, n):
        k = veh.path[i, q]
        if net.connectors.signal[k] >= 0:
            if q > line and clock > grants.closes[k]:
                if counted < 0:
                    counted = lights_that_count(net, veh.path[i], n)
                if (counted >> q) & 1 == 1:
                    return True
        lane = n_road_lanes + k
        inside = aimed_speed(net, veh, types, i, lane)
        inside = min(inside, bend_speed(net.lanes, lane, 0.5 * net.lanes.length[lane]))
        clock += (net.lanes.length[lane] + net.lanes.length[net.connectors.to_lane[k]]) / inside
    return False


@kernel
def blocker_of(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, ahead: float, reaction: float, margin: float, patient: bool, share: float,
    pressed: float, control: int, dt: float,
) -> tuple[int, int]:  # fmt: skip
    """Reason and slot of who keeps candidate i from using n entries of its path; FREE, -1.

    share, pressed: of the critical gap, and where it zips in. Where nobody does, writes before whom of
    the holders it goes.
    """
    between = control != ALL_WAY_STOP
    j, cut, cut_stamp = is_clear(
        net, veh, types, order, grants, rules, i, n, ahead, reaction, margin, share, pressed,
        between, dt,
    )  # fmt: skip
    if j >= 0:
        return CONFLICT, j
    if control != ALL_WAY_STOP:
        j = gap_blocker(net, veh, types, order, grants, rules, i, n, ahead, patient, share, pressed)
        if j >= 0:
            return YIELDS, j
    veh.cut[i] = cut
    veh.cut_stamp[i] = cut_stamp
    return FREE, -1


@kernel
def further_chain(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, n: int,
    frame: int, dt: float,
) -> int:  # fmt: skip
    """Entries of path up to the line after the n-th, if i could pass both at once; else 0."""
    m = through(net, veh, order, grants, i, n)
    if m == 0:
        return 0
    k = veh.path[i, m - 1]
    # Whoever has the right of way there need not take it from so far away.
    if net.connectors.signal[k] < 0 and net.connectors.rank[k] == 0:
        return 0
    for q in range(n, m):
        k = veh.path[i, q]
        light = grants.light[k]
        if net.connectors.signal[k] >= 0 and (light == RED or light == YELLOW):
            return 0
    if worst_light(net, veh, grants, i, m, False) != 0:
        return 0
    if not ring_carries(net, veh, order, grants, rules, i, m, frame, dt):
        return 0
    return m if has_room(net, veh, order, grants, rules, i, m, dt) else 0


@kernel(forceinline=True)
def must_stop_at_light(
    net: NetworkArrays, veh: Vehicles, rules: Rules, i: int, k: int, light: int, d: float
) -> bool:  # fmt: skip
    """Whether i, d m before its line, stops for a light. At yellow who turns across others and has stood
    at the line goes: it has waited for its gap."""
    if light != YELLOW:
        return light == RED
    # Who has not stood here stops for the yellow, or comes late.
    return d >= LEFT_AT_YELLOW or veh.arrived[i] < 0 or not turns_across(net, rules, k)


@kernel(forceinline=True)
def note_useless_green(
    net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, k: int, n: int, frame: int, dt: float
) -> None:  # fmt: skip
    """Note since when i, whose first n connectors are not all green, has no way on that is to be had.

    One line of the chain is red while another is green: perhaps never both, so it counts as that.
    """
    mine = grants.light[k] if net.connectors.signal[k] >= 0 else GREEN
    if mine == RED or mine == YELLOW or not shows_green(net, veh, grants, i, n):
        if not has_lost_green(net, veh, grants, i, frame, dt):
            veh.full_since[i] = -1
    elif veh.full_since[i] < 0 and veh.speed[i] < 0.1:
        veh.full_since[i] = frame


@kernel(forceinline=True)
def waits_for_light(
    net: NetworkArrays, veh: Vehicles, types: Types, grants: Grants, rules: Rules, i: int, k: int,
    n: int, d: float, reaction: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether a light keeps i, d m before its line, from its first n connectors, or one of them will have
    closed when it comes there; notes so."""
    line = veh.line[i]
    first_only = n > line + 1 and waits_for_first(net, veh, grants, i, frame, dt)
    light = worst_light(net, veh, grants, i, n, first_only)
    if must_stop_at_light(net, veh, rules, i, k, light, d):
        veh.refused[i] = RED_LIGHT
        note_useless_green(net, veh, grants, i, k, n, frame, dt)
        return True
    several = n > line + 1 and not first_only
    late = several and is_late(net, veh, types, grants, i, n, d, reaction, frame, dt)
    if late and time_at_line(veh, i, frame, dt) < IMPATIENT:
        veh.refused[i] = RED_LIGHT
        return True
    if light == STOP_THEN_GO and veh.arrived[i] < 0:
        veh.refused[i] = STOP_SIGN
        return True
    return False


@kernel(forceinline=True)
def waits_for_room(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, n: int,
    room: bool, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether i finds no room beyond its first n connectors, on its way there, or on a ring; notes so.

    room: there is some beyond.
    """
    line, gap, offset = veh.line[i], rules.queue_gap, rules.stop_offset
    barred = room and who_stands_on_way(net, veh, order, grants, i, line, n, gap, offset) >= 0
    carried = ring_carries(net, veh, order, grants, rules, i, n, frame, dt)
    if room and not barred and carried:
        veh.full_since[i] = -1
        return False
    veh.refused[i] = EXIT_FULL
    if veh.full_since[i] < 0 and veh.speed[i] < 0.1:
        veh.full_since[i] = frame
    if entry_within(veh, grants.ring_entry, i, n) >= 0:
        return True  # who is on the ring goes first: no room there is kept from them
    if veh.full_since[i] >= 0 and nobody_between(net, veh, order, grants, i, n):
        # Room that comes is kept for it, if it can come there.
        wish(veh, grants, rules, i, net.connectors.to_lane[veh.path[i, n - 1]])
    return True


@kernel(forceinline=True)
def meets_somebody(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, i: int, k: int,
    n: int, d: float, reaction: float,
) -> bool:  # fmt: skip
    """Whether a body, somebody who turns from the lane beside, or who waits inside is in i's way, d m
    before its line; notes so."""
    if bars_way(net, veh, types, grants, i, veh.line[i], n, d, reaction):
        veh.refused[i] = BODY
        return True
    j = crossed_beside(net, veh, order, grants, i, n)
    if j < 0:
        j = waiter_ahead(net, veh, grants, i, k)
    if j >= 0:
        veh.refused[i] = CONFLICT
        veh.blocker[i] = veh.id[j]
        return True
    return False


@kernel(forceinline=True)
def clear_chain(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, ahead: float, d: float, reaction: float, margin: float, patient: bool,
    control: int, frame: int, dt: float,
) -> tuple[int, int, int]:  # fmt: skip
    """Entries of path that candidate i may use, as to others: n, or through the next line as well if that
    can be had, as nobody waits between the two then. And `blocker_of` for the n, if it may not."""
    gap, offset = rules.queue_gap, rules.stop_offset
    share = impatience(veh, i, frame, dt)
    pressed = pressed_share(veh, i, share, frame, dt)
    m = further_chain(net, veh, order, grants, rules, i, n, frame, dt)
    if m > 0 and (
        is_late(net, veh, types, grants, i, m, d, reaction, frame, dt)
        or crossed_beside(net, veh, order, grants, i, m) >= 0
        or who_stands_on_way(net, veh, order, grants, i, n, m, gap, offset) >= 0
    ):
        m = 0  # it waits between
    reason, j = FREE, -1
    for turn in range(2):
        entries = m if turn == 0 else n
        if entries == 0:
            continue
        reason, j = blocker_of(
            net, veh, types, order, grants, rules, i, entries, ahead, reaction, margin, patient,
            share, pressed, control, dt,
        )  # fmt: skip
        if j < 0:
            return entries, reason, j
    return n, reason, j


@kernel(forceinline=True)
def waits_for_turn(
    net: NetworkArrays, veh: Vehicles, grants: Grants, rules: Rules, x: int, first: int, count: int,
    i: int, patient: bool, control: int, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether others at intersection x go before i, whose way is clear: who starves, who came first to an
    all-way stop, who has waited longer where all yield; notes so."""
    j = who_starves(net, veh, grants, first, count, i, control, frame, dt)
    if j >= 0:
        veh.refused[i] = YIELDS
        veh.blocker[i] = veh.id[j]
        return True
    if control == ALL_WAY_STOP:
        literal = rules.all_way_policy == POLICY_LITERAL
        limit = rules.overtake_limit if rules.all_way_policy == POLICY_FAIR else 0
        if not my_turn(net, veh, grants, first, count, i, limit, literal, True, frame, dt):
            veh.refused[i] = STOP_SIGN
            return True
        if literal and not nobody_inside(net, grants, x):
            veh.refused[i] = CONFLICT
            return True
    elif not patient and not my_turn(
        net, veh, grants, first, count, i, rules.overtake_limit, False, False, frame, dt
    ):
        veh.refused[i] = YIELDS
        return True
    return False


@kernel(forceinline=True)
def try_grant(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    x: int, first: int, count: int, i: int, patient: bool, frame: int, dt: float, seed: int,
) -> int:  # fmt: skip
    """GRANTED if light, room, way, gap and turn allow, or TO_WAIT inside; else REFUSED, noting why."""
    if is_waited_for(net, veh, grants, i):
        return REFUSED
    k = veh.path[i, veh.line[i]]
    control = net.intersections.control[x]
    stop = net.connectors.must_stop[k]
    reaction = reaction_of(veh, types, rules, control, stop, i, seed)
    n = chain_with_room(net, veh, order, grants, rules, i, frame, dt)
    room = n > 0
    if not room:
        n = -n
    ahead = to_path(net, veh, i)
    d = to_line(net, veh, i, ahead)
    if waits_for_light(net, veh, types, grants, rules, i, k, n, d, reaction, frame, dt):
        return REFUSED
    if waits_for_room(net, veh, order, grants, rules, i, n, room, frame, dt):
        return REFUSED
    if meets_somebody(net, veh, types, order, grants, i, k, n, d, reaction):
        return REFUSED
    margin = margin_of(rules, control, stop, grants.unposted[x])
    n, reason, j = clear_chain(
        net, veh, types, order, grants, rules, i, n, ahead, d, reaction, margin, patient, control,
        frame, dt,
    )  # fmt: skip
    what = GRANTED
    if j >= 0:
        if not may_wait_inside(
            net, veh, types, order, grants, rules, i, n, ahead, reaction, margin, dt
        ):
            veh.refused[i] = reason
            veh.blocker[i] = veh.id[j]
            return REFUSED
        what = TO_WAIT
    if waits_for_turn(net, veh, grants, rules, x, first, count, i, patient, control, frame, dt):
        return REFUSED
    if control == ALL_WAY_STOP or not patient:
        count_overtaken(net, veh, grants, first, count, i)
    veh.granted[i] = n
    # It stood half a frame ago, on average; but who reacts at all is seen standing for a frame.
    veh.go[i] = frame + (max(1, int(np.floor(reaction / dt + 1e-9))) if reaction > 0.0 else 0)
    veh.overtaken[i] = 0
    veh.refused[i] = 0
    # Room is waived for one: who came behind it would stand inside.
    grants.waived[k] = min(grants.waived[k], frame + int(WAIVED / dt))
    return what
