"""Queues and delays of a program over its cycle, and how platoons spread on their way to the next.

Flows are profiles over the seconds of a cycle. A queue grows by what arrives and shrinks by what the
phases let go; what leaves it arrives at the next signals spread out (Robertson 1969, TRANSYT), here as
the filter's periodic solution. To the delay of these queues comes that of flows that vary, and of
those above capacity (HCM 7, eq. 19-26).
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.timing.junctions import (
    CRITICAL_HEADWAY,
    END,
    FOLLOW_UP,
    START,
    Floats,
    Ints,
    Junction,
)

DISPERSION: Final = 0.35  # Robertson's alpha
EARLIEST: Final = 0.8  # share of the mean time after which the first of a platoon arrives
FULL: Final = 0.999  # of its capacity, that a lane's own queue is counted for
OVERSPILL: Final = 2.0  # what a vehicle weighs that does not fit on its lane
VARYING: Final = 0.5  # k of HCM 7's incremental delay, fixed times
LITTLE: Final = 0.1  # of a lane's flow, that nobody waits for
PASSES: Final = 2
NOBODY: Final = 1e-9  # pcu/s


def phase_at(times: Ints) -> Ints:
    """The phase at each second of a cycle, (n, cycle), of times (n, phases) that sum alike."""
    ends = np.cumsum(times, axis=1)
    seconds = np.arange(int(ends[0, -1]))
    return np.asarray((seconds[None, :, None] >= ends[:, None, :]).sum(axis=2))


class Queues:
    """Queues of a junction under n plans: delay (n,) pcu, and profiles (n, cycle, lanes) pcu/s.

    times: (n, phases) whole s. arrivals: (n or 1, cycle, lanes) pcu/s, in the program's own time.
    hours: that the flows last.
    """

    def __init__(self, junction: Junction, times: Ints, arrivals: Floats, hours: float) -> None:
        at = phase_at(times)
        cycle = at.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(junction.headway > 0.0, 1.0 / junction.headway, 0.0)
            runs = junction.run[None] / np.maximum(times[:, :, None], 1)
        service = np.minimum(rate[None], runs)[np.arange(len(times))[:, None], at]
        yields = junction.yielding.any(axis=0)
        service = _shown_later(service)
        queue, leaving = _queues(arrivals, service)
        if yields.any():
            places = np.flatnonzero(yields)
            yielding = _Yielding(junction, places, at, runs)
            for _ in range(PASSES):  # those who yield to each other
                service[:, :, places] = yielding.service(queue, leaving)
                more, gone = _queues(arrivals[:, :, places], service[:, :, places])
                queue[:, :, places], leaving[:, :, places] = more, gone
        self.leaving = leaving
        self.capacity = service.sum(axis=1) / cycle  # pcu/s
        flow = arrivals.sum(axis=1) / cycle
        self.flow = np.broadcast_to(flow, self.capacity.shape)
        capacity = np.maximum(self.capacity, 1e-4)
        self.degree = self.flow / capacity
        self.uniform, self.most = queue.mean(axis=1), queue.max(axis=1)
        over = self.degree - 1.0
        term = 8.0 * VARYING * self.degree / (capacity * 3600.0 * hours)
        random = 900.0 * hours * (over + np.sqrt(over * over + term))
        self.random = self.flow * random
        spill = np.maximum(0.0, self.most - junction.storage)
        self.delay = (self.uniform + self.random + OVERSPILL * spill).sum(axis=1)


class _Yielding:
    """Lanes with drivers who yield, q of a junction, under n plans."""

    def __init__(self, junction: Junction, places: Ints, at: Ints, runs: Floats) -> None:
        rows = np.arange(len(at))[:, None]
        self.share = _shown_later(junction.yielding[:, places][at])  # (n, cycle, q)
        self.free = _shown_later(junction.headway[:, places][at])
        self.limit = _shown_later(runs[:, :, places][rows, at])
        column = {int(lane): i for i, lane in enumerate(places)}
        self.against = [
            (column[lane], other, part, _shown_later(when[at]))
            for lane, other, part, when in junction.against
        ]
        self.ends = (self.share > 0.0) & (np.roll(self.share, -1, axis=1) <= 0.0)
        share = self.share
        self.ahead = np.divide(1.0 - share, share, out=np.zeros_like(share), where=share > 0.0)

    def service(self, queue: Floats, leaving: Floats) -> Floats:
        """What they are served, (n, cycle, q) pcu/s, beside the queues of all lanes."""
        share, free = self.share, self.free
        across, blocked = np.zeros_like(share), np.zeros(share.shape, np.bool_)
        for i, other, part, now in self.against:
            across[:, :, i] += np.where(now, part * leaving[:, :, other], 0.0)
            if part > LITTLE:
                blocked[:, :, i] |= now & (queue[:, :, other] > 0.05)
        flow = np.maximum(across, NOBODY)
        gaps = flow * np.exp(-flow * CRITICAL_HEADWAY) / -np.expm1(-flow * FOLLOW_UP)
        pace = free + share / np.maximum(gaps, 1e-4)
        rate = np.where(free + share > 0.0, 1.0 / np.maximum(pace, 1e-3), 0.0)
        # While the others' queue goes, those before the first who yields.
        blocked &= share > 0.0
        seconds = np.maximum(blocked.sum(axis=1, keepdims=True), 1)
        held = np.minimum(1.0 / np.maximum(free, 1.5), self.ahead / seconds)
        rate = np.minimum(np.where(blocked, held, rate), self.limit)
        # He who waits inside goes at the end of his green, if nobody could before.
        most = share.max(axis=1, keepdims=True)
        left = np.maximum(0.0, 1.0 - rate.sum(axis=1, keepdims=True) * most)
        return np.asarray(rate + np.where(self.ends, left / np.maximum(share, 0.1), 0.0))


def _shown_later(profile: NDArray[Any]) -> NDArray[Any]:
    """What is served of what phases show, (n, cycle, ...): later, and a little less of it."""
    return np.asarray(np.minimum(np.roll(profile, START, axis=1), np.roll(profile, END, axis=1)))


def _queues(arrivals: Floats, service: Floats) -> tuple[Floats, Floats]:
    """Queue at the end of each second, and what leaves in it, in the steady state."""
    cycle = service.shape[1]
    total, most = arrivals.sum(axis=1), service.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(total > FULL * most, FULL * most / np.maximum(total, NOBODY), 1.0)
    inflow = arrivals * part[:, None, :]
    step = inflow - service
    twice = np.concatenate((step, step), axis=1)
    level = np.cumsum(twice, axis=1)
    lowest = np.minimum.accumulate(np.minimum(level, 0.0), axis=1)
    queue = level - lowest
    now, before = queue[:, cycle:], queue[:, cycle - 1 : -1]
    return np.ascontiguousarray(now), inflow + before - now


def spread(leaving: Floats, time: Floats) -> Floats:
    """Profiles of platoons after `time` (l,) s on the road; leaving: (n, cycle, l), periodic."""
    cycle = leaving.shape[1]
    first = np.round(EARLIEST * time)
    smooth = 1.0 / (1.0 + DISPERSION * EARLIEST * np.maximum(time, 0.0))
    omega = 2.0 * np.pi * np.arange(cycle // 2 + 1)[:, None] / cycle
    filtered = smooth * np.exp(-1j * omega * first) / (1.0 - (1.0 - smooth) * np.exp(-1j * omega))
    return np.asarray(np.fft.irfft(np.fft.rfft(leaving, axis=1) * filtered[None], cycle, axis=1))
