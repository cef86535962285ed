"""Lights of lines so close together that a vehicle does not fit between them.

It enters the first when all on its way let it go. Where these are never all green together, as for a
turn about behind a light, or over four lights in a row, it goes on over the one that is missing once
it has entered by those before, as drivers do. Lights that follow the traffic may in fact never be so
either: who has stood at the first for a whole cycle waits for that one alone.
"""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import RED, YELLOW, NetworkArrays
from rushhour.kernels.signals.fixed_time import letter_of, phase_at

SOON = 0.05  # s after a phase began


@kernel
def lets_go(net: NetworkArrays, k: int, t: float) -> bool:
    """Whether the light of connector k lets go at time t (s) of its program."""
    program = net.connectors.signal[k]
    phase = phase_at(net.signals, program, t)
    letter = letter_of(net.signals, program, phase, net.connectors.link[k])
    return letter != RED and letter != YELLOW


@kernel
def all_let_go(
    net: NetworkArrays, ways: NDArray[np.int32], n: int, counted: int, k: int, t: float
) -> bool:
    """Whether at time t connector k lets go, and those of ways[:n] with a bit in counted, as far as
    their programs have the same cycle."""
    if not lets_go(net, k, t):
        return False
    cycle = net.signals.cycle[net.connectors.signal[k]]
    for x in range(n):
        if (counted >> x) & 1 == 0:
            continue
        same = abs(net.signals.cycle[net.connectors.signal[ways[x]]] - cycle) <= 1e-6
        if same and not lets_go(net, ways[x], t):
            return False
    return True


@kernel
def green_with(
    net: NetworkArrays, ways: NDArray[np.int32], n: int, counted: int, k: int
) -> bool:  # fmt: skip
    """Whether connector k ever lets go together with all of ways[:n] that have a bit in counted.

    By the programs as given; those with another cycle meet k at some time.
    """
    cycle = net.signals.cycle[net.connectors.signal[k]]
    for x in range(-1, n):
        if x >= 0 and (counted >> x) & 1 == 0:
            continue
        program = net.connectors.signal[k if x < 0 else ways[x]]
        if abs(net.signals.cycle[program] - cycle) > 1e-6:
            continue
        begin = net.signals.offset[program] + SOON
        for m in range(net.signals.phase_start[program], net.signals.phase_start[program + 1]):
            if all_let_go(net, ways, n, counted, k, begin):
                return True
            begin = net.signals.offset[program] + SOON + net.signals.phase_end[m]
    return False


@kernel
def lights_that_count(net: NetworkArrays, ways: NDArray[np.int32], n: int) -> int:
    """Bits of those of the connectors ways[:n] whose lights are waited for: with a signal, and at some
    time green together with all of these before. -1 ends the ways."""
    counted = 0
    for q in range(n):
        k = ways[q]
        if k < 0:
            break
        if net.connectors.signal[k] < 0:
            continue
        if counted == 0 or green_with(net, ways, q, counted, k):
            counted |= 1 << q
    return counted
