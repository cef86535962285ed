"""What the phases of signal programs are for: greens, and what clears them.

A *green* is a phase in which vehicles have green, none has yellow, and something is greener than in
the green before. Other phases clear it: the end of a green for people on foot, yellow, red, and
phases for people on foot alone.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GREEN, GREEN_YIELD, YELLOW, NetworkArrays, Signals
from rushhour.kernels.signals.max_pressure import Clearing


def members_of(arrays: NetworkArrays) -> list[NDArray[np.intp]]:
    """Connectors of each program, ascending."""
    signal = arrays.connectors.signal
    order = np.argsort(signal, kind="stable")
    bounds = np.searchsorted(signal[order], np.arange(arrays.signals.cycle.size + 1))
    return [order[a:b] for a, b in pairwise(bounds.tolist())]


def conflicts_among(
    arrays: NetworkArrays, members: NDArray[np.intp]
) -> Iterator[tuple[int, int, int]]:
    """Conflicts of connectors of a program from other lanes: places of the two in members, and its number."""
    links, conflicts = arrays.connectors, arrays.conflicts
    place = {int(k): i for i, k in enumerate(members)}
    for i, k in enumerate(members.tolist()):
        for c in range(links.conflict_start[k], links.conflict_start[k + 1]):
            j = place.get(int(conflicts.other[c]), -1)
            if j >= 0 and links.from_lane[members[j]] != links.from_lane[k]:
                yield i, j, c


def letters_of(signals: Signals, program: int) -> NDArray[np.uint8]:
    """States of a program, (phases, links)."""
    n = int(signals.phase_start[program + 1] - signals.phase_start[program])
    width, first = int(signals.links[program]), int(signals.state_start[program])
    return signals.state[first : first + n * width].reshape(n, width)


def phase_times(signals: Signals, program: int) -> NDArray[np.float64]:
    """Fixed times of the phases of a program, s."""
    ends = signals.phase_end[signals.phase_start[program] : signals.phase_start[program + 1]]
    return np.diff(np.concatenate(([0.0], ends)))


def replaced_programs(
    signals: Signals, plans: Mapping[int, tuple[NDArray[np.uint8], NDArray[Any], float]]
) -> Signals:
    """The same programs, some with others' phases: states (phases, links), durations and offset, s."""
    ends: list[NDArray[Any]] = []
    states: list[NDArray[np.uint8]] = []
    cycle, offset = signals.cycle.copy(), signals.offset.copy()
    for program in range(cycle.size):
        if program not in plans:
            here = slice(signals.phase_start[program], signals.phase_start[program + 1])
            ends.append(signals.phase_end[here])
            states.append(letters_of(signals, program))
            continue
        letters, durations, begins = plans[program]
        ends.append(np.cumsum(durations))
        states.append(letters)
        cycle[program], offset[program] = ends[-1][-1], begins
    return Signals(
        phase_start=np.cumsum([0, *map(len, ends)]).astype(np.int32),
        phase_end=np.concatenate(ends).astype(np.float64),
        cycle=cycle,
        offset=offset,
        links=signals.links,
        state_start=np.cumsum([0, *(one.size for one in states)]).astype(np.int32),
        state=np.concatenate([one.reshape(-1) for one in states]).astype(np.uint8),
    )


def greens_of(letters: NDArray[np.uint8]) -> list[int]:
    """Phases that are greens; letters: (phases, links) of those links that vehicles have."""
    major = letters == GREEN
    green = major | (letters == GREEN_YIELD)
    found = np.flatnonzero(green.any(axis=1) & ~(letters == YELLOW).any(axis=1)).tolist()
    more = [
        now
        for before, now in zip(found[-1:] + found[:-1], found, strict=True)
        if (green[now] & ~green[before]).any() or (major[now] & ~major[before]).any()
    ]
    return more or found[:1]


def clearing_times(arrays: NetworkArrays) -> tuple[Clearing, NDArray[np.bool_]]:
    """How each phase of all programs is cleared, and which programs have a choice of greens.

    A green that the program clears without yellow, as what follows it holds all of it, takes the
    longest yellow and red of its program when it is followed by something else.
    """
    signals = arrays.signals
    n = signals.phase_end.size
    main, times = np.zeros(n, np.bool_), [np.zeros(n) for _ in range(3)]
    choice = np.zeros(signals.cycle.size, np.bool_)
    for program, members in enumerate(members_of(arrays)):
        letters = letters_of(signals, program)[:, np.unique(arrays.connectors.link[members])]
        greens = greens_of(letters)
        if len(greens) < 2:
            continue
        choice[program] = True
        here = slice(signals.phase_start[program], signals.phase_start[program + 1])
        main[signals.phase_start[program] + np.array(greens)] = True
        _add_clearing(letters, greens, phase_times(signals, program), [x[here] for x in times])
    return Clearing(main, *times), choice


def _add_clearing(
    letters: NDArray[np.uint8], greens: list[int], times: NDArray[np.float64],
    into: list[NDArray[np.float64]],
) -> None:  # fmt: skip
    """Sum up the phases that follow each green into hold, yellow and red."""
    hold, yellow, red = into
    going = np.asarray(np.isin(letters, (GREEN, GREEN_YIELD)).any(axis=1))
    ending = np.asarray((letters == YELLOW).any(axis=1))
    for green in greens:
        p = (green + 1) % len(times)
        while p not in greens:
            if ending[p]:
                yellow[green] += times[p]
            elif yellow[green] > 0.0 or not going[p]:
                red[green] += times[p]
            else:
                hold[green] += times[p]
            p = (p + 1) % len(times)
    longest = max(greens, key=lambda green: float(yellow[green]))
    for green in greens:
        if yellow[green] == 0.0:
            yellow[green] = yellow[longest]
            red[green] = max(red[green], red[longest])
