"""Choosing lanes: for the route, away from a blocked lane, and to get on better.

Roads are processed side by side, the lanes of one road serially and in a fixed order. In even
frames vehicles may change to the left, in odd ones to the right, so a gap is never entered from
both sides in one frame. A vehicle with a grant stays on its lane.
"""

from math import inf

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    NetworkArrays,
)
from rushhour.kernels.core.obstacles import slow_body_ahead
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import (
    NEVER,
    NOTHING,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.following.lane_gaps import front_gap, place_behind, place_beside
from rushhour.kernels.following.own_models import followed_acceleration, wants_change
from rushhour.kernels.junctions.ring_places import takes_change
from rushhour.kernels.junctions.waking import Awake
from rushhour.kernels.lanes.change_room import (
    NEXT_WITHIN,
    ZIP_SPEED,
    ask_to_yield,
    change_fits,
    claim,
    has_its_turn,
    leaves_room,
    stops_before_line,
    takes_turn,
    time_stood,
)
from rushhour.kernels.lanes.change_turns import turn_of

BLOCKED_WITHIN = 50.0  # m to a vehicle at a stop that makes a lane blocked
SQUEEZE_AFTER = 5.0  # s
ITS_TURN = 60.0  # s of standing, after which it need not leave room for those still to come
REAR_SLACK = 0.5  # m by which a rear may stay behind after a change
URGENT = 10.0  # s to the lane's end at which others are asked to let one in
URGENT_WITHIN = 120.0  # m, likewise


@kernel
def behind_leader(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, lane: int, gap: float, v_lead: float
) -> float:
    """Acceleration of vehicle i on a lane, gap m behind a leader; inf: nobody."""
    t = veh.type[i]
    return followed_acceleration(
        types.model[t], veh.speed[i], aimed_speed(net, veh, types, i, lane), gap, v_lead,
        types.accel[t], types.decel[t], types.min_gap[t], types.time_gap[t],
    )  # fmt: skip


@kernel
def lane_ahead(
    veh: Vehicles, types: Types, order: Order, net: NetworkArrays, lane: int, place: int, i: int,
    s: float,
) -> float:  # fmt: skip
    """Acceleration of vehicle i at s behind the leader that `lane` offers there."""
    gap, v_lead, _ = front_gap(net, veh, order, lane, place, s)
    return behind_leader(net, veh, types, i, lane, gap, v_lead)


@kernel
def pays(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, rules: Rules, p: int, lane: int,
    target: int, s: float, place: int,
) -> bool:  # fmt: skip
    """Whether the vehicle at place p of `lane` should move to s on the lane `target`.

    Its gain in acceleration and what both followers gain, or lose, must be worth it, and the new
    one must not brake too hard. Source: MOBIL, Kesting, Treiber, Helbing 2007.
    """
    i = order.slot[p]
    gap_there, lead_there, _ = front_gap(net, veh, order, target, place, s)
    gap_here, lead_here, _ = front_gap(net, veh, order, lane, p, veh.s[i])
    own = behind_leader(net, veh, types, i, target, gap_there, lead_there)
    own -= behind_leader(net, veh, types, i, lane, gap_here, lead_here)
    others = 0.0
    if place < order.start[target + 1]:
        j = order.slot[place]
        gap = s - veh.length[i] - veh.s[j]
        after = behind_leader(net, veh, types, j, target, gap, veh.speed[i])
        if after < -rules.safe_braking:
            return False
        others += after - lane_ahead(veh, types, order, net, target, place, j, veh.s[j])
    if p + 1 < order.start[lane + 1]:
        j = order.slot[p + 1]
        gap = veh.s[i] - veh.length[i] - veh.s[j]
        others += lane_ahead(veh, types, order, net, lane, p, j, veh.s[j])
        others -= behind_leader(net, veh, types, j, lane, gap, veh.speed[i])
    need = rules.lane_change_gain
    need += rules.keep_right_bias if target > lane else -rules.keep_right_bias
    return wants_change(
        target - lane, veh.speed[i], aimed_speed(net, veh, types, i, lane), gap_here, lead_here,
        gap_there, lead_there, own, others, need, rules.lane_change_politeness,
    )  # fmt: skip


@kernel
def leader_stands(
    net: NetworkArrays, veh: Vehicles, routes: Routes, order: Order, grants: Grants, lane: int,
    place: int, s: float, told: bool,
) -> bool:  # fmt: skip
    """Whether somebody close ahead on the lane is at a stop of its trip, or halts, or is a body from
    outside that holds others up. told: who is at a stop does not count, who was told to halt does."""
    if slow_body_ahead(grants.obstacles, lane, s, BLOCKED_WITHIN, net.lanes.speed[lane]):
        return True
    if not routes.stops_on[lane]:
        return False
    for p in range(place - 1, order.start[lane] - 1, -1):
        j = order.slot[p]
        if veh.s[j] - s > BLOCKED_WITHIN:
            return False
        if veh.told[j] != NOTHING if told else stands_for_long(veh, j):
            return True
    return False


@kernel
def waits_behind_halting(
    net: NetworkArrays, veh: Vehicles, routes: Routes, order: Order, grants: Grants, lane: int,
    p: int,
) -> bool:  # fmt: skip
    """Whether the vehicle at place p, at walking pace, is held up by somebody who halts."""
    i = order.slot[p]
    return veh.speed[i] < ZIP_SPEED and leader_stands(
        net, veh, routes, order, grants, lane, p, veh.s[i], True
    )


@kernel
def is_urgent(to_end: float, v: float) -> bool:
    """Whether a change that must come has so little way left that others are asked to help."""
    return to_end < URGENT_WITHIN or to_end < URGENT * v


@kernel(forceinline=True)
def has_body_on_both(
    net: NetworkArrays, veh: Vehicles, rules: Rules, i: int, lane: int, target: int
) -> bool:
    """Whether i's body is on the road as far as it must be for a change from its lane to `target`."""
    # The whole body, but for those who have to change on a road too short for it.
    body = veh.length[i] + 0.5
    if veh.wanted[i] != lane and veh.speed[i] < 0.1:
        body = veh.length[i] - REAR_SLACK  # it halts where its body is just on it: see `swap_room`
    if veh.s[i] < body and (net.lanes.length[lane] > body + 0.5 or veh.wanted[i] == lane):
        return False
    # Nor may its rear fall back behind the start of a shorter lane, if it can do so further on.
    last = place_beside(net, lane, target, net.lanes.length[lane] - rules.stop_offset)
    s = place_beside(net, lane, target, veh.s[i])
    return s >= veh.length[i] - REAR_SLACK or last < veh.length[i]


@kernel(forceinline=True)
def place_that_pays(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, p: int, lane: int, target: int, s: float, since: float,
) -> int:  # fmt: skip
    """Place of the order on the lane `target` at s, if the vehicle at place p of `lane`, that need not change,
    gets on better there and can go on from there; -1 if not. since: s since its last change."""
    if since < rules.lane_change_pause:
        return -1
    i = order.slot[p]
    number = net.lanes.number[target]
    suits = number < 32 and (veh.suits[i] >> np.uint32(number)) & np.uint32(1) == np.uint32(1)
    if not suits and net.lanes.length[lane] - veh.s[i] <= BLOCKED_WITHIN + 30.0:
        # Too near to the line to come back in time, but there is no other way past who halts.
        if not leader_stands(net, veh, routes, order, grants, lane, p, veh.s[i], True):
            return -1
    blocked = leader_stands(net, veh, routes, order, grants, lane, p, veh.s[i], False)
    if not suits and not blocked:
        return -1
    place = place_behind(veh, order, target, s)
    if leader_stands(net, veh, routes, order, grants, target, place, s, False):
        return -1
    if not blocked and not pays(net, veh, types, order, rules, p, lane, target, s, place):
        return -1
    return int(place)


@kernel(forceinline=True)
def place_on_way(
    net: NetworkArrays, veh: Vehicles, routes: Routes, order: Order, grants: Grants, target: int,
    s: float, to_end: float, since: float,
) -> int:  # fmt: skip
    """Place of the order on the lane `target` at s for somebody who must change to it, to_end m before the end
    of its lane; -1 if it waits, as somebody there halts. since: s since its last change."""
    if since < 1.0:
        return -1
    place = place_behind(veh, order, target, s)
    if to_end > BLOCKED_WITHIN + 30.0 and leader_stands(
        net, veh, routes, order, grants, target, place, s, False
    ):
        return -1
    if leader_stands(net, veh, routes, order, grants, target, place, s, True):
        return -1
    return int(place)


@kernel(forceinline=True)
def consider_change(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, p: int, lane: int, target: int, cut: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Decide whether the vehicle at place p changes to the neighbouring lane `target` now."""
    i = order.slot[p]
    if veh.granted[i] > 0 or stands_for_long(veh, i):
        return False
    if not net.lanes.permissions[target] & types.permission[veh.type[i]]:
        return False
    if not has_body_on_both(net, veh, rules, i, lane, target):
        return False
    mandatory = (veh.wanted[i] - lane) * (target - lane) > 0
    since = (frame - veh.change_frame[i]) * dt
    v = veh.speed[i]
    to_end = net.lanes.length[lane] - veh.s[i]
    s = place_beside(net, lane, target, veh.s[i])
    if mandatory:
        place = place_on_way(net, veh, routes, order, grants, target, s, to_end, since)
    else:
        place = place_that_pays(
            net, veh, types, routes, order, grants, rules, p, lane, target, s, since
        )
    if place < 0:
        return False
    urgent = mandatory and is_urgent(to_end, v)
    b = rules.safe_braking if urgent else 0.5 * rules.safe_braking
    stood = time_stood(veh, i, frame, dt) if mandatory else 0.0
    tight = stood >= SQUEEZE_AFTER
    room = leaves_room(net, veh, order, grants, rules, i, target, 0.0)
    if not room and stood >= ITS_TURN:
        room = takes_turn(net, veh, order, grants, rules, i, target)
    room = room and takes_change(net, veh, order, grants, i, target, rules.queue_gap, frame)
    fits = room
    if mandatory and v < ZIP_SPEED and place < order.start[target + 1]:
        fits = fits and not has_its_turn(veh, i, order.slot[place], target, s - veh.length[i])
    fits = fits and stops_before_line(net, veh, types, i, target, s, b, mandatory, dt)
    if fits and change_fits(
        net, veh, types, order, grants, rules, i, target, s, place, cut, b, tight, dt
    ):
        return True
    if urgent:
        # Those who hold the room come first; nobody must stop for a change that waits for them.
        if room:
            ask_to_yield(veh, order, types, grants, target, s, place, i, frame, dt)
        claim(veh, grants, rules, i, target, frame)
    elif room and waits_behind_halting(net, veh, routes, order, grants, lane, p):
        # Those on the open lane let one in each.
        ask_to_yield(veh, order, types, grants, target, s, place, i, frame, dt)
    return False


@kernel
def ask_the_other_side(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, lane: int, side: int, held_up: bool, frame: int, dt: float,
) -> None:  # fmt: skip
    """Ask for room towards the side that has no changes in this frame.

    held_up: i waits behind somebody who halts; others ask only if they must go there soon.
    """
    if veh.granted[i] > 0 or stands_for_long(veh, i):
        return
    wish = (veh.wanted[i] - lane) * side > 0
    if held_up or (wish and is_urgent(net.lanes.length[lane] - veh.s[i], veh.speed[i])):
        s = place_beside(net, lane, lane + side, veh.s[i])
        place = place_behind(veh, order, lane + side, s)
        room = leaves_room(net, veh, order, grants, rules, i, lane + side, 0.0)
        if not room and wish and time_stood(veh, i, frame, dt) >= ITS_TURN:
            room = takes_turn(net, veh, order, grants, rules, i, lane + side)
        if room and takes_change(net, veh, order, grants, i, lane + side, rules.queue_gap, frame):
            ask_to_yield(veh, order, types, grants, lane + side, s, place, i, frame, dt)
        if wish:
            claim(veh, grants, rules, i, lane + side, frame)


@kernel
def goes_in_before(veh: Vehicles, order: Order, i: int, lane: int, s: float, must: bool) -> None:
    """Note for who comes next on a lane that i, at s there, moves over before it. must: it had to."""
    behind = place_behind(veh, order, lane, s)
    if behind >= order.start[lane + 1]:
        return
    j = order.slot[behind]
    veh.yields_to[j] = i  # who would set off in this frame
    close = s - veh.length[i] - veh.s[j] < NEXT_WITHIN
    if must and close and veh.speed[i] < ZIP_SPEED:
        veh.goes_next[i], veh.goes_next[j] = True, True


@kernel(forceinline=True)
def choose_lanes_of_road(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, looks: NDArray[np.bool_], road: int, frame: int, dt: float,
) -> int:  # fmt: skip
    """Decide lane changes on one road; returns their number. Writes change_to, yields_to.

    looks: by turn, who looks for a better lane in this frame without need.
    """
    count = net.roads.lane_count[road]
    first = net.roads.first_lane[road]
    lo, hi = order.start[first], order.start[first + count]
    grants.claimed[first : first + count] = 0.0
    grants.claimed_since[first : first + count] = NEVER
    if lo == hi:
        return 0
    turn = 1 if frame & 1 == 0 else -1
    changes = 0
    for number in range(count):
        lane = first + number
        somebody_stops = routes.stops_on[lane] or grants.obstacles.first[lane] >= 0
        left, right = inf, inf  # rears of the last who changed there in this frame
        for p in range(order.start[lane], order.start[lane + 1]):
            i = order.slot[p]
            held_up = somebody_stops and waits_behind_halting(
                net, veh, routes, order, grants, lane, p
            )
            for side in range(-1, 2, 2):
                target, there = lane + side, number + side
                wish = (veh.wanted[i] - lane) * side > 0
                if there < 0 or there >= count:
                    continue
                # Into a lane between two others by turns, so that two never come to the same place.
                if side != turn and (0 < there < count - 1 or not wish):
                    if (wish or held_up) and veh.change_to[i] < 0:
                        ask_the_other_side(
                            net, veh, types, order, grants, rules, i, lane, side, held_up, frame, dt
                        )
                    continue
                if not wish and not held_up and not looks[turn_of(veh.id[i], frame)]:
                    continue
                if veh.change_to[i] >= 0:
                    continue
                cut = left if side > 0 else right
                if consider_change(
                    net, veh, types, routes, order, grants, rules, p, lane, target, cut, frame, dt
                ):
                    veh.change_to[i] = target
                    s = place_beside(net, lane, target, veh.s[i])
                    goes_in_before(veh, order, i, target, s, wish)
                    cut = s - veh.length[i]
                    left, right = (cut, right) if side > 0 else (left, cut)
                    changes += 1
    return changes


@kernel
def choose_lanes(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, awake: Awake, changes: NDArray[np.int64], task: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Decide lane changes on the roads of one task; counts them in changes[task]."""
    total = 0
    for at in range(awake.road_cuts[task], awake.road_cuts[task + 1]):
        total += choose_lanes_of_road(
            net, veh, types, routes, order, grants, rules, awake.looks, awake.roads[at], frame, dt
        )
    changes[task] += total


@kernel(parallel=True)
def choose_lanes_all(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, awake: Awake, changes: NDArray[np.int64], frame: int, dt: float,
) -> None:  # fmt: skip
    """Decide all lane changes, on the roads of several lanes where anybody is."""
    tasks = awake.tasks[1]
    for task in prange(tasks):
        choose_lanes(net, veh, types, routes, order, grants, rules, awake, changes, task, frame, dt)
