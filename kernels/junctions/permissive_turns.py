"""Waiting inside: who turns across oncoming traffic at green pulls forward to wait for its gap there.

At a light a driver that turns left (right, where traffic keeps left) enters at green, stands before
the zones that it shares with others that have green with it, and goes in a gap, or when their green
has ended: one or two in each cycle, *sneakers*. Until then all of these go before it, as if it stood
at the line; for everybody else it is in the way. Its stamp is WAITS_INSIDE meanwhile. Source: HCM 7,
chapter 31.
"""

from math import inf

import numpy as np

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import GROUP_LENGTH, OFF, NetworkArrays
from rushhour.kernels.core.obstacles import any_bodies
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import (
    BODY,
    CONFLICT,
    EXIT_FULL,
    STAMPS,
    YIELDS,
    Grants,
    Order,
    Types,
    Vehicles,
)
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.junctions.barring_bodies import bars_connector
from rushhour.kernels.junctions.exit_room import has_room
from rushhour.kernels.junctions.gap_acceptance import gap_blocker_on, is_clear_on
from rushhour.kernels.junctions.grant_holders import note_tail, reserve, to_path
from rushhour.kernels.junctions.permissive_places import is_green, somebody_must_leave

GAP_SHARE = 0.8  # of the critical gap, which is that of one at the line
MARGIN = 0.6  # s between a user of a zone and one who waits just before it


@kernel
def may_wait_inside(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    i: int, n: int, ahead: float, reaction: float, margin: float, dt: float,
) -> bool:  # fmt: skip
    """Whether candidate i, who turns across others at green, may enter to wait for its gap inside."""
    k = veh.path[i, 0]
    if n != 1 or grants.pocket[k] <= 0.0 or not is_green(grants, k):
        return False
    if net.lanes.length[net.connectors.to_lane[k]] < GROUP_LENGTH:
        return False  # others with green fill so short a road, and may wait there for what it bars
    if (
        veh.lane[i] >= net.lanes.out_start.shape[0] - 1
        or net.connectors.from_lane[k] != veh.lane[i]
        or somebody_must_leave(net, grants, k)
    ):
        return False
    v_max = aimed_speed(net, veh, types, i, veh.lane[i])
    j, _, _ = is_clear_on(
        net, veh, types, order, grants, rules, i, k, ahead, grants.pocket[k], reaction, v_max, margin,
        1.0, 1.0, False, True, dt,
    )  # fmt: skip
    return j < 0


@kernel
def let_waiting_go(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    x: int, serial: int, frame: int, dt: float,
) -> int:  # fmt: skip
    """Let those go on who wait inside intersection x, or come to do so, where the gap is enough, or
    nobody comes any more; returns how many grants its group has given (serial + ...)."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    inter = net.intersections
    for y in range(inter.connector_start[x], inter.connector_start[x + 1]):
        k = inter.connector[y]
        i = grants.waiter[k]
        if i < 0:
            continue
        inside = veh.lane[i] == n_road_lanes + k
        ahead = -veh.s[i] if inside else to_path(net, veh, i)
        v_max = aimed_speed(net, veh, types, i, n_road_lanes + k)
        reason = CONFLICT
        j, cut, cut_stamp = is_clear_on(
            net, veh, types, order, grants, rules, i, k, ahead, inf, 0.0, v_max,
            MARGIN, 1.0, 1.0, True, True, dt,
        )  # fmt: skip
        if j < 0 and (is_green(grants, k) or grants.light[k] == OFF):
            reason = YIELDS
            j = gap_blocker_on(net, veh, types, order, grants, i, k, ahead, True, GAP_SHARE, 1.0)
        entered = 1 if inside else 0
        barred = j >= 0
        if not barred and grants.waived[k] < frame:
            barred, reason = (
                not has_room(net, veh, order, grants, rules, i, 1 - entered, dt),
                EXIT_FULL,
            )
        if barred:
            veh.refused[i] = reason
            veh.blocker[i] = veh.id[j] if j >= 0 else -1
            # Nobody whose grant comes later takes its place.
            reserve(net, veh, grants, rules, i, net.connectors.to_lane[k], entered, 1 - entered)
            continue
        if any_bodies(grants.obstacles):
            if bars_connector(net, veh, types, grants, i, k, ahead, v_max, 0.0):
                veh.refused[i] = BODY
                veh.blocker[i] = -1
                continue
        veh.stamp[i] = np.int64(frame) * STAMPS + serial
        veh.cut[i], veh.cut_stamp[i] = cut, cut_stamp
        veh.refused[i] = 0
        serial += 1
        grants.waiter[k] = -1
        reserve(net, veh, grants, rules, i, net.connectors.to_lane[k], entered, 1 - entered)
        note_tail(net, grants, veh, k, -ahead - veh.length[i], i)
    return serial
