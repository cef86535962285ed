"""From ways to links: streets between nodes where something happens.

Ways are split at shared nodes; nodes that only bend the street, and joints at which nothing
changes, are dissolved again. Topology comes from shared node ids alone. Source: networks.md 2.1-2.3.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from math import dist

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.fixes import MOST_LANES, Fixes, fix_line
from rushhour.roadnets.levels import MOST_LEVEL, Stretch
from rushhour.roadnets.osm.built_up import BuiltUp
from rushhour.roadnets.osm.made_nodes import COPY, MadeNodes
from rushhour.roadnets.osm.ways.hills import grade_of
from rushhour.roadnets.osm.ways.legal import KMH
from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay
from rushhour.roadnets.osm.ways.rules import rules_of
from rushhour.roadnets.osm.ways.tags import Direction, Doubt, Tags, WayRules, is_open, level_of
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.street_names import joined_names

BLOCKING = ("bollard", "block", "wall", "chain", "cycle_barrier", "debris")
GATES = ("gate", "lift_gate", "swing_gate")
SAME_PLACE = 0.05  # m
CALLED = ("name", "ref")  # tags that say what a street is called

# A road is a link driven one way: (link, whether towards the link's end).
Road = tuple[int, bool]


@dataclass(slots=True)
class Link:
    """A street between two nodes; its line runs in the direction `forward` of its rules."""

    nodes: list[int]
    rules: WayRules
    first_way: int  # id of the way at its start
    last_way: int
    slide: tuple[float, float] = (0.0, 0.0)  # m right of the line at its start and end, on top
    # What is asked of its line again and again (signs.length_of, movements.heading_from).
    length: float | None = field(default=None, init=False, compare=False, repr=False)
    heading_a: float | None = field(default=None, init=False, compare=False, repr=False)
    heading_b: float | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def a(self) -> int:
        """Node at its start."""
        return self.nodes[0]

    @property
    def b(self) -> int:
        """Node at its end."""
        return self.nodes[-1]


@dataclass
class Streets:
    """Links and what was noted while they were made."""

    links: list[Link]
    xy: dict[int, tuple[float, float]]
    node_tags: dict[int, Tags]
    remarks: Remarks = field(default_factory=Remarks)
    fixes: Fixes = field(default_factory=Fixes)
    # Nodes where an added lane ends: whether it is that at the kerb.
    lane_ends: dict[int, bool] = field(default_factory=dict)
    slips: set[int] = field(default_factory=set)  # links that are slip lanes
    # Rise per metre between two nodes of a way that says its incline, in its direction.
    grades: dict[tuple[int, int], float] = field(default_factory=dict)
    aloft: set[frozenset[int]] = field(default_factory=set)  # neighbours on a bridge, in a tunnel
    # Neighbours that do not lie at level 0, and where they do.
    levels: dict[frozenset[int], int] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)  # nodes at which the map was cut
    made: MadeNodes = field(default_factory=MadeNodes)

    def find(
        self,
        check: str,
        message: str,
        source: Iterable[str] = (),
        node: int | None = None,
        fix: str = "",
        severity: str = "",
    ) -> None:
        """Keep a finding (roadnets.findings) at the place of a node."""
        place = None if node is None else self.xy.get(node)
        self.remarks.find(check, message, source, place, fix, severity)

    def ends(self) -> dict[int, list[tuple[int, bool]]]:
        """For each node the links that end there: index, whether it is the start of the link."""
        found: dict[int, list[tuple[int, bool]]] = defaultdict(list)
        for i, link in enumerate(self.links):
            nodes = link.nodes
            found[nodes[0]].append((i, True))
            found[nodes[-1]].append((i, False))
        return dict(found)


def turned(link: Link) -> Link:
    """The same link, seen from its other end."""
    rules = replace(
        link.rules,
        forward=link.rules.backward,
        backward=link.rules.forward,
        shift=-link.rules.shift,
    )
    return Link(link.nodes[::-1], rules, link.last_way, link.first_way)


def way_at(link: Link, start: bool) -> int:
    """Id of the way at one end of a link."""
    return link.first_way if start else link.last_way


def node_at(link: Link, start: bool) -> int:
    """Node at one end of a link."""
    return link.nodes[0 if start else -1]


def rise_of(streets: Streets, link: Link, forward: bool) -> float | None:
    """Rise per metre of a link driven one way, where half of it or more says one."""
    if not streets.grades:
        return None
    rise = length = said = 0.0
    for a, b in pairwise(link.nodes):
        step = dist(streets.xy[a], streets.xy[b])
        grade = streets.grades.get((a, b))
        if grade is None and (b, a) in streets.grades:
            grade = -streets.grades[b, a]
        length += step
        if grade is not None:
            rise, said = rise + grade * step, said + step
    sign = 1.0 if forward else -1.0
    return sign * rise / length if said > 0.0 and said >= 0.5 * length else None


def levels_of(
    streets: Streets, link: Link, cut: tuple[float, float], forward: bool
) -> list[Stretch]:
    """The stretches of a link driven one way that do not lie at level 0. cut: m before its road begins, and behind its end."""
    if not any(frozenset(pair) in streets.levels for pair in pairwise(link.nodes)):
        return []
    steps = [dist(streets.xy[a], streets.xy[b]) for a, b in pairwise(link.nodes)]
    length = max(sum(steps) - sum(cut), SAME_PLACE)
    found: list[Stretch] = []
    at = -cut[0]
    for pair, step in zip(pairwise(link.nodes), steps, strict=True):
        level = streets.levels.get(frozenset(pair), 0)
        begin, end = (min(1.0, max(0.0, s / length)) for s in (at, at + step))
        at += step
        if not forward:
            begin, end = 1.0 - end, 1.0 - begin
        if not level or begin >= end:
            continue
        if found and found[-1][2] == level and begin <= found[-1][1] and end >= found[-1][0]:
            begin, end = min(begin, found[-1][0]), max(end, found[-1][1])
            found.pop()
        found.append((begin, end, max(-MOST_LEVEL, min(MOST_LEVEL, level))))
    return found


def lines_aloft(streets: Streets, link: Link) -> list[NDArray[np.float64]]:
    """The bridges and tunnels of a link, (k, 2) m each."""
    found: list[list[int]] = []
    for a, b in pairwise(link.nodes) if streets.aloft else ():
        if frozenset((a, b)) in streets.aloft:
            if not found or found[-1][-1] != a:
                found.append([a])
            found[-1].append(b)
    return [np.array([streets.xy[node] for node in line]) for line in found]


def streets_of(
    osm: OsmMap,
    place: str,
    speeds: dict[str, float],
    private: bool,
    urban: dict[int, BuiltUp],
    made: MadeNodes | None = None,
) -> Streets:
    """Links of a map. place, speeds: as in `rules_of`; urban: what is known of ways, by id."""
    streets = Streets(
        [], dict(osm.xy), osm.node_tags, osm.remarks, cut=set(osm.cut), made=made or MadeNodes()
    )
    # By tags as well as id: the edges of a graph that come from one way may differ.
    rules: dict[_Said, tuple[WayRules, bool]] = {}
    known: dict[tuple[frozenset[tuple[str, str]], bool], tuple[WayRules, bool, list[Doubt]]] = {}
    ways: list[OsmWay] = []
    closed = 0
    for way in osm.ways:
        if not is_open(way.tags, private):
            closed += 1
            continue
        said = _said(way)
        if said not in rules:
            name, ref = (way.tags.get(key, "") for key in CALLED)
            tags = {key: value for key, value in way.tags.items() if key not in CALLED}
            town = urban[way.id].urban
            like = frozenset(tags.items()), town  # one in ten ways differs by more than name
            if like not in known:
                doubts: list[Doubt] = []
                known[like] = (*rules_of(tags, place, speeds, doubts, town), doubts)
            same, reverse, doubts = known[like]
            rules[said] = replace(same, name=name, ref=ref) if name or ref else same, reverse
            for doubt in (d for i, d in enumerate(doubts) if d not in doubts[:i]):
                streets.find(
                    doubt.check, f"way {way.id}: {doubt.text}", [f"way {way.id}"],
                    way.nodes[len(way.nodes) // 2], _fix_of(way.id, doubt, rules[said][0]),
                )  # fmt: skip
        nodes = way.nodes[::-1] if rules[said][1] else way.nodes
        ways.append(OsmWay(way.id, nodes, way.tags))
    if closed:
        streets.remarks.add("ways closed to cars", count=closed)
    _join_twins(ways, streets)
    _cut_at_barriers(ways, streets)
    _note_hills(ways, {said: reverse for said, (_, reverse) in rules.items()}, streets)
    used = Counter(chain.from_iterable(way.nodes for way in ways))
    for way in ways:
        for piece in _pieces(way.nodes, used):
            streets.links.append(Link(piece, rules[_said(way)][0], way.id, way.id))
    _drop_doubles(streets)
    dissolve_joints(streets)
    _open_loops(streets)
    return streets


_Said = tuple[int, frozenset[tuple[str, str]]]


def _said(way: OsmWay) -> _Said:
    """What tells a way's rules from those of others."""
    return way.id, frozenset(way.tags.items())


def _note_hills(ways: list[OsmWay], reversed_: dict[_Said, bool], streets: Streets) -> None:
    """Note the rises of ways, what is said of them in vain, and at which levels they lie."""
    for way in ways:
        if any(way.tags.get(key, "no") != "no" for key in ("bridge", "tunnel")):
            streets.aloft.update(frozenset(pair) for pair in pairwise(way.nodes))
        if level := level_of(way.tags):
            streets.levels.update(dict.fromkeys(map(frozenset, pairwise(way.nodes)), level))
        grade, doubt = grade_of(way.tags)
        if doubt:
            streets.remarks.add(
                "inclines that are not used, the roads taken as level", f"way {way.id}: {doubt}"
            )
        if grade is not None:
            grade = -grade if reversed_[_said(way)] else grade
            for pair in pairwise(way.nodes):
                streets.grades[pair] = grade


def _fix_of(way: int, doubt: Doubt, rules: WayRules) -> str:
    """The line that says what a doubtful tag leaves open, as it was taken."""
    if doubt.check == "L28":
        return ""
    back = rules.backward.lanes if rules.backward.cars else 0
    lanes = {"forward": rules.forward.lanes, "backward": back, **doubt.lanes}
    if doubt.check == "L06" and doubt.text.startswith("maxspeed"):
        speed = (rules.forward if rules.forward.lanes else rules.backward).speed
        return fix_line("speed", [way], f"{speed / KMH:.4g}")
    if rules.one_way and not lanes["backward"] and doubt.check != "L08":
        return fix_line("lanes", [way], lanes["forward"])
    ahead, back = (min(MOST_LANES, lanes[name]) for name in ("forward", "backward"))
    return fix_line("lanes", [way], f"{{ forward = {ahead}, backward = {back} }}")


def _join_twins(ways: list[OsmWay], streets: Streets) -> None:
    """Take nodes that follow each other in the same place for one."""
    same: dict[int, int] = {}
    for way in ways:
        places = list(map(streets.xy.__getitem__, way.nodes))
        if min(map(dist, places, places[1:]), default=SAME_PLACE) >= SAME_PLACE:
            continue
        for a, b in pairwise(way.nodes):
            if dist(streets.xy[a], streets.xy[b]) < SAME_PLACE:
                a, b = same.get(a, a), same.get(b, b)
                for node, other in list(same.items()):
                    same[node] = min(a, b) if other in (a, b) else other
                same[max(a, b)] = same[min(a, b)] = min(a, b)
    for node, other in same.items():
        if node in streets.node_tags:
            streets.node_tags[other] = {
                **streets.node_tags[node],
                **streets.node_tags.get(other, {}),
            }
    streets.cut.update(same[node] for node in same.keys() & streets.cut)
    for way in ways if same else ():
        if same.keys() & set(way.nodes):
            renamed = [same.get(node, node) for node in way.nodes]
            way.nodes = [n for i, n in enumerate(renamed) if i == 0 or n != renamed[i - 1]]
    ways[:] = [way for way in ways if len(way.nodes) > 1]


def _cut_at_barriers(ways: list[OsmWay], streets: Streets) -> None:
    """Give every piece of way beside a closed barrier an end of its own there."""
    cut = {node for node, tags in streets.node_tags.items() if _blocks(tags)}
    copies = 0
    for way in ways:
        for place in range(len(way.nodes) - 1, 0, -1):
            node = way.nodes[place]
            if node in cut and place < len(way.nodes) - 1:
                copies += 1
                copy = streets.made.add(streets.xy, COPY + copies, streets.xy[node])
                ways.append(OsmWay(way.id, [copy, *way.nodes[place + 1 :]], way.tags))
                way.nodes = way.nodes[: place + 1]


def _blocks(tags: Tags) -> bool:
    barrier = tags.get("barrier", "")
    access = tags.get("motor_vehicle", tags.get("access", ""))
    if barrier in BLOCKING:
        return access != "yes"
    return barrier in GATES and access in ("no", "private")


def _pieces(nodes: list[int], used: Counter[int]) -> list[list[int]]:
    """A way's nodes cut where another way, or itself, touches it."""
    pieces = [[nodes[0]]]
    for node in nodes[1:]:
        pieces[-1].append(node)
        if used[node] > 1:
            pieces.append([node])
    return [piece for piece in pieces if len(piece) > 1]


def _drop_doubles(streets: Streets) -> None:
    """Of two links over the same nodes keep the one of higher rank."""
    best: dict[tuple[int, ...], int] = {}
    said: set[tuple[int, int]] = set()
    drop: set[int] = set()
    for i, link in enumerate(streets.links):
        key = tuple(link.nodes if link.a <= link.b else link.nodes[::-1])
        other = best.setdefault(key, i)
        if other == i:
            continue
        first, second = streets.links[other].rules, link.rules
        one_ways = first.one_way and second.one_way and first.forward != second.forward
        if one_ways and streets.links[other].nodes != link.nodes:
            continue  # the two directions of one street, drawn as two ways
        worse = i if second.rank <= first.rank else other
        best[key] = other + i - worse
        drop.add(worse)
        kept, lost = streets.links[best[key]].first_way, streets.links[worse].first_way
        if (kept, lost) not in said:
            text = f"ways {lost} and {kept} share nodes; kept way {kept}"
            streets.find(
                "L03", text if kept != lost else f"way {kept} lies on itself; one piece kept",
                [f"way {lost}", f"way {kept}"], link.nodes[len(link.nodes) // 2],
                fix_line("close", [kept], True) if kept != lost else "",
            )  # fmt: skip
        said.add((kept, lost))
    streets.links = [link for i, link in enumerate(streets.links) if i not in drop]


def _same_street(first: WayRules, second: WayRules) -> bool:
    """Whether nothing but what it is called and the turns indicated changes between two."""

    def plain(rules: WayRules) -> WayRules:
        ahead, back = rules.forward._replace(turns=()), rules.backward._replace(turns=())
        return replace(rules, forward=ahead, backward=back, name="", ref="", layer="")

    return first.highway == second.highway and plain(first) == plain(second)


def _carried(near: Direction, far: Direction) -> Direction:
    """One direction of two pieces in a row: indications of the last piece, else of the first."""
    return far if far.turns else near


def _joined(first: Link, second: Link) -> Link:
    """Two links end to end as one."""
    rules = replace(
        first.rules,
        forward=_carried(first.rules.forward, second.rules.forward),
        backward=_carried(second.rules.backward, first.rules.backward),
        name=joined_names(first.rules.name, second.rules.name),
        ref=joined_names(first.rules.ref, second.rules.ref),
    )
    return Link(first.nodes + second.nodes[1:], rules, first.first_way, second.last_way)


def dissolve_joints(streets: Streets) -> None:
    """Join links at nodes where exactly two meet and nothing changes."""
    links: list[Link | None] = list(streets.links)
    ends = streets.ends()
    for node in list(ends):
        here = ends[node]
        if len(here) != 2 or here[0][0] == here[1][0]:
            continue
        (i, i_start), (j, j_start) = here
        first, second = links[i], links[j]
        if first is None or second is None:
            continue
        same = first.rules is second.rules and i_start != j_start
        first = turned(first) if i_start else first
        second = second if j_start else turned(second)
        if first.a == second.b or not (same or _same_street(first.rules, second.rules)):
            continue
        whole = _joined(first, second)
        if whole.rules.backward.lanes and not whole.rules.forward.lanes:
            whole = turned(whole)
        links[i], links[j] = whole, None
        for end, other in ((whole.a, True), (whole.b, False)):
            ends[end] = [e for e in ends[end] if e[0] not in (i, j)] + [(i, other)]
        ends[node] = []
    streets.links = [link for link in links if link is not None]


def _open_loops(streets: Streets) -> None:
    """Split links that start and end at one node: a road needs two ends."""
    opened: list[Link] = []
    for link in streets.links:
        if link.a != link.b:
            opened.append(link)
            continue
        middle = len(link.nodes) // 2
        if middle == 0 or len(link.nodes) < 3:
            continue
        opened.append(Link(link.nodes[: middle + 1], link.rules, link.first_way, link.last_way))
        opened.append(Link(link.nodes[middle:], link.rules, link.first_way, link.last_way))
    streets.links = opened
