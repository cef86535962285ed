"""The intersections of a map: their nodes, the streets that meet there, their middle."""

from typing import Final

from rushhour.roadnets.osm.links import Link, Road, Streets, node_at
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.ways.tags import Direction

RING_PRIORITY: Final = 100


def direction(link: Link, forward: bool) -> Direction:
    """Lanes of a link driven one way."""
    return link.rules.forward if forward else link.rules.backward


def priority_of(link: Link) -> int:
    """Priority of a link at an intersection: that of its class, higher on a roundabout."""
    return RING_PRIORITY if link.rules.ring else link.rules.rank


class Places:
    """Intersections, each named by one of its nodes, its home. used: roads that are drawn."""

    def __init__(self, streets: Streets, merged: Merged, used: set[Road]) -> None:
        self.streets = streets
        self.merged = merged
        self.used = used
        self.around = streets.ends()  # node -> link ends
        self._members: dict[int, list[int]] = {}  # home -> nodes, if more than one
        for node, name in sorted(merged.member.items()):
            self._members.setdefault(name, []).append(node)

    def nodes(self, home: int) -> list[int]:
        """Nodes of an intersection."""
        return self._members.get(home, [home])

    def home(self, road: Road, at_end: bool) -> int:
        """The intersection at one end of a road."""
        link = self.streets.links[road[0]]
        return self.merged.home(node_at(link, road[1] != at_end))

    def middle(self, home: int) -> tuple[float, float]:
        """Middle of the nodes of an intersection, m."""
        at = [self.streets.xy[node] for node in self.nodes(home)]
        return sum(x for x, _ in at) / len(at), sum(y for _, y in at) / len(at)

    def link_ends(self, home: int) -> list[tuple[int, int, bool]]:
        """Ends of the used streets at an intersection: node, link, whether the link starts there."""
        return [
            (node, index, start)
            for node in self.nodes(home)
            for index, start in self.around[node]
            if index not in self.merged.inner
            and ((index, True) in self.used or (index, False) in self.used)
        ]
