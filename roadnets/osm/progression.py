"""Neighbouring signals in step: one cycle where they are next to each other, a green wave beyond.

Source: networks.md 5.1, 5.4.
"""

from collections import deque
from collections.abc import Collection
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import numpy as np

from rushhour.kernels.network import STRAIGHT
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftRoad, DraftSignal

NEXT: Final = 30.0  # m of road between signals that have one cycle
NEIGHBOURS: Final = 400.0  # m of road within which a green leads to the next
GREEN: Final = 8.0  # s; shorter phases clear the intersection
SAME: Final = 0.05  # s


class _Between(NamedTuple):
    """A road from one signal to another."""

    road: DraftRoad
    length: float  # m


def coordinate(draft: Draft, names: Collection[str]) -> None:
    """Set the offsets of signals of a draft, and the cycles of those close together.

    names: of the signals; those for people on foot stay as they are.
    """
    signals = {signal.id: signal for signal in draft.signals if signal.id in names}
    roads = _roads_between(draft, signals)
    _share_cycles(signals, roads)
    into: dict[str, list[DraftConnector]] = {}
    out: dict[str, list[DraftConnector]] = {}
    for link in draft.connectors:
        if link.signal in signals:
            into.setdefault(link.to_road, []).append(link)
            out.setdefault(link.from_road, []).append(link)
    done: set[str] = set()
    for first in sorted(roads, key=_by_number):
        if first in done:
            continue
        done.add(first)
        waiting = deque([first])
        while waiting:
            name = waiting.popleft()
            here = signals[name]
            for road, length in roads[name]:
                there = signals[road.to_intersection]
                if there.id in done or abs(cycle_of(here) - cycle_of(there)) > SAME:
                    continue
                leave = green_start(here, into.get(road.id, []))
                arrive = green_start(there, out.get(road.id, []))
                travel = length / road.lanes[-1].speed
                offset = here.offset + leave + travel - arrive
                there.offset = round(offset % cycle_of(there), 1)
                done.add(there.id)
                waiting.append(there.id)


def _by_number(name: str) -> tuple[int, str]:
    """Order of source ids: as numbers where they are."""
    return (int(name), "") if name.lstrip("-").isdigit() else (0, name)


def _roads_between(draft: Draft, signals: dict[str, DraftSignal]) -> dict[str, list[_Between]]:
    """Short roads from each signal to others, of the highest class first."""
    found: dict[str, list[_Between]] = {name: [] for name in signals}
    for road in draft.roads:
        a, b = road.from_intersection, road.to_intersection
        if a != b and a in signals and b in signals:
            length = float(np.hypot(*np.diff(road.lanes[-1].shape, axis=0).T).sum())
            if length < NEIGHBOURS:
                found[a].append(_Between(road, length))
    for roads in found.values():
        roads.sort(key=lambda r: (-r.road.priority, r.length, r.road.id))
    return found


def cycle_of(signal: DraftSignal) -> float:
    """Length of a program, s."""
    return sum(time for time, _ in signal.phases)


def _share_cycles(signals: dict[str, DraftSignal], roads: dict[str, list[_Between]]) -> None:
    """Give signals next to each other the longest of their cycles."""
    done: set[str] = set()
    for first in signals:
        if first in done:
            continue
        group, waiting = {first}, [first]
        while waiting:
            for road, length in roads[waiting.pop()]:
                name = road.to_intersection
                if length < NEXT and name not in group:
                    group.add(name)
                    waiting.append(name)
        done |= group
        longest = max(cycle_of(signals[name]) for name in group)
        for name in group:
            stretch(signals[name], longest)


def stretch(signal: DraftSignal, cycle: float) -> None:
    """Lengthen the greens of a program, in proportion, until it takes `cycle` seconds."""
    greens = [k for k, (time, _) in enumerate(signal.phases) if time >= GREEN]
    more = cycle - cycle_of(signal)
    if more < SAME or not greens:
        return
    total = sum(signal.phases[k][0] for k in greens)
    for k in greens:
        time, letters = signal.phases[k]
        signal.phases[k] = (time + more * time / total, letters)


def green_start(signal: DraftSignal, links: list[DraftConnector]) -> float:
    """Seconds into a program at which links turn green, those straight on if there are some."""
    own = [link for link in links if link.signal == signal.id]
    own = [link for link in own if link.turn == STRAIGHT] or own
    starts = list(accumulate((time for time, _ in signal.phases), initial=0.0))
    last = signal.phases[-1]
    for letter in "Gg":
        for start, (before, now) in zip(starts, pairwise([last, *signal.phases]), strict=False):
            for link in own:
                if now[1][link.link] == letter and before[1][link.link] != letter:
                    return start
    return 0.0
