"""The review before grants are given: who asks for one, and from whom it is taken back.

Source: right-of-way.md section 2. From the head of each lane back: holders are noted, grants are
taken back where the light or the room is gone and the vehicle can still stop, and the first one
without a grant that is close enough becomes the lane's candidate.
"""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    GROUP_LENGTH,
    JOINTS,
    RED,
    NetworkArrays,
)
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import (
    BODY,
    CONFLICT,
    EXIT_FULL,
    FREE,
    PATH,
    RED_LIGHT,
    STARTING,
    STOP_SIGN,
    Grants,
    Order,
    Types,
    Vehicles,
)
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.following.halting import halts_before
from rushhour.kernels.junctions.barring_bodies import bars_way
from rushhour.kernels.junctions.chain_lights import (
    has_lost_green,
)
from rushhour.kernels.junctions.exit_room import chain_length
from rushhour.kernels.junctions.grant_chains import nobody_between
from rushhour.kernels.junctions.grant_holders import behind_line, has_grant, note_holder, wish
from rushhour.kernels.junctions.kept_grants import (
    give_back_later_lines,
    has_lost_room,
    keeps_grant,
    led_to_by_joint,
    room_to_stop,
)
from rushhour.kernels.junctions.permissive_places import waits_on
from rushhour.kernels.junctions.waking import Awake
from rushhour.kernels.junctions.zone_yielding import let_inside_go_first

LINE_ZONE = 2.0  # m before the stop line within which a standing vehicle has arrived
HELD_UP = 3.0  # s of standing behind others after which a grant is of no use, and holds up others
HELD = 0  # has its grant
REVOKED = 1  # lost it, and so do all behind
NOT_YET = 2  # does not ask; nobody behind may
ASKS = 3


@kernel
def is_near(
    net: NetworkArrays, veh: Vehicles, types: Types, rules: Rules, i: int, d: float, dt: float
) -> bool:
    """Whether a line d m ahead would slow i down from the next frame on.

    It asks no earlier: whoever holds a grant for longer keeps others waiting for longer.
    """
    t = veh.type[i]
    v = veh.speed[i]
    most = min(veh.top[i], net.lanes.speed[veh.lane[i]] * veh.factor[i])
    w = min(v + types.accel[t] * dt, max(v, most))
    return d <= stopping_distance(w, types.decel[t]) + w * dt + LINE_ZONE + rules.stop_offset


@kernel
def line_reach(speed: float) -> float:
    """How far before its line (m) a lane with a limit of `speed` is looked at."""
    fast = 1.2 * speed
    return fast * fast / 3.0 + 2.0 * fast + 10.0


@kernel
def somebody_comes(net: NetworkArrays, grants: Grants, lane: int) -> bool:
    """Whether somebody who was let onto a short lane may be in the intersection before it."""
    return net.lanes.length[lane] < GROUP_LENGTH and grants.reserved[lane] > 0.0


@kernel
def is_held_up(veh: Vehicles, i: int, frame: int, dt: float) -> bool:
    """Whether i stands for so long behind others that it neither asks for a grant nor keeps one.

    Not who is starting: nothing else holds it, and a grant that is given anew starts its reaction anew.
    """
    if veh.reason[i] == STARTING:
        return False
    since = veh.stands_since[i]
    return since >= 0 and (frame - since) * dt >= HELD_UP and veh.speed[i] < 0.1


@kernel
def next_line(net: NetworkArrays, veh: Vehicles, i: int) -> tuple[int, float]:
    """Place in path of the connector behind the next line of i, past joints, and metres to it, for
    who is on a connector."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    k = veh.lane[i] - n_road_lanes
    d = net.lanes.length[veh.lane[i]] - veh.s[i] + net.lanes.length[net.connectors.to_lane[k]]
    for q in range(PATH):
        k = veh.path[i, q]
        if k < 0 or not net.connectors.free[k]:
            return q, d
        d += net.lanes.length[n_road_lanes + k] + net.lanes.length[net.connectors.to_lane[k]]
    return PATH, d


@kernel(forceinline=True)
def give_back_inside(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    awake: Awake, x: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Take the grants for lines further on from those in intersection x who stand behind others, and
    from those whose light there has closed, and who can stop before it with all who follow."""
    if awake.inside[x] != frame:
        return
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    inter = net.intersections
    for c in range(inter.connector_start[x], inter.connector_start[x + 1]):
        if awake.used[c] != frame:
            continue
        lane = n_road_lanes + inter.connector[c]
        for p in range(order.start[lane], order.start[lane + 1]):
            i = order.slot[p]
            if veh.granted[i] == 0:
                continue
            if is_held_up(veh, i, frame, dt):
                veh.granted[i] = 0
                veh.refused[i] = CONFLICT
                continue
            line, d = next_line(net, veh, i)
            if veh.granted[i] > line and not keeps_grant(
                net, veh, types, order, grants, rules, i, line, d, frame, dt
            ):
                veh.granted[i] = 0
                veh.refused[i] = RED_LIGHT


@kernel
def asks_inside(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    lane: int, frame: int, dt: float,
) -> int:  # fmt: skip
    """The vehicle that asks for the line of a short lane while it is in the intersection before.

    Without this each would slow down for a line that comes sooner than it could stop. -1 if there
    is none, or if two come by different ways: which of them will be first is open.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    i = -1
    for x in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        k = net.lanes.in_connector[x]
        if net.connectors.free[k]:
            return -1
        inside = n_road_lanes + k
        for p in range(order.start[inside], order.start[inside + 1]):
            j = order.slot[p]
            if not has_grant(veh, j, behind_line(net, veh, j)):
                if i >= 0:
                    return -1
                i = j
                break
    if i < 0 or is_held_up(veh, i, frame, dt):
        return -1
    if waits_on(veh, grants, i, veh.lane[i] - n_road_lanes):
        return -1  # a new grant would end its waiting
    k = veh.path[i, 0]
    d = net.lanes.length[veh.lane[i]] - veh.s[i] + net.lanes.length[lane]
    if k < 0 or net.connectors.free[k] or net.connectors.must_stop[k]:
        return -1
    if net.connectors.signal[k] >= 0 and grants.light[k] == RED:
        return -1
    # Who has waited inside starts late: it asks at once, as those behind it count on its room.
    waited = grants.pocket[veh.lane[i] - n_road_lanes] > 0.0
    if not waited and not is_near(net, veh, types, rules, i, d, dt):
        return -1
    if halts_before(veh, types, i, d, dt):
        return -1
    veh.line[i] = 0
    return i


@kernel(forceinline=True)
def without_grant(veh: Vehicles, i: int, line: int, reason: int) -> int:
    """Take a grant for path[line] from i, if it has one, and note why; REVOKED, else NOT_YET."""
    if veh.granted[i] <= line:
        return NOT_YET
    veh.granted[i] = 0
    veh.refused[i] = reason
    return REVOKED


@kernel(forceinline=True)
def review_vehicle(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, line: int, d: float, head: bool, frame: int, dt: float,
) -> int:  # fmt: skip
    """HELD, REVOKED, NOT_YET or ASKS for a vehicle d m before the line of its path[line].

    head: nobody is between it and the line. Who changes lane in this frame stays before the line.
    """
    if veh.change_to[i] >= 0 or halts_before(veh, types, i, d, dt):
        return without_grant(veh, i, line, FREE)
    if not head and is_held_up(veh, i, frame, dt):
        # The queue before it may never move: what it holds would keep others from ever going.
        return without_grant(veh, i, line, CONFLICT)
    if veh.granted[i] > line:
        give_back_later_lines(net, veh, types, order, grants, rules, i, line, d, dt)
        if not keeps_grant(net, veh, types, order, grants, rules, i, line, d, frame, dt):
            veh.refused[i] = RED_LIGHT
        elif has_lost_room(net, veh, types, order, grants, rules, i, line, d, frame, dt):
            veh.refused[i] = EXIT_FULL
        elif d > room_to_stop(veh, types, rules, i, dt) and bars_way(
            net, veh, types, grants, i, line, veh.granted[i], d, 0.0
        ):
            veh.refused[i] = BODY
        else:
            let_inside_go_first(net, veh, order, i, line, d, frame, dt)
            note_holder(net, veh, grants, rules, i)
            return HELD
        veh.granted[i] = 0
        return REVOKED
    v = veh.speed[i]
    # Who has just departed has not stood yet.
    stands = v < 0.1 and veh.stands_since[i] >= 0
    if head and veh.arrived[i] < 0 and stands and d <= LINE_ZONE + rules.stop_offset:
        veh.arrived[i] = frame
    k = veh.path[i, line]
    if k < 0:
        return NOT_YET
    if not is_near(net, veh, types, rules, i, d, dt):
        return NOT_YET
    if net.connectors.must_stop[k] and (not head or veh.arrived[i] < 0):
        veh.refused[i] = STOP_SIGN
        return NOT_YET
    if net.connectors.signal[k] >= 0 and grants.light[k] == RED:
        veh.refused[i] = RED_LIGHT
        veh.line[i] = line
        if not has_lost_green(net, veh, grants, i, frame, dt):
            veh.full_since[i] = -1
        else:
            # Its exit was full in its last green: the room that comes is its own by now.
            n, _ = chain_length(net, veh, i, rules.stop_offset)
            if nobody_between(net, veh, order, grants, i, n):
                wish(veh, grants, rules, i, net.connectors.to_lane[veh.path[i, n - 1]])
        return NOT_YET
    veh.line[i] = line
    return ASKS


@kernel(forceinline=True)
def review_follower(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, line: int,
    d: float, revoked: bool, frame: int, dt: float,
) -> None:  # fmt: skip
    """Note i, d m before the line of its path[line], as a holder if it is one, or take its grant back.

    Somebody ahead has none: it lost it (revoked), or changed lane to before a holder, who still is one.
    """
    if veh.granted[i] <= line:
        return
    if revoked:
        veh.granted[i] = 0
        veh.refused[i] = RED_LIGHT
    elif is_held_up(veh, i, frame, dt):
        # Behind one that asks for the very room that it holds it would wait for ever.
        veh.granted[i] = 0
        veh.refused[i] = CONFLICT
    else:
        let_inside_go_first(net, veh, order, i, line, d, frame, dt)
        note_holder(net, veh, grants, rules, i)


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
    reach = line_reach(net.lanes.speed[lane])
    while True:
        on_connector = here >= n_road_lanes
        for p in range(order.start[here], order.start[here + 1]):
            i = order.slot[p]
            if closed and veh.granted[i] == 0:
                continue  # most of a queue: nothing to take back, nothing to ask
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
                review_follower(net, veh, order, grants, rules, i, at, d, revoked, frame, dt)
                continue
            what = review_vehicle(net, veh, types, order, grants, rules, i, at, d, head, frame, dt)
            head = False
            revoked = what == REVOKED
            closed = what == NOT_YET or what == ASKS
            if what == ASKS:
                candidate = i
        dist += net.lanes.length[here]
        if on_connector:
            here = net.connectors.from_lane[here - n_road_lanes]
            continue
        if line >= JOINTS or dist > reach or not led_to_by_joint(net, here):
            break
        k = net.lanes.in_connector[net.lanes.in_start[here]]
        if line == 0:
            last = k
        line += 1
        here = n_road_lanes + k
    if not closed and not revoked and line == 0 and somebody_comes(net, grants, lane):
        return asks_inside(net, veh, types, order, grants, rules, lane, frame, dt)
    return candidate
