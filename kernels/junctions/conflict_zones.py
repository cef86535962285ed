"""Where the swept paths of two connectors of one intersection come too close.

Connectors are sampled along their centre lines; a *zone* is the stretch of one from its first to
its last sample near the other. Samples of connector k are start[k] .. start[k+1]-1.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.geometry.curves import place_at

SAMPLE_STEP: Final = 0.5  # m
CLOSE: Final = 2.3  # m between centre lines: twice half a design car (1.0) and a margin (0.15)
NEIGHBOUR_SHARE: Final = 0.85  # of the distance of neighbouring lanes, where that is less


@kernel
def sample_lanes(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    point_start: NDArray[np.int32],
    first: int,
    start: NDArray[np.int64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    s: NDArray[np.float64],
) -> None:
    """Sample lanes `first` and on evenly, ends included; writes x, y, s (m along the lane)."""
    for k in range(start.shape[0] - 1):
        lo, hi = point_start[first + k], point_start[first + k + 1]
        n = start[k + 1] - start[k]
        length = station[hi - 1]
        for j in range(n):
            at = length if j == n - 1 else length * j / (n - 1)
            i = start[k] + j
            s[i] = at
            x[i], y[i] = place_at(points, station, lo, hi, at)


@kernel
def measure_zone(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    s: NDArray[np.float64],
    start: NDArray[np.int64],
    i: int,
    j: int,
    close: float,
    zone: NDArray[np.float64],
) -> bool:
    """Whether two connectors come closer than `close`; writes zone: in, out on i, in, out on j.

    A zone reaches half a step beyond its samples, so that it is right on average.
    """
    near = close * close + 0.25 * SAMPLE_STEP * SAMPLE_STEP  # the nearest samples may be offset
    zone[0], zone[1], zone[2], zone[3] = math.inf, -math.inf, math.inf, -math.inf
    found = False
    for a in range(start[i], start[i + 1]):
        for b in range(start[j], start[j + 1]):
            dx, dy = x[a] - x[b], y[a] - y[b]
            if dx * dx + dy * dy < near:
                found = True
                zone[0], zone[1] = min(zone[0], s[a]), max(zone[1], s[a])
                zone[2], zone[3] = min(zone[2], s[b]), max(zone[3], s[b])
    if found:
        half = 0.5 * SAMPLE_STEP
        zone[0], zone[1] = max(0.0, zone[0] - half), min(s[start[i + 1] - 1], zone[1] + half)
        zone[2], zone[3] = max(0.0, zone[2] - half), min(s[start[j + 1] - 1], zone[3] + half)
    return found


@kernel
def closest_approach(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    s: NDArray[np.float64],
    start: NDArray[np.int64],
    i: int,
    j: int,
) -> tuple[float, float]:
    """Distances along two connectors, m, where they are nearest to each other."""
    best, at_i, at_j = math.inf, 0.0, 0.0
    for a in range(start[i], start[i + 1]):
        for b in range(start[j], start[j + 1]):
            dx, dy = x[a] - x[b], y[a] - y[b]
            if dx * dx + dy * dy < best:
                best, at_i, at_j = dx * dx + dy * dy, s[a], s[b]
    return at_i, at_j


@kernel
def distance(x: NDArray[np.float64], y: NDArray[np.float64], a: int, b: int) -> float:
    """Distance of two samples, m."""
    return math.sqrt((x[a] - x[b]) * (x[a] - x[b]) + (y[a] - y[b]) * (y[a] - y[b]))


@kernel
def never_conflict(
    from_lane: NDArray[np.int32],
    to_lane: NDArray[np.int32],
    road: NDArray[np.int32],
    i: int,
    j: int,
) -> bool:
    """Whether two connectors never conflict: one source lane, or two roads joined in order."""
    if from_lane[i] == from_lane[j]:
        return True
    if road[from_lane[i]] != road[from_lane[j]] or road[to_lane[i]] != road[to_lane[j]]:
        return False
    if to_lane[i] == to_lane[j]:
        return False
    return bool((from_lane[i] < from_lane[j]) == (to_lane[i] < to_lane[j]))


@kernel
def find_zones(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    s: NDArray[np.float64],
    start: NDArray[np.int64],
    box: NDArray[np.float64],
    from_lane: NDArray[np.int32],
    to_lane: NDArray[np.int32],
    road: NDArray[np.int32],
    connector_start: NDArray[np.int32],
    connector: NDArray[np.int32],
    pair: NDArray[np.int32],
    zones: NDArray[np.float64],
) -> int:
    """Find the conflicting pairs i < j of every intersection; their number, even beyond the room.

    box: (n, 4) least x, y, most x, y of each connector, m. Writes pair (m, 2) and zones (m, 4).
    Lanes that start or end side by side closer than CLOSE are measured by their own distance.
    Source: networks.md 3.7.
    """
    found = 0
    zone = np.empty(4)
    for node in range(connector_start.shape[0] - 1):
        for p in range(connector_start[node], connector_start[node + 1]):
            i = connector[p]
            for q in range(p + 1, connector_start[node + 1]):
                j = connector[q]
                if (
                    box[i, 0] > box[j, 2] + CLOSE
                    or box[j, 0] > box[i, 2] + CLOSE
                    or box[i, 1] > box[j, 3] + CLOSE
                    or box[j, 1] > box[i, 3] + CLOSE
                    or never_conflict(from_lane, to_lane, road, i, j)
                ):
                    continue
                merge = to_lane[i] == to_lane[j]
                close = CLOSE
                if road[from_lane[i]] == road[from_lane[j]]:
                    close = min(close, NEIGHBOUR_SHARE * distance(x, y, start[i], start[j]))
                if road[to_lane[i]] == road[to_lane[j]] and not merge:
                    apart = distance(x, y, start[i + 1] - 1, start[j + 1] - 1)
                    close = min(close, NEIGHBOUR_SHARE * apart)
                if not measure_zone(x, y, s, start, i, j, close, zone) and not merge:
                    continue
                if merge:
                    zone[1], zone[3] = s[start[i + 1] - 1], s[start[j + 1] - 1]
                    zone[0], zone[2] = min(zone[0], zone[1]), min(zone[2], zone[3])
                if found < pair.shape[0]:
                    pair[found, 0], pair[found, 1] = i, j
                    zones[found, :] = zone
                found += 1
    return found


@kernel
def gives_way_to(net: NetworkArrays, k: int, o: int) -> bool:
    """Whether connector k yields to connector o."""
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.other[c] == o:
            return bool(net.conflicts.yields[c])
    return False


@kernel
def in_conflict(net: NetworkArrays, k: int, o: int) -> bool:
    """Whether two connectors conflict."""
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.other[c] == o:
            return True
    return False
