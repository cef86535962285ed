"""Vehicles that stand where they were told to: broken down, or held by whoever runs the world.

Who halts brakes in its lane and stands there, whatever it holds by then. Before its line it gives its
grant back; inside an intersection it keeps what it holds, and others keep clear of it.
"""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import HALT_HARD, NOTHING, Order, Types, Vehicles
from rushhour.kernels.following.car_following import stopping_distance


@kernel(inline="always")
def stands_for_long(veh: Vehicles, i: int) -> bool:
    """Whether i is at a stop of its trip, or halts: nobody behind need wait for it to go on."""
    return veh.dwell_until[i] >= 0 or veh.told[i] != NOTHING


@kernel
def halting_brake(veh: Vehicles, types: Types, i: int) -> float:
    """Deceleration (m/s^2) with which i, which was told to halt, brakes."""
    t = veh.type[i]
    return float(types.emergency[t] if veh.told[i] == HALT_HARD else types.decel[t])


@kernel
def halts_before(veh: Vehicles, types: Types, i: int, d: float, dt: float) -> bool:
    """Whether i was told to halt and will stand before a line d m ahead."""
    if veh.told[i] == NOTHING:
        return False
    v = veh.speed[i]
    return d > stopping_distance(v, halting_brake(veh, types, i)) + v * dt


@kernel
def somebody_halts_inside(
    net: NetworkArrays, veh: Vehicles, order: Order, i: int, line: int, n: int
) -> bool:
    """Whether somebody halts on one of the connectors path[line:n] of i."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for q in range(line, n):
        lane = n_road_lanes + veh.path[i, q]
        for p in range(order.start[lane], order.start[lane + 1]):
            if veh.told[order.slot[p]] != NOTHING:
                return True
    return False


@kernel
def time_until_gone(veh: Vehicles, j: int, seconds: float) -> float:
    """seconds, in which j would be gone if it drove on; inf if it halts."""
    return inf if veh.told[j] != NOTHING else seconds
