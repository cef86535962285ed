"""Critical gaps: the seconds that each movement wants before the next vehicle with priority.

One number for each connector, found once for a network. Chosen so that capacities are those of HCM 7
(validation.md D13, D14): its critical headways run from front to front, these from the moment at
which the way is clear.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    ALL_WAY_STOP,
    LEFT,
    NONE,
    RIGHT,
    SIGNAL,
    STRAIGHT,
    YIELD,
    NetworkArrays,
)

RING_LENGTH = 320.0  # m round a roundabout, at most
RING_ROADS = 24  # roads that it is made of, at most


class CriticalGaps(NamedTuple):
    """Critical gaps by movement, s."""

    permissive: float  # left turn against oncoming green
    major_left: float  # left turn from the road that goes first
    roundabout: float  # entry of a roundabout
    stop_left: float
    stop_straight: float
    stop_right: float
    yield_left: float
    yield_straight: float
    yield_right: float


@kernel
def crosses_oncoming_only(net: NetworkArrays, left_hand: bool, k: int) -> bool:
    """Whether connector k turns left (right, where traffic keeps left) and yields to a single road:
    from the road that goes first."""
    if net.connectors.turn[k] != (RIGHT if left_hand else LEFT):
        return False
    road = -1
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.yields[c]:
            other = net.lanes.road[net.connectors.from_lane[net.conflicts.other[c]]]
            if road >= 0 and other != road:
                return False
            road = other
    return road >= 0


@kernel
def goes_first(net: NetworkArrays, road: int, after: int) -> bool:
    """Whether nobody gives way who goes on from a road to the one after, but for those of his own."""
    first = net.roads.first_lane[road]
    last = first + net.roads.lane_count[road] - 1
    for k in range(net.lanes.out_start[first], net.lanes.out_start[last + 1]):
        if net.lanes.road[net.connectors.to_lane[k]] != after:
            continue
        for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
            other = net.connectors.from_lane[net.conflicts.other[c]]
            if net.conflicts.yields[c] and net.lanes.road[other] != road:
                return False
    return True


@kernel
def is_ring(
    net: NetworkArrays, one_way: NDArray[np.bool_], road: int, first: bool,
    way: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Whether a road is part of a roundabout: short one-way roads that lead round to it again; first:
    and who goes round gives way to nobody. The two halves of an arm lie in a circle as well, round
    the island between them, but who comes round there gives way.

    Where one-way arms leave it, each way on is tried. one_way: by road. way: scratch, (RING_ROADS, 3):
    road, next of its ways on, dm so far.
    """
    if not one_way[road]:
        return False
    way[0, 0], way[0, 1] = road, net.roads.out_start[road]
    way[0, 2] = int(10.0 * net.roads.length[road])
    depth = 0
    while depth >= 0:
        here, at = way[depth, 0], way[depth, 1]
        if at >= net.roads.out_start[here + 1]:
            depth -= 1
            continue
        way[depth, 1] += 1
        after = net.roads.out[at]
        if first and not goes_first(net, here, after):
            continue
        if after == road:
            return depth >= 1
        gone = way[depth, 2] + int(10.0 * net.roads.length[after])
        if depth + 1 < RING_ROADS and gone <= 10.0 * RING_LENGTH and one_way[after]:
            depth += 1
            way[depth, 0], way[depth, 1], way[depth, 2] = after, net.roads.out_start[after], gone
    return False


@kernel
def enters_ring(
    net: NetworkArrays, one_way: NDArray[np.bool_], k: int, way: NDArray[np.int64]
) -> bool:  # fmt: skip
    """Whether connector k yields to a roundabout, and to nothing else."""
    found = False
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.yields[c]:
            road = net.lanes.road[net.connectors.from_lane[net.conflicts.other[c]]]
            if not is_ring(net, one_way, road, False, way):
                return False
            found = True
    return found


@kernel
def is_ramp(net: NetworkArrays, k: int) -> bool:
    """Whether connector k, straight on, gives way to one road only, which it goes along with."""
    if net.connectors.turn[k] != STRAIGHT:
        return False
    road = -1
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        o = net.conflicts.other[c]
        road_beyond = net.lanes.road[net.connectors.to_lane[o]]
        if road_beyond != net.lanes.road[net.connectors.to_lane[k]]:
            return False
        if net.conflicts.yields[c]:
            other = net.lanes.road[net.connectors.from_lane[o]]
            if road >= 0 and other != road:
                return False
            road = other
    return road >= 0


@kernel
def merges_gently(
    net: NetworkArrays, one_way: NDArray[np.bool_], k: int, way: NDArray[np.int64]
) -> bool:  # fmt: skip
    """Whether connector k gives way where drivers let each other in: to a roundabout, from a ramp."""
    control = net.intersections.control[net.connectors.intersection[k]]
    if net.connectors.must_stop[k] or control == SIGNAL or control == ALL_WAY_STOP:
        return False
    return is_ramp(net, k) or enters_ring(net, one_way, k, way)


@kernel
def critical_gap(
    net: NetworkArrays, gaps: CriticalGaps, left_hand: bool, k: int, gentle: bool
) -> float:
    """Seconds that the movement over connector k wants before the next vehicle with priority.

    gentle: it merges where drivers let each other in.
    """
    if net.intersections.control[net.connectors.intersection[k]] == SIGNAL:
        return gaps.permissive
    turn = net.connectors.turn[k]
    stops = net.connectors.must_stop[k]
    if not stops:
        if crosses_oncoming_only(net, left_hand, k):
            return gaps.major_left
        if gentle:
            return gaps.roundabout
    if turn == (LEFT if left_hand else RIGHT):
        return gaps.stop_right if stops else gaps.yield_right
    if turn == STRAIGHT:
        return gaps.stop_straight if stops else gaps.yield_straight
    return gaps.stop_left if stops else gaps.yield_left


@kernel
def find_critical_gaps(
    net: NetworkArrays, one_way: NDArray[np.bool_], gaps: CriticalGaps, left_hand: bool,
    way: NDArray[np.int64], out: NDArray[np.float64], zips: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Write the critical gap of each connector, s; 0 where it yields to nobody. zips: whether it gives
    way where drivers let each other in.

    one_way: by road. way: scratch, (RING_ROADS, 3).
    """
    for k in range(out.shape[0]):
        out[k], zips[k] = 0.0, False
        for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
            if net.conflicts.yields[c]:
                zips[k] = merges_gently(net, one_way, k, way)
                out[k] = critical_gap(net, gaps, left_hand, k, zips[k])
                break


@kernel
def gives_way(net: NetworkArrays, road: int, other: int) -> bool:
    """Whether a movement from a road yields to one from another."""
    first = net.roads.first_lane[road]
    last = first + net.roads.lane_count[road] - 1
    for k in range(net.lanes.out_start[first], net.lanes.out_start[last + 1]):
        for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
            from_lane = net.connectors.from_lane[net.conflicts.other[c]]
            if net.conflicts.yields[c] and net.lanes.road[from_lane] == other:
                return True
    return False


@kernel
def no_road_goes_first(net: NetworkArrays, x: int, left: NDArray[np.bool_]) -> bool:
    """Whether roads into intersection x give way to one another in a circle, as with right before left.

    Two that give way to each other do so with their left turns. left: scratch, (n_roads,).
    """
    lo, hi = net.intersections.lane_start[x], net.intersections.lane_start[x + 1]
    for a in range(lo, hi):
        left[net.lanes.road[net.intersections.lane[a]]] = True
    found = True
    while found:  # take out who gives way to nobody left
        found = False
        for a in range(lo, hi):
            road = net.lanes.road[net.intersections.lane[a]]
            waits = False
            for b in range(lo, hi):
                other = net.lanes.road[net.intersections.lane[b]]
                if left[road] and left[other] and other != road and gives_way(net, road, other):
                    waits = waits or not gives_way(net, other, road)
            if left[road] and not waits:
                left[road], found = False, True
    some = False
    for a in range(lo, hi):
        road = net.lanes.road[net.intersections.lane[a]]
        some, left[road] = some or left[road], False
    return some


@kernel
def find_unposted(net: NetworkArrays, left: NDArray[np.bool_], out: NDArray[np.bool_]) -> None:
    """Write for each intersection whether no sign is posted and no road goes first. left: scratch, by road."""
    for x in range(out.shape[0]):
        out[x] = net.intersections.control[x] in (NONE, YIELD)
        for q in range(
            net.intersections.connector_start[x], net.intersections.connector_start[x + 1]
        ):
            out[x] = out[x] and not net.connectors.must_stop[net.intersections.connector[q]]
        out[x] = out[x] and no_road_goes_first(net, x, left)
