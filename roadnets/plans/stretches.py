"""Stretches of a street: parts of one direction that differ in lanes or speed.

Lanes have numbers that ascend to the kerb; lanes of one number in two stretches are one lane. The
lanes that all stretches share are the *trunk*. Right-hand traffic.
"""

from dataclasses import dataclass
from typing import Final

SHORTEST: Final = 20.0  # m of a stretch, room for two cars and a taper


@dataclass(frozen=True)
class StreetLane:
    """A lane of a stretch."""

    number: int
    width: float  # m
    permissions: int


@dataclass(frozen=True)
class Stretch:
    """A part of one direction, up to the next one. lanes: from the kerb."""

    start: float  # m from the corner where the direction starts
    lanes: tuple[StreetLane, ...]
    speed: float  # m/s

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the lanes, from the kerb."""
        return tuple(lane.number for lane in self.lanes)


def _trunk(stretches: list[Stretch]) -> set[int]:
    """Numbers of the lanes that all stretches share; of the narrowest one if they share none."""
    shared = set.intersection(*(set(stretch.numbers) for stretch in stretches))
    return shared or set(min(stretches, key=lambda s: len(s.lanes)).numbers)


def turn_lanes(stretches: list[Stretch]) -> tuple[int, int]:
    """How many lanes at the end lie left of the trunk (or of lane 1), and how many right of it."""
    if not stretches:
        return 0, 0
    trunk = _trunk(stretches)
    first = max(1, min(trunk)) if max(trunk) > 0 else min(trunk)
    last = stretches[-1].numbers
    left, right = sum(n < first for n in last), sum(n > max(trunk) for n in last)
    return (left, right) if left + right < len(last) else (0, 0)


def offsets(stretches: list[Stretch], k: int, one_way: bool) -> list[float]:
    """Offsets of the lanes of stretch k to the right of the street's line, from the kerb, m.

    The trunk of a one-way street lies astride the line; the lanes of others begin at it.
    """
    lanes = stretches[k].lanes
    inner = 0.0
    if one_way:
        trunk = _trunk(stretches)
        inner = -0.5 * sum(lane.width for lane in stretches[0].lanes if lane.number in trunk)
        inner -= sum(lane.width for lane in lanes if lane.number < min(trunk))
    found = []
    for lane in reversed(lanes):
        found.append(inner + lane.width / 2.0)
        inner += lane.width
    return found[::-1]


def half_widths(ahead: list[Stretch], back: list[Stretch], at_start: bool) -> tuple[float, float]:
    """How far the lanes reach to the right and to the left of a street's line at one end, m.

    Looking along the line, on which `ahead` drives. A side without lanes is as wide as the other.
    """
    if ahead and back:
        sides = (ahead[0 if at_start else -1], back[-1 if at_start else 0])
        right, left = (sum(lane.width for lane in stretch.lanes) for stretch in sides)
        return right, left
    only = ahead or back
    k = 0 if at_start == bool(ahead) else len(only) - 1
    places = offsets(only, k, True)
    right = places[0] + only[k].lanes[0].width / 2.0
    left = only[k].lanes[-1].width / 2.0 - places[-1]
    return (right, left) if ahead else (left, right)


def fitted(stretches: list[Stretch], start: float, end: float) -> list[Stretch]:
    """The stretches that lie between two distances along the street, none of them too short, m.

    One that is too short is joined to its neighbour, with the lanes of both.
    """
    found: list[Stretch] = []
    ends = [stretch.start for stretch in stretches[1:]] + [end]
    for stretch, until in zip(stretches, ends, strict=True):
        begin = max(start, stretch.start) if found else start
        if found and (min(until, end) - begin < SHORTEST or begin - found[-1].start < SHORTEST):
            found[-1] = _joined(found[-1], stretch)
        else:
            found.append(Stretch(begin, stretch.lanes, stretch.speed))
    return found


def _joined(first: Stretch, second: Stretch) -> Stretch:
    lanes = {lane.number: lane for lane in (*first.lanes, *second.lanes)}
    ordered = tuple(lanes[number] for number in sorted(lanes, reverse=True))
    return Stretch(first.start, ordered, second.speed)
