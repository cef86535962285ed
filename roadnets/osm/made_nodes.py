"""Nodes that a map lacks: copies behind barriers, places where streets are cut, ends of service ways."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import dist
from typing import Final

Place = tuple[float, float]  # m

# Ids of copies behind barriers, of cuts, and of ends of service ways that lose their street, begin at:
COPY: Final = 1 << 60
NEW_NODE: Final = 1 << 61
CUT_OFF: Final = 1 << 62
KIND: Final = 60  # bits below those that tell these from each other
MOVED: Final = 9.0  # m that a node may lie elsewhere: half of what is between two entries


class MadeNodes:
    """The made nodes of a map without fixes: with fixes they keep their ids, and others get none of these."""

    def __init__(self, xy: Mapping[int, Place] | None = None) -> None:
        self._xy = {node: place for node, place in (xy or {}).items() if node >= COPY}
        self._at: dict[tuple[int, int], list[int]] = defaultdict(list)
        for node, place in sorted(self._xy.items()):
            self._at[_cell(place)].append(node)

    def add(self, xy: dict[int, Place], node: int, place: Place) -> int:
        """Add a node to a map; its id: of the nearest known one of its kind that is free, else the one given or above."""
        near = [
            (dist(self._xy[one], place), one)
            for one in self._around(place)
            if one not in xy and one >> KIND == node >> KIND
        ]
        away, own = min(near, default=(MOVED, node))
        if away >= MOVED:
            own = node
            while own in self._xy or own in xy:
                own += 1
        xy[own] = place
        return own

    def _around(self, place: Place) -> Iterator[int]:
        """Known nodes in the cells around a place."""
        column, row = _cell(place)
        for i in (column - 1, column, column + 1) if self._xy else ():
            for j in (row - 1, row, row + 1):
                yield from self._at.get((i, j), ())


def _cell(place: Place) -> tuple[int, int]:
    return int(place[0] // MOVED), int(place[1] // MOVED)
