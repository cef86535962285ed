"""Lanes that slide aside along their street.

Those of `placement=transition` slide from where the street before has them to the next one's. The
two carriageways into which a street parts slide apart towards the node where they do: their lines
meet there, and drawn on both sides of them their lanes would lie on each other.
Source: networks.md 3.1; the page on placement of the OpenStreetMap wiki.
"""

from math import pi, radians
from typing import Final

from rushhour.roadnets.osm.legs import half_width
from rushhour.roadnets.osm.links import Link, Streets, node_at
from rushhour.roadnets.osm.movements import heading_from, turn_angle
from rushhour.roadnets.osm.signs import line_of
from rushhour.roadnets.osm.ways.tags import WayRules

PARTING: Final = radians(60.0)  # between two carriageways, and off the street that goes on as them

Ends = dict[int, list[tuple[int, bool]]]


def part_carriageways(streets: Streets) -> None:
    """Lay the carriageways into which streets part beside each other where they meet.

    Each goes on beside the line that divides the directions of the street.
    """
    for here in streets.ends().values():
        if len(here) < 3:
            continue
        one_way = [end for end in here if streets.links[end[0]].rules.one_way]
        leaving, arriving = ([end for end in one_way if end[1] == start] for start in (True, False))
        if len(leaving) != 1 or len(arriving) != 1:
            continue
        away, back = (heading_from(streets, streets.links[i], s) for i, s in (*leaving, *arriving))
        if not 0.0 < turn_angle(away, back) < PARTING:
            continue
        before = [
            (index, start)
            for index, start in here
            if not streets.links[index].rules.one_way
            if all(
                abs(turn_angle(heading_from(streets, streets.links[index], start) + pi, on))
                < PARTING
                for on in (away, back)
            )
        ]
        if len(before) != 1:
            continue
        ((street, start),) = before
        for (index, begins), towards in ((leaving[0], not start), (arriving[0], start)):
            link = streets.links[index]
            if not link.rules.transition:
                aside = (
                    _middle(streets.links[street], towards) + half_width(link) - link.rules.shift
                )
                link.slide = (aside, link.slide[1]) if begins else (link.slide[0], aside)


def _middle(link: Link, forward: bool) -> float:
    """How far right of the line the lanes of a direction begin, m."""
    way, shift = (
        (link.rules.forward, link.rules.shift)
        if forward
        else (link.rules.backward, -link.rules.shift)
    )
    return half_width(link) - way.lanes * link.rules.width + shift


def lay_transitions(streets: Streets) -> None:
    """Set how far aside the lanes of each transition lie at its two ends.

    Several in a row, with nothing else between them, slide as one.
    """
    sliding = [index for index, link in enumerate(streets.links) if link.rules.transition]
    ends = streets.ends() if sliding else {}
    for index in sliding:
        link = streets.links[index]
        own = line_of(streets, link.nodes)
        (before, first), (behind, last) = (_beyond(streets, ends, index, s) for s in (True, False))
        if first is None:
            first = last
        if last is None:
            last = first
        if first is not None and last is not None:
            pace = (last - first) / max(before + own + behind, 1e-9)
            link.slide = (first + pace * before, last - pace * behind)


def _beyond(streets: Streets, ends: Ends, first: int, start: bool) -> tuple[float, float | None]:
    """Metres of further transition beyond one end of a link, and how far aside the lanes lie there.

    None where nothing follows.
    """
    index, same, length = first, True, 0.0
    while True:
        link = streets.links[index]
        node = node_at(link, start)
        others = [(i, s) for i, s in ends[node] if i != index]
        if not others:
            return length, None
        arrive = heading_from(streets, link, start) + pi
        turns = [turn_angle(arrive, heading_from(streets, streets.links[i], s)) for i, s in others]
        onward, there = others[min(range(len(others)), key=lambda k: abs(turns[k]))]
        same = same == (there != start)
        beyond = streets.links[onward]
        if not beyond.rules.transition:
            return length, _aside(streets.links[first].rules, beyond.rules, same)
        if len(others) > 1 or onward == first:
            return length, None
        length += line_of(streets, beyond.nodes)
        index, start = onward, not there


def _aside(own: WayRules, beyond: WayRules, same: bool) -> float:
    """How far right of the line the middle of the own lanes lies, m, where the other street begins.

    Of one-ways as many lanes stay left of the line as there. same: both run in the same direction.
    """
    lanes = own.forward.lanes
    if same and own.one_way and beyond.line is not None and 0.0 <= beyond.line <= lanes:
        return (0.5 * lanes - beyond.line) * own.width
    return beyond.shift if same else -beyond.shift
