"""How fast a vehicle may go for what lies ahead of it: lines, others on connectors, lower limits, the end
of its lane, the stop of its trip.

Each answers for one thing at one place, in m/s, and says why where that is not plain; inf: as fast as
it likes. None writes anything.
"""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import SIGNAL, NetworkArrays
from rushhour.kernels.core.rules import CLOSEST, Rules
from rushhour.kernels.core.trips import has_stops
from rushhour.kernels.core.vehicles import (
    AT_STOP,
    CONFLICT,
    CURVE,
    FREE,
    LANE_CHANGE,
    LEADER,
    RED_LIGHT,
    SPEED_LIMIT_AHEAD,
    STARTING,
    STOP_SIGN,
    YIELDS,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.following.car_following import approach_speed
from rushhour.kernels.following.lane_gaps import place_behind, place_beside
from rushhour.kernels.following.stop_signs import ROLLS, gentle_stop, stops_at
from rushhour.kernels.junctions.diverging import Partings, parted_speed
from rushhour.kernels.junctions.grant_holders import swap_room
from rushhour.kernels.junctions.permissive_places import waits_on
from rushhour.kernels.junctions.zone_yielding import zone_speed

STOP_ROOM = 10.0  # m before the place of its stop where a vehicle on another lane waits
SIGHT = 4.5  # m before a yield line where a driver sees all who go first
SIGHT_SPEED = 6.4  # m/s, at which it comes there


@kernel
def sight_speed(
    net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, k: int, d: float, decel: float,
    dt: float,
) -> float:  # fmt: skip
    """Speed (m/s) at which i, d m before connector k, comes to where it sees who goes first: it could
    still stop at the line, if hard. inf from there on, and where it yields to nobody, zips in, or has a
    light."""
    if d <= SIGHT or grants.critical_gap[k] <= 0.0 or grants.zips[k]:
        return inf
    if net.connectors.signal[k] >= 0:
        return inf
    return approach_speed(veh.speed[i], d - SIGHT, SIGHT_SPEED, decel, dt)


@kernel(forceinline=True)
def free_before_stop(
    veh: Vehicles, routes: Routes, order: Order, lane: int, place: int, min_gap: float
) -> float:
    """How far (m along a lane) somebody who must come to it may go beside it; inf.

    Whoever is at a stop there, or on its way to one or out again, must be able to leave the lane:
    one who waits for the stop on the neighbouring lane stays behind it. place: of the order, behind
    the leader on that lane.
    """
    if place > order.start[lane]:
        j = order.slot[place - 1]
        stops = has_stops(veh, routes, j) and routes.stop_lane[veh.stop[j]] == lane
        if stops or veh.wanted[j] != lane:
            return veh.s[j] - veh.length[j] - min_gap
    return inf


@kernel(forceinline=True)
def why_refused(veh: Vehicles, i: int) -> int:
    """Why i may not go on where it waits inside an intersection."""
    return int(veh.refused[i]) if veh.refused[i] != FREE else YIELDS


@kernel(forceinline=True)
def speed_over(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, partings: Partings,
    i: int, k: int, d: float, decel: float, dt: float,
) -> tuple[float, int, int, int, float]:  # fmt: skip
    """Speed (m/s) that others allow i over connector k, d m ahead, why and by whom; and who merges
    before it, with the gap to its rear (m); see `zone_speed`."""
    most, merges, opening = inf, -1, inf
    reason, blocker = CONFLICT, -1
    if d < 0.0 or not net.connectors.free[k]:
        most, merges, opening = zone_speed(net, veh, types, order, grants, i, k, d, dt)
        if waits_on(veh, grants, i, k):
            limit = approach_speed(veh.speed[i], d + grants.pocket[k], 0.0, decel, dt)
            if limit < most:
                most, reason, blocker = limit, why_refused(veh, i), veh.blocker[i]
    limit, other = parted_speed(net, veh, types, order, partings, i, k, d, dt)
    if limit < most:
        most, reason, blocker = limit, LEADER, veh.id[other]
    return most, reason, blocker, merges, opening


@kernel(forceinline=True)
def speed_to_end(
    net: NetworkArrays, veh: Vehicles, rules: Rules, i: int, q: int, d: float, decel: float, dt: float
) -> float:  # fmt: skip
    """Speed (m/s) at which i comes to the end of the lane, d m ahead, behind which its path ends after q
    connectors: where that does not lead on it stops before it, to change lane. inf: it may go on."""
    lane = veh.lane[i]
    on_connector = lane >= net.lanes.out_start.shape[0] - 1
    routed = veh.leg[i] >= 0
    # The leg counts the road before a connector, the way on is that of the road behind it.
    if routed and veh.leg[i] + (2 if on_connector else 1) + q >= veh.route_end[i]:
        return inf
    changes = q == 0 and not on_connector and veh.wanted[i] != lane
    if not routed and not changes:
        return inf
    halt = d - rules.stop_offset
    if changes and veh.wanted[i] > lane:
        # Those who want to the left leave room at the line for those who want to the right: two
        # heads that must swap lanes can.
        halt -= swap_room(net, lane, veh.length[i], rules.stop_offset)
    return approach_speed(veh.speed[i], halt, 0.0, decel, dt)


@kernel(forceinline=True)
def speed_to_line(
    net: NetworkArrays, veh: Vehicles, rules: Rules, i: int, k: int, granted: bool, d: float,
    decel: float, dt: float,
) -> tuple[float, int, int]:  # fmt: skip
    """Speed (m/s) at which i comes to the line before connector k, d m ahead, that it may not cross yet,
    why, and for whom. granted: it may, once it has reacted."""
    spare = net.lanes.length[net.connectors.from_lane[k]] - veh.length[i]
    halt = d - max(CLOSEST, min(rules.stop_offset, spare))  # closer where its rear needs it
    limit = approach_speed(veh.speed[i], halt, 0.0, decel, dt)
    if net.connectors.must_stop[k] and not veh.queued[i]:
        limit = min(limit, gentle_stop(veh.speed[i], halt, rules.stop_braking, dt))
    reason = STARTING if granted else int(veh.refused[i])
    if reason == FREE:
        signal = net.intersections.control[net.connectors.intersection[k]] == SIGNAL
        reason = RED_LIGHT if signal else YIELDS
    return limit, reason, int(veh.blocker[i]) if reason in (CONFLICT, YIELDS) else -1


@kernel(forceinline=True)
def speed_to_slower(
    net: NetworkArrays, veh: Vehicles, rules: Rules, i: int, lane: int, rolls: bool, d: float, dt: float
) -> tuple[float, int]:  # fmt: skip
    """Speed (m/s) at which i comes to a lane or connector d m ahead with a lower limit or a bend, and
    why; inf. rolls: it rolls through a stop sign there."""
    end = min(net.lanes.speed[lane] * veh.factor[i], net.lanes.entry_speed[lane])
    if rolls:
        end = min(end, ROLLS)
    if end >= veh.speed[i]:
        return inf, FREE
    reason = CURVE if net.lanes.entry_speed[lane] == end else SPEED_LIMIT_AHEAD
    limit = approach_speed(veh.speed[i], d, end, rules.curve_braking, dt)
    return limit, STOP_SIGN if rolls else reason


@kernel(forceinline=True)
def speed_onto(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, partings: Partings,
    rules: Rules, i: int, k: int, q: int, d: float, decel: float, dt: float,
) -> tuple[float, int, int, int, float]:  # fmt: skip
    """Speed (m/s) at which i comes to connector k = path[q], d m ahead, that it may take: for its limit and
    bends, for what it must see first, and as `speed_over`, with all that this says."""
    rolls = stops_at(net, veh, i, q)
    on = net.lanes.out_start.shape[0] - 1 + k
    most, reason = speed_to_slower(net, veh, rules, i, on, rolls, d, dt)
    blocker = -1
    if not net.connectors.free[k]:
        limit = sight_speed(net, veh, grants, i, k, d, decel, dt)
        if limit < most:
            most, reason = limit, YIELDS
    limit, why, whom, merges, opening = speed_over(
        net, veh, types, order, grants, partings, i, k, d, decel, dt
    )
    if limit < most:
        most, reason, blocker = limit, why, whom
    return most, reason, blocker, merges, opening


@kernel(forceinline=True)
def speed_to_stop(
    net: NetworkArrays, veh: Vehicles, routes: Routes, order: Order, i: int, min_gap: float,
    decel: float, dt: float,
) -> tuple[float, int]:  # fmt: skip
    """Speed (m/s) at which i, on the road of the stop of its trip, comes to it, and why: beside it, on
    another lane, it waits for room to change. inf where the stop is elsewhere."""
    lane, s, v = veh.lane[i], veh.s[i], veh.speed[i]
    at, stop_lane = routes.stop_pos[veh.stop[i]], routes.stop_lane[veh.stop[i]]
    if stop_lane == lane:
        limit = approach_speed(v, at - s, 0.0, decel, dt)
        return 0.0 if veh.dwell_until[i] >= 0 else limit, AT_STOP
    if net.lanes.road[stop_lane] == net.lanes.road[lane] and veh.wanted[i] != lane:
        room = place_beside(net, stop_lane, lane, at) - s
        if room > 0.0 and veh.granted[i] == 0:
            beside = place_beside(net, lane, stop_lane, s)
            place = place_behind(veh, order, stop_lane, beside)
            free = free_before_stop(veh, routes, order, stop_lane, place, min_gap) - beside
            if free > 0.0:
                room = min(room, free + STOP_ROOM)
            return approach_speed(v, room - STOP_ROOM, 0.0, decel, dt), LANE_CHANGE
    return inf, AT_STOP


@kernel(forceinline=True)
def speed_to_later_stop(
    net: NetworkArrays, veh: Vehicles, routes: Routes, order: Order, i: int, road_lane: int, d: float,
    min_gap: float, decel: float, dt: float,
) -> float:  # fmt: skip
    """Speed (m/s) at which i comes to the stop of its trip, if that is on the road of a lane d m ahead."""
    stop_lane = routes.stop_lane[veh.stop[i]]
    if net.lanes.road[stop_lane] != net.lanes.road[road_lane]:
        return inf
    place = d + routes.stop_pos[veh.stop[i]]
    if stop_lane != road_lane:
        end = order.start[stop_lane + 1]
        free = free_before_stop(veh, routes, order, stop_lane, end, min_gap)
        place = min(place - STOP_ROOM, d + max(0.0, free))
    return approach_speed(veh.speed[i], place, 0.0, decel, dt)


@kernel(forceinline=True)
def speed_to_lane(
    net: NetworkArrays, veh: Vehicles, routes: Routes, order: Order, rules: Rules, i: int,
    road_lane: int, stops: bool, d: float, min_gap: float, decel: float, dt: float,
) -> tuple[float, int]:  # fmt: skip
    """Speed (m/s) at which i comes to a road lane d m ahead, for its limit and bends and, where its trip
    stops once more, for a stop there; and why."""
    most, reason = speed_to_slower(net, veh, rules, i, road_lane, False, d, dt)
    if stops:
        limit = speed_to_later_stop(net, veh, routes, order, i, road_lane, d, min_gap, decel, dt)
        if limit < most:
            return limit, AT_STOP
    return most, reason
