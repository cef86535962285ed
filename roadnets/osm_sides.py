"""Left-hand traffic: found by vote of the map's own roundabouts, read in a mirror.

All other rules are written for right-hand traffic. A map with left-hand traffic is mirrored when it
is read (y and the sense of left and right), and mirrored back when it is drawn. Source: networks.md
1.6.
"""

from typing import Final

import numpy as np

from rushhour.kernels.network import LEFT, RIGHT
from rushhour.roadnets.draft import Draft
from rushhour.roadnets.osm_reading import OsmMap
from rushhour.roadnets.osm_tags import Tags
from rushhour.roadnets.remarks import Remarks

FEWEST_VOTES: Final = 3
MAJORITY: Final = 0.9
_SIDES: Final = {"left": "right", "right": "left"}


def left_hand(osm: OsmMap, remarks: Remarks) -> bool:
    """Whether traffic keeps to the left: by the sense of closed roundabouts, else by tags."""
    votes = []
    for way in osm.ways:
        ring = way.tags.get("junction") in ("roundabout", "circular")
        if not ring or way.nodes[0] != way.nodes[-1] or way.tags.get("oneway") in ("-1", "no"):
            continue
        x, y = np.array([osm.xy[node] for node in way.nodes]).T
        votes.append(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) < 0.0)
    share = sum(votes) / max(1, len(votes))
    if len(votes) >= FEWEST_VOTES and max(share, 1.0 - share) >= MAJORITY:
        return share > 0.5
    said = [way.tags["driving_side"] for way in osm.ways if "driving_side" in way.tags]
    if said:
        return 2 * said.count("left") > len(said)
    if len(votes) >= FEWEST_VOTES:
        remarks.find(
            "L27", f"driving side: {sum(votes)} of {len(votes)} roundabouts left-hand; right taken"
        )
    return False


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
    for inter in draft.intersections:
        inter.y = -inter.y
    draft.findings = [
        one if one.place is None else one._replace(place=(one.place[0], -one.place[1]))
        for one in draft.findings
    ]
    swap = {LEFT: RIGHT, RIGHT: LEFT}
    for link in draft.connectors:
        link.turn = link.turn if link.turn is None else swap.get(link.turn, link.turn)
        link.shape = None if link.shape is None else link.shape * flip
