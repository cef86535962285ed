"""Left-turn lanes out of centre lanes.

A lane between the directions becomes a left-turn lane over its last metres before an intersection
where a street leads off to the left. The street is split there. Traffic keeps right here.
Source: networks.md 1.3.7.
"""

from dataclasses import replace
from itertools import pairwise
from math import dist, pi, radians
from typing import Final

from rushhour.roadnets.osm.links import Link, Streets, node_at, turned
from rushhour.roadnets.osm.made_nodes import NEW_NODE
from rushhour.roadnets.osm.movements import heading_from, turn_angle
from rushhour.roadnets.osm.signs import length_of

TURN_LANE: Final = 55.0  # m from a junction: some 30 m of lane, its opening and the junction
BETWEEN: Final = 20.0  # m of street that stay as they are
LEFT: Final = (radians(45.0), radians(155.0))  # turns that a centre lane is for
SAME_PLACE: Final = 3.0  # m, a node of the street that near is taken

Ends = dict[int, list[tuple[int, bool]]]


def open_turn_lanes(streets: Streets) -> None:
    """Split streets with a centre lane where it serves those who turn left."""
    ends = streets.ends()
    found = [
        (index, start)
        for index, link in enumerate(streets.links)
        if link.rules.both and not link.rules.one_way
        for start in (False, True)
        if _leads_left(streets, ends, index, start)
    ]
    for index, start in found:
        _open_turn_lane(streets, index, start)


def split_link(streets: Streets, index: int, at: float) -> int:
    """Cut a link `at` metres after its start; the index stays with the first piece.

    Returns the index of the second piece.
    """
    link = streets.links[index]
    xy, along = streets.xy, 0.0
    for place, (a, b) in enumerate(pairwise(link.nodes)):
        step = dist(xy[a], xy[b])
        if along + step >= at:
            break
        along += step
    near = [
        (abs(far), i) for far, i in ((along - at, place), (along + step - at, place + 1))
        if 0 < i < len(link.nodes) - 1
    ]  # fmt: skip
    if near and min(near)[0] < SAME_PLACE:
        cut = min(near)[1]
        first, second = link.nodes[: cut + 1], link.nodes[cut:]
    else:
        share = (at - along) / step
        (ax, ay), (bx, by) = xy[a], xy[b]
        spot = ax + share * (bx - ax), ay + share * (by - ay)
        node = streets.made.add(xy, NEW_NODE + len(streets.links), spot)
        first, second = [*link.nodes[: place + 1], node], [node, *link.nodes[place + 1 :]]
    streets.links[index] = Link(first, link.rules, link.first_way, link.last_way)
    streets.links.append(Link(second, link.rules, link.first_way, link.last_way))
    return len(streets.links) - 1


def _leads_left(streets: Streets, ends: Ends, index: int, start: bool) -> bool:
    """Whether a street leads off to the left where a link ends."""
    link = streets.links[index]
    here = ends[node_at(link, start)]
    if len(here) < 3:
        return False
    arrive = heading_from(streets, link, start) + pi
    return any(
        LEFT[0] < turn_angle(arrive, heading_from(streets, streets.links[i], s)) < LEFT[1]
        for i, s in here
        if i != index
        and (streets.links[i].rules.forward if s else streets.links[i].rules.backward).lanes
    )


def _open_turn_lane(streets: Streets, index: int, start: bool) -> None:
    """Make the centre lane a left-turn lane at one end of a link, if it is long enough."""
    link = streets.links[index]
    length = length_of(streets, link)
    if length < 2.0 * TURN_LANE + BETWEEN:
        return
    if start:
        rest = split_link(streets, index, TURN_LANE)
        # The first piece is the one at the junction: the rest keeps the index.
        streets.links[index], streets.links[rest] = streets.links[rest], streets.links[index]
        piece = rest
    else:
        piece = split_link(streets, index, length - TURN_LANE)
    near = streets.links[piece]
    seen = turned(near) if start else near
    way = seen.rules.forward
    turns = (*(way.turns or ("",) * way.lanes), "L")
    bus = (*way.bus, False) if way.bus else ()
    speeds = (*way.speeds, way.speed) if way.speeds else ()
    wider = way._replace(lanes=way.lanes + 1, turns=turns, bus=bus, speeds=speeds)
    rules = replace(seen.rules, forward=wider, both=seen.rules.both - 1)
    seen = Link(seen.nodes, rules, seen.first_way, seen.last_way)
    streets.links[piece] = turned(seen) if start else seen
