"""From which street of an intersection one may drive into which, and what can be left and reached.

A movement of a merged intersection follows a directed path over its inner links that respects
one-ways and restrictions. Source: networks.md 2.6, 2.8, 2.9, 4.4.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from math import atan2, hypot, pi, radians
from typing import Final

import numpy as np

from rushhour.roadnets.components import Node, reached, strong_components
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.osm.links import Link, Road, Streets, node_at, way_at
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.paths import Paths
from rushhour.roadnets.osm.places import direction
from rushhour.roadnets.osm.restrictions import Bans

BACK: Final = radians(155.0)  # a turn by more leads back to where one came from
SHARP: Final = radians(100.0)  # and by more than that, where both streets join the same two places
HEADING_SPAN: Final = 10.0  # m over which a direction is measured
BORDER: Final = 100.0  # m within which a dead end at the border of the map is a gate


def heading_from(streets: Streets, link: Link, start: bool) -> float:
    """Direction in which a link leaves one of its ends, rad."""
    found = link.heading_a if start else link.heading_b
    if found is None:
        found = _direction(streets, link.nodes if start else link.nodes[::-1])
        if start:
            link.heading_a = found
        else:
            link.heading_b = found
    return found


def _direction(streets: Streets, nodes: list[int]) -> float:
    """Direction in which a line of nodes starts, rad."""
    places = map(streets.xy.__getitem__, nodes)
    x, y = px, py = next(places)
    length = 0.0
    for qx, qy in places:
        step = hypot(qx - px, qy - py)
        if length + step >= HEADING_SPAN and step > 0.0:
            share = (HEADING_SPAN - length) / step
            return atan2(py + share * (qy - py) - y, px + share * (qx - px) - x)
        length, px, py = length + step, qx, qy
    return atan2(py - y, px - x)


def turn_angle(before: float, behind: float) -> float:
    """Turn from a heading to another, left positive, -pi .. pi."""
    return wrapped(behind - before)


@dataclass
class Turns:
    """Roads, and for each those that may follow, with the angle of the turn."""

    follow: dict[Road, list[tuple[Road, float]]]
    gates_in: set[Road]  # where vehicles may enter the map
    gates_out: set[Road]  # and leave it
    waits_on_red: set[Road] = field(default_factory=set)  # no right turn on red at their end
    banned: list[tuple[Road, ...]] = field(default_factory=list)  # not to be driven in turn
    buses: set[Road] = field(default_factory=set)  # roads for buses alone


def roads_of(streets: Streets, merged: Merged) -> list[Road]:
    """Every road outside intersections, by link."""
    return [
        (i, forward)
        for i, link in enumerate(streets.links)
        if i not in merged.inner
        for forward, lanes in ((True, link.rules.forward.lanes), (False, link.rules.backward.lanes))
        if lanes
    ]


def turns_of(
    streets: Streets, merged: Merged, bans: Bans, some: Iterable[Road] | None = None,
    ends: dict[int, list[tuple[int, bool]]] | None = None,
) -> Turns:  # fmt: skip
    """Every movement that the map allows; some: only those out of these roads, and no findings.

    ends: of links, by node, where they are known.
    """
    ends = streets.ends() if ends is None else ends
    xy = np.fromiter(chain.from_iterable(streets.xy.values()), float).reshape(-1, 2)
    box = (*(xy.min(axis=0) + BORDER).tolist(), *(xy.max(axis=0) - BORDER).tolist())
    paths = Paths(streets, merged, bans, ends)
    walker = _Walker(paths, box, silent=some is not None)
    roads = roads_of(streets, merged) if some is None else list(some)
    walker.turns.buses |= {(i, f) for i, f in roads if not direction(streets.links[i], f).cars}
    for road in roads:
        walker.leave(road)
    if bans.sequences and some is None:
        for road in sorted(paths.ban_behind(walker.turns.follow)):
            walker.leave(road)
        walker.turns.banned = paths.banned_roads(walker.turns.follow)
    return walker.turns


class _Walker:
    """Finds what can follow each road."""

    def __init__(
        self,
        paths: Paths,
        box: tuple[float, float, float, float],
        silent: bool,
    ) -> None:
        self.paths = paths
        self.streets = paths.streets
        self.bans = paths.bans
        self.ends = paths.ends
        self.box = box  # x and y of its lower left, then its upper right corner, m
        self.silent = silent
        self.turns = Turns({}, set(), set())

    def leave(self, road: Road) -> None:
        """Note what can follow a road, and whether it is a gate.

        For cars first, who do not see the roads for buses alone; these may be taken besides.
        """
        streets, ends, turns = self.streets, self.ends, self.turns
        index, forward = road
        link = streets.links[index]
        way = direction(link, forward)
        arrive = heading_from(streets, link, not forward) + pi  # driving into the intersection
        exits = self.paths.exits(road)
        angles = {
            (i, start): wrapped(heading_from(streets, streets.links[i], start) - arrive)
            for i, start in exits
        }
        beside = set() if road in turns.buses else turns.buses.intersection(angles)
        buses = [(e, angles.pop(e)) for e in sorted(beside)]
        kept = [(e, angle) for e, angle in angles.items() if abs(angle) <= BACK or exits[e]]
        kept = [
            (e, angle)
            for e, angle in kept
            if abs(angle) <= SHARP or not self._comes_back(road, e)
        ] or kept  # fmt: skip
        kept = kept or list(angles.items())
        two_way = direction(link, not forward).cars
        end = node_at(link, not forward)
        if way.turns and kept and two_way and any("U" in turn for turn in way.turns):
            back = (index, not forward)
            closed = (way_at(link, not forward), end) in self.bans.back
            if not closed and (road, back) not in self.bans.sequences:
                kept.append((back, pi))
        kept.sort(key=lambda e: e[1])
        if (way_at(link, not forward), end) in self.bans.on_red:
            turns.waits_on_red.add(road)
        if len(ends[end]) == 1:
            if self._goes_on(end) or not two_way:
                turns.gates_out.add(road)
                if direction(link, not forward).lanes:
                    turns.gates_in.add((index, not forward))
            else:
                kept = [((index, not forward), pi)]
        elif end in streets.cut and all(abs(angle) > BACK for _, angle in kept):
            kept = []  # what comes back there is the other carriageway of a street
            turns.gates_out.add(road)
        elif not kept and two_way:
            kept = [((index, not forward), pi)]
            self._find_no_exit(link, end, "a U-turn is allowed")
        elif not kept:
            turns.gates_out.add(road)
            self._find_no_exit(link, end, "vehicles leave the map there")
        start = node_at(link, forward)
        if (len(ends[start]) == 1 and not two_way) or start in streets.cut:
            turns.gates_in.add(road)
        turns.follow[road] = sorted(kept + buses, key=lambda e: e[1]) if buses else kept

    def _comes_back(self, road: Road, exit: Road) -> bool:
        """Whether a road leads back to the intersection where another began."""
        merged, links = self.paths.merged, self.streets.links
        began = merged.home(node_at(links[road[0]], road[1]))
        ends = merged.home(node_at(links[exit[0]], not exit[1]))
        return began == ends

    def _goes_on(self, node: int) -> bool:
        """Whether a street goes on at a node where the map, or the part of it that is read, ends."""
        x, y = self.streets.xy[node]
        inside = self.box[0] <= x <= self.box[2] and self.box[1] <= y <= self.box[3]
        return node in self.streets.cut or not inside

    def _find_no_exit(self, link: Link, end: int, done: str) -> None:
        if self.silent:
            return
        way = way_at(link, link.a == end)
        self.streets.find(
            "L15", f"way {way}: nothing leads on at node {end}; {done}",
            [f"way {way}", f"node {end}"], end, fix_line("close", [way], True),
        )  # fmt: skip


def usable(turns: Turns) -> tuple[set[Road], set[Road]]:
    """Roads that can be reached and left, and those that can all reach each other."""
    roads = [road for road in turns.follow if road not in turns.buses]
    number = {road: n for n, road in enumerate(roads)}  # numbers are looked up faster
    ahead = {
        n: [number[following] for following, _ in turns.follow[road] if following in number]
        for road, n in number.items()
    }
    largest = max(strong_components(ahead), key=len, default=[])
    starts, goals = (
        [*largest, *(number[road] for road in gates if road in number)]
        for gates in (turns.gates_in, turns.gates_out)
    )
    core = {roads[n] for n in largest}
    used = {roads[n] for n in _between(starts, goals, ahead)}
    if turns.buses:  # and those between them
        every = {road: [other for other, _ in after] for road, after in turns.follow.items()}
        led_on = _between(used | turns.gates_in, used | turns.gates_out, every)
        used |= turns.buses & led_on
    return used, core


def _between(
    starts: Iterable[Node], goals: Iterable[Node], ahead: dict[Node, list[Node]]
) -> set[Node]:
    """Roads that are reached from some roads and lead to some, these included."""
    back: dict[Node, list[Node]] = {road: [] for road in ahead}
    for road, after in ahead.items():
        for following in after:
            back[following].append(road)
    entered = reached(starts, ahead)
    left = reached(goals, back)
    return entered & left
