"""Signal programs: letters of a source turned into the codes that kernels read."""

import math

import numpy as np

from rushhour.kernels.network import (
    GREEN,
    GREEN_YIELD,
    OFF,
    RED,
    STOP_THEN_GO,
    YELLOW,
    Signals,
)
from rushhour.roadnets.draft import DraftSignal
from rushhour.roadnets.errors import NetworkError

CODES = {
    "r": RED, "u": RED, "y": YELLOW, "Y": YELLOW, "G": GREEN, "g": GREEN_YIELD,
    "s": STOP_THEN_GO, "o": OFF, "O": OFF,
}  # fmt: skip


def pack_signals(signals: list[DraftSignal]) -> Signals:
    """Programs as arrays.

    Raises NetworkError for an unknown letter, states of unequal length, a phase without duration.
    """
    phase_start, state_start = [0], [0]
    phase_end: list[float] = []
    cycle: list[float] = []
    links: list[int] = []
    state: list[int] = []
    for signal in signals:
        name = f"signal {signal.id!r}"
        if not signal.phases:
            raise NetworkError(f"{name}: no phases; give it at least one or drop the signal")
        if not math.isfinite(signal.offset):
            raise NetworkError(f"{name}: offset {signal.offset}; give a finite number of seconds")
        end, width = 0.0, len(signal.phases[0][1])
        for p, (duration, letters) in enumerate(signal.phases):
            if not (math.isfinite(duration) and duration > 0.0):
                raise NetworkError(
                    f"{name}: phase {p} lasts {duration} s; give it a positive duration or drop it"
                )
            if len(letters) != width:
                raise NetworkError(
                    f"{name}: phase {p} has {len(letters)} letters, phase 0 has {width}; "
                    "give every phase one letter per link"
                )
            for letter in letters:
                if letter not in CODES:
                    raise NetworkError(
                        f"{name}: phase {p} has the letter {letter!r}; use one of {''.join(CODES)}"
                    )
                state.append(CODES[letter])
            end += duration
            phase_end.append(end)
        cycle.append(end)
        links.append(width)
        phase_start.append(len(phase_end))
        state_start.append(len(state))
    return Signals(
        phase_start=np.array(phase_start, np.int32),
        phase_end=np.array(phase_end, np.float64),
        cycle=np.array(cycle, np.float64),
        offset=np.array([s.offset for s in signals], np.float64),
        links=np.array(links, np.int32),
        state_start=np.array(state_start, np.int32),
        state=np.array(state, np.uint8),
    )
