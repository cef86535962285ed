"""Streets by what people call them: names ("Boulevard des Moulins") and numbers ("A 1", their ref).

A *street* is all roads of one name or number. Several names of a road are written with ";", as
OpenStreetMap does; each finds it. A part of a street lies between two streets that it meets, or two
intersections: "Main St: A St - B St".
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.id_hints import id_hint

if TYPE_CHECKING:
    from rushhour.roadnets.drafts.draft import DraftRoad
    from rushhour.roadnets.model import Network

LONGEST: Final = 200  # characters of a name
MOST_TRIED: Final = 20  # ways to read a part of a street whose names hold colons and dashes
SHOWN: Final = 3  # candidates that a message names
ALIKE: Final = 0.6  # of difflib, names that may have been meant
ROUND: Final = 2.0  # times the shortest: a longer way from crossing to crossing is another part
FIRST: Final = -1  # nodes: the crossings that a part of a street lies between
LAST: Final = -2
APART: Final = -3  # and, from here down, the open ends of roads
PART: Final = ": "  # after the street
MEET: Final = " / "  # between streets that meet
BETWEEN: Final = " - "  # the two that it meets
# Letters that have no accent to be taken off.
PLAIN: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)

Roads = NDArray[np.int32]


class Streets(NamedTuple):
    """What each road is called, as places in the network's `street_names`; -1: has none.

    name, ref: (n_roads,), or (0,) where no road is called anything.
    """

    name: Roads
    ref: Roads

    def __repr__(self) -> str:
        return fields_shown(self)


def no_streets() -> Streets:
    """What a network has where no road is called anything."""
    none = np.zeros(0, np.int32)
    none.flags.writeable = False
    return Streets(none, none)


def packed_streets(roads: Sequence["DraftRoad"]) -> tuple[tuple[str, ...], Streets]:
    """Every name and number once, and which of them each road has."""
    place: dict[str, int] = {"": -1}
    columns = []
    for texts in ([road.name for road in roads], [road.ref for road in roads]):
        tidied = (tidy(text) for text in texts)
        columns.append([place.setdefault(text, len(place) - 1) for text in tidied])
    if len(place) == 1:
        return (), no_streets()
    name, ref = (np.array(column, np.int32) for column in columns)
    return tuple(place)[1:], Streets(name, ref)


def joined_names(*texts: str) -> str:
    """The names of what becomes one road, each once: "Main St;Broadway"."""
    return ";".join(dict.fromkeys(part for text in texts for part in parts_of(text)))


def parts_of(text: str) -> list[str]:
    """The names that stand in one text."""
    return [part for part in map(str.strip, text.split(";")) if part]


@lru_cache(maxsize=1 << 16)
def tidy(text: str) -> str:
    """A name as it is kept: on one line, without what cannot be printed, not endless."""
    seen = "".join(
        c if c.isprintable() else " " if c.isspace() else "" for c in text[: 4 * LONGEST]
    )
    return " ".join(seen.split())[:LONGEST].strip()


def folded(text: str) -> str:
    """The words of a name, without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text[: 2 * LONGEST].casefold())
    letters = (
        " " if unicodedata.category(c)[0] in "PZSC" else c
        for c in plain
        if not unicodedata.combining(c)
    )
    return " ".join("".join(letters).translate(PLAIN).split())


def _key(text: str) -> str:
    """What names share that are written alike: "B 35" and "b35"."""
    return folded(text).replace(" ", "")


class StreetIndex:
    """Roads by name and number."""

    def __init__(self, network: "Network") -> None:
        self.exact: dict[str, list[int]] = {}
        texts, streets = network.street_names, network.streets
        parts = [parts_of(text) for text in texts]
        for column in streets:
            for road in np.flatnonzero(column >= 0).tolist():
                for part in parts[column[road]]:
                    self.exact.setdefault(part, []).append(road)

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        """Names by what they share."""
        found: dict[str, list[str]] = {}
        for name in self.exact:
            found.setdefault(_key(name), []).append(name)
        return found

    def __repr__(self) -> str:
        return fact_line("StreetIndex", {"names": len(self.exact)})

    def roads(self, text: str) -> Roads:
        """The roads of a name or number, ascending: as it is written, else as `folded`."""
        names = [text] if text in self.exact else self._alike.get(_key(text), [])
        if PART in text and text not in self.exact:  # an unfinished part is not the whole street
            names = [name for name in names if PART in name]
        found = {road for name in names for road in self.exact[name]}
        return np.array(sorted(found), np.int32)

    def like(self, text: str) -> list[str]:
        """Names that may have been meant: those that hold the text, then those spelled alike."""
        short = folded(text)
        if not short:
            return []
        words = {folded(name): name for name in self.exact}
        holding = [one for one in words if f" {short}" in f" {one}"]
        near = get_close_matches(short, words, n=SHOWN, cutoff=ALIKE)
        known = dict.fromkeys([*sorted(holding, key=len)[:SHOWN], *near])
        return [words[one] for one in known][:SHOWN]


def find_roads(network: "Network", text: str) -> Roads:
    """Roads of an id, of a street's name or number, or of a part of a street; ascending.

    Raises NetworkError for what is none of these, naming what may have been meant.
    """
    road = number_of(network.road_index, text)
    if road >= 0:
        return np.array([road], np.int32)
    found = network.street_index.roads(text)
    return found if found.size else _part_called(network, text)


def find_road(network: "Network", text: str) -> int:
    """The one road of an id, or of a name. Raises NetworkError where there are several, or none."""
    found = find_roads(network, text)
    if found.size > 1:
        raise NetworkError(several(network, text, found))
    return int(found[0])


def several(network: "Network", text: str, roads: Iterable[int]) -> str:
    """What to give in place of a name of several roads."""
    ids = [network.road_ids[road][:60] for road in roads]
    return f"{text[:80]!r} is {len(ids)} roads; give one of {some(ids)}"


def some(names: Sequence[str], shown: int = SHOWN) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _part_called(network: "Network", text: str) -> Roads:
    """A part of a street. Names may hold what separates them, so each way to read it is tried."""
    index = network.street_index
    trouble = ""
    for street, rest in _splits(text, PART):
        roads = index.roads(street)
        if not roads.size:
            continue
        for ends in _splits(rest, BETWEEN):
            try:
                return _between(network, street, roads, ends)
            except NetworkError as error:
                trouble = trouble or str(error)
        trouble = trouble or (
            f"{text[:80]!r}: wanted the two streets that {street[:60]} meets there, as "
            f"'{street[:60]}: A St - B St'"
        )
    if trouble:
        raise NetworkError(trouble)
    what = "road or street" if network.street_names else "road"
    raise NetworkError(f"no {what} {text[:60]!r}; {name_hint(network, text)}")


def called(id: str, street: str) -> str:
    """An id for people: what is called so in brackets."""
    return f"{id} ({street})" if street else id


def number_of(index: Mapping[str, int], text: str) -> int:
    """The number of an id, also where it is written as `called` writes it; -1: of none."""
    found = index.get(text, -1)
    for bare in (text.partition(" (")[0], text.rpartition(" (")[0]) if text.endswith(")") else ():
        found = index.get(bare, -1) if found < 0 else found
    return found


def crossing_called(network: "Network", text: str) -> int:
    """An intersection by streets that meet there, as "Main St / Broadway"; -1: of none.

    Of several one whose main streets are just these comes first.
    """
    net, found = network.arrays.roads, set[int]()
    parts = text.split(MEET)
    for k, part in enumerate(parts if len(parts) > 1 else []):
        roads = network.street_index.roads(part.strip())
        ends = {*net.from_intersection[roads].tolist(), *net.to_intersection[roads].tolist()} - {-1}
        found = found & ends if k else ends
    order = sorted(found)
    exact = [k for k in order if network.intersection_name(k) == text]
    return (exact + order)[0] if order else -1


def name_hint(network: "Network", text: str) -> str:
    """What to try in place of a name or an id that there is not."""
    near = network.street_index.like(text)
    if near:
        return f"did you mean {', '.join(near)}?"
    hint = id_hint(text, network.road_ids)
    names = network.street_names
    if hint.endswith("?") or not names:
        return hint
    return f"{hint}; its streets are {some([name[:60] for name in names])}"


def _splits(text: str, separator: str) -> list[tuple[str, str]]:
    """Every way to cut a text in two at a separator."""
    pieces = text.split(separator)[: MOST_TRIED + 1]
    rest = len(separator.join(pieces))
    pieces[-1] += text[rest:]
    return [
        (separator.join(pieces[:k]).strip(), separator.join(pieces[k:]).strip())
        for k in range(1, len(pieces))
    ]


def _between(network: "Network", street: str, roads: Roads, ends: tuple[str, str]) -> Roads:
    """The roads of a street from one crossing to another, both ways.

    The street falls apart at the intersections of both. Of the pieces that reach from one to the other
    wanted is what lies on ways between them, not what hangs off these; of a ring the shorter way round.
    """
    net = network.arrays.roads
    start, end = net.from_intersection[roads], net.to_intersection[roads]
    own = set(start.tolist()) | set(end.tolist())
    cuts = [_crossing(network, street, roads, own, text) for text in ends]
    if cuts[0] & cuts[1]:
        raise NetworkError(
            f"{street[:60]} meets {ends[0][:60]} and {ends[1][:60]} at one intersection; "
            "nothing of it lies between"
        )
    # Each crossing is one node; an end of a road at no intersection is a node of its own.
    node_of = dict.fromkeys(cuts[0], FIRST) | dict.fromkeys(cuts[1], LAST)
    nodes = [
        (node_of.get(a, a) if a >= 0 else APART - 2 * k, node_of.get(b, b) if b >= 0 else APART - 2 * k - 1)
        for k, (a, b) in enumerate(zip(start.tolist(), end.tolist(), strict=True))
    ]  # fmt: skip
    ways: dict[int, dict[int, float]] = {FIRST: {}, LAST: {}}  # m to neighbours, either way
    for (a, b), far in zip(nodes, net.length[roads].tolist(), strict=True):
        for one, other in ((a, b), (b, a)):
            there = ways.setdefault(one, {})
            there[other] = min(far, there.get(other, np.inf))
    on_way = _on_ways(ways)
    ways = {a: {b: x for b, x in ways[a].items() if b in on_way} for a in on_way}
    far_first, far_last = _distances(ways, FIRST, LAST), _distances(ways, LAST, FIRST)
    if LAST not in far_first:
        raise NetworkError(
            f"no part of {street[:60]} leads from {ends[0][:60]} to {ends[1][:60]}; "
            "give streets that it meets one after the other, or ids of roads"
        )
    most = ROUND * far_first[LAST]
    found = []
    for road, (a, b), far in zip(roads, nodes, net.length[roads].tolist(), strict=True):
        if a == b or a not in on_way or b not in on_way:
            continue
        by = min(far_first[a] + far_last[b], far_first[b] + far_last[a])
        if by + far <= most:
            found.append(road)
    return np.array(found, np.int32)


def _on_ways(ways: Mapping[int, Iterable[int]]) -> set[int]:
    """The nodes on ways from FIRST to LAST that pass no node twice; empty: there is no such way.

    They are the block (biconnected component) of an edge between both. Source: Hopcroft, Tarjan,
    Algorithm 447: efficient algorithms for graph manipulation, CACM 16 (1973).
    """
    near = {node: set(others) for node, others in ways.items()}
    near[FIRST].add(LAST)
    near[LAST].add(FIRST)
    place, parent = {FIRST: 0, LAST: 1}, {LAST: FIRST}
    order = [LAST]
    open_nodes = [(LAST, iter(sorted(near[LAST])))]
    while open_nodes:
        node, others = open_nodes[-1]
        other = next((one for one in others if one not in place), None)
        if other is None:
            open_nodes.pop()
            continue
        place[other], parent[other] = len(place), node
        order.append(other)
        open_nodes.append((other, iter(sorted(near[other]))))
    low = {}  # the first node that is met from a node and those below it
    for node in order:
        low[node] = min(place[one] for one in (near[node] - {parent[node]}) | {node})
    for node in reversed(order[1:]):
        low[parent[node]] = min(low[parent[node]], low[node])
    found = {FIRST, LAST}
    for node in order[1:]:
        if parent[node] in found and low[node] < place[parent[node]]:
            found.add(node)
    return found


def _distances(ways: Mapping[int, Mapping[int, float]], source: int, goal: int) -> dict[int, float]:
    """How far it is from a node to others, not across the goal, m."""
    far: dict[int, float] = {}
    open_nodes = [(0.0, source)]
    while open_nodes:
        to, node = heappop(open_nodes)
        if node in far:
            continue
        far[node] = to
        for other, step in ways[node].items() if node != goal else ():
            heappush(open_nodes, (to + step, other))
    return far


def _crossing(network: "Network", street: str, roads: Roads, own: set[int], text: str) -> set[int]:
    """The intersections where a street meets another, or that of an id."""
    if text in network.intersection_index:
        found = {network.intersection_index[text]} & own
    else:
        others = np.setdiff1d(network.street_index.roads(text), roads)
        if not network.street_index.roads(text).size:
            raise NetworkError(
                f"no street or intersection {text[:60]!r}; {name_hint(network, text)}"
            )
        net = network.arrays.roads
        ends = np.concatenate((net.from_intersection[others], net.to_intersection[others]))
        found = set(ends.tolist()) & own
    found.discard(-1)
    if not found:
        met = some(_met(network, roads, own)) or "no street that has a name"
        raise NetworkError(f"{street[:60]} does not meet {text[:60]}; it meets {met}")
    return found


def _met(network: "Network", roads: Roads, own: set[int]) -> list[str]:
    """Names of the streets that meet some roads."""
    net = network.arrays.roads
    nodes = np.fromiter(own, np.int32)
    touching = np.isin(net.from_intersection, nodes) | np.isin(net.to_intersection, nodes)
    touching[roads] = False
    names = dict.fromkeys(network.road_name(road) for road in np.flatnonzero(touching).tolist())
    names.pop("", None)
    return list(names)
