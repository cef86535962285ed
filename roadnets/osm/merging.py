"""Which nodes of the street graph are one intersection.

Nodes joined by a short span of street become one: the crossings of dual carriageways, staggered
arms, groups of signals. Spans are tried from the shortest on, each merge under guards, as joining
all that is near makes one intersection of half a district. Source: networks.md 2.6, 2.7.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rushhour.roadnets.drafts.groups import Parts
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.geometry.outlines import distances
from rushhour.roadnets.osm.links import Streets
from rushhour.roadnets.osm.signs import length_of

NEAR: Final = 10.0  # m of span within which two nodes are one intersection
CARRIAGEWAYS: Final = 20.0  # m, where both touch two or more one-way streets
SIGNALLED: Final = 30.0  # m, where lights tell that they belong together
WIDEST: Final = 60.0  # m between two nodes of one intersection
MOST_NODES: Final = 12  # joints of a street included
SMALL_RING: Final = 14.0  # m, diameter of a roundabout that is one intersection
KEPT_APART: Final = "as the fixes say"
MAIN_LINES: Final = ("motorway", "trunk")


@dataclass(slots=True)
class Span:
    """Street between two junctions, through joints."""

    u: int
    v: int
    length: float
    links: list[int]


@dataclass
class Merged:
    """member: node -> the node that names its intersection; inner: links within intersections."""

    member: dict[int, int] = field(default_factory=dict)
    inner: set[int] = field(default_factory=set)
    groups: dict[int, list[int]] = field(default_factory=dict)  # that node -> all of them

    def home(self, node: int) -> int:
        """The node that names the intersection of a node."""
        return self.member.get(node, node)

    def nodes(self, home: int) -> list[int]:
        """All nodes of an intersection."""
        return self.groups.get(home, [home])

    def join(self, u: int, v: int, links: list[int]) -> None:
        """Make one intersection of those of nodes u and v; links lie within it."""
        u, v = self.home(u), self.home(v)
        self.inner.update(links)
        if u == v:
            return
        first, other = min(u, v), max(u, v)
        self.groups[first] = self.nodes(first) + self.nodes(other)
        self.groups.pop(other, None)
        self.member.update(dict.fromkeys(self.groups[first], first))


def spans_of(streets: Streets, ends: dict[int, list[tuple[int, bool]]], most: float) -> list[Span]:
    """Every street of at most so many metres between two different junctions, once. ends: of links."""
    lengths = [length_of(streets, link) for link in streets.links]
    spans: list[Span] = []
    for node, here in ends.items():
        if len(here) < 3:
            continue
        for index, at_start in here:
            if lengths[index] > most:
                continue
            links, at = [index], at_start
            while True:
                link = streets.links[links[-1]]
                far = link.b if at else link.a
                there = ends[far]
                if len(there) != 2 or len(links) > 8:
                    break
                onward = there[1] if there[0] == (links[-1], not at) else there[0]
                links.append(onward[0])
                at = onward[1]
            if len(ends[far]) > 2 and far != node and (node, links[0]) <= (far, links[-1]):
                spans.append(Span(node, far, sum(lengths[i] for i in links), links))
    spans = [span for span in spans if span.length <= most]
    spans.sort(key=lambda span: (span.length, span.u, span.v, span.links))
    return spans


def merge(streets: Streets, signals: set[int], together: set[int]) -> Merged:
    """Decide which nodes are one intersection.

    together: nodes whose spans are always tried (junction=yes).
    """
    ends = streets.ends()
    merged = Merged()
    ring = {node for link in streets.links if link.rules.ring for node in (link.a, link.b)}
    for nodes, links in _small_rings(streets):
        if streets.fixes.keep_apart(nodes):
            continue
        merged.groups[min(nodes)] = nodes
        merged.member.update(dict.fromkeys(nodes, min(nodes)))
        merged.inner.update(links)
    corners = {n for i in streets.slips for n in (streets.links[i].a, streets.links[i].b)}
    spans = [
        span
        for span in spans_of(streets, ends, SIGNALLED)
        if not {span.u, span.v} & ring
        if not streets.slips.intersection(span.links)
        if span.length <= NEAR or not {span.u, span.v} & corners
    ]
    refused: dict[tuple[int, int], tuple[Span, str]] = {}
    for _ in range(2):  # the lights of one intersection may be found by a longer span
        for span in spans:
            if span.length > _limit(streets, span, ends, merged, signals, together):
                continue
            u, v = merged.home(span.u), merged.home(span.v)
            if u != v:
                nodes = merged.nodes(u) + merged.nodes(v)
                why = refusal(streets, nodes)
                if why:
                    refused[span.u, span.v] = span, why
                lit = span.u in signals and span.v in signals
                if why or not _has_cross_traffic(
                    streets, ends, nodes, merged.inner, span.links, lit
                ):
                    continue
            merged.join(u, v, span.links)
    for span, why in refused.values():
        if why != KEPT_APART and merged.home(span.u) != merged.home(span.v):
            streets.find(
                "L12",
                f"nodes {span.u} and {span.v} ({span.length:.0f} m): left apart, {why}",
                [f"node {span.u}", f"node {span.v}"], span.u,
                fix_line("merge", [span.u, span.v], True),
            )  # fmt: skip
    for span in spans:  # short spans within what others have merged
        if merged.home(span.u) == merged.home(span.v):
            merged.inner.update(span.links)
    _take_joints(streets, ends, merged)
    return merged


def _take_joints(streets: Streets, ends: dict[int, list[tuple[int, bool]]], merged: Merged) -> None:
    """Joints on inner spans belong to their intersection."""
    open_links = set(merged.inner)
    while open_links:
        taken = set()
        for index in sorted(open_links):
            link = streets.links[index]
            for near, far in ((link.a, link.b), (link.b, link.a)):
                if near in merged.member and far not in merged.member and len(ends[far]) == 2:
                    merged.join(near, far, [])
                    taken.add(index)
        if not taken:
            return


def _one_ways(streets: Streets, here: list[tuple[int, bool]]) -> int:
    return sum(streets.links[i].rules.one_way for i, _ in here)


def _limit(
    streets: Streets,
    span: Span,
    ends: dict[int, list[tuple[int, bool]]],
    merged: Merged,
    signals: set[int],
    together: set[int],
) -> float:
    """Longest span between two such nodes that makes them one intersection, m."""
    rules = [streets.links[i].rules for i in span.links]
    lit = (span.u in signals) + (span.v in signals)
    both = all(signals.intersection(merged.nodes(merged.home(n))) for n in (span.u, span.v))
    if not both and any(r.highway in MAIN_LINES for r in rules):
        return 0.0
    layers = [{streets.links[i].rules.layer for i, _ in ends[node]} for node in (span.u, span.v)]
    if not layers[0] & layers[1]:
        return 0.0
    if span.u in together and span.v in together:
        return SIGNALLED
    dual = all(_one_ways(streets, ends[node]) >= 2 for node in (span.u, span.v))
    if both or (lit == 1 and dual):
        return SIGNALLED
    return CARRIAGEWAYS if dual else NEAR


def refusal(streets: Streets, nodes: list[int]) -> str:
    """Why nodes are too many or too far apart to be one intersection; "" if they are not."""
    if streets.fixes.keep_apart(nodes):
        return KEPT_APART
    if len(nodes) > MOST_NODES:
        return f"together {len(nodes)} nodes"
    width = extent(streets, nodes)
    return f"together {width:.0f} m wide" if width > WIDEST else ""


def extent(streets: Streets, nodes: list[int]) -> float:
    """Largest distance between two of some nodes, m."""
    at = np.array([streets.xy[node] for node in nodes])
    return float(distances(at, at).max())


def _has_cross_traffic(
    streets: Streets,
    ends: dict[int, list[tuple[int, bool]]],
    nodes: list[int],
    inner: set[int],
    links: list[int],
    lit: bool,
) -> bool:
    """Whether nodes that `links` join would be a crossing, not a joint of one street.

    lit: both its nodes have lights, so there is something to cross, if only a turn back.
    """
    entries = exits = within = 0
    for node in nodes:
        for index, at_start in ends[node]:
            if index in inner or index in links:
                within += 1
                continue
            rules = streets.links[index].rules
            arrive = rules.backward if at_start else rules.forward
            leave = rules.forward if at_start else rules.backward
            entries += arrive.lanes > 0
            exits += leave.lanes > 0
    joint = len(nodes) == 2 and within <= 2 and max(entries, exits) < 3 and not lit
    return entries >= 2 and exits >= 2 and not joint


def _small_rings(streets: Streets) -> list[tuple[list[int], list[int]]]:
    """Roundabouts so small that they are one intersection: their nodes and links."""
    parts = Parts()
    links = [i for i, link in enumerate(streets.links) if link.rules.ring]
    for i in links:
        parts.join(streets.links[i].a, streets.links[i].b)
    rings: dict[int, list[int]] = {}
    for i in links:
        rings.setdefault(parts.find(streets.links[i].a), []).append(i)
    found = []
    for _, members in sorted(rings.items()):
        points = np.array([streets.xy[n] for i in members for n in streets.links[i].nodes])
        if float(np.hypot(*np.ptp(points, axis=0))) < SMALL_RING * 2.0**0.5:
            nodes = sorted({n for i in members for n in (streets.links[i].a, streets.links[i].b)})
            found.append((nodes, members))
    return found
