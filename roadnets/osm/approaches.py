"""Lanes of the roads that arrive at an intersection: which leads to which lane of which exit.

Source: networks.md 4.1 - 4.5.
"""

from collections import Counter
from dataclasses import dataclass, field
from math import radians
from typing import Final, NamedTuple

from rushhour.roadnets.osm.lanes import letters_for, pairs_of
from rushhour.roadnets.osm.legs import offset_at
from rushhour.roadnets.osm.links import Road, Streets, node_at
from rushhour.roadnets.osm.movements import Turns
from rushhour.roadnets.osm.places import direction, priority_of
from rushhour.roadnets.osm.ways.tags import Direction

BESIDE: Final = radians(45.0)  # roads that join at less may go on side by side


class Exit(NamedTuple):
    """A road that can follow another."""

    road: Road
    letter: str  # R, T, L or U
    pairs: list[tuple[int, int]]  # lanes of the entry and of the exit
    angle: float  # rad, left positive


@dataclass(slots=True)
class Approach:
    """A road that arrives at an intersection, with its lane pairs to every exit."""

    road: Road
    exits: list[Exit] = field(default_factory=list)


def approaches_of(
    streets: Streets, turns: Turns, used: set[Road], roads: list[Road]
) -> list[Approach]:
    """Lane pairs of the roads that arrive at an intersection; every car lane of an exit is fed.

    used: roads that are drawn.
    """
    found: list[Approach] = []
    plain = True  # one lane each, for all
    for road in roads:
        after = [(other, angle) for other, angle in turns.follow[road] if other in used]
        if not after:
            continue
        beyond = [streets.links[other[0]] for other, _ in after]
        rings = [link.rules.ring for link in beyond]
        ranks = [priority_of(link) for link in beyond]
        # Round a roundabout one goes straight on, be the ways out straighter.
        around = rings.index(True) if streets.links[road[0]].rules.ring and True in rings else -1
        letters = letters_for([angle for _, angle in after], ranks, around)
        entry = direction(streets.links[road[0]], road[1])
        onward = [direction(link, other[1]) for link, (other, _) in zip(beyond, after, strict=True)]
        cars = [j for j, lanes in enumerate(onward) if lanes.cars]
        if len(cars) < len(after) and entry.cars:  # to cars, which exit leads straight on
            goes_on = cars.index(around) if around in cars else -1
            own = letters_for([after[j][1] for j in cars], [ranks[j] for j in cars], goes_on)
            for j, letter in zip(cars, own, strict=True):
                letters[j] = letter
        plain = plain and all(lanes.lanes == 1 and not lanes.bus for lanes in (entry, *onward))
        exits = list(zip(letters, onward, strict=True))
        pairs = pairs_of(entry, exits)
        if len(after) == 1 and entry.cars and onward[0].cars:
            pairs[0] = _aligned(streets, road, after[0][0], pairs[0])
        if True in rings and not streets.links[road[0]].rules.ring:
            for (_, lanes), ring, found_pairs in zip(exits, rings, pairs, strict=True):
                if ring and found_pairs:  # every lane: to change on the ring is often too late
                    last, first = found_pairs[-1]
                    found_pairs += [(last, b) for b in lanes.car_lanes if b > first]
        found.append(
            Approach(
                road,
                [
                    Exit(other, letter, lanes, angle)
                    for (other, angle), letter, lanes in zip(after, letters, pairs, strict=True)
                ],
            )
        )
    if not plain:
        _join_side_by_side(streets, found)
        _part_side_by_side(streets, found)
        _feed_spare_lanes(streets, found)
    _end_lanes(streets, found)
    return found


def _aligned(
    streets: Streets, road: Road, after: Road, pairs: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Lane pairs of a road that goes on wider: each into the lane that lies before it.

    Where all are as far aside, as they were.
    """
    entry, exit = (direction(streets.links[index], forward) for index, forward in (road, after))
    lanes, to = entry.car_lanes, exit.car_lanes
    if len(to) <= len(lanes) or len(pairs) != len(lanes):
        return pairs
    here = [offset_at(streets.links[road[0]], road[1], lane, True) for lane in lanes]
    there = [offset_at(streets.links[after[0]], after[1], lane, False) for lane in to]
    aside = [
        sum(abs(a - b) for a, b in zip(here, there[first:], strict=False)) / len(lanes)
        for first in range(len(to) - len(lanes) + 1)
    ]
    first = min(range(len(aside)), key=lambda k: (round(aside[k], 1), k))
    return list(zip(lanes, to[first:], strict=False)) if first else pairs


def _entry(streets: Streets, approach: Approach) -> Direction:
    """The lanes of an approach."""
    return direction(streets.links[approach.road[0]], approach.road[1])


def _join_side_by_side(streets: Streets, approaches: list[Approach]) -> None:
    """Where a road has as many lanes as those that lead into it alone, each goes on in its own."""
    if sum(len(approach.exits) == 1 for approach in approaches) < 2:
        return
    into: dict[Road, list[tuple[float, Approach]]] = {}
    for approach in approaches:
        for exit in approach.exits if _entry(streets, approach).cars else ():
            into.setdefault(exit.road, []).append((exit.angle, approach))
    for road, entries in into.items():
        if len(entries) < 2 or any(len(a.exits) > 1 or abs(t) > BESIDE for t, a in entries):
            continue
        feeders = [
            (approach, lane)
            for _, approach in sorted(entries, key=lambda e: e[0])  # from the right first
            for lane in _entry(streets, approach).car_lanes
        ]
        lanes = direction(streets.links[road[0]], road[1]).car_lanes
        if len(feeders) != len(lanes):
            continue
        for _, approach in entries:
            approach.exits[0].pairs.clear()
        for (approach, lane), to in zip(feeders, lanes, strict=True):
            approach.exits[0].pairs.append((lane, to))


def _part_side_by_side(streets: Streets, approaches: list[Approach]) -> None:
    """Where the roads of a fork have as many lanes as the road before, or one more, each goes on in its
    own; the one that is short leads into both. What the map says of the lanes comes first."""
    forks = [approach for approach in approaches if len(approach.exits) == 2
             and all(abs(exit.angle) <= BESIDE for exit in approach.exits)]  # fmt: skip
    if not forks:
        return
    fed = Counter(exit.road for approach in approaches for exit in approach.exits)
    for approach in forks:
        entry, exits = _entry(streets, approach), approach.exits
        if any(fed[exit.road] > 1 for exit in exits):
            continue
        lanes = entry.car_lanes
        to = [direction(streets.links[e.road[0]], e.road[1]).car_lanes for e in exits]
        counts = [len(t) for t in to]
        if entry.turns or not max(counts) <= len(lanes) <= sum(counts) <= len(lanes) + 1:
            continue
        for exit, own, onward in zip(
            exits, (lanes[: counts[0]], lanes[-counts[1] :]), to, strict=True
        ):
            exit.pairs[:] = zip(own, onward, strict=True)


def _end_lanes(streets: Streets, approaches: list[Approach]) -> None:
    """Let lanes that were added lead nowhere where they end: one has to leave them before.

    Joined to the lane beside them, that one would stop to take turns, and through traffic would use them.
    """
    for approach in approaches if streets.lane_ends else ():
        index, forward = approach.road
        kerb = streets.lane_ends.get(node_at(streets.links[index], not forward))
        if kerb is not None and len(approach.exits) == 1:
            lanes = _entry(streets, approach).car_lanes
            exit = approach.exits[0]
            to = direction(streets.links[exit.road[0]], exit.road[1]).car_lanes
            exit.pairs[:] = zip(lanes[1:] if kerb else lanes[:-1], to, strict=False)


def _feed_spare_lanes(streets: Streets, approaches: list[Approach]) -> None:
    """Give exit lanes that nothing feeds a connector from the nearest feeder beside them."""
    into: dict[Road, list[tuple[str, list[tuple[int, int]]]]] = {}
    for approach in approaches:
        for other, letter, pairs, _ in approach.exits:
            if (
                direction(streets.links[other[0]], other[1]).lanes > 1
                and _entry(streets, approach).cars
            ):
                into.setdefault(other, []).append((letter, pairs))
    for road, movements in into.items():
        lanes = direction(streets.links[road[0]], road[1])
        fed = {b for _, pairs in movements for _, b in pairs}
        for lane in lanes.car_lanes:
            if lane in fed:
                continue
            near = min(
                (
                    (abs(b - lane), "TLRU".index(letter), j, a)
                    for j, (letter, pairs) in enumerate(movements)
                    for a, b in pairs
                ),
                default=None,
            )
            if near is not None:
                movements[near[2]][1].append((near[3], lane))
