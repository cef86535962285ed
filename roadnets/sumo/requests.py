"""Conflicts and priorities from the `request` bits of SUMO junctions.

The links of a junction are its connections between roads (not onto walking areas), numbered by the
position of their lane in `incLanes` and by file order within a lane. Bit j of a request is the j-th character from the right.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.sumo.elements import RawConnection, RawJunction, SumoFile

MOST_LINKS = 1024  # of one junction; SUMO itself stops at 256

Pair = tuple[int, int]


def number_links(file: SumoFile) -> dict[str, list[RawConnection]]:
    """Connections of each junction in the order of its links, all classes of vehicles.

    Raises NetworkError when a junction has more links than a junction can have.
    """
    of_lane: dict[str, list[RawConnection]] = defaultdict(list)
    lane_ids = {
        (edge.id, lane.number): lane.id for edge in file.edges.values() for lane in edge.lanes
    }
    for c in file.connections:
        lane = lane_ids.get((c.from_edge, c.from_lane))
        if lane is not None:
            of_lane[lane].append(c)
    links: dict[str, list[RawConnection]] = {}
    for junction in file.junctions.values():
        seen: set[str] = set()
        mine: list[RawConnection] = []
        for lane in junction.incoming:
            if lane not in seen:
                seen.add(lane)
                mine += of_lane.get(lane, ())
        if len(mine) > MOST_LINKS:
            raise NetworkError(
                f"{file.where(junction.line, f'junction {junction.id!r}')}: {len(mine)} links; "
                f"split it into junctions of at most {MOST_LINKS}"
            )
        links[junction.id] = mine
    return links


def _set_bits(bits: str) -> Iterable[int]:
    """Places of the ones, counted from the right."""
    at = bits.rfind("1")
    while at >= 0:
        yield len(bits) - 1 - at
        at = bits.rfind("1", 0, at)


def _pairs(junction: RawJunction, column: int, place: dict[int, int]) -> set[Pair]:
    """Pairs of connectors whose bit is set; place: connector of each kept link."""
    return {
        (place[link], place[other])
        for link, bits in junction.requests.items()
        if link in place
        for other in _set_bits(bits[column])
        if other in place and other != link
    }


def foes(junction: RawJunction, place: dict[int, int]) -> list[Pair]:
    """Conflicting pairs of connectors, each once, smaller number first."""
    found = {(min(pair), max(pair)) for pair in _pairs(junction, 1, place)}
    return sorted(found)


def responses(junction: RawJunction, place: dict[int, int]) -> set[Pair]:
    """Pairs of connectors of which the first gives way to the second; may be mutual."""
    return _pairs(junction, 0, place)


def settle_by_number(pairs: set[Pair]) -> list[Pair]:
    """Settle mutual pairs: the connector with the higher number gives way."""
    return sorted((i, j) for i, j in pairs if (j, i) not in pairs or i > j)


def drop_mutual(pairs: set[Pair]) -> list[Pair]:
    """Drop mutual pairs: who comes first goes first."""
    return sorted((i, j) for i, j in pairs if (j, i) not in pairs)


class Letters:
    """In which phases a link shows `g` and `G`, as bits."""

    def __init__(self, signals: Sequence[DraftSignal]) -> None:
        self._masks: dict[tuple[str, int], tuple[int, int]] = {}
        self._signals = {signal.id: signal for signal in signals}

    def masks(self, signal: str, link: int) -> tuple[int, int]:
        """Phases with `g` and phases with `G` of a link."""
        known = self._masks.get((signal, link))
        if known is None:
            minor = major = 0
            for p, (_, state) in enumerate(self._signals[signal].phases):
                minor |= (state[link] == "g") << p
                major |= (state[link] == "G") << p
            known = self._masks[signal, link] = minor, major
        return known


def settle_by_letters(
    conflicting: Iterable[Pair],
    pairs: set[Pair],
    light: Callable[[int], tuple[str, int] | None],
    letters: Letters,
) -> list[Pair]:
    """Settle who gives way at a signal: `g` to `G`; among equals the response, unless mutual.

    light: signal and link of a connector, None without signal.
    """
    found = []
    for i, j in conflicting:
        a, b = light(i), light(j)
        if a is not None and b is not None and a[0] == b[0]:
            minor_i, major_i = letters.masks(*a)
            minor_j, major_j = letters.masks(*b)
            i_waits, j_waits = bool(minor_i & major_j), bool(minor_j & major_i)
            if i_waits != j_waits:
                found.append((i, j) if i_waits else (j, i))
                continue
        forth, back = (i, j) in pairs, (j, i) in pairs
        if forth != back:
            found.append((i, j) if forth else (j, i))
    return sorted(found)
