"""Checks of all-way stops: whose exit was full, and who was overtaken too often."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.checking.survey import STANDING, STOP_ORDER, Findings, Survey, note_row
from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import ALL_WAY_STOP, NetworkArrays
from rushhour.kernels.junctions.conflict_zones import in_conflict

CRAWLS = 3.0  # m/s, as the end of a queue that closes up


@kernel
def free_of(net: NetworkArrays, now: Survey, lane: int, gap: float) -> float:
    """Metres of a lane that are free when all on it have closed up; below 0 where it is overfull."""
    room = net.lanes.length[lane]
    for r in range(now.start[lane], now.start[lane + 1]):
        room -= now.length[r] + gap
    return room


@kernel
def little_room(
    net: NetworkArrays, now: Survey, k: int, length: float, gap: float, stop_offset: float
) -> bool:
    """Whether the exit of connector k may be full for a vehicle; in doubt, yes.

    Full is what does not hold it, those inside, and those who may have been promised room: all
    other heads that want to go there, or one more. A queue behind a joint may reach back over it.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = net.connectors.to_lane[k]
    if net.lanes.length[lane] < length + stop_offset:
        return True
    room = free_of(net, now, lane, gap)
    last = now.start[lane + 1] - 1
    if last >= now.start[lane] and now.speed[last] < CRAWLS:
        if now.s[last] - now.length[last] < length + gap:
            return True  # it may yet close up, or not: nobody drives up behind it on that
    for r in range(now.start[lane], now.start[lane + 1]):
        if now.at_stop[r]:
            return True
    for k2 in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if net.connectors.free[k2]:
            beyond = net.connectors.to_lane[k2]
            more = free_of(net, now, n_road_lanes + k2, gap) + free_of(net, now, beyond, gap)
            room += min(0.0, more)
    promised = 0.0
    for c in range(net.lanes.in_start[lane], net.lanes.in_start[lane + 1]):
        other = net.lanes.in_connector[c]
        for r in range(now.start[n_road_lanes + other], now.start[n_road_lanes + other + 1]):
            room -= now.length[r] + gap
        head = now.start[net.connectors.from_lane[other]]
        if other != k and head < now.start[net.connectors.from_lane[other] + 1]:
            if now.aim[head] == other:
                promised += now.length[head] + gap
    return bool(room < length + gap + max(promised, length + gap))


@kernel
def stands_beside(net: NetworkArrays, now: Survey, k: int) -> bool:
    """Whether somebody who left the same lane by another connector than k may bar it: it stands there, or
    beyond with its rear inside. Connectors out of one lane lie on each other at first."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = net.connectors.from_lane[k]
    for o in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if o == k:
            continue
        last = now.start[n_road_lanes + o + 1] - 1
        if last >= now.start[n_road_lanes + o] and now.speed[last] < CRAWLS:
            return True
        to = net.connectors.to_lane[o]
        last = now.start[to + 1] - 1
        if last >= now.start[to] and now.speed[last] < CRAWLS and now.s[last] < now.length[last]:
            return True
    return False


@kernel
def note_full_exits(net: NetworkArrays, now: Survey, gap: float, stop_offset: float) -> None:
    """Remember of those who stand at the line of an all-way stop whether their exit was full, or barred."""
    inter = net.intersections
    for x in range(inter.control.shape[0]):
        if inter.control[x] != ALL_WAY_STOP:
            continue
        for y in range(inter.lane_start[x], inter.lane_start[x + 1]):
            r = now.start[inter.lane[y]]
            if r == now.start[inter.lane[y] + 1] or now.stood[r] < 0 or now.full[r]:
                continue
            k = now.aim[r]
            if k >= 0:
                now.full[r] = stands_beside(net, now, k) or little_room(
                    net, now, k, now.length[r], gap, stop_offset
                )


@kernel
def check_stop_order(
    net: NetworkArrays, now: Survey, before: Survey, found: Findings, crossed: NDArray[np.int32],
    n_crossed: int, frame: int, limit: int, literal: bool,
) -> None:  # fmt: skip
    """Count those at all-way stops who were overtaken by the rows that have just crossed.

    limit: how often conflicting movements may do so. literal: anybody counts.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    inter = net.intersections
    for e in range(n_crossed):
        r = crossed[e]
        since = before.stood[now.old[r]]
        k = before.aim[now.old[r]]
        if k < 0 or since < 0:
            continue
        x = net.connectors.intersection[k]
        own = net.connectors.from_lane[k]
        for y in range(inter.lane_start[x], inter.lane_start[x + 1]):
            lane = inter.lane[y]
            j = int(now.start[lane])
            if lane == own or j == now.start[lane + 1] or now.aim[j] < 0 or lane >= n_road_lanes:
                continue
            if now.stood[j] < 0 or now.speed[j] >= STANDING or now.full[j]:
                continue
            if now.stood[j] > since or (now.stood[j] == since and lane > own):
                continue
            if literal or in_conflict(net, k, now.aim[j]):
                now.overtaken[j] += 1
                if now.overtaken[j] > limit:
                    note_row(
                        found, now, before, STOP_ORDER, frame, j, int(now.id[r]),
                        float(now.overtaken[j]), float(limit),
                    )  # fmt: skip
