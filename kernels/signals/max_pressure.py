"""Programs that show the green with the highest pressure.

The pressure of a movement is the queue before it less the queue behind it, each as a share of
what its lane holds; that of a phase is the sum over its green movements. Source: Varaiya 2013,
"Max pressure control of a network of signalized intersections", section 3, with vehicles on the
lane as the queue. Between two greens what must end shows yellow, then red, for the program's own
times; whatever the program shows between its greens beside that (people on foot) is kept as time.
"""

from math import floor, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    GREEN,
    GREEN_YIELD,
    JOINTS,
    RED,
    YELLOW,
    Lanes,
    NetworkArrays,
    Signals,
)
from rushhour.kernels.core.vehicles import Order, Vehicles
from rushhour.kernels.signals.fixed_time import Lights, letter_of, phase_at

CAR = 7.5  # m of a queue
SHORT = 50.0  # m of lanes before a line, of which the one before them holds part of the queue
LONGEST = 120.0  # s of a green while somebody waits for another one
EARLY = 1e-9  # s, for times that add up to a whole frame


class Clearing(NamedTuple):
    """How each phase of all programs is left, shape (f,); choice by max pressure only."""

    main: NDArray[np.bool_]  # a green that can be chosen
    hold: NDArray[np.float64]  # s that its green goes on after it was decided to leave it
    yellow: NDArray[np.float64]  # s
    red: NDArray[np.float64]  # s


@kernel
def fullness(lanes: Lanes, order: Order, lane: int) -> float:
    """Vehicles on a lane as a share of those that it holds."""
    return (order.start[lane + 1] - order.start[lane]) * CAR / max(lanes.length[lane], CAR)


@kernel
def bound_for(veh: Vehicles, order: Order, lane: int, line: int, k: int) -> int:
    """Vehicles on a lane whose path has connector k at place `line`."""
    count = 0
    for q in range(order.start[lane], order.start[lane + 1]):
        if veh.path[order.slot[q], line] == k:
            count += 1
    return count


@kernel
def pressure_of(net: NetworkArrays, veh: Vehicles, order: Order, k: int) -> float:
    """Pressure of the movement along connector k.

    Where the lane before the line is short, those that lead to it count, too, as far as they branch.
    """
    lane = net.connectors.from_lane[k]
    queue, length = bound_for(veh, order, lane, 0, k), net.lanes.length[lane]
    for line in range(1, JOINTS + 1):
        first, last = net.lanes.in_start[lane], net.lanes.in_start[lane + 1]
        if length >= SHORT or first == last:
            break
        for c in range(first, last):
            lane = net.connectors.from_lane[net.lanes.in_connector[c]]
            queue += bound_for(veh, order, lane, line, k)
            length += net.lanes.length[lane]
        if last - first > 1:
            break
    before = queue * CAR / max(length, CAR)
    return before - fullness(net.lanes, order, net.connectors.to_lane[k])


@kernel
def is_green(letter: int) -> bool:
    """Whether a letter lets vehicles go."""
    return letter == GREEN or letter == GREEN_YIELD


@kernel
def chosen_phase(
    net: NetworkArrays, clr: Clearing, veh: Vehicles, order: Order, members: NDArray[np.int32],
    first: int, last: int, program: int, shown: int,
) -> int:  # fmt: skip
    """Green with the highest pressure; of equals the one that is shown, then the first."""
    lo, hi = net.signals.phase_start[program], net.signals.phase_start[program + 1]
    best, most = shown, -inf
    for f in range(lo, hi):
        if not clr.main[f]:
            continue
        pressure = 0.0
        for m in range(first, last):
            k = members[m]
            if is_green(letter_of(net.signals, program, f - lo, net.connectors.link[k])):
                pressure += pressure_of(net, veh, order, k)
        if pressure > most or (pressure == most and f - lo == shown):
            best, most = f - lo, pressure
    return best


@kernel
def is_waited_for(
    net: NetworkArrays, veh: Vehicles, order: Order, members: NDArray[np.int32], first: int,
    last: int, program: int, phase: int, shown: int,
) -> bool:  # fmt: skip
    """Whether somebody is before a line that a phase gives green and the one that is shown does not."""
    for m in range(first, last):
        k = members[m]
        link = net.connectors.link[k]
        if is_green(letter_of(net.signals, program, phase, link)) and not is_green(
            letter_of(net.signals, program, shown, link)
        ):
            if bound_for(veh, order, net.connectors.from_lane[k], 0, k) > 0:
                return True
    return False


@kernel
def other_phase(
    net: NetworkArrays, clr: Clearing, veh: Vehicles, order: Order, members: NDArray[np.int32],
    first: int, last: int, program: int, shown: int, turn: int,
) -> int:  # fmt: skip
    """Of the greens that somebody waits for, in order behind the one shown, that whose turn it is.

    Where traffic stands still, pressures stay as they are: whoever waits for a green with less would
    wait for ever. turn: counts on; the one shown if nobody waits for another.
    """
    lo = net.signals.phase_start[program]
    n = net.signals.phase_start[program + 1] - lo
    wanted = 0
    for sought in range(2):
        place = turn % wanted if sought == 1 else -1
        for step in range(1, n):
            f = (shown + step) % n
            if clr.main[lo + f] and is_waited_for(
                net, veh, order, members, first, last, program, f, shown
            ):
                if sought == 1 and place == 0:
                    return f
                place -= 1
                wanted += 1 - sought
        if wanted == 0:
            break
    return shown


@kernel
def clears_nothing(
    net: NetworkArrays, members: NDArray[np.int32], first: int, last: int, program: int,
    phase: int, target: int,
) -> bool:  # fmt: skip
    """Whether all that a phase lets go may go on in the next."""
    for m in range(first, last):
        link = net.connectors.link[members[m]]
        now = letter_of(net.signals, program, phase, link)
        after = letter_of(net.signals, program, target, link)
        if now != RED and not is_green(after) and after != now:
            return False
    return True


@kernel
def clearing_letter(
    sig: Signals, clr: Clearing, program: int, phase: int, target: int, link: int, elapsed: float
) -> int:
    """Letter of a link `elapsed` s after a phase began to be cleared for another."""
    f = sig.phase_start[program] + phase
    now = letter_of(sig, program, phase, link)
    if elapsed < clr.hold[f] - EARLY or now == RED:
        return now
    after = letter_of(sig, program, target, link)
    if is_green(now) and is_green(after):
        return max(now, after)  # the weaker green
    if now == after:
        return now
    if is_green(now) and elapsed < clr.hold[f] + clr.yellow[f] - EARLY:
        return YELLOW
    return RED


@kernel
def choose_phase(
    net: NetworkArrays, clr: Clearing, veh: Vehicles, order: Order, members: NDArray[np.int32],
    first: int, last: int, lights: Lights, program: int, period: float, least: float, now: float,
    dt: float,
) -> bool:  # fmt: skip
    """Choose the phase after the present one where it is time to, and change to it once all is cleared; whether it chose.

    now: s since frame 0. Writes phase, since, target.
    """
    phase, target = int(lights.phase[program]), int(lights.target[program])
    elapsed = now - lights.since[program]
    f = net.signals.phase_start[program] + phase
    chose = False
    if target < 0 and elapsed >= least - EARLY and elapsed > EARLY:
        late = elapsed - floor((elapsed + EARLY) / period) * period
        if late < dt - EARLY and elapsed >= period - EARLY:
            target = chosen_phase(net, clr, veh, order, members, first, last, program, phase)
            if target == phase and elapsed >= LONGEST - EARLY:
                target = other_phase(
                    net, clr, veh, order, members, first, last, program, phase, int(now / LONGEST)
                )
            chose = target != phase
            if not chose:
                target = -1
            else:
                lights.since[program], elapsed = now, 0.0
    if target >= 0:
        whole = clr.hold[f] + clr.yellow[f] + clr.red[f]
        if elapsed >= whole - EARLY or (
            chose and clears_nothing(net, members, first, last, program, phase, target)
        ):
            if not chose:
                lights.since[program] = max(lights.since[program] + whole, now - dt)
            lights.phase[program], target = target, -1
    lights.target[program] = target
    return chose


@kernel
def relieve(
    net: NetworkArrays, clr: Clearing, veh: Vehicles, order: Order, members: NDArray[np.int32],
    first: int, last: int, lights: Lights, light: NDArray[np.uint8], closes: NDArray[np.float64],
    program: int, period: float, least: float, t: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Show what a program under max pressure shows in a frame; whether it chose another phase.

    A choice is made every `period` s of a green, after `least` s of it. t: s, time of the frame.
    Its connectors are members[first:last]. Writes phase, since, target, light, closes (the earliest).
    """
    now = frame * dt
    lo = net.signals.phase_start[program]
    n = net.signals.phase_start[program + 1] - lo
    if lights.phase[program] < 0:
        phase = phase_at(net.signals, program, t)
        while not clr.main[lo + phase]:
            phase = (phase + 1) % n
        lights.phase[program] = phase
        lights.since[program] = now
    chose = choose_phase(
        net, clr, veh, order, members, first, last, lights, program, period, least, now, dt
    )
    phase, target = int(lights.phase[program]), int(lights.target[program])
    elapsed = now - lights.since[program]
    f = lo + phase
    for m in range(first, last):
        k = members[m]
        link = net.connectors.link[k]
        if target >= 0:
            letter = clearing_letter(net.signals, clr, program, phase, target, link, elapsed)
            after = letter_of(net.signals, program, target, link)
            end = lights.since[program] + clr.hold[f]
            if is_green(after):
                end += clr.yellow[f] + clr.red[f] + max(period, least)
        else:
            letter = letter_of(net.signals, program, phase, link)
            choices = max(1.0, floor((elapsed + EARLY) / period) + 1.0)
            end = lights.since[program] + max(choices * period, least) + clr.hold[f]
        light[k] = letter
        closes[k] = now if letter == RED or letter == YELLOW else end
    return chose
