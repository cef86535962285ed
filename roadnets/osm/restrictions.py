"""Turn restrictions: which way through which nodes and ways must not be driven.

A restriction bans a *sequence* of roads: the one that ends at its via, those along its via ways, the
one that starts behind. Without a via way the sequence has two roads and holds wherever ways of these
ids meet at the node. Source: networks.md 4.4; relation restriction of the OpenStreetMap wiki.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rushhour.roadnets.findings import NOTE, WARNING
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.osm.links import Road, Streets, node_at, way_at
from rushhour.roadnets.osm.ways.reading import Restriction

NO_CARS: Final = "not for cars"
CAR_KEYS: Final = ("motorcar", "motor_vehicle")  # in `except` and restriction:...
TIMED: Final = ("day_on", "day_off", "hour_on", "hour_off")
LONGEST: Final = 8  # roads along the via ways of one restriction


@dataclass
class Bans:
    """What restrictions forbid; at nodes by the ids of the ways before and behind."""

    no: set[tuple[int, int, int]] = field(default_factory=set)  # from, node, to
    only: dict[tuple[int, int], set[int]] = field(default_factory=dict)  # from, node -> allowed
    back: set[tuple[int, int]] = field(default_factory=set)  # way, node: no turn back
    on_red: set[tuple[int, int]] = field(default_factory=set)  # way, node: no right turn on red
    sequences: dict[tuple[Road, ...], int] = field(default_factory=dict)  # over ways -> relation

    def forbids(self, before: int, node: int, behind: int) -> bool:
        """Whether one may not drive from way `before` by the node into way `behind`."""
        if (before, node, behind) in self.no:
            return True
        allowed = self.only.get((before, node))
        return allowed is not None and behind not in allowed

    @property
    def memory(self) -> int:
        """How many roads of a path decide whether it may go on."""
        return max((len(roads) - 1 for roads in self.sequences), default=1)

    def ends_banned(self, path: tuple[Road, ...]) -> bool:
        """Whether the last roads of a path are a banned sequence."""
        return any(path[k:] in self.sequences for k in range(len(path) - 1))


def bans_of(restrictions: list[Restriction], streets: Streets) -> Bans:
    """Restrictions that hold for cars; what cannot be used is noted."""
    bans = Bans()
    ways = {way for link in streets.links for way in (link.first_way, link.last_way)}
    ends = streets.ends()
    elsewhere = 0
    for r in restrictions:
        unused = _unused(r)
        if unused:
            doubt = unused != NO_CARS
            value = "ban" if doubt else ""
            _find(streets, r, f"{unused}; not used", WARNING if doubt else NOTE, value)
            continue
        if set(r.tags.get("except", "").replace(" ", "").split(";")) & set(CAR_KEYS):
            continue
        sources = [way for way in r.sources if way in ways]
        targets = [way for way in r.targets if way in ways]
        if not sources and not targets:
            elsewhere += 1
            continue
        if not sources or not targets or not (r.via_nodes or r.via_ways):
            _find(streets, r, "names what is no road of the map; not used", NOTE)
        elif r.via_nodes:
            _ban_at_node(bans, streets, ends, r, sources, targets)
        else:
            _ban_over_ways(bans, streets, ends, r, sources, targets)
    if elsewhere:
        streets.remarks.add("turn restrictions of ways that are no roads here", count=elsewhere)
    return bans


def _find(
    streets: Streets, r: Restriction, what: str, severity: str = WARNING, value: str = ""
) -> None:
    """Keep a finding on a restriction. value: of the fix of its turn that would overrule it."""
    members = [*r.sources, *r.via_nodes, *r.targets]
    plain = len(r.sources) == len(r.via_nodes) == len(r.targets) == 1 and not r.via_ways
    streets.find(
        "L09", f"relation {r.id}: {what}", [f"relation {r.id}"],
        r.via_nodes[0] if r.via_nodes else None,
        fix_line("turns", members, f'"{value}"') if plain and value else "", severity,
    )  # fmt: skip


def _unused(r: Restriction) -> str:
    """Why a restriction does not count for cars at all times; "" if it does."""
    if _rule(r).startswith(("no_", "only_")):
        return "holds at some times only" if any(key in r.tags for key in TIMED) else ""
    if "restriction:conditional" in r.tags:
        return "holds under conditions only"
    return NO_CARS if any(key.startswith("restriction:") for key in r.tags) else "unknown"


def _rule(r: Restriction) -> str:
    """What a restriction says to cars, such as no_left_turn; "" nothing."""
    keys = (*(f"restriction:{vehicle}" for vehicle in CAR_KEYS), "restriction")
    return next((r.tags[key] for key in keys if key in r.tags), "")


def _ban_at_node(
    bans: Bans,
    streets: Streets,
    ends: dict[int, list[tuple[int, bool]]],
    r: Restriction,
    sources: list[int],
    targets: list[int],
) -> None:
    value, node = _rule(r), r.via_nodes[0]
    if value.endswith("_on_red"):
        if value == "no_right_turn_on_red":
            bans.on_red.update((way, node) for way in sources)
        return
    here = [way_at(streets.links[index], start) for index, start in ends.get(node, ())]
    lost = sorted({*sources, *targets} - {*here})
    if lost:
        _find(streets, r, f"way {lost[0]} does not end at node {node}")
    for before in sources:
        if here.count(before) > 1:
            text = f"way {before} runs through node {node}; held for both directions"
            _find(streets, r, text, value="allow")
        if value.startswith("only_"):
            bans.only.setdefault((before, node), set()).update(targets)
            continue
        for behind in targets:
            if before == behind and value == "no_u_turn":
                bans.back.add((before, node))
            else:
                bans.no.add((before, node, behind))


def _ban_over_ways(
    bans: Bans,
    streets: Streets,
    ends: dict[int, list[tuple[int, bool]]],
    r: Restriction,
    sources: list[int],
    targets: list[int],
) -> None:
    found = False
    for first in ends_of_ways(streets, ends, sources):
        for path in _along(streets, ends, first, r.via_ways):
            onward = list(_exits(streets, ends, path[-1]))
            to = [road for road in onward if way_at(streets.links[road[0]], road[1]) in targets]
            if not to:
                continue
            found = True
            banned = to
            if _rule(r).startswith("only_"):
                back = (path[-1][0], not path[-1][1])
                banned = [road for road in (*onward, back) if road not in to]
            for road in banned:
                bans.sequences[(*path, road)] = r.id
    if not found:
        _find(streets, r, "its ways do not follow each other; not used")


def ends_of_ways(
    streets: Streets, ends: dict[int, list[tuple[int, bool]]], ways: list[int]
) -> Iterator[Road]:
    """Roads that end as one of these ways, in order."""
    for index, link in enumerate(streets.links):
        for forward, lanes in (
            (True, link.rules.forward.lanes),
            (False, link.rules.backward.lanes),
        ):
            if lanes and way_at(link, not forward) in ways:
                yield index, forward


def _exits(streets: Streets, ends: dict[int, list[tuple[int, bool]]], road: Road) -> Iterator[Road]:
    """Roads that start where one ends, without the turn back."""
    for index, start in ends[node_at(streets.links[road[0]], not road[1])]:
        rules = streets.links[index].rules
        if index != road[0] and (rules.forward if start else rules.backward).lanes:
            yield index, start


def _along(
    streets: Streets, ends: dict[int, list[tuple[int, bool]]], first: Road, vias: list[int]
) -> Iterator[tuple[Road, ...]]:
    """Paths from a road over every one of these ways and no other."""
    open_paths: list[tuple[Road, ...]] = [(first,)]
    while open_paths:
        path = open_paths.pop()
        driven = {way for road in path[1:] for way in _ways(streets, road)}
        if len(path) > 1 and driven >= set(vias):
            yield path
        if len(path) > LONGEST:
            continue
        for road in _exits(streets, ends, path[-1]):
            if road not in path and _ways(streets, road) <= set(vias):
                open_paths.append((*path, road))


def _ways(streets: Streets, road: Road) -> set[int]:
    link = streets.links[road[0]]
    return {link.first_way, link.last_way}
