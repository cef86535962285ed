"""Lanes of roundabouts that do not say how many they have.

Source: networks.md 1.1: one, or two where a one-way street of two lanes leads in.
"""

from rushhour.roadnets.osm_lane_tags import lane_counts
from rushhour.roadnets.osm_reading import OsmMap, OsmWay
from rushhour.roadnets.osm_tags import CLASSES, direction_of, is_open

RINGS = ("roundabout", "circular")


def widen_rings(osm: OsmMap, country: str, private: bool) -> None:
    """Tag roundabouts with two lanes where a street of two leads in and nothing else is said."""
    rings = [way for way in osm.ways if way.tags.get("junction") in RINGS]
    part = _parts(rings)
    silent = set(part.values()) - {part[way.nodes[0]] for way in rings if "lanes" in way.tags}
    wide: set[int] = set()
    for way in osm.ways:
        one_way, reverse = direction_of(way.tags)
        end = way.nodes[0 if reverse else -1]
        if not one_way or part.get(end) not in silent or way.tags.get("junction") in RINGS:
            continue
        kind = CLASSES[way.tags["highway"]]
        if is_open(way.tags, private) and lane_counts(way.tags, kind, True, country, [])[0] > 1:
            wide.add(part[end])
    for way in rings:
        if part[way.nodes[0]] in wide:
            way.tags = {**way.tags, "lanes": "2"}


def _parts(ways: list[OsmWay]) -> dict[int, int]:
    """For each node of some ways the part of them that it belongs to, named by one of its nodes."""
    root: dict[int, int] = {}

    def find(node: int) -> int:
        while root.setdefault(node, node) != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for way in ways:
        for node in way.nodes[1:]:
            a, b = find(way.nodes[0]), find(node)
            root[max(a, b)] = min(a, b)
    return {node: find(node) for node in list(root)}
