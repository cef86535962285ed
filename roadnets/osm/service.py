"""Service ways that lead from one street to another, without yards and car parks.

Source: networks.md 1.1 (--service connected).
"""

from collections import Counter
from typing import Final

from rushhour.roadnets.drafts.groups import Parts
from rushhour.roadnets.osm.ways.reading import OsmWay
from rushhour.roadnets.osm.ways.tags import is_open

NO_WAY_THROUGH: Final = (
    "driveway",
    "parking_aisle",
    "drive-through",
    "parking",
    "emergency_access",
)


def connecting(ways: list[OsmWay], private: bool) -> list[OsmWay]:
    """Ways without the pieces of service ways that are no way through.

    These are driveways, aisles of car parks and drive-throughs, whatever they join, pieces that end
    dead, and all that hang on the other streets at one node only.
    private: private streets are open.
    """
    streets = [way for way in ways if way.tags["highway"] != "service"]
    service = [way for way in ways if way.tags["highway"] == "service"
               and way.tags.get("service") not in NO_WAY_THROUGH]  # fmt: skip
    service = [way for way in service if is_open(way.tags, private)]
    outside = {node for way in streets if is_open(way.tags, private) for node in way.nodes}
    pieces = _pieces(service, outside)
    while True:
        ends = Counter(node for way in pieces for node in (way.nodes[0], way.nodes[-1]))
        kept = [
            way for way in pieces
            if all(ends[n] > 1 or n in outside for n in (way.nodes[0], way.nodes[-1]))
        ]  # fmt: skip
        if len(kept) == len(pieces):
            return sorted(streets + _through(pieces, outside), key=lambda way: way.id)
        pieces = kept


def _pieces(ways: list[OsmWay], outside: set[int]) -> list[OsmWay]:
    """Ways cut where they meet each other, themselves or the streets outside."""
    used = Counter(node for way in ways for node in way.nodes)
    found = []
    for way in ways:
        piece = [way.nodes[0]]
        for node in way.nodes[1:]:
            piece.append(node)
            if used[node] > 1 or node in outside or node == way.nodes[-1]:
                found.append(OsmWay(way.id, piece, way.tags))
                piece = [node]
        if len(piece) > 1:
            found.append(OsmWay(way.id, piece, way.tags))
    return found


def _through(pieces: list[OsmWay], outside: set[int]) -> list[OsmWay]:
    """Pieces of those groups that meet the streets outside at two nodes or more."""
    parts = Parts()
    # At a street outside groups part: a way that only crosses it there joins nothing.
    names = [[(node, k) if node in outside else (node, -1) for node in (w.nodes[0], w.nodes[-1])]
             for k, w in enumerate(pieces)]  # fmt: skip
    number: dict[tuple[int, int], int] = {}
    for ends in names:
        parts.join(*(number.setdefault(end, len(number)) for end in ends))
    contacts: dict[int, set[int]] = {}
    for ends in names:
        for node, piece in ends:
            if piece >= 0:
                contacts.setdefault(parts.find(number[node, piece]), set()).add(node)
    return [
        way for way, ends in zip(pieces, names, strict=True)
        if len(contacts.get(parts.find(number[ends[0]]), ())) > 1
    ]  # fmt: skip
