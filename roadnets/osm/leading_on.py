"""Where lanes lead on a little aside, or beside those that they join: how far their ends lie back.

Source: networks.md 3.1 - 3.4.
"""

from math import cos, pi, radians, sin
from typing import Final

import numpy as np

from rushhour.roadnets.geometry.street_lines import line_length, stations
from rushhour.roadnets.osm.approaches import Approach, Exit
from rushhour.roadnets.osm.legs import MOST, End, lane_offset, offset_at, street_line
from rushhour.roadnets.osm.links import Road, Streets, node_at
from rushhour.roadnets.osm.places import direction

STRAIGHT_ON: Final = radians(30.0)  # turns of less lead on
UNFELT: Final = 0.2  # m aside that is no bend
SIDEWAYS: Final = 2.5  # m/s^2 in the bends of lanes that swing aside
PARALLEL: Final = radians(2.0)
BEND: Final = 15.0  # m in which a road turns to go on beside another
BESIDE: Final = 80.0  # m before a node at which a road is cut back at most, to end beside others
MOUTH: Final = 95.0  # m from there to where the road begins that it joins

Ends = dict[tuple[int, bool], End]  # by link, and whether it starts there


def lead_on(streets: Streets, ends: Ends, homes: dict[int, list[Approach]]) -> None:
    """Set ends back for what leads on. homes: what arrives at each intersection."""
    for approaches in homes.values():
        joined = _end_beside(streets, ends, approaches)
        _make_room(streets, ends, approaches, joined)
        for (link, forward), onward in joined.items():
            end = ends[link, not forward]
            end.setback = min(end.setback, MOUTH - ends[onward].setback)


def _make_room(
    streets: Streets, ends: Ends, approaches: list[Approach], beside: dict[Road, Road]
) -> None:
    """Set ends back so far that lanes which lead on a little aside can do so at their speed.

    beside: roads that end beside those they join.
    """
    for approach in approaches:
        if approach.road in beside:
            continue
        link = streets.links[approach.road[0]]
        entry = direction(link, approach.road[1])
        for exit in approach.exits:
            if abs(exit.angle) > STRAIGHT_ON:
                continue
            onward = streets.links[exit.road[0]]
            speed = min(entry.speed, direction(onward, exit.road[1]).speed)
            aside = max(
                abs(
                    offset_at(link, approach.road[1], a, True)
                    - offset_at(onward, exit.road[1], b, False)
                )
                for a, b in exit.pairs
            )
            # Two bends, one each way, of the radius that the speed asks for.
            room = min(MOST, speed * (max(aside - UNFELT, 0.0) / SIDEWAYS) ** 0.5)
            for end in (
                ends[approach.road[0], not approach.road[1]],
                ends[exit.road],
            ):
                end.setback = max(end.setback, room)


def _end_beside(streets: Streets, ends: Ends, approaches: list[Approach]) -> dict[Road, Road]:
    """End roads that go on beside others before their lanes lie in those; which, and the joined."""
    done: dict[Road, Road] = {}
    into: dict[Road, list[tuple[Approach, Exit]]] = {}
    for approach in approaches:
        for exit in approach.exits:
            into.setdefault(exit.road, []).append((approach, exit))
    for road, entries in into.items():
        if len(entries) < 2:
            continue
        lanes = [b for _, exit in entries for _, b in exit.pairs]
        if len(set(lanes)) < len(lanes):
            continue
        onward = streets.links[road[0]]
        node = np.array(streets.xy[node_at(onward, road[1])])
        right = ends[road].heading - pi / 2.0
        for approach, exit in entries:
            index, forward = approach.road
            link = streets.links[index]
            line = street_line(streets, link)
            line = line[::-1] if forward else line  # from the intersection back
            side = 1.0 if exit.angle < 0.0 else -1.0  # it comes from the right, or the left
            a, b = exit.pairs[0]
            aside = offset_at(onward, road[1], b, False) - lane_offset(link, forward, a)
            back = np.arange(0.0, min(BESIDE, line_length(line)), 2.0)
            along = stations(line)
            x, y = (np.interp(back, along, line[:, k]) - node[k] for k in (0, 1))
            apart = side * (x * cos(right) + y * sin(right) - aside)
            if back.size < 2 or abs(exit.angle) < PARALLEL:
                continue
            beside = apart > BEND * np.gradient(apart, back)
            if beside.any():
                end = ends[index, not forward]
                end.setback = max(end.setback, float(back[np.argmax(beside)]))
                done[approach.road] = road
    return done
