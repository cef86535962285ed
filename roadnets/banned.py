"""Banned sequences: roads that nobody may drive one after the other, though every single turn is open.

They come from turn restrictions over roads that lie between intersections, and hold for those alone
who drive the whole sequence. Source: networks.md 4.4.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import NetworkError

SHORTEST: Final = 3  # roads; two are a turn, which a network leaves out
LONGEST: Final = 32  # roads of one sequence
MOST: Final = 1_000_000  # roads of all sequences together

Way = tuple[int, ...]


class Banned(NamedTuple):
    """Banned sequences of roads, pooled: sequence i is road[start[i]:start[i+1]]."""

    start: NDArray[np.int32]  # (sequences+1,) into road
    road: NDArray[np.int32]

    def __repr__(self) -> str:
        return fields_shown(self)


def none_banned() -> Banned:
    """What a network has where every way is allowed."""
    return Banned(np.zeros(1, np.int32), np.zeros(0, np.int32))


def packed_ways(
    ways: Iterable[Sequence[str]],
    index: Mapping[str, int],
    road_from: NDArray[np.int32],
    road_to: NDArray[np.int32],
) -> Banned:
    """Sequences of road ids as places of roads.

    index: place of each road by its id; road_from, road_to: (n_roads,) its intersections.
    Raises NetworkError for an unknown road, for roads that do not meet, and for sequences that are
    too short, too long or too many.
    """
    size: list[int] = [0]
    roads: list[int] = []
    for way in ways:
        where = "banned sequence of roads " + " ".join(repr(name[:40]) for name in way[:SHORTEST])
        unknown = next((name for name in way if name not in index), None)
        if unknown is not None:
            raise NetworkError(f"{where}: unknown road {unknown[:40]!r}; add it or drop this one")
        if not SHORTEST <= len(way) <= LONGEST:
            raise NetworkError(f"{where}: {len(way)} roads; give {SHORTEST} to {LONGEST}")
        places = [index[name] for name in way]
        for k, (a, b) in enumerate(pairwise(places)):
            if road_to[a] != road_from[b]:
                raise NetworkError(
                    f"{where}: {way[k][:40]!r} does not lead to {way[k + 1][:40]!r}; correct it"
                )
        roads += places
        size.append(len(roads))
        if len(roads) > MOST:
            raise NetworkError(f"{where}: more than {MOST} roads in banned sequences; give fewer")
    return Banned(np.array(size, np.int32), np.array(roads, np.int32))


def ways_of(banned: Banned) -> list[Way]:
    """The sequences, one by one."""
    roads = banned.road.tolist()
    return [tuple(roads[a:b]) for a, b in pairwise(banned.start.tolist())]


def by_first_road(banned: Banned) -> dict[int, list[Way]]:
    """The sequences by their first road."""
    found: dict[int, list[Way]] = {}
    for way in ways_of(banned):
        found.setdefault(way[0], []).append(way)
    return found


def banned_part(way: Sequence[int], known: Mapping[int, list[Way]]) -> Way:
    """The first banned sequence that a way contains, () if none. known: by their first road."""
    for place, road in enumerate(way if known else ()):
        for part in known.get(road, ()):
            if tuple(way[place : place + len(part)]) == part:
                return part
    return ()
