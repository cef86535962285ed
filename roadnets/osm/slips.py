"""Slip lanes: free right turns that pass a crossing on its corner.

One leaves a leg beside the way straight on, turns right and joins the next leg beside the way that
comes through the crossing. It stays a road of its own, gives way at its end and sees no signal.
Traffic keeps right here: maps with left-hand traffic are read in a mirror. Source: networks.md 2.6.
"""

import heapq
from math import pi, radians
from typing import Final

from rushhour.roadnets.osm.links import Road, Streets, node_at
from rushhour.roadnets.osm.movements import heading_from, turn_angle
from rushhour.roadnets.osm.signs import length_of

LONGEST: Final = 60.0  # m
SHARPEST, GENTLEST = radians(-155.0), radians(-45.0)  # of the turn from leg to leg, left positive
DETOUR: Final = 2.0  # times its length: how far the way over the crossing may be


def slips_of(streets: Streets) -> set[int]:
    """Links that are slip lanes."""
    ends = streets.ends()
    lengths = [length_of(streets, link) for link in streets.links]
    return {
        index
        for index, link in enumerate(streets.links)
        if link.rules.one_way and not link.rules.ring and lengths[index] <= LONGEST
        if len(ends[link.a]) > 2 and len(ends[link.b]) > 2
        if _turns_right(streets, ends, index) and _passes_corner(streets, ends, lengths, index)
    }


def _open(streets: Streets, road: Road) -> bool:
    """Whether a link may be driven that way."""
    rules = streets.links[road[0]].rules
    return (rules.forward if road[1] else rules.backward).lanes > 0


def _turns_right(streets: Streets, ends: dict[int, list[tuple[int, bool]]], index: int) -> bool:
    """Whether a link leads from one leg to another beside the straighter ways, turning right."""
    link = streets.links[index]
    leave = heading_from(streets, link, True)
    join = heading_from(streets, link, False) + pi
    into = [heading_from(streets, streets.links[i], start) + pi for i, start in ends[link.a]
            if i != index and _open(streets, (i, not start))]  # fmt: skip
    onto = [heading_from(streets, streets.links[i], start) for i, start in ends[link.b]
            if i != index and _open(streets, (i, start))]  # fmt: skip
    if not into or not onto:
        return False
    before = min(into, key=lambda heading: abs(turn_angle(heading, leave)))
    behind = min(onto, key=lambda heading: abs(turn_angle(join, heading)))
    if not SHARPEST <= turn_angle(before, behind) <= GENTLEST:
        return False
    beside = [heading_from(streets, streets.links[i], start) for i, start in ends[link.a]
              if i != index and _open(streets, (i, start))]  # fmt: skip
    through = [heading_from(streets, streets.links[i], start) + pi for i, start in ends[link.b]
               if i != index and _open(streets, (i, not start))]  # fmt: skip
    return _straighter(before, beside, leave) and _straighter(behind, through, join)


def _straighter(leg: float, others: list[float], slip: float) -> bool:
    """Whether one of the others goes along a leg more nearly than the slip lane does."""
    own = abs(turn_angle(leg, slip))
    return any(abs(turn_angle(leg, other)) < own for other in others)


def _passes_corner(
    streets: Streets, ends: dict[int, list[tuple[int, bool]]], lengths: list[float], index: int
) -> bool:
    """Whether its end can be reached from its start another way that is not much longer."""
    link = streets.links[index]
    most = DETOUR * lengths[index]
    best = {link.a: 0.0}
    heap = [(0.0, link.a)]
    while heap:
        length, node = heapq.heappop(heap)
        if node == link.b:
            return True
        if length > best[node]:
            continue
        for other, start in ends[node]:
            if other == index or not _open(streets, (other, start)):
                continue
            far = node_at(streets.links[other], not start)
            there = length + lengths[other]
            if there <= most and there < best.get(far, most + 1.0):
                best[far] = there
                heapq.heappush(heap, (there, far))
    return False
