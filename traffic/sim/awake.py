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
    watched, group = _watched(net, group_of)
    exits = np.unique(group_of[net.connectors.intersection] * n_road_lanes + net.connectors.to_lane)
    watch_start = _starts(watched, net.lanes.length.size)
    work = np.diff(inter.connector_start) + np.diff(inter.lane_start)
    several = np.flatnonzero(net.roads.lane_count > 1).astype(np.int32)
    row = np.full(net.roads.lane_count.size, -1, np.int32)
    row[several] = np.arange(several.size)
    return Awake(
        watch_start=watch_start,
        watch=group.astype(np.int32),
        reach=reaches(net, watch_start, group),
        exit_start=_starts(exits // n_road_lanes, n_groups),
        exit=(exits % n_road_lanes).astype(np.int32),
        weight=np.bincount(group_of, work, n_groups).astype(np.int32),
        runs=np.ones(n_groups, np.bool_),
        roused=np.full(n_groups, frame, np.int32),
        inside=np.full(inter.control.size, -1, np.int32),
        plain=_plain(net),
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
    net: NetworkArrays, watch_start: NDArray[np.int32], watch: NDArray[Any]
) -> NDArray[np.float64]:
    """Metres from its end within which somebody on a lane is looked at, (n_lanes,); see kernels.junctions.grant_review.

    The furthest of the lines of the groups that look at it, from the lane's own end: no line is nearer.
    """
    n_road_lanes = net.lanes.out_start.size - 1
    inter = net.intersections
    n_groups = inter.group_start.size - 1
    group_of = np.zeros(inter.group.size, np.int64)
    group_of[inter.group] = np.repeat(np.arange(n_groups), np.diff(inter.group_start))
    at = net.lanes.intersection[:n_road_lanes]
    ends = np.flatnonzero(at >= 0)
    speeds, which = np.unique(net.lanes.speed[ends], return_inverse=True)
    looked = np.array([line_reach(speed) for speed in speeds.tolist()])
    furthest = np.zeros(n_groups)
    np.maximum.at(furthest, group_of[at[ends]], looked[which])
    reach = np.zeros(net.lanes.length.size)
    lanes = np.repeat(np.arange(reach.size), np.diff(watch_start))
    np.maximum.at(reach, lanes, furthest[watch])
    reach[n_road_lanes:] = np.inf  # whoever is inside is always looked at
    return reach


def _starts(keys: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """Offsets of the keys 0 .. n-1 in an ascending array."""
    return np.searchsorted(keys, np.arange(n + 1)).astype(np.int32)


def _plain(net: NetworkArrays) -> NDArray[np.bool_]:
    """Of each entry of the intersections' lanes, whether it can only be asked for from itself.

    See `review.somebody_comes` and `review.led_to_by_joint`.
    """
    first, n = net.lanes.in_start[:-1], np.diff(net.lanes.in_start)
    joint = np.zeros(n.size, np.bool_)
    joint[n == 1] = net.connectors.free[net.lanes.in_connector[first[n == 1]]]
    plain = ~joint & (net.lanes.length[: n.size] >= GROUP_LENGTH)
    return np.asarray(plain[net.intersections.lane])


def _watched(
    net: NetworkArrays, group_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lanes, ascending, and the groups that look at who is on them.

    The group at a lane's end does, and those that look back to it over connectors without grants.
    """
    at = net.lanes.intersection
    ends = np.flatnonzero(at >= 0)
    joints = np.flatnonzero(net.connectors.free)
    beyond = net.connectors.to_lane[joints]
    before = net.connectors.from_lane[joints].astype(np.int64)
    joint_lanes = net.lanes.out_start.size - 1 + joints
    n_groups = net.intersections.group_start.size  # and one more: a lane and a group as one number
    known = found = np.unique(ends * n_groups + group_of[at[ends]])
    for _ in range(JOINTS + 1):
        # Who looks at a lane looks at the joints that lead to it, and at the lanes before them.
        lanes = found // n_groups
        first, last = (np.searchsorted(lanes, beyond, side) for side in ("left", "right"))
        many = last - first
        place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        group = found[np.repeat(first, many) + place] % n_groups
        back = [np.repeat(lanes_there, many) for lanes_there in (joint_lanes, before)]
        found = np.unique(np.concatenate([lane * n_groups + group for lane in back]))
        known = np.union1d(known, found)
    return known // n_groups, known % n_groups
