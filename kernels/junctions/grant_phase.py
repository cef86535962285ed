"""The grant phase: who may enter an intersection.

A vehicle enters a connector only with a grant. Grants are given once a frame by each *grant group*
(intersections tied by links shorter than a vehicle), serially and in a fixed order within the
group; groups are processed side by side, as no two write the same vehicle, tail or reservation.
Source: right-of-way.md sections 1 and 2.
"""

import numpy as np
from numba import prange

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import ALL_WAY_STOP, NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import (
    HELD_INSIDE,
    STAMPS,
    WAITS_INSIDE,
    YIELDS,
    Grants,
    Order,
    Types,
    Vehicles,
)
from rushhour.kernels.junctions.arrival_order import goes_before
from rushhour.kernels.junctions.grant_holders import forget_group, note_holder, note_inside
from rushhour.kernels.junctions.grant_review import give_back_inside, review_lane
from rushhour.kernels.junctions.permissive_turns import let_waiting_go
from rushhour.kernels.junctions.right_of_way import REFUSED, TO_WAIT, try_grant
from rushhour.kernels.junctions.waking import Awake


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
        what = try_grant(
            net, veh, types, order, grants, rules, x, first, n, i, patient, frame, dt, seed
        )
        if what != REFUSED:
            veh.stamp[i] = np.int64(frame) * STAMPS + serial
            if what == TO_WAIT:
                veh.stamp[i] = WAITS_INSIDE
            serial += 1
            note_holder(net, veh, grants, rules, i)
        elif veh.refused[i] == YIELDS and veh.arrived[i] >= 0:
            yielding = True
    return serial


@kernel(forceinline=True)
def grant_group(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    awake: Awake, group: int, frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Run the grant phase of one group. Reads positions and speeds; writes grants, see module."""
    inter = net.intersections
    forget_group(net, grants, awake, group)
    lo, hi = inter.group_start[group], inter.group_start[group + 1]
    for g in range(lo, hi):
        give_back_inside(net, veh, types, order, grants, rules, awake, inter.group[g], frame, dt)
        note_inside(net, veh, order, grants, rules, awake, inter.group[g], frame)
    asking, waiting = False, False
    for g in range(lo, hi):
        x = inter.group[g]
        for y in range(inter.lane_start[x], inter.lane_start[x + 1]):
            if awake.asked[y] != frame:
                grants.candidate[y] = -1
                continue
            i = review_lane(net, veh, types, order, grants, rules, inter.lane[y], frame, dt)
            grants.candidate[y] = i
            asking = asking or i >= 0
        waiting = waiting or grants.held[x] == HELD_INSIDE
    serial = 0
    for g in range(lo, hi):
        if waiting and grants.held[inter.group[g]] == HELD_INSIDE:
            serial = let_waiting_go(
                net, veh, types, order, grants, rules, inter.group[g], serial, frame, dt
            )
    if not asking:
        return
    for g in range(lo, hi):
        serial = grant_intersection(
            net, veh, types, order, grants, rules, inter.group[g], serial, frame, dt, seed
        )


@kernel
def grant_groups(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    awake: Awake, task: int, frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Run the groups of one task."""
    for at in range(awake.group_cuts[task], awake.group_cuts[task + 1]):
        grant_group(net, veh, types, order, grants, rules, awake, awake.groups[at], frame, dt, seed)


@kernel(parallel=True)
def grant_all(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    awake: Awake, frame: int, dt: float, seed: int,
) -> None:  # fmt: skip
    """Run the grant phase of all groups that are awake, a task of about equal work at a time."""
    tasks = awake.tasks[0]
    for task in prange(tasks):
        grant_groups(net, veh, types, order, grants, rules, awake, task, frame, dt, seed)
