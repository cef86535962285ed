"""Pieces of roundabouts that the map has as streets, and lanes of roundabouts.

Lanes are found where a map does not say how many, or says more than there is room for. Source:
networks.md 1.1: one, or two where a one-way street of two lanes leads in.
"""

from dataclasses import replace
from math import inf, pi
from typing import Final

from rushhour.roadnets.drafts.groups import Parts
from rushhour.roadnets.findings import NOTE
from rushhour.roadnets.osm.legs import End, set_ends
from rushhour.roadnets.osm.links import Link, Streets
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.short_streets import room_on
from rushhour.roadnets.osm.signs import length_of
from rushhour.roadnets.osm.ways.lane_tags import lane_counts
from rushhour.roadnets.osm.ways.reading import OsmMap
from rushhour.roadnets.osm.ways.tags import CLASSES, direction_of, is_open

RINGS = ("roundabout", "circular")
LONGEST_GAP: Final = 40.0  # m of a ring that are a street in the map
HOLDS_A_CAR: Final = 7.0  # m of inner lane, by the rough measure below, that take a car and its gap


def widen_rings(osm: OsmMap, country: str, private: bool) -> None:
    """Tag roundabouts with two lanes where a street of two leads in and nothing else is said."""
    rings = [way for way in osm.ways if way.tags.get("junction") in RINGS]
    part = _parts([way.nodes for way in rings])
    silent = set(part.values()) - {part[way.nodes[0]] for way in rings if "lanes" in way.tags}
    wide: set[int] = set()
    for way in osm.ways:
        one_way, reverse = direction_of(way.tags)
        end = way.nodes[0 if reverse else -1]
        if not one_way or part.get(end) not in silent or way.tags.get("junction") in RINGS:
            continue
        kind = CLASSES[way.tags["highway"]]
        if is_open(way.tags, private) and lane_counts(way.tags, kind, True, country, [])[0] > 1:
            wide.add(part[end])
    for way in rings:
        if part[way.nodes[0]] in wide:
            way.tags = {**way.tags, "lanes": "2"}


def close_rings(streets: Streets) -> None:
    """Take a short one-way street that leads from where a roundabout ends to where it begins for its last piece."""
    links = [i for i, link in enumerate(streets.links) if link.rules.ring]
    part = _parts([streets.links[i].nodes for i in links])
    begins = {streets.links[i].a for i in links}
    ends = {streets.links[i].b: i for i in links}
    for i, link in enumerate(streets.links):
        if link.rules.ring or not link.rules.one_way or not link.rules.forward.lanes:
            continue
        open_here = link.a in ends and link.a not in begins and link.b in begins - ends.keys()
        if not open_here or part[link.a] != part[link.b]:
            continue
        if length_of(streets, link) > LONGEST_GAP:
            continue
        width = streets.links[ends[link.a]].rules.width
        streets.links[i] = replace(link, rules=replace(link.rules, ring=True, width=width))
        ring = f"way {streets.links[ends[link.a]].first_way}"
        streets.find(
            "L08",
            f"way {link.first_way} closes the circle of roundabout {ring}; taken as part of it",
            [f"way {link.first_way}", ring], link.a, severity=NOTE,
        )  # fmt: skip


def narrow_rings(streets: Streets, merged: Merged) -> None:
    """Leave roundabouts as many lanes as have room for a car on the inner one between any two arms.

    Who comes to stand on one without would lock it: nobody can be granted a way that ends on such a lane.
    """
    links = [i for i, link in enumerate(streets.links) if link.rules.ring]
    part = _parts([streets.links[i].nodes for i in links])
    rings: dict[int, list[int]] = {}
    for i in links:
        rings.setdefault(part[streets.links[i].a], []).append(i)
    around = streets.ends()
    for members in rings.values():
        between = [i for i in members if i not in merged.inner]
        drawn = most = max(streets.links[i].rules.forward.lanes for i in members)
        if most < 2 or not between:
            continue
        ends: dict[tuple[int, bool], End] = {}
        nodes = sorted({n for i in members for n in (streets.links[i].a, streets.links[i].b)})
        set_ends(streets, merged, set(), around, nodes, ends)
        length = {i: length_of(streets, streets.links[i]) for i in members}
        radius = sum(length.values()) / (2.0 * pi)
        room = {i: room_on(length[i], ends, i) for i in between}
        tight: tuple[float, int] | None = (
            None  # m of inner lane, and where, of one lane more than is left
        )
        while most > 1:
            least = min((_inner_room(streets.links[i], room[i], radius, most), i) for i in between)
            if least[0] >= HOLDS_A_CAR:
                break
            tight, most = least, most - 1
        if tight is None:
            continue
        for i in members:
            link = streets.links[i]
            lane = link.rules.forward
            if lane.lanes > most:
                lane = lane._replace(lanes=most, turns=(), bus=())
                streets.links[i] = replace(link, rules=replace(link.rules, forward=lane))
        way = streets.links[tight[1]].first_way
        left = "one lane" if most == 1 else f"{most} lanes of {drawn}"
        streets.find(
            "L13",
            f"roundabout way {way}: {tight[0]:.1f} m of inner lane between two arms hold no car; taken as {left}",
            [f"way {way}"], streets.links[tight[1]].a,
        )  # fmt: skip


def _inner_room(link: Link, room: float, radius: float, most: int) -> float:
    """Metres of the inner lane of a piece of a ring, of so many lanes at most; room: m of its line between two arms."""
    lanes = min(link.rules.forward.lanes, most)
    left = 0.5 * (lanes - 1) * link.rules.width - link.rules.shift  # of the line of the way
    return max(0.0, 1.0 - left / radius) * room if lanes > 1 else inf


def _parts(lines: list[list[int]]) -> dict[int, int]:
    """For each node of some lines the part of them that it belongs to, named by one of its nodes."""
    parts = Parts()
    for nodes in lines:
        for node in nodes[1:]:
            parts.join(nodes[0], node)
    return {node: parts.find(node) for nodes in lines for node in nodes}
