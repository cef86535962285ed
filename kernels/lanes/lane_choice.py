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
from rushhour.kernels.core.obstacles import keeps_off, slow_body_ahead
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
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.following.lane_gaps import (
    COOPERATION,
    braking_gap,
    front_gap,
    place_behind,
    place_beside,
    upstream_allows,
)
from rushhour.kernels.following.own_models import followed_acceleration, wants_change
from rushhour.kernels.junctions.queue_ends import owed, queue_end, rear_inside, spare_behind
from rushhour.kernels.junctions.waking import Awake
from rushhour.kernels.lanes.change_turns import turn_of

BLOCKED_WITHIN = 50.0  # m to a vehicle at a stop that makes a lane blocked
KEEP_SHARE = 0.7  # of the standstill gap kept to both sides of a change
SQUEEZE = 0.52  # share of it kept between those who stand, by one who has stood and must change
LETS_IN = 0.6  # share of it behind one that stands, from which one still stops to let it in
SQUEEZE_AFTER = 5.0  # s
ITS_TURN = 60.0  # s of standing, after which it need not leave room for those still to come
REAR_SLACK = 0.5  # m by which a rear may stay behind after a change
ZIP_SPEED = 3.0  # m/s, below which those behind somebody who halts ask to be let in
NEXT_WITHIN = 10.0  # m behind the rear of one that changes lane, within which another's turn counts
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
def stops_before_line(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, lane: int, s: float, b: float,
    mandatory: bool, dt: float,
) -> bool:  # fmt: skip
    """Whether i, at s of a lane that it changes to, can stop before its line by b (m/s^2); who must change
    brakes for the end of its own lane already, which is there as well."""
    v = veh.speed[i]
    to_line = net.lanes.length[lane] - s
    if mandatory and to_line >= stopping_distance(v, types.decel[veh.type[i]]):
        return True
    return to_line >= stopping_distance(v, b) + v * dt


@kernel
def change_fits(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, lane: int, s: float, place: int, cut: float, b: float, tight: bool, dt: float,
) -> bool:  # fmt: skip
    """Whether i can move over to `lane` at s there without forcing more than b on anybody, itself included.

    cut: rear (m) of the last vehicle that changed to this lane in this frame, ahead of i; inf.
    tight: it stands for so long that it squeezes between others that stand.
    """
    t = veh.type[i]
    v = veh.speed[i]
    keep = (SQUEEZE if tight else KEEP_SHARE) * types.min_gap[t]
    gap, v_lead, _ = front_gap(net, veh, order, lane, place, s)
    if gap < braking_gap(v, v_lead, b, dt, keep):
        return False
    if cut < inf and cut - s < braking_gap(v, 0.0, b, dt, keep):
        return False
    rear = s - veh.length[i]
    half = 0.5 * types.width[t]
    if not keeps_off(grants.obstacles, lane, rear, s, half, 2.0 * keep, keep, v):
        return False
    if place < order.start[lane + 1]:
        j = order.slot[place]
        squeezes = tight and veh.speed[j] < 0.1
        keep = (SQUEEZE if squeezes else KEEP_SHARE) * types.min_gap[veh.type[j]]
        return rear - veh.s[j] >= braking_gap(veh.speed[j], v, b, dt + 0.2, keep)
    return upstream_allows(net, veh, types, order, lane, rear, v, b, dt)


@kernel
def leaves_room(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, lane: int,
    spare: float,
) -> bool:  # fmt: skip
    """Whether others still fit on `lane` when i has moved there: those who count on it or enter it,
    and the head that stands before it for longer than i does. spare: m of the last that may stay behind."""
    entering = False
    if order.start[lane] < order.start[lane + 1]:
        entering = rear_inside(net, veh, order.slot[order.start[lane + 1] - 1])
    need = owed(net, veh, order, grants, lane, rules.queue_gap)
    since = veh.stands_since[i]
    if since < 0 or grants.wished_since[lane] < since:
        need += grants.wished_first[lane]
    if need <= 0.0 and not entering:
        return True
    _, closed, _, _ = queue_end(net, veh, order, lane, rules.queue_gap)
    # As in `has_room`, what others need holds the gap before each, and that behind the last is none.
    return closed >= need + veh.length[i] - spare


@kernel
def time_stood(veh: Vehicles, i: int, frame: int, dt: float) -> float:
    """Seconds for which i has stood; 0 if it moves."""
    if veh.stands_since[i] < 0 or veh.speed[i] >= 0.1:
        return 0.0
    return (frame - veh.stands_since[i]) * dt


@kernel
def nobody_enters(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, lane: int
) -> bool:
    """Whether nobody has a grant that leads to a lane, or its rear still in the intersection before."""
    if grants.reserved[lane] > 0.0 or grants.crossed[lane]:
        return False
    last = order.start[lane + 1] - 1
    return order.start[lane] > last or not rear_inside(net, veh, order.slot[last])


@kernel
def takes_turn(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, lane: int
) -> bool:
    """Whether i may change to a full lane, beside which it would wait for ever: those who are not on it
    yet wait for once, the last of those who come stands with its rear where nobody crosses."""
    if nobody_enters(net, veh, order, grants, lane):
        return True
    spare = spare_behind(net, lane)
    return spare > 0.0 and leaves_room(net, veh, order, grants, rules, i, lane, spare)


@kernel
def claim(veh: Vehicles, grants: Grants, rules: Rules, i: int, lane: int, frame: int) -> None:
    """Keep room on a lane for one of those who must change to it; the others of them wait."""
    grants.claimed[lane] = max(grants.claimed[lane], veh.length[i] + rules.queue_gap)
    since = veh.stands_since[i] if veh.stands_since[i] >= 0 else frame
    grants.claimed_since[lane] = min(grants.claimed_since[lane], since)


@kernel
def has_its_turn(veh: Vehicles, j: int, lane: int, rear: float) -> bool:
    """Whether j on a lane, in a queue, goes before anybody else that stands beside it is let in: those of
    two lanes take turns. rear: m along the lane of one that would come before it."""
    close = rear - veh.s[j] < NEXT_WITHIN and veh.speed[j] < ZIP_SPEED
    return veh.goes_next[j] and close and veh.wanted[j] == lane and not stands_for_long(veh, j)


@kernel
def ask_to_yield(
    veh: Vehicles, order: Order, types: Types, grants: Grants, lane: int, s: float, place: int, i: int,
    frame: int, dt: float,
) -> None:  # fmt: skip
    """Ask the first vehicle on `lane` that can fall back behind i, at s there, to let it in.

    It needs to brake comfortably, and no more than i itself, which moves on; where i stands as it does
    for any leader, so that it is asked until it stands. Where all move, i on its part falls back
    behind whoever it would follow there. Where nobody on the lane can, who comes to it is asked.
    """
    rear = s - veh.length[i]
    v = veh.speed[i]
    stands = v < 0.1
    late = dt if stands else 0.0
    if place > order.start[lane] and veh.yields_to[i] < 0 and v > ZIP_SPEED:
        j = order.slot[place - 1]
        if veh.speed[j] > ZIP_SPEED:
            veh.yields_to[i] = j
    for p in range(place, order.start[lane + 1]):
        j = order.slot[p]
        if veh.granted[j] > 0 or stands_for_long(veh, j):
            continue
        if v < ZIP_SPEED and has_its_turn(veh, j, lane, rear):
            continue
        t = veh.type[j]
        b = types.decel[t] if stands else COOPERATION
        keep = (LETS_IN if stands else KEEP_SHARE) * types.min_gap[t]
        if rear - veh.s[j] > braking_gap(veh.speed[j], v, b, late, keep):
            if veh.yields_to[j] < 0:
                veh.yields_to[j] = i
            return
    if grants.asked_in[lane] != frame or veh.s[grants.asking[lane]] < veh.s[i]:
        grants.asking[lane], grants.asked_in[lane] = i, frame


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
def consider_change(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, grants: Grants,
    rules: Rules, p: int, lane: int, target: int, cut: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Decide whether the vehicle at place p changes to the neighbouring lane `target` now."""
    i = order.slot[p]
    if veh.granted[i] > 0 or stands_for_long(veh, i):
        return False
    # The whole body must be on the road, but for those who have to change on one too short for it.
    body = veh.length[i] + 0.5
    if veh.wanted[i] != lane and veh.speed[i] < 0.1:
        body = veh.length[i] - REAR_SLACK  # it halts where its body is just on it: see `swap_room`
    if veh.s[i] < body and (net.lanes.length[lane] > body + 0.5 or veh.wanted[i] == lane):
        return False
    t = veh.type[i]
    if not net.lanes.permissions[target] & types.permission[t]:
        return False
    wanted = veh.wanted[i]
    side = target - lane
    mandatory = (wanted - lane) * side > 0
    since = (frame - veh.change_frame[i]) * dt
    v = veh.speed[i]
    number = net.lanes.number[target]
    to_end = net.lanes.length[lane] - veh.s[i]
    s = place_beside(net, lane, target, veh.s[i])
    # Nor may its rear fall back behind the start of a shorter lane, if it can do so further on.
    last = place_beside(net, lane, target, net.lanes.length[lane] - rules.stop_offset)
    if s < veh.length[i] - REAR_SLACK and last >= veh.length[i]:
        return False
    place = -1
    if not mandatory:
        if since < rules.lane_change_pause:
            return False
        suits = number < 32 and (veh.suits[i] >> np.uint32(number)) & np.uint32(1) == np.uint32(1)
        if not suits and to_end <= BLOCKED_WITHIN + 30.0:
            # Too near to the line to come back in time, but there is no other way past who halts.
            if not leader_stands(net, veh, routes, order, grants, lane, p, veh.s[i], True):
                return False
        blocked = leader_stands(net, veh, routes, order, grants, lane, p, veh.s[i], False)
        if not suits and not blocked:
            return False
        place = place_behind(veh, order, target, s)
        if leader_stands(net, veh, routes, order, grants, target, place, s, False):
            return False
        if not blocked and not pays(net, veh, types, order, rules, p, lane, target, s, place):
            return False
    else:
        if since < 1.0:
            return False
        place = place_behind(veh, order, target, s)
        if to_end > BLOCKED_WITHIN + 30.0 and leader_stands(
            net, veh, routes, order, grants, target, place, s, False
        ):
            return False
        if leader_stands(net, veh, routes, order, grants, target, place, s, True):
            return False
    urgent = mandatory and is_urgent(to_end, v)
    b = rules.safe_braking if urgent else 0.5 * rules.safe_braking
    stood = time_stood(veh, i, frame, dt) if mandatory else 0.0
    tight = stood >= SQUEEZE_AFTER
    room = leaves_room(net, veh, order, grants, rules, i, target, 0.0)
    if not room and stood >= ITS_TURN:
        room = takes_turn(net, veh, order, grants, rules, i, target)
    fits = room
    if mandatory and v < ZIP_SPEED and place < order.start[target + 1]:
        fits = fits and not has_its_turn(veh, order.slot[place], target, s - veh.length[i])
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
        if room:
            ask_to_yield(veh, order, types, grants, lane + side, s, place, i, frame, dt)
        if wish:
            claim(veh, grants, rules, i, lane + side, frame)


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
                if there < 0 or there >= count or veh.change_to[i] >= 0:
                    continue
                # Into a lane between two others by turns, so that two never come to the same place.
                if side != turn and (0 < there < count - 1 or not wish):
                    if wish or held_up:
                        ask_the_other_side(
                            net, veh, types, order, grants, rules, i, lane, side, held_up, frame, dt
                        )
                    continue
                if not wish and not held_up and not looks[turn_of(veh.id[i], frame)]:
                    continue
                cut = left if side > 0 else right
                if consider_change(
                    net, veh, types, routes, order, grants, rules, p, lane, target, cut, frame, dt
                ):
                    veh.change_to[i] = target
                    s = place_beside(net, lane, target, veh.s[i])
                    behind = place_behind(veh, order, target, s)
                    if behind < order.start[target + 1]:
                        j = order.slot[behind]
                        veh.yields_to[j] = i  # who would set off in this frame
                        if (
                            wish
                            and veh.speed[i] < ZIP_SPEED
                            and s - veh.length[i] - veh.s[j] < NEXT_WITHIN
                        ):
                            veh.goes_next[i], veh.goes_next[j] = True, True
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
