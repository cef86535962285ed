"""Signals, stop and give-way signs: which intersection, and which of its entries, they belong to.

Source: networks.md 2.4, 2.5. A sign on a bend belongs to the nearest junction downstream.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from math import dist, inf
from typing import Final

from rushhour.roadnets.osm.links import Link, Streets, turned
from rushhour.roadnets.osm.ways.reading import OsmMap
from rushhour.roadnets.osm.ways.tags import Tags

SIGNAL_REACH: Final = 30.0  # m before a junction at which its signal may stand
SIGNAL_FAR: Final = 40.0  # m before or behind it, if the junction has a signal anyway
SIGN_REACH: Final = 50.0  # m for stop and give-way signs


@dataclass
class Signs:
    """What the tags of nodes say of junctions. Entries: (link, whether the link starts there)."""

    signals: set[int] = field(default_factory=set)  # junction nodes
    mid_block: set[int] = field(default_factory=set)  # nodes of signals far from any junction
    stops: set[tuple[int, bool]] = field(default_factory=set)
    gives_way: set[tuple[int, bool]] = field(default_factory=set)
    stop_all: set[int] = field(default_factory=set)  # junction nodes with a stop sign on them
    stop_minor: set[int] = field(default_factory=set)


def is_signal(tags: Tags) -> bool:
    """Whether a node has lights, be it for a crossing of pedestrians."""
    kind = tags.get("highway")
    return kind == "traffic_signals" or (
        kind == "crossing" and tags.get("crossing") == "traffic_signals"
    )


def line_of(streets: Streets, nodes: list[int]) -> float:
    """Length of a line of nodes, m."""
    places = list(map(streets.xy.__getitem__, nodes))
    return sum(map(dist, places, places[1:]))


def length_of(streets: Streets, link: Link) -> float:
    """Length of the line of a link, m."""
    if link.length is None:
        link.length = line_of(streets, link.nodes)
    return link.length


class _Walker:
    """Looks downstream from a place on a link for the next junction."""

    def __init__(self, streets: Streets) -> None:
        self.streets = streets
        self.ends = streets.ends()

    def junction(
        self, index: int, place: int, forward: bool, most: float, against: bool = False
    ) -> tuple[float, int, int, bool]:
        """Metres to the next junction, its node, and the entry (link, at its start) to it.

        against: looked for against the traffic, where one comes from.
        """
        link = self.streets.links[index]
        nodes = link.nodes[place:] if forward else link.nodes[: place + 1][::-1]
        length = line_of(self.streets, nodes) if len(nodes) > 1 else 0.0
        at_start = not forward
        while length <= most:
            node = self.streets.links[index].a if at_start else self.streets.links[index].b
            here = self.ends[node]
            if len(here) != 2:
                return (length, node, index, at_start) if len(here) > 2 else (inf, -1, -1, False)
            other, other_start = here[1] if here[0] == (index, at_start) else here[0]
            onward = self.streets.links[other]
            onward = onward if other_start else turned(onward)
            if not (onward.rules.backward if against else onward.rules.forward).lanes:
                break
            length += length_of(self.streets, onward)
            index, at_start = other, not other_start
        return inf, -1, -1, False


def _places(streets: Streets) -> dict[int, tuple[int, int]]:
    """Where nodes with tags lie on links, junctions and ends excepted: link, place in its nodes."""
    found: dict[int, tuple[int, int]] = {}
    for index, link in enumerate(streets.links):
        if streets.node_tags.keys().isdisjoint(link.nodes):
            continue
        for place, node in enumerate(link.nodes):
            if node in streets.node_tags and 0 < place:
                found.setdefault(node, (index, place))
    return found


def _way_order(osm: OsmMap, nodes: set[int]) -> dict[int, int]:
    """The node that follows each of these in the order of its way, if it has but one."""
    after: dict[int, int] = {}
    some = [way for way in osm.ways if not nodes.isdisjoint(way.nodes)]
    ways = Counter(node for way in some for node in set(way.nodes) & nodes)
    for way in some:
        for node, following in pairwise(way.nodes):
            if ways[node] == 1:
                after[node] = following
    return after


def _directions(link: Link, place: int, tags: Tags, after: dict[int, int]) -> list[bool]:
    """Directions of a link that a sign on it is for: True along the link."""
    open_ways = [
        forward
        for forward, lanes in ((True, link.rules.forward.lanes), (False, link.rules.backward.lanes))
        if lanes
    ]
    said = tags.get(
        "traffic_signals:direction", tags.get("stop:direction", tags.get("direction", ""))
    )
    following = after.get(link.nodes[place])
    if said not in ("forward", "backward") or following is None or place + 1 >= len(link.nodes):
        return open_ways
    along = link.nodes[place + 1] == following
    wanted = along == (said == "forward")
    return [wanted] if wanted in open_ways else open_ways


def signs_of(osm: OsmMap, streets: Streets) -> Signs:
    """Find what every signal, stop and give-way sign of a map is for."""
    signs = Signs()
    walker = _Walker(streets)
    places = _places(streets)
    tagged = {n: t for n, t in streets.node_tags.items() if is_signal(t) or t.get("highway") in
              ("stop", "give_way")}  # fmt: skip
    after = _way_order(osm, set(tagged))
    for node, tags in tagged.items():
        if len(walker.ends.get(node, ())) > 2 and is_signal(tags):
            signs.signals.add(node)
    far: dict[int, list[tuple[float, int, int, bool]]] = {}  # lights, and junctions around
    for node, tags in sorted(tagged.items()):
        degree = len(walker.ends.get(node, ()))
        if degree > 2:
            if tags.get("highway") == "stop":
                kind = signs.stop_all if tags.get("stop") == "all" else signs.stop_minor
                kind.add(node)
            continue
        if node not in places:
            continue
        index, place = places[node]
        if tags.get("traffic_signals") == "ramp_meter":
            signs.mid_block.add(node)
            continue
        reach = SIGNAL_FAR if is_signal(tags) else SIGN_REACH
        ahead = _directions(streets.links[index], place, tags, after)
        found = [walker.junction(index, place, forward, reach) for forward in ahead]
        found = [place for place in found if place[0] <= reach]
        if is_signal(tags):
            if found and min(found)[0] <= SIGNAL_REACH:
                signs.signals.add(min(found)[1])
            elif degree != 1:
                behind = [walker.junction(index, place, not f, reach, True) for f in ahead]
                far[node] = found + behind
            continue
        if not found:
            continue
        _, _, link, at_start = min(found)
        if tags["highway"] == "stop":
            signs.stops.add((link, at_start))
        else:
            signs.gives_way.add((link, at_start))
    # Lights on the arms and exits of a junction that has some are among those.
    for node, around in far.items():
        if not any(length <= SIGNAL_FAR and at in signs.signals for length, at, _, _ in around):
            signs.mid_block.add(node)
    return signs


def split_at(streets: Streets, signs: Signs) -> None:
    """Split links at signals between junctions; entries of signs keep their meaning."""
    for index in range(len(streets.links)):
        link = streets.links[index]
        at = [p for p, node in enumerate(link.nodes[:-1]) if p and node in signs.mid_block]
        if not at:
            continue
        bounds = [0, *at, len(link.nodes) - 1]
        pieces = [
            Link(link.nodes[lo : hi + 1], link.rules, link.first_way, link.last_way)
            for lo, hi in pairwise(bounds)
        ]
        streets.links[index] = pieces[0]
        streets.links += pieces[1:]
        last = len(streets.links) - 1
        for entries in (signs.stops, signs.gives_way):
            if (index, False) in entries:
                entries.remove((index, False))
                entries.add((last, False))
