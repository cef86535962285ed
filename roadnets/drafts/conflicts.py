"""Conflicts of connectors: by swept path, and those that only the source knows of."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.junctions.conflict_zones import (
    SAMPLE_STEP,
    closest_approach,
    find_zones,
    never_conflict,
    sample_lanes,
)
from rushhour.kernels.junctions.queue_ends import QUEUE_OVERHANG
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.drafts.index import DraftIndex
from rushhour.roadnets.drafts.shapes import Shapes
from rushhour.roadnets.errors import NetworkError

MOST_SAMPLES = 2000  # of one connector; a longer one is sampled more coarsely
SAMPLES_AT_ONCE = 500_000  # of neighbouring intersections, for the memory's sake
CAR_WIDTH = 1.8  # m
SHORTEST_ZONE = 2.0  # m, of a conflict that geometry misses
LEAST_ZONE = 0.2  # m, of one that ends where a rear may stay, on a short way
MIRRORED = [2, 3, 0, 1]  # columns of a zone, seen by the other


class Pairs(NamedTuple):
    """Ordered pairs of conflicting connectors, sorted by `here`, then `other`; both ways."""

    here: NDArray[np.int32]
    other: NDArray[np.int32]
    zone: NDArray[np.float64]  # (m, 4) in, out on here; in, out on other


def _widened(at: float, length: float) -> tuple[float, float]:
    half = max(CAR_WIDTH, 0.5 * SHORTEST_ZONE)
    lo, hi = max(0.0, at - half), min(length, at + half)
    lo = max(0.0, min(lo, hi - SHORTEST_ZONE))
    return lo, min(length, max(hi, lo + SHORTEST_ZONE))


def _beside(at: float, length: float) -> tuple[float, float]:
    """The zone of a way that comes to lie beside another at its end only, into the same road: it ends
    where the rear of a queue's last may stay, who is in nobody's way there."""
    out = min(max(length - QUEUE_OVERHANG, LEAST_ZONE), length)
    if at + CAR_WIDTH <= out:
        return _widened(at, length)
    return max(0.0, out - 2.0 * CAR_WIDTH), out


def _source_foes(draft: Draft, index: DraftIndex) -> NDArray[np.int64]:
    """Pairs (i < j) of network connectors that the source calls foes, (m, 2), each once."""
    pairs: set[tuple[int, int]] = set()
    n = len(draft.connectors)
    ends = index.road_to[index.lane_road[index.from_lane]]
    for place, node in enumerate(draft.intersections):
        for i, j in (*node.foes, *(node.yields or ())):
            if not (0 <= i < n and 0 <= j < n):
                raise NetworkError(
                    f"intersection {node.id!r}: foes or yields name connector {max(i, j)} of {n}; "
                    "use places in Draft.connectors"
                )
            a, b = int(index.place[i]), int(index.place[j])
            if ends[a] != place or ends[b] != place:
                raise NetworkError(
                    f"intersection {node.id!r}: foes or yields ({i}, {j}) name a connector of "
                    "another intersection; list them where they meet"
                )
        for i, j in node.foes:
            a, b = int(index.place[i]), int(index.place[j])
            if a != b:
                pairs.add((min(a, b), max(a, b)))
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def _zones(
    index: DraftIndex,
    shapes: Shapes,
    start: NDArray[np.int64],
    connector_start: NDArray[np.int32],
    connector: NDArray[np.int32],
    foes: list[tuple[int, int]],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Conflicting pairs of some intersections, (m, 2) each once, and their zones, (m, 4).

    start: first sample of each connector; those of others have none.
    """
    first = len(index.lane_road)
    x, y, s = np.empty((3, int(start[-1])))
    sample_lanes(shapes.points, shapes.station, shapes.start, first, start, x, y, s)
    box = np.empty((start.size - 1, 4))
    own = np.flatnonzero(np.diff(start))
    if own.size:
        for column, reduce, values in ((0, np.minimum, x), (1, np.minimum, y),
                                       (2, np.maximum, x), (3, np.maximum, y)):  # fmt: skip
            box[own, column] = reduce.reduceat(values, start[own])
    room = 16 * own.size
    while True:
        pair, zones = np.empty((room, 2), np.int32), np.empty((room, 4))
        found = find_zones(
            x, y, s, start, box, index.from_lane, index.to_lane, index.lane_road,
            connector_start, connector, pair, zones,
        )  # fmt: skip
        if found <= room:
            break
        room = found
    pair, zones = pair[:found], zones[:found]
    known = set(map(tuple, pair.tolist())) if foes else set()
    extra_pair, extra_zone = [], []
    length = shapes.length[first:]
    for i, j in foes:
        if (i, j) in known or never_conflict(index.from_lane, index.to_lane, index.lane_road, i, j):
            continue
        at_i, at_j = closest_approach(x, y, s, start, i, j)
        same = index.lane_road[index.to_lane[i]] == index.lane_road[index.to_lane[j]]
        zone_of = _beside if same else _widened
        extra_pair.append((i, j))
        extra_zone.append((*zone_of(at_i, length[i]), *zone_of(at_j, length[j])))
    return (
        np.concatenate([pair, np.array(extra_pair, np.int32).reshape(-1, 2)]),
        np.concatenate([zones, np.array(extra_zone).reshape(-1, 4)]),
    )


def find_conflicts(
    draft: Draft,
    index: DraftIndex,
    shapes: Shapes,
    connector_start: NDArray[np.int32],
    connector: NDArray[np.int32],
) -> Pairs:
    """Find every conflicting pair of connectors and where they conflict."""
    n, first = len(index.sequence), len(index.lane_road)
    count = np.clip(np.ceil(shapes.length[first:] / SAMPLE_STEP) + 1, 2, MOST_SAMPLES)
    foes: dict[int, list[tuple[int, int]]] = {}
    at = index.road_to[index.lane_road[index.from_lane]]
    for i, j in _source_foes(draft, index).tolist():
        foes.setdefault(int(at[i]), []).append((i, j))
    found = []
    sampled = np.concatenate(([0], np.cumsum(count[connector])))[connector_start]
    cuts = np.flatnonzero(np.diff(sampled // SAMPLES_AT_ONCE)) + 1
    for some in np.split(np.arange(connector_start.size - 1), cuts):
        here = connector_start[some[0] : some[-1] + 2] if some.size else connector_start[:1]
        counts = np.zeros(n, np.int64)
        own = connector[here[0] : here[-1]]
        counts[own] = count[own]
        start = np.concatenate(([0], np.cumsum(counts)))
        theirs = [pair for node in some.tolist() for pair in foes.get(node, ())]
        found.append(_zones(index, shapes, start, here, connector, theirs))
    pair, zones = (np.concatenate(parts) for parts in zip(*found, strict=True))
    here = np.concatenate([pair[:, 0], pair[:, 1]])
    other = np.concatenate([pair[:, 1], pair[:, 0]])
    order = np.lexsort((other, here))
    turned = order >= len(pair)
    zone = zones[order - len(pair) * turned]
    del zones, pair
    zone[turned] = zone[turned][:, MIRRORED]
    return Pairs(here[order], other[order], zone)


def assert_symmetric(pairs: Pairs, n: int) -> None:
    """Refuse a relation in which one connector conflicts with another but not the other way."""
    forth = pairs.here.astype(np.int64) * n + pairs.other
    back = pairs.other.astype(np.int64) * n + pairs.here
    order = np.argsort(back, kind="stable")
    same = np.array_equal(forth, back[order])
    del forth, back
    same &= all(
        np.array_equal(pairs.zone[:, c], pairs.zone[order, k]) for c, k in enumerate(MIRRORED)
    )
    if not same:
        raise NetworkError("conflicts are not symmetric; report this as a fault of rushhour")
