"""Stop lines fitted to what drivers do at an intersection, before anything is drawn for good.

Stop lines are first placed street by street (osm.legs). Where a movement would then lead over
another street beyond its stop line, or would have to swing round because the ends of its two
streets face each other, the stop lines move back, as far as the streets are long enough. What one
end of a short street does not need of its share goes to the other.
"""

from itertools import pairwise
from math import atan2, hypot, pi, radians
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.geometry.lane_lines import most_beside, most_cut
from rushhour.roadnets.drafts.shapes import smooth_curves
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.geometry.meeting_lines import Lines, farthest_crossings
from rushhour.roadnets.geometry.street_lines import Line
from rushhour.roadnets.osm.approaches import Approach
from rushhour.roadnets.osm.bending import bent_ways, bodies_of, ends_beside
from rushhour.roadnets.osm.legs import End, draw
from rushhour.roadnets.osm.links import Road, Streets, node_at
from rushhour.roadnets.osm.signs import length_of

ROUNDS: Final = 8  # each moves lines, and with them what leads from one to another
MOST: Final = 60.0  # m from a node to a stop line
STEP: Final = 3.0  # m by which stop lines move back where a turn has too little room
CLEAR: Final = 0.4  # m between a stop line and what leads across its street
OVER: Final = 0.3  # m over a stop line that count as beside it
APART: Final = radians(65.0)  # between streets that are in no other's way
STRAIGHT: Final = radians(10.0)  # by which a street near its stop line may lead another way
NEAR: Final = 3.0  # m beyond a stop line
AT_ONCE: Final = 4000  # intersections, for the memory's sake
MOST_TURNING: Final = radians(195.0)
TOO_MUCH: Final = radians(200.0)
TURNS_BACK: Final = radians(150.0)

Points = NDArray[np.float64]
Ints = NDArray[np.int64]


class Fitting:
    """Lanes of all roads as they would be drawn; one use each."""

    def __init__(
        self, streets: Streets, ends: dict[tuple[int, bool], End], roads: list[Road],
        counts: list[int], loops: set[tuple[int, bool]],
    ) -> None:  # fmt: skip
        self.streets, self.ends, self.roads, self.counts = streets, ends, roads, counts
        self.loops = loops
        self.at_home: dict[int, list[tuple[int, int]]] = {}  # pairs of lanes at each intersection
        self.swings: set[tuple[int, Road, Road]] = set()  # intersection, and movements that do so
        self.length = {i: length_of(streets, streets.links[i]) for i, _ in roads}  # m
        self.cut_short: set[tuple[int, bool]] = set()  # ends of links too short for their corners
        for link, at in [(link, at) for link in self.length for at in (True, False)]:
            most = most_cut(self.length[link])
            if ends[link, at].setback > most:
                ends[link, at].setback = most
                self.cut_short.add((link, at))
        self.looked_at: list[int] = []  # intersections at which something may be in the way
        self.stuck: set[int] = set()  # links too short for what is asked of them
        self.first = dict(zip(roads, np.cumsum([0, *counts[:-1]]).tolist(), strict=True))
        points, start = draw(streets, ends, roads, counts)
        self.lines: list[Line] = [points[a:b] for a, b in pairwise(start.tolist())]
        self.tips = tips_of(points, start)
        self.road = np.repeat(np.arange(len(roads)), counts)

    def fit(self, homes: dict[int, list[Approach]]) -> list[Line]:
        """Move stop lines back where they have to; the lines of all lanes, road after road.

        homes: what arrives at each intersection.
        """
        at_home = self.at_home
        touched: dict[int, set[int]] = {}  # link -> its intersections
        for home, approaches in homes.items():
            pairs = at_home[home] = []
            for approach in approaches:
                a = self.first[approach.road]
                touched.setdefault(approach.road[0], set()).add(home)
                for exit in approach.exits:
                    touched.setdefault(exit.road[0], set()).add(home)
                    if exit.road[0] != approach.road[0]:
                        b = self.first[exit.road]
                        pairs += [(a + i, b + j) for i, j in exit.pairs]
        active = [home for home, pairs in at_home.items() if len(pairs) > 1]
        active = [home for home in active if not self._is_plain(home, homes[home])]
        looked_at = active
        for _ in range(ROUNDS):
            changed: set[int] = set()
            again = set(active)
            self.swings -= {one for one in self.swings if one[0] in again}
            for k in range(0, len(active), AT_ONCE):
                some = active[k : k + AT_ONCE]
                changed |= self._round([(home, at_home[home]) for home in some])
            if not changed:
                break
            self.stuck -= changed
            self._redraw(changed)
            active = sorted({home for link in changed for home in touched[link]})
            looked_at = sorted({*looked_at, *active})
        self.looked_at = looked_at
        return self.lines

    def line(self, road: Road, lane: int) -> Line:
        """The line of a lane of a road."""
        found: Line = self.lines[self.first[road] + lane]
        return found

    def movements(
        self, approaches: list[Approach]
    ) -> dict[tuple[Road, int, Road, int], tuple[Line, Line]]:
        """The lanes that movements lead from and to, by road and lane of both."""
        return {
            (approach.road, a, exit.road, b): (
                self.line(approach.road, a), self.line(exit.road, b)
            )
            for approach in approaches
            for exit in approach.exits
            for a, b in exit.pairs
        }  # fmt: skip

    def bent(self) -> dict[tuple[Road, int, Road, int], Line]:
        """Shapes of movements, by road and lane, that have to bend for want of room for stop lines."""
        found: dict[tuple[Road, int, Road, int], Line] = {}
        for k in range(0, len(self.looked_at), AT_ONCE):
            pairs = [self.at_home[home] for home in self.looked_at[k : k + AT_ONCE]]
            for (a, b), shape in bent_ways(pairs, self.lines, self.tips, self.road).items():
                before, behind = self.roads[self.road[a]], self.roads[self.road[b]]
                found[before, a - self.first[before], behind, b - self.first[behind]] = shape
        return found

    def _is_plain(self, home: int, approaches: list[Approach]) -> bool:
        """Whether streets part from one node at such angles that nothing leads over another."""
        ends = {(a.road[0], not a.road[1]) for a in approaches}
        ends |= {exit.road for a in approaches for exit in a.exits}
        links = self.streets.links
        if any(node_at(links[link], start) != home for link, start in ends):
            return False
        if not self.cut_short.isdisjoint(ends):
            return False
        if any(self._bends_near(*end) for end in ends):
            return False
        headings = sorted(self.ends[end].heading for end in ends)
        around = zip(headings, [*headings[1:], headings[0] + 2.0 * pi], strict=True)
        return all(b - a > APART for a, b in around)

    def _bends_near(self, link: int, start: bool) -> bool:
        """Whether a street does not lead from its node to near its stop line as it does farther on."""
        end, nodes, far = self.ends[link, start], self.streets.links[link].nodes, 0.0
        places = map(self.streets.xy.__getitem__, nodes if start else reversed(nodes))
        for (ax, ay), (bx, by) in pairwise(places):
            if abs(wrapped(atan2(by - ay, bx - ax) - end.heading)) > STRAIGHT:
                return True
            far += hypot(bx - ax, by - ay)
            if far > end.setback + NEAR:
                break
        return False

    def _round(self, homes: list[tuple[int, list[tuple[int, int]]]]) -> set[int]:
        """One look at intersections; returns the links whose stop lines have moved."""
        pairs = np.array([pair for _, here in homes for pair in here], np.int64).reshape(-1, 2)
        if not len(pairs):
            return set()
        home = np.repeat(np.arange(len(homes)), [len(here) for _, here in homes])
        leave, join = self.tips[pairs[:, 0], 2:], self.tips[pairs[:, 1], :2]
        u, v = (_unit(one[:, 1] - one[:, 0]) for one in (leave, join))
        start, end = leave[:, 1], join[:, 0]
        wanted: dict[tuple[int, bool], float] = {}
        chord = _unit(end - start)
        turning = np.abs(_angle(u, chord)) + np.abs(_angle(chord, v))
        swings = (turning > MOST_TURNING) & (np.abs(_angle(u, v)) < TURNS_BACK)
        for k in np.flatnonzero(turning > TOO_MUCH).tolist():
            if swings[k]:
                self.swings.add((homes[home[k]][0], *(self.roads[self.road[n]] for n in pairs[k])))
        for k in np.flatnonzero(swings).tolist():
            for lane, at_end in ((pairs[k, 0], True), (pairs[k, 1], False)):
                self._ask(wanted, int(lane), at_end, STEP)
        self._crossed(wanted, pairs, home, np.hstack((start, u, end, v)))
        return {link for (link, at), more in wanted.items() if self._set_back(link, at, more)}

    def _crossed(
        self, wanted: dict[tuple[int, bool], float], pairs: Ints, home: Ints, curves: Points
    ) -> None:
        """Ask for room where a movement leads over a lane that it neither leaves nor joins."""
        points, begin = smooth_curves(curves)
        ends, i, j = ends_beside(pairs, home, self.road)
        first = begin.astype(np.int64)
        over = bodies_of(self.lines, ends, whole=3)
        reach = farthest_crossings(Lines.of(points, first[:-1], first[1:] - 1), over, i, j)
        for k in np.flatnonzero(reach > OVER).tolist():
            one = int(ends[j[k]])
            self._ask(wanted, one // 2, one % 2 == 1, float(reach[k]) + CLEAR)

    def _ask(
        self, wanted: dict[tuple[int, bool], float], lane: int, at_end: bool, more: float
    ) -> None:
        """Note how far a stop line should move back, m."""
        link, forward = self.roads[self.road[lane]]
        end = link, forward != at_end
        wanted[end] = max(wanted.get(end, 0.0), more)

    def _set_back(self, link: int, at: bool, more: float) -> bool:
        """Move a stop line back; whether it has."""
        end = self.ends[link, at]
        most = min(MOST, most_beside(self.length[link], self.ends[link, not at].setback))
        if (link, at) in self.loops or end.setback >= most - 0.1:
            self.stuck.add(link)
            return False
        end.setback = min(end.setback + more, most)
        return True

    def _redraw(self, links: set[int]) -> None:
        """Draw the lanes of some links anew."""
        roads = [(i, f) for i in sorted(links) for f in (True, False) if (i, f) in self.first]
        counts = [self.counts[self.road[self.first[road]]] for road in roads]
        points, start = draw(self.streets, self.ends, roads, counts)
        first = [self.first[road] for road in roads]
        lanes = [lane for at, n in zip(first, counts, strict=True) for lane in range(at, at + n)]
        self.tips[lanes] = tips_of(points, start)
        for lane, (a, b) in zip(lanes, pairwise(start.tolist()), strict=True):
            self.lines[lane] = points[a:b]


def tips_of(points: Points, start: Ints) -> Points:
    """The first two and the last two points of lines, (n, 4, 2) m."""
    first, last = start[:-1], start[1:] - 1
    return points[np.stack((first, first + 1, last - 1, last), axis=1)]


def _unit(step: Points) -> Points:
    found: Points = step / np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
    return found


def _angle(a: Points, b: Points) -> Points:
    """Turn from one direction to another, rad."""
    return np.asarray(np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(axis=1)))
