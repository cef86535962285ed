"""Room for a change of lane: whether there is some, whom it would be taken from, and asking for it."""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.obstacles import keeps_off
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import Grants, Order, Types, Vehicles
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.following.halting import stands_for_long
from rushhour.kernels.following.lane_gaps import (
    COOPERATION,
    LETS_IN,
    braking_gap,
    front_gap,
    upstream_allows,
)
from rushhour.kernels.junctions.grant_holders import swap_room
from rushhour.kernels.junctions.queue_ends import owed, queue_end, rear_inside, spare_behind

KEEP_SHARE = 0.7  # of the standstill gap kept to both sides of a change
SQUEEZE = 0.52  # share of it kept between those who stand, by one who has stood and must change
ZIP_SPEED = 3.0  # m/s, below which those behind somebody who halts ask to be let in
NEXT_WITHIN = 10.0  # m behind the rear of one that changes lane, within which another's turn counts


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
    kept = grants.kept[lane]
    if veh.wanted[i] > lane:  # it must change once more, and halts so far from the line for that
        kept = max(kept, swap_room(net, lane, veh.length[i], rules.queue_gap))
    closed = min(closed, net.lanes.length[lane] - kept)
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
def has_its_turn(veh: Vehicles, i: int, j: int, lane: int, rear: float) -> bool:
    """Whether j on a lane, in a queue, goes before i, beside it, is let in: those of two lanes take turns.

    Not if j wants to go where i comes from. rear: m along the lane of i, which would come before j.
    """
    close = rear - veh.s[j] < NEXT_WITHIN and veh.speed[j] < ZIP_SPEED
    onwards = (veh.wanted[j] - lane) * (lane - veh.lane[i]) >= 0
    return veh.goes_next[j] and close and onwards and not stands_for_long(veh, j)


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
        if v < ZIP_SPEED and has_its_turn(veh, i, j, lane, rear):
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
