"""Lanes that slide aside along their street.

Those of `placement=transition` slide from where the street before has them to the next one's. The
two carriageways into which a street parts slide apart towards the node where they do: their lines
meet there, and drawn on both sides of them their lanes would lie on each other. So do a main road and
a ramp. Where the map draws two carriageways nearer to each other than their lanes are wide, both move aside.
Source: networks.md 3.1; the page on placement of the OpenStreetMap wiki.
"""

from dataclasses import replace
from math import pi, radians, tan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.geometry.street_lines import Line, line_length, stations
from rushhour.roadnets.osm.legs import MOST, half_width
from rushhour.roadnets.osm.links import Link, Streets, node_at
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.movements import heading_from, turn_angle
from rushhour.roadnets.osm.ramps import MAIN, RAMPS
from rushhour.roadnets.osm.signs import length_of
from rushhour.roadnets.osm.ways.tags import WayRules

PARTING: Final = radians(60.0)  # between two carriageways, and off the street that goes on as them
ALONG: Final = 5.0  # m between the places where the room between carriageways is measured
LEAST: Final = 0.3  # m; lanes that lie on each other by less stay
SHORTEST: Final = 40.0  # m; shorter ones lead round an island, with no room to move in

ROADS: Final = (*MAIN, *RAMPS)

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


def part_ramps(streets: Streets) -> None:
    """Lay ramps beside the road that they leave or join, unless that gets wider or narrower by more.

    Of two roads of one rank each moves aside by half of what is missing, else the lower one by all.
    """
    links = streets.links
    for here in streets.ends().values():
        rules = [links[index].rules for index, _ in here]
        if len(here) != 3 or not all(r.one_way and r.highway in ROADS for r in rules):
            continue
        start = sum(start for _, start in here) == 2
        pair = [end for end in here if end[1] == start]
        if len(pair) != 2 or any(r.transition for r in rules):
            continue
        (whole,) = (end for end in here if end[1] != start)
        lanes = [links[index].rules.forward.lanes for index, _ in pair]
        shared = sum(lanes) - links[whole[0]].rules.forward.lanes
        if not 0 <= shared <= min(lanes):
            continue
        first, second = (heading_from(streets, links[index], start) for index, _ in pair)
        apart = turn_angle(first, second)
        if not 0.0 < abs(apart) < PARTING:
            continue
        left, right = pair if (apart < 0.0) == start else pair[::-1]
        near, far = links[left[0]], links[right[0]]
        if 2.0 * MOST * tan(0.5 * abs(apart)) > half_width(near) + half_width(far):
            continue  # cut back they clear each other
        missing = half_width(near) + near.rules.shift + half_width(far) - far.rules.shift
        missing -= shared * min(near.rules.width, far.rules.width)
        if missing <= LEAST:
            continue
        ranks = near.rules.rank, far.rules.rank
        share = 0.5 if ranks[0] == ranks[1] else float(ranks[0] > ranks[1])
        for link, aside in ((near, (share - 1.0) * missing), (far, share * missing)):
            if aside:
                link.slide = (aside, link.slide[1]) if start else (link.slide[0], aside)


def lay_carriageways_apart(streets: Streets, merged: Merged) -> None:
    """Move the two carriageways between the same two intersections aside where they lack room.

    Each by half of what is missing, at most by a lane.
    """
    by_ends = _carriageways(streets, merged)
    links = streets.links
    for (a, b), there in by_ends.items():
        back = by_ends.get((b, a), [])
        if a >= b or len(there) != 1 or len(back) != 1:
            continue
        aside = 0.5 * _missing(streets, there[0], back[0])
        if 0.5 * LEAST < aside < links[there[0][0]].rules.width:
            for index in (*there[0], *back[0]):
                rules = links[index].rules
                links[index].rules = replace(rules, shift=rules.shift + aside)


def _carriageways(streets: Streets, merged: Merged) -> dict[tuple[int, int], list[list[int]]]:
    """One-ways by the intersections where they begin and end, as the links that follow each other."""
    links = streets.links
    plain = {
        index
        for index, link in enumerate(links)
        if link.rules.forward.lanes and not link.rules.backward.lanes and index not in merged.inner
        if not link.rules.ring and not link.rules.transition
        if not link.rules.highway.endswith("_link")  # ramps part from each other as they come
    }
    onward: dict[int, int] = {}
    for here in streets.ends().values():
        if len(here) == 2 and here[0][1] != here[1][1] and {i for i, _ in here} <= plain:
            (before, _), (behind, _) = sorted(here, key=lambda end: end[1])
            onward[before] = behind
    found: dict[tuple[int, int], list[list[int]]] = {}
    for index in sorted(plain.difference(onward.values())):
        chain = [index]
        while chain[-1] in onward:
            chain.append(onward[chain[-1]])
        ends = merged.home(links[index].a), merged.home(links[chain[-1]].b)
        found.setdefault(ends, []).append(chain)
    return found


def _missing(streets: Streets, there: list[int], back: list[int]) -> float:
    """How far the lanes of two carriageways lie on each other, m; 0 where they are no such, or short.

    Where their lines meet in one node, a quarter of the length does not count.
    """
    one, other = ([streets.links[i] for i in chain] for chain in (there, back))
    line, beside = (
        np.array([streets.xy[n] for link in links for n in link.nodes]) for links in (one, other)
    )
    length = line_length(line)
    if length < SHORTEST:
        return 0.0
    first = 0.25 * length if one[0].a == other[-1].b else 0.0
    last = 0.75 * length if one[-1].b == other[0].a else length
    at = np.linspace(first, last, 2 + int((last - first) / ALONG))
    along = stations(line)
    places = np.column_stack([np.interp(at, along, line[:, c]) for c in (0, 1)])
    apart = float(_left_of(places, beside).min())
    need = sum(max(half_width(link) - link.rules.shift for link in links) for links in (one, other))
    return max(0.0, need - apart) if apart > 0.0 else 0.0


def _left_of(places: Line, line: Line) -> NDArray[np.float64]:
    """How far places lie left of a line, (k,) m; negative right of it."""
    step, off = np.diff(line, axis=0), places[:, None] - line[:-1]
    square = np.maximum(np.sum(step * step, axis=1), 1e-12)
    off -= np.clip(np.sum(off * step, axis=2) / square, 0.0, 1.0)[..., None] * step
    far = np.hypot(off[..., 0], off[..., 1])
    near, k = np.argmin(far, axis=1), np.arange(len(places))
    (x, y), (along, across) = off[k, near].T, step[near].T
    return np.asarray(np.where(along * y > across * x, far[k, near], -far[k, near]))


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
        own = length_of(streets, link)
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
        length += length_of(streets, beyond)
        index, start = onward, not there


def _aside(own: WayRules, beyond: WayRules, same: bool) -> float:
    """How far right of the line the middle of the own lanes lies, m, where the other street begins.

    Of one-ways as many lanes stay left of the line as there. same: both run in the same direction.
    """
    lanes = own.forward.lanes
    if same and own.one_way and beyond.line is not None and 0.0 <= beyond.line <= lanes:
        return (0.5 * lanes - beyond.line) * own.width
    return beyond.shift if same else -beyond.shift
