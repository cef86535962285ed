"""Neighbouring signals in step: one cycle where they are next to each other, a green wave beyond.

Source: networks.md 5.1, 5.4.
"""

from collections import deque
from collections.abc import Collection
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import STRAIGHT
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftRoad, DraftSignal
from rushhour.roadnets.drafts.groups import Parts
from rushhour.roadnets.geometry.outlines import near_pairs

NEXT: Final = 40.0  # m between stop lines of signals that have one cycle
NEIGHBOURS: Final = 400.0  # m of road within which a green leads to the next
GREEN: Final = 8.0  # s; shorter phases clear the intersection
SAME: Final = 0.05  # s
RED: Final = frozenset("rs")


class _Between(NamedTuple):
    """A road from one signal to another."""

    road: DraftRoad
    length: float  # m


def coordinate(draft: Draft, names: Collection[str]) -> None:
    """Set the offsets of signals of a draft, and the cycles of those close together.

    names: of the signals; others stay as they are.
    """
    signals = {signal.id: signal for signal in draft.signals if signal.id in names}
    roads = _roads_between(draft, signals)
    _share_cycles(draft, signals)
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


def _share_cycles(draft: Draft, signals: dict[str, DraftSignal]) -> None:
    """Give signals next to each other the longest of their cycles."""
    place = {name: i for i, name in enumerate(signals)}
    ends: dict[int, list[NDArray[np.float64]]] = {}
    for road in draft.roads:
        for name, at in ((road.from_intersection, 0), (road.to_intersection, -1)):
            if name in place:
                ends.setdefault(place[name], []).extend(lane.shape[at] for lane in road.lanes)
    parts = Parts()
    for _, a, b in near_pairs({i: np.array(at) for i, at in ends.items()}, NEXT):
        parts.join(a, b)
    groups: dict[int, list[DraftSignal]] = {}
    for name, signal in signals.items():
        groups.setdefault(parts.find(place[name]), []).append(signal)
    for group in groups.values():
        longest = max(cycle_of(signal) for signal in group)
        for signal in group:
            stretch(signal, longest)


def stretch(signal: DraftSignal, cycle: float) -> None:
    """Lengthen the greens of a program, in proportion, until it takes `cycle` seconds."""
    greens = [k for k, (time, letters) in enumerate(signal.phases)
              if time >= GREEN and not set(letters) <= RED]  # fmt: skip
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
