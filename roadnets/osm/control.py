"""Control of intersections: lights and their programs, stop signs, priority by rank.

Source: networks.md 4.6, 5.
"""

from math import atan2, cos, pi, radians, sin
from typing import Final

import numpy as np

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, YIELD
from rushhour.roadnets.drafts.draft import DraftIntersection, DraftSignal
from rushhour.roadnets.osm.approaches import Approach
from rushhour.roadnets.osm.legs import End
from rushhour.roadnets.osm.links import Road
from rushhour.roadnets.osm.movements import turn_angle
from rushhour.roadnets.osm.places import RING_PRIORITY, Places, priority_of
from rushhour.roadnets.osm.signs import Signs
from rushhour.roadnets.plans.signals import program
from rushhour.roadnets.plans.street_plan import Corner, Leg, Street
from rushhour.roadnets.plans.turns import Movement

GIVES_WAY: Final = -1  # priority of an entry with a give-way sign
AROUND: Final = 20.0  # m from a node at which the legs of an intersection are put in order
WALK: Final = ((40.0, "G"), (3.0, "y"), (15.0, "r"))  # s of a signal for those on foot
STOP_COUNTRIES: Final = ("US", "CA")  # minor streets stop, crossings of equals are all-way stops
STEM_COUNTRIES: Final = ("US", "CA", "GB", "AU", "NZ")  # no right before left at a T
STRAIGHT: Final = radians(45.0)  # two legs that bend by less are one street
TERTIARY, UNCLASSIFIED = 10, 4  # ranks


def left_lane_of_its_own(approach: Approach) -> bool:
    """Whether a lane of an entry leads to the left and nowhere else."""
    left = {a for exit in approach.exits if exit.letter == "L" for a, _ in exit.pairs}
    other = {a for exit in approach.exits if exit.letter in "RT" for a, _ in exit.pairs}
    return bool(left - other) and bool(other)


class Controls:
    """Says who may go when; one use for each map."""

    def __init__(
        self,
        places: Places,
        signs: Signs,
        ends: dict[tuple[int, bool], End],
        country: str,
        waits_on_red: set[Road],
    ) -> None:
        self.places = places
        self.streets = places.streets
        self.signs = signs
        self.ends = ends
        self.country = country
        self.waits_on_red = waits_on_red  # roads whose right turns may not go at red
        self.stems: set[tuple[int, bool]] = set()  # ends at streets of their own rank
        self.signalled = {places.merged.home(node) for node in signs.signals}

    def control_of(self, home: int, entries: list[Road]) -> tuple[int, set[Road]]:
        """Control of an intersection, and the entries that must stop."""
        if home in self.signalled or home in self.signs.mid_block:
            return SIGNAL, set()
        if len(entries) > 1 and len(self.places.link_ends(home)) > 2:
            return self._unlit(home, entries)
        return NONE, set()

    def priority(self, entry: Road) -> int | None:
        """Priority of a road where it ends, None: that of its class."""
        end = entry[0], not entry[1]
        gives_way = end in self.signs.gives_way or end in self.stems
        return GIVES_WAY if gives_way or entry[0] in self.streets.slips else None

    def yields_of(
        self, home: int, control: int, approaches: list[Approach]
    ) -> list[tuple[int, int]] | None:
        """Pairs of connectors of which the first gives way; None: by priority and turn.

        On a small roundabout, drawn as one intersection, those who enter give way to those who
        drive past them (networks.md 2.7).
        """
        if control != YIELD or not self._is_circle(home):
            return None
        around = self._around(home)
        n = len(around)
        place = {(end.link, end.start): i for i, end in enumerate(around)}
        ways = [
            (place[approach.road[0], not approach.road[1]], place[exit.road])
            for approach in approaches
            for exit in approach.exits
            for _ in exit.pairs
        ]
        return [
            (i, j)
            for j, (enters, leaves) in enumerate(ways)
            for i, (here, _) in enumerate(ways)
            if 0 < (here - enters) % n < ((leaves - enters) % n or n)
        ]

    def _is_circle(self, home: int) -> bool:
        """Whether an intersection is a mini-roundabout or a whole ring."""
        nodes = self.places.nodes(home)
        if any(
            self.streets.node_tags.get(n, {}).get("highway") == "mini_roundabout" for n in nodes
        ):
            return True
        rings = {
            i for n in nodes for i, _ in self.places.around[n] if self.streets.links[i].rules.ring
        }
        return bool(rings) and rings <= self.places.merged.inner

    def _unlit(self, home: int, entries: list[Road]) -> tuple[int, set[Road]]:
        """Control of an intersection without lights, and the entries that must stop."""
        if self._is_circle(home):
            return YIELD, set()
        nodes = self.places.nodes(home)
        links = self.streets.links
        rank = {r: priority_of(links[r[0]]) for r in entries}
        most, least = max(rank.values()), min(rank.values())
        marked = {r for r in entries if (r[0], not r[1]) in self.signs.stops}
        if not self.signs.stop_all.isdisjoint(nodes) or len(marked) == len(entries):
            return ALL_WAY_STOP, set(entries)
        if not self.signs.stop_minor.isdisjoint(nodes):
            if most == least:
                return ALL_WAY_STOP, set(entries)
            marked |= {r for r in entries if rank[r] < most}
        if marked:
            return STOP, marked
        if self.country in STOP_COUNTRIES and most < RING_PRIORITY:
            slips = {r for r in entries if r[0] in self.streets.slips}
            if most == least and len(entries) >= 4 and not slips:
                return ALL_WAY_STOP, set(entries)
            minor = {r for r in entries if rank[r] <= UNCLASSIFIED} - slips
            if most >= TERTIARY and minor:
                return STOP, minor
        self._find_stem(home)
        return YIELD, set()

    def _find_stem(self, home: int) -> None:
        """Where three equal streets meet and not the right goes first: the one that ends there."""
        if self.country not in STEM_COUNTRIES or len(self.places.link_ends(home)) != 3:
            return
        around = self._around(home)
        if len({self.streets.links[end.link].rules.rank for end in around}) > 1:
            return
        off, stem = min(
            (abs(abs(turn_angle(around[i].heading, around[j].heading)) - pi), 3 - i - j)
            for i, j in ((0, 1), (0, 2), (1, 2))
        )
        if off <= STRAIGHT:
            self.stems.add((around[stem].link, around[stem].start))

    def signal_of(
        self, inter: DraftIntersection, home: int, approaches: list[Approach]
    ) -> DraftSignal:
        """Program of an intersection with lights; link k is its k-th connector."""
        if home in self.signalled:
            return self._program(inter, home, approaches)
        links = sum(len(exit.pairs) for approach in approaches for exit in approach.exits)
        return DraftSignal(inter.id, [(time, letter * links) for time, letter in WALK])

    def _program(
        self, inter: DraftIntersection, home: int, approaches: list[Approach]
    ) -> DraftSignal:
        """A safe fixed-time program."""
        around = self._around(home)
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
        waits: list[bool] = []  # of each movement: it may not go at red
        for approach in approaches:
            entry = place[approach.road[0], not approach.road[1]]
            own_lane = left_lane_of_its_own(approach)
            legs[entry].pocket = own_lane
            legs[entry].lanes_in -= own_lane
            for other, letter, pairs, _ in approach.exits:
                exit_leg = place[other]
                movements += [Movement(entry, exit_leg, letter, a, b) for a, b in pairs]
                stays = letter != "R" or approach.road in self.waits_on_red
                waits += [stays or self.country not in STOP_COUNTRIES] * len(pairs)
        signal = program(Corner(inter.id, inter.x, inter.y, "signals"), legs, movements)
        signal.phases = [
            (time, "".join("s" if letter == "r" and not waits[k] else letter
                           for k, letter in enumerate(letters)))
            for time, letters in signal.phases
        ]  # fmt: skip
        return signal

    def _around(self, home: int) -> list[End]:
        """Ends of the streets that meet at an intersection, counter-clockwise."""
        at = self.places.middle(home)
        found = []
        for node, index, start in self.places.link_ends(home):
            end = self.ends[index, start]
            x, y = self.streets.xy[node]
            dx = x + AROUND * cos(end.heading) - at[0]
            dy = y + AROUND * sin(end.heading) - at[1]
            found.append((atan2(dy, dx), index, start, end))
        return [end for *_, end in sorted(found, key=lambda f: f[:3])]
