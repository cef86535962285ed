"""Intersections as one thing: their connectors, their stop lines, their lights, their width.

Source: networks.md 3.5 (connectors), 5.4 (cycles). Everything is measured for all at once.
"""

from collections.abc import Iterator
from math import degrees, radians
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import U_TURN
from rushhour.kernels.geometry.curves import add_up_turns
from rushhour.roadnets.drafts.fixed_lanes import LEAST
from rushhour.roadnets.drafts.shapes import stations
from rushhour.roadnets.findings import Finding, finding
from rushhour.roadnets.fixes import FARTHEST_BACK, fix_line
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.geometry.meeting_lines import Lines, farthest_crossings, pairs_at
from rushhour.roadnets.geometry.outlines import distances, near_pairs
from rushhour.roadnets.lint.ends import middle
from rushhour.roadnets.lint.plan_lines import plan_line
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.progression import NEXT

LONGEST_WAY: Final = 1.5  # times the straight way that a connector may be long
LONGER: Final = 1.0  # m; less is no detour
MOST_TURNING: Final = radians(200.0)  # of a connector, there and back added up
TURNS_BACK: Final = radians(150.0)  # a connector between headings that differ by more turns back
TOUCHING: Final = 1e-5  # m, a connector between lanes that touch
SAME: Final = 0.05  # s
WIDEST: Final = 100.0  # m between two stop lines of an intersection
INSIDE: Final = 30.0  # m of a road before its stop line
AT_ONCE: Final = 8_000  # connectors, for the memory's sake
ISLAND: Final = 3.0  # m from the middle of an intersection that all ways over it keep off
LEAST_ROUND: Final = radians(60.0)  # around an island
BACK: Final = radians(10.0)  # by which a way around an island may turn the other way
CLEAR: Final = 0.5  # m that the movements of others may reach over a stop line

Points = NDArray[np.float64]
Ints = NDArray[np.int64]


def junction_findings(network: Network) -> list[Finding]:
    """Findings on intersections as a whole."""
    return [*_wandering(network), *_lines_inside(network), *_cycles(network), *_wide(network)]


class Bends(NamedTuple):
    """Of every connector, (m,) each; the turns where it leaves and joins its lanes count too."""

    length: Points  # m
    straight: Points  # m from its start to its end
    turning: Points  # rad, there and back added up
    net: Points  # rad from the lane it leaves to the one it joins, -pi .. pi

    @property
    def wandering(self) -> NDArray[np.bool_]:
        """Which are much longer than the straight way, or turn by far more than they need to."""
        long = (self.length > LONGEST_WAY * self.straight) & (self.length > self.straight + LONGER)
        return np.asarray((long | (self.turning > MOST_TURNING)) & (np.abs(self.net) < TURNS_BACK))


def bends_of(network: Network) -> Bends:
    """How far out of their way connectors lead."""
    m = network.n_connectors
    parts = [_bends(network, k, min(m, k + AT_ONCE)) for k in range(0, max(m, 1), AT_ONCE)]
    return Bends(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _bends(network: Network, a: int, b: int) -> Bends:
    """Those of connectors a to b."""
    links, n = network.arrays.connectors, network.n_road_lanes
    from_lane, to_lane = links.from_lane[a:b], links.to_lane[a:b]
    points, m = network.points, b - a
    start = network.point_start.astype(np.int64)
    own = start[n + a : n + b + 1]
    shape, begin = points[own[0] : own[-1]], (own - own[0]).astype(np.int32)
    step = np.diff(shape, axis=0)
    heading = np.arctan2(step[:, 1], step[:, 0])
    length = stations(shape, begin)[begin[1:] - 1]
    turning = np.empty(m)
    add_up_turns(heading, begin, turning, 0, m)
    before = points[start[from_lane + 1] - 1] - points[start[from_lane + 1] - 2]
    behind = points[start[to_lane] + 1] - points[start[to_lane]]
    leave, join = (np.arctan2(one[:, 1], one[:, 0]) for one in (before, behind))
    net = wrapped(join - leave)
    first, last = begin[:-1], begin[1:] - 2
    turning += np.abs(wrapped(heading[first] - leave)) + np.abs(wrapped(join - heading[last]))
    straight = np.hypot(*(points[own[1:] - 1] - points[own[:-1]]).T)
    return Bends(length, straight, np.where(length > TOUCHING, turning, np.abs(net)), net)


def wandering(network: Network, bends: Bends) -> NDArray[np.bool_]:
    """Which connectors lead out of their way, turns back and ways around an island excepted, (m,)."""
    links = network.arrays.connectors
    found = bends.wandering & (links.turn != U_TURN)
    for k in np.flatnonzero(found).tolist():
        found[k] = not _is_around(network, k)
    return np.asarray(found)


def _is_around(network: Network, k: int) -> bool:
    """Whether a connector leads around what all ways over its intersection keep off: an island.

    Its middle is that of the intersection, or, where arms lie on one side, that of the connector.
    """
    nodes, n = network.arrays.intersections, network.n_road_lanes
    node = int(network.arrays.connectors.intersection[k])
    own = nodes.connector[nodes.connector_start[node] : nodes.connector_start[node + 1]].tolist()
    ways = np.concatenate([network.lane_points(n + other) for other in own])
    way, length = network.lane_points(n + k), float(network.arrays.lanes.length[n + k])
    for island in (np.array([nodes.x[node], nodes.y[node]]), way.mean(axis=0)):
        x, y = (way - island).T
        turned = wrapped(np.diff(np.arctan2(y, x)))
        sweep, away = abs(float(turned.sum())), np.hypot(x, y)
        spiral = sweep * float(away.mean()) + float(away[0] + away[-1] - 2.0 * away.min())
        if (
            np.hypot(*(ways - island).T).min() >= ISLAND
            and sweep > max(LEAST_ROUND, float(np.abs(turned).sum()) - BACK)
            and length < LONGEST_WAY * spiral
        ):
            return True
    return False


def _wandering(network: Network) -> Iterator[Finding]:
    links, road = network.arrays.connectors, network.arrays.lanes.road
    if not links.from_lane.size:
        return
    bends = bends_of(network)
    for k in np.flatnonzero(wandering(network, bends)).tolist():
        a, b = (int(road[lane[k]]) for lane in (links.from_lane, links.to_lane))
        name = network.intersection_ids[links.intersection[k]]
        yield finding(
            "L32",
            f"intersection {name!r}: {bends.length[k]:.1f} m from {network.road_ids[a]!r} to "
            f"{network.road_ids[b]!r} for {bends.straight[k]:.1f} m, turning "
            f"{degrees(bends.turning[k]):.0f} degrees",
            [f"intersection {name}", f"road {network.road_ids[a]}", f"road {network.road_ids[b]}"],
            middle(network, network.n_road_lanes + k),
            fix_line("turns", [network.road_ids[a], network.road_ids[b]], '"ban"'),
        )


def lines_inside(network: Network) -> tuple[Ints, Ints, Points]:
    """Road lanes over which others drive at an intersection where they end or begin.

    Lane, connector that crosses it, and how many metres from the stop line, (q,) each.
    """
    lanes, links = network.arrays.lanes, network.arrays.connectors
    roads, n = network.arrays.roads, network.n_road_lanes
    road = lanes.road[:n].astype(np.int64)
    start = network.point_start.astype(np.int64)
    lane = np.tile(np.arange(n), 2)
    node = np.concatenate((roads.to_intersection[road], roads.from_intersection[road]))
    first = np.concatenate((start[1 : n + 1] - 1, start[:n]))
    last = np.concatenate((start[:n], start[1 : n + 1] - 1))
    last = _within(network, first, last)
    found: list[tuple[Ints, Ints, Points]] = []
    m = network.n_connectors
    if not m:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    movements = Lines.of(network.points, start[n : n + m], start[n + 1 : n + m + 1] - 1)
    bodies = Lines.of(network.points, first, last, movements.along)
    for some in range(0, m, AT_ONCE):
        at = links.intersection[some : some + AT_ONCE].astype(np.int64)
        k, end = pairs_at(at, node.astype(np.int64))
        k += some
        other = (road[links.from_lane[k]] != road[lane[end]]) & (
            road[links.to_lane[k]] != road[lane[end]]
        )
        k, end = k[other], end[other]
        reach = farthest_crossings(movements, bodies, k, end)
        inside = reach > CLEAR
        found.append((lane[end[inside]], k[inside], reach[inside]))
    lane, k, reach = (np.concatenate([part[c] for part in found]) for c in range(3))
    return lane, k, reach


def _within(network: Network, first: Ints, last: Ints) -> Ints:
    """The last point of lines, from their first, of which INSIDE metres are looked at."""
    step = np.sign(last - first)
    at = first.copy()
    left = np.arange(first.size)
    while left.size:
        at[left] += step[left]
        far = np.abs(network.station[at[left]] - network.station[first[left]]) < INSIDE
        left = left[far & (at[left] != last[left])]
    return at


def _lines_inside(network: Network) -> Iterator[Finding]:
    links, road = network.arrays.connectors, network.arrays.lanes.road
    told: set[tuple[int, int]] = set()
    for lane, k, reach in zip(*(found.tolist() for found in lines_inside(network)), strict=True):
        node, own = int(links.intersection[k]), int(road[lane])
        if (node, own) in told:
            continue
        told.add((node, own))
        a, b = (network.road_ids[road[end[k]]] for end in (links.from_lane, links.to_lane))
        name = network.intersection_ids[node]
        yield finding(
            "L33",
            f"intersection {name!r}: from {a!r} to {b!r} leads over road {network.road_ids[own]!r}, "
            f"{reach:.1f} m from its stop line",
            [f"intersection {name}", f"road {network.road_ids[own]}"],
            middle(network, network.n_road_lanes + k),
            _line_back(network, node, own, reach) or fix_line("turns", [a, b], '"ban"'),
        )


def _line_back(network: Network, node: int, road: int, reach: float) -> str:
    """The line that moves the stop line of a road out of its intersection; "" where it cannot be moved as far."""
    roads = network.arrays.roads
    first, back = roads.first_lane[road], np.ceil(reach + CLEAR)
    shortest = network.arrays.lanes.length[first : first + roads.lane_count[road]].min()
    if roads.to_intersection[road] != node or back > min(FARTHEST_BACK, shortest - LEAST):
        return ""
    return fix_line("stop_line", [network.road_ids[road]], f"{back:g}")


def _stops(network: Network) -> tuple[Ints, Ints, Points]:
    """Where lanes end and begin, intersection by intersection: those, where each begins, the places, m."""
    lanes, roads, n = network.arrays.lanes, network.arrays.roads, network.n_road_lanes
    road, start = lanes.road[:n], network.point_start
    node = np.concatenate((roads.to_intersection[road], roads.from_intersection[road]))
    at = np.concatenate((start[1 : n + 1] - 1, start[:n]))
    order = np.argsort(node, kind="stable")
    names, first = np.unique(node[order].astype(np.int64), return_index=True)
    return names, first.astype(np.int64), network.points[at[order]]


def stop_places(network: Network) -> dict[int, Points]:
    """Where lanes end and begin at every intersection, (q, 2) m."""
    names, first, places = _stops(network)
    return dict(zip(names.tolist(), np.split(places, first[1:]), strict=True))


def near_signals(network: Network) -> list[tuple[float, int, int]]:
    """Pairs of programs whose stop lines are less than NEXT apart: m, the two programs."""
    links = network.arrays.connectors
    lit = np.flatnonzero(links.signal >= 0)
    places = stop_places(network) if lit.size else {}
    homes: dict[int, set[int]] = {}
    for k in lit.tolist():
        homes.setdefault(int(links.signal[k]), set()).add(int(links.intersection[k]))
    around = {s: np.concatenate([places[i] for i in sorted(at)]) for s, at in homes.items()}
    return near_pairs(around, NEXT)


def for_people_on_foot(network: Network) -> set[int]:
    """Programs of lights at which no roads cross."""
    links = network.arrays.connectors
    crossing = np.diff(links.conflict_start) > 0
    every = set(links.signal[links.signal >= 0].tolist())
    return every - set(links.signal[(links.signal >= 0) & crossing].tolist())


def _cycles(network: Network) -> Iterator[Finding]:
    """Signals next to each other that do not keep step."""
    signals = network.arrays.signals
    on_foot = for_people_on_foot(network)
    where = {int(s): int(i) for s, i in zip(network.arrays.connectors.signal,
                                            network.arrays.connectors.intersection, strict=True)}  # fmt: skip
    nodes = network.arrays.intersections
    for away, a, b in near_signals(network):
        if abs(signals.cycle[a] - signals.cycle[b]) <= SAME:
            continue
        names = [network.signal_ids[s] for s in (a, b)]
        yield finding(
            "L35" if {a, b} & on_foot else "L34",
            f"signals {names[0]!r} and {names[1]!r}, {away:.0f} m apart: cycles of "
            f"{signals.cycle[a]:g} and {signals.cycle[b]:g} s",
            [f"signal {name}" for name in names],
            (nodes.x[where[a]], nodes.y[where[a]]),
            _same_cycle(network, a, b),
        )


def _same_cycle(network: Network, a: int, b: int) -> str:
    """The line that gives the shorter cycle of two signals the time of the longer one."""
    cycle = network.arrays.signals.cycle
    shorter, longer = (a, b) if cycle[a] < cycle[b] else (b, a)
    return plan_line(network, shorter, round(float(cycle[longer]), 3))


def _wide(network: Network) -> Iterator[Finding]:
    names, first, places = _stops(network)
    span = np.maximum.reduceat(places, first) - np.minimum.reduceat(places, first)
    far = np.flatnonzero(np.hypot(span[:, 0], span[:, 1]) > WIDEST)
    for node, k in zip(names[far].tolist(), far.tolist(), strict=True):
        here = places[first[k] : first[k + 1] if k + 1 < len(first) else None]
        width = float(distances(here, here).max())
        if width > WIDEST:
            name = network.intersection_ids[node]
            yield finding(
                "L37",
                f"intersection {name!r}: {width:.0f} m from stop line to stop line",
                [f"intersection {name}"],
                (network.arrays.intersections.x[node], network.arrays.intersections.y[node]),
            )
