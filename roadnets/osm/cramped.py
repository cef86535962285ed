"""Streets so short that what leads past their ends lies on them: parts of an intersection.

Whether that is so is known from what can be driven there, with the stop lines as far back as the
street is long. Source: networks.md 2.6, 3.4.
"""

from typing import Final

from rushhour.roadnets.osm.approaches import approaches_of
from rushhour.roadnets.osm.fitting import Fitting
from rushhour.roadnets.osm.islands import islands_of, ways_around
from rushhour.roadnets.osm.leading_on import lead_on
from rushhour.roadnets.osm.legs import End, set_ends
from rushhour.roadnets.osm.links import Road, Streets, node_at
from rushhour.roadnets.osm.merging import Merged, extent, refusal
from rushhour.roadnets.osm.movements import turns_of
from rushhour.roadnets.osm.places import direction
from rushhour.roadnets.osm.restrictions import Bans
from rushhour.roadnets.osm.short_streets import FEWEST_ON_RING, Rings, room_on, take_within
from rushhour.roadnets.osm.signs import Signs, length_of

SHORT: Final = 60.0  # m from node to node
ROOM: Final = 24.0  # m between stop lines; who has more has room to give
WIDEST: Final = 55.0  # m between two nodes of an intersection that comes of it
ROUNDS: Final = 4


def join_cramped(streets: Streets, merged: Merged, signs: Signs, bans: Bans) -> None:
    """Join the ends of every short street over which the movements of others lead."""
    around = streets.ends()
    rings = Rings(streets, around)
    length = [length_of(streets, link) for link in streets.links]
    at = {i for i, short in enumerate(length) if short < SHORT and i not in merged.inner}
    refused: set[int] = set()
    for _ in range(ROUNDS):
        stuck, ringed = _stuck(streets, merged, bans, around, length, at - refused)
        at = set()
        for i in sorted(stuck, key=lambda i: (length[i], i)):
            link = streets.links[i]
            homes = {merged.home(link.a), merged.home(link.b)}
            if len(homes) == 1:  # from an intersection to itself
                merged.inner.add(i)
                continue
            nodes = [node for home in sorted(homes) for node in merged.nodes(home)]
            if (
                i in merged.inner
                or {link.a, link.b} & signs.mid_block
                or (rings.refusal(merged, i, FEWEST_ON_RING) and not rings.are_one(merged, i))
                or not homes.isdisjoint(ringed)
                or refusal(streets, nodes)
                or extent(streets, nodes) > WIDEST
            ):
                refused.add(i)
                continue
            merged.join(link.a, link.b, [i])
            take_within(streets, around, merged, merged.home(link.a), length)
            near = merged.nodes(merged.home(link.a))
            at |= {i for node in near for i, _ in around[node]}
        at = {i for i in at if length[i] < SHORT and i not in merged.inner}
        if not at:
            return


def _stuck(
    streets: Streets, merged: Merged, bans: Bans, around: dict[int, list[tuple[int, bool]]],
    length: list[float], short: set[int],
) -> tuple[set[int], set[int]]:  # fmt: skip
    """Those of some links that are too short for the stop lines that their ends ask for.

    And the intersections over which movements lead around an island.
    """
    ends: dict[tuple[int, bool], End] = {}
    nodes = {n for i in short for n in (streets.links[i].a, streets.links[i].b)}
    set_ends(streets, merged, set(), around, sorted(nodes), ends)
    short = {i for i in short if room_on(length[i], ends, i) < ROOM}
    homes = {merged.home(n) for i in short for n in (streets.links[i].a, streets.links[i].b)}
    links = sorted(
        {i for home in homes for node in merged.nodes(home) for i, _ in around[node]} - merged.inner
    )
    nodes = {n for i in links for n in (streets.links[i].a, streets.links[i].b)}
    set_ends(streets, merged, set(), around, sorted(nodes), ends)
    roads = [(i, f) for i in links for f in (True, False) if direction(streets.links[i], f).lanes]
    if not roads:
        return set(), set()
    arriving: dict[int, list[Road]] = {}
    for i, forward in roads:
        home = merged.home(node_at(streets.links[i], not forward))
        if home in homes:
            arriving.setdefault(home, []).append((i, forward))
    leaving = (road for some in arriving.values() for road in some)
    turns = turns_of(streets, merged, bans, leaving, around)
    used = set(roads)
    approaches = {
        home: approaches_of(streets, turns, used, entries) for home, entries in arriving.items()
    }
    lead_on(streets, ends, approaches)
    fitting = Fitting(
        streets, ends, roads, [direction(streets.links[i], f).lanes for i, f in roads], set()
    )
    fitting.fit(approaches)
    islands = islands_of(streets, merged)
    ringed = {
        home
        for home in islands.keys() & approaches.keys()
        if ways_around(islands[home], fitting.movements(approaches[home]))
    }
    return fitting.stuck & short, ringed
