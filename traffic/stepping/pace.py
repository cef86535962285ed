"""How many threads a frame takes: all that were asked for, or fewer while others want the cores, too.

The threads of a kernel wait for each other. Where a core is taken by another program one of them is late by a
turn of the system's scheduler, milliseconds, in each of ten kernels, and the others wait for it at full
speed: frames become 50 times as slow as they are alone. So when frames are late, fewer threads are
tried, and the best number is kept as long as it is faster than all. The state does not depend on it:
kernels give the same bits with any number of threads.
"""

from collections import deque
from collections.abc import Generator
from math import inf
from statistics import median
from typing import Final

import numba

from rushhour.roadnets.facts import Part

LATE: Final = 4.0  # times the usual cost
AT_LEAST: Final = 2e6  # ns; shorter frames are never late
FIXED: Final = 1000  # vehicles that a frame costs as much as besides those that it has
DRIFT: Final = 1.0005  # by which the usual cost may grow from frame to frame
WINDOW: Final = 8  # frames, of which
TWICE: Final = 2  # so many are late before anything is tried
TRIAL: Final = 8  # frames for which fewer threads are tried
WORTH: Final = 0.9  # of the cost so far, for fewer threads to be kept
HOLD: Final = 128  # frames until all threads are tried again, for one, then twice as many, up to
LONGEST: Final = 2048

Frame = tuple[int, int]  # ns, vehicles
Choices = Generator[int, Frame, None]


class Pace(Part):
    """Chooses the number of threads, frame by frame, from what frames cost."""

    def __init__(self) -> None:
        self._asked = 0
        self._choices: Choices | None = None
        self._now = 0  # for the frame that begins next
        self.fewer = 0  # frames so far with fewer threads than asked for

    def ask(self) -> None:
        """Note how many threads are asked for: once for a number of frames, as asking takes 5 us."""
        asked = numba.get_num_threads()
        if asked != self._asked:
            self._asked, self._choices = asked, None
            self._now = asked
            if asked > 1:
                self._choices = choices(asked)
                next(self._choices)

    def begin(self) -> None:
        """Set the number of threads of a frame that begins."""
        if self._now != self._asked:
            self.fewer += 1
            numba.set_num_threads(self._now)

    def end(self, ns: int, vehicles: int) -> None:
        """Take what the frame cost, ns, and give back the number of threads that was asked for."""
        if self._now != self._asked:
            numba.set_num_threads(self._asked)
        if self._choices is not None:
            self._now = self._choices.send((ns, vehicles))


def choices(asked: int) -> Choices:
    """Yields how many threads the next frame takes, and is sent what it cost, ns, and its vehicles."""
    usual = inf
    while True:
        late: deque[float] = deque(maxlen=WINDOW)
        while sum(cost > 0.0 for cost in late) < TWICE:
            frame = yield asked
            cost = _cost(*frame)
            late.append(cost if cost > LATE * usual and frame[0] > AT_LEAST else 0.0)
            usual = min(usual * DRIFT, cost)
        now, best = asked, median(cost for cost in late if cost > 0.0)
        fewer = asked // 2
        while fewer:
            tried = yield from _costs(fewer, TRIAL)
            if tried < WORTH * best:
                now, best = fewer, tried
            fewer //= 2
        if now == asked:  # frames cost more than they did, and not for want of cores
            usual = best
            continue
        hold = HOLD
        while True:
            best = yield from _costs(now, hold)
            if (yield from _costs(asked, 1)) < best:
                break
            hold = min(2 * hold, LONGEST)


def _costs(threads: int, frames: int) -> Generator[int, Frame, float]:
    """The median cost of some frames with so many threads."""
    costs = []
    for _ in range(frames):
        costs.append(_cost(*(yield threads)))
    return median(costs)


def _cost(ns: int, vehicles: int) -> float:
    """ns that a vehicle of a frame cost."""
    return ns / (vehicles + FIXED)
