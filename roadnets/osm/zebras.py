"""Marked crossings of pedestrians of a map: nodes `highway=crossing` on streets."""

from math import hypot
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.drafts.draft import DraftRoad
from rushhour.roadnets.osm.links import Streets
from rushhour.roadnets.osm.ways.tags import Tags
from rushhour.roadnets.zebras import Zebra

WIDTH: Final = 4.0  # m along the street
UNMARKED: Final = ("unmarked", "no", "informal")
FARTHEST: Final = 30.0  # m from the street's middle to a lane's


def is_marked(tags: Tags) -> bool:
    """Whether a node is a crossing that can be seen on the road."""
    return (
        tags.get("highway") == "crossing"
        and tags.get("crossing") not in UNMARKED
        and tags.get("crossing:markings") != "no"
    )


def zebras_of(streets: Streets, roads: dict[int, list[DraftRoad]]) -> list[Zebra]:
    """The marked crossings of streets, each across all lanes of its street.

    roads: those that were drawn of each link.
    """
    found: dict[int, Zebra] = {}  # by node, which may end two links
    for i, link in enumerate(streets.links):
        for k, node in enumerate(link.nodes):
            tags = streets.node_tags.get(node)
            if tags is None or node in found or i not in roads or not is_marked(tags):
                continue
            a = streets.xy[link.nodes[max(k - 1, 0)]]
            b = streets.xy[link.nodes[min(k + 1, len(link.nodes) - 1)]]
            length = hypot(b[0] - a[0], b[1] - a[1])
            if length > 0.0:
                left = np.array((a[1] - b[1], b[0] - a[0])) / length
                zebra = _across(np.array(streets.xy[node]), left, roads[i])
                if zebra is not None:
                    found[node] = zebra
    return list(found.values())


def _across(
    at: NDArray[np.float64], left: NDArray[np.float64], roads: list[DraftRoad]
) -> Zebra | None:
    """From the right edge of some roads to the left one, at a place of them."""
    low, high = np.inf, -np.inf
    for road in roads:
        for lane in road.lanes:
            offset = float((_nearest(lane.shape, at) - at) @ left)
            if abs(offset) <= FARTHEST:
                low, high = (
                    min(low, offset - 0.5 * lane.width),
                    max(high, offset + 0.5 * lane.width),
                )
    if not low < high:
        return None
    start, end = at + low * left, at + high * left
    return float(start[0]), float(start[1]), float(end[0]), float(end[1]), WIDTH


def _nearest(line: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The place of a line that is nearest to another one."""
    a, step = line[:-1], np.diff(line, axis=0)
    share = ((at - a) * step).sum(axis=1) / np.maximum((step * step).sum(axis=1), 1e-12)
    places: NDArray[np.float64] = a + np.clip(share, 0.0, 1.0)[:, None] * step
    nearest: NDArray[np.float64] = places[np.argmin(((places - at) ** 2).sum(axis=1))]
    return nearest
