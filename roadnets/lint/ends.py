"""Ends of roads and lanes: what cannot be left or reached, what has no room for a car.

A *border* road end lies near the convex hull of the network: vehicles may enter and leave there, so
it needs neither exit nor entry. In OpenStreetMap the reader has decided what is a gate, and says so.
Source: networks.md 8, L13 - L16, L21, L22, L24.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NONE, U_TURN
from rushhour.roadnets.components import reached, strong_components
from rushhour.roadnets.findings import NOTE, WARNING, Finding, finding
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.geometry.outlines import convex_hull
from rushhour.roadnets.model import Network

OPENSTREETMAP, BY_HAND = "OpenStreetMap", "drawn by hand"  # sources
BORDER: Final = 25.0  # m within the convex hull
SHORTEST_ROAD: Final = 7.5  # m, room for a car and its gap
STORAGE: Final = 15.0  # m, room for two
RING: Final = 60.0  # m round
MOST_OF_RING: Final = 8  # intersections that a fix names
MOSTLY: Final = 0.95  # share of the roads' length that should be of use
MOST_NAMED: Final = 8  # roads in one message

Points = NDArray[np.float64]


def end_findings(network: Network) -> list[Finding]:
    """Findings on the ends of roads and lanes."""
    turns = _turns(network)
    return [
        *_once(_short_roads(network)),
        *_once(_little_storage(network)),
        *_short_rings(network, turns),
        *_dead_roads(network),
        *_dead_lanes(network, turns),
        *_dead_ends(network, turns),
        *_reach(network, turns),
    ]


class Turns:
    """Movements between roads. before, behind: (m,) roads; back: whether it only turns back."""

    def __init__(
        self, before: NDArray[np.int64], behind: NDArray[np.int64], back: NDArray[np.bool_]
    ):
        self.before, self.behind, self.back = before, behind, back


def _turns(network: Network) -> Turns:
    links, road = network.arrays.connectors, network.arrays.lanes.road.astype(np.int64)
    n = network.n_roads
    key = road[links.from_lane] * n + road[links.to_lane]
    pairs, first = np.unique(key, return_index=True)
    return Turns(pairs // n, pairs % n, links.turn[first] == U_TURN)


def middle(network: Network, lane: int) -> Points:
    """A point of a lane about half way along it."""
    points = network.lane_points(int(lane))
    found: Points = points[len(points) // 2]
    return found


def _merge_line(network: Network, nodes: list[int]) -> str:
    """The fix that makes one intersection of some, where the source can be fixed so."""
    if network.source != OPENSTREETMAP or not 1 < len(set(nodes)) <= MOST_OF_RING:
        return ""
    return fix_line("merge", [network.intersection_ids[node] for node in sorted(set(nodes))], True)


def _once(found: Iterable[Finding]) -> Iterator[Finding]:
    """Findings without those whose fix has been told, such as of a street's other direction."""
    told: set[str] = set()
    for one in found:
        if one.fix not in told:
            yield one
        told |= {one.fix} - {""}


def _short_roads(network: Network) -> Iterator[Finding]:
    roads = network.arrays.roads
    advice = "; lengthen it" if network.source == BY_HAND else ""
    told = {one.source[0] for one in network.findings if one.check == "L13"}
    for road in np.flatnonzero(roads.length < SHORTEST_ROAD):
        name = network.road_ids[road]
        if f"way {name.lstrip('-').partition('#')[0]}" in told:
            continue
        ends = [int(roads.from_intersection[road]), int(roads.to_intersection[road])]
        yield finding(
            "L13",
            f"road {name!r} ({roads.length[road]:.1f} m) holds no car{advice}",
            [f"road {name}"],
            middle(network, roads.first_lane[road]),
            _merge_line(network, ends),
        )


def _little_storage(network: Network) -> Iterator[Finding]:
    roads, control = network.arrays.roads, network.arrays.intersections.control
    controlled = (control[roads.from_intersection] != NONE) & (
        control[roads.to_intersection] != NONE
    )
    few = (roads.length >= SHORTEST_ROAD) & (roads.length < STORAGE) & controlled
    for road in np.flatnonzero(few):
        name = network.road_ids[road]
        ends = [int(roads.from_intersection[road]), int(roads.to_intersection[road])]
        yield finding(
            "L14",
            f"road {name!r} ({roads.length[road]:.1f} m) holds one car between two controls",
            [f"road {name}"],
            middle(network, roads.first_lane[road]),
            _merge_line(network, ends),
        )


def _short_rings(network: Network, turns: Turns) -> Iterator[Finding]:
    """Circles of roads none of which holds a car: a few vehicles can lock them."""
    roads = network.arrays.roads
    short = roads.length < SHORTEST_ROAD
    kept = short[turns.before] & short[turns.behind] & ~turns.back
    follow: dict[int, list[int]] = {}
    for a, b in zip(turns.before[kept].tolist(), turns.behind[kept].tolist(), strict=True):
        follow.setdefault(a, []).append(b)
        follow.setdefault(b, [])
    for members in strong_components(follow):
        if len(members) == 1:
            continue
        length = float(roads.length[members].sum())
        if length >= RING:
            continue
        names = [network.road_ids[road] for road in members]
        yield finding(
            "L22",
            f"roads {', '.join(names[:8])} form a ring of {length:.0f} m that {len(names)} cars can lock",
            [f"road {name}" for name in names],
            middle(network, roads.first_lane[members[0]]),
            _merge_line(network, [int(roads.to_intersection[road]) for road in members]),
        )


# --- ends -------------------------------------------------------------------------------------


def _at_border(network: Network, places: Points) -> NDArray[np.bool_]:
    """Whether places (q, 2) lie within BORDER of the hull of all road lanes."""
    hull = convex_hull(network.points[: network.point_start[network.n_road_lanes]])
    near = np.full(len(places), np.inf)
    for a, b in pairwise(np.vstack((hull, hull[:1]))):
        span = b - a
        share = ((places - a) @ span) / max(float(span @ span), 1e-12)
        off = places - a - np.clip(share, 0.0, 1.0)[:, None] * span
        near = np.minimum(near, np.hypot(off[:, 0], off[:, 1]))
    return np.asarray(near <= BORDER)


def _ends(network: Network) -> tuple[Points, Points]:
    """First and last point of every road lane."""
    start = network.point_start[: network.n_road_lanes + 1]
    return network.points[start[:-1]], network.points[start[1:] - 1]


def _entries(network: Network) -> NDArray[np.int64]:
    """Connectors into each road lane."""
    return np.diff(network.arrays.lanes.in_start).astype(np.int64)


def _exits(network: Network) -> NDArray[np.int64]:
    """Connectors out of each road lane."""
    return np.diff(network.arrays.lanes.out_start[: network.n_road_lanes + 1]).astype(np.int64)


def _dead_roads(network: Network) -> Iterator[Finding]:
    """Roads that nothing leads to or that lead nowhere, but for the border."""
    if network.source == OPENSTREETMAP:
        return
    roads = network.arrays.roads
    first, last = (ends[roads.first_lane] for ends in _ends(network))
    for check, what, none, place in (
        ("L15", "exit, and not at the border; vehicles leave the network there",
         np.add.reduceat(_exits(network), roads.first_lane) == 0, last),
        ("L16", "entry, and not at the border; only vehicles that depart there use it",
         np.add.reduceat(_entries(network), roads.first_lane) == 0, first),
    ):  # fmt: skip
        found = np.flatnonzero(none)
        for road in found[~_at_border(network, place[found])] if found.size else ():
            name = network.road_ids[road]
            yield finding(
                check, f"road {name!r}: no {what}", [f"road {name}"], place[road],
                fix_line("close", [name], True),
            )  # fmt: skip


def _dead_lanes(network: Network, turns: Turns) -> Iterator[Finding]:
    """Lanes that end while their road goes on, or begin beside lanes that are fed.

    Where that leads to one road only, a lane may end as lanes do before a merge.
    """
    onward = np.bincount(turns.before, minlength=network.n_roads)
    road = network.arrays.lanes.road[: network.n_road_lanes]
    first_lane = network.arrays.roads.first_lane
    first, last = _ends(network)
    for check, what, count, place in (
        ("L15", "no exit; vehicles must leave it before its end", _exits(network), last),
        ("L16", "no entry; only lane changes lead onto it", _entries(network), first),
    ):
        some = np.add.reduceat(count, first_lane)[road] > 0
        for lane in np.flatnonzero(some & (count == 0)):
            name = network.lane_ids[lane]
            drop = check == "L15" and onward[road[lane]] == 1
            yield finding(
                check, f"lane {name!r}: {what}", [f"lane {name}"], place[lane],
                _beside_line(network, int(lane), check == "L15"), NOTE if drop else "",
            )  # fmt: skip


def _beside_line(network: Network, lane: int, ends: bool) -> str:
    """The line that leads a lane on, or into it, with what the lane beside it does; "" at lights."""
    links, lanes = network.arrays.connectors, network.arrays.lanes
    near = links.from_lane if ends else links.to_lane
    for beside in (lane + 1, lane - 1):
        if not 0 <= beside < network.n_road_lanes or lanes.road[beside] != lanes.road[lane]:
            continue
        ways = np.flatnonzero(near == beside)
        if not ways.size:
            continue
        k = int(ways[0])
        a, b = (int(lanes.road[end[k]]) for end in (links.from_lane, links.to_lane))
        both = np.flatnonzero((lanes.road[links.from_lane] == a) & (lanes.road[links.to_lane] == b))
        pairs = {(int(links.from_lane[i]), int(links.to_lane[i])) for i in both}
        pairs.add((lane, int(links.to_lane[k])) if ends else (int(links.from_lane[k]), lane))
        told = ", ".join(f"[{lanes.number[i]}, {lanes.number[j]}]" for i, j in sorted(pairs))
        return fix_line("connect", [network.road_ids[a], network.road_ids[b]], f"[{told}]")
    return ""


def _dead_ends(network: Network, turns: Turns) -> Iterator[Finding]:
    """How many roads can only be left by turning back."""
    n = network.n_roads
    back = np.bincount(turns.before[turns.back], minlength=n)
    every = np.bincount(turns.before, minlength=n)
    dead = int(np.count_nonzero((back > 0) & (back == every)))
    if dead:
        yield finding("L24", f"{dead:,} dead end{'s' * (dead > 1)} where vehicles turn back")


# --- reach ------------------------------------------------------------------------------------


def _reach(network: Network, turns: Turns) -> Iterator[Finding]:
    """Roads that vehicles cannot both come to and leave; the reader of OpenStreetMap says it itself.

    They may come from roads without entry or from the largest part whose roads all reach each
    other, and must get to that part or to roads without exit.
    """
    if network.source == OPENSTREETMAP:
        return
    length = network.arrays.roads.length
    roads = range(network.n_roads)
    ahead: dict[int, list[int]] = {road: [] for road in roads}
    back: dict[int, list[int]] = {road: [] for road in roads}
    for a, b in zip(turns.before.tolist(), turns.behind.tolist(), strict=True):
        ahead[a].append(b)
        back[b].append(a)
    core = max(strong_components(ahead), key=lambda part: float(length[part].sum()))
    entered = reached({*core, *(road for road in roads if not back[road])}, ahead)
    left = reached({*core, *(road for road in roads if not ahead[road])}, back)
    lost = sorted(set(roads) - (entered & left))
    if lost:
        off, total = float(length[lost].sum()), float(length.sum())
        names = [network.road_ids[road] for road in lost[:MOST_NAMED]]
        more = ", ..." if len(lost) > len(names) else ""
        yield finding(
            "L21",
            f"{off / 1000.0:.2f} of {total / 1000.0:.2f} km of road cannot be both reached and left: "
            f"roads {', '.join(names)}{more}",
            [f"road {name}" for name in names],
            middle(network, network.arrays.roads.first_lane[lost[0]]),
            severity=WARNING if off > (1.0 - MOSTLY) * total else NOTE,
        )
