"""Fixed-time signals: which letter shows for each connector in a frame."""

from math import floor

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.jit import kernel
from rushhour.kernels.network import Connectors, Signals


@kernel
def phase_at(sig: Signals, program: int, t: float) -> int:
    """Phase (counted within its program) that shows at time t, s."""
    cycle = sig.cycle[program]
    place = t - sig.offset[program]
    place -= floor(place / cycle) * cycle
    lo, hi = sig.phase_start[program], sig.phase_start[program + 1]
    for p in range(lo, hi - 1):
        if place < sig.phase_end[p]:
            return p - lo
    return hi - 1 - lo


@kernel
def switch_lights(
    sig: Signals,
    con: Connectors,
    members_start: NDArray[np.int32],
    members: NDArray[np.int32],
    phase: NDArray[np.int32],
    light: NDArray[np.uint8],
    t: float,
) -> int:
    """Show the phase of time t (s) at every program; returns how many switched.

    Reads members (connectors by program); writes phase, light. Source: networks.md 6.1.
    """
    switched = 0
    for program in range(phase.shape[0]):
        now = phase_at(sig, program, t)
        if now == phase[program]:
            continue
        phase[program] = now
        switched += 1
        base = sig.state_start[program] + now * sig.links[program]
        for m in range(members_start[program], members_start[program + 1]):
            k = members[m]
            light[k] = sig.state[base + con.link[k]]
    return switched
