"""Shapes of a network: roads that overlap, turns too tight for a car, kinks.

Source: networks.md 8, L17, L18, L23. Everything is measured for all lanes at once.
"""

from collections.abc import Iterator
from math import degrees, radians
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.network import U_TURN
from rushhour.roadnets.findings import NOTE, Finding, finding
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.lint_ends import BY_HAND, middle
from rushhour.roadnets.model import Network

TIGHTEST: Final = 4.5  # m, radius that a car can drive
HARDLY: Final = 2.0  # m; below, no car gets round
TURN_WINDOW: Final = 2.0  # m over which a radius is measured
ALONG: Final = 0.5  # m between samples of a connector
SLACK: Final = 0.3  # m by which lanes may overlap
OVERLAP_SPAN: Final = 30.0  # m from an intersection in which legs are compared
SAME_SIDE: Final = 0.0  # cosine between directions above which two legs are compared
KINK: Final = radians(99.0)

Points = NDArray[np.float64]
Ints = NDArray[np.int64]


def shape_findings(network: Network) -> list[Finding]:
    """Findings on the shapes of roads and connectors."""
    return [*_overlaps(network), *_tight(network), *_kinks(network)]


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
    told: set[tuple[int, int, int]] = set()
    for k in np.flatnonzero(close).tolist():
        a, b = sorted((int(road[lane[i[k]]]), int(road[lane[j[k]]])))
        here = int(node[i[k]])
        if (here, a, b) in told:
            continue
        told.add((here, a, b))
        name = network.intersection_ids[here]
        first, second = network.road_ids[a], network.road_ids[b]
        angle = degrees(np.arccos(min(1.0, float(cosine[k]))))
        yield finding(
            "L17",
            f"intersection {name!r}: roads {first!r} and {second!r} overlap ({angle:.0f} degrees)",
            [f"intersection {name}", f"road {first}", f"road {second}"],
            network.points[point[i[k]]],
        )


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


def tightest_radii(points: Points, start: Ints) -> Points:
    """Least radius of each of n lines, measured over TURN_WINDOW, m; inf for straight or short ones.

    points: (p, 2) m; line i is points[start[i] : start[i + 1]].
    """
    n = start.size - 1
    owner = np.repeat(np.arange(n), np.diff(start))
    step = np.zeros(len(points))
    along = np.diff(points, axis=0)
    step[1:] = np.where(owner[1:] == owner[:-1], np.hypot(along[:, 0], along[:, 1]), 0.0)
    run = np.cumsum(step)  # goes on from line to line
    origin = run[start[:-1]]
    length = run[start[1:] - 1] - origin
    pieces = (length / ALONG).astype(np.int64)
    span = int(TURN_WINDOW / ALONG)
    radius = np.full(n, np.inf)
    measured = np.flatnonzero((pieces > span) & (np.diff(start) > 2))
    if not measured.size:
        return radius
    count = pieces[measured] + 1
    first = np.cumsum(count) - count
    of = np.repeat(np.arange(measured.size), count)
    number = np.arange(of.size) - first[of]
    spacing = length[measured] / pieces[measured]
    # Lines follow each other without a gap in `run`: keep the first sample on its own line.
    at = origin[measured][of] + number * spacing[of]
    lane = measured[of]
    right = np.clip(np.searchsorted(run, at, side="left"), start[lane] + 1, start[lane + 1] - 1)
    share = (at - run[right - 1]) / np.maximum(run[right] - run[right - 1], 1e-12)
    place = points[right - 1] + np.clip(share, 0.0, 1.0)[:, None] * (
        points[right] - points[right - 1]
    )
    step_x, step_y = np.diff(place, axis=0).T
    heading = np.arctan2(step_y, step_x)
    bend = np.zeros(heading.size)
    bend[1:] = np.remainder(np.diff(heading) + np.pi, 2.0 * np.pi) - np.pi
    total = np.cumsum(bend)
    inside = np.flatnonzero(of[: -span - 1] == of[span + 1 :])  # headings i and i + span
    turn = np.abs(total[inside + span] - total[inside])
    most = np.zeros(measured.size)
    np.maximum.at(most, of[inside], turn)
    bent = most > 1e-9
    radius[measured[bent]] = span * spacing[bent] / most[bent]
    return radius


def _tight(network: Network) -> Iterator[Finding]:
    links, road = network.arrays.connectors, network.arrays.lanes.road
    n = network.n_road_lanes
    start = network.point_start[n:].astype(np.int64)
    if start.size < 2:
        return
    radii = tightest_radii(network.points[start[0] :], start - start[0])
    tight = radii < TIGHTEST
    if network.source != BY_HAND:
        tight &= links.turn != U_TURN  # dead ends are counted as such
    order = np.lexsort((radii, links.intersection, ~tight))[: np.count_nonzero(tight)]
    nodes, first, count = np.unique(
        links.intersection[order], return_index=True, return_counts=True
    )
    for node, k, turns in zip(nodes, order[first].tolist(), count.tolist(), strict=True):
        a, b = (int(lane) for lane in (links.from_lane[k], links.to_lane[k]))
        name, ends = network.intersection_ids[node], [network.lane_ids[a], network.lane_ids[b]]
        yield finding(
            "L18",
            f"intersection {name!r}: {turns} turn{'s' * (turns > 1)} tighter than {TIGHTEST:g} m, "
            f"the tightest from lane {ends[0]!r} to {ends[1]!r} with {radii[k]:.1f} m",
            [f"intersection {name}", *(f"lane {end}" for end in ends)],
            middle(network, n + k),
            fix_line("turns", [network.road_ids[road[lane]] for lane in (a, b)], '"ban"'),
            "" if radii[k] < HARDLY else NOTE,
        )


def _kinks(network: Network) -> Iterator[Finding]:
    """Corners of roads sharper than any street."""
    n = network.n_road_lanes
    count = np.diff(network.point_start[: n + 1])
    owner = np.repeat(np.arange(n), count)
    points = network.points[: owner.size]
    x, y = np.diff(points, axis=0).T
    heading = np.arctan2(y, x)
    turn = np.abs(np.remainder(np.diff(heading) + np.pi, 2.0 * np.pi) - np.pi)
    sharp = np.flatnonzero((turn > KINK) & (owner[:-2] == owner[2:])) + 1
    told: set[int] = set()
    for place in sharp.tolist():
        road = int(network.arrays.lanes.road[owner[place]])
        if road in told:
            continue
        told.add(road)
        name = network.road_ids[road]
        yield finding(
            "L23",
            f"road {name!r}: a corner of {degrees(turn[place - 1]):.0f} degrees",
            [f"road {name}"],
            points[place],
        )
