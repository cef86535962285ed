"""Who is awake: the grant groups and the roads where anybody is, so that a frame costs what its
vehicles do, not what the map does.

Whatever is left out has nobody on it, and what the phases keep of it is as they would leave it:
a group or a road runs on, with nobody in it, until last frame's wishes are forgotten as well.
"""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.order import share, tasks_of
from rushhour.kernels.core.vehicles import BEHIND, Order, Vehicles

GROUP_RUNS_ON = 2  # frames: wishes are remembered as those of the frame before, then forgotten
ROAD_RUNS_ON = 1  # frames: claims are forgotten
GROUPS_OF_A_TASK = 4  # at least: to hand a task out costs as much as a group or two
ROADS_OF_A_TASK = 16


class Awake(NamedTuple):
    """What a frame runs; made anew in every frame but for the two `roused` and the usual `looks`."""

    watch_start: NDArray[np.int32]  # (n_lanes+1,) into `watch`
    watch: NDArray[np.int32]  # grant groups that look at those who are on a lane
    line: NDArray[
        np.int32
    ]  # beside `watch`: place in intersections.lane of whose line they come to; -1
    reach: NDArray[np.float64]  # (n_lanes,) m from its end, beyond which none of them looks
    place: NDArray[np.int32]  # (n_connectors,) of a connector in intersections.connector
    exit_start: NDArray[np.int32]  # (n_groups+1,) into `exit`
    exit: NDArray[np.int32]  # road lanes that the connectors of a group lead to, each once
    weight: NDArray[np.int32]  # (n_groups,) connectors and lanes, as a measure of the work
    runs: NDArray[np.bool_]  # (n_groups,) it is run here: all, or those of a part of the world
    roused: NDArray[np.int32]  # (n_groups,) frame in which anybody was last where it looks
    inside: NDArray[
        np.int32
    ]  # (n_intersections,) frame in which anybody was last on its connectors
    used: NDArray[np.int32]  # the same of each of intersections.connector, rears included
    asked: NDArray[np.int32]  # and of each of intersections.lane, of who may ask for its line
    several: NDArray[np.int32]  # (m,) roads of several lanes, ascending
    row: NDArray[
        np.int32
    ]  # (n_road_lanes,) row in `several` of a lane's road; -1 a road of one lane
    roads_run: NDArray[np.bool_]  # (m,) it is run here
    roads_roused: NDArray[np.int32]  # (m,) frame in which anybody was last on it
    groups: NDArray[np.int32]  # (n_groups,) the groups to run, ascending
    group_cuts: NDArray[np.int32]  # (TASKS+1,) bounds of tasks in `groups`, of about equal work
    roads: NDArray[np.int32]  # (m,) the roads of several lanes to run, ascending
    road_cuts: NDArray[np.int32]  # (TASKS+1,) bounds of tasks in `roads`
    tasks: NDArray[np.int32]  # (2,) how many tasks there are, of groups and of roads
    looks: NDArray[
        np.bool_
    ]  # (TURNS,) whose turn it is to look for a better lane: see `lanes.change_turns`


@kernel
def rouse(
    net: NetworkArrays, awake: Awake, lane: int, to_end: float, rear: bool, frame: int
) -> None:  # fmt: skip
    """Note that somebody is on a lane, the first to_end m before its end, or only a rear."""
    n_road_lanes = awake.row.shape[0]
    if lane < n_road_lanes and awake.row[lane] >= 0:
        awake.roads_roused[awake.row[lane]] = frame
    if to_end > awake.reach[lane]:
        return
    for w in range(awake.watch_start[lane], awake.watch_start[lane + 1]):
        awake.roused[awake.watch[w]] = frame
        if awake.line[w] >= 0 and not rear:
            awake.asked[awake.line[w]] = frame
    if lane >= n_road_lanes:
        k = lane - n_road_lanes
        awake.inside[net.connectors.intersection[k]] = frame
        awake.used[awake.place[k]] = frame


@kernel
def rouse_behind(
    net: NetworkArrays, veh: Vehicles, awake: Awake, i: int, frame: int
) -> None:  # fmt: skip
    """Rouse by the lanes that the rear of vehicle i still covers."""
    rear = veh.s[i] - veh.length[i]
    for b in range(BEHIND):
        back = veh.behind[i, b]
        if rear >= 0.0 or back < 0:
            break
        rouse(net, awake, back, 0.0, True, frame)
        rear += net.lanes.length[back]


@kernel
def list_groups(awake: Awake, frame: int) -> None:
    """Write the groups that are awake and cut them into tasks."""
    n = 0
    total = 0
    for group in range(awake.roused.shape[0]):
        if awake.runs[group] and awake.roused[group] >= frame - GROUP_RUNS_ON:
            awake.groups[n] = group
            total += awake.weight[group]
            n += 1
    tasks = awake.tasks[0] = min(awake.group_cuts.shape[0] - 1, max(1, n // GROUPS_OF_A_TASK))
    done, task = 0, 0
    for g in range(n):
        while task * total <= done * tasks and task < tasks:
            awake.group_cuts[task] = g
            task += 1
        done += awake.weight[awake.groups[g]]
    awake.group_cuts[task:] = n


@kernel
def list_roads(awake: Awake, frame: int) -> None:
    """Write the roads that are awake and cut them into tasks."""
    n = 0
    for row in range(awake.several.shape[0]):
        if awake.roads_run[row] and awake.roads_roused[row] >= frame - ROAD_RUNS_ON:
            awake.roads[n] = awake.several[row]
            n += 1
    tasks = awake.tasks[1] = min(awake.road_cuts.shape[0] - 1, max(1, n // ROADS_OF_A_TASK))
    for task in range(tasks + 1):
        awake.road_cuts[task] = task * n // tasks


@kernel
def note_granted(veh: Vehicles, task: int, tasks: int) -> None:
    """Note in one task's share of the slots who has a grant, and its stamp."""
    first, last = share(0, veh.granted.shape[0], task, tasks)
    for i in range(first, last):
        veh.had_grant[i] = veh.granted[i] > 0
        veh.had_stamp[i] = veh.stamp[i]


@kernel
def rouse_share(
    net: NetworkArrays, veh: Vehicles, order: Order, awake: Awake, task: int, tasks: int, frame: int
) -> None:  # fmt: skip
    """Rouse by the lanes that begin in one task's share of the order, and note who has a grant.

    Tasks may rouse the same: all of them write the same frame.
    """
    note_granted(veh, task, tasks)
    n_road_lanes = awake.row.shape[0]
    first, last = share(0, order.start[order.start.shape[0] - 1], task, tasks)
    p = first
    while p < last:
        lane = veh.lane[order.slot[p]]
        lo, p = order.start[lane], order.start[lane + 1]
        if lo < first:
            continue
        rouse(net, awake, lane, net.lanes.length[lane] - veh.s[order.slot[lo]], False, frame)
        # On a connector another one's rear may be elsewhere than that of the last: see `sort_stripe`.
        for q in range(p - 1 if lane < n_road_lanes else lo, p):
            rouse_behind(net, veh, awake, order.slot[q], frame)


@kernel(parallel=True)
def rouse_all(net: NetworkArrays, veh: Vehicles, order: Order, awake: Awake, frame: int) -> None:
    """Rouse by everybody. By vehicles: most lanes of a large map are empty."""
    tasks = tasks_of(order.start[order.start.shape[0] - 1])
    for task in prange(tasks):
        rouse_share(net, veh, order, awake, task, tasks, frame)


@kernel
def wake_all(net: NetworkArrays, veh: Vehicles, order: Order, awake: Awake, frame: int) -> None:
    """Find what this frame has to run. Reads who is where; writes awake, and who has a grant."""
    rouse_all(net, veh, order, awake, frame)
    list_groups(awake, frame)
    list_roads(awake, frame)
