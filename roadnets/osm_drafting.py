"""From streets, intersections and movements of a map to a draft of lanes and connectors."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import atan2, cos, radians, sin
from typing import Final, NamedTuple

import numpy as np

from rushhour.kernels.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, YIELD
from rushhour.roadnets.classes import CLASS_BIT, ROAD_VEHICLES
from rushhour.roadnets.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.osm_lanes import car_lanes, letters_for, pairs_of
from rushhour.roadnets.osm_legs import (
    LOOP,
    MOST,
    End,
    draw,
    ends_of,
    lane_offset,
    stop_line,
    street_line,
)
from rushhour.roadnets.osm_links import Link, Streets
from rushhour.roadnets.osm_merging import Merged
from rushhour.roadnets.osm_movements import Road, Turns, node_at
from rushhour.roadnets.osm_signs import Signs
from rushhour.roadnets.osm_tags import Direction
from rushhour.roadnets.plan_signals import program
from rushhour.roadnets.plan_turns import TURN_CODE, Movement
from rushhour.roadnets.street_lines import Line, turning_loop
from rushhour.roadnets.street_plan import Corner, Leg, Street

STRAIGHT_ON: Final = radians(30.0)  # turns of less lead on
UNFELT: Final = 0.2  # m aside that is no bend
SIDEWAYS: Final = 2.5  # m/s^2 in the bends of lanes that swing aside
RING_PRIORITY: Final = 100
GIVES_WAY: Final = -1  # priority of an entry with a give-way sign
AROUND: Final = 20.0  # m from a node at which the legs of an intersection are put in order
LOOP_RADIUS: Final = LOOP / 3.5  # m
WALK: Final = ((40.0, "G"), (3.0, "y"), (15.0, "r"))  # s of a signal for those on foot
BUSES: Final = CLASS_BIT["bus"] | CLASS_BIT["coach"] | CLASS_BIT["taxi"] | CLASS_BIT["emergency"]
STOP_COUNTRIES: Final = ("US", "CA")  # minor streets stop, crossings of equals are all-way stops
TERTIARY, UNCLASSIFIED = 10, 4  # ranks


class Exit(NamedTuple):
    """A road that can follow another."""

    road: Road
    letter: str  # R, T, L or U
    pairs: list[tuple[int, int]]  # lanes of the entry and of the exit
    angle: float  # rad, left positive


@dataclass
class Approach:
    """A road that arrives at an intersection, with its lane pairs to every exit."""

    road: Road
    exits: list["Exit"] = field(default_factory=list)


def direction(link: Link, forward: bool) -> Direction:
    """Lanes of a link driven one way."""
    return link.rules.forward if forward else link.rules.backward


class Drafter:
    """Draws a map; one use each."""

    def __init__(
        self, streets: Streets, merged: Merged, signs: Signs, turns: Turns, used: set[Road],
        country: str,
    ) -> None:  # fmt: skip
        self.streets = streets
        self.merged = merged
        self.signs = signs
        self.turns = turns
        self.used = used
        self.country = country
        self.around = streets.ends()  # node -> link ends
        self.members: dict[int, list[int]] = {}  # intersection -> nodes, if more than one
        for node, name in sorted(merged.member.items()):
            self.members.setdefault(name, []).append(node)
        self.signalled = {merged.home(node) for node in signs.signals}
        loops = {
            (link, not forward)
            for (link, forward), after in turns.follow.items()
            if (link, forward) in used and any(other == (link, not forward) for other, _ in after)
        }
        self.loops = {end for end in loops if self._dead_end(end)}
        self.ends = ends_of(streets, merged, self.loops)
        self.names = self._road_names()

    def _dead_end(self, end: tuple[int, bool]) -> bool:
        node = node_at(self.streets.links[end[0]], end[1])
        return len(self.around[node]) == 1

    def _road_names(self) -> dict[Road, str]:
        """Source ids: the way's, its piece, a minus for the direction against the way."""
        names: dict[Road, str] = {}
        pieces: Counter[int] = Counter()
        for index, link in enumerate(self.streets.links):
            if index in self.merged.inner:
                continue
            piece = pieces[link.first_way]
            pieces[link.first_way] += 1
            for forward in (True, False):
                sign = "" if forward else "-"
                names[index, forward] = f"{sign}{link.first_way}#{piece}"
        return names

    def home(self, road: Road, at_end: bool) -> int:
        """Node that names the intersection at one end of a road."""
        link = self.streets.links[road[0]]
        return self.merged.home(node_at(link, road[1] != at_end))

    def draft(self, name: str) -> Draft:
        """Draw everything."""
        draft = Draft(name, "OpenStreetMap")
        roads = sorted(self.used)
        arriving: dict[int, list[Road]] = {}
        for road in roads:
            arriving.setdefault(self.home(road, True), []).append(road)
            arriving.setdefault(self.home(road, False), [])
        approaches = {home: self._approaches(entries) for home, entries in arriving.items()}
        for around in approaches.values():
            self._make_room(around)
        counts = [direction(self.streets.links[i], forward).lanes for i, forward in roads]
        shapes = iter(draw(self.streets, self.ends, roads, counts))
        for road in roads:
            draft.roads.append(self._road(road, shapes))
        for home in sorted(arriving):
            x, y = self._middle(home)
            inter = DraftIntersection(str(home), x, y, NONE)
            draft.intersections.append(inter)
            self._connect(draft, inter, home, approaches[home])
        return draft

    def _middle(self, home: int) -> tuple[float, float]:
        """Middle of the nodes of an intersection, m."""
        at = [self.streets.xy[node] for node in self.members.get(home, [home])]
        return sum(x for x, _ in at) / len(at), sum(y for _, y in at) / len(at)

    def _make_room(self, approaches: list[Approach]) -> None:
        """Set ends back so far that lanes which lead on a little aside can do so at their speed."""
        for approach in approaches:
            link = self.streets.links[approach.road[0]]
            entry = direction(link, approach.road[1])
            for exit in approach.exits:
                if abs(exit.angle) > STRAIGHT_ON:
                    continue
                onward = self.streets.links[exit.road[0]]
                speed = min(entry.speed, direction(onward, exit.road[1]).speed)
                aside = max(
                    abs(lane_offset(link, a) - lane_offset(onward, b)) for a, b in exit.pairs
                )
                # Two bends, one each way, of the radius that the speed asks for.
                room = min(MOST, speed * (max(aside - UNFELT, 0.0) / SIDEWAYS) ** 0.5)
                for end in (
                    self.ends[approach.road[0], not approach.road[1]],
                    self.ends[exit.road],
                ):
                    end.setback = max(end.setback, room)

    def _road(self, road: Road, shapes: Iterator[Line]) -> DraftRoad:
        """A road with its lanes, whose shapes come next."""
        index, forward = road
        link = self.streets.links[index]
        lanes = []
        way = direction(link, forward)
        for k in range(way.lanes):
            mask = BUSES if way.bus and way.bus[k] else ROAD_VEHICLES
            lanes.append(
                DraftLane(
                    f"{self.names[road]}_{k}", next(shapes), way.speed, link.rules.width, mask
                )
            )
        rank = RING_PRIORITY if link.rules.ring else link.rules.rank
        a, b = str(self.home(road, False)), str(self.home(road, True))
        return DraftRoad(self.names[road], a, b, lanes, rank, link.rules.name)

    def _approaches(self, roads: list[Road]) -> list[Approach]:
        """Lane pairs of every entry; every car lane of an exit is fed."""
        found: list[Approach] = []
        for road in roads:
            after = [
                (other, angle) for other, angle in self.turns.follow[road] if other in self.used
            ]
            if not after:
                continue
            rings = [self.streets.links[other[0]].rules.ring for other, _ in after]
            ranks = [
                RING_PRIORITY if ring else self.streets.links[other[0]].rules.rank
                for (other, _), ring in zip(after, rings, strict=True)
            ]
            letters = letters_for([angle for _, angle in after], ranks)
            entry = direction(self.streets.links[road[0]], road[1])
            exits = [
                (letter, direction(self.streets.links[other[0]], other[1]))
                for (other, _), letter in zip(after, letters, strict=True)
            ]
            pairs = pairs_of(entry, exits)
            if not self.streets.links[road[0]].rules.ring:
                for (_, lanes), ring, found_pairs in zip(exits, rings, pairs, strict=True):
                    if ring and found_pairs:  # every lane: to change on the ring is often too late
                        last, first = found_pairs[-1]
                        found_pairs += [(last, b) for b in car_lanes(lanes) if b > first]
            found.append(
                Approach(
                    road,
                    [
                        Exit(other, letter, lanes, angle)
                        for (other, angle), letter, lanes in zip(after, letters, pairs, strict=True)
                    ],
                )
            )
        self._feed_spare_lanes(found)
        return found

    def _feed_spare_lanes(self, approaches: list[Approach]) -> None:
        """Give exit lanes that nothing feeds a connector from the nearest feeder beside them."""
        into: dict[Road, list[tuple[str, list[tuple[int, int]]]]] = {}
        for approach in approaches:
            for other, letter, pairs, _ in approach.exits:
                into.setdefault(other, []).append((letter, pairs))
        for road, movements in into.items():
            lanes = direction(self.streets.links[road[0]], road[1])
            if lanes.lanes == 1:
                continue
            fed = {b for _, pairs in movements for _, b in pairs}
            for lane in car_lanes(lanes):
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

    def _connect(
        self, draft: Draft, inter: DraftIntersection, home: int, approaches: list[Approach]
    ) -> None:
        entries = [a.road for a in approaches]
        stops: set[Road] = set()
        walk = home in self.signs.mid_block
        if home in self.signalled or walk:
            inter.control = SIGNAL
        elif len(entries) > 1 and self._streets_at(home) > 2:
            inter.control, stops = self._control(home, entries)
        link = 0
        signal = inter.id if inter.control == SIGNAL else None
        if home in self.signalled:
            draft.signals.append(self._program(inter, approaches))
        for approach in approaches:
            index, forward = approach.road
            sign = (index, not forward)
            gives_way = GIVES_WAY if sign in self.signs.gives_way else None
            for other, letter, pairs, _ in approach.exits:
                shape_end = other[0] == index and sign in self.loops
                for a, b in pairs:
                    shape = self._loop(approach.road, a, b) if shape_end else None
                    draft.connectors.append(
                        DraftConnector(
                            self.names[approach.road], a, self.names[other], b, shape=shape,
                            turn=TURN_CODE[letter], signal=signal, link=link if signal else -1,
                            must_stop=approach.road in stops, priority=gives_way,
                        )
                    )  # fmt: skip
                    link += 1
        if walk and home not in self.signalled:
            phases = [(time, letter * link) for time, letter in WALK]
            draft.signals.append(DraftSignal(inter.id, phases))

    def _streets_at(self, home: int) -> int:
        """How many streets meet at an intersection, used ones."""
        return sum(
            (index, True) in self.used or (index, False) in self.used
            for node in self.members.get(home, [home])
            for index, _ in self.around[node]
            if index not in self.merged.inner
        )

    def _around(self, home: int) -> list[End]:
        """Ends of the streets that meet at an intersection, used ones, counter-clockwise."""
        at = self._middle(home)
        found = []
        for node in self.members.get(home, [home]):
            for index, start in self.around[node]:
                if index in self.merged.inner:
                    continue
                if (index, True) not in self.used and (index, False) not in self.used:
                    continue
                end = self.ends[index, start]
                x, y = self.streets.xy[node]
                dx = x + AROUND * cos(end.heading) - at[0]
                dy = y + AROUND * sin(end.heading) - at[1]
                found.append((atan2(dy, dx), index, start, end))
        return [end for *_, end in sorted(found, key=lambda f: f[:3])]

    def _control(self, home: int, entries: list[Road]) -> tuple[int, set[Road]]:
        """Control of an intersection without lights, and the entries that must stop."""
        nodes = self.members.get(home, [home])
        links = self.streets.links
        rank = {r: RING_PRIORITY if links[r[0]].rules.ring else links[r[0]].rules.rank
                for r in entries}  # fmt: skip
        most, least = max(rank.values()), min(rank.values())
        marked = {r for r in entries if (r[0], not r[1]) in self.signs.stops}
        if any(node in self.signs.stop_all for node in nodes) or len(marked) == len(entries):
            return ALL_WAY_STOP, set(entries)
        if any(node in self.signs.stop_minor for node in nodes):
            if most == least:
                return ALL_WAY_STOP, set(entries)
            marked |= {r for r in entries if rank[r] < most}
        if marked:
            return STOP, marked
        if self.country in STOP_COUNTRIES and most < RING_PRIORITY:
            if most == least and len(entries) >= 4:
                return ALL_WAY_STOP, set(entries)
            minor = {r for r in entries if rank[r] <= UNCLASSIFIED}
            if most >= TERTIARY and minor:
                return STOP, minor
        return YIELD, set()

    def _program(self, inter: DraftIntersection, approaches: list[Approach]) -> DraftSignal:
        """A safe fixed-time program; link k is the k-th connector of the intersection."""
        around = self._around(int(inter.id))
        place = {(end.link, end.start): i for i, end in enumerate(around)}
        legs = []
        for end in around:
            rules = self.streets.links[end.link].rules
            ways = (rules.forward, rules.backward)
            leave, arrive = ways if end.start else ways[::-1]
            speed = max(way.speed for way in ways)
            street = Street("", "", np.zeros((2, 2)), ways[0].lanes, ways[1].lanes, speed, end.rank)
            legs.append(
                Leg(street, end.start, end.heading, arrive.lanes, leave.lanes, end.half, end.half,
                    end.setback)
            )  # fmt: skip
        movements = []
        for approach in approaches:
            entry = place[approach.road[0], not approach.road[1]]
            for other, letter, pairs, _ in approach.exits:
                exit_leg = place[other]
                movements += [Movement(entry, exit_leg, letter, a, b) for a, b in pairs]
        return program(Corner(inter.id, inter.x, inter.y, "signals"), legs, movements)

    def _loop(self, road: Road, a: int, b: int) -> Line:
        """The turn back at a dead end, from lane a of a road to lane b of its other direction."""
        index, forward = road
        link = self.streets.links[index]
        line = street_line(self.streets, link)
        end, angle = stop_line(
            line if forward else line[::-1], self.ends[index, not forward].setback
        )
        turn = np.array([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]])
        shape = turning_loop(lane_offset(link, a), lane_offset(link, b), LOOP_RADIUS)
        moved: Line = shape @ turn + end
        return moved
