"""What looks wrong in a finished network (networks.md 8).

Lengths are metres. A *border* road end lies near the convex hull of the network: vehicles may enter
and leave there, so it needs neither exit nor entry.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import degrees
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.network import GREEN, GREEN_YIELD, STRAIGHT
from rushhour.roadnets.findings import WARNING, Finding, finding
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import road_finder

BORDER: Final = 25.0  # m within the convex hull
PASSING: Final = 5.0  # m from the middle of an intersection
SHORTEST_ROAD: Final = 7.5  # m, room for a car and its gap
TIGHTEST: Final = 4.5  # m, radius that a car can drive
TURN_WINDOW: Final = 2.0  # m over which a radius is measured
ALONG: Final = 0.5  # m between samples of a connector
SLACK: Final = 0.3  # m by which lanes may overlap
OVERLAP_SPAN: Final = 30.0  # m from an intersection in which legs are compared
SAME_SIDE: Final = 0.0  # cosine between directions above which two legs are compared

Points = NDArray[np.float64]


def findings(network: Network) -> list[Finding]:
    """Every finding of every check."""
    found: list[Finding] = []
    for check in (
        _passing, _without_roads, _short_roads, _dead_roads, _dead_lanes, _overlaps, _tight, _greens,
    ):  # fmt: skip
        found += check(network)
    return found


def linted(network: Network) -> Network:
    """The network with what looks wrong in it among its findings."""
    every = dict.fromkeys((*network.findings, *findings(network)))
    return replace(network, findings=tuple(every))


def _without_roads(network: Network) -> Iterator[Finding]:
    table = network.intersections
    for node in np.flatnonzero(table.roads_in + table.roads_out == 0):
        name = table.id[node]
        yield finding(
            "L10",
            f"intersection {name!r}: no road comes near it; correct its place",
            [f"intersection {name}"],
            (table.x[node], table.y[node]),
            severity=WARNING,
        )


def _passing(network: Network) -> Iterator[Finding]:
    """Roads that lead through the middle of an intersection at which they have no end."""
    nodes, roads = network.arrays.intersections, network.arrays.roads
    near = road_finder(network).nearest(nodes.x, nodes.y, PASSING)
    for node in np.flatnonzero(near.lane >= 0):
        road = network.arrays.lanes.road[near.lane[node]]
        if node not in (roads.from_intersection[road], roads.to_intersection[road]):
            name, passed = network.road_ids[road], network.intersection_ids[node]
            yield finding(
                "L04",
                f"road {name!r} passes intersection {passed!r} without an end there; draw it as two",
                [f"road {name}", f"intersection {passed}"],
                (nodes.x[node], nodes.y[node]),
                severity=WARNING,
            )


def _short_roads(network: Network) -> Iterator[Finding]:
    length = network.arrays.roads.length
    for road in np.flatnonzero(length < SHORTEST_ROAD):
        name = network.road_ids[road]
        yield finding(
            "L13",
            f"road {name!r} ({length[road]:.1f} m) holds no car; lengthen it",
            [f"road {name}"],
            _middle(network, network.arrays.roads.first_lane[road]),
        )


def _middle(network: Network, lane: int) -> Points:
    """A point of a lane about half way along it."""
    points = network.lane_points(lane)
    middle: Points = points[len(points) // 2]
    return middle


# --- ends -------------------------------------------------------------------------------------


def convex_hull(points: Points) -> Points:
    """Corners of the convex hull, counter-clockwise (monotone chain)."""
    order = np.unique(points, axis=0)
    hull: list[Points] = []
    for part in (order, order[::-1]):
        side: list[Points] = []
        for p in part:
            while len(side) > 1 and _cross(side[-1] - side[-2], p - side[-2]) <= 0.0:
                side.pop()
            side.append(p)
        hull += side[:-1]
    return np.array(hull if hull else order)


def _cross(u: Points, v: Points) -> float:
    return float(u[0] * v[1] - u[1] * v[0])


def _at_border(network: Network, places: Points) -> NDArray[np.bool_]:
    """Whether places (q, 2) lie within BORDER of the hull of all road lanes."""
    hull = convex_hull(network.points[: network.point_start[network.n_road_lanes]])
    near = np.full(len(places), np.inf)
    for a, b in pairwise(np.vstack((hull, hull[:1]))):
        near = np.minimum(near, _distances(places, a, b))
    return np.asarray(near <= BORDER)


def _distances(places: Points, a: Points, b: Points) -> Points:
    """Distance of each place from the segment a to b, m."""
    span = b - a
    share = ((places - a) @ span) / max(float(span @ span), 1e-12)
    off = places - a - np.clip(share, 0.0, 1.0)[:, None] * span
    return np.asarray(np.hypot(off[:, 0], off[:, 1]))


def _ends(network: Network) -> tuple[Points, Points]:
    """First and last point of every road lane."""
    start = network.point_start[: network.n_road_lanes + 1]
    return network.points[start[:-1]], network.points[start[1:] - 1]


def _entries(network: Network) -> NDArray[np.int64]:
    """Connectors into each road lane."""
    return np.diff(network.arrays.lanes.in_start).astype(np.int64)


def _dead_roads(network: Network) -> Iterator[Finding]:
    roads = network.arrays.roads
    entries = np.add.reduceat(_entries(network), roads.first_lane)
    first, last = (ends[roads.first_lane] for ends in _ends(network))
    no_exit = (network.roads.exits == 0) & ~_at_border(network, last)
    no_entry = (entries == 0) & ~_at_border(network, first)
    for road in np.flatnonzero(no_exit):
        name = network.road_ids[road]
        yield finding(
            "L15",
            f"road {name!r}: no exit, and not at the border; vehicles leave the network there",
            [f"road {name}"],
            last[road],
        )
    for road in np.flatnonzero(no_entry):
        name = network.road_ids[road]
        yield finding(
            "L16",
            f"road {name!r}: no entry, and not at the border; only vehicles that depart there use it",
            [f"road {name}"],
            first[road],
        )


def _dead_lanes(network: Network) -> Iterator[Finding]:
    road = network.arrays.lanes.road[: network.n_road_lanes]
    exits, entries = network.lanes.exits, _entries(network)
    first_lane = network.arrays.roads.first_lane
    fed = np.add.reduceat(entries, first_lane)[road] > 0
    left = (network.roads.exits > 0)[road]
    for lane in np.flatnonzero(left & (exits == 0)):
        name = network.lane_ids[lane]
        yield finding(
            "L15",
            f"lane {name!r}: no exit; vehicles must leave it before its end",
            [f"lane {name}"],
            network.lane_points(int(lane))[-1],
        )
    for lane in np.flatnonzero(fed & (entries == 0)):
        name = network.lane_ids[lane]
        yield finding(
            "L16",
            f"lane {name!r}: no entry; only lane changes lead onto it",
            [f"lane {name}"],
            network.lane_points(int(lane))[0],
        )


# --- shapes -----------------------------------------------------------------------------------


def _overlaps(network: Network) -> Iterator[Finding]:
    """Pairs of roads that lie on top of each other where they meet an intersection."""
    lanes, roads = network.arrays.lanes, network.arrays.roads
    road_of = lanes.road[: network.n_road_lanes]
    meeting: dict[int, list[tuple[int, Points]]] = {}  # by intersection: lane, points outward
    for lane, road in enumerate(road_of.tolist()):
        points = network.lane_points(lane)
        meeting.setdefault(int(roads.to_intersection[road]), []).append((lane, points[::-1]))
        meeting.setdefault(int(roads.from_intersection[road]), []).append((lane, points))
    for node, here in sorted(meeting.items()):
        name = network.intersection_ids[node]
        seen: set[tuple[int, int]] = set()
        roads_here = road_of[[lane for lane, _ in here]]
        ahead = np.array([points[1] - points[0] for _, points in here])
        ahead /= np.hypot(ahead[:, 0], ahead[:, 1])[:, None]
        cosine = ahead @ ahead.T
        near = (cosine > SAME_SIDE) & (roads_here[:, None] != roads_here)
        for i, j in np.argwhere(near).tolist():
            pair = (int(roads_here[i]), int(roads_here[j]))
            if pair in seen or pair[::-1] in seen:
                continue
            room = 0.5 * float(lanes.width[here[i][0]] + lanes.width[here[j][0]]) - SLACK
            if _nearest(here[i][1][0], here[j][1]) < room:
                seen.add(pair)
                a, b = (network.road_ids[road] for road in pair)
                angle = degrees(np.arccos(min(1.0, cosine[i, j])))
                yield finding(
                    "L17",
                    f"intersection {name!r}: roads {a!r} and {b!r} overlap ({angle:.0f} degrees)",
                    [f"intersection {name}", f"road {a}", f"road {b}"],
                    here[i][1][0],
                )


def _nearest(place: Points, line: Points) -> float:
    """Distance of a place from the first OVERLAP_SPAN metres of a line, m."""
    best, along = np.inf, 0.0
    for a, b in pairwise(line):
        best = min(best, float(_distances(place[None], a, b)[0]))
        along += float(np.hypot(*(b - a)))
        if along > OVERLAP_SPAN:
            break
    return best


def tightest_radius(points: Points) -> float:
    """Least radius of a line, measured over TURN_WINDOW, m; inf for a straight or a short one."""
    if len(points) < 3:
        return np.inf
    step = np.hypot(*np.diff(points, axis=0).T)
    station = np.concatenate(([0.0], np.cumsum(step)))
    n = int(station[-1] / ALONG)
    span = int(TURN_WINDOW / ALONG)
    if n <= span:
        return np.inf
    at = np.linspace(0.0, station[-1], n + 1)
    x, y = (np.interp(at, station, points[:, k]) for k in (0, 1))
    heading = np.unwrap(np.arctan2(np.diff(y), np.diff(x)))
    turn = float(np.abs(heading[span:] - heading[:-span]).max(initial=0.0))
    return span * float(at[1]) / turn if turn > 1e-9 else np.inf


def _tight(network: Network) -> Iterator[Finding]:
    links = network.arrays.connectors
    for k in range(network.n_connectors):
        radius = tightest_radius(network.lane_points(network.n_road_lanes + k))
        if radius < TIGHTEST:
            a, b = (network.lane_ids[lane] for lane in (links.from_lane[k], links.to_lane[k]))
            yield finding(
                "L18",
                f"connector {a!r} to {b!r}: radius {radius:.2f} m; wanted {TIGHTEST:g} m",
                [f"lane {a}", f"lane {b}"],
                _middle(network, network.n_road_lanes + k),
            )


# --- signals ----------------------------------------------------------------------------------


def crossing_greens(network: Network) -> Iterator[tuple[int, int, int, int]]:
    """Movements that conflict, are green together, and of which none turns and yields.

    Program, first such phase, and the two connectors.
    """
    links, conflicts = network.arrays.connectors, network.arrays.conflicts
    road = network.arrays.lanes.road[links.from_lane]
    for program in range(len(network.signal_ids)):
        letters, green = _letters(network, program)
        for k in np.flatnonzero(links.signal == program).tolist():
            for c in range(links.conflict_start[k], links.conflict_start[k + 1]):
                other = int(conflicts.other[c])
                if other < k or links.signal[other] != program or road[other] == road[k]:
                    continue
                a, b = int(links.link[k]), int(links.link[other])
                for phase in np.flatnonzero(green[:, a] & green[:, b]).tolist():
                    if not (
                        _gives_way(letters[phase, a], links.turn[k])
                        or _gives_way(letters[phase, b], links.turn[other])
                    ):
                        yield program, phase, k, other
                        break


def _letters(network: Network, program: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """States of a program (phases, links), and where they are green."""
    signals = network.arrays.signals
    phases = int(signals.phase_start[program + 1] - signals.phase_start[program])
    width, first = int(signals.links[program]), int(signals.state_start[program])
    letters = signals.state[first : first + phases * width].reshape(phases, width)
    return letters, (letters == GREEN) | (letters == GREEN_YIELD)


def _gives_way(letter: int, turn: int) -> bool:
    """Whether a green movement turns and yields meanwhile."""
    return letter == GREEN_YIELD and turn != STRAIGHT


def _greens(network: Network) -> Iterator[Finding]:
    links, lane_road = network.arrays.connectors, network.arrays.lanes.road

    def name(k: int) -> str:
        a, b = lane_road[links.from_lane[k]], lane_road[links.to_lane[k]]
        return f"{network.road_ids[a]} -> {network.road_ids[b]}"

    told: set[tuple[str, str]] = set()
    for program, phase, k, other in crossing_greens(network):
        pair = (name(k), name(other))
        if pair not in told:
            told.add(pair)
            title = network.signal_ids[program]
            yield finding(
                "L19",
                f"program {title!r} phase {phase}: {pair[0]} and {pair[1]} are both green and cross",
                [f"signal {title}"],
                _middle(network, network.n_road_lanes + k),
            )
    for program, title in enumerate(network.signal_ids):
        _, green = _letters(network, program)
        mine = np.flatnonzero(links.signal == program)
        dark = mine[~green[:, links.link[mine]].any(axis=0)]
        for movement in dict.fromkeys(name(k) for k in dark.tolist()):
            yield finding(
                "L20",
                f"program {title!r}: {movement} is never green",
                [f"signal {title}"],
                _middle(network, network.n_road_lanes + int(mine[0])),
            )
