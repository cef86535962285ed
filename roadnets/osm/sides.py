"""Left-hand traffic, found by vote of the map's own streets and read in a mirror.

All other rules are written for right-hand traffic. A map with left-hand traffic is mirrored when it
is read (y and the sense of left and right), and mirrored back when it is drawn. Source: networks.md
1.6.
"""

from itertools import pairwise
from math import hypot, inf
from typing import Final

import numpy as np

from rushhour.kernels.core.network import LEFT, RIGHT
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.osm.ways.reading import OsmMap
from rushhour.roadnets.osm.ways.tags import Tags, direction_of
from rushhour.roadnets.reading.remarks import Remarks

FEWEST_RINGS: Final = 3
FEWEST_VOTES: Final = 10  # of roundabouts and carriageways together
MAJORITY: Final = 0.9
OPPOSITE: Final = -0.95  # cosine between directions of two carriageways of one road
APART: Final = 40.0  # m between them at most
STEP: Final = 20.0  # m between places at which a carriageway votes
CARRIAGEWAYS: Final = ("motorway", "trunk", "primary")
_SIDES: Final = {"left": "right", "right": "left"}


def left_hand(osm: OsmMap, remarks: Remarks) -> bool:
    """Whether traffic keeps to the left.

    By the sense of closed roundabouts, else by them and by the side on which opposite carriageways
    lie, else by tags.
    """
    rings = _ring_votes(osm)
    if len(rings) >= FEWEST_RINGS and _agree(rings):
        return 2 * sum(rings) > len(rings)
    votes = rings + _carriageway_votes(osm)
    if len(votes) >= FEWEST_VOTES and _agree(votes):
        return 2 * sum(votes) > len(votes)
    said = [way.tags["driving_side"] for way in osm.ways if "driving_side" in way.tags]
    if said:
        return 2 * said.count("left") > len(said)
    if len(votes) >= FEWEST_RINGS:
        remarks.find(
            "L27",
            f"driving side: {sum(votes)} of {len(votes)} roundabouts and carriageways left-hand; "
            "right taken",
        )
    return False


def _agree(votes: list[bool]) -> bool:
    share = sum(votes) / len(votes)
    return max(share, 1.0 - share) >= MAJORITY


def _ring_votes(osm: OsmMap) -> list[bool]:
    """Of every closed roundabout, whether it runs clockwise."""
    votes = []
    for way in osm.ways:
        ring = way.tags.get("junction") in ("roundabout", "circular")
        if not ring or way.nodes[0] != way.nodes[-1] or way.tags.get("oneway") in ("-1", "no"):
            continue
        x, y = np.array([osm.xy[node] for node in way.nodes]).T
        votes.append(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) < 0.0)
    return votes


def _carriageway_votes(osm: OsmMap) -> list[bool]:
    """Of places along one-way main roads, whether the nearest opposite carriageway is on the right."""
    cells: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
    for way in osm.ways:
        one_way, reverse = direction_of(way.tags)
        if not one_way or way.tags["highway"] not in CARRIAGEWAYS or "junction" in way.tags:
            continue
        line = [osm.xy[node] for node in (way.nodes[::-1] if reverse else way.nodes)]
        for (ax, ay), (bx, by) in pairwise(line):
            length = hypot(bx - ax, by - ay)
            if length == 0.0:
                continue
            ux, uy = (bx - ax) / length, (by - ay) / length
            for k in range(max(1, int(length / STEP))):
                share = (k + 0.5) / max(1, int(length / STEP))
                x, y = ax + share * (bx - ax), ay + share * (by - ay)
                cells.setdefault((int(x // APART), int(y // APART)), []).append((x, y, ux, uy))
    votes = []
    for (cx, cy), here in cells.items():
        around = [
            place for dx in (-1, 0, 1) for dy in (-1, 0, 1)
            for place in cells.get((cx + dx, cy + dy), ())
        ]  # fmt: skip
        for x, y, ux, uy in here:
            nearest = min(
                (
                    (hypot(px - x, py - y), ux * (py - y) - uy * (px - x))
                    for px, py, vx, vy in around
                    if ux * vx + uy * vy < OPPOSITE
                ),
                default=(inf, 0.0),
            )
            if 0.0 < nearest[0] <= APART:
                votes.append(nearest[1] < 0.0)
    return votes


def _swapped(text: str) -> str:
    """A value with left and right exchanged, lists per lane in reverse order."""
    parts = [
        ";".join(
            "_".join(_SIDES.get(word, word) for word in turn.split("_")) for turn in lane.split(";")
        )
        for lane in text.split("|")
    ]
    return "|".join(reversed(parts))


def _mirrored(tags: Tags) -> Tags:
    found: Tags = {}
    for key, value in tags.items():
        sides = ":".join(_SIDES.get(part, part) for part in key.split(":"))
        if key.startswith("placement"):  # lanes count from the left, in the mirror from the right
            side, _, lane = value.partition("_of:")
            found[sides] = f"{_SIDES.get(side, side)}_of:-{lane}" if lane else value
        else:
            found[sides] = _swapped(value) if "lanes" in key or key.startswith("turn") else value
    return found


def mirror(osm: OsmMap) -> None:
    """Turn a map with left-hand traffic into its mirror image, in place."""
    osm.xy = {node: (x, -y) for node, (x, y) in osm.xy.items()}
    for way in osm.ways:
        way.tags = _mirrored(way.tags)


def mirror_back(draft: Draft) -> None:
    """Turn the draft of a mirrored map into that of the map, in place."""
    flip = np.array((1.0, -1.0))
    draft.left_hand = True
    for road in draft.roads:
        for lane in road.lanes:
            lane.shape = lane.shape * flip
        road.aloft = [line * flip for line in road.aloft]
    for inter in draft.intersections:
        inter.y = -inter.y
    draft.findings = [
        one if one.place is None else one._replace(place=(one.place[0], -one.place[1]))
        for one in draft.findings
    ]
    draft.zebras = [(x0, -y0, x1, -y1, width) for x0, y0, x1, y1, width in draft.zebras]
    swap = {LEFT: RIGHT, RIGHT: LEFT}
    for link in draft.connectors:
        link.turn = link.turn if link.turn is None else swap.get(link.turn, link.turn)
        link.shape = None if link.shape is None else link.shape * flip
