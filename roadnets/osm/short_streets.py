"""Streets too short for a car between their stop lines become part of an intersection.

Nobody can be granted a way that ends on such a street, and who stands on it blocks two junctions.
Source: networks.md 2.6 (second pass), 2.7 (entry and exit of one arm of a roundabout), 3.4.
"""

from dataclasses import replace
from typing import Final

from rushhour.kernels.geometry.lane_lines import most_cut
from rushhour.roadnets.drafts.groups import Parts
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.osm.legs import End, set_ends
from rushhour.roadnets.osm.links import Link, Streets
from rushhour.roadnets.osm.merging import KEPT_APART, Merged, extent, refusal
from rushhour.roadnets.osm.places import direction
from rushhour.roadnets.osm.signs import Signs, length_of

A_CAR: Final = 7.5  # m of lane that a car and its gap take
WIDEST_ARM: Final = 25.0  # m between the entry and the exit of one arm of a roundabout
LEGS: Final = 10.0  # m more where the two meet before the ring
FEWEST_ON_RING: Final = 3  # intersections of a roundabout that is not worth making one
LEAST_ON_RING: Final = 2  # where no body has room between two
A_BODY: Final = 5.0  # m of lane that a car without its gap takes
WIDEST_YARD: Final = 15.0  # m between nodes of service ways that are one intersection
MOST_IN_YARD: Final = 4  # of them
WITHIN: Final = 45.0  # m of a street from an intersection to itself that is part of it
ROUNDS: Final = 5  # each join moves stop lines, which may leave another street too short


def join_short_streets(
    streets: Streets, merged: Merged, signs: Signs, service: bool = False
) -> None:
    """Join the two ends of every street without room for a car, as far as guards allow.

    service: of service ways alone, of which one end is in a yard; they join no two streets.
    """
    around = streets.ends()
    rings = Rings(streets, around)
    length = [length_of(streets, link) for link in streets.links]
    refused: set[int] = set()
    ends: dict[tuple[int, bool], End] = {}
    changed = set(around)
    on_street = set()
    if service:
        ways = {i for i, link in enumerate(streets.links) if link.rules.highway == "service"}
        on_street = {n for n, here in around.items() if any(i not in ways for i, _ in here)}
        refused.update(i for i in range(len(streets.links)) if i not in ways)
        changed = {n for i in ways for n in (streets.links[i].a, streets.links[i].b)}
    lit = {merged.home(node) for node in signs.signals | signs.mid_block}
    for _ in range(ROUNDS):
        set_ends(streets, merged, set(), around, sorted(changed), ends)
        short = sorted(
            (room, i)
            for i in {i for node in changed for i, _ in around[node]}
            if i not in merged.inner and i not in refused
            if len(around[streets.links[i].a]) > 1 and len(around[streets.links[i].b]) > 1
            if (room := room_on(length[i], ends, i, streets.links[i].rules.ring)) < A_CAR
        )
        changed = set()
        for room, i in short:
            link = streets.links[i]
            why = "a signal" if {link.a, link.b} & signs.mid_block else ""
            if service and not _in_yard(streets, merged, link, on_street, lit):
                refused.add(i)
                continue
            least = LEAST_ON_RING if room_on(length[i], ends, i) < A_BODY else FEWEST_ON_RING
            why = why or rings.refusal(merged, i, least)
            if not why and merged.home(link.a) != merged.home(link.b):
                nodes = [n for end in (link.a, link.b) for n in merged.nodes(merged.home(end))]
                why = refusal(streets, nodes)
            if why:
                refused.add(i)
                room = room_on(length[i], ends, i)
                if why == KEPT_APART or room >= A_CAR:
                    continue
                streets.find(
                    "L13",
                    f"way {link.first_way}: {room:.1f} m between stop lines, no room for a car; "
                    f"left so ({why})",
                    [f"way {link.first_way}", f"node {link.a}", f"node {link.b}"], link.a,
                    fix_line("merge", [link.a, link.b], True),
                )  # fmt: skip
                continue
            for start in (True, False):
                _hand_on(streets, around, signs, i, start)
            merged.join(link.a, link.b, [i])
            take_within(streets, around, merged, merged.home(link.a), length)
            changed.update(merged.nodes(merged.home(link.a)))


def _in_yard(
    streets: Streets, merged: Merged, link: Link, on_street: set[int], lit: set[int]
) -> bool:
    """Whether the ends of a service way lie in one small yard, without signals, at one street at most."""
    homes = {merged.home(link.a), merged.home(link.b)}
    nodes = [node for home in homes for node in merged.nodes(home)]
    outside = sum(bool(on_street.intersection(merged.nodes(h))) for h in homes)
    far = extent(streets, nodes) > WIDEST_YARD or len(nodes) > MOST_IN_YARD
    return not (outside > 1 or far or homes & lit)


def take_within(
    streets: Streets, around: dict[int, list[tuple[int, bool]]], merged: Merged, home: int,
    length: list[float],
) -> None:  # fmt: skip
    """Make streets part of an intersection that lead from it to itself over a few metres."""
    for node in merged.nodes(home):
        for i, start in around[node]:
            if start and length[i] <= WITHIN and merged.home(streets.links[i].b) == home:
                merged.inner.add(i)


def room_on(
    length: float, ends: dict[tuple[int, bool], End], link: int, wide: bool = False
) -> float:
    """Metres between the stop lines of a link; wide: where they would be, had it the room."""
    most = length if wide else most_cut(length)
    return length - min(ends[link, True].setback, most) - min(ends[link, False].setback, most)


def _hand_on(
    streets: Streets,
    around: dict[int, list[tuple[int, bool]]],
    signs: Signs,
    index: int,
    start: bool,
) -> None:
    """Give signs and turn lanes of a link that ends at a joint to the street before the joint."""
    link = streets.links[index]
    here = around[link.a if start else link.b]
    if len(here) != 2:
        return
    other, other_start = here[1] if here[0] == (index, start) else here[0]
    if other == index:
        return
    for entries in (signs.stops, signs.gives_way):
        if (index, not start) in entries:
            entries.add((other, other_start))
    onward = link.rules.forward if start else link.rules.backward
    before = streets.links[other]
    own = before.rules.backward if other_start else before.rules.forward
    if onward.turns and not own.turns and onward.lanes == own.lanes:
        told = own._replace(turns=onward.turns)
        rules = (
            replace(before.rules, backward=told)
            if other_start
            else replace(before.rules, forward=told)
        )
        streets.links[other] = Link(before.nodes, rules, before.first_way, before.last_way)


class Rings:
    """Roundabouts, and how many intersections each still has."""

    def __init__(self, streets: Streets, around: dict[int, list[tuple[int, bool]]]) -> None:
        self.streets = streets
        self.around = around
        self.links = [i for i, link in enumerate(streets.links) if link.rules.ring]
        parts = Parts()
        for i in self.links:
            parts.join(streets.links[i].a, streets.links[i].b)
        self.of_node: dict[int, int] = {}  # node -> name of its ring
        self.members: dict[int, set[int]] = {}
        for i in self.links:
            for node in (streets.links[i].a, streets.links[i].b):
                self.of_node[node] = parts.find(node)
                self.members.setdefault(self.of_node[node], set()).add(node)

    def are_one(self, merged: Merged, index: int) -> bool:
        """Whether the roundabouts at a link are one intersection each."""
        link = self.streets.links[index]
        rings = {self.of_node[node] for node in (link.a, link.b) if node in self.of_node}
        return all(len({merged.home(n) for n in self.members[ring]}) == 1 for ring in rings)

    def _parts_arms(self, merged: Merged, link: Link) -> bool:
        """Whether a piece of a ring leads from one arm to another, and not from the way out of an arm to
        its way in: as one intersection two arms keep each other waiting for most of the way round."""
        first, last = (link.a, link.b) if link.rules.forward.lanes else (link.b, link.a)
        return self._meets(merged, first, True) or self._meets(merged, last, False)

    def _meets(self, merged: Merged, node: int, enters: bool) -> bool:
        """Whether somebody comes by a street to the intersection of a node of a ring, or leaves by one."""
        for at in merged.nodes(merged.home(node)):
            for i, start in self.around[at]:
                link = self.streets.links[i]
                if link.rules.ring or i in merged.inner:
                    continue
                if direction(link, start != enters).lanes:
                    return True
        return False

    def refusal(self, merged: Merged, index: int, least: int) -> str:
        """Why the ends of a link on or at a roundabout stay apart; "" if they need not.

        least: how many intersections it keeps.
        """
        link = self.streets.links[index]
        on_ring = [self.of_node[n] for n in (link.a, link.b) if n in self.of_node]
        if not on_ring:
            return ""
        if link.rules.ring and self._parts_arms(merged, link):
            return "two arms of a roundabout"
        nodes = [n for end in (link.a, link.b) for n in merged.nodes(merged.home(end))]
        legs = 0.0 if link.rules.ring else LEGS
        if extent(self.streets, nodes) > WIDEST_ARM + legs:
            return "a wide arm of a roundabout"
        homes = {merged.home(n) for n in self.members[on_ring[0]]}
        homes -= {merged.home(link.a), merged.home(link.b)}
        return "" if len(homes) + 1 >= least else "a small roundabout"
