"""From streets, intersections and movements of a map to a draft of lanes and connectors."""

from collections.abc import Iterator
from math import cos, sin
from typing import Final

import numpy as np

from rushhour.kernels.core.network import NONE, SIGNAL
from rushhour.roadnets.classes import CLASS_BIT, ROAD_VEHICLES
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.drafts.heights import STEEPEST
from rushhour.roadnets.geometry.street_lines import Line, turning_loop
from rushhour.roadnets.osm.approaches import Approach, approaches_of
from rushhour.roadnets.osm.control import Controls
from rushhour.roadnets.osm.entries import SERVICE
from rushhour.roadnets.osm.fitting import Fitting
from rushhour.roadnets.osm.islands import islands_of, ways_around
from rushhour.roadnets.osm.leading_on import lead_on
from rushhour.roadnets.osm.legs import (
    LOOP,
    ends_of,
    lane_offset,
    stop_line,
    street_line,
)
from rushhour.roadnets.osm.links import Road, Streets, levels_of, lines_aloft, node_at, rise_of
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.movements import Turns
from rushhour.roadnets.osm.naming import Called, road_names
from rushhour.roadnets.osm.places import Places, direction, priority_of
from rushhour.roadnets.osm.progression import coordinate
from rushhour.roadnets.osm.signs import Signs
from rushhour.roadnets.osm.zebras import zebras_of
from rushhour.roadnets.plans.turns import TURN_CODE

LOOP_RADIUS: Final = LOOP / 3.5  # m
BUSES: Final = CLASS_BIT["bus"] | CLASS_BIT["coach"] | CLASS_BIT["taxi"] | CLASS_BIT["emergency"]


class Drafter:
    """Draws a map; one use each."""

    def __init__(
        self, streets: Streets, merged: Merged, signs: Signs, turns: Turns, used: set[Road],
        country: str, before: Called | None = None,
    ) -> None:  # fmt: skip
        self.streets = streets
        self.turns = turns
        self.used = used
        self.places = Places(streets, merged, used)
        loops = {
            (link, not forward)
            for (link, forward), after in turns.follow.items()
            if (link, forward) in used and any(other == (link, not forward) for other, _ in after)
        }
        self.loops = {end for end in loops if self._has_loop(end)}
        self.ends = ends_of(streets, merged, self.loops, self.places.around)
        self.controls = Controls(self.places, signs, self.ends, country, turns.waits_on_red)
        self.names = road_names(streets, merged, before)
        self.islands = islands_of(streets, merged)
        steep = {node for pair in streets.grades for node in pair}
        self.off_ground = steep.union(*streets.aloft, *streets.levels)  # nodes, and of slopes
        self.bent: dict[tuple[Road, int, Road, int], Line] = {}  # shapes of movements

    def _has_loop(self, end: tuple[int, bool]) -> bool:
        """Whether one turns back in a loop: at dead ends, but not of a driveway or an aisle."""
        link = self.streets.links[end[0]]
        dead = len(self.places.around[node_at(link, end[1])]) == 1
        return dead and link.rules.highway != SERVICE

    def draft(self, name: str) -> Draft:
        """Draw everything."""
        draft = Draft(name, "OpenStreetMap", steepest=STEEPEST)
        roads = sorted(self.used)
        arriving: dict[int, list[Road]] = {}
        for road in roads:
            arriving.setdefault(self.places.home(road, True), []).append(road)
            arriving.setdefault(self.places.home(road, False), [])
        approaches = {
            home: approaches_of(self.streets, self.turns, self.used, entries)
            for home, entries in arriving.items()
        }
        lead_on(self.streets, self.ends, approaches)
        counts = [direction(self.streets.links[i], forward).lanes for i, forward in roads]
        fitting = Fitting(self.streets, self.ends, roads, counts, self.loops)
        shapes = iter(fitting.fit(approaches))
        self.bent = fitting.bent()
        self._lead_around(fitting, approaches)
        for home, before, behind in sorted(fitting.swings):
            self._leave_out(approaches[home], before, behind)
        for road in roads:
            draft.roads.append(self._road(road, shapes))
        drawn: dict[int, list[DraftRoad]] = {}
        for (link, _), one in zip(roads, draft.roads, strict=True):
            drawn.setdefault(link, []).append(one)
        draft.zebras = zebras_of(self.streets, drawn)
        for home in sorted(arriving):
            x, y = self.places.middle(home)
            inter = DraftIntersection(str(home), x, y, NONE, on_ground=self._on_ground(home))
            draft.intersections.append(inter)
            self._connect(draft, inter, home, approaches[home])
        draft.banned = [
            tuple(self.names[road] for road in roads)
            for roads in self.turns.banned
            if self.used.issuperset(roads)
        ]
        coordinate(draft, {signal.id for signal in draft.signals})
        return draft

    def _lead_around(self, fitting: Fitting, approaches: dict[int, list[Approach]]) -> None:
        """Shape the movements of roundabouts that are one intersection."""
        for home, here in approaches.items():
            island = self.islands.get(home)
            if island is None:
                continue
            self.bent.update(ways_around(island, fitting.movements(here)))

    def _leave_out(self, approaches: list[Approach], before: Road, behind: Road) -> None:
        """Take a movement away that no car can drive, if both its roads have others."""
        (own,) = (one for one in approaches if one.road == before)
        kept = [exit for exit in own.exits if exit.road != behind]
        lanes = {a for exit in own.exits for a, _ in exit.pairs}
        entered = {(one.road, b) for one in approaches for exit in one.exits
                   for _, b in exit.pairs if exit.road == behind}  # fmt: skip
        still = {b for road, b in entered if road != before}
        if lanes == {a for exit in kept for a, _ in exit.pairs} and still == {
            b for _, b in entered
        }:
            own.exits = kept
            self.streets.remarks.add(
                "movements whose streets face away from each other, left out",
                f"{self.names[before]} -> {self.names[behind]}",
            )

    def _road(self, road: Road, shapes: Iterator[Line]) -> DraftRoad:
        """A road with its lanes, whose shapes come next."""
        index, forward = road
        link = self.streets.links[index]
        lanes = []
        way = direction(link, forward)
        for k in range(way.lanes):
            speed = way.speeds[k] if way.speeds else way.speed
            mask = BUSES if way.bus and way.bus[k] else ROAD_VEHICLES
            lanes.append(
                DraftLane(f"{self.names[road]}_{k}", next(shapes), speed, link.rules.width, mask)
            )
        level = self.off_ground.isdisjoint(link.nodes)
        a, b = str(self.places.home(road, False)), str(self.places.home(road, True))
        return DraftRoad(
            self.names[road], a, b, lanes, priority_of(link), link.rules.name, way.visitors,
            grade=None if level else rise_of(self.streets, link, forward), ref=link.rules.ref,
            aloft=[] if level else lines_aloft(self.streets, link),
            levels=[] if level else levels_of(
                self.streets, link,
                (self.ends[index, True].setback, self.ends[index, False].setback), forward,
            ),
        )  # fmt: skip

    def _on_ground(self, home: int) -> bool:
        """Whether a street at an intersection leaves it on the ground."""
        for _, index, start in self.places.link_ends(home):
            nodes = self.streets.links[index].nodes
            if frozenset(nodes[:2] if start else nodes[-2:]) not in self.streets.aloft:
                return True
        return False

    def _connect(
        self, draft: Draft, inter: DraftIntersection, home: int, approaches: list[Approach]
    ) -> None:
        """Draw the movements of an intersection and its control."""
        inter.control, stops = self.controls.control_of(home, [a.road for a in approaches])
        signal = inter.id if inter.control == SIGNAL else None
        if signal:
            draft.signals.append(self.controls.signal_of(inter, home, approaches))
        first, link = len(draft.connectors), 0
        pairs_by_rule = self.controls.yields_of(home, inter.control, approaches)
        if pairs_by_rule is not None:
            inter.yields = [(first + i, first + j) for i, j in pairs_by_rule]
        for approach in approaches:
            index, forward = approach.road
            own, priority = self.names[approach.road], self.controls.priority(approach.road)
            for other, letter, pairs, _ in approach.exits:
                back = other[0] == index and (index, not forward) in self.loops
                for a, b in pairs:
                    draft.connectors.append(
                        DraftConnector(
                            own, a, self.names[other], b,
                            shape=self._loop(approach.road, a, b)
                            if back
                            else self.bent.get((approach.road, a, other, b)),
                            turn=TURN_CODE[letter], signal=signal, link=link if signal else -1,
                            must_stop=approach.road in stops,
                            priority=priority,
                        )
                    )  # fmt: skip
                    link += 1

    def _loop(self, road: Road, a: int, b: int) -> Line:
        """The turn back at a dead end, from lane a of a road to lane b of its other direction."""
        index, forward = road
        link = self.streets.links[index]
        line = street_line(self.streets, link)
        end, angle = stop_line(
            line if forward else line[::-1],
            self.ends[index, not forward].setback,
            self.ends[index, forward].setback,
        )
        turn = np.array([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]])
        shape = turning_loop(
            lane_offset(link, forward, a), lane_offset(link, not forward, b), LOOP_RADIUS
        )
        moved: Line = shape @ turn + end
        return moved
