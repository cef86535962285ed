"""The frame's phase in which all signals switch."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import ACTUATED, MAX_PRESSURE, Actuation, NetworkArrays
from rushhour.kernels.core.vehicles import Grants, Order, Vehicles
from rushhour.kernels.signals.actuated import actuate, note_held, note_hits
from rushhour.kernels.signals.fixed_time import Lights, keep_time
from rushhour.kernels.signals.max_pressure import Clearing, relieve
from rushhour.kernels.signals.told_programs import COMMANDED, Told, show_told


@kernel
def switch_lights(
    net: NetworkArrays, act: Actuation, clr: Clearing, veh: Vehicles, order: Order,
    members_start: NDArray[np.int32], members: NDArray[np.int32], lights: Lights, told: Told,
    grants: Grants, period: float, least: float, stop_offset: float, t: float, frame: int,
    dt: float,
) -> int:  # fmt: skip
    """Show what every program shows in a frame; returns how many switched of their own.

    period, least: s between choices by max pressure, and of green. stop_offset: m from a line to
    who stands before it. t: s, time of the frame. Reads
    members (connectors by program), places of the frame before; writes lights, told, control (of
    one that is its own again) and, of grants, light and closes (s after frame 0). Serial, in the
    order of programs.
    """
    reacting = False
    for program in range(act.control.shape[0]):
        reacting = reacting or act.control[program] == ACTUATED
    if reacting:
        note_hits(act, veh, order, lights, frame, dt)
        note_held(net, act, veh, lights, stop_offset, frame)
    switched = 0
    for program in range(act.control.shape[0]):
        first, last = members_start[program], members_start[program + 1]
        if act.control[program] == COMMANDED:
            if show_told(
                net, act, clr, members, first, last, lights, told, grants.light, grants.closes,
                program, t, frame, dt,
            ):  # fmt: skip
                continue
        if act.control[program] == ACTUATED:
            new = actuate(
                net.signals, act, net.connectors, members, first, last, lights, grants.light,
                grants.closes, program, t, frame, dt,
            )  # fmt: skip
        elif act.control[program] == MAX_PRESSURE:
            new = relieve(
                net, clr, veh, order, members, first, last, lights, grants.light, grants.closes,
                program, period, least, t, frame, dt,
            )  # fmt: skip
        else:
            new = keep_time(
                net.signals, net.connectors, members, first, last, lights, grants.light,
                grants.closes, program, t, frame * dt,
            )  # fmt: skip
        if new:
            switched += 1
    return switched
