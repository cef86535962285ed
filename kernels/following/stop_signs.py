"""How a driver comes to a stop sign, and past one where there is no room to stand."""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.following.car_following import approach_speed

ROLLS = 2.0  # m/s over a stop line that the grant for the one before covers


@kernel
def stops_at(net: NetworkArrays, veh: Vehicles, i: int, q: int) -> bool:
    """Whether there is a stop sign at the line before entry q of i's path, and i has not stood there."""
    return bool(net.connectors.must_stop[veh.path[i, q]] and (q > 0 or veh.arrived[i] < 0))


@kernel
def gentle_stop(v: float, d: float, b: float, dt: float) -> float:
    """Next speed (m/s) of one at v that stops d m ahead by braking with b; no harder, if d is too short."""
    return max(approach_speed(v, d, 0.0, b, dt), v - b * dt)
