"""How fast a driver would go on a lane that is empty, and what counts as standing and creeping."""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Types, Vehicles

STANDING = 0.1  # m/s, below which a vehicle counts as standing
CREEP = 0.6  # m/s to the side, of somebody who passes and hardly moves forward


@kernel
def desired_speed(net: NetworkArrays, veh: Vehicles, types: Types, i: int, lane: int) -> float:
    """Speed (m/s) of i on a lane that is straight and empty."""
    return min(types.max_speed[veh.type[i]], net.lanes.speed[lane] * veh.factor[i])


@kernel
def aimed_speed(net: NetworkArrays, veh: Vehicles, types: Types, i: int, lane: int) -> float:
    """The same, no faster than i was told to drive."""
    return min(veh.top[i], desired_speed(net, veh, types, i, lane))
