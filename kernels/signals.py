"""Fixed-time signals: which letter shows for each connector in a frame."""

from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.jit import kernel
from rushhour.kernels.network import RED, YELLOW, Connectors, Signals


@kernel
def place_in_cycle(sig: Signals, program: int, t: float) -> float:
    """Seconds since the program's cycle began, at time t."""
    cycle = sig.cycle[program]
    place = t - sig.offset[program]
    return place - floor(place / cycle) * cycle


@kernel
def phase_at(sig: Signals, program: int, t: float) -> int:
    """Phase (counted within its program) that shows at time t, s."""
    place = place_in_cycle(sig, program, t)
    lo, hi = sig.phase_start[program], sig.phase_start[program + 1]
    for p in range(lo, hi - 1):
        if place < sig.phase_end[p]:
            return p - lo
    return hi - 1 - lo


@kernel
def time_to_close(sig: Signals, program: int, phase: int, link: int, t: float) -> float:
    """Seconds from t until a link shows yellow or red, 0 where it does now; inf: never."""
    lo = sig.phase_start[program]
    n = sig.phase_start[program + 1] - lo
    place = place_in_cycle(sig, program, t)
    first = sig.state_start[program] + link
    wait = 0.0
    for step in range(n):
        p = (phase + step) % n
        state = sig.state[first + p * sig.links[program]]
        if state == RED or state == YELLOW:
            return wait
        begin = sig.phase_end[lo + p - 1] if p > 0 else 0.0
        wait += sig.phase_end[lo + p] - (place if step == 0 else begin)
    return inf


@kernel
def switch_lights(
    sig: Signals,
    con: Connectors,
    members_start: NDArray[np.int32],
    members: NDArray[np.int32],
    phase: NDArray[np.int32],
    light: NDArray[np.uint8],
    closes: NDArray[np.float64],
    t: float,
    now: float,
) -> int:
    """Show the phase of time t (s) at every program; returns how many switched.

    Reads members (connectors by program); writes phase, light, closes (s on the clock that shows
    `now`). Source: networks.md 6.1.
    """
    switched = 0
    for program in range(phase.shape[0]):
        shown = phase_at(sig, program, t)
        if shown == phase[program]:
            continue
        phase[program] = shown
        switched += 1
        base = sig.state_start[program] + shown * sig.links[program]
        for m in range(members_start[program], members_start[program + 1]):
            k = members[m]
            light[k] = sig.state[base + con.link[k]]
            closes[k] = now + time_to_close(sig, program, shown, con.link[k], t)
    return switched
