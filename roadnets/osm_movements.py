"""From which street of an intersection one may drive into which, and what can be left and reached.

A movement of a merged intersection follows a directed path over its inner links that respects
one-ways and restrictions. Source: networks.md 2.6, 2.8, 2.9, 4.4.
"""

from dataclasses import dataclass, field
from math import atan2, hypot, pi, radians
from typing import Final

from rushhour.roadnets.osm_links import Link, Streets
from rushhour.roadnets.osm_merging import Merged
from rushhour.roadnets.osm_reading import Restriction

BACK: Final = radians(155.0)  # a turn by more leads back to where one came from
HEADING_SPAN: Final = 10.0  # m over which a direction is measured
BORDER: Final = 100.0  # m within which a dead end at the border of the map is a gate
NOT_FOR_CARS: Final = ("motorcar", "motor_vehicle")

# A road is a link driven one way: (link, whether towards the link's end).
Road = tuple[int, bool]


@dataclass
class Bans:
    """Turn restrictions at nodes, by the ids of the ways before and behind."""

    no: set[tuple[int, int, int]] = field(default_factory=set)  # from, node, to
    only: dict[tuple[int, int], set[int]] = field(default_factory=dict)  # from, node -> allowed

    def forbids(self, before: int, node: int, behind: int) -> bool:
        """Whether one may not drive from way `before` by the node into way `behind`."""
        if (before, node, behind) in self.no:
            return True
        allowed = self.only.get((before, node))
        return allowed is not None and behind not in allowed


def bans_of(restrictions: list[Restriction], streets: Streets) -> Bans:
    """Restrictions that hold for cars; what cannot be used is noted."""
    bans = Bans()
    ways = {way for link in streets.links for way in (link.first_way, link.last_way)}
    for r in restrictions:
        value = r.tags.get("restriction", "")
        if not value.startswith(("no_", "only_")):
            streets.note("restrictions", f"relation {r.id}: not for cars, or with conditions")
            continue
        if set(r.tags.get("except", "").replace(" ", "").split(";")) & set(NOT_FOR_CARS):
            continue
        known = [w for w in r.sources if w in ways], [w for w in r.targets if w in ways]
        if not known[0] and not known[1]:
            continue  # elsewhere, or of ways that are no roads
        if not r.via_nodes or not known[0] or not known[1]:
            what = "leads over a way" if r.via_ways else "names what is no road of the map"
            streets.note("restrictions", f"relation {r.id}: {what}; not used")
            continue
        for before in known[0]:
            if value.startswith("no_"):
                bans.no.update((before, r.via_nodes[0], behind) for behind in known[1])
            else:
                bans.only.setdefault((before, r.via_nodes[0]), set()).update(known[1])
    return bans


def way_at(link: Link, start: bool) -> int:
    """Id of the way at one end of a link."""
    return link.first_way if start else link.last_way


def node_at(link: Link, start: bool) -> int:
    """Node at one end of a link."""
    return link.a if start else link.b


def heading_from(streets: Streets, link: Link, start: bool) -> float:
    """Direction in which a link leaves one of its ends, rad."""
    nodes = link.nodes if start else link.nodes[::-1]
    x, y = streets.xy[nodes[0]]
    length, (px, py) = 0.0, (x, y)
    for node in nodes[1:]:
        qx, qy = streets.xy[node]
        step = hypot(qx - px, qy - py)
        if length + step >= HEADING_SPAN and step > 0.0:
            share = (HEADING_SPAN - length) / step
            return atan2(py + share * (qy - py) - y, px + share * (qx - px) - x)
        length, px, py = length + step, qx, qy
    return atan2(py - y, px - x)


def turn_angle(before: float, behind: float) -> float:
    """Turn from a heading to another, left positive, -pi .. pi."""
    return (behind - before + pi) % (2.0 * pi) - pi


@dataclass
class Turns:
    """Roads, and for each those that may follow, with the angle of the turn."""

    follow: dict[Road, list[tuple[Road, float]]]
    gates_in: set[Road]  # where vehicles may enter the map
    gates_out: set[Road]  # and leave it


def roads_of(streets: Streets, merged: Merged) -> list[Road]:
    """Every road outside intersections, by link."""
    return [
        (i, forward)
        for i, link in enumerate(streets.links)
        if i not in merged.inner
        for forward, lanes in ((True, link.rules.forward.lanes), (False, link.rules.backward.lanes))
        if lanes
    ]


def turns_of(streets: Streets, merged: Merged, bans: Bans) -> Turns:
    """Every movement that the map allows."""
    ends = streets.ends()
    headings = {
        (i, start): heading_from(streets, link, start)
        for i, link in enumerate(streets.links)
        for start in (True, False)
    }
    xs = [p[0] for p in streets.xy.values()]
    ys = [p[1] for p in streets.xy.values()]
    box = (min(xs) + BORDER, min(ys) + BORDER, max(xs) - BORDER, max(ys) - BORDER)
    turns = Turns({}, set(), set())
    for road in roads_of(streets, merged):
        index, forward = road
        link = streets.links[index]
        arrive = headings[index, not forward] + pi  # driving into the intersection
        found = _exits(streets, merged, bans, ends, road)
        angles = {exit: turn_angle(arrive, headings[exit[0], exit[1]]) for exit in found}
        kept = [(exit, angle) for exit, angle in angles.items() if abs(angle) <= BACK]
        kept = kept or list(angles.items())
        kept.sort(key=lambda e: e[1])
        two_way = link.rules.backward.lanes if forward else link.rules.forward.lanes
        end = node_at(link, not forward)
        x, y = streets.xy[end]
        outside = not (box[0] <= x <= box[2] and box[1] <= y <= box[3])
        if len(ends[end]) == 1:
            if outside or not two_way:
                turns.gates_out.add(road)
                if two_way:
                    turns.gates_in.add((index, not forward))
            else:
                kept = [((index, not forward), pi)]
        elif not kept and two_way:
            kept = [((index, not forward), pi)]
            streets.note("no exit", f"way {link.last_way}: nothing leads on; a U-turn is allowed")
        elif not kept:
            turns.gates_out.add(road)
            streets.note("no exit", f"way {link.last_way}: ends where nothing leads on")
        start = node_at(link, forward)
        if len(ends[start]) == 1 and not two_way:
            turns.gates_in.add(road)
        turns.follow[road] = kept
    return turns


def _exits(
    streets: Streets,
    merged: Merged,
    bans: Bans,
    ends: dict[int, list[tuple[int, bool]]],
    road: Road,
) -> list[Road]:
    """Roads that can follow a road, through the inner links of its intersection."""
    found: list[Road] = []
    seen: set[Road] = {road}
    open_roads = [road]
    while open_roads:
        index, forward = open_roads.pop()
        link = streets.links[index]
        node = node_at(link, not forward)
        before = way_at(link, not forward)
        for other, start in ends[node]:
            onward = streets.links[other]
            lanes = onward.rules.forward.lanes if start else onward.rules.backward.lanes
            if other == index or not lanes or (other, start) in seen:
                continue
            if bans.forbids(before, node, way_at(onward, start)):
                continue
            seen.add((other, start))
            if other in merged.inner:
                open_roads.append((other, start))
            elif other != road[0]:
                found.append((other, start))
    return found


def _largest_component(follow: dict[Road, list[tuple[Road, float]]]) -> set[Road]:
    """The largest set of roads that can all reach each other (Tarjan 1972, without recursion)."""
    number: dict[Road, int] = {}
    low: dict[Road, int] = {}
    stack: list[Road] = []
    on_stack: set[Road] = set()
    best: list[Road] = []
    for first, after in follow.items():
        if first in number:
            continue
        work = [(first, iter(after))]
        number[first] = low[first] = len(number)
        stack.append(first)
        on_stack.add(first)
        while work:
            road, rest = work[-1]
            for following, _ in rest:
                if following not in number:
                    number[following] = low[following] = len(number)
                    stack.append(following)
                    on_stack.add(following)
                    work.append((following, iter(follow[following])))
                    break
                if following in on_stack:
                    low[road] = min(low[road], number[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[road])
                if low[road] == number[road]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == road:
                            break
                    if len(component) > len(best):
                        best = component
    return set(best)


def _reached(starts: set[Road], follow: dict[Road, list[Road]]) -> set[Road]:
    seen = set(starts)
    open_roads = list(starts)
    while open_roads:
        for following in follow[open_roads.pop()]:
            if following not in seen:
                seen.add(following)
                open_roads.append(following)
    return seen


def usable(turns: Turns) -> tuple[set[Road], set[Road]]:
    """Roads that can be reached and left, and those that can all reach each other."""
    core = _largest_component(turns.follow)
    ahead = {road: [following for following, _ in after] for road, after in turns.follow.items()}
    back: dict[Road, list[Road]] = {road: [] for road in ahead}
    for road, after in ahead.items():
        for following in after:
            back[following].append(road)
    reached = _reached(core | turns.gates_in, ahead)
    left = _reached(core | turns.gates_out, back)
    return reached & left, core
