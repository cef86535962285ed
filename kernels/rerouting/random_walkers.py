"""Random walkers before a full exit: bound nowhere, they take another one that has room.

Drawn among those with room that are as good; who took one asks there from the next frame on.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import PATH, STREAM_EXIT, Grants, Order, Types, Vehicles
from rushhour.kernels.junctions.queue_ends import queue_end
from rushhour.kernels.rerouting.stuck import faces_full_exit, is_drawn
from rushhour.kernels.routing.way_ahead import best_exit, draw_exit, goodness


@kernel
def has_space(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, lane: int,
    length: float,
) -> bool:  # fmt: skip
    """Whether a lane takes one more vehicle of a length, beside those to whom room there is promised."""
    now, closed, _, _ = queue_end(net, veh, order, lane, rules.queue_gap)
    return max(now, closed) >= grants.reserved[lane] + grants.wished[lane] + length


@kernel
def draw_exit_with_room(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, full: int,
    permission: int, seed: int,
) -> None:  # fmt: skip
    """Where walker i has drawn connector `full`, or another without room beyond: draw one of those
    with room, if there are any."""
    k = veh.path[i, 0]
    if k < 0:
        return
    lane, length = veh.lane[i], veh.length[i]
    to = net.connectors.to_lane[k]
    if k != full and has_space(net, veh, order, grants, rules, to, length):
        return
    best = best_exit(net, lane, permission)
    first, last = net.lanes.out_start[lane], net.lanes.out_start[lane + 1]
    with_room = np.uint64(0)
    usable = 0
    for k in range(first, min(last, first + 64)):
        to = net.connectors.to_lane[k]
        good = k != full and goodness(net, lane, k, permission) == best
        if good and has_space(net, veh, order, grants, rules, to, length):
            with_room |= np.uint64(1) << np.uint64(k - first)
            usable += 1
    if usable == 0:
        return
    stream = STREAM_EXIT + 64 * veh.minds[i]
    pick = int(usable * uniform(seed, veh.id[i], veh.draws[i] + PATH, stream))
    for k in range(first, min(last, first + 64)):
        if with_room >> np.uint64(k - first) & np.uint64(1):
            if pick == 0:
                veh.path[i, 0] = k
                break
            pick -= 1
    here = net.connectors.to_lane[veh.path[i, 0]]
    for q in range(1, PATH):
        u = uniform(seed, veh.id[i], veh.draws[i] + q, stream)
        k = draw_exit(net, here, permission, u) if here >= 0 else -1
        veh.path[i, q] = k
        here = net.connectors.to_lane[k] if k >= 0 else -1


@kernel
def turn_off(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, rules: Rules,
    frame: int, patience: int, share: float, seed: int, first: int, last: int,
    counted: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Let the walkers that head a road lane of first .. last - 1, patience frames before a full exit, take one with room.

    share: of them, drawn anew after every `patience` frames. Returns how many found one on lanes that
    are `counted`, (n_lanes,).
    """
    turned = 0
    for lane in range(first, last):
        if order.start[lane] == order.start[lane + 1]:
            continue
        i = order.slot[order.start[lane]]
        if veh.leg[i] >= 0 or veh.lane[i] != lane or not faces_full_exit(veh, i):
            continue
        if not is_drawn(veh, i, frame, patience, share, seed):
            continue
        full = veh.path[i, 0]
        veh.minds[i] += 1
        permission = types.permission[veh.type[i]]
        draw_exit_with_room(net, veh, order, grants, rules, i, full, permission, seed)
        if veh.path[i, 0] == full:
            veh.minds[i] -= 1
            continue
        veh.overtaken[i] = 0
        veh.full_since[i] = frame
        turned += counted[lane]
    return turned
