"""Who keeps its grant: as long as the light and the room beyond are there, or it cannot stop any more.

Source: right-of-way.md section 2.
"""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    GROUP_LENGTH,
    JOINTS,
    RED,
    YELLOW,
    NetworkArrays,
)
from rushhour.kernels.core.rules import CLOSEST, LAST_PLACE, Rules
from rushhour.kernels.core.vehicles import Grants, Order, Types, Vehicles
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.junctions.chain_lights import turns_across, waits_for_first, worst_light
from rushhour.kernels.junctions.exit_room import has_room

CREEPS = 2.0  # m/s, below which one stands within half a second
LEFT_AT_YELLOW = 4.0  # m; a left turn that waits this close may go at yellow


@kernel
def room_to_stop(veh: Vehicles, types: Types, rules: Rules, i: int, dt: float) -> float:
    """Metres before its line from which i can still stop there comfortably, if need be closer to it
    than usual: who has just set off beyond the place where others stop can."""
    v = veh.speed[i]
    closest = min(rules.stop_offset, CLOSEST)
    return stopping_distance(v, types.decel[veh.type[i]]) + v * dt + closest


@kernel
def led_to_by_joint(net: NetworkArrays, lane: int) -> bool:
    """Whether the only way into a road lane is a connector that needs no grant."""
    at = net.lanes.in_start[lane]
    return (
        net.lanes.in_start[lane + 1] - at == 1 and net.connectors.free[net.lanes.in_connector[at]]
    )


@kernel
def rear_beyond(net: NetworkArrays, veh: Vehicles, rules: Rules, i: int, d: float) -> float:
    """Metres by which the rear of i is beyond the line before, once it has stopped at the line d m
    ahead; from inside an intersection beyond the end of that."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    here = veh.lane[i]
    rear = veh.s[i] + d - rules.stop_offset - veh.length[i]
    if here >= n_road_lanes and not net.connectors.free[here - n_road_lanes]:
        return float(rear - net.lanes.length[here])
    for _ in range(JOINTS):
        if here >= n_road_lanes:
            here = net.connectors.from_lane[here - n_road_lanes]
            rear += net.lanes.length[here]
        elif led_to_by_joint(net, here):
            here = n_road_lanes + net.lanes.in_connector[net.lanes.in_start[here]]
            rear += net.lanes.length[here]
        else:
            break
    return float(rear)


@kernel
def queue_of(veh: Vehicles, order: Order, lane: int, front: float, gap: float) -> float:
    """Metres that those on a lane with their front before `front` take in a queue, gap m apart."""
    total = 0.0
    for q in range(order.start[lane], order.start[lane + 1]):
        j = order.slot[q]
        if veh.s[j] < front:
            total += veh.length[j] + gap
    return total


@kernel
def followers_take(net: NetworkArrays, veh: Vehicles, order: Order, i: int, gap: float) -> float:
    """Metres that those take in a queue, gap m apart, who follow i on its road, joints counted as
    part of it, or come onto that road out of the intersection before."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    here, front = veh.lane[i], veh.s[i]
    total = 0.0
    if here >= n_road_lanes and not net.connectors.free[here - n_road_lanes]:
        here = net.connectors.to_lane[here - n_road_lanes]
    else:
        for _ in range(JOINTS):
            total += queue_of(veh, order, here, front, gap)
            front = inf
            if here >= n_road_lanes:
                here = net.connectors.from_lane[here - n_road_lanes]
            elif led_to_by_joint(net, here):
                here = n_road_lanes + net.lanes.in_connector[net.lanes.in_start[here]]
            else:
                break
    if here >= n_road_lanes:
        return total
    for x in range(net.lanes.in_start[here], net.lanes.in_start[here + 1]):
        k = net.lanes.in_connector[x]
        if not net.connectors.free[k]:
            lane = n_road_lanes + k
            total += queue_of(veh, order, lane, veh.s[i] if lane == veh.lane[i] else inf, gap)
    return total


@kernel
def keeps_grant(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, line: int, d: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether a vehicle d m before its line still has green, or can no longer stop."""
    first_only = waits_for_first(net, veh, grants, i, frame, dt)
    light = worst_light(net, veh, grants, i, veh.granted[i], first_only)
    if light != RED and light != YELLOW:
        return True
    v = veh.speed[i]
    lane = veh.lane[i]
    inside = lane >= net.lanes.out_start.shape[0] - 1
    short = inside or (net.lanes.length[lane] < GROUP_LENGTH and (v > 0.5 or light == YELLOW))
    if short and (
        rear_beyond(net, veh, rules, i, d) < followers_take(net, veh, order, i, rules.queue_gap)
    ):
        return True  # it is between two lines that it may pass together, others follow, no room
    if v < 0.5 and light == RED:
        return False
    if light == YELLOW and d < LEFT_AT_YELLOW and turns_across(net, rules, veh.path[i, line]):
        return True
    room = room_to_stop(veh, types, rules, i, dt)
    if light == RED:  # no yellow came before it: whoever can, stops, be it at the line itself
        room -= min(rules.stop_offset, CLOSEST)
        if v < CREEPS:  # it has set off at yellow: in this very frame
            room = stopping_distance(v, types.emergency[veh.type[i]]) + LAST_PLACE
    return d <= room


@kernel
def has_lost_room(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, line: int, d: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether a holder that can still stop d m before its line finds no room beyond any more.

    Somebody ahead whose going on was counted on may have lost its green, or its way.
    """
    if d <= room_to_stop(veh, types, rules, i, dt):
        return False
    if grants.waived[veh.path[i, line]] >= frame:
        return False
    return not has_room(net, veh, order, grants, rules, i, veh.granted[i], dt)


@kernel
def give_back_later_lines(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, line: int, d: float, dt: float,
) -> None:  # fmt: skip
    """Shorten the grant of a vehicle d m before path[line] that covers a later line, not green now.

    Where it can stop before that line, and the lanes before it hold it, it waits there.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    room = room_to_stop(veh, types, rules, i, dt)
    held = 0.0  # m of lanes since the line before, on which it could wait
    last = line + 1
    for q in range(line, veh.granted[i]):
        k = veh.path[i, q]
        if q > line and not net.connectors.free[k]:
            light = grants.light[k]
            closed = net.connectors.signal[k] >= 0 and (light == RED or light == YELLOW)
            if closed and d > room and held >= veh.length[i] + rules.stop_offset:
                if has_room(net, veh, order, grants, rules, i, last, dt):
                    veh.granted[i] = last
                return
            held = 0.0
            last = q + 1
        length = net.lanes.length[net.connectors.to_lane[k]]
        held += length
        d += net.lanes.length[n_road_lanes + k] + length
        if net.connectors.free[k]:
            held += net.lanes.length[n_road_lanes + k]
