"""Signals: which letter shows for each connector in a frame.

Programs run by the clock, by detectors (`actuated`) or by queues (`max_pressure`).
"""

from math import floor, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import RED, YELLOW, Connectors, Signals


class Lights(NamedTuple):
    """What programs remember from frame to frame: part of the state where any of them reacts.

    Shape (n_programs,) unless said. Only phase matters to programs that run by the clock.
    """

    phase: NDArray[np.int32]  # counted within its program; -1 before the first frame
    since: NDArray[np.float64]  # s after frame 0, when it began, or began to be cleared
    target: NDArray[np.int32]  # phase for which it is being cleared; -1 none
    held: NDArray[np.int32]  # frame in which somebody last had a grant for a later line of it
    hit: NDArray[np.int32]  # (n_detectors,) frame when somebody was last over the detector
    served: NDArray[np.int32]  # (n_detectors,) frame when its lane last had its phase


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
def letter_of(sig: Signals, program: int, phase: int, link: int) -> int:
    """Letter of a link in a phase of its program."""
    return int(sig.state[sig.state_start[program] + phase * sig.links[program] + link])


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
def keep_time(
    sig: Signals, con: Connectors, members: NDArray[np.int32], first: int, last: int,
    lights: Lights, light: NDArray[np.uint8], closes: NDArray[np.float64], program: int, t: float,
    now: float,
) -> bool:  # fmt: skip
    """Show the phase of time t (s) of a program that runs by the clock; whether it switched.

    Its connectors are members[first:last]. Writes phase, light, closes (s on the clock that shows
    `now`). Source: networks.md 6.1.
    """
    shown = phase_at(sig, program, t)
    if shown == lights.phase[program]:
        return False
    lights.phase[program] = shown
    for m in range(first, last):
        k = members[m]
        light[k] = letter_of(sig, program, shown, con.link[k])
        closes[k] = now + time_to_close(sig, program, shown, con.link[k], t)
    return True
