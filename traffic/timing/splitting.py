"""Splits of one program: in proportion to critical flow ratios, then moved while delay falls.

Source: Webster (1958), Traffic signal settings.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from rushhour.traffic.timing.junctions import Floats, Ints, Junction
from rushhour.traffic.timing.platoons import Queues

Splits = dict[int, tuple[Ints, float]]  # times (p,) and delay, pcu, by cycle
STEPS: Final = (8, 4, 2, 1)  # s that are moved at once
MOST_MOVES: Final = 60
GAIN: Final = 1e-4  # share of the delay that a move must save


def critical_ratios(junction: Junction) -> Floats:
    """Flow ratio of each phase, (p,): the part of it that its most loaded lane needs.

    A lane with green in several phases needs them together, each by its length as it is given.
    """
    green = (junction.headway > 0.0) | (junction.yielding > 0.0)
    usable = green & (junction.limits.fixed < 0)[:, None]
    length = np.where(usable, np.maximum(junction.given, 1.0)[:, None], 0.0)
    headway = np.where(usable, junction.headway + 2.0 * junction.yielding, 0.0)
    total = np.maximum(length.sum(axis=0), 1e-9)
    return np.asarray((junction.demand * headway * length / total).max(axis=1, initial=0.0))


def least_times(junction: Junction) -> Ints:
    """The shortest times (p,) that keep to the limits, whole s."""
    limits = junction.limits
    times = np.maximum(limits.fixed, 0)
    free = limits.fixed < 0
    size = limits.mask.sum(axis=1)
    for row in np.argsort(size, kind="stable").tolist():
        missing = int(limits.least[row] - limits.mask[row] @ times)
        if missing > 0:
            inside = np.flatnonzero((limits.mask[row] > 0) & free)
            if not inside.size:  # yellow alone stands between: it lasts longer
                inside = np.flatnonzero(limits.mask[row] > 0)
            weight = junction.given[inside]
            times[inside[int(np.argmax(weight))]] += missing
    return _shortened(junction, times)


def _shortened(junction: Junction, times: Ints) -> Ints:
    """The same less what was asked for twice."""
    for p in np.argsort(-times, kind="stable").tolist():
        if junction.limits.fixed[p] >= 0:
            continue
        while times[p] > 0:
            trial = times.copy()
            trial[p] -= 1
            if not junction.limits.kept(trial[None])[0]:
                break
            times = trial
    return times


def first_times(junction: Junction, cycle: int) -> Ints | None:
    """Times for a cycle, the rest of it shared out by Webster; None if it is too short."""
    times = least_times(junction)
    rest = cycle - int(times.sum())
    if rest < 0:
        return None
    free = np.flatnonzero(junction.limits.fixed < 0)
    greens = free[((junction.headway > 0.0) | (junction.yielding > 0.0))[free].any(axis=1)]
    if not greens.size:
        greens = free if free.size else np.arange(junction.phases)
    need = critical_ratios(junction)[greens] * cycle
    for _ in range(rest):
        short = need - times[greens]
        short = short if short.max() > 0.0 else need / np.maximum(times[greens], 1)
        times[greens[int(np.argmax(short))]] += 1
    return times


def best_splits(
    junction: Junction, times: Ints, arrivals: Floats, hours: float, moves: int = MOST_MOVES
) -> tuple[Ints, float]:
    """Move seconds between phases while that lowers the delay; times (p,) and delay, pcu.

    arrivals: (1, cycle, lanes).
    """
    best = float(Queues(junction, times[None], arrivals, hours).delay[0])
    free = np.flatnonzero(junction.limits.fixed < 0)
    pairs = np.array([(a, b) for a in free for b in free if a != b], np.int64).reshape(-1, 2)
    if not pairs.size:
        return times, best
    for step in STEPS:
        for _ in range(moves):
            trial = np.repeat(times[None], len(pairs), axis=0)
            rows = np.arange(len(pairs))
            trial[rows, pairs[:, 0]] -= step
            trial[rows, pairs[:, 1]] += step
            trial = trial[junction.limits.kept(trial)]
            if not len(trial):
                break
            delay = Queues(junction, trial, arrivals, hours).delay
            k = int(np.argmin(delay))
            if delay[k] >= best * (1.0 - GAIN):
                break
            times, best = trial[k], float(delay[k])
    return times, best


def even_arrivals(junction: Junction, cycle: int) -> Floats:
    """Arrivals that do not vary, (1, cycle, lanes)."""
    return np.repeat(junction.demand[None, None, :], cycle, axis=1)


def by_cycle(junction: Junction, cycles: Sequence[int], hours: float) -> Splits:
    """The best times and their delay, by cycle, where arrivals do not vary."""
    found: Splits = {}
    for cycle in cycles:
        times = first_times(junction, cycle)
        if times is not None:
            found[cycle] = best_splits(junction, times, even_arrivals(junction, cycle), hours)
    if not found:  # the limits alone take longer than all of them
        times = least_times(junction)
        cycle = int(times.sum())
        found[cycle] = best_splits(junction, times, even_arrivals(junction, cycle), hours)
    return found


def cycles_between(shortest: int, longest: int, step: int = 10) -> list[int]:
    """Cycles that are tried, s."""
    return sorted({*range(shortest, longest + 1, step), longest})
