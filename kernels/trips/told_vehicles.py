"""What commands do to vehicles: told to halt, taken off the road, put back on it."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.trips import Waiting
from rushhour.kernels.core.vehicles import BEHIND, NOTHING, Grants, Order, Routes, Types, Vehicles
from rushhour.kernels.driving.moving import end_standstill, leave_line, log_way
from rushhour.kernels.routing.way_ahead import plan
from rushhour.kernels.trips.start_places import safe_start


@kernel
def tell(veh: Vehicles, i: int, what: int, until: int, frame: int) -> None:
    """Tell vehicle i to halt until a frame, or (NOTHING) to drive on."""
    end_standstill(veh, i, frame)
    veh.told[i] = what
    veh.told_until[i] = until
    if veh.granted[i] == 0:
        leave_line(veh, i)


@kernel
def tend(veh: Vehicles, routes: Routes, frame: int) -> int:
    """Let those drive on whose time has come; mark the lanes of the others as blocked.

    Returns how many were told something and still are.
    """
    left = 0
    for i in range(veh.lane.shape[0]):
        if veh.told[i] == NOTHING or veh.lane[i] < 0:
            continue
        if veh.told_until[i] <= frame:
            veh.told[i] = NOTHING
            veh.told_until[i] = 0
        else:
            routes.stops_on[veh.lane[i]] = True
            left += 1
    return left


@kernel
def sign_off(net: NetworkArrays, veh: Vehicles, types: Types, i: int, frame: int) -> None:
    """Bring the distance and the clocks of i up to where it is, before it is taken off the road."""
    log_way(net, veh, types, i, veh.lane[i], veh.s[i])
    end_standstill(veh, i, frame)


@kernel
def stand_aside(
    net: NetworkArrays, veh: Vehicles, types: Types, i: int, lane: int, s: float, lateral: float
) -> None:
    """Stand i, which was signed off, at s beside a lane: it holds nothing and covers no lane."""
    log_way(net, veh, types, i, lane, -s)
    veh.s[i] = s
    veh.lateral[i] = lateral
    veh.speed[i] = 0.0
    veh.accel[i] = 0.0
    veh.granted[i] = 0
    veh.go[i] = 0
    veh.cut[i] = -1
    for b in range(BEHIND):
        veh.behind[i, b] = -1
    leave_line(veh, i)
    veh.change_to[i] = -1
    veh.swerve[i] = 0.0
    veh.around[i] = 0
    veh.dwell_until[i] = -1
    veh.told[i] = NOTHING
    veh.told_until[i] = 0


@kernel
def fits_beside(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, grants: Grants, wait: Waiting,
    lane: int, s: float, t: int, factor: float, aside: bool, dt: float,
) -> bool:  # fmt: skip
    """Whether a vehicle of type t that stands at s beside a lane can move onto it: nobody there, and
    nobody who comes must brake hard. aside: bodies between two lanes count."""
    other = grants.opposite[lane]
    if grants.passers[lane] > 0 or (other >= 0 and grants.passers[other] > 0):
        return False  # somebody has seen the road free
    v = safe_start(net, veh, types, order, grants, wait, lane, s, t, factor, 0.0, False, aside, dt)
    return v >= 0.0


@kernel
def replan(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order,
    slots: NDArray[np.int32], seed: int, efforts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Plan the ways of some vehicles on road lanes anew."""
    for row in range(slots.shape[0]):
        i = slots[row]
        permission = types.permission[veh.type[i]]
        plan(veh, net, routes, order, i, veh.lane[i], permission, seed, efforts)
