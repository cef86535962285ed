"""Signal programs: letters of a source turned into the codes that kernels read."""

import numpy as np

from rushhour.kernels.core.network import (
    GREEN,
    GREEN_YIELD,
    OFF,
    RED,
    STOP_THEN_GO,
    YELLOW,
    Signals,
)
from rushhour.roadnets.drafts.draft import DraftActuation, DraftSignal
from rushhour.roadnets.errors import NetworkError

CODES = {
    "r": RED, "u": RED, "y": YELLOW, "Y": YELLOW, "G": GREEN, "g": GREEN_YIELD,
    "s": STOP_THEN_GO, "o": OFF, "O": OFF,
}  # fmt: skip


LONGEST = 1e6  # s of a gap or of a phase that reacts
LATEST = 1e9  # s of an offset or of a cycle


def _check_actuation(name: str, plan: DraftActuation, phases: int) -> None:
    """Refuse times that are none, and phases that do not exist."""
    if len(plan.limits) != phases or len(plan.following) not in (0, phases):
        raise NetworkError(f"{name}: {phases} phases; give each its limits and its next phases")
    for p, (least, most) in enumerate(plan.limits):
        if not 0.0 < least <= most <= LONGEST:
            raise NetworkError(
                f"{name}: phase {p} lasts {least:g} to {most:g} s; give a minimum above 0 and a "
                f"maximum from there to {LONGEST:g} s"
            )
    for p, following in enumerate(plan.following):
        if not all(0 <= other < phases for other in following):
            raise NetworkError(
                f"{name}: phase {p} is followed by {following}; name phases from 0 to {phases - 1}"
            )
    times = {"max-gap": plan.max_gap, "detector-gap": plan.detector_gap,
             "passing-time": plan.passing_time,
             **{f"max-gap:{lane}": gap for lane, gap in plan.gaps.items()}}  # fmt: skip
    for what, time in times.items():
        if not 0.0 < time <= LONGEST:
            raise NetworkError(f"{name}: {what} {time:g} s; give more than 0, at most {LONGEST:g}")


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
        if not abs(signal.offset) <= LATEST:
            raise NetworkError(
                f"{name}: offset {signal.offset:g} s; give at most {LATEST:g} s either way"
            )
        end, width = 0.0, len(signal.phases[0][1])
        for p, (duration, letters) in enumerate(signal.phases):
            if not 0.0 < duration <= LATEST - end:
                raise NetworkError(
                    f"{name}: phase {p} lasts {duration} s; give it a positive duration, all phases "
                    f"at most {LATEST:g} s, or drop it"
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
        if signal.actuation is not None:
            _check_actuation(name, signal.actuation, len(signal.phases))
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
