"""Signal programs that were told from outside what to show, and how they go back to their own.

From what a program shows to the phase that it was told, each link that must close shows yellow,
then red; a link that must open waits until all others have been cleared. It goes back to its own
program at a green of it, in the same way. Whatever was shown before counts link by link, so that a
program can be told anything at any time, and can be given other phases.
"""

from math import ceil, inf
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    FIXED,
    GREEN,
    GREEN_YIELD,
    MAX_PRESSURE,
    OFF,
    RED,
    YELLOW,
    Actuation,
    NetworkArrays,
    Signals,
)
from rushhour.kernels.signals.fixed_time import Lights, letter_of, phase_at
from rushhour.kernels.signals.max_pressure import Clearing

COMMANDED: Final = 3  # of control, beside FIXED ...: whoever told it says what it shows
OWN: Final = 0  # runs as its program says
TOLD: Final = 1  # shows the phase that it was told
RETURNS: Final = 2  # goes back to its program
IDLE: Final = -1.0  # of clears: nothing is being cleared
NEW: Final = -2.0  # of clears: told in this frame
EARLY: Final = 1e-9  # s, for times that add up to a whole frame


class Told(NamedTuple):
    """What programs were told, shape (n_programs,) unless said; part of the state."""

    what: NDArray[np.uint8]  # OWN, TOLD, RETURNS
    own: NDArray[np.uint8]  # control that it goes back to, FIXED ...; follows from the programs
    phase: NDArray[np.int32]  # that it is to show; -1 none, as its phases were replaced
    lasts: NDArray[np.float64]  # s that it is to show it; inf: until told otherwise
    until: NDArray[np.float64]  # s after frame 0, when that ends
    yellow: NDArray[np.float64]  # s of the change to it
    red: NDArray[np.float64]  # s
    began: NDArray[np.float64]  # s after frame 0, when the change began
    clears: NDArray[np.float64]  # s after frame 0, when it is over; IDLE, NEW
    before: NDArray[np.uint8]  # (n_connectors,) what was shown when it began


@kernel
def is_open(letter: int) -> bool:
    """Whether a letter lets vehicles go without a stop."""
    return letter == GREEN or letter == GREEN_YIELD or letter == OFF


@kernel
def letter_between(now: int, after: int, elapsed: float, yellow: float) -> int:
    """Letter of a link `elapsed` s after a change began from letter `now` to letter `after`."""
    if now == after:
        return now
    if is_open(now) and is_open(after):
        return now if now == OFF or after == OFF else max(now, after)  # the weaker green
    if (is_open(now) or now == YELLOW) and elapsed < yellow - EARLY:
        return YELLOW
    return RED


@kernel
def time_to_change(
    sig: Signals, link: NDArray[np.int32], members: NDArray[np.int32], first: int, last: int,
    light: NDArray[np.uint8], program: int, phase: int, yellow: float, red: float,
) -> float:  # fmt: skip
    """Seconds from what is shown until a phase can be: 0 where no link opens or closes."""
    whole = 0.0
    for m in range(first, last):
        k = members[m]
        now, after = int(light[k]), letter_of(sig, program, phase, link[k])
        if now == after:
            continue
        if now == YELLOW or (is_open(now) and not is_open(after)):
            return yellow + red
        if is_open(after) and not is_open(now):
            whole = red
    return whole


@kernel
def begin_change(
    members: NDArray[np.int32], first: int, last: int, told: Told, light: NDArray[np.uint8],
    program: int, phase: int, now: float, whole: float,
) -> None:  # fmt: skip
    """Begin to clear what is shown for a phase. Writes phase, began, clears, before."""
    for m in range(first, last):
        told.before[members[m]] = light[members[m]]
    told.phase[program] = phase
    told.began[program] = now
    told.clears[program] = now + whole


@kernel
def hand_back(act: Actuation, lights: Lights, told: Told, program: int) -> None:
    """Let a program run as its own again, from the phase that it shows."""
    told.what[program] = OWN
    told.clears[program] = IDLE
    act.control[program] = told.own[program]
    if told.own[program] == FIXED:
        lights.phase[program] = -1  # so that it writes all its lights


@kernel
def look_for_way_back(
    net: NetworkArrays, act: Actuation, clr: Clearing, members: NDArray[np.int32], first: int,
    last: int, lights: Lights, told: Told, light: NDArray[np.uint8], program: int, t: float,
    now: float, dt: float,
) -> bool:  # fmt: skip
    """Give a program back to its own, or begin to clear for it; whether it was given back.

    One that reacts goes on from the phase it shows, under max pressure from the next green. The
    clock is joined at a green: the one that it shows now if no link has to change, else the one
    that it shows when all is cleared. Before the first frame nothing has to be.
    """
    if now == 0.0:
        lights.phase[program] = -1
        hand_back(act, lights, told, program)
        return True
    phase = told.phase[program]
    yellow, red = told.yellow[program], told.red[program]
    lo, hi = net.signals.phase_start[program], net.signals.phase_start[program + 1]
    whole = ceil((yellow + red) / dt - EARLY) * dt
    if phase >= 0 and told.own[program] == MAX_PRESSURE and not clr.main[lo + phase]:
        while not clr.main[lo + phase]:
            phase = (phase + 1) % (hi - lo)
        begin_change(members, first, last, told, light, program, phase, now, whole)
        return False
    if phase >= 0 and told.own[program] != FIXED:
        hand_back(act, lights, told, program)
        return True
    here = phase_at(net.signals, program, t)
    chooses = False
    for f in range(lo, hi):
        chooses = chooses or clr.main[f]
    if here == phase or (
        (clr.main[lo + here] or not chooses)
        and time_to_change(
            net.signals, net.connectors.link, members, first, last, light, program, here, yellow,
            red,
        ) == 0.0
    ):  # fmt: skip
        lights.phase[program], lights.since[program] = here, now
        hand_back(act, lights, told, program)
        return True
    then = phase_at(net.signals, program, t + whole)
    if clr.main[lo + then] or not chooses:
        begin_change(members, first, last, told, light, program, then, now, whole)
    return False


@kernel
def show_told(
    net: NetworkArrays, act: Actuation, clr: Clearing, members: NDArray[np.int32], first: int,
    last: int, lights: Lights, told: Told, light: NDArray[np.uint8], closes: NDArray[np.float64],
    program: int, t: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Show what a program was told in a frame; False where it is its own again, and shows nothing.

    t: s, time of the frame. Its connectors are members[first:last]. Writes phase, since, told,
    control (of one given back), light, closes (inf as long as nobody knows when).
    """
    now = frame * dt
    if told.clears[program] == NEW:
        phase = told.phase[program]
        whole = time_to_change(
            net.signals, net.connectors.link, members, first, last, light, program, phase,
            told.yellow[program], told.red[program],
        )  # fmt: skip
        # Before the first frame nothing is shown that would have to be cleared.
        begin_change(
            members, first, last, told, light, program, phase, now, 0.0 if frame == 0 else whole
        )
    if told.clears[program] >= 0.0 and now >= told.clears[program] - EARLY:
        if lights.phase[program] != told.phase[program]:
            lights.since[program] = now
        lights.phase[program] = told.phase[program]
        told.clears[program] = IDLE
        told.until[program] = now + told.lasts[program]
    if told.clears[program] < 0.0:
        if told.what[program] == TOLD and now >= told.until[program] - EARLY:
            told.what[program] = RETURNS
        if told.what[program] == RETURNS and look_for_way_back(
            net, act, clr, members, first, last, lights, told, light, program, t, now, dt
        ):
            return False
    phase = told.phase[program]
    if phase < 0:
        return True  # what was shown before its phases were replaced stays until it can go on
    changing = told.clears[program] >= 0.0
    end = told.until[program] if told.what[program] == TOLD and not changing else inf
    for m in range(first, last):
        k = members[m]
        letter = letter_of(net.signals, program, phase, net.connectors.link[k])
        if changing:
            letter = letter_between(
                int(told.before[k]), letter, now - told.began[program], told.yellow[program]
            )
        light[k] = letter
        closed = letter == RED or letter == YELLOW
        closes[k] = now if closed else end
    return True
