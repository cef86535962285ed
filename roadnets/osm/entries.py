"""Side entries: where service ways meet the streets.

Driveways, alleys and aisles of car parks are set aside before the intersections of the streets are
found, so that they never join two of them. Then each meets its street where it is, as a small
intersection of its own: never at a signal, never within an intersection of several nodes, and with
room for a car to the next intersection on both sides. What is nearer slides along the street;
entries nearer to each other share a place.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import atan2
from typing import Final, NamedTuple

from rushhour.roadnets.osm.centre_lanes import split_link
from rushhour.roadnets.osm.legs import End, set_ends
from rushhour.roadnets.osm.links import Link, Streets, dissolve_joints, node_at
from rushhour.roadnets.osm.made_nodes import CUT_OFF
from rushhour.roadnets.osm.merging import MAIN_LINES, Merged
from rushhour.roadnets.osm.movements import heading_from, turn_angle
from rushhour.roadnets.osm.short_streets import A_CAR
from rushhour.roadnets.osm.signs import Signs, length_of, line_of

SERVICE: Final = "service"
CORNER: Final = 5.5  # m from an entry to the stop lines of its street
APART: Final = A_CAR + 2.0 * CORNER  # m between two entries
ONE_WAY, CRAMPED, NO_PLACE = 1.0, 1.5, 4.0  # rad, by which an arm counts as worse turned


class Meeting(NamedTuple):
    """A service way's end on a street: place in the list of service ways, link, m along it."""

    way: int
    start: bool
    link: int
    at: float


def set_service_aside(streets: Streets) -> list[Link]:
    """Take the service ways out of the streets, which are joined again where these met them."""
    aside = [link for link in streets.links if link.rules.highway == SERVICE]
    if not aside or len(aside) == len(streets.links):
        return []
    streets.links = [link for link in streets.links if link.rules.highway != SERVICE]
    dissolve_joints(streets)
    return aside


def attach_service(streets: Streets, merged: Merged, signs: Signs, aside: list[Link]) -> None:
    """Put service ways back, each end on a street where nothing else is."""
    if aside:
        _Entries(streets, merged, signs, aside).attach()


class _Entries:
    """One use each."""

    def __init__(self, streets: Streets, merged: Merged, signs: Signs, aside: list[Link]) -> None:
        self.streets, self.merged, self.signs, self.aside = streets, merged, signs, aside
        self.around = streets.ends()
        self.lit = {merged.home(node) for node in signs.signals | signs.mid_block}
        self.length = [length_of(streets, link) for link in streets.links]
        self.setbacks: dict[tuple[int, bool], End] = {}
        set_ends(streets, merged, set(), self.around, self.around, self.setbacks)
        self.on_street: dict[int, tuple[int, int]] = {}  # node -> link, place in its nodes
        wanted = {node_at(link, start) for link in aside for start in (True, False)}
        for index, link in enumerate(streets.links):
            if wanted.isdisjoint(link.nodes):
                continue
            for place, node in enumerate(link.nodes[1:-1], 1):
                if node in wanted:
                    self.on_street[node] = index, place

    def attach(self) -> None:
        met: dict[int, list[Meeting]] = {}
        lines = [list(link.nodes) for link in self.aside]
        for way, link in enumerate(self.aside):
            for start in (True, False):
                meeting = self._meeting(way, start)
                if isinstance(meeting, Meeting):
                    met.setdefault(meeting.link, []).append(meeting)
                elif meeting is not None:
                    self._move(lines[way], start, meeting)
        for index, meetings in sorted(met.items()):
            for node, group in self._split(index, meetings):
                for one in group:
                    self._move(lines[one.way], one.start, node)
        for link, line in zip(self.aside, lines, strict=True):
            if line[0] != line[-1] and len(line) > 1:
                self.streets.links.append(replace(link, nodes=line))

    def _meeting(self, way: int, start: bool) -> Meeting | int | None:
        """Where an end meets a street: on a link, at another node, or (None) where it is."""
        node = node_at(self.aside[way], start)
        if node in self.on_street:
            index, place = self.on_street[node]
            link = self.streets.links[index]
            if index in self.merged.inner:
                return self._on_arm(way, start, self.merged.home(link.a))
            at = line_of(self.streets, link.nodes[: place + 1])
            return self._in_window(Meeting(way, start, index, at))
        here = self.around.get(node)
        if here is None:
            return None
        home = self.merged.home(node)
        if home in self.lit or (node in self.merged.member and len(here) == 2):
            return self._on_arm(way, start, home)
        return None

    def _on_arm(self, way: int, start: bool, home: int) -> Meeting | int | None:
        """A place on an arm of an intersection: the one that lies most as the service way does."""
        streets, link = self.streets, self.aside[way]
        nodes = self.merged.nodes(home)
        x = sum(streets.xy[node][0] for node in nodes) / len(nodes)
        y = sum(streets.xy[node][1] for node in nodes) / len(nodes)
        line = link.nodes if start else link.nodes[::-1]
        far = streets.xy[line[min(2, len(line) - 1)]]
        heading = atan2(far[1] - y, far[0] - x)
        best: tuple[float, int, bool] | None = None
        for node in nodes:
            for index, at_start in self.around[node]:
                street = streets.links[index]
                if index in self.merged.inner or index in streets.slips or street.rules.ring:
                    continue
                off = abs(turn_angle(heading, heading_from(streets, street, at_start)))
                off += ONE_WAY * street.rules.one_way + NO_PLACE * (
                    street.rules.highway.removesuffix("_link") in MAIN_LINES
                )
                low, high = self._window(index)
                off += CRAMPED * (low > high)
                if best is None or (off, index, at_start) < best:
                    best = off, index, at_start
        if best is None or best[0] >= NO_PLACE:
            return self._cut_off(way, start, home)
        _, index, at_start = best
        at = 0.0 if at_start else self.length[index]
        found = self._in_window(Meeting(way, start, index, at))
        if isinstance(found, int) and self.merged.home(found) == home:
            low, high = self._window(index)
            return Meeting(
                way, start, index, min(max(0.5 * (low + high), 1.0), self.length[index] - 1.0)
            )
        return found

    def _cut_off(self, way: int, start: bool, home: int) -> int | None:
        """A node of its own for an end that no street beside the signal can take."""
        if home not in self.lit:
            return None
        node = node_at(self.aside[way], start)
        xy = self.streets.xy
        new = self.streets.made.add(xy, CUT_OFF + 2 * way + start, xy[node])
        self.streets.remarks.add(
            "service ways that meet streets at signals alone, cut off there",
            f"way {self.aside[way].first_way} at node {node}",
        )
        return new

    def _window(self, index: int) -> tuple[float, float]:
        """Between which metres of a link entries leave room on both sides."""
        link, room = self.streets.links[index], []
        for start in (True, False):
            here = self.around[node_at(link, start)]
            if len(here) == 1:
                room.append(CORNER)
            else:
                room.append(self.setbacks[index, start].setback + A_CAR + CORNER)
        return room[0], self.length[index] - room[1]

    def _in_window(self, meeting: Meeting) -> Meeting | int:
        """A meeting moved to where it leaves room; the node at an end of a street that has none."""
        low, high = self._window(meeting.link)
        if low <= high:
            return meeting._replace(at=min(max(meeting.at, low), high))
        link, length = self.streets.links[meeting.link], self.length[meeting.link]
        free = []
        for node, away in ((link.a, meeting.at), (link.b, length - meeting.at)):
            home = self.merged.home(node)
            joint = node in self.merged.member and len(self.around[node]) == 2
            if home not in self.lit and not joint:
                free.append((away, node))
        if free:
            return min(free)[1]
        return meeting._replace(at=length * low / max(low + length - high, 1e-9))

    def _split(self, index: int, meetings: list[Meeting]) -> Iterator[tuple[int, list[Meeting]]]:
        """Cut a street where service ways meet it; each node with those that do so there."""
        _, high = self._window(index)
        groups: list[tuple[float, list[Meeting]]] = []
        for one in sorted(meetings, key=lambda m: (m.at, m.way, m.start)):
            last = groups[-1][0] if groups else -2.0 * APART
            if one.at - last < 0.5 * APART or (one.at - last < APART and last + APART > high):
                groups[-1][1].append(one)
            else:
                groups.append((max(one.at, last + APART), [one]))
        for at, group in reversed(groups):
            piece = split_link(self.streets, index, at)
            for entries in (self.signs.stops, self.signs.gives_way):
                if (index, False) in entries:
                    entries.remove((index, False))
                    entries.add((piece, False))
            if index in self.streets.slips:
                self.streets.slips.add(piece)
            yield self.streets.links[piece].a, group

    def _move(self, line: list[int], start: bool, node: int) -> None:
        """Let one end of a service way lead to another node, without a hook."""
        if start:
            line.reverse()
        moved = line_of(self.streets, [line[-1], node])
        line.pop()
        while len(line) > 1 and line_of(self.streets, [line[-1], node]) < moved:
            line.pop()
        if line[-1] != node:
            line.append(node)
        if start:
            line.reverse()
