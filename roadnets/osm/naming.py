"""What roads are called: the id of the way where they begin, and the number of the piece of it.

With fixes a road keeps the name of the one that ends in the same place without them, and so do nodes
that the map lacks: a line that was pasted from a report means the same road beside any other line.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from rushhour.roadnets.fixes import OF_WAYS, Fix
from rushhour.roadnets.osm.links import Link, Road, Streets, node_at, way_at
from rushhour.roadnets.osm.made_nodes import MadeNodes
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.places import direction


class End(NamedTuple):
    """Where a road ends."""

    node: int
    before: int  # the node before it
    way: int
    forward: bool  # in the direction of its street


class Called(NamedTuple):
    """What is called how in a map without fixes."""

    roads: dict[str, End]  # of both directions of every street
    driven: dict[str, int]  # roads that are, and the nodes where they end
    pieces: Counter[int]  # how many each way has
    made: MadeNodes
    met: dict[int, frozenset[tuple[str, int]]]  # as `meeting` has it


def called(streets: Streets, merged: Merged) -> Called:
    """What is called how in a map."""
    names = road_names(streets, merged)
    roads = {name: _end(streets.links[index], forward) for (index, forward), name in names.items()}
    driven = {
        name: roads[name].node
        for (index, forward), name in names.items()
        if direction(streets.links[index], forward).lanes
    }
    pieces = Counter(abs(streets.links[index].first_way) for index in _outside(streets, merged))
    return Called(roads, driven, pieces, MadeNodes(streets.xy), meeting(streets, merged, names))


def meeting(
    streets: Streets, merged: Merged, names: Mapping[Road, str]
) -> dict[int, frozenset[tuple[str, int]]]:
    """What makes up the intersection of each node: its nodes, and the roads to and from there with their lanes."""
    met: dict[int, set[tuple[str, int]]] = defaultdict(set)
    for (index, forward), name in names.items():
        link = streets.links[index]
        lanes = direction(link, forward).lanes
        met[merged.home(node_at(link, not forward))].add((name, lanes))
        met[merged.home(node_at(link, forward))].add((name, -lanes))
    ends = streets.ends()
    for node in ends:
        met[merged.home(node)].add((str(node), 0))
    whole = {home: frozenset(found) for home, found in met.items()}
    return {node: whole[merged.home(node)] for node in ends}


def road_names(streets: Streets, merged: Merged, before: Called | None = None) -> dict[Road, str]:
    """Source ids: the way's, its piece, a minus for the direction against the way.

    before: the map without fixes, whose names are kept.
    """
    outside = _outside(streets, merged)
    names = {} if before is None else _kept(streets, outside, before.roads)
    pieces = Counter[int]() if before is None else before.pieces.copy()
    for index in outside:
        if (index, True) in names and (index, False) in names:
            continue
        way = streets.links[index].first_way
        piece = pieces[abs(way)]  # 10 against its line is -10, as way -10 is along its own
        pieces[abs(way)] += 1
        for forward in (True, False):
            names.setdefault((index, forward), f"{'' if forward else '-'}{way}#{piece}")
    return names


def _outside(streets: Streets, merged: Merged) -> list[int]:
    """Links that lie within no intersection."""
    return [index for index in range(len(streets.links)) if index not in merged.inner]


def _kept(streets: Streets, outside: list[int], before: dict[str, End]) -> dict[Road, str]:
    """The names of roads that end as one did before, over the same node of the same way.

    Then of those that a new node, as of a service way's entry, parts from the one that was the last but one.
    """
    names: dict[Road, str] = {}
    taken: set[str] = set()
    ends = {
        (index, forward): _end(streets.links[index], forward)
        for index in outside
        for forward in (True, False)
    }
    for key in (lambda end: end[:3], lambda end: (end.node, end.way, end.forward)):
        free: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for name, end in before.items():
            if name not in taken:
                free[key(end)].append(name)
        for road, end in ends.items():
            if road not in names and free.get(key(end)):
                names[road] = free[key(end)].pop(0)
                taken.add(names[road])
    return names


def _end(link: Link, forward: bool) -> End:
    """Where a road ends."""
    nodes = link.nodes if forward else link.nodes[::-1]
    return End(nodes[-1], nodes[-2], abs(way_at(link, not forward)), forward)


def is_overtaken(fix: Fix, before: Called, now: Mapping[int, frozenset[tuple[str, int]]]) -> bool:
    """Whether others have changed an intersection that a fix is about, where all it names was there. now: as `meeting` has it."""
    if fix.kind in OF_WAYS:
        return False
    changed = False
    for name in fix.ids[1:2] if fix.kind == "turns" and len(fix.ids) == 3 else fix.ids:
        node = before.driven.get(name)
        if node is None and name.lstrip("-").isdecimal():
            node = int(name)
        if node not in before.met:
            return False
        changed |= before.met[node] != now.get(node)
    return changed
