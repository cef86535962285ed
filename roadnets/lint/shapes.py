"""Shapes of a network: roads that overlap, turns too tight for a car, kinks.

Source: networks.md 8, L17, L18, L23. Everything is measured for all lanes at once.
"""

from collections.abc import Iterator
from math import degrees, radians
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import U_TURN
from rushhour.kernels.geometry.radii import measure_radii
from rushhour.roadnets.findings import NOTE, Finding, finding
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.lint.ends import BY_HAND, middle
from rushhour.roadnets.model import Network

TIGHTEST: Final = 4.5  # m, radius that a car can drive
HARDLY: Final = 1.0  # m; below, each is named
TURN_WINDOW: Final = 2.0  # m over which a radius is measured
ALONG: Final = 0.5  # m between samples of a connector
SLACK: Final = 0.3  # m by which lanes may overlap
OVERLAP_SPAN: Final = 30.0  # m from an intersection in which legs are compared
SAME_SIDE: Final = 0.0  # cosine between directions above which two legs are compared
FORK: Final = 30.0  # degrees; roads that part or join at less lie on each other for a while
KINK: Final = radians(99.0)
STEEP: Final = 0.25  # rise per metre, more than buses climb
STEEP_RISE: Final = 1.0  # m; less is a step in the data

Points = NDArray[np.float64]
Ints = NDArray[np.int64]


def shape_findings(network: Network) -> list[Finding]:
    """Findings on the shapes of roads and connectors."""
    return [*_overlaps(network), *_tight(network), *_kinks(network), *_steep(network)]


def _overlaps(network: Network) -> Iterator[Finding]:
    """Pairs of roads that lie on top of each other where they meet an intersection."""
    lanes, roads = network.arrays.lanes, network.arrays.roads
    n = network.n_road_lanes
    road = lanes.road[:n].astype(np.int64)
    start = network.point_start[: n + 1].astype(np.int64)
    # Every end of every lane: node, lane, its first point there, the step to the next one.
    node = np.concatenate((roads.to_intersection[road], roads.from_intersection[road]))
    lane = np.concatenate((np.arange(n), np.arange(n)))
    point = np.concatenate((start[1:] - 1, start[:-1]))
    step = np.repeat(np.array([-1, 1]), n)
    order = np.argsort(node, kind="stable")
    node, lane, point, step = node[order], lane[order], point[order], step[order]
    ahead = network.points[point + step] - network.points[point]
    ahead /= np.hypot(ahead[:, 0], ahead[:, 1])[:, None]
    i, j = _pairs_within(node)
    cosine = np.sum(ahead[i] * ahead[j], axis=1)
    near = (cosine > SAME_SIDE) & (road[lane[i]] != road[lane[j]])
    i, j = i[near], j[near]
    i, j = np.concatenate((i, j)), np.concatenate((j, i))
    cosine = np.concatenate((cosine[near], cosine[near]))
    room = 0.5 * (lanes.width[lane[i]] + lanes.width[lane[j]]) - SLACK
    most = (start[lane + 1] - start[lane] - 1)[j]
    close = _comes_near(network.points, point[i], point[j], step[j], most, room)
    street = _streets(network)
    told: set[tuple[int, ...]] = set()
    for k in np.flatnonzero(close).tolist():
        a, b = sorted((int(road[lane[i[k]]]), int(road[lane[j[k]]])))
        here = int(node[i[k]])
        pair = (here, *sorted((int(street[a]), int(street[b]))))
        if pair in told:
            continue
        told.add(pair)
        name = network.intersection_ids[here]
        first, second = network.road_ids[a], network.road_ids[b]
        angle = degrees(np.arccos(min(1.0, float(cosine[k]))))
        fork = angle < FORK and step[i[k]] == step[j[k]]
        yield finding(
            "L17",
            f"intersection {name!r}: roads {first!r} and {second!r} overlap ({angle:.0f} degrees)",
            [f"intersection {name}", f"road {first}", f"road {second}"],
            network.points[point[i[k]]],
            severity=NOTE if fork else "",
        )


def _streets(network: Network) -> NDArray[np.intp]:
    """A number for each road that both directions of a street share, as they join the same ends."""
    roads, n = network.arrays.roads, len(network.intersection_ids)
    low, high = np.sort((roads.from_intersection, roads.to_intersection), 0).astype(np.int64)
    return np.unique(low * n + high, return_inverse=True)[1]


def _pairs_within(key: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Places i < j in a sorted array that hold the same key."""
    left = np.arange(key.size)
    first: list[Ints] = []
    second: list[Ints] = []
    apart = 1
    while left.size:
        left = left[left + apart < key.size]
        left = left[key[left] == key[left + apart]]
        first.append(left)
        second.append(left + apart)
        apart += 1
    return np.concatenate(first), np.concatenate(second)


def _comes_near(
    points: Points, place: Ints, line: Ints, step: Ints, most: Ints, room: Points
) -> NDArray[np.bool_]:
    """Whether points come nearer than `room` to the first OVERLAP_SPAN metres of lines.

    place: (q,) point; line: first point of the line, step: -1 or 1 to its next, most: its segments.
    """
    found = np.zeros(place.size, bool)
    along = np.zeros(place.size)
    left = np.arange(place.size)
    k = 0
    while left.size:
        a = points[line[left] + k * step[left]]
        b = points[line[left] + (k + 1) * step[left]]
        span = b - a
        off = points[place[left]] - a
        square = np.maximum(np.sum(span * span, axis=1), 1e-12)
        share = np.clip(np.sum(off * span, axis=1) / square, 0.0, 1.0)
        off -= share[:, None] * span
        found[left] = np.hypot(off[:, 0], off[:, 1]) < room[left]
        along[left] += np.sqrt(square)
        k += 1
        left = left[~found[left] & (along[left] <= OVERLAP_SPAN) & (most[left] > k)]
    return found


def _tight(network: Network) -> Iterator[Finding]:
    links, road = network.arrays.connectors, network.arrays.lanes.road
    n = network.n_road_lanes
    radii = np.empty(network.n_connectors)
    recent = np.empty(int(TURN_WINDOW / ALONG) + 1)
    measure_radii(network.points, network.point_start[n:], ALONG, recent, radii, 0, radii.size)
    tight = radii < TIGHTEST
    if network.source != BY_HAND:
        tight &= links.turn != U_TURN  # dead ends are counted as such
    grave = np.flatnonzero(tight & (radii < HARDLY))
    order = grave[np.lexsort((radii[grave], links.intersection[grave]))]
    nodes, first, count = np.unique(
        links.intersection[order], return_index=True, return_counts=True
    )
    for node, k, turns in zip(nodes, order[first].tolist(), count.tolist(), strict=True):
        a, b = (int(lane) for lane in (links.from_lane[k], links.to_lane[k]))
        name, ends = network.intersection_ids[node], [network.lane_ids[a], network.lane_ids[b]]
        yield finding(
            "L18",
            f"intersection {name!r}: {turns} turn{'s' * (turns > 1)} tighter than {HARDLY:g} m, "
            f"the tightest from lane {ends[0]!r} to {ends[1]!r} with {radii[k]:.1f} m",
            [f"intersection {name}", *(f"lane {end}" for end in ends)],
            middle(network, n + k),
            fix_line("turns", [network.road_ids[road[lane]] for lane in (a, b)], '"ban"'),
        )
    rest = int(np.count_nonzero(tight)) - grave.size
    if rest:
        plural = "s" * (rest > 1)
        text = f"{rest:,} turn{plural} of {HARDLY:g} to {TIGHTEST:g} m radius: a car swings out"
        yield finding("L18", text, severity=NOTE)


def _kinks(network: Network) -> Iterator[Finding]:
    """Corners of roads sharper than any street."""
    n = network.n_road_lanes
    count = np.diff(network.point_start[: n + 1])
    owner = np.repeat(np.arange(n), count)
    points = network.points[: owner.size]
    x, y = np.diff(points, axis=0).T
    heading = np.arctan2(y, x)
    turn = np.abs(wrapped(np.diff(heading)))
    sharp = np.flatnonzero((turn > KINK) & (owner[:-2] == owner[2:])) + 1
    street = _streets(network)
    told: set[int] = set()
    for place in sharp.tolist():
        road = int(network.arrays.lanes.road[owner[place]])
        if int(street[road]) in told:
            continue
        told.add(int(street[road]))
        name = network.road_ids[road]
        yield finding(
            "L23",
            f"road {name!r}: a corner of {degrees(turn[place - 1]):.0f} degrees",
            [f"road {name}"],
            points[place],
        )


def _steep(network: Network) -> Iterator[Finding]:
    """Roads with a stretch that heavy vehicles do not climb, which is a slip in the heights mostly."""
    if not network.is_hilly:
        return
    n = network.n_road_lanes
    grade, station = network.grades[: network.point_start[n] - 1], network.station
    steep = np.flatnonzero(np.abs(grade) > STEEP)
    rise = np.abs(grade[steep]) * (station[steep + 1] - station[steep])
    steep, rise = steep[rise > STEEP_RISE], rise[rise > STEEP_RISE]
    owner = np.searchsorted(network.point_start[: n + 1], steep, side="right") - 1
    road = network.arrays.lanes.road[owner]
    street = _streets(network)
    told: set[int] = set()
    for place, one, high in zip(steep.tolist(), road.tolist(), rise.tolist(), strict=True):
        if int(street[one]) in told:
            continue
        told.add(int(street[one]))
        name = network.road_ids[one]
        text = (
            f"road {name!r}: rises by {100.0 * abs(grade[place]):.0f} % over {high:.1f} m of height"
        )
        yield finding("L31", text, [f"road {name}"], network.points[place])
