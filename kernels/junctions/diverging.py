"""Parting: connectors out of one lane lie on each other at first, and who left by one is in the way
of those who leave by another until the two are a body's width apart.

Such connectors have no conflict: they are entered one after another, in the order of their lane.
Reads the state of others and writes nothing.
"""

from math import inf
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Order, Types, Vehicles
from rushhour.kernels.following.car_following import approach_speed, guard_speed

BODIES: Final = 2.3  # m between centre lines from which two bodies are clear, as of conflict zones
KEPT: Final = 1.0  # m kept to a rear that is about to be out of the way
LEAST_KEPT: Final = 0.5  # m never given up


class Partings(NamedTuple):
    """Where connectors part from the others out of their lane."""

    start: NDArray[np.int32]  # (n_connectors+1,) into `until`: all out of its lane; none if alone
    until: NDArray[np.float64]  # m along each of these, up to which a rear is in its way; own: 0


@kernel
def measure_partings(
    from_lane: NDArray[np.int32],
    out_start: NDArray[np.int32],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    s: NDArray[np.float64],
    sample: NDArray[np.int64],
    start: NDArray[np.int32],
    until: NDArray[np.float64],
) -> None:
    """Measure how long each connector out of a lane lies on each other one of that lane.

    x, y, s (m): samples of connector k at sample[k] .. sample[k+1]-1. Writes until, see Partings.
    """
    for k in range(start.shape[0] - 1):
        first = out_start[from_lane[k]]
        for e in range(start[k], start[k + 1]):
            other = first + e - start[k]
            until[e] = 0.0
            if other == k:
                continue
            for b in range(sample[other], sample[other + 1]):
                is_near = False
                for a in range(sample[k], sample[k + 1]):
                    dx, dy = x[a] - x[b], y[a] - y[b]
                    if dx * dx + dy * dy < BODIES * BODIES:
                        is_near = True
                        break
                if not is_near:
                    break
                until[e] = s[b]


@kernel(forceinline=True)
def rear_beside(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, here: float, k: int
) -> tuple[int, float]:
    """The hindmost vehicle on connector k, or beyond, that is ahead of i, and where its rear is, m.

    here: m that i is along its own connector out of the same lane, negative before it. Of two that
    are equally far the lower id is ahead. -1: nobody.
    """
    lane = net.lanes.out_start.shape[0] - 1 + k
    for p in range(order.start[lane + 1] - 1, order.start[lane] - 1, -1):
        j = order.slot[p]
        if veh.s[j] > here or (veh.s[j] == here and veh.id[j] < veh.id[i]):
            return (j, veh.s[j] - veh.length[j]) if j != i else (-1, inf)
    j = order.over[lane]
    if j < 0 or j == i:
        return -1, inf
    return j, order.over_rear[lane]


@kernel(forceinline=True)
def parted_speed(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, partings: Partings, i: int,
    k: int, to_start: float, dt: float,
) -> tuple[float, int]:  # fmt: skip
    """Next speed that keeps i, which takes connector k, behind rears on those that part from it.

    to_start: m from i's front to the start of k, negative inside. Returns also whose rear it is, a
    slot; inf and -1: nobody's.
    """
    allowed, whose = inf, -1
    first = net.lanes.out_start[net.connectors.from_lane[k]]
    v, t = veh.speed[i], veh.type[i]
    for e in range(partings.start[k], partings.start[k + 1]):
        until = partings.until[e]
        if until <= -to_start:
            continue
        j, rear = rear_beside(net, veh, order, i, -to_start, first + e - partings.start[k])
        if j < 0 or rear >= until:
            continue
        gap = to_start + rear
        limit = min(
            approach_speed(v, gap - KEPT, veh.speed[j], types.decel[t], dt),
            guard_speed(v, gap - LEAST_KEPT, veh.speed[j], types.emergency[t], dt),
        )
        if limit < allowed:
            allowed, whose = limit, j
    return allowed, whose
