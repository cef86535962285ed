"""How small a gap a driver takes who has waited long at its line."""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.junctions.arrival_order import time_at_line

CALM = 30.0  # s at the line before a driver accepts gaps in which others must brake hard
HURRIED = 120.0  # s at which it would want none, but for LEAST_GAP
LEAST_GAP = 0.3  # share of the critical gap
FRESH = 1.4  # share that somebody wants who comes slowly to a yield line, to merge there
PRESSING = 0.075  # 1/s, by which it falls from then on
PRESSED = 0.75  # down to which
ROLLING = 8.0  # m/s, from which on one merges into the stream as on a ramp


@kernel
def impatience(veh: Vehicles, i: int, frame: int, dt: float) -> float:
    """Share of its critical gap that a vehicle still wants after waiting at the line, <= 1."""
    waited = time_at_line(veh, i, frame, dt)
    return max(LEAST_GAP, 1.0 - max(0.0, waited - CALM) / (HURRIED - CALM))


@kernel
def pressed_share(veh: Vehicles, i: int, share: float, frame: int, dt: float) -> float:
    """The same for one that merges without a stop or a light, where others let it in.

    Source: Polus, Shiftan, Shmueli-Lazar 2005 (critical gaps at roundabouts fall while one waits).
    """
    if veh.speed[i] >= ROLLING or share < PRESSED:
        return share
    return max(PRESSED, FRESH - PRESSING * time_at_line(veh, i, frame, dt))
