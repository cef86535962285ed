"""Which grant groups look at whom, made once for a network: see kernels.junctions.waking."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GROUP_LENGTH, JOINTS, NetworkArrays
from rushhour.kernels.core.vehicles import TASKS
from rushhour.kernels.junctions.grant_review import line_reach
from rushhour.kernels.junctions.waking import Awake
from rushhour.kernels.lanes.change_turns import TURNS, USUALLY


def new_awake(net: NetworkArrays, frame: int = 0) -> Awake:
    """What frames from this one on have to run; nothing is left out of the first."""
    inter = net.intersections
    n_road_lanes = net.lanes.out_start.size - 1
    n_groups = inter.group_start.size - 1
    group_of = np.zeros(inter.group.size, np.int64)
    group_of[inter.group] = np.repeat(np.arange(n_groups), np.diff(inter.group_start))
    watched, line = _watched(net)
    at = net.connectors.intersection
    inside = np.arange(net.connectors.free.size)
    lanes = np.concatenate([watched, n_road_lanes + inside])
    by_lane = np.argsort(lanes, kind="stable")
    at_end = net.lanes.intersection[inter.lane[line]]
    group = np.concatenate([group_of[at_end], group_of[at]])[by_lane]
    line = np.concatenate([line, np.full(inside.size, -1)])[by_lane]
    place = np.empty(inside.size, np.int32)
    place[inter.connector] = inside
    exits = np.unique(group_of[at] * n_road_lanes + net.connectors.to_lane)
    watch_start = _starts(lanes[by_lane], net.lanes.length.size)
    work = np.diff(inter.connector_start) + np.diff(inter.lane_start)
    several = np.flatnonzero(net.roads.lane_count > 1).astype(np.int32)
    row = np.full(net.roads.lane_count.size, -1, np.int32)
    row[several] = np.arange(several.size)
    return Awake(
        watch_start=watch_start,
        watch=group.astype(np.int32),
        line=line.astype(np.int32),
        reach=reaches(net, watch_start, line),
        place=place,
        exit_start=_starts(exits // n_road_lanes, n_groups),
        exit=(exits % n_road_lanes).astype(np.int32),
        weight=np.bincount(group_of, work, n_groups).astype(np.int32),
        runs=np.ones(n_groups, np.bool_),
        roused=np.full(n_groups, frame, np.int32),
        inside=np.full(inter.control.size, -1, np.int32),
        used=np.full(inter.connector.size, -1, np.int32),
        asked=np.full(inter.lane.size, -1, np.int32),
        several=several,
        row=row[net.lanes.road[:n_road_lanes]],
        roads_run=np.ones(several.size, np.bool_),
        roads_roused=np.full(several.size, frame, np.int32),
        groups=np.zeros(n_groups, np.int32),
        group_cuts=np.zeros(TASKS + 1, np.int32),
        roads=np.zeros(several.size, np.int32),
        road_cuts=np.zeros(TASKS + 1, np.int32),
        tasks=np.zeros(2, np.int32),
        looks=np.arange(TURNS) % USUALLY == 0,
    )


def reaches(
    net: NetworkArrays, watch_start: NDArray[np.int32], line: NDArray[Any]
) -> NDArray[np.float64]:
    """Metres from its end within which somebody on a lane is looked at, (n_lanes,); see kernels.junctions.grant_review.

    The furthest of the lines to which one comes there, from the lane's own end: no line is nearer.
    """
    speeds, which = np.unique(net.lanes.speed[net.intersections.lane], return_inverse=True)
    looked = np.array([line_reach(speed) for speed in speeds.tolist()])[which]
    reach = np.zeros(net.lanes.length.size)
    lanes = np.repeat(np.arange(reach.size), np.diff(watch_start))
    comes = line >= 0
    np.maximum.at(reach, lanes[comes], looked[line[comes]])
    reach[net.lanes.out_start.size - 1 :] = np.inf  # whoever is inside is always looked at
    return reach


def _starts(keys: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """Offsets of the keys 0 .. n-1 in an ascending array."""
    return np.searchsorted(keys, np.arange(n + 1)).astype(np.int32)


def _watched(net: NetworkArrays) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lanes, ascending, and the lines that are asked for from there, as places in intersections.lane.

    The line at a lane's end is, and those to which one comes over connectors without grants; from
    within an intersection that of a short lane behind it.
    """
    lines = net.intersections.lane.astype(np.int64)
    n_lines = lines.size + 1  # a lane and a line as one number
    known = found = np.sort(lines * n_lines + np.arange(lines.size))
    joints = np.flatnonzero(net.connectors.free)
    beyond = net.connectors.to_lane[joints]
    before = net.connectors.from_lane[joints].astype(np.int64)
    n_road_lanes = net.lanes.out_start.size - 1
    joint_lanes = n_road_lanes + joints
    for _ in range(JOINTS + 1):
        # Who comes to a line over a lane comes there over the joints that lead to it, too.
        lanes = found // n_lines
        first, last = (np.searchsorted(lanes, beyond, side) for side in ("left", "right"))
        many = last - first
        place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        line = found[np.repeat(first, many) + place] % n_lines
        back = [np.repeat(lanes_there, many) for lanes_there in (joint_lanes, before)]
        found = np.unique(np.concatenate([lane * n_lines + line for lane in back]))
        known = np.union1d(known, found)
    line_of = np.full(n_road_lanes, -1)
    line_of[lines] = np.arange(lines.size)
    line = np.where(net.lanes.length[:n_road_lanes] < GROUP_LENGTH, line_of, -1)[
        net.connectors.to_lane
    ]
    inside = np.flatnonzero(~net.connectors.free & (line >= 0))
    known = np.union1d(known, (n_road_lanes + inside) * n_lines + line[inside])
    return known // n_lines, known % n_lines
