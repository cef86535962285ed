"""Acceleration lanes at ramps of motorways and trunk roads, where the map has none.

A lane is added beside the main road behind a ramp of one lane that joins it, if the road is no wider
there; it ends after the length that drivers take to reach the road's speed. The street is split
where it ends. Where an exit on the same side comes soon, the lane goes on into it, as an auxiliary
lane. Traffic keeps right here: maps with left-hand traffic are read in a mirror.
Source: AASHTO, A Policy on Geometric Design of Highways and Streets, 7th edition (2018), table 10-4;
auxiliary lanes: Texas Department of Transportation, Roadway Design Manual, 15.6.2 and 15.6.3.
"""

from dataclasses import replace
from math import pi
from typing import Any, Final

import numpy as np

from rushhour.roadnets.osm.approaches import BESIDE
from rushhour.roadnets.osm.centre_lanes import split_link
from rushhour.roadnets.osm.links import Streets
from rushhour.roadnets.osm.movements import heading_from, turn_angle
from rushhour.roadnets.osm.signs import length_of
from rushhour.roadnets.osm.ways.legal import MPH
from rushhour.roadnets.osm.ways.tags import Direction

MAIN: Final = ("motorway", "trunk")
RAMPS: Final = tuple(f"{kind}_link" for kind in MAIN)
FOOT: Final = 0.3048  # m
# Least length in feet from a ramp that is driven at 40 mph, on grades of 2 % or less, by the speed of
# the main road in mph.
SPEEDS: Final = (40, 45, 50, 55, 60, 65, 70, 75)
LENGTHS: Final = (0, 0, 130, 320, 550, 770, 1000, 1160)
TAPER: Final = 30.0  # m that the lane takes to open and to close, on top
LEAST: Final = 100.0  # m; a lane for which there is less room is not made
BEHIND: Final = 45.0  # m of street that stay as they are behind its end
AUXILIARY: Final = (
    2000.0 * FOOT
)  # m between the noses of a ramp and of an exit that one lane serves
SIGNS: Final = ("stop", "give_way", "traffic_signals")  # where they stand nobody merges


def acceleration_length(speed: float) -> float:
    """Length of an acceleration lane beside a road of a speed (m/s), m."""
    return max(LEAST, float(np.interp(speed / MPH, SPEEDS, LENGTHS)) * FOOT) + TAPER


def open_acceleration_lanes(streets: Streets) -> None:
    """Add a lane behind every ramp that joins a main road which is no wider there."""
    opener = _Opener(streets)
    for node in sorted(opener.ends):
        opener.open_at(node)


class _Opener:
    """Splits and widens the streets of a map; keeps in mind which ends meet at which node."""

    def __init__(self, streets: Streets) -> None:
        self.streets = streets
        self.ends = streets.ends()

    def open_at(self, node: int) -> None:
        """Open the lane behind a ramp that joins at a node, if one does."""
        found = self._joined(node)
        if found is None:
            return
        out, right = found
        chain = self._ahead(out)
        lengths = [length_of(self.streets, self.streets.links[i]) for i in chain]
        if self._leads_off(chain, right):
            for index in chain:
                self._widen(index, right)
            self._show_exit(chain[-1], right)
            return
        need = min(acceleration_length(self._way(out).speed), sum(lengths) - BEHIND)
        if need < LEAST:
            return
        for index, length in zip(chain, lengths, strict=True):
            if length >= need + BEHIND:
                self._split(index, need)
            self._widen(index, right)
            need -= length
            if need < BEHIND:
                self.streets.lane_ends[self.streets.links[index].b] = right
                return

    def _way(self, index: int) -> Direction:
        return self.streets.links[index].rules.forward

    def _at(self, node: int) -> tuple[list[int], list[int]]:
        """Links that arrive at a node and that leave it, if all are one-way; else none."""
        here = self.ends[node]
        rules = [self.streets.links[i].rules for i, _ in here]
        if any(r.backward.lanes or r.both or r.ring for r in rules):
            return [], []
        return [i for i, start in here if not start], [i for i, start in here if start]

    def _joined(self, node: int) -> tuple[int, bool] | None:
        """The main road behind a ramp that joins at a node, and whether the ramp comes from the right."""
        arrive, depart = self._at(node)
        if len(arrive) != 2 or len(depart) != 1:
            return None
        links, (out,) = self.streets.links, depart
        kinds = [links[i].rules.highway for i in (*arrive, out)]
        main, ramp = arrive if kinds[0] in MAIN else arrive[::-1]
        wanted = links[ramp].rules.highway in RAMPS
        if not wanted or links[main].rules.highway not in MAIN or kinds[2] not in MAIN:
            return None
        wide = self._way(out).lanes > self._way(main).lanes
        tags = self.streets.node_tags
        signed = any(tags.get(n, {}).get("highway") in SIGNS for n in links[ramp].nodes)
        if wide or signed or self._way(ramp).lanes > 1:
            return None
        from_ramp, from_main = self._turn(ramp, out), self._turn(main, out)
        if max(abs(from_ramp), abs(from_main)) > BESIDE:
            return None
        return out, from_ramp < from_main

    def _ahead(self, first: int) -> list[int]:
        """The streets of a main road up to the next node where something meets it or changes."""
        chain, links = [first], self.streets.links
        while True:
            arrive, depart = self._at(links[chain[-1]].b)
            if len(arrive) != 1 or len(depart) != 1 or depart[0] in chain:
                return chain
            before, behind = chain[-1], depart[0]
            same = self._way(before).lanes == self._way(behind).lanes
            if not same or links[behind].rules.highway not in MAIN:
                return chain
            chain.append(behind)

    def _leads_off(self, chain: list[int], right: bool) -> bool:
        """Whether a lane beside streets can go on into an exit, by itself or by a lane of the map."""
        links, lanes = self.streets.links, self._way(chain[-1]).lanes + 1
        arrive, depart = self._at(links[chain[-1]].b)
        if len(arrive) == len(depart) == 1 and depart[0] not in chain:
            on = self._ahead(depart[0])
            if self._way(on[0]).lanes != lanes or links[on[0]].rules.highway not in MAIN:
                return False
            chain = [*chain, *on]
            arrive, depart = self._at(links[chain[-1]].b)
        far = sum(length_of(self.streets, links[i]) for i in chain)
        if not LEAST <= far <= AUXILIARY or len(arrive) != 1 or len(depart) != 2:
            return False
        by_side = sorted(depart, key=lambda i: self._turn(chain[-1], i), reverse=not right)
        kinds = [links[i].rules.highway for i in by_side]
        after = sum(self._way(i).lanes for i in by_side)
        return kinds[0] in RAMPS and kinds[1] in MAIN and after >= lanes

    def _turn(self, before: int, behind: int) -> float:
        """Turn from one link into the next, left positive, rad."""
        links = self.streets.links
        arrive = heading_from(self.streets, links[before], False) + pi
        return turn_angle(arrive, heading_from(self.streets, links[behind], True))

    def _show_exit(self, index: int, right: bool) -> None:
        """Where lanes have arrows, let the added one lead into the exit alone."""
        link = self.streets.links[index]
        way = link.rules.forward
        if way.turns:
            turns = ("R", *way.turns[1:]) if right else (*way.turns[:-1], "L")
            link.rules = replace(link.rules, forward=way._replace(turns=turns))

    def _split(self, index: int, at: float) -> None:
        """Cut a link some metres after its start; the index stays with the first piece."""
        rest = split_link(self.streets, index, at)
        first, second = self.streets.links[index], self.streets.links[rest]
        self.ends[first.b] = [(index, False), (rest, True)]
        there = self.ends[second.b]
        self.ends[second.b] = [(rest, s) if (i, s) == (index, False) else (i, s) for i, s in there]

    def _widen(self, index: int, right: bool) -> None:
        """Add a lane on one side of a link; the others stay where they are."""
        link = self.streets.links[index]
        rules, way = link.rules, link.rules.forward
        wider = way._replace(
            lanes=way.lanes + 1,
            turns=_beside(way.turns, "", right),
            bus=_beside(way.bus, False, right),
            speeds=_beside(way.speeds, way.speed, right),
        )
        aside = 0.5 * rules.width if right else -0.5 * rules.width
        line = rules.line if rules.line is None or right else rules.line + 1
        link.rules = replace(rules, forward=wider, shift=rules.shift + aside, line=line)


def _beside(lanes: tuple[Any, ...], added: Any, right: bool) -> tuple[Any, ...]:
    """Values of lanes from the kerb with that of one more, if there are any."""
    if not lanes:
        return ()
    return (added, *lanes) if right else (*lanes, added)
