"""Pockets: how far one who turns across others at green pulls forward, and whom it is in the way of
there. See permissive_turns.py.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import GREEN, GREEN_YIELD, LEFT, RIGHT, NetworkArrays
from rushhour.kernels.core.vehicles import WAITS_INSIDE, Grants, Vehicles
from rushhour.kernels.signals.coupled_lights import green_with

KEPT_OFF = 1.0  # m before the first zone
LEAST_LANE = 40.0  # m before the line, below which its rear would reach into the crossing behind
LEAST_POCKET = 2.0  # m beyond the line, below which one waits at the line


@kernel
def pocket_of(net: NetworkArrays, left_hand: bool, k: int) -> float:
    """How far (m) along connector k one pulls forward to wait; 0: it waits at the line."""
    signal = net.connectors.signal[k] >= 0 and not net.connectors.must_stop[k]
    if not signal or net.connectors.turn[k] != (RIGHT if left_hand else LEFT):
        return 0.0
    if net.lanes.length[net.connectors.from_lane[k]] < LEAST_LANE:
        return 0.0
    first, yields = inf, False
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        o = net.conflicts.other[c]
        beside = net.conflicts.other[c : c + 1]
        if net.connectors.signal[o] >= 0 and not green_with(net, beside, 1, 1, k):
            continue
        yields = yields or net.conflicts.yields[c]
        first = min(first, net.conflicts.here_in[c])
    return first - KEPT_OFF if yields and first - KEPT_OFF >= LEAST_POCKET else 0.0


@kernel
def let_past(
    net: NetworkArrays, start: NDArray[np.int32], until: NDArray[np.float64], k: int, pocket: float
) -> float:
    """How long (m) one may be that waits inside on connector k and is in nobody's way who leaves its
    lane by another. start, until: see Partings."""
    first = net.lanes.out_start[net.connectors.from_lane[k]]
    apart = 0.0
    for other in range(first, net.lanes.out_start[net.connectors.from_lane[k] + 1]):
        if other != k and start[other] < start[other + 1]:
            apart = max(apart, until[start[other] + k - first])
    return pocket - apart


@kernel
def find_pockets(
    net: NetworkArrays, left_hand: bool, start: NDArray[np.int32], until: NDArray[np.float64],
    pocket: NDArray[np.float64], longest: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write how far along each connector a driver pulls forward to wait, m; 0: it does not. And how
    long it may be so that others of its lane, who leave it otherwise, get past it, m."""
    for k in range(pocket.shape[0]):
        pocket[k] = pocket_of(net, left_hand, k)
        longest[k] = let_past(net, start, until, k, pocket[k])


@kernel
def is_green(grants: Grants, k: int) -> bool:
    """Whether the light of connector k lets go now, be it to yield."""
    return bool(grants.light[k] == GREEN or grants.light[k] == GREEN_YIELD)


@kernel
def waits_on(veh: Vehicles, grants: Grants, i: int, k: int) -> bool:
    """Whether i, which is on connector k or has a grant for it, is to wait inside."""
    return bool(grants.pocket[k] > 0.0 and veh.stamp[i] >= WAITS_INSIDE)


@kernel
def waiter_bars(
    net: NetworkArrays, veh: Vehicles, grants: Grants, c: int, w: int, waits: bool
) -> bool:  # fmt: skip
    """Whether w, which waits on the other connector of conflict c, keeps others out of their zone:
    it stands in it, must be let go first, or has no green any more and is about to leave.

    waits: who asks waits inside itself; of two that do not stand in each other's way the first goes.
    """
    o = net.conflicts.other[c]
    if veh.lane[w] == net.lanes.out_start.shape[0] - 1 + o:
        if veh.s[w] - veh.length[w] >= net.conflicts.there_out[c]:
            return False
    if grants.pocket[o] > net.conflicts.there_in[c]:
        return True
    if waits:
        return False
    return not is_green(grants, o) or bool(net.conflicts.yields[c])


@kernel
def waiter_ahead(net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, k: int) -> int:
    """Slot of somebody from the lane before connector k that waits inside, or comes to; -1. Not i.

    Who follows it could be held up by it, while those whom it lets go first wait for that one; who
    leaves the lane otherwise and gets past it is not.
    """
    lane = net.connectors.from_lane[k]
    for out in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        w = grants.waiter[out]
        if w >= 0 and w != i and (out == k or veh.length[w] > grants.let_past[out]):
            return int(w)
    return -1


@kernel
def somebody_must_leave(net: NetworkArrays, grants: Grants, k: int) -> bool:
    """Whether somebody whose way crosses connector k waits inside though its green has ended."""
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        o = net.conflicts.other[c]
        if grants.waiter[o] >= 0 and not is_green(grants, o):
            return True
    return False
