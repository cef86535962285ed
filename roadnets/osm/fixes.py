"""Fixes of an OpenStreetMap: they overrule tags before the rules read them, and what is merged.

Ids are those of ways and nodes; see roadnets.fixes.
"""

import heapq
from itertools import chain
from math import dist
from typing import Final

from rushhour.roadnets.fixes import GAP, OF_WAYS, Fix, Fixes
from rushhour.roadnets.osm.links import Streets, way_at
from rushhour.roadnets.osm.made_nodes import COPY
from rushhour.roadnets.osm.merging import SIGNALLED, Merged
from rushhour.roadnets.osm.restrictions import Bans
from rushhour.roadnets.osm.signs import Signs, is_signal, length_of
from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay
from rushhour.roadnets.osm.ways.rules import rules_of
from rushhour.roadnets.osm.ways.tags import ACCESS_KEYS, Doubt, Tags, is_open

OF_NODES: Final = ("merge", "keep_apart", "junction", "signals", "control", "plan")
JOINED: Final = 100.0  # m of street between nodes that are to be one intersection
NO_WAY: Final = ("reversible", "alternating")


def _numbers(fixes: Fixes, fix: Fix) -> list[int]:
    """The ids of a fix, as OpenStreetMap has them."""
    try:
        if max(map(len, fix.ids)) < 20:
            return [int(name) for name in fix.ids]
    except ValueError:
        pass
    raise fixes.refused(fix, "wanted ids of ways and nodes, such as 27 or -3")


def is_of_road(fix: Fix) -> bool:
    """Whether a fix of control is of one road, such as 27#0, where it ends."""
    return fix.kind == "control" and "#" in fix.ids[0]


def is_of_two_roads(fix: Fix) -> bool:
    """Whether a fix of turns is between two roads, such as 27#0 and 28#0."""
    return fix.kind == "turns" and len(fix.ids) == 2


def renumbers(fix: Fix) -> bool:
    """Whether a fix may change how ways are cut into roads: all but those of single roads and of control."""
    return not (fix.kind in ("connect", "stop_line", "plan", "control") or is_of_two_roads(fix))


def fix_tags(osm: OsmMap, fixes: Fixes, private: bool) -> None:
    """Work fixes of lanes, speeds, closures and new signals into the tags of a map.

    Raises NetworkError for ids that the map lacks. private: private streets are open.
    """
    ways = {way.id for way in osm.ways}
    tags: dict[int, list[Fix]] = {}
    for fix in fixes.of(*OF_WAYS):
        (way_id,) = _numbers(fixes, fix)
        if way_id not in ways:
            raise fixes.refused(fix, "is no way of the map that cars use; correct or drop the line")
        tags.setdefault(way_id, []).append(fix)
    for way in osm.ways:
        for fix in tags.get(way.id, ()):
            before = dict(way.tags)
            way.tags = _fixed(before, fix, private)
            if way.tags != before and not _is_said(before, fix, way.tags):
                fixes.use(fix)
    for fix in fixes.of(*OF_NODES, "turns"):
        if is_of_two_roads(fix) or is_of_road(fix):
            continue  # see drafts.fixes
        ids = _numbers(fixes, fix)
        for node in ids[1:2] if fix.kind == "turns" else ids:
            if node not in osm.xy and node < COPY:
                raise fixes.refused(fix, f"node {node} is not on a road; correct or drop the line")
    _join_gaps(osm, fixes)
    for fix in fixes.of("signals"):
        (node,) = _numbers(fixes, fix)
        found = osm.node_tags.get(node, {})
        if fix.value and not is_signal(found):
            osm.node_tags[node] = {**found, "highway": "traffic_signals"}
            fixes.use(fix)
        if not fix.value and is_signal(found):
            osm.node_tags[node] = {
                key: value for key, value in found.items() if key not in ("highway", "crossing")
            }
            fixes.use(fix)


def _join_gaps(osm: OsmMap, fixes: Fixes) -> None:
    """Take two nodes that are to be merged for one, if they are near and on no common way."""
    wanted: list[tuple[Fix, int, int]] = []
    for fix in fixes.of("merge"):
        nodes = _numbers(fixes, fix)
        if len(nodes) == 2 and max(nodes) < COPY:
            if dist(osm.xy[nodes[0]], osm.xy[nodes[1]]) <= GAP:
                wanted.append((fix, nodes[0], nodes[1]))
    named = {node for _, a, b in wanted for node in (a, b)}
    on_ways: dict[int, list[OsmWay]] = {node: [] for node in named}
    for way in osm.ways if named else ():
        for node in named.intersection(way.nodes):
            on_ways[node].append(way)
    same = {node: node for node in named}  # what each node has become
    for fix, a, b in wanted:
        a, b = same[a], same[b]
        if a == b:  # as others have it
            fixes.use(fix)
        if any(way is far for way in on_ways[a] for far in on_ways[b]):
            continue
        gone, stays = (a, b) if len(on_ways[a]) < len(on_ways[b]) else (b, a)
        for way in on_ways[gone]:
            way.nodes = [stays if node == gone else node for node in way.nodes]
        on_ways[stays] += on_ways[gone]
        same = {node: stays if one == gone else one for node, one in same.items()}
        fixes.use(fix)


def _is_said(tags: Tags, fix: Fix, fixed: Tags) -> bool:
    """Whether tags say the lanes or speed of a fix already, in other words and without doubt; a guess does not."""
    key = {"lanes": "lanes", "speed": "maxspeed"}.get(fix.kind)
    if key is None or not any(name.startswith(key) for name in tags):
        return False
    doubts: tuple[list[Doubt], list[Doubt]] = [], []
    before, after = (
        rules_of(one, "", {}, notes) for one, notes in zip((tags, fixed), doubts, strict=True)
    )
    return before == after and doubts[0] == doubts[1]


def _fixed(tags: Tags, fix: Fix, private: bool) -> Tags:
    """Tags of a way as a fix wants them."""
    if fix.kind == "speed":
        kept = {
            key: value
            for key, value in tags.items()
            if not (key.startswith("maxspeed") or key in ("source:maxspeed", "zone:maxspeed"))
        }
        kept.pop("zone:traffic", None)
        return {**kept, "maxspeed": f"{fix.value:g}"}
    if fix.kind == "close":
        if is_open(tags, private) != fix.value:
            return tags
        kept = {key: value for key, value in tags.items() if key not in ACCESS_KEYS}
        return {**kept, "motorcar": "no" if fix.value else "yes"}
    kept = {key: value for key, value in tags.items() if not key.startswith("lanes")}
    if isinstance(fix.value, int):
        if kept.get("oneway") in NO_WAY:
            del kept["oneway"]
        return {**kept, "lanes": str(fix.value)}
    ahead, back = fix.value["forward"], fix.value["backward"]
    if ahead and back:
        if kept.get("junction") in ("roundabout", "circular"):
            del kept["junction"]
        return {
            **kept, "oneway": "no", "lanes": str(ahead + back), "lanes:forward": str(ahead),
            "lanes:backward": str(back),
        }  # fmt: skip
    return {**kept, "oneway": "yes" if ahead else "-1", "lanes": str(ahead or back)}


def fix_turns(streets: Streets, bans: Bans, fixes: Fixes) -> None:
    """Ban and allow turns from a way over a node into a way.

    Raises NetworkError for ways that do not end at the node.
    """
    ends = streets.ends()
    for fix in fixes.of("turns"):
        if not is_of_two_roads(fix):
            with fixes.attempt(fix):
                _fix_turn(streets, ends, bans, fixes, fix)


def _fix_turn(
    streets: Streets, ends: dict[int, list[tuple[int, bool]]], bans: Bans, fixes: Fixes, fix: Fix
) -> None:
    before, node, behind = _numbers(fixes, fix)
    here = {way_at(streets.links[index], start) for index, start in ends.get(node, ())}
    for way in (before, behind):
        if way not in here:
            raise fixes.refused(fix, f"way {way} does not meet node {node}; correct the ids")
    banned = bans.forbids(before, node, behind)
    if before == behind:
        banned = (before, node) in bans.back
    if banned == (fix.value == "ban"):
        return
    fixes.use(fix)
    if before == behind:
        bans.back ^= {(before, node)}
    elif fix.value == "ban":
        bans.no.add((before, node, behind))
    else:
        bans.no.discard((before, node, behind))
        if (before, node) in bans.only:
            bans.only[before, node].add(behind)


def fix_signals(signs: Signs, merged: Merged, fixes: Fixes) -> None:
    """Take the lights off intersections whose signal nodes are others than the one named."""
    off = [
        (fix, merged.home(_numbers(fixes, fix)[0])) for fix in fixes.of("signals") if not fix.value
    ]
    lit = {merged.home(node) for node in signs.signals}
    for fix, home in off:  # of several nodes of one intersection each has its effect
        if home in lit:
            fixes.use(fix)
    dark = {home for _, home in off}
    signs.signals -= {node for node in signs.signals if merged.home(node) in dark}


def fix_merges(streets: Streets, merged: Merged, fixes: Fixes, later: bool = False) -> None:
    """Make one intersection of nodes that are to be one, along streets of up to JOINED.

    later: nodes and streets that are not there yet will be, and are let be.
    Raises NetworkError for nodes where no street ends, or that no such street joins.
    """
    ends = streets.ends()
    for fix in fixes.of("merge", "junction"):
        if fix.kind == "merge" and fixes.is_used(fix):
            continue  # a gap that was closed
        with fixes.attempt(fix):
            _fix_merge(streets, ends, merged, fixes, fix, later)


def _fix_merge(
    streets: Streets, ends: dict[int, list[tuple[int, bool]]], merged: Merged, fixes: Fixes, fix: Fix,
    later: bool,
) -> None:  # fmt: skip
    nodes = _numbers(fixes, fix)
    gone = [node for node in nodes if node not in ends]
    if gone and later:
        return
    if gone:
        raise fixes.refused(fix, f"node {gone[0]} is no junction; correct or drop the line")
    if len({merged.home(node) for node in nodes}) == 1:
        return
    paths = [_path(streets, ends, nodes[0], node) for node in nodes[1:]]
    if None in paths and not later:
        raise fixes.refused(
            fix, f"no street of up to {JOINED:g} m joins them; name nodes that are near"
        )
    for index in chain.from_iterable(path for path in paths if path):
        merged.join(streets.links[index].a, streets.links[index].b, [index])
    if len({merged.home(node) for node in nodes}) > 1:
        return
    fixes.use(fix)
    home = merged.home(nodes[0])
    for member in merged.nodes(home):
        for index, _ in ends[member]:
            link = streets.links[index]
            within = merged.home(link.a) == merged.home(link.b)
            if within and length_of(streets, link) <= SIGNALLED:
                merged.inner.add(index)


def _path(
    streets: Streets, ends: dict[int, list[tuple[int, bool]]], first: int, last: int
) -> list[int] | None:
    """Links of the shortest path between two nodes, whichever way they are driven; None: none."""
    best = {first: 0.0}
    came: dict[int, int] = {}  # node -> link
    queue = [(0.0, first)]
    while queue:
        length, node = heapq.heappop(queue)
        if node == last:
            break
        for index, start in ends[node]:
            link = streets.links[index]
            far = link.b if start else link.a
            reached = length + length_of(streets, link)
            if reached <= JOINED and reached < best.get(far, JOINED + 1.0):
                best[far] = reached
                came[far] = index
                heapq.heappush(queue, (reached, far))
    if last not in best:
        return None
    path = []
    node = last
    while node != first:
        link = streets.links[came[node]]
        path.append(came[node])
        node = link.a if node == link.b else link.b
    return path
