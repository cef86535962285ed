"""Lights of lines so close together that a vehicle does not fit between them.

It enters the first when all on its way let it go. Where two are never green together, as for a turn
about behind a light, it goes on over the second once it has entered by the first, as drivers do.
"""

from rushhour.kernels.jit import kernel
from rushhour.kernels.network import RED, YELLOW, NetworkArrays
from rushhour.kernels.signals import letter_of, phase_at

SOON = 0.05  # s after a phase began


@kernel
def lets_go(net: NetworkArrays, k: int, t: float) -> bool:
    """Whether the light of connector k lets go at time t (s) of its program."""
    program = net.connectors.signal[k]
    phase = phase_at(net.signals, program, t)
    letter = letter_of(net.signals, program, phase, net.connectors.link[k])
    return letter != RED and letter != YELLOW


@kernel
def never_together(net: NetworkArrays, k: int, o: int) -> bool:
    """Whether the lights of connectors k and o, both with a signal, never both let go.

    By the programs as given; two with cycles of other lengths meet at some time.
    """
    p, q = net.connectors.signal[k], net.connectors.signal[o]
    if abs(net.signals.cycle[p] - net.signals.cycle[q]) > 1e-6:
        return False
    for turn in range(2):
        program = p if turn == 0 else q
        begin = net.signals.offset[program] + SOON
        for m in range(net.signals.phase_start[program], net.signals.phase_start[program + 1]):
            if lets_go(net, k, begin) and lets_go(net, o, begin):
                return False
            begin = net.signals.offset[program] + SOON + net.signals.phase_end[m]
    return True
