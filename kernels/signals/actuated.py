"""Programs that end their phases by detectors, as SUMO's `actuated` ones do.

A phase lasts its least time, then until no detector of its own has been hit for the detector's
gap, at most its greatest time. Phases whose least and greatest time are equal (yellow, red, what
is for people on foot) last just that. Whoever was let onto the road between two lines that are
passed together holds the phase of the second, too: a phase may be counted on up to its greatest
time by those who are granted so far. Source: networks.md 5.5.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    ACTUATED,
    RED,
    YELLOW,
    Actuation,
    Connectors,
    NetworkArrays,
    Signals,
)
from rushhour.kernels.core.vehicles import Order, Vehicles
from rushhour.kernels.signals.fixed_time import Lights, letter_of, phase_at, place_in_cycle

INACTIVE = 180.0  # s that somebody waits at a detector, after which its phase goes first
EARLY = 1e-9  # s, for times that add up to a whole frame


@kernel
def swept(veh: Vehicles, i: int, dt: float) -> float:
    """Metres that vehicle i drove in the frame before."""
    return max(0.0, (veh.speed[i] - 0.5 * veh.accel[i] * dt) * dt)


@kernel
def is_hit(act: Actuation, veh: Vehicles, order: Order, d: int, dt: float) -> bool:
    """Whether some vehicle was over detector d in the frame before, be it within the frame."""
    lane, place = act.lane[d], act.place[d]
    for q in range(order.start[lane], order.start[lane + 1]):
        i = order.slot[q]
        if veh.s[i] < place:
            break
        if veh.s[i] - veh.length[i] - swept(veh, i, dt) <= place:
            return True
    i = order.over[lane]
    return i >= 0 and order.over_rear[lane] - swept(veh, i, dt) <= place


@kernel
def note_hits(
    act: Actuation, veh: Vehicles, order: Order, lights: Lights, frame: int, dt: float
) -> None:
    """Note which detectors somebody is over. Reads places and speeds; writes hit."""
    for d in range(act.lane.shape[0]):
        if is_hit(act, veh, order, d, dt):
            lights.hit[d] = frame


@kernel
def note_held(
    net: NetworkArrays, act: Actuation, veh: Vehicles, lights: Lights, stop_offset: float, frame: int
) -> None:  # fmt: skip
    """Note the actuated programs of later lines that somebody has a grant for and cannot stand
    before, as the road between is shorter than the vehicle. Writes held."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for i in range(veh.lane.shape[0]):
        lane = veh.lane[i]
        if lane < 0 or veh.granted[i] == 0:
            continue
        # A line is a later one as long as some of the vehicle is inside before it.
        later = lane >= n_road_lanes or veh.s[i] < veh.length[i]
        road = net.connectors.to_lane[lane - n_road_lanes] if lane >= n_road_lanes else lane
        for q in range(veh.granted[i]):
            k = veh.path[i, q]
            program = net.connectors.signal[k]
            if (
                later
                and program >= 0
                and act.control[program] == ACTUATED
                and net.lanes.length[road] < veh.length[i] + stop_offset
            ):
                lights.held[program] = frame
            later, road = True, net.connectors.to_lane[k]


@kernel
def held_until(
    act: Actuation, lights: Lights, program: int, f: int, frame: int, dt: float
) -> float:  # fmt: skip
    """When phase f (of all phases) ends if nobody hits its detectors any more, s after frame 0."""
    since = lights.since[program]
    end = since + act.least[f]
    if act.least[f] < act.most[f]:
        if lights.held[program] == frame:
            end = max(end, (frame + 1) * dt)
        for w in range(act.watch_start[f], act.watch_start[f + 1]):
            d = act.watch[w]
            end = max(end, lights.hit[d] * dt + act.gap[d])
        end = min(end, since + act.most[f])
    return end


@kernel
def urgency(act: Actuation, lights: Lights, d: int, frame: int, dt: float) -> float:
    """How urgent somebody at detector d is: 1, or the seconds it waits if they are many; 0 nobody."""
    if lights.hit[d] <= lights.served[d] and (frame - lights.hit[d]) * dt >= act.gap[d]:
        return 0.0
    waits = (frame - lights.served[d]) * dt
    return waits if waits > INACTIVE else 1.0


@kernel
def first_next(act: Actuation, lo: int, n: int, phase: int) -> int:
    """First phase that may follow one of n, in a program whose phases begin at lo."""
    f = lo + phase
    if act.next_start[f] == act.next_start[f + 1]:
        return (phase + 1) % n
    return int(act.next[act.next_start[f]])


@kernel
def next_phase(
    sig: Signals, act: Actuation, lights: Lights, program: int, phase: int, frame: int, dt: float
) -> int:
    """Phase that follows: of several the one whose detectors are most urgent, else the first."""
    lo = sig.phase_start[program]
    n = sig.phase_start[program + 1] - lo
    first, last = act.next_start[lo + phase], act.next_start[lo + phase + 1]
    best, most = first_next(act, lo, n, phase), 0.0
    if last - first <= 1:
        return best
    for c in range(first, last):
        p = int(act.next[c])  # the green that it leads to
        for _ in range(n):
            f = lo + p
            if act.watch_start[f] < act.watch_start[f + 1]:
                break
            p = first_next(act, lo, n, p)
        total = 0.0
        for w in range(act.watch_start[lo + p], act.watch_start[lo + p + 1]):
            total += urgency(act, lights, act.watch[w], frame, dt)
        if total > most:
            best, most = int(act.next[c]), total
    return best


@kernel
def earliest_close(
    sig: Signals, act: Actuation, program: int, phase: int, link: int, end: float
) -> float:
    """When an open link shows yellow or red at the earliest, given when its phase is to end; s.

    Phases that follow count with their least time; where several may follow, the first ends it.
    """
    lo = sig.phase_start[program]
    n = sig.phase_start[program + 1] - lo
    for _ in range(n):
        f = lo + phase
        if act.next_start[f + 1] - act.next_start[f] > 1:
            return end
        phase = first_next(act, lo, n, phase)
        letter = letter_of(sig, program, phase, link)
        if letter == RED or letter == YELLOW:
            return end
        end += act.least[lo + phase]
    return inf


@kernel
def actuate(
    sig: Signals, act: Actuation, con: Connectors, members: NDArray[np.int32], first: int,
    last: int, lights: Lights, light: NDArray[np.uint8], closes: NDArray[np.float64],
    program: int, t: float, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Show the phase of an actuated program in a frame; whether it switched.

    t: s, time of the frame; a program begins where its fixed times would have it. Its connectors
    are members[first:last]. Reads hit, held; writes phase, since, served, light, closes (for those
    who hold the phase).
    """
    now = frame * dt
    lo = sig.phase_start[program]
    n = sig.phase_start[program + 1] - lo
    before = lights.phase[program]
    if before < 0:
        phase = phase_at(sig, program, t)
        begin = sig.phase_end[lo + phase - 1] if phase > 0 else 0.0
        lights.phase[program] = phase
        lights.since[program] = now - (place_in_cycle(sig, program, t) - begin)
    for _ in range(n):
        phase = lights.phase[program]
        end = held_until(act, lights, program, lo + phase, frame, dt)
        if now < end - EARLY:
            break
        following = next_phase(sig, act, lights, program, phase, frame, dt)
        if following == phase:
            break
        lights.phase[program] = following
        lights.since[program] = end if end > now - dt + 0.5 * EARLY else now
    phase = lights.phase[program]
    f = lo + phase
    for w in range(act.watch_start[f], act.watch_start[f + 1]):
        lights.served[act.watch[w]] = frame
    end = max(now, lights.since[program] + act.most[f])
    for m in range(first, last):
        k = members[m]
        letter = letter_of(sig, program, phase, con.link[k])
        light[k] = letter
        closed = letter == RED or letter == YELLOW
        closes[k] = now if closed else earliest_close(sig, act, program, phase, con.link[k], end)
    return phase != before
